/* y: rows, and what model e9e419620c0c4c3b decides on them in Python; see sample_test.h.
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
#define DECIDE(readings, belief) sample_decide(readings, belief)
#define WHY(readings, reasons) sample_why(readings, reasons, N_REASONS)

/* The readings. */
static const SOLAH_FLASH int32_t rows_readings[N_ROWS][N_READINGS] = {
    {-17845, -9782, 2, -2631, 16384, 1809},
    {-16981, 2982, 2, -3008, 5120, 2712},
    {SOLAH_UNKNOWN, SOLAH_UNKNOWN, SOLAH_UNKNOWN, SOLAH_UNKNOWN, SOLAH_UNKNOWN, SOLAH_UNKNOWN},
    {-37236, -43575, 0, -29894, -5120, -29880},
    {40328, 40600, 2, 40682, 23552, 48179},
    {SOLAH_UNKNOWN, 2982, 2, -3008, 5120, 2712},
    {-17845, 19557, 0, -11221, 5120, -6829},
    {-17845, -18066, 2, -7559, 4443, SOLAH_UNKNOWN},
};

/* The classes by their places, and the beliefs. */
static const SOLAH_FLASH int16_t rows_decisions[N_ROWS] = {
    0, 1, 1, 1, 1, 1, 1, 1
};
static const SOLAH_FLASH uint16_t rows_beliefs[N_ROWS][N_CLASSES] = {
    {18186, 14573, 9},
    {16, 32750, 2},
    {64, 32703, 1},
    {38, 32711, 19},
    {1, 28989, 3778},
    {29, 32738, 1},
    {16, 32752, 0},
    {200, 32544, 24},
};

/* The rules that add most, NO_RULE where there are no more, and how much they add. */
static const SOLAH_FLASH uint16_t rows_rules[N_ROWS * N_REASONS] = {
    34, 35, 1, 2, 3, 8, 65535, 65535, 65535, 15, 26, 65535, 14, 65535, 65535, 25, 65535, 65535,
    4, 15, 16, 25, 26, 65535
};
static const SOLAH_FLASH int32_t rows_amounts[N_ROWS * N_REASONS] = {
    7618, 3870, 590, 2887, 1789, 269, 0, 0, 0, 2564, 584, 0, 4792, 0, 0, 242, 0, 0, 2768, 2289,
    141, 242, 128, 0
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

/* Decide on readings, and compare all that comes out with what stands in a row. */
static int differs_rows(const int32_t *readings, int row, sample_difference *first)
{
    REASON reasons[N_REASONS];
    uint16_t belief[N_CLASSES];
    const int decision = DECIDE(readings, belief);
    const int n_reasons = WHY(readings, reasons);

    if (differs(first, "the class", row, 0, rows_decisions[row], (int32_t)decision)) {
        return 1;
    }
    for (int k = 0; k < N_CLASSES; k++) {
        if (differs(first, "a belief", row, k, rows_beliefs[row][k], belief[k])) {
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
