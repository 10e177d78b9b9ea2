/* Vector instructions: what is done to sources and results around the function that computes. */
#include "gfxsim/vector.h"

#include <fenv.h>

const u32 sim_zero_row[64];

const u8 sim_type_words[] = {
    [SIM_NONE] = 0,   [SIM_B16] = 1,   [SIM_U16] = 1,   [SIM_I16] = 1, [SIM_F16] = 1,   [SIM_BF16] = 1,
    [SIM_B32] = 1,    [SIM_U32] = 1,   [SIM_I32] = 1,   [SIM_F32] = 1, [SIM_V2F16] = 1, [SIM_V2I16] = 1,
    [SIM_V2BF16] = 1, [SIM_V2F32] = 2, [SIM_V2B32] = 2, [SIM_B64] = 2, [SIM_U64] = 2,   [SIM_I64] = 2,
    [SIM_F64] = 2,    [SIM_B96] = 3,   [SIM_B128] = 4,  [SIM_ANY] = 1,
};

static bool is_half(u8 type) { return type >= SIM_B16 && type <= SIM_BF16; }

/* MODE: bits 0-1 round f32, 2-3 round f16 and f64, 4-5 keep denormals of f32, 6-7 of f16 and f64 (of each pair the low
 * bit as source, the high one as result), 8 DX10_CLAMP, 9 IEEE. */
enum { MODE_PLAIN = 0xf0, MODE_DX10_CLAMP = 0x100, MODE_IEEE = 0x200 };

/* ---- SDWA ---- */

static void sdwa_select(struct sim_lanes *x, struct sim_space *space, unsigned k, unsigned select, bool sext) {
    if (select == SIM_DWORD) return;
    const unsigned bits = select >= SIM_WORD_0 ? 16 : 8;
    const unsigned shift = select >= SIM_WORD_0 ? 16 * (select - SIM_WORD_0) : 8 * select;
    const u32 *from = x->s[k][0];
    u32 *to = space->s[k][0];
    if (sext) {
        for (unsigned l = 0; l < 64; l++) to[l] = (u32)((i32)(from[l] << (32 - bits - shift)) >> (32 - bits));
    } else {
        for (unsigned l = 0; l < 64; l++) to[l] = (from[l] << (32 - bits - shift)) >> (32 - bits);
    }
    x->s[k][0] = to;
}

/* ---- modifiers of sources ---- */

static void change_sign(struct sim_lanes *x, struct sim_space *space, unsigned k, u8 type, bool neg, bool abs) {
    const unsigned word = sim_type_words[type] - 1u;
    const u32 sign = is_half(type) ? 0x8000 : 0x80000000;
    const u32 keep = abs ? ~sign : ~(u32)0, flip = neg ? sign : 0;
    const u32 *from = x->s[k][word];
    u32 *to = space->s[k][word];
    for (unsigned l = 0; l < 64; l++) to[l] = (from[l] & keep) ^ flip;
    x->s[k][word] = to;
}

static void select_high(struct sim_lanes *x, struct sim_space *space, unsigned k) {
    const u32 *from = x->s[k][0];
    u32 *to = space->s[k][0];
    for (unsigned l = 0; l < 64; l++) to[l] = from[l] >> 16;
    x->s[k][0] = to;
}

/* Denormals of a row of halves, words or pairs to zero of their sign. */
static void flush_row(u8 type, u32 *low, u32 *high) {
    for (unsigned l = 0; l < 64; l++) {
        switch (type) {
        case SIM_F16:
            if (!(low[l] & 0x7c00)) low[l] &= 0xffff8000;
            break;
        case SIM_F32:
            if (!(low[l] & 0x7f800000)) low[l] &= 0x80000000;
            break;
        case SIM_F64:
            if (!(high[l] & 0x7ff00000)) low[l] = 0, high[l] &= 0x80000000;
            break;
        }
    }
}

static bool keeps_denormals(u32 mode, u8 type, bool result) {
    const unsigned shift = (type == SIM_F32 ? 4 : 6) + (result ? 1 : 0);
    return mode >> shift & 1;
}

static bool is_float(u8 type) { return type == SIM_F16 || type == SIM_F32 || type == SIM_F64; }

