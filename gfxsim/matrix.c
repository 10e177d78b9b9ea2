/* Matrix instructions: from registers to tiles and back. Layouts and arithmetic: see matrix.h.
 *
 * An operand of A or B is `groups` groups of lanes, each with a row of A (a column of B) in a lane and a run of k in
 * its registers; C and D have a row of the tile in consecutive lanes of a register. A result is defined when the row,
 * the column and the old sum it is made of are. */
#include <string.h>

#include "bits.h"
#include "matrix.h"

struct tile {
    union {
        float f[SIM_TILE_C];
        i32 i[SIM_TILE_C];
        double d[256];
    };
};

static unsigned bits_of(unsigned type) {
    static const u8 bits[] = {
        [SIM_EL_F64] = 64,     [SIM_EL_F32] = 32,     [SIM_EL_XF32] = 32, [SIM_EL_F16] = 16, [SIM_EL_BF16] = 16,
        [SIM_EL_FP8_FNUZ] = 8, [SIM_EL_BF8_FNUZ] = 8, [SIM_EL_FP8] = 8,   [SIM_EL_BF8] = 8,  [SIM_EL_I32] = 32,
        [SIM_EL_I8] = 8,       [SIM_EL_IU8] = 8,      [SIM_EL_IU4] = 4};
    return bits[type];
}
static bool sparse(const struct sim_matrix *x) { return x->layout == SIM_SMFMAC || x->layout == SIM_SWMMAC; }

/* ---- A and B ---- */

struct input {
    unsigned rows;   /* of A, or columns of B, in a block */
    unsigned terms;  /* stored in a row */
    unsigned groups; /* of lanes */
    unsigned each;   /* elements in a lane */
    unsigned run;    /* consecutive k before the next group's */
};

static struct input input_of(const struct sim_matrix *x, bool is_a) {
    struct input in = {.rows = is_a ? x->m : x->n, .terms = is_a && sparse(x) ? x->k / 2u : x->k};
    switch (x->layout) {
    case SIM_MFMA:
    case SIM_SMFMAC: in.groups = 64 / (in.rows * x->blocks); break;
    case SIM_WMMA11: in.groups = 1; break;
    default: in.groups = 2;
    }
    in.each = in.terms / in.groups;
    in.run = in.each;
    if (bits_of(x->a) == 16 && (x->layout == SIM_WMMA12 || (x->layout == SIM_SWMMAC && is_a))) in.run = 4;
    if (bits_of(x->a) == 16 && x->layout == SIM_SWMMAC && !is_a) in.run = 8;
    return in;
}
static unsigned term_of(const struct input *in, unsigned group, unsigned e) {
    return e / in->run * in->run * in->groups + group * in->run + e % in->run;
}

/* The lane that BLGP feeds to a lane of B. */
static unsigned pattern(unsigned blgp, unsigned lane) {
    switch (blgp) {
    case 0: return lane;
    case 1: return lane % 32;
    case 2: return lane % 32 + 32;
    case 3: return (lane + 16) % 64;
    default: return lane % 16 + (blgp - 4) * 16;
    }
}

/* The value of a row of registers of an operand, whose lanes are defined where *defined says. */
static const u32 *row_of(struct sim_wave *wave, const struct sim_operand *operand, unsigned element, unsigned n,
                         u32 space[64], u64 *defined) {
    u64 value;
    if (operand->kind != SIM_CONSTANT) return sim_row(wave, operand, n, space, defined);
    value = (u64)operand->integer;
    if (operand->is_float && element == SIM_EL_F64)
        value = sim_bits_f64(operand->real) >> n % 2 * 32;
    else if (operand->is_float) {
        float f = (float)operand->real;
        if (element == SIM_EL_F16)
            value = sim_f16_bits(f) * 0x10001u;
        else if (element == SIM_EL_BF16)
            value = sim_bf16_bits(f) * 0x10001u;
        else
            value = sim_bits_f32(f);
    } else if (element == SIM_EL_F64)
        value >>= n % 2 * 32;
    for (unsigned l = 0; l < 64; l++) space[l] = (u32)value;
    *defined = ~(u64)0;
    return space;
}

