/* One small regression tree of a boosted ensemble, grown on binned readings: the compiled simulator of
 * solah/kernels/boosting_reference.py.
 *
 * bins[a][i] is the bin of row i's reading of feature a, below size[a], or MISSING. Sums are of
 * whole numbers, so they do not depend on their order. A leaf has a histogram: for each feature
 * size[a] + 1 cells, the last one for missing readings.
 */
#include "export.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEAVES = 16, N_BINS = 256, MISSING = 255, BLOCK = 6, LEAST_BATCH = 64 };

typedef struct {
    int64_t gradient, curvature, weight;
} sums;

/* A row of a leaf, and what it adds to its cells. Numbers are kept modulo 2^32: a sum that fits in
 * 32 bits is right whatever was passed on the way. */
enum { GRADIENT, CURVATURE, WEIGHT, ROW, N_TERMS };

typedef struct {
    uint32_t term[N_TERMS];
} member;

typedef struct {
    const uint8_t *bins;
    const int32_t *size;
    const uint8_t *nominal;
    const int64_t *offset; /* where a feature's cells begin in a histogram; then their number */
    int64_t n_rows;
    int64_t batch; /* the sums of this many rows fit in 32 bits */
    int32_t n_features;
    double ridge;
    int64_t least;
} setting;

typedef struct {
    double gain; /* 0: there is none */
    sums left;
    int32_t feature, bin;
    int32_t missing_left;
} split;

typedef struct {
    sums all;
    member *members;
    int64_t n_members;
    sums *cells;
    split best;
} leaf_of_tree;

static inline sums plus(sums a, sums b)
{
    const sums both = {a.gradient + b.gradient, a.curvature + b.curvature, a.weight + b.weight};
    return both;
}

static inline sums minus(sums a, sums b)
{
    const sums rest = {a.gradient - b.gradient, a.curvature - b.curvature, a.weight - b.weight};
    return rest;
}

static inline sums widened(member one)
{
    const sums wide = {(int32_t)one.term[GRADIENT], (int32_t)one.term[CURVATURE],
                       (int32_t)one.term[WEIGHT]};
    return wide;
}

/* Count some members in the cells of `count` features. Several at once: a row is loaded once for
 * all, and an addition need not wait for the one before it in the same cell. */
static inline void count_batch(const setting *of, const member *members, int64_t n_members,
                               sums *cells, int32_t first, const int32_t count)
{
    /* By bin, in 32 bits: all terms are one vector. The sum of rows means nothing. The room between
     * features keeps equal bins of them apart in the cache. */
    member counts[BLOCK][N_BINS + 4];
    const uint8_t *bins = of->bins + first * of->n_rows;
    for (int32_t k = 0; k < count; k++) {
        memset(counts[k], 0, (size_t)of->size[first + k] * sizeof counts[k][0]);
        memset(&counts[k][MISSING], 0, sizeof counts[k][0]);
    }
    for (int64_t i = 0; i < n_members; i++) {
        const member one = members[i];
        for (int32_t k = 0; k < count; k++) {
            member *counted = &counts[k][bins[k * of->n_rows + one.term[ROW]]];
            for (int32_t t = 0; t < N_TERMS; t++) {
                counted->term[t] += one.term[t];
            }
        }
    }
    for (int32_t k = 0; k < count; k++) {
        sums *cell = cells + of->offset[first + k];
        for (int32_t b = 0; b < of->size[first + k]; b++, cell++) {
            *cell = plus(*cell, widened(counts[k][b]));
        }
        *cell = plus(*cell, widened(counts[k][MISSING]));
    }
}

/* Count members whose numbers are too large for sums of 32 bits. */
static void count_large(const setting *of, const leaf_of_tree *leaf, int32_t a)
{
    const uint8_t *bins = of->bins + a * of->n_rows;
    for (int64_t i = 0; i < leaf->n_members; i++) {
        const member one = leaf->members[i];
        const int32_t bin = bins[one.term[ROW]];
        sums *cell = leaf->cells + of->offset[a] + (bin == MISSING ? of->size[a] : bin);
        *cell = plus(*cell, widened(one));
    }
}