static void flush_source(struct sim_lanes *x, struct sim_space *space, unsigned k, u8 type) {
    const unsigned words = sim_type_words[type];
    for (unsigned w = 0; w < words; w++) {
        if (x->s[k][w] != space->s[k][w]) memcpy(space->s[k][w], x->s[k][w], sizeof space->s[k][w]);
        x->s[k][w] = space->s[k][w];
    }
    flush_row(type, space->s[k][0], space->s[k][1]);
}

static unsigned begin(struct sim_wave *wave, const struct sim_inst *inst, struct sim_lanes *x) {
    const struct sim_vector *vector = inst->op->detail;
    x->n = wave->size;
    x->mode = wave->mode;
    x->ieee = wave->target == SIM_GFX1201 || (wave->mode & MODE_IEEE) != 0;
    x->op_sel = inst->op_sel;
    x->byte_sel = inst->byte_sel;
    x->target = wave->target;
    x->enabled = SIM_EXEC64(wave) & sim_wave_lanes(wave);
    x->defined = x->bits_defined = x->high_defined = ~(u64)0;
    x->bits = x->carry = 0;
    for (unsigned k = 0; k < SIM_READS; k++) {
        x->s[k][0] = x->s[k][1] = sim_zero_row;
    }
    return vector->flags;
}

/* Lanes in which any of several parts is defined; with one, those in which it is. A constant is no part, or a part at
 * some places. */
static u64 parts_defined(const struct sim_inst *inst, unsigned flags, const u64 defined[SIM_READS]) {
    u64 any = 0, all = ~(u64)0;
    unsigned n = 0;
    for (unsigned k = 0; k < inst->n_src; k++) {
        if (inst->src[k].kind == SIM_CONSTANT && !(flags & SIM_PART_0 << k)) continue;
        any |= defined[k];
        all &= defined[k];
        n++;
    }
    return n > 1 ? any : all;
}

void sim_lanes_read(struct sim_wave *wave, const struct sim_inst *inst, struct sim_lanes *x, struct sim_space *space) {
    const unsigned flags = begin(wave, inst, x);
    unsigned k = 0;
    const bool changed = inst->op_sel || (wave->mode & 0xff) != MODE_PLAIN;
    u64 chosen[SIM_READS] = {~(u64)0, ~(u64)0, ~(u64)0};
    for (unsigned i = 0; i < inst->n_src; i++) {
        const struct sim_operand *operand = &inst->src[i];
        const u8 type = operand->type;
        if (type == SIM_MASK) {
            x->bits = sim_mask_read(wave, operand, &x->bits_defined);
            continue;
        }
        const bool dpp_first = k == 0 && inst->dpp;
        u64 *known = flags & (SIM_CHOOSES | SIM_PARTS) && !dpp_first ? &chosen[k] : &x->defined;
        u64 ignored;
        for (unsigned w = 0; w < sim_type_words[type]; w++) {
            u64 *of_word = w && flags & SIM_LOW_FIRST ? &x->high_defined : known;
            x->s[k][w] = sim_lanes_row(wave, operand, w, space->s[k][w], dpp_first ? &ignored : of_word);
        }
        if (dpp_first) sim_dpp_read(wave, inst, x, space);
        if (inst->sdwa && k < 2) sdwa_select(x, space, k, inst->src_sel[k], operand->sext);
        if (operand->high ||
            (inst->op_sel >> k & 1 && is_half(type) && operand->kind != SIM_CONSTANT && !(flags & SIM_WHOLE))) {
            select_high(x, space, k);
        }
        if (operand->neg || operand->abs) change_sign(x, space, k, type, operand->neg, operand->abs);
        if (changed && is_float(type) && !(flags & SIM_NO_FLUSH) && !keeps_denormals(wave->mode, type, false)) {
            flush_source(x, space, k, type);
        }
        k++;
    }
    if (flags & SIM_READS_DST) {
        const struct sim_operand *operand = &inst->dst[0];
        for (unsigned w = 0; w < sim_type_words[operand->type]; w++) {
            x->s[k][w] = sim_lanes_row(wave, operand, w, space->s[k][w], &x->defined);
        }
        if (is_half(operand->type) && (operand->high || inst->op_sel >> inst->n_src & 1)) select_high(x, space, k);
        if (changed && is_float(operand->type) && !keeps_denormals(wave->mode, operand->type, false)) {
            flush_source(x, space, k, operand->type);
        }
    }
    if (flags & SIM_CHOOSES) x->defined &= (x->bits & chosen[1]) | (~x->bits & chosen[0]);
    if (flags & SIM_PARTS) x->defined &= parts_defined(inst, flags, chosen);
    x->defined &= x->bits_defined;
    x->high_defined &= x->defined;
}

