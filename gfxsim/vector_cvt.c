/* Conversions: see vector_cvt.def; and those of 8-bit floats. */
#include "gfxsim/vector_math.h"

static inline u32 truncated_half(float v) {
    const u32 bits = sim_bits_f32(v), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff;
    const u32 normal = (a + 0xc8000000) >> 13;
    const u32 denormal = (u32)(i32)(a < 0x38800000 ? sim_f32(a) * 0x1p24f : 0);
    const u32 special = a > 0x7f800000 ? 0x7e00 | (a >> 13 & 0x3ff) : a == 0x7f800000 ? 0x7c00 : 0x7bff;
    return sign | (a >= 0x47800000 ? special : a >= 0x38800000 ? normal : denormal);
}

static inline u32 snorm16(float v) {
    const float within = v > -1 ? (v < 1 ? v : 1) : -1;
    return v != v ? 0 : (u32)(i32)rint(within * 32767.0) & 0xffff;
}
static inline u32 unorm16(float v) {
    const float within = v > 0 ? (v < 1 ? v : 1) : 0;
    return (u32)(i32)rint(within * 65535.0);
}
static inline u32 within_i16(i32 v) {
    return (u32)(v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v) & 0xffff;
}
static inline u32 within_u8(i32 v) { return (u32)(v > 255 ? 255 : v < 0 ? 0 : v); }
static inline u32 byte_into(float v, u32 at, u32 old) {
    const float within = v > 0 ? (v < 255 ? v : 255) : 0;
    return (old & ~((u32)255 << 8 * at)) | (u32)(i32)within << 8 * at;
}

#define ROW SIM_ROW_FUNCTION
#define SAME(...)
#include "gfxsim/vector_cvt.def"
#undef ROW
#undef SAME

/* ---- floats of 8 bits ----
 *
 * fp8 has 4 bits of exponent and 3 of fraction, bf8 5 and 2. gfx942's have one zero, no infinities, one NaN (0x80) and
 * a bias greater by one than the OCP ones of gfx12: there fp8 has no infinities and NaNs of all ones, bf8 is as IEEE.
 */
struct small {
    unsigned fraction; /* bits */
    int bias;
    bool fnuz, infinities;
};

static struct small format(enum sim_target target, bool bf8) {
    const bool fnuz = target == SIM_GFX942;
    return (struct small){bf8 ? 2 : 3, (bf8 ? 15 : 7) + fnuz, fnuz, bf8 && !fnuz};
}

static float widen_small(u32 v, struct small f) {
    const u32 sign = (v & 0x80) << 24, em = v & 0x7f, fraction = em & ((1u << f.fraction) - 1);
    const int exponent = (int)(em >> f.fraction), top = (int)(0x7fu >> f.fraction);
    if (f.fnuz && v == 0x80) return sim_f32(0x7fc00000);
    if (f.infinities && exponent == top) return sim_f32(sign | 0x7f800000 | (fraction ? 0x400000u : 0u));
    if (!f.fnuz && !f.infinities && em == 0x7f) return sim_f32(sign | 0x7fc00000);
    const float value = exponent ? ldexpf((float)(fraction | 1u << f.fraction), exponent - f.bias - (int)f.fraction)
                                 : ldexpf((float)fraction, 1 - f.bias - (int)f.fraction);
    return sim_f32(sim_bits_f32(value) | sign);
}

/* To nearest, ties to even; or with `random`, 32 bits of it, up or down with the probability of what is cut off. Beyond
 * the greatest number: NaN or infinity, with MODE's FP16_OVFL (bit 23) the greatest number. */
static u32 narrow_small(float v, struct small f, bool stochastic, u32 random, u32 mode) {
    const u32 sign = sim_bits_f32(v) >> 24 & 0x80, top = 0x7fu >> f.fraction;
    const u32 nan = f.fnuz ? 0x80 : sign | 0x7f;
    const u32 greatest = f.infinities ? ((top - 1) << f.fraction | ((1u << f.fraction) - 1)) : f.fnuz ? 0x7f : 0x7e;
    const u32 over = mode >> 23 & 1 ? sign | greatest : f.infinities ? sign | top << f.fraction : nan;
    if (v != v) return nan;
    if (v - v != 0) return f.infinities ? sign | top << f.fraction : nan;
    if (v == 0) return f.fnuz ? 0 : sign;
    int e;
    frexp((double)v, &e);
    const int least = 1 - f.bias;
    const int unit = (e - 1 > least ? e - 1 : least) - (int)f.fraction; /* exponent of the last place */
    const double scaled = ldexp(fabs((double)v), -unit), whole = floor(scaled), rest = scaled - whole;
    double rounded = whole;
    if (stochastic)
        rounded += rest + (random >> 8) * 0x1p-24 >= 1;
    else
        rounded += rest > 0.5 || (rest == 0.5 && fmod(whole, 2) == 1);
    /* Numbers of one sign are consecutive in their bits, so that a carry goes into the exponent. */
    const u32 hidden = 1u << f.fraction;
    const u32 bits = e - 1 >= least ? ((u32)(e - 1 + f.bias) << f.fraction) + (u32)rounded - hidden : (u32)rounded;
    if (bits > greatest) return over;
    return bits == 0 && f.fnuz ? 0 : sign | bits;
}

