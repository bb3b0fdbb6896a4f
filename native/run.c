/* Runs the program of a model on rows (solah/model/program.py), called through ctypes.
 *
 * The NumPy functions in solah/model/evaluate.py do the same operations in the same order, so that
 * the results are equal to the bit. Arrays have been checked by the caller. There is no global
 * state, so threads may call with disjoint outputs.
 *
 * A program is two arrays, `code` and `numbers`. The code begins with a header, which has the offsets where
 * the records of axes, terms and stages begin. A member with a comment [code] or [numbers] is an
 * offset from the start of that array. */
#include "export.h"
#include "softmax.h"

#include <math.h>
#include <stdlib.h>

enum { OK = 0, OUT_OF_MEMORY = 1 };
enum { READING, CATEGORY, ONE_BELIEF, ALL_BELIEFS };
enum { SOFTMAX, SHARES, NUMBER, EXP };
enum { LINE, GRID, WALK };

#define EIGHTH_OF_PI 0.39269908169872414

typedef struct {
    int32_t n_outputs, n_stages, n_axes;
    int32_t most_groups; /* of any stage */
    int32_t depth;       /* of the deepest walk */
    int32_t axes, terms, stages; /* [code] */
} header_t;

typedef struct {
    int32_t kind;
    int32_t source; /* a feature or a stage */
    int32_t output; /* of the stage, for one belief */
    int32_t size;
    int32_t peaks, missing; /* [numbers] */
} axis_t;

typedef struct {
    int32_t kind, n_axes;
    int32_t axes;         /* [code] */
    int32_t table;        /* [numbers] a grid's weights with lines for missing, or a walk's rules */
    int32_t split, child; /* [code] of a walk */
    int32_t lost;         /* [numbers] share and variance */
    int32_t has_rule;     /* for a missing reading */
} term_t;

typedef struct {
    int32_t link;
    int32_t baseline;  /* [numbers] */
    int32_t log_prior; /* [numbers], or -1 */
    int32_t axes, n_axes;   /* [code] */
    int32_t first_term, n_terms;
    int32_t groups, n_groups; /* [code] */
} stage_t;

typedef struct {
    int32_t parts, n_parts; /* [code] */
} group_t;

/* Where a value lies on an axis: the lower membership's index, and the upper membership. The index
 * of a missing reading is the size of the axis. */
typedef struct {
    int32_t lower;
    double upper;
} place_t;

typedef struct {
    double weight;
    int32_t node, next;
} step_t;

typedef struct {
    const int32_t *code;
    const double *numbers;
    const header_t *header;
    const axis_t *axes;
    const term_t *terms;
    const stage_t *stages;
} program_t;

/* What one row needs. */
typedef struct {
    place_t *places; /* one per axis */
    step_t *steps;   /* depth + 1 */
    double *walked;  /* n_outputs */
    double *sums;    /* n_outputs + 2 per group: weights, share, variance */
    double *outputs; /* n_outputs per stage */
} work_t;

static program_t read_program(const int32_t *code, const double *numbers)
{
    const header_t *header = (const header_t *)code;
    const program_t program = {code,
                               numbers,
                               header,
                               (const axis_t *)(code + header->axes),
                               (const term_t *)(code + header->terms),
                               (const stage_t *)(code + header->stages)};
    return program;
}

static void *some(int32_t count, size_t size)
{
    return malloc(((size_t)count + 1) * size);
}

static int32_t get_work(const header_t *header, work_t *work)
{
    const int32_t n_outputs = header->n_outputs;
    work->places = some(header->n_axes, sizeof *work->places);
    work->steps = some(header->depth + 1, sizeof *work->steps);
    work->walked = some(n_outputs, sizeof *work->walked);
    work->sums = some(header->most_groups * (n_outputs + 2), sizeof *work->sums);
    work->outputs = some(header->n_stages * n_outputs, sizeof *work->outputs);
    const int got_all = work->places != NULL && work->steps != NULL && work->walked != NULL &&
                        work->sums != NULL && work->outputs != NULL;
    return got_all ? OK : OUT_OF_MEMORY;
}

static void free_work(const work_t *work)
{
    free(work->places);
    free(work->steps);
    free(work->walked);
    free(work->sums);
    free(work->outputs);
}

static inline place_t locate(double x, const double *peak, int32_t size)
{
    place_t place = {size, 0.0};
    if (x != x) {
        return place;
    }
    const double *low = peak; /* the last peak that is not above x, or the first */
    for (int32_t count = size; count > 1;) {
        const int32_t half = count / 2;
        low += x >= low[half] ? half : 0;
        count -= half;
    }
    place.lower = (int32_t)(low - peak);
    if (place.lower < size - 1 && x > *low) {
        place.upper = (x - low[0]) / (low[1] - low[0]);
    }
    return place;
}

static inline void locate_axis(const program_t *program, int32_t a, const double *row,
                               int64_t column_step, const double *outputs, place_t *places)
{
    const axis_t *axis = &program->axes[a];
    if (axis->kind != ALL_BELIEFS) {
        const double x = axis->kind == ONE_BELIEF
                             ? outputs[axis->source * program->header->n_outputs + axis->output]
                             : row[axis->source * column_step];
        places[a] = locate(x, program->numbers + axis->peaks, axis->size);
    }
}