/* The registers of A or B, with the lanes that BLGP feeds. */
struct read {
    const u32 *row[32];
    u32 space[32][64];
    u64 defined; /* lanes in which all rows are */
};
static void read_rows(struct sim_wave *wave, const struct sim_operand *operand, unsigned blgp, struct read *r) {
    u64 defined;
    r->defined = ~(u64)0;
    for (unsigned n = 0; n < operand->count && n < 32; n++) {
        const u32 *row = sim_row(wave, operand, n, r->space[n], &defined);
        r->defined &= defined;
        r->row[n] = row;
        if (blgp) {
            u32 own[64];
            memcpy(own, row, sizeof own);
            for (unsigned l = 0; l < 64; l++) r->space[n][l] = own[pattern(blgp, l)];
            r->row[n] = r->space[n];
        }
    }
    defined = r->defined;
    if (blgp)
        for (unsigned l = 0; l < 64; l++)
            if (!(defined >> pattern(blgp, l) & 1)) r->defined &= ~((u64)1 << l);
}

/* The place of an element in a tile: A is block, row, term; B is block, term, column. */
static unsigned place_of(const struct input *in, bool is_a, unsigned block, unsigned row, unsigned term) {
    return block * in->rows * in->terms + (is_a ? row * in->terms + term : term * in->rows + row);
}

/* Codes of all elements of A or B into `codes`, and a bit for each row (column) of each block in defined[block]. */
static void read_input(struct sim_wave *wave, const struct sim_inst *inst, bool is_a, u32 *codes, u32 *high,
                       u64 defined[16]) {
    const struct sim_matrix *x = inst->op->detail;
    const struct sim_operand *operand = &inst->src[is_a ? 0 : 1];
    struct input in = input_of(x, is_a);
    unsigned bits = bits_of(is_a ? x->a : x->b), in_register = bits == 64 ? 1 : 32 / bits;
    u32 mask = bits >= 32 ? ~(u32)0 : (1u << bits) - 1;
    bool permutes = x->layout == SIM_MFMA && x->d != SIM_EL_F64;
    struct read r;
    read_rows(wave, operand, !is_a && permutes ? inst->blgp : 0, &r);
    for (unsigned block = 0; block < x->blocks; block++) {
        /* CBSZ and ABID: one block of A for 2^CBSZ of them. */
        unsigned from = is_a && permutes ? ((block >> inst->cbsz << inst->cbsz) + inst->abid) % x->blocks : block;
        defined[block] = ~(u64)0;
        for (unsigned group = 0; group < in.groups; group++) {
            unsigned lane = (group * x->blocks + from) * in.rows;
            defined[block] &= r.defined >> lane | ~(((u64)1 << in.rows) - 1);
            for (unsigned e = 0; e < in.each; e++) {
                unsigned first = place_of(&in, is_a, block, 0, term_of(&in, group, e)), step = is_a ? in.terms : 1,
                         shift = e % in_register * bits;
                const u32 *lanes = r.row[bits == 64 ? 2 * e : e / in_register] + lane;
                for (unsigned row = 0; row < in.rows; row++) codes[first + row * step] = lanes[row] >> shift & mask;
                if (bits == 64)
                    for (unsigned row = 0; row < in.rows; row++)
                        high[first + row * step] = r.row[2 * e + 1][lane + row];
            }
        }
    }
    if (x->layout != SIM_WMMA11) return;
    for (unsigned n = 0; n < operand->count; n++)
        for (unsigned l = 0; l < 16; l++) {
            if (!(r.defined >> (l + 16) & 1)) defined[0] &= ~((u64)1 << l);
            if (sim_settings.check && (r.defined >> l & r.defined >> (l + 16) & 1) && r.row[n][l] != r.row[n][l + 16])
                sim_fail(wave, (int)l, 719, "%s of a matrix product differs between lanes %u and %u", is_a ? "A" : "B",
                         l, l + 16);
        }
}

