/* Readings of samples: a window moves over channels, and features describe what is in it. C99, also
 * C++11. No malloc, no libm, no static data. A model's .c file sets the sizes below, then includes
 * this file.
 *
 *   SOLAH_N_MEASURED   the channels that samples come from
 *   SOLAH_N_STORED     the channels that features are of: measured ones, and magnitudes of axes
 *   SOLAH_N_FEATURES   the features
 *   SOLAH_LONGEST      the most samples that a window has of a channel
 *   SOLAH_SIGNALS      the type of the memory, whose fields are described at solah_push
 *   SOLAH_USES(kind)   whether there is a feature of a kind; the compiler drops the others
 *
 * Where a way says itself how much there is of everything (SOLAH_SIZES_IN_MODEL), these are the most
 * that there may be, readings become integers, and no memory leads out of bounds, whatever it holds.
 *
 * Float32 with + - * / and square roots, each sum from the first sample of a window to the last:
 * every platform computes the same bits as solah's Python simulator. Compile without contraction
 * (-ffp-contract=off).
 */
#ifndef SOLAH_SIGNALS_H
#define SOLAH_SIGNALS_H

#include "solah_flash.h"

#include <stdint.h>
#include <string.h>

enum {
    SOLAH_MEAN,
    SOLAH_MIN,
    SOLAH_MAX,
    SOLAH_RANGE,
    SOLAH_RMS,
    SOLAH_DEVIATION,
    SOLAH_CHANGE,
    SOLAH_SLOPE,
    SOLAH_ZERO_CROSSINGS,
    SOLAH_MEAN_CROSSINGS,
    SOLAH_PEAKS,
    SOLAH_PERCENTILE,
    SOLAH_ENERGY,
    SOLAH_PITCH,
    SOLAH_CORRELATION
};

#define SOLAH_MOST_SAMPLE 1e9f /* what is beyond counts as missing */

typedef struct {
    uint16_t every;   /* a sample comes with every so many ticks */
    uint16_t max_gap; /* for so many missing samples the last one stands */
} solah_measured;

typedef struct {
    uint16_t first;      /* where its samples begin in the ring buffers */
    uint16_t length;     /* the samples of a window */
    uint8_t first_axis;  /* where the measured channels that it is made of stand in `axes` */
    uint8_t n_axes;      /* 1: the channel itself */
} solah_stored;

typedef struct {
    uint8_t kind;
    uint8_t reading;
    uint8_t channel;
    uint8_t other;  /* the second channel of a correlation */
    uint16_t first; /* the first wave, or the sample below a percentile */
    uint16_t count; /* how many waves */
    float factor;
} solah_feature;

typedef struct {
    const SOLAH_FLASH solah_measured *measured;
    const SOLAH_FLASH solah_stored *stored;
    const SOLAH_FLASH uint8_t *axes;
    const SOLAH_FLASH solah_feature *features; /* channel by channel, percentiles last */
    const SOLAH_FLASH float *waves;            /* coefficients of Goertzel's filters */
    uint32_t window;
    uint32_t step;
#ifdef SOLAH_SIZES_IN_MODEL
    const int16_t *bits; /* those of readings, which become integers */
    uint8_t n_measured, n_stored, n_features;
#endif
} solah_way;

#ifdef SOLAH_SIZES_IN_MODEL
#define SOLAH_MEASURED(way) ((way)->n_measured)
#define SOLAH_STORED(way) ((way)->n_stored)
#define SOLAH_FEATURES(way) ((way)->n_features)
typedef int32_t solah_found;
#define SOLAH_FOUND(way, place, value) solah_reading_of((SOLAH_REAL)(value), (way)->bits[place])
#else
#define SOLAH_MEASURED(way) ((void)(way), SOLAH_N_MEASURED)
#define SOLAH_STORED(way) ((void)(way), SOLAH_N_STORED)
#define SOLAH_FEATURES(way) ((void)(way), SOLAH_N_FEATURES)
typedef float solah_found;
#define SOLAH_FOUND(way, place, value) (value)
#endif

