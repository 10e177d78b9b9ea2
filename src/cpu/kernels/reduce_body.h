/* The arithmetic of reductions for one element type. Included once for each, with
 *
 *   SUFFIX   of the names made here
 *   T        the element type
 *   ACC      what it accumulates in: double or int64_t
 *   FLOAT    whether that is double
 *
 * Accumulators are vectors of ACC. Where a range is not a multiple of their width, the last elements go through a
 * vector of their own, of which only as many lanes are used. */
#define FN(name) WICK__JOIN(name, SUFFIX)
#if FLOAT
#define START start_float
#define JOIN join_float
#else
#define START start_int
#define JOIN join_int
#endif

typedef ACC FN(acc) __attribute__((vector_size(LANES * 8)));
typedef ACC FN(acc_at) __attribute__((vector_size(LANES * 8), aligned(8), may_alias));
typedef T FN(few) __attribute__((vector_size(LANES * sizeof(T))));
typedef T FN(few_at) __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));
typedef T FN(wide) __attribute__((vector_size(LANES * 8)));
typedef T FN(wide_at) __attribute__((vector_size(LANES * 8), aligned(sizeof(T)), may_alias));

static inline __attribute__((always_inline)) FN(acc) FN(load)(const T *x) {
    if (FLOAT && sizeof(T) == sizeof(float)) return (FN(acc))wick__vd_of_f32((const void *)x);
    FN(few) few = *(const FN(few_at) *)x;
    return __builtin_convertvector(few, FN(acc));
}

/* b where the mask is set, else a. */
static inline __attribute__((always_inline)) FN(acc) FN(select)(mask_vec mask, FN(acc) b, FN(acc) a) {
    return (FN(acc))(((mask_vec)b & mask) | ((mask_vec)a & ~mask));
}

static inline __attribute__((always_inline)) FN(acc) FN(least)(FN(acc) a, FN(acc) x) {
#if FLOAT
    return FN(select)((x < a) | (x != x), x, a);
#else
    return FN(select)(x < a, x, a);
#endif
}

static inline __attribute__((always_inline)) FN(acc) FN(most)(FN(acc) a, FN(acc) x) {
#if FLOAT
    return FN(select)((x > a) | (x != x), x, a);
#else
    return FN(select)(x > a, x, a);
#endif
}

#if FLOAT
static inline __attribute__((always_inline)) FN(acc) FN(magnitude)(FN(acc) x) {
    return (FN(acc))((mask_vec)x & INT64_MAX);
}

static inline __attribute__((always_inline)) FN(acc) FN(powers)(FN(acc) x, FN(acc) c, double p) {
    for (int i = 0; i < LANES; i++) x[i] = pow(fabs(x[i]) / c[i], p);
    return x;
}

/* x is mantissa times 2^exponent. What has no exponent, 0, infinity and NaN, is its own mantissa, and its exponent 0.
 */
static inline __attribute__((always_inline)) FN(acc) FN(mantissa)(FN(acc) x, FN(acc) * exponent) {
    const mask_vec field = (mask_vec){0} + ((int64_t)0x7ff << 52), one = (mask_vec){0} + ((int64_t)0x3ff << 52);
    mask_vec small = FN(magnitude)(x) < 0x1p-1022;
    FN(acc) y = FN(select)(small, x * 0x1p64, x);
    mask_vec bits = (mask_vec)y & field, plain = (bits != 0) & (bits != field);
    /* The exponent's bits as the last ones of 2^52: a conversion to f64. */
    FN(acc) e = (FN(acc))((bits >> 52) | ((int64_t)0x433 << 52)) - (0x1p52 + 1023);
    *exponent = FN(select)(plain, FN(select)(small, e - 64, e), e - e);
    return FN(select)(plain, (FN(acc))(((mask_vec)y & ~field) | one), x);
}
#endif

