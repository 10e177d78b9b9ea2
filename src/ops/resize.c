/* Resizing, and the rearrangements between channels and pixels. */
#include "ops/dispatch.h"

#include <math.h>
#include <string.h>

static const struct wick_upsample_options defaults;

static bool is_linear(enum wick_op op) { return op >= WICK_OP_upsample_linear1d && op <= WICK_OP_upsample_trilinear3d; }

/* Where the elements of a dim of size `out` lie in one of size `in`. */
static struct wick__position position(enum wick_op op, int64_t in, int64_t out, double scale, bool align_corners) {
    if (is_linear(op) && align_corners)
        return out > 1 ? (struct wick__position){.mul = in - 1, .by = out - 1} : (struct wick__position){.by = 1};
    if (in == out) return (struct wick__position){.mul = 1, .by = 1};
    if (scale > 0) return (struct wick__position){.scale = scale, .offset = is_linear(op) ? 0.5 : 0};
    if (!is_linear(op)) return (struct wick__position){.mul = in, .by = out};
    return (struct wick__position){.mul = 2 * in, .add = in - out, .by = 2 * out};
}

/* The size of spatial dim s of the result, and where its elements lie. */
static bool resolve(struct wick__call *call, int s, const int64_t *size, const struct wick_upsample_options *options,
                    int64_t *out) {
    int64_t in = call->in[0]->layout.shape[2 + s];
    double scale = options->scale[s];
    if (!(scale >= 0 && scale <= 0x1p60)) {
        wick__call_fail(call, WICK_INVALID, "scale %g of spatial dim %d is not positive and finite", scale, s);
        return false;
    }
    if (!size && scale == 0) {
        wick__call_fail(call, WICK_INVALID, "neither a size nor a scale for spatial dim %d", s);
        return false;
    }
    double scaled = floor((double)in * scale);
    if (!size && scaled >= 0x1p62) {
        wick__call_fail(call, WICK_OVERFLOW, "spatial dim %d times %g does not fit in 64 bits", s, scale);
        return false;
    }
    *out = size ? size[s] : (int64_t)scaled;
    if (*out >= INT64_C(1) << 62) {
        wick__call_fail(call, WICK_OVERFLOW, "size %lld of spatial dim %d does not fit in 62 bits", (long long)*out, s);
        return false;
    }
    if (*out < 1 || in < 1) {
        wick__call_fail(call, WICK_SHAPE, "spatial dim %d of size %lld can't be resized to %lld", s, (long long)in,
                        (long long)*out);
        return false;
    }
    call->p.resize.given[s] = scale;
    call->p.resize.at[s] = position(call->op, in, *out, scale, options->align_corners);
    return true;
}

static struct wick_tensor *resize(enum wick_op op, const struct wick_tensor *x, int spatial, int n, const int64_t *size,
                                  const struct wick_upsample_options *options) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}};
    int64_t shape[WICK_MAX_RANK];
    if (!options) options = &defaults;
    if (!wick__call_reserved(&call, options->reserved) || !wick__call_check(&call)) return NULL;
    if (x->layout.rank != spatial + 2) {
        wick__call_fail(&call, WICK_SHAPE, "rank %d is not %d", x->layout.rank, spatial + 2);
        return NULL;
    }
    if ((n != spatial && n != 0) || (n > 0 && !size)) {
        wick__call_fail(&call, WICK_INVALID, "%d sizes%s for %d spatial dims", n, size ? "" : " at NULL", spatial);
        return NULL;
    }
    call.p.resize.spatial = spatial;
    call.p.resize.align_corners = options->align_corners && is_linear(op);
    shape[0] = x->layout.shape[0];
    shape[1] = x->layout.shape[1];
    for (int s = 0; s < spatial; s++)
        if (!resolve(&call, s, n > 0 ? size : NULL, options, &shape[2 + s])) return NULL;
    if (!wick__call_out(&call, x->dtype, spatial + 2, shape)) return NULL;
    return wick__call_run(&call);
}