static inline void add_line(const double *table, place_t place, const int32_t n_outputs,
                            double *total)
{
    const double u = place.upper;
    const double *low = table + place.lower * n_outputs;
    const double *high = low + (u > 0.0 ? n_outputs : 0);
    for (int32_t g = 0; g < n_outputs; g++) {
        total[g] += (1.0 - u) * low[g] + u * high[g];
    }
}

static inline void add_grid(const double *table, place_t first, place_t second, int32_t n_second,
                            const int32_t n_outputs, double *total)
{
    const int32_t line = (n_second + 1) * n_outputs;
    const double u = first.upper, v = second.upper;
    const double *low = table + first.lower * line + second.lower * n_outputs;
    const double *high = low + (u > 0.0 ? line : 0);
    const int32_t right = v > 0.0 ? n_outputs : 0;
    for (int32_t g = 0; g < n_outputs; g++) {
        total[g] += (1.0 - u) * ((1.0 - v) * low[g] + v * low[right + g]) +
                    u * ((1.0 - v) * high[g] + v * high[right + g]);
    }
}

/* Go down depth first, and take the branches with weight. */
static inline void add_walk(const program_t *program, const term_t *term, const double *outputs,
                            const work_t *work, const int32_t n_outputs, double *total)
{
    const int32_t *split = program->code + term->split, *child = program->code + term->child;
    const int32_t *axes = program->code + term->axes;
    double *walked = work->walked;
    for (int32_t g = 0; g < n_outputs; g++) {
        walked[g] = 0.0;
    }
    step_t *step = work->steps;
    step->weight = 1.0;
    step->node = 0;
    step->next = 0;
    for (;;) {
        const int32_t node = step->node;
        if (split[node] < 0) {
            const double *rule = program->numbers + term->table + child[node] * n_outputs;
            for (int32_t g = 0; g < n_outputs; g++) {
                walked[g] += step->weight * rule[g];
            }
        } else {
            const int32_t a = axes[split[node]], k = step->next++;
            const axis_t *axis = &program->axes[a];
            const place_t place = work->places[a];
            const double *all = NULL;
            if (axis->kind == ALL_BELIEFS) {
                all = outputs + axis->source * n_outputs;
            } else if (place.lower == axis->size) {
                all = program->numbers + axis->missing;
            }
            if (k < (all != NULL ? axis->size : 2)) {
                const double membership = all != NULL ? all[k]
                                          : k == 1    ? place.upper
                                                      : 1.0 - place.upper;
                const double weight = step->weight * membership;
                if (weight > 0.0) {
                    const int32_t below = child[node] + k + (all != NULL ? 0 : place.lower);
                    step++;
                    step->weight = weight;
                    step->node = below;
                    step->next = 0;
                }
                continue;
            }
        }
        if (step == work->steps) {
            break;
        }
        step--;
    }
    for (int32_t g = 0; g < n_outputs; g++) {
        total[g] += walked[g];
    }
}

static inline void add_term(const program_t *program, const term_t *term, const double *outputs,
                            const work_t *work, const int32_t n_outputs, double *total)
{
    const int32_t *axes = program->code + term->axes;
    const double *table = program->numbers + term->table;
    if (term->kind == LINE) {
        add_line(table, work->places[axes[0]], n_outputs, total);
    } else if (term->kind == GRID) {
        add_grid(table, work->places[axes[0]], work->places[axes[1]], program->axes[axes[1]].size,
                 n_outputs, total);
    } else {
        add_walk(program, term, outputs, work, n_outputs, total);
    }
}

/* Whether a term lacks a reading that it has no rule for. */
static inline int is_lost(const program_t *program, const term_t *term, const place_t *places)
{
    const int32_t *axes = program->code + term->axes;
    for (int32_t j = 0; j < term->n_axes && !term->has_rule; j++) {
        const axis_t *axis = &program->axes[axes[j]];
        if (axis->kind <= CATEGORY && places[axes[j]].lower == axis->size) {
            return 1;
        }
    }
    return 0;
}

/* Add up the parts of a stage; the sum of its last group is that of the stage. */
static inline const double *add_stage(const program_t *program, const stage_t *stage,
                                      const work_t *work, const int32_t n_outputs)
{
    const group_t *groups = (const group_t *)(program->code + stage->groups);
    const term_t *terms = program->terms + stage->first_term;
    double *total = work->sums;
    for (int32_t i = 0; i < stage->n_groups; i++) {
        const int32_t *parts = program->code + groups[i].parts;
        total = work->sums + i * (n_outputs + 2);
        for (int32_t g = 0; g < n_outputs + 2; g++) {
            total[g] = 0.0;
        }
        for (int32_t j = 0; j < groups[i].n_parts; j++) {
            if (parts[j] < stage->n_terms) {
                const term_t *term = &terms[parts[j]];
                add_term(program, term, work->outputs, work, n_outputs, total);
                if (stage->log_prior >= 0 && is_lost(program, term, work->places)) {
                    total[n_outputs] += program->numbers[term->lost];
                    total[n_outputs + 1] += program->numbers[term->lost + 1];
                }
            } else {
                const double *below = work->sums + (parts[j] - stage->n_terms) * (n_outputs + 2);
                for (int32_t g = 0; g < n_outputs + 2; g++) {
                    total[g] += below[g];
                }
            }
        }
    }
    return total;
}

