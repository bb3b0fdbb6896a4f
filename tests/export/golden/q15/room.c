/* occupied: the tables of a solah model in integers; see room.h, also for what to compile it with.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code. */
#include "room.h"

#include "solah_crc.h"

#define SOLAH_N_CLASSES 2
#define SOLAH_N_VALUES 1
#define SOLAH_N_STAGES 1
#define SOLAH_MAX_INPUTS 0
#define SOLAH_MAX_DEPTH 0
#define SOLAH_AT uint8_t
#define SOLAH_NODE uint8_t
#define SOLAH_INPUT int8_t
#define SOLAH_REASON room_reason
#define SOLAH_LOSES
#include "solah_fixed.h"

/* Readings at which the scores of a feature bend. */
static const SOLAH_FLASH int16_t knots[] = {
    19200, 22400, 28800, 32000
};

/* The scores of readings: piece by piece how far to shift, the values at the left knot and the slopes,
 * then those of a missing reading. */
static const SOLAH_FLASH int16_t values[] = {
    12, -19661, 29361, 24, 3277, 0, 12, 3277, 25166, 2458, 4915, -4915, -2458
};

static const SOLAH_FLASH solah_curve curves[] = {
    {0, 4, 0, 0}, /* CO2 */
};

static const SOLAH_FLASH solah_table tables[] = {
    {1, 2, 10}, /* door */
};

static const SOLAH_FLASH int32_t start_1[] = {
    6554
};

/* What is lost with each part of occupied that is missing; the log shares of classes, and the baseline less these. */
static const SOLAH_FLASH uint16_t lost_1[] = {
    16384, 16384
};
static const SOLAH_FLASH int32_t prior_1[] = {
    -6643, 13197
};

static const SOLAH_FLASH solah_stage stages[] = {
    {start_1, 1, 14, 0, 1, 0, 1, 0, 0, 0, 0, lost_1, prior_1, 41177, 18}, /* occupied */
};

static solah_model tables_of_model = {NULL, knots, values, curves, tables, NULL, stages, NULL};

/* The rules of knots and states, the first one and the number of those of each grid, and the rules of nodes of trees. */
static const SOLAH_FLASH uint16_t of_knots[] = {
    0, 1, 1, 2
};
static const SOLAH_FLASH uint16_t of_states[] = {
    3, 4
};
static const SOLAH_FLASH solah_rules rules = {of_knots, of_states, NULL, NULL, NULL};

int room_decide(const int32_t readings[ROOM_N_READINGS], uint16_t probability[ROOM_N_CLASSES])
{
    return solah_decide(&tables_of_model, readings, probability);
}

int room_predict(const int32_t readings[ROOM_N_READINGS])
{
    return solah_predict(&tables_of_model, readings);
}

int room_why(const int32_t readings[ROOM_N_READINGS], room_reason *reasons, int n_most)
{
    return solah_why(&tables_of_model, &rules, readings, reasons, n_most);
}

static const SOLAH_FLASH char *solah_find_class_name(int place)
{
    static const SOLAH_FLASH char text_0[] = "no";
    static const SOLAH_FLASH char text_1[] = "yes";
    static const SOLAH_FLASH char none[] = "";
    static const SOLAH_FLASH char *const SOLAH_FLASH texts[] = {
        text_0,
        text_1,
        none,
    };
    return texts[(place >= 0 && place < 2) ? place : 2];
}

size_t room_copy_class_name(int place, char *text, size_t size)
{
    return solah_copy_text(solah_find_class_name(place), text, size);
}

#ifndef __AVR__
const char *room_class_name(int place) { return solah_find_class_name(place); }
#endif

static const SOLAH_FLASH char *solah_find_rule_text(int place)
{
    static const SOLAH_FLASH char text_0[] = "CO2 low: yes -1.20";
    static const SOLAH_FLASH char text_1[] = "CO2 medium: yes +0.20";
    static const SOLAH_FLASH char text_2[] = "CO2 high: yes +1.40";
    static const SOLAH_FLASH char text_3[] = "door open: yes +0.30";
    static const SOLAH_FLASH char text_4[] = "door shut: yes -0.30";
    static const SOLAH_FLASH char none[] = "";
    static const SOLAH_FLASH char *const SOLAH_FLASH texts[] = {
        text_0,
        text_1,
        text_2,
        text_3,
        text_4,
        none,
    };
    return texts[(place >= 0 && place < 5) ? place : 5];
}