static void floats_of(const struct sim_matrix *x, const struct sim_inst *inst, bool is_a, const u32 *codes, unsigned n,
                      float *values) {
    unsigned type = is_a ? x->a : x->b, source = is_a ? 0 : 1, mask = 1u << source;
    struct input in = input_of(x, is_a);
    bool negates = x->layout >= SIM_WMMA11 && bits_of(type) == 16, low = inst->neg_lo & mask,
         high = inst->neg_hi & mask;
    switch (type) {
    case SIM_EL_F16: sim_half_values(n, codes, values); break;
    case SIM_EL_BF16:
        for (unsigned i = 0; i < n; i++) values[i] = sim_f32(codes[i] << 16);
        break;
    default:
        for (unsigned i = 0; i < n; i++)
            values[i] = sim_element_value(type, type == SIM_EL_XF32 ? codes[i] & 0xffffe000 : codes[i]);
    }
    if (!negates || (!low && !high)) return;
    for (unsigned i = 0; i < n; i++) { /* neg_lo is of the lower halves of registers, which hold the even terms */
        unsigned term = is_a ? i % in.terms : i / in.rows % in.terms;
        if (term % 2 ? high : low) values[i] = -values[i];
    }
}
static void ints_of(const struct sim_matrix *x, const struct sim_inst *inst, bool is_a, const u32 *codes, unsigned n,
                    i32 *values) {
    unsigned type = is_a ? x->a : x->b, shift = 32 - bits_of(type);
    bool is_signed = type == SIM_EL_I8 || inst->neg_lo >> (is_a ? 0 : 1) & 1;
    for (unsigned i = 0; i < n; i++) values[i] = is_signed ? (i32)(codes[i] << shift) >> shift : (i32)codes[i];
}

/* ---- C and D ---- */

struct output {
    unsigned row, lane, half; /* register, lane of column 0, and half of a 16-bit element */
};
static struct output output_of(const struct sim_matrix *x, const struct sim_inst *inst, unsigned block, unsigned i) {
    unsigned across = 64u / x->n, tall = x->d == SIM_EL_F64 ? 1 : 4, size = x->m * x->n, blocks;
    bool half = x->d == SIM_EL_F16 || x->d == SIM_EL_BF16;
    switch (x->layout) {
    case SIM_WMMA11: return (struct output){i / 2, i % 2 * 16, half ? inst->op_sel >> 2 & 1 : 0};
    case SIM_WMMA12:
    case SIM_SWMMAC: return (struct output){half ? i % 8 / 2 : i % 8, i / 8 * 16, half ? i % 2 : 0};
    default:
        blocks = 64 * tall > size ? 64 * tall / size : 1;
        return (struct output){block * (size / 64) + i / (tall * across) * tall + i % tall,
                               block % blocks * x->n + i / tall % across * blocks * x->n, 0};
    }
}

static float modified(float x, bool neg, bool abs) {
    if (abs && (x < 0 || 1 / x < 0)) x = -x;
    return neg ? -x : x;
}

/* Both directions between C's or D's registers and a tile of one block. defined[i] has a bit a column. */
static void read_sums(struct sim_wave *wave, const struct sim_inst *inst, const struct sim_operand *operand,
                      unsigned block, struct tile *c, u32 defined[32]) {
    const struct sim_matrix *x = inst->op->detail;
    bool modifies = x->layout == SIM_WMMA11 || x->layout == SIM_WMMA12, neg = modifies && inst->neg_lo & 4,
         abs = modifies && inst->neg_hi & 4;
    for (unsigned i = 0; i < x->m; i++) {
        struct output o = output_of(x, inst, block, i);
        u32 space[64], space1[64];
        u64 known, known1 = ~(u64)0;
        const u32 *row = row_of(wave, operand, x->d, x->d == SIM_EL_F64 ? 2 * o.row : o.row, space, &known), *row1;
        if (x->d == SIM_EL_F64) {
            bool minus = inst->neg_lo & 4 || operand->neg;
            row1 = row_of(wave, operand, x->d, 2 * o.row + 1, space1, &known1);
            for (unsigned j = 0; j < x->n; j++) {
                double value = sim_f64((u64)row1[o.lane + j] << 32 | row[o.lane + j]);
                c->d[i * x->n + j] = minus ? -value : value;
            }
        } else if (x->d == SIM_EL_F32 || x->d == SIM_EL_I32) {
            memcpy(c->i + i * x->n, row + o.lane, x->n * 4u);
        } else {
            for (unsigned j = 0; j < x->n; j++)
                c->f[i * x->n + j] = sim_element_value(x->d, row[o.lane + j] >> o.half * 16 & 0xffff);
        }
        if ((neg || abs) && x->d != SIM_EL_I32)
            for (unsigned j = 0; j < x->n; j++) c->f[i * x->n + j] = modified(c->f[i * x->n + j], neg, abs);
        defined[i] = (u32)((known & known1) >> o.lane);
    }
}

