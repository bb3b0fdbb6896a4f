/* A measured value in, the integer that a model reads out, and back: C99, also C++11. No libm.
 *
 *   readings[WINE_READING_ALCOHOL] = solah_reading_of(13.2, WINE_BITS_ALCOHOL);
 *
 * The value is multiplied by two to the power of the feature's bits, which may be negative, and
 * rounded to the nearest integer, halves up. What does not fit becomes the nearest that does, an
 * infinite value too, and NaN is unknown. solah's Python simulator computes the same integers. Do not
 * compile it with -ffast-math, under which there is no NaN.
 *
 * Define SOLAH_REAL as float before this file is included where doubles are slow; a float tells
 * readings apart to seven digits.
 */
#ifndef SOLAH_READING_H
#define SOLAH_READING_H

#include <stdint.h>

#ifndef SOLAH_REAL
#define SOLAH_REAL double
#endif

#define SOLAH_UNKNOWN INT32_MIN

/* Two to the power of some bits: no shift, which would be undefined for negative ones. */
static inline SOLAH_REAL solah_power_of_two(int bits)
{
    const SOLAH_REAL factor = bits < 0 ? (SOLAH_REAL)0.5 : (SOLAH_REAL)2.0;
    SOLAH_REAL power = (SOLAH_REAL)1.0;
    for (int n = bits < 0 ? -bits : bits; n > 0; n--) {
        power *= factor;
    }
    return power;
}

/* The integer of a value. */
static inline int32_t solah_reading_of(SOLAH_REAL value, int bits)
{
    const SOLAH_REAL most = (SOLAH_REAL)2147483647.0; /* a float has 2^31 for it */
    SOLAH_REAL scaled = value * solah_power_of_two(bits);

    if (!(value >= (SOLAH_REAL)0.0 || value < (SOLAH_REAL)0.0)) {
        return SOLAH_UNKNOWN;
    }
    if (scaled >= most) {
        return INT32_MAX;
    }
    if (scaled <= -most) {
        return -INT32_MAX;
    }
    if (!(scaled >= (SOLAH_REAL)0.0 || scaled < (SOLAH_REAL)0.0)) { /* infinity times nothing */
        return value > (SOLAH_REAL)0.0 ? INT32_MAX : -INT32_MAX;
    }
    int32_t whole = (int32_t)scaled; /* towards zero */
    if ((SOLAH_REAL)whole > scaled) {
        whole--;
    }
    /* Not the integer below value + 0.5: that sum may itself be rounded up. */
    return scaled - (SOLAH_REAL)whole >= (SOLAH_REAL)0.5 ? whole + 1 : whole;
}

/* The value of an integer, such as an estimated number. */
static inline SOLAH_REAL solah_value_of(int32_t number, int bits)
{
    return (SOLAH_REAL)number * solah_power_of_two(-bits);
}

#endif
