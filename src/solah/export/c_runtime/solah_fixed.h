/* The runtime of a solah model in integers: C99, also C++11. No floating point, no division, no
 * malloc, no libm, no recursion, no static data. A model's .c file sets the sizes below, then
 * includes this file.
 *
 *   SOLAH_N_CLASSES    the classes; 1 for a number
 *   SOLAH_N_VALUES     what a branch says: one value a class but the first
 *   SOLAH_N_STAGES     beliefs that are computed, the last of which decides
 *   SOLAH_MAX_INPUTS   the most inputs of a tree; 0 if there is no tree
 *   SOLAH_MAX_DEPTH    the most conditions of a branch
 *   SOLAH_AT           the type of a place in a table
 *   SOLAH_NODE, SOLAH_INPUT   the types of the numbers of nodes and of inputs
 *
 * Readings are integers in units of their own (see the model's header), values have the unit
 * 2^-value_bits, masses and beliefs 2^-15. Every target computes the same integers as solah's
 * Python twin of this file.
 */
#ifndef SOLAH_FIXED_H
#define SOLAH_FIXED_H

#include "solah_tables.h"

#include <stddef.h>

#define SOLAH_UNKNOWN INT32_MIN
#define SOLAH_ONE 32768u

/* 2^-z is about 1 - z (a - z (b - z c)); these are a, b and c in the unit 2^-15. */
#define SOLAH_EXP_1 22670u
#define SOLAH_EXP_2 7600u
#define SOLAH_EXP_3 1316u

/* A curve's values are, piece by piece, how far to shift, those at the left knot and the slopes;
 * behind the pieces, what is said of no reading. */

/* The focal sets of all inputs of a tree, end to end, with the inverse of the way to the next peak. */
typedef struct {
    const int16_t *peak;
    const uint16_t *inverse;
    const uint8_t *shift;
    const uint16_t *ignorance;
    const SOLAH_NODE *offset;
} solah_sets;

typedef struct {
    const solah_asked *asked;
    uint8_t n_asked;
    solah_sets sets;
    const SOLAH_INPUT *split; /* the input that a node asks; -1 for a leaf */
    const SOLAH_NODE *child;  /* the first of a node's children; of a leaf, its number */
    const int16_t *leaf;
} solah_walk;

/* What leads to one belief: evidence that is weighed, or a tree's belief as it is. */
typedef struct {
    const int32_t *start;
    uint8_t is_weighed;
    uint8_t value_bits;
    SOLAH_AT first_curve, n_curves;
    SOLAH_AT first_table, n_tables;
    SOLAH_AT first_walk, n_walks;
} solah_stage;

typedef struct {
    const int32_t *zero; /* what is taken off each reading, or NULL */
    const int16_t *knots;
    const int16_t *values;
    const solah_curve *curves;
    const solah_table *tables;
    const solah_walk *walks;
    const solah_stage *stages;
    const int32_t *preference; /* what the decision adds to evidence, or multiplies beliefs by; or NULL */
} solah_model;

/* Divide by a power of two, towards zero. */
static inline int32_t solah_shift(int32_t number, int32_t bits)
{
    return number < 0 ? -(int32_t)((uint32_t)-number >> bits) : (int32_t)((uint32_t)number >> bits);
}

static inline void solah_add(int32_t *total, const int16_t *values)
{
    for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
        total[v] += values[v];
    }
}

/* A reading from the zero of its attribute, within 16 bits. */
static inline int32_t solah_relative(const solah_model *model, int32_t attribute, int32_t x)
{
    if (model->zero != NULL) {
        const int32_t zero = model->zero[attribute];
        if (x > zero + INT16_MAX) {
            return INT16_MAX;
        }
        if (x < zero + INT16_MIN) {
            return INT16_MIN;
        }
        x -= zero;
    }
    return x > INT16_MAX ? INT16_MAX : (x < INT16_MIN ? INT16_MIN : x);
}

static inline void solah_add_curve(const solah_model *model, const solah_curve *curve, int32_t x,
                                   int32_t *total)
{
    const int16_t *knot = model->knots + curve->knot;
    const int16_t *value = model->values + curve->value;
    const int32_t last = (int32_t)curve->n_knots - 1;
    int32_t k = 0;

    if (x == SOLAH_UNKNOWN) {
        solah_add(total, value + last * (2 * SOLAH_N_VALUES + 1));
        return;
    }
    x = solah_relative(model, curve->attribute, x);
    if (x < knot[0]) {
        x = knot[0];
    }
    if (x > knot[last]) {
        x = knot[last];
    }
    while (k < last - 1 && x >= knot[k + 1]) {
        k++;
    }
    value += k * (2 * SOLAH_N_VALUES + 1);
    x -= knot[k];
    for (int32_t v = 1; v <= SOLAH_N_VALUES; v++) {
        total[v - 1] += value[v] + solah_shift(x * value[SOLAH_N_VALUES + v], value[0]);
    }
}

