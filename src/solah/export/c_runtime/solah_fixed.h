/* The runtime of a solah model in integers: C99, also C++11. No floating point, no division, no
 * malloc, no libm, no recursion, no static data. A model's .c file sets the sizes below, then
 * includes this file.
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
 * Readings are integers in units of their own (see solah_reading.h), values have the unit
 * 2^-value_bits, masses and probabilities 2^-15. Every platform computes the same integers as solah's
 * Python simulator of this file.
 */
#ifndef SOLAH_FIXED_H
#define SOLAH_FIXED_H

#include "solah_fixed_math.h"
#include "solah_reading.h"

#define SOLAH_IN_INTEGERS
typedef int32_t solah_reading;
typedef int32_t solah_number;
typedef int16_t solah_value;
typedef int16_t solah_knot;
typedef uint16_t solah_belief;
typedef uint32_t solah_weight;
#include "solah_tables.h"

#define SOLAH_REACH (INT16_MAX - 1)
#define SOLAH_SURE SOLAH_ONE /* the weight of one word alone */
#define SOLAH_WHOLE 16384 /* all of a tree's probability, in the unit 2^-14 */

/* A curve's values are, piece by piece, how far to shift, those at the left knot and the slopes;
 * behind the pieces, those of a missing reading. */

/* The focal sets of all inputs of a tree, end to end, with the inverse of the way to the next peak. */
typedef struct {
    const SOLAH_FLASH int16_t *peak;
    const SOLAH_FLASH uint16_t *inverse;
    const SOLAH_FLASH uint8_t *shift;
    const SOLAH_FLASH uint16_t *mean_masses;
    const SOLAH_FLASH SOLAH_NODE *offset;
} solah_sets;

struct solah_walk {
    const SOLAH_FLASH solah_asked *asked;
    uint8_t n_asked;
    solah_sets sets;
    const SOLAH_FLASH SOLAH_INPUT *split; /* the input that a node asks; -1 for a leaf */
    const SOLAH_FLASH SOLAH_NODE *child;  /* the first of a node's children; of a leaf, its number */
#ifdef SOLAH_LEARNS
    uint16_t first_rule; /* where its leaves begin among all rules */
    uint8_t learned_bits; /* what is learned is finer than values by this many bits */
#else
    const SOLAH_FLASH int16_t *leaf;
#endif
};

/* A reading from the zero of its feature, clipped: a peak beyond SOLAH_REACH is never reached. */
SOLAH_INLINE int32_t solah_relative(solah_model *model, int32_t feature, int32_t x)
{
    if (model->zero != NULL) {
        const int32_t own_zero = model->zero[feature];
        if (x > own_zero + SOLAH_REACH) {
            return SOLAH_REACH;
        }
        if (x < own_zero - SOLAH_REACH) {
            return -SOLAH_REACH;
        }
        x -= own_zero;
    }
    return x > SOLAH_REACH ? SOLAH_REACH : (x < -SOLAH_REACH ? -SOLAH_REACH : x);
}

static inline int solah_is_known(int32_t x) { return x != SOLAH_UNKNOWN; }

SOLAH_INLINE void solah_add_curve(solah_model *model, const SOLAH_FLASH solah_curve *curve,
                                  int32_t x, int32_t *total)
{
    const SOLAH_FLASH int16_t *knot = model->knots + curve->knot;
    const SOLAH_FLASH int16_t *value = model->values + curve->value;
    const int32_t last = (int32_t)curve->n_knots - 1;
    const int32_t n_values = SOLAH_VALUES(model);

    if (!solah_is_known(x)) {
        solah_add(model, total, value + last * (2 * n_values + 1));
        return;
    }
    x = solah_inside(knot, last, solah_relative(model, curve->feature, x));
    const int32_t k = solah_piece(knot, last, x);
    value += k * (2 * n_values + 1);
    x -= knot[k];
    for (int32_t v = 1; v <= n_values; v++) {
        total[v - 1] += value[v] + solah_shift(x * value[n_values + v], value[0]);
    }
}

#ifdef SOLAH_GRIDS
/* How far a reading is on its way from a peak to the next one: a shift and a slope per piece. The
 * result is odd, see solah_describe. */
static inline uint32_t solah_upper(const SOLAH_FLASH int16_t *slope, int32_t k, int32_t way)
{
    const uint32_t upper = (((uint32_t)way * (uint32_t)slope[2 * k + 1]) >> slope[2 * k]) | 1u;
    return upper > SOLAH_ONE ? SOLAH_ONE : upper;
}
#endif

/* The place of a state; `n_states` for any other. */
static inline int32_t solah_state(int32_t x, int32_t n_states)
{
    return (x >= 0 && x < n_states) ? x : n_states;
}

