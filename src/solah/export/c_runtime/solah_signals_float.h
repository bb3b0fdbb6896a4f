/* Features of windows in float32; solah_signals.h includes it. Only + - * / and square roots, each
 * sum from the first sample of a window to the last: every platform computes the same bits as solah's
 * Python simulator. Compile without contraction (-ffp-contract=off). */
#ifndef SOLAH_SIGNALS_FLOAT_H
#define SOLAH_SIGNALS_FLOAT_H

#define SOLAH_MOST_SAMPLE 1e9f /* what is beyond counts as missing */
#define SOLAH_NOT_FOUND solah_unknown()

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

/* A sample as it is stored: missing where it is too large. */
static inline float solah_taken(const SOLAH_FLASH solah_measured *measured, float sample)
{
    (void)measured;
    return sample >= -SOLAH_MOST_SAMPLE && sample <= SOLAH_MOST_SAMPLE
               ? sample + 0.0f /* there is no -0 */
               : solah_unknown();
}

/* The magnitude of the axes of a channel. */
static inline float solah_magnitude(const solah_way *way, const SOLAH_FLASH solah_stored *stored,
                                    const float *held)
{
    float total = 0.0f;
    for (uint8_t k = 0; k < stored->n_axes; k++) {
        const float axis = held[way->axes[stored->first_axis + k]];
        total += axis * axis;
    }
    return solah_root(total);
}

/* Compute the mean and the sum of squares. */
static inline void solah_sum(solah_series *series)
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

static inline float solah_correlation(const SOLAH_FLASH solah_feature *feature,
                                      const solah_series *series, const solah_series *other)
{
    const float both = solah_root(series->squares) * solah_root(other->squares);
    float total = 0.0f;
    (void)feature;
    if (!(both > 0.0f)) {
        return solah_unknown();
    }
    for (uint16_t i = 0; i < series->n; i++) {
        total += (series->x[i] - series->mean) * (other->x[i] - other->mean);
    }
    return total / both;
}

/* A feature of one channel; of percentiles, the samples are sorted. */
static inline float solah_feature_of(const solah_way *way,
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

#endif
