/* y: does model 7ee677e2c1d20566 decide on this processor as it does in Python?
 *
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers, for the code.
 *
 * Compiled with -DSOLAH_TEST_MAIN, sample_test.c is a program that prints so and returns 0, or 1 beside the
 * first difference. Without it, call sample_self_test. The rows take 400 bytes of flash; the linker leaves
 * them out of firmware that does not call it (-ffunction-sections -fdata-sections, -Wl,--gc-sections).
 */
#ifndef SAMPLE_TEST_H
#define SAMPLE_TEST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What came out another way: of which row, and in which place there. */
typedef struct {
    const char *what;
    int row;
    int place;
    int32_t expected;
    int32_t found;
} sample_difference;

/* Decide on every row: return 0 if all is as in Python, to the last bit; else 1, and write the first
 * difference. */
int sample_self_test(sample_difference *first);

#ifdef __cplusplus
}
#endif

#endif
