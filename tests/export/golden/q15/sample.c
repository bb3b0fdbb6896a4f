/* y: the tables of a solah model in integers; see sample.h, also for what to compile it with.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code. */
#include "sample.h"

#include "solah_crc.h"

#define SOLAH_N_CLASSES 3
#define SOLAH_N_VALUES 2
#define SOLAH_N_STAGES 1
#define SOLAH_MAX_INPUTS 0
#define SOLAH_MAX_DEPTH 0
#define SOLAH_AT uint8_t
#define SOLAH_NODE uint8_t
#define SOLAH_INPUT int8_t
#define SOLAH_REASON sample_reason
#define SOLAH_GRIDS
#define SOLAH_LOSES
#include "solah_fixed.h"

/* Readings at which the scores of a feature bend. */
static const SOLAH_FLASH int16_t knots[] = {
    -8922, -5158, 10468, 16705, -11827, -2253, 4248, 17512, -8476, 7343, 29288, 2048, 5120,
    14336, 16384, -22354, -12921, -4509, -1952, 10468, 16705, 4248, 17512, -11827, -2253,
    -8476, 7343, 2048, 5120, 14336, 16384
};

/* The scores of readings: piece by piece how far to shift, the values at the left knot and the slopes,
 * then those of a missing reading. */
static const SOLAH_FLASH int16_t values[] = {
    13, 5346, 446, -31208, -2509, 24, -8993, -707, 0, 0, 16, -8993, -707, 31082, -14164, 0, 0,
    15, -358, -1573, 10223, 22918, 24, 2629, 5123, 0, 0, 14, 2629, 5123, -9883, -17417, 0, 0,
    14, -8585, -28607, 9438, 30564, 15, 528, 903, -20384, -20942, 0, 0, 14, -1066, -479, 12619,
    16837, 16, 1300, 2678, 23004, -24597, 13, 4535, -781, -20988, -4996, 0, 0, 16, -290, 195,
    -17223, -12943, 24, -2769, -1668, 0, 0, 12, -2769, -1668, 17316, 6765, 0, 0, 2178, -7124,
    -2556, 315, 4730, 3653, 0, 0, 12, 21519, 13, 20237, -1729, 2021, 6624, -7404, 5851, -14204,
    782, -3977, -1651, 1854, -50, 127, 0, 0, 4832, -12148, 6564, -7369, 13, 28037, -11480,
    -8672, -4498, -6603, 5318, 5842, 4265, -579, -9732, -8154, -424, 881, 0, 0, 1270, -2638,
    5054, 4235, 13, 16969, 11, 21845, 13, 29127, 10, 16384, -225, 5164, 5357, 9060, 8059, 7038,
    -5059, -4558, -4872, -4314, -59, -138, 0, 0, 3229, 7575, 7911, 7004
};

static const SOLAH_FLASH solah_curve curves[] = {
    {0, 4, 0, 0}, /* x0 */
    {1, 4, 4, 17}, /* x1 */
    {3, 3, 8, 34}, /* x3 */
    {4, 4, 11, 46}, /* x4 */
    {5, 4, 15, 63}, /* x5 */
};

static const SOLAH_FLASH solah_table tables[] = {
    {2, 3, 80}, /* x2 */
};

/* Two features each: whose, lines, whether these are categories, peaks, slopes; cells; values. */
static const SOLAH_FLASH solah_grid grids[] = {
    { {{0, 2, 0, 19, 88}, {1, 2, 0, 21, 90}}, 0, 92}, /* x0, x1 */
    { {{1, 2, 0, 23, 110}, {2, 3, 1, 0, 0}}, 9, 112}, /* x1, x2 */
    { {{3, 2, 0, 25, 130}, {4, 4, 0, 27, 132}}, 21, 138}, /* x3, x4 */
};
/* The line of values of each cell. */
static const SOLAH_FLASH uint8_t grid_cells[] = {
    0, 1, 5, 2, 3, 7, 4, 8, 6, 0, 0, 1, 4, 2, 2, 3, 8, 5, 5, 7, 6, 0, 1, 1, 1, 7, 2, 3, 3, 3,
    5, 8, 4, 4, 4, 6
};

static const SOLAH_FLASH int32_t start_1[] = {
    4778, 2116
};

/* What is lost with each part of y that is missing; the log shares of classes, and the baseline less these. */
static const SOLAH_FLASH uint16_t lost_1[] = {
    4955, 2292, 4530, 5593, 1442, 4384, 3472, 4192, 1908
};
static const SOLAH_FLASH int32_t prior_1[] = {
    338, 1655, 4440, 462
};

