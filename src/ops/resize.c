/* Resizing, and the rearrangements between channels and pixels. */
#include "ops/resize.h"

#include <math.h>
#include <string.h>

static const struct wick_upsample_options defaults;

static bool has_corners(enum wick__resize kind) { return kind == WICK__LINEAR || kind == WICK__CUBIC; }

/* Where the elements of a dim of size `out` lie in one of size `in`. */
static struct wick__position position(const struct wick__call *call, int64_t in, int64_t out, double scale) {
    bool corners = has_corners(call->p.resize.kind), centred = call->p.resize.centred;
    if (call->p.resize.align_corners)
        return out > 1 ? (struct wick__position){.mul = in - 1, .by = out - 1} : (struct wick__position){.by = 1};
    if (in == out) return (struct wick__position){.mul = 1, .by = 1};
    if (scale > 0)
        return (struct wick__position){
            .scale = scale, .offset = corners || centred ? 0.5 : 0, .shift = corners ? 0.5 : 0};
    if (corners) return (struct wick__position){.mul = 2 * in, .add = in - out, .by = 2 * out};
    if (centred) return (struct wick__position){.mul = 2 * in, .add = in, .by = 2 * out};
    return (struct wick__position){.mul = in, .by = out};
}

bool wick__resize_scale(const struct wick__call *call, int s, double scale) {
    if (scale >= 0 && scale <= 0x1p60) return true;
    wick__call_fail(call, WICK_INVALID, "scale %g of spatial dim %d is not positive and finite", scale, s);
    return false;
}

bool wick__resize_dim(struct wick__call *call, int s, int64_t in, int64_t out, double scale) {
    if (wick__max(in, out) >= INT64_C(1) << 62) {
        wick__call_fail(call, WICK_OVERFLOW, "size %lld of spatial dim %d does not fit in 62 bits",
                        (long long)wick__max(in, out), s);
        return false;
    }
    if (in < 1 || out < 1) {
        wick__call_fail(call, WICK_SHAPE, "spatial dim %d of size %lld can't be resized to %lld", s, (long long)in,
                        (long long)out);
        return false;
    }
    call->p.resize.given[s] = scale;
    call->p.resize.at[s] = position(call, in, out, scale);
    return true;
}

/* The size of spatial dim s of the result, and where its elements lie. */
static bool resolve(struct wick__call *call, int s, const int64_t *size, const struct wick_upsample_options *options,
                    int64_t *out) {
    int64_t in = call->in[0]->layout.shape[2 + s];
    double scale = options->scale[s], scaled = floor((double)in * scale);
    if (!wick__resize_scale(call, s, scale)) return false;
    if (!size && scale == 0) {
        wick__call_fail(call, WICK_INVALID, "neither a size nor a scale for spatial dim %d", s);
        return false;
    }
    if (!size && scaled >= 0x1p62) {
        wick__call_fail(call, WICK_OVERFLOW, "spatial dim %d times %g does not fit in 64 bits", s, scale);
        return false;
    }
    *out = size ? size[s] : (int64_t)scaled;
    return wick__resize_dim(call, s, in, *out, scale);
}

/* The call has op, operand, spatial dims and kind. */
static struct wick_tensor *resize(struct wick__call *call, int n, const int64_t *size,
                                  const struct wick_upsample_options *options) {
    const struct wick_tensor *x = call->in[0];
    int spatial = call->p.resize.spatial;
    int64_t shape[WICK_MAX_RANK];
    if (!options) options = &defaults;
    if (!wick__call_reserved(call, options->reserved) || !wick__call_check(call)) return NULL;
    if (x->layout.rank != spatial + 2) {
        wick__call_fail(call, WICK_SHAPE, "rank %d is not %d", x->layout.rank, spatial + 2);
        return NULL;
    }
    if ((n != spatial && n != 0) || (n > 0 && !size)) {
        wick__call_fail(call, WICK_INVALID, "%d sizes%s for %d spatial dims", n, size ? "" : " at NULL", spatial);
        return NULL;
    }
    call->p.resize.align_corners = options->align_corners && has_corners(call->p.resize.kind);
    shape[0] = x->layout.shape[0];
    shape[1] = x->layout.shape[1];
    for (int s = 0; s < spatial; s++)
        if (!resolve(call, s, n > 0 ? size : NULL, options, &shape[2 + s])) return NULL;
    if (!wick__call_out(call, x->dtype, spatial + 2, shape)) return NULL;
    return wick__call_run(call);
}

#define UPSAMPLE(name, dims, how)                                                                                      \
    struct wick_tensor *wick_##name(const struct wick_tensor *x, int n, const int64_t *size,                           \
                                    const struct wick_upsample_options *options) {                                     \
        struct wick__call call = {.op = WICK_OP_##name, .n_in = 1, .in = {x}};                                         \
        call.p.resize.spatial = dims;                                                                                  \
        call.p.resize.kind = how;                                                                                      \
        return resize(&call, n, size, options);                                                                        \
    }
UPSAMPLE(upsample_nearest1d, 1, WICK__NEAREST)
UPSAMPLE(upsample_nearest2d, 2, WICK__NEAREST)
UPSAMPLE(upsample_nearest3d, 3, WICK__NEAREST)
UPSAMPLE(upsample_linear1d, 1, WICK__LINEAR)
UPSAMPLE(upsample_bilinear2d, 2, WICK__LINEAR)
UPSAMPLE(upsample_trilinear3d, 3, WICK__LINEAR)
UPSAMPLE(upsample_bicubic2d, 2, WICK__CUBIC)

struct wick_tensor *wick_upsample_nearest_exact(const struct wick_tensor *x, int n, const int64_t *size,
                                                const struct wick_upsample_options *options) {
    struct wick__call call = {.op = WICK_OP_upsample_nearest_exact, .n_in = 1, .in = {x}};
    call.p.resize.centred = true;
    call.p.resize.spatial = x ? x->layout.rank - 2 : 1;
    if (x && (x->layout.rank < 3 || x->layout.rank > 5)) {
        if (wick__call_check(&call)) wick__call_fail(&call, WICK_SHAPE, "rank %d is not 3, 4 or 5", x->layout.rank);
        return NULL;
    }
    return resize(&call, n, size, options);
}

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
