/* Losses of classes and their gradients, a row, or a line across memory, at a time. */
#include "core/convert.h"
#include "cpu/kernels/float_rows.h"
#include "cpu/kernels/ids.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include "core/checked.h"
#include "core/memory.h"
#include "backend.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { PIECE = 512, LINES = 32, GRAIN = 16 * 1024 };

/* x and probabilities are [outer,n,inner]; ids, losses and weights a line's [outer,inner]. */
struct classes {
    const struct wick__call *call;
    enum wick_dtype dtype;
    int64_t n, inner, count, size; /* count: of lines; size: bytes of an element */
    const char *x, *target;
    const double *weight; /* of the classes */
    double *rows;         /* for the mean: losses of all lines, then their weights; else NULL */
    double smoothing;
    bool soft, nll, backward;
    bool stream;      /* results, which are T side by side, go past the caches */
    atomic_bool *bad; /* an id is out of range */
};

/* What the elements of a line's gradient depend on. */
struct line {
    double g, log_sum, sum; /* sum of the classes' weights in the target */
    double *part;
    bool by_target; /* the gradient of the target is wanted */
};

/* What the loss of a line is made of. */
struct loss {
    double most, sum; /* sum: of e^(x - most) */
    double target[2]; /* sums of the classes' weights in the target, and of these times x */
};

static int64_t start_of(const struct classes *c, int64_t line) {
    return (line / c->inner * c->n * c->inner + line % c->inner) * c->size;
}

/* The id of a line; -1 where it is left out. */
static int64_t id_of(const struct classes *c, int64_t line) {
    const struct wick_tensor *ids = c->call->in[1];
    const char *data = (const char *)wick__data(ids) + line * (int64_t)wick__size(ids->dtype);
    int64_t value = 0, buffer = -1;
    if (c->call->p.classes.ignore) {
        wick__row_to_i64(ids->dtype, data, 1, &value, 1);
        if (value == c->call->p.classes.ignored) return -1;
    }
    struct wick__ids got = wick__ids_read(ids->dtype, data, 1, 1, c->n, &buffer);
    if (got.bad) atomic_store_explicit(c->bad, true, memory_order_relaxed);
    return got.id[0];
}

static double at(const struct wick_tensor *x, int64_t i) {
    return wick__load_f64(x->dtype, (const char *)wick__data(x) + i * (int64_t)wick__size(x->dtype));
}

static void put(struct wick_tensor *y, int64_t i, double value) {
    wick__store_f64(y->dtype, value, (char *)wick__data(y) + i * (int64_t)wick__size(y->dtype));
}

#define T float
#define V wick__vf
#define VECTOR(name) WICK__JOIN(wick__vf, name)
#define LANES WICK__VF
#define EXP wick__vf_exp
#define SUFFIX f32
#include "cpu/kernels/cross_entropy_body.h"
#define T double
#define V wick__vd
#define VECTOR(name) WICK__JOIN(wick__vd, name)
#define LANES WICK__VD
#define EXP WICK__VD_FN(exp, u10)
#define SUFFIX f64
#include "cpu/kernels/cross_entropy_body.h"

static void lines(void *context, int worker, int64_t begin, int64_t end) {
    const struct classes *c = context;
    (void)worker;
    bool wide = c->dtype == WICK_F64;
    for (int64_t i = begin; c->backward && i < end; i++) (wide ? gradient_line_f64 : gradient_line_f32)(c, i);
    for (int64_t i = begin; !c->backward && i < end; i += LINES)
        (wide ? loss_lines_f64 : loss_lines_f32)(c, i, wick__min(end, i + LINES));
    if (c->stream) _mm_sfence();
}

/* The first id out of range among those that are not ignored, as WICK_RANGE. */
static enum wick_status find_bad(const struct classes *c, int64_t count) {
    const struct wick_tensor *ids = c->call->in[1];
    char text[WICK__TENSOR_TEXT];
    atomic_bool bad;
    struct classes again = *c;
    again.bad = &bad;
    for (int64_t i = 0; i < count; i++) {
        int64_t value = 0;
        atomic_init(&bad, false);
        id_of(&again, i);
        if (!atomic_load(&bad)) continue;
        wick__row_to_i64(ids->dtype, (const char *)wick__data(ids) + i * (int64_t)wick__size(ids->dtype), 1, &value, 1);
        return wick__fail(WICK_RANGE, "%s: id %lld at position %lld of ids %s is out of range for size %lld",
                          wick_op_name(c->call->op), (long long)value, (long long)i, wick__tensor_text(text, ids),
                          (long long)c->n);
    }
    return WICK_OK;
}

static void kinds_of(struct classes *c) {
    enum wick_op op = c->call->op;
    c->soft = op == WICK_OP_cross_entropy_soft || op == WICK_OP_cross_entropy_soft_backward;
    c->nll = op == WICK_OP_nll_loss || op == WICK_OP_nll_loss_backward;
    c->backward = op >= WICK_OP_cross_entropy_backward;
}

static enum wick_status run(struct classes *c) {
    size_t nbytes = c->call->p.classes.mean && !c->backward ? sizeof(double) * 2 * (size_t)c->count : 0;
    double loss = 0, weight = 0;
    if (nbytes && !(c->rows = wick__scratch(nbytes))) return wick__latest();
    wick__parallel(c->count, wick__max(1, GRAIN / wick__max(1, c->n)), lines, c);
    if (!nbytes) return WICK_OK;
    for (int64_t i = 0; i < c->count; i++) {
        loss += c->rows[i];
        weight += c->rows[c->count + i];
    }
    put(c->call->out[0], 0, loss / weight);
    put(c->call->out[1], 0, weight);
    wick__scratch_free(c->rows, nbytes);
    return WICK_OK;
}

wick__kernel_fn WICK__ISA(wick__cpu_cross_entropy);
enum wick_status WICK__ISA(wick__cpu_cross_entropy)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[call->n_in - 1];
    const struct wick__layout *layout = &x->layout;
    int along = layout->rank > 1;
    atomic_bool bad;
    struct classes c = {.call = call,
                        .dtype = x->dtype,
                        .n = layout->shape[along],
                        .inner = 1,
                        .size = (int64_t)wick__size(x->dtype),
                        .x = wick__data(x),
                        .target = wick__data(call->in[1]),
                        .smoothing = call->p.classes.smoothing,
                        .bad = &bad};
    size_t nbytes = sizeof(double) * (size_t)(c.n + 1);
    c.count = along ? layout->shape[0] : 1;
    for (int d = 2; d < layout->rank; d++) c.inner *= layout->shape[d];
    c.count *= c.inner;
    if (c.count == 0) return WICK_OK;
    kinds_of(&c);
    c.stream = c.backward && c.inner == 1 && c.size >= 4 && (size_t)(c.count * c.n * c.size) >= STREAM_FROM;
    atomic_init(&bad, false);
    double *weights = wick__scratch(nbytes);
    if (!weights) return wick__latest();
    for (int64_t i = 0; i < c.n; i++) weights[i] = weight ? at(weight, i) : 1;
    c.weight = weights;
    enum wick_status status = run(&c);
    wick__scratch_free(weights, nbytes);
    if (status != WICK_OK) return status;
    return atomic_load(&bad) ? find_bad(&c, c.count) : WICK_OK;
}
