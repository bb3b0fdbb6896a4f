/* Rules that weigh evidence decide on rows, each before they learn from it: the compiled twin of
 * LearningTwin in solah/learn/online.py, for rows of which every reading is known.
 *
 * Rows take branches with weights; weights[i][b] has the unit 2^-15, and rule[b] is the line of
 * learnt[] that branch b moves. The branches of a tree stand together, from first[t] on. All numbers
 * are whole, and divisions by powers of two go towards zero.
 */
#include "export.h"

#include <stdint.h>

enum { LEARNT_BITS = 24, BELIEF_ONE = 1 << 15, LARGEST = 32767, NO_BELIEF = 11264 };

static const int64_t MOST_LEARNT = INT64_C(1) << 29;

static inline int64_t shifted(int64_t number, int32_t bits)
{
    return number < 0 ? -(-number >> bits) : number >> bits;
}

static inline int64_t bounded(int64_t number, int64_t most)
{
    if (number > most) {
        return most;
    }
    return number < -most ? -most : number;
}

/* e^-x for x >= 0, as solah_exp of the runtime for devices has it. */
static inline int64_t exp_of(int64_t x, int32_t value_bits)
{
    const int64_t finest = value_bits > 10 ? x >> (value_bits - 10) : x << (10 - value_bits);
    if (finest >= NO_BELIEF) {
        return 0;
    }
    const int64_t halvings = (finest * 23637) >> 14;
    const int64_t rest = halvings & 1023;
    const int64_t third = (rest * 1316) >> 10;
    const int64_t second = (rest * (7600 - third)) >> 10;
    return (BELIEF_ONE - ((rest * (22670 - second)) >> 10)) >> (halvings >> 10);
}

/* Turn evidence against the first class, in belief[1...], into shares of belief. */
static void share_out(int64_t *belief, int32_t n_values, int32_t value_bits)
{
    int64_t top = 0, sum = 0, others = 0;

    belief[0] = 0;
    for (int32_t v = 1; v <= n_values; v++) {
        top = belief[v] > top ? belief[v] : top;
    }
    for (int32_t v = 0; v <= n_values; v++) {
        belief[v] = exp_of(top - belief[v], value_bits);
        sum += belief[v];
    }
    for (int32_t v = 1; v <= n_values; v++) {
        belief[v] = (belief[v] << 15) / sum;
        others += belief[v];
    }
    belief[0] = BELIEF_ONE - others; /* with what rounding leaves */
}

/* Decide on rows and learn from each; learnt changes, and beliefs[n_rows][n_values + 1] is filled.
 *   begin      [n_values] what a row has before any tree
 *   observed   [n_rows] the place of each row's class; one out of range teaches nothing
 *   start      what rules go back to by 2^-forget_bits a row; forget_bits is 0 for never */
SOLAH_EXPORT void solah_learn_rows(const int64_t *weights, int64_t n_rows, int32_t n_branches,
                                   const int64_t *rule, const int64_t *first, int32_t n_trees,
                                   const int64_t *begin, int32_t n_values, int32_t value_bits,
                                   const int64_t *observed, int32_t step_bits, int32_t forget_bits,
                                   const int64_t *start, int64_t *learnt, int64_t *beliefs)
{
    for (int64_t i = 0; i < n_rows; i++) {
        const int64_t *weight = weights + i * n_branches;
        int64_t *belief = beliefs + i * (n_values + 1);
        for (int32_t v = 0; v < n_values; v++) {
            belief[v + 1] = begin[v];
            for (int32_t t = 0; t < n_trees; t++) {
                const int64_t end = t + 1 < n_trees ? first[t + 1] : n_branches;
                int64_t of_tree = 0;
                for (int64_t b = first[t]; b < end; b++) {
                    const int64_t score =
                        shifted(learnt[rule[b] * n_values + v], LEARNT_BITS - value_bits);
                    of_tree += weight[b] * bounded(score, LARGEST);
                }
                belief[v + 1] += shifted(of_tree, 15);
            }
        }
        share_out(belief, n_values, value_bits);
        if (observed[i] < 0 || observed[i] > n_values) {
            continue;
        }
        const int64_t of_first = (observed[i] == 0 ? BELIEF_ONE : 0) - belief[0];
        for (int32_t b = 0; b < n_branches; b++) {
            if (weight[b] == 0) {
                continue;
            }
            for (int32_t v = 0; v < n_values; v++) {
                const int64_t at = rule[b] * n_values + v;
                const int64_t error =
                    (observed[i] == v + 1 ? BELIEF_ONE : 0) - belief[v + 1] - of_first;
                int64_t value = learnt[at];
                if (forget_bits > 0) {
                    value -= shifted(shifted(value - start[at], 15) * weight[b], forget_bits);
                }
                value += shifted((weight[b] >> 1) * error, step_bits);
                learnt[at] = bounded(value, MOST_LEARNT);
            }
        }
    }
}
