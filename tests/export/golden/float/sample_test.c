/* y: rows, and what model e9e419620c0c4c3b decides on them in Python; see sample_test.h.
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
#define DECIDE(readings, belief) sample_decide(readings, belief)
#define WHY(readings, reasons) sample_why(readings, reasons, N_REASONS)

/* The readings. */
static const SOLAH_FLASH float rows_readings[N_ROWS][N_READINGS] = {
    {-1.0891653f, -1.19407f, 2.0f, -0.32116976f, 8.0f, 0.2208325f},
    {-1.0364182f, 0.3639796f, 2.0f, -0.36723772f, 2.5f, 0.331028f},
    {NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER},
    {-2.2726934f, -5.3192286f, 0.0f, -3.649204f, -2.5f, -3.6474352f},
    {2.461419f, 4.956112f, 2.0f, 4.9660997f, 11.5f, 5.881262f},
    {NOT_A_NUMBER, 0.3639796f, 2.0f, -0.36723772f, 2.5f, 0.331028f},
    {-1.0891653f, 2.3872766f, 0.0f, -1.3697243f, 2.5f, -0.83362496f},
    {-1.0891653f, -2.2053204f, 2.0f, -0.92278916f, 2.1696074f, NOT_A_NUMBER},
};

/* The classes by their places, and the beliefs. */
static const SOLAH_FLASH int16_t rows_decisions[N_ROWS] = {
    0, 1, 1, 1, 1, 1, 1, 1
};
static const SOLAH_FLASH float rows_beliefs[N_ROWS][N_CLASSES] = {
    {0.555173f, 0.44451743f, 0.00030953574f},
    {0.0004763413f, 0.9994184f, 0.00010532209f},
    {0.0019358972f, 0.9979944f, 6.97719e-05f},
    {0.001127303f, 0.99825245f, 0.0006202778f},
    {1.7758803e-05f, 0.8847569f, 0.11522531f},
    {0.0008779549f, 0.9990324f, 8.972732e-05f},
    {0.00047161678f, 0.99949265f, 3.5791923e-05f},
    {0.0060792705f, 0.99315697f, 0.00076380506f},
};

/* The rules that add most, NO_RULE where there are no more, and how much they add. */
static const SOLAH_FLASH uint16_t rows_rules[N_ROWS * N_REASONS] = {
    34, 35, 1, 2, 3, 8, 65535, 65535, 65535, 15, 26, 65535, 14, 65535, 65535, 25, 65535, 65535,
    4, 15, 16, 25, 26, 65535
};
static const SOLAH_FLASH float rows_amounts[N_ROWS * N_REASONS] = {
    3.7198343f, 1.8902391f, 0.28813744f, 1.4101641f, 0.8736586f, 0.13152637f, 0.0f, 0.0f, 0.0f,
    1.2520947f, 0.28492534f, 0.0f, 2.3397079f, 0.0f, 0.0f, 0.11831451f, 0.0f, 0.0f, 1.3517183f,
    1.1181061f, 0.069168605f, 0.11831451f, 0.062758155f, 0.0f
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

/* Decide on readings, and compare all that comes out with what stands in a row. */
static int differs_rows(const float *readings, int row, sample_difference *first)
{
    REASON reasons[N_REASONS];
    float belief[N_CLASSES];
    const int decision = DECIDE(readings, belief);
    const int n_reasons = WHY(readings, reasons);

    if (differs(first, "the class", row, 0, rows_decisions[row], (float)decision)) {
        return 1;
    }
    for (int k = 0; k < N_CLASSES; k++) {
        if (differs(first, "a belief", row, k, rows_beliefs[row][k], belief[k])) {
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
