/* How elementwise kernels run: out[i] = f(in0[i], in1[i], in2[i]).
 *
 * A kernel supplies f as a function on rows: up to WICK__BLOCK elements of each operand, next to one another. The
 * driver in kernels/elementwise.c brings every operand into that form, whatever its layout and broadcasting; shows
 * bf16, f16 and f8e4m3 as f32 and rounds the f32 result once; streams large results past the caches; and shares
 * the blocks out among the threads. Rows of contiguous operands are passed as they lie in memory. So an op needs a
 * function for f32, one for f64 and those for the integers, and none for layouts. */
#ifndef WICK_CPU_KERNELS_ELEMENTWISE_H
#define WICK_CPU_KERNELS_ELEMENTWISE_H

#include "cpu/runtime/isa.h"

#include "backend.h"

enum { WICK__BLOCK = 1024, WICK__ROW_INPUTS = 3 };

struct wick__row {
    const void *in[WICK__ROW_INPUTS];
    void *out;
    int64_t n;           /* 1 .. WICK__BLOCK */
    const void *params;  /* what the kernel put into struct wick__elementwise */
    atomic_bool *failed; /* set by a row that meets a value its op refuses */
};

typedef void wick__row_fn(const struct wick__row *row);

struct wick__elementwise {
    wick__row_fn *row; /* NULL with `copies` */
    bool copies;       /* the result is the first operand, element by element */
    int n_in;
    const struct wick_tensor *in[WICK__ROW_INPUTS]; /* of a shape that broadcasts to out's */
    struct wick_tensor *out;                        /* contiguous */
    const void *params;
    bool raw;   /* rows take the elements as they lie, also bf16, f16 and f8e4m3 */
    bool heavy; /* an element takes tens of cycles: share smaller pieces out */
    atomic_bool failed;
};

#ifdef WICK_ISA
/* Runs it. Can't fail; look at ->failed afterwards. */
void WICK__ISA(wick__elementwise)(struct wick__elementwise *e);
#endif

/* The row functions of an op. Those that its dtypes need are there: WICK__ROWS_ALL(exp) names exp_f32 and so on, and
 * what is named and not written does not compile. */
struct wick__rows {
    wick__row_fn *f32, *f64, *u8, *u32, *i16, *i32, *i64;
    bool heavy;
};
#define WICK__ROWS_FLOATS(name) .f32 = name##_f32, .f64 = name##_f64
#define WICK__ROWS_INTS(name)                                                                                          \
    .u8 = name##_u8, .u32 = name##_u32, .i16 = name##_i16, .i32 = name##_i32, .i64 = name##_i64
#define WICK__ROWS_ALL(name) WICK__ROWS_FLOATS(name), WICK__ROWS_INTS(name)

/* A case of a switch over ops that returns the op's rows: for the kinds of kernels/elementwise_ops.h. */
enum { WICK__COST_LIGHT, WICK__COST_HEAVY, WICK__COST_RARE };
#define WICK__ROWS_CASE(number, name, dtypes, cost)                                                                    \
    case number: {                                                                                                     \
        static const struct wick__rows rows = {WICK__ROWS_##dtypes(name), .heavy = WICK__COST_##cost};                 \
        return &rows;                                                                                                  \
    }

/* The dtype in which a dtype's elements reach the rows. */
static inline enum wick_dtype wick__row_dtype(enum wick_dtype dtype) {
    return dtype == WICK_DTYPE_bf16 || dtype == WICK_DTYPE_f16 || dtype == WICK_DTYPE_f8e4m3 ? WICK_DTYPE_f32 : dtype;
}

/* Sets e->row and e->heavy for the dtype of e->in[0]. WICK_INTERNAL when there is none: the table promises what no
 * kernel keeps. */
static inline enum wick_status wick__rows_choose(struct wick__elementwise *e, enum wick_op op,
                                                 const struct wick__rows *rows) {
    if (rows) {
        e->heavy = rows->heavy;
        switch (wick__row_dtype(e->in[0]->dtype)) {
        case WICK_DTYPE_f32: e->row = rows->f32; break;
        case WICK_DTYPE_f64: e->row = rows->f64; break;
        case WICK_DTYPE_u8: e->row = rows->u8; break;
        case WICK_DTYPE_u32: e->row = rows->u32; break;
        case WICK_DTYPE_i16: e->row = rows->i16; break;
        case WICK_DTYPE_i32: e->row = rows->i32; break;
        case WICK_DTYPE_i64: e->row = rows->i64; break;
        default: break;
        }
    }
    if (e->row) return WICK_OK;
    return wick__fail(WICK_INTERNAL, "op %d has no row for %s", (int)op, wick_dtype_name(e->in[0]->dtype));
}

#endif
