/* Gradients by SLEEF's functions, for one type they are computed in. Included with
 *
 *   SUFFIX  of the names made here
 *   T       float or double
 *   V, LANES, VECTOR(name), K(c)    vectors of T, their functions and constants (cpu/kernels/vmath.h)
 *   FN, ERF                         SLEEF's functions for them, and erf
 *
 * and undefines all of them. Where a derivative tends to 0 or 1, x is cut first: so no large number meets a vanishing
 * one, and infinities have a limit. NaN passes. */
#include <string.h>

#define NAME(name) WICK__JOIN(name, SUFFIX)
#define EXP(x) FN(exp, u10)(x)

static inline V NAME(cut)(V x, V low, V high) { return VECTOR(max)(low, VECTOR(min)(high, x)); }

/* Phi(x) + x phi(x). */
static inline V NAME(gelu_slope)(V x) {
    V t = NAME(cut)(x, K(-40), K(40));
    return K(0.5) * (K(1) + ERF(t * K(0.70710678118654752440))) + t * K(0.39894228040143267794) * EXP(K(-0.5) * t * t);
}

/* s + x s (1 - s) w' with s = sigmoid w, by e = e^-|w|: s (1 - s) = e / (1 + e)^2 keeps its digits. */
static inline V NAME(gated_slope)(V x, V w, V slope) {
    V e = EXP(-VECTOR(abs)(w)), d = K(1) / (K(1) + e);
    return VECTOR(below)(w, K(0), e, K(1)) * d + x * e * d * d * slope;
}

static inline V NAME(silu_slope)(V x) {
    V t = NAME(cut)(x, K(-800), K(800));
    return NAME(gated_slope)(t, t, K(1));
}

static inline V NAME(gelu_tanh_slope)(V x) {
    V t = NAME(cut)(x, K(-22), K(22)), k = K(1.59576912160573071176), square = t * t;
    return NAME(gated_slope)(t, k * (t + K(0.044715) * square * t), k * (K(1) + K(0.134145) * square));
}

/* tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2), e = e^x. */
static inline V NAME(mish_slope)(V x) {
    V t = NAME(cut)(x, K(-800), K(40)), e = EXP(t), n = e * (e + K(2)), d = K(1) / (n + K(2));
    return n * d + t * K(4) * e * d * (K(1) + e) * d;
}

static inline V NAME(tanhshrink_gradient)(V g, V x) {
    V t = FN(tanh, u10)(x);
    return g * t * t;
}

/* e^x for x <= 0; elsewhere it is not used. */
static inline V NAME(low_exp)(V x) { return EXP(VECTOR(min)(K(0), x)); }

/* g is the gradient, x the argument, a and b the numbers. selu's constants are PyTorch's. */
#define VECTOR_OPS(X)                                                                                                  \
    X(gelu_backward, g *NAME(gelu_slope)(x))                                                                           \
    X(gelu_tanh_backward, g *NAME(gelu_tanh_slope)(x))                                                                 \
    X(silu_backward, g *NAME(silu_slope)(x))                                                                           \
    X(mish_backward, g *NAME(mish_slope)(x))                                                                           \
    X(tanhshrink_backward, NAME(tanhshrink_gradient)(g, x))                                                            \
    X(softplus_backward, VECTOR(below)(b, x * a, g, g * VECTOR(sigmoid)(x * a)))                                       \
    X(log_sigmoid_backward, g *VECTOR(sigmoid)(-x))                                                                    \
    X(selu_backward, VECTOR(below)(K(0), x, g * K(1.0507009873554804934193349852946),                                  \
                                   g * (K(1.7580993408473768599402175208123) * NAME(low_exp)(x))))                     \
    X(elu_backward, VECTOR(below)(K(0), x, g, g * (a * NAME(low_exp)(x))))                                             \
    X(celu_backward, VECTOR(below)(K(0), x, g, g * EXP(x / a)))

/* Whole vectors, then the elements left through one of their own. */
#define VECTOR_LOOP(name, expression)                                                                                  \
    static void NAME(name)(const struct wick__row *row) {                                                              \
        const double *numbers = row->params;                                                                           \
        const T *gradient = row->in[0], *in = row->in[1];                                                              \
        const V a = VECTOR(all)((T)numbers[0]), b = VECTOR(all)((T)numbers[1]);                                        \
        T *out = row->out;                                                                                             \
        int64_t i = 0;                                                                                                 \
        (void)a, (void)b;                                                                                              \
        for (; i + LANES <= row->n; i += LANES) {                                                                      \
            V g = VECTOR(load)(gradient + i), x = VECTOR(load)(in + i);                                                \
            VECTOR(store)(out + i, expression);                                                                        \
        }                                                                                                              \
        if (i < row->n) {                                                                                              \
            T rest[2][LANES] = {{0}};                                                                                  \
            memcpy(rest[0], gradient + i, (size_t)(row->n - i) * sizeof *gradient);                                    \
            memcpy(rest[1], in + i, (size_t)(row->n - i) * sizeof *in);                                                \
            V g = VECTOR(load)(rest[0]), x = VECTOR(load)(rest[1]);                                                    \
            VECTOR(store)(rest[0], expression);                                                                        \
            memcpy(out + i, rest[0], (size_t)(row->n - i) * sizeof *out);                                              \
        }                                                                                                              \
    }
VECTOR_OPS(VECTOR_LOOP)

#undef VECTOR_LOOP
#undef VECTOR_OPS
#undef EXP
#undef NAME
#undef V
#undef VECTOR
#undef K
#undef ERF
#undef FN
#undef T
#undef LANES
#undef SUFFIX
