/* Sums for distance correlation: the compiled simulator of
 * solah/hierarchy/dependence/reference.py.
 *
 * A column is levels and codes: row i has the value value[code[i]], values increase, and a code of
 * n_levels is a missing value. Distances are a_pq = |value_p - value_q|, or 0 and 1 for names, which
 * have no values (NULL); rows have weights w. With a. and b. for the rows' sums of distances, what
 * a pair of columns a, b needs are sums over its rows or over ordered pairs of its rows:
 *
 *   margins of a column   {w, w a., w w a a, w a. a.}
 *   products of a pair    {w w a b, w a. b.}
 */
#include "export.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* SMALL: as many codes as a byte has. */
enum { FEW = 16, SMALL = 256 };

/* Distances from every level to weighted levels: out_p = sum_q |v_p - v_q| w_q, or with 0-1. */
static void distance_sums(const double *value, const double *weight, int32_t n, double *out)
{
    double w_all = 0.0, v_all = 0.0, w = 0.0, v = 0.0;
    for (int32_t q = 0; q < n; q++) {
        w_all += weight[q];
        v_all += value == NULL ? 0.0 : weight[q] * value[q];
    }
    for (int32_t p = 0; p < n; p++) {
        if (value == NULL) {
            out[p] = w_all - weight[p];
            continue;
        }
        w += weight[p];
        v += weight[p] * value[p];
        out[p] = value[p] * (2.0 * w - w_all) - (2.0 * v - v_all);
    }
}

/* From the levels' weights: each level's sum of distances, and the margins. Squared distances have
 * a closed form. */
static void margins(const double *value, const double *weight, int32_t n, double *row, double *sums)
{
    double w = 0.0, distances = 0.0, squares = 0.0, mean = 0.0, spread = 0.0;
    distance_sums(value, weight, n, row);
    for (int32_t p = 0; p < n; p++) {
        const double weighted = weight[p] * row[p];
        w += weight[p];
        distances += weighted;
        squares += weighted * row[p];
        mean += value == NULL ? 0.0 : weight[p] * value[p];
    }
    mean = w > 0.0 ? mean / w : 0.0;
    for (int32_t p = 0; p < n && value != NULL; p++) {
        spread += weight[p] * (value[p] - mean) * (value[p] - mean);
    }
    sums[0] = w;
    sums[1] = distances;
    sums[2] = value == NULL ? distances : 2.0 * w * spread;
    sums[3] = squares;
}

/* The margins of a column over the rows in which another one is there too; work has n_levels. */
SOLAH_EXPORT void solah_margins(const int32_t *code, int32_t n_levels, const double *value,
                                const int32_t *other, int32_t n_other, const int64_t *weight,
                                int64_t n, double *work, double *row, double *sums)
{
    memset(work, 0, (size_t)n_levels * sizeof *work);
    for (int64_t i = 0; i < n; i++) {
        if (code[i] < n_levels && other[i] < n_other) {
            work[code[i]] += weight == NULL ? 1.0 : (double)weight[i];
        }
    }
    margins(value, work, n_levels, row, sums);
}

/* Tables of counts: columns with few levels. */

/* Add rows to counts[code_a][code_b], n_a + 1 by n_b + 1 with the missing values last. */
SOLAH_EXPORT void solah_joint_counts(const uint8_t *a, const uint8_t *b, const int64_t *weight,
                                     int64_t n, int32_t n_b, int64_t *counts)
{
    const uint32_t stride = (uint32_t)n_b + 1;
    int64_t i = 0;
    /* Eight codes are loaded at once: the loads, not the counting, would take the time. */
    for (; weight == NULL && i + 8 <= n; i += 8) {
        uint64_t of_a, of_b;
        memcpy(&of_a, a + i, sizeof of_a);
        memcpy(&of_b, b + i, sizeof of_b);
        for (int32_t k = 0; k < 8; k++) {
            counts[(of_a & 255) * stride + (of_b & 255)]++;
            of_a >>= 8;
            of_b >>= 8;
        }
    }
    for (; i < n; i++) {
        counts[a[i] * stride + b[i]] += weight == NULL ? 1 : weight[i];
    }
}

/* One of the two columns of a table: its levels' weights and sums of distances, its margins. */
typedef struct {
    const double *value;
    int32_t n;
    double weight[SMALL], row[SMALL], sums[4];
} side;

static const int64_t *row_of(const int64_t *counts, int32_t p, const side *b)
{
    return counts + (int64_t)p * (b->n + 1);
}

