/* Learning on the device: the values of rules, in RAM, move towards what labelled readings ask for.
 * The structure never changes. A model's .c file defines SOLAH_LEARNS and includes solah_fixed.h,
 * then this file.
 *
 * A value has the unit 2^-24. A rule that a row takes with some weight moves by that weight, times
 * the error, times 2^-step_bits. In an additive stage the error is that of the stage's
 * probability: what was observed less what was expected; elsewhere it is that of the rule's own share.
 * With forget_bits, scores go back towards what was flashed, by 2^-forget_bits a row. A step that
 * would break a monotonic constraint is not taken.
 */
#ifndef SOLAH_LEARN_H
#define SOLAH_LEARN_H

#include "solah_crc.h"

#define SOLAH_SLOWEST 20
#define SOLAH_MOST_LEARNT (INT32_C(1) << 29)
#define SOLAH_ALL_LEARNT (INT32_C(1) << 24)
#define SOLAH_LEARNT_ROUNDING 512 /* how far rounding may take shares beyond nothing and all */

/* An inequality: the score of class more, less that of class less, is not smaller in rule higher
 * than in rule lower. */
typedef struct {
    uint16_t lower, higher;
    uint8_t more, less;
} solah_bound;

/* What learning needs beside the model.
 *   start        what was flashed, one line per rule
 *   step_bits    how slowly each stage learns
 *   bounds       what rules keep
 *   n_bounds     how many they are
 *   forget_bits  how slowly scores go back to the start; 0 for never */
typedef struct {
    const SOLAH_FLASH int32_t *start;
    const SOLAH_FLASH uint8_t *step_bits;
    const SOLAH_FLASH solah_bound *bounds;
    uint16_t n_bounds;
    uint8_t forget_bits;
} solah_learning;

#define SOLAH_ROWS_AT_FIRST_PACE 8u /* after these the pace is halved, and again at about twice as many */
#define SOLAH_MOST_HALVINGS 15
#define SOLAH_WINS_TO_TRUST 3
#define SOLAH_MOST_LOSSES 8

/* What the learned rows showed: how many there were, and how many more of the last ones
 * were predicted right by what was learned than by the flashed model. What was learned is used from
 * three wins on, until they are below 0. */
typedef struct {
    uint32_t n_rows;
    int8_t wins;
    uint8_t is_trusted;
} solah_evidence;

/* How often the pace was halved. */
static inline int32_t solah_halvings(uint32_t n_rows)
{
    uint32_t left = (n_rows / SOLAH_ROWS_AT_FIRST_PACE + 1u) >> 1;
    int32_t halvings = 0;
    while (left > 0u && halvings < SOLAH_MOST_HALVINGS) {
        left >>= 1;
        halvings++;
    }
    return halvings;
}

/* The most probable class, the first of equal ones. */
static inline int32_t solah_most_believed(const uint16_t *belief)
{
    int32_t best = 0;
    for (int32_t c = 1; c < SOLAH_N_CLASSES; c++) {
        if (belief[c] > belief[best]) {
            best = c;
        }
    }
    return best;
}

/* Compare both models on one more row. */
static inline void solah_weigh(solah_evidence *evidence, int is_right, int was_right)
{
    const int32_t wins = (int32_t)evidence->wins + (int32_t)is_right - (int32_t)was_right;
    if (wins >= -SOLAH_MOST_LOSSES && wins <= SOLAH_WINS_TO_TRUST) {
        evidence->wins = (int8_t)wins;
    }
    if (evidence->is_trusted != 0u) {
        evidence->is_trusted = evidence->wins >= 0 ? 1u : 0u;
    } else {
        evidence->is_trusted = evidence->wins >= SOLAH_WINS_TO_TRUST ? 1u : 0u;
    }
    if (evidence->n_rows < UINT32_MAX) {
        evidence->n_rows++;
    }
}

static inline int32_t solah_bounded(int32_t value, int32_t least, int32_t most)
{
    if (value > most) {
        return most;
    }
    return value < least ? least : value;
}

/* What a bound compares of a rule; values are against the first class. */
static inline int32_t solah_gap(const SOLAH_FLASH solah_bound *bound, const int32_t *values)
{
    return (bound->more > 0u ? values[bound->more - 1] : 0) -
           (bound->less > 0u ? values[bound->less - 1] : 0);
}

