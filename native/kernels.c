/* The compiled simulator of solah/kernels/reference.py, called through ctypes.
 *
 * Arrays are C-contiguous and have been checked by the caller. There is no global state, so
 * threads may call with disjoint outputs. Training works on integers only (see labels and
 * weights below), so sums do not depend on their order.
 *
 * label   a reading as 32 bits: the lower focal set's number (8 bits), then the mass of the set
 *         above it in units of 2^-24. The number one past a feature's last set: mean_masses.
 *         The number 255: the masses are spread over all sets, in an array of their own.
 * weight  how much of a row is in a branch, at most 2^30.
 */
#include "solah_core.h"
#include "export.h"
#include "softmax.h"

#include <stddef.h>
#include <stdlib.h>

#define ABI_VERSION 10
#define MASS_BITS 24
#define MASS_ONE ((uint32_t)1 << MASS_BITS)
#define MASS_MASK (MASS_ONE - 1)
#define MASS_HALF ((int64_t)1 << (MASS_BITS - 1))
#define SPREAD 255
#define WEIGHT_ONE 1073741824.0 /* 2^30 */
#define SLOPE_SCALE 64.0

enum { OK = 0, OUT_OF_MEMORY = 1 };

SOLAH_EXPORT int32_t solah_abi_version(void) { return ABI_VERSION; }

static uint32_t label_value(double x, const double *peak, int32_t count)
{
    if (x != x) {
        return (uint32_t)count << MASS_BITS;
    }
    const int32_t lower = solah_lower_set(x, peak, count);
    if (lower == count - 1 || x <= peak[lower]) {
        return (uint32_t)lower << MASS_BITS;
    }
    const double upper = (x - peak[lower]) / (peak[lower + 1] - peak[lower]);
    /* A mass that rounds to one carries into the set's number. */
    return ((uint32_t)lower << MASS_BITS) + (uint32_t)(upper * MASS_ONE + 0.5);
}

SOLAH_EXPORT void solah_label(const double *values, int64_t n_rows, int32_t n_features,
                              const double *peak, const int32_t *offset, uint32_t *labels)
{
    for (int64_t i = 0; i < n_rows; i++) {
        for (int32_t a = 0; a < n_features; a++) {
            *labels++ = label_value(*values++, peak + offset[a], offset[a + 1] - offset[a]);
        }
    }
}

static inline int64_t share(int64_t weight, uint32_t mass)
{
    return (weight * (int64_t)mass + MASS_HALF) >> MASS_BITS;
}

/* The integer walk: as in solah_core.h, with labels for readings and weights that never leak (the shares
 * of a node's children add up to its own weight). */
typedef struct {
    const uint32_t *mean_masses; /* summed up to and without a set, in units of 2^-24 */
    const int32_t *offset;
    const int32_t *feature;
    const int32_t *first_child;
} walk_tree;

typedef struct {
    const uint32_t *label;
    const uint32_t *spread;       /* masses spread over all sets, summed up like mean_masses */
    const int32_t *spread_offset; /* where a feature's begin in `spread` */
} walk_row;

typedef struct {
    int64_t weight;
    int32_t node;
    int32_t next;
} walk_step;

/* The cumulative masses where every set may have a share; NULL where a label has both masses. */
static inline const uint32_t *shares_of(const walk_tree *tree, const walk_row *row, int32_t a)
{
    const int32_t set = (int32_t)(row->label[a] >> MASS_BITS);
    if (set == SPREAD) {
        return row->spread + row->spread_offset[a];
    }
    const int32_t count = tree->offset[a + 1] - tree->offset[a];
    return set == count ? tree->mean_masses + tree->offset[a] + a : NULL;
}

static inline int64_t share_between(int64_t weight, const uint32_t *cumulated, int32_t k)
{
    return share(weight, cumulated[k + 1]) - share(weight, cumulated[k]);
}

static inline int64_t child_weight(const walk_tree *tree, const walk_step *step,
                                   const walk_row *row, int32_t a, int32_t *child)
{
    const uint32_t *cumulated = shares_of(tree, row, a);
    if (cumulated != NULL) {
        *child = tree->first_child[step->node] + step->next;
        return share_between(step->weight, cumulated, step->next);
    }
    const int64_t upper = share(step->weight, row->label[a] & MASS_MASK);
    *child = tree->first_child[step->node] + (int32_t)(row->label[a] >> MASS_BITS) + step->next;
    return step->next == 0 ? step->weight - upper : upper;
}

