/* Halves: see vector_16.def; the packed instructions are the same functions on both halves. */
#include "gfxsim/vector_math.h"

static inline u16 saturate_u16(i64 v) { return v > 0xffff ? 0xffff : v < 0 ? 0 : (u16)v; }
static inline i16 saturate_i16(i64 v) { return v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : (i16)v; }
static inline i32 low(i32 a, i32 b) { return a < b ? a : b; }
static inline i32 high(i32 a, i32 b) { return a > b ? a : b; }

/* f16 by its bits: in the order of `rank` numbers ascend, and -0 is below +0. */
static inline bool is_nan(u32 v) { return (v & 0x7fff) > 0x7c00; }
static inline bool signals(u32 v) { return is_nan(v) && !(v & 0x200); }
static inline u32 quieted(u32 v) { return is_nan(v) ? (v & 0xffff) | 0x200 : v & 0xffff; }
static inline u32 rank(u32 v) { return (v & 0x8000 ? ~v : v | 0x8000) & 0xffff; }

static inline u32 other_than_nan(u32 a, u32 b, u32 r, bool ieee) {
    r = is_nan(b) ? a : r;
    r = is_nan(a) ? b : r;
    r = ieee && signals(b) ? b | 0x200 : r;
    r = ieee && signals(a) ? a | 0x200 : r;
    return r & 0xffff;
}
static inline u32 lesser(u32 a, u32 b, bool ieee) { return other_than_nan(a, b, rank(a) < rank(b) ? a : b, ieee); }
static inline u32 greater(u32 a, u32 b, bool ieee) { return other_than_nan(a, b, rank(a) > rank(b) ? a : b, ieee); }
static inline u32 median(u32 a, u32 b, u32 c, bool ieee) {
    const u32 least = lesser(lesser(a, b, ieee), c, ieee);
    const u32 middle = greater(lesser(a, b, ieee), lesser(greater(a, b, ieee), c, ieee), ieee);
    return is_nan(a) || is_nan(b) || is_nan(c) ? least : middle;
}
static inline u32 nan_first(u32 a, u32 b, u32 r) {
    r = is_nan(b) ? b | 0x200 : r;
    r = is_nan(a) && !(signals(b) && !signals(a)) ? a | 0x200 : r;
    return r & 0xffff;
}
static inline u32 minimum(u32 a, u32 b) { return nan_first(a, b, rank(a) < rank(b) ? a : b); }
static inline u32 maximum(u32 a, u32 b) { return nan_first(a, b, rank(a) > rank(b) ? a : b); }

static inline float fraction_half(float v) {
    const float f = v - floorf(v);
    return f > 0x1.ffcp-1f ? 0x1.ffcp-1f : f;
}

static inline u32 div_fixup_half(u32 a, u32 b, u32 c) {
    const u32 sign = (b ^ c) & 0x8000;
    const bool zero_b = !(b & 0x7fff), zero_c = !(c & 0x7fff), inf_b = (b & 0x7fff) == 0x7c00,
               inf_c = (c & 0x7fff) == 0x7c00;
    if (is_nan(c)) return quieted(c);
    if (is_nan(b)) return quieted(b);
    if ((zero_b && zero_c) || (inf_b && inf_c)) return 0xfe00;
    if (zero_b || inf_c) return sign | 0x7c00;
    if (inf_b || zero_c) return sign;
    return (a & 0x7fff) | sign;
}

#define ROW SIM_ROW_FUNCTION
#define SAT SIM_SAT_FUNCTION
#define SAME(...)
#include "gfxsim/vector_16.def"
#undef ROW
#undef SAT
#undef SAME

#define PACKED(fn, saturate, name, targets, types, flags)                                                              \
    {name, targets, SIM_CLASS_VALU, types, sim_vector_packed, &(const struct sim_vector){fn, saturate, flags}},

const struct sim_op SIM_ISA(sim_vector_16)[] = {
#define ROW SIM_ROW_ENTRY
#define SAT SIM_SAT_ENTRY
#define SAME SIM_SAME_ENTRY
#include "gfxsim/vector_16.def"
    /* clang-format off */
    PACKED(mad_i16, mad_i16_saturated, "v_pk_mad_i16", SIM_ALL, SIM_G_GGG, 0)
    PACKED(mad_u16, mad_u16_saturated, "v_pk_mad_u16", SIM_ALL, SIM_G_GGG, 0)
    PACKED(mul_lo_u16, NULL, "v_pk_mul_lo_u16", SIM_ALL, SIM_G_GG, 0)
    PACKED(add_i16, add_i16_saturated, "v_pk_add_i16", SIM_ALL, SIM_G_GG, 0)
    PACKED(sub_i16, sub_i16_saturated, "v_pk_sub_i16", SIM_ALL, SIM_G_GG, 0)
    PACKED(add_u16, add_u16_saturated, "v_pk_add_u16", SIM_ALL, SIM_G_GG, 0)
    PACKED(sub_u16, sub_u16_saturated, "v_pk_sub_u16", SIM_ALL, SIM_G_GG, 0)
    PACKED(lshlrev_b16, NULL, "v_pk_lshlrev_b16", SIM_ALL, SIM_G_GG, 0)
    PACKED(lshrrev_b16, NULL, "v_pk_lshrrev_b16", SIM_ALL, SIM_G_GG, 0)
    PACKED(ashrrev_i16, NULL, "v_pk_ashrrev_i16", SIM_ALL, SIM_G_GG, 0)
    PACKED(max_i16, NULL, "v_pk_max_i16", SIM_ALL, SIM_G_GG, 0)
    PACKED(min_i16, NULL, "v_pk_min_i16", SIM_ALL, SIM_G_GG, 0)
    PACKED(max_u16, NULL, "v_pk_max_u16", SIM_ALL, SIM_G_GG, 0)
    PACKED(min_u16, NULL, "v_pk_min_u16", SIM_ALL, SIM_G_GG, 0)
    PACKED(fma_f16, NULL, "v_pk_fma_f16", SIM_ALL, SIM_P_PPP, 0)
    PACKED(fma_f16, NULL, "v_pk_fmac_f16", SIM_ALL, SIM_P_PP, SIM_READS_DST | SIM_WHOLE)
    PACKED(add_f16, NULL, "v_pk_add_f16", SIM_ALL, SIM_P_PP, 0)
    PACKED(mul_f16, NULL, "v_pk_mul_f16", SIM_ALL, SIM_P_PP, 0)
    PACKED(min_f16, NULL, "v_pk_min_f16", SIM_GFX9 | SIM_GFX10_11, SIM_P_PP, 0)
    PACKED(max_f16, NULL, "v_pk_max_f16", SIM_GFX9 | SIM_GFX10_11, SIM_P_PP, 0)
    PACKED(min_num_f16, NULL, "v_pk_min_num_f16", SIM_GFX1201, SIM_P_PP, 0)
    PACKED(max_num_f16, NULL, "v_pk_max_num_f16", SIM_GFX1201, SIM_P_PP, 0)
    PACKED(minimum_f16, NULL, "v_pk_minimum_f16", SIM_GFX1201, SIM_P_PP, 0)
    PACKED(maximum_f16, NULL, "v_pk_maximum_f16", SIM_GFX1201, SIM_P_PP, 0)
    /* clang-format on */
    {0}};
