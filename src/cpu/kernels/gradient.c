/* Gradients of functions of one tensor: g, the gradient of the result, times the function's derivative at x. */
#include "cpu/kernels/elementwise.h"
#include "cpu/kernels/vmath.h"
#include "core/number.h"

#include <math.h>

/* ---- loops that compilers turn into vectors: g is the gradient, x the argument, a and b the numbers ---- */

#define PLAIN_OPS(X)                                                                                                   \
    X(relu_backward, x <= 0 ? 0 : g)                                                                                   \
    X(relu2_backward, x <= 0 ? 0 : 2 * (g * x))                                                                        \
    X(relu6_backward, x <= 0 || x >= 6 ? 0 : g)                                                                        \
    X(hard_sigmoid_backward, x <= -3 || x >= 3 ? 0 : g / 6)                                                            \
    X(hard_swish_backward, x <= -3 ? 0 : x >= 3 ? g : g * (x / 3 + (T)0.5))                                            \
    X(softsign_backward, g / (1 + F(fabs)(x)) / (1 + F(fabs)(x)))                                                      \
    X(leaky_relu_backward, x > 0 ? g : g * a)                                                                          \
    X(hardtanh_backward, x <= a || x >= b ? 0 : g)                                                                     \
    X(sigmoid_backward, g *x *(1 - x))                                                                                 \
    X(tanh_backward, g *(1 - F(fabs)(x)) * (1 + F(fabs)(x)))

#define LOOP(name, type, expression)                                                                                   \
    static void name(const struct wick__row *row) {                                                                    \
        const double *numbers = row->params;                                                                           \
        const type a = (type)numbers[0], b = (type)numbers[1], *gradient = row->in[0], *in = row->in[1];               \
        type *out = row->out;                                                                                          \
        (void)a, (void)b;                                                                                              \
        for (int64_t i = 0; i < row->n; i++) {                                                                         \
            type g = gradient[i], x = in[i];                                                                           \
            out[i] = (type)(expression);                                                                               \
        }                                                                                                              \
    }

#define T float
#define F(name) name##f
#define PLAIN_F32(name, expression) LOOP(name##_f32, float, expression)
PLAIN_OPS(PLAIN_F32)
#undef T
#undef F
#define T double
#define F(name) name
#define PLAIN_F64(name, expression) LOOP(name##_f64, double, expression)
PLAIN_OPS(PLAIN_F64)
#undef T
#undef F

#define V wick__vf
#define VECTOR(name) WICK__JOIN(wick__vf, name)
#define K(c) wick__vf_all((float)(c))
#define ERF wick__vf_erf
#define FN WICK__VF_FN
#define T float
#define LANES WICK__VF
#define SUFFIX f32
#include "cpu/kernels/gradient_body.h"
#define V wick__vd
#define VECTOR(name) WICK__JOIN(wick__vd, name)
#define K(c) wick__vd_all(c)
#define ERF WICK__VD_FN(erf, u10)
#define FN WICK__VD_FN
#define T double
#define LANES WICK__VD
#define SUFFIX f64
#include "cpu/kernels/gradient_body.h"

/* ---- choice ---- */

static const struct wick__rows *rows_of(enum wick_op op) {
    switch ((int)op) {
#define WICK__GRADIENT(number, name, ...) WICK__ROWS_CASE(number, name, FLOATS, HEAVY)
#define WICK__GRADIENT1(number, name, ...) WICK__ROWS_CASE(number, name, FLOATS, HEAVY)
#define WICK__GRADIENT2(number, name, ...) WICK__ROWS_CASE(number, name, FLOATS, HEAVY)
#include "kernels/elementwise_ops.h"
    default: return NULL;
    }
}

wick__kernel_fn WICK__ISA(wick__cpu_gradient);
enum wick_status WICK__ISA(wick__cpu_gradient)(const struct wick__call *call) {
    enum wick_dtype dtype = call->in[0]->dtype;
    const struct wick_number *given = call->p.number;
    const double numbers[2] = {wick__number_f64(dtype, given[0]), wick__number_f64(dtype, given[1])};
    struct wick__elementwise e = {.n_in = 2, .in = {call->in[0], call->in[1]}, .out = call->out[0], .params = numbers};
    WICK__TRY(wick__rows_choose(&e, call->op, rows_of(call->op)));
    WICK__ISA(wick__elementwise)(&e);
    return WICK_OK;
}
