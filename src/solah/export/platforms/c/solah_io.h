/* Bytes in, bytes out, on every platform alike: standard input and output where there is an operating
 * system, semihosting on a bare Cortex-M or RISC-V, three registers under simavr. */
#ifndef SOLAH_IO_H
#define SOLAH_IO_H

#include <stddef.h>
#include <stdint.h>

/* Read a number of bytes of the input. Returns how many came: fewer only where the input ends. */
size_t solah_io_read(void *to, size_t bytes);

/* Write a number of bytes to the output. */
void solah_io_write(const void *from, size_t bytes);

/* A counter that runs with the instructions, of 24 bits on Cortex-M. Always 0 where there is an
 * operating system: there they are counted from outside. */
uint32_t solah_io_clock(void);

/* Let the counter begin again where it is short, and return whether it ran over since then: 1, else 0. */
void solah_io_clock_start(void);
int solah_io_clock_ran_over(void);

/* The lowest address the stack may take; 0 where the system looks after that. */
uintptr_t solah_io_stack_limit(void);

/* End the program; 0 means that all went well. */
void solah_io_exit(int status);

#endif
