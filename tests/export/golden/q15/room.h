/* occupied: a solah model for devices.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code; what the model learned belongs to whoever made it.
 *
 * Model 1880ce6d9cededf3, written by solah 0.1.0. Do not edit; write it again from the model.
 * Integers only: every platform decides alike.
 * Compile with -ffunction-sections -fdata-sections and link with -Wl,--gc-sections: firmware then carries only
 * what it calls. On AVR compile room.c as GNU C (-std=gnu99): tables and texts then stay in the flash.
 * No malloc, no libm, no recursion, no static RAM.
 * Tables and lines count to about 994 bytes of flash on a processor without floating point, with the
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

/* A rule that supports a decision, and by how much: what it adds to the lead over the next best class, in evidence, times two
 * to the power of ROOM_AMOUNT_BITS; see solah_value_of. */
#define ROOM_AMOUNT_BITS (14)
typedef struct {
    uint16_t rule;
    int32_t amount;
} room_reason;

/* Name the rules that add most, the largest first: write up to n_most, return how many. */
int room_why(const int32_t readings[ROOM_N_READINGS], room_reason *reasons, int n_most);

/* Copy a rule in short, in UTF-8, into a buffer of this size, cut if need be: return its
 * whole length. The linker drops texts that firmware does not use. */
#define ROOM_N_RULES 5
#define ROOM_RULE_TEXT_SIZE 22
size_t room_copy_rule_text(int rule, char *text, size_t size);
#ifndef __AVR__
const char *room_rule_text(int rule);
#endif

/* Decisions in the order of time, and when nothing is known:
 *
 *   static room_state state;
 *   room_settle_start(&state);
 *   ...
 *   room_verdict now;
 *   stable = room_judge(&state, readings, probability, &now);
 *
 * Classes are places, and ROOM_UNDECIDED is "don't know". */
#define ROOM_UNDECIDED (-1)

/* Why a decision is in abstain_reason; several may hold at once. */
enum {
    ROOM_ABSTAIN_LOW_PROBABILITY = 1, /* the probability of the class is below its limit */
    ROOM_ABSTAIN_FEW_READINGS = 2, /* the completeness is too low */
    ROOM_ABSTAIN_OUT_OF_RANGE = 4, /* a reading is beyond those of the training rows */
    ROOM_ABSTAIN_UNSEEN = 8 /* readings that never occurred together */
};
/* The reasons for which a decision is withheld; `abstain_reasons` has the others, too. */
#define ROOM_ABSTAINS_FOR 15

typedef struct {
    int decision;     /* of these readings; ROOM_UNDECIDED if it is withheld */
    int settled;      /* the stable decision */
    uint8_t abstain_reasons;   /* ROOM_ABSTAIN_... */
    uint8_t n_unseen; /* how many pairs of readings never occurred together so */
} room_verdict;

/* What is remembered of decisions: 16 bytes of RAM, which are yours to keep. */
typedef struct {
    int32_t evidence[1];
    uint16_t age;
    uint8_t rest[1];
    uint8_t last[3];
    uint8_t next;
    uint8_t settled;
    uint8_t is_begun;
} room_state;

/* Begin with no decision: nothing is known. */
void room_settle_start(room_state *state);

/* Decide by the policy: return the stable decision, and write the probability of each class, times 32768, averaged over about 4 decisions. */
int room_judge(room_state *state, const int32_t readings[ROOM_N_READINGS], uint16_t probability[ROOM_N_CLASSES], room_verdict *verdict);

/* The CRC-32 of all numbers in the tables: ROOM_CHECKSUM, unless a bit of them flipped. */
#define ROOM_CHECKSUM 0x0A9A9B73u
uint32_t room_checksum(void);

/* The hash of the model file. */
#define ROOM_MODEL "1880ce6d9cededf3"

#ifdef __cplusplus
}
#endif

#endif
