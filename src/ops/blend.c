/* Elementwise ops, fills and sums with products that are made of other ops. */
#include "ops/dispatch.h"

#include <math.h>

struct wick_tensor *wick_nan_to_num(const struct wick_tensor *x, double nan, double above, double below) {
    struct wick__call call = {.op = WICK_OP_nan_to_num, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    wick_scope_begin();
    struct wick_tensor *y = wick_masked_fill(x, wick_isnan(x), WICK_REAL(nan));
    y = wick_masked_fill(y, wick_eq_scalar(x, WICK_REAL(INFINITY)), WICK_REAL(above));
    return wick_scope_end(wick_masked_fill(y, wick_eq_scalar(x, WICK_REAL(-INFINITY)), WICK_REAL(below)));
}

/* ---- between two tensors ---- */

/* What a dtype is computed in. */
static enum wick_dtype wide_of(enum wick_dtype dtype) { return dtype == WICK_F64 ? WICK_F64 : WICK_F32; }

static bool check_shapes(const struct wick__call *call) {
    struct wick__layout wide = call->in[0]->layout, sum = {0};
    for (int i = 1; i < call->n_in; i++) {
        if (!wick__shape_broadcast(&wide, &call->in[i]->layout, &sum.rank, sum.shape)) {
            wick__call_fail(call, WICK_SHAPE, "shapes do not broadcast: sizes must be equal, 1 or missing");
            return false;
        }
        wide = sum;
    }
    return true;
}

/* From the end that is nearer, so that a weight of 0 or 1 gives that end. */
struct wick_tensor *wick_lerp(const struct wick_tensor *start, const struct wick_tensor *end,
                              const struct wick_tensor *weight) {
    struct wick__call call = {.op = WICK_OP_lerp, .n_in = 3, .in = {start, end, weight}};
    if (!wick__call_check(&call) || !check_shapes(&call)) return NULL;
    enum wick_dtype wide = wide_of(start->dtype);
    wick_scope_begin();
    struct wick_tensor *a = wick_cast(start, wide), *b = wick_cast(end, wide), *w = wick_cast(weight, wide);
    struct wick_tensor *span = wick_sub(b, a), *rest = wick_affine(w, WICK_INT(-1), WICK_INT(1));
    struct wick_tensor *near = wick_add(a, wick_mul(span, w)), *far = wick_sub(b, wick_mul(span, rest));
    struct wick_tensor *first = wick_lt_scalar(wick_abs(w), WICK_REAL(0.5));
    return wick_scope_end(wick_cast(wick_where(first, near, far), start->dtype));
}

struct wick_tensor *wick_isclose(const struct wick_tensor *lhs, const struct wick_tensor *rhs, double relative,
                                 double absolute, bool equal_nan) {
    struct wick__call call = {.op = WICK_OP_isclose, .n_in = 2, .in = {lhs, rhs}};
    if (!wick__call_check(&call) || !check_shapes(&call)) return NULL;
    if (!(relative >= 0 && absolute >= 0)) {
        wick__call_fail(&call, WICK_INVALID, "tolerances %g and %g are not >= 0", relative, absolute);
        return NULL;
    }
    wick_scope_begin();
    struct wick_tensor *a = wick_cast(lhs, WICK_F64), *b = wick_cast(rhs, WICK_F64), *gap = wick_abs(wick_sub(a, b));
    struct wick_tensor *most = wick_affine(wick_abs(b), WICK_REAL(relative), WICK_REAL(absolute));
    struct wick_tensor *near = wick_logical_and(wick_le(gap, most), wick_isfinite(gap));
    struct wick_tensor *same = wick_logical_or(near, wick_eq(lhs, rhs));
    if (equal_nan) same = wick_logical_or(same, wick_logical_and(wick_ne(a, a), wick_ne(b, b)));
    return wick_scope_end(same);
}

enum wick_status wick_allclose(const struct wick_tensor *lhs, const struct wick_tensor *rhs, double relative,
                               double absolute, bool equal_nan, bool *result) {
    uint8_t all = 0;
    if (!result) return wick__fail(WICK_INVALID, "allclose: result is NULL");
    wick_scope_begin();
    struct wick_tensor *y = wick_isclose(lhs, rhs, relative, absolute, equal_nan);
    y = y ? wick_all(y, WICK_ALL_DIMS, false) : NULL;
    enum wick_status status = y ? wick__graph_refuse(wick__device(y), "allclose") : wick__latest();
    if (status == WICK_OK) status = wick__fetch(y, &all, sizeof all);
    wick_scope_end(NULL);
    if (status == WICK_OK) *result = all != 0;
    return status;
}

/* ---- filling, shifting ---- */

/* The first half counts from start, the other from end, which the last element
 * is then. */
struct wick_tensor *wick_linspace(struct wick_device *device, enum wick_dtype dtype, double start, double end,
                                  int64_t n) {
    struct wick__call call = {.op = WICK_OP_linspace};
    if (wick__device_check("linspace", device) != WICK_OK || !wick__call_supported(&call, device, dtype)) return NULL;
    if (n < 0 || !isfinite(start) || !isfinite(end)) {
        wick__fail(WICK_INVALID,
                   "linspace: %lld elements from %g to %g: n must be >= 0 and both "
                   "ends finite",
                   (long long)n, start, end);
        return NULL;
    }
    const struct wick_number zero = WICK_INT(0), one = WICK_INT(1);
    double step = n > 1 ? (end - start) / (double)(n - 1) : 0;
    int64_t half = n < 2 ? n : n / 2;
    struct wick_tensor *parts[2] = {NULL};
    wick_scope_begin();
    parts[0] = wick_arange(device, WICK_F64, zero, WICK_INT(half), one);
    parts[0] = wick_affine(parts[0], WICK_REAL(step), WICK_REAL(start));
    parts[1] = wick_arange(device, WICK_F64, WICK_INT(n - half), zero, WICK_INT(-1));
    parts[1] = wick_affine(wick_sub_scalar(parts[1], one), WICK_REAL(-step), WICK_REAL(end));
    return wick_scope_end(parts[0] && parts[1] ? wick_cast(wick_cat(2, parts, 0), dtype) : NULL);
}

struct wick_tensor *wick_roll_dims(const struct wick_tensor *x, int n, const int64_t *shifts, const int *dims) {
    struct wick__call call = {.op = WICK_OP_roll_dims, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if (n < 0 || (n > 0 && (!shifts || !dims))) {
        wick__call_fail(&call, WICK_INVALID, "%d dims%s", n, n < 0 ? "" : ", shifts or dims are NULL");
        return NULL;
    }
    wick_scope_begin();
    struct wick_tensor *y = n == 0 ? wick_clone(x) : wick_roll(x, shifts[0], dims[0]);
    for (int i = 1; i < n && y; i++) y = wick_roll(y, shifts[i], dims[i]);
    return wick_scope_end(y);
}

/* ---- products ---- */

/* beta input + alpha lhs rhs, the call's operands, of which the last two have `rank` dims. */
static struct wick_tensor *add_product(const struct wick__call *call, double beta, double alpha, int rank) {
    const struct wick_tensor *input = call->in[0], *lhs = call->in[1], *rhs = call->in[2];
    if (!wick__call_check(call)) return NULL;
    const struct wick__layout *a = &lhs->layout, *b = &rhs->layout;
    struct wick__layout wide;
    int64_t shape[3];
    bool fits = a->rank == rank && b->rank == rank && a->shape[rank - 1] == b->shape[rank - 2];
    for (int d = 0; fits && d < rank - 2; d++) fits = a->shape[d] == b->shape[d];
    for (int d = 0; fits && d < rank; d++) shape[d] = d == rank - 1 ? b->shape[d] : a->shape[d];
    if (!fits) {
        wick__call_fail(call, WICK_SHAPE, "lhs and rhs must have rank %d, and the sizes of a product", rank);
        return NULL;
    }
    if (!wick__layout_expand(&input->layout, rank, shape, &wide)) {
        wick__call_fail(call, WICK_SHAPE, "input does not broadcast to the shape of the product");
        return NULL;
    }
    wick_scope_begin();
    struct wick_tensor *y = wick_matmul(lhs, rhs);
    if (alpha != 1) y = wick_mul_scalar(y, WICK_REAL(alpha));
    if (beta == 1)
        y = wick_add(input, y);
    else if (beta != 0)
        y = wick_add(wick_mul_scalar(input, WICK_REAL(beta)), y);
    return wick_scope_end(y);
}

struct wick_tensor *wick_addmm(const struct wick_tensor *input, const struct wick_tensor *lhs,
                               const struct wick_tensor *rhs, double beta, double alpha) {
    struct wick__call call = {.op = WICK_OP_addmm, .n_in = 3, .in = {input, lhs, rhs}};
    return add_product(&call, beta, alpha, 2);
}

struct wick_tensor *wick_baddbmm(const struct wick_tensor *input, const struct wick_tensor *lhs,
                                 const struct wick_tensor *rhs, double beta, double alpha) {
    struct wick__call call = {.op = WICK_OP_baddbmm, .n_in = 3, .in = {input, lhs, rhs}};
    return add_product(&call, beta, alpha, 3);
}
