/* The tables that both runtimes read: where what readings say stands, and what trees ask. */
#ifndef SOLAH_TABLES_H
#define SOLAH_TABLES_H

#include <stdint.h>

/* What one reading says: straight between knots, level beyond them. The runtimes say how its values
 * are laid out. */
typedef struct {
    uint8_t attribute;
    uint8_t n_knots;
    SOLAH_AT knot;
    SOLAH_AT value;
} solah_curve;

/* What a state says: a line of values each, and one for a reading that is no state. */
typedef struct {
    uint8_t attribute;
    uint8_t n_states;
    SOLAH_AT value;
} solah_table;

/* What a tree asks: a reading, or what an earlier stage believes. */
enum { SOLAH_READING, SOLAH_STATE, SOLAH_BELIEF, SOLAH_ALL_BELIEFS };
typedef struct {
    uint8_t kind;
    uint8_t from;  /* the attribute, or the stage */
    uint8_t place; /* the class, of one belief */
} solah_asked;

#endif
