/* What the vector files share: how a wave's rows reach the functions of the tables, and the macros that make both.
 *
 * A table is a .def file of rows; its .c file includes it twice, once for the functions over rows of lanes and once for
 * the struct sim_op of each. Those .c files are compiled twice, once with SIM_VECTOR_AVX2 for processors with AVX2, FMA
 * and F16C; what they define is named by SIM_ISA(name). vector.c, which is compiled once, moves rows between the wave
 * and the functions: operands, modifiers, EXEC, what is defined. */
#ifndef GFXSIM_VECTOR_H
#define GFXSIM_VECTOR_H

#include "gfxsim/bits.h"
#include "gfxsim/gfxsim.h"

#include <string.h>

#ifdef SIM_VECTOR_AVX2
#define SIM_ISA(name) name##_avx2
#else
#define SIM_ISA(name) name##_base
#endif

/* Iterations of the loop that follows depend on nothing that another iteration writes, whatever its pointers: each
 * reads and writes one lane. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* loops that call functions stay as they are */
#define SIM_EACH_ALONE _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIM_EACH_ALONE _Pragma("GCC ivdep")
#endif

enum { SIM_WORDS = 4, SIM_READS = 3 };

/* What a row's function is given. Rows that an instruction does not have are zero rows, so that a function may read
 * three sources of two words whatever it needs. */
struct sim_lanes {
    unsigned n; /* lanes of the wave, 32 or 64 */
    u32 *d[SIM_WORDS];
    const u32 *s[SIM_READS][SIM_WORDS];
    u64 bits;    /* a mask that is read: carry, condition; a bit a lane */
    u64 carry;   /* a mask that is the result */
    u64 enabled; /* lanes that are written */
    u64 defined; /* lanes whose sources all are */
    u64 bits_defined;
    u64 high_defined; /* of a result's second word, and no word of it where `defined` is not */
    u32 mode;         /* of the wave */
    bool ieee;
    u8 op_sel, byte_sel;
    enum sim_target target;
};
typedef void sim_lanes_fn(struct sim_lanes *x);

enum sim_vector_flags {
    SIM_READS_DST = 1, /* the old result is the source after those in the text */
    SIM_KEEP_HIGH = 4, /* a 16-bit result leaves the other half alone on gfx9 too */
    SIM_NEAREST = 8,   /* is rounded to nearest whatever MODE says */
    SIM_NO_FLUSH = 16, /* denormals are themselves whatever MODE says */
    SIM_WRITES_EXEC = 32,
    SIM_CHOOSES = 64,    /* v_cndmask: what is not chosen need not be defined */
    SIM_WHOLE = 128,     /* op_sel is the function's own */
    SIM_LOW_FIRST = 256, /* the result's first word comes of first words alone */
    SIM_PARTS = 512,   /* puts parts of its sources together: compilers keep bytes and halves that way, and ask only for
                          those that were written. The result is defined when any source in a register is */
    SIM_PART_0 = 1024, /* and when source 0, 1, 2 is a constant */
    SIM_PART_1 = 2048,
    SIM_PART_2 = 4096
};
/* detail of the tables' rows. */
struct sim_vector {
    sim_lanes_fn *fn;
    sim_lanes_fn *saturate; /* with clamp, where the result is an integer; may be NULL */
    unsigned flags;
};

/* Rows for operands that are not in a register, and for results that cannot go to one at once. */
struct sim_space {
    u32 s[SIM_READS][SIM_WORDS][64];
    u32 d[SIM_WORDS][64];
};

extern const u32 sim_zero_row[64];
extern const u8 sim_type_words[];

/* run functions of the tables. */
sim_run sim_vector_run, sim_vector_compare, sim_vector_packed, sim_vector_packed32, sim_vector_mix, sim_vector_nothing;

/* Reads operands with their modifiers into rows; sets all of x but d and carry. */
void sim_lanes_read(struct sim_wave *wave, const struct sim_inst *inst, struct sim_lanes *x, struct sim_space *space);
/* One register of a vector operand, checked against the wave's. */
unsigned sim_lanes_register(struct sim_wave *wave, const struct sim_operand *operand, unsigned word);
const u32 *sim_lanes_row(struct sim_wave *wave, const struct sim_operand *operand, unsigned word, u32 space[64],
                         u64 *defined);
