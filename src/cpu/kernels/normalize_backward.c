/* Gradients of layer, RMS and group norm. All is taken in f64. Sums over rows are cut into parts whose number depends
 * on the shape alone, and joined in order: the result does not depend on the number of threads. */
#include "cpu/kernels/float_rows.h"
#include "cpu/kernels/muladd.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include "core/memory.h"

#include <string.h>

/* SUMMED: elements that are added before their sum is joined, as sums of f64 drift in longer chains. */
enum { GRAIN = 16 * 1024, TILE = 512, MAX_PARTS = 64, AT_ONCE = 4, SUMMED = 512 };

/* gradient, x and out are [outer,channels,plane]. Planes that were normalised together are a row: `per` channels that
 * follow each other, or, in a batch, a channel of all outer. Weights go by channel. */
struct normalize_backward {
    enum wick_dtype dtype;
    size_t size; /* of an element */
    const char *gradient, *x;
    char *out;
    const void *mean, *inverse, *weight; /* in the type it is computed in; mean and weight may be NULL */
    int64_t outer, channels, plane, per;
    int64_t pieces; /* planes of a row */
    bool batch;
    int64_t rows;               /* of outer, in a part of the sums for the weight and the bias */
    int64_t parts, tile, tiles; /* of channels */
    double *sums;               /* [parts,2,channels], NULL when nobody wants them */
    bool stream;
};

/* Plane number `piece` of a row. */
struct plane {
    int64_t first, channel; /* its first element */
    double *sums;           /* for the weight; those for the bias lie `channels` further on */
};

static struct plane plane_of(const struct normalize_backward *s, int64_t row, int64_t piece) {
    int64_t groups = s->channels / s->per, outer = s->batch ? piece : row / groups;
    int64_t channel = s->batch ? row : row % groups * s->per + piece, part = s->batch ? 0 : outer;
    return (struct plane){.first = (outer * s->channels + channel) * s->plane,
                          .channel = channel,
                          .sums = s->sums ? s->sums + part * 2 * s->channels + channel : NULL};
}

/* What the gradient of x is made of: inverse (g weight - constant - (x - mean) slope). */
struct slopes {
    double weight, mean, inverse, constant, slope;
};

typedef wick__vd vector_f64;

/* The sum of all lanes of AT_ONCE vectors. */
static inline double lanes_sum(const wick__vd x[AT_ONCE]) { return wick__vd_total((x[0] + x[1]) + (x[2] + x[3])); }

#define T float
#define LOAD wick__vd_of_f32
#define SOME wick__vd_of_f32_some
#define SUFFIX f32
#include "cpu/kernels/normalize_backward_body.h"
#define T double
#define LOAD wick__vd_load
#define SOME(p, n) wick__vd_some(p, n, 0)
#define SUFFIX f64
#include "cpu/kernels/normalize_backward_body.h"

static void rows_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct normalize_backward *s = context;
    bool wide = s->dtype == WICK_F64;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        if (s->plane == 1 && !s->batch)
            (wide ? backward_row_f64 : backward_row_f32)(s, i);
        else
            (wide ? backward_planes_f64 : backward_planes_f32)(s, i);
    if (s->stream) _mm_sfence();
}

/* A tile of channels in a part of the rows. */
static void sums_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct normalize_backward *s = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t part = i / s->tiles, first = i % s->tiles * s->tile;
        double *sums = s->sums + part * 2 * s->channels + first;
        (s->dtype == WICK_F64 ? backward_sums_f64 : backward_sums_f32)(s, part, first, sums);
    }
}

/* Part 0 or 1 of the sums, joined, as the elements of `out`. */
static void join(const struct normalize_backward *s, int which, struct wick_tensor *out) {
    char *to = wick__data(out);
    for (int64_t first = 0; first < s->channels; first += TILE) {
        int64_t n = wick__min(TILE, s->channels - first);
        double sum[TILE] = {0};
        for (int64_t part = 0; part < s->parts; part++)
            for (int64_t j = 0; j < n; j++) sum[j] += s->sums[(part * 2 + which) * s->channels + first + j];
        wick__row_from_f64(s->dtype, sum, to + first * (int64_t)s->size, n);
    }
}

