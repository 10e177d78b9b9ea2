/* Filling with one value, and with evenly spaced values. */
#include "core/convert.h"
#include "cpu/kernels/elementwise.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"

wick__kernel_fn WICK__ISA(wick__cpu_copy);

struct arange {
    double start, step;
    int64_t first, by; /* the same, where `whole` */
    bool whole;
    enum wick_dtype dtype;
    char *out;
};

static void arange_range(void *context, int worker, int64_t begin, int64_t end) {
    const struct arange *arange = context;
    size_t size = wick__size(arange->dtype);
    double values[256];
    int64_t integers[256];
    (void)worker;
    for (int64_t first = begin; first < end; first += 256) {
        int64_t n = wick__min(256, end - first);
        char *out = arange->out + (size_t)first * size;
        if (arange->whole) {
            for (int64_t i = 0; i < n; i++)
                integers[i] = (int64_t)((uint64_t)arange->first + (uint64_t)(first + i) * (uint64_t)arange->by);
            wick__row_from_i64(arange->dtype, integers, out, n);
            continue;
        }
        for (int64_t i = 0; i < n; i++) values[i] = arange->start + (double)(first + i) * arange->step;
        wick__row_from_f64(arange->dtype, values, out, n);
    }
}

/* full, fill_inplace: the value is copied from a tensor of one element. arange: start + i step. */
wick__kernel_fn WICK__ISA(wick__cpu_fill);
enum wick_status WICK__ISA(wick__cpu_fill)(const struct wick__call *call) {
    struct wick_tensor *out = call->out[0];
    if (call->op == WICK_OP_arange) {
        const struct wick_number *n = call->p.number;
        struct arange arange = {.start = wick__number_f64(WICK_F64, n[0]),
                                .step = wick__number_f64(WICK_F64, n[1]),
                                .first = n[0].integer,
                                .by = n[1].integer,
                                .whole = !n[0].is_real && !n[1].is_real && !wick_dtype_is_float(out->dtype),
                                .dtype = out->dtype,
                                .out = wick__data(out)};
        wick__parallel(wick__count(out), 8192, arange_range, &arange);
        return WICK_OK;
    }
    uint64_t element = 0;
    struct wick__storage storage = {.nbytes = sizeof element, .data = &element};
    struct wick_tensor value = {.dtype = out->dtype, .storage = &storage};
    struct wick__call copy = {.op = WICK_OP_copy_inplace, .n_in = 1, .in = {&value}, .n_out = 1, .out = {out}};
    wick__store_number(out->dtype, call->p.number[0], &element);
    return WICK__ISA(wick__cpu_copy)(&copy);
}
