/* The way of every op from its checks to a device's kernel.
 *
 * An op in src/ops/ reads:
 *
 *     struct wick_tensor *wick_exp(const struct wick_tensor *x) {
 *         struct wick__call call = {.op = WICK_OP_exp, .n_in = 1, .in = {x}, .name = {"x"}};
 *         if (!wick__call_check(&call)) return NULL;
 *         if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
 *         return wick__call_run(&call);
 *     }
 *
 * with its own checks, which report through wick__call_fail, between the first two steps. */
#ifndef WICK_OPS_DISPATCH_H
#define WICK_OPS_DISPATCH_H

#include "core/checked.h"
#include "core/tensor.h"

#include <wick/wick.h>

/* Checks that required operands are there and on one open device, and that the device takes in[0]'s dtype for the op.
 * Operands whose name ends in '?' may be NULL. False after a failure is recorded; nothing is held. */
bool wick__call_check(const struct wick__call *call);

/* Records "op: name [shape] dtype, name [shape] dtype on device: rule" and returns the status. */
__attribute__((format(printf, 3, 4))) enum wick_status wick__call_fail(const struct wick__call *call,
                                                                       enum wick_status status, const char *rule, ...);

/* Fails with WICK_DTYPE unless operand i has the dtype of operand 0. */
bool wick__call_same_dtype(const struct wick__call *call, int i);

/* Resolves a dim of operand 0 that may count from the end. */
bool wick__call_dim(const struct wick__call *call, int dim, int *result);

/* Adds a fresh contiguous result. On failure releases the results so far and returns false. */
bool wick__call_out(struct wick__call *call, enum wick_dtype dtype, int rank, const int64_t *shape);

/* The same, for ops without operands, which have no device of their own. */
bool wick__call_out_on(struct wick__call *call, struct wick_device *device, enum wick_dtype dtype, int rank,
                       const int64_t *shape);

/* Copies operands whose layout the kernel does not take, runs the kernel, and puts the results into the scope.
 * Returns out[0]; on failure releases the results and returns NULL. */
struct wick_tensor *wick__call_run(struct wick__call *call);

/* The same for an op whose out[0] is the caller's tensor, written in place; `name` is what messages call it.
 * Checks that out[0] is not NULL, shares a device and has no two elements at one address. */
enum wick_status wick__call_run_inplace(struct wick__call *call, const char *name);

/* Replaces an operand by a view of it broadcast to a shape the caller has checked to fit. The view must be released
 * with wick_release after the call. NULL when out of memory. */
struct wick_tensor *wick__broadcast_to(const struct wick_tensor *x, int rank, const int64_t *shape);

#endif
