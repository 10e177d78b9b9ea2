/* Losses of elements and their gradients, a piece of all elements at a time, in the type they are computed in. */
#include "core/convert.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "backend.h"

enum { PIECE = 512, GRAIN = 8 }; /* elements of a piece, pieces of a task */

struct loss {
    const struct wick__call *call;
    int64_t count;
    int kind;    /* the forward op */
    int first;   /* which operand x is; of gradients 1 */
    bool single; /* the gradient is one element */
    bool wide;   /* computed in f64 */
};

#define T float
#define V wick__vf
#define VECTOR(name) WICK__JOIN(wick__vf, name)
#define LANES WICK__VF
#define FN WICK__VF_FN
#define LEAST 0x1p-149f
#define SUFFIX f32
#include "cpu/kernels/loss_body.h"
#define T double
#define V wick__vd
#define VECTOR(name) WICK__JOIN(wick__vd, name)
#define LANES WICK__VD
#define FN WICK__VD_FN
#define LEAST 0x1p-1074
#define SUFFIX f64
#include "cpu/kernels/loss_body.h"

static void pieces(void *context, int worker, int64_t begin, int64_t end) {
    const struct loss *l = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        (l->wide ? piece_f64 : piece_f32)(l, i * PIECE, wick__min(PIECE, l->count - i * PIECE));
}

wick__kernel_fn WICK__ISA(wick__cpu_loss);
enum wick_status WICK__ISA(wick__cpu_loss)(const struct wick__call *call) {
    bool backward = call->op >= WICK_OP_mse_loss_backward;
    const struct wick_tensor *x = call->in[backward ? 1 : 0];
    struct loss loss = {.call = call,
                        .count = wick__count(x),
                        .kind = (int)call->op - (backward ? WICK_OP_mse_loss_backward - WICK_OP_mse_loss : 0),
                        .first = backward ? 1 : 0,
                        .single = backward && wick__count(call->in[0]) == 1,
                        .wide = x->dtype == WICK_F64};
    if (loss.count == 0) return WICK_OK;
    wick__parallel((loss.count + PIECE - 1) / PIECE, GRAIN, pieces, &loss);
    return WICK_OK;
}
