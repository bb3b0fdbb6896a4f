/* The runtime of a solah model with float readings: C99, also C++11. No malloc, no libm, no
 * recursion, no static data. A model's .c file sets the sizes below, then includes this file.
 *
 *   SOLAH_N_CLASSES    the classes; 1 for a number
 *   SOLAH_N_VALUES     what a branch says: one value a class but the first
 *   SOLAH_N_STAGES     beliefs that are computed, the last of which decides
 *   SOLAH_MAX_INPUTS   the most inputs of a tree; 0 if there is no tree
 *   SOLAH_MAX_DEPTH    the most conditions of a branch
 *   SOLAH_AT           the type of a place in a table
 *
 * Compiled without contraction (-ffp-contract=off, or -std=c99), every target computes the same
 * bits as solah's Python twin of this file.
 */
#ifndef SOLAH_FLOAT_H
#define SOLAH_FLOAT_H

#define SOLAH_REAL float
#define SOLAH_LEAF(tree, node) ((tree)->first_child[node])
#include "solah_core.h"
#include "solah_tables.h"

#include <string.h>

/* A curve's values are, piece by piece, those at the left knot and then the slopes; behind the
 * pieces, what is said of no reading. */

typedef struct {
    const solah_asked *asked;
    uint8_t n_asked;
    solah_sets sets;
    solah_tree tree;
    const float *values;
} solah_walk;

/* What leads to one belief: evidence that is weighed, or a tree's belief as it is. */
typedef struct {
    const float *start;
    uint8_t is_weighed;
    SOLAH_AT first_curve, n_curves;
    SOLAH_AT first_table, n_tables;
    SOLAH_AT first_walk, n_walks;
} solah_stage;

typedef struct {
    const float *knots;
    const float *values;
    const solah_curve *curves;
    const solah_table *tables;
    const solah_walk *walks;
    const solah_stage *stages;
    const float *preference; /* what the decision adds to evidence, or multiplies beliefs by; or NULL */
} solah_model;

static inline void solah_add(float *total, const float *values)
{
    for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
        total[v] += values[v];
    }
}

static inline void solah_add_curve(const solah_model *model, const solah_curve *curve, float x,
                                   float *total)
{
    const float *knot = model->knots + curve->knot;
    const float *value = model->values + curve->value;
    const int32_t last = (int32_t)curve->n_knots - 1;
    int32_t k = 0;

    if (x != x) {
        solah_add(total, value + last * 2 * SOLAH_N_VALUES);
        return;
    }
    if (x < knot[0]) {
        x = knot[0];
    }
    if (x > knot[last]) {
        x = knot[last];
    }
    while (k < last - 1 && x >= knot[k + 1]) {
        k++;
    }
    value += k * 2 * SOLAH_N_VALUES;
    x -= knot[k];
    for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
        total[v] += value[v] + x * value[SOLAH_N_VALUES + v];
    }
}

/* The place of a state; `n_states` for what is none of them. */
static inline int32_t solah_state(float x, int32_t n_states)
{
    const int32_t place = (x >= 0.0f && x < (float)n_states) ? (int32_t)x : n_states;
    return (float)place == x ? place : n_states;
}

static inline void solah_add_table(const solah_model *model, const solah_table *table, float x,
                                   float *total)
{
    const int32_t state = solah_state(x, (int32_t)table->n_states);
    solah_add(total, model->values + table->value + state * SOLAH_N_VALUES);
}

