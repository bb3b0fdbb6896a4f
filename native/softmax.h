/* The one softmax and exponential, of additions, multiplications and divisions: every machine rounds alike. */
#ifndef SOLAH_SOFTMAX_H
#define SOLAH_SOFTMAX_H

#include <stdint.h>
#include <string.h>

/* e^x for x <= 0: x = k ln 2 + r with |r| <= ln 2 / 2, and a Taylor series for r. */
static inline double exp_of_negative(double x)
{
    static const double one_over_factorial[] = {
        1.0,           1.0,           1.0 / 2,        1.0 / 6,         1.0 / 24,
        1.0 / 120,     1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
        1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800,
    };
    if (x < -700.0) {
        x = -700.0; /* 2^k stays a normal number */
    }
    const int64_t k = (int64_t)(x * 1.4426950408889634 - 0.5);
    const double r = (x - (double)k * 6.93147180369123816490e-01) - (double)k * 1.90821492927058770002e-10;
    double sum = one_over_factorial[13];
    for (int32_t i = 12; i >= 0; i--) {
        sum = sum * r + one_over_factorial[i];
    }
    const uint64_t bits = (uint64_t)(k + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/* e^x; beyond 80 up or down it stays as it is there, as in every export. */
static inline double exp_of_score(double x)
{
    x = x > 80.0 ? 80.0 : x < -80.0 ? -80.0 : x;
    return x > 0.0 ? 1.0 / exp_of_negative(-x) : exp_of_negative(x);
}

/* Turn scores into probabilities: e^score, normalised. */
static inline void softmax(double *score, int32_t n_classes)
{
    double largest = score[0];
    for (int32_t g = 1; g < n_classes; g++) {
        largest = score[g] > largest ? score[g] : largest;
    }
    double sum = 0.0;
    for (int32_t g = 0; g < n_classes; g++) {
        score[g] = exp_of_negative(score[g] - largest);
        sum += score[g];
    }
    for (int32_t g = 0; g < n_classes; g++) {
        score[g] /= sum;
    }
}

#endif
