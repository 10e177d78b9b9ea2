/* Bicubic resizing: floats of up to 32 bits in f32, f64 in f64. */
#include "core/convert.h"
#include "core/memory.h"
#include "cpu/kernels/places.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

struct cubic {
    const char *in;
    char *out;
    enum wick_dtype dtype;
    size_t size;
    int64_t from[2], to[2];
    struct taps *taps[2]; /* [to] */
    char *scratch;
    size_t each;
};

/* A row of results: the four rows around it, weighted, and then seen through the taps of the last dim. A weight of 0
 * drops its element, so that no infinity becomes NaN. */
#define WICK__CUBIC_ROW(type, name)                                                                                    \
    static void row_##name(const struct cubic *c, int64_t row, type *scratch) {                                        \
        int64_t width = c->from[1], plane = row / c->to[0];                                                            \
        const struct taps *down = &c->taps[0][row % c->to[0]];                                                         \
        type *sum = scratch, *buffer = sum + width, *values = buffer + width;                                          \
        for (int64_t i = 0; i < width; i++) sum[i] = 0;                                                                \
        for (int k = 0; k < 4; k++) {                                                                                  \
            int64_t from = plane * c->from[0] + clamped(down->first + k, c->from[0]);                                  \
            type weight = (type)down->weight[k];                                                                       \
            if (down->weight[k] == 0) continue;                                                                        \
            wick__row_to_##name(c->dtype, c->in + from * width * (int64_t)c->size, 1, buffer, width);                  \
            for (int64_t i = 0; i < width; i++) sum[i] += weight * buffer[i];                                          \
        }                                                                                                              \
        for (int64_t o = 0; o < c->to[1]; o++) {                                                                       \
            const struct taps *along = &c->taps[1][o];                                                                 \
            values[o] = 0;                                                                                             \
            for (int k = 0; k < 4; k++)                                                                                \
                if (along->weight[k] != 0)                                                                             \
                    values[o] += (type)along->weight[k] * sum[clamped(along->first + k, width)];                       \
        }                                                                                                              \
        wick__row_from_##name(c->dtype, values, c->out + row * c->to[1] * (int64_t)c->size, c->to[1]);                 \
    }
WICK__CUBIC_ROW(float, f32)
WICK__CUBIC_ROW(double, f64)

static void rows_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct cubic *c = context;
    void *scratch = c->scratch + (size_t)worker * c->each;
    for (int64_t row = begin; row < end; row++)
        if (c->dtype == WICK_F64)
            row_f64(c, row, scratch);
        else
            row_f32(c, row, scratch);
}

enum wick_status WICK__ISA(wick__cpu_resize_cubic)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_resize_cubic)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor *y = call->out[0];
    if (wick__count(y) == 0) return WICK_OK;
    struct cubic c = {.in = wick__data(x), .out = wick__data(y), .dtype = x->dtype, .size = wick__size(x->dtype)};
    for (int s = 0; s < 2; s++) {
        c.from[s] = x->layout.shape[2 + s];
        c.to[s] = y->layout.shape[2 + s];
    }
    c.each = (sizeof(double) * (size_t)(2 * c.from[1] + c.to[1]) + 63) / 64 * 64;
    int workers = wick__workers();
    size_t table = (sizeof(struct taps) * (size_t)(c.to[0] + c.to[1]) + 63) / 64 * 64;
    size_t nbytes = table + c.each * (size_t)workers;
    char *memory = wick__scratch(nbytes);
    if (!memory) return WICK_MEMORY;
    c.scratch = memory + table;
    c.taps[0] = (struct taps *)(void *)memory;
    c.taps[1] = c.taps[0] + c.to[0];
    for (int s = 0; s < 2; s++) {
        struct placer placer = placer_of(call->p.resize.at[s]);
        for (int64_t o = 0; o < c.to[s]; o++) c.taps[s][o] = cubic_taps(next_place(&placer));
    }
    wick__parallel_with(workers, wick__count(y) / c.to[1], wick__max(1, 4096 / c.to[1]), rows_task, &c);
    wick__scratch_free(memory, nbytes);
    return WICK_OK;
}