/* Cuts the sums into parts: of planes each image is one. */
static void set_parts(struct normalize_backward *s) {
    s->tile = wick__min(TILE, s->channels);
    s->tiles = (s->channels + s->tile - 1) / s->tile;
    s->rows = s->batch       ? s->outer
              : s->plane > 1 ? 1
                             : wick__max((s->outer + MAX_PARTS - 1) / MAX_PARTS, wick__max(1, 4 * GRAIN / s->tile));
    s->parts = (s->outer + s->rows - 1) / s->rows;
}

/* The gradient of x, and those of weight and bias where they are wanted. */
static enum wick_status backward(struct normalize_backward *s, const struct wick__call *call) {
    int64_t n = s->pieces * s->plane;
    size_t nbytes = sizeof *s->sums * 2 * (size_t)s->parts * (size_t)s->channels;
    if (call->n_out > 1 && !(s->sums = wick__scratch(nbytes))) return WICK_MEMORY;
    if (s->sums) memset(s->sums, 0, nbytes);
    wick__parallel(s->outer * s->channels / s->pieces, wick__max(1, GRAIN / n), rows_task, s);
    if (!s->sums) return WICK_OK;
    if (s->plane == 1 && !s->batch) wick__parallel(s->parts * s->tiles, 1, sums_task, s);
    for (int i = 1; i < call->n_out; i++) join(s, i - 1, call->out[i]);
    wick__scratch_free(s->sums, nbytes);
    return WICK_OK;
}

/* The sizes of what is normalised together. */
static void set_sizes(struct normalize_backward *s, const struct wick__call *call, int64_t count) {
    const struct wick__layout *layout = &call->in[1]->layout;
    s->channels = s->plane = 1;
    if (call->op == WICK_OP_group_norm_backward) {
        s->channels = layout->shape[1];
        s->plane = count / (layout->shape[0] * s->channels);
        s->per = s->channels / call->p.norm.groups;
        s->batch = call->p.norm.batch;
    } else {
        for (int d = layout->rank - call->p.norm.axes; d < layout->rank; d++) s->channels *= layout->shape[d];
        s->per = s->channels;
    }
    s->outer = count / (s->channels * s->plane);
    s->pieces = s->batch ? s->outer : s->per;
    set_parts(s);
}

enum wick_status WICK__ISA(wick__cpu_normalize_backward)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_normalize_backward)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[1];
    int first = call->op == WICK_OP_rms_norm_backward ? 2 : 3; /* the inverse deviation */
    const struct wick_tensor *weight = call->in[first + 1];
    int64_t count = wick__count(x);
    if (count == 0) return WICK_OK;
    struct normalize_backward s = {.dtype = x->dtype,
                                   .size = wick__size(x->dtype),
                                   .gradient = wick__data(call->in[0]),
                                   .x = wick__data(x),
                                   .out = wick__data(call->out[0]),
                                   .mean = first == 3 ? wick__data(call->in[2]) : NULL,
                                   .inverse = wick__data(call->in[first]),
                                   .weight = weight ? wick__data(weight) : NULL};
    set_sizes(&s, call, count);
    s.stream = (size_t)count * s.size >= STREAM_FROM;
    bool narrow = weight && s.dtype != WICK_F32 && s.dtype != WICK_F64;
    size_t nbytes = narrow ? sizeof(float) * (size_t)s.channels : 0;
    float *wide = narrow ? wick__scratch(nbytes) : NULL;
    if (narrow && !wide) return WICK_MEMORY;
    if (narrow) wick__row_to_f32(s.dtype, s.weight, 1, wide, s.channels);
    if (narrow) s.weight = wide;
    enum wick_status status = backward(&s, call);
    wick__scratch_free(wide, nbytes);
    return status;
}
