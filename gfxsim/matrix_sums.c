/* The arithmetic of matrix instructions; see matrix.h for what is published of it and what is chosen. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "bits.h"
#include "matrix.h"

#define INLINE static inline __attribute__((always_inline)) /* into the functions for each set of x86 instructions */

enum { WIDE = 16 };       /* columns at a time, so that loops over them have a constant length */
enum { NOTHING = -1000 }; /* exponent of a zero */

/* 2^e, for -1022 <= e <= 1023. */
static inline double power(i32 e) { return sim_f64((u64)(e + 1023) << 52); }

/* A float of 1 + exponent + mantissa bits without infinities or NaNs. */
static float small_value(u32 code, unsigned exponent_bits, unsigned mantissa_bits, int bias) {
    u32 exponent = code >> mantissa_bits & ((1u << exponent_bits) - 1), mantissa = code & ((1u << mantissa_bits) - 1);
    double x = exponent ? (double)(mantissa | 1u << mantissa_bits) * power((i32)exponent - bias - (i32)mantissa_bits)
                        : (double)mantissa * power(1 - bias - (i32)mantissa_bits);
    return (float)(code >> (exponent_bits + mantissa_bits) & 1 ? -x : x);
}

void sim_half_values(unsigned n, const u32 *codes, float *values) {
    for (unsigned i = 0; i < n; i++) {
        u32 code = codes[i], bits = (code & 0x7fff) << 13, scaled = sim_bits_f32(sim_f32(bits) * 0x1p112f);
        bits = (code & 0x7c00) == 0x7c00 ? bits | 0x7f800000 : scaled;
        values[i] = sim_f32(bits | (code & 0x8000) << 16);
    }
}

float sim_element_value(enum sim_element type, u32 code) {
    float value;
    switch (type) {
    case SIM_EL_F16: sim_half_values(1, &code, &value); return value;
    case SIM_EL_BF16: return sim_f32(code << 16);
    case SIM_EL_FP8_FNUZ: return code == 0x80 ? NAN : small_value(code, 4, 3, 8);
    case SIM_EL_BF8_FNUZ: return code == 0x80 ? NAN : small_value(code, 5, 2, 16);
    case SIM_EL_FP8: return (code & 0x7f) == 0x7f ? NAN : small_value(code, 4, 3, 7);
    case SIM_EL_BF8:
        if ((code & 0x7c) == 0x7c) return sim_f32((code & 0x80) << 24 | 0x7f800000 | (code & 3) << 21);
        return small_value(code, 5, 2, 15);
    case SIM_EL_XF32:
    case SIM_EL_F32: return sim_f32(code);
    default: return 0;
    }
}

