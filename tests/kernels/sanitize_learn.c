/* Learns from rows from a file, over buffers of exactly the size it may touch, for ASan and UBSan to
 * watch. Prints what was predicted, and what was learned. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int32_t solah_learn(const int32_t *, const double *, const double *, int64_t, int64_t, int64_t,
                    const int64_t *, const int64_t *, int64_t *, int64_t *);

static void *read_some(FILE *file, int64_t count, size_t size)
{
    void *data = malloc((size_t)count * size);
    if (data == NULL || fread(data, size, (size_t)count, file) != (size_t)count) {
        exit(1);
    }
    return data;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        return 1;
    }
    int64_t *size = read_some(file, 5, sizeof *size);
    const int64_t n_rows = size[1], n_columns = size[2], n_classes = size[3], n_learned = size[4];
    int32_t *code = read_some(file, size[0], sizeof *code);
    double *scales = read_some(file, n_columns, sizeof *scales);
    double *rows = read_some(file, n_rows * n_columns, sizeof *rows);
    int64_t *observed = read_some(file, n_rows, sizeof *observed);
    int64_t *start = read_some(file, n_learned, sizeof *start);
    int64_t *learned = read_some(file, n_learned, sizeof *learned);
    int64_t *out = malloc((size_t)(n_rows * n_classes) * sizeof *out);
    if (out == NULL) {
        return 1;
    }
    const int32_t status =
        solah_learn(code, scales, rows, n_rows, n_columns, 1, observed, start, learned, out);
    for (int64_t i = 0; i < n_rows * n_classes; i++) {
        printf("%" PRId64 " ", out[i]);
    }
    for (int64_t i = 0; i < n_learned; i++) {
        printf("%" PRId64 " ", learned[i]);
    }
    fclose(file);
    free(size), free(code), free(scales), free(rows);
    free(observed), free(start), free(learned), free(out);
    return (int)status;
}
