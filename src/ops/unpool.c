/* Unpooling and its gradient: a scatter into planes and a gather from them. */
#include "ops/dispatch.h"

#include <string.h>

/* Checks that in[0] and the indices are [N,C,spatial...] of 1 to 3 spatial dims. */
static bool check_ranks(const struct wick__call *call) {
    const struct wick__layout *x = &call->in[0]->layout, *indices = &call->in[1]->layout;
    if (x->rank < 3 || x->rank > 5)
        wick__call_fail(call, WICK_SHAPE, "rank %d is not 3, 4 or 5", x->rank);
    else if (indices->rank != x->rank || indices->shape[0] != x->shape[0] || indices->shape[1] != x->shape[1])
        wick__call_fail(call, WICK_SHAPE, "%s and indices must have the same images and channels",
                        wick__operand_name(call->op, 0));
    else
        return true;
    return false;
}

/* The elements of a plane of the shape; false after recording that positions in it do not fit in u32. */
static bool count_plane(const struct wick__call *call, int n, const int64_t *size, int64_t *plane) {
    *plane = 1;
    for (int s = 0; s < n; s++)
        if (!wick__mul(*plane, size[s], plane) || *plane > UINT32_MAX) {
            wick__call_fail(call, WICK_OVERFLOW, "positions in planes do not fit in 32 bits");
            return false;
        }
    return true;
}

/* x [N,C,...] as [N C, plane]. */
static struct wick_tensor *planes(const struct wick_tensor *x, int64_t plane) {
    return wick_reshape(x, 2, (const int64_t[]){x->layout.shape[0] * x->layout.shape[1], plane});
}

struct wick_tensor *wick_max_unpool(const struct wick_tensor *x, const struct wick_tensor *indices, int n,
                                    const int64_t *size) {
    struct wick__call call = {.op = WICK_OP_max_unpool, .n_in = 2, .in = {x, indices}};
    int64_t shape[WICK_MAX_RANK], from, to, rows;
    if (!wick__call_check(&call) || !check_ranks(&call)) return NULL;
    if (n != x->layout.rank - 2 || !size) {
        wick__call_fail(&call, WICK_INVALID, "%d sizes%s for %d spatial dims", n, size ? "" : " at NULL",
                        x->layout.rank - 2);
        return NULL;
    }
    if (!wick__shape_equal(&x->layout, &indices->layout)) {
        wick__call_fail(&call, WICK_SHAPE, "x and indices must have one shape");
        return NULL;
    }
    memcpy(shape, x->layout.shape, sizeof shape);
    for (int s = 0; s < n; s++) {
        if (size[s] < 0) {
            wick__call_fail(&call, WICK_INVALID, "size %lld of spatial dim %d is negative", (long long)size[s], s);
            return NULL;
        }
        shape[2 + s] = size[s];
    }
    if (!count_plane(&call, n, size, &to) || !count_plane(&call, n, x->layout.shape + 2, &from)) return NULL;
    if (!wick__mul(shape[0], shape[1], &rows)) {
        wick__call_fail(&call, WICK_OVERFLOW, "images times channels do not fit in 64 bits");
        return NULL;
    }
    wick_scope_begin();
    struct wick_tensor *empty = wick_zeros(wick__device(x), x->dtype, 2, (const int64_t[]){rows, to});
    struct wick_tensor *y = wick_scatter(empty, 1, planes(indices, from), planes(x, from));
    return wick_scope_end(wick_reshape(y, n + 2, shape));
}

struct wick_tensor *wick_max_unpool_backward(const struct wick_tensor *gradient, const struct wick_tensor *indices) {
    struct wick__call call = {.op = WICK_OP_max_unpool_backward, .n_in = 2, .in = {gradient, indices}};
    int64_t from, to, rows;
    if (!wick__call_check(&call) || !check_ranks(&call)) return NULL;
    int n = gradient->layout.rank - 2;
    if (!count_plane(&call, n, gradient->layout.shape + 2, &from) ||
        !count_plane(&call, n, indices->layout.shape + 2, &to))
        return NULL;
    if (!wick__mul(gradient->layout.shape[0], gradient->layout.shape[1], &rows)) {
        wick__call_fail(&call, WICK_OVERFLOW, "images times channels do not fit in 64 bits");
        return NULL;
    }
    wick_scope_begin();
    struct wick_tensor *y = wick_gather(planes(gradient, from), 1, planes(indices, to));
    return wick_scope_end(wick_reshape(y, n + 2, indices->layout.shape));
}
