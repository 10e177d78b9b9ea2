/* The gradient of padding. */
#include "cpu/kernels/pad_sources.h"
#include "cpu/kernels/transposed.h"
#include "cpu/runtime/isa.h"

struct padded {
    enum wick_pad_mode mode;
    int64_t before;
};

static void list_shown(struct readers *r, const void *context) {
    const struct padded *p = context;
    for (int64_t o = 0; o < r->out; o++) {
        int64_t i = pad_source(p->mode, o - p->before, r->in);
        if (i >= 0) add_reader(r, i, o, 1);
    }
}

enum wick_status WICK__ISA(wick__cpu_pad_backward)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_pad_backward)(const struct wick__call *call) {
    const struct wick_tensor *gradient = call->in[0];
    struct wick_tensor *x = call->out[0];
    int64_t count = wick__count(x);
    int rank = x->layout.rank, first = 0;
    if (count == 0) return WICK_OK;
    struct transposed t = {
        .dtype = x->dtype, .size = wick__size(x->dtype), .gradient = wick__data(gradient), .out = wick__data(x)};
    /* Dims in front that are not padded are planes. */
    while (first < rank - 1 && call->p.pad.before[first] == 0 && call->p.pad.after[first] == 0) first++;
    bool made = true;
    do {
        int d = first + t.n;
        struct padded padded = {(enum wick_pad_mode)call->p.pad.mode, rank > 0 ? call->p.pad.before[d] : 0};
        int64_t in = rank > 0 ? x->layout.shape[d] : 1, out = rank > 0 ? gradient->layout.shape[d] : 1;
        made = readers_make(&t.dim[t.n], in, out, list_shown, &padded);
        t.n++;
    } while (made && first + t.n < rank);
    enum wick_status status = made ? transposed_run(&t, count) : WICK_MEMORY;
    transposed_free(&t);
    return status;
}
