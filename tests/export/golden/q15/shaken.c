/* state: the tables of a solah model in integers; see shaken.h, also for what to compile it with.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code. */
#include "shaken.h"

#include "solah_crc.h"

#define SOLAH_N_CLASSES 3
#define SOLAH_N_VALUES 2
#define SOLAH_N_STAGES 1
#define SOLAH_MAX_INPUTS 0
#define SOLAH_MAX_DEPTH 0
#define SOLAH_AT uint8_t
#define SOLAH_NODE uint8_t
#define SOLAH_INPUT int8_t
#define SOLAH_REASON shaken_reason
#define SOLAH_LOSES
#include "solah_fixed.h"

/* Readings at which the scores of a feature bend. */
static const SOLAH_FLASH int16_t knots[] = {
    22260, 30402, 6701, 27181, -24633, 16518, 7117, 25784
};

/* The scores of readings: piece by piece how far to shift, the values at the left knot and the slopes,
 * then those of a missing reading. */
static const SOLAH_FLASH int16_t values[] = {
    16, 18033, 1505, 14360, 21443, 18925, 2837, 13, 26044, 23444, -12654, -18417, 10226, 423,
    18, 14936, 1683, -31673, -24691, 12450, -255, 15, 956, -9532, 24161, 28006, 7838, -1555
};

static const SOLAH_FLASH solah_curve curves[] = {
    {0, 2, 0, 0}, /* shaking RMS over 1 s */
    {1, 2, 2, 7}, /* temperature 90 % quantile over 1 s */
    {2, 2, 4, 14}, /* correlation of x and y */
    {3, 2, 6, 21}, /* x energy from 2 to 4 Hz */
};

static const SOLAH_FLASH int32_t start_1[] = {
    -2458, -2458
};

/* What is lost with each part of state that is missing; the log shares of classes, and the baseline less these. */
static const SOLAH_FLASH uint16_t lost_1[] = {
    8192, 8192, 8192, 8192
};
static const SOLAH_FLASH int32_t prior_1[] = {
    -4185, -7506, 1727, 5049
};

static const SOLAH_FLASH solah_stage stages[] = {
    {start_1, 1, 13, 0, 4, 0, 0, 0, 0, 0, 0, lost_1, prior_1, 51472, 17}, /* state */
};

static solah_model tables_of_model = {NULL, knots, values, curves, NULL, NULL, stages, NULL};

/* The rules of knots and states, the first one and the number of those of each grid, and the rules of nodes of trees. */
static const SOLAH_FLASH uint16_t of_knots[] = {
    0, 1, 2, 3, 4, 5, 6, 7
};
static const SOLAH_FLASH solah_rules rules = {of_knots, NULL, NULL, NULL, NULL};

int shaken_decide(const int32_t readings[SHAKEN_N_READINGS], uint16_t probability[SHAKEN_N_CLASSES])
{
    return solah_decide(&tables_of_model, readings, probability);
}

int shaken_predict(const int32_t readings[SHAKEN_N_READINGS])
{
    return solah_predict(&tables_of_model, readings);
}

int shaken_why(const int32_t readings[SHAKEN_N_READINGS], shaken_reason *reasons, int n_most)
{
    return solah_why(&tables_of_model, &rules, readings, reasons, n_most);
}

static const SOLAH_FLASH char *solah_find_class_name(int place)
{
    static const SOLAH_FLASH char text_0[] = "a";
    static const SOLAH_FLASH char text_1[] = "b";
    static const SOLAH_FLASH char text_2[] = "c";
    static const SOLAH_FLASH char none[] = "";
    static const SOLAH_FLASH char *const SOLAH_FLASH texts[] = {
        text_0,
        text_1,
        text_2,
        none,
    };
    return texts[(place >= 0 && place < 3) ? place : 3];
}

size_t shaken_copy_class_name(int place, char *text, size_t size)
{
    return solah_copy_text(solah_find_class_name(place), text, size);
}

#ifndef __AVR__
const char *shaken_class_name(int place) { return solah_find_class_name(place); }
#endif

static const SOLAH_FLASH char *solah_find_rule_text(int place)
{
    static const SOLAH_FLASH char text_0[] = "shaking RMS over 1 s low: b +1.41";
    static const SOLAH_FLASH char text_1[] = "shaking RMS over 1 s high: b +1.44";
    static const SOLAH_FLASH char text_2[] = "temperature 90 % quantile over 1 s up to 0.8: b +1.17";
    static const SOLAH_FLASH char text_3[] = "temperature 90 % quantile over 1 s from 3.3: a +1.15";
    static const SOLAH_FLASH char text_4[] = "correlation of x and y low: b +1.15";
    static const SOLAH_FLASH char text_5[] = "correlation of x and y high: b +0.90";
    static const SOLAH_FLASH char text_6[] = "x energy from 2 to 4 Hz low: b +0.47";
    static const SOLAH_FLASH char text_7[] = "x energy from 2 to 4 Hz high: b +0.94";
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
        none,
    };
    return texts[(place >= 0 && place < 8) ? place : 8];
}

size_t shaken_copy_rule_text(int place, char *text, size_t size)
{
    return solah_copy_text(solah_find_rule_text(place), text, size);
}

#ifndef __AVR__
const char *shaken_rule_text(int place) { return solah_find_rule_text(place); }
#endif

/* How readings are made of samples. */
#define SOLAH_N_MEASURED 3
#define SOLAH_N_STORED 4
#define SOLAH_N_FEATURES 4
#define SOLAH_LONGEST 20
#define SOLAH_SIGNALS shaken_signals
#define SOLAH_INTEGER_SAMPLES
#define SOLAH_USES(kind) ((kind) == SOLAH_CORRELATION || (kind) == SOLAH_ENERGY || (kind) == SOLAH_PERCENTILE || (kind) == SOLAH_RMS)
#include "solah_signals.h"

