/* The start of a bare RISC-V core: from reset to main, and out again with its result. */
#include "solah_io.h"

int main(void);
void start(void);
void fault(void);

extern uint32_t solah_bss_start[], solah_bss_end[];

/* The first instructions have no stack yet, so they are the core's own. */
__asm__(".section .start, \"ax\"\n"
        ".option arch, +zicsr\n"
        ".globl _start\n"
        "_start:\n"
        "    la sp, solah_stack_top\n"
        "    la t0, fault\n"
        "    csrw mtvec, t0\n"
        "    j start\n");

void start(void)
{
    /* volatile: or the compiler would call memset, and every program would hold it */
    for (volatile uint32_t *to = solah_bss_start; to < solah_bss_end;) {
        *to++ = 0;
    }
    solah_io_exit(main());
}

__attribute__((aligned(4))) void fault(void) { solah_io_exit(SOLAH_FAULT); }
