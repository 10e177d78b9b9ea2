/* Values of 64 bits: see vector_64.def; products with a carry, steps of an f64 division. */
#include "gfxsim/vector_math.h"

static int exponent(double v) { return (int)(sim_bits_f64(v) >> 52 & 2047); }

/* As for f32 in vector_f32.c. The quotient and the reciprocal are denormal by their exponents and, next to the border,
 * by dividing sources scaled down to where the border is a normal number. */
static double div_scale_f64(double v, double d, double n, bool *scaled) {
    const int en = exponent(n), ed = exponent(d);
    *scaled = false;
    if (n == 0 || d == 0) return (double)NAN;
    if (en - ed >= 768) {
        *scaled = true;
        return v == d ? v * 0x1p128 : v;
    }
    if (ed == 0) return v * 0x1p128;
    const bool tiny_reciprocal = ed != 2047 && fabs(1.0 / (d * 0x1p-64)) < 0x1p-958;
    const bool tiny_quotient = en - ed < -1000 && (en - ed < -1024 || fabs(n * 0x1p128 / d) < 0x1p-894);
    if (tiny_reciprocal && tiny_quotient) {
        *scaled = true;
        return v == d ? v * 0x1p-128 : v;
    }
    if (tiny_reciprocal) return v * 0x1p-128;
    if (tiny_quotient) {
        *scaled = true;
        return v == n ? v * 0x1p128 : v;
    }
    return en <= 53 ? v * 0x1p128 : v;
}

static void div_scale_f64_row(struct sim_lanes *x) {
    for (unsigned l = 0; l < x->n; l++) {
        double s[3];
        for (unsigned k = 0; k < 3; k++) s[k] = sim_f64(x->s[k][0][l] | (u64)x->s[k][1][l] << 32);
        bool scaled;
        const u64 v = sim_bits_f64(div_scale_f64(s[0], s[1], s[2], &scaled));
        x->d[0][l] = (u32)v;
        x->d[1][l] = (u32)(v >> 32);
        x->carry |= (u64)scaled << l;
    }
}

/* fma, and with `scaled` times 2^128 or 2^-128, rounded once: where scaling down to a denormal ends half way between
 * two numbers, what the fma left over decides. In a division c is within a few ulps of the sum, which makes c - r
 * exact, and less than 2^-100 of r is the reciprocal's error. */
static inline double div_fmas_f64_of(double a, double b, double c, bool scaled) {
    const double r = fma(a, b, c);
    if (!scaled) return r;
    if (exponent(c) > 1023) return r * 0x1p128;
    const double down = r * 0x1p-128, lost = r - down * 0x1p128, left = fma(a, b, c - r);
    if (fabs(lost) != 0x1p-947 || fabs(left) <= fabs(r) * 0x1p-100) return down;
    return (left > 0) == (lost > 0) ? down + copysign(0x1p-1074, lost) : down;
}

static inline u64 div_fixup_f64_of(u64 a, u64 b, u64 c) {
    const u64 top = (u64)1 << 63, infinity = (u64)2047 << 52, sign = (b ^ c) & top;
    const int eb = (int)(b >> 52 & 2047), ec = (int)(c >> 52 & 2047);
    const bool zero_b = !(b & ~top), zero_c = !(c & ~top);
    if (sim_nan64(c)) return sim_quiet64(c);
    if (sim_nan64(b)) return sim_quiet64(b);
    if ((zero_b && zero_c) || (eb == 2047 && ec == 2047)) return (u64)0xfff8 << 48;
    if (zero_b || ec == 2047) return sign | infinity;
    if (eb == 2047 || zero_c || ec - eb < -1075) return sign;
    if (sim_nan64(a)) return sign | infinity;
    return (a & ~top) | sign;
}

/* 53 bits of 2 / pi from the one that `segment` and the exponent of v choose. */
static double trig_preop(u64 v, u32 segment) {
    static const u64 two_over_pi[19] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                                        0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                        0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                                        0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                                        0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
    const int e = (int)(v >> 52 & 2047);
    unsigned shift = (segment & 31) * 53;
    if (e > 1077) shift += (unsigned)e - 1077;
    u64 bits = 0;
    for (unsigned i = 0; i < 53; i++) {
        const unsigned at = shift + i;
        bits = bits << 1 | (at < 1201 ? two_over_pi[at / 64] >> (63 - at % 64) & 1 : 0);
    }
    return ldexp((double)bits, -53 - (int)shift + (e >= 1968 ? 128 : 0));
}

