/* Copies: any layout to contiguous. */
#include "cpu/isa.h"
#include "cpu/parallel.h"

#include "core/checked.h"
#include "core/tensor.h"

#include <string.h>

struct copy {
    struct wick__layout from, to;
    const char *in;
    char *out;
    size_t size; /* bytes of an element */
};

static void copy_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct copy *copy = context;
    int last = copy->from.rank - 1;
    int64_t n = copy->from.shape[last], step = copy->from.stride[last], out_step = copy->to.stride[last];
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        int64_t rest = row, from = 0, to = 0;
        for (int d = last - 1; d >= 0; d--) {
            int64_t i = rest % copy->from.shape[d];
            rest /= copy->from.shape[d];
            from += i * copy->from.stride[d];
            to += i * copy->to.stride[d];
        }
        const char *in = copy->in + (size_t)from * copy->size;
        char *out = copy->out + (size_t)to * copy->size;
        if (step == 1 && out_step == 1)
            memcpy(out, in, (size_t)n * copy->size);
        else
            for (int64_t i = 0; i < n; i++)
                memcpy(out + (size_t)(i * out_step) * copy->size, in + (size_t)(i * step) * copy->size, copy->size);
    }
}

enum wick_status WICK__ISA(wick__cpu_copy)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_copy)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor *y = call->out[0];
    struct wick__layout layouts[2] = {x->layout, y->layout};
    int64_t count = wick__count(x);
    if (count == 0) return WICK_OK;
    if (wick_dtype_bits(x->dtype) < 8) { /* packed dtypes are only ever whole buffers */
        memcpy(y->storage->data, x->storage->data, x->storage->nbytes);
        return WICK_OK;
    }
    wick__layout_collapse(layouts, 2);
    struct copy copy = {.from = layouts[0],
                        .to = layouts[1],
                        .in = wick__data(x),
                        .out = wick__data(y),
                        .size = (size_t)wick_dtype_bits(x->dtype) / 8};
    int64_t inner = copy.from.shape[copy.from.rank - 1];
    wick__parallel(count / inner, wick__max(1, 32768 / inner), copy_rows, &copy);
    return WICK_OK;
}
