/* Cases of the composed_pick and search families: indexing by several tensors of ids, by
 * masks and by what elements are.
 *
 * scatter_mean: see scatter_reduce.c. index, index_put: i[0] is the number of ids, the last operands; i[1] accumulate.
 * index_copy, repeat_interleave: i[0] is the dim. bincount: i[0] is the least size. searchsorted: i[0] is right;
 * sequences are sorted before the call. */
#include "verify/elementwise.h"
#include "verify/scales.h"
#include "verify/scatter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 6 };

static int pick_cases(enum wick_op op) {
    (void)op;
    return CASES;
}

static struct verify_operand operand(int rank, const int64_t *shape, double low, double high) {
    struct verify_operand o = {.role = VERIFY_VALUE, .rank = rank, .low = low, .high = high};
    memcpy(o.shape, shape, sizeof *shape * (size_t)rank);
    return o;
}

static struct verify_operand ids(int rank, const int64_t *shape, int64_t size) {
    struct verify_operand o = operand(rank, shape, 0, (double)(size - 1));
    o.role = VERIFY_INDEX;
    return o;
}

static const struct {
    int rank;
    int64_t shape[3];
} shapes[CASES] = {{1, {7}}, {2, {4, 6}}, {3, {3, 5, 2}}, {2, {3, 0}}, {1, {1}}, {2, {41, 30}}};

/* x [5, 6, 4], or less of it; ids of one dim or two. */
static void make_several(enum wick_op op, int k, struct verify_case *c) {
    static const int64_t x[3] = {5, 6, 4}, rows[2] = {3, 1}, columns[1] = {4};
    int n = k % 2 + 1, rank = k < 2 ? n : 3, first = op == WICK_OP_index ? 1 : 2;
    c->n_in = first + n;
    c->in[0] = operand(rank, x, -8, 8);
    c->in[first] = k == 4 ? ids(1, (const int64_t[]){0}, x[0]) : ids(k % 2 ? 2 : 1, k % 2 ? rows : columns, x[0]);
    if (n > 1) c->in[first + 1] = ids(1, columns, x[1]);
    c->i[0] = n;
    c->i[1] = k > 2;
    if (op == WICK_OP_index) return;
    int64_t picked[WICK_MAX_RANK] = {k == 4 ? 0 : n > 1 ? 3 : 4, 4};
    memcpy(picked + n, x + n, sizeof *x * (size_t)(rank - n));
    c->in[1] = k == 3 ? operand(0, picked, -4, 4) : operand(n + rank - n, picked, -4, 4);
}

static void make_copy(enum wick_op op, int k, struct verify_case *c) {
    static const int dims[CASES] = {0, 1, -2, 0, 0, 0};
    const int64_t count = k == 4 ? 3 : 4;
    int dim = dims[k] < 0 ? dims[k] + shapes[k].rank : dims[k];
    c->in[0] = operand(shapes[k].rank, shapes[k].shape, -8, 8);
    c->i[0] = dims[k];
    if (op == WICK_OP_repeat_interleave) {
        c->in[1] = ids(k == 2 ? 0 : 1, &shapes[k].shape[dim], 4);
        c->n_in = 2;
        return;
    }
    c->n_in = 3;
    c->in[1] = ids(1, &count, shapes[k].shape[dim]);
    c->in[2] = c->in[0];
    c->in[2].shape[dim] = count;
}

static void make_search(int k, struct verify_case *c) {
    static const int64_t s[CASES][2] = {{9}, {3, 7}, {300}, {0}, {1}, {2, 5}};
    static const int64_t v[CASES][2] = {{5, 2}, {3, 4}, {40}, {3}, {0}, {2, 600}};
    static const int ranks[CASES][2] = {{1, 2}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {2, 2}};
    c->n_in = 2;
    c->in[0] = operand(ranks[k][0], s[k], -4, 4);
    c->in[1] = operand(ranks[k][1], v[k], -5, 5);
    c->i[0] = k % 2;
}

