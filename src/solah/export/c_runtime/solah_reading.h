/* A measured value in, the integer that a model reads out, and back: C99, also C++11. No libm.
 *
 *   readings[WINE_READING_ALCOHOL] = solah_reading_of(13.2, WINE_BITS_ALCOHOL);
 *
 * The value is multiplied by two to the power of the feature's bits, which may be negative, and
 * rounded to the nearest integer, halves up. What does not fit becomes the nearest that does, an
 * infinite value too, and NaN is missing. solah's Python simulator computes the same integers. The
 * bits of an IEEE 754 number are shifted, so that no floating-point arithmetic is linked.
 *
 * Define SOLAH_REAL as float before this file is included if your values are floats: less code, and
 * readings of seven digits.
 */
#ifndef SOLAH_READING_H
#define SOLAH_READING_H

#include <stdint.h>
#include <string.h>

#ifndef SOLAH_REAL
#define SOLAH_REAL double
#endif

#define SOLAH_UNKNOWN INT32_MIN

/* The integer of a value. */
static inline int32_t solah_reading_of(SOLAH_REAL value, int bits)
{
    uint32_t digits; /* the first 32 binary digits */
    int has_more;    /* whether others follow */
    int is_negative;
    int power; /* the value is about digits times two to this power */
    int is_finite;

    if (sizeof value == sizeof digits) { /* a float, and a double on AVR */
        uint32_t image;
        (void)memcpy(&image, &value, sizeof image);
        power = (int)(image >> 23 & 0xFFu);
        digits = power == 0 ? 0u : image << 8 | 0x80000000u;
        has_more = 0;
        is_negative = (int)(image >> 31);
        is_finite = power < 0xFF ? 1 : 0;
        power -= 127 + 31;
        if (is_finite == 0 && image << 9 != 0u) {
            return SOLAH_UNKNOWN;
        }
    } else {
        uint64_t image = 0;
        (void)memcpy(&image, &value, sizeof value);
        const uint32_t high = (uint32_t)(image >> 32);
        const uint32_t low = (uint32_t)image;
        power = (int)(high >> 20 & 0x7FFu);
        digits = power == 0 ? 0u : high << 11 | low >> 21 | 0x80000000u;
        has_more = low << 11 != 0u ? 1 : 0;
        is_negative = (int)(high >> 31);
        is_finite = power < 0x7FF ? 1 : 0;
        power -= 1023 + 31;
        if (is_finite == 0 && (high << 12 | low) != 0u) {
            return SOLAH_UNKNOWN;
        }
    }
    const int down = -(power + bits);
    if (is_finite == 0 || (down < 1 && digits != 0u)) {
        return is_negative != 0 ? -INT32_MAX : INT32_MAX;
    }
    if (down < 1 || down > 32) {
        return 0;
    }
    uint32_t whole = digits >> (down - 1); /* twice the number, without what follows */
    const int is_half = (int)(whole & 1u);
    if (whole << (down - 1) != digits) {
        has_more = 1;
    }
    whole >>= 1;
    if (is_half != 0 && (has_more != 0 || is_negative == 0)) {
        whole++;
    }
    if (whole > (uint32_t)INT32_MAX) {
        whole = (uint32_t)INT32_MAX;
    }
    return is_negative != 0 ? -(int32_t)whole : (int32_t)whole;
}

/* The value of an integer, such as a predicted number. */
static inline SOLAH_REAL solah_value_of(int32_t number, int bits)
{
    const SOLAH_REAL factor = bits < 0 ? (SOLAH_REAL)2.0 : (SOLAH_REAL)0.5;
    SOLAH_REAL value = (SOLAH_REAL)number;

    for (int n = bits < 0 ? -bits : bits; n > 0; n--) {
        value *= factor;
    }
    return value;
}

#endif
