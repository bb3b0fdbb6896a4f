/* y: the tables of a solah model; see sample.h, also for what to compile it with.
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
#include "solah_float.h"

/* Readings at which the scores of a feature bend. */
static const SOLAH_FLASH float knots[] = {
    -1.0891653f, -0.6296781f, 1.2778909f, 2.0391877f, -1.4436764f, -0.27501845f, 0.51849866f,
    2.1376703f, -1.0346731f, 0.8963099f, 3.5751402f, 1.0f, 2.5f, 7.0f, 8.0f, -2.7287328f,
    -1.5772722f, -0.55046755f, -0.23823832f, 1.2778909f, 2.0391877f, 0.51849866f, 2.1376703f,
    -1.4436764f, -0.27501845f, -1.0346731f, 0.8963099f, 1.0f, 2.5f, 7.0f, 8.0f
};

/* The scores of readings: piece by piece the values at the left knot and the slopes, then those of a missing reading. */
static const SOLAH_FLASH float values[] = {
    1.3052794f, 0.10894631f, -7.6189938f, -0.6126038f, -2.1955512f, -0.17253731f, 0.0f, 0.0f,
    -2.1955512f, -0.17253731f, 0.9487268f, -0.43234468f, 0.0f, 0.0f, -0.08740707f,
    -0.38402995f, 0.62410986f, 1.3987433f, 0.6419639f, 1.2506224f, 0.0f, 0.0f, 0.6419639f,
    1.2506224f, -1.2064801f, -2.125879f, 0.0f, 0.0f, -2.096056f, -6.9841537f, 1.1522939f,
    3.731106f, 0.12900387f, 0.22054884f, -1.2441546f, -1.2782569f, 0.0f, 0.0f, -0.26025537f,
    -0.1170223f, 0.3851684f, 0.51386136f, 0.31749725f, 0.65376973f, 0.17548011f, -0.1876386f,
    1.1071578f, -0.19060391f, -1.2810446f, -0.30497608f, 0.0f, 0.0f, -0.070847005f,
    0.047506563f, -0.52558994f, -0.394875f, -0.6760431f, -0.40717643f, 0.0f, 0.0f, -0.6760431f,
    -0.40717643f, 8.452906f, 3.301684f, 0.0f, 0.0f, 0.53167546f, -1.7393161f, -0.6240746f,
    0.07700877f, 1.1547654f, 0.8918133f, 0.0f, 0.0f, 1.3135482f, 0.6175998f, -0.42224026f,
    0.49346364f, 1.6172295f, -1.8077024f, 1.428573f, -3.467673f, 0.19081229f, -0.97085685f,
    -0.40314224f, 0.4525898f, -0.012300722f, 0.03092235f, 2.1857516e-16f, -3.469447e-18f,
    1.1797794f, -2.9658055f, 1.6025107f, -1.7990673f, 0.85568243f, -2.8027964f, -2.1172457f,
    -1.0981648f, -1.6119639f, 1.2982856f, 1.4262248f, 1.0412098f, -0.14132299f, -2.3760853f,
    -1.9907613f, -0.103497036f, 0.21503824f, 2.0816682e-17f, -1.179612e-16f, 0.3099545f,
    -0.6439998f, 1.2339333f, 1.0338293f, 0.51787096f, 0.6666667f, 0.22222222f, 1.0f,
    -0.054971438f, 1.260815f, 1.3079337f, 2.2118018f, 1.9675226f, 1.7181463f, -1.2350612f,
    -1.1126963f, -1.1895596f, -1.0532113f, -0.014364661f, -0.033692617f, -4.1633363e-17f,
    -5.551115e-17f, 0.7884489f, 1.8493237f, 1.9313344f, 1.7099633f
};

static const SOLAH_FLASH solah_curve curves[] = {
    {0, 4, 0, 0}, /* x0 */
    {1, 4, 4, 14}, /* x1 */
    {3, 3, 8, 28}, /* x3 */
    {4, 4, 11, 38}, /* x4 */
    {5, 4, 15, 52}, /* x5 */
};

static const SOLAH_FLASH solah_table tables[] = {
    {2, 3, 66}, /* x2 */
};

/* Two features each: whose, lines, whether these are categories, peaks, slopes; cells; values. */
static const SOLAH_FLASH solah_grid grids[] = {
    { {{0, 2, 0, 19, 74}, {1, 2, 0, 21, 75}}, 0, 76}, /* x0, x1 */
    { {{1, 2, 0, 23, 94}, {2, 3, 1, 0, 0}}, 9, 95}, /* x1, x2 */
    { {{3, 2, 0, 25, 113}, {4, 4, 0, 27, 114}}, 21, 117}, /* x3, x4 */
};
/* The line of values of each cell. */
static const SOLAH_FLASH uint8_t grid_cells[] = {
    0, 1, 5, 2, 3, 7, 4, 8, 6, 0, 0, 1, 4, 2, 2, 3, 8, 5, 5, 7, 6, 0, 1, 1, 1, 7, 2, 3, 3, 3,
    5, 8, 4, 4, 4, 6
};

static const SOLAH_FLASH float start_1[] = {
    1.166496f, 0.51667964f
};

/* What is lost with each part of y that is missing; the log shares of classes, and the baseline less these. */
static const SOLAH_FLASH float lost_1[] = {
    0.1512144f, 0.069931164f, 0.13823715f, 0.17070585f, 0.044018023f, 0.13379343f, 0.10594379f,
    0.12793079f, 0.058225397f
};
static const SOLAH_FLASH float prior_1[] = {
    0.08250284f, 0.40398368f, 1.0839932f, 0.11269592f
};

static const SOLAH_FLASH solah_stage stages[] = {
    {start_1, 1, 0, 0, 5, 0, 1, 0, 3, 0, 0, lost_1, prior_1, 20.600811f, 0}, /* y */
};

static solah_model tables_of_model = {knots, values, curves, tables, grids, grid_cells, NULL, stages, NULL};

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

int sample_decide(const float readings[SAMPLE_N_READINGS], float probability[SAMPLE_N_CLASSES])
{
    return solah_decide(&tables_of_model, readings, probability);
}

int sample_predict(const float readings[SAMPLE_N_READINGS])
{
    return solah_predict(&tables_of_model, readings);
}

int sample_why(const float readings[SAMPLE_N_READINGS], sample_reason *reasons, int n_most)
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
        crc = solah_crc_float(crc, knots[i]);
    }
    for (int32_t i = 0; i < 135; i++) {
        crc = solah_crc_float(crc, values[i]);
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
        crc = solah_crc_float(crc, start_1[i]);
    }
    for (int32_t i = 0; i < 9; i++) {
        crc = solah_crc_float(crc, lost_1[i]);
    }
    for (int32_t i = 0; i < 4; i++) {
        crc = solah_crc_float(crc, prior_1[i]);
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