static void write_sums(struct sim_wave *wave, const struct sim_inst *inst, const struct sim_matrix *x, unsigned block,
                       const struct tile *c, const u32 defined[32]) {
    u64 lanes = x->n == 32 ? ~(u32)0 : (1u << x->n) - 1, *known;
    for (unsigned i = 0; i < x->m; i++) {
        struct output o = output_of(x, inst, block, i);
        unsigned count = x->d == SIM_EL_F64 ? 2 : 1;
        for (unsigned part = 0; part < count; part++) {
            u32 *row = sim_row_out(wave, &inst->dst[0], o.row * count + part, &known);
            u64 set = (u64)defined[i] & lanes;
            for (unsigned j = 0; j < x->n; j++) {
                u32 *to = &row[o.lane + j];
                if (x->d == SIM_EL_F64) {
                    *to = (u32)(sim_bits_f64(c->d[i * x->n + j]) >> part * 32);
                } else if (x->d == SIM_EL_F16 || x->d == SIM_EL_BF16) {
                    float f = c->f[i * x->n + j];
                    u32 code = x->d == SIM_EL_F16 ? sim_f16_bits(f) : sim_bf16_bits(f);
                    *to = o.half ? (*to & 0xffff) | code << 16 : (*to & 0xffff0000) | code;
                }
            }
            if (x->d == SIM_EL_F32 || x->d == SIM_EL_I32) memcpy(row + o.lane, c->i + i * x->n, x->n * 4u);
            /* gfx12 writes both halves, the lower first; gfx11 leaves the other half as it was. */
            if (x->layout != SIM_WMMA11 && o.half) set &= *known >> o.lane;
            *known = (*known & ~(lanes << o.lane)) | set << o.lane;
        }
    }
}

/* ---- the instruction ---- */

/* Which of B's terms each stored term of A meets: two bits each, in the row's lanes of the third source. */
static void read_index(struct sim_wave *wave, const struct sim_inst *inst, const struct sim_matrix *x, u8 *where,
                       u64 *defined) {
    struct input in = input_of(x, true);
    u32 space[64];
    u64 known;
    const u32 *row = sim_row(wave, &inst->src[2], 0, space, &known);
    unsigned set = x->layout == SIM_SMFMAC && inst->cbsz ? 0 : inst->abid, shift = set * 2 * in.each % 32;
    for (unsigned group = 0; group < in.groups; group++)
        for (unsigned i = 0; i < in.rows; i++) {
            unsigned lane = group * in.rows + i;
            if (!(known >> lane & 1)) *defined &= ~((u64)1 << i);
            for (unsigned e = 0; e < in.each; e++) {
                unsigned p = term_of(&in, group, e);
                where[i * in.terms + p] = (u8)(p / 2 * 4 + (row[lane] >> (shift + 2 * e) & 3));
            }
        }
}

static void run_matrix(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_matrix *x = inst->op->detail;
    static _Thread_local struct tile a, b, c;
    static _Thread_local u32 codes[SIM_TILE_AB], high[256], c_defined[32];
    static _Thread_local u8 where[SIM_TILE_AB];
    struct input in_a = input_of(x, true), in_b = input_of(x, false);
    unsigned n_a = in_a.rows * in_a.terms, n_b = in_b.rows * in_b.terms;
    u64 a_defined[16], b_defined[16];
    struct sim_terms terms = {in_a.terms, sparse(x) ? where : NULL};
    bool integers = x->d == SIM_EL_I32, is_sparse = sparse(x);
    if (x->layout >= SIM_WMMA11 && (u32)SIM_EXEC64(wave) != ~(u32)0)
        sim_fail(wave, -1, 719, "a matrix product with lanes off: EXEC is 0x%08x", (unsigned)SIM_EXEC64(wave));
    for (int side = 0; side < 2; side++) {
        bool is_a = side == 0;
        struct tile *t = is_a ? &a : &b;
        unsigned n = (is_a ? n_a : n_b) * x->blocks;
        read_input(wave, inst, is_a, codes, high, is_a ? a_defined : b_defined);
        if (x->d == SIM_EL_F64) {
            bool minus = inst->neg_lo >> side & 1 || inst->src[side].neg;
            for (unsigned i = 0; i < n; i++) {
                double value = sim_f64((u64)high[i] << 32 | codes[i]);
                t->d[i] = minus ? -value : value;
            }
        } else if (integers) {
            ints_of(x, inst, is_a, codes, n, t->i);
        } else {
            floats_of(x, inst, is_a, codes, n, t->f);
        }
    }
    if (is_sparse) read_index(wave, inst, x, where, &a_defined[0]);
    for (unsigned block = 0; block < x->blocks; block++) {
        read_sums(wave, inst, is_sparse ? &inst->dst[0] : &inst->src[2], block, &c, c_defined);
        for (unsigned i = 0; i < x->m; i++)
            c_defined[i] = a_defined[block] >> i & 1 ? c_defined[i] & (u32)b_defined[block] : 0;
        if (x->d == SIM_EL_F64)
            sim_matrix_sum64(x, a.d + block * n_a, b.d + block * n_b, c.d);
        else if (integers)
            sim_matrix_sum_int(x, terms, a.i + block * n_a, b.i + block * n_b, inst->clamp, c.i);
        else
            sim_matrix_sum(x, terms, a.f + block * n_a, b.f + block * n_b, c.f);
        write_sums(wave, inst, x, block, &c, c_defined);
    }
}

