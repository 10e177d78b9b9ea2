/* The ways of taking elements into an accumulator, for every element type. */
#ifndef WICK_CPU_KERNELS_REDUCE_KINDS_H
#define WICK_CPU_KERNELS_REDUCE_KINDS_H

#include "cpu/kernels/vmath.h"
#include "cpu/runtime/isa.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* X(name): kinds that every type has, and those that only integers or only floats have. TOTAL is SUM without its
 * shortcut through f32, for means that deviations are taken from. SQUARES are of deviations from a center, EXPS of
 * differences to it, POWERS of magnitudes divided by it. MANTISSAS are multiplied, each from 1 to 2, and EXPONENTS
 * added: a product of floats that stays in range as far as there are fewer than 1000 of them. */
#define KINDS(X) X(SUM) X(MIN) X(MAX) X(ANY) X(ALL)
#define INT_KINDS(X) X(PROD)
#define FLOAT_KINDS(X)                                                                                                 \
    X(TOTAL) X(SQUARES) X(EXPS) X(ABS_SUM) X(ABS_MIN) X(ABS_MAX) X(COUNT) X(POWERS) X(MANTISSAS) X(EXPONENTS)

enum kind {
#define KIND(name) name,
    KINDS(KIND) INT_KINDS(KIND) FLOAT_KINDS(KIND)
#undef KIND
};

/* Mantissas, each below 2, that are multiplied before the product is split again: their product stays in range. */
enum { MANTISSAS_MOST = 512 };
/* Factors of a chain that is split at its end alone. */
enum { RUN_FACTORS = 32 };

/* Accumulators side by side in a vector, and rows taken in together. */
#if WICK_ISA_LEVEL == 2
#define LANES 8
#elif WICK_ISA_LEVEL == 1
#define LANES 4
#else
#define LANES 2
#endif
#define ROWS 4

typedef int64_t mask_vec __attribute__((vector_size(LANES * 8)));
typedef uint64_t bits_vec __attribute__((vector_size(LANES * 8)));
typedef double f64_vec __attribute__((vector_size(LANES * 8)));

static inline __attribute__((always_inline)) f64_vec exp_vec(f64_vec x) {
#if WICK_ISA_LEVEL == 2
    return (f64_vec)Sleef_expd8_u10avx512f((__m512d)x);
#elif WICK_ISA_LEVEL == 1
    return (f64_vec)Sleef_expd4_u10avx2((__m256d)x);
#else
    return (f64_vec)Sleef_expd2_u10sse2((__m128d)x);
#endif
}

/* What an accumulator starts with. */
static inline double start_float(enum kind kind) {
    switch (kind) {
    case MANTISSAS:
    case ALL: return 1;
    case MIN:
    case ABS_MIN: return INFINITY;
    case MAX: return -INFINITY;
    default: return 0;
    }
}

static inline int64_t start_int(enum kind kind) {
    switch (kind) {
    case PROD:
    case ALL: return 1;
    case MIN: return INT64_MAX;
    case MAX: return INT64_MIN;
    default: return 0;
    }
}

/* Two accumulators made one. */
static inline double join_float(enum kind kind, double a, double b) {
    switch (kind) {
    case MANTISSAS: return a * b;
    case MIN:
    case ABS_MIN:
    case ALL: return b < a || b != b ? b : a;
    case MAX:
    case ABS_MAX:
    case ANY: return b > a || b != b ? b : a;
    default: return a + b;
    }
}

static inline int64_t join_int(enum kind kind, int64_t a, int64_t b) {
    switch (kind) {
    case SUM: return (int64_t)((uint64_t)a + (uint64_t)b);
    case PROD: return (int64_t)((uint64_t)a * (uint64_t)b);
    case MIN:
    case ALL: return b < a ? b : a;
    default: return b > a ? b : a;
    }
}

#endif
