/* What the elementwise op code shares: from operands to a struct gpu_walk, and the launch. */
#ifndef WICK_GPU_OPS_ELEMENTWISE_H
#define WICK_GPU_OPS_ELEMENTWISE_H

#include "gpu/runtime/gpu.h"
#include "kernels/turn.h"
#include "kernels/walk.h"

struct wick__elements {
    enum wick__gpu_kernel kernel;
    void *params;          /* the kernel's, with all but the walk filled */
    struct gpu_walk *walk; /* in params */
    int n_in;
    const struct wick_tensor *in[3]; /* which broadcast to the result's shape */
    const struct wick_tensor *out;   /* contiguous */
    bool no_splat;                   /* the kernel does not take one element for a row */
    bool any_steps;                  /* the kernel reads the first operand by steps, too */
    int chunk, slots;                /* of the kernel: elements read together, elements of a thread */
    int repeat;                      /* tiles that a block of the kernel may take, when there are many; 0 for one */
    enum wick__gpu_kernel turning;   /* one that turns an operand as it reads it */
    void *turn_params;               /* its parameters, with all but `turn` filled */
    struct gpu_turn *turn;           /* in turn_params; NULL where there is no such kernel */
    u32 *turned;                     /* in turn_params; set to which operand is turned, where there are two */
};

/* Which kernels run an elementwise op: unary and binary; math and binary_math for floats; special; compare. */
enum wick__gpu_kernels_kind { WICK__GPU_LIGHT, WICK__GPU_HEAVY, WICK__GPU_RARE, WICK__GPU_QUESTION };
enum wick__gpu_kernels_kind wick__gpu_kernels_of(enum wick_op op);

/* The dtype as kernels that turn know it; false for one that they do not. */
bool wick__gpu_turn_dtype(enum wick_dtype dtype, u32 *known);

/* Launches the kernel on all elements, in several launches where positions would not fit in 31 bits. */
enum wick_status wick__gpu_elements(const struct wick__elements *e);

/* ---- numbers as elements (element.c) ---- */

/* A number as an element of a dtype of at least 8 bits: its bytes, and zeros behind them. */
uint64_t wick__gpu_element(enum wick_dtype dtype, struct wick_number n);

/* A grid of `tiles` blocks in x and y. */
struct wick__launch wick__gpu_tiles(enum wick__gpu_kernel kernel, int64_t tiles);

#endif
