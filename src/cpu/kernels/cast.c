/* Conversion to another dtype. */
#include "core/convert.h"
#include "cpu/kernels/elementwise.h"

struct dtypes {
    enum wick_dtype from, to;
};

/* Integer to integer: wraps. */
static void int_to_int(const struct wick__row *row) {
    const struct dtypes *dtypes = row->params;
    int64_t wide[WICK__BLOCK];
    wick__row_to_i64(dtypes->from, row->in[0], 1, wide, row->n);
    wick__row_from_i64(dtypes->to, wide, row->out, row->n);
}

/* To and from f32 directly. */
static void to_f32(const struct wick__row *row) {
    const struct dtypes *dtypes = row->params;
    wick__row_to_f32(dtypes->from, row->in[0], 1, row->out, row->n);
}

static void from_f32(const struct wick__row *row) {
    const struct dtypes *dtypes = row->params;
    wick__row_from_f32(dtypes->to, row->in[0], row->out, row->n);
}

/* Through f32, for floats that it holds exactly. */
static void through_f32(const struct wick__row *row) {
    const struct dtypes *dtypes = row->params;
    float wide[WICK__BLOCK];
    wick__row_to_f32(dtypes->from, row->in[0], 1, wide, row->n);
    wick__row_from_f32(dtypes->to, wide, row->out, row->n);
}

/* Through f64, for f64 itself and for integers on their way to a narrow float. */
static void through_f64(const struct wick__row *row) {
    const struct dtypes *dtypes = row->params;
    double wide[WICK__BLOCK];
    wick__row_to_f64(dtypes->from, row->in[0], 1, wide, row->n);
    wick__row_from_f64(dtypes->to, wide, row->out, row->n);
}

/* 64-bit integers to narrow floats. f64 does not hold all of them; the bits that it would round away become one
 * sticky bit, so that the only rounding is the last. */
static void long_to_narrow(const struct wick__row *row) {
    const struct dtypes *dtypes = row->params;
    const int64_t *in = row->in[0];
    const uint64_t *unsigned_in = row->in[0];
    double wide[WICK__BLOCK];
    for (int64_t i = 0; i < row->n; i++) {
        uint64_t x = (uint64_t)in[i], magnitude = in[i] < 0 ? 0 - x : x;
        if (dtypes->from == WICK_DTYPE_u64) magnitude = unsigned_in[i];
        if (magnitude >> 53) x = (x & ~(uint64_t)0xfff) | (uint64_t)((x & 0xfff) != 0) << 11;
        wide[i] = dtypes->from == WICK_DTYPE_u64 ? (double)x : (double)(int64_t)x;
    }
    wick__row_from_f64(dtypes->to, wide, row->out, row->n);
}

static bool is_long(enum wick_dtype dtype) { return dtype == WICK_DTYPE_i64 || dtype == WICK_DTYPE_u64; }

static wick__row_fn *choose(enum wick_dtype from, enum wick_dtype to) {
    bool from_float = wick_dtype_is_float(from), to_float = wick_dtype_is_float(to);
    if (from == WICK_DTYPE_f32) return from_f32;
    if (to == WICK_DTYPE_f32) return to_f32;
    if (!from_float && !to_float) return int_to_int;
    if (from == WICK_DTYPE_f64 || to == WICK_DTYPE_f64) return through_f64;
    if (from_float) return through_f32;
    return is_long(from) ? long_to_narrow : through_f64;
}

wick__kernel_fn WICK__ISA(wick__cpu_cast);
enum wick_status WICK__ISA(wick__cpu_cast)(const struct wick__call *call) {
    struct dtypes dtypes = {.from = call->in[0]->dtype, .to = call->out[0]->dtype};
    struct wick__elementwise e = {.row = choose(dtypes.from, dtypes.to),
                                  .n_in = 1,
                                  .in = {call->in[0]},
                                  .out = call->out[0],
                                  .params = &dtypes,
                                  .raw = true};
    WICK__ISA(wick__elementwise)(&e);
    return WICK_OK;
}
