/* f32: see vector_f32.def; and what needs more than a row: steps of a division, packed pairs, mixed sizes. */
#include "gfxsim/vector_math.h"

/* v_div_scale: a source of a division by 2^64 or its like, so that nothing on the way to the quotient of `n` / `d`
 * overflows or is denormal. *scaled: v_div_fmas has to undo it. Where the reciprocal and the quotient are both
 * denormal, the published text scales the denominator up, which would overflow; it is scaled down here, which
 * v_div_fmas undoes. */
static float div_scale_f32(float v, float d, float n, bool *scaled) {
    const int en = (int)(sim_bits_f32(n) >> 23 & 255), ed = (int)(sim_bits_f32(d) >> 23 & 255);
    const double quotient = fabs((double)n / d), reciprocal = fabs(1.0 / (double)d);
    const bool tiny_quotient = quotient < 0x1p-126, tiny_reciprocal = reciprocal < 0x1p-126 && ed != 255;
    *scaled = false;
    if (n == 0 || d == 0) return (float)NAN;
    if (en - ed >= 96) {
        *scaled = true;
        return v == d ? v * 0x1p64f : v;
    }
    if (ed == 0) return v * 0x1p64f;
    if (tiny_reciprocal && tiny_quotient) {
        *scaled = true;
        return v == d ? v * 0x1p-64f : v;
    }
    if (tiny_reciprocal) return v * 0x1p-64f;
    if (tiny_quotient) {
        *scaled = true;
        return v == n ? v * 0x1p64f : v;
    }
    return en <= 23 ? v * 0x1p64f : v;
}

static void div_scale_f32_row(struct sim_lanes *x) {
    for (unsigned l = 0; l < x->n; l++) {
        bool scaled;
        const float v = div_scale_f32(sim_f32(x->s[0][0][l]), sim_f32(x->s[1][0][l]), sim_f32(x->s[2][0][l]), &scaled);
        x->d[0][l] = sim_bits_f32(v);
        x->carry |= (u64)scaled << l;
    }
}

/* fma, and with `scaled` times 2^64 or 2^-64, whichever undoes v_div_scale, rounded once: see v_div_fmas_f64. */
static inline float sim_div_fmas_f32(float a, float b, float c, bool scaled) {
    const float r = fmaf(a, b, c);
    if (!scaled) return r;
    if ((sim_bits_f32(c) >> 23 & 255) > 127) return r * 0x1p64f;
    const float down = r * 0x1p-64f;
    const double lost = (double)r - (double)down * 0x1p64, left = (double)a * b + ((double)c - r);
    if (fabs(lost) != 0x1p-86 || fabs(left) <= fabs((double)r) * 0x1p-46) return down;
    return (left > 0) == (lost > 0) ? down + (float)copysign(0x1p-149, lost) : down;
}

/* The quotient a of c / b, or what the special cases say. */
static inline float sim_div_fixup_f32(float a, float b, float c) {
    const u32 sign = (sim_bits_f32(b) ^ sim_bits_f32(c)) & 0x80000000;
    const int eb = (int)(sim_bits_f32(b) >> 23 & 255), ec = (int)(sim_bits_f32(c) >> 23 & 255);
    if (c != c) return sim_quiet(c);
    if (b != b) return sim_quiet(b);
    if ((b == 0 && c == 0) || (eb == 255 && ec == 255)) return sim_f32(0xffc00000);
    if (b == 0 || ec == 255) return sim_f32(sign | 0x7f800000);
    if (eb == 255 || c == 0 || ec - eb < -150) return sim_f32(sign);
    if (a != a) return sim_f32(sign | 0x7f800000);
    return sim_f32((sim_bits_f32(a) & 0x7fffffff) | sign);
}

#define ROW SIM_ROW_FUNCTION
#define SAME(...)
#include "gfxsim/vector_f32.def"
#undef ROW
#undef SAME

SIM_OP32(mix_f32, fmaf(a, b, c))
SIM_OP32_TO_HALF(mix_f16, fmaf(a, b, c))
static void widen(struct sim_lanes *x) {
    float row[64];
    sim_widen_row(x->n, row, x->s[0][0]);
    for (unsigned l = 0; l < x->n; l++) x->d[0][l] = sim_bits_f32(row[l]);
}

#define PACKED(fn, name, types)                                                                                        \
    {name, SIM_GFX9, SIM_CLASS_VALU, types, sim_vector_packed32, &(const struct sim_vector){fn, NULL, 0}},
#define MIX(fn, name, types, flags)                                                                                    \
    {name, SIM_ALL, SIM_CLASS_VALU, types, sim_vector_mix, &(const struct sim_vector){fn, widen, flags}},

const struct sim_op SIM_ISA(sim_vector_f32)[] = {
#define ROW SIM_ROW_ENTRY
#define SAME SIM_SAME_ENTRY
#include "gfxsim/vector_f32.def"
    /* clang-format off */
    SAME(div_scale_f32_row, "v_div_scale_f32", SIM_ALL, SIM_CLASS_VALU, SIM_FM_FFF, SIM_NO_FLUSH)
    PACKED(add_f32, "v_pk_add_f32", SIM_T_TT)
    PACKED(mul_f32, "v_pk_mul_f32", SIM_T_TT)
    PACKED(fma_f32, "v_pk_fma_f32", SIM_T_TTT)
    MIX(mix_f32, "v_fma_mix_f32", SIM_F_FFF, 0)
    MIX(mix_f16, "v_fma_mixlo_f16", SIM_H_FFF, 0)
    MIX(mix_f16, "v_fma_mixhi_f16", SIM_H_FFF, SIM_WHOLE)
    /* clang-format on */
    {0}};
