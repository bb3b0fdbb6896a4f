/* Features of samples: a window moves over channels, and features describe what is in it. C99, also
 * C++11. No malloc, no libm, no static data. A model's .c file sets the sizes below, then includes
 * this file, which includes the arithmetic: solah_signals_float.h or solah_signals_fixed.h.
 *
 *   SOLAH_N_MEASURED   channels that samples come from
 *   SOLAH_N_STORED     channels with features: measured ones, and magnitudes of axes
 *   SOLAH_N_FEATURES   features
 *   SOLAH_LONGEST      the largest number of samples that a window has of a channel
 *   SOLAH_SIGNALS      the type of the memory, whose fields are described at solah_push
 *   SOLAH_USES(kind)   whether there is a feature of a kind; the compiler drops the others
 *   SOLAH_INTEGER_SAMPLES   samples and readings are integers; without it they are floats
 *
 * With SOLAH_SIZES_IN_MODEL the tables state their own sizes, those above are maximums, and no memory
 * leads out of bounds, whatever it holds.
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

/* A loop by itself: together with others, it would run out of registers. */
#if defined(__GNUC__)
#define SOLAH_APART static __attribute__((noinline, unused))
#else
#define SOLAH_APART static inline
#endif

#ifdef SOLAH_INTEGER_SAMPLES
typedef int16_t solah_sample;  /* counted from the zero of its channel on */
typedef int32_t solah_pushed;  /* SOLAH_UNKNOWN for a missing one */
typedef int32_t solah_found;   /* a reading */
#define SOLAH_MISSING INT16_MIN
#define SOLAH_IS_MISSING(sample) ((sample) == SOLAH_MISSING)
#else
typedef float solah_sample;
typedef float solah_pushed; /* NaN for a missing one */
typedef float solah_found;
#define SOLAH_MISSING solah_unknown()
#define SOLAH_IS_MISSING(sample) ((sample) != (sample))
#endif

typedef struct {
    uint16_t every;   /* ticks from a sample to the next */
    uint16_t max_gap; /* the last sample replaces this many missing ones */
#ifdef SOLAH_INTEGER_SAMPLES
    int32_t zero; /* taken off each sample, so that it fits into 16 bits */
    int32_t bias; /* added to a stored sample: counted from the value 0 on, for magnitudes */
#endif
#ifdef SOLAH_SIZES_IN_MODEL
    int16_t bits; /* a value times 2^bits is a sample; INT16_MIN for a count, which is taken as it is */
    uint16_t nothing;
#endif
} solah_measured;

typedef struct {
    uint16_t first;     /* where its samples begin in the ring buffers */
    uint16_t length;    /* the samples of a window */
    uint8_t first_axis; /* where the measured channels that it is made of begin in `axes` */
    uint8_t n_axes;     /* 1: the channel itself */
#ifdef SOLAH_INTEGER_SAMPLES
    int16_t shift; /* a magnitude has the unit of its axes, times 2^-shift */
#endif
} solah_stored;

#ifdef SOLAH_INTEGER_SAMPLES
typedef int16_t solah_wave; /* cosines of a window, times 2^14, then sines */

typedef struct {
    uint8_t kind;
    uint8_t reading;
    uint8_t channel;
    uint8_t other;  /* the second channel of a correlation */
    uint16_t first; /* where the channel's waves begin; the sample below a percentile */
    uint16_t low;   /* the lowest wave; the way to the sample above a percentile, times 2^15 */
    uint16_t count; /* how many waves */
    int16_t shift;  /* a reading is what is found, times factor / 2^shift, plus offset */
    int32_t factor;
    int32_t offset; /* of RMS and zero crossings instead: where the value 0 is, in samples */
} solah_feature;
#else
typedef float solah_wave; /* the coefficient of a Goertzel filter */

typedef struct {
    uint8_t kind;
    uint8_t reading;
    uint8_t channel;
    uint8_t other;  /* the second channel of a correlation */
    uint16_t first; /* the first wave, or the sample below a percentile */
    uint16_t count; /* how many waves */
    float factor;
} solah_feature;
#endif