size_t room_copy_rule_text(int place, char *text, size_t size)
{
    return solah_copy_text(solah_find_rule_text(place), text, size);
}

#ifndef __AVR__
const char *room_rule_text(int place) { return solah_find_rule_text(place); }
#endif

/* When a decision is withheld, and when it changes. */
#define SOLAH_N_READINGS ROOM_N_READINGS
#define SOLAH_SETTLING room_state
#define SOLAH_VERDICT room_verdict
#define SOLAH_SMOOTHS
#include "solah_judge.h"

static const SOLAH_FLASH solah_cells policy_cells[] = {
    {12480, 48000, 0, 2, 0}, /* CO2 */
    {1, 0, 2, 0, 2}, /* door */
};
static const SOLAH_FLASH int32_t policy_cuts[] = {
    19200, 28800
};
static const SOLAH_FLASH solah_seen policy_pairs[] = {
    {0, 1, 0}, /* CO2 and door */
};
static const SOLAH_FLASH uint8_t policy_seen[] = {
    45
};
static const SOLAH_FLASH uint16_t policy_min_probability[] = {
    22938, 18022
};
static const SOLAH_FLASH solah_policy policy = {policy_cells, policy_cuts, policy_pairs, policy_seen, policy_min_probability, NULL, 16384, 3277, 5, 1, 0, ROOM_ABSTAINS_FOR, 1, 2, 2, 3};

void room_settle_start(room_state *state) { solah_settle_start(&policy, state); }

int room_judge(room_state *state, const int32_t readings[ROOM_N_READINGS], uint16_t probability[ROOM_N_CLASSES], room_verdict *verdict)
{
    return solah_judge(&tables_of_model, &policy, state, readings, ROOM_N_READINGS, probability, verdict);
}

uint32_t room_checksum(void)
{
    uint32_t crc = 0;
    for (int32_t i = 0; i < 4; i++) {
        crc = solah_crc_number(crc, (uint32_t)knots[i]);
    }
    for (int32_t i = 0; i < 13; i++) {
        crc = solah_crc_number(crc, (uint32_t)values[i]);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_number(crc, (uint32_t)curves[i].feature);
        crc = solah_crc_number(crc, (uint32_t)curves[i].n_knots);
        crc = solah_crc_number(crc, (uint32_t)curves[i].knot);
        crc = solah_crc_number(crc, (uint32_t)curves[i].value);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_number(crc, (uint32_t)tables[i].feature);
        crc = solah_crc_number(crc, (uint32_t)tables[i].n_states);
        crc = solah_crc_number(crc, (uint32_t)tables[i].value);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_number(crc, (uint32_t)start_1[i]);
    }
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_number(crc, (uint32_t)lost_1[i]);
    }
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_number(crc, (uint32_t)prior_1[i]);
    }
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_number(crc, (uint32_t)policy_cells[i].low);
        crc = solah_crc_number(crc, (uint32_t)policy_cells[i].high);
        crc = solah_crc_number(crc, (uint32_t)policy_cells[i].first_cut);
        crc = solah_crc_number(crc, (uint32_t)policy_cells[i].n_cuts);
        crc = solah_crc_number(crc, (uint32_t)policy_cells[i].n_states);
    }
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_number(crc, (uint32_t)policy_cuts[i]);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_number(crc, (uint32_t)policy_pairs[i].first);
        crc = solah_crc_number(crc, (uint32_t)policy_pairs[i].second);
        crc = solah_crc_number(crc, (uint32_t)policy_pairs[i].byte);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_number(crc, (uint32_t)policy_seen[i]);
    }
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_number(crc, (uint32_t)policy_min_probability[i]);
    }
    for (int32_t i = 0; i < 4; i++) {
        crc = solah_crc_number(crc, (uint32_t)of_knots[i]);
    }
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_number(crc, (uint32_t)of_states[i]);
    }
    return crc;
}
