/* Cases of the sort and scan families. i[0] is the dim, i[1] descending, i[2] the k of topk (-1: none), i[3] whether
 * indices are asked for. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int rank;
    int64_t shape[4];
    int dim;
} shapes[] = {
    {1, {1}, 0},           {1, {7}, -1},        {1, {24}, 0},      {1, {25}, 0},
    {1, {3001}, 0},        {2, {5, 33}, 1},     {2, {33, 5}, 0},   {3, {2, 130, 3}, 1},
    {4, {2, 3, 5, 7}, -2}, {2, {3, 0}, 1},      {2, {0, 3}, 1},    {2, {3, 700}, -1},
    {1, {66000}, 0},       {1, {263000}, 0},    {2, {2, 1500}, 1}, {2, {2, 9000}, 1}, /* fewer lines than threads */
    {3, {2, 1030, 3}, 1},  {2, {100, 16}, 0},   {2, {600, 32}, 0}, {3, {2, 6, 64}, 1},
    {3, {4, 70, 256}, 1},  {2, {33, 32776}, 0}, /* for sums alone */
};

/* Cases of scans, and the last ones: sums of more than these are not asked of 16 bits. */
enum { FEW = 13, LAST = 5, WIDE = sizeof shapes / sizeof *shapes - 1 };

static int sort_cases(enum wick_op op) {
    if (op == WICK_OP_cumsum) return FEW + LAST + 1;
    return op == WICK_OP_cumprod ? FEW + LAST : 2 * WIDE;
}

static void sort_make(enum wick_op op, int k, struct verify_case *c) {
    bool scan = op == WICK_OP_cumsum || op == WICK_OP_cumprod;
    int s = !scan ? k / 2 : k == FEW + LAST ? WIDE : k < FEW ? k : (int)WIDE - LAST + k - FEW;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[s].rank, .low = -8, .high = 8};
    if (op == WICK_OP_cumprod) c->in[0].low = s & 1 ? 1 : 0.9, c->in[0].high = s & 1 ? 3 : 1.1;
    memcpy(c->in[0].shape, shapes[s].shape, sizeof shapes[s].shape);
    c->i[0] = shapes[s].dim;
    c->i[1] = k & 1;
    int64_t n = c->in[0].shape[shapes[s].dim < 0 ? shapes[s].dim + shapes[s].rank : shapes[s].dim];
    c->i[2] = op != WICK_OP_topk ? -1 : k % 3 == 0 ? n : k % 3 == 1 ? n / 2 : n < 10 ? n : 10;
    c->i[3] = op == WICK_OP_topk || (op == WICK_OP_sort && s % 3 != 0);
    c->n_in = 1;
    c->n_out = c->i[3] ? 2 : 1;
}

static bool sort_bench(enum wick_op op, struct verify_case *c) {
    verify_make_large(sort_make, 0, c);
    c->i[0] = 1;
    c->i[2] = op == WICK_OP_topk ? 10 : -1;
    return true;
}

static bool sort_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    int dim = (int)c->i[0];
    struct wick_tensor **indices = c->i[3] ? &out[1] : NULL;
    switch (c->op) {
    case WICK_OP_sort: out[0] = wick_sort(in[0], dim, c->i[1], indices); break;
    case WICK_OP_argsort: out[0] = wick_argsort(in[0], dim, c->i[1]); break;
    case WICK_OP_topk: out[0] = wick_topk(in[0], c->i[2], dim, c->i[1], indices); break;
    case WICK_OP_cumsum: out[0] = wick_cumsum(in[0], dim); break;
    default: out[0] = wick_cumprod(in[0], dim); break;
    }
    return out[0] != NULL;
}

struct entry {
    double x;
    int64_t at;
    bool descending;
};

static int compare(const void *a, const void *b) {
    const struct entry *p = a, *q = b;
    int order = isnan(p->x) - isnan(q->x);
    if (order == 0) order = (p->x > q->x) - (p->x < q->x);
    if (p->descending) order = -order;
    return order ? order : (p->at > q->at) - (p->at < q->at);
}

