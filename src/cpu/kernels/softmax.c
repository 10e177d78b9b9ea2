/* Softmax and its logarithm along a dim. */
#include "cpu/kernels/float_rows.h"
#include "cpu/kernels/reduce_kinds.h"
#include "cpu/runtime/parallel.h"

#include <string.h>

#undef KINDS
#undef INT_KINDS
#undef FLOAT_KINDS
#define KINDS(X) X(MAX)
#define INT_KINDS(X)
#define FLOAT_KINDS(X)
#define SUFFIX f32
#define T float
#define ACC double
#define FLOAT 1
#include "cpu/kernels/reduce_body.h"
#define SUFFIX f64
#define T double
#define ACC double
#define FLOAT 1
#include "cpu/kernels/reduce_body.h"

enum { KEPT = 4 * BLOCK, SHORT = 256, GRAIN = 16 * 1024 };

struct softmax {
    enum wick_dtype dtype;
    size_t size; /* of an element */
    const char *in;
    char *out;
    int64_t n, inner; /* in and out are [outer, n, inner] */
    int64_t tiles;    /* of up to BLOCK among inner */
    bool log, stream;
};

#if WICK_ISA_LEVEL == 2
#define EXP_F32(x) ((wide_f32)Sleef_expf16_u10avx512f((__m512)(x)))
#define EXP_F64(x) ((wide_f64)Sleef_expd8_u10avx512f((__m512d)(x)))
#elif WICK_ISA_LEVEL == 1
#define EXP_F32(x) ((wide_f32)Sleef_expf8_u10avx2((__m256)(x)))
#define EXP_F64(x) ((wide_f64)Sleef_expd4_u10avx2((__m256d)(x)))
#else
#define EXP_F32(x) ((wide_f32)Sleef_expf4_u10sse2((__m128)(x)))
#define EXP_F64(x) ((wide_f64)Sleef_expd2_u10sse2((__m128d)(x)))
#endif

#define SUFFIX f32
#define T float
#define EXP EXP_F32
#include "cpu/kernels/softmax_body.h"
#define SUFFIX f64
#define T double
#define EXP EXP_F64
#include "cpu/kernels/softmax_body.h"

static void rows_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct softmax *s = context;
    int64_t row = s->n * (int64_t)s->size;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        if (s->dtype == WICK_F64)
            (s->n <= SHORT ? softmax_short_f64 : softmax_row_f64)(s, s->in + i * row, s->out + i * row);
        else
            (s->n <= SHORT ? softmax_short_f32 : softmax_row_f32)(s, s->in + i * row, s->out + i * row);
    }
    if (s->stream) _mm_sfence();
}

static void tiles_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct softmax *s = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % s->tiles * BLOCK, width = wick__min(BLOCK, s->inner - first);
        int64_t at = (i / s->tiles * s->n * s->inner + first) * (int64_t)s->size;
        if (s->dtype == WICK_F64)
            softmax_across_f64(s, s->in + at, s->out + at, width);
        else
            softmax_across_f32(s, s->in + at, s->out + at, width);
    }
    if (s->stream) _mm_sfence();
}

enum wick_status WICK__ISA(wick__cpu_softmax)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_softmax)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    const struct wick__layout *layout = &x->layout;
    int64_t count = wick__count(x), dim = call->p.along.dim;
    if (count == 0) return WICK_OK;
    struct softmax s = {.dtype = x->dtype,
                        .size = wick__size(x->dtype),
                        .in = wick__data(x),
                        .out = wick__data(call->out[0]),
                        .n = layout->rank > 0 ? layout->shape[dim] : 1,
                        .inner = 1,
                        .log = call->op == WICK_OP_log_softmax};
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
