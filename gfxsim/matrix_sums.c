/* The arithmetic of matrix instructions; see matrix.h for what is published of it and what is chosen. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "matrix.h"

enum { WIDE = 16 };       /* columns at a time, so that loops over them have a constant length */
enum { NOTHING = -1000 }; /* exponent of a zero */

static float from_bits(u32 bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static u32 to_bits(float x) {
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
/* 2^e, for -1022 <= e <= 1023. */
static double power(i32 e) {
    u64 bits = (u64)(e + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A float of 1 + exponent + mantissa bits without infinities or NaNs. */
static float small_value(u32 code, unsigned exponent_bits, unsigned mantissa_bits, int bias) {
    u32 exponent = code >> mantissa_bits & ((1u << exponent_bits) - 1), mantissa = code & ((1u << mantissa_bits) - 1);
    double x = exponent ? (double)(mantissa | 1u << mantissa_bits) * power((i32)exponent - bias - (i32)mantissa_bits)
                        : (double)mantissa * power(1 - bias - (i32)mantissa_bits);
    return (float)(code >> (exponent_bits + mantissa_bits) & 1 ? -x : x);
}

float sim_element_value(enum sim_element type, u32 code) {
    switch (type) {
    case SIM_EL_F16:
        if ((code & 0x7c00) == 0x7c00) return from_bits((code & 0x8000) << 16 | 0x7f800000 | (code & 0x3ff) << 13);
        return small_value(code, 5, 10, 15);
    case SIM_EL_BF16: return from_bits(code << 16);
    case SIM_EL_FP8_FNUZ: return code == 0x80 ? NAN : small_value(code, 4, 3, 8);
    case SIM_EL_BF8_FNUZ: return code == 0x80 ? NAN : small_value(code, 5, 2, 16);
    case SIM_EL_FP8: return (code & 0x7f) == 0x7f ? NAN : small_value(code, 4, 3, 7);
    case SIM_EL_BF8:
        if ((code & 0x7c) == 0x7c) return from_bits((code & 0x80) << 24 | 0x7f800000 | (code & 3) << 21);
        return small_value(code, 5, 2, 15);
    case SIM_EL_XF32:
    case SIM_EL_F32: return from_bits(code);
    default: return 0;
    }
}

u32 sim_bf16_bits(float x) {
    u32 bits = to_bits(x);
    if (x != x) return (bits >> 16) | 0x40;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

u32 sim_f16_bits(float x) {
    u32 bits = to_bits(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return sign | 0x7e00 | (bits >> 13 & 0x3ff);
    if (magnitude >= 0x477ff000) return sign | 0x7c00; /* 65520 and more */
    if (magnitude < 0x38800000)                        /* adding 0.5 rounds a denormal to its last bit, 2^-24 */
        return sign | (to_bits(from_bits(magnitude) + 0.5f) - 0x3f000000);
    return sign | ((magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13);
}

/* ---- chains and pairs ---- */

static void chain(const struct sim_matrix *x, unsigned terms, const float *a, const float *b, const u8 *where,
                  float *c) {
    for (unsigned p = 0; p < terms; p++) {
        const float *row = b + (where ? where[p] : p) * x->n;
        float one = a[p];
        for (unsigned j = 0; j < x->n; j += 4)
            for (unsigned l = 0; l < 4; l++) c[j + l] = fmaf(one, row[j + l], c[j + l]);
    }
}

/* Keeps the sign. */
static float flush(float x) { return fabsf(x) < FLT_MIN ? x * 0 : x; }
/* As A, B and C are: a positive zero. */
static float flush_input(float x, float least) { return fabsf(x) < least ? 0 : x; }

static void pairs(const struct sim_matrix *x, unsigned terms, const float *a, const float *b, float *c) {
    float least = x->a == SIM_EL_F16 ? 0x1p-14f : FLT_MIN;
    for (unsigned j = 0; j < x->n; j++) c[j] = flush_input(c[j], FLT_MIN);
    for (unsigned p = 0; p < terms; p += x->group)
        for (unsigned j = 0; j < x->n; j++) {
            float product[4] = {0}, sum;
            for (unsigned q = 0; q < x->group; q++)
                product[q] = flush(flush_input(a[p + q], least) * flush_input(b[(p + q) * x->n + j], least) + 0.0f);
            sum = flush(product[0] + product[1]);
            if (x->group == 4) sum = flush(sum + flush(product[2] + product[3]));
            c[j] = flush(c[j] + sum);
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
static void split(float x, struct fraction f, i32 *significand, i32 *exponent) {
    i32 field = (i32)(to_bits(x) >> 23 & 255), e = field - 127;
    if (e < f.least) e = f.least;
    *exponent = x == 0 ? NOTHING : e;
    *significand = field == 255 ? 0 : (i32)((double)x * power(f.fraction - e));
}

/* What infinities, NaNs and products beyond f32 make of a group; false: nothing. */
static bool odd_sum(unsigned terms, const float *a, const float *b, unsigned pitch, const u8 *where, float c,
                    float *to) {
    double sum = c;
    bool up = false, down = false;
    for (unsigned p = 0; p < terms; p++) {
        double product = (double)a[p] * b[(where ? where[p] : p) * pitch];
        sum += product;
        up |= product >= 0x1p128;
        down |= product <= -0x1p128;
    }
    if (isnan(sum) || (up && down))
        *to = NAN;
    else if (isinf(sum))
        *to = (float)sum;
    else if (up || down)
        *to = up ? INFINITY : -INFINITY;
    else
        return false;
    return true;
}

/* sum[j] = the terms p, p + step, ... cut below 24 bits after the point of the largest exponent, which is e[j]. */
static void align(unsigned terms, unsigned step, int up, const i32 *sa, const i32 *ea, const i32 *const *sb,
                  const i32 *const *eb, i32 e[WIDE], i32 sum[WIDE]) {
    for (unsigned j = 0; j < WIDE; j++) e[j] = NOTHING * 2, sum[j] = 0;
    for (unsigned p = 0; p < terms; p += step)
        for (unsigned j = 0; j < WIDE; j++) {
            i32 sum_e = ea[p] + eb[p][j];
            e[j] = sum_e > e[j] ? sum_e : e[j];
        }
    for (unsigned p = 0; p < terms; p += step)
        for (unsigned j = 0; j < WIDE; j++) {
            i32 product = sa[p] * sb[p][j], away = e[j] - ea[p] - eb[p][j], sign = product >> 31;
            u32 cut = (u32)((product ^ sign) - sign) << up >> (away > 31 ? 31 : away);
            sum[j] += ((i32)cut ^ sign) - sign;
        }
}

static double floor_at(double x, i32 e) { return floor(x * power(e < -1000 ? -1000 : e)); }

static void fused(const struct sim_matrix *x, unsigned terms, const float *a, const float *b, const u8 *where,
                  const i32 *b_significand, const i32 *b_exponent, bool b_odd, float *c) {
    struct fraction f = fraction_of(x->a), g = fraction_of(x->b);
    i32 sa[SIM_TILE_AB / 16], ea[SIM_TILE_AB / 16];
    bool eight = x->sum == SIM_SUM_FUSED8;
    for (unsigned p = 0; p < terms; p++) split(a[p], f, &sa[p], &ea[p]);
    for (unsigned p = 0; p < terms; p += x->group)
        for (unsigned j0 = 0; j0 < x->n; j0 += WIDE) {
            const i32 *sb[16], *eb[16];
            i32 e[WIDE], sum[WIDE], e1[WIDE], sum1[WIDE];
            bool odd = b_odd;
            float *to = c + j0, old[WIDE] = {0};
            unsigned n = x->n < WIDE ? x->n : WIDE, count = terms - p < x->group ? terms - p : x->group;
            for (unsigned q = 0; q < count; q++) {
                unsigned k = where ? where[p + q] : p + q;
                sb[q] = b_significand + k * 32 + j0;
                eb[q] = b_exponent + k * 32 + j0;
                odd |= !isfinite(a[p + q]);
            }
            memcpy(old, to, n * sizeof *old);
            align(count, eight ? 2 : 1, 24 - f.fraction - g.fraction, sa + p, ea + p, sb, eb, e, sum);
            if (eight) {
                align(count - 1, 2, 24 - f.fraction - g.fraction, sa + p + 1, ea + p + 1, sb + 1, eb + 1, e1, sum1);
                for (unsigned j = 0; j < WIDE; j++) {
                    i32 most = e[j] > e1[j] ? e[j] : e1[j];
                    sum[j] = (i32)(floor_at(sum[j], e[j] - most) + floor_at(sum1[j], e1[j] - most));
                    e[j] = most;
                }
            }
            for (unsigned j = 0; j < n; j++) {
                u32 bits = to_bits(old[j]), field = bits >> 23 & 255, mantissa = bits & 0x7fffff;
                i32 ec = field ? (i32)field - 127 : -126, sc = (i32)(field ? mantissa | 0x800000 : mantissa), most;
                double t, u;
                if (sc == 0) ec = NOTHING * 2;
                if (bits >> 31) sc = -sc;
                most = e[j] > ec ? e[j] : ec;
                odd |= field == 255 || e[j] >= 127;
                t = floor_at(sum[j], 7 + e[j] - most);
                u = eight && ec < most - 25 ? 0 : floor_at(sc, 1 + ec - most) * 128;
                to[j] = most < -400 ? 0 : (float)((t + u) * power(most - 31));
            }
            if (odd)
                for (unsigned j = 0; j < n; j++)
                    odd_sum(count, a + p, b + (where ? 0 : p * x->n) + j0 + j, x->n, where ? where + p : NULL, old[j],
                            &to[j]);
        }
}

void sim_matrix_sum(const struct sim_matrix *x, unsigned terms, const float *a, const float *b, const u8 *where,
                    float *c) {
    i32 significand[64 * 32], exponent[64 * 32];
    bool odd = false;
    if (x->sum == SIM_SUM_FUSED || x->sum == SIM_SUM_FUSED8) {
        struct fraction g = fraction_of(x->b);
        memset(significand, 0, x->k * 32 * sizeof *significand);
        memset(exponent, 0, x->k * 32 * sizeof *exponent);
        for (unsigned k = 0; k < x->k; k++)
            for (unsigned j = 0; j < x->n; j++) {
                odd |= !isfinite(b[k * x->n + j]);
                split(b[k * x->n + j], g, &significand[k * 32 + j], &exponent[k * 32 + j]);
            }
    }
    for (unsigned i = 0; i < x->m; i++) {
        const u8 *row = where ? where + i * terms : NULL;
        if (x->sum == SIM_SUM_CHAIN)
            chain(x, terms, a + i * terms, b, row, c + i * x->n);
        else if (x->sum == SIM_SUM_PAIRS)
            pairs(x, terms, a + i * terms, b, c + i * x->n);
        else
            fused(x, terms, a + i * terms, b, row, significand, exponent, odd, c + i * x->n);
    }
}

void sim_matrix_sum64(const struct sim_matrix *x, const double *a, const double *b, double *c) {
    for (unsigned i = 0; i < x->m; i++)
        for (unsigned k = 0; k < x->k; k++)
            for (unsigned j = 0; j < x->n; j++)
                c[i * x->n + j] = fma(a[i * x->k + k], b[k * x->n + j], c[i * x->n + j]);
}

void sim_matrix_sum_int(const struct sim_matrix *x, unsigned terms, const i32 *a, const i32 *b, const u8 *where,
                        bool clamp, i32 *c) {
    for (unsigned i = 0; i < x->m; i++) {
        i32 sum[32] = {0};
        for (unsigned p = 0; p < terms; p++) {
            const i32 *row = b + (where ? where[i * terms + p] : p) * x->n;
            i32 one = a[i * terms + p];
            for (unsigned j = 0; j < x->n; j++) sum[j] += one * row[j];
        }
        for (unsigned j = 0; j < x->n; j++) {
            i64 exact = (i64)c[i * x->n + j] + sum[j];
            if (clamp) exact = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact;
            c[i * x->n + j] = (i32)(u32)(u64)exact;
        }
    }
}
