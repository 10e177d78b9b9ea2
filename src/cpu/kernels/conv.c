/* Convolutions and transposed convolutions over 1 to 3 dims. How they work: conv_plan.h. */
#include "cpu/kernels/conv_columns.h"
#include "cpu/kernels/conv_last.h"
#include "cpu/kernels/conv_plan.h"
#include "cpu/kernels/gemm.h"
#include "cpu/kernels/muladd.h"
#include "cpu/kernels/vmath.h"
#include "points.h"

/* In front of a worker's images: which band of the plan they hold. */
struct conv_scratch {
    int64_t band;
};

/* Where an operand without elements lies, so that addresses can be made from it. */
static _Alignas(64) const char nothing[64];

static const void *data_or_nothing(const struct wick_tensor *x) { return wick__count(x) > 0 ? wick__data(x) : nothing; }

/* Behind the images: four vectors of 64 bytes, since loads are whole groups of vectors wherever a row ends. */
enum { SCRATCH_HEAD = 64, SCRATCH_TAIL = 256 };

/* The tile: rows x columns sums, columns loaded, and one weight fit the vector registers, 32 or 16 of them. */
enum { ROWS = WICK__CONV_ROWS, COLUMNS = WICK__CONV_COLUMNS, ROW_KINDS = 4 };
static const int rows_of[ROW_KINDS] = {1, 2, 4, ROWS};

/* Rows of weights are as many streams as a tile has rows, too many and too short for the hardware's prefetchers. */
enum { WEIGHTS_AHEAD = 64 };

#define UNROLL _Pragma("GCC unroll 16")

/* All lanes x; the subtraction of 0 makes a vector of a scalar and is folded away, which an addition could not be. */
#define SPLAT(x) ((x) - (NAME(vector)){0})

/* to[i] = row[i] for begin <= i < end, 0 elsewhere up to n and to the end of the last vector; what lies `ahead` is
 * fetched into the cache meanwhile. */
#if WICK_ISA_LEVEL >= 2
static inline void copy_masked(float *to, const float *row, int64_t begin, int64_t end, int64_t n, int64_t ahead) {
    for (int64_t i = 0; i < n; i += 16) {
        __builtin_prefetch(row + i + ahead);
        uint32_t below = begin <= i ? 0 : begin >= i + 16 ? 0xffff : (1u << (begin - i)) - 1;
        uint32_t inside = end >= i + 16 ? 0xffff : end <= i ? 0 : (1u << (end - i)) - 1;
        _mm512_storeu_ps(to + i, _mm512_maskz_loadu_ps((__mmask16)(inside & ~below), row + i));
    }
}

#elif WICK_ISA_LEVEL == 1
/* All bits of lanes begin .. end-1 of the eight from i on. */
static inline __m256i lanes_between(int64_t i, int64_t begin, int64_t end) {
    __m256i lane = _mm256_add_epi32(_mm256_set1_epi32((int)i), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32((int)begin), lane),
                               _mm256_cmpgt_epi32(_mm256_set1_epi32((int)end), lane));
}

static inline void copy_masked(float *to, const float *row, int64_t begin, int64_t end, int64_t n, int64_t ahead) {
    for (int64_t i = 0; i < n; i += 8) {
        __builtin_prefetch(row + i + ahead);
        _mm256_storeu_ps(to + i, _mm256_maskload_ps(row + i, lanes_between(i, begin, end)));
    }
}

#else
static inline void copy_masked(float *to, const float *row, int64_t begin, int64_t end, int64_t n, int64_t ahead) {
    (void)ahead;
    for (int64_t i = 0; i < n; i++) to[i] = i >= begin && i < end ? row[i] : 0;
}

#endif

/* Steps from 0 to n > 0 or beyond. Rows are often short, and a division takes longer than copying one. */
static inline int64_t steps_over(int64_t n, int64_t step) {
    return step == 1 ? n : step == 2 ? (n + 1) / 2 : (n + step - 1) / step;
}

/* NaN stays. */
static inline void relu_f32(enum wick_dtype dtype, float *x, int64_t n) {
    (void)dtype;
    for (int64_t i = 0; i < n; i++) x[i] = x[i] < 0 ? 0 : x[i];
}

static inline void relu_f64(enum wick_dtype dtype, double *x, int64_t n) {
    (void)dtype;
    for (int64_t i = 0; i < n; i++) x[i] = x[i] < 0 ? 0 : x[i];
}

