/* occupied: a solah model, a function for each feature; see room.h.
 *
 * Each function adds the weights of its feature to the scores of all classes but the first, in units of 2^-14.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code. */
#include "room.h"

#include "solah_crc.h"
#include "solah_flash.h"
#include "solah_fixed_math.h"

#define N_VALUES 1

/* What is added up, and the shares of what is missing. */
typedef struct {
    int32_t score[N_VALUES];
    uint32_t missing;
    uint32_t squares;
} sum;

/* Note that a part is missing, with its share of all weights. */
static void miss(sum *to, uint32_t share)
{
    to->missing += share;
    to->squares += share * share;
}

/* A line between two readings: weights where it begins, and what each unit of the reading adds to them,
 * times 2^shift. */
typedef struct {
    int16_t from;
    int16_t to;
    int16_t shift;
    uint16_t share; /* of all weights, missing with the reading */
    struct {
        int16_t weight;
        int16_t slope;
    } of[N_VALUES];
} line;

/* Add the weights of a reading on a line; beyond its ends they are constant. A missing reading adds nothing. */
static void draw_line(sum *to, const SOLAH_FLASH line *on, int32_t x)
{
    if (x == SOLAH_UNKNOWN) {
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
        to->score[v] += on->of[v].weight + solah_shift(x * on->of[v].slope, on->shift);
    }
}

/* Add weights. */
static void add(sum *to, const SOLAH_FLASH int16_t *weights)
{
    for (int v = 0; v < N_VALUES; v++) {
        to->score[v] += weights[v];
    }
}

/* CO2 */
static const SOLAH_FLASH line lines_co2[] = {
    /* at 600: CO2 low: yes -1.20 */
    {19200, 22400, 12, 16384, {{-19661, 29361}}},
    /* at 900: CO2 medium: yes +0.20 */
    {28800, 32000, 12, 16384, {{3277, 25166}}},
    /* at 1000: CO2 high: yes +1.40 */
};
static const SOLAH_FLASH int16_t missing_co2[N_VALUES] = {2458};

static void add_co2(sum *to, int32_t x)
{
    if (x == SOLAH_UNKNOWN) {
        add(to, missing_co2);
        miss(to, lines_co2[0].share);
        return;
    }
    if (x < 22400) {
        draw_line(to, &lines_co2[0], x);
    } else {
        draw_line(to, &lines_co2[1], x);
    }
}

/* door */
static const SOLAH_FLASH int16_t weights_door[3][N_VALUES] = {
    {4915}, /* door open: yes +0.30 */
    {-4915}, /* door shut: yes -0.30 */
    {-2458}, /* missing */
};

static void add_door(sum *to, int32_t x)
{
    const int category = x >= 0 && x < 2 ? (int)x : 2;

    add(to, weights_door[category]);
    if (category == 2) {
        miss(to, 16384u);
    }
}

/* The scores of the baseline. */
static const SOLAH_FLASH int32_t start[N_VALUES] = {6554};
/* The logarithms of the overall shares, and the baseline less these. */
static const SOLAH_FLASH int32_t prior[N_VALUES] = {-6643};
static const SOLAH_FLASH int32_t lean[N_VALUES] = {13197};

/* Add up the scores of all features. */
static void sum_up(const int32_t readings[ROOM_N_READINGS], sum *to)
{
    uint32_t left;

    for (int v = 0; v < N_VALUES; v++) {
        to->score[v] = start[v];
    }
    to->missing = 0u;
    to->squares = 0u;
    add_co2(to, readings[ROOM_READING_CO2]);
    add_door(to, readings[ROOM_READING_DOOR]);
    if (!(to->missing > 0u)) {
        return;
    }
    /* What is missing weakens the rest: scores go back to the overall shares. */
    left = solah_inverse_root(4096u + (solah_product(to->squares, 41177u) >> 18));
    for (int v = 0; v < N_VALUES; v++) {
        to->score[v] = prior[v] + solah_scaled((to->score[v] - prior[v]) - solah_scaled(lean[v], to->missing), left);
    }
}

/* The class with the highest score, the first of equal ones. */
static int best(const sum *total)
{
    int32_t most = 0;
    int found = 0;

    for (int v = 0; v < N_VALUES; v++) {
        const int32_t score = total->score[v];
        if (score > most) {
            most = score;
            found = v + 1;
        }
    }
    return found;
}

int room_predict(const int32_t readings[ROOM_N_READINGS])
{
    sum total;

    sum_up(readings, &total);
    return best(&total);
}

int room_decide(const int32_t readings[ROOM_N_READINGS], uint16_t probability[ROOM_N_CLASSES])
{
    sum total;
    int32_t most = 0;
    uint32_t part[ROOM_N_CLASSES];
    uint32_t all = 0u;
    uint32_t left = SOLAH_ONE;

    sum_up(readings, &total);
    for (int v = 0; v < N_VALUES; v++) {
        if (total.score[v] > most) {
            most = total.score[v];
        }
    }
    for (int c = 0; c < ROOM_N_CLASSES; c++) {
        const int32_t score = c == 0 ? 0 : total.score[c - 1];
        part[c] = solah_exp((uint32_t)(most - score), 14);
        all += part[c];
    }
    for (int c = 1; c < ROOM_N_CLASSES; c++) {
        probability[c] = solah_share_of(part[c], all);
        left -= probability[c];
    }
    probability[0] = (uint16_t)left; /* what rounding leaves, so that probabilities sum to one */
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
        crc = solah_crc_number(crc, (uint32_t)lines_co2[i].from);
        crc = solah_crc_number(crc, (uint32_t)lines_co2[i].to);
        crc = solah_crc_number(crc, (uint32_t)lines_co2[i].of[0].weight);
        crc = solah_crc_number(crc, (uint32_t)lines_co2[i].of[0].slope);
    }
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_number(crc, (uint32_t)lines_co2[i].shift);
    }
    for (int32_t i = 0; i < 2; i++) {
        crc = solah_crc_number(crc, (uint32_t)lines_co2[i].share);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_number(crc, (uint32_t)missing_co2[i]);
    }
    for (int32_t i = 0; i < 3; i++) {
        crc = solah_crc_number(crc, (uint32_t)weights_door[i][0]);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_number(crc, (uint32_t)start[i]);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_number(crc, (uint32_t)prior[i]);
    }
    for (int32_t i = 0; i < 1; i++) {
        crc = solah_crc_number(crc, (uint32_t)lean[i]);
    }
    return crc;
}
