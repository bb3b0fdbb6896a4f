/* Whether the policy of a blob, and how it makes readings of samples, lead to places that there are;
 * on the way, everything is pointed to. solah_blob_check.h includes it. */
#ifndef SOLAH_BLOB_PARTS_H
#define SOLAH_BLOB_PARTS_H

/* How many cells a reading has. */
static inline uint32_t solah_blob_n_cells(const solah_cells *cells)
{
    return cells->n_states > 0u ? cells->n_states : cells->n_cuts + 1u;
}

/* Point to what a policy reads. Without one, a decision is taken at once, and the model never abstains. */
static inline void solah_blob_point_to_policy(solah_blob *blob, const solah_blob_header *header)
{
    const solah_blob_policy *line =
        SOLAH_BLOB_AT(header, POLICY);
    const int is_there = solah_blob_count(header, SOLAH_BLOB_POLICY) > 0u;
    const int has_cells = solah_blob_count(header, SOLAH_BLOB_CELLS) > 0u;
    const int has_limits = solah_blob_count(header, SOLAH_BLOB_MIN_PROBABILITY) > 0u;
    solah_policy *policy = &blob->policy;

    policy->cells =
        has_cells ? SOLAH_BLOB_AT(header, CELLS) : NULL;
    policy->cuts = SOLAH_BLOB_AT(header, CUTS);
    policy->pairs = SOLAH_BLOB_AT(header, PAIRS);
    policy->seen = SOLAH_BLOB_AT(header, SEEN);
    policy->min_probability =
        has_limits ? SOLAH_BLOB_AT(header, MIN_PROBABILITY) : NULL;
    policy->shares = SOLAH_BLOB_AT(header, SHARES);
    policy->n_pairs = (uint8_t)solah_blob_count(header, SOLAH_BLOB_PAIRS);
    policy->n_shares = (uint8_t)solah_blob_count(header, SOLAH_BLOB_SHARES);
    policy->min_completeness = is_there ? line->min_completeness : 0;
    policy->hysteresis = is_there ? line->hysteresis : 0;
    policy->min_hold = is_there ? line->min_hold : 1;
    policy->holds_back = is_there ? line->holds_back : 0;
    policy->most_unseen = is_there ? line->most_unseen : 0;
    policy->smoothing_bits = is_there ? line->smoothing_bits : 0;
    policy->votes = is_there ? line->votes : 1;
    policy->window = is_there ? line->window : 1;
}

/* Whether there is as much of everything as there must be. */
static inline int solah_blob_is_policy(const solah_blob *blob, const solah_blob_header *header)
{
    const uint32_t n_policies = solah_blob_count(header, SOLAH_BLOB_POLICY);
    const uint32_t n_cells = solah_blob_count(header, SOLAH_BLOB_CELLS);
    const uint32_t n_limits = solah_blob_count(header, SOLAH_BLOB_MIN_PROBABILITY);
    const uint32_t n_pairs = solah_blob_count(header, SOLAH_BLOB_PAIRS);
    const uint32_t n_shares = solah_blob_count(header, SOLAH_BLOB_SHARES);

    if (n_policies == 0u || blob->tables.n_classes == 1u) {
        return n_policies + n_cells + n_limits + n_pairs + n_shares == 0u;
    }
    return n_policies == 1u && (n_cells == 0u || n_cells == blob->n_readings) &&
           (n_limits == 0u || n_limits == blob->tables.n_classes) && n_pairs < 256u &&
           n_shares < 256u && (n_pairs == 0u || n_cells > 0u);
}

static inline int solah_blob_are_cells(const solah_blob *blob, const solah_blob_header *header)
{
    const solah_policy *policy = &blob->policy;
    for (uint32_t a = 0; policy->cells != NULL && a < blob->n_readings; a++) {
        const solah_cells *cells = &policy->cells[a];
        if (!SOLAH_BLOB_HAS(header, CUTS, cells->first_cut, cells->n_cuts) ||
            cells->n_cuts == SOLAH_NOTHING) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < policy->n_pairs; i++) {
        const solah_seen *pair = &policy->pairs[i];
        if (pair->first >= blob->n_readings || pair->second >= blob->n_readings) {
            return 0;
        }
        const uint32_t n_bits = solah_blob_n_cells(&policy->cells[pair->first]) *
                                solah_blob_n_cells(&policy->cells[pair->second]);
        if (!SOLAH_BLOB_HAS(header, SEEN, pair->byte, (n_bits + 7u) >> 3)) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < policy->n_shares; i++) {
        if (policy->shares[i].feature >= blob->n_readings) {
            return 0;
        }
    }
    return 1;
}

static inline int solah_blob_check_policy(solah_blob *blob, const solah_blob_header *header)
{
    const solah_policy *policy = &blob->policy;

    if (!solah_blob_is_policy(blob, header)) {
        return SOLAH_BLOB_PLACE;
    }
    solah_blob_point_to_policy(blob, header);
    if (!solah_blob_are_cells(blob, header)) {
        return SOLAH_BLOB_PLACE;
    }
    if (policy->window < 1u || policy->window > SOLAH_BLOB_MOST_VOTES || policy->votes < 1u ||
        policy->votes > policy->window || policy->min_hold < 1u || policy->min_hold == UINT16_MAX ||
        policy->smoothing_bits > 8u || policy->min_completeness > SOLAH_ONE || policy->hysteresis > SOLAH_ONE) {
        return SOLAH_BLOB_NUMBERS;
    }
    return SOLAH_BLOB_OK;
}

