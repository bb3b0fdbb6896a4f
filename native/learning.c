/* Learns from rows as a device does (solah/export/online.py), called through ctypes.
 *
 * Each row is predicted, then the rules that apply to it move: the integers of solah_learn.h in the
 * runtime for devices, and those of LearningSimulator in solah/export/online.py. Divisions by powers of
 * two round towards zero unless stated otherwise. Arrays have been checked by the caller. There is
 * no global state.
 *
 * A learner is the array `code`, which begins with a header. A member with a comment [code] is an
 * offset from its start. Memberships, shares and probabilities have the unit 2^-15, scores the unit
 * 2^-value_bits of their stage, and what is learned the unit 2^-24. */
#include "export.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { OK = 0, OUT_OF_MEMORY = 1 };
enum { READING, CATEGORY, ONE_BELIEF, ALL_BELIEFS };
enum { ONE = 1 << 15, HALF = 1 << 14, LARGEST = 32767, REACH = 32766, NO_PROBABILITY = 11264 };

#define MISSING INT32_MIN
#define MOST_LEARNT (INT64_C(1) << 29)
#define ALL_LEARNT (INT64_C(1) << 24)

typedef struct {
    int32_t n_classes, n_stages, n_features;
    int32_t most_axes, depth; /* of any walk */
    int32_t most_leaves;      /* of any stage */
    int32_t forget_bits;      /* rules go back by 2^-forget_bits a row; 0 for never */
    int32_t units, stages, walks; /* [code] */
    int32_t bounds;    /* [code] */
    int32_t bounds_of; /* [code] the first bound of each rule, and where the last one ends */
} header_t;

typedef struct {
    int32_t zero, is_code;
} unit_t;

typedef struct {
    int32_t is_sum; /* of weights; else one walk gives shares */
    int32_t value_bits, step_bits;
    int32_t start; /* [code] */
    int32_t first_walk, n_walks;
    int32_t shares;        /* [code] of each walk, or -1 if a missing reading changes nothing else */
    int32_t prior;         /* [code] and the log-odds behind it */
    int32_t factor, shift; /* of squared shares */
} stage_t;

typedef struct {
    int32_t n_axes, axes; /* [code] */
    int32_t split, child; /* [code] */
    int32_t first_rule, learned_bits;
} walk_t;

typedef struct {
    int32_t kind;
    int32_t source, output, size;
    int32_t peaks, inverses, shifts, missing; /* [code] */
} axis_t;

/* An inequality: class more against class less is never lower in rule higher than in rule lower. */
typedef struct {
    int32_t lower, higher, more, less;
} bound_t;

/* Memberships that are not 0: of `count` words from `first` on. */
typedef struct {
    const int32_t *values;
    int32_t first, count;
    int32_t pair[2];
} run_t;

typedef struct {
    int32_t weight, node, next;
} step_t;

typedef struct {
    int64_t rule;
    int32_t weight;
} branch_t;

typedef struct {
    const int32_t *code;
    const header_t *header;
    const int64_t *start;
    int64_t *learned;
    int32_t n_values;
    int32_t *readings;      /* n_features */
    int32_t *probabilities; /* n_classes per stage */
    run_t *runs;            /* most_axes */
    step_t *steps;          /* depth + 1 */
    branch_t *branches;     /* most_leaves */
    int64_t *values;        /* n_classes */
} learner_t;

static inline int64_t shifted(int64_t number, int32_t bits)
{
    return number < 0 ? -(-number >> bits) : number >> bits;
}

static inline int64_t bounded(int64_t number, int64_t least, int64_t most)
{
    if (number > most) {
        return most;
    }
    return number < least ? least : number;
}

static int32_t reading_of(double value, double scale, int32_t is_code)
{
    if (value != value || (is_code && (value != floor(value) || !(fabs(value) < 2147483648.0)))) {
        return MISSING;
    }
    double number = value * scale;
    number = number > INT32_MAX ? INT32_MAX : (number < -INT32_MAX ? -INT32_MAX : number);
    const double whole = floor(number);
    return (int32_t)(number - whole >= 0.5 ? whole + 1.0 : whole);
}

/* Return what a walk splits on, as its words count it; MISSING if it is. */
static int32_t axis_value(const learner_t *learner, const axis_t *axis)
{
    if (axis->kind == ONE_BELIEF) {
        const int32_t n_classes = learner->header->n_classes;
        return learner->probabilities[axis->source * n_classes + axis->output] >> 1;
    }
    const int32_t reading = learner->readings[axis->source];
    if (axis->kind == CATEGORY) {
        return reading >= 0 && reading < axis->size ? reading : MISSING;
    }
    if (reading == MISSING) {
        return MISSING;
    }
    const unit_t *units = (const unit_t *)(learner->code + learner->header->units);
    return (int32_t)bounded((int64_t)reading - units[axis->source].zero, -REACH, REACH);
}