/* NaN, without math.h. */
static inline float solah_unknown(void)
{
    const uint32_t bits = 0x7fc00000u;
    float unknown;
    memcpy(&unknown, &bits, sizeof unknown);
    return unknown;
}

/* The square root, correctly rounded. */
static inline float solah_root(float x)
{
#if defined(__arm__) && defined(__ARM_FP) && (__ARM_FP & 4)
    float root;
    __asm__("vsqrt.f32 %0, %1" : "=t"(root) : "t"(x));
    return root;
#else
    uint32_t bits, left, root = 0, trial = 0, bit = 0x01000000u;
    int32_t exponent;
    if (!(x > 0.0f)) {
        return x; /* 0, or unknown */
    }
    memcpy(&bits, &x, sizeof bits);
    exponent = (int32_t)(bits >> 23);
    left = bits & 0x007fffffu;
    if (exponent == 0) { /* very small: bring the first one to its place */
        exponent = 1;
        while ((left & 0x00800000u) == 0) {
            left <<= 1;
            exponent--;
        }
    } else {
        left |= 0x00800000u;
    }
    exponent -= 127;
    if (exponent & 1) {
        left <<= 1;
        exponent--;
    }
    left <<= 1;
    while (bit != 0) { /* digit by digit, and one more to round by */
        const uint32_t next = trial + bit;
        if (next <= left) {
            trial = next + bit;
            left -= next;
            root += bit;
        }
        left <<= 1;
        bit >>= 1;
    }
    if (left != 0) {
        root += root & 1u;
    }
    bits = (root >> 1) + 0x3f000000u + ((uint32_t)(exponent / 2) << 23);
    memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

/* Begin with no samples. */
static inline void solah_start(SOLAH_SIGNALS *signals, const solah_way *way)
{
    memset(signals, 0, sizeof *signals);
    signals->left = way->window;
    for (uint8_t c = 0; c < SOLAH_MEASURED(way); c++) {
        signals->last[c] = solah_unknown();
    }
}

/* The sample of a channel at this tick: the last one, where it is missing for not too long. */
static inline float solah_hold(SOLAH_SIGNALS *signals, const solah_way *way, uint8_t c,
                               float sample)
{
    if (sample >= -SOLAH_MOST_SAMPLE && sample <= SOLAH_MOST_SAMPLE) {
        signals->last[c] = sample + 0.0f; /* there is no -0 */
        signals->gap[c] = 0;
    } else if (signals->gap[c] < UINT16_MAX) {
        signals->gap[c]++;
    }
    return signals->gap[c] <= way->measured[c].max_gap ? signals->last[c] : solah_unknown();
}

/* The sample of a stored channel: its own, or the magnitude of its axes. */
static inline float solah_combine(const solah_way *way,
                                  const SOLAH_FLASH solah_stored *stored, const float *held)
{
    const SOLAH_FLASH uint8_t *axis = way->axes + stored->first_axis;
    float total = 0.0f;
    if (stored->n_axes == 1) {
        return held[axis[0]];
    }
    for (uint8_t k = 0; k < stored->n_axes; k++) {
        total += held[axis[k]] * held[axis[k]];
    }
    return solah_root(total);
}

/* Take a sample of every measured channel: return 1 if it completes a window.
 *
 * The memory has `ring` with the last samples of all stored channels, `next` with where the oldest
 * of each stands (behind the last place, that is the first one), `last` and `gap` with the last known
 * sample of each measured channel and for how many it has stood, `wait` with the ticks until its next
 * one, and `left` with the ticks until a window is complete. */
static inline int solah_push(SOLAH_SIGNALS *signals, const solah_way *way, const float *sample)
{
    float held[SOLAH_N_MEASURED];
    signals->count++;
    for (uint8_t c = 0; c < SOLAH_MEASURED(way); c++) {
        held[c] = signals->wait[c] == 0 ? solah_hold(signals, way, c, sample[c]) : 0.0f;
    }
    for (uint8_t s = 0; s < SOLAH_STORED(way); s++) {
        const SOLAH_FLASH solah_stored *stored = &way->stored[s];
        if (signals->wait[way->axes[stored->first_axis]] == 0) {
            if (signals->next[s] >= stored->length) {
                signals->next[s] = 0;
            }
            signals->ring[stored->first + signals->next[s]] = solah_combine(way, stored, held);
            signals->next[s]++;
        }
    }
    for (uint8_t c = 0; c < SOLAH_MEASURED(way); c++) {
        signals->wait[c] = (uint16_t)((signals->wait[c] == 0 ? way->measured[c].every
                                                              : signals->wait[c]) - 1u);
    }
    signals->left--;
    if (signals->left != 0) {
        return 0;
    }
    signals->left = way->step;
    signals->complete = signals->count;
    return 1;
}

#if defined(__GNUC__)
#define SOLAH_BARRIER() __asm__ volatile("" ::: "memory") /* nothing is moved across it */
#else
#define SOLAH_BARRIER() ((void)0)
#endif

/* Copy the window that is complete, where an interrupt pushes samples: return 0, and a copy of no use,
 * if a sample came since. `count` has the samples so far, `complete` those at the last window. */
static inline int solah_take(const SOLAH_SIGNALS *signals, SOLAH_SIGNALS *window)
{
    const volatile uint32_t *count = &signals->count;
    const uint32_t before = *count;

    SOLAH_BARRIER();
    memcpy(window, signals, sizeof *window);
    SOLAH_BARRIER();
    return *count == before && window->complete == before;
}

/* Samples of one channel in the order of time. */
typedef struct {
    const float *x;
    uint16_t n;
    float mean;
    float squares; /* the sum of squared distances from the mean */
} solah_series;

/* Bring the samples of a channel into the order of time: return 0 if one is missing. */
static inline int solah_unroll(const SOLAH_SIGNALS *signals, const solah_way *way, uint8_t s,
                               float *x)
{
    const float *ring = signals->ring + way->stored[s].first;
    const uint16_t n = way->stored[s].length;
    uint16_t at = signals->next[s];
    int is_whole = 1;
    for (uint16_t i = 0; i < n; i++) {
        if (at >= n) {
            at = 0;
        }
        x[i] = ring[at];
        is_whole &= x[i] == x[i];
        at++;
    }
    return is_whole;
}

static inline void solah_centre(solah_series *series)
{
    const float *x = series->x;
    const float first = x[0];
    float total = 0.0f, squares = 0.0f;
    for (uint16_t i = 0; i < series->n; i++) {
        total += x[i] - first;
    }
    series->mean = first + total / (float)series->n;
    for (uint16_t i = 0; i < series->n; i++) {
        const float away = x[i] - series->mean;
        squares += away * away;
    }
    series->squares = squares;
}

static inline float solah_least(const solah_series *series)
{
    float least = series->x[0];
    for (uint16_t i = 1; i < series->n; i++) {
        least = series->x[i] < least ? series->x[i] : least;
    }
    return least;
}

static inline float solah_most(const solah_series *series)
{
    float most = series->x[0];
    for (uint16_t i = 1; i < series->n; i++) {
        most = series->x[i] > most ? series->x[i] : most;
    }
    return most;
}

static inline float solah_rms(const solah_series *series)
{
    float total = 0.0f;
    for (uint16_t i = 0; i < series->n; i++) {
        total += series->x[i] * series->x[i];
    }
    return solah_root(total / (float)series->n);
}

static inline float solah_deviation(const solah_series *series)
{
    return solah_root(series->squares / (float)series->n);
}

static inline float solah_change(const solah_series *series)
{
    float total = 0.0f;
    for (uint16_t i = 1; i < series->n; i++) {
        const float change = series->x[i] - series->x[i - 1];
        total += change < 0.0f ? -change : change;
    }
    return total / (float)(series->n - 1);
}

static inline float solah_slope(const solah_series *series, float factor)
{
    const float middle = (float)(series->n - 1) / 2.0f;
    float total = 0.0f;
    for (uint16_t i = 0; i < series->n; i++) {
        total += (series->x[i] - series->mean) * ((float)i - middle);
    }
    return total * factor;
}

static inline float solah_crossings(const solah_series *series, float level)
{
    uint16_t count = 0;
    for (uint16_t i = 1; i < series->n; i++) {
        count = (uint16_t)(count + ((series->x[i] - level < 0.0f) !=
                                    (series->x[i - 1] - level < 0.0f)));
    }
    return (float)count;
}

static inline float solah_peaks(const solah_series *series)
{
    const float height = solah_deviation(series);
    uint16_t count = 0;
    for (uint16_t i = 1; i + 1 < series->n; i++) {
        const float before = series->x[i - 1] - series->mean;
        const float away = series->x[i] - series->mean;
        const float after = series->x[i + 1] - series->mean;
        count = (uint16_t)(count + (away > before && away >= after && away > height));
    }
    return (float)count;
}

/* The squared amplitude of a wave. */
static inline float solah_power(const solah_series *series, float coefficient)
{
    float last = 0.0f, before = 0.0f, power;
    for (uint16_t i = 0; i < series->n; i++) {
        const float next = ((series->x[i] - series->mean) + coefficient * last) - before;
        before = last;
        last = next;
    }
    power = (last * last + before * before) - (coefficient * last) * before;
    return power > 0.0f ? power : 0.0f;
}

static inline float solah_energy(const solah_series *series, const SOLAH_FLASH float *waves,
                                 uint16_t count, float factor)
{
    float total = 0.0f;
    for (uint16_t k = 0; k < count; k++) {
        total += solah_power(series, waves[k]);
    }
    return total * factor;
}

static inline float solah_pitch(const solah_series *series, const SOLAH_FLASH float *waves,
                                uint16_t count, float unit)
{
    float most = 0.0f;
    uint16_t strongest = 0;
    for (uint16_t k = 0; k < count; k++) {
        const float power = solah_power(series, waves[k]);
        if (power > most) {
            most = power;
            strongest = (uint16_t)(k + 1u);
        }
    }
    return strongest != 0 ? (float)strongest * unit : solah_unknown();
}

/* Sort samples in place, by Shell's method. */
static inline void solah_sort(float *x, uint16_t n)
{
    uint16_t gap = 1;
    while (gap < n / 3) {
        gap = (uint16_t)(3u * gap + 1u);
    }
    for (; gap > 0; gap = (uint16_t)(gap / 3u)) {
        for (uint16_t i = gap; i < n; i++) {
            const float one = x[i];
            uint16_t j = i;
            while (j >= gap && x[j - gap] > one) {
                x[j] = x[j - gap];
                j = (uint16_t)(j - gap);
            }
            x[j] = one;
        }
    }
}

static inline float solah_correlation(const SOLAH_SIGNALS *signals, const solah_way *way,
                                      const solah_series *series, uint8_t other)
{
    float y[SOLAH_LONGEST];
    solah_series second = {y, way->stored[other].length, 0.0f, 0.0f};
    float both, total = 0.0f;
    if (!solah_unroll(signals, way, other, y)) {
        return solah_unknown();
    }
    solah_centre(&second);
    both = solah_root(series->squares) * solah_root(second.squares);
    if (!(both > 0.0f)) {
        return solah_unknown();
    }
    for (uint16_t i = 0; i < series->n; i++) {
        total += (series->x[i] - series->mean) * (y[i] - second.mean);
    }
    return total / both;
}

/* A feature that other samples are not needed for; of percentiles, the samples are sorted. */
static inline float solah_plain_feature(const solah_way *way,
                                        const SOLAH_FLASH solah_feature *feature,
                                        const solah_series *series)
{
    const SOLAH_FLASH float *waves = way->waves + feature->first;
    const float *x = series->x;
    switch (feature->kind) {
    case SOLAH_MEAN:
        return series->mean;
    case SOLAH_MIN:
        return SOLAH_USES(SOLAH_MIN) ? solah_least(series) : solah_unknown();
    case SOLAH_MAX:
        return SOLAH_USES(SOLAH_MAX) ? solah_most(series) : solah_unknown();
    case SOLAH_RANGE:
        return SOLAH_USES(SOLAH_RANGE) ? solah_most(series) - solah_least(series) : solah_unknown();
    case SOLAH_RMS:
        return SOLAH_USES(SOLAH_RMS) ? solah_rms(series) : solah_unknown();
    case SOLAH_DEVIATION:
        return SOLAH_USES(SOLAH_DEVIATION) ? solah_deviation(series) : solah_unknown();
    case SOLAH_CHANGE:
        return SOLAH_USES(SOLAH_CHANGE) ? solah_change(series) : solah_unknown();
    case SOLAH_SLOPE:
        return SOLAH_USES(SOLAH_SLOPE) ? solah_slope(series, feature->factor) : solah_unknown();
    case SOLAH_ZERO_CROSSINGS:
        return SOLAH_USES(SOLAH_ZERO_CROSSINGS) ? solah_crossings(series, 0.0f) : solah_unknown();
    case SOLAH_MEAN_CROSSINGS:
        return SOLAH_USES(SOLAH_MEAN_CROSSINGS) ? solah_crossings(series, series->mean) : solah_unknown();
    case SOLAH_PEAKS:
        return SOLAH_USES(SOLAH_PEAKS) ? solah_peaks(series) : solah_unknown();
    case SOLAH_PERCENTILE:
        return x[feature->first] + (x[feature->first + 1] - x[feature->first]) * feature->factor;
    case SOLAH_ENERGY:
        return SOLAH_USES(SOLAH_ENERGY)
                   ? solah_energy(series, waves, feature->count, feature->factor)
                   : solah_unknown();
    default:
        return SOLAH_USES(SOLAH_PITCH)
                   ? solah_pitch(series, waves, feature->count, feature->factor)
                   : solah_unknown();
    }
}

/* Compute the features of the window that is complete, in the places of their readings. */
static inline void solah_measure(const SOLAH_SIGNALS *signals, const solah_way *way,
                                 solah_found *readings)
{
    float x[SOLAH_LONGEST];
    solah_series series = {x, 0, 0.0f, 0.0f};
    int is_whole = 0, is_sorted = 0;
    for (uint16_t f = 0; f < SOLAH_FEATURES(way); f++) {
        float found = solah_unknown();
        const SOLAH_FLASH solah_feature *feature = &way->features[f];
        if (f == 0 || feature->channel != way->features[f - 1].channel) {
            series.n = way->stored[feature->channel].length;
            is_whole = solah_unroll(signals, way, feature->channel, x);
            is_sorted = 0;
            solah_centre(&series);
        }
        if (SOLAH_USES(SOLAH_PERCENTILE) && feature->kind == SOLAH_PERCENTILE && !is_sorted) {
            solah_sort(x, series.n);
            is_sorted = 1;
        }
        if (SOLAH_USES(SOLAH_CORRELATION) && feature->kind == SOLAH_CORRELATION && is_whole) {
            found = solah_correlation(signals, way, &series, feature->other);
        } else if (is_whole) {
            found = solah_plain_feature(way, feature, &series);
        }
        readings[feature->reading] = SOLAH_FOUND(way, feature->reading, found);
    }
}

#endif