/* The weight of two conditions. */
static inline uint32_t solah_joint(uint32_t first, uint32_t second)
{
    return (first * second + 16384u) >> 15;
}

/* What a rule with this weight adds, in units that are 2^15 times finer. */
static inline int32_t solah_weighed(uint32_t weight, int16_t value) { return (int32_t)weight * value; }

/* The scores of a term, of the sum of its rules: rounded once, so that rounding never turns steps
 * of the sum round. */
static inline int32_t solah_rounded(int32_t sum) { return solah_shift(sum, 15); }

/* The score of a rule with this weight. */
static inline int32_t solah_part(uint32_t weight, int16_t value)
{
    return solah_rounded(solah_weighed(weight, value));
}

#if SOLAH_MAX_INPUTS > 0
/* A reading described by its focal sets: masses on neighbouring sets, from `first` on. */
typedef struct {
    const uint16_t *mass; /* NULL if they are in a separate flash */
#if SOLAH_FLASH_IS_APART
    const SOLAH_FLASH uint16_t *mean_masses;
#endif
    int16_t first;
    int16_t count;
    uint16_t pair[2];
} solah_run;

/* A node on the way through a tree, its weight, and which of its children comes next; of a leaf,
 * whether it was shown. */
typedef struct {
    uint32_t weight;
    SOLAH_NODE node;
    uint8_t next;
} solah_step;

/* The position of a walk is in `steps[depth]`. */
typedef struct {
    solah_run runs[SOLAH_MAX_INPUTS];
    solah_step steps[SOLAH_MAX_DEPTH + 1];
    int32_t depth;
} solah_path;

static inline void solah_describe(const SOLAH_FLASH solah_sets *sets, int32_t a, int32_t x, solah_run *run)
{
    const int32_t first = (int32_t)sets->offset[a];
    const int32_t last = (int32_t)sets->offset[a + 1] - first - 1;
    const SOLAH_FLASH int16_t *peak = sets->peak + first;
    int32_t k = 0;

    if (!solah_is_known(x)) {
        SOLAH_POINT_TO_FLASH(run, sets->mean_masses + first);
        run->first = 0;
        run->count = (int16_t)(last + 1);
        return;
    }
    while (k < last && x >= peak[k + 1]) {
        k++;
    }
    run->mass = run->pair;
    run->first = (int16_t)k;
    run->count = 1;
    run->pair[0] = (uint16_t)SOLAH_ONE;
    if (k < last && x > peak[k]) {
        const uint32_t way = (uint32_t)(x - peak[k]);
        /* An odd mass never leaves a half when branches are rounded: both sides of a split then
         * change by the same, and what is to rise with a reading does not fall by rounding. */
        const uint32_t upper = ((way * sets->inverse[first + k]) >> sets->shift[first + k]) | 1u;
        run->pair[1] = (uint16_t)(upper > SOLAH_ONE ? SOLAH_ONE : upper);
        run->pair[0] = (uint16_t)(SOLAH_ONE - run->pair[1]);
        run->count = 2;
    }
}

static inline void solah_ask(solah_model *model,
                             const SOLAH_FLASH solah_walk *walk, const int32_t *x,
                             uint16_t beliefs[][SOLAH_N_CLASSES], int32_t a, solah_run *run)
{
    const SOLAH_FLASH solah_asked *asked = &walk->asked[a];
    const int32_t count = (int32_t)walk->sets.offset[a + 1] - (int32_t)walk->sets.offset[a];
    int32_t reading = SOLAH_UNKNOWN;

    switch (asked->kind) {
    case SOLAH_READING:
        if (solah_is_known(x[asked->from])) {
            reading = solah_relative(model, asked->from, x[asked->from]);
        }
        break;
    case SOLAH_STATE:
        if (solah_state(x[asked->from], count) < count) {
            reading = x[asked->from];
        }
        break;
#if SOLAH_N_STAGES > 1
    case SOLAH_BELIEF:
        reading = (int32_t)(beliefs[asked->from][asked->place] >> 1);
        break;
    case SOLAH_ALL_BELIEFS:
        run->mass = beliefs[asked->from];
        run->first = 0;
        run->count = (int16_t)count;
        return;
#endif
    default:
        break;
    }
#if SOLAH_N_STAGES == 1
    (void)beliefs;
#endif
    solah_describe(&walk->sets, a, reading, run);
}

/* Begin at the root of a tree, before the first branch. */
SOLAH_INLINE void solah_begin_walk(solah_model *model,
                                   const SOLAH_FLASH solah_walk *walk, const int32_t *x,
                                   uint16_t beliefs[][SOLAH_N_CLASSES], solah_path *way)
{
    for (int32_t a = 0; a < (int32_t)walk->n_asked; a++) {
        solah_ask(model, walk, x, beliefs, a, &way->runs[a]);
    }
    way->depth = 0;
    way->steps[0].weight = SOLAH_ONE;
    way->steps[0].node = 0;
    way->steps[0].next = 0;
}