static const SOLAH_FLASH solah_stage stages[] = {
    {start_1, 1, 12, 0, 5, 0, 1, 0, 3, 0, 0, lost_1, prior_1, 42190, 14}, /* y */
};

static solah_model tables_of_model = {NULL, knots, values, curves, tables, grids, grid_cells, NULL, stages, NULL};

/* The rules of knots and states, the first one and the number of those of each grid, and the rules of nodes of trees. */
static const SOLAH_FLASH uint16_t of_knots[] = {
    0, 1, 1, 2, 3, 4, 4, 5, 9, 10, 11, 12, 13, 14, 15, 16, 17, 17, 18
};
static const SOLAH_FLASH uint16_t of_states[] = {
    6, 7, 8
};
static const SOLAH_FLASH uint16_t of_grids[] = {
    19, 4, 23, 4, 27, 4
};
static const SOLAH_FLASH solah_rules rules = {of_knots, of_states, of_grids, NULL, NULL};

int sample_decide(const int32_t readings[SAMPLE_N_READINGS], uint16_t probability[SAMPLE_N_CLASSES])
{
    return solah_decide(&tables_of_model, readings, probability);
}

int sample_predict(const int32_t readings[SAMPLE_N_READINGS])
{
    return solah_predict(&tables_of_model, readings);
}

int sample_why(const int32_t readings[SAMPLE_N_READINGS], sample_reason *reasons, int n_most)
{
    return solah_why(&tables_of_model, &rules, readings, reasons, n_most);
}

static const SOLAH_FLASH char *solah_find_class_name(int place)
{
    static const SOLAH_FLASH char text_0[] = "c0";
    static const SOLAH_FLASH char text_1[] = "c1";
    static const SOLAH_FLASH char text_2[] = "c2";
    static const SOLAH_FLASH char none[] = "";
    static const SOLAH_FLASH char *const SOLAH_FLASH texts[] = {
        text_0,
        text_1,
        text_2,
        none,
    };
    return texts[(place >= 0 && place < 3) ? place : 3];
}

size_t sample_copy_class_name(int place, char *text, size_t size)
{
    return solah_copy_text(solah_find_class_name(place), text, size);
}

#ifndef __AVR__
const char *sample_class_name(int place) { return solah_find_class_name(place); }
#endif

static const SOLAH_FLASH char *solah_find_rule_text(int place)
{
    static const SOLAH_FLASH char text_0[] = "x0 lowest: c1 +0.83";
    static const SOLAH_FLASH char text_1[] = "x0 low: c0 +0.79";
    static const SOLAH_FLASH char text_2[] = "x0 medium: c0 +0.66";
    static const SOLAH_FLASH char text_3[] = "x1 lowest: c0 +0.16";
    static const SOLAH_FLASH char text_4[] = "x1 low: c2 +0.62";
    static const SOLAH_FLASH char text_5[] = "x1 medium: c0 +1.17";
    static const SOLAH_FLASH char text_6[] = "x2 a: c1 +0.93";
    static const SOLAH_FLASH char text_7[] = "x2 b: c2 +0.26";
    static const SOLAH_FLASH char text_8[] = "x2 c: c1 +0.47";
    static const SOLAH_FLASH char text_9[] = "x3 lowest: c0 +3.03";
    static const SOLAH_FLASH char text_10[] = "x3 low: c2 +0.10";
    static const SOLAH_FLASH char text_11[] = "x3 medium: c0 +2.14";
    static const SOLAH_FLASH char text_12[] = "x4 1.0: c0 +0.13";
    static const SOLAH_FLASH char text_13[] = "x4 2.5: c2 +0.33";
    static const SOLAH_FLASH char text_14[] = "x4 7.0: c1 +0.80";
    static const SOLAH_FLASH char text_15[] = "x4 8.0: c0 +0.22";
    static const SOLAH_FLASH char text_16[] = "x5 lowest: c2 +0.06";
    static const SOLAH_FLASH char text_17[] = "x5 low: c0 +0.36";
    static const SOLAH_FLASH char text_18[] = "x5 medium: c1 +1.10";
    static const SOLAH_FLASH char text_19[] = "x0 below 1.7 and x1 below 1.3: c2 +0.47";
    static const SOLAH_FLASH char text_20[] = "x0 below 1.7 and x1 above 1.3: c1 +1.68";
    static const SOLAH_FLASH char text_21[] = "x0 above 1.7 and x1 below 1.3: c1 +2.11";
    static const SOLAH_FLASH char text_22[] = "x0 above 1.7 and x1 above 1.3: c1 +0.45";
    static const SOLAH_FLASH char text_23[] = "x1 below -0.9 and x2 not c: c0 +1.64";
    static const SOLAH_FLASH char text_24[] = "x1 below -0.9 and x2 c: c0 +0.90";
    static const SOLAH_FLASH char text_25[] = "x1 above -0.9 and x2 not c: c2 +0.52";
    static const SOLAH_FLASH char text_26[] = "x1 above -0.9 and x2 c: c1 +0.74";
    static const SOLAH_FLASH char text_27[] = "x3 below -0.07 and x4 1.0: c2 +0.86";
    static const SOLAH_FLASH char text_28[] = "x3 below -0.07 and x4 at least 2.5: c2 +1.04";
    static const SOLAH_FLASH char text_29[] = "x3 above -0.07 and x4 1.0: c1 +0.74";
    static const SOLAH_FLASH char text_30[] = "x3 above -0.07 and x4 at least 2.5: c0 +0.78";
    static const SOLAH_FLASH char none[] = "";
    static const SOLAH_FLASH char *const SOLAH_FLASH texts[] = {
        text_0,
        text_1,
        text_2,
        text_3,
        text_4,
        text_5,
        text_6,
        text_7,
        text_8,
        text_9,
        text_10,
        text_11,
        text_12,
        text_13,
        text_14,
        text_15,
        text_16,
        text_17,
        text_18,
        text_19,
        text_20,
        text_21,
        text_22,
        text_23,
        text_24,
        text_25,
        text_26,
        text_27,
        text_28,
        text_29,
        text_30,
        none,
    };
    return texts[(place >= 0 && place < 31) ? place : 31];
}

