/* Size arithmetic that can't wrap: each returns false on overflow, *result is then undefined. */
#ifndef WICK_CORE_CHECKED_H
#define WICK_CORE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool wick__mul(int64_t a, int64_t b, int64_t *result) { return !__builtin_mul_overflow(a, b, result); }
static inline bool wick__add(int64_t a, int64_t b, int64_t *result) { return !__builtin_add_overflow(a, b, result); }
static inline bool wick__mul_size(size_t a, size_t b, size_t *result) { return !__builtin_mul_overflow(a, b, result); }
static inline bool wick__add_size(size_t a, size_t b, size_t *result) { return !__builtin_add_overflow(a, b, result); }

static inline int64_t wick__min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t wick__max(int64_t a, int64_t b) { return a > b ? a : b; }

/* a / b rounded up; a >= 0, b > 0. */
static inline int64_t wick__div_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* The least multiple of `step` that is not below a. */
static inline int64_t wick__round_up(int64_t a, int64_t step) { return wick__div_up(a, step) * step; }

#endif