static void pick_make(enum wick_op op, int k, struct verify_case *c) {
    c->n_out = op == WICK_OP_unique ? 3 : 1;
    c->n_in = 1;
    switch (op) {
    case WICK_OP_index:
    case WICK_OP_index_put: make_several(op, k, c); break;
    case WICK_OP_index_copy:
    case WICK_OP_repeat_interleave: make_copy(op, k, c); break;
    case WICK_OP_searchsorted: make_search(k, c); break;
    case WICK_OP_scatter_mean: verify_reduce_make(op, k, c); break;
    case WICK_OP_bincount:
        c->n_in = 2;
        c->in[0] = operand(1, (const int64_t[]){k == 3 ? 0 : 50 * k + 1}, 0, 20);
        c->in[1] = c->in[0];
        c->in[1].role = k % 2 ? VERIFY_ABSENT : VERIFY_F32;
        c->in[1].low = -2;
        c->i[0] = k < 3 ? 0 : 30;
        break;
    case WICK_OP_masked_select:
        c->n_in = 2;
        c->in[0] = operand(shapes[k].rank, shapes[k].shape, -8, 8);
        c->in[1] = operand(k == 2 ? 2 : shapes[k].rank, k == 2 ? shapes[k].shape + 1 : shapes[k].shape, 0, 1);
        c->in[1].role = VERIFY_CONDITION;
        break;
    default: c->in[0] = operand(shapes[k].rank, shapes[k].shape, -3, 3); break;
    }
}

static bool pick_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    int n = (int)c->i[0];
    struct wick_tensor *sorted;
    switch (c->op) {
    case WICK_OP_nonzero: out[0] = wick_nonzero(in[0]); break;
    case WICK_OP_masked_select: out[0] = wick_masked_select(in[0], in[1]); break;
    case WICK_OP_unique: out[0] = wick_unique(in[0], &out[1], &out[2]); break;
    case WICK_OP_bincount: out[0] = wick_bincount(in[0], in[1], c->i[0]); break;
    case WICK_OP_index: out[0] = wick_index(in[0], n, in + 1); break;
    case WICK_OP_index_put: out[0] = wick_index_put(in[0], n, in + 2, in[1], c->i[1]); break;
    case WICK_OP_scatter_mean: return verify_reduce_call(c, in, out);
    case WICK_OP_index_copy: out[0] = wick_index_copy(in[0], n, in[1], in[2]); break;
    case WICK_OP_repeat_interleave: out[0] = wick_repeat_interleave(in[0], in[1], n); break;
    case WICK_OP_searchsorted:
        sorted = c->dtype < WICK_DTYPE_COMPUTE_COUNT ? wick_sort(in[0], -1, false, NULL) : wick_retain(in[0]);
        out[0] = sorted ? wick_searchsorted(sorted, in[1], c->i[0]) : NULL;
        wick_release(sorted);
        break;
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

/* ---- references ---- */

static bool nonzero_reference(const struct verify_array *in, struct verify_array *out) {
    int64_t shape[2] = {0, in->rank};
    for (int64_t p = 0; p < in->count; p++) shape[0] += in->data[p] != 0;
    if (!verify_array_new(out, WICK_I64, 2, shape, false)) return false;
    for (int64_t p = 0, row = 0; p < in->count; p++) {
        int64_t rest = p;
        if (in->data[p] == 0) continue;
        for (int d = in->rank - 1; d >= 0; d--) {
            out->data[row * in->rank + d] = (double)(rest % in->shape[d]);
            rest /= in->shape[d];
        }
        row++;
    }
    return true;
}

static bool mask_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    struct verify_array wide;
    int64_t count = 0;
    if (!verify_broadcast_new(&wide, c->dtype, in, 2, false)) return false;
    for (int64_t p = 0; p < wide.count; p++)
        if (verify_broadcast_at(&in[1], &wide, p) != 0) wide.data[count++] = verify_broadcast_at(&in[0], &wide, p);
    bool made = verify_array_new(out, c->dtype, 1, &count, false);
    if (made && count > 0) memcpy(out->data, wide.data, sizeof *wide.data * (size_t)count);
    free(wide.data);
    return made;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* What comes of elements of data [n], sorted, that are not below x: NaN is
 * above all. */
static int64_t place_of(const double *data, int64_t n, double x, bool right) {
    int64_t at = 0;
    while (at < n && (by_value(&data[at], &x) < 0 || (right && by_value(&data[at], &x) == 0))) at++;
    return at;
}

/* Each NaN is an element of its own, in the order of x. */
static bool unique_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    double *sorted = malloc(sizeof *sorted * (size_t)(in->count + 1));
    int64_t m = 0, nans = 0;
    if (!sorted) return false;
    if (in->count > 0) memcpy(sorted, in->data, sizeof *sorted * (size_t)in->count);
    qsort(sorted, (size_t)in->count, sizeof *sorted, by_value);
    for (int64_t p = 0; p < in->count; p++)
        if (m == 0 || isnan(sorted[p]) || sorted[p] != sorted[m - 1]) sorted[m++] = sorted[p];
    bool made = verify_array_new(&out[0], c->dtype, 1, &m, false) &&
                verify_array_new(&out[1], WICK_I64, in->rank, in->shape, false) &&
                verify_array_new(&out[2], WICK_I64, 1, &m, false);
    for (int64_t p = 0; made && p < m; p++) {
        out[0].data[p] = sorted[p];
        out[2].data[p] = 0;
    }
    for (int64_t p = 0; made && p < in->count; p++) {
        int64_t at = place_of(sorted, m, in->data[p], false) + (isnan(in->data[p]) ? nans++ : 0);
        out[1].data[p] = (double)at;
        out[2].data[at]++;
    }
    free(sorted);
    return made;
}

