/* y: the tables of a solah model in integers; see sample.h, also for what to compile it with.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code. */
#include "sample.h"

#define SOLAH_N_CLASSES 3
#define SOLAH_N_VALUES 2
#define SOLAH_N_STAGES 1
#define SOLAH_MAX_INPUTS 2
#define SOLAH_MAX_DEPTH 2
#define SOLAH_AT uint8_t
#define SOLAH_NODE uint8_t
#define SOLAH_INPUT int8_t
#define SOLAH_REASON sample_reason
#include "solah_fixed.h"

/* Tree 1. */
static const SOLAH_FLASH solah_asked asked_1[] = {
    {SOLAH_READING, 0, 0},
    {SOLAH_READING, 1, 0},
};
static const SOLAH_FLASH SOLAH_NODE offset_1[] = {
    0, 3, 8
};
static const SOLAH_FLASH SOLAH_INPUT split_1[] = {
    0, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
};
static const SOLAH_FLASH SOLAH_NODE child_1[] = {
    1, 4, 9, 14, 1, 2, 14, 12, 8, 5, 11, 4, 13, 9, 6, 3, 10, 0, 7
};
static const SOLAH_FLASH int16_t peak_1[] = {
    -17845, -10317, 20937, -22531, -9782, -208, 6292, 19557
};
static const SOLAH_FLASH uint16_t inverse_1[] = {
    35658, 34355, 0, 42110, 56075, 41297, 40472, 0
};
static const SOLAH_FLASH uint8_t shift_1[] = {
    13, 15, 0, 14, 14, 13, 14, 0
};
static const SOLAH_FLASH uint16_t ignorance_1[] = {
    20695, 5733, 6340, 870, 6233, 3123, 4652, 17890
};
static const SOLAH_FLASH int16_t leaf_1[] = {
    -3733, -7370, -632, 2166, -590, -3044, -392, -3741, -165, -4402, 1192, -1213, 1382, -2543,
    1577, -3215, 2768, -2533, 2912, -1235, 3101, -4320, 3968, -2255, 4119, 3739, 4782, 2709,
    6406, -506
};

/* Tree 2. */
static const SOLAH_FLASH solah_asked asked_2[] = {
    {SOLAH_STATE, 2, 0},
    {SOLAH_READING, 3, 0},
};
static const SOLAH_FLASH SOLAH_NODE offset_2[] = {
    0, 3, 8
};
static const SOLAH_FLASH SOLAH_INPUT split_2[] = {
    0, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
};
static const SOLAH_FLASH SOLAH_NODE child_2[] = {
    1, 4, 9, 2, 10, 6, 9, 5, 7, 0, 8, 3, 4, 1
};
static const SOLAH_FLASH int16_t peak_2[] = {
    0, 1, 2, -12250, -2631, 3090, 7098, 23038
};
static const SOLAH_FLASH uint16_t inverse_2[] = {
    32768, 32768, 0, 55813, 46921, 33487, 33680, 0
};
static const SOLAH_FLASH uint8_t shift_2[] = {
    0, 0, 0, 14, 13, 12, 14, 0
};
static const SOLAH_FLASH uint16_t ignorance_2[] = {
    7525, 6068, 19175, 12399, 9517, 1601, 9012, 239
};
static const SOLAH_FLASH int16_t leaf_2[] = {
    -2193, -1343, -48, -1138, 242, 916, 1019, 1677, 1022, 463, 1148, 783, 1324, 48, 1547, 577,
    1609, -652, 1766, -1885, 2564, 2850
};

/* Tree 3. */
static const SOLAH_FLASH solah_asked asked_3[] = {
    {SOLAH_READING, 4, 0},
    {SOLAH_READING, 5, 0},
};
static const SOLAH_FLASH SOLAH_NODE offset_3[] = {
    0, 4, 9
};
static const SOLAH_FLASH SOLAH_INPUT split_3[] = {
    0, -1, -1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
};
static const SOLAH_FLASH SOLAH_NODE child_3[] = {
    1, 8, 7, 5, 10, 4, 3, 6, 9, 0, 11, 2, 1, 5, 10
};
static const SOLAH_FLASH int16_t peak_3[] = {
    2048, 5120, 14336, 16384, -10365, 17, 5490, 19513, 28665
};
static const SOLAH_FLASH uint16_t inverse_3[] = {
    43690, 58254, 32768, 0, 51711, 49047, 38285, 58661, 0
};
static const SOLAH_FLASH uint8_t shift_3[] = {
    12, 14, 11, 0, 14, 13, 14, 14, 0
};
static const SOLAH_FLASH uint16_t ignorance_3[] = {
    11957, 10554, 522, 9735, 5934, 8336, 4684, 12953, 861
};
static const SOLAH_FLASH int16_t leaf_3[] = {
    -14286, -11978, -11822, -20544, -11328, -15003, -4882, -72, -4652, -6837, -4646, -9636,
    -1193, -16430, -897, -8900, 584, -9841, 2237, -9828, 8950, 16674, 9852, 6191
};

