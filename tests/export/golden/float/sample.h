/* y: a solah model for devices.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code; what the model learned belongs to whoever made it.
 *
 * Model 7ee677e2c1d20566, written by solah 0.1.0. Do not edit; write it again from the model.
 * Compile sample.c with -ffp-contract=off: then every platform decides alike, bit for bit.
 * Compile with -ffunction-sections -fdata-sections and link with -Wl,--gc-sections: firmware then carries only
 * what it calls. On AVR compile sample.c as GNU C (-std=gnu99): tables and texts then stay in the flash.
 * No malloc, no libm, no recursion, no static RAM.
 * Tables and lines count to about 5,864 bytes of flash on a processor without floating point, with the
 * conversion of readings. 'solah export --footprint' measures flash, stack and instructions.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The readings, in this order. NAN (or an invalid code) means missing. */
enum {
    SAMPLE_READING_X0, /* x0: a number, -1.58917 to 2.53919 in training rows */
    SAMPLE_READING_X1, /* x1: a number, -1.94368 to 2.63767 in training rows */
    SAMPLE_READING_X2, /* x2: a code: 0 = a, 1 = b, 2 = c */
    SAMPLE_READING_X3, /* x3: a number, -1.53467 to 4.07514 in training rows */
    SAMPLE_READING_X4, /* x4: a number, 1 to 8 in training rows */
    SAMPLE_READING_X5, /* x5: a number, -3.22873 to 0.261762 in training rows */
    SAMPLE_N_READINGS
};

/* The states of x2. */
enum {
    SAMPLE_STATE_X2_A, /* a */
    SAMPLE_STATE_X2_B, /* b */
    SAMPLE_STATE_X2_C /* c */
};

/* The classes, in this order. */
enum {
    SAMPLE_CLASS_C0, /* c0 */
    SAMPLE_CLASS_C1, /* c1 */
    SAMPLE_CLASS_C2 /* c2 */
};
#define SAMPLE_N_CLASSES 3

/* Decide on readings: return the class, and write the probability of each class. */
int sample_decide(const float readings[SAMPLE_N_READINGS], float probability[SAMPLE_N_CLASSES]);

/* Return the class alone, without probabilities: less code, and fewer instructions. */
int sample_predict(const float readings[SAMPLE_N_READINGS]);

/* Copy the name of a class, in UTF-8, into a buffer of this size, cut if need be: return
 * its whole length. The flash of AVR is a memory apart; elsewhere a pointer into it will do. */
#define SAMPLE_CLASS_NAME_SIZE 3
size_t sample_copy_class_name(int place, char *text, size_t size);
#ifndef __AVR__
const char *sample_class_name(int place);
#endif

/* A rule that supports a decision, and by how much: what it adds to the lead over the next best class, in evidence. */
typedef struct {
    uint16_t rule;
    float amount;
} sample_reason;

/* Name the rules that add most, the largest first: write up to n_most, return how many. */
int sample_why(const float readings[SAMPLE_N_READINGS], sample_reason *reasons, int n_most);

/* Copy a rule in short, in UTF-8, into a buffer of this size, cut if need be: return its
 * whole length. The linker drops texts that firmware does not use. */
#define SAMPLE_N_RULES 31
#define SAMPLE_RULE_TEXT_SIZE 45
size_t sample_copy_rule_text(int rule, char *text, size_t size);
#ifndef __AVR__
const char *sample_rule_text(int rule);
#endif

/* The CRC-32 of all numbers in the tables: SAMPLE_CHECKSUM, unless a bit of them flipped. */
#define SAMPLE_CHECKSUM 0x1433B7AFu
uint32_t sample_checksum(void);

/* The hash of the model file. */
#define SAMPLE_MODEL "7ee677e2c1d20566"

#ifdef __cplusplus
}
#endif

#endif
