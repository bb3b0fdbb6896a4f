/* freestanding/string.h, byte by byte: small rather than quick. */
#include <string.h>

/* Without it the compiler would see memcpy in the loop of memcpy, and call it. */
#define PLAIN __attribute__((optimize("no-tree-loop-distribute-patterns")))

PLAIN void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    while (bytes-- > 0) {
        *t++ = *f++;
    }
    return to;
}

PLAIN void *memmove(void *to, const void *from, size_t bytes)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t <= f) {
        return memcpy(to, from, bytes);
    }
    while (bytes-- > 0) {
        t[bytes] = f[bytes];
    }
    return to;
}

PLAIN void *memset(void *to, int value, size_t bytes)
{
    unsigned char *t = to;
    while (bytes-- > 0) {
        *t++ = (unsigned char)value;
    }
    return to;
}

PLAIN int memcmp(const void *left, const void *right, size_t bytes)
{
    const unsigned char *l = left;
    const unsigned char *r = right;
    for (; bytes > 0; bytes--, l++, r++) {
        if (*l != *r) {
            return *l < *r ? -1 : 1;
        }
    }
    return 0;
}
