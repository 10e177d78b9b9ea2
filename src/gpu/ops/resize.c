/* Resizing and its gradient. */
#include "gpu/ops/reduce.h"
#include "kernels/resample.h"

#include "core/checked.h"

static int64_t common_factor(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* The places of `out` elements; the fraction in lowest terms, so that 32 bits do for most. */
static struct gpu_position position_of(struct wick__position at, int64_t out) {
    struct gpu_position p = {
        .mul = at.mul, .add = at.add, .by = at.by, .scale = at.scale, .offset = at.offset, .shift = at.shift};
    if (at.by == 0) return p; /* by a scale */
    int64_t factor = common_factor(common_factor(at.by, at.mul), at.add);
    p.mul /= factor;
    p.add /= factor;
    p.by /= factor;
    p.inverse = 1 / (double)p.by;
    if (p.mul > INT32_MAX || p.by > INT32_MAX || p.add > INT32_MAX || p.add < -p.by || out > INT32_MAX ||
        p.mul * (out - 1) + p.add + p.by > INT32_MAX)
        return p;
    p.narrow = 1;
    p.first = (u32)(p.add + p.by);
    wick__gpu_divisor(&p.divisor, (u32)p.by);
    return p;
}

/* Whether a thread may make 16 bytes of a row, or what is left of it, by numbers of 32 bits; where it blends them, in
 * f32, with weights whose numerators f32 holds. */
static bool by_vectors(const struct wick__call *call, const struct gpu_resize *p) {
    const struct wick_tensor *x = call->in[0];
    int64_t n = (int64_t)(16 / wick__size(x->dtype));
    bool linear = call->p.resize.kind == WICK__LINEAR;
    bool blends = x->dtype == WICK_F32 || x->dtype == WICK_F16 || x->dtype == WICK_BF16;
    if (!p->narrow || wick__count(x) > INT32_MAX || p->to[2] < n || (linear && !blends)) return false;
    for (int d = 0; d < 3; d++)
        if (!p->at[d].narrow || (linear && p->at[d].by > 1 << 24)) return false;
    return true;
}

/* The kernels that cut the last vector of a row, for floats that blend and for sizes. */
static enum wick__gpu_kernel cut_kernel(const struct wick__call *call) {
    enum wick_dtype dtype = call->in[0]->dtype;
    if (call->p.resize.kind != WICK__LINEAR)
        return wick__gpu_of_size(WICK__GPU_K_resize_nearest_cut_b1, wick__size(dtype));
    return dtype == WICK_F32   ? WICK__GPU_K_resize_linear_cut_f32
           : dtype == WICK_F16 ? WICK__GPU_K_resize_linear_cut_f16
                               : WICK__GPU_K_resize_linear_cut_bf16;
}

static struct gpu_resize describe(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *y = call->out[0];
    int missing = 3 - call->p.resize.spatial;
    struct gpu_resize p = {
        .in = wick__data(x), .out = wick__data(y), .count = wick__count(y), .narrow = wick__count(y) < INT32_MAX};
    for (int d = 0; d < 3 && p.count > 0; d++) {
        int s = d - missing;
        p.from[d] = s < 0 ? 1 : x->layout.shape[2 + s];
        p.to[d] = s < 0 ? 1 : y->layout.shape[2 + s];
        p.at[d] = position_of(s < 0 ? (struct wick__position){.by = 1} : call->p.resize.at[s], p.to[d]);
        if (p.narrow) wick__gpu_divisor(&p.by[d], (u32)p.to[d]);
    }
    return p;
}

static enum wick_status resize(const struct wick__call *call, enum wick__gpu_kernel kernel) {
    const struct wick_tensor *x = call->in[0];
    struct wick__gpu *gpu = wick__gpu_of(x);
    struct gpu_resize p = describe(call);
    if (p.count == 0) return WICK_OK;
    int64_t n = (int64_t)(16 / wick__size(x->dtype)), vectors = (p.to[2] + n - 1) / n;
    bool wide = by_vectors(call, &p);
    bool whole = p.to[2] % n == 0 && wick__aligned16(p.out);
    if (wide) wick__gpu_divisor(&p.by_vector, (u32)vectors);
    if (wide && !whole && p.to[2] >= 2 * n) {
        struct gpu_resize_cut cut = {.of = p, .vectors = p.count / p.to[2] * vectors};
        struct wick__launch launch = {.kernel = cut_kernel(call), .grid = {wick__gpu_blocks(gpu, cut.vectors, 1)}};
        return wick__gpu_launch(gpu, &launch, &cut);
    }
    p.wide = wide && whole;
    struct wick__launch launch = {.kernel = kernel, .grid = {wick__gpu_blocks(gpu, p.count, p.wide ? (int)n : 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}

wick__kernel_fn wick__gpu_resize;
enum wick_status wick__gpu_resize(const struct wick__call *call) {
    enum wick_dtype dtype = call->in[0]->dtype;
    return resize(call, call->p.resize.kind == WICK__LINEAR
                            ? wick__gpu_of_all(WICK__GPU_K_resize_linear_u8, dtype)
                            : wick__gpu_of_size(WICK__GPU_K_resize_nearest_b1, wick__size(dtype)));
}

wick__kernel_fn wick__gpu_resize_cubic;
enum wick_status wick__gpu_resize_cubic(const struct wick__call *call) {
    enum { ROWS = 8, BUSY = 1 << 17, WAVE = 32 };
    const struct wick_tensor *x = call->in[0];
    struct gpu_resize_tiles q = {.of = describe(call), .across = ROWS}; /* so that a tile has a row for each thread */
    const struct gpu_resize *p = &q.of;
    if (p->count == 0) return WICK_OK;
    while (q.across < GPU_BLOCK && q.across < p->to[2]) q.across *= 2;
    /* No more than an eighth of the threads idle in the last tile of a row, if waves can be whole. */
    while (q.across > WAVE && 8 * p->to[2] < 7 * wick__div_up(p->to[2], q.across) * q.across) q.across /= 2;
    q.rows = (u32)wick__max(1, wick__min(ROWS, p->count / BUSY));
    q.high = GPU_BLOCK / q.across * q.rows;
    q.wide = wick__div_up(p->to[2], q.across);
    q.tall = wick__div_up(p->to[1], q.high);
    q.tiles = p->count / (p->to[1] * p->to[2]) * q.wide * q.tall;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_resize_cubic_bf16, x->dtype)};
    wick__gpu_reduce_grid(&launch, q.tiles);
    return wick__gpu_launch(wick__gpu_of(x), &launch, &q);
}

/* ---- gradients: a thread an element of x ---- */

_Static_assert((int)GPU_NEAREST == (int)WICK__NEAREST && (int)GPU_LINEAR == (int)WICK__LINEAR &&
                   (int)GPU_CUBIC == (int)WICK__CUBIC && (int)GPU_AREA == (int)WICK__AREA,
               "kinds of resizing");

/* How places in x become numbers of results, nearly. */
static void invert(struct gpu_resample_axis *a, const struct wick__position *at) {
    if (at->scale > 0) {
        a->back = at->scale;
        a->ahead = at->shift * at->scale - at->offset;
    } else if (at->mul > 0) {
        a->back = (double)at->by / (double)at->mul;
        a->ahead = -(double)at->add / (double)at->mul;
    } /* 0: x or the gradient has one element in this dim, and the ranges are whole */
}

/* How many neighbours of a row a thread makes where numbers of 32 bits do for places of nearest; 0 where they don't. */
static int together(struct gpu_resize_backward *p, enum wick_dtype dtype, int64_t results) {
    if (p->kind != GPU_NEAREST || p->indices || !p->narrow || results > INT32_MAX) return 0;
    for (int d = 0; d < 3; d++) {
        struct gpu_resample_axis *a = &p->axis[d];
        int64_t mul = a->at.mul ? a->at.mul : 1; /* 0: of a missing dim */
        if (!a->at.narrow || a->at.add < 0 || a->at.by > (INT32_MAX - mul) / a->in) return 0;
        wick__gpu_divisor(&a->by_mul, (u32)mul);
    }
    int n = dtype == WICK_F8E4M3 ? 1 : (int)(16 / wick__size(dtype));
    if (p->axis[2].in % n != 0 || (uintptr_t)p->out % 16 != 0) n = 1;
    wick__gpu_divisor(&p->by_vector, (u32)(p->axis[2].in / n));
    return n;
}

/* No less than the length of the longest range that resize_spans finds in a dim. */
static int64_t most_results(const struct gpu_resize_backward *p, const struct gpu_resample_axis *a) {
    double out = (double)a->out, reach = p->kind == GPU_CUBIC ? 2 : p->kind == GPU_LINEAR ? 1 : 0;
    double ahead = reach > 0 ? reach : 1, last = (double)(a->in - 1);
    double inside = (reach + ahead) * a->back, first = ahead * a->back + a->ahead;
    double behind = out - ((last - reach) * a->back + a->ahead); /* results that only the last element may take */
    if (p->kind == GPU_AREA) return wick__min(a->out, a->out / a->in + 3);
    if (a->back <= 0 || a->in == 1) return a->out;
    double most = inside > first ? inside : first;
    most = (most > behind ? most : behind) + 4;
    return most < out ? (int64_t)most : a->out;
}

/* Where the spans and weights of the dims lie in memory: their bytes, or 0 where a thread had better find its own. */
static size_t place_spans(struct gpu_resize_backward *p, char *memory) {
    enum { FEW = 512, LARGE = 1 << 22 };
    size_t nbytes = 0;
    if (p->together || p->indices || !p->narrow || p->count <= FEW) return 0;
    for (int d = 0; d < 3; d++) {
        struct gpu_resample_axis *a = &p->axis[d];
        a->most = most_results(p, a);
        if (a->out >= INT32_MAX || a->most > LARGE / 8 / a->in) return 0;
        size_t size = (size_t)(a->in * a->most) * 8;
        if (memory) {
            a->weights = (double *)(void *)(memory + nbytes);
            a->spans = (u32 *)(void *)(memory + nbytes + size);
        }
        nbytes += size + (size_t)a->in * 8;
    }
    return nbytes;
}

static enum wick_status gather(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_resize_backward *p,
                               size_t nbytes) {
    void *memory;
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &memory));
    place_spans(p, memory);
    int64_t items = p->axis[0].in + p->axis[1].in + p->axis[2].in;
    struct wick__launch spans = {.kernel = WICK__GPU_K_resize_spans,
                                 .grid = {(unsigned)((items + GPU_BLOCK - 1) / GPU_BLOCK)}};
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_resize_gather_bf16, dtype),
                                  .grid = {wick__gpu_blocks(gpu, p->count, 1)}};
    enum wick_status status = wick__gpu_launch(gpu, &spans, p);
    if (status == WICK_OK) status = wick__gpu_launch(gpu, &launch, p);
    wick__gpu_release(gpu, memory, nbytes);
    return status;
}