/* ---- the table ---- */

#define ROW(name, targets, ...)                                                                                        \
    {                                                                                                                  \
        name, targets, SIM_CLASS_MATRIX, {SIM_ANY}, {SIM_ANY, SIM_ANY, SIM_ANY}, run_matrix,                           \
            &(const struct sim_matrix) {                                                                               \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
#define F16S SIM_EL_F16, SIM_EL_F16
#define BF16S SIM_EL_BF16, SIM_EL_BF16
#define F32 SIM_EL_F32
#define I32 SIM_EL_I32
/* gfx90a's and gfx942's names of the instructions that both have, with the sums of each. */
#define BOTH_F32(old, new, m, n, k, blocks)                                                                            \
    ROW("v_mfma_f32_" old, SIM_GFX90A, SIM_MFMA, m, n, k, blocks, F32, F32, F32, SIM_SUM_CHAIN, 1),                    \
        ROW("v_mfma_f32_" new, SIM_GFX942, SIM_MFMA, m, n, k, blocks, F32, F32, F32, SIM_SUM_CHAIN, 1)
#define BOTH_16(old, new, m, n, k, blocks, types)                                                                      \
    ROW("v_mfma_f32_" old, SIM_GFX90A, SIM_MFMA, m, n, k, blocks, types, F32, SIM_SUM_PAIRS, 4),                       \
        ROW("v_mfma_f32_" new, SIM_GFX942, SIM_MFMA, m, n, k, blocks, types, F32, SIM_SUM_FUSED, 8)
#define OLD_BF16(name, m, n, k, blocks)                                                                                \
    ROW("v_mfma_f32_" name, SIM_GFX90A, SIM_MFMA, m, n, k, blocks, BF16S, F32, SIM_SUM_PAIRS, 2)
#define I8(name, targets, m, n, k, blocks)                                                                             \
    ROW("v_mfma_i32_" name, targets, SIM_MFMA, m, n, k, blocks, SIM_EL_I8, SIM_EL_I8, I32, SIM_SUM_INT, 0)
#define F64S(name, targets, m, n, k, blocks)                                                                           \
    ROW("v_mfma_f64_" name, targets, SIM_MFMA, m, n, k, blocks, SIM_EL_F64, SIM_EL_F64, SIM_EL_F64, SIM_SUM_CHAIN, 1)
#define FOUR_8(prefix, targets, fp8, bf8, ...)                                                                         \
    ROW(prefix "_fp8_fp8", targets, FOUR_8_(fp8, fp8, __VA_ARGS__)),                                                   \
        ROW(prefix "_fp8_bf8", targets, FOUR_8_(fp8, bf8, __VA_ARGS__)),                                               \
        ROW(prefix "_bf8_fp8", targets, FOUR_8_(bf8, fp8, __VA_ARGS__)),                                               \
        ROW(prefix "_bf8_bf8", targets, FOUR_8_(bf8, bf8, __VA_ARGS__))
#define FOUR_8_(a, b, layout, m, n, k, sum, group) layout, m, n, k, 1, a, b, F32, sum, group
#define SPARSE_16(name, m, n, k, types)                                                                                \
    ROW("v_smfmac_f32_" name, SIM_GFX942, SIM_SMFMAC, m, n, k, 1, types, F32, SIM_SUM_FUSED, 8)
#define SPARSE_I8(name, m, n, k)                                                                                       \
    ROW("v_smfmac_i32_" name, SIM_GFX942, SIM_SMFMAC, m, n, k, 1, SIM_EL_I8, SIM_EL_I8, I32, SIM_SUM_INT, 0)
#define WMMA_FLOATS(prefix, targets, layout, k)                                                                        \
    ROW("v_" prefix "_f32_16x16x" #k "_f16", targets, layout, 16, 16, k, 1, F16S, F32, SIM_SUM_CHAIN, 1),              \
        ROW("v_" prefix "_f32_16x16x" #k "_bf16", targets, layout, 16, 16, k, 1, BF16S, F32, SIM_SUM_CHAIN, 1),        \
        ROW("v_" prefix "_f16_16x16x" #k "_f16", targets, layout, 16, 16, k, 1, F16S, SIM_EL_F16, SIM_SUM_CHAIN, 1),   \
        ROW("v_" prefix "_bf16_16x16x" #k "_bf16", targets, layout, 16, 16, k, 1, BF16S, SIM_EL_BF16, SIM_SUM_CHAIN,   \
            1)
#define WMMA_INT(name, targets, layout, k, type)                                                                       \
    ROW("v_" name, targets, layout, 16, 16, k, 1, type, type, I32, SIM_SUM_INT, 0)

#define DOT(name, targets, result, a, b, c, run, ...)                                                                  \
    {                                                                                                                  \
        name, targets, SIM_CLASS_VALU, {result}, {a, b, c}, run, &(const struct sim_dot) { __VA_ARGS__ }               \
    }
#define DOT_INT(name, targets, sum, ...) DOT(name, targets, sum, SIM_B32, SIM_B32, sum, sim_run_dot_int, __VA_ARGS__)

const struct sim_op sim_matrix_ops[] = {
    BOTH_F32("32x32x1f32", "32x32x1_2b_f32", 32, 32, 1, 2),
    BOTH_F32("16x16x1f32", "16x16x1_4b_f32", 16, 16, 1, 4),
    BOTH_F32("4x4x1f32", "4x4x1_16b_f32", 4, 4, 1, 16),
    BOTH_F32("32x32x2f32", "32x32x2_f32", 32, 32, 2, 1),
    BOTH_F32("16x16x4f32", "16x16x4_f32", 16, 16, 4, 1),
    BOTH_16("32x32x4f16", "32x32x4_2b_f16", 32, 32, 4, 2, F16S),
    BOTH_16("16x16x4f16", "16x16x4_4b_f16", 16, 16, 4, 4, F16S),
    BOTH_16("4x4x4f16", "4x4x4_16b_f16", 4, 4, 4, 16, F16S),
    BOTH_16("32x32x8f16", "32x32x8_f16", 32, 32, 8, 1, F16S),
    BOTH_16("16x16x16f16", "16x16x16_f16", 16, 16, 16, 1, F16S),
    BOTH_16("32x32x4bf16_1k", "32x32x4_2b_bf16", 32, 32, 4, 2, BF16S),
    BOTH_16("16x16x4bf16_1k", "16x16x4_4b_bf16", 16, 16, 4, 4, BF16S),
    BOTH_16("4x4x4bf16_1k", "4x4x4_16b_bf16", 4, 4, 4, 16, BF16S),
    BOTH_16("32x32x8bf16_1k", "32x32x8_bf16", 32, 32, 8, 1, BF16S),
    BOTH_16("16x16x16bf16_1k", "16x16x16_bf16", 16, 16, 16, 1, BF16S),
    OLD_BF16("32x32x2bf16", 32, 32, 2, 2),
    OLD_BF16("16x16x2bf16", 16, 16, 2, 4),
    OLD_BF16("4x4x2bf16", 4, 4, 2, 16),
    OLD_BF16("32x32x4bf16", 32, 32, 4, 1),
    OLD_BF16("16x16x8bf16", 16, 16, 8, 1),
    I8("32x32x4i8", SIM_GFX90A, 32, 32, 4, 2),
    I8("16x16x4i8", SIM_GFX90A, 16, 16, 4, 4),
    I8("4x4x4i8", SIM_GFX90A, 4, 4, 4, 16),
    I8("32x32x8i8", SIM_GFX90A, 32, 32, 8, 1),
    I8("16x16x16i8", SIM_GFX90A, 16, 16, 16, 1),
    I8("32x32x4_2b_i8", SIM_GFX942, 32, 32, 4, 2),
    I8("16x16x4_4b_i8", SIM_GFX942, 16, 16, 4, 4),
    I8("4x4x4_16b_i8", SIM_GFX942, 4, 4, 4, 16),
    I8("32x32x16_i8", SIM_GFX942, 32, 32, 16, 1),
    I8("16x16x32_i8", SIM_GFX942, 16, 16, 32, 1),
    F64S("16x16x4f64", SIM_GFX90A, 16, 16, 4, 1),
    F64S("4x4x4f64", SIM_GFX90A, 4, 4, 4, 4),
    F64S("16x16x4_f64", SIM_GFX942, 16, 16, 4, 1),
    F64S("4x4x4_4b_f64", SIM_GFX942, 4, 4, 4, 4),
    ROW("v_mfma_f32_16x16x8_xf32", SIM_GFX942, SIM_MFMA, 16, 16, 8, 1, SIM_EL_XF32, SIM_EL_XF32, F32, SIM_SUM_FUSED, 4),
    ROW("v_mfma_f32_32x32x4_xf32", SIM_GFX942, SIM_MFMA, 32, 32, 4, 1, SIM_EL_XF32, SIM_EL_XF32, F32, SIM_SUM_FUSED, 4),
    FOUR_8("v_mfma_f32_16x16x32", SIM_GFX942, SIM_EL_FP8_FNUZ, SIM_EL_BF8_FNUZ, SIM_MFMA, 16, 16, 32, SIM_SUM_FUSED8,
           16),
    FOUR_8("v_mfma_f32_32x32x16", SIM_GFX942, SIM_EL_FP8_FNUZ, SIM_EL_BF8_FNUZ, SIM_MFMA, 32, 32, 16, SIM_SUM_FUSED8,
           16),
    SPARSE_16("16x16x32_f16", 16, 16, 32, F16S),
    SPARSE_16("32x32x16_f16", 32, 32, 16, F16S),
    SPARSE_16("16x16x32_bf16", 16, 16, 32, BF16S),
    SPARSE_16("32x32x16_bf16", 32, 32, 16, BF16S),
    SPARSE_I8("16x16x64_i8", 16, 16, 64),
    SPARSE_I8("32x32x32_i8", 32, 32, 32),
    FOUR_8("v_smfmac_f32_16x16x64", SIM_GFX942, SIM_EL_FP8_FNUZ, SIM_EL_BF8_FNUZ, SIM_SMFMAC, 16, 16, 64,
           SIM_SUM_FUSED8, 16),
    FOUR_8("v_smfmac_f32_32x32x32", SIM_GFX942, SIM_EL_FP8_FNUZ, SIM_EL_BF8_FNUZ, SIM_SMFMAC, 32, 32, 32,
           SIM_SUM_FUSED8, 16),

    WMMA_FLOATS("wmma", SIM_GFX1100, SIM_WMMA11, 16),
    WMMA_INT("wmma_i32_16x16x16_iu8", SIM_GFX1100, SIM_WMMA11, 16, SIM_EL_IU8),
    WMMA_INT("wmma_i32_16x16x16_iu4", SIM_GFX1100, SIM_WMMA11, 16, SIM_EL_IU4),
    WMMA_FLOATS("wmma", SIM_GFX1201, SIM_WMMA12, 16),
    WMMA_INT("wmma_i32_16x16x16_iu8", SIM_GFX1201, SIM_WMMA12, 16, SIM_EL_IU8),
    WMMA_INT("wmma_i32_16x16x16_iu4", SIM_GFX1201, SIM_WMMA12, 16, SIM_EL_IU4),
    WMMA_INT("wmma_i32_16x16x32_iu4", SIM_GFX1201, SIM_WMMA12, 32, SIM_EL_IU4),
    FOUR_8("v_wmma_f32_16x16x16", SIM_GFX1201, SIM_EL_FP8, SIM_EL_BF8, SIM_WMMA12, 16, 16, 16, SIM_SUM_CHAIN, 1),
    WMMA_FLOATS("swmmac", SIM_GFX1201, SIM_SWMMAC, 32),
    WMMA_INT("swmmac_i32_16x16x32_iu8", SIM_GFX1201, SIM_SWMMAC, 32, SIM_EL_IU8),
    WMMA_INT("swmmac_i32_16x16x32_iu4", SIM_GFX1201, SIM_SWMMAC, 32, SIM_EL_IU4),
    WMMA_INT("swmmac_i32_16x16x64_iu4", SIM_GFX1201, SIM_SWMMAC, 64, SIM_EL_IU4),
    FOUR_8("v_swmmac_f32_16x16x32", SIM_GFX1201, SIM_EL_FP8, SIM_EL_BF8, SIM_SWMMAC, 16, 16, 32, SIM_SUM_CHAIN, 1),

    DOT("v_dot2_f32_f16", SIM_ALL, SIM_F32, SIM_V2F16, SIM_V2F16, SIM_F32, sim_run_dot2_float, .a = SIM_EL_F16),
    DOT("v_dot2_f32_bf16", SIM_GFX11_12, SIM_F32, SIM_V2BF16, SIM_V2BF16, SIM_F32, sim_run_dot2_float,
        .a = SIM_EL_BF16),
    DOT("v_dot2c_f32_f16", SIM_GFX9 | SIM_GFX1030, SIM_F32, SIM_V2F16, SIM_V2F16, SIM_NONE, sim_run_dot2_float,
        .a = SIM_EL_F16, .sums = true),
    DOT("v_dot2acc_f32_f16", SIM_GFX1100, SIM_F32, SIM_V2F16, SIM_V2F16, SIM_NONE, sim_run_dot2_float, .a = SIM_EL_F16,
        .sums = true),
    DOT("v_dot2_f16_f16", SIM_GFX11_12, SIM_F16, SIM_V2F16, SIM_V2F16, SIM_F16, sim_run_dot2_half, .a = SIM_EL_F16),
    DOT("v_dot2_bf16_bf16", SIM_GFX11_12, SIM_BF16, SIM_V2BF16, SIM_V2BF16, SIM_BF16, sim_run_dot2_half,
        .a = SIM_EL_BF16),
    DOT_INT("v_dot2_i32_i16", SIM_GFX9 | SIM_GFX1030, SIM_I32, .bits = 16, .is_signed = true),
    DOT_INT("v_dot2_u32_u16", SIM_GFX9 | SIM_GFX1030, SIM_U32, .bits = 16),
    DOT_INT("v_dot4_i32_i8", SIM_GFX9 | SIM_GFX1030, SIM_I32, .bits = 8, .is_signed = true),
    DOT_INT("v_dot4_u32_u8", SIM_ALL, SIM_U32, .bits = 8),
    DOT_INT("v_dot4_i32_iu8", SIM_GFX11_12, SIM_I32, .bits = 8, .by_neg = true),
    DOT_INT("v_dot8_i32_i4", SIM_GFX9 | SIM_GFX1030, SIM_I32, .bits = 4, .is_signed = true),
    DOT_INT("v_dot8_u32_u4", SIM_ALL, SIM_U32, .bits = 4),
    DOT_INT("v_dot8_i32_iu4", SIM_GFX11_12, SIM_I32, .bits = 4, .by_neg = true),
    DOT("v_dot2c_i32_i16", SIM_GFX9, SIM_I32, SIM_B32, SIM_B32, SIM_NONE, sim_run_dot_int, .bits = 16,
        .is_signed = true, .sums = true),
    DOT("v_dot4c_i32_i8", SIM_GFX9 | SIM_GFX1030, SIM_I32, SIM_B32, SIM_B32, SIM_NONE, sim_run_dot_int, .bits = 8,
        .is_signed = true, .sums = true),
    DOT("v_dot8c_i32_i4", SIM_GFX9, SIM_I32, SIM_B32, SIM_B32, SIM_NONE, sim_run_dot_int, .bits = 4, .is_signed = true,
        .sums = true),
    DOT("v_dot4_f32_fp8_fp8", SIM_GFX1201, SIM_F32, SIM_B32, SIM_B32, SIM_F32, sim_run_dot4_float, .a = SIM_EL_FP8,
        .b = SIM_EL_FP8),
    DOT("v_dot4_f32_fp8_bf8", SIM_GFX1201, SIM_F32, SIM_B32, SIM_B32, SIM_F32, sim_run_dot4_float, .a = SIM_EL_FP8,
        .b = SIM_EL_BF8),
    DOT("v_dot4_f32_bf8_fp8", SIM_GFX1201, SIM_F32, SIM_B32, SIM_B32, SIM_F32, sim_run_dot4_float, .a = SIM_EL_BF8,
        .b = SIM_EL_FP8),
    DOT("v_dot4_f32_bf8_bf8", SIM_GFX1201, SIM_F32, SIM_B32, SIM_B32, SIM_F32, sim_run_dot4_float, .a = SIM_EL_BF8,
        .b = SIM_EL_BF8),
    {0},
};