/* a with x taken in. `c` is the center, p the exponent of the norm. */
static inline __attribute__((always_inline)) FN(acc)
    FN(step)(enum kind kind, FN(acc) a, FN(acc) x, FN(acc) c, double p) {
#if FLOAT
    switch (kind) {
    case SUM:
    case TOTAL: return a + x;
    case MIN: return FN(least)(a, x);
    case MAX: return FN(most)(a, x);
    case ANY: return FN(select)(x != 0, a - a + 1, a);
    case ALL: return FN(select)(x != 0, a, a - a);
    case SQUARES: return a + (x - c) * (x - c);
    case EXPS: return a + exp_vec(x - c);
    case ABS_SUM: return a + FN(magnitude)(x);
    case ABS_MIN: return FN(least)(a, FN(magnitude)(x));
    case ABS_MAX: return FN(most)(a, FN(magnitude)(x));
    case COUNT: return FN(select)(x != 0, a + 1, a);
    case POWERS: return a + FN(powers)(x, c, p);
    case MANTISSAS: return a * FN(mantissa)(x, &c);
    case EXPONENTS: FN(mantissa)(x, &c); return a + c;
    case PROD: break;
    }
#else
    (void)c;
    (void)p;
    typedef uint64_t bits __attribute__((vector_size(LANES * 8)));
    switch (kind) {
    case SUM: return (FN(acc))((bits)a + (bits)x);
    case PROD: return (FN(acc))((bits)a * (bits)x);
    case MIN: return FN(least)(a, x);
    case MAX: return FN(most)(a, x);
    case ANY: return FN(select)(x != 0, a - a + 1, a);
    case ALL: return FN(select)(x != 0, a, a - a);
    default: break;
    }
#endif
    return a;
}

static inline __attribute__((always_inline)) FN(acc) FN(fill)(ACC value) {
    FN(acc) a;
    for (int i = 0; i < LANES; i++) a[i] = value;
    return a;
}

#if FLOAT
/* Four vectors of f32 are added to one another in f32, which rounds twice, before f64 takes their sum: this is twice as
 * fast, and the error stays under 2^-23 of the sum of magnitudes. */

static inline __attribute__((always_inline)) FN(wide) FN(four)(const T *a, const T *b, const T *c, const T *d) {
    return (*(const FN(wide_at) *)a + *(const FN(wide_at) *)b) + (*(const FN(wide_at) *)c + *(const FN(wide_at) *)d);
}

static inline __attribute__((always_inline)) FN(acc) FN(half)(FN(wide) x, int which) {
    FN(few) few;
    memcpy(&few, (const char *)&x + (size_t)which * sizeof few, sizeof few);
    return __builtin_convertvector(few, FN(acc));
}
#endif

/* A run of n elements side by side. */
static inline __attribute__((always_inline)) ACC FN(fold_as)(enum kind kind, const T *x, int64_t n, ACC center,
                                                             double p) {
    FN(acc) first = FN(fill)(START(kind)), c = FN(fill)(center);
    FN(acc) a0 = first, a1 = first, a2 = first, a3 = first;
    int64_t i = 0;
#if FLOAT
    /* Rows are too short for the processor's prefetcher, which begins anew at each page; beyond the last row it is
     * harmless. */
    enum { WIDE = 2 * LANES, SUM_AHEAD = 1024 };
    for (; kind == SUM && sizeof(T) == 4 && i + 8 * WIDE <= n; i += 8 * WIDE) {
        const T *y = x + i + 4 * WIDE;
        for (int k = 0; k < 8; k++) __builtin_prefetch(x + i + SUM_AHEAD + k * WIDE);
        FN(wide) u = FN(four)(x + i, x + i + WIDE, x + i + 2 * WIDE, x + i + 3 * WIDE);
        FN(wide) v = FN(four)(y, y + WIDE, y + 2 * WIDE, y + 3 * WIDE);
        a0 += FN(half)(u, 0);
        a1 += FN(half)(u, 1);
        a2 += FN(half)(v, 0);
        a3 += FN(half)(v, 1);
    }
#endif
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        a0 = FN(step)(kind, a0, FN(load)(x + i), c, p);
        a1 = FN(step)(kind, a1, FN(load)(x + i + LANES), c, p);
        a2 = FN(step)(kind, a2, FN(load)(x + i + 2 * LANES), c, p);
        a3 = FN(step)(kind, a3, FN(load)(x + i + 3 * LANES), c, p);
    }
    for (; i + LANES <= n; i += LANES) a0 = FN(step)(kind, a0, FN(load)(x + i), c, p);
    ACC total = START(kind);
    for (int l = 0; l < LANES; l++) {
        ACC pair = JOIN(kind, JOIN(kind, a0[l], a1[l]), JOIN(kind, a2[l], a3[l]));
        total = JOIN(kind, total, pair);
    }
    if (i < n) {
        T tail[LANES] = {0};
        memcpy(tail, x + i, (size_t)(n - i) * sizeof *x);
        FN(acc) last = FN(step)(kind, first, FN(load)(tail), c, p);
        for (int l = 0; l < (int)(n - i); l++) total = JOIN(kind, total, last[l]);
    }
    return total;
}

