/* Arithmetic in integers for solah models: shares in the unit 2^-15, e^-x, and 1 / sqrt(x). C99, also
 * C++11. No division, no libm. */
#ifndef SOLAH_FIXED_MATH_H
#define SOLAH_FIXED_MATH_H

#include <stdint.h>

#define SOLAH_ONE 32768u

/* 2^-z is about 1 - z (a - z (b - z c)); these are a, b and c in the unit 2^-15. */
#define SOLAH_EXP_1 22670u
#define SOLAH_EXP_2 7600u
#define SOLAH_EXP_3 1316u

/* Divide by a power of two, towards zero. */
static inline int32_t solah_shift(int32_t number, int32_t bits)
{
    return number < 0 ? -(int32_t)((uint32_t)-number >> bits) : (int32_t)((uint32_t)number >> bits);
}

/* e^-x for x >= 0 in the unit 2^-value_bits: a share of one in the unit 2^-15. */
static inline uint32_t solah_exp(uint32_t x, int32_t value_bits)
{
    const uint32_t finest = value_bits > 10 ? x >> (value_bits - 10) : x << (10 - value_bits);
    if (finest >= 11264u) { /* e^-11 is less than half a unit */
        return 0u;
    }
    const uint32_t halvings = (finest * 23637u) >> 14; /* log2(e), so that halves are counted */
    const uint32_t rest = halvings & 1023u;
    const uint32_t third = (rest * SOLAH_EXP_3) >> 10;
    const uint32_t second = (rest * (SOLAH_EXP_2 - third)) >> 10;
    return (SOLAH_ONE - ((rest * (SOLAH_EXP_1 - second)) >> 10)) >> (halvings >> 10);
}

/* part / whole in the unit 2^-15, for part <= whole, bit by bit. */
static inline uint16_t solah_share_of(uint32_t part, uint32_t whole)
{
    uint32_t share = part >= whole ? 1u : 0u;
    uint32_t rest = part >= whole ? part - whole : part;
    for (int32_t bit = 0; bit < 15; bit++) {
        rest <<= 1;
        share <<= 1;
        if (rest >= whole) {
            rest -= whole;
            share |= 1u;
        }
    }
    return (uint16_t)share;
}

/* A number of 30 bits times one of 16 bits, in the unit 2^-15. */
static inline uint32_t solah_product(uint32_t number, uint32_t by)
{
    return (number >> 15) * by + (((number & 32767u) * by) >> 15);
}

/* 1 / sqrt(x) in the unit 2^-15, for x >= 1 in the unit 2^-12: of a line, and of Newton's steps. */
static inline uint32_t solah_inverse_root(uint32_t x)
{
    uint32_t halvings = 0;

    while (x >= 16384u) {
        x >>= 2;
        halvings++;
    }
    uint32_t root = 34944u - ((x * 39u) >> 5);
    for (int32_t i = 0; i < 2; i++) {
        root = (root * (98304u - ((x * ((root * root) >> 15)) >> 12))) >> 16;
    }
    return root >> halvings;
}

/* A share of a number. */
static inline int32_t solah_scaled(int32_t number, uint32_t share)
{
    return number < 0 ? -(int32_t)solah_product((uint32_t)-number, share)
                      : (int32_t)solah_product((uint32_t)number, share);
}

#endif