/* Writes row to register `word` of a vector destination, in `lanes`. */
void sim_lanes_write(struct sim_wave *wave, const struct sim_operand *operand, unsigned word, const u32 *row, u64 lanes,
                     u64 defined);
/* Of a SIM_MASK operand. */
u64 sim_mask_read(struct sim_wave *wave, const struct sim_operand *operand, u64 *defined);
void sim_mask_write(struct sim_wave *wave, const struct sim_operand *operand, u64 mask, u64 known);
/* Where each lane of a DPP instruction reads: from[lane], or -1 for 0. Returns the lanes that are written. */
u64 sim_dpp_lanes(const struct sim_wave *wave, const struct sim_inst *inst, i8 from[64]);
/* Source 0 of a DPP instruction as its lanes read it: from x->s[0] into space->s[0]. */
void sim_dpp_read(struct sim_wave *wave, const struct sim_inst *inst, struct sim_lanes *x, struct sim_space *space);
static inline u64 sim_wave_lanes(const struct sim_wave *wave) { return wave->size == 64 ? ~(u64)0 : 0xffffffff; }

/* ---- rows of tables ----
 *
 *   ROW(kind, id, name, targets, class, types, flags, expression)   a function `id` and its mnemonic
 *   SAT(kind, id, name, targets, types, flags, (saturated), expression)   the same, with what clamp makes of it
 *   SAME(id, name, targets, class, types, flags)                    another mnemonic of a function above
 *
 * kind is one of the macros below, which say what a, b and c are. In types, a letter is a result or source: F f32, D
 * f64, H f16, U u32, I i32, B b32, S u16, J i16, W b16, L u64, K i64, Q b64, M mask, T two f32, V two b32, P two f16, G
 * two i16, X b128, A any, N none. */