#if FLOAT
/* f64 holds the product of four elements of any other type, so there only each fourth product is looked at. */
enum { FN(GROUP) = sizeof(T) == sizeof(ACC) ? 1 : 4, FN(STEP) = FN(GROUP) * LANES };
enum { FN(RUN) = 4 * RUN_FACTORS * LANES, FN(AHEAD) = 4096 / sizeof(T) };

/* Bit 62 is set where 2^-400 <= |x| < 2^624. */
static inline __attribute__((always_inline)) bits_vec FN(in_range)(FN(acc) x) {
    return (bits_vec)x + ((uint64_t)401 << 52);
}

/* Multiplies n elements, a multiple of 4 * STEP up to RUN, by chains: false, with *a and *e as they were, if one of
 * them comes near the lower end of f64's range, where something would be lost, or beyond the upper one. Four elements
 * of f32 take a chain down by 2^596 at most. */
static inline bool FN(product_run)(const T *x, int64_t n, FN(acc) * a, FN(acc) * e) {
    FN(acc) y[4] = {FN(fill)(1), FN(fill)(1), FN(fill)(1), FN(fill)(1)}, few;
    bits_vec good = (bits_vec){0} - 1;
    for (int64_t i = 0; i < n; i += 4 * FN(STEP))
        for (int k = 0; k < 4; k++) {
            const T *from = x + i + k * FN(STEP);
            __builtin_prefetch(from + FN(AHEAD));
            FN(acc) z = FN(load)(from);
            if (FN(GROUP) == 4) {
                z *= FN(load)(from + LANES);
                z *= FN(load)(from + 2 * LANES) * FN(load)(from + 3 * LANES);
            }
            y[k] *= z;
            good &= FN(in_range)(y[k]);
        }
    y[0] *= y[1];
    y[2] *= y[3];
    good &= FN(in_range)(y[0]) & FN(in_range)(y[2]);
    y[0] *= y[2];
    good &= FN(in_range)(y[0]);
    uint64_t all = good[0];
    for (int l = 1; l < LANES; l++) all &= good[l];
    if (!(all >> 62 & 1)) return false;
    *a *= FN(mantissa)(y[0], &few);
    *e += few;
    return true;
}

/* The product of n elements; a power of two that belongs to it is added to *exponent. n is up to MANTISSAS_MOST, or
 * four times as many. */
static inline double FN(product)(const T *x, int64_t n, double *exponent) {
    enum { GROUP = FN(GROUP), STEP = FN(STEP) };
    FN(acc) a[2] = {FN(fill)(1), FN(fill)(1)}, e[2] = {FN(fill)(0), FN(fill)(0)}, few;
    int64_t i = 0;
    while (i + 4 * STEP <= n) {
        int64_t some = (n - i < FN(RUN) ? n - i : FN(RUN)) / (4 * STEP) * (4 * STEP);
        if (!FN(product_run)(x + i, some, &a[0], &e[0])) break;
        i += some;
    }
    for (; i + 2 * STEP <= n; i += 2 * STEP)
        for (int k = 0; k < 2; k++) {
            FN(acc) y = FN(load)(x + i + k * STEP);
            for (int j = 1; j < GROUP; j++) y *= FN(load)(x + i + k * STEP + j * LANES);
            a[k] *= FN(mantissa)(y, &few);
            e[k] += few;
        }
    for (; i < n; i += LANES) {
        T last[LANES];
        for (int l = 0; l < LANES; l++) last[l] = i + l < n ? x[i + l] : 1;
        a[0] *= FN(mantissa)(FN(load)(last), &few);
        e[0] += few;
    }
    a[0] *= a[1];
    e[0] += e[1];
    double total = 1;
    for (int l = 0; l < LANES; l++) {
        total *= a[0][l];
        *exponent += e[0][l];
    }
    return total;
}
#endif

/* The lesser or greater of a and x, compared in their own type. */
static inline __attribute__((always_inline)) FN(wide) FN(better)(enum kind kind, FN(wide) a, FN(wide) x) {
    __typeof__(x < a) mask = kind == MIN ? x < a : x > a;
#if FLOAT
    mask |= x != x;
#endif
    return (FN(wide))(((__typeof__(mask))x & mask) | ((__typeof__(mask))a & ~mask));
}

