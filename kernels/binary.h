/* Parameters of the kernels of functions and comparisons of two tensors. */
#ifndef WICK_KERNELS_BINARY_H
#define WICK_KERNELS_BINARY_H

#include "walk.h"

/* X(name): ops of all dtypes; of floats; those of floats that call functions of some length (binary_math); of integers.
 * swiglu: silu(x) y. */
#define GPU_BINARY_ALL(X) X(add) X(sub) X(mul) X(div) X(maximum) X(minimum)
#define GPU_BINARY_FLOATS(X) X(prelu)
#define GPU_BINARY_MATH(X) X(pow) X(remainder) X(atan2) X(swiglu)
#define GPU_BINARY_INTS(X) X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(shift_left) X(shift_right)

/* The same for questions, whose answers are u8; those with one operand take it as both. */
#define GPU_QUESTIONS(X)                                                                                               \
    X(eq, x == y) X(ne, x != y) X(lt, x < y) X(le, x <= y) X(gt, x > y) X(ge, x >= y) X(logical_not, x == 0)
#define GPU_FLOAT_QUESTIONS(X) X(isnan, x != x) X(isinf, x - x != 0 && x == x) X(isfinite, x - x == 0)

enum gpu_binary_op {
#define GPU_BINARY_OP(name) GPU_BINARY_##name,
    GPU_BINARY_ALL(GPU_BINARY_OP) GPU_BINARY_FLOATS(GPU_BINARY_OP) GPU_BINARY_MATH(GPU_BINARY_OP)
        GPU_BINARY_INTS(GPU_BINARY_OP)
#undef GPU_BINARY_OP
};
enum gpu_question {
#define GPU_QUESTION(name, answer) GPU_QUESTION_##name,
    GPU_QUESTIONS(GPU_QUESTION) GPU_FLOAT_QUESTIONS(GPU_QUESTION)
#undef GPU_QUESTION
};

struct gpu_binary {
    struct gpu_walk walk; /* x, y */
    u32 op;
    u64 *fault; /* integers */
};

/* out = condition ? a : b. Operands: a, b, condition. */
struct gpu_where {
    struct gpu_walk walk;
    u32 condition; /* bytes of an element of it */
    u32 immediate; /* a is `value` everywhere, and walk has none */
    u64 value;
};

#endif
