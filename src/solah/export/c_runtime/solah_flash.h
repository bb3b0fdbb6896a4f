/* Where tables lie. On AVR the flash is a memory apart, which GNU C reads through __flash; elsewhere
 * it is read like any other. */
#ifndef SOLAH_FLASH_H
#define SOLAH_FLASH_H

#include <stddef.h>

/* GNU C fuses multiplications with additions where ISO C does not, and the bits of floats change. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && !defined(__STRICT_ANSI__)
#pragma GCC optimize("fp-contract=off")
#endif

/* What a decision runs through is in one piece, though reasons need it too: calls would cost.
 * Where sizes vary, the pieces are too large for that. */
#if defined(__GNUC__) && !defined(SOLAH_SIZES_IN_MODEL)
#define SOLAH_INLINE static inline __attribute__((always_inline))
#else
#define SOLAH_INLINE static inline
#endif

#if defined(__AVR__) && !defined(__STRICT_ANSI__) && !defined(__cplusplus) && \
    !defined(SOLAH_SIZES_IN_MODEL)
#pragma GCC diagnostic ignored "-Wpedantic" /* __flash is not ISO C */
#define SOLAH_FLASH __flash
#define SOLAH_FLASH_IS_APART 1
#define SOLAH_POINT_TO_FLASH(run, masses) ((run)->mass = NULL, (run)->mean_masses = (masses))
#define SOLAH_MASS(run, k) ((run)->mass != NULL ? (run)->mass[k] : (run)->mean_masses[k])
#else
#define SOLAH_FLASH
#define SOLAH_FLASH_IS_APART 0
#define SOLAH_POINT_TO_FLASH(run, masses) ((run)->mass = (masses))
#define SOLAH_MASS(run, k) ((run)->mass[k])
#endif

/* Copy a text to where there is room for `size` bytes, cut if need be; return its whole length. */
static inline size_t solah_copy_text(const SOLAH_FLASH char *text, char *to, size_t size)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        if (length + 1u < size) {
            to[length] = text[length];
        }
    }
    if (size > 0u) {
        to[length < size ? length : size - 1u] = '\0';
    }
    return length;
}

#endif