/* The least or greatest of n > 0 elements. */
static inline __attribute__((always_inline)) T FN(extreme)(enum kind kind, const T *x, int64_t n) {
    enum { WIDTH = LANES * 8 / sizeof(T) };
    T best = x[0];
    int64_t i = 0;
    if (n >= 4 * WIDTH) {
        FN(wide) v[4];
        for (int k = 0; k < 4; k++) v[k] = *(const FN(wide_at) *)(x + k * WIDTH);
        for (i = 4 * WIDTH; i + 4 * WIDTH <= n; i += 4 * WIDTH)
            for (int k = 0; k < 4; k++) v[k] = FN(better)(kind, v[k], *(const FN(wide_at) *)(x + i + k * WIDTH));
        v[0] = FN(better)(kind, FN(better)(kind, v[0], v[1]), FN(better)(kind, v[2], v[3]));
        for (int l = 0; l < WIDTH; l++) best = (T)JOIN(kind, best, v[0][l]);
    }
    for (; i < n; i++) best = (T)JOIN(kind, best, x[i]);
    return best;
}

/* f64 has no wider type to accumulate in: there, halves are folded by themselves, so that errors grow with log n. */
static inline ACC FN(fold)(enum kind kind, const T *x, int64_t n, ACC center, double p) {
    if (n > 0 && kind == MIN) return FN(extreme)(MIN, x, n);
    if (n > 0 && kind == MAX) return FN(extreme)(MAX, x, n);
    if (FLOAT && sizeof(T) == sizeof(ACC) && n > 128 * LANES) {
        int64_t half = n / 2 / LANES * LANES;
        ACC a = FN(fold)(kind, x, half, center, p), b = FN(fold)(kind, x + half, n - half, center, p);
        return JOIN(kind, a, b);
    }
    switch (kind) {
#define AS(kind_)                                                                                                      \
    case kind_: return FN(fold_as)(kind_, x, n, center, p);
        KINDS(AS)
#if FLOAT
        FLOAT_KINDS(AS)
#else
        INT_KINDS(AS)
#endif
#undef AS
    default: break;
    }
    return center;
}

/* n accumulators side by side take in up to ROWS rows; `acc` and `center` have room for a multiple of LANES. */
static inline __attribute__((always_inline)) void FN(rows_as)(enum kind kind, ACC *acc, const T *const *rows, int count,
                                                              int64_t n, const ACC *center, double p) {
    int64_t whole = n / LANES * LANES, i = 0;
#if FLOAT
    /* The processor's prefetcher loses its way at each row's end; the next rows are asked for by hand. */
    enum { WIDE = 2 * LANES };
    const intptr_t ahead = ROWS * ((const char *)rows[count > 1] - (const char *)rows[0]);
    for (; kind == SUM && sizeof(T) == 4 && count == ROWS && i + WIDE <= n; i += WIDE) {
        for (int k = 0; k < ROWS; k++) __builtin_prefetch((const void *)((uintptr_t)(rows[k] + i) + (uintptr_t)ahead));
        FN(wide) u = FN(four)(rows[0] + i, rows[1] + i, rows[2] + i, rows[3] + i);
        *(FN(acc_at) *)(acc + i) += FN(half)(u, 0);
        *(FN(acc_at) *)(acc + i + LANES) += FN(half)(u, 1);
    }
#endif
    for (; i < n; i += LANES) {
        FN(acc) a = *(FN(acc_at) *)(acc + i), c = a - a;
        if (kind == SQUARES || kind == EXPS || kind == POWERS) c = *(const FN(acc_at) *)(center + i);
        for (int r = 0; r < count; r++) {
            T tail[LANES] = {0};
            const T *x = rows[r] + i;
            if (i == whole) {
                memcpy(tail, x, (size_t)(n - i) * sizeof *x);
                x = tail;
            }
            a = FN(step)(kind, a, FN(load)(x), c, p);
        }
        *(FN(acc_at) *)(acc + i) = a;
    }
}

static inline void FN(rows)(enum kind kind, void *acc, const void *const *rows, int count, int64_t n,
                            const void *center, double p) {
    switch (kind) {
#define AS(kind_)                                                                                                      \
    case kind_:                                                                                                        \
        if (count == ROWS)                                                                                             \
            FN(rows_as)(kind_, acc, (const T *const *)rows, ROWS, n, center, p);                                       \
        else                                                                                                           \
            FN(rows_as)(kind_, acc, (const T *const *)rows, count, n, center, p);                                      \
        break;
        KINDS(AS)
#if FLOAT
        FLOAT_KINDS(AS)
#else
        INT_KINDS(AS)
#endif
#undef AS
    default: break;
    }
}

#undef FN
#undef START
#undef JOIN
#undef SUFFIX
#undef T
#undef ACC
#undef FLOAT
