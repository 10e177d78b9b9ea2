/* Scalar integers and bits. */
#include "scalar.h"

#define RUN(name) void sim_scalar_##name(struct sim_wave *wave, const struct sim_inst *inst)

/* ---- the shapes of instructions ---- */
/* The expressions read a, b, c (SCC as it was) and d (the result). A result is known when all sources are.
 * What is `also` done sees all of that and whether the result is known. */

#define UNARY(name, from, to, expression, also)                                                                        \
    RUN(name) {                                                                                                        \
        u##from known, a = sim_get##from(wave, &inst->src[0], &known);                                                 \
        u##to d = (u##to)(expression);                                                                                 \
        bool all = known == ALL##from;                                                                                 \
        PUT##to(d, all);                                                                                               \
        also                                                                                                           \
    }

#define BINARY(name, left, right, to, expression, also)                                                                \
    RUN(name) {                                                                                                        \
        u##left known_a, a = sim_get##left(wave, &inst->src[0], &known_a);                                             \
        u##right known_b, b = sim_get##right(wave, &inst->src[1], &known_b);                                           \
        bool c = wave->scc;                                                                                            \
        (void)c;                                                                                                       \
        u##to d = (u##to)(expression);                                                                                 \
        bool all = known_a == ALL##left && known_b == ALL##right;                                                      \
        PUT##to(d, all);                                                                                               \
        also                                                                                                           \
    }

/* What is known of each bit of a and b, of a or b, when `known_a` and `known_b` are of them: a known 0 or 1 decides. */
static u64 known_of_and(u64 a, u64 known_a, u64 b, u64 known_b) {
    return (known_a & known_b) | (known_a & ~a) | (known_b & ~b);
}
static u64 known_of_or(u64 a, u64 known_a, u64 b, u64 known_b) {
    return (known_a & known_b) | (known_a & a) | (known_b & b);
}

/* Bit by bit. SCC is known once one bit is a known 1. */
#define BITWISE(name, expression, known_bits)                                                                          \
    RUN(name##32) {                                                                                                    \
        u32 known_a, a = sim_get32(wave, &inst->src[0], &known_a);                                                     \
        u32 known_b, b = sim_get32(wave, &inst->src[1], &known_b);                                                     \
        u32 d = expression, known = (u32)(known_bits);                                                                 \
        sim_scalar_put(wave, &inst->dst[0], 0, d, known);                                                              \
        sim_put_scc(wave, d != 0, known == ALL32 || d & known);                                                        \
    }                                                                                                                  \
    RUN(name##64) {                                                                                                    \
        u64 known_a, a = sim_get64(wave, &inst->src[0], &known_a);                                                     \
        u64 known_b, b = sim_get64(wave, &inst->src[1], &known_b);                                                     \
        u64 d = expression, known = known_bits;                                                                        \
        sim_put64(wave, &inst->dst[0], d, known);                                                                      \
        sim_put_scc(wave, d != 0, known == ALL64 || d & known);                                                        \
    }

