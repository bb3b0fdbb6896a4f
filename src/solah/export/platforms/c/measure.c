/* Rows in, what each decision cost out: the clock's ticks and the bytes of stack.
 *
 * The input is the depth of stack to watch, as 4 bytes, then the rows. For every row come the ticks,
 * the stack, and whether the clock ran over, 4 bytes each. The stack below is painted before a decision; what lost its paint
 * was used. */
#include "solah_io.h"
#include "solah_probe.h"

#define PAINT 0xA5u
#define NO_END_SEEN 0xFFFFFFFFu /* the stack went as deep as was watched, or deeper */

/* The end of the stack that is free: the byte above the last one that the next push may take. */
#if defined(__AVR__)
#include <avr/io.h>
#define FREE_STACK_END(into) ((into) = SP + 1u) /* a push stores, then goes down */
#elif defined(__x86_64__)
#define FREE_STACK_END(into) __asm__ volatile("mov %%rsp, %0" : "=r"(into)::"memory")
#elif defined(__riscv)
#define FREE_STACK_END(into) __asm__ volatile("mv %0, sp" : "=r"(into)::"memory")
#else
#define FREE_STACK_END(into) __asm__ volatile("mov %0, sp" : "=r"(into)::"memory")
#endif

typedef struct {
    uint32_t ticks;
    uint32_t stack;
    uint32_t ran_over;
} cost;

static union {
    unsigned char bytes[SOLAH_ROW_BYTES];
    uint64_t aligned;
} row;

static union {
    unsigned char bytes[SOLAH_ANSWER_BYTES];
    uint64_t aligned;
} answer;

/* Everything in one function: a call would use the stack that is painted. */
cost measure_row(uint32_t depth);
cost measure_row(uint32_t depth)
{
    cost paid = {0, 0, 0};
    const uintptr_t limit = solah_io_stack_limit();
    uintptr_t top;
    FREE_STACK_END(top);
    volatile unsigned char *const end = (volatile unsigned char *)top;
    volatile unsigned char *const start =
        top - limit < depth ? (volatile unsigned char *)limit : end - depth;
    volatile unsigned char *used = start;
    for (volatile unsigned char *at = start; at < end; at++) {
        *at = PAINT;
    }
    solah_io_clock_start();
    const uint32_t before = solah_io_clock();
    solah_probe(row.bytes, answer.bytes);
    paid.ticks = solah_io_clock() - before;
    paid.ran_over = (uint32_t)solah_io_clock_ran_over();
    while (used < end && *used == PAINT) {
        used++;
    }
    paid.stack = used == start ? NO_END_SEEN : (uint32_t)(end - used);
    return paid;
}

int main(void)
{
    uint32_t depth;
    if (solah_io_read(&depth, sizeof depth) != sizeof depth) {
        return 1;
    }
    while (solah_io_read(row.bytes, SOLAH_ROW_BYTES) == SOLAH_ROW_BYTES) {
        const cost paid = measure_row(depth);
        solah_io_write(&paid, sizeof paid);
    }
    return 0;
}
