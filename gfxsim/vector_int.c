/* Integers: see vector_int.def; and carries, selection. */
#include "gfxsim/vector_math.h"

static inline i32 i24(u32 v) { return (i32)(v << 8) >> 8; }
static inline u32 u24(u32 v) { return v & 0xffffff; }
static inline i32 saturate_i32(i64 v) { return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (i32)v; }
static inline u32 saturate_u32(u64 v) { return v > UINT32_MAX ? UINT32_MAX : (u32)v; }
static inline i32 low_i32(i32 a, i32 b) { return a < b ? a : b; }
static inline i32 high_i32(i32 a, i32 b) { return a > b ? a : b; }
static inline u32 low_u32(u32 a, u32 b) { return a < b ? a : b; }
static inline u32 high_u32(u32 a, u32 b) { return a > b ? a : b; }
static inline u32 leading(u32 v) { return v ? (u32)__builtin_clz(v) : ~(u32)0; }
static inline u32 trailing(u32 v) { return v ? (u32)__builtin_ctz(v) : ~(u32)0; }

static inline u32 ones(u32 v) {
    v -= v >> 1 & 0x55555555;
    v = (v & 0x33333333) + (v >> 2 & 0x33333333);
    return ((v + (v >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

static inline u32 reversed(u32 v) {
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    v = (v >> 8 & 0x00ff00ff) | (v & 0x00ff00ff) << 8;
    return v >> 16 | v << 16;
}

static inline i32 bfe_i32_of(i32 v, u32 offset, u32 width) {
    const u32 drop = (32 - width) & 31;
    const i32 field = (i32)((u32)(v >> offset) << drop) >> drop;
    return width ? field : 0;
}

/* Bytes of `data` by each byte of `select`: 0 to 7 a byte, 8 to 11 the sign of bytes 1, 3, 5, 7, 12 zero, above that
 * ones. */
static inline u32 permuted(u64 data, u32 select) {
    u32 result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const u32 s = select >> 8 * i & 255;
        const u32 byte = (u32)(data >> 8 * (s & 7)) & 255;
        const u32 sign = data >> (16 * (s & 3) + 15) & 1 ? 255 : 0;
        result |= (s < 8 ? byte : s < 12 ? sign : s == 12 ? 0 : 255) << 8 * i;
    }
    return result;
}

static inline u32 lerp(u32 a, u32 b, u32 c) {
    u32 result = 0;
    for (unsigned i = 0; i < 32; i += 8) result |= ((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) >> 1 << i;
    return result;
}

static inline u32 apart(u32 a, u32 b) { return a > b ? a - b : b - a; }
static inline u32 sad16(u32 a, u32 b) { return apart(a & 0xffff, b & 0xffff) + apart(a >> 16, b >> 16); }
static inline u32 sad8(u32 a, u32 b) {
    u32 sum = 0;
    for (unsigned i = 0; i < 32; i += 8) sum += apart(a >> i & 255, b >> i & 255);
    return sum;
}
/* Where b's byte is 0 nothing is added. */
static inline u32 msad8(u32 a, u32 b) {
    u32 sum = 0;
    for (unsigned i = 0; i < 32; i += 8) sum += b >> i & 255 ? apart(a >> i & 255, b >> i & 255) : 0;
    return sum;
}

#define ROW SIM_ROW_FUNCTION
#define SAT SIM_SAT_FUNCTION
#define SAME(...)
#include "gfxsim/vector_int.def"
#undef ROW
#undef SAT
#undef SAME

/* Sums with a carry of a bit a lane in x->bits and out to x->carry; `reads` says whether one comes in. */
#define CARRY(id, reads, sum, overflow)                                                                                \
    static void id(struct sim_lanes *x) {                                                                              \
        const u32 *p = x->s[0][0], *q = x->s[1][0];                                                                    \
        u32 *d = x->d[0], carries[64];                                                                                 \
        for (unsigned first = 0; first < x->n; first += 32) {                                                          \
            const u32 in = reads ? (u32)(x->bits >> first) : 0;                                                        \
            SIM_EACH_ALONE for (unsigned l = first; l < first + 32; l++) {                                             \
                const u32 a = p[l], b = q[l], c = in >> (l - first) & 1;                                               \
                d[l] = sum;                                                                                            \
                carries[l] = (overflow) ? ~(u32)0 : 0;                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        x->carry = sim_row_bits(x->n, carries);                                                                        \
    }
CARRY(add_co, false, a + b + c, a + b < a)
CARRY(sub_co, false, a - b - c, a < b)
CARRY(subrev_co, false, b - a - c, b < a)
CARRY(addc_co, true, a + b + c, a + b < a || a + b + c < c)
CARRY(subb_co, true, a - b - c, a < b || a - b < c)
CARRY(subbrev_co, true, b - a - c, b < a || b - a < c)

static void cndmask(struct sim_lanes *x) {
    const u32 *p = x->s[0][0], *q = x->s[1][0];
    u32 *d = x->d[0];
    for (unsigned first = 0; first < x->n; first += 32) {
        const u32 bits = (u32)(x->bits >> first);
        SIM_EACH_ALONE for (unsigned l = first; l < first + 32; l++) d[l] = bits & (u32)1 << (l - first) ? q[l] : p[l];
    }
}

const struct sim_op SIM_ISA(sim_vector_int)[] = {
#define ROW SIM_ROW_ENTRY
#define SAT SIM_SAT_ENTRY
#define SAME SIM_SAME_ENTRY
#include "gfxsim/vector_int.def"
    /* clang-format off */
    SAME(add_co, "v_add_co_u32", SIM_ALL, SIM_CLASS_VALU, SIM_UM_UU, 0)
    SAME(sub_co, "v_sub_co_u32", SIM_ALL, SIM_CLASS_VALU, SIM_UM_UU, 0)
    SAME(subrev_co, "v_subrev_co_u32", SIM_ALL, SIM_CLASS_VALU, SIM_UM_UU, 0)
    SAME(addc_co, "v_addc_co_u32", SIM_GFX9, SIM_CLASS_VALU, SIM_UM_UUM, 0)
    SAME(subb_co, "v_subb_co_u32", SIM_GFX9, SIM_CLASS_VALU, SIM_UM_UUM, 0)
    SAME(subbrev_co, "v_subbrev_co_u32", SIM_GFX9, SIM_CLASS_VALU, SIM_UM_UUM, 0)
    SAME(addc_co, "v_add_co_ci_u32", SIM_GFX10UP, SIM_CLASS_VALU, SIM_UM_UUM, 0)
    SAME(subb_co, "v_sub_co_ci_u32", SIM_GFX10UP, SIM_CLASS_VALU, SIM_UM_UUM, 0)
    SAME(subbrev_co, "v_subrev_co_ci_u32", SIM_GFX10UP, SIM_CLASS_VALU, SIM_UM_UUM, 0)
    SAME(cndmask, "v_cndmask_b32", SIM_ALL, SIM_CLASS_VALU, SIM_B_BBM, SIM_CHOOSES)
    SAME(cndmask, "v_cndmask_b16", SIM_GFX11_12, SIM_CLASS_VALU, SIM_W_WWM, SIM_CHOOSES)
    /* clang-format on */
    {0}};