static inline void solah_add_table(const solah_model *model, const solah_table *table, int32_t x,
                                   int32_t *total)
{
    const int32_t n_states = (int32_t)table->n_states;
    const int32_t state = (x >= 0 && x < n_states) ? x : n_states;
    solah_add(total, model->values + table->value + state * SOLAH_N_VALUES);
}

#if SOLAH_MAX_INPUTS > 0
/* A reading described by its focal sets: masses on neighbouring sets, from `first` on. */
typedef struct {
    const uint16_t *mass;
    int16_t first;
    int16_t count;
    uint16_t pair[2];
} solah_run;

typedef struct {
    uint32_t weight;
    SOLAH_NODE node;
    uint8_t next;
} solah_step;

static inline void solah_describe(const solah_sets *sets, int32_t a, int32_t x, solah_run *run)
{
    const int32_t first = (int32_t)sets->offset[a];
    const int32_t last = (int32_t)sets->offset[a + 1] - first - 1;
    const int16_t *peak = sets->peak + first;
    int32_t k = 0;

    if (x == SOLAH_UNKNOWN) {
        run->mass = sets->ignorance + first;
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
        const uint32_t upper = (way * sets->inverse[first + k]) >> sets->shift[first + k];
        run->pair[1] = (uint16_t)(upper > SOLAH_ONE ? SOLAH_ONE : upper);
        run->pair[0] = (uint16_t)(SOLAH_ONE - run->pair[1]);
        run->count = 2;
    }
}

static inline void solah_ask(const solah_model *model, const solah_walk *walk, const int32_t *x,
                             uint16_t beliefs[][SOLAH_N_CLASSES], int32_t a, solah_run *run)
{
    const solah_asked *asked = &walk->asked[a];
    int32_t reading = SOLAH_UNKNOWN;

    switch (asked->kind) {
    case SOLAH_READING:
        if (x[asked->from] != SOLAH_UNKNOWN) {
            reading = solah_relative(model, asked->from, x[asked->from]);
        }
        break;
    case SOLAH_STATE:
        if (x[asked->from] >= 0 &&
            x[asked->from] < (int32_t)walk->sets.offset[a + 1] - (int32_t)walk->sets.offset[a]) {
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
        run->count = SOLAH_N_CLASSES;
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

static inline void solah_add_walk(const solah_model *model, const solah_walk *walk, const int32_t *x,
                                  uint16_t beliefs[][SOLAH_N_CLASSES], int32_t *total)
{
    solah_run runs[SOLAH_MAX_INPUTS];
    solah_step steps[SOLAH_MAX_DEPTH + 1];
    int32_t depth = 0;

    for (int32_t a = 0; a < (int32_t)walk->n_asked; a++) {
        solah_ask(model, walk, x, beliefs, a, &runs[a]);
    }
    steps[0].weight = SOLAH_ONE;
    steps[0].node = 0;
    steps[0].next = 0;
    while (depth >= 0) {
        solah_step *step = &steps[depth];
        const int32_t split = (int32_t)walk->split[step->node];
        if (split < 0) {
            const int16_t *leaf = walk->leaf + (int32_t)walk->child[step->node] * SOLAH_N_VALUES;
            for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
                total[v] += solah_shift((int32_t)step->weight * leaf[v], 15);
            }
            depth--;
            continue;
        }
        const solah_run *run = &runs[split];
        if ((int32_t)step->next == (int32_t)run->count) {
            depth--;
            continue;
        }
        const uint8_t k = step->next++;
        const uint32_t weight = (step->weight * run->mass[k] + 16384u) >> 15;
        if (weight > 0u) {
            depth++;
            steps[depth].weight = weight;
            steps[depth].node = (SOLAH_NODE)(walk->child[step->node] + (SOLAH_NODE)(run->first + k));
            steps[depth].next = 0;
        }
    }
}
#endif

/* e^-x for x >= 0 in the unit 2^-value_bits: a share of one in the unit 2^-15. */
static inline uint32_t solah_exp(uint32_t x, int32_t value_bits)
{
    const uint32_t finest = value_bits > 10 ? x >> (value_bits - 10) : x << (10 - value_bits);
    if (finest >= 11264u) { /* e^-11 is less than half a unit */
        return 0u;
    }
    const uint32_t halvings = (finest * 23637u) >> 14; /* log2(e), so that halves are counted */
    const uint32_t rest = halvings & 1023u;
    const uint32_t third = (rest * SOLAH_EXP_3) >> 10;
    const uint32_t second = (rest * (SOLAH_EXP_2 - third)) >> 10;
    return (SOLAH_ONE - ((rest * (SOLAH_EXP_1 - second)) >> 10)) >> (halvings >> 10);
}

/* part / whole in the unit 2^-15, for part <= whole, bit by bit. */
static inline uint16_t solah_share_of(uint32_t part, uint32_t whole)
{
    uint32_t share = part >= whole ? 1u : 0u;
    uint32_t rest = part >= whole ? part - whole : part;
    for (int32_t bit = 0; bit < 15; bit++) {
        rest <<= 1;
        share <<= 1;
        if (rest >= whole) {
            rest -= whole;
            share |= 1u;
        }
    }
    return (uint16_t)share;
}

/* Turn evidence against the first class into shares of belief. */
static inline void solah_share(const int32_t *evidence, int32_t value_bits, uint16_t *belief)
{
    int32_t most = 0;
    uint32_t sum = 0;
    uint32_t part[SOLAH_N_CLASSES];

    for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
        if (evidence[v] > most) {
            most = evidence[v];
        }
    }
    for (int32_t c = 0; c < SOLAH_N_CLASSES; c++) {
        const int32_t below = most - (c == 0 ? 0 : evidence[c - 1]);
        part[c] = solah_exp((uint32_t)below, value_bits);
        sum += part[c];
    }
    /* The first class has what rounding leaves, so that beliefs sum to one. */
    uint32_t left = SOLAH_ONE;
    for (int32_t c = 1; c < SOLAH_N_CLASSES; c++) {
        belief[c] = solah_share_of(part[c], sum);
        left -= belief[c];
    }
    belief[0] = (uint16_t)left;
}

/* A tree's belief, which has the unit 2^-14: the first class has what the others leave. */
static inline void solah_complete(const int32_t *said, uint16_t *belief)
{
    int32_t left = (int32_t)SOLAH_ONE;
    for (int32_t c = 1; c < SOLAH_N_CLASSES; c++) {
        const int32_t share = said[c - 1] << 1;
        belief[c] = (uint16_t)(share > left ? left : share);
        left -= (int32_t)belief[c];
    }
    belief[0] = (uint16_t)left;
}

/* Add up what all parts of a stage say. */
static inline void solah_say(const solah_model *model, const solah_stage *stage, const int32_t *x,
                             uint16_t beliefs[][SOLAH_N_CLASSES], int32_t *total)
{
    for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
        total[v] = stage->start[v];
    }
    for (int32_t i = 0; i < (int32_t)stage->n_curves; i++) {
        const solah_curve *curve = &model->curves[stage->first_curve + i];
        solah_add_curve(model, curve, x[curve->attribute], total);
    }
    for (int32_t i = 0; i < (int32_t)stage->n_tables; i++) {
        const solah_table *table = &model->tables[stage->first_table + i];
        solah_add_table(model, table, x[table->attribute], total);
    }
#if SOLAH_MAX_INPUTS > 0
    for (int32_t i = 0; i < (int32_t)stage->n_walks; i++) {
        solah_add_walk(model, &model->walks[stage->first_walk + i], x, beliefs, total);
    }
#else
    (void)beliefs;
#endif
}

