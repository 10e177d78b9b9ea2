/* Windows as columns, and the sums of columns: im2col and col2im. */
#include "ops/dispatch.h"

static const struct wick_conv_options defaults;

/* Takes the options for n spatial dims. */
static bool set_windows(struct wick__call *call, int n, const int64_t *kernel,
                        const struct wick_conv_options *options) {
    if (n < 1 || n > 3 || !kernel) {
        wick__call_fail(call, WICK_INVALID, "%d sizes%s are not those of 1, 2 or 3 spatial dims", n,
                        kernel ? "" : " at NULL");
        return false;
    }
    call->p.window.spatial = n;
    if (options->groups > 1 || options->groups < 0 || options->relu) {
        wick__call_fail(call, WICK_INVALID, "columns have no groups and no relu");
        return false;
    }
    for (int s = 0; s < n; s++) {
        call->p.window.kernel[s] = kernel[s];
        call->p.window.stride[s] = options->stride[s] ? options->stride[s] : 1;
        call->p.window.padding[s] = options->padding[s];
        call->p.window.dilation[s] = options->dilation[s] ? options->dilation[s] : 1;
        if (kernel[s] >= 1 && call->p.window.stride[s] >= 1 && options->padding[s] >= 0 &&
            call->p.window.dilation[s] >= 1 && options->output_padding[s] == 0)
            continue;
        wick__call_fail(call, WICK_INVALID,
                        "kernel %lld, stride %lld, padding %lld, dilation %lld, output_padding %lld of spatial dim %d "
                        "are not >= 1, >= 1, >= 0, >= 1 and 0",
                        (long long)kernel[s], (long long)options->stride[s], (long long)options->padding[s],
                        (long long)options->dilation[s], (long long)options->output_padding[s], s);
        return false;
    }
    return true;
}

/* How many windows there are over each spatial dim. */
static bool count_windows(const struct wick__call *call, const int64_t *size, int64_t *out) {
    for (int s = 0; s < call->p.window.spatial; s++) {
        int64_t reach, padded;
        if (size[s] < 0) {
            wick__call_fail(call, WICK_INVALID, "size %lld of spatial dim %d is negative", (long long)size[s], s);
            return false;
        }
        if (!wick__mul(call->p.window.dilation[s], call->p.window.kernel[s] - 1, &reach) ||
            !wick__add(reach, 1, &reach) || !wick__mul(2, call->p.window.padding[s], &padded) ||
            !wick__add(padded, size[s], &padded)) {
            wick__call_fail(call, WICK_OVERFLOW, "the windows over spatial dim %d do not fit in 64 bits", s);
            return false;
        }
        if (reach > padded) {
            wick__call_fail(call, WICK_SHAPE,
                            "the kernel reaches over %lld elements, spatial dim %d has %lld with padding",
                            (long long)reach, s, (long long)padded);
            return false;
        }
        out[s] = (padded - reach) / call->p.window.stride[s] + 1;
    }
    return true;
}

/* The rows and columns of the columns of c channels. */
static bool column_shape(const struct wick__call *call, int64_t c, const int64_t *out, int64_t *rows,
                         int64_t *columns) {
    *rows = c;
    *columns = 1;
    for (int s = 0; s < call->p.window.spatial; s++)
        if (!wick__mul(*rows, call->p.window.kernel[s], rows) || !wick__mul(*columns, out[s], columns)) {
            wick__call_fail(call, WICK_OVERFLOW, "the columns do not fit in 64 bits");
            return false;
        }
    return true;
}

/* A view of x [N,C,padded...] as [N,C,kernel...,out...]. */
static struct wick_tensor *windows(const struct wick__call *call, const struct wick_tensor *x, const int64_t *out) {
    int64_t shape[WICK_MAX_RANK] = {0}, strides[WICK_MAX_RANK] = {0};
    int n = call->p.window.spatial;
    if (!x) return NULL;
    for (int d = 0; d < 2; d++) {
        shape[d] = x->layout.shape[d];
        strides[d] = x->layout.stride[d];
    }
    for (int s = 0; s < n; s++) {
        shape[2 + s] = call->p.window.kernel[s];
        shape[2 + n + s] = out[s];
        /* Of a dim of one position only the first stands, so that no stride need fit. */
        strides[2 + s] = shape[2 + s] == 1 ? 0 : x->layout.stride[2 + s] * call->p.window.dilation[s];
        strides[2 + n + s] = out[s] == 1 ? 0 : x->layout.stride[2 + s] * call->p.window.stride[s];
    }
    return wick_as_strided(x, 2 + 2 * n, shape, strides, x->layout.offset);
}

struct wick_tensor *wick_im2col(const struct wick_tensor *x, int n, const int64_t *kernel,
                                const struct wick_conv_options *options) {
    struct wick__call call = {.op = WICK_OP_im2col, .n_in = 1, .in = {x}};
    int64_t out[WICK__MAX_SPATIAL], rows, columns;
    if (!options) options = &defaults;
    if (!wick__call_reserved(&call, options->reserved) || !wick__call_check(&call) ||
        !set_windows(&call, n, kernel, options))
        return NULL;
    if (x->layout.rank != n + 2) {
        wick__call_fail(&call, WICK_SHAPE, "rank %d is not %d", x->layout.rank, n + 2);
        return NULL;
    }
    if (!count_windows(&call, x->layout.shape + 2, out) ||
        !column_shape(&call, x->layout.shape[1], out, &rows, &columns))
        return NULL;
    int64_t margin[WICK_MAX_RANK] = {0};
    bool padded = false;
    for (int s = 0; s < n; s++) {
        margin[2 + s] = options->padding[s];
        padded = padded || margin[2 + s] > 0;
    }
    wick_scope_begin();
    const struct wick_tensor *whole = padded ? wick_pad(x, n + 2, margin, margin, WICK_PAD_CONSTANT, WICK_INT(0)) : x;
    struct wick_tensor *y = wick_contiguous(windows(&call, whole, out));
    return wick_scope_end(wick_reshape(y, 3, (const int64_t[]){x->layout.shape[0], rows, columns}));
}

struct wick_tensor *wick_col2im(const struct wick_tensor *columns, int n, const int64_t *size, const int64_t *kernel,
                                const struct wick_conv_options *options) {
    struct wick__call call = {.op = WICK_OP_col2im, .n_in = 1, .in = {columns}};
    int64_t out[WICK__MAX_SPATIAL], shape[WICK_MAX_RANK], elements, n_windows;
    if (!options) options = &defaults;
    if (!wick__call_reserved(&call, options->reserved) || !wick__call_check(&call) ||
        !set_windows(&call, n, kernel, options))
        return NULL;
    if (!size) {
        wick__call_fail(&call, WICK_INVALID, "size is NULL");
        return NULL;
    }
    if (!count_windows(&call, size, out) || !column_shape(&call, 1, out, &elements, &n_windows)) return NULL;
    const int64_t *given = columns->layout.shape;
    if (columns->layout.rank != 3 || given[1] % elements != 0 || given[2] != n_windows) {
        wick__call_fail(&call, WICK_SHAPE, "columns must be [N, a multiple of %lld, %lld]", (long long)elements,
                        (long long)n_windows);
        return NULL;
    }
    shape[0] = given[0];
    shape[1] = given[1] / elements;
    for (int s = 0; s < n; s++) shape[2 + s] = size[s];
    if (!wick__call_out(&call, columns->dtype, n + 2, shape)) return NULL;
    return wick__call_run(&call);
}