#define UPSAMPLE(name, spatial)                                                                                        \
    struct wick_tensor *wick_##name(const struct wick_tensor *x, int n, const int64_t *size,                           \
                                    const struct wick_upsample_options *options) {                                     \
        return resize(WICK_OP_##name, x, spatial, n, size, options);                                                   \
    }
UPSAMPLE(upsample_nearest1d, 1)
UPSAMPLE(upsample_nearest2d, 2)
UPSAMPLE(upsample_nearest3d, 3)
UPSAMPLE(upsample_linear1d, 1)
UPSAMPLE(upsample_bilinear2d, 2)
UPSAMPLE(upsample_trilinear3d, 3)

/* x seen as `mid`, its dims put into the order `order`, and copied into the shape `shape`. */
static struct wick_tensor *rearrange(const struct wick_tensor *x, const int64_t mid[6], const int order[6],
                                     const int64_t *shape) {
    wick_scope_begin();
    struct wick_tensor *moved = wick_permute(wick_reshape(x, 6, mid), 6, order);
    return wick_scope_end(wick_reshape(wick_contiguous(moved), x->layout.rank, shape));
}

static bool check_pixels(const struct wick__call *call, int64_t r, bool spatial) {
    const struct wick__layout *x = &call->in[0]->layout;
    int64_t square;
    if (x->rank < 3) {
        wick__call_fail(call, WICK_SHAPE, "rank %d is less than 3", x->rank);
        return false;
    }
    if (r < 1 || !wick__mul(r, r, &square)) {
        wick__call_fail(call, WICK_INVALID, "factor %lld is not in 1..2^31", (long long)r);
        return false;
    }
    const int64_t *dims = x->shape + x->rank - 3;
    if (!spatial && dims[0] % square != 0) {
        wick__call_fail(call, WICK_SHAPE, "%lld channels are not a multiple of %lld", (long long)dims[0],
                        (long long)square);
        return false;
    }
    if (spatial && (dims[1] % r != 0 || dims[2] % r != 0)) {
        wick__call_fail(call, WICK_SHAPE, "%lld x %lld pixels are not multiples of %lld", (long long)dims[1],
                        (long long)dims[2], (long long)r);
        return false;
    }
    return true;
}

/* The product of the dims in front of the last three. */
static int64_t batch(const struct wick_tensor *x) {
    int64_t n = 1;
    for (int d = 0; d < x->layout.rank - 3; d++) n *= x->layout.shape[d];
    return n;
}

struct wick_tensor *wick_pixel_shuffle(const struct wick_tensor *x, int64_t r) {
    struct wick__call call = {.op = WICK_OP_pixel_shuffle, .n_in = 1, .in = {x}};
    int64_t shape[WICK_MAX_RANK];
    if (!wick__call_check(&call) || !check_pixels(&call, r, false)) return NULL;
    int rank = x->layout.rank;
    memcpy(shape, x->layout.shape, sizeof shape);
    int64_t c = shape[rank - 3] / (r * r), h = shape[rank - 2], w = shape[rank - 1];
    shape[rank - 3] = c;
    if (!wick__mul(h, r, &shape[rank - 2]) || !wick__mul(w, r, &shape[rank - 1])) {
        wick__call_fail(&call, WICK_OVERFLOW, "the result's size does not fit in 64 bits");
        return NULL;
    }
    return rearrange(x, (const int64_t[6]){batch(x), c, r, r, h, w}, (const int[6]){0, 1, 4, 2, 5, 3}, shape);
}

struct wick_tensor *wick_pixel_unshuffle(const struct wick_tensor *x, int64_t r) {
    struct wick__call call = {.op = WICK_OP_pixel_unshuffle, .n_in = 1, .in = {x}};
    int64_t shape[WICK_MAX_RANK];
    if (!wick__call_check(&call) || !check_pixels(&call, r, true)) return NULL;
    int rank = x->layout.rank;
    memcpy(shape, x->layout.shape, sizeof shape);
    int64_t c = shape[rank - 3], h = shape[rank - 2] / r, w = shape[rank - 1] / r;
    shape[rank - 2] = h;
    shape[rank - 1] = w;
    if (!wick__mul(c, r * r, &shape[rank - 3])) {
        wick__call_fail(&call, WICK_OVERFLOW, "the result's size does not fit in 64 bits");
        return NULL;
    }
    return rearrange(x, (const int64_t[6]){batch(x), c, h, r, w, r}, (const int[6]){0, 1, 3, 5, 2, 4}, shape);
}
