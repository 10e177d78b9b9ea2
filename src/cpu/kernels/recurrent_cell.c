/* Recurrent cells and their gradients, a block of a row of the state at a time, in the type it is computed in. */
#include "core/convert.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "backend.h"

#include <string.h>

enum { PIECE = 256, GRAIN = 1024 }; /* elements of a block, of a task */

struct cell {
    const struct wick__call *call;
    enum wick_dtype dtype;
    int64_t rows, columns, pieces; /* of the state; blocks of a row */
};

/* A block: n elements of the state from `first` on, of a row. */
struct block {
    const struct cell *cell;
    int64_t row, first, n;
};

/* Where gate k of `gates` of a block begins in a tensor [N,gates H]. */
static char *place(const struct block *b, const struct wick_tensor *x, int gates, int k) {
    int64_t at = (b->row * gates + k) * b->cell->columns + b->first;
    return (char *)wick__data(x) + at * (int64_t)wick__size(x->dtype);
}

#define T float
#define V wick__vf
#define VECTOR(name) WICK__JOIN(wick__vf, name)
#define LANES WICK__VF
#define TANH WICK__VF_FN(tanh, u10)
#define LEAST 0x1p-149f
#define SUFFIX f32
#include "cpu/kernels/recurrent_cell_body.h"
#define T double
#define V wick__vd
#define VECTOR(name) WICK__JOIN(wick__vd, name)
#define LANES WICK__VD
#define TANH WICK__VD_FN(tanh, u10)
#define LEAST 0x1p-1074
#define SUFFIX f64
#include "cpu/kernels/recurrent_cell_body.h"

static void cells(void *context, int worker, int64_t begin, int64_t end) {
    const struct cell *cell = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        struct block b = {.cell = cell, .row = i / cell->pieces, .first = i % cell->pieces * PIECE};
        b.n = wick__min(PIECE, cell->columns - b.first);
        (cell->dtype == WICK_F64 ? step_f64 : step_f32)(&b);
    }
}

wick__kernel_fn WICK__ISA(wick__cpu_recurrent_cell);
enum wick_status WICK__ISA(wick__cpu_recurrent_cell)(const struct wick__call *call) {
    bool forward = call->op == WICK_OP_rnn_cell || call->op == WICK_OP_lstm_cell || call->op == WICK_OP_gru_cell;
    const struct wick_tensor *state = forward ? call->out[0] : call->in[0];
    struct cell cell = {
        .call = call, .dtype = state->dtype, .rows = state->layout.shape[0], .columns = state->layout.shape[1]};
    if (wick__count(state) == 0) return WICK_OK;
    cell.pieces = (cell.columns + PIECE - 1) / PIECE;
    wick__parallel(cell.rows * cell.pieces, wick__max(1, GRAIN / wick__min(PIECE, cell.columns)), cells, &cell);
    return WICK_OK;
}
