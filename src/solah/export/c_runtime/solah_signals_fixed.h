/* Features of windows in integers; solah_signals.h includes it. Sums are exact, roots have 31 bits, and
 * amplitudes of frequencies 12 bits or more: every platform computes the same integers as solah's
 * Python simulator. No floating point, no division. */
#ifndef SOLAH_SIGNALS_FIXED_H
#define SOLAH_SIGNALS_FIXED_H

#include "solah_fixed_math.h"

#define SOLAH_NOT_FOUND SOLAH_UNKNOWN
#define SOLAH_LARGEST_WAVE 8190u  /* samples and their sum, when waves are multiplied with them: */
#define SOLAH_LARGEST_SUM 122879u /* rounded up, sums of products have 32 bits then */
#define SOLAH_POWER_BITS 18         /* of a power: twice the 14 bits of waves, less those dropped */
#define SOLAH_DROPPED_BITS 5

/* The square root of a number below 2^62, times 2^bits: 31 bits of it, rounded down. Without its bits
 * it is the whole number below the root. */
SOLAH_APART uint32_t solah_root(uint64_t square, int *bits)
{
    uint64_t root = 0, bit = (uint64_t)1 << 60;
    for (*bits = 0; square < bit && *bits < 30; square <<= 2) {
        ++*bits;
    }
    for (; bit != 0u; bit >>= 2) {
        if (square >= root + bit) {
            square -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (uint32_t)root;
}

/* A sample as it is stored: counted from the zero of its channel on, and within 16 bits. */
static inline int16_t solah_taken(const SOLAH_FLASH solah_measured *measured, int32_t sample)
{
    if (sample == SOLAH_UNKNOWN) {
        return SOLAH_MISSING;
    }
    if (sample < measured->zero - INT16_MAX) {
        return -INT16_MAX;
    }
    return sample > measured->zero + INT16_MAX ? INT16_MAX : (int16_t)(sample - measured->zero);
}

/* The magnitude of the axes of a channel; missing where one of them is. */
SOLAH_APART int16_t solah_magnitude(const solah_way *way, const SOLAH_FLASH solah_stored *stored,
                                      const int16_t *held)
{
    uint64_t total = 0;
    uint32_t root = 0, rest;
    int32_t shift = stored->shift;
    for (uint8_t k = 0; k < stored->n_axes; k++) {
        const uint8_t axis = way->axes[stored->first_axis + k];
        const int32_t away = held[axis] + way->measured[axis].bias;
        if (held[axis] == SOLAH_MISSING) {
            return SOLAH_MISSING;
        }
        total += (uint64_t)((int64_t)away * away);
    }
    for (; total > UINT32_MAX; total >>= 2) {
        shift++;
    }
    for (; total != 0u && total < (uint32_t)1 << 30; total <<= 2) {
        shift--;
    }
    rest = (uint32_t)total;
    for (uint32_t bit = (uint32_t)1 << 30; bit != 0u; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    for (; shift < -1; shift++) { /* the root has 16 bits, and is rounded last */
        root >>= 1;
    }
    root = shift < 0 ? (root + 1u) >> 1 : shift > 15 ? UINT32_MAX : root << shift;
    return root > (uint32_t)INT16_MAX ? INT16_MAX : (int16_t)root;
}

/* Compute the sum, and the spread. */
SOLAH_APART void solah_sum(solah_series *series)
{
    const int16_t *x = series->x, *const end = x + series->n;
    uint32_t low = 0, high = 0; /* of the sum of squares */
    int32_t total = 0;
    do {
        const int32_t one = *x++;
        const uint32_t square = (uint32_t)(one * one);
        total += one;
        low += square;
        high += low < square;
    } while (x != end);
    series->sum = total;
    series->spread = (((uint64_t)high << 32) | low) * series->n - (uint64_t)((int64_t)total * total);
}

/* A reading: what is found / 2^bits, times the feature's factor. */
SOLAH_APART int32_t solah_reading_from(const SOLAH_FLASH solah_feature *feature, int64_t found,
                                         int bits, int32_t offset)
{
    uint64_t size = (uint64_t)(found < 0 ? -found : found);
    int shift = feature->shift + bits;
    int64_t reading;
    for (; size > (uint32_t)INT32_MAX; size >>= 1) {
        shift--;
    }
    size *= (uint32_t)feature->factor;
    if (shift <= 0) {
        size = size == 0u ? 0u : (uint32_t)INT32_MAX;
    } else {
        size = shift > 62 ? 0u : (size + ((uint64_t)1 << (shift - 1))) >> shift;
    }
    size = size > (uint32_t)INT32_MAX ? (uint32_t)INT32_MAX : size;
    reading = (found < 0 ? -(int64_t)size : (int64_t)size) + offset;
    if (reading > INT32_MAX) {
        return INT32_MAX;
    }
    return reading < -INT32_MAX ? -INT32_MAX : (int32_t)reading;
}

static inline int32_t solah_rms(const SOLAH_FLASH solah_feature *feature,
                                const solah_series *series)
{
    const int64_t total = (int64_t)series->sum + feature->offset;
    int bits;
    const uint32_t root = solah_root((uint64_t)(total * total) + series->spread, &bits);
    return solah_reading_from(feature, root, bits, 0);
}

static inline int32_t solah_deviation(const SOLAH_FLASH solah_feature *feature,
                                      const solah_series *series)
{
    int bits;
    const uint32_t root = solah_root(series->spread, &bits);
    return solah_reading_from(feature, root, bits, 0);
}

SOLAH_APART int32_t solah_change(const solah_series *series)
{
    const int16_t *x = series->x, *const last = x + series->n - 1;
    int32_t total = 0;
    do {
        const int32_t change = (int32_t)x[1] - x[0];
        total += change < 0 ? -change : change;
    } while (++x != last);
    return total;
}

/* The sum of samples, each times twice its distance from the middle. */
SOLAH_APART int64_t solah_slope(const solah_series *series)
{
    int32_t distance = 1 - (int32_t)series->n;
    int64_t total = 0;
    for (uint16_t i = 0; i < series->n; i++) {
        total += series->x[i] * distance;
        distance += 2;
    }
    return total;
}

/* How often two neighbours, times a number, are on different sides of a level. */
SOLAH_APART int32_t solah_crossings(const solah_series *series, int32_t times, int32_t level)
{
    const int16_t *x = series->x, *const end = x + series->n;
    int32_t count = 0;
    int was_below = *x * times < level;
    while (++x != end) {
        const int is_below = *x * times < level;
        count += is_below ^ was_below;
        was_below = is_below;
    }
    return count;
}

SOLAH_APART int32_t solah_peaks(const solah_series *series)
{
    const int16_t *x = series->x + 1, *const last = x + series->n - 2;
    const int32_t n = series->n;
    int bits;
    const uint32_t root = solah_root(series->spread, &bits);
    const int32_t height = series->sum + (int32_t)(root >> bits);
    int32_t count = 0;
    for (; x < last; x++) {
        if (*x * n > height && x[0] > x[-1] && x[0] >= x[1]) {
            count++;
        }
    }
    return count;
}

/* Write the distances from the mean, divided by a power of two so that sums of products fit. */
SOLAH_APART int solah_centre(const solah_series *series, int16_t *y)
{
    const int16_t *const end = y + series->n, *x = series->x;
    const int32_t n = series->n, middle = series->sum;
    uint32_t most = 0;
    uint64_t total = 0;
    int bits = 0;
    for (; x != series->x + n; x++) {
        const int32_t away = *x * n - middle;
        const uint32_t size = (uint32_t)(away < 0 ? -away : away);
        most = size > most ? size : most;
        total += size;
    }
    for (; most > SOLAH_LARGEST_WAVE || total > SOLAH_LARGEST_SUM; bits++) {
        most >>= 1;
        total >>= 1;
    }
    const int32_t half = ((int32_t)1 << bits) >> 1;
    for (x = series->x; y != end; x++) {
        const int32_t away = *x * n - middle;
        *y++ = (int16_t)solah_shift(away < 0 ? away - half : away + half, bits);
    }
    return bits;
}

/* Fold n samples by the symmetry of waves, in place: what cosines are multiplied with, and half of n
 * behind it what sines are. An even number is folded once more: even waves read on from the first
 * place, odd ones backwards from the middle. Returns how many numbers a wave takes. */
SOLAH_APART uint32_t solah_fold(int16_t *y, int32_t n)
{
    const int32_t half = n / 2;
    y[n] = 0;
    if (half * 2 != n) {
        for (int32_t i = 1; i <= half; i++) {
            const int16_t a = y[i], b = y[n - i];
            y[i] = (int16_t)(a + b);
            y[n - i] = (int16_t)(a - b);
        }
        for (int32_t i = 1; 2 * i <= half; i++) {
            solah_swap(&y[half + i], &y[n - i]);
        }
        return (uint32_t)half + 1u;
    }
    for (int32_t i = 0; 2 * i <= half; i++) {
        const int16_t a = y[i], b = i == 0 ? 0 : y[n - i];
        const int16_t c = y[half - i], d = i == 0 ? 0 : y[half + i];
        if (2 * i == half) {
            y[i] = (int16_t)(a + b);
            y[n - i] = (int16_t)(a - b);
        } else {
            y[i] = (int16_t)(a + b + c + d);
            y[n - i] = (int16_t)(a - b + c - d);
            y[half + i] = (int16_t)(a - b - c + d);
            y[half - i] = (int16_t)(a + b - c - d);
        }
    }
    return (uint32_t)half / 2u + 1u;
}

/* The squared amplitude of a wave; `step` is 1, or -1 to go backwards. */
SOLAH_APART uint64_t solah_power(const int16_t *y, int step, uint32_t count,
                                 const SOLAH_FLASH solah_wave *wave, uint32_t n, uint32_t k)
{
    const SOLAH_FLASH solah_wave *const sine = wave + n;
    const int16_t *const end = y + step * (int32_t)count;
    const uint32_t half = n / 2u;
    int32_t a = 0, b = 0;
    uint32_t at = 0;
    do {
        a += (int32_t)*y * wave[at];
        b += (int32_t)y[half] * sine[at];
        y += step;
        at += k;
        if (at >= n) {
            at -= n;
        }
    } while (y != end);
    a = solah_shift(a, SOLAH_DROPPED_BITS);
    b = solah_shift(b, SOLAH_DROPPED_BITS);
    return (uint64_t)((int64_t)a * a) + (uint64_t)((int64_t)b * b);
}

/* The energy of some waves, or the strongest one. */
SOLAH_APART int32_t solah_spectral(const solah_way *way, const SOLAH_FLASH solah_feature *feature,
                                     const solah_series *series)
{
    const SOLAH_FLASH solah_wave *waves = way->waves + feature->first;
    const uint16_t n = series->n;
    int16_t y[SOLAH_LONGEST + 1];
    uint64_t total = 0, most = 0;
    uint16_t strongest = 0;
    const int bits = solah_centre(series, y);
    const uint32_t count = solah_fold(y, n);
    for (uint16_t k = 0; k < feature->count; k++) {
        const uint16_t wave = (uint16_t)(feature->low + k);
        const int is_behind = n % 2u == 0u && wave % 2u != 0u;
        const uint64_t power =
            solah_power(is_behind ? y + n / 2u : y, is_behind ? -1 : 1, count, waves, n, wave);
        total += power;
        if (power > most) {
            most = power;
            strongest = wave;
        }
    }
    if (feature->kind == SOLAH_ENERGY) {
        total = total > (uint64_t)INT64_MAX ? (uint64_t)INT64_MAX : total; /* of hostile tables */
        return solah_reading_from(feature, (int64_t)total, -2 * bits, 0);
    }
    return strongest == 0u ? SOLAH_UNKNOWN : solah_reading_from(feature, strongest, 0, 0);
}

/* What is between a sample and the next larger one, times 2^15. */
static inline int64_t solah_percentile(const SOLAH_FLASH solah_feature *feature, const int16_t *x)
{
    const int32_t low = x[feature->first], high = x[feature->first + 1];
    return (int64_t)low * 32768 + (int64_t)(high - low) * feature->low;
}

SOLAH_APART int32_t solah_correlation(const SOLAH_FLASH solah_feature *feature,
                                        const solah_series *series, const solah_series *other)
{
    const int16_t *x = series->x, *y = other->x, *const end = x + series->n;
    int64_t together = 0;
    uint64_t size;
    uint32_t part, whole, share = 0;
    int bits, other_bits;
    const uint32_t root = solah_root(series->spread, &bits);
    const uint32_t other_root = solah_root(other->spread, &other_bits);
    if (root == 0u || other_root == 0u) {
        return SOLAH_UNKNOWN;
    }
    do {
        together += (int32_t)*x++ * *y++;
    } while (x != end);
    together = together * series->n - (int64_t)series->sum * other->sum;
    size = (uint64_t)(together < 0 ? -together : together);
    if (size == 0u) {
        return solah_reading_from(feature, 0, 0, 0);
    }
    bits += other_bits - 31;
    whole = (uint32_t)(((uint64_t)root * other_root) >> 31); /* the product of both roots / 2^bits */
    for (; whole < (uint32_t)1 << 30; whole <<= 1) {
        bits++;
    }
    for (; size > (uint32_t)INT32_MAX; size >>= 1) {
        bits++;
    }
    for (; size < (uint32_t)1 << 30; size <<= 1) {
        bits--;
    }
    part = (uint32_t)size;
    for (uint8_t i = 0; i < 28; i++) {
        share <<= 1;
        if (part >= whole) {
            part -= whole;
            share |= 1u;
        }
        part <<= 1;
    }
    return solah_reading_from(feature, together < 0 ? -(int64_t)share : (int64_t)share, 27 - bits, 0);
}

/* A feature of one channel; of percentiles, the samples are sorted. */
static inline int32_t solah_feature_of(const solah_way *way,
                                       const SOLAH_FLASH solah_feature *feature,
                                       const solah_series *series)
{
    int32_t offset = feature->offset;
    int64_t found = 0;
    switch (feature->kind) {
    case SOLAH_MEAN:
        found = series->sum;
        break;
    case SOLAH_MIN:
        found = SOLAH_USES(SOLAH_MIN) ? solah_least(series) : 0;
        break;
    case SOLAH_MAX:
        found = SOLAH_USES(SOLAH_MAX) ? solah_most(series) : 0;
        break;
    case SOLAH_RANGE:
        found = SOLAH_USES(SOLAH_RANGE) ? solah_most(series) - solah_least(series) : 0;
        break;
    case SOLAH_RMS:
        return SOLAH_USES(SOLAH_RMS) ? solah_rms(feature, series) : 0;
    case SOLAH_DEVIATION:
        return SOLAH_USES(SOLAH_DEVIATION) ? solah_deviation(feature, series) : 0;
    case SOLAH_CHANGE:
        found = SOLAH_USES(SOLAH_CHANGE) ? solah_change(series) : 0;
        break;
    case SOLAH_SLOPE:
        found = SOLAH_USES(SOLAH_SLOPE) ? solah_slope(series) : 0;
        break;
    case SOLAH_ZERO_CROSSINGS:
        found = SOLAH_USES(SOLAH_ZERO_CROSSINGS) ? solah_crossings(series, 1, offset) : 0;
        offset = 0;
        break;
    case SOLAH_MEAN_CROSSINGS:
        found = SOLAH_USES(SOLAH_MEAN_CROSSINGS) ? solah_crossings(series, series->n, series->sum) : 0;
        break;
    case SOLAH_PEAKS:
        found = SOLAH_USES(SOLAH_PEAKS) ? solah_peaks(series) : 0;
        break;
    case SOLAH_PERCENTILE:
        found = SOLAH_USES(SOLAH_PERCENTILE) ? solah_percentile(feature, series->x) : 0;
        return solah_reading_from(feature, found, 0, offset);
    default:
        return SOLAH_USES(SOLAH_ENERGY) || SOLAH_USES(SOLAH_PITCH)
                   ? solah_spectral(way, feature, series)
                   : 0;
    }
    return solah_reading_from(feature, found, 0, offset);
}

#endif