/* Whether a rule would break, more than now, what rules keep, if it had other values. */
static inline int solah_breaks(const SOLAH_FLASH solah_learning *learning, int32_t rule,
                               const int32_t *values, const int32_t *learned)
{
    for (int32_t i = 0; i < (int32_t)learning->n_bounds; i++) {
        const SOLAH_FLASH solah_bound *bound = &learning->bounds[i];
        if ((int32_t)bound->lower != rule && (int32_t)bound->higher != rule) {
            continue;
        }
        const int is_higher = (int32_t)bound->higher == rule;
        const int32_t other = is_higher ? (int32_t)bound->lower : (int32_t)bound->higher;
        const int32_t now = solah_gap(bound, &learned[rule * SOLAH_N_VALUES]);
        const int32_t then = solah_gap(bound, values);
        const int32_t beside = solah_gap(bound, &learned[other * SOLAH_N_VALUES]);
        if (is_higher ? (then < beside && then < now) : (then > beside && then > now)) {
            return 1;
        }
    }
    return 0;
}

/* Move the scores of a rule: error[v] is that of class v + 1 less that of the first class. */
static inline void solah_move_evidence(const SOLAH_FLASH solah_learning *learning, int32_t rule,
                                       uint32_t weight, const int32_t *error, int32_t step_bits,
                                       int32_t *learned)
{
    int32_t values[SOLAH_N_VALUES];

    for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
        int32_t value = learned[rule * SOLAH_N_VALUES + v];
        if (learning->forget_bits > 0u) {
            const int32_t gone = value - learning->start[rule * SOLAH_N_VALUES + v];
            value -= solah_shift(solah_shift(gone, 15) * (int32_t)weight, learning->forget_bits);
        }
        const int32_t step = solah_shift((int32_t)(weight >> 1) * error[v], step_bits);
        values[v] = solah_bounded(value + step, -SOLAH_MOST_LEARNT, SOLAH_MOST_LEARNT);
    }
    if (!solah_breaks(learning, rule, values, learned)) {
        for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
            learned[rule * SOLAH_N_VALUES + v] = values[v];
        }
    }
}

/* Move the shares of a rule towards the class that was observed. */
static inline void solah_move_belief(int32_t rule, uint32_t weight, int32_t observed,
                                     int32_t step_bits, int32_t *learned)
{
    int32_t *value = &learned[rule * SOLAH_N_VALUES];
    int32_t above = -SOLAH_ALL_LEARNT;

    for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
        const int32_t belief = solah_bounded(value[v], 0, SOLAH_ALL_LEARNT);
        const int32_t error = (v + 1 == observed ? (int32_t)SOLAH_ONE : 0) - solah_shift(belief, 9);
        const int32_t step = solah_shift((int32_t)(weight >> 1) * error, step_bits);
        value[v] = solah_bounded(belief + step, 0, SOLAH_ALL_LEARNT);
        above += value[v];
    }
    if (above > 0 && observed > 0) { /* by rounding */
        value[observed - 1] = solah_bounded(value[observed - 1] - above, 0, SOLAH_ALL_LEARNT);
    }
}

/* Learn from readings and the class that was observed; return the class that was predicted. */
static inline int solah_learn(const struct solah_tables *flashed,
                              const SOLAH_FLASH solah_learning *learning, const int32_t *x,
                              int32_t observed, int32_t *learned, solah_evidence *evidence)
{
    struct solah_tables tables = *flashed;
    solah_model *model = &tables;
    const int32_t slower = solah_halvings(evidence->n_rows);
    uint16_t beliefs[SOLAH_N_STAGES][SOLAH_N_CLASSES] = {{0}};
    int32_t total[SOLAH_N_VALUES] = {0};
    int32_t error[SOLAH_N_VALUES];
    solah_path way;
    int32_t node;

    tables.learned = NULL;
    solah_believe(model, x, beliefs, total);
    const int shipped = (int)solah_best(model, beliefs[SOLAH_N_STAGES - 1], total, -1);
    const int was_right = solah_most_believed(beliefs[SOLAH_N_STAGES - 1]) == observed;
    tables.learned = learned;
    solah_believe(model, x, beliefs, total);
    const int now = (int)solah_best(model, beliefs[SOLAH_N_STAGES - 1], total, -1);
    const int decision = evidence->is_trusted != 0u ? now : shipped;
    if (observed < 0 || observed >= SOLAH_N_CLASSES) {
        return decision;
    }
    solah_weigh(evidence, solah_most_believed(beliefs[SOLAH_N_STAGES - 1]) == observed, was_right);
    for (int32_t s = 0; s < SOLAH_N_STAGES; s++) {
        const SOLAH_FLASH solah_stage *stage = &model->stages[s];
        const int32_t bits = (int32_t)learning->step_bits[s] + slower;
        const int32_t step_bits = bits < SOLAH_SLOWEST ? bits : SOLAH_SLOWEST;
        const int32_t first = (observed == 0 ? (int32_t)SOLAH_ONE : 0) - (int32_t)beliefs[s][0];
        for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
            error[v] = (observed == v + 1 ? (int32_t)SOLAH_ONE : 0) - (int32_t)beliefs[s][v + 1] - first;
        }
        for (int32_t i = 0; i < (int32_t)stage->n_walks; i++) {
            const SOLAH_FLASH solah_walk *walk = &model->walks[stage->first_walk + i];
            solah_begin_walk(model, walk, x, beliefs, &way);
            while ((node = solah_next(walk, &way)) >= 0) {
                const int32_t rule = (int32_t)walk->first_rule + (int32_t)walk->child[node];
                const uint32_t weight = way.steps[way.depth].weight;
                if (stage->is_weighed) {
                    solah_move_evidence(learning, rule, weight, error, step_bits, learned);
                } else {
                    solah_move_belief(rule, weight, observed, step_bits, learned);
                }
            }
        }
    }
    return decision;
}