static inline int32_t n_children(const walk_tree *tree, const walk_row *row, int32_t a)
{
    if (shares_of(tree, row, a) != NULL) {
        return tree->offset[a + 1] - tree->offset[a];
    }
    return (row->label[a] & MASS_MASK) ? 2 : 1;
}

/* Go on to the next leaf that the row reaches with weight; NULL when there is none left. */
static inline walk_step *next_leaf(const walk_tree *tree, const walk_row *row, walk_step *steps,
                                   int32_t *depth)
{
    while (*depth >= 0) {
        walk_step *step = &steps[*depth];
        const int32_t a = tree->feature[step->node];
        if (a < 0) {
            (*depth)--;
            return step;
        }
        if (step->next == n_children(tree, row, a)) {
            (*depth)--;
            continue;
        }
        int32_t child;
        const int64_t weight = child_weight(tree, step, row, a, &child);
        step->next++;
        if (weight > 0) {
            walk_step *below = &steps[++(*depth)];
            below->weight = weight;
            below->node = child;
            below->next = 0;
        }
    }
    return NULL;
}

static inline int32_t start_walk(walk_step *steps, int32_t root, int64_t weight)
{
    steps[0].weight = weight;
    steps[0].node = root;
    steps[0].next = 0;
    return weight > 0 ? 0 : -1;
}

static void add_spread(const uint32_t *cumulated, int32_t count, int32_t n_targets, int64_t weight,
                       int64_t *bins)
{
    for (int32_t k = 0; k < count; k++) {
        bins[(int64_t)k * n_targets] += share_between(weight, cumulated, k);
    }
}

static void add_row(const walk_row *row, int32_t n_features, const int32_t *offset,
                    int32_t n_targets, int64_t weight, int64_t *counts)
{
    const uint32_t *label = row->label;
    for (int32_t a = 0; a < n_features; a++) {
        /* A feature has one bin more than it has sets: the last one counts mean_masses. */
        int64_t *bin = counts + ((int64_t)offset[a] + a) * n_targets;
        const int64_t set = (int64_t)(label[a] >> MASS_BITS);
        if (set == SPREAD) {
            const uint32_t *cumulated = row->spread + row->spread_offset[a];
            add_spread(cumulated, offset[a + 1] - offset[a], n_targets, weight, bin);
            continue;
        }
        bin += set * n_targets;
        const int64_t upper = share(weight, label[a] & MASS_MASK);
        bin[0] += weight - upper;
        if (upper) {
            bin[n_targets] += upper;
        }
    }
}

/* Count the rows that reach the nodes with a slot: counts[slot][feature's bins][target]. A row's
 * target is a label too: a class has all the mass, a number shares it between two target sets. */
SOLAH_EXPORT int32_t solah_accumulate(const uint32_t *labels, const uint32_t *targets,
                                      const int64_t *weights, int64_t n_rows, int32_t n_features,
                                      const uint32_t *spread, const int32_t *spread_offset,
                                      int32_t spread_width, const int32_t *offset,
                                      const uint32_t *mean_masses, const int32_t *feature,
                                      const int32_t *first_child, int32_t depth_limit,
                                      const int32_t *slots, int32_t n_targets, int64_t *counts)
{
    const walk_tree tree = {mean_masses, offset, feature, first_child};
    const int64_t slot_size = ((int64_t)offset[n_features] + n_features) * n_targets;
    walk_step *steps = malloc(((size_t)depth_limit + 1) * sizeof *steps);
    if (steps == NULL) {
        return OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < n_rows; i++) {
        const walk_row row = {labels + i * n_features, spread + i * spread_width, spread_offset};
        const int32_t target = (int32_t)(targets[i] >> MASS_BITS);
        const uint32_t target_mass = targets[i] & MASS_MASK;
        int32_t depth = start_walk(steps, 0, weights[i]);
        const walk_step *leaf;
        while ((leaf = next_leaf(&tree, &row, steps, &depth)) != NULL) {
            if (slots[leaf->node] < 0) {
                continue;
            }
            int64_t *slot = counts + slots[leaf->node] * slot_size + target;
            const int64_t upper = share(leaf->weight, target_mass);
            add_row(&row, n_features, offset, n_targets, leaf->weight - upper, slot);
            if (upper) {
                add_row(&row, n_features, offset, n_targets, upper, slot + 1);
            }
        }
    }
    free(steps);
    return OK;
}

