/* The part of <string.h> that a compiler may call by itself, for bare platforms without a C library. */
#ifndef SOLAH_STRING_H
#define SOLAH_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);

#endif