/* Find the memberships of an axis; return whether it is missing. */
static int describe(const learner_t *learner, const axis_t *axis, run_t *run)
{
    run->first = 0;
    run->count = axis->size;
    if (axis->kind == ALL_BELIEFS) {
        run->values = learner->probabilities + axis->source * learner->header->n_classes;
        return 0;
    }
    const int32_t *peak = learner->code + axis->peaks;
    const int32_t value = axis_value(learner, axis), last = axis->size - 1;
    if (value == MISSING) {
        run->values = learner->code + axis->missing;
        return 1;
    }
    int32_t k = 0;
    while (k < last && value >= peak[k + 1]) {
        k++;
    }
    run->values = run->pair;
    run->first = k;
    run->count = 1;
    run->pair[0] = ONE;
    if (k < last && value > peak[k]) {
        const int64_t way = (int64_t)value - peak[k];
        const int64_t upper =
            ((way * learner->code[axis->inverses + k]) >> learner->code[axis->shifts + k]) | 1;
        run->pair[1] = (int32_t)(upper > ONE ? ONE : upper);
        run->pair[0] = ONE - run->pair[1];
        run->count = 2;
    }
    return 0;
}

/* Find the branches of a walk that the row takes, depth first; return the end of their list. */
static branch_t *follow(const learner_t *learner, const walk_t *walk, branch_t *branch)
{
    const int32_t *split = learner->code + walk->split, *child = learner->code + walk->child;
    step_t *step = learner->steps;
    *step = (step_t){ONE, 0, 0};
    for (;;) {
        const int32_t node = step->node;
        if (split[node] < 0) {
            *branch++ = (branch_t){walk->first_rule + child[node], step->weight};
        } else if (step->next < learner->runs[split[node]].count) {
            const run_t *run = &learner->runs[split[node]];
            const int32_t k = step->next++;
            const int64_t weight = ((int64_t)step->weight * run->values[k] + HALF) >> 15;
            if (weight > 0) {
                *++step = (step_t){(int32_t)weight, child[node] + run->first + k, 0};
            }
            continue;
        }
        if (step == learner->steps) {
            return branch;
        }
        step--;
    }
}

/* e^-x for x >= 0, as solah_exp of the runtime for devices has it. */
static int64_t exp_of(int64_t x, int32_t value_bits)
{
    const int64_t finest = value_bits > 10 ? x >> (value_bits - 10) : x << (10 - value_bits);
    if (finest >= NO_PROBABILITY) {
        return 0;
    }
    const int64_t halvings = (finest * 23637) >> 14;
    const int64_t rest = halvings & 1023;
    const int64_t third = (rest * 1316) >> 10;
    const int64_t second = (rest * (7600 - third)) >> 10;
    return (ONE - ((rest * (22670 - second)) >> 10)) >> (halvings >> 10);
}

/* 1 / sqrt(x) in the unit 2^-15, for x >= 1 in the unit 2^-12. */
static int64_t inverse_root(int64_t x)
{
    int32_t halvings = 0;
    while (x >= 16384) {
        x >>= 2;
        halvings++;
    }
    int64_t root = 34944 - ((x * 39) >> 5);
    for (int32_t i = 0; i < 2; i++) {
        root = (root * (98304 - ((x * ((root * root) >> 15)) >> 12))) >> 16;
    }
    return root >> halvings;
}

/* Change scores beside missing terms, given the sums of their shares and of the squares. */
static void weaken(const learner_t *learner, const stage_t *stage, int64_t share, int64_t square,
                   int64_t *scores)
{
    const int32_t *prior = learner->code + stage->prior, *lean = prior + learner->n_values;
    const int64_t damping = inverse_root(4096 + (((square * stage->factor) >> 15) >> stage->shift));
    for (int32_t v = 0; v < learner->n_values; v++) {
        const int64_t left = scores[v] - prior[v] - shifted(lean[v] * share, 15);
        scores[v] = prior[v] + shifted(left * damping, 15);
    }
}

