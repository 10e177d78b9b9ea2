/* What is common to all steps of a rendering: its first failure, and its limits. */
#include "template/run.h"

#include <stdarg.h>
#include <stdio.h>

struct wick__value wick__run_fail(struct wick__run *run, enum wick_status status, const char *format, ...) {
    char why[512];
    va_list args;
    if (run->status != WICK_OK) return wick__undefined("");
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    run->status = wick__fail(status, "template:%d: %s", run->line, why);
    return wick__undefined("");
}

bool wick__run_step(struct wick__run *run, size_t n) {
    if (run->status != WICK_OK) return false;
    run->steps -= n < (size_t)INT64_MAX / 2 ? (int64_t)n : INT64_MAX / 2;
    if (run->steps > 0) return true;
    wick__run_fail(run, WICK_RANGE, "over the limit of %lld steps", (long long)run->limits.steps);
    return false;
}

struct wick__value wick__run_made(struct wick__run *run, struct wick__value value) {
    if (value.kind == WICK__UNDEFINED && run->status == WICK_OK) run->status = wick__latest();
    return value;
}