/* What is saved: the hash of the model, the scores of rules, what rows showed in two numbers, and a
 * checksum; all from the lowest byte. */
static inline void solah_put(uint8_t *bytes, uint32_t number)
{
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(number >> (8 * i));
    }
}

static inline uint32_t solah_get(const uint8_t *bytes)
{
    uint32_t number = 0;
    for (int i = 0; i < 4; i++) {
        number |= (uint32_t)bytes[i] << (8 * i);
    }
    return number;
}

static inline void solah_save(const char *hash, const int32_t *learned, int32_t n_learned,
                              const solah_evidence *evidence, uint8_t *bytes)
{
    uint8_t *end = bytes + 16 + 4 * n_learned;
    for (int32_t i = 0; i < 16; i++) {
        bytes[i] = (uint8_t)hash[i];
    }
    for (int32_t i = 0; i < n_learned; i++) {
        solah_put(bytes + 16 + 4 * i, (uint32_t)learned[i]);
    }
    solah_put(end, evidence->n_rows);
    solah_put(end + 4, (uint32_t)(evidence->wins + SOLAH_MOST_LOSSES) +
                           (evidence->is_trusted != 0u ? 256u : 0u));
    solah_put(end + 8, solah_crc(0, bytes, (size_t)(24 + 4 * n_learned)));
}

static inline int32_t solah_saved(const uint8_t *bytes, int32_t place)
{
    const uint32_t number = solah_get(bytes + 16 + 4 * place);
    return number > INT32_MAX ? -(int32_t)(UINT32_MAX - number) - 1 : (int32_t)number;
}

/* Whether a rule may have learned what was saved of it: scores within bounds, or shares of one. */
static inline int solah_is_learned(const uint8_t *bytes, int32_t rule, int is_weighed)
{
    const int32_t least = is_weighed ? -SOLAH_MOST_LEARNT : -SOLAH_LEARNT_ROUNDING;
    int32_t most = is_weighed ? SOLAH_MOST_LEARNT : SOLAH_ALL_LEARNT + SOLAH_LEARNT_ROUNDING;

    for (int32_t v = 0; v < SOLAH_N_VALUES; v++) {
        const int32_t value = solah_saved(bytes, rule * SOLAH_N_VALUES + v);
        if (value < least || value > most) {
            return 0;
        }
        if (!is_weighed && value > 0) {
            most -= value; /* what is left */
        }
    }
    return 1;
}

/* Bring back what was saved; return 0, and change nothing, if it is not whole, not this model's, or
 * nothing that its rules can learn. */
static inline int solah_restore(solah_model *model, const char *hash, int32_t *learned,
                                int32_t n_learned, const uint8_t *bytes,
                                solah_evidence *evidence)
{
    const uint8_t *tail = bytes + 16 + 4 * n_learned;
    const uint32_t trust = solah_get(tail + 4);
    int32_t rule = 0;

    if (solah_get(tail + 8) != solah_crc(0, bytes, (size_t)(24 + 4 * n_learned)) ||
        (trust >> 8) > 1u || (trust & 255u) > (uint32_t)(SOLAH_MOST_LOSSES + SOLAH_WINS_TO_TRUST)) {
        return 0;
    }
    for (int32_t i = 0; i < 16; i++) {
        if (bytes[i] != (uint8_t)hash[i]) {
            return 0;
        }
    }
    for (int32_t s = 0; s < SOLAH_N_STAGES; s++) { /* their rules are consecutive */
        const int32_t end = s + 1 < SOLAH_N_STAGES
                                ? (int32_t)model->walks[model->stages[s + 1].first_walk].first_rule
                                : n_learned / SOLAH_N_VALUES;
        for (; rule < end; rule++) {
            if (!solah_is_learned(bytes, rule, model->stages[s].is_weighed != 0u)) {
                return 0;
            }
        }
    }
    for (int32_t i = 0; i < n_learned; i++) {
        learned[i] = solah_saved(bytes, i);
    }
    evidence->n_rows = solah_get(tail);
    evidence->wins = (int8_t)((int32_t)(trust & 255u) - SOLAH_MOST_LOSSES);
    evidence->is_trusted = (uint8_t)(trust >> 8);
    return 1;
}

#endif