/* The sign is that of the value after it has wrapped to the dtype. */
static inline void relu_u64(enum wick_dtype dtype, uint64_t *x, int64_t n) {
    uint64_t sign = UINT64_C(1) << (wick_dtype_bits(dtype) - 1);
    if (dtype == WICK_DTYPE_u8 || dtype == WICK_DTYPE_u32) return;
    for (int64_t i = 0; i < n; i++) x[i] = x[i] & sign ? 0 : x[i];
}

static inline void to_u64(enum wick_dtype dtype, const void *from, int64_t stride, uint64_t *to, int64_t n) {
    wick__row_to_i64(dtype, from, stride, (int64_t *)to, n);
}

static inline void from_u64(enum wick_dtype dtype, const uint64_t *from, void *to, int64_t n) {
    wick__row_from_i64(dtype, (const int64_t *)from, to, n);
}

#if WICK_ISA_LEVEL >= 2
#include "cpu/kernels/conv_thin.h"
#else
static inline void run_direct(const struct conv *conv, int64_t channel, const float *plane, const float *zeros,
                              float *out) {
    (void)conv, (void)channel, (void)plane, (void)zeros, (void)out;
}
#endif

#define VALUE float
#define NAME(x) x##_f32
#define TO_VALUES wick__row_to_f32
#define FROM_VALUES wick__row_from_f32
#define MULADD(x, y, z) MULADD_F32(x, y, z)
#define COPY_MASKED (WICK_ISA_LEVEL >= 1)
#include "cpu/kernels/conv_body.h"
#undef VALUE
#undef NAME
#undef TO_VALUES
#undef FROM_VALUES
#undef MULADD
#undef COPY_MASKED

#define VALUE double
#define NAME(x) x##_f64
#define TO_VALUES wick__row_to_f64
#define FROM_VALUES wick__row_from_f64
#define MULADD(x, y, z) MULADD_F64(x, y, z)
#define COPY_MASKED 0
#include "cpu/kernels/conv_body.h"
#undef VALUE
#undef NAME
#undef TO_VALUES
#undef FROM_VALUES
#undef MULADD

#define VALUE uint64_t
#define NAME(x) x##_u64
#define TO_VALUES to_u64
#define FROM_VALUES from_u64
#define MULADD(x, y, z) ((x) * (y) + (z))
#include "cpu/kernels/conv_body.h"

/* The functions of one arithmetic. */
struct arithmetic {
    wick__range_fn *run_items, *take_weight, *fill_planes;
    void (*take_bias)(const struct conv *conv);
    size_t size;
};

static const struct arithmetic in_f32 = {run_items_f32, take_weight_f32, fill_planes_f32, take_bias_f32, sizeof(float)};
static const struct arithmetic in_f64 = {run_items_f64, take_weight_f64, fill_planes_f64, take_bias_f64,
                                         sizeof(double)};
static const struct arithmetic in_u64 = {run_items_u64, take_weight_u64, fill_planes_u64, take_bias_u64,
                                         sizeof(uint64_t)};

static enum wick_status run_pass(struct conv *conv, const struct arithmetic *arithmetic, int64_t pass) {
    struct conv_plan plan;
    WICK__TRY(WICK__ISA(wick__conv_plan)(conv, pass, &plan));
    int64_t rows = conv->groups * conv->out_channels;
    int workers = wick__workers();
    bool direct = conv->plain && !conv->transposed;
    size_t weights = direct ? 0 : (size_t)(rows * plan.terms) * arithmetic->size;
    size_t images, nbytes, all;
    enum wick_status status = WICK_OK;
    conv->plan = &plan;
    if (conv->filled && plan.terms == 0) goto done;
    if (!wick__mul_size((size_t)plan.images, (size_t)plan.length * arithmetic->size, &images) ||
        !wick__add_size(images, SCRATCH_HEAD + SCRATCH_TAIL + 63, &nbytes) ||
        !wick__mul_size(nbytes / 64 * 64, (size_t)workers, &all) || !wick__add_size(all, weights, &all)) {
        status = wick__fail(WICK_MEMORY, "out of memory: %lld images of %lld elements", (long long)plan.images,
                            (long long)plan.length);
        goto done;
    }
    conv->scratch_each = nbytes / 64 * 64;
    conv->scratch = wick__scratch(all);
    if (!conv->scratch) {
        status = WICK_MEMORY;
        goto done;
    }
    conv->taken = conv->scratch + conv->scratch_each * (size_t)workers;
    conv->weight = direct ? data_or_nothing(conv->call->in[1]) : conv->taken;
    if (!direct) wick__parallel(rows, wick__max(1, 16384 / wick__max(1, plan.terms)), arithmetic->take_weight, conv);
    for (int w = 0; w < workers; w++)
        ((struct conv_scratch *)(void *)(conv->scratch + (size_t)w * conv->scratch_each))->band = -1;
    int64_t items = conv->batch / plan.planes * conv->groups * plan.dim[0].out * plan.bands * plan.parts;
    int64_t work = wick__min(plan.terms, 1 << 20) * wick__min(plan.part * plan.band, 1 << 20);
    wick__parallel_with(workers, items, wick__max(1, 65536 / wick__max(1, work)), arithmetic->run_items, conv);
    wick__scratch_free(conv->scratch, all);
done:
    WICK__ISA(wick__conv_plan_free)(&plan);
    return status;
}

