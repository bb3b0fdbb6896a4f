/* Runs a program on rows from a file, over buffers of exactly the size it may touch, for ASan and
 * UBSan to watch. Prints the outputs, and runs each term by itself. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int32_t solah_run(const int32_t *, const double *, const double *, int64_t, int64_t, int64_t,
                  int32_t, double *);
int32_t solah_run_term(const int32_t *, const double *, int32_t, const double *, int64_t, int64_t,
                       int64_t, const double *, double *);

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
    int64_t *size = read_some(file, 7, sizeof *size);
    const int64_t n_rows = size[2], n_columns = size[3], n_outputs = size[4];
    const int64_t n_stages = size[5], n_terms = size[6];
    int32_t *code = read_some(file, size[0], sizeof *code);
    double *numbers = read_some(file, size[1], sizeof *numbers);
    double *rows = read_some(file, n_rows * n_columns, sizeof *rows);
    double *out = malloc((size_t)(n_rows * n_outputs) * sizeof *out);
    double *below = calloc((size_t)(n_rows * n_stages * n_outputs), sizeof *below);
    if (out == NULL || below == NULL) {
        return 1;
    }
    int32_t status = solah_run(code, numbers, rows, n_rows, n_columns, 1, 0, out);
    for (int64_t i = 0; i < n_rows * n_outputs; i++) {
        printf("%a ", out[i]);
    }
    for (int32_t t = 0; t < n_terms; t++) {
        status |= solah_run_term(code, numbers, t, rows, n_rows, n_columns, 1, below, out);
    }
    fclose(file);
    free(size);
    free(code);
    free(numbers);
    free(rows);
    free(out);
    free(below);
    return (int)status;
}
