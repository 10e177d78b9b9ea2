/* Padding: a margin of one value, of mirror images, of the edge, or of x again. */
#include "core/convert.h"
#include "cpu/kernels/pad_sources.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "backend.h"

#include <string.h>

/* Dims behind the last padded one are one unit, copied whole; `last` is the last padded dim. */
struct pad {
    const char *in;
    char *out;
    enum wick_pad_mode mode;
    int last;
    int64_t from[WICK_MAX_RANK], to[WICK_MAX_RANK], before[WICK_MAX_RANK];
    size_t unit;    /* bytes */
    uint64_t value; /* of WICK_PAD_CONSTANT: one element's bytes */
    size_t size;    /* bytes of one element */
};

/* The input index that result index o of dim d shows; -1 for the value. */
static inline int64_t source(const struct pad *pad, int d, int64_t o) {
    return pad_source(pad->mode, o - pad->before[d], pad->from[d]);
}

static void fill(const struct pad *pad, char *out, size_t nbytes) {
    size_t n = nbytes / pad->size;
    switch (pad->size) {
    case 1: memset(out, (int)(pad->value & 0xff), n); break;
    case 2:
        for (size_t i = 0; i < n; i++) ((uint16_t *)(void *)out)[i] = (uint16_t)pad->value;
        break;
    case 4:
        for (size_t i = 0; i < n; i++) ((uint32_t *)(void *)out)[i] = (uint32_t)pad->value;
        break;
    default:
        for (size_t i = 0; i < n; i++) ((uint64_t *)(void *)out)[i] = pad->value;
        break;
    }
}

/* Elements begin .. end-1 of the margin of a row. */
static void margin(const struct pad *pad, const char *in, char *out, int64_t begin, int64_t end) {
    if (pad->mode == WICK_PAD_CONSTANT) {
        fill(pad, out + (size_t)begin * pad->unit, (size_t)(end - begin) * pad->unit);
        return;
    }
    for (int64_t o = begin; o < end; o++) {
        const char *from = in + (size_t)source(pad, pad->last, o) * pad->unit;
        char *to = out + (size_t)o * pad->unit;
        switch (pad->unit) {
        case 2: memcpy(to, from, 2); break;
        case 4: memcpy(to, from, 4); break;
        default: memcpy(to, from, pad->unit); break;
        }
    }
}

static void pad_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct pad *pad = context;
    int last = pad->last;
    int64_t n = pad->from[last], out_n = pad->to[last], before = pad->before[last];
    int64_t front = wick__min(wick__max(0, before), out_n), back = wick__min(wick__max(front, before + n), out_n);
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        int64_t rest = row, from = 0, step = 1;
        bool inside = true;
        for (int d = last - 1; d >= 0; d--) {
            int64_t i = source(pad, d, rest % pad->to[d]);
            rest /= pad->to[d];
            inside = inside && i >= 0;
            from += i * step;
            step *= pad->from[d];
        }
        char *out = pad->out + (size_t)(row * out_n) * pad->unit;
        if (!inside || n == 0) {
            fill(pad, out, (size_t)out_n * pad->unit);
            continue;
        }
        const char *in = pad->in + (size_t)(from * n) * pad->unit;
        margin(pad, in, out, 0, front);
        if (back > front)
            memcpy(out + (size_t)front * pad->unit, in + (front - before) * (int64_t)pad->unit,
                   (size_t)(back - front) * pad->unit);
        margin(pad, in, out, back, out_n);
    }
}

enum wick_status WICK__ISA(wick__cpu_pad)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_pad)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor *y = call->out[0];
    int rank = y->layout.rank;
    int64_t rows = 1;
    if (wick__count(y) == 0) return WICK_OK;
    struct pad pad = {.in = wick__data(x),
                      .out = wick__data(y),
                      .mode = (enum wick_pad_mode)call->p.pad.mode,
                      .unit = wick__size(x->dtype)};
    pad.size = pad.unit;
    wick__store_number(x->dtype, call->p.pad.value, &pad.value);
    int last = rank - 1;
    for (; last > 0 && call->p.pad.before[last] == 0 && call->p.pad.after[last] == 0; last--)
        pad.unit *= (size_t)y->layout.shape[last];
    pad.last = last < 0 ? 0 : last;
    pad.from[0] = pad.to[0] = 1; /* a scalar is a row of one */
    for (int d = 0; d <= last; d++) {
        pad.from[d] = x->layout.shape[d];
        pad.to[d] = y->layout.shape[d];
        pad.before[d] = call->p.pad.before[d];
        if (d < last) rows *= pad.to[d];
    }
    wick__parallel(rows, wick__max(1, 32768 / (pad.to[pad.last] * (int64_t)pad.unit)), pad_rows, &pad);
    return WICK_OK;
}
