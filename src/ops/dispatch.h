/* The way of every op from its checks to a device's kernel.
 *
 * An op in src/ops/ reads:
 *
 *     struct wick_tensor *wick_exp(const struct wick_tensor *x) {
 *         struct wick__call call = {.op = WICK_OP_exp, .n_in = 1, .in = {x}};
 *         if (!wick__call_check(&call)) return NULL;
 *         if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
 *         return wick__call_run(&call);
 *     }
 *
 * with its own checks, which report through wick__call_fail, between the first two steps. */
#ifndef WICK_OPS_DISPATCH_H
#define WICK_OPS_DISPATCH_H

#include "core/checked.h"
#include "backend.h"

#include <wick/wick.h>

/* Checks that required operands are there and on one open device, and that their dtypes are those of the op's row.
 * Operands whose name in the row ends in '?' may be NULL. False after a failure is recorded; nothing is held. */
bool wick__call_check(const struct wick__call *call);

/* Records "op: name [shape] dtype, name [shape] dtype on device: rule" and returns the status. */
__attribute__((format(printf, 3, 4))) enum wick_status wick__call_fail(const struct wick__call *call,
                                                                       enum wick_status status, const char *rule, ...);

/* Whether the op's row takes the dtype; records WICK_UNSUPPORTED otherwise. */
bool wick__call_supported(const struct wick__call *call, const struct wick_device *device, enum wick_dtype dtype);

/* Fails with WICK_INVALID unless the room at the end of the options is zero. */
bool wick__call_reserved(const struct wick__call *call, const uint64_t *reserved);

/* Resolves a dim of operand 0 that may count from the end. */
bool wick__call_dim(const struct wick__call *call, int dim, int *result);

/* The same, where a scalar has one dim, of size 1, that goes by 0 and -1: *result is then 0. */
bool wick__call_dim_or_scalar(const struct wick__call *call, int dim, int *result);

/* Whether x is a scalar and dim its only one. Ops along a dim then work on the scalar seen as [1]:
 *
 *     if (wick__is_scalar_line(x, dim)) return wick__end_scalar(wick_cumsum(wick__begin_line(x), 0)); */
static inline bool wick__is_scalar_line(const struct wick_tensor *x, int dim) {
    return x && x->layout.rank == 0 && (dim == 0 || dim == -1);
}

/* x, where a scalar is seen as [1]. A view in the innermost scope; NULL for NULL. */
struct wick_tensor *wick__line(const struct wick_tensor *x);

/* Begins a scope, and gives wick__line(x). */
struct wick_tensor *wick__begin_line(const struct wick_tensor *x);

/* Ends the innermost scope and returns its tensor y, of one element, seen as a scalar. NULL, with the failure as it
 * was, for NULL. */
struct wick_tensor *wick__end_scalar(struct wick_tensor *y);

/* Adds a fresh contiguous result. On failure releases the results so far and returns false. */
bool wick__call_out(struct wick__call *call, enum wick_dtype dtype, int rank, const int64_t *shape);

/* The same for an op of elements: in the order in memory of the dims of the first operand that has the result's shape
 * and repeats no element, unless the device is to give row-major results. */
bool wick__call_out_like(struct wick__call *call, enum wick_dtype dtype, int rank, const int64_t *shape);

/* The same, for ops without operands, which have no device of their own. */
bool wick__call_out_on(struct wick__call *call, struct wick_device *device, enum wick_dtype dtype, int rank,
                       const int64_t *shape);

/* Adds a result for recorders, such as the indices of a maximum: true without adding one when this thread records
 * nothing, so that kernels look at n_out. Such results come after all others. */
bool wick__call_extra(struct wick__call *call, enum wick_dtype dtype, int rank, const int64_t *shape);

/* Adds such a result, for the caller too if it is wanted. */
bool wick__call_wanted(struct wick__call *call, bool wanted, enum wick_dtype dtype, int rank, const int64_t *shape);

/* Releases the results of a call that can't be run after all. */
void wick__call_drop(struct wick__call *call);

/* ---- the run path: every call passes one of these three (run.c) ---- */

/* Copies operands whose layout the kernel does not take, runs the kernel, and puts the results into the scope.
 * Returns out[0]; on failure releases the results and returns NULL. */
struct wick_tensor *wick__call_run(struct wick__call *call);

/* The same for an op whose out[0] is the caller's tensor, written in place; `name` is what messages call it.
 * Checks that out[0] is not NULL, shares a device and has no two elements at one address. */
enum wick_status wick__call_run_inplace(struct wick__call *call, const char *name);

/* in[0] with another layout, in no scope. NULL when out of memory. */
struct wick_tensor *wick__call_view(struct wick__call *call, const struct wick__layout *layout);

/* x broadcast to a layout that wick__layout_expand made of its own, as a call, in no scope. */
struct wick_tensor *wick__broadcast(const struct wick_tensor *x, const struct wick__layout *wide);

/* Does again what a call did that was seen before: the same operands, results and parameters. */
enum wick_status wick__call_again(const struct wick__call *call);

/* wick_dropout of x, 0 <= p < 1, by block `offset` of the stream of `seed` and those after it, whatever the device has
 * drawn: the same elements each time. */
struct wick_tensor *wick__dropout_at(const struct wick_tensor *x, double p, uint64_t seed, uint64_t offset);

/* wick_cast from a dtype of blocks (quantised.c). */
struct wick_tensor *wick__dequantise(const struct wick_tensor *x, enum wick_dtype dtype);

/* ---- the parts of ops that are several kernels, for run.c ---- */

/* Runs the kernel of call->op alone, on packed copies of those operands whose layout it does not take. Nobody sees
 * it: for the parts of an op. */
enum wick_status wick__call_kernel(const struct wick__call *call);

/* x, or a contiguous copy of it that nobody sees; to be released. NULL after a failure is recorded. */
struct wick_tensor *wick__pack(const struct wick_tensor *x);

/* Waits for the device and copies the elements of x, which are `nbytes`, to the host: for ops whose results depend on
 * them. Failures that a GPU found late are told. The caller has refused graphs. */
enum wick_status wick__fetch(const struct wick_tensor *x, void *data, size_t nbytes);

#endif