/* Of images with channels last. */
static enum wick_status run_last(const struct wick__call *call) {
    struct wick__product g;
    if (!wick__product_of_points(call, &g)) return WICK__ISA(wick__conv_last)(call); /* no other images come so */
    g.a = wick__data(call->in[1]);
    g.b = wick__data(call->in[0]);
    g.c = wick__data(call->out[0]);
    g.bias = call->in[2] ? wick__data(call->in[2]) : NULL;
    return WICK__ISA(wick__gemm)(&g);
}

enum wick_status WICK__ISA(wick__cpu_conv)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_conv)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[1];
    struct wick_tensor *y = call->out[0];
    if (wick__count(y) == 0) return WICK_OK;
    if (!wick__layout_is_contiguous(&x->layout)) return run_last(call);
    if (WICK__ISA(wick__conv_columns_suit)(call)) return WICK__ISA(wick__conv_columns)(call);
    struct conv conv = {.call = call,
                        .in = data_or_nothing(x),
                        .out = wick__data(y),
                        .dtype = x->dtype,
                        .size = wick__size(x->dtype),
                        .batch = x->layout.shape[0],
                        .groups = call->p.window.groups,
                        .in_channels = x->layout.shape[1] / call->p.window.groups,
                        .out_channels = y->layout.shape[1] / call->p.window.groups,
                        .transposed = call->op >= WICK_OP_conv_transpose1d,
                        .relu = call->p.window.relu,
                        .plain = x->dtype == WICK_DTYPE_f32 || x->dtype == WICK_DTYPE_f64 || x->dtype == WICK_DTYPE_i64,
                        .in_plane = 1,
                        .out_plane = 1,
                        .kernel = {1, 1, 1}};
    int spatial = call->p.window.spatial;
    for (int s = 0; s < spatial; s++) {
        conv.in_plane *= x->layout.shape[2 + s];
        conv.out_plane *= y->layout.shape[2 + s];
        conv.kernel[3 - spatial + s] = weight->layout.shape[2 + s];
    }
    const struct arithmetic *arithmetic = !wick_dtype_is_float(x->dtype) ? &in_u64
                                          : x->dtype == WICK_DTYPE_f64   ? &in_f64
                                                                         : &in_f32;
    conv.value_size = arithmetic->size;
    size_t bias = call->in[2] ? (size_t)y->layout.shape[1] * arithmetic->size : 0;
    if (bias > 0) {
        conv.bias = wick__scratch(bias);
        if (!conv.bias) return WICK_MEMORY;
        arithmetic->take_bias(&conv);
    }
    enum wick_status status = WICK_OK;
    int64_t passes = WICK__ISA(wick__conv_passes)(&conv);
    conv.filled = WICK__ISA(wick__conv_gaps)(&conv);
    if (conv.filled)
        wick__parallel(conv.batch * y->layout.shape[1], wick__max(1, 16384 / conv.out_plane), arithmetic->fill_planes,
                       &conv);
    for (int64_t pass = 0; pass < passes && status == WICK_OK; pass++) status = run_pass(&conv, arithmetic, pass);
    wick__scratch_free(conv.bias, bias);
    return status;
}