u32 sim_bf16_bits(float x) {
    u32 bits = sim_bits_f32(x);
    if (x != x) return (bits >> 16) | 0x40;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

u32 sim_f16_bits(float x) {
    u32 bits = sim_bits_f32(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return sign | 0x7e00 | (bits >> 13 & 0x3ff);
    if (magnitude >= 0x477ff000) return sign | 0x7c00; /* 65520 and more */
    if (magnitude < 0x38800000)                        /* adding 0.5 rounds a denormal to its last bit, 2^-24 */
        return sign | (sim_bits_f32(sim_f32(magnitude) + 0.5f) - 0x3f000000);
    return sign | ((magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13);
}

/* ---- chains and pairs ---- */

/* Columns at a time, of n, and terms in a group. */
struct strip {
    unsigned width, n, group;
};

INLINE void chain_row(struct strip s, struct sim_terms terms, const float *a, const float *b, float *c) {
    for (unsigned p = 0; p < terms.n; p++) {
        const float *row = b + (terms.where ? terms.where[p] : p) * s.n;
        for (unsigned j = 0; j < s.width; j++) c[j] = fmaf(a[p], row[j], c[j]);
    }
}
INLINE void chain(const struct sim_matrix *x, struct sim_terms terms, const float *a, const float *b, float *c) {
    if (x->n < WIDE) chain_row((struct strip){4, 4, 1}, terms, a, b, c);
    for (unsigned j = 0; j + WIDE <= x->n; j += WIDE) chain_row((struct strip){WIDE, x->n, 1}, terms, a, b + j, c + j);
}

/* Keeps the sign. */
INLINE float flush(float x) { return fabsf(x) < FLT_MIN ? x * 0 : x; }
/* As A, B and C are: a positive zero. */
INLINE void flush_inputs(unsigned n, const float *from, float least, float *to) {
    for (unsigned i = 0; i < n; i++) to[i] = fabsf(from[i]) < least ? 0 : from[i];
}

INLINE void pairs_row(struct strip s, unsigned terms, const float *a, const float *b, float *c) {
    const unsigned n = s.n;
    for (unsigned p = 0; p < terms; p += s.group)
        for (unsigned j = 0; j < s.width; j++) {
            const float *row = b + p * n + j;
            float sum = flush(flush(a[p] * row[0] + 0.0f) + flush(a[p + 1] * row[n] + 0.0f));
            if (s.group == 4)
                sum = flush(sum + flush(flush(a[p + 2] * row[2 * n] + 0.0f) + flush(a[p + 3] * row[3 * n] + 0.0f)));
            c[j] = flush(c[j] + sum);
        }
}
INLINE void pairs(const struct sim_matrix *x, unsigned terms, const float *a, const float *b, float *c) {
    if (x->n < WIDE && x->group == 4)
        pairs_row((struct strip){4, 4, 4}, terms, a, b, c);
    else if (x->n < WIDE)
        pairs_row((struct strip){4, 4, 2}, terms, a, b, c);
    for (unsigned j = 0; j + WIDE <= x->n; j += WIDE) {
        if (x->group == 4)
            pairs_row((struct strip){WIDE, x->n, 4}, terms, a, b + j, c + j);
        else
            pairs_row((struct strip){WIDE, x->n, 2}, terms, a, b + j, c + j);
    }
}

/* ---- aligned sums ---- */

/* Significands with `fraction` bits after the point, exponents no less than the type's. */
struct fraction {
    int fraction, least;
};
static struct fraction fraction_of(unsigned type) {
    switch (type) {
    case SIM_EL_F16: return (struct fraction){10, -14};
    case SIM_EL_BF16: return (struct fraction){7, -126};
    case SIM_EL_FP8_FNUZ: return (struct fraction){3, -7};
    case SIM_EL_BF8_FNUZ: return (struct fraction){2, -15};
    default: return (struct fraction){10, -126}; /* xf32 */
    }
}
INLINE void split(float x, struct fraction f, i32 *significand, i32 *exponent) {
    i32 field = (i32)(sim_bits_f32(x) >> 23 & 255), e = field - 127;
    if (e < f.least) e = f.least;
    *exponent = x == 0 ? NOTHING : e;
    *significand = field == 255 ? 0 : (i32)((double)x * power(f.fraction - e));
}

/* What infinities, NaNs and products beyond f32 make of a group and c; `plain` where there are none. */
static float odd_sum(struct sim_terms terms, const float *a, const float *b, unsigned pitch, float c, float plain) {
    double sum = c;
    bool up = false, down = false;
    for (unsigned p = 0; p < terms.n; p++) {
        double product = (double)a[p] * b[(terms.where ? terms.where[p] : p) * pitch];
        sum += product;
        up |= product >= 0x1p128;
        down |= product <= -0x1p128;
    }
    if (isnan(sum) || (up && down)) return NAN;
    if (isinf(sum)) return (float)sum;
    if (up || down) return up ? INFINITY : -INFINITY;
    return plain;
}

/* Terms as significands and exponents: of a row of A, and of WIDE columns of B. */
struct parts {
    const i32 *sa, *ea, *const *sb, *const *eb;
};

/* sum[j] = the terms p, p + step, ... cut below 24 bits after the point of the largest exponent, which is e[j]. */
INLINE void align(unsigned terms, unsigned step, int up, struct parts x, i32 e[WIDE], i32 sum[WIDE]) {
    for (unsigned j = 0; j < WIDE; j++) e[j] = NOTHING * 2, sum[j] = 0;
    for (unsigned p = 0; p < terms; p += step)
        for (unsigned j = 0; j < WIDE; j++) {
            i32 sum_e = x.ea[p] + x.eb[p][j];
            e[j] = sum_e > e[j] ? sum_e : e[j];
        }
    for (unsigned p = 0; p < terms; p += step)
        for (unsigned j = 0; j < WIDE; j++) {
            i32 product = x.sa[p] * x.sb[p][j], away = e[j] - x.ea[p] - x.eb[p][j], sign = product >> 31;
            u32 cut = (u32)((product ^ sign) - sign) << up >> (away > 31 ? 31 : away);
            sum[j] += ((i32)cut ^ sign) - sign;
        }
}

INLINE double floor_at(double x, i32 e) { return floor(x * power(e < -1000 ? -1000 : e)); }

/* B, and its elements taken apart. */
struct split_b {
    const float *values;
    i32 significand[64 * 32], exponent[64 * 32];
    bool odd; /* has infinities or NaNs */
};
INLINE void split_all(const struct sim_matrix *x, const float *b, struct split_b *to) {
    struct fraction g = fraction_of(x->b);
    to->values = b;
    to->odd = false;
    memset(to->significand, 0, x->k * 32 * sizeof *to->significand);
    memset(to->exponent, 0, x->k * 32 * sizeof *to->exponent);
    for (unsigned k = 0; k < x->k; k++)
        for (unsigned j = 0; j < x->n; j++) {
            to->odd |= !isfinite(b[k * x->n + j]);
            split(b[k * x->n + j], g, &to->significand[k * 32 + j], &to->exponent[k * 32 + j]);
        }
}

/* The sums of one group of terms for WIDE columns, and their exponents. */
INLINE void group_sum(bool eight, unsigned count, int up, struct parts x, i32 e[WIDE], i32 sum[WIDE]) {
    align(count, eight ? 2 : 1, up, x, e, sum);
    if (!eight) return;
    i32 e1[WIDE], sum1[WIDE]; /* even and odd terms apart, then both at the larger exponent */
    align(count - 1, 2, up, (struct parts){x.sa + 1, x.ea + 1, x.sb + 1, x.eb + 1}, e1, sum1);
    for (unsigned j = 0; j < WIDE; j++) {
        i32 most = e[j] > e1[j] ? e[j] : e1[j];
        sum[j] = (i32)(floor_at(sum[j], e[j] - most) + floor_at(sum1[j], e1[j] - most));
        e[j] = most;
    }
}

INLINE void fused(const struct sim_matrix *x, struct sim_terms row, const float *a, const struct split_b *b, float *c) {
    const u8 *where = row.where;
    const unsigned terms = row.n;
    struct fraction f = fraction_of(x->a), g = fraction_of(x->b);
    i32 sa[SIM_TILE_AB / 16], ea[SIM_TILE_AB / 16];
    int up = 24 - f.fraction - g.fraction;
    bool eight = x->sum == SIM_SUM_FUSED8;
    for (unsigned p = 0; p < terms; p++) split(a[p], f, &sa[p], &ea[p]);
    for (unsigned p = 0; p < terms; p += x->group)
        for (unsigned j0 = 0; j0 < x->n; j0 += WIDE) {
            const i32 *sb[16], *eb[16];
            i32 e[WIDE], sum[WIDE];
            float old[WIDE] = {0}, result[WIDE];
            unsigned n = x->n < WIDE ? x->n : WIDE, count = terms - p < x->group ? terms - p : x->group, specials = 0;
            bool odd = b->odd;
            for (unsigned q = 0; q < count; q++) {
                unsigned k = where ? where[p + q] : p + q;
                sb[q] = b->significand + k * 32 + j0;
                eb[q] = b->exponent + k * 32 + j0;
                odd |= !isfinite(a[p + q]);
            }
            memcpy(old, c + j0, n * sizeof *old);
            group_sum(eight, count, up, (struct parts){sa + p, ea + p, sb, eb}, e, sum);
            for (unsigned j = 0; j < WIDE; j++) {
                u32 bits = sim_bits_f32(old[j]), mantissa = bits & 0x7fffff;
                i32 field = (i32)(bits >> 23 & 255), ec = field ? field - 127 : -126,
                    sc = (i32)(field ? mantissa | 0x800000 : mantissa);
                ec = sc ? ec : NOTHING * 2;
                sc = (i32)bits < 0 ? -sc : sc;
                i32 most = e[j] > ec ? e[j] : ec, scale = most < -400 ? -400 : most;
                double t = floor_at(sum[j], 7 + e[j] - most), u = floor_at(sc, 1 + ec - most) * 128;
                if (eight && ec < most - 25) u = 0;
                result[j] = (float)((t + u) * power(scale - 31));
                specials |= (field == 255) | (e[j] >= 127);
            }
            if (odd || specials)
                for (unsigned j = 0; j < n; j++)
                    result[j] = odd_sum((struct sim_terms){count, where ? where + p : NULL}, a + p,
                                        b->values + (where ? 0 : p * x->n) + j0 + j, x->n, old[j], result[j]);
            memcpy(c + j0, result, n * sizeof *result);
        }
}

INLINE void sum_block(const struct sim_matrix *x, struct sim_terms all, const float *a, const float *b, float *c) {
    const unsigned terms = all.n;
    struct split_b apart;
    float a_flushed[SIM_TILE_AB], b_flushed[SIM_TILE_AB];
    bool is_fused = x->sum == SIM_SUM_FUSED || x->sum == SIM_SUM_FUSED8;
    if (is_fused) split_all(x, b, &apart);
    if (x->sum == SIM_SUM_PAIRS) {
        float least = x->a == SIM_EL_F16 ? 0x1p-14f : FLT_MIN;
        flush_inputs(x->m * terms, a, least, a_flushed);
        flush_inputs(x->k * x->n, b, least, b_flushed);
        flush_inputs(x->m * x->n, c, FLT_MIN, c);
    }
    for (unsigned i = 0; i < x->m; i++) {
        struct sim_terms row = {terms, all.where ? all.where + i * terms : NULL};
        if (is_fused)
            fused(x, row, a + i * terms, &apart, c + i * x->n);
        else if (x->sum == SIM_SUM_CHAIN)
            chain(x, row, a + i * terms, b, c + i * x->n);
        else
            pairs(x, terms, a_flushed + i * terms, b_flushed, c + i * x->n);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void sum_avx2(const struct sim_matrix *x, struct sim_terms terms,
                                                         const float *a, const float *b, float *c) {
    sum_block(x, terms, a, b, c);
}
#endif

void sim_matrix_sum(const struct sim_matrix *x, struct sim_terms terms, const float *a, const float *b, float *c) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        sum_avx2(x, terms, a, b, c);
        return;
    }
#endif
    sum_block(x, terms, a, b, c);
}

void sim_matrix_sum64(const struct sim_matrix *x, const double *a, const double *b, double *c) {
    for (unsigned i = 0; i < x->m; i++)
        for (unsigned k = 0; k < x->k; k++)
            for (unsigned j = 0; j < x->n; j++)
                c[i * x->n + j] = fma(a[i * x->k + k], b[k * x->n + j], c[i * x->n + j]);
}

void sim_matrix_sum_int(const struct sim_matrix *x, struct sim_terms terms, const i32 *a, const i32 *b, bool clamp,
                        i32 *c) {
    for (unsigned i = 0; i < x->m; i++) {
        i32 sum[32] = {0};
        for (unsigned p = 0; p < terms.n; p++) {
            const i32 *row = b + (terms.where ? terms.where[i * terms.n + p] : p) * x->n;
            i32 one = a[i * terms.n + p];
            for (unsigned j = 0; j < x->n; j++) sum[j] += one * row[j];
        }
        for (unsigned j = 0; j < x->n; j++) {
            i64 exact = (i64)c[i * x->n + j] + sum[j];
            if (clamp) exact = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact;
            c[i * x->n + j] = (i32)(u32)(u64)exact;
        }
    }
}