static bool count_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    bool weighted = c->in[1].role != VERIFY_ABSENT;
    int64_t size = c->i[0];
    for (int64_t p = 0; p < in->count; p++)
        if ((int64_t)in->data[p] >= size) size = (int64_t)in->data[p] + 1;
    if (!verify_array_new(out, weighted ? WICK_F32 : WICK_I64, 1, &size, true)) return false;
    for (int64_t i = 0; i < size; i++) out->data[i] = out->scale[i] = 0;
    for (int64_t p = 0; p < in->count; p++) {
        int64_t i = (int64_t)in->data[p];
        double x = weighted ? in[1].data[p] : 1;
        out->data[i] += x;
        out->scale[i] = weighted ? verify_scale_added(out->scale[i], fabs(out->data[i]), fabs(x)) : 0;
    }
    return true;
}

/* The position in x of element p of what ids pick, whose shape is `like`; -1
 * where an id is a sentinel. */
static int64_t several_at(const struct verify_case *c, const struct verify_array *in, const struct verify_array *id,
                          const struct verify_array *like, int64_t inner, int64_t p) {
    int64_t at = 0;
    for (int k = 0; k < c->i[0]; k++) {
        double x = verify_broadcast_at(&id[k], like, p / inner);
        if (x >= (double)in[0].shape[k]) return -1;
        at = at * in[0].shape[k] + (int64_t)x;
    }
    return at * inner + p % inner;
}

static bool several_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    bool put = c->op == WICK_OP_index_put;
    int n = (int)c->i[0], rank;
    const struct verify_array *id = in + (put ? 2 : 1);
    struct verify_array picked, like = {0};
    int64_t inner = 1, shape[WICK_MAX_RANK];
    if (!verify_broadcast_new(&picked, WICK_I64, id, n, false)) return false;
    rank = picked.rank;
    memcpy(shape, picked.shape, sizeof shape);
    for (int d = n; d < in[0].rank; d++) inner *= shape[rank++] = in[0].shape[d];
    bool made = put ? verify_array_new(out, c->dtype, in[0].rank, in[0].shape, true) &&
                          verify_array_new(&like, c->dtype, rank, shape, false)
                    : verify_array_new(out, c->dtype, rank, shape, false);
    for (int64_t p = 0; made && put && p < out->count; p++) {
        out->data[p] = in[0].data[p];
        out->scale[p] = fabs(in[0].data[p]);
    }
    for (int64_t p = 0; made && p < picked.count * inner; p++) {
        int64_t at = several_at(c, in, id, &picked, inner, p);
        if (!put) {
            out->data[p] = at < 0 ? 0 : in[0].data[at];
            continue;
        }
        double x = verify_broadcast_at(&in[1], &like, p);
        if (at < 0) continue;
        bool is_float = wick_dtype_is_float(c->dtype);
        double sum = c->i[1] ? out->data[at] + x : x;
        out->data[at] = is_float ? sum : verify_wrap(c->dtype, (verify_wide)sum);
        out->scale[at] = c->i[1] ? verify_scale_added(out->scale[at], fabs(sum), fabs(x)) : fabs(x);
    }
    free(picked.data);
    free(like.data);
    return made;
}

