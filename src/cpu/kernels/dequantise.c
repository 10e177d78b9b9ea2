/* Blocks to floats. */
#include "cpu/kernels/blocks.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "backend.h"

enum { GRAIN = 64 }; /* stretches */

struct dequantise {
    wick__unpack_fn *unpack;
    enum wick_dtype to;
    const uint8_t *in;
    char *out;
    int64_t count, nbytes, size; /* elements, bytes of a stretch of blocks, bytes of an element of the result */
};

/* Units are stretches; rows do not matter, since they consist of whole blocks. */
static void dequantise_stretches(void *context, int worker, int64_t begin, int64_t end) {
    const struct dequantise *d = context;
    struct wick__stretch stretch;
    float values[WICK__STRETCH];
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int n = (int)wick__min(WICK__STRETCH, d->count - i * WICK__STRETCH);
        char *out = d->out + i * WICK__STRETCH * d->size;
        d->unpack(d->in + i * d->nbytes, n, &stretch);
        wick__stretch_values(&stretch, d->to == WICK_F32 ? (float *)(void *)out : values, n);
        if (d->to != WICK_F32) wick__row_from_f32(d->to, values, out, n);
    }
}

wick__kernel_fn WICK__ISA(wick__cpu_dequantise);
enum wick_status WICK__ISA(wick__cpu_dequantise)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    const struct wick_tensor *y = call->out[0];
    const struct wick__traits *traits = &wick__traits[x->dtype];
    struct dequantise d = {.unpack = WICK__ISA(wick__unpack)(x->dtype),
                           .to = y->dtype,
                           .in = wick__data(x),
                           .out = wick__data(y),
                           .count = wick__count(y),
                           .nbytes = WICK__STRETCH / traits->elements * traits->nbytes,
                           .size = (int)wick__size(y->dtype)};
    wick__parallel((d.count + WICK__STRETCH - 1) / WICK__STRETCH, GRAIN, dequantise_stretches, &d);
    return WICK_OK;
}
