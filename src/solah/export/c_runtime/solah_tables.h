/* The tables that both runtimes read: the scores of readings, and what trees ask. Before it is
 * included, solah_number (what is added up), solah_value (what tables hold of it) and solah_belief
 * are defined, and the sizes that the runtimes name. */
#ifndef SOLAH_TABLES_H
#define SOLAH_TABLES_H

#include "solah_flash.h"

#include <stdint.h>

/* The scores of one reading: straight between knots, level beyond them. The runtimes define how its
 * values are laid out. */
typedef struct {
    uint8_t feature;
    uint8_t n_knots;
    SOLAH_AT knot;
    SOLAH_AT value;
} solah_curve;

/* The scores of states: a line of values each, and one for an unseen one. */
typedef struct {
    uint8_t feature;
    uint8_t n_states;
    SOLAH_AT value;
} solah_table;

#ifdef SOLAH_GRIDS
/* One of the two features of a grid: a line per peak or category, and one for a missing reading. */
typedef struct {
    uint8_t feature;
    uint8_t n_lines; /* without that of a missing reading */
    uint8_t is_state;
    SOLAH_AT knot;  /* of readings, the peaks */
    SOLAH_AT value; /* and the slopes between them */
} solah_side;

/* The scores of two features together: a cell per line of both, which names a line of values. */
typedef struct {
    solah_side sides[2];
    SOLAH_AT cell;
    SOLAH_AT value;
} solah_grid;
#endif

/* What a tree asks: a reading, or what an earlier stage puts out. */
enum { SOLAH_READING, SOLAH_STATE, SOLAH_BELIEF, SOLAH_ALL_BELIEFS };
typedef struct {
    uint8_t kind;
    uint8_t from;  /* the feature, or the stage */
    uint8_t place; /* the class, of one output */
} solah_asked;

/* A tree over several inputs; the runtimes define what it holds. */
typedef struct solah_walk solah_walk;

/* What leads to one output: scores that are added up, or the probabilities of a tree. */
typedef struct {
    const SOLAH_FLASH solah_number *start;
    uint8_t is_weighed;
    int8_t value_bits; /* the unit of integers is 2^-value_bits */
    SOLAH_AT first_curve, n_curves;
    SOLAH_AT first_table, n_tables;
    SOLAH_AT first_grid, n_grids;
    SOLAH_AT first_walk, n_walks;
#ifdef SOLAH_LOSES
    /* The share of each term that is lost with a missing reading, of curves, tables, grids and walks.
     * The variance of missing scores is the sum of the squares of shares, times a factor. */
    const SOLAH_FLASH solah_belief *lost;
    const SOLAH_FLASH solah_number *prior; /* the log shares of classes; what the bias adds to them */
    solah_belief factor;
    uint8_t factor_shift; /* of integers */
#endif
} solah_stage;

/* All of a model: const, and in the flash unless it is put together when it runs. */
struct solah_tables {
#ifdef SOLAH_SIZES_IN_MODEL
    uint8_t n_classes, n_values, n_stages;
#endif
#ifdef SOLAH_IN_INTEGERS
    const SOLAH_FLASH int32_t *zero; /* what is taken off each reading, or NULL */
#endif
    const SOLAH_FLASH solah_knot *knots;
    const SOLAH_FLASH solah_value *values;
    const SOLAH_FLASH solah_curve *curves;
    const SOLAH_FLASH solah_table *tables;
#ifdef SOLAH_GRIDS
    const SOLAH_FLASH solah_grid *grids;
    const SOLAH_FLASH uint8_t *cells;
#endif
    const SOLAH_FLASH solah_walk *walks;
    const SOLAH_FLASH solah_stage *stages;
    /* What the decision adds to scores, or multiplies probabilities by; or NULL. */
    const SOLAH_FLASH solah_number *preference;
#ifdef SOLAH_LEARNS
    const int32_t *learned; /* the scores of rules, in RAM; NULL for those in the flash */
    const SOLAH_FLASH int32_t *flashed;
#endif
};
#if defined(SOLAH_LEARNS) || defined(SOLAH_SIZES_IN_MODEL)
typedef const struct solah_tables solah_model;
#else
typedef const SOLAH_FLASH struct solah_tables solah_model;
#endif

/* How many classes, values and stages a model has: known when it is compiled, or read from it. */
#ifdef SOLAH_SIZES_IN_MODEL
#define SOLAH_CLASSES(model) ((int32_t)(model)->n_classes)
#define SOLAH_VALUES(model) ((int32_t)(model)->n_values)
#define SOLAH_STAGES(model) ((int32_t)(model)->n_stages)
#else
#define SOLAH_CLASSES(model) ((void)(model), SOLAH_N_CLASSES)
#define SOLAH_VALUES(model) ((void)(model), SOLAH_N_VALUES)
#define SOLAH_STAGES(model) ((void)(model), SOLAH_N_STAGES)
#endif

/* A known reading, brought within the knots of a curve. */
SOLAH_INLINE solah_reading solah_inside(const SOLAH_FLASH solah_knot *knot, int32_t last,
                                        solah_reading x)
{
    if (x < knot[0]) {
        x = knot[0];
    }
    if (x > knot[last]) {
        x = knot[last];
    }
    return x;
}

/* The piece of a curve that a reading within its knots lies on. */
SOLAH_INLINE int32_t solah_piece(const SOLAH_FLASH solah_knot *knot, int32_t last, solah_reading x)
{
    int32_t k = 0;
    while (k < last - 1 && x >= knot[k + 1]) {
        k++;
    }
    return k;
}

/* Add a line of values. */
SOLAH_INLINE void solah_add(solah_model *model, solah_number *total,
                            const SOLAH_FLASH solah_value *values)
{
    for (int32_t v = 0; v < SOLAH_VALUES(model); v++) {
        total[v] += values[v];
    }
}

#endif
