/* Rotary position embedding. */
#include "core/convert.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "backend.h"

enum { PIECE = 256 }; /* pairs turned at once */

struct rope {
    struct wick__layout x, cosine, sine; /* the tables with three dims */
    const char *in, *cosines, *sines;
    char *out;
    enum wick_dtype dtype;
    int64_t size, half;
    bool interleaved, thd;
};

/* n pairs (a, b) turned by their angles: b's stand `apart` elements behind a's, and pairs `step` behind one another.
 * TYPE is what is computed in. */
#define TURN(TYPE, load, store)                                                                                        \
    do {                                                                                                               \
        TYPE a[PIECE], b[PIECE], c[PIECE], s[PIECE], y[2 * PIECE];                                                     \
        load(r->dtype, x, step, a, n);                                                                                 \
        load(r->dtype, x + apart * r->size, step, b, n);                                                               \
        load(r->dtype, cosine, 1, c, n);                                                                               \
        load(r->dtype, sine, 1, s, n);                                                                                 \
        if (step == 2) {                                                                                               \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                y[2 * i] = a[i] * c[i] - b[i] * s[i];                                                                  \
                y[2 * i + 1] = a[i] * s[i] + b[i] * c[i];                                                              \
            }                                                                                                          \
            store(r->dtype, y, out, 2 * n);                                                                            \
        } else {                                                                                                       \
            for (int64_t i = 0; i < n; i++) y[i] = a[i] * c[i] - b[i] * s[i];                                          \
            for (int64_t i = 0; i < n; i++) y[PIECE + i] = a[i] * s[i] + b[i] * c[i];                                  \
            store(r->dtype, y, out, n);                                                                                \
            store(r->dtype, y + PIECE, out + apart * r->size, n);                                                      \
        }                                                                                                              \
    } while (0)

static void turn(const struct rope *r, const char *x, const char *cosine, const char *sine, char *out, int64_t n) {
    int64_t step = r->interleaved ? 2 : 1, apart = r->interleaved ? 1 : r->half;
    if (r->dtype == WICK_DTYPE_f64)
        TURN(double, wick__row_to_f64, wick__row_from_f64);
    else
        TURN(float, wick__row_to_f32, wick__row_from_f32);
}

/* Units are rows of the last dim. */
static void rope_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct rope *r = context;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        int64_t j = row % r->x.shape[2], i = row / r->x.shape[2] % r->x.shape[1];
        int64_t b = row / r->x.shape[2] / r->x.shape[1], t = r->thd ? i : j;
        const char *x = r->in + (b * r->x.stride[0] + i * r->x.stride[1] + j * r->x.stride[2]) * r->size;
        const char *cosine = r->cosines + (b * r->cosine.stride[0] + t * r->cosine.stride[1]) * r->size;
        const char *sine = r->sines + (b * r->sine.stride[0] + t * r->sine.stride[1]) * r->size;
        char *out = r->out + row * 2 * r->half * r->size;
        for (int64_t first = 0; first < r->half; first += PIECE) {
            int64_t at = first * r->size, pairs = r->interleaved ? 2 * at : at;
            turn(r, x + pairs, cosine + at, sine + at, out + pairs, wick__min(PIECE, r->half - first));
        }
    }
}

static struct wick__layout table(const struct wick_tensor *x) {
    struct wick__layout layout = x->layout;
    if (layout.rank == 3) return layout;
    layout.stride[2] = layout.stride[1];
    layout.stride[1] = layout.stride[0];
    layout.stride[0] = 0;
    return layout;
}

enum wick_status WICK__ISA(wick__cpu_rope)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_rope)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    int64_t count = wick__count(x), width = x->layout.shape[3];
    if (count == 0) return WICK_OK;
    struct rope r = {.x = x->layout,
                     .cosine = table(call->in[1]),
                     .sine = table(call->in[2]),
                     .in = wick__data(x),
                     .cosines = wick__data(call->in[1]),
                     .sines = wick__data(call->in[2]),
                     .out = wick__data(call->out[0]),
                     .dtype = x->dtype,
                     .size = (int)wick__size(x->dtype),
                     .half = width / 2,
                     .interleaved = call->p.rope.interleaved,
                     .thd = call->op == WICK_OP_rope_thd};
    wick__parallel(count / width, wick__max(1, 8192 / width), rope_rows, &r);
    return WICK_OK;
}
