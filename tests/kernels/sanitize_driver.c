/* Drives every kernel over buffers of exactly the size it may touch, for ASan and UBSan to watch.
 * Prints the sum of each row's belief. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void solah_label(const double *, int64_t, int32_t, const double *, const int32_t *, uint32_t *);
int32_t solah_accumulate(const uint32_t *, const uint32_t *, const int64_t *, int64_t, int32_t,
                         const uint32_t *, const int32_t *, int32_t, const int32_t *,
                         const uint32_t *, const int32_t *, const int32_t *, int32_t,
                         const int32_t *, int32_t, int64_t *);
int32_t solah_route(const uint32_t *, const int64_t *, int64_t, int32_t, const uint32_t *,
                    const int32_t *, int32_t, const int32_t *, const uint32_t *, const int32_t *,
                    const int32_t *, int32_t, int64_t *, int32_t *, int64_t *);
int32_t solah_score_labels(const uint32_t *, const int64_t *, const int64_t *, int64_t, int32_t,
                    const int32_t *, const uint32_t *, const int32_t *, const int32_t *, int32_t,
                    const int32_t *, int32_t, const int32_t *, int32_t, const double *, int32_t,
                    double *, int64_t *);
void solah_find(const double *, int64_t, int64_t, const double *, int64_t, int32_t *);
void solah_share_weights(const int64_t *, const int32_t *, const int64_t *, int64_t, const int64_t *,
                  const int64_t *, const double *, int32_t, int64_t *);
int32_t solah_predict(const double *, int64_t, int32_t, const double *, const int32_t *, int32_t,
                      const double *, const double *, const int32_t *, const int32_t *,
                      const int32_t *, int32_t, const double *, int32_t, double *);
int32_t solah_grow(const uint8_t *, int64_t, int32_t, const int32_t *, const uint8_t *,
                   const int32_t *, const int32_t *, const int32_t *, int32_t, double, int64_t,
                   int32_t *, double *);
enum { ROWS = 200, FEATURES = 2, SETS = 5, NODES = 8, TARGETS = 2, BINS = SETS + FEATURES };

static void *copy_of(const void *source, size_t size)
{
    void *copy = malloc(size);
    if (copy == NULL) {
        exit(1);
    }
    memcpy(copy, source, size);
    return copy;
}

#define HEAP(array) copy_of(array, sizeof(array))

/* Grow trees on features of few and of all bins; large numbers are counted in another way. */
static int32_t grow_trees(void)
{
    enum { COLUMNS = 7, LEAVES = 16 };
    static const int32_t n_bins[COLUMNS] = {1, 2, 3, 40, 255, 2, 9};
    static const uint8_t named[COLUMNS] = {0, 1, 0, 1, 0, 0, 1};
    static const int32_t units[3] = {1, 1 << 24, INT32_MAX / ROWS};
    int32_t *size = HEAP(n_bins), status = 0;
    uint8_t *nominal = HEAP(named), *bins = malloc(COLUMNS * ROWS);
    int32_t *g = malloc(ROWS * sizeof *g), *h = malloc(ROWS * sizeof *h);
    int32_t *w = malloc(ROWS * sizeof *w), *leaf = malloc(ROWS * sizeof *leaf);
    double *gains = calloc(COLUMNS * 256, sizeof *gains);
    for (int a = 0; a < COLUMNS; a++) {
        for (int i = 0; i < ROWS; i++) {
            bins[a * ROWS + i] = (uint8_t)(i % 11 == a ? 255 : i * (a + 5) % n_bins[a]);
        }
    }
    for (int u = 0; u < 3; u++) {
        for (int i = 0; i < ROWS; i++) {
            g[i] = (i * 37 % 101 - 50) * (units[u] / 51 + 1);
            h[i] = units[u];
            w[i] = i % 9 == 0 ? 0 : units[u];
        }
        status |= solah_grow(bins, ROWS, COLUMNS, size, nominal, g, h, w, LEAVES, 1.0, units[u], leaf, gains) != LEAVES;
        status |= solah_grow(bins, ROWS, COLUMNS, size, nominal, g, h, w, 2, 1.0, units[u], leaf, gains) != 2;
    }
    status |= solah_grow(bins, 0, COLUMNS, size, nominal, g, h, w, 2, 1.0, 1, leaf, gains) != 1;
    free(size), free(nominal), free(bins), free(g), free(h), free(w), free(leaf), free(gains);
    return status;
}