/* Turn scores against the first class into probabilities; it has what rounding leaves. */
static void softmax(const int64_t *scores, int32_t n_values, int32_t value_bits,
                    int32_t *probabilities)
{
    int64_t top = 0;
    for (int32_t v = 0; v < n_values; v++) {
        top = scores[v] > top ? scores[v] : top;
    }
    int64_t sum = exp_of(top, value_bits), others = 0;
    for (int32_t v = 0; v < n_values; v++) {
        sum += exp_of(top - scores[v], value_bits);
    }
    for (int32_t v = 0; v < n_values; v++) {
        const int64_t probability = (exp_of(top - scores[v], value_bits) << 15) / sum;
        probabilities[v + 1] = (int32_t)probability;
        others += probability;
    }
    probabilities[0] = (int32_t)(ONE - others);
}

/* Take shares as probabilities; the first class has what the others leave. */
static void complete(const int64_t *shares, int32_t n_values, int32_t *probabilities)
{
    int64_t left = ONE;
    for (int32_t v = 0; v < n_values; v++) {
        const int64_t probability = bounded(2 * shares[v], 0, left);
        probabilities[v + 1] = (int32_t)probability;
        left -= probability;
    }
    probabilities[0] = (int32_t)left;
}

/* Predict with a stage; return the end of the list of branches that the row takes. */
static const branch_t *predict(const learner_t *learner, const stage_t *stage,
                               int32_t *probabilities)
{
    const walk_t *walks = (const walk_t *)(learner->code + learner->header->walks);
    const int32_t n_values = learner->n_values;
    branch_t *branch = learner->branches;
    int64_t *scores = learner->values, share = 0, square = 0;
    for (int32_t v = 0; v < n_values; v++) {
        scores[v] = learner->code[stage->start + v];
    }
    for (int32_t i = 0; i < stage->n_walks; i++) {
        const walk_t *walk = &walks[stage->first_walk + i];
        const axis_t *axes = (const axis_t *)(learner->code + walk->axes);
        int is_missing = 0;
        for (int32_t a = 0; a < walk->n_axes; a++) {
            is_missing |= describe(learner, &axes[a], &learner->runs[a]);
        }
        const branch_t *first = branch;
        branch = follow(learner, walk, branch);
        for (int32_t v = 0; v < n_values; v++) {
            int64_t sum = 0;
            for (const branch_t *one = first; one < branch; one++) {
                const int64_t learned = learner->learned[one->rule * n_values + v];
                const int64_t value = shifted(learned, walk->learned_bits);
                sum += one->weight * bounded(value, -LARGEST, LARGEST);
            }
            scores[v] += shifted(sum, 15);
        }
        if (is_missing && stage->shares >= 0) {
            const int64_t of_walk = learner->code[stage->shares + i];
            share += of_walk;
            square += of_walk * of_walk;
        }
    }
    if (share > 0) {
        weaken(learner, stage, share, square, scores);
    }
    if (stage->is_sum) {
        softmax(scores, n_values, stage->value_bits, probabilities);
    } else {
        complete(scores, n_values, probabilities);
    }
    return branch;
}

static inline int64_t gap(const bound_t *bound, const int64_t *values)
{
    return (bound->more > 0 ? values[bound->more - 1] : 0) -
           (bound->less > 0 ? values[bound->less - 1] : 0);
}

/* Whether a rule with these values would break a bound more than it does now. */
static int breaks(const learner_t *learner, int64_t rule, const int64_t *values)
{
    const bound_t *bounds = (const bound_t *)(learner->code + learner->header->bounds);
    const int32_t *of = learner->code + learner->header->bounds_of + rule;
    for (int32_t i = of[0]; i < of[1]; i++) {
        const int is_higher = bounds[i].higher == rule;
        const int64_t other = is_higher ? bounds[i].lower : bounds[i].higher;
        const int64_t now = gap(&bounds[i], learner->learned + rule * learner->n_values);
        const int64_t then = gap(&bounds[i], values);
        const int64_t beside = gap(&bounds[i], learner->learned + other * learner->n_values);
        if (is_higher ? then < beside && then < now : then > beside && then > now) {
            return 1;
        }
    }
    return 0;
}

/* Move the weights of a rule by the error of the stage's probabilities. */
static void move_weights(const learner_t *learner, const branch_t *branch, int64_t observed,
                         const int32_t *probabilities, int32_t step_bits)
{
    const int32_t n_values = learner->n_values, forget_bits = learner->header->forget_bits;
    int64_t *learned = learner->learned + branch->rule * n_values, *values = learner->values;
    const int64_t *start = learner->start + branch->rule * n_values;
    const int64_t of_first = (observed == 0 ? ONE : 0) - probabilities[0];
    for (int32_t v = 0; v < n_values; v++) {
        const int64_t error = (observed == v + 1 ? ONE : 0) - probabilities[v + 1] - of_first;
        int64_t value = learned[v];
        if (forget_bits > 0) {
            value -= shifted(shifted(value - start[v], 15) * branch->weight, forget_bits);
        }
        value += shifted((branch->weight >> 1) * error, step_bits);
        values[v] = bounded(value, -MOST_LEARNT, MOST_LEARNT);
    }
    if (!breaks(learner, branch->rule, values)) {
        for (int32_t v = 0; v < n_values; v++) {
            learned[v] = values[v];
        }
    }
}