/* The sum of differences of `b`'s bytes and four of a's from `offset` on; masked: not where b's byte is 0. */
static inline u32 bytes_apart(u64 a, u32 b, unsigned offset, bool masked) {
    u32 sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        const i32 p = (i32)(a >> 8 * (offset + i) & 255), q = (i32)(b >> 8 * i & 255);
        if (!masked || q) sum += (u32)(p > q ? p - q : q - p);
    }
    return sum;
}
static inline u64 qsad(u64 a, u32 b, u64 c, bool masked) {
    u64 result = 0;
    for (unsigned i = 0; i < 4; i++) {
        result |= (u64)(u16)((u32)(c >> 16 * i & 0xffff) + bytes_apart(a, b, i, masked)) << 16 * i;
    }
    return result;
}

#define ROW SIM_ROW_FUNCTION
#define SAME(...)
#include "gfxsim/vector_64.def"
#undef ROW
#undef SAME

static void mqsad_u32(struct sim_lanes *x) {
    for (unsigned l = 0; l < x->n; l++) {
        const u64 a = x->s[0][0][l] | (u64)x->s[0][1][l] << 32;
        const u32 b = x->s[1][0][l];
        u32 sums[4];
        for (unsigned i = 0; i < 4; i++) sums[i] = x->s[2][i][l] + bytes_apart(a, b, i, true);
        for (unsigned i = 0; i < 4; i++) x->d[i][l] = sums[i];
    }
}

/* a * b + c of 64 bits, and its carry or overflow; what clamp makes of it. */
static void mad_u64(struct sim_lanes *x) {
    for (unsigned l = 0; l < x->n; l++) {
        const u64 product = (u64)x->s[0][0][l] * x->s[1][0][l], c = x->s[2][0][l] | (u64)x->s[2][1][l] << 32;
        const u64 sum = product + c;
        x->d[0][l] = (u32)sum;
        x->d[1][l] = (u32)(sum >> 32);
        x->carry |= (u64)(sum < c) << l;
    }
}
static void mad_u64_saturated(struct sim_lanes *x) {
    mad_u64(x);
    for (unsigned l = 0; l < x->n; l++) {
        if (x->carry >> l & 1) x->d[0][l] = x->d[1][l] = ~(u32)0;
    }
}
static bool mad_i64_of(const struct sim_lanes *x, unsigned l, i64 *sum) {
    const i64 c = (i64)(x->s[2][0][l] | (u64)x->s[2][1][l] << 32);
    return __builtin_add_overflow((i64)(i32)x->s[0][0][l] * (i32)x->s[1][0][l], c, sum);
}
/* The carry is bit 64 of the sum of both sign-extended: its sign where it overflows, else that of the result. */
static void mad_i64(struct sim_lanes *x) {
    for (unsigned l = 0; l < x->n; l++) {
        i64 sum;
        const bool over = mad_i64_of(x, l, &sum);
        x->d[0][l] = (u32)sum;
        x->d[1][l] = (u32)((u64)sum >> 32);
        x->carry |= (u64)((sum < 0) != over) << l;
    }
}
static void mad_i64_saturated(struct sim_lanes *x) {
    for (unsigned l = 0; l < x->n; l++) {
        i64 sum;
        const bool over = mad_i64_of(x, l, &sum);
        if (over) sum = sum < 0 ? INT64_MAX : INT64_MIN;
        x->d[0][l] = (u32)sum;
        x->d[1][l] = (u32)((u64)sum >> 32);
        x->carry |= (u64)(sum < 0) << l;
    }
}

#define WIDE(fn, name, targets, types)                                                                                 \
    {name,  targets,        SIM_CLASS_VALU,                                                                            \
     types, sim_vector_run, &(const struct sim_vector){fn, fn##_saturated, SIM_LOW_FIRST}},

const struct sim_op SIM_ISA(sim_vector_64)[] = {
#define ROW SIM_ROW_ENTRY
#define SAME SIM_SAME_ENTRY
#include "gfxsim/vector_64.def"
    /* clang-format off */
    SAME(div_scale_f64_row, "v_div_scale_f64", SIM_ALL, SIM_CLASS_VALU, SIM_DM_DDD, SIM_NO_FLUSH)
    SAME(mqsad_u32, "v_mqsad_u32_u8", SIM_ALL, SIM_CLASS_VALU, SIM_X_QUX, 0)
    WIDE(mad_u64, "v_mad_u64_u32", SIM_GFX9 | SIM_GFX10_11, SIM_LM_UUL)
    WIDE(mad_i64, "v_mad_i64_i32", SIM_GFX9 | SIM_GFX10_11, SIM_KM_IIK)
    WIDE(mad_u64, "v_mad_co_u64_u32", SIM_GFX1201, SIM_LM_UUL)
    WIDE(mad_i64, "v_mad_co_i64_i32", SIM_GFX1201, SIM_KM_IIK)
    /* clang-format on */
    {0}};