int main(void)
{
    static const double peaks[SETS] = {0.0, 1.0, 2.0, -1.0, 1.0};
    static const double mean_masses[SETS] = {0.25, 0.5, 0.25, 0.5, 0.5};
    static const int32_t offsets[FEATURES + 1] = {0, 3, 5};
    static const uint32_t cumulated[BINS] = {0, 1u << 22, 3u << 22, 1u << 24, 0, 1u << 23, 1u << 24};
    static const int32_t feature[NODES] = {0, -1, 1, 1, -1, -1, -1, -1};
    static const int32_t first_child[NODES] = {1, 0, 4, 6, 0, 0, 0, 0};
    static const int32_t slots[NODES] = {-1, 0, -1, -1, 1, 2, -1, 3};
    double values[ROWS * FEATURES], belief[NODES * TARGETS];
    uint32_t targets[ROWS];
    int64_t weights[ROWS];

    for (int i = 0; i < ROWS; i++) {
        values[i * FEATURES] = i % 13 == 0 ? (double)NAN : i * 0.02 - 1.0;
        values[i * FEATURES + 1] = i % 7 == 0 ? (double)INFINITY : 1.5 - i * 0.02;
        targets[i] = (uint32_t)(i * 83886);
        weights[i] = i % 5 == 0 ? 0 : (int64_t)1 << 30;
    }
    for (int n = 0; n < NODES; n++) {
        belief[n * TARGETS] = n / 10.0;
        belief[n * TARGETS + 1] = 1.0 - n / 10.0;
    }
    double *x = HEAP(values), *p = HEAP(peaks), *ig = HEAP(mean_masses), *b = HEAP(belief);
    int32_t *off = HEAP(offsets), *att = HEAP(feature), *first = HEAP(first_child), *sl = HEAP(slots);
    uint32_t *cum = HEAP(cumulated), *g = HEAP(targets);
    int64_t *w = HEAP(weights);
    uint32_t *labels = malloc(ROWS * FEATURES * sizeof *labels);
    int64_t *counts = calloc(4 * BINS * TARGETS, sizeof *counts);
    int64_t *starts = malloc((ROWS + 1) * sizeof *starts);
    double *out = malloc(ROWS * TARGETS * sizeof *out);

    /* Every third row has the masses of feature 0 given, spread over all its sets. */
    static const int32_t spread_offset[FEATURES] = {0, -1}, reading[FEATURES] = {-1, -1};
    uint32_t *spread = malloc(ROWS * 4 * sizeof *spread);
    double *given = malloc(ROWS * 3 * sizeof *given);
    solah_label(x, ROWS, FEATURES, p, off, labels);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 4; k++) {
            spread[i * 4 + k] = k == 3 ? 1u << 24 : (uint32_t)(k * 5000000);
        }
        for (int k = 0; k < 3; k++) {
            given[i * 3 + k] = (spread[i * 4 + k + 1] - spread[i * 4 + k]) / 16777216.0;
        }
        if (i % 3 == 0) {
            labels[i * FEATURES] = 255u << 24;
        }
    }
    int32_t *so = HEAP(spread_offset), *none = HEAP(reading);
    int32_t status = solah_accumulate(labels, g, w, ROWS, FEATURES, spread, so, 4, off, cum, att, first, 2, sl, TARGETS, counts);
    status |= solah_route(labels, w, ROWS, FEATURES, spread, so, 4, off, cum, att, first, 2, starts, NULL, NULL);
    int32_t *leaves = malloc((size_t)starts[ROWS] * sizeof *leaves);
    int64_t *leaf_weights = malloc((size_t)starts[ROWS] * sizeof *leaf_weights);
    status |= solah_route(labels, w, ROWS, FEATURES, spread, so, 4, off, cum, att, first, 2, starts, leaves, leaf_weights);
    int64_t *classes = malloc(ROWS * sizeof *classes);
    int64_t *credit = calloc(NODES * TARGETS, sizeof *credit);
    for (int i = 0; i < ROWS; i++) {
        classes[i] = i % TARGETS;
    }
    solah_share_weights(starts, leaves, leaf_weights, ROWS, classes, w, b, TARGETS, credit);
    double *likelihood = malloc(ROWS * sizeof *likelihood);
    /* The same tree again and again, so that rows reach more leaves than the list has room for. */
    enum { TREES = 200, FEW = 3 };
    int32_t *all_roots = malloc(TREES * sizeof *all_roots);
    int32_t *places = malloc(NODES * sizeof *places);
    uint32_t *plain = malloc(ROWS * FEATURES * sizeof *plain);
    for (int t = 0; t < TREES; t++) {
        all_roots[t] = 0;
    }
    for (int n = 0; n < NODES; n++) {
        places[n] = n % (NODES - 1);
    }
    solah_label(x, ROWS, FEATURES, p, off, plain);
    status |= solah_score_labels(plain, classes, w, ROWS, FEATURES, off, cum, att, first, 2, all_roots, FEW, places, NODES - 1, b, TARGETS, likelihood, credit);
    status |= solah_score_labels(plain, classes, w, ROWS, FEATURES, off, cum, att, first, 2, all_roots, TREES, places, NODES - 1, b, TARGETS, likelihood, credit);
    /* Every other number of a table, in bins; the first edge is below all. */
    static const double begin[3] = {-2.0, 0.25, 1.5};
    double *edges = HEAP(begin);
    int32_t *bins = malloc(ROWS * sizeof *bins);
    solah_find(x, FEATURES, ROWS, edges, 3, bins);
    solah_find(x, FEATURES, ROWS, edges, 1, bins);
    free(all_roots), free(places), free(plain), free(edges), free(bins);
    status |= solah_predict(x, ROWS, FEATURES, NULL, none, 0, p, ig, off, att, first, 2, b, TARGETS, out);
    status |= solah_predict(x, ROWS, FEATURES, given, so, 3, p, ig, off, att, first, 2, b, TARGETS, out);
    status |= grow_trees();
    for (int i = 0; i < ROWS; i++) {
        printf("%.17g\n", out[i * TARGETS] + out[i * TARGETS + 1]);
    }
    free(x), free(p), free(ig), free(b), free(off), free(att), free(first), free(sl), free(cum);
    free(spread), free(given), free(so), free(none), free(classes), free(credit), free(likelihood);
    free(g), free(w), free(labels), free(counts), free(starts), free(out), free(leaves), free(leaf_weights);
    return (int)status;
}