#define COMPARE(name, bits, expression)                                                                                \
    RUN(name) {                                                                                                        \
        u##bits known_a, a = sim_get##bits(wave, &inst->src[0], &known_a);                                             \
        u##bits known_b, b = sim_get##bits(wave, &inst->src[1], &known_b);                                             \
        sim_put_scc(wave, expression, (known_a & known_b) == ALL##bits);                                               \
    }

/* Against 16 bits of the instruction. */
#define COMPARE_K(name, type, narrow, operator)                                                                        \
    RUN(name) {                                                                                                        \
        u32 known;                                                                                                     \
        type a = (type)sim_get32(wave, &inst->src[0], &known);                                                         \
        sim_put_scc(wave, a operator(type)(narrow) inst->src[1].integer, known == ALL32);                              \
    }

#define PUT32(value, is_known) sim_scalar_write(wave, &inst->dst[0], 0, value, is_known)
#define PUT64(value, is_known) sim_scalar_write64(wave, &inst->dst[0], value, is_known)
#define SCC(condition) sim_put_scc(wave, condition, all);
#define KEEP_SCC
#define SCC_NOT_ZERO SCC(d != 0)

/* ---- moves ---- */

RUN(mov32) {
    u32 known, value = sim_get32(wave, &inst->src[0], &known);
    sim_scalar_put(wave, &inst->dst[0], 0, value, known);
}
RUN(mov64) {
    u64 known, value = sim_get64(wave, &inst->src[0], &known);
    sim_put64(wave, &inst->dst[0], value, known);
}
/* An unknown SCC leaves an unknown result, moved or not. */
RUN(cmov32) {
    u32 known, old, value = sim_get32(wave, &inst->src[0], &known), before = sim_get32(wave, &inst->dst[0], &old);
    sim_scalar_put(wave, &inst->dst[0], 0, wave->scc ? value : before,
                   wave->scc_defined ? (wave->scc ? known : old) : 0);
}
RUN(cmov64) {
    u64 known, old, value = sim_get64(wave, &inst->src[0], &known), before = sim_get64(wave, &inst->dst[0], &old);
    sim_put64(wave, &inst->dst[0], wave->scc ? value : before, wave->scc_defined ? (wave->scc ? known : old) : 0);
}
RUN(movk) { PUT32((u32)(i16)inst->src[0].integer, true); }
RUN(cmovk) {
    u32 old, before = sim_get32(wave, &inst->dst[0], &old);
    sim_scalar_put(wave, &inst->dst[0], 0, wave->scc ? (u32)(i16)inst->src[0].integer : before,
                   wave->scc_defined ? (wave->scc ? ALL32 : old) : 0);
}
RUN(cselect32) {
    u32 known_a, known_b;
    u32 a = sim_get32(wave, &inst->src[0], &known_a), b = sim_get32(wave, &inst->src[1], &known_b);
    sim_scalar_put(wave, &inst->dst[0], 0, wave->scc ? a : b, wave->scc_defined ? (wave->scc ? known_a : known_b) : 0);
}
RUN(cselect64) {
    u64 known_a, known_b;
    u64 a = sim_get64(wave, &inst->src[0], &known_a), b = sim_get64(wave, &inst->src[1], &known_b);
    sim_put64(wave, &inst->dst[0], wave->scc ? a : b, wave->scc_defined ? (wave->scc ? known_a : known_b) : 0);
}

/* Registers whose number M0 is added to. */
static unsigned relative(struct sim_wave *wave, const struct sim_operand *operand, u32 distance) {
    if (wave->s_known[SIM_M0] != ALL32 && sim_settings.check)
        sim_fail(wave, -1, 719, "M0, which selects a register, was never written");
    u32 index = operand->index + distance;
    if (operand->kind != SIM_SGPR || index + operand->count > SIM_VCC)
        sim_fail(wave, -1, 719, "M0 selects s%u, which there is not", index);
    return index;
}
static void move_relative(struct sim_wave *wave, const struct sim_inst *inst, u32 of_source, u32 of_destination) {
    struct sim_operand source = inst->src[0], destination = inst->dst[0];
    if (of_source != UINT32_MAX) source.index = (u16)relative(wave, &source, of_source);
    if (of_destination != UINT32_MAX) destination.index = (u16)relative(wave, &destination, of_destination);
    for (unsigned n = 0; n < (destination.count ? destination.count : 1u); n++) {
        sim_scalar_put(wave, &destination, n, sim_scalar_read(wave, &source, n), sim_scalar_known(wave, &source, n));
    }
}
RUN(movrels32) { move_relative(wave, inst, wave->s[SIM_M0], UINT32_MAX); }
RUN(movrels64) { move_relative(wave, inst, wave->s[SIM_M0], UINT32_MAX); }
RUN(movreld32) { move_relative(wave, inst, UINT32_MAX, wave->s[SIM_M0]); }
RUN(movreld64) { move_relative(wave, inst, UINT32_MAX, wave->s[SIM_M0]); }
RUN(movrelsd2) { move_relative(wave, inst, wave->s[SIM_M0] & 0x3ff, wave->s[SIM_M0] >> 16 & 0x3ff); }

/* ---- one source ---- */

static u64 reversed(u64 a) {
    a = (a >> 1 & 0x5555555555555555u) | (a & 0x5555555555555555u) << 1;
    a = (a >> 2 & 0x3333333333333333u) | (a & 0x3333333333333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0f0f0f0f0fu) | (a & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(a);
}
/* Bit 4 i says whether any of bits 4 i to 4 i + 3 is set. */
static u64 quads(u64 a) {
    a |= a >> 1;
    a |= a >> 2;
    return a & 0x1111111111111111u;
}
static u64 packed_quads(u64 a) {
    u64 any = quads(a), d = 0;
    for (unsigned i = 0; i < 16; i++) d |= (any >> (4 * i) & 1) << i;
    return d;
}
static u64 doubled_bits(u32 a) {
    u64 d = 0;
    for (unsigned i = 0; i < 32; i++)
        if (a >> i & 1) d |= (u64)3 << (2 * i);
    return d;
}
/* The place of the first bit from one end, or -1. */
static int first_from_below(u64 a) { return a ? __builtin_ctzll(a) : -1; }
static int first_from_above(u64 a, int bits) { return a ? __builtin_clzll(a) - (64 - bits) : -1; }

UNARY(not32, 32, 32, ~a, SCC_NOT_ZERO)
RUN(not64) {
    u64 known, d = ~sim_get64(wave, &inst->src[0], &known);
    sim_put64(wave, &inst->dst[0], d, known);
    sim_put_scc(wave, d != 0, known == ALL64 || d & known);
}
UNARY(wqm32, 32, 32, quads(a) * 15, SCC_NOT_ZERO)
UNARY(wqm64, 64, 64, quads(a) * 15, SCC_NOT_ZERO)
UNARY(quadmask32, 32, 32, packed_quads(a), SCC_NOT_ZERO)
UNARY(quadmask64, 64, 64, packed_quads(a), SCC_NOT_ZERO)
UNARY(brev32, 32, 32, reversed(a) >> 32, KEEP_SCC)
UNARY(brev64, 64, 64, reversed(a), KEEP_SCC)
UNARY(bcnt0_32, 32, 32, 32 - __builtin_popcountll(a), SCC_NOT_ZERO)
UNARY(bcnt0_64, 64, 32, 64 - __builtin_popcountll(a), SCC_NOT_ZERO)
UNARY(bcnt1_32, 32, 32, __builtin_popcountll(a), SCC_NOT_ZERO)
UNARY(bcnt1_64, 64, 32, __builtin_popcountll(a), SCC_NOT_ZERO)
UNARY(ff0_32, 32, 32, first_from_below((u32)~a), KEEP_SCC)
UNARY(ff0_64, 64, 32, first_from_below(~a), KEEP_SCC)
UNARY(ctz32, 32, 32, first_from_below(a), KEEP_SCC)
UNARY(ctz64, 64, 32, first_from_below(a), KEEP_SCC)
UNARY(clz32, 32, 32, first_from_above(a, 32), KEEP_SCC)
UNARY(clz64, 64, 32, first_from_above(a, 64), KEEP_SCC)
UNARY(cls32, 32, 32, first_from_above(a >> 31 ? (u32)~a : a, 32), KEEP_SCC)
UNARY(cls64, 64, 32, first_from_above(a >> 63 ? ~a : a, 64), KEEP_SCC)
UNARY(sext8, 32, 32, (i8)a, KEEP_SCC)
UNARY(sext16, 32, 32, (i16)a, KEEP_SCC)
UNARY(bitreplicate, 32, 64, doubled_bits(a), KEEP_SCC)
UNARY(abs32, 32, 32, a >> 31 ? 0 - a : a, SCC_NOT_ZERO)

static void set_bit(struct sim_wave *wave, const struct sim_inst *inst, bool wide, bool value) {
    u32 at_known, narrow_known, at = sim_get32(wave, &inst->src[0], &at_known);
    u64 known, bit = (u64)1 << (at & (wide ? 63 : 31)), d;
    if (wide) {
        d = sim_get64(wave, &inst->dst[0], &known);
    } else {
        d = sim_get32(wave, &inst->dst[0], &narrow_known);
        known = narrow_known;
    }
    d = value ? d | bit : d & ~bit;
    known = at_known == ALL32 ? known | bit : 0;
    sim_scalar_put(wave, &inst->dst[0], 0, (u32)d, (u32)known);
    if (wide) sim_scalar_put(wave, &inst->dst[0], 1, (u32)(d >> 32), (u32)(known >> 32));
}
RUN(bitset0_32) { set_bit(wave, inst, false, false); }
RUN(bitset0_64) { set_bit(wave, inst, true, false); }
RUN(bitset1_32) { set_bit(wave, inst, false, true); }
RUN(bitset1_64) { set_bit(wave, inst, true, true); }

/* ---- EXEC ---- */

/* `decided` are the bits that EXEC, all of which is known, decides alone. */
#define SAVE_EXEC(name, expression, decided)                                                                           \
    RUN(name##_saveexec32) {                                                                                           \
        u32 known, s = sim_get32(wave, &inst->src[0], &known), exec = wave->s[SIM_EXEC];                               \
        set_exec(wave, expression, known | (decided), 1);                                                              \
        PUT32(exec, true);                                                                                             \
    }                                                                                                                  \
    RUN(name##_saveexec64) {                                                                                           \
        u64 known, s = sim_get64(wave, &inst->src[0], &known), exec = SIM_EXEC64(wave);                                \
        set_exec(wave, expression, known | (decided), 2);                                                              \
        PUT64(exec, true);                                                                                             \
    }
#define WRITE_EXEC(name, expression, decided)                                                                          \
    RUN(name##_wrexec32) {                                                                                             \
        u32 known, s = sim_get32(wave, &inst->src[0], &known), exec = wave->s[SIM_EXEC];                               \
        set_exec(wave, expression, known | (decided), 1);                                                              \
        PUT32(wave->s[SIM_EXEC], true);                                                                                \
    }                                                                                                                  \
    RUN(name##_wrexec64) {                                                                                             \
        u64 known, s = sim_get64(wave, &inst->src[0], &known), exec = SIM_EXEC64(wave);                                \
        set_exec(wave, expression, known | (decided), 2);                                                              \
        sim_put64(wave, &inst->dst[0], SIM_EXEC64(wave), ALL64);                                                       \
    }

/* SCC says whether a lane is left. */
static void set_exec(struct sim_wave *wave, u64 value, u64 known, unsigned n) {
    const struct sim_operand exec = {.kind = SIM_SGPR, .count = 2, .index = SIM_EXEC};
    for (unsigned i = 0; i < n; i++) sim_scalar_put(wave, &exec, i, (u32)(value >> (32 * i)), (u32)(known >> (32 * i)));
    sim_put_scc(wave, n == 1 ? wave->s[SIM_EXEC] != 0 : SIM_EXEC64(wave) != 0, true);
}

SAVE_EXEC(and, (s & exec), ~exec)
SAVE_EXEC(or, s | exec, exec)
SAVE_EXEC(xor, s ^ exec, 0)
SAVE_EXEC(nand, ~((s & exec)), ~exec)
SAVE_EXEC(nor, ~(s | exec), exec)
SAVE_EXEC(xnor, ~(s ^ exec), 0)
SAVE_EXEC(andn1, ~s &exec, ~exec)
SAVE_EXEC(orn1, ~s | exec, exec)
SAVE_EXEC(andn2, s & ~exec, exec)
SAVE_EXEC(orn2, s | ~exec, ~exec)
WRITE_EXEC(andn1, ~s &exec, ~exec)
WRITE_EXEC(andn2, s & ~exec, exec)

/* ---- two sources ---- */

BITWISE(and, (a & b), known_of_and(a, known_a, b, known_b))
BITWISE(or, a | b, known_of_or(a, known_a, b, known_b))
BITWISE(xor, a ^ b, known_a &known_b)
BITWISE(nand, ~(a &b), known_of_and(a, known_a, b, known_b))
BITWISE(nor, ~(a | b), known_of_or(a, known_a, b, known_b))
BITWISE(xnor, ~(a ^ b), known_a &known_b)
BITWISE(andn2_, a & ~b, known_of_and(a, known_a, ~b, known_b))
BITWISE(orn2_, a | ~b, known_of_or(a, known_a, ~b, known_b))

BINARY(add_u32, 32, 32, 32, a + b, SCC(d < a))
BINARY(sub_u32, 32, 32, 32, a - b, SCC(b > a))
BINARY(add_i32, 32, 32, 32, a + b, SCC((~(a ^ b) & (a ^ d)) >> 31))
BINARY(sub_i32, 32, 32, 32, a - b, SCC(((a ^ b) & (a ^ d)) >> 31))
BINARY(addc_u32, 32, 32, 32, a + b + c, sim_put_scc(wave, (u64)a + b + c > UINT32_MAX, all && wave->scc_defined);
       PUT32(d, all && wave->scc_defined);)
BINARY(subb_u32, 32, 32, 32, a - b - c, sim_put_scc(wave, (u64)b + c > a, all && wave->scc_defined);
       PUT32(d, all && wave->scc_defined);)
BINARY(add_u64, 64, 64, 64, a + b, KEEP_SCC)
BINARY(sub_u64, 64, 64, 64, a - b, KEEP_SCC)
BINARY(mul_u64, 64, 64, 64, (a * b), KEEP_SCC)
BINARY(absdiff, 32, 32, 32, (a - b) >> 31 ? b - a : a - b, SCC_NOT_ZERO)
BINARY(min_i32, 32, 32, 32, (i32)a < (i32)b ? a : b, SCC((i32)a < (i32)b))
BINARY(min_u32, 32, 32, 32, a < b ? a : b, SCC(a < b))
BINARY(max_i32, 32, 32, 32, (i32)a >= (i32)b ? a : b, SCC((i32)a >= (i32)b))
BINARY(max_u32, 32, 32, 32, a >= b ? a : b, SCC(a >= b))
BINARY(lshl32, 32, 32, 32, a << (b & 31), SCC_NOT_ZERO)
BINARY(lshl64, 64, 32, 64, a << (b & 63), SCC_NOT_ZERO)
BINARY(lshr32, 32, 32, 32, a >> (b & 31), SCC_NOT_ZERO)
BINARY(lshr64, 64, 32, 64, a >> (b & 63), SCC_NOT_ZERO)
BINARY(ashr32, 32, 32, 32, (i32)a >> (b & 31), SCC_NOT_ZERO)
BINARY(ashr64, 64, 32, 64, (i64)a >> (b & 63), SCC_NOT_ZERO)
BINARY(bfm32, 32, 32, 32, (((u32)1 << (a & 31)) - 1) << (b & 31), KEEP_SCC)
BINARY(bfm64, 32, 32, 64, (((u64)1 << (a & 63)) - 1) << (b & 63), KEEP_SCC)
BINARY(mul32, 32, 32, 32, (a * b), KEEP_SCC)
BINARY(mul_hi_u32, 32, 32, 32, ((u64)a * b) >> 32, KEEP_SCC)
BINARY(mul_hi_i32, 32, 32, 32, ((i64)(i32)a * (i32)b) >> 32, KEEP_SCC)
BINARY(lshl1_add, 32, 32, 32, (a << 1) + b, SCC(((u64)a << 1) + b > UINT32_MAX))
BINARY(lshl2_add, 32, 32, 32, (a << 2) + b, SCC(((u64)a << 2) + b > UINT32_MAX))
BINARY(lshl3_add, 32, 32, 32, (a << 3) + b, SCC(((u64)a << 3) + b > UINT32_MAX))
BINARY(lshl4_add, 32, 32, 32, (a << 4) + b, SCC(((u64)a << 4) + b > UINT32_MAX))
BINARY(pack_ll, 32, 32, 32, (a & 0xffff) | b << 16, KEEP_SCC)
BINARY(pack_lh, 32, 32, 32, (a & 0xffff) | (b & 0xffff0000), KEEP_SCC)
BINARY(pack_hh, 32, 32, 32, a >> 16 | (b & 0xffff0000), KEEP_SCC)
BINARY(pack_hl, 32, 32, 32, a >> 16 | b << 16, KEEP_SCC)

/* A field of `bits & 127` bits; a wider one than the rest of the register ends there. */
static u64 field(u64 shifted, u32 bits) { return bits >= 64 ? shifted : shifted & (((u64)1 << bits) - 1); }
static u64 signed_field(i64 shifted, u32 bits) {
    if (bits == 0) return 0;
    return bits >= 64 ? (u64)shifted : (u64)((i64)((u64)shifted << (64 - bits)) >> (64 - bits));
}
BINARY(bfe_u32, 32, 32, 32, field(a >> (b & 31), b >> 16 & 127), SCC_NOT_ZERO)
BINARY(bfe_i32, 32, 32, 32, signed_field((i32)a >> (b & 31), b >> 16 & 127), SCC_NOT_ZERO)
BINARY(bfe_u64, 64, 32, 64, field(a >> (b & 63), b >> 16 & 127), SCC_NOT_ZERO)
BINARY(bfe_i64, 64, 32, 64, signed_field((i64)a >> (b & 63), b >> 16 & 127), SCC_NOT_ZERO)

RUN(addk) {
    u32 known, a = sim_get32(wave, &inst->dst[0], &known), b = (u32)(i16)inst->src[0].integer, d = a + b;
    PUT32(d, known == ALL32);
    sim_put_scc(wave, (~(a ^ b) & (a ^ d)) >> 31, known == ALL32);
}
RUN(mulk) {
    u32 known, a = sim_get32(wave, &inst->dst[0], &known);
    PUT32(a * (u32)(i16)inst->src[0].integer, known == ALL32);
}

/* ---- compares ---- */

COMPARE(cmp_eq32, 32, a == b)
COMPARE(cmp_lg32, 32, a != b)
COMPARE(cmp_gt_i32, 32, (i32)a > (i32)b)
COMPARE(cmp_ge_i32, 32, (i32)a >= (i32)b)
COMPARE(cmp_lt_i32, 32, (i32)a < (i32)b)
COMPARE(cmp_le_i32, 32, (i32)a <= (i32)b)
COMPARE(cmp_gt_u32, 32, a > b)
COMPARE(cmp_ge_u32, 32, a >= b)
COMPARE(cmp_lt_u32, 32, a < b)
COMPARE(cmp_le_u32, 32, a <= b)
COMPARE(cmp_eq64, 64, a == b)
COMPARE(cmp_lg64, 64, a != b)
COMPARE(bitcmp0_32, 32, !(a >> (b & 31) & 1))
COMPARE(bitcmp1_32, 32, a >> (b & 31) & 1)

static void compare_bit(struct sim_wave *wave, const struct sim_inst *inst, bool is) {
    u64 known_a, a = sim_get64(wave, &inst->src[0], &known_a);
    u32 known_b, b = sim_get32(wave, &inst->src[1], &known_b) & 63;
    sim_put_scc(wave, (a >> b & 1) == is, known_b == ALL32 && known_a >> b & 1);
}
RUN(bitcmp0_64) { compare_bit(wave, inst, false); }
RUN(bitcmp1_64) { compare_bit(wave, inst, true); }

/* clang-format off */
COMPARE_K(cmpk_eq_i32, i32, i16, ==)
COMPARE_K(cmpk_lg_i32, i32, i16, !=)
COMPARE_K(cmpk_gt_i32, i32, i16, >)
COMPARE_K(cmpk_ge_i32, i32, i16, >=)
COMPARE_K(cmpk_lt_i32, i32, i16, <)
COMPARE_K(cmpk_le_i32, i32, i16, <=)
COMPARE_K(cmpk_eq_u32, u32, u16, ==)
COMPARE_K(cmpk_lg_u32, u32, u16, !=)
COMPARE_K(cmpk_gt_u32, u32, u16, >)
COMPARE_K(cmpk_ge_u32, u32, u16, >=)
COMPARE_K(cmpk_lt_u32, u32, u16, <)
COMPARE_K(cmpk_le_u32, u32, u16, <=)
/* clang-format on */
