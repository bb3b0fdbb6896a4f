/* solah_io.h on a bare core: the debugger, here QEMU, reads and writes for the program.
 *
 * A call is a breakpoint that the debugger knows: the first register names the operation, the
 * second points to its arguments. Arm and RISC-V share the numbers of the operations. */
#include "solah_io.h"

enum { OPEN = 0x01, WRITE = 0x05, READ = 0x06, EXIT_EXTENDED = 0x20 };
enum { MODE_READ = 1, MODE_WRITE = 5 }; /* "rb" and "wb", by their place in the standard's table */
#define APPLICATION_EXIT 0x20026u

extern const unsigned char solah_stack_limit[]; /* of the linker script */

#if defined(__riscv)

static uintptr_t call(uintptr_t operation, const uintptr_t *arguments)
{
    register uintptr_t a0 __asm__("a0") = operation;
    register const uintptr_t *a1 __asm__("a1") = arguments;
    /* Three uncompressed instructions that must not straddle a page. */
    __asm__ volatile(".balign 16\n"
                     ".option push\n"
                     ".option norvc\n"
                     "slli zero, zero, 0x1f\n"
                     "ebreak\n"
                     "srai zero, zero, 7\n"
                     ".option pop\n"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
}

/* Instructions retired, exactly so under QEMU's -icount shift=0. */
uint32_t solah_io_clock(void)
{
    uint32_t instructions;
    __asm__ volatile(".option push\n"
                     ".option arch, +zicsr\n"
                     "csrr %0, minstret\n"
                     ".option pop\n"
                     : "=r"(instructions)::"memory");
    return instructions;
}

void solah_io_clock_start(void) {}

int solah_io_clock_ran_over(void) { return 0; }

#else

static uintptr_t call(uintptr_t operation, const uintptr_t *arguments)
{
    register uintptr_t r0 __asm__("r0") = operation;
    register const uintptr_t *r1 __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

/* SysTick counts down from the largest of its 24 bits; the start-up code sets it going. */
static volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010u;

uint32_t solah_io_clock(void) { return 0x00FFFFFFu - systick[2]; }

void solah_io_clock_start(void) { systick[2] = 0; } /* any number will do: it clears the flag, too */

int solah_io_clock_ran_over(void) { return (int)(systick[0] >> 16 & 1u); }

#endif

static uintptr_t open_terminal(uintptr_t mode)
{
    static const char name[] = ":tt"; /* the standard's name for standard input and output */
    const uintptr_t arguments[3] = {(uintptr_t)name, mode, sizeof name - 1};
    return call(OPEN, arguments);
}

size_t solah_io_read(void *to, size_t bytes)
{
    static uintptr_t input; /* a handle is never 0 */
    size_t got = 0;
    if (input == 0) {
        input = open_terminal(MODE_READ);
    }
    while (got < bytes) {
        const uintptr_t arguments[3] = {input, (uintptr_t)to + got, bytes - got};
        const size_t left = call(READ, arguments); /* what it did not read */
        if (left >= bytes - got) {
            break;
        }
        got = bytes - left;
    }
    return got;
}

void solah_io_write(const void *from, size_t bytes)
{
    static uintptr_t output;
    if (output == 0) {
        output = open_terminal(MODE_WRITE);
    }
    const uintptr_t arguments[3] = {output, (uintptr_t)from, bytes};
    if (call(WRITE, arguments) != 0) { /* what it did not write */
        solah_io_exit(1);
    }
}

uintptr_t solah_io_stack_limit(void) { return (uintptr_t)solah_stack_limit; }

void solah_io_exit(int status)
{
    const uintptr_t arguments[2] = {APPLICATION_EXIT, (uintptr_t)status};
    (void)call(EXIT_EXTENDED, arguments);
    for (;;) {
    }
}