/* The leaves that each row reaches, as a sparse matrix by rows. With leaf == NULL only row_start
 * is filled, so that the caller can make room. */
SOLAH_EXPORT int32_t solah_route(const uint32_t *labels, const int64_t *weights, int64_t n_rows,
                                 int32_t n_features, const uint32_t *spread,
                                 const int32_t *spread_offset, int32_t spread_width,
                                 const int32_t *offset, const uint32_t *mean_masses,
                                 const int32_t *feature, const int32_t *first_child,
                                 int32_t depth_limit, int64_t *row_start, int32_t *leaves,
                                 int64_t *leaf_weights)
{
    const walk_tree tree = {mean_masses, offset, feature, first_child};
    walk_step *steps = malloc(((size_t)depth_limit + 1) * sizeof *steps);
    if (steps == NULL) {
        return OUT_OF_MEMORY;
    }
    int64_t entry = 0;
    row_start[0] = 0;
    for (int64_t i = 0; i < n_rows; i++) {
        const walk_row row = {labels + i * n_features, spread + i * spread_width, spread_offset};
        int32_t depth = start_walk(steps, 0, weights[i]);
        const walk_step *leaf;
        while ((leaf = next_leaf(&tree, &row, steps, &depth)) != NULL) {
            if (leaves != NULL) {
                leaves[entry] = leaf->node;
                leaf_weights[entry] = leaf->weight;
            }
            entry++;
        }
        row_start[i + 1] = entry;
    }
    free(steps);
    return OK;
}

/* Share each row's weight among the leaves it reaches, by how much each of them made the row's
 * class likely, and add it to shares[leaf, class]. */
SOLAH_EXPORT void solah_share_weights(const int64_t *row_start, const int32_t *leaves,
                               const int64_t *leaf_weights, int64_t n_rows, const int64_t *classes,
                               const int64_t *weights, const double *belief, int32_t n_targets,
                               int64_t *shares)
{
    for (int64_t i = 0; i < n_rows; i++) {
        double likelihood = 0.0;
        for (int64_t e = row_start[i]; e < row_start[i + 1]; e++) {
            const int64_t cell = (int64_t)leaves[e] * n_targets + classes[i];
            likelihood += (double)leaf_weights[e] * belief[cell];
        }
        if (likelihood <= 0.0) {
            continue;
        }
        const double per_unit = (double)weights[i] / likelihood;
        for (int64_t e = row_start[i]; e < row_start[i + 1]; e++) {
            const int64_t cell = (int64_t)leaves[e] * n_targets + classes[i];
            shares[cell] += (int64_t)((double)leaf_weights[e] * belief[cell] * per_unit + 0.5);
        }
    }
}

/* Add up the scores of the leaves that one row reaches, score[leaf, target]; return how likely that makes its class,
 * and add to slope[leaf, target] how the negative logarithm of that, times the row's weight, grows
 * with the scores, in units of 1 / SLOPE_SCALE of a weight. */
static inline double weigh_some(const int32_t *leaves, const int64_t *leaf_weights,
                                int64_t n_leaves, int64_t class_, int64_t weight,
                                const double *score, const int32_t n_targets, double *belief,
                                int64_t *slope)
{
    for (int32_t g = 0; g < n_targets; g++) {
        belief[g] = 0.0;
    }
    for (int64_t e = 0; e < n_leaves; e++) {
        const double *of_leaf = score + (int64_t)leaves[e] * n_targets;
        const double part = (double)leaf_weights[e] * (1.0 / WEIGHT_ONE);
        for (int32_t g = 0; g < n_targets; g++) {
            belief[g] += part * of_leaf[g];
        }
    }
    softmax(belief, n_targets);
    const double likelihood = belief[class_];
    belief[class_] -= 1.0;
    const double units = (double)weight * (SLOPE_SCALE / WEIGHT_ONE);
    for (int64_t e = 0; e < n_leaves; e++) {
        int64_t *of_leaf = slope + (int64_t)leaves[e] * n_targets;
        const double part = (double)leaf_weights[e] * units;
        for (int32_t g = 0; g < n_targets; g++) {
            of_leaf[g] += (int64_t)(part * belief[g]);
        }
    }
    return likelihood;
}