#define SIM_ROW_FUNCTION(kind, id, name, targets, class, types, flags, ...) kind(id, __VA_ARGS__)
#define SIM_SAT_FUNCTION(kind, id, name, targets, types, flags, saturated, ...)                                        \
    kind(id, __VA_ARGS__) kind(id##_saturated, saturated)
#define SIM_ROW_ENTRY(kind, id, name, targets, class, types, flags, ...)                                               \
    {name, targets, class, types, sim_vector_run, &(const struct sim_vector){id, NULL, flags}},
#define SIM_SAT_ENTRY(kind, id, name, targets, types, flags, saturated, ...)                                           \
    {name, targets, SIM_CLASS_VALU, types, sim_vector_run, &(const struct sim_vector){id, id##_saturated, flags}},
#define SIM_SAME_ENTRY(id, name, targets, class, types, flags)                                                         \
    {name, targets, class, types, sim_vector_run, &(const struct sim_vector){id, NULL, flags}},

/* clang-format off */
#define SIM_BB_N {SIM_B32, SIM_B32}, {SIM_NONE}
#define SIM_B_B {SIM_B32}, {SIM_B32}
#define SIM_B_BB {SIM_B32}, {SIM_B32, SIM_B32}
#define SIM_B_BBB {SIM_B32}, {SIM_B32, SIM_B32, SIM_B32}
#define SIM_B_BBM {SIM_B32}, {SIM_B32, SIM_B32, SIM_MASK}
#define SIM_B_BBU {SIM_B32}, {SIM_B32, SIM_B32, SIM_U32}
#define SIM_B_FB {SIM_B32}, {SIM_F32, SIM_B32}
#define SIM_B_FF {SIM_B32}, {SIM_F32, SIM_F32}
#define SIM_B_FU {SIM_B32}, {SIM_F32, SIM_U32}
#define SIM_B_FUB {SIM_B32}, {SIM_F32, SIM_U32, SIM_B32}
#define SIM_B_HH {SIM_B32}, {SIM_F16, SIM_F16}
#define SIM_B_II {SIM_B32}, {SIM_I32, SIM_I32}
#define SIM_B_UB {SIM_B32}, {SIM_U32, SIM_B32}
#define SIM_B_UU {SIM_B32}, {SIM_U32, SIM_U32}
#define SIM_DM_DDD {SIM_F64, SIM_MASK}, {SIM_F64, SIM_F64, SIM_F64}
#define SIM_D_D {SIM_F64}, {SIM_F64}
#define SIM_D_DD {SIM_F64}, {SIM_F64, SIM_F64}
#define SIM_D_DDD {SIM_F64}, {SIM_F64, SIM_F64, SIM_F64}
#define SIM_D_DDDM {SIM_F64}, {SIM_F64, SIM_F64, SIM_F64, SIM_MASK}
#define SIM_D_DI {SIM_F64}, {SIM_F64, SIM_I32}
#define SIM_D_DU {SIM_F64}, {SIM_F64, SIM_U32}
#define SIM_D_F {SIM_F64}, {SIM_F32}
#define SIM_D_I {SIM_F64}, {SIM_I32}
#define SIM_D_U {SIM_F64}, {SIM_U32}
#define SIM_FM_FFF {SIM_F32, SIM_MASK}, {SIM_F32, SIM_F32, SIM_F32}
#define SIM_F_B {SIM_F32}, {SIM_B32}
#define SIM_F_D {SIM_F32}, {SIM_F64}
#define SIM_F_F {SIM_F32}, {SIM_F32}
#define SIM_F_FF {SIM_F32}, {SIM_F32, SIM_F32}
#define SIM_F_FFF {SIM_F32}, {SIM_F32, SIM_F32, SIM_F32}
#define SIM_F_FFFM {SIM_F32}, {SIM_F32, SIM_F32, SIM_F32, SIM_MASK}
#define SIM_F_FI {SIM_F32}, {SIM_F32, SIM_I32}
#define SIM_F_H {SIM_F32}, {SIM_F16}
#define SIM_F_I {SIM_F32}, {SIM_I32}
#define SIM_F_U {SIM_F32}, {SIM_U32}
#define SIM_G_GG {SIM_V2I16}, {SIM_V2I16, SIM_V2I16}
#define SIM_G_GGG {SIM_V2I16}, {SIM_V2I16, SIM_V2I16, SIM_V2I16}
#define SIM_H_F {SIM_F16}, {SIM_F32}
#define SIM_H_FFF {SIM_F16}, {SIM_F32, SIM_F32, SIM_F32}
#define SIM_H_H {SIM_F16}, {SIM_F16}
#define SIM_H_HH {SIM_F16}, {SIM_F16, SIM_F16}
#define SIM_H_HHH {SIM_F16}, {SIM_F16, SIM_F16, SIM_F16}
#define SIM_H_HJ {SIM_F16}, {SIM_F16, SIM_I16}
#define SIM_H_J {SIM_F16}, {SIM_I16}
#define SIM_H_S {SIM_F16}, {SIM_U16}
#define SIM_I_B {SIM_I32}, {SIM_B32}
#define SIM_I_D {SIM_I32}, {SIM_F64}
#define SIM_I_F {SIM_I32}, {SIM_F32}
#define SIM_I_I {SIM_I32}, {SIM_I32}
#define SIM_I_II {SIM_I32}, {SIM_I32, SIM_I32}
#define SIM_I_III {SIM_I32}, {SIM_I32, SIM_I32, SIM_I32}
#define SIM_I_IUU {SIM_I32}, {SIM_I32, SIM_U32, SIM_U32}
#define SIM_I_J {SIM_I32}, {SIM_I16}
#define SIM_I_JJI {SIM_I32}, {SIM_I16, SIM_I16, SIM_I32}
#define SIM_I_UI {SIM_I32}, {SIM_U32, SIM_I32}
#define SIM_J_H {SIM_I16}, {SIM_F16}
#define SIM_J_JJ {SIM_I16}, {SIM_I16, SIM_I16}
#define SIM_J_JJJ {SIM_I16}, {SIM_I16, SIM_I16, SIM_I16}
#define SIM_J_SJ {SIM_I16}, {SIM_U16, SIM_I16}
#define SIM_KM_IIK {SIM_I64, SIM_MASK}, {SIM_I32, SIM_I32, SIM_I64}
#define SIM_K_UK {SIM_I64}, {SIM_U32, SIM_I64}
#define SIM_LM_UUL {SIM_U64, SIM_MASK}, {SIM_U32, SIM_U32, SIM_U64}
#define SIM_L_LUL {SIM_U64}, {SIM_U64, SIM_U32, SIM_U64}
#define SIM_P_PP {SIM_V2F16}, {SIM_V2F16, SIM_V2F16}
#define SIM_P_PPP {SIM_V2F16}, {SIM_V2F16, SIM_V2F16, SIM_V2F16}
#define SIM_Q_Q {SIM_B64}, {SIM_B64}
#define SIM_Q_QUQ {SIM_B64}, {SIM_B64, SIM_U32, SIM_B64}
#define SIM_Q_UQ {SIM_B64}, {SIM_U32, SIM_B64}
#define SIM_S_H {SIM_U16}, {SIM_F16}
#define SIM_S_SS {SIM_U16}, {SIM_U16, SIM_U16}
#define SIM_S_SSS {SIM_U16}, {SIM_U16, SIM_U16, SIM_U16}
#define SIM_T_B {SIM_V2F32}, {SIM_B32}
#define SIM_T_TT {SIM_V2F32}, {SIM_V2F32, SIM_V2F32}
#define SIM_T_TTT {SIM_V2F32}, {SIM_V2F32, SIM_V2F32, SIM_V2F32}
#define SIM_UM_UU {SIM_U32, SIM_MASK}, {SIM_U32, SIM_U32}
#define SIM_UM_UUM {SIM_U32, SIM_MASK}, {SIM_U32, SIM_U32, SIM_MASK}
#define SIM_U_B {SIM_U32}, {SIM_B32}
#define SIM_U_BBU {SIM_U32}, {SIM_B32, SIM_B32, SIM_U32}
#define SIM_U_BU {SIM_U32}, {SIM_B32, SIM_U32}
#define SIM_U_D {SIM_U32}, {SIM_F64}
#define SIM_U_F {SIM_U32}, {SIM_F32}
#define SIM_U_S {SIM_U32}, {SIM_U16}
#define SIM_U_SSU {SIM_U32}, {SIM_U16, SIM_U16, SIM_U32}
#define SIM_U_U {SIM_U32}, {SIM_U32}
#define SIM_U_UU {SIM_U32}, {SIM_U32, SIM_U32}
#define SIM_U_UUU {SIM_U32}, {SIM_U32, SIM_U32, SIM_U32}
#define SIM_V_VV {SIM_V2B32}, {SIM_V2B32, SIM_V2B32}
#define SIM_WW_N {SIM_B16, SIM_B16}, {SIM_NONE}
#define SIM_W_B {SIM_B16}, {SIM_B32}
#define SIM_W_SW {SIM_B16}, {SIM_U16, SIM_B16}
#define SIM_W_W {SIM_B16}, {SIM_B16}
#define SIM_W_WW {SIM_B16}, {SIM_B16, SIM_B16}
#define SIM_W_WWM {SIM_B16}, {SIM_B16, SIM_B16, SIM_MASK}
#define SIM_X_QUX {SIM_B128}, {SIM_B64, SIM_U32, SIM_B128}
/* clang-format on */

/* ---- functions over rows: `l` counts lanes ---- */

#define SIM_LANES_BEGIN                                                                                                \
    for (unsigned sim_first = 0, sim_n = x->n; sim_first < sim_n; sim_first += 32) {                                   \
        SIM_EACH_ALONE for (unsigned l = sim_first; l < sim_first + 32; l++) {
#define SIM_LANES_END                                                                                                  \
    }                                                                                                                  \
    }

static inline u32 sim_bits_u32(u32 v) { return v; }
static inline u32 sim_bits_i32(i32 v) { return (u32)v; }
static inline u64 sim_bits_u64(u64 v) { return v; }
static inline u64 sim_bits_i64(i64 v) { return (u64)v; }
#define SIM_BITS32(e) _Generic((e), float : sim_bits_f32, u32 : sim_bits_u32, i32 : sim_bits_i32)(e)
#define SIM_BITS64(e) _Generic((e), double : sim_bits_f64, u64 : sim_bits_u64, i64 : sim_bits_i64)(e)

#define SIM_UNUSED3(a, b, c) (void)(a), (void)(b), (void)(c)

/* Words a, b, c as floats, ua.. as unsigned, ia.. as signed; the result a word of any of these types. */
#define SIM_SOURCES32                                                                                                  \
    const u32 ua = sim_p[l], ub = sim_q[l], uc = sim_r[l];                                                             \
    const i32 ia = (i32)ua, ib = (i32)ub, ic = (i32)uc;                                                                \
    const float a = sim_f32(ua), b = sim_f32(ub), c = sim_f32(uc);                                                     \
    SIM_UNUSED3(ua, ub, uc), SIM_UNUSED3(ia, ib, ic), SIM_UNUSED3(a, b, c);
#define SIM_ROWS32                                                                                                     \
    const u32 *sim_p = x->s[0][0], *sim_q = x->s[1][0], *sim_r = x->s[2][0];                                           \
    const bool ieee = x->ieee;                                                                                         \
    (void)ieee;
#define SIM_OP32(id, ...)                                                                                              \
    static void id(struct sim_lanes *x) {                                                                              \
        SIM_ROWS32 u32 *d = x->d[0];                                                                                   \
        SIM_LANES_BEGIN SIM_SOURCES32 d[l] = SIM_BITS32(__VA_ARGS__);                                                  \
        SIM_LANES_END                                                                                                  \
    }

/* The same for sources of one or two words, and a result of one or two. */
#define SIM_SOURCES64                                                                                                  \
    const u64 ua = sim_p[l] | (u64)sim_p1[l] << 32, ub = sim_q[l] | (u64)sim_q1[l] << 32,                              \
              uc = sim_r[l] | (u64)sim_r1[l] << 32;                                                                    \
    const i64 ia = (i64)ua, ib = (i64)ub, ic = (i64)uc;                                                                \
    const double a = sim_f64(ua), b = sim_f64(ub), c = sim_f64(uc);                                                    \
    SIM_UNUSED3(ua, ub, uc), SIM_UNUSED3(ia, ib, ic), SIM_UNUSED3(a, b, c);
#define SIM_ROWS64 SIM_ROWS32 const u32 *sim_p1 = x->s[0][1], *sim_q1 = x->s[1][1], *sim_r1 = x->s[2][1];
#define SIM_OP64(id, ...)                                                                                              \
    static void id(struct sim_lanes *x) {                                                                              \
        SIM_ROWS64 u32 *d = x->d[0], *d1 = x->d[1];                                                                    \
        SIM_LANES_BEGIN SIM_SOURCES64 const u64 sim_v = SIM_BITS64(__VA_ARGS__);                                       \
        d[l] = (u32)sim_v;                                                                                             \
        d1[l] = (u32)(sim_v >> 32);                                                                                    \
        SIM_LANES_END                                                                                                  \
    }
#define SIM_OP64_TO_32(id, ...)                                                                                        \
    static void id(struct sim_lanes *x) {                                                                              \
        SIM_ROWS64 u32 *d = x->d[0];                                                                                   \
        SIM_LANES_BEGIN SIM_SOURCES64 d[l] = SIM_BITS32(__VA_ARGS__);                                                  \
        SIM_LANES_END                                                                                                  \
    }

/* Halves as integers; the result's low 16 bits. */
#define SIM_SOURCES16                                                                                                  \
    const u16 ua = (u16)sim_p[l], ub = (u16)sim_q[l], uc = (u16)sim_r[l];                                              \
    const i16 ia = (i16)ua, ib = (i16)ub, ic = (i16)uc;                                                                \
    SIM_UNUSED3(ua, ub, uc), SIM_UNUSED3(ia, ib, ic);
#define SIM_OP16(id, ...)                                                                                              \
    static void id(struct sim_lanes *x) {                                                                              \
        SIM_ROWS32 u32 *d = x->d[0];                                                                                   \
        SIM_LANES_BEGIN SIM_SOURCES16 d[l] = (u16)(__VA_ARGS__);                                                       \
        SIM_LANES_END                                                                                                  \
    }

#endif
