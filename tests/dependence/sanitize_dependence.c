/* Drives the sums of distance correlation over buffers of exactly the size they may touch, for ASan
 * and UBSan to watch. Prints the products of two columns by points and by a table, in turn. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void solah_margins(const int32_t *, int32_t, const double *, const int32_t *, int32_t,
                   const int64_t *, int64_t, double *, double *, double *);
void solah_pair_sums(const uint8_t *const *, const int32_t *, const double *const *,
                     const uint8_t *const *, const int32_t *, const double *const *, int64_t,
                     const int64_t *, int64_t, int64_t *, double *);
void solah_point_products(const int32_t *, int32_t, const double *, const double *, const int32_t *,
                          int32_t, const double *, const double *, const int32_t *, const int64_t *,
                          int64_t, void *, double *);

enum { ROWS = 403, A = 37, B = 255, POINT = 32 };

static void *get(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        exit(1);
    }
    return memory;
}

static void compare(int names, const int64_t *weight)
{
    int32_t *code_a = get(ROWS, 4), *code_b = get(ROWS, 4), *order = get(ROWS, 4);
    uint8_t *byte_a = get(ROWS, 1), *byte_b = get(ROWS, 1);
    double *value_a = get(A, 8), *value_b = get(B, 8), *row_a = get(A, 8), *row_b = get(B, 8);
    double *sums = get(9, 8), *pair = get(2, 8), *sums_a = get(4, 8), *sums_b = get(4, 8);
    double *work_a = get(A, 8), *work_b = get(B, 8);
    int64_t *counts = get((A + 1) * (B + 1), 8);
    void *points = get(2 * ROWS * POINT + B * 8 + 8, 1);
    int32_t count = 0;

    for (int32_t i = 0; i < ROWS; i++) {
        code_a[i] = i * 7919 % (A + 1); /* A and B themselves: missing values */
        code_b[i] = i * i % (B + 1);
        byte_a[i] = (uint8_t)code_a[i];
        byte_b[i] = (uint8_t)code_b[i];
    }
    for (int32_t level = 0; level <= A; level++) {
        for (int32_t i = 0; i < ROWS; i++) {
            if (code_a[i] == level) {
                order[count++] = i;
            }
        }
    }
    for (int32_t p = 0; p < B; p++) {
        value_b[p] = p * p / 1e4;
        value_a[p % A] = (p % A) / 10.0;
    }
    const double *named_a = names > 0 ? NULL : value_a, *named_b = names > 1 ? NULL : value_b;
    solah_margins(code_a, A, named_a, code_b, B, weight, ROWS, work_a, row_a, sums_a);
    solah_margins(code_b, B, named_b, code_a, A, weight, ROWS, work_b, row_b, sums_b);
    solah_point_products(code_a, A, named_a, row_a, code_b, B, named_b, row_b, order, weight, ROWS,
                         points, pair);
    printf("%.17g %.17g\n", pair[0], pair[1]);
    const uint8_t *const codes_a = byte_a, *const codes_b = byte_b;
    const int32_t n_a = A, n_b = B;
    solah_pair_sums(&codes_a, &n_a, &named_a, &codes_b, &n_b, &named_b, 1, weight, ROWS, counts,
                    sums);
    printf("%.17g %.17g\n", sums[1], sums[2]);
    free(code_a), free(code_b), free(order), free(byte_a), free(byte_b), free(value_a);
    free(value_b), free(row_a), free(row_b), free(sums), free(pair), free(sums_a), free(sums_b);
    free(work_a), free(work_b), free(counts), free(points);
}

int main(void)
{
    int64_t weight[ROWS];
    for (int32_t i = 0; i < ROWS; i++) {
        weight[i] = i % 5;
    }
    for (int names = 0; names < 3; names++) {
        compare(names, NULL);
        compare(names, weight);
    }
    return 0;
}
