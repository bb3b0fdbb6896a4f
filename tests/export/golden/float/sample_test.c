/* y: rows, and what model 7ee677e2c1d20566 decides on them in Python; see sample_test.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code. */
#include "sample_test.h"

#include "sample.h"
#include "solah_flash.h"
#include <string.h>

#define N_ROWS 8
#define N_REASONS 3
#define NO_RULE 65535u
#define N_READINGS 6
#define NOT_A_NUMBER (0.0f / 0.0f) /* a bare board may have no math.h */
#define N_CLASSES 3
#define REASON sample_reason
#define DECIDE(readings, probability) sample_decide(readings, probability)
#define WHY(readings, reasons) sample_why(readings, reasons, N_REASONS)

/* The readings. */
static const SOLAH_FLASH float rows_readings[N_ROWS][N_READINGS] = {
    {1.2778909f, -1.4436764f, 1.0f, 0.8963099f, 8.0f, -2.7287328f},
    {-1.0364182f, -1.4436764f, 2.0f, 0.8963099f, 2.5f, -2.7287328f},
    {1.2778909f, -1.4436764f, 1.0f, 0.8963099f, 1.0f, -2.7287328f},
    {NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER},
    {-2.6533418f, -3.2343497f, 0.0f, -3.3395796f, -2.5f, -3.9739802f},
    {3.603364f, 3.9283438f, 2.0f, 5.880047f, 11.5f, 1.0070089f},
    {NOT_A_NUMBER, -1.4436764f, 2.0f, 0.8963099f, 2.5f, -2.7287328f},
    {-1.0891653f, -1.4436764f, 1.0f, 0.8963099f, 2.1696074f, -2.7287328f},
};

/* The classes by index, and the probabilities. */
static const SOLAH_FLASH int16_t rows_decisions[N_ROWS] = {
    0, 1, 2, 2, 0, 0, 0, 0
};
static const SOLAH_FLASH float rows_beliefs[N_ROWS][N_CLASSES] = {
    {0.9475347f, 0.0017117201f, 0.05075356f},
    {0.25349855f, 0.5406648f, 0.2058367f},
    {0.42243603f, 0.01721685f, 0.56034714f},
    {0.27903488f, 0.3030324f, 0.41793275f},
    {0.9420749f, 0.05779846f, 0.00012665703f},
    {0.8667061f, 0.13209724f, 0.001196664f},
    {0.3869417f, 0.2890668f, 0.3239915f},
    {0.65483016f, 0.11424845f, 0.23092143f},
};

/* The rules that add most, NO_RULE where there are no more, and how much they add. */
static const SOLAH_FLASH uint16_t rows_rules[N_ROWS * N_REASONS] = {
    23, 30, 15, 8, 0, 13, 29, 19, 10, 65535, 65535, 65535, 23, 9, 19, 11, 2, 5, 24, 30, 3, 23,
    30, 3
};
static const SOLAH_FLASH float rows_amounts[N_ROWS * N_REASONS] = {
    2.1172457f, 1.1126963f, 0.49558f, 1.1547654f, 0.90339935f, 0.31749725f, 1.7181463f,
    0.49346364f, 0.22054884f, 0.0f, 0.0f, 0.0f, 2.8027964f, 2.096056f, 0.42224026f, 3.2038753f,
    1.4732885f, 1.3115344f, 1.6119639f, 1.1126963f, 0.38402995f, 2.1172457f, 0.86761194f,
    0.38402995f
};

/* Note a difference, if there is one: 1, else 0. Numbers are compared bit by bit; there is but one NaN. */
static int differs(sample_difference *first, const char *what, int row, int place, float expected, float found)
{
    if (memcmp(&expected, &found, sizeof found) == 0 || (expected != expected && found != found)) {
        return 0;
    }
    first->what = what;
    first->row = row;
    first->place = place;
    first->expected = expected;
    first->found = found;
    return 1;
}

/* Decide on readings, and compare all that comes out with a row of the tables. */
static int differs_rows(const float *readings, int row, sample_difference *first)
{
    REASON reasons[N_REASONS];
    float probability[N_CLASSES];
    const int decision = DECIDE(readings, probability);
    const int n_reasons = WHY(readings, reasons);

    if (differs(first, "the class", row, 0, rows_decisions[row], (float)decision)) {
        return 1;
    }
    for (int k = 0; k < N_CLASSES; k++) {
        if (differs(first, "a probability", row, k, rows_beliefs[row][k], probability[k])) {
            return 1;
        }
    }
    for (int k = 0; k < N_REASONS; k++) {
        const uint16_t rule = k < n_reasons ? reasons[k].rule : NO_RULE;
        const float amount = k < n_reasons ? reasons[k].amount : 0;
        const int at = row * N_REASONS + k;
        if (differs(first, "the rule of a reason", row, k, rows_rules[at], rule) ||
            differs(first, "the amount of a reason", row, k, rows_amounts[at], amount)) {
            return 1;
        }
    }
    return 0;
}

int sample_self_test(sample_difference *first)
{
    float readings[N_READINGS];

    if (sample_checksum() != SAMPLE_CHECKSUM) {
        first->what = "the checksum of the tables";
        first->row = first->place = 0;
        first->expected = first->found = 0;
        return 1;
    }
    for (int row = 0; row < N_ROWS; row++) {
        for (int k = 0; k < N_READINGS; k++) {
            readings[k] = rows_readings[row][k];
        }
        if (differs_rows(readings, row, first)) {
            return 1;
        }
    }
    return 0;
}

#ifdef SOLAH_TEST_MAIN
#include <stdio.h>

int main(void)
{
    sample_difference first;

    if (sample_self_test(&first) == 0) {
        printf("sample: all of 8 rows are decided as in Python\n");
        return 0;
    }
    printf("sample: %s differs: row %d, place %d, expected %.9g, found %.9g\n", first.what, first.row, first.place, (double)first.expected, (double)first.found);
    return 1;
}
#endif