static void weigh_sides(const int64_t *counts, side *a, side *b)
{
    int64_t weight_b[SMALL] = {0};
    for (int32_t p = 0; p < a->n; p++) {
        const int64_t *at = row_of(counts, p, b);
        int64_t weight_a = 0;
        for (int32_t r = 0; r < b->n; r++) {
            weight_a += at[r];
            weight_b[r] += at[r];
        }
        a->weight[p] = (double)weight_a;
    }
    for (int32_t r = 0; r < b->n; r++) {
        b->weight[r] = (double)weight_b[r];
    }
    margins(a->value, a->weight, a->n, a->row, a->sums);
    margins(b->value, b->weight, b->n, b->row, b->sums);
}

/* The products of two columns of numbers. A distance is the sum of the gaps between neighbouring
 * levels that lie within it, so that sums over pairs of rows become sums over pairs of gaps. With F
 * the weight below both gaps, R and C the weights below either, W all weight and the surplus
 * D = F - R C / W of what lies below both over what would if the columns were independent:
 *
 *   w a. b. = (w a.) (w b.) / W + sum gap_a gap_b (W - 2 R) (W - 2 C) D
 *   w w a b = (w a.) (w b.) / W^2 + sum gap_a gap_b (2 (W - 2 R) (W - 2 C) D / W + 4 D^2)
 *
 * F is a sum of whole numbers, so it is exact. */
static void number_products(const int64_t *counts, const side *a, const side *b, double *pair)
{
    double below_b[SMALL], reached[SMALL] = {0}, squares[SMALL] = {0}, tilts[SMALL] = {0};
    const double all = a->sums[0], independent = a->sums[1] * b->sums[1] / all;
    double below_a = 0.0, square = 0.0, tilt = 0.0;
    for (int32_t r = 0; r < b->n; r++) {
        below_b[r] = b->weight[r] + (r > 0 ? below_b[r - 1] : 0.0);
    }
    for (int32_t p = 0; p + 1 < a->n; p++) {
        const int64_t *at = row_of(counts, p, b);
        const double gap = a->value[p + 1] - a->value[p];
        int64_t here = 0;
        below_a += a->weight[p];
        const double share = below_a / all, tilted_gap = gap * (all - 2.0 * below_a);
        for (int32_t r = 0; r < b->n; r++) {
            here += at[r];
            reached[r] += (double)here;
        }
        for (int32_t r = 0; r < b->n; r++) {
            const double surplus = reached[r] - share * below_b[r];
            squares[r] += gap * surplus * surplus;
            tilts[r] += tilted_gap * surplus;
        }
    }
    for (int32_t r = 0; r + 1 < b->n; r++) {
        const double gap = b->value[r + 1] - b->value[r];
        square += gap * squares[r];
        tilt += gap * (all - 2.0 * below_b[r]) * tilts[r];
    }
    pair[0] = independent / all + 2.0 * tilt / all + 4.0 * square;
    pair[1] = independent + tilt;
}

/* Sum w w b over the pairs of rows of one name of a, by the gaps of b. */
static double within_rows(const int64_t *counts, const side *a, const side *b)
{
    double parted[SMALL] = {0}, sum = 0.0;
    for (int32_t p = 0; p < a->n; p++) {
        const int64_t *at = row_of(counts, p, b);
        int64_t below = 0;
        for (int32_t r = 0; r < b->n; r++) {
            below += at[r];
            parted[r] += (double)below * (a->weight[p] - (double)below);
        }
    }
    for (int32_t r = 0; r + 1 < b->n; r++) {
        sum += (b->value[r + 1] - b->value[r]) * parted[r];
    }
    return 2.0 * sum;
}

/* The products of names with names or numbers. */
static void name_products(const int64_t *counts, const side *a, const side *b, double *pair)
{
    double crossed[SMALL] = {0}, both[SMALL] = {0}, equal = 0.0;
    for (int32_t p = 0; p < a->n; p++) {
        const int64_t *at = row_of(counts, p, b);
        for (int32_t r = 0; r < b->n; r++) {
            const double here = (double)at[r];
            crossed[r] += a->row[p] * here;
            both[r] += here * here;
        }
    }
    pair[1] = 0.0;
    for (int32_t r = 0; r < b->n; r++) {
        pair[1] += b->row[r] * crossed[r];
        equal += both[r];
    }
    pair[0] = b->value == NULL ? a->sums[1] + b->sums[1] - a->sums[0] * a->sums[0] + equal
                               : b->sums[1] - within_rows(counts, a, b);
}

/* The nine sums of a table: {w, products, margins of a without w, those of b}. Names come first:
 * value_b is NULL only if value_a is. */