static const SOLAH_FLASH solah_walk walks[] = {
    {asked_1, 2, {peak_1, inverse_1, shift_1, ignorance_1, offset_1}, split_1, child_1, leaf_1},
    {asked_2, 2, {peak_2, inverse_2, shift_2, ignorance_2, offset_2}, split_2, child_2, leaf_2},
    {asked_3, 2, {peak_3, inverse_3, shift_3, ignorance_3, offset_3}, split_3, child_3, leaf_3},
};

static const SOLAH_FLASH int32_t start_1[] = {
    11382, 3602
};

/* How thresholds move the decision. */
static const SOLAH_FLASH int32_t preference[] = {
    2228, 1792, 2870
};

static const SOLAH_FLASH solah_stage stages[] = {
    {start_1, 1, 11, 0, 0, 0, 0, 0, 3}, /* y */
};

static solah_model model = {NULL, NULL, NULL, NULL, NULL, walks, stages, preference};

/* The rules of knots, of states and of nodes of trees. */
static const SOLAH_FLASH uint16_t of_nodes[] = {
    0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 0, 0, 25, 15, 16, 17, 18,
    19, 20, 21, 22, 23, 24, 0, 26, 27, 0, 0, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37
};
static const SOLAH_FLASH uint16_t first_node[] = {
    0, 19, 33
};
static const SOLAH_FLASH solah_rules rules = {NULL, NULL, of_nodes, first_node};

int sample_decide(const int32_t readings[SAMPLE_N_READINGS], uint16_t belief[SAMPLE_N_CLASSES])
{
    return solah_decide(&model, readings, belief);
}