#if SOLAH_MAX_INPUTS > 0
/* A quiet NaN, which stands for an unknown reading. */
static inline float solah_unknown(void)
{
    const uint32_t bits = 0x7fc00000u;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline void solah_add_walk(const solah_walk *walk, const float *x,
                                  float beliefs[][SOLAH_N_CLASSES], float *total)
{
    float reading[SOLAH_MAX_INPUTS];
    solah_run runs[SOLAH_MAX_INPUTS];
    solah_step steps[SOLAH_MAX_DEPTH + 1];
    float said[SOLAH_N_VALUES];

    for (int32_t a = 0; a < (int32_t)walk->n_asked; a++) {
        const solah_asked *asked = &walk->asked[a];
        const int32_t count = (int32_t)walk->sets.offset[a + 1] - (int32_t)walk->sets.offset[a];
        runs[a].count = 0;
        reading[a] = 0.0f;
        switch (asked->kind) {
        case SOLAH_READING:
            reading[a] = x[asked->from];
            break;
        case SOLAH_STATE:
            reading[a] = solah_state(x[asked->from], count) == count ? solah_unknown() : x[asked->from];
            break;
#if SOLAH_N_STAGES > 1
        case SOLAH_BELIEF:
            reading[a] = beliefs[asked->from][asked->place];
            break;
        case SOLAH_ALL_BELIEFS:
            runs[a].mass = beliefs[asked->from];
            runs[a].first = 0;
            runs[a].count = count;
            break;
#endif
        default:
            break;
        }
    }
#if SOLAH_N_STAGES == 1
    (void)beliefs;
#endif
    solah_evaluate(reading, &walk->sets, &walk->tree, walk->values, SOLAH_N_VALUES, runs, steps, said);
    solah_add(total, said);
}
#endif

/* e^x for x <= 0, of additions and multiplications only. */
static inline float solah_exp(float x)
{
    static const float term[] = {1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f,
                                 0.5f,          1.0f,          1.0f};
    float y = 0.0f;
    float scale;

    if (x < -87.0f) {
        x = -87.0f;
    }
    const int32_t k = (int32_t)(x * 1.44269504f - 0.5f);
    const float r = (x - (float)k * 0.693359375f) - (float)k * -2.12194440e-4f;
    for (int32_t i = 0; i < 7; i++) {
        y = y * r + term[i];
    }
    const uint32_t bits = (uint32_t)(k + 127) << 23;
    memcpy(&scale, &bits, sizeof scale);
    return y * scale;
}

/* Turn evidence against the first class into shares of belief. */
static inline void solah_share(const float *evidence, float *belief)
{
    float most = 0.0f;
    float sum = 0.0f;

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

/* A tree's belief: the first class has what the others leave. */
static inline void solah_complete(const float *said, float *belief)
{
    float left = 1.0f;
    for (int32_t c = 1; c < SOLAH_N_CLASSES; c++) {
        belief[c] = said[c - 1];
        left -= said[c - 1];
    }
    belief[0] = left;
}

/* Add up what all parts of a stage say. */
static inline void solah_say(const solah_model *model, const solah_stage *stage, const float *x,
                             float beliefs[][SOLAH_N_CLASSES], float *total)
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
        solah_add_walk(&model->walks[stage->first_walk + i], x, beliefs, total);
    }
#else
    (void)beliefs;
#endif
}

/* Decide on readings: return the class, and write the belief in each. */
static inline int solah_decide(const solah_model *model, const float *x, float *belief)
{
    float beliefs[SOLAH_N_STAGES][SOLAH_N_CLASSES] = {{0.0f}};
    float total[SOLAH_N_VALUES];
    int best = 0;

    for (int32_t s = 0; s < SOLAH_N_STAGES; s++) {
        const solah_stage *stage = &model->stages[s];
        solah_say(model, stage, x, beliefs, total);
        if (stage->is_weighed) {
            solah_share(total, beliefs[s]);
        } else {
            solah_complete(total, beliefs[s]);
        }
    }
    const float *decided = beliefs[SOLAH_N_STAGES - 1];
    const int is_weighed = model->stages[SOLAH_N_STAGES - 1].is_weighed;
    float most = 0.0f;
    for (int c = 0; c < SOLAH_N_CLASSES; c++) {
        float score = decided[c];
        if (is_weighed) {
            score = c == 0 ? 0.0f : total[c - 1];
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

/* Estimate a number from readings. */
static inline float solah_estimate(const solah_model *model, const float *x)
{
    float beliefs[SOLAH_N_STAGES][SOLAH_N_CLASSES] = {{0.0f}};
    float total[SOLAH_N_VALUES];
    solah_say(model, &model->stages[0], x, beliefs, total);
    return total[0];
}

#endif