wick__kernel_fn wick__gpu_resize_backward;
enum wick_status wick__gpu_resize_backward(const struct wick__call *call) {
    const struct wick_tensor *gradient = call->in[0], *x = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(x);
    struct gpu_resize_backward p = {.gradient = wick__data(gradient),
                                    .indices = call->n_in > 1 ? wick__data(call->in[1]) : NULL,
                                    .out = wick__data(x),
                                    .count = wick__count(x),
                                    .kind = (u32)call->p.resize.kind,
                                    .narrow = wick__count(x) < INT32_MAX};
    if (p.count == 0) return WICK_OK;
    for (int d = 0; d < 3; d++) {
        int s = d - (3 - call->p.resize.spatial);
        struct gpu_resample_axis *a = &p.axis[d];
        struct wick__position at = s < 0 ? (struct wick__position){.by = 1} : call->p.resize.at[s];
        a->in = s < 0 ? 1 : x->layout.shape[2 + s];
        a->out = s < 0 ? 1 : gradient->layout.shape[2 + s];
        a->at = position_of(at, a->out);
        invert(a, &at);
        if (p.narrow) wick__gpu_divisor(&a->by_in, (uint32_t)a->in);
    }
    p.together = (u32)together(&p, x->dtype, wick__count(gradient));
    size_t nbytes = place_spans(&p, NULL);
    if (nbytes > 0) return gather(gpu, x->dtype, &p, nbytes);
    enum wick__gpu_kernel first = p.together ? WICK__GPU_K_nearest_backward_bf16 : WICK__GPU_K_resize_backward_bf16;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(first, x->dtype),
                                  .grid = {wick__gpu_blocks(gpu, p.count, p.together ? (int)p.together : 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}