typedef struct {
    const SOLAH_FLASH solah_measured *measured;
    const SOLAH_FLASH solah_stored *stored;
    const SOLAH_FLASH uint8_t *axes;
    const SOLAH_FLASH solah_feature *features; /* channel by channel, percentiles last */
    const SOLAH_FLASH solah_wave *waves;
    uint32_t window;
    uint32_t step;
#ifdef SOLAH_SIZES_IN_MODEL
    uint8_t n_measured, n_stored, n_features;
#endif
} solah_way;

#ifdef SOLAH_SIZES_IN_MODEL
#define SOLAH_MEASURED(way) ((way)->n_measured)
#define SOLAH_STORED(way) ((way)->n_stored)
#define SOLAH_FEATURES(way) ((way)->n_features)
#else
#define SOLAH_MEASURED(way) ((void)(way), SOLAH_N_MEASURED)
#define SOLAH_STORED(way) ((void)(way), SOLAH_N_STORED)
#define SOLAH_FEATURES(way) ((void)(way), SOLAH_N_FEATURES)
#endif

/* Samples of one channel in the order of time. */
typedef struct {
    const solah_sample *x;
    uint16_t n;
#ifdef SOLAH_INTEGER_SAMPLES
    int32_t sum;
    uint64_t spread; /* n times the sum of squares, less the square of the sum */
#else
    float mean;
    float squares; /* the sum of squared distances from the mean */
#endif
} solah_series;

static inline void solah_swap(solah_sample *one, solah_sample *other)
{
    const solah_sample kept = *one;
    *one = *other;
    *other = kept;
}

SOLAH_APART solah_sample solah_least(const solah_series *series)
{
    solah_sample least = series->x[0];
    for (uint16_t i = 1; i < series->n; i++) {
        least = series->x[i] < least ? series->x[i] : least;
    }
    return least;
}

SOLAH_APART solah_sample solah_most(const solah_series *series)
{
    solah_sample most = series->x[0];
    for (uint16_t i = 1; i < series->n; i++) {
        most = series->x[i] > most ? series->x[i] : most;
    }
    return most;
}

#ifdef SOLAH_INTEGER_SAMPLES
#include "solah_signals_fixed.h"
#else
#include "solah_signals_float.h"
#endif

/* Begin with no samples. */
static inline void solah_start(SOLAH_SIGNALS *signals, const solah_way *way)
{
    memset(signals, 0, sizeof *signals);
    signals->left = way->window;
    for (uint8_t c = 0; c < SOLAH_MEASURED(way); c++) {
        signals->last[c] = SOLAH_MISSING;
    }
}

/* The sample of a channel at this tick: the last one, where it is missing for not too long. */
static inline solah_sample solah_hold(SOLAH_SIGNALS *signals, const solah_way *way, uint8_t c,
                                      solah_pushed pushed)
{
    const solah_sample sample = solah_taken(&way->measured[c], pushed);
    if (!SOLAH_IS_MISSING(sample)) {
        signals->last[c] = sample;
        signals->gap[c] = 0;
    } else if (signals->gap[c] < UINT16_MAX) {
        signals->gap[c]++;
    }
    return signals->gap[c] <= way->measured[c].max_gap ? signals->last[c] : SOLAH_MISSING;
}

/* Take a sample of every measured channel: return 1 if it completes a window.
 *
 * The memory has `ring` with the last samples of all stored channels, `next` with where the oldest
 * of each is (behind the last place, that is the first one), `last` and `gap` with the last known
 * sample of each measured channel and for how many it has been the last, `wait` with the ticks until its next
 * one, and `left` with the ticks until a window is complete. */