static void widen_row(struct sim_lanes *x, bool bf8) {
    const struct small f = format(x->target, bf8);
    for (unsigned l = 0; l < x->n; l++)
        x->d[0][l] = sim_bits_f32(widen_small(x->s[0][0][l] >> 8 * x->byte_sel & 255, f));
}
static void cvt_f32_fp8(struct sim_lanes *x) { widen_row(x, false); }
static void cvt_f32_bf8(struct sim_lanes *x) { widen_row(x, true); }

static void widen_pair(struct sim_lanes *x, bool bf8) {
    const struct small f = format(x->target, bf8);
    for (unsigned l = 0; l < x->n; l++) {
        const u32 pair = x->s[0][0][l] >> (x->op_sel & 1 ? 16 : 0);
        x->d[0][l] = sim_bits_f32(widen_small(pair & 255, f));
        x->d[1][l] = sim_bits_f32(widen_small(pair >> 8 & 255, f));
    }
}
static void cvt_pk_f32_fp8(struct sim_lanes *x) { widen_pair(x, false); }
static void cvt_pk_f32_bf8(struct sim_lanes *x) { widen_pair(x, true); }

/* Two into a half of the old result. */
static void narrow_pair(struct sim_lanes *x, bool bf8) {
    const struct small f = format(x->target, bf8);
    const unsigned shift = x->op_sel & 4 ? 16 : 0;
    for (unsigned l = 0; l < x->n; l++) {
        const u32 low = narrow_small(sim_f32(x->s[0][0][l]), f, false, 0, x->mode);
        const u32 high = narrow_small(sim_f32(x->s[1][0][l]), f, false, 0, x->mode);
        x->d[0][l] = (x->s[2][0][l] & ~((u32)0xffff << shift)) | (low | high << 8) << shift;
    }
}
static void cvt_pk_fp8_f32(struct sim_lanes *x) { narrow_pair(x, false); }
static void cvt_pk_bf8_f32(struct sim_lanes *x) { narrow_pair(x, true); }

/* One, rounded by the second source's random bits, into a byte of the old result. */
static void narrow_random(struct sim_lanes *x, bool bf8) {
    const struct small f = format(x->target, bf8);
    const unsigned shift = 8u * (x->target == SIM_GFX942 ? x->op_sel >> 2 & 3 : x->byte_sel);
    for (unsigned l = 0; l < x->n; l++) {
        const u32 byte = narrow_small(sim_f32(x->s[0][0][l]), f, true, x->s[1][0][l], x->mode);
        x->d[0][l] = (x->s[2][0][l] & ~((u32)0xff << shift)) | byte << shift;
    }
}
static void cvt_sr_fp8_f32(struct sim_lanes *x) { narrow_random(x, false); }
static void cvt_sr_bf8_f32(struct sim_lanes *x) { narrow_random(x, true); }

const struct sim_op SIM_ISA(sim_vector_cvt)[] = {
#define ROW SIM_ROW_ENTRY
#define SAME SIM_SAME_ENTRY
#include "gfxsim/vector_cvt.def"
    /* clang-format off */
    SAME(cvt_f32_fp8, "v_cvt_f32_fp8", SIM_GFX942 | SIM_GFX1201, SIM_CLASS_VALU, SIM_F_B, 0)
    SAME(cvt_f32_bf8, "v_cvt_f32_bf8", SIM_GFX942 | SIM_GFX1201, SIM_CLASS_VALU, SIM_F_B, 0)
    SAME(cvt_pk_f32_fp8, "v_cvt_pk_f32_fp8", SIM_GFX942 | SIM_GFX1201, SIM_CLASS_VALU, SIM_T_B, 0)
    SAME(cvt_pk_f32_bf8, "v_cvt_pk_f32_bf8", SIM_GFX942 | SIM_GFX1201, SIM_CLASS_VALU, SIM_T_B, 0)
    SAME(cvt_pk_fp8_f32, "v_cvt_pk_fp8_f32", SIM_GFX942 | SIM_GFX1201, SIM_CLASS_VALU, SIM_B_FF, SIM_READS_DST)
    SAME(cvt_pk_bf8_f32, "v_cvt_pk_bf8_f32", SIM_GFX942 | SIM_GFX1201, SIM_CLASS_VALU, SIM_B_FF, SIM_READS_DST)
    SAME(cvt_sr_fp8_f32, "v_cvt_sr_fp8_f32", SIM_GFX942 | SIM_GFX1201, SIM_CLASS_VALU, SIM_B_FB, SIM_READS_DST)
    SAME(cvt_sr_bf8_f32, "v_cvt_sr_bf8_f32", SIM_GFX942 | SIM_GFX1201, SIM_CLASS_VALU, SIM_B_FB, SIM_READS_DST)
    /* clang-format on */
    {0}};
