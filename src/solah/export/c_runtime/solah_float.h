/* The runtime of a solah model with float readings: C99, also C++11. No malloc, no libm, no
 * recursion, no static data. A model's .c file sets the sizes below, then includes this file.
 *
 *   SOLAH_N_CLASSES    the classes; 1 for a number
 *   SOLAH_N_VALUES     the scores of a branch: one per class but the first
 *   SOLAH_N_STAGES     probabilities that are computed, the last of which decides
 *   SOLAH_GRIDS        defined, if two features add scores together
 *   SOLAH_MAX_INPUTS   the most inputs of a tree; 0 if there is no tree
 *   SOLAH_MAX_DEPTH    the most conditions of a branch
 *   SOLAH_AT           the type of a place in a table
 *   SOLAH_NODE, SOLAH_INPUT   the types of the numbers of nodes and of inputs
 *   SOLAH_REASON       the type of a reason, which has a rule and an amount
 *   SOLAH_LOSES        defined, if missing scores weaken the others
 *
 * Compiled without contraction (-ffp-contract=off, or -std=c99), every platform computes the same
 * bits as solah's Python simulator of this file.
 */
#ifndef SOLAH_FLOAT_H
#define SOLAH_FLOAT_H

#include "solah_float_math.h"

#define SOLAH_REAL float
#include "solah_core.h"

typedef float solah_reading;
typedef float solah_number;
typedef float solah_value;
typedef float solah_knot;
typedef float solah_belief;
typedef float solah_weight;
#include "solah_tables.h"

#include <string.h>

/* A curve's values are, piece by piece, those at the left knot and then the slopes; behind the
 * pieces, those of a missing reading. */

struct solah_walk {
    const SOLAH_FLASH solah_asked *asked;
    uint8_t n_asked;
    solah_sets sets;
    solah_tree tree; /* of a leaf, `first_child` is its number */
    const SOLAH_FLASH float *leaf;
};

#define SOLAH_WHOLE 1.0f /* all of a probability */
#define SOLAH_SURE 1.0f  /* the weight of one word alone */

static inline int solah_is_known(float x) { return x == x; }

/* Readings are taken as they are. */
SOLAH_INLINE float solah_relative(solah_model *model, int32_t feature, float x)
{
    (void)model;
    (void)feature;
    return x;
}

SOLAH_INLINE void solah_add_curve(solah_model *model, const SOLAH_FLASH solah_curve *curve,
                                  float x, float *total)
{
    const SOLAH_FLASH float *knot = model->knots + curve->knot;
    const SOLAH_FLASH float *value = model->values + curve->value;
    const int32_t last = (int32_t)curve->n_knots - 1;

    if (!solah_is_known(x)) {
        solah_add(model, total, value + last * 2 * SOLAH_N_VALUES);
        return;
    }
    x = solah_inside(knot, last, x);
    const int32_t k = solah_piece(knot, last, x);
    value += k * 2 * SOLAH_N_VALUES;
    x -= knot[k];
    for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
        total[v] += value[v] + x * value[SOLAH_N_VALUES + v];
    }
}

#ifdef SOLAH_GRIDS
/* How far a reading is on its way from a peak to the next one. */
static inline float solah_upper(const SOLAH_FLASH float *slope, int32_t k, float way)
{
    const float upper = way * slope[k];
    return upper > 1.0f ? 1.0f : upper;
}
#endif

/* The place of a state; `n_states` for any other. */
static inline int32_t solah_state(float x, int32_t n_states)
{
    const int32_t place = (x >= 0.0f && x < (float)n_states) ? (int32_t)x : n_states;
    return (float)place == x ? place : n_states;
}

#if SOLAH_MAX_INPUTS > 0
/* The position of a walk is in `steps[depth]`. */
typedef struct {
    float reading[SOLAH_MAX_INPUTS];
    solah_run runs[SOLAH_MAX_INPUTS];
    solah_step steps[SOLAH_MAX_DEPTH + 1];
    int32_t depth;
} solah_path;