/* Move the shares of a rule towards the class that was observed. */
static void move_shares(const learner_t *learner, const branch_t *branch, int64_t observed,
                        int32_t step_bits)
{
    const int32_t n_values = learner->n_values;
    int64_t *learned = learner->learned + branch->rule * n_values, above = -ALL_LEARNT;
    for (int32_t v = 0; v < n_values; v++) {
        const int64_t share = bounded(learned[v], 0, ALL_LEARNT);
        const int64_t error = (observed == v + 1 ? ONE : 0) - (share >> 9);
        const int64_t moved = share + shifted((branch->weight >> 1) * error, step_bits);
        learned[v] = bounded(moved, 0, ALL_LEARNT);
        above += learned[v];
    }
    if (above > 0 && observed > 0) { /* by rounding */
        learned[observed - 1] = bounded(learned[observed - 1] - above, 0, ALL_LEARNT);
    }
}

static void learn_row(const learner_t *learner, int64_t observed)
{
    const int32_t n_classes = learner->header->n_classes;
    const stage_t *stages = (const stage_t *)(learner->code + learner->header->stages);
    for (int32_t s = 0; s < learner->header->n_stages; s++) {
        int32_t *probabilities = learner->probabilities + s * n_classes;
        const branch_t *end = predict(learner, &stages[s], probabilities);
        if (observed < 0 || observed >= n_classes) {
            continue;
        }
        for (const branch_t *branch = learner->branches; branch < end; branch++) {
            if (stages[s].is_sum) {
                move_weights(learner, branch, observed, probabilities, stages[s].step_bits);
            } else {
                move_shares(learner, branch, observed, stages[s].step_bits);
            }
        }
    }
}

/* Predict rows, and learn from each; learned[rule, value] changes, and out[row, class] gets what was
 * predicted before. Rows and columns are some steps apart, which count doubles.
 *   scales    [n_features] what readings are multiplied with
 *   observed  [n_rows] the index of each row's class; one out of range teaches nothing
 *   start     what rules go back to */
SOLAH_EXPORT int32_t solah_learn(const int32_t *code, const double *scales, const double *rows,
                                 int64_t n_rows, int64_t row_step, int64_t column_step,
                                 const int64_t *observed, const int64_t *start, int64_t *learned,
                                 int64_t *out)
{
    const header_t *header = (const header_t *)code;
    const unit_t *units = (const unit_t *)(code + header->units);
    const size_t n_classes = (size_t)header->n_classes;
    const learner_t learner = {
        .code = code,
        .header = header,
        .start = start,
        .learned = learned,
        .n_values = header->n_classes - 1,
        .readings = malloc((size_t)(header->n_features + 1) * sizeof(int32_t)),
        .probabilities = malloc((size_t)header->n_stages * n_classes * sizeof(int32_t)),
        .runs = malloc((size_t)(header->most_axes + 1) * sizeof(run_t)),
        .steps = malloc((size_t)(header->depth + 1) * sizeof(step_t)),
        .branches = malloc((size_t)(header->most_leaves + 1) * sizeof(branch_t)),
        .values = malloc(n_classes * sizeof(int64_t)),
    };
    const int got_all = learner.readings != NULL && learner.probabilities != NULL &&
                        learner.runs != NULL && learner.steps != NULL &&
                        learner.branches != NULL && learner.values != NULL;
    for (int64_t i = 0; i < n_rows && got_all; i++) {
        for (int32_t j = 0; j < header->n_features; j++) {
            const double value = rows[i * row_step + j * column_step];
            learner.readings[j] = reading_of(value, scales[j], units[j].is_code);
        }
        learn_row(&learner, observed[i]);
        const int32_t *last = learner.probabilities + (size_t)(header->n_stages - 1) * n_classes;
        for (size_t c = 0; c < n_classes; c++) {
            out[i * (int64_t)n_classes + (int64_t)c] = last[c];
        }
    }
    free(learner.readings);
    free(learner.probabilities);
    free(learner.runs);
    free(learner.steps);
    free(learner.branches);
    free(learner.values);
    return got_all ? OK : OUT_OF_MEMORY;
}
