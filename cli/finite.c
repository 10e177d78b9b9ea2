/* Looking for the first value that is not a number. */
#include "cli/finite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wick/wick.h>

/* A file that is cut short meanwhile does not end the process, as it would if it were mapped. */
static const struct wick_archive_options copied = {.copy = true};

bool finite_all(const float *values, int64_t n) {
    bool finite = true;
    for (int64_t i = 0; i < n; i++) finite = finite && isfinite(values[i]);
    return finite;
}

const char *finite_fault(const struct wick_tensor *x) {
    double low = 0, high = 0;
    if (!x || wick_tensor_count(x) == 0) return NULL;
    wick_scope_begin();
    /* Both are NaN where an element is. */
    struct wick_tensor *flat = wick_reshape(x, WICK_SHAPE(-1));
    bool known = wick_read_scalar(wick_min(flat, WICK_DIMS(0), false), &low) == WICK_OK &&
                 wick_read_scalar(wick_max(flat, WICK_DIMS(0), false), &high) == WICK_OK;
    wick_scope_end(NULL);
    if (!known) wick_error_clear();
    return isnan(low) ? "NaN" : isinf(low) || isinf(high) ? "an infinity" : NULL;
}

static bool is_float(enum wick_dtype dtype) {
    return dtype == WICK_F32 || dtype == WICK_F16 || dtype == WICK_BF16 || dtype == WICK_F64 || dtype == WICK_F8E4M3;
}

bool finite_blame(const char *model, char *text, size_t size) {
    struct wick_device *cpu = wick_device_open("cpu");
    struct wick_archive *archive = cpu ? wick_archive_open(model, &copied) : NULL;
    const char *fault = NULL;
    for (int64_t i = 0; i < wick_archive_count(archive) && !fault; i++) {
        struct wick_archive_entry entry;
        if (wick_archive_describe(archive, i, &entry) != WICK_OK) break;
        if (!entry.loadable || !is_float(entry.dtype)) continue;
        struct wick_tensor *x = wick_archive_load(archive, entry.name, cpu);
        fault = finite_fault(x);
        if (fault) snprintf(text, size, "%s holds %s", entry.name, fault);
        wick_release(x);
    }
    wick_archive_close(archive);
    wick_device_close(cpu);
    wick_error_clear();
    return fault != NULL;
}

/* Whether two tensors of one dtype and as many elements have the same bytes. */
static bool same(const struct wick_tensor *a, const struct wick_tensor *b) {
    size_t nbytes = (size_t)wick_tensor_count(a) * (size_t)wick_dtype_block_bytes(wick_tensor_dtype(a));
    char *bytes = malloc(2 * nbytes + 1);
    bool equal = bytes && wick_read(a, bytes, nbytes) == WICK_OK && wick_read(b, bytes + nbytes, nbytes) == WICK_OK &&
                 memcmp(bytes, bytes + nbytes, nbytes) == 0;
    free(bytes);
    return equal;
}

/* Finds the tensor of the file that an operand of the call is. */
static bool find_operand(const struct wick_recorded *call, struct wick_archive *archive, struct wick_device *cpu,
                         char *name, size_t size) {
    for (int64_t e = 0; e < wick_archive_count(archive); e++) {
        struct wick_archive_entry entry;
        if (wick_archive_describe(archive, e, &entry) != WICK_OK || !entry.loadable) continue;
        for (int i = 0; i < call->n_in; i++) {
            const struct wick_tensor *operand = call->in[i];
            if (!operand || wick_tensor_dtype(operand) != entry.dtype || wick_tensor_rank(operand) != entry.rank ||
                memcmp(wick_tensor_shape(operand), entry.shape, sizeof *entry.shape * (size_t)entry.rank) != 0)
                continue;
            struct wick_tensor *x = wick_archive_load(archive, entry.name, cpu);
            bool found = x && same(operand, x);
            wick_release(x);
            if (found) snprintf(name, size, "%s", entry.name);
            if (found) return true;
        }
    }
    return false;
}

bool finite_trace(const struct wick_record *record, const char *model, char *text, size_t size) {
    int64_t n = wick_record_count(record), i = 0;
    const char *fault = NULL;
    struct wick_recorded call = {0};
    for (; i < n && !fault; i++) {
        if (wick_record_call(record, i, &call) != WICK_OK) break;
        for (int k = 0; k < call.n_out && !fault; k++)
            if (is_float(wick_tensor_dtype(call.out[k]))) fault = finite_fault(call.out[k]);
    }
    if (!fault) return false;
    char name[256] = "";
    const char *op = wick_op_name(call.op), *by = "with";
    struct wick_device *cpu = wick_device_open("cpu");
    struct wick_archive *archive = cpu ? wick_archive_open(model, &copied) : NULL;
    for (int64_t at = i - 1; at >= 0 && archive; at--, by = "behind") {
        if (wick_record_call(record, at, &call) != WICK_OK) break;
        if (find_operand(&call, archive, cpu, name, sizeof name)) break;
    }
    wick_archive_close(archive);
    wick_device_close(cpu);
    wick_error_clear();
    if (*name)
        snprintf(text, size, "the result of %s %s %s is the first that holds %s", op, by, name, fault);
    else
        snprintf(text, size, "the result of %s is the first that holds %s", op, fault);
    return true;
}
