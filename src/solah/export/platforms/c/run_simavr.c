/* Runs an AVR program under simavr: `run_simavr MCU PROGRAM`, its input and output being ours.
 *
 * The program writes to its general purpose registers, as io_simavr.c describes. This is a program
 * of the host, linked with simavr's library. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>

enum { GPIOR0 = 0x3E, GPIOR1 = 0x4A, GPIOR2 = 0x4B }; /* alike on all the ATmegas */

static avr_cycle_count_t asked_at;
static unsigned asked_byte;

static void write_output(avr_t *avr, avr_io_addr_t address, uint8_t value, void *unused)
{
    (void)avr, (void)address, (void)unused;
    putchar(value);
}

static uint8_t read_clock(avr_t *avr, avr_io_addr_t address, void *unused)
{
    (void)avr, (void)address, (void)unused;
    return (uint8_t)(asked_at >> (8 * asked_byte));
}

static void ask_clock(avr_t *avr, avr_io_addr_t address, uint8_t value, void *unused)
{
    (void)address, (void)unused;
    asked_byte = value;
    if (value == 0) {
        asked_at = avr->cycle;
    }
}

static uint8_t read_input(avr_t *avr, avr_io_addr_t address, void *unused)
{
    (void)avr, (void)address, (void)unused;
    return (uint8_t)getchar();
}

static uint8_t has_input(avr_t *avr, avr_io_addr_t address, void *unused)
{
    (void)avr, (void)address, (void)unused;
    const int next = getchar();
    ungetc(next, stdin);
    return next != EOF;
}

static void leave(avr_t *avr, avr_io_addr_t address, uint8_t value, void *unused)
{
    (void)avr, (void)address, (void)unused;
    exit(fflush(stdout) == 0 ? value : EXIT_FAILURE);
}

static void watch_registers(avr_t *avr)
{
    avr_register_io_write(avr, GPIOR0, write_output, NULL);
    avr_register_io_read(avr, GPIOR0, read_clock, NULL);
    avr_register_io_write(avr, GPIOR1, ask_clock, NULL);
    avr_register_io_read(avr, GPIOR1, read_input, NULL);
    avr_register_io_write(avr, GPIOR2, leave, NULL);
    avr_register_io_read(avr, GPIOR2, has_input, NULL);
}

/* simavr talks on standard output, which is the program's, and before it has a processor. */
static void log_to_stderr(avr_t *avr, const int level, const char *format, va_list arguments)
{
    (void)avr;
    if (level <= LOG_ERROR) {
        vfprintf(stderr, format, arguments);
    }
}

int main(int count, char **arguments)
{
    static elf_firmware_t firmware;
    avr_global_logger_set(log_to_stderr);
    avr_t *avr = count == 3 ? avr_make_mcu_by_name(arguments[1]) : NULL;
    if (avr == NULL || elf_read_firmware(arguments[2], &firmware) != 0) {
        fprintf(stderr, "usage: run_simavr MCU PROGRAM\n");
        return EXIT_FAILURE;
    }
    avr_init(avr);
    avr_load_firmware(avr, &firmware);
    watch_registers(avr);
    int state = cpu_Running;
    while (state != cpu_Done && state != cpu_Crashed) {
        state = avr_run(avr);
    }
    fprintf(stderr, "the processor stopped by itself\n");
    return SOLAH_FAULT;
}