static void count_cells(const setting *of, const leaf_of_tree *leaf)
{
    memset(leaf->cells, 0, (size_t)of->offset[of->n_features] * sizeof *leaf->cells);
    if (of->batch < LEAST_BATCH) {
        for (int32_t a = 0; a < of->n_features; a++) {
            count_large(of, leaf, a);
        }
        return;
    }
    for (int64_t start = 0; start < leaf->n_members; start += of->batch) {
        const member *members = leaf->members + start;
        const int64_t left = leaf->n_members - start, n = left < of->batch ? left : of->batch;
        int32_t a = 0;
        for (; a + BLOCK <= of->n_features; a += BLOCK) {
            count_batch(of, members, n, leaf->cells, a, BLOCK);
        }
        count_batch(of, members, n, leaf->cells, a, of->n_features - a);
    }
}

static inline double merit(sums of_side, double ridge)
{
    const double gradient = (double)of_side.gradient;
    return gradient * gradient / ((double)of_side.curvature + ridge);
}

static void find_split(const setting *of, leaf_of_tree *leaf)
{
    const double before = merit(leaf->all, of->ridge);
    split best = {0.0, {0}, 0, 0, 0};
    for (int32_t a = 0; a < of->n_features; a++) {
        const sums *cells = leaf->cells + of->offset[a];
        const sums missing = cells[of->size[a]];
        const int32_t n_splits = of->nominal[a] ? of->size[a] : of->size[a] - 1;
        sums known = {0};
        for (int32_t b = 0; b < n_splits; b++) {
            /* An empty bin parts the rows as the one before does, or not at all; but missing
             * readings alone may go left. */
            if (cells[b].weight == 0 && (missing.weight == 0 || (b > 0 && !of->nominal[a]))) {
                continue;
            }
            known = of->nominal[a] ? cells[b] : plus(known, cells[b]);
            for (int32_t missing_left = 0; missing_left <= (missing.weight > 0); missing_left++) {
                const sums left = missing_left ? plus(known, missing) : known;
                const sums right = minus(leaf->all, left);
                if (left.weight < of->least || right.weight < of->least) {
                    continue;
                }
                const double gain = merit(left, of->ridge) + merit(right, of->ridge) - before;
                if (gain > best.gain) {
                    best = (split){gain, left, a, b, missing_left};
                }
            }
        }
    }
    leaf->best = best;
}

/* Part the members of a leaf by its best split: the left ones stay, the right ones follow them and
 * are those of a new leaf. */
static void part(const setting *of, leaf_of_tree *leaf, leaf_of_tree *right, member *work)
{
    const split best = leaf->best;
    const int32_t nominal = of->nominal[best.feature];
    const uint8_t *bins = of->bins + best.feature * of->n_rows;
    int64_t n_left = 0, n_right = 0;
    for (int64_t i = 0; i < leaf->n_members; i++) {
        const member one = leaf->members[i];
        const int32_t bin = bins[one.term[ROW]];
        const int32_t known_left = nominal ? bin == best.bin : bin <= best.bin;
        const int32_t goes_left = bin == MISSING ? best.missing_left : known_left;
        /* Written to both, kept in one: no processor could guess which. */
        leaf->members[n_left] = one;
        work[n_right] = one;
        n_left += goes_left;
        n_right += !goes_left;
    }
    right->members = leaf->members + n_left;
    right->n_members = n_right;
    memcpy(right->members, work, (size_t)n_right * sizeof *work);
    right->all = minus(leaf->all, best.left);
    leaf->n_members = n_left;
    leaf->all = best.left;
}

/* Find the histograms of both parts of a leaf, of which the left one has that of the whole. */
static void divide_cells(const setting *of, leaf_of_tree *left, leaf_of_tree *right, sums *fresh)
{
    const int32_t left_is_smaller = left->n_members < right->n_members;
    leaf_of_tree *smaller = left_is_smaller ? left : right;
    leaf_of_tree *larger = left_is_smaller ? right : left;
    larger->cells = left->cells;
    smaller->cells = fresh;
    count_cells(of, smaller);
    for (int64_t c = 0; c < of->offset[of->n_features]; c++) {
        larger->cells[c] = minus(larger->cells[c], smaller->cells[c]);
    }
}

