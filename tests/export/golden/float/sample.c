/* y: the tables of a solah model; see sample.h, also for what to compile it with.
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
#include "solah_float.h"

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
static const SOLAH_FLASH float peak_1[] = {
    -1.0891653f, -0.6296781f, 1.2778909f, -2.7503936f, -1.19407f, -0.025412036f, 0.76810503f,
    2.3872766f
};
static const SOLAH_FLASH float ignorance_1[] = {
    0.6315393f, 0.17496984f, 0.19349085f, 0.026538812f, 0.1902191f, 0.09529755f, 0.1419558f,
    0.54598874f
};
static const SOLAH_FLASH float leaf_1[] = {
    -1.8229626f, -3.598745f, -0.308448f, 1.057445f, -0.28813744f, -1.4862187f, -0.19121808f,
    -1.8266945f, -0.08061057f, -2.1491718f, 0.5818749f, -0.5921024f, 0.6748774f, -1.241723f,
    0.7700825f, -1.5696254f, 1.3517183f, -1.2369051f, 1.4217551f, -0.6028531f, 1.5143026f,
    -2.109359f, 1.9373031f, -1.1011788f, 2.0112584f, 1.8256675f, 2.3348398f, 1.3226134f,
    3.127996f, -0.24702328f
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
static const SOLAH_FLASH float peak_2[] = {
    0.0f, 1.0f, 2.0f, -1.4953781f, -0.32116976f, 0.3772344f, 0.866408f, 2.8122737f
};
static const SOLAH_FLASH float ignorance_2[] = {
    0.22964214f, 0.18519159f, 0.5851663f, 0.37837714f, 0.29044867f, 0.04884714f, 0.27502632f,
    0.0073007382f
};
static const SOLAH_FLASH float leaf_2[] = {
    -1.0705992f, -0.6559174f, -0.023483684f, -0.555894f, 0.11831451f, 0.4470925f, 0.49743915f,
    0.81863654f, 0.49879292f, 0.22601233f, 0.56036925f, 0.38232562f, 0.6463658f, 0.023671575f,
    0.7554733f, 0.2819102f, 0.78586435f, -0.31812328f, 0.8622054f, -0.9204076f, 1.2520947f,
    1.3915819f
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
static const SOLAH_FLASH float peak_3[] = {
    1.0f, 2.5f, 7.0f, 8.0f, -1.2652609f, 0.002032942f, 0.67020833f, 2.3819952f, 3.4990876f
};
static const SOLAH_FLASH float ignorance_3[] = {
    0.3649002f, 0.3220837f, 0.015941782f, 0.2970743f, 0.1811025f, 0.25438863f, 0.14293139f,
    0.39531034f, 0.026267141f
};
static const SOLAH_FLASH float leaf_3[] = {
    -6.9755535f, -5.8485866f, -5.772458f, -10.031138f, -5.5310087f, -7.3258934f, -2.3838243f,
    -0.035175167f, -2.2713177f, -3.338452f, -2.268329f, -4.70525f, -0.58275557f, -8.02243f,
    -0.43776235f, -4.345652f, 0.28492534f, -4.8053555f, 1.0922084f, -4.7990565f, 4.3701835f,
    8.141383f, 4.810605f, 3.0231526f
};

static const SOLAH_FLASH solah_walk walks[] = {
    {asked_1, 2, {peak_1, ignorance_1, offset_1}, {split_1, child_1}, leaf_1},
    {asked_2, 2, {peak_2, ignorance_2, offset_2}, {split_2, child_2}, leaf_2},
    {asked_3, 2, {peak_3, ignorance_3, offset_3}, {split_3, child_3}, leaf_3},
};

static const SOLAH_FLASH float start_1[] = {
    5.5576057f, 1.7589128f
};

/* How thresholds move the decision. */
static const SOLAH_FLASH float preference[] = {
    1.0877311f, 0.8752288f, 1.4013952f
};

static const SOLAH_FLASH solah_stage stages[] = {
    {start_1, 1, 0, 0, 0, 0, 0, 0, 3}, /* y */
};

static solah_model model = {NULL, NULL, NULL, NULL, walks, stages, preference};

/* The rules of knots, of states and of nodes of trees. */
static const SOLAH_FLASH uint16_t of_nodes[] = {
    0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 0, 0, 25, 15, 16, 17, 18,
    19, 20, 21, 22, 23, 24, 0, 26, 27, 0, 0, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37
};
static const SOLAH_FLASH uint16_t first_node[] = {
    0, 19, 33
};
static const SOLAH_FLASH solah_rules rules = {NULL, NULL, of_nodes, first_node};

int sample_decide(const float readings[SAMPLE_N_READINGS], float belief[SAMPLE_N_CLASSES])
{
    return solah_decide(&model, readings, belief);
}

int sample_why(const float readings[SAMPLE_N_READINGS], sample_reason *reasons, int n_most)
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
