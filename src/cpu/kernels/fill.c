/* Filling with one value, and with evenly spaced values. */
#include "cpu/kernels/convert.h"
#include "cpu/kernels/elementwise.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"

wick__kernel_fn WICK__ISA(wick__cpu_copy);

struct arange {
    double start, step;
    enum wick_dtype dtype;
    char *out;
};

static void arange_range(void *context, int worker, int64_t begin, int64_t end) {
    const struct arange *arange = context;
    size_t size = wick__size(arange->dtype);
    double values[256];
    (void)worker;
    for (int64_t first = begin; first < end; first += 256) {
        int64_t n = wick__min(256, end - first);
        for (int64_t i = 0; i < n; i++) values[i] = arange->start + (double)(first + i) * arange->step;
        wick__row_from_f64(arange->dtype, values, arange->out + (size_t)first * size, n);
    }
}

/* full, fill_inplace: the value is copied from a tensor of one element. arange: start + i step. */
wick__kernel_fn WICK__ISA(wick__cpu_fill);
enum wick_status WICK__ISA(wick__cpu_fill)(const struct wick__call *call) {
    struct wick_tensor *out = call->out[0];
    if (call->op == WICK_OP_arange) {
        struct arange arange = {call->p.scalar[0], call->p.scalar[1], out->dtype, wick__data(out)};
        wick__parallel(wick__count(out), 8192, arange_range, &arange);
        return WICK_OK;
    }
    uint64_t element = 0;
    struct wick__storage storage = {.nbytes = sizeof element, .data = &element};
    struct wick_tensor value = {.dtype = out->dtype, .storage = &storage};
    struct wick__call copy = {.op = WICK_OP_copy_inplace, .n_in = 1, .in = {&value}, .n_out = 1, .out = {out}};
    wick__store_f64(out->dtype, call->p.scalar[0], &element);
    return WICK__ISA(wick__cpu_copy)(&copy);
}
