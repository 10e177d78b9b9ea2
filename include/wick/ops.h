/* The list of ops, and which ops and dtypes a device supports.
 *
 * The ops themselves are declared by subject: shape.h, elementwise.h, reduce.h, linalg.h, conv.h, index.h, nn.h,
 * random.h. In all of them:
 *
 *   - a tensor argument that is NULL makes the result NULL;
 *   - all tensors of a call are on one device and, unless stated otherwise, of one dtype: nothing is converted or moved
 *     silently;
 *   - operands broadcast by NumPy's rule where the text says so;
 *   - operands may have any layout; results are new tensors without gaps, except for views. They are row-major
 *     (contiguous); but casts and elementwise ops (elementwise.h) keep the order in memory of the dims of the first
 *     operand that has the result's shape and repeats no element, as PyTorch and NumPy do: the sum of two transposed
 *     matrices is a transposed one. wick_row_major_set (device.h) makes those row-major too;
 *   - failures are WICK_SHAPE, WICK_DTYPE, WICK_DEVICE, WICK_CLOSED, WICK_UNSUPPORTED, WICK_RANGE, WICK_OVERFLOW and
 *     WICK_MEMORY as status.h explains them; an op's comment names further ones. */
#ifndef WICK_OPS_H
#define WICK_OPS_H

#include <wick/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers never change: a new op gets the next one. */
enum wick_op {
#define WICK__OP(number, name, ...) WICK_OP_##name = number,
#include <wick/ops.def>
#undef WICK__OP
    WICK_OP_COUNT = 0
#define WICK__OP(number, name, ...) +1
#include <wick/ops.def>
#undef WICK__OP
};

/* "add" and the like; "?" for a value that is not an op. A static string. */
WICK_API const char *wick_op_name(enum wick_op op);
/* The op's formula: "x + y". A static string. */
WICK_API const char *wick_op_formula(enum wick_op op);
/* The group of ops it belongs to: "binary". A static string. */
WICK_API const char *wick_op_family(enum wick_op op);
/* The name of operand i, counted from 0, in error texts: "ids". An optional one ends in '?'. NULL past the last, and
 * for ops without operands. Operands in an array, as in wick_cat, count as two: the first and the others. Static
 * strings. */
WICK_API const char *wick_op_operand(enum wick_op op, int i);
/* Whether operand i may have the dtype beside a first operand of dtype `first`. False for an operand or a dtype that
 * does not exist. */
WICK_API bool wick_op_takes(enum wick_op op, int i, enum wick_dtype first, enum wick_dtype dtype);
/* Finds an op by its name. False, and *op untouched, when there is none. */
WICK_API bool wick_op_from_name(const char *name, enum wick_op *op);

/* Whether the device runs the op on tensors whose first operand (or, without one, whose result) has this dtype.
 * The answer is read from the row that dispatch reads. False for NULL and values out of range. */
WICK_API bool wick_supports(const struct wick_device *device, enum wick_op op, enum wick_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
