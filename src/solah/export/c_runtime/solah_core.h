/* The inference core: one row's readings in, the weight of every branch it takes out.
 *
 * Nothing here allocates, recurses, or needs libm, so that the same text serves the Python
 * kernels (solah_real is double) and a microcontroller (float).
 */
#ifndef SOLAH_CORE_H
#define SOLAH_CORE_H

#include "solah_flash.h"

#include <stdint.h>

#ifndef SOLAH_REAL
#define SOLAH_REAL double
#endif
typedef SOLAH_REAL solah_real;

/* The numbers of inputs and of nodes; a microcontroller takes the smallest types that hold them. */
#ifndef SOLAH_INPUT
#define SOLAH_INPUT int32_t
#endif
#ifndef SOLAH_NODE
#define SOLAH_NODE int32_t
#endif

/* The focal sets of all features, end to end: those of feature a are [offset[a], offset[a+1]). */
typedef struct {
    const SOLAH_FLASH solah_real *peak;      /* where a focal set has all the mass; increasing */
    const SOLAH_FLASH solah_real *mean_masses; /* the masses of a missing reading; they sum to 1 */
    const SOLAH_FLASH SOLAH_NODE *offset;
} solah_sets;

/* A tree as a table of nodes. The children of an inner node are consecutive, one a focal set of its
 * feature; a leaf has attribute -1. */
typedef struct {
    const SOLAH_FLASH SOLAH_INPUT *feature;
    const SOLAH_FLASH SOLAH_NODE *first_child;
} solah_tree;

/* A reading described by its focal sets: masses on neighbouring sets, from `first` on. */
typedef struct {
    const solah_real *mass; /* NULL if they are in a separate flash */
#if SOLAH_FLASH_IS_APART
    const SOLAH_FLASH solah_real *mean_masses;
#endif
    int32_t first;
    int32_t count; /* 0: not described yet */
    solah_real pair[2];
} solah_run;

/* A step of the walk through a tree: a node, its weight, and which of its children comes next; of a
 * leaf, whether it was shown. */
typedef struct {
    solah_real weight;
    int32_t node;
    int32_t next;
} solah_step;

/* The focal set at or below x: the last one whose peak is not above it, or the first one. */
static inline int32_t solah_lower_set(solah_real x, const SOLAH_FLASH solah_real *peak,
                                      int32_t count)
{
    int32_t lower = 0;
    for (int32_t k = 1; k < count; k++) {
        lower += (int32_t)(x >= peak[k]);
    }
    return lower;
}

static inline void solah_describe(solah_real x, const solah_sets *sets, int32_t a, solah_run *run)
{
    const SOLAH_FLASH solah_real *peak = sets->peak + sets->offset[a];
    const int32_t count = (int32_t)sets->offset[a + 1] - (int32_t)sets->offset[a];

    if (x != x) { /* NaN: mean_masses */
        SOLAH_POINT_TO_FLASH(run, sets->mean_masses + sets->offset[a]);
        run->first = 0;
        run->count = count;
        return;
    }
    run->first = solah_lower_set(x, peak, count);
    run->mass = run->pair;
    if (run->first == count - 1 || x <= peak[run->first]) {
        run->pair[0] = (solah_real)1;
        run->count = 1;
        return;
    }
    const solah_real low = peak[run->first];
    const solah_real high = peak[run->first + 1];
    run->pair[1] = (x - low) / (high - low);
    run->pair[0] = (solah_real)1 - run->pair[1];
    run->count = 2;
}

/* Begin at the root, before the first branch. */
static inline void solah_begin(solah_step *steps)
{
    steps[0].weight = (solah_real)1;
    steps[0].node = 0;
    steps[0].next = 0;
}

/* The weight with which a step goes on to the k-th child of its run. */
static inline solah_real solah_weight_below(const solah_step *step, const solah_run *run, int32_t k)
{
    return step->weight * SOLAH_MASS(run, k);
}

/* Go on to the next branch that the row x takes: return its leaf, the step at whose depth has the
 * branch's weight; -1 behind the last one. `runs` has one a feature: those of count 0 are
 * described from x when they are needed, others are given (the output of a tree below). `steps` has
 * one more than the tree is deep, and `depth` is 0 at first. */
static inline int32_t solah_next_branch(const solah_real *x, const solah_sets *sets,
                                        const solah_tree *tree, solah_run *runs, solah_step *steps,
                                        int32_t *depth)
{
    while (*depth >= 0) {
        solah_step *step = &steps[*depth];
        const int32_t a = tree->feature[step->node];
        if (a < 0) {
            if (step->next == 0) {
                step->next = 1;
                return step->node;
            }
            (*depth)--;
            continue;
        }
        solah_run *run = &runs[a];
        if (run->count == 0) {
            solah_describe(x[a], sets, a, run);
        }
        if (step->next == run->count) {
            (*depth)--;
            continue;
        }
        const int32_t k = step->next++;
        const solah_real weight = solah_weight_below(step, run, k);
        if (weight > (solah_real)0) {
            (*depth)++;
            steps[*depth].weight = weight;
            steps[*depth].node = (int32_t)tree->first_child[step->node] + run->first + k;
            steps[*depth].next = 0;
        }
    }
    return -1;
}

#endif