SOLAH_EXPORT void solah_count_sums(const int64_t *counts, int32_t n_a, const double *value_a,
                                   int32_t n_b, const double *value_b, double *sums)
{
    side a, b;
    a.value = value_a;
    a.n = n_a;
    b.value = value_b;
    b.n = n_b;
    weigh_sides(counts, &a, &b);
    memset(sums, 0, 9 * sizeof *sums);
    if (a.sums[0] <= 0.0) {
        return;
    }
    (value_a == NULL ? name_products : number_products)(counts, &a, &b, sums + 1);
    sums[0] = a.sums[0];
    memcpy(sums + 3, a.sums + 1, 3 * sizeof *sums);
    memcpy(sums + 6, b.sums + 1, 3 * sizeof *sums);
}

/* The nine sums of many pairs of columns, one after another; counts has SMALL^2. */
SOLAH_EXPORT void solah_pair_sums(const uint8_t *const *code_a, const int32_t *n_a,
                                  const double *const *value_a, const uint8_t *const *code_b,
                                  const int32_t *n_b, const double *const *value_b, int64_t n_pairs,
                                  const int64_t *weight, int64_t n, int64_t *counts, double *sums)
{
    for (int64_t k = 0; k < n_pairs; k++) {
        const size_t cells = ((size_t)n_a[k] + 1) * ((size_t)n_b[k] + 1);
        memset(counts, 0, cells * sizeof *counts);
        solah_joint_counts(code_a[k], code_b[k], weight, n, n_b[k], counts);
        solah_count_sums(counts, n_a[k], value_a[k], n_b[k], value_b[k], sums + 9 * k);
    }
}

/* Sorted points: columns with many levels. */

typedef struct {
    double x, y, weight;
    uint32_t code_x, code_y;
} point;

/* Order points by y, keeping the order of equals; place has n_levels + 1. */
static void sort_by_y(const point *from, point *to, int64_t n, int32_t n_levels, int64_t *place)
{
    memset(place, 0, ((size_t)n_levels + 1) * sizeof *place);
    for (int64_t i = 0; i < n; i++) {
        place[from[i].code_y + 1]++;
    }
    for (int32_t p = 0; p < n_levels; p++) {
        place[p + 1] += place[p];
    }
    for (int64_t i = 0; i < n; i++) {
        to[place[from[i].code_y]++] = from[i];
    }
}

/* Make one point of equal ones, so that the order of the rows leaves no trace. */
static int64_t merge_equals(point *points, int64_t n)
{
    int64_t last = -1;
    for (int64_t i = 0; i < n; i++) {
        if (last >= 0 && points[i].code_x == points[last].code_x &&
            points[i].code_y == points[last].code_y) {
            points[last].weight += points[i].weight;
        } else {
            points[++last] = points[i];
        }
    }
    return last + 1;
}

/* Concordant pairs among few points, one by one. */
static double few_concordant(const point *points, int64_t n)
{
    double sum = 0.0;
    for (int64_t j = 1; j < n; j++) {
        const point at = points[j];
        double here = 0.0;
        for (int64_t i = 0; i < j; i++) {
            const double apart = at.x - points[i].x;
            here += points[i].weight * (apart > 0.0 ? apart : 0.0) * (at.y - points[i].y);
        }
        sum += at.weight * here;
    }
    return sum;
}

/* The sum of w w (x - x') (y - y') over the concordant pairs (x > x' and y > y') of points that come
 * sorted by y, and whose x agree in the bits of their code above `bit`. A point is left or right by
 * that bit, so x is smaller on the left: each right point meets the sums over the left points
 * before it; then both sides are taken alone. No step waits for a branch that data decide. */
static double concordant(point *from, point *to, int64_t n, uint32_t bit)
{
    if (n <= FEW) {
        return few_concordant(from, n);
    }
    if (bit == 0) {
        return 0.0;
    }
    int64_t n_left = 0;
    for (int64_t i = 0; i < n; i++) {
        n_left += (from[i].code_x & bit) == 0;
    }
    double w = 0.0, x = 0.0, y = 0.0, xy = 0.0, sum = 0.0;
    int64_t done_left = 0;
    for (int64_t i = 0; i < n; i++) {
        const point p = from[i];
        const int32_t right = (p.code_x & bit) != 0;
        const double of_right = p.weight * right, of_left = p.weight - of_right;
        const double product = p.x * p.y;
        sum += of_right * ((product * w - p.x * y) - (p.y * x - xy));
        w += of_left;
        x += of_left * p.x;
        y += of_left * p.y;
        xy += of_left * product;
        to[done_left + right * (n_left + i - 2 * done_left)] = p;
        done_left += 1 - right;
    }
    sum += concordant(to, from, n_left, bit >> 1);
    return sum + concordant(to + n_left, from + n_left, n - n_left, bit >> 1);
}

