/* occupied: a solah model, a function for each feature; see room.h.
 *
 * Each function adds the weights of its feature to the scores of all classes but the first.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code. */
#include "room.h"

#include "solah_crc.h"
#include "solah_flash.h"
#include "solah_float_math.h"

#define N_VALUES 1

/* What is added up, and the shares of what is missing. */
typedef struct {
    float score[N_VALUES];
    float missing;
    float squares;
} sum;

/* Note that a part is missing, with its share of all weights. */
static void miss(sum *to, float share)
{
    to->missing += share;
    to->squares += share * share;
}

/* A line between two readings: weights where it begins, and what each unit of the reading adds to them. */
typedef struct {
    float from;
    float to;
    float share; /* of all weights, missing with the reading */
    struct {
        float weight;
        float slope;
    } of[N_VALUES];
} line;

/* Add the weights of a reading on a line; beyond its ends they are constant. A missing reading adds nothing. */
static void draw_line(sum *to, const SOLAH_FLASH line *on, float x)
{
    if (x != x) {
        miss(to, on->share);
        return;
    }
    if (x < on->from) {
        x = on->from;
    }
    if (x > on->to) {
        x = on->to;
    }
    x -= on->from;
    for (int v = 0; v < N_VALUES; v++) {
        to->score[v] += on->of[v].weight + x * on->of[v].slope;
    }
}

/* Add weights. */
static void add(sum *to, const SOLAH_FLASH float *weights)
{
    for (int v = 0; v < N_VALUES; v++) {
        to->score[v] += weights[v];
    }
}

/* CO2 */
static const SOLAH_FLASH line lines_co2[] = {
    /* at 600: CO2 low: yes -1.20 */
    {600.0f, 700.0f, 0.5f, {{-1.2f, 0.014f}}},
    /* at 900: CO2 medium: yes +0.20 */
    {900.0f, 1000.0f, 0.5f, {{0.2f, 0.012f}}},
    /* at 1000: CO2 high: yes +1.40 */
};
static const SOLAH_FLASH float missing_co2[N_VALUES] = {0.15f};

static void add_co2(sum *to, float x)
{
    if (x != x) {
        add(to, missing_co2);
        miss(to, lines_co2[0].share);
        return;
    }
    if (x < 700.0f) {
        draw_line(to, &lines_co2[0], x);
    } else {
        draw_line(to, &lines_co2[1], x);
    }
}

/* door */
static const SOLAH_FLASH float weights_door[3][N_VALUES] = {
    {0.3f}, /* door open: yes +0.30 */
    {-0.3f}, /* door shut: yes -0.30 */
    {-0.15f}, /* missing */
};

static void add_door(sum *to, float x)
{
    const int category = x >= 0.0f && x < 2.0f && (float)(int)x == x ? (int)x : 2;

    add(to, weights_door[category]);
    if (category == 2) {
        miss(to, 0.5f);
    }
}

/* The scores of the baseline. */
static const SOLAH_FLASH float start[N_VALUES] = {0.4f};
/* The logarithms of the overall shares, and the baseline less these. */
static const SOLAH_FLASH float prior[N_VALUES] = {-0.4054651f};
static const SOLAH_FLASH float lean[N_VALUES] = {0.8054651f};

/* Add up the scores of all features. */
static void sum_up(const float readings[ROOM_N_READINGS], sum *to)
{
    float left;

    for (int v = 0; v < N_VALUES; v++) {
        to->score[v] = start[v];
    }
    to->missing = 0.0f;
    to->squares = 0.0f;
    add_co2(to, readings[ROOM_READING_CO2]);
    add_door(to, readings[ROOM_READING_DOOR]);
    if (!(to->missing > 0.0f)) {
        return;
    }
    /* What is missing weakens the rest: scores go back to the overall shares. */
    left = solah_inverse_root(1.0f + 1.2566371f * to->squares);
    for (int v = 0; v < N_VALUES; v++) {
        to->score[v] = prior[v] + ((to->score[v] - prior[v]) - lean[v] * to->missing) * left;
    }
}

/* The class with the highest score, the first of equal ones. */
static int best(const sum *total)
{
    float most = 0.0f;
    int found = 0;

    for (int v = 0; v < N_VALUES; v++) {
        const float score = total->score[v];
        if (score > most) {
            most = score;
            found = v + 1;
        }
    }
    return found;
}

int room_predict(const float readings[ROOM_N_READINGS])
{
    sum total;

    sum_up(readings, &total);
    return best(&total);
}

int room_decide(const float readings[ROOM_N_READINGS], float probability[ROOM_N_CLASSES])
{
    sum total;
    float most = 0.0f;
    float all = 0.0f;

    sum_up(readings, &total);
    for (int v = 0; v < N_VALUES; v++) {
        if (total.score[v] > most) {
            most = total.score[v];
        }
    }
    for (int c = 0; c < ROOM_N_CLASSES; c++) {
        const float score = c == 0 ? 0.0f : total.score[c - 1];
        probability[c] = solah_exp(score - most);
        all += probability[c];
    }
    for (int c = 0; c < ROOM_N_CLASSES; c++) {
        probability[c] /= all;
    }
    return best(&total);
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

uint32_t room_checksum(void)
{
    uint32_t crc = 0;
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_float(crc, lines_co2[i].from);
        crc = solah_crc_float(crc, lines_co2[i].to);
        crc = solah_crc_float(crc, lines_co2[i].of[0].weight);
        crc = solah_crc_float(crc, lines_co2[i].of[0].slope);
    }
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_float(crc, lines_co2[i].share);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_float(crc, missing_co2[i]);
    }
    for (int32_t i = 0; i < 3; i++) {
        crc = solah_crc_float(crc, weights_door[i][0]);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_float(crc, start[i]);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_float(crc, prior[i]);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_float(crc, lean[i]);
    }
    return crc;
}