/* index_copy puts its ids' rows; repeat_interleave takes rows over and over. */
static bool rows_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    bool repeats = c->op == WICK_OP_repeat_interleave;
    int dim = (int)c->i[0] + (c->i[0] < 0 ? in->rank : 0);
    int64_t n = in->shape[dim], inner = 1, shape[WICK_MAX_RANK], total = 0, row = 0;
    for (int d = dim + 1; d < in->rank; d++) inner *= in->shape[d];
    memcpy(shape, in->shape, sizeof shape);
    for (int64_t i = 0; i < n; i++) total += (int64_t)in[1].data[repeats && in[1].rank ? i : 0];
    if (repeats) shape[dim] = total;
    if (!verify_array_new(out, c->dtype, in->rank, shape, false)) return false;
    int64_t block = n * inner, outer = block > 0 ? in->count / block : 0;
    if (!repeats) {
        if (in->count > 0) memcpy(out->data, in->data, sizeof *in->data * (size_t)in->count);
        for (int64_t k = 0; k < in[1].count; k++)
            for (int64_t o = 0; o < outer; o++)
                for (int64_t j = 0; j < inner && in[1].data[k] < (double)n; j++)
                    out->data[o * block + (int64_t)in[1].data[k] * inner + j] =
                        in[2].data[(o * in[1].count + k) * inner + j];
        return true;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < (int64_t)in[1].data[in[1].rank ? i : 0]; k++, row++)
            for (int64_t o = 0; o < outer; o++)
                for (int64_t j = 0; j < inner; j++)
                    out->data[(o * total + row) * inner + j] = in->data[o * block + i * inner + j];
    return true;
}

static bool search_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t n = in[0].shape[in[0].rank - 1], lines = 1;
    for (int d = 0; d < in[0].rank - 1; d++) lines *= in[0].shape[d];
    if (!verify_array_new(out, WICK_I64, in[1].rank, in[1].shape, false)) return false;
    double *sorted = malloc(sizeof *sorted * (size_t)(in[0].count + 1));
    if (!sorted) return false;
    if (in[0].count > 0) memcpy(sorted, in[0].data, sizeof *sorted * (size_t)in[0].count);
    for (int64_t l = 0; l < lines; l++) qsort(sorted + l * n, (size_t)n, sizeof *sorted, by_value);
    for (int64_t p = 0; p < out->count; p++)
        out->data[p] = (double)place_of(sorted + p / (out->count / lines) * n, n, in[1].data[p], c->i[0]);
    free(sorted);
    return true;
}

static bool pick_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    switch (c->op) {
    case WICK_OP_nonzero: return nonzero_reference(in, out);
    case WICK_OP_masked_select: return mask_reference(c, in, out);
    case WICK_OP_unique: return unique_reference(c, in, out);
    case WICK_OP_bincount: return count_reference(c, in, out);
    case WICK_OP_index:
    case WICK_OP_index_put: return several_reference(c, in, out);
    case WICK_OP_searchsorted: return search_reference(c, in, out);
    case WICK_OP_scatter_mean: return verify_reduce_reference(c, in, out);
    default: return rows_reference(c, in, out);
    }
}

/* Sums of specials have no scale, and repeats no sentinel. */
static bool pick_specials(enum wick_op op) {
    return op != WICK_OP_index_put && op != WICK_OP_bincount && op != WICK_OP_scatter_mean &&
           op != WICK_OP_repeat_interleave;
}

/* A value for each element of a sequence. */
static bool search_bench(enum wick_op op, struct verify_case *c) {
    return verify_make_large(pick_make, op == WICK_OP_searchsorted ? 1 : 0, c);
}

const struct verify_family verify_search = {
    .name = "search",
    .cases = pick_cases,
    .make = pick_make,
    .bench = search_bench,
    .call = pick_call,
    .reference = pick_reference,
    .specials = pick_specials,
};

const struct verify_family verify_composed_pick = {
    .name = "composed_pick",
    .cases = pick_cases,
    .make = pick_make,
    .call = pick_call,
    .reference = pick_reference,
    .specials = pick_specials,
};
