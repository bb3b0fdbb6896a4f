/* The start of a bare Cortex-M: from reset to main, and out again with its result. */
#include "solah_io.h"

int main(void);
void reset(void);
void fault(void);

extern unsigned char solah_stack_top[];
extern uint32_t solah_data_start[], solah_data_end[], solah_bss_start[], solah_bss_end[];
extern const uint32_t solah_data_load[];

/* The core takes its stack from the first word and starts at the second; the others are faults. */
typedef union {
    void *stack;
    void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {.stack = solah_stack_top}, {.handler = reset}, {.handler = fault}, {.handler = fault},
    {.handler = fault},         {.handler = fault}, {.handler = fault}, {.handler = fault},
    {.handler = fault},         {.handler = fault}, {.handler = fault}, {.handler = fault},
    {.handler = fault},         {.handler = fault}, {.handler = fault}, {.handler = fault},
};

static void start_clock(void)
{
    volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010u;
    systick[1] = 0x00FFFFFFu; /* start again from here */
    systick[2] = 0;           /* from now on */
    systick[0] = 5;           /* the core's clock, no interrupt, go */
}

#if defined(__ARM_FP)
static void enable_fpu(void)
{
    volatile uint32_t *const cpacr = (volatile uint32_t *)0xE000ED88u;
    *cpacr |= 0xFu << 20; /* full access to coprocessors 10 and 11 */
    __asm__ volatile("dsb\nisb" ::: "memory");
}
#endif

void reset(void)
{
    const uint32_t *from = solah_data_load;
    /* volatile: or the compiler would call memcpy and memset, and every program would hold them */
    for (volatile uint32_t *to = solah_data_start; to < solah_data_end;) {
        *to++ = *from++;
    }
    for (volatile uint32_t *to = solah_bss_start; to < solah_bss_end;) {
        *to++ = 0;
    }
#if defined(__ARM_FP)
    enable_fpu();
#endif
    start_clock();
    solah_io_exit(main());
}

void fault(void) { solah_io_exit(SOLAH_FAULT); }
