/* Gradients of softmax and of its logarithm along a dim, from their results. */
#include "cpu/kernels/float_rows.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include <float.h>
#include <math.h>

/* JOINED: columns of several rows that go at once. */
enum { GRAIN = 16 * 1024, JOINED = 256 };

struct softmax_backward {
    enum wick_dtype dtype;
    size_t size; /* of an element */
    const char *gradient, *result;
    char *out;
    int64_t n, inner; /* all are [outer, n, inner] */
    int64_t tiles;    /* of up to BLOCK among inner */
    bool log, stream;
};

#define V wick__vf
#define VECTOR(name) WICK__JOIN(wick__vf, name)
#define EXP wick__vf_exp
#define T float
#define LANES WICK__VF
#define LARGEST FLT_MAX
#define SUFFIX f32
#include "cpu/kernels/softmax_backward_body.h"
#define V wick__vd
#define VECTOR(name) WICK__JOIN(wick__vd, name)
#define EXP WICK__VD_FN(exp, u10)
#define T double
#define LANES WICK__VD
#define LARGEST DBL_MAX
#define SUFFIX f64
#include "cpu/kernels/softmax_backward_body.h"

static void rows_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct softmax_backward *s = context;
    int64_t row = s->n * (int64_t)s->size;
    (void)worker;
    for (int64_t i = begin; i < end; i++) (s->dtype == WICK_F64 ? backward_row_f64 : backward_row_f32)(s, i * row);
    if (s->stream) _mm_sfence();
}

static void tiles_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct softmax_backward *s = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % s->tiles * BLOCK, width = wick__min(BLOCK, s->inner - first);
        int64_t at = (i / s->tiles * s->n * s->inner + first) * (int64_t)s->size;
        (s->dtype == WICK_F64 ? backward_across_f64 : backward_across_f32)(s, at, width);
    }
    if (s->stream) _mm_sfence();
}

enum wick_status WICK__ISA(wick__cpu_softmax_backward)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_softmax_backward)(const struct wick__call *call) {
    const struct wick_tensor *gradient = call->in[0];
    const struct wick__layout *layout = &gradient->layout;
    int64_t count = wick__count(gradient), dim = call->p.along.dim;
    if (count == 0) return WICK_OK;
    struct softmax_backward s = {.dtype = gradient->dtype,
                                 .size = wick__size(gradient->dtype),
                                 .gradient = wick__data(gradient),
                                 .result = wick__data(call->in[1]),
                                 .out = wick__data(call->out[0]),
                                 .n = layout->rank > 0 ? layout->shape[dim] : 1,
                                 .inner = 1,
                                 .log = call->op == WICK_OP_log_softmax_backward};
    s.stream = (size_t)count * s.size >= STREAM_FROM;
    for (int d = (int)dim + 1; d < layout->rank; d++) s.inner *= layout->shape[d];
    s.tiles = (s.inner + BLOCK - 1) / BLOCK;
    if (s.inner == 1)
        wick__parallel(count / s.n, wick__max(1, GRAIN / s.n), rows_task, &s);
    else
        wick__parallel(count / (s.n * s.inner) * s.tiles, wick__max(1, GRAIN / (s.n * wick__min(s.inner, BLOCK))),
                       tiles_task, &s);
    return WICK_OK;
}