#if SOLAH_BLOB_MAX_SAMPLES > 0
static inline int solah_blob_is_stored(const solah_way *way, const solah_blob_header *header,
                                       const solah_stored *stored)
{
    if (stored->n_axes == 0u || !SOLAH_BLOB_HAS(header, AXES, stored->first_axis, stored->n_axes)) {
        return 0;
    }
    for (uint32_t k = 0; k < stored->n_axes; k++) {
        if (way->axes[stored->first_axis + k] >= way->n_measured) {
            return 0;
        }
    }
    return 1;
}

static inline int solah_blob_is_feature(const solah_blob *blob, const solah_blob_header *header,
                                        const solah_feature *feature)
{
    const solah_way *way = &blob->way;
    if (feature->kind > SOLAH_CORRELATION || feature->channel >= way->n_stored ||
        feature->other >= way->n_stored || feature->reading >= blob->n_readings ||
        blob->bits[feature->reading] == SOLAH_BLOB_NO_BITS) {
        return 0;
    }
    const uint32_t length = way->stored[feature->channel].length;
    switch (feature->kind) {
    case SOLAH_RMS: /* the square of a sum has 62 bits */
        return solah_blob_is_within(feature->offset, -SOLAH_BLOB_MOST_TOTAL, SOLAH_BLOB_MOST_TOTAL);
    case SOLAH_PERCENTILE:
        return feature->first + 1u < length;
    case SOLAH_CORRELATION:
        return way->stored[feature->other].length == length;
    case SOLAH_ENERGY:
    case SOLAH_PITCH:
        return (uint32_t)feature->low + feature->count <= length &&
               SOLAH_BLOB_HAS(header, WAVES, feature->first, 2u * length);
    default:
        return 1;
    }
}

/* Whether the channels and features of samples are there, and fit. */
static inline int solah_blob_check_way(const solah_blob *blob, const solah_blob_header *header)
{
    const solah_way *way = &blob->way;
    for (uint32_t c = 0; c < way->n_measured; c++) {
        const solah_measured *measured = &way->measured[c];
        if (measured->every == 0u ||
            !solah_blob_is_within(measured->zero, -((int32_t)1 << 30), (int32_t)1 << 30) ||
            !solah_blob_is_within(measured->bias, -65536, 65536)) {
            return SOLAH_BLOB_NUMBERS;
        }
    }
    for (uint32_t w = 0; w < solah_blob_count(header, SOLAH_BLOB_WAVES); w++) {
        if (!solah_blob_is_within(way->waves[w], -16384, 16384)) {
            return SOLAH_BLOB_NUMBERS;
        }
    }
    for (uint32_t s = 0; s < way->n_stored; s++) {
        const solah_stored *stored = &way->stored[s];
        if (stored->length > SOLAH_BLOB_MAX_WINDOW ||
            (uint32_t)stored->first + stored->length > SOLAH_BLOB_MAX_SAMPLES) {
            return SOLAH_BLOB_TOO_LARGE;
        }
        if (stored->length < 2u || stored->length > 16384u) {
            return SOLAH_BLOB_NUMBERS;
        }
        if (!solah_blob_is_stored(way, header, stored)) {
            return SOLAH_BLOB_PLACE;
        }
    }
    for (uint32_t f = 0; f < way->n_features; f++) {
        if (!solah_blob_is_feature(blob, header, &way->features[f])) {
            return SOLAH_BLOB_PLACE;
        }
    }
    return way->window > 0u && way->step > 0u ? SOLAH_BLOB_OK : SOLAH_BLOB_NUMBERS;
}

static inline int solah_blob_check_signals(solah_blob *blob, const solah_blob_header *header)
{
    const solah_blob_windows *windows =
        SOLAH_BLOB_AT(header, WINDOWS);
    const uint32_t n_measured = solah_blob_count(header, SOLAH_BLOB_MEASURED);
    const uint32_t n_stored = solah_blob_count(header, SOLAH_BLOB_STORED);
    const uint32_t n_features = solah_blob_count(header, SOLAH_BLOB_FEATURES);
    solah_way *way = &blob->way;

    memset(way, 0, sizeof *way);
    if (solah_blob_count(header, SOLAH_BLOB_WINDOWS) == 0u) {
        return SOLAH_BLOB_OK;
    }
    if (n_measured > SOLAH_BLOB_MAX_CHANNELS || n_stored > SOLAH_BLOB_MAX_CHANNELS) {
        return SOLAH_BLOB_TOO_LARGE;
    }
    if (n_measured == 0u || n_stored == 0u || n_features == 0u || n_features > 255u) {
        return SOLAH_BLOB_PLACE;
    }
    way->measured = SOLAH_BLOB_AT(header, MEASURED);
    way->stored = SOLAH_BLOB_AT(header, STORED);
    way->axes = SOLAH_BLOB_AT(header, AXES);
    way->features = SOLAH_BLOB_AT(header, FEATURES);
    way->waves = SOLAH_BLOB_AT(header, WAVES);
    way->window = windows->window;
    way->step = windows->step;
    way->n_measured = (uint8_t)n_measured;
    way->n_stored = (uint8_t)n_stored;
    way->n_features = (uint8_t)n_features;
    return solah_blob_check_way(blob, header);
}
#else
static inline int solah_blob_check_signals(const solah_blob *blob, const solah_blob_header *header)
{
    (void)blob;
    (void)header;
    return SOLAH_BLOB_OK;
}
#endif

#endif