/* ---- results ---- */

static const int roundings[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

/* Calls the function with MODE's rounding of results of a type. */
static void compute(sim_lanes_fn *fn, struct sim_lanes *x, u8 type, unsigned flags) {
    const unsigned round = type == SIM_F32 || type == SIM_V2F32 ? x->mode & 3 : x->mode >> 2 & 3;
    if (round == 0 || flags & SIM_NEAREST) {
        fn(x);
        return;
    }
    fesetround(roundings[round]);
    fn(x);
    fesetround(FE_TONEAREST);
}

static float clamp_f32(float v) { return v > 0 ? (v < 1 ? v : 1) : 0; }
static double clamp_f64(double v) { return v > 0 ? (v < 1 ? v : 1) : 0; }

/* omod and clamp of a float, and what MODE does to a denormal result. Halves of 16 bits are scaled by their exponent.
 */
static void finish_f32(u32 *row, unsigned omod, bool clamp) {
    static const float scale[4] = {1, 2, 4, 0.5f};
    for (unsigned l = 0; l < 64; l++) {
        float v = sim_f32(row[l]);
        if (omod) v *= scale[omod];
        row[l] = sim_bits_f32(clamp ? clamp_f32(v) : v);
    }
}

static void finish_f64(u32 *low, u32 *high, unsigned omod, bool clamp) {
    static const double scale[4] = {1, 2, 4, 0.5};
    for (unsigned l = 0; l < 64; l++) {
        double v = sim_f64(low[l] | (u64)high[l] << 32);
        if (omod) v *= scale[omod];
        const u64 bits = sim_bits_f64(clamp ? clamp_f64(v) : v);
        low[l] = (u32)bits;
        high[l] = (u32)(bits >> 32);
    }
}

static u16 scale_f16(u16 v, unsigned omod) {
    int exponent = v >> 10 & 31;
    if (exponent == 0 || exponent == 31) return exponent ? v : v & 0x8000;
    exponent += omod == 3 ? -1 : (int)omod;
    if (exponent <= 0) return v & 0x8000;
    return exponent >= 31 ? (u16)((v & 0x8000) | 0x7c00) : (u16)((v & 0x83ff) | exponent << 10);
}

static void finish_f16(u32 *row, unsigned omod, bool clamp) {
    for (unsigned l = 0; l < 64; l++) {
        u16 v = (u16)row[l];
        if (omod) v = scale_f16(v, omod);
        if (clamp && (v & 0x8000 || (v & 0x7fff) > 0x7c00))
            v = 0;
        else if (clamp && v > 0x3c00)
            v = 0x3c00;
        row[l] = v;
    }
}

/* Modifiers of the result rows d, in place. A NaN clamps to 0 with DX10_CLAMP, which every HIP kernel sets. omod is
 * ignored where denormal results are kept. */
static void finish(const struct sim_inst *inst, struct sim_lanes *x, u8 type, unsigned flags, u32 *const *d) {
    if (!is_float(type)) return;
    const unsigned omod = keeps_denormals(x->mode, type, true) ? 0 : inst->omod;
    if (omod || inst->clamp) {
        if (type == SIM_F32)
            finish_f32(d[0], omod, inst->clamp);
        else if (type == SIM_F64)
            finish_f64(d[0], d[1], omod, inst->clamp);
        else
            finish_f16(d[0], omod, inst->clamp);
    }
    if (!(flags & SIM_NO_FLUSH) && !keeps_denormals(x->mode, type, true)) {
        flush_row(type, d[0], d[1]);
    }
}

static sim_lanes_fn *function_of(struct sim_wave *wave, const struct sim_inst *inst, u8 type) {
    const struct sim_vector *vector = inst->op->detail;
    if (!inst->clamp || is_float(type) || type == SIM_V2F16 || type == SIM_V2F32) return vector->fn;
    if (!vector->saturate) sim_fail(wave, -1, 719, "clamp of this instruction is not simulated");
    return vector->saturate;
}

/* A 16-bit result into its half of a row; `old` is the register. */
static void merge_half(u32 *row, const u32 *old, bool high, bool keep) {
    if (high) {
        for (unsigned l = 0; l < 64; l++) row[l] = (old[l] & 0xffff) | row[l] << 16;
    } else if (keep) {
        for (unsigned l = 0; l < 64; l++) row[l] = (old[l] & 0xffff0000) | (row[l] & 0xffff);
    }
}

static void sdwa_place(const struct sim_inst *inst, u32 *row, const u32 *old) {
    if (inst->dst_sel == SIM_DWORD) return;
    const bool word = inst->dst_sel >= SIM_WORD_0;
    const unsigned bits = word ? 16 : 8;
    const unsigned shift = word ? 16u * (inst->dst_sel - SIM_WORD_0) : 8u * inst->dst_sel;
    const u32 mask = (word ? 0xffffu : 0xffu) << shift;
    for (unsigned l = 0; l < 64; l++) {
        const u32 placed = row[l] << shift & mask;
        u32 rest = 0;
        if (inst->dst_unused == SIM_UNUSED_PRESERVE) rest = old[l] & ~mask;
        if (inst->dst_unused == SIM_UNUSED_SEXT && row[l] >> (bits - 1) & 1) rest = ~(u32)0 << shift << (bits - 1) << 1;
        row[l] = placed | rest;
    }
}

static void write_masks(struct sim_wave *wave, const struct sim_inst *inst, const struct sim_lanes *x) {
    for (unsigned i = 0; i < inst->n_dst; i++) {
        if (inst->dst[i].type != SIM_MASK) continue;
        sim_mask_write(wave, &inst->dst[i], x->carry & x->enabled, x->high_defined | ~x->enabled);
    }
}

void sim_vector_run(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_lanes x;
    struct sim_space space;
    sim_lanes_read(wave, inst, &x, &space);
    const unsigned flags = ((const struct sim_vector *)inst->op->detail)->flags;
    const struct sim_operand *dst = &inst->dst[0];
    const u8 type = dst->type;
    const unsigned words = sim_type_words[type];
    const bool half = is_half(type);
    const bool high = half && (dst->high || (inst->op_sel >> inst->n_src & 1 && !(flags & SIM_WHOLE)));
    const bool keep = half && (wave->target & SIM_GFX10UP || flags & SIM_KEEP_HIGH) && !inst->sdwa;
    const bool plain_mode = (wave->mode & 0xff) == MODE_PLAIN;
    const bool direct =
        x.enabled == sim_wave_lanes(wave) && !inst->clamp && !inst->omod && !inst->sdwa && !high && !keep && plain_mode;
    if (dst->kind != SIM_VGPR && dst->kind != SIM_AGPR) {
        sim_fail(wave, -1, 719, "a vector instruction's result is not a vector register");
    }
    unsigned first = sim_lanes_register(wave, dst, words - 1) - (words - 1);
    for (unsigned w = 0; w < words; w++) x.d[w] = direct ? wave->v[first + w] : space.d[w];
    sim_lanes_fn *fn = function_of(wave, inst, type);
    if (plain_mode)
        fn(&x);
    else
        compute(fn, &x, type, flags);
    if (direct) {
        for (unsigned w = 0; w < words; w++) {
            const u64 defined = w ? x.high_defined : x.defined;
            wave->v_defined[first + w] = (wave->v_defined[first + w] & ~x.enabled) | (defined & x.enabled);
        }
    } else {
        finish(inst, &x, type, flags, x.d);
        if (half) merge_half(space.d[0], wave->v[first], high, keep);
        if (inst->sdwa) sdwa_place(inst, space.d[0], wave->v[first]);
        for (unsigned w = 0; w < words; w++) {
            sim_lanes_write(wave, dst, w, space.d[w], x.enabled, w ? x.high_defined : x.defined);
        }
    }
    if (inst->n_dst > 1) write_masks(wave, inst, &x);
}

/* v_cmp and v_cmpx: the function sets carry. v_cmpx of gfx9 has a destination and writes EXEC too. */
void sim_vector_compare(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_lanes x;
    struct sim_space space;
    const struct sim_vector *vector = inst->op->detail;
    sim_lanes_read(wave, inst, &x, &space);
    vector->fn(&x);
    x.carry &= x.enabled;
    write_masks(wave, inst, &x);
    if (!(vector->flags & SIM_WRITES_EXEC)) return;
    if (x.enabled & ~x.defined) {
        sim_fail(wave, __builtin_ctzll(x.enabled & ~x.defined), 719, "EXEC from a register never written");
    }
    if (wave->size == 64)
        SIM_EXEC64(wave) = x.carry;
    else
        wave->s[SIM_EXEC] = (u32)x.carry;
}

/* Packed halves: the function of 16 bits, on the low halves' and the high halves' sources. */
void sim_vector_packed(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_lanes x;
    struct sim_space space;
    const u32 *whole[SIM_READS];
    const unsigned flags = begin(wave, inst, &x);
    const struct sim_operand *dst = &inst->dst[0];
    const u8 type = dst->type == SIM_V2F16 ? SIM_F16 : SIM_U16;
    unsigned n = inst->n_src;
    for (unsigned k = 0; k < n; k++) whole[k] = sim_lanes_row(wave, &inst->src[k], 0, space.s[k][2], &x.defined);
    if (inst->dpp) {
        x.s[0][0] = whole[0];
        sim_dpp_read(wave, inst, &x, &space);
        memcpy(space.s[0][2], space.s[0][0], sizeof space.s[0][0]);
        whole[0] = space.s[0][2];
    }
    if (flags & SIM_READS_DST) whole[n] = sim_lanes_row(wave, dst, 0, space.s[n][2], &x.defined), n++;
    sim_lanes_fn *fn = function_of(wave, inst, dst->type);
    for (unsigned h = 0; h < 2; h++) {
        for (unsigned k = 0; k < n; k++) {
            const bool own = k >= inst->n_src || flags & SIM_WHOLE;
            const bool high = own ? h : (h ? inst->op_sel_hi : inst->op_sel) >> k & 1;
            const bool neg = !own && (h ? inst->neg_hi : inst->neg_lo) >> k & 1;
            const bool abs = k < inst->n_src && inst->src[k].abs;
            x.s[k][0] = whole[k];
            if (high) select_high(&x, &space, k);
            if (neg || abs) change_sign(&x, &space, k, SIM_F16, neg, abs);
            if (type == SIM_F16 && !keeps_denormals(wave->mode, type, false)) flush_source(&x, &space, k, type);
        }
        x.d[0] = space.d[h];
        x.d[1] = space.d[2];
        compute(fn, &x, type, flags);
        finish(inst, &x, type, flags, x.d);
    }
    for (unsigned l = 0; l < 64; l++) space.d[0][l] = (space.d[0][l] & 0xffff) | space.d[1][l] << 16;
    sim_lanes_write(wave, dst, 0, space.d[0], x.enabled, x.defined);
}

/* Packed words: the function of 32 bits, on the words that op_sel and op_sel_hi choose. */
void sim_vector_packed32(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_lanes x;
    struct sim_space space;
    const u32 *words[SIM_READS][2];
    u64 known[SIM_READS][2], defined[2];
    memset(known, 0xff, sizeof known);
    const unsigned flags = begin(wave, inst, &x);
    const struct sim_vector *vector = inst->op->detail;
    const struct sim_operand *dst = &inst->dst[0];
    const u8 type = dst->type == SIM_V2F32 ? SIM_F32 : SIM_B32;
    for (unsigned k = 0; k < inst->n_src; k++) {
        for (unsigned w = 0; w < 2; w++) {
            words[k][w] = sim_lanes_row(wave, &inst->src[k], w, space.s[k][2 + w], &known[k][w]);
        }
    }
    for (unsigned h = 0; h < 2; h++) {
        x.defined = ~(u64)0;
        for (unsigned k = 0; k < inst->n_src; k++) {
            const bool high = (h ? inst->op_sel_hi : inst->op_sel) >> k & 1;
            const bool neg = (h ? inst->neg_hi : inst->neg_lo) >> k & 1;
            x.defined &= known[k][high];
            x.s[k][0] = words[k][high];
            if (neg || inst->src[k].abs) change_sign(&x, &space, k, type, neg, inst->src[k].abs);
            if (type == SIM_F32 && !keeps_denormals(wave->mode, type, false)) flush_source(&x, &space, k, type);
        }
        x.d[0] = space.d[h];
        x.d[1] = space.d[2];
        compute(vector->fn, &x, type, flags);
        finish(inst, &x, type, flags, x.d);
        defined[h] = x.defined;
    }
    for (unsigned w = 0; w < 2; w++) sim_lanes_write(wave, dst, w, space.d[w], x.enabled, defined[w]);
}

/* v_fma_mix*: each source a word, or the half that op_sel names where op_sel_hi says so. The function gets words, and
 * halves as words: the conversion is exact. */
void sim_vector_mix(struct sim_wave *wave, const struct sim_inst *inst) {
    struct sim_lanes x;
    struct sim_space space;
    const unsigned flags = begin(wave, inst, &x);
    const struct sim_vector *vector = inst->op->detail;
    const struct sim_operand *dst = &inst->dst[0];
    for (unsigned k = 0; k < inst->n_src; k++) {
        const struct sim_operand *operand = &inst->src[k];
        x.s[k][0] = sim_lanes_row(wave, operand, 0, space.s[k][0], &x.defined);
        if (k == 0 && inst->dpp) sim_dpp_read(wave, inst, &x, &space);
        const bool half = inst->op_sel_hi >> k & 1;
        if (half) {
            if (inst->op_sel >> k & 1) select_high(&x, &space, k);
            if (!keeps_denormals(wave->mode, SIM_F16, false)) flush_source(&x, &space, k, SIM_F16);
            struct sim_lanes widen = x;
            widen.s[0][0] = x.s[k][0];
            widen.d[0] = space.s[k][1];
            vector->saturate(&widen);
            x.s[k][0] = space.s[k][1];
        } else if (!keeps_denormals(wave->mode, SIM_F32, false)) {
            flush_source(&x, &space, k, SIM_F32);
        }
        const bool neg = operand->neg || inst->neg_lo >> k & 1, abs = operand->abs || inst->neg_hi >> k & 1;
        if (neg || abs) change_sign(&x, &space, k, SIM_F32, neg, abs);
    }
    x.d[0] = space.d[0];
    x.d[1] = space.d[1];
    compute(vector->fn, &x, dst->type, flags);
    finish(inst, &x, dst->type, flags, x.d);
    if (dst->type == SIM_F16) {
        const u32 *old = wave->v[sim_lanes_register(wave, dst, 0)];
        merge_half(space.d[0], old, (flags & SIM_WHOLE) != 0, true);
    }
    sim_lanes_write(wave, dst, 0, space.d[0], x.enabled, x.defined);
}

void sim_vector_nothing(struct sim_wave *wave, const struct sim_inst *inst) {
    (void)wave;
    (void)inst;
}

/* ---- tables ---- */

#define TABLES(X) X(f32) X(int) X(16) X(64) X(cmp) X(cvt)
#define DECLARE(name) extern const struct sim_op sim_vector_##name##_base[], sim_vector_##name##_avx2[];
TABLES(DECLARE)
extern const struct sim_op sim_vector_cross[];

const struct sim_op *const *sim_vector_tables(void) {
#define BASE(name) sim_vector_##name##_base,
    static const struct sim_op *const base[] = {TABLES(BASE) sim_vector_cross, NULL};
#ifdef __x86_64__
#define AVX2(name) sim_vector_##name##_avx2,
    static const struct sim_op *const avx2[] = {TABLES(AVX2) sim_vector_cross, NULL};
    /* F16C is older than AVX2: where there is the one there is the other. */
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2;
#endif
    return base;
}
