/* y: rows, and what model 7ee677e2c1d20566 decides on them in Python; see sample_test.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code. */
#include "sample_test.h"

#include "sample.h"
#include "solah_flash.h"

#define N_ROWS 8
#define N_REASONS 3
#define NO_RULE 65535u
#define N_READINGS 6
#define N_CLASSES 3
#define REASON sample_reason
#define DECIDE(readings, probability) sample_decide(readings, probability)
#define WHY(readings, reasons) sample_why(readings, reasons, N_REASONS)

/* The readings. */
static const SOLAH_FLASH int32_t rows_readings[N_ROWS][N_READINGS] = {
    {10468, -11827, 1, 7343, 16384, -22354},
    {-8490, -11827, 2, 7343, 5120, -22354},
    {10468, -11827, 1, 7343, 2048, -22354},
    {SOLAH_UNKNOWN, SOLAH_UNKNOWN, SOLAH_UNKNOWN, SOLAH_UNKNOWN, SOLAH_UNKNOWN, SOLAH_UNKNOWN},
    {-21736, -26496, 0, -27358, -5120, -32555},
    {29519, 32181, 2, 48169, 23552, 8249},
    {SOLAH_UNKNOWN, -11827, 2, 7343, 5120, -22354},
    {-8922, -11827, 1, 7343, 4443, -22354},
};

/* The classes by index, and the probabilities. */
static const SOLAH_FLASH int16_t rows_decisions[N_ROWS] = {
    0, 1, 2, 2, 0, 0, 0, 0
};
static const SOLAH_FLASH uint16_t rows_beliefs[N_ROWS][N_CLASSES] = {
    {31050, 55, 1663},
    {8312, 17711, 6745},
    {13850, 564, 18354},
    {9151, 9930, 13687},
    {30869, 1896, 3},
    {28399, 4331, 38},
    {12672, 9477, 10619},
    {21454, 3746, 7568},
};

/* The rules that add most, NO_RULE where there are no more, and how much they add. */
static const SOLAH_FLASH uint16_t rows_rules[N_ROWS * N_REASONS] = {
    23, 30, 15, 8, 0, 13, 29, 19, 10, 65535, 65535, 65535, 23, 9, 19, 11, 2, 5, 24, 30, 3, 23,
    30, 3
};
static const SOLAH_FLASH int32_t rows_amounts[N_ROWS * N_REASONS] = {
    8672, 4558, 2030, 4730, 3701, 1300, 7038, 2021, 903, 0, 0, 0, 11480, 8585, 1729, 13123,
    6035, 5371, 6603, 4558, 1573, 8672, 3553, 1573
};

/* Note a difference, if there is one: 1, else 0. Numbers are compared bit by bit; there is but one NaN. */
static int differs(sample_difference *first, const char *what, int row, int place, int32_t expected, int32_t found)
{
    if (expected == found) {
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
static int differs_rows(const int32_t *readings, int row, sample_difference *first)
{
    REASON reasons[N_REASONS];
    uint16_t probability[N_CLASSES];
    const int decision = DECIDE(readings, probability);
    const int n_reasons = WHY(readings, reasons);

    if (differs(first, "the class", row, 0, rows_decisions[row], (int32_t)decision)) {
        return 1;
    }
    for (int k = 0; k < N_CLASSES; k++) {
        if (differs(first, "a probability", row, k, rows_beliefs[row][k], probability[k])) {
            return 1;
        }
    }
    for (int k = 0; k < N_REASONS; k++) {
        const uint16_t rule = k < n_reasons ? reasons[k].rule : NO_RULE;
        const int32_t amount = k < n_reasons ? reasons[k].amount : 0;
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
    int32_t readings[N_READINGS];

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
    printf("sample: %s differs: row %d, place %d, expected %ld, found %ld\n", first.what, first.row, first.place, (long)first.expected, (long)first.found);
    return 1;
}
#endif