static bool sort_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int dim = (int)c->i[0] + (c->i[0] < 0 ? in->rank : 0);
    int64_t n = in->shape[dim], inner = 1, shape[WICK_MAX_RANK], k = c->i[2] < 0 ? n : c->i[2];
    bool only_indices = c->op == WICK_OP_argsort;
    memcpy(shape, in->shape, sizeof shape);
    shape[dim] = k;
    for (int d = dim + 1; d < in->rank; d++) inner *= in->shape[d];
    if (!verify_array_new(&out[0], only_indices ? WICK_U32 : c->dtype, in->rank, shape, false)) return false;
    if (c->n_out > 1 && !verify_array_new(&out[1], WICK_U32, in->rank, shape, false)) return false;
    struct entry *line = malloc(sizeof *line * (size_t)(n + 1));
    for (int64_t l = 0; line && n > 0 && l < in->count / n; l++) {
        const double *x = in->data + l / inner * n * inner + l % inner;
        int64_t first = l / inner * k * inner + l % inner;
        for (int64_t i = 0; i < n; i++) line[i] = (struct entry){x[i * inner], i, c->i[1]};
        qsort(line, (size_t)n, sizeof *line, compare);
        for (int64_t i = 0; i < k; i++) {
            out[0].data[first + i * inner] = only_indices ? (double)line[i].at : line[i].x;
            if (c->n_out > 1) out[1].data[first + i * inner] = (double)line[i].at;
        }
    }
    bool done = line != NULL;
    free(line);
    return done;
}

static double wrap(enum wick_dtype dtype, uint64_t x) {
    switch (dtype) {
    case WICK_U8: return (double)(uint8_t)x;
    case WICK_U32: return (double)(uint32_t)x;
    case WICK_I16: return (double)(int16_t)x;
    case WICK_I32: return (double)(int32_t)x;
    default: return (double)(int64_t)x;
    }
}

static bool scan_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int dim = (int)c->i[0] + (c->i[0] < 0 ? in->rank : 0);
    int64_t n = in->shape[dim], inner = 1;
    bool product = c->op == WICK_OP_cumprod, is_float = wick_dtype_is_float(c->dtype);
    for (int d = dim + 1; d < in->rank; d++) inner *= in->shape[d];
    if (!verify_array_new(out, c->dtype, in->rank, in->shape, true)) return false;
    for (int64_t l = 0; n > 0 && l < in->count / n; l++) {
        int64_t first = l / inner * n * inner + l % inner;
        long double value = product, size = 0;
        uint64_t bits = product;
        for (int64_t i = 0; i < n; i++) {
            double x = in->data[first + i * inner];
            uint64_t term = is_float ? 0 : (uint64_t)(int64_t)x;
            value = product ? value * x : value + x;
            size += fabs(x);
            bits = product ? bits * term : bits + term;
            out->data[first + i * inner] = is_float ? (double)value : wrap(c->dtype, bits);
            bool f64 = c->dtype == WICK_F64;
            out->scale[first + i * inner] = product ? verify_scale_cumprod(f64, fabs((double)value), (double)i)
                                                    : verify_scale_cumsum(f64, (double)size, (double)i);
        }
    }
    return true;
}

static bool sort_specials(enum wick_op op) {
    (void)op;
    return true;
}

static bool scan_exact(enum wick_op op) { return op == WICK_OP_cumsum; }

const struct verify_family verify_sort = {
    .name = "sort",
    .cases = sort_cases,
    .make = sort_make,
    .bench = sort_bench,
    .call = sort_call,
    .reference = sort_reference,
    .specials = sort_specials,
};

const struct verify_family verify_scan = {
    .name = "scan",
    .cases = sort_cases,
    .make = sort_make,
    .bench = sort_bench,
    .call = sort_call,
    .reference = scan_reference,
    .exact = scan_exact,
};
