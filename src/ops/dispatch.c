/* Names of ops, the checks common to all, and fresh results. */
#include "ops/dispatch.h"
#include "ops/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool optional(const char *name) { return name[strlen(name) - 1] == '?'; }

/* The device of the call: that of the first operand there is. */
static struct wick_device *call_device(const struct wick__call *call) {
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i]) return wick__device(call->in[i]);
    return call->n_out > 0 ? wick__device(call->out[0]) : NULL;
}

enum wick_status wick__call_fail(const struct wick__call *call, enum wick_status status, const char *rule, ...) {
    char operands[768] = "", why[256];
    size_t at = 0;
    va_list args;
    bool one_device = true;
    call = wick__as_made(call);
    const struct wick_device *device = call_device(call);
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i] && wick__device(call->in[i]) != device) one_device = false;
    for (int i = 0; i < call->n_in && at < sizeof operands; i++) {
        const struct wick_tensor *x = call->in[i];
        char shape[WICK__SHAPE_TEXT];
        if (!x) continue;
        at += (size_t)snprintf(operands + at, sizeof operands - at, "%s%.*s %s %s%s%s", at ? ", " : "",
                               (int)strcspn(wick__operand_name(call->op, i), "?"), wick__operand_name(call->op, i),
                               wick__shape_text(shape, x->layout.rank, x->layout.shape), wick_dtype_name(x->dtype),
                               one_device ? "" : " on ", one_device ? "" : wick__device(x)->name);
    }
    va_start(args, rule);
    vsnprintf(why, sizeof why, rule, args);
    va_end(args);
    bool place = at && one_device && device;
    return wick__fail(status, "%s: %s%s%s%s%s", wick_op_name(call->op), operands, place ? " on " : "",
                      place ? device->name : "", at ? ": " : "", why);
}

bool wick_supports(const struct wick_device *device, enum wick_op op, enum wick_dtype dtype) {
    if (!device || (unsigned)op >= WICK_OP_COUNT || (unsigned)dtype >= WICK_DTYPE_COUNT) return false;
    return wick__has(wick__ops[op].in[0].dtypes, dtype);
}

bool wick__call_supported(const struct wick__call *call, const struct wick_device *device, enum wick_dtype dtype) {
    if (wick_supports(device, call->op, dtype)) return true;
    wick__call_fail(call, WICK_UNSUPPORTED, "%s has no %s for %s", device->name, wick_op_name(call->op),
                    wick_dtype_name(dtype));
    return false;
}

/* Whether the operands after the first have dtypes that the op's row allows beside it. */
static bool dtypes_match(const struct wick__call *call) {
    const struct wick__op *op = &wick__ops[call->op];
    enum wick_dtype first = call->in[0]->dtype;
    for (int i = 1; i < call->n_in; i++) {
        char text[WICK__DTYPES_TEXT];
        if (!call->in[i] || wick__op_takes(call->op, i, first, call->in[i]->dtype)) continue;
        const char *name = op->in[i].name, *dtype = wick_dtype_name(call->in[i]->dtype);
        int length = (int)strcspn(name, "?");
        if (op->in[i].dtypes & WICK__SAME)
            wick__call_fail(call, WICK_DTYPE, "dtypes differ, %s has %s and %.*s has %s", op->in[0].name,
                            wick_dtype_name(first), length, name, dtype);
        else
            wick__call_fail(call, WICK_DTYPE, "%.*s must be of %s, not of %s", length, name,
                            wick__dtypes_text(text, op->in[i].dtypes), dtype);
        return false;
    }
    return true;
}

bool wick__call_check(const struct wick__call *call) {
    for (int i = 0; i < call->n_in; i++)
        if (!call->in[i] && !optional(wick__operand_name(call->op, i))) {
            wick__fail(WICK_INVALID, "%s: %s is NULL", wick_op_name(call->op), wick__operand_name(call->op, i));
            return false;
        }
    struct wick_device *device = call_device(call);
    if (!device) return true;
    for (int i = 0; i < call->n_in; i++) {
        if (!call->in[i]) continue;
        if (wick__device(call->in[i]) != device) {
            bool handles = strcmp(wick__device(call->in[i])->name, device->name) == 0;
            wick__call_fail(call, WICK_DEVICE, "operands must be on one device%s",
                            handles ? "; these are on two handles, opened apart" : "");
            return false;
        }
    }
    if (wick__device_check(wick_op_name(call->op), device) != WICK_OK) return false;
    return wick__call_supported(call, device, call->in[0]->dtype) && dtypes_match(call);
}

bool wick__call_reserved(const struct wick__call *call, const uint64_t *reserved) {
    return wick__reserved(wick_op_name(call->op), reserved) == WICK_OK;
}

bool wick__call_dim(const struct wick__call *call, int dim, int *result) {
    int rank = call->in[0]->layout.rank;
    if (dim < -rank || dim >= rank) {
        wick__call_fail(call, WICK_RANGE, "dim %d is out of range for rank %d", dim, rank);
        return false;
    }
    *result = dim < 0 ? dim + rank : dim;
    return true;
}

bool wick__call_dim_or_scalar(const struct wick__call *call, int dim, int *result) {
    if (call->in[0]->layout.rank > 0 || dim < -1 || dim > 0) return wick__call_dim(call, dim, result);
    *result = 0;
    return true;
}

void wick__call_drop(struct wick__call *call) {
    for (int i = 0; i < call->n_out; i++) wick_release(call->out[i]);
    call->n_out = 0;
}

bool wick__call_out_on(struct wick__call *call, struct wick_device *device, enum wick_dtype dtype, int rank,
                       const int64_t *shape) {
    const char *name = wick_op_name(call->op);
    struct wick_tensor *out = wick__tensor_new(name, device, dtype, rank, shape);
    if (out && call->n_in == 0 && !wick__call_supported(call, device, dtype)) {
        wick_release(out);
        out = NULL;
    }
    if (!out) {
        wick__call_drop(call);
        return false;
    }
    call->out[call->n_out++] = out;
    return true;
}

bool wick__call_out(struct wick__call *call, enum wick_dtype dtype, int rank, const int64_t *shape) {
    return wick__call_out_on(call, call_device(call), dtype, rank, shape);
}

bool wick__call_out_like(struct wick__call *call, enum wick_dtype dtype, int rank, const int64_t *shape) {
    if (!wick__call_out(call, dtype, rank, shape)) return false;
    struct wick__layout *own = &call->out[call->n_out - 1]->layout;
    if (atomic_load(&call_device(call)->row_major) || wick__layout_count(own) == 0) return true;
    for (int i = 0; i < call->n_in; i++) {
        const struct wick__layout *x = &call->in[i]->layout;
        if (!wick__shape_equal(own, x) || wick__layout_repeats(x)) continue;
        call->turned = wick__layout_follow(own, x);
        break;
    }
    return true;
}

bool wick__call_extra(struct wick__call *call, enum wick_dtype dtype, int rank, const int64_t *shape) {
    if (!wick__records()) return true;
    if (!wick__call_out(call, dtype, rank, shape)) return false;
    call->n_extra++;
    return true;
}

bool wick__call_wanted(struct wick__call *call, bool wanted, enum wick_dtype dtype, int rank, const int64_t *shape) {
    return (wanted ? wick__call_out : wick__call_extra)(call, dtype, rank, shape);
}
