/* state: a solah model for devices.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code; what the model learned belongs to whoever made it.
 *
 * Model 5456c12fd13c156f, written by solah 0.1.0. Do not edit; write it again from the model.
 * Integers only, from samples on: every platform decides alike.
 * Compile with -ffunction-sections -fdata-sections and link with -Wl,--gc-sections: firmware then carries only
 * what it calls. On AVR compile shaken.c as GNU C (-std=gnu99): tables and texts then stay in the flash.
 * No malloc, no libm, no recursion, no static RAM.
 * Tables and lines count to about 1,064 bytes of flash on a processor without floating point, with the
 * conversion of readings. 'solah export --footprint' measures flash, stack and instructions.
 */
#ifndef SHAKEN_H
#define SHAKEN_H

#include <stddef.h>
#include <stdint.h>

#include "solah_reading.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The readings, in this order. INT32_MIN (or an invalid code) means missing. */
enum {
    SHAKEN_READING_SHAKING_RMS_OVER_1_S, /* shaking RMS over 1 s: a number, 1.59993 to 4.68453 in training rows */
    SHAKEN_READING_TEMPERATURE_90_QUANTILE_OVER_1_S, /* temperature 90 % quantile over 1 s: a number, -2.088 to 5.92 in training rows */
    SHAKEN_READING_CORRELATION_OF_X_AND_Y, /* correlation of x and y: a number, -0.598127 to 0.677613 in training rows */
    SHAKEN_READING_X_ENERGY_FROM_2_TO_4_HZ, /* x energy from 2 to 4 Hz: a number, 0 to 7.69851 in training rows */
    SHAKEN_N_READINGS
};

/* A reading is an integer: solah_reading_of(value, bits), which multiplies a value by two to the power
 * of these bits, and rounds it; NaN is unknown. A code is taken as it is. */
#define SHAKEN_BITS_SHAKING_RMS_OVER_1_S (13)
#define SHAKEN_BITS_TEMPERATURE_90_QUANTILE_OVER_1_S (13)
#define SHAKEN_BITS_CORRELATION_OF_X_AND_Y (17)
#define SHAKEN_BITS_X_ENERGY_FROM_2_TO_4_HZ (15)
#define SHAKEN_UNKNOWN SOLAH_UNKNOWN

/* The classes, in this order. */
enum {
    SHAKEN_CLASS_A, /* a */
    SHAKEN_CLASS_B, /* b */
    SHAKEN_CLASS_C /* c */
};
#define SHAKEN_N_CLASSES 3

/* Decide on readings: return the class, and write the probability of each class, times 32768; as a number
 * solah_value_of(probability, SHAKEN_PROBABILITY_BITS). */
#define SHAKEN_PROBABILITY_BITS (15)
int shaken_decide(const int32_t readings[SHAKEN_N_READINGS], uint16_t probability[SHAKEN_N_CLASSES]);

/* Return the class alone, without probabilities: less code, and fewer instructions. */
int shaken_predict(const int32_t readings[SHAKEN_N_READINGS]);

/* Copy the name of a class, in UTF-8, into a buffer of this size, cut if need be: return
 * its whole length. The flash of AVR is a memory apart; elsewhere a pointer into it will do. */
#define SHAKEN_CLASS_NAME_SIZE 2
size_t shaken_copy_class_name(int place, char *text, size_t size);
#ifndef __AVR__
const char *shaken_class_name(int place);
#endif

/* A rule that supports a decision, and by how much: what it adds to the lead over the next best class, in evidence, times two
 * to the power of SHAKEN_AMOUNT_BITS; see solah_value_of. */
#define SHAKEN_AMOUNT_BITS (13)
typedef struct {
    uint16_t rule;
    int32_t amount;
} shaken_reason;

/* Name the rules that add most, the largest first: write up to n_most, return how many. */
int shaken_why(const int32_t readings[SHAKEN_N_READINGS], shaken_reason *reasons, int n_most);

/* Copy a rule in short, in UTF-8, into a buffer of this size, cut if need be: return its
 * whole length. The linker drops texts that firmware does not use. */
#define SHAKEN_N_RULES 8
#define SHAKEN_RULE_TEXT_SIZE 54
size_t shaken_copy_rule_text(int rule, char *text, size_t size);
#ifndef __AVR__
const char *shaken_rule_text(int rule);
#endif

/* Readings are made of samples: push every sample and, when a window is complete, measure and decide:
 *
 *   static shaken_signals signals;
 *   shaken_start(&signals);
 *   ...
 *   if (shaken_push(&signals, sample)) {
 *       shaken_measure(&signals, readings);
 *       decision = shaken_decide(readings, probability);
 *   }
 *
 * A sample is an integer of every channel, INT32_MIN for a missing one; 20 samples come per second. */
enum {
    SHAKEN_SAMPLE_X, /* x in g */
    SHAKEN_SAMPLE_Y, /* y in g */
    SHAKEN_SAMPLE_TEMPERATURE, /* temperature in °C, with every 4 samples */
    SHAKEN_N_SAMPLES
};
/* A value becomes a sample by solah_reading_of(value, bits). What
 * is farther than 32767 from the middle is clipped. */
#define SHAKEN_SAMPLE_BITS_X 11 /* up to 15.9995 */
#define SHAKEN_SAMPLE_BITS_Y 11 /* up to 15.9995 */
#define SHAKEN_SAMPLE_BITS_TEMPERATURE 11 /* up to 15.9995 */
#define SHAKEN_WINDOW 20 /* samples in a window */
#define SHAKEN_STEP 8 /* samples from one decision to the next */

/* The last samples: 168 bytes of RAM, which are yours to keep. */
typedef struct {
    int16_t ring[65];
    int16_t last[3];
    uint32_t left;
    uint32_t count;
    uint32_t complete;
    uint16_t gap[3];
    uint16_t wait[3];
    uint16_t next[4];
} shaken_signals;

/* Begin with no samples. */
void shaken_start(shaken_signals *signals);

/* Take a sample: return 1 if it completes a window, else 0. */
int shaken_push(shaken_signals *signals, const int32_t sample[SHAKEN_N_SAMPLES]);

/* Copy the complete window, where an interrupt pushes samples while the program measures: measure the copy, which
 * takes as much RAM again. Return 0 if a sample came since the window was complete; then it is lost. */
int shaken_take(const shaken_signals *signals, shaken_signals *window);

/* Compute the readings of the window that is complete. No sample may be pushed meanwhile, see shaken_take. */
void shaken_measure(const shaken_signals *signals, int32_t readings[SHAKEN_N_READINGS]);

/* The CRC-32 of all numbers in the tables: SHAKEN_CHECKSUM, unless a bit of them flipped. */
#define SHAKEN_CHECKSUM 0x05D89B5Cu
uint32_t shaken_checksum(void);

/* The hash of the model file. */
#define SHAKEN_MODEL "5456c12fd13c156f"

#ifdef __cplusplus
}
#endif

#endif