static inline void run_stage(const program_t *program, const stage_t *stage, const work_t *work,
                             int with_link, const int32_t n_outputs, double *output)
{
    const double *total = add_stage(program, stage, work, n_outputs);
    const double *baseline = program->numbers + stage->baseline;
    const double share = total[n_outputs], variance = total[n_outputs + 1];
    if (stage->log_prior >= 0 && variance > 0.0) {
        const double *start = program->numbers + stage->log_prior;
        const double scale = 1.0 / sqrt(1.0 + EIGHTH_OF_PI * variance);
        for (int32_t g = 0; g < n_outputs; g++) {
            const double lean = (baseline[g] - start[g]) * (1.0 - share);
            output[g] = start[g] + scale * (lean + total[g]);
        }
    } else {
        for (int32_t g = 0; g < n_outputs; g++) {
            output[g] = total[g] + baseline[g];
        }
    }
    if (stage->link == SOFTMAX && with_link) {
        softmax(output, n_outputs);
    }
    for (int32_t g = 0; g < n_outputs && stage->link == EXP && with_link; g++) {
        output[g] = exp_of_score(output[g]);
    }
    for (int32_t g = 0; g < n_outputs && stage->link == SHARES; g++) {
        output[g] = output[g] > 1.0 ? 1.0 : output[g]; /* a sum may round to a bit more */
    }
}

static inline void run_rows(const program_t *program, const double *rows, int64_t n_rows,
                            int64_t row_step, int64_t column_step, int32_t as_scores,
                            const work_t *work, const int32_t n_outputs, double *out)
{
    const int32_t last = program->header->n_stages - 1;
    for (int64_t i = 0; i < n_rows; i++) {
        for (int32_t s = 0; s <= last; s++) {
            const stage_t *stage = &program->stages[s];
            const int32_t *axes = program->code + stage->axes;
            for (int32_t j = 0; j < stage->n_axes; j++) {
                locate_axis(program, axes[j], rows + i * row_step, column_step, work->outputs,
                            work->places);
            }
            double *output = s == last ? out + i * n_outputs : work->outputs + s * n_outputs;
            run_stage(program, stage, work, s < last || !as_scores, n_outputs, output);
        }
    }
}

/* Write the outputs of the last stage, or its scores, to out[row, output]. Rows and columns of
 * readings are some steps apart, which count doubles. */
SOLAH_EXPORT int32_t solah_run(const int32_t *code, const double *numbers, const double *rows,
                               int64_t n_rows, int64_t row_step, int64_t column_step,
                               int32_t as_scores, double *out)
{
    const program_t program = read_program(code, numbers);
    const int32_t n_outputs = program.header->n_outputs;
    work_t work;
    const int32_t status = get_work(program.header, &work);
    if (status == OK && n_outputs == 1) { /* loops of a known length are faster */
        run_rows(&program, rows, n_rows, row_step, column_step, as_scores, &work, 1, out);
    } else if (status == OK && n_outputs == 2) {
        run_rows(&program, rows, n_rows, row_step, column_step, as_scores, &work, 2, out);
    } else if (status == OK && n_outputs == 3) {
        run_rows(&program, rows, n_rows, row_step, column_step, as_scores, &work, 3, out);
    } else if (status == OK) {
        run_rows(&program, rows, n_rows, row_step, column_step, as_scores, &work, n_outputs, out);
    }
    free_work(&work);
    return status;
}

/* Write what one term adds to out[row, output]. The outputs of all stages are given,
 * outputs[row, stage, output], as far as the term reads them. */
SOLAH_EXPORT int32_t solah_run_term(const int32_t *code, const double *numbers, int32_t term,
                                    const double *rows, int64_t n_rows, int64_t row_step,
                                    int64_t column_step, const double *outputs, double *out)
{
    const program_t program = read_program(code, numbers);
    const int32_t n_outputs = program.header->n_outputs;
    const int64_t n_below = (int64_t)program.header->n_stages * n_outputs;
    const term_t *one = &program.terms[term];
    work_t work;
    const int32_t status = get_work(program.header, &work);
    for (int64_t i = 0; i < n_rows && status == OK; i++) {
        const double *below = outputs + i * n_below;
        for (int32_t j = 0; j < one->n_axes; j++) {
            locate_axis(&program, program.code[one->axes + j], rows + i * row_step, column_step,
                        below, work.places);
        }
        for (int32_t g = 0; g < n_outputs; g++) {
            out[i * n_outputs + g] = 0.0;
        }
        add_term(&program, one, below, &work, n_outputs, out + i * n_outputs);
    }
    free_work(&work);
    return status;
}
