/* Looking for the first value that is no number. */
#include "cli/finite.h"

#include <math.h>
#include <stdio.h>

#include <wick/wick.h>

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
    struct wick_archive *archive = cpu ? wick_archive_open(model, NULL) : NULL;
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
