/* solah_io.h on an operating system: standard input and output. */
#include "solah_io.h"

#include <stdio.h>
#include <stdlib.h>

size_t solah_io_read(void *to, size_t bytes) { return fread(to, 1, bytes, stdin); }

void solah_io_write(const void *from, size_t bytes)
{
    if (fwrite(from, 1, bytes, stdout) != bytes) {
        exit(1);
    }
}

uint32_t solah_io_clock(void) { return 0; }

void solah_io_clock_start(void) {}

int solah_io_clock_ran_over(void) { return 0; }

uintptr_t solah_io_stack_limit(void) { return 0; }

void solah_io_exit(int status) { exit(status); }