/* The same; two targets, which are the most common, are not counted in loops. */
static double weigh_row(const int32_t *leaves, const int64_t *leaf_weights, int64_t n_leaves,
                        int64_t class_, int64_t weight, const double *score, int32_t n_targets,
                        double *belief, int64_t *slope)
{
    if (n_targets == 2) {
        return weigh_some(leaves, leaf_weights, n_leaves, class_, weight, score, 2, belief, slope);
    }
    return weigh_some(leaves, leaf_weights, n_leaves, class_, weight, score, n_targets, belief,
                      slope);
}

/* The leaves that one row reaches, with room for more. */
typedef struct {
    int32_t *leaves;
    int64_t *weights;
    int64_t count;
    int64_t room;
} leaf_list;

static int32_t push_leaf(leaf_list *list, int32_t leaf, int64_t weight)
{
    if (list->count == list->room) {
        const int64_t room = list->room ? 2 * list->room : 256;
        int32_t *leaves = realloc(list->leaves, (size_t)room * sizeof *leaves);
        if (leaves == NULL) {
            return OUT_OF_MEMORY;
        }
        list->leaves = leaves;
        int64_t *weights = realloc(list->weights, (size_t)room * sizeof *weights);
        if (weights == NULL) {
            return OUT_OF_MEMORY;
        }
        list->weights = weights;
        list->room = room;
    }
    list->leaves[list->count] = leaf;
    list->weights[list->count] = weight;
    list->count++;
    return OK;
}

/* Whether all children of a node are leaves. */
static char has_leaves_only(const walk_tree *tree, int32_t node)
{
    const int32_t a = tree->feature[node];
    if (a < 0) {
        return 0;
    }
    for (int32_t k = 0; k < tree->offset[a + 1] - tree->offset[a]; k++) {
        if (tree->feature[tree->first_child[node] + k] >= 0) {
            return 0;
        }
    }
    return 1;
}

/* Walk rows through trees in one table, and sum the scores of their leaves, those at places[leaf], and
 * the bias behind them; see weigh_row. Rows without weight are skipped. */
SOLAH_EXPORT int32_t solah_score_labels(const uint32_t *labels, const int64_t *classes,
                                 const int64_t *weights, int64_t n_rows, int32_t n_features,
                                 const int32_t *offset, const uint32_t *mean_masses,
                                 const int32_t *feature, const int32_t *first_child,
                                 int32_t depth_limit, const int32_t *roots, int32_t n_trees,
                                 const int32_t *places, int32_t bias_place, const double *score,
                                 int32_t n_targets, double *likelihood, int64_t *slope)
{
    const walk_tree tree = {mean_masses, offset, feature, first_child};
    const int64_t whole = (int64_t)WEIGHT_ONE;
    walk_step *steps = malloc(((size_t)depth_limit + 1) * sizeof *steps);
    double *belief = malloc((size_t)n_targets * sizeof *belief);
    leaf_list reached = {NULL, NULL, 0, 0};
    char *is_stump = malloc((size_t)n_trees + 1);
    int32_t status = steps == NULL || belief == NULL || is_stump == NULL ? OUT_OF_MEMORY : OK;
    for (int32_t t = 0; status == OK && t < n_trees; t++) {
        is_stump[t] = has_leaves_only(&tree, roots[t]);
    }
    for (int64_t i = 0; status == OK && i < n_rows; i++) {
        const walk_row row = {labels + i * n_features, NULL, NULL};
        likelihood[i] = 1.0;
        if (weights[i] <= 0) {
            continue;
        }
        reached.count = 0;
        for (int32_t t = 0; t < n_trees && status == OK; t++) {
            const int32_t a = feature[roots[t]];
            const uint32_t set = a < 0 ? SPREAD : labels[i * n_features + a] >> MASS_BITS;
            if (a >= 0 && is_stump[t] && (int32_t)set < offset[a + 1] - offset[a]) {
                /* A tree of one condition, and a value that is known: no walk is needed. */
                const int32_t *place = places + first_child[roots[t]] + set;
                const int64_t upper = share(whole, labels[i * n_features + a] & MASS_MASK);
                status = push_leaf(&reached, place[0], whole - upper);
                if (status == OK && upper > 0) {
                    status = push_leaf(&reached, place[1], upper);
                }
                continue;
            }
            int32_t depth = start_walk(steps, roots[t], whole);
            const walk_step *leaf;
            while (status == OK && (leaf = next_leaf(&tree, &row, steps, &depth)) != NULL) {
                status = push_leaf(&reached, places[leaf->node], leaf->weight);
            }
        }
        if (status == OK) {
            status = push_leaf(&reached, bias_place, whole);
        }
        if (status == OK) {
            likelihood[i] = weigh_row(reached.leaves, reached.weights, reached.count, classes[i],
                                      weights[i], score, n_targets, belief, slope);
        }
    }
    free(reached.leaves);
    free(reached.weights);
    free(is_stump);
    free(belief);
    free(steps);
    return status;
}