int sample_why(const int32_t readings[SAMPLE_N_READINGS], sample_reason *reasons, int n_most)
{
    return solah_why(&model, &rules, readings, reasons, n_most);
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
    static const SOLAH_FLASH char text_0[] = "if x0 is low and x1 is low then y c2 0.82 of 3 rows; adds -0.25 for c0, -0.56 for c1, +0.81 for c2";
    static const SOLAH_FLASH char text_1[] = "if x0 is low and x1 is low-or-medium then y c0 0.60 of 0.22 rows; adds +0.59 for c0, +0.30 for c1, -0.89 for c2";
    static const SOLAH_FLASH char text_2[] = "if x0 is low and x1 is medium then y c1 0.80 of 3.4 rows; adds -0.96 for c0, +2.17 for c1, -1.21 for c2";
    static const SOLAH_FLASH char text_3[] = "if x0 is low and x1 is medium-or-high then y c2 0.76 of 4.6 rows; adds -1.28 for c0, +0.73 for c1, +0.55 for c2";
    static const SOLAH_FLASH char text_4[] = "if x0 is low and x1 is high then y c1 0.50 of 4.2 rows; adds -0.04 for c0, +1.31 for c1, -1.28 for c2";
    static const SOLAH_FLASH char text_5[] = "if x0 is low-or-medium and x1 is low then y c2 0.38 of 4.4 rows; adds +0.00 for c0, +0.59 for c1, -0.59 for c2";
    static const SOLAH_FLASH char text_6[] = "if x0 is low-or-medium and x1 is low-or-medium then y c1 0.63 of 3.3 rows; adds -0.28 for c0, +1.66 for c1, -1.38 for c2";
    static const SOLAH_FLASH char text_7[] = "if x0 is low-or-medium and x1 is medium then y c0 0.65 of 1.3 rows; adds +0.74 for c0, +0.66 for c1, -1.41 for c2";
    static const SOLAH_FLASH char text_8[] = "if x0 is low-or-medium and x1 is medium-or-high then y c2 0.59 of 3.9 rows; adds -1.22 for c0, +1.12 for c1, +0.10 for c2";
    static const SOLAH_FLASH char text_9[] = "if x0 is low-or-medium and x1 is high then y c1 0.45 of 1.1 rows; adds -0.27 for c0, +1.15 for c1, -0.88 for c2";
    static const SOLAH_FLASH char text_10[] = "if x0 is medium and x1 is low then y c0 0.44 of 4.2 rows; adds +0.19 for c0, +0.86 for c1, -1.05 for c2";
    static const SOLAH_FLASH char text_11[] = "if x0 is medium and x1 is low-or-medium then y c0 0.63 of 0.41 rows; adds +0.67 for c0, +0.48 for c1, -1.15 for c2";
    static const SOLAH_FLASH char text_12[] = "if x0 is medium and x1 is medium then y c1 0.60 of 4.1 rows; adds +0.20 for c0, +1.71 for c1, -1.91 for c2";
    static const SOLAH_FLASH char text_13[] = "if x0 is medium and x1 is medium-or-high then y c0 0.91 of 0.91 rows; adds +1.81 for c0, -0.02 for c1, -1.79 for c2";
    static const SOLAH_FLASH char text_14[] = "if x0 is medium and x1 is high then y c0 0.46 of 1.9 rows; adds +0.27 for c0, +1.04 for c1, -1.30 for c2";
    static const SOLAH_FLASH char text_15[] = "if x2 is a and x3 is low then y c2 0.70 of 0.71 rows; adds -0.88 for c0, +0.37 for c1, +0.51 for c2";
    static const SOLAH_FLASH char text_16[] = "if x2 is a and x3 is low-or-medium then y c1 0.59 of 3.7 rows; adds -0.22 for c0, +0.42 for c1, -0.20 for c2";
    static const SOLAH_FLASH char text_17[] = "if x2 is a and x3 is medium then y c1 0.81 of 1 rows; adds +0.02 for c0, +0.88 for c1, -0.90 for c2";
    static const SOLAH_FLASH char text_18[] = "if x2 is a and x3 is medium-or-high then y c1 0.39 of 2 rows; adds -0.31 for c0, +0.25 for c1, +0.07 for c2";
    static const SOLAH_FLASH char text_19[] = "if x2 is a and x3 is high then y c1 0.58 of 1.2 rows; adds -0.35 for c0, +0.41 for c1, -0.06 for c2";
    static const SOLAH_FLASH char text_20[] = "if x2 is b and x3 is low then y c0 0.90 of 4.2 rows; adds +0.58 for c0, -0.50 for c1, -0.08 for c2";
    static const SOLAH_FLASH char text_21[] = "if x2 is b and x3 is low-or-medium then y c1 0.74 of 2 rows; adds -0.16 for c0, +0.63 for c1, -0.47 for c2";
    static const SOLAH_FLASH char text_22[] = "if x2 is b and x3 is medium then y c2 0.71 of 4.9 rows; adds -0.44 for c0, +0.06 for c1, +0.38 for c2";
    static const SOLAH_FLASH char text_23[] = "if x2 is b and x3 is medium-or-high then y c1 0.42 of 3.2 rows; adds -0.24 for c0, +0.26 for c1, -0.02 for c2";
    static const SOLAH_FLASH char text_24[] = "if x2 is b and x3 is high then y c0 0.68 of 3.5 rows; adds +0.19 for c0, +0.17 for c1, -0.36 for c2";
    static const SOLAH_FLASH char text_25[] = "if x2 is c then y c2 0.59 of 4.3 rows; adds -0.19 for c0, -0.07 for c1, +0.26 for c2";
    static const SOLAH_FLASH char text_26[] = "if x4 is 1.0 then y c1 0.49 of 2.7 rows; adds +1.51 for c0, +1.79 for c1, -3.30 for c2";
    static const SOLAH_FLASH char text_27[] = "if x4 is 2.5 then y c0 0.42 of 3.1 rows; adds +1.59 for c0, +1.16 for c1, -2.75 for c2";
    static const SOLAH_FLASH char text_28[] = "if x4 is 7.0 and x5 is low then y c0 0.46 of 3.4 rows; adds +1.87 for c0, -0.40 for c1, -1.47 for c2";
    static const SOLAH_FLASH char text_29[] = "if x4 is 7.0 and x5 is low-or-medium then y c2 0.79 of 2.9 rows; adds +0.81 for c0, -1.58 for c1, +0.77 for c2";
    static const SOLAH_FLASH char text_30[] = "if x4 is 7.0 and x5 is medium then y c0 0.53 of 0.88 rows; adds +2.87 for c0, +2.29 for c1, -5.15 for c2";
    static const SOLAH_FLASH char text_31[] = "if x4 is 7.0 and x5 is medium-or-high then y c1 0.59 of 4.8 rows; adds +1.24 for c0, +2.33 for c1, -3.56 for c2";
    static const SOLAH_FLASH char text_32[] = "if x4 is 7.0 and x5 is high then y c0 0.80 of 0.86 rows; adds +4.27 for c0, -2.70 for c1, -1.57 for c2";
    static const SOLAH_FLASH char text_33[] = "if x4 is 8.0 and x5 is low then y c2 0.62 of 2.6 rows; adds -2.61 for c0, +2.20 for c1, +0.41 for c2";
    static const SOLAH_FLASH char text_34[] = "if x4 is 8.0 and x5 is low-or-medium then y c0 0.86 of 0.81 rows; adds +4.29 for c0, -1.25 for c1, -3.04 for c2";
    static const SOLAH_FLASH char text_35[] = "if x4 is 8.0 and x5 is medium then y c0 0.93 of 3.6 rows; adds +5.27 for c0, -0.50 for c1, -4.76 for c2";
    static const SOLAH_FLASH char text_36[] = "if x4 is 8.0 and x5 is medium-or-high then y c0 0.57 of 1.5 rows; adds +2.32 for c0, +0.06 for c1, -2.38 for c2";
    static const SOLAH_FLASH char text_37[] = "if x4 is 8.0 and x5 is high then y c2 0.97 of 0.76 rows; adds -4.17 for c0, +0.20 for c1, +3.97 for c2";
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
        text_31,
        text_32,
        text_33,
        text_34,
        text_35,
        text_36,
        text_37,
        none,
    };
    return texts[(place >= 0 && place < 38) ? place : 38];
}

size_t sample_copy_rule_text(int place, char *text, size_t size)
{
    return solah_copy_text(solah_find_rule_text(place), text, size);
}

#ifndef __AVR__
const char *sample_rule_text(int place) { return solah_find_rule_text(place); }
#endif