static int32_t grow(const setting *of, leaf_of_tree *leaves, int32_t n_leaves, sums *cells,
                    member *work, double *gains)
{
    const int64_t n_cells = of->offset[of->n_features];
    int32_t n = 1;
    leaves[0].cells = cells;
    count_cells(of, &leaves[0]);
    find_split(of, &leaves[0]);
    while (n < n_leaves) {
        int32_t next = 0;
        for (int32_t l = 1; l < n; l++) {
            next = leaves[l].best.gain > leaves[next].best.gain ? l : next;
        }
        leaf_of_tree *left = &leaves[next], *right = &leaves[n];
        const split best = left->best;
        if (!(best.gain > 0.0)) {
            break;
        }
        gains[(int64_t)best.feature * N_BINS + best.bin] += best.gain;
        part(of, left, right, work);
        if (++n < n_leaves) {
            divide_cells(of, left, right, cells + (n - 1) * n_cells);
            find_split(of, left);
            find_split(of, right);
        }
    }
    return n;
}

static int64_t larger_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* Gather the rows with weight in the first leaf; leaf numbers of the others become -1. Returns of
 * how many rows the sums fit in 32 bits. */
static int64_t gather(leaf_of_tree *root, const int32_t *gradient, const int32_t *curvature,
                      const int32_t *weight, int64_t n_rows, int32_t *leaf)
{
    int64_t largest = 1;
    for (int64_t i = 0; i < n_rows; i++) {
        leaf[i] = -1;
        if (weight[i] > 0) {
            const member one = {{(uint32_t)gradient[i], (uint32_t)curvature[i],
                                 (uint32_t)weight[i], (uint32_t)i}};
            root->members[root->n_members++] = one;
            root->all = plus(root->all, widened(one));
            largest = larger_of(largest, larger_of(gradient[i], -(int64_t)gradient[i]));
            largest = larger_of(largest, larger_of(curvature[i], weight[i]));
        }
    }
    return INT32_MAX / largest;
}

/* Grow a tree of at most n_leaves leaves, 2 to MAX_LEAVES, best first. leaf[i] becomes the number of
 * row i's leaf, -1 for one without weight; gains[feature][bin] get the gains of the splits that
 * were made. There are fewer than 2^31 rows; curvatures are not negative. Returns how many leaves
 * there are; -1: out of memory. */
SOLAH_EXPORT int32_t solah_grow(const uint8_t *bins, int64_t n_rows, int32_t n_features,
                                const int32_t *size, const uint8_t *nominal,
                                const int32_t *gradient, const int32_t *curvature,
                                const int32_t *weight, int32_t n_leaves, double ridge,
                                int64_t least, int32_t *leaf, double *gains)
{
    leaf_of_tree leaves[MAX_LEAVES] = {{{0}, NULL, 0, NULL, {0, {0}, 0, 0, 0}}};
    int32_t n = -1;
    sums *cells = NULL;
    int64_t *offset = malloc(((size_t)n_features + 1) * sizeof *offset);
    /* Each has room for one more, so that none is empty. */
    member *members = malloc(((size_t)n_rows + 1) * sizeof *members);
    member *work = malloc(((size_t)n_rows + 1) * sizeof *work);
    if (offset != NULL) {
        offset[0] = 0;
        for (int32_t a = 0; a < n_features; a++) {
            offset[a + 1] = offset[a] + size[a] + 1;
        }
        /* The last split needs no histograms. */
        cells = malloc(((size_t)offset[n_features] * (size_t)(n_leaves - 1) + 1) * sizeof *cells);
    }
    if (cells != NULL && members != NULL && work != NULL) {
        leaves[0].members = members;
        const int64_t batch = gather(&leaves[0], gradient, curvature, weight, n_rows, leaf);
        const setting of = {bins,  size,         nominal, offset, n_rows,
                            batch, n_features, ridge,   least};
        n = grow(&of, leaves, n_leaves, cells, work, gains);
    }
    for (int32_t l = 0; l < n; l++) {
        for (int64_t i = 0; i < leaves[l].n_members; i++) {
            leaf[leaves[l].members[i].term[ROW]] = l;
        }
    }
    free(offset);
    free(members);
    free(work);
    free(cells);
    return n;
}
