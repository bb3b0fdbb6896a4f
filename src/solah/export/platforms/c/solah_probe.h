/* What measure.c measures: one decision, from the bytes of a row to the bytes of an answer. */
#ifndef SOLAH_PROBE_H
#define SOLAH_PROBE_H

void solah_probe(const void *row, void *answer);

#endif