static uint32_t highest_bit(int32_t n_codes)
{
    uint32_t bit = 1;
    while (bit < (uint32_t)n_codes) {
        bit *= 2;
    }
    return bit / 2;
}

/* The sum of w w |x - x'| |y - y'| over pairs of points: |d| = 2 max(d, 0) - d, and the last part
 * has a closed form. */
static double products(point *points, point *spare, int64_t n, int32_t n_codes)
{
    double w = 0.0, x = 0.0, y = 0.0, xy = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double wx = points[i].weight * points[i].x;
        w += points[i].weight;
        x += wx;
        y += points[i].weight * points[i].y;
        xy += wx * points[i].y;
    }
    return 2.0 * concordant(points, spare, n, highest_bit(n_codes)) - (w * xy - x * y);
}

/* The sum of w w |y - y'| over pairs of one name; below has 2 n_names. */
static double within_names(const point *points, int64_t n, int32_t n_names, double *below)
{
    double sum = 0.0;
    memset(below, 0, 2 * (size_t)n_names * sizeof *below);
    for (int64_t i = 0; i < n; i++) {
        double *const w = below + 2 * (size_t)points[i].code_x, *const v = w + 1;
        sum += points[i].weight * (points[i].y * *w - *v);
        *w += points[i].weight;
        *v += points[i].weight * points[i].y;
    }
    return sum;
}

typedef struct {
    const int32_t *code;
    const double *value;
    int32_t n;
} column;

/* The rows that have both values as points, in the order given. */
static int64_t gather(const column *a, const column *b, const int32_t *order, const int64_t *weight,
                      int64_t n, point *points)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t at_a = a->code[order[i]], at_b = b->code[order[i]];
        if (at_a < a->n && at_b < b->n) {
            point *const p = &points[count++];
            p->x = a->value == NULL ? 0.0 : a->value[at_a];
            p->y = b->value == NULL ? 0.0 : b->value[at_b];
            p->weight = weight == NULL ? 1.0 : (double)weight[order[i]];
            p->code_x = (uint32_t)at_a;
            p->code_y = (uint32_t)at_b;
        }
    }
    return count;
}

/* The products of n rows in O(n log n). `order` sorts a. Names come first: value_b is NULL only if
 * value_a is; fewer levels first is faster. Rows are the levels' sums of distances. work has
 * 2 n points, then 2 n_a or n_b + 1 numbers. */
SOLAH_EXPORT void solah_point_products(const int32_t *code_a, int32_t n_a, const double *value_a,
                                       const double *row_a, const int32_t *code_b, int32_t n_b,
                                       const double *value_b, const double *row_b,
                                       const int32_t *order, const int64_t *weight, int64_t n,
                                       void *work, double *pair)
{
    const column a = {code_a, value_a, n_a}, b = {code_b, value_b, n_b};
    point *const spare = work, *const points = spare + n;
    void *const rest = spare + 2 * n;
    const int64_t count = gather(&a, &b, order, weight, n, spare);
    sort_by_y(spare, points, count, n_b, rest);
    n = merge_equals(points, count);

    double w = 0.0, both = 0.0, total_a = 0.0, total_b = 0.0;
    pair[1] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double here = points[i].weight;
        const double at_a = here * row_a[points[i].code_x], at_b = row_b[points[i].code_y];
        pair[1] += at_a * at_b;
        total_a += at_a;
        total_b += here * at_b;
        both += here * here;
        w += here;
    }
    if (value_a != NULL) {
        pair[0] = 2.0 * products(points, spare, n, n_a);
    } else if (value_b != NULL) {
        pair[0] = total_b - 2.0 * within_names(points, n, n_a, rest);
    } else {
        pair[0] = total_a + total_b - w * w + both;
    }
}

/* The products of many pairs of columns, one after another; work is that of the largest. */
SOLAH_EXPORT void solah_many_products(const int32_t *const *code_a, const int32_t *n_a,
                                      const double *const *value_a, const double *const *row_a,
                                      const int32_t *const *code_b, const int32_t *n_b,
                                      const double *const *value_b, const double *const *row_b,
                                      const int32_t *const *order, int64_t n_pairs,
                                      const int64_t *weight, int64_t n, void *work, double *pairs)
{
    for (int64_t k = 0; k < n_pairs; k++) {
        solah_point_products(code_a[k], n_a[k], value_a[k], row_a[k], code_b[k], n_b[k], value_b[k],
                             row_b[k], order[k], weight, n, work, pairs + 2 * k);
    }
}
