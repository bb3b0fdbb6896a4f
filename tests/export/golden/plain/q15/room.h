/* occupied: a solah model for devices.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code; what the model learned belongs to whoever made it.
 *
 * Model 9c5f0272050d09f6, written by solah 0.1.0. Do not edit; write it again from the model.
 * Integers only: every platform decides alike.
 * Compile with -ffunction-sections -fdata-sections and link with -Wl,--gc-sections: firmware then carries only
 * what it calls. On AVR compile room.c as GNU C (-std=gnu99): tables and texts then stay in the flash.
 * No malloc, no libm, no recursion, no static RAM.
 * Tables and lines count to about 950 bytes of flash on a processor without floating point, with the
 * conversion of readings. 'solah export --footprint' measures flash, stack and instructions.
 */
#ifndef ROOM_H
#define ROOM_H

#include <stddef.h>
#include <stdint.h>

#include "solah_reading.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The readings, in this order. INT32_MIN (or an invalid code) means missing. */
enum {
    ROOM_READING_CO2, /* CO2: a number, 390 to 1500 in training rows */
    ROOM_READING_DOOR, /* door: a code: 0 = open, 1 = shut */
    ROOM_N_READINGS
};

/* The states of door. */
enum {
    ROOM_STATE_DOOR_OPEN, /* open */
    ROOM_STATE_DOOR_SHUT /* shut */
};

/* A reading is an integer: solah_reading_of(value, bits), which multiplies a value by two to the power
 * of these bits, and rounds it; NaN is unknown. A code is taken as it is. */
#define ROOM_BITS_CO2 (5)
#define ROOM_UNKNOWN SOLAH_UNKNOWN

/* The classes, in this order. */
enum {
    ROOM_CLASS_NO, /* no */
    ROOM_CLASS_YES /* yes */
};
#define ROOM_N_CLASSES 2

/* Decide on readings: return the class, and write the probability of each class, times 32768; as a number
 * solah_value_of(probability, ROOM_PROBABILITY_BITS). */
#define ROOM_PROBABILITY_BITS (15)
int room_decide(const int32_t readings[ROOM_N_READINGS], uint16_t probability[ROOM_N_CLASSES]);

/* Return the class alone, without probabilities: less code, and fewer instructions. */
int room_predict(const int32_t readings[ROOM_N_READINGS]);

/* Copy the name of a class, in UTF-8, into a buffer of this size, cut if need be: return
 * its whole length. The flash of AVR is a memory apart; elsewhere a pointer into it will do. */
#define ROOM_CLASS_NAME_SIZE 4
size_t room_copy_class_name(int place, char *text, size_t size);
#ifndef __AVR__
const char *room_class_name(int place);
#endif

/* The CRC-32 of all numbers in the tables: ROOM_CHECKSUM, unless a bit of them flipped. */
#define ROOM_CHECKSUM 0x5B553D0Au
uint32_t room_checksum(void);

/* The hash of the model file. */
#define ROOM_MODEL "9c5f0272050d09f6"

#ifdef __cplusplus
}
#endif

#endif