/* A quiet NaN, for a missing reading. */
static inline float solah_unread(void)
{
    const uint32_t bits = 0x7fc00000u;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Begin at the root of a tree, before the first branch. */
SOLAH_INLINE void solah_begin_walk(solah_model *model,
                                   const SOLAH_FLASH solah_walk *walk, const float *x,
                                   float beliefs[][SOLAH_N_CLASSES], solah_path *way)
{
    for (int32_t a = 0; a < (int32_t)walk->n_asked; a++) {
        const SOLAH_FLASH solah_asked *asked = &walk->asked[a];
        const int32_t count = (int32_t)walk->sets.offset[a + 1] - (int32_t)walk->sets.offset[a];
        way->runs[a].count = 0;
        way->reading[a] = 0.0f;
        switch (asked->kind) {
        case SOLAH_READING:
            way->reading[a] = x[asked->from];
            break;
        case SOLAH_STATE:
            way->reading[a] =
                solah_state(x[asked->from], count) == count ? solah_unread() : x[asked->from];
            break;
#if SOLAH_N_STAGES > 1
        case SOLAH_BELIEF:
            way->reading[a] = beliefs[asked->from][asked->place];
            break;
        case SOLAH_ALL_BELIEFS:
            way->runs[a].mass = beliefs[asked->from];
            way->runs[a].first = 0;
            way->runs[a].count = count;
            break;
#endif
        default:
            break;
        }
    }
#if SOLAH_N_STAGES == 1
    (void)beliefs;
#endif
    (void)model;
    way->depth = 0;
    solah_begin(way->steps);
}

/* Go on to the next branch that the readings take: return its leaf; -1 behind the last one. */
SOLAH_INLINE int32_t solah_next(const SOLAH_FLASH solah_walk *walk, solah_path *way)
{
    const solah_sets sets = walk->sets;
    const solah_tree tree = walk->tree;
    return solah_next_branch(way->reading, &sets, &tree, way->runs, way->steps, &way->depth);
}

/* The input that a node asks; -1 for a leaf. */
static inline int32_t solah_asks(const SOLAH_FLASH solah_walk *walk, int32_t node)
{
    return (int32_t)walk->tree.feature[node];
}

/* The first of a node's children; of a leaf, its number. */
static inline int32_t solah_child(const SOLAH_FLASH solah_walk *walk, int32_t node)
{
    return (int32_t)walk->tree.first_child[node];
}

/* A score of a leaf. */
static inline float solah_leaf_score(solah_model *model, const SOLAH_FLASH solah_walk *walk,
                                     int32_t node, int32_t v)
{
    return walk->leaf[solah_child(walk, node) * SOLAH_VALUES(model) + v];
}

#endif

/* What a rule with this weight adds, and the weight of two conditions. */
static inline float solah_part(float weight, float value) { return weight * value; }
static inline float solah_weighed(float weight, float value) { return weight * value; }
static inline float solah_rounded(float sum) { return sum; }
static inline float solah_joint(float first, float second) { return first * second; }

/* Turn scores against the first class into probabilities. */
SOLAH_INLINE void solah_share(solah_model *model,
                              const SOLAH_FLASH solah_stage *stage, const float *evidence,
                              float *belief)
{
    float most = 0.0f;
    float sum = 0.0f;

    (void)model;
    (void)stage;
    for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
        if (evidence[v] > most) {
            most = evidence[v];
        }
    }
    for (int32_t c = 0; c < SOLAH_N_CLASSES; c++) {
        belief[c] = solah_exp((c == 0 ? 0.0f : evidence[c - 1]) - most);
        sum += belief[c];
    }
    for (int32_t c = 0; c < SOLAH_N_CLASSES; c++) {
        belief[c] /= sum;
    }
}

/* The probabilities of a tree: the first class has what the others leave. Rounding may make them more than all,
 * or less than nothing; probabilities are neither. */
SOLAH_INLINE void solah_complete(solah_model *model, const float *scores,
                                 float *belief)
{
    float left = 1.0f;

    (void)model;
    for (int32_t c = 1; c < SOLAH_N_CLASSES; c++) {
        const float share = scores[c - 1] > 0.0f ? scores[c - 1] : 0.0f;
        belief[c] = share > left ? left : share;
        left -= belief[c];
    }
    belief[0] = left;
}

#ifdef SOLAH_LOSES
/* The scores beside missing ones. */
static inline float solah_damping(const SOLAH_FLASH solah_stage *stage, float squares)
{
    return solah_inverse_root(1.0f + stage->factor * squares);
}

/* A share of a number. */
static inline float solah_scaled(float number, float share) { return number * share; }
#endif

#include "solah_decide.h"

#endif