static inline int solah_push(SOLAH_SIGNALS *signals, const solah_way *way, const solah_pushed *sample)
{
    solah_sample held[SOLAH_N_MEASURED];
    signals->count++;
    for (uint8_t c = 0; c < SOLAH_MEASURED(way); c++) {
        held[c] = signals->wait[c] == 0 ? solah_hold(signals, way, c, sample[c]) : 0;
    }
    for (uint8_t s = 0; s < SOLAH_STORED(way); s++) {
        const SOLAH_FLASH solah_stored *stored = &way->stored[s];
        if (signals->wait[way->axes[stored->first_axis]] == 0) {
            if (signals->next[s] >= stored->length) {
                signals->next[s] = 0;
            }
            const SOLAH_FLASH uint8_t *axis = way->axes + stored->first_axis;
            signals->ring[stored->first + signals->next[s]] =
                stored->n_axes == 1 ? held[axis[0]] : solah_magnitude(way, stored, held);
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

/* Bring the samples of a channel into the order of time: return 0 if one is missing. */
SOLAH_APART int solah_unroll(const SOLAH_SIGNALS *signals, const solah_way *way, uint8_t s,
                             solah_sample *x)
{
    const uint16_t n = way->stored[s].length;
    const uint16_t oldest = signals->next[s] < n ? signals->next[s] : 0;
    const solah_sample *const ring = signals->ring + way->stored[s].first;
    memcpy(x, ring + oldest, (size_t)(n - oldest) * sizeof *x);
    memcpy(x + n - oldest, ring, (size_t)oldest * sizeof *x);
    for (const solah_sample *const end = x + n; x != end; x++) {
        if (SOLAH_IS_MISSING(*x)) {
            return 0;
        }
    }
    return 1;
}

/* Put the sample that has `place` others below it in that place (Hoare's selection), and the next
 * larger one behind it. */
SOLAH_APART void solah_select(solah_sample *x, int32_t n, int32_t place)
{
    int32_t low = 0, high = n - 1;
    while (low < high) {
        const solah_sample pivot = x[place];
        solah_sample *i = x + low, *j = x + high;
        while (i <= j) {
            while (*i < pivot) {
                i++;
            }
            while (pivot < *j) {
                j--;
            }
            if (i <= j) {
                solah_swap(i++, j--);
            }
        }
        low = j < x + place ? (int32_t)(i - x) : low;
        high = x + place < i ? (int32_t)(j - x) : high;
    }
    low = place + 1;
    for (int32_t i = low + 1; i < n; i++) {
        low = x[i] < x[low] ? i : low;
    }
    solah_swap(x + low, x + place + 1);
}

/* Compute the features of the window that is complete, in the places of their readings. */
static inline void solah_measure(const SOLAH_SIGNALS *signals, const solah_way *way,
                                 solah_found *readings)
{
    solah_sample kept[SOLAH_LONGEST + 1], y[SOLAH_USES(SOLAH_CORRELATION) ? SOLAH_LONGEST : 1];
    solah_sample *const x = kept + 1; /* solah_select looks before the first, and reads nothing there */
    solah_series series, second;
    int is_whole = 0;
    series.x = x;
    second.x = y;
    for (uint16_t f = 0; f < SOLAH_FEATURES(way); f++) {
        const SOLAH_FLASH solah_feature *feature = &way->features[f];
        solah_found *reading = &readings[feature->reading];
        if (f == 0 || feature->channel != way->features[f - 1].channel) {
            series.n = way->stored[feature->channel].length;
            is_whole = solah_unroll(signals, way, feature->channel, x);
            solah_sum(&series);
        }
        if (SOLAH_USES(SOLAH_PERCENTILE) && feature->kind == SOLAH_PERCENTILE) {
            solah_select(x, series.n, feature->first);
        }
        *reading = SOLAH_NOT_FOUND;
        if (SOLAH_USES(SOLAH_CORRELATION) && feature->kind == SOLAH_CORRELATION) {
            second.n = way->stored[feature->other].length;
            if (is_whole && solah_unroll(signals, way, feature->other, y)) {
                solah_sum(&second);
                *reading = solah_correlation(feature, &series, &second);
            }
        } else if (is_whole) {
            *reading = solah_feature_of(way, feature, &series);
        }
    }
}

#endif