/* Jeffrey's rule: add weight(branch) * belief(branch) over the branches that the row x takes. */
static inline void evaluate(const double *x, const solah_sets *sets, const solah_tree *tree,
                            const double *belief, int32_t n_targets, solah_run *runs,
                            solah_step *steps, double *out)
{
    int32_t depth = 0;
    int32_t leaf;

    for (int32_t g = 0; g < n_targets; g++) {
        out[g] = 0.0;
    }
    solah_begin(steps);
    while ((leaf = solah_next_branch(x, sets, tree, runs, steps, &depth)) >= 0) {
        const double *of_leaf = belief + (int64_t)leaf * n_targets;
        for (int32_t g = 0; g < n_targets; g++) {
            out[g] += steps[depth].weight * of_leaf[g];
        }
    }
}

/* Inputs with a given_offset of 0 or more are not read from `values`: their masses are given. */
SOLAH_EXPORT int32_t solah_predict(const double *values, int64_t n_rows, int32_t n_features,
                                   const double *given, const int32_t *given_offset,
                                   int32_t given_width, const double *peak, const double *mean_masses,
                                   const int32_t *offset, const int32_t *feature,
                                   const int32_t *first_child, int32_t depth_limit,
                                   const double *belief, int32_t n_targets, double *out)
{
    const solah_sets sets = {peak, mean_masses, offset};
    const solah_tree tree = {feature, first_child};
    solah_run *runs = malloc(((size_t)n_features + 1) * sizeof *runs);
    solah_step *steps = malloc(((size_t)depth_limit + 1) * sizeof *steps);
    const int32_t status = (runs == NULL || steps == NULL) ? OUT_OF_MEMORY : OK;
    for (int64_t i = 0; status == OK && i < n_rows; i++) {
        for (int32_t a = 0; a < n_features; a++) {
            runs[a].count = 0;
            if (given_offset[a] >= 0) {
                runs[a].mass = given + i * given_width + given_offset[a];
                runs[a].first = 0;
                runs[a].count = offset[a + 1] - offset[a];
            }
        }
        evaluate(values + i * n_features, &sets, &tree, belief, n_targets, runs, steps,
                 out + i * n_targets);
    }
    free(runs);
    free(steps);
    return status;
}

/* The last edge that is not above x; the first where all are. Halving without branches, for the
 * edge is anywhere and no processor could guess. */
static inline int64_t find_bin(double x, const double *edges, int64_t n_edges)
{
    const double *low = edges;
    int64_t count = n_edges;
    while (count > 1) {
        const int64_t half = count / 2;
        low += (low[half] <= x) ? half : 0;
        count -= half;
    }
    return low - edges;
}

/* The bin of each number, which begins at its edge; n_edges where the number is NaN. */
SOLAH_EXPORT void solah_find(const double *values, int64_t stride, int64_t n_rows,
                             const double *edges, int64_t n_edges, int32_t *bins)
{
    for (int64_t i = 0; i < n_rows; i++) {
        const double x = values[i * stride];
        bins[i] = (int32_t)(x == x ? find_bin(x, edges, n_edges) : n_edges);
    }
}
