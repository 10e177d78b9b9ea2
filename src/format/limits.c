/* The defaults of wick_limits. */
#include <wick/limits.h>

static int64_t or_default(int64_t limit, int64_t otherwise) { return limit > 0 ? limit : otherwise; }

struct wick_limits wick_limits_effective(const struct wick_limits *limits) {
    const struct wick_limits none = {0};
    if (!limits) limits = &none;
    return (struct wick_limits){.tensors = or_default(limits->tensors, (int64_t)1 << 20),
                                .metadata = or_default(limits->metadata, (int64_t)1 << 28),
                                .inflated = or_default(limits->inflated, (int64_t)1 << 34),
                                .pixels = or_default(limits->pixels, (int64_t)1 << 27),
                                .memory = or_default(limits->memory, (int64_t)1 << 30),
                                .scans = or_default(limits->scans, 64)};
}