size_t sample_copy_rule_text(int place, char *text, size_t size)
{
    return solah_copy_text(solah_find_rule_text(place), text, size);
}

#ifndef __AVR__
const char *sample_rule_text(int place) { return solah_find_rule_text(place); }
#endif

uint32_t sample_checksum(void)
{
    uint32_t crc = 0;
    for (int32_t i = 0; i < 31; i++) {
        crc = solah_crc_number(crc, (uint32_t)knots[i]);
    }
    for (int32_t i = 0; i < 156; i++) {
        crc = solah_crc_number(crc, (uint32_t)values[i]);
    }
    for (int32_t i = 0; i < 5; i++) {
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
    for (int32_t i = 0; i < 3; i++) {
        crc = solah_crc_number(crc, (uint32_t)grids[i].sides[0].feature);
        crc = solah_crc_number(crc, (uint32_t)grids[i].sides[0].n_lines);
        crc = solah_crc_number(crc, (uint32_t)grids[i].sides[0].is_state);
        crc = solah_crc_number(crc, (uint32_t)grids[i].sides[0].knot);
        crc = solah_crc_number(crc, (uint32_t)grids[i].sides[0].value);
    }
    for (int32_t i = 0; i < 3; i++) {
        crc = solah_crc_number(crc, (uint32_t)grids[i].sides[1].feature);
        crc = solah_crc_number(crc, (uint32_t)grids[i].sides[1].n_lines);
        crc = solah_crc_number(crc, (uint32_t)grids[i].sides[1].is_state);
        crc = solah_crc_number(crc, (uint32_t)grids[i].sides[1].knot);
        crc = solah_crc_number(crc, (uint32_t)grids[i].sides[1].value);
    }
    for (int32_t i = 0; i < 3; i++) {
        crc = solah_crc_number(crc, (uint32_t)grids[i].cell);
        crc = solah_crc_number(crc, (uint32_t)grids[i].value);
    }
    for (int32_t i = 0; i < 36; i++) {
        crc = solah_crc_number(crc, (uint32_t)grid_cells[i]);
    }
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_number(crc, (uint32_t)start_1[i]);
    }
    for (int32_t i = 0; i < 9; i++) {
        crc = solah_crc_number(crc, (uint32_t)lost_1[i]);
    }
    for (int32_t i = 0; i < 4; i++) {
        crc = solah_crc_number(crc, (uint32_t)prior_1[i]);
    }
    for (int32_t i = 0; i < 19; i++) {
        crc = solah_crc_number(crc, (uint32_t)of_knots[i]);
    }
    for (int32_t i = 0; i < 3; i++) {
        crc = solah_crc_number(crc, (uint32_t)of_states[i]);
    }
    for (int32_t i = 0; i < 6; i++) {
        crc = solah_crc_number(crc, (uint32_t)of_grids[i]);
    }
    return crc;
}