/* Decide on readings: return the class, and write the belief in each. */
static inline int solah_decide(const solah_model *model, const int32_t *x, uint16_t *belief)
{
    uint16_t beliefs[SOLAH_N_STAGES][SOLAH_N_CLASSES] = {{0}};
    int32_t total[SOLAH_N_VALUES];
    int best = 0;

    for (int32_t s = 0; s < SOLAH_N_STAGES; s++) {
        const solah_stage *stage = &model->stages[s];
        solah_say(model, stage, x, beliefs, total);
        if (stage->is_weighed) {
            solah_share(total, (int32_t)stage->value_bits, beliefs[s]);
        } else {
            solah_complete(total, beliefs[s]);
        }
    }
    const uint16_t *decided = beliefs[SOLAH_N_STAGES - 1];
    const int is_weighed = model->stages[SOLAH_N_STAGES - 1].is_weighed;
    int32_t most = 0;
    for (int c = 0; c < SOLAH_N_CLASSES; c++) {
        int32_t score = (int32_t)decided[c];
        if (is_weighed) {
            score = c == 0 ? 0 : total[c - 1];
        }
        if (model->preference != NULL) {
            score = is_weighed ? score + model->preference[c] : score * model->preference[c];
        }
        if (c == 0 || score > most) {
            most = score;
            best = c;
        }
        belief[c] = decided[c];
    }
    return best;
}

/* Estimate a number from readings, in the unit 2^-value_bits. */
static inline int32_t solah_estimate(const solah_model *model, const int32_t *x)
{
    uint16_t beliefs[SOLAH_N_STAGES][SOLAH_N_CLASSES] = {{0}};
    int32_t total[SOLAH_N_VALUES];
    solah_say(model, &model->stages[0], x, beliefs, total);
    return total[0];
}

#endif
