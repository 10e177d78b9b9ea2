/* Checks common to all ops, layouts, and the call into the device family. */
#include "ops/dispatch.h"

#include "runtime/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *family, *formula;
} ops[WICK_OP_COUNT] = {
#define WICK__OP(name, family, dtypes, ulp, formula) [WICK_OP_##name] = {#name, #family, formula},
#include <wick/ops.def>
#undef WICK__OP
};

const char *wick_op_name(enum wick_op op) { return (unsigned)op < WICK_OP_COUNT ? ops[op].name : "?"; }

const char *wick_op_formula(enum wick_op op) { return (unsigned)op < WICK_OP_COUNT ? ops[op].formula : "?"; }

const char *wick_op_family(enum wick_op op) { return (unsigned)op < WICK_OP_COUNT ? ops[op].family : "?"; }

bool wick_op_from_name(const char *name, enum wick_op *op) {
    for (int i = 0; name && i < WICK_OP_COUNT; i++)
        if (strcmp(name, ops[i].name) == 0) {
            *op = (enum wick_op)i;
            return true;
        }
    return false;
}

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
    const struct wick_device *device = call_device(call);
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i] && wick__device(call->in[i]) != device) one_device = false;
    for (int i = 0; i < call->n_in && at < sizeof operands; i++) {
        const struct wick_tensor *x = call->in[i];
        char shape[WICK__SHAPE_TEXT];
        if (!x) continue;
        at += (size_t)snprintf(operands + at, sizeof operands - at, "%s%.*s %s %s%s%s", at ? ", " : "",
                               (int)strcspn(call->name[i], "?"), call->name[i],
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

/* Whether the device's row for the op takes the dtype. */
static bool supported(const struct wick__call *call, const struct wick_device *device, enum wick_dtype dtype) {
    if (wick_supports(device, call->op, dtype)) return true;
    wick__call_fail(call, WICK_UNSUPPORTED, "%s has no %s for %s", device->name, wick_op_name(call->op),
                    wick_dtype_name(dtype));
    return false;
}

bool wick__call_check(const struct wick__call *call) {
    for (int i = 0; i < call->n_in; i++)
        if (!call->in[i] && !optional(call->name[i])) {
            wick__fail(WICK_INVALID, "%s: %s is NULL", wick_op_name(call->op), call->name[i]);
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
    return supported(call, device, call->in[0]->dtype);
}

bool wick__call_same_dtype(const struct wick__call *call, int i) {
    if (!call->in[i] || call->in[i]->dtype == call->in[0]->dtype) return true;
    wick__call_fail(call, WICK_DTYPE, "dtypes differ, %s has %s and %.*s has %s", call->name[0],
                    wick_dtype_name(call->in[0]->dtype), (int)strcspn(call->name[i], "?"), call->name[i],
                    wick_dtype_name(call->in[i]->dtype));
    return false;
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

static void release_outs(struct wick__call *call) {
    for (int i = 0; i < call->n_out; i++) wick_release(call->out[i]);
    call->n_out = 0;
}

bool wick__call_out_on(struct wick__call *call, struct wick_device *device, enum wick_dtype dtype, int rank,
                       const int64_t *shape) {
    const char *name = wick_op_name(call->op);
    struct wick_tensor *out = wick__tensor_new(name, device, dtype, rank, shape);
    if (out && call->n_in == 0 && !supported(call, device, dtype)) {
        wick_release(out);
        out = NULL;
    }
    if (!out) {
        release_outs(call);
        return false;
    }
    call->out[call->n_out++] = out;
    return true;
}

bool wick__call_out(struct wick__call *call, enum wick_dtype dtype, int rank, const int64_t *shape) {
    return wick__call_out_on(call, call_device(call), dtype, rank, shape);
}

static bool fits(const struct wick__layout *layout, enum wick__layouts layouts) {
    switch (layouts) {
    case WICK__CONTIGUOUS: return wick__layout_is_contiguous(layout);
    case WICK__ROWS: return wick__layout_has_rows(layout);
    case WICK__STRIDED: break;
    }
    return true;
}

static enum wick_status run_or_record(struct wick_device *device, const struct wick__kernel *kernel,
                                      const struct wick__call *call) {
    return wick__graph_records(device) ? wick__graph_add(device, call) : kernel->run(call);
}

/* A contiguous copy that belongs to no scope. */
static struct wick_tensor *packed(const struct wick_tensor *x) {
    struct wick__call copy = {.op = WICK_OP_contiguous, .n_in = 1, .in = {x}, .name = {"x"}};
    const struct wick__kernel *kernel = &wick__device(x)->backend->kernels[WICK_OP_contiguous];
    if (!wick__call_out(&copy, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    if (run_or_record(wick__device(x), kernel, &copy) == WICK_OK) return copy.out[0];
    release_outs(&copy);
    return NULL;
}

/* Runs the kernel, on packed copies of those operands whose layout it does not take. */
static enum wick_status run(struct wick__call *call) {
    const struct wick_device *device = wick__device(call->out[0]);
    const struct wick__kernel *kernel = &device->backend->kernels[call->op];
    struct wick_tensor *copies[WICK__MAX_INPUTS] = {NULL};
    enum wick_status status = WICK_OK;
    for (int i = 0; i < call->n_in && status == WICK_OK; i++) {
        if (!call->in[i] || fits(&call->in[i]->layout, kernel->layouts)) continue;
        copies[i] = packed(call->in[i]);
        if (!copies[i]) status = wick__latest();
        call->in[i] = copies[i];
    }
    if (status == WICK_OK) status = run_or_record(wick__device(call->out[0]), kernel, call);
    for (int i = 0; i < call->n_in; i++) wick_release(copies[i]);
    return status;
}

struct wick_tensor *wick__call_run(struct wick__call *call) {
    if (run(call) != WICK_OK) {
        release_outs(call);
        return NULL;
    }
    for (int i = 0; i < call->n_out; i++) wick__scope_add(call->out[i]);
    return call->out[0];
}

enum wick_status wick__call_run_inplace(struct wick__call *call, const char *name) {
    struct wick_tensor *out = call->out[0];
    const char *op = wick_op_name(call->op);
    char text[WICK__TENSOR_TEXT];
    if (!out) return wick__fail(WICK_INVALID, "%s: %s is NULL", op, name);
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i] && wick__device(call->in[i]) != wick__device(out))
            return wick__call_fail(call, WICK_DEVICE, "%s is %s", name, wick__tensor_text(text, out));
    WICK__TRY(wick__device_check(op, wick__device(out)));
    if (call->n_in == 0 && !supported(call, wick__device(out), out->dtype)) return WICK_UNSUPPORTED;
    if (wick__layout_overlaps(&out->layout))
        return wick__call_fail(call, WICK_INVALID, "%s %s is broadcast or unfolded: its elements share addresses", name,
                               wick__tensor_text(text, out));
    return run(call);
}

struct wick_tensor *wick__broadcast_to(const struct wick_tensor *x, int rank, const int64_t *shape) {
    struct wick__layout wide;
    if (!wick__layout_expand(&x->layout, rank, shape, &wide)) {
        wick__fail(WICK_INTERNAL, "a shape that was checked does not broadcast");
        return NULL;
    }
    return wick__tensor_view(x, &wide);
}