static const SOLAH_FLASH solah_measured signal_measured[] = {
    {1, 2, 0, 0}, /* x */
    {1, 2, 0, 0}, /* y */
    {4, 0, 0, 0}, /* temperature */
};
static const SOLAH_FLASH solah_stored signal_stored[] = {
    {0, 20, 0, 1, 0}, /* x */
    {20, 20, 1, 1, 0}, /* y */
    {40, 5, 2, 1, 0}, /* temperature */
    {45, 20, 3, 2, -1}, /* shaking */
};
static const SOLAH_FLASH uint8_t signal_axes[] = {
    0, 1, 2, 0, 1
};
static const SOLAH_FLASH solah_feature signal_features[] = {
    {SOLAH_CORRELATION, 2, 0, 1, 0, 0, 0, 13, 1073741824, 0}, /* correlation of x and y */
    {SOLAH_ENERGY, 3, 0, 0, 0, 2, 2, 72, 1759218604, 0}, /* x energy from 2 to 4 Hz */
    {SOLAH_PERCENTILE, 1, 2, 0, 3, 19661, 0, 43, 1073741824, 0}, /* temperature 90 % quantile over 1 s */
    {SOLAH_RMS, 0, 3, 0, 0, 0, 0, 32, 1717986918, 0}, /* shaking RMS over 1 s */
};
static const SOLAH_FLASH solah_wave signal_waves[] = {
    16384, 15582, 13255, 9630, 5063, 0, -5063, -9630, -13255, -15582, -16384, -15582, -13255,
    -9630, -5063, 0, 5063, 9630, 13255, 15582, 0, 5063, 9630, 13255, 15582, 16384, 15582,
    13255, 9630, 5063, 0, -5063, -9630, -13255, -15582, -16384, -15582, -13255, -9630, -5063
};
static const solah_way signal_way = {signal_measured, signal_stored, signal_axes, signal_features, signal_waves, SHAKEN_WINDOW, SHAKEN_STEP};

void shaken_start(shaken_signals *signals) { solah_start(signals, &signal_way); }

int shaken_push(shaken_signals *signals, const int32_t sample[SHAKEN_N_SAMPLES])
{
    return solah_push(signals, &signal_way, sample);
}

int shaken_take(const shaken_signals *signals, shaken_signals *window) { return solah_take(signals, window); }

void shaken_measure(const shaken_signals *signals, int32_t readings[SHAKEN_N_READINGS])
{
    solah_measure(signals, &signal_way, readings);
}

uint32_t shaken_checksum(void)
{
    uint32_t crc = 0;
    for (int32_t i = 0; i < 8; i++) {
        crc = solah_crc_number(crc, (uint32_t)knots[i]);
    }
    for (int32_t i = 0; i < 28; i++) {
        crc = solah_crc_number(crc, (uint32_t)values[i]);
    }
    for (int32_t i = 0; i < 4; i++) {
        crc = solah_crc_number(crc, (uint32_t)curves[i].feature);
        crc = solah_crc_number(crc, (uint32_t)curves[i].n_knots);
        crc = solah_crc_number(crc, (uint32_t)curves[i].knot);
        crc = solah_crc_number(crc, (uint32_t)curves[i].value);
    }
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_number(crc, (uint32_t)start_1[i]);
    }
    for (int32_t i = 0; i < 4; i++) {
        crc = solah_crc_number(crc, (uint32_t)lost_1[i]);
    }
    for (int32_t i = 0; i < 4; i++) {
        crc = solah_crc_number(crc, (uint32_t)prior_1[i]);
    }
    for (int32_t i = 0; i < 3; i++) {
        crc = solah_crc_number(crc, (uint32_t)signal_measured[i].every);
        crc = solah_crc_number(crc, (uint32_t)signal_measured[i].max_gap);
        crc = solah_crc_number(crc, (uint32_t)signal_measured[i].zero);
        crc = solah_crc_number(crc, (uint32_t)signal_measured[i].bias);
    }
    for (int32_t i = 0; i < 4; i++) {
        crc = solah_crc_number(crc, (uint32_t)signal_stored[i].first);
        crc = solah_crc_number(crc, (uint32_t)signal_stored[i].length);
        crc = solah_crc_number(crc, (uint32_t)signal_stored[i].first_axis);
        crc = solah_crc_number(crc, (uint32_t)signal_stored[i].shift);
    }
    for (int32_t i = 0; i < 5; i++) {
        crc = solah_crc_number(crc, (uint32_t)signal_axes[i]);
    }
    for (int32_t i = 0; i < 4; i++) {
        crc = solah_crc_number(crc, (uint32_t)signal_features[i].reading);
        crc = solah_crc_number(crc, (uint32_t)signal_features[i].channel);
        crc = solah_crc_number(crc, (uint32_t)signal_features[i].other);
        crc = solah_crc_number(crc, (uint32_t)signal_features[i].first);
        crc = solah_crc_number(crc, (uint32_t)signal_features[i].low);
        crc = solah_crc_number(crc, (uint32_t)signal_features[i].count);
        crc = solah_crc_number(crc, (uint32_t)signal_features[i].shift);
        crc = solah_crc_number(crc, (uint32_t)signal_features[i].factor);
        crc = solah_crc_number(crc, (uint32_t)signal_features[i].offset);
    }
    for (int32_t i = 0; i < 40; i++) {
        crc = solah_crc_number(crc, (uint32_t)signal_waves[i]);
    }
    for (int32_t i = 0; i < 8; i++) {
        crc = solah_crc_number(crc, (uint32_t)of_knots[i]);
    }
    return crc;
}
