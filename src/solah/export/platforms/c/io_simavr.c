/* solah_io.h under simavr: run_simavr.c reads the three general purpose registers.
 *
 *          written                             read
 * GPIOR0   a byte of the output                the byte of the clock that was asked for
 * GPIOR1   asks for a byte of the clock;       the next byte of the input
 *          0 also takes its time
 * GPIOR2   the exit status: the end            1 while there is input */
#include "solah_io.h"

#include <avr/io.h>

extern unsigned char __heap_start; /* of avr-libc's linker script: the end of all data */

size_t solah_io_read(void *to, size_t bytes)
{
    unsigned char *next = to;
    size_t got = 0;
    while (got < bytes && GPIOR2 != 0) {
        next[got++] = GPIOR1;
    }
    return got;
}

void solah_io_write(const void *from, size_t bytes)
{
    const unsigned char *next = from;
    while (bytes-- > 0) {
        GPIOR0 = *next++;
    }
}

uint32_t solah_io_clock(void)
{
    union {
        uint32_t all;
        unsigned char bytes[4];
    } clock;
    for (unsigned char k = 0; k < 4; k++) {
        GPIOR1 = k;
        clock.bytes[k] = GPIOR0;
    }
    return clock.all;
}

void solah_io_clock_start(void) {}

int solah_io_clock_ran_over(void) { return 0; }

uintptr_t solah_io_stack_limit(void) { return (uintptr_t)&__heap_start; }

void solah_io_exit(int status)
{
    GPIOR2 = (unsigned char)status;
    for (;;) {
    }
}

/* avr-libc's exit runs through these sections with main's result in r24. */
__attribute__((naked, used, section(".fini1"))) static void leave(void)
{
    __asm__ volatile("out %0, r24" ::"I"(_SFR_IO_ADDR(GPIOR2)));
}