/* The input that a node asks; -1 for a leaf. */
static inline int32_t solah_asks(const SOLAH_FLASH solah_walk *walk, int32_t node)
{
    return (int32_t)walk->split[node];
}

/* The first of a node's children; of a leaf, its number. */
static inline int32_t solah_child(const SOLAH_FLASH solah_walk *walk, int32_t node)
{
    return (int32_t)walk->child[node];
}

/* The weight with which a step goes on to the k-th child of its run. */
static inline uint32_t solah_weight_below(const solah_step *step, const solah_run *run, int32_t k)
{
    return solah_joint(step->weight, SOLAH_MASS(run, k));
}

/* Go on to the next branch that the readings take: return its leaf; -1 behind the last one. */
SOLAH_INLINE int32_t solah_next(const SOLAH_FLASH solah_walk *walk, solah_path *way)
{
    while (way->depth >= 0) {
        solah_step *step = &way->steps[way->depth];
        const int32_t split = solah_asks(walk, (int32_t)step->node);
        if (split < 0 && step->next == 0) {
            step->next = 1;
            return (int32_t)step->node;
        }
        if (split < 0 || (int32_t)step->next == (int32_t)way->runs[split].count) {
            way->depth--;
            continue;
        }
        const solah_run *run = &way->runs[split];
        const uint8_t k = step->next++;
        const uint32_t weight = solah_weight_below(step, run, k);
        if (weight > 0u) {
            way->depth++;
            step[1].weight = weight;
            step[1].node = (SOLAH_NODE)(walk->child[step->node] + (SOLAH_NODE)(run->first + k));
            step[1].next = 0;
        }
    }
    return -1;
}

/* A score of a leaf. */
static inline int16_t solah_leaf_score(solah_model *model, const SOLAH_FLASH solah_walk *walk,
                                       int32_t node, int32_t v)
{
    const int32_t leaf = solah_child(walk, node);
#ifdef SOLAH_LEARNS
    const int32_t at = ((int32_t)walk->first_rule + leaf) * SOLAH_VALUES(model) + v;
    const int32_t learned = model->learned != NULL ? model->learned[at] : model->flashed[at];
    const int32_t score = solah_shift(learned, walk->learned_bits);
    return (int16_t)(score > INT16_MAX ? INT16_MAX : (score < -INT16_MAX ? -INT16_MAX : score));
#else
    return walk->leaf[leaf * SOLAH_VALUES(model) + v];
#endif
}
#endif

/* Turn scores against the first class into probabilities. */
SOLAH_INLINE void solah_share(solah_model *model,
                              const SOLAH_FLASH solah_stage *stage, const int32_t *evidence,
                              uint16_t *belief)
{
    int32_t most = 0;
    uint32_t sum = 0;
    uint32_t part[SOLAH_N_CLASSES];

    for (int32_t v = 0; v < SOLAH_VALUES(model); v++) {
        if (evidence[v] > most) {
            most = evidence[v];
        }
    }
    for (int32_t c = 0; c < SOLAH_CLASSES(model); c++) {
        const int32_t below = most - (c == 0 ? 0 : evidence[c - 1]);
        part[c] = solah_exp((uint32_t)below, (int32_t)stage->value_bits);
        sum += part[c];
    }
    /* The first class has what rounding leaves, so that probabilities sum to one. */
    uint32_t left = SOLAH_ONE;
    for (int32_t c = 1; c < SOLAH_CLASSES(model); c++) {
        belief[c] = solah_share_of(part[c], sum);
        left -= belief[c];
    }
    belief[0] = (uint16_t)left;
}

/* The probabilities of a tree, which has the unit 2^-14: the first class has what the others leave. */
SOLAH_INLINE void solah_complete(solah_model *model, const int32_t *scores,
                                 uint16_t *belief)
{
    int32_t left = (int32_t)SOLAH_ONE;
    for (int32_t c = 1; c < SOLAH_CLASSES(model); c++) {
        const int32_t share = scores[c - 1] > 0 ? scores[c - 1] * 2 : 0;
        belief[c] = (uint16_t)(share > left ? left : share);
        left -= (int32_t)belief[c];
    }
    belief[0] = (uint16_t)left;
}

#ifdef SOLAH_LOSES
/* The scores beside missing ones. */
static inline uint32_t solah_damping(const SOLAH_FLASH solah_stage *stage, uint32_t squares)
{
    return solah_inverse_root(4096u + (solah_product(squares, stage->factor) >> stage->factor_shift));
}

#endif

#include "solah_decide.h"

#endif
