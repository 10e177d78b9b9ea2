/* Layer, RMS, group and batch norm. Statistics are summed in f64 from deviations, never from squares of the elements.
 */
#include "cpu/kernels/float_rows.h"
#include "cpu/kernels/reduce_kinds.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include "core/memory.h"

#undef KINDS
#undef INT_KINDS
#undef FLOAT_KINDS
#define KINDS(X)
#define INT_KINDS(X)
#define FLOAT_KINDS(X) X(TOTAL) X(SQUARES) X(ABS_MAX)
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

/* TOGETHER of up to SHORT_ROW elements are normalised together. */
enum { GRAIN = 16 * 1024, TOGETHER = 16, SHORT_ROW = 512 };

struct normalize {
    enum wick_op op;
    enum wick_dtype dtype;
    size_t size; /* of an element */
    const char *in;
    char *out;
    char *inverse, *mean_out; /* of every row, in the type it is computed in; NULL when nobody wants them */
    int64_t n;                /* elements that are normalised together: a row */
    int64_t row;              /* bytes between the beginnings of rows */
    int64_t pieces, piece;    /* of a row, and the elements of one */
    int64_t step;             /* bytes between the beginnings of pieces */
    int64_t plane;            /* elements of one channel of one image */
    int64_t channels;
    double epsilon;
    bool centered, stream;
    const void *weight, *bias, *mean, *variance; /* in the type it is computed in; NULL when left out */
};

#define SUFFIX f32
#define T float
#define V wick__vf
#define WIDTH WICK__VF
#define VECTOR(name) WICK__JOIN(wick__vf, name)
#define LEAST_SQUARE 0x1p-200
#define MOST_SQUARE 0x1p200
#define NEAR 60
#define MOST_PRE 126
#define FAR_MEAN 0x1p100f
#include "cpu/kernels/normalize_body.h"
#define SUFFIX f64
#define T double
#define V wick__vd
#define WIDTH WICK__VD
#define VECTOR(name) WICK__JOIN(wick__vd, name)
#define LEAST_SQUARE 0x1p-900
#define MOST_SQUARE 0x1p900
#define NEAR 300
#define MOST_PRE 1022
#define FAR_MEAN 0x1p990
#include "cpu/kernels/normalize_body.h"

static void rows_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct normalize *s = context;
    bool wide = s->dtype == WICK_F64;
    (void)worker;
    bool together = (s->op == WICK_OP_layer_norm || s->op == WICK_OP_rms_norm) && s->n <= SHORT_ROW;
    for (int64_t i = begin; together && i < end; i += TOGETHER) {
        int64_t at = i * s->n * (int64_t)s->size;
        (wide ? normalize_rows_f64 : normalize_rows_f32)(s, s->in + at, s->out + at, wick__min(TOGETHER, end - i));
    }
    for (int64_t i = begin; !together && i < end; i++) {
        const char *in = s->in + i * s->row;
        char *out = s->out + i * s->row;
        int64_t per = s->op == WICK_OP_group_norm && s->pieces == 1 ? s->n / s->plane : 1; /* channels of a row */
        int64_t channel = i % (s->channels / per) * per;
        switch (s->op) {
        case WICK_OP_group_norm: (wide ? normalize_group_f64 : normalize_group_f32)(s, in, out, channel); break;
        case WICK_OP_batch_norm:
            if (s->n == s->plane)
                (wide ? normalize_plane_f64 : normalize_plane_f32)(s, in, out, channel);
            else
                (wide ? normalize_points_f64 : normalize_points_f32)(s, in, out);
            break;
        default: (wide ? normalize_row_f64 : normalize_row_f32)(s, in, out); break;
        }
    }
    if (s->stream) _mm_sfence();
}

/* The operands after x, converted to f32 where they are small floats, in `scratch`: n elements each. */
static void take_operands(struct normalize *s, const struct wick__call *call, float *scratch, int64_t n) {
    const void *operand[4] = {NULL};
    for (int i = 1; i < call->n_in; i++) {
        if (!call->in[i]) continue;
        operand[i - 1] = wick__data(call->in[i]);
        if (!scratch) continue;
        wick__row_to_f32(s->dtype, operand[i - 1], 1, scratch + (i - 1) * n, n);
        operand[i - 1] = scratch + (i - 1) * n;
    }
    if (s->op == WICK_OP_batch_norm) {
        s->mean = operand[0];
        s->variance = operand[1];
        s->weight = operand[2];
        s->bias = operand[3];
    } else {
        s->weight = operand[0];
        s->bias = operand[1];
    }
}

enum wick_status WICK__ISA(wick__cpu_normalize)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_normalize)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    const struct wick__layout *layout = &x->layout;
    int64_t count = wick__count(x);
    if (count == 0) return WICK_OK;
    struct normalize s = {.op = call->op,
                          .dtype = x->dtype,
                          .size = wick__size(x->dtype),
                          .in = wick__data(x),
                          .out = wick__data(call->out[0]),
                          .inverse = call->n_out > 1 ? wick__data(call->out[1]) : NULL,
                          .mean_out = call->n_out > 2 ? wick__data(call->out[2]) : NULL,
                          .n = 1,
                          .plane = 1,
                          .channels = 1,
                          .epsilon = call->p.norm.epsilon,
                          .centered = call->op != WICK_OP_rms_norm};
    s.stream = (size_t)count * s.size >= STREAM_FROM;
    if (s.op == WICK_OP_group_norm || s.op == WICK_OP_batch_norm) {
        s.channels = layout->shape[1];
        s.plane = count / (layout->shape[0] * s.channels);
        s.n = s.op == WICK_OP_group_norm ? s.plane * (s.channels / call->p.norm.groups)
              : s.plane == 1             ? s.channels
                                         : s.plane;
    } else {
        for (int d = layout->rank - call->p.norm.axes; d < layout->rank; d++) s.n *= layout->shape[d];
    }
    s.row = s.n * (int64_t)s.size;
    s.pieces = 1;
    s.piece = s.n;
    if (call->p.norm.batch) {
        s.row = s.plane * (int64_t)s.size;
        s.step = s.row * s.channels;
        s.pieces = layout->shape[0];
        s.piece = s.plane;
        s.n = s.pieces * s.piece;
    }
    int64_t operands = s.channels > 1 || s.op == WICK_OP_group_norm || s.op == WICK_OP_batch_norm ? s.channels : s.n;
    bool narrow = s.dtype != WICK_F32 && s.dtype != WICK_F64 && call->n_in > 1;
    size_t nbytes = narrow ? sizeof(float) * (size_t)operands * (size_t)(call->n_in - 1) : 0;
    float *scratch = narrow ? wick__scratch(nbytes) : NULL;
    if (narrow && !scratch) return WICK_MEMORY;
    take_operands(&s, call, scratch, operands);
    wick__parallel(count / s.n, wick__max(1, GRAIN / s.n), rows_task, &s);
    wick__scratch_free(scratch, nbytes);
    return WICK_OK;
}
