/* Arithmetic in float32 for solah models: e^x and 1 / sqrt(x), without functions of mathematics.
 * C99, also C++11. No libm. */
#ifndef SOLAH_FLOAT_MATH_H
#define SOLAH_FLOAT_MATH_H

#include "solah_flash.h"

#include <stdint.h>
#include <string.h>

/* e^x for x <= 0, of additions and multiplications only. */
static inline float solah_exp(float x)
{
    static const SOLAH_FLASH float term[] = {1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f,
                                 0.5f,          1.0f,          1.0f};
    float y = 0.0f;
    float scale;

    if (x < -87.0f) {
        x = -87.0f;
    }
    const int32_t k = (int32_t)(x * 1.44269504f - 0.5f);
    const float r = (x - (float)k * 0.693359375f) - (float)k * -2.12194440e-4f;
    for (int32_t i = 0; i < 7; i++) {
        y = y * r + term[i];
    }
    const uint32_t bits = (uint32_t)(k + 127) << 23;
    (void)memcpy(&scale, &bits, sizeof scale);
    return y * scale;
}

/* e^x; beyond 80 up or down it stays as it is there. */
static inline float solah_exp_of_score(float x)
{
    if (x > 80.0f) {
        x = 80.0f;
    }
    if (x < -80.0f) {
        x = -80.0f;
    }
    return x > 0.0f ? 1.0f / solah_exp(-x) : solah_exp(x);
}

/* 1 / sqrt(x) for x >= 1, by Newton's steps from a guess that halves the exponent. */
static inline float solah_inverse_root(float x)
{
    const float half = 0.5f * x;
    uint32_t bits;
    float root;

    (void)memcpy(&bits, &x, sizeof bits);
    bits = 0x5f3759dfu - (bits >> 1);
    (void)memcpy(&root, &bits, sizeof root);
    for (int32_t i = 0; i < 2; i++) {
        root = root * (1.5f - half * root * root);
    }
    return root;
}

#endif
