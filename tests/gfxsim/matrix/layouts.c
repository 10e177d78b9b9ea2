/* Every matrix instruction on small integers, whose sums are exact however they are rounded, so that only the places of
 * elements, the modifiers and the definedness can be wrong. The places are AMD's matrix instruction calculator's
 * formulas from an element's indices to its register and lane. With MATRIX_TEXTS in the environment it prints the
 * instructions, which llvm-mc can then check. */
#include "fixture.h"

enum type { F64, F32, XF32, F16, BF16, FP8, BF8, I8, IU8, IU4, I32, N_TYPES };
static const u8 bits_of_type[N_TYPES] = {64, 32, 32, 16, 16, 8, 8, 8, 8, 4, 32};

struct instruction {
    u8 target; /* enum sim_target */
    const char *name;
    u8 m, n, k, blocks;
    u8 a, b, d;
    bool blgp, cbsz; /* whether it has them */
};
static const struct instruction instructions[] = {
#define I(target, name, m, n, k, blocks, a, b, d, blgp, cbsz)                                                          \
    {SIM_##target, "v_" name, m, n, k, blocks, a, b, d, blgp, cbsz},
#include "instructions.def"
#undef I
};

static bool is_sparse(const struct instruction *x) { return strstr(x->name, "smfmac") || strstr(x->name, "swmmac"); }
static bool is_mfma(const struct instruction *x) { return x->target & SIM_GFX9; }

/* Of an element: register (of its matrix), lane, and lowest bit. */
struct place {
    unsigned row, lane, bit;
};

/* Matrix A, or with `b_matrix` B, of gfx9: element [i][k] of a block. K is halved for a sparse A, whose k is the number
 * of a stored element. */
static struct place place_gfx9(const struct instruction *x, bool b_matrix, unsigned i, unsigned k, unsigned block) {
    unsigned size = b_matrix ? x->n : x->m, terms = is_sparse(x) && !b_matrix ? x->k / 2 : x->k;
    unsigned contiguous = terms / (64 / (size * x->blocks)), bits = bits_of_type[x->a], element = k % contiguous;
    struct place p = {element * bits / 32, block * size + k / contiguous * size * x->blocks + i, element * bits % 32};
    return p;
}

/* A and B of gfx12, by the tables for waves of 32. */
static struct place place_gfx12(const struct instruction *x, bool b_matrix, unsigned i, unsigned k) {
    unsigned bits = bits_of_type[x->a];
    struct place p = {0, 0, 0};
    if (!is_sparse(x)) {
        if (bits == 16) p = (struct place){2 * (k / 8) + k / 2 % 2, 16 * (k / 4 % 2) + i, k % 2 * 16};
        if (bits == 8) p = (struct place){k / 4 % 2, 16 * (k / 8) + i, k % 4 * 8};
        if (bits == 4 && x->k == 16) p = (struct place){0, 16 * (k / 8) + i, k % 8 * 4};
        if (bits == 4 && x->k == 32) p = (struct place){k / 8 % 2, 16 * (k / 16) + i, k % 8 * 4};
    } else if (b_matrix) {
        if (bits == 16) p = (struct place){4 * (k / 16) + k / 2 % 4, 16 * (k / 8 % 2) + i, k % 2 * 16};
        if (bits == 8) p = (struct place){k / 4 % 4, 16 * (k / 16) + i, k % 4 * 8};
        if (bits == 4 && x->k == 32) p = (struct place){k / 8 % 2, 16 * (k / 16) + i, k % 8 * 4};
        if (bits == 4 && x->k == 64) p = (struct place){k / 8 % 4, 16 * (k / 32) + i, k % 8 * 4};
    } else { /* here k is the first of the four that share two stored elements, number k % 2 of them */
        unsigned second = k % 2;
        k = k / 2 * 4;
        if (bits == 16) p = (struct place){2 * (k / 16) + k / 4 % 2, 16 * (k / 8 % 2) + i, 16 * second};
        if (bits == 8) p = (struct place){k / 8 % 2, 16 * (k / 16) + i, 16 * (k / 4 % 2) + 8 * second};
        if (bits == 4 && x->k == 32) p = (struct place){0, 16 * (k / 16) + i, 8 * (k / 4 % 4) + 4 * second};
        if (bits == 4 && x->k == 64) p = (struct place){k / 16 % 2, 16 * (k / 32) + i, 8 * (k / 4 % 4) + 4 * second};
    }
    return p;
}

/* gfx11 wants each element in lanes i and i + 16; this is the first. */
static struct place place_gfx11(const struct instruction *x, unsigned i, unsigned k) {
    unsigned bits = bits_of_type[x->a];
    return (struct place){k * bits / 32, i, k * bits % 32};
}

static struct place place_input(const struct instruction *x, bool b_matrix, unsigned i, unsigned k, unsigned block) {
    if (is_mfma(x)) return place_gfx9(x, b_matrix, i, k, block);
    return x->target == SIM_GFX1100 ? place_gfx11(x, i, k) : place_gfx12(x, b_matrix, i, k);
}

static struct place place_sum(const struct instruction *x, unsigned i, unsigned j, unsigned block, bool high) {
    bool half = bits_of_type[x->d] == 16;
    unsigned across, height, shared;
    if (x->target == SIM_GFX1100) return (struct place){i / 2, (16 * i) % 32 + j, half && high ? 16 : 0};
    if (x->target == SIM_GFX1201)
        return half ? (struct place){i / 2 % 4, 16 * (i / 8) + j, 16 * (i % 2)}
                    : (struct place){i % 8, 16 * (i / 8) + j, 0};
    across = 64 / x->n;
    height = x->d == F64 ? 1 : 4;
    shared = (64 + x->n * x->m / height - 1) / (x->n * x->m / height);
    return (struct place){block * ((x->m * x->n) / 64) + i / (height * across) * height + i % height,
                          block % shared * x->n + i / height % across * shared * x->n + j, 0};
}

/* The two bits that say which of four k a stored element is. */
static struct place place_index(const struct instruction *x, unsigned i, unsigned stored, unsigned set) {
    unsigned bits = bits_of_type[x->a], k = stored / 2 * 4, second = stored % 2;
    struct place p;
    if (is_mfma(x)) {
        unsigned contiguous = x->k / 2 / (64 / x->m);
        return (struct place){0, stored / contiguous * x->m + i, set * (bits == 16 ? 8 : 16) + stored % contiguous * 2};
    }
    p = place_gfx12(x, false, i, stored);
    p.row = 0;
    if (bits == 16)
        p.bit = 8 * (k / 16) + 4 * (k / 4 % 2);
    else
        p.bit = 4 * (k / 4 % (x->k == 64 ? 8 : 4));
    p.bit += 2 * second + (x->k == 64 && bits == 4 ? 0 : set * 16);
    return p;
}

/* The lane of B's registers that BLGP puts into `lane`: AMD's list of the eight patterns. */
static unsigned lane_of_pattern(unsigned blgp, unsigned lane) {
    static const u8 quarters[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
                                      {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
    return quarters[blgp][lane / 16] * 16u + lane % 16;
}

/* The bits of a small integer in a type. */
static u64 code_of(unsigned target, unsigned type, int value) {
    int magnitude = abs(value), exponent = 0;
    u64 sign = value < 0, mantissa;
    if (type == F64) return sim_bits_f64(value);
    if (type == F32 || type == XF32) return sim_bits_f32((float)value);
    if (type >= I8) return (u32)value & (bits_of_type[type] == 32 ? 0xffffffffu : (1u << bits_of_type[type]) - 1);
    if (type == BF16) return sim_bits_f32((float)value) >> 16;
    if (!magnitude) return 0;
    while (magnitude >> (exponent + 1)) exponent++;
    mantissa = (u64)(magnitude - (1 << exponent));
    if (type == F16) return sign << 15 | (u64)(exponent + 15) << 10 | mantissa << (10 - exponent);
    if (type == FP8)
        return sign << 7 | (u64)(exponent + (target == SIM_GFX942 ? 8 : 7)) << 3 | mantissa << 3 >> exponent;
    return sign << 7 | (u64)(exponent + (target == SIM_GFX942 ? 16 : 15)) << 2 | mantissa << 2 >> exponent;
}
static double value_of(unsigned type, u64 code) {
    if (type == I32) return (i32)code;
    if (type == F32) return sim_f32((u32)code);
    if (type == BF16) return sim_f32((u32)code << 16);
    if (type == F16)
        return (code >> 15 ? -1 : 1) *
               (code & 0x7fff ? ldexp(1024 + (double)(code & 0x3ff), (int)(code >> 10 & 31) - 25) : 0);
    return sim_f64(code);
}

static void put(struct fixture *f, unsigned base, struct place p, unsigned bits, u64 code) {
    u32 *at = &f->rows[base + p.row * (bits == 64 ? 2 : 1)][p.lane], mask = bits >= 32 ? ~(u32)0 : (1u << bits) - 1;
    *at = (*at & ~(mask << p.bit)) | (u32)code << p.bit;
    if (bits == 64) f->rows[base + p.row * 2 + 1][p.lane] = (u32)(code >> 32);
}
static u64 get(const struct fixture *f, unsigned base, struct place p, unsigned bits) {
    const u32 *at = &f->rows[base + p.row * (bits == 64 ? 2 : 1)][p.lane];
    if (bits == 64) return *at | (u64)f->rows[base + p.row * 2 + 1][p.lane] << 32;
    return *at >> p.bit & (bits >= 32 ? ~(u32)0 : (1u << bits) - 1);
}

/* One case: operands in VGPRs or AGPRs, and what modifies them. */
struct choice {
    bool acc_a, acc_b, acc_d;
    unsigned cbsz, abid, blgp; /* blgp is neg of f64 */
    unsigned set;              /* of the index */
    unsigned neg_lo, neg_hi;
    bool high;     /* gfx11's upper halves */
    int constant;  /* C; 99: registers */
    int undefined; /* 1: a lane of A, 2: of B, 3: of C; 0: none */
};
enum { A_AT = 16, B_AT = 32, C_AT = 64, D_AT = 128, INDEX_AT = 8 };

static unsigned registers(const struct instruction *x, char matrix) {
    unsigned bits = matrix == 'd' ? bits_of_type[x->d] : bits_of_type[x->a], lanes = is_mfma(x) ? 64 : 32, elements;
    if (matrix == 'd' && x->target == SIM_GFX1100) return 8;
    elements = matrix == 'd' ? x->m * x->n : matrix == 'a' ? x->m * x->k / (is_sparse(x) ? 2 : 1) : x->n * x->k;
    if (x->target == SIM_GFX1100) lanes = 16;
    return elements * x->blocks * bits / lanes / 32;
}
static void operand(char *text, const char *before, bool acc, unsigned at, unsigned n) {
    char one[32];
    if (n == 1)
        snprintf(one, sizeof one, "%s%c%u", before, acc ? 'a' : 'v', at);
    else
        snprintf(one, sizeof one, "%s%c[%u:%u]", before, acc ? 'a' : 'v', at, at + n - 1);
    strcat(text, one);
}
static void instruction_text(const struct instruction *x, const struct choice *c, char text[256]) {
    unsigned n_d = registers(x, 'd');
    snprintf(text, 256, "%s ", x->name);
    operand(text, "", c->acc_d, D_AT, n_d);
    operand(text, ", ", c->acc_a, A_AT, registers(x, 'a'));
    operand(text, ", ", c->acc_b, B_AT, registers(x, 'b'));
    if (is_sparse(x))
        operand(text, ", ", false, INDEX_AT, 1);
    else if (c->constant == 99)
        operand(text, ", ", c->acc_d, C_AT, n_d);
    else if (x->d == I32)
        sprintf(text + strlen(text), ", %d", c->constant);
    else
        sprintf(text + strlen(text), ", %d.0", c->constant);
    if (c->high) strcat(text, " op_sel:[0,0,1]");
    if (c->cbsz) sprintf(text + strlen(text), " cbsz:%u", c->cbsz);
    if (c->abid || (c->set && is_mfma(x))) sprintf(text + strlen(text), " abid:%u", c->abid | c->set);
    if (c->set && !is_mfma(x)) sprintf(text + strlen(text), " index_key:%u", c->set);
    if (c->blgp && x->d == F64)
        sprintf(text + strlen(text), " neg:[%u,%u,%u]", c->blgp & 1, c->blgp >> 1 & 1, c->blgp >> 2);
    else if (c->blgp)
        sprintf(text + strlen(text), " blgp:%u", c->blgp);
    if (c->neg_lo)
        sprintf(text + strlen(text), " neg_lo:[%u,%u,%u]", c->neg_lo & 1, c->neg_lo >> 1 & 1, c->neg_lo >> 2);
    if (c->neg_hi)
        sprintf(text + strlen(text), " neg_hi:[%u,%u,%u]", c->neg_hi & 1, c->neg_hi >> 1 & 1, c->neg_hi >> 2);
}

static struct fixture f;
static int a[16][32][64], b[16][64][32], sums[16][32][32]; /* by block */
static unsigned stored_k[32][32];

static int number(u64 *state, unsigned type, bool narrow, bool is_signed) {
    int range = type == IU4 ? 16 : 256;
    if (type == IU8 || type == IU4) return (int)(random_u32(state) % (u32)range) - (is_signed ? range / 2 : 0);
    return (int)(random_u32(state) % (narrow ? 5 : 15)) - (narrow ? 2 : 7);
}

/* Where a case's operands lie, and how large they are. */
struct layout {
    unsigned stored, bits, d_bits, a, b, c, d;
    bool narrow;
};
static struct layout layout_of(const struct instruction *x, const struct choice *c) {
    struct layout at = {
        .stored = is_sparse(x) ? x->k / 2 : x->k, .bits = bits_of_type[x->a], .d_bits = bits_of_type[x->d]};
    at.a = A_AT + (c->acc_a ? AGPRS : 0);
    at.b = B_AT + (c->acc_b ? AGPRS : 0);
    at.d = D_AT + (c->acc_d ? AGPRS : 0);
    at.c = is_sparse(x) ? at.d : C_AT + (c->acc_d ? AGPRS : 0);
    /* fp8 and bf8 hold integers of 4 and 3 bits, 16-bit sums are to stay small */
    at.narrow = at.bits == 8 ? x->a == FP8 || x->a == BF8 || x->b == BF8 : at.d_bits == 16;
    return at;
}

/* Random operands of one block, in registers and in a, b and sums. */
static void fill(const struct instruction *x, const struct choice *c, const struct layout *at, unsigned block,
                 u64 *state) {
    for (unsigned i = 0; i < x->m; i++)
        for (unsigned k = 0; k < at->stored; k++) {
            struct place p = place_input(x, false, i, k, block);
            a[block][i][k] = number(state, x->a, at->narrow, c->neg_lo & 1);
            put(&f, at->a, p, at->bits, code_of(x->target, x->a, a[block][i][k]));
            if (x->target == SIM_GFX1100)
                p.lane += 16, put(&f, at->a, p, at->bits, code_of(x->target, x->a, a[block][i][k]));
        }
    for (unsigned j = 0; j < x->n; j++)
        for (unsigned k = 0; k < x->k; k++) {
            struct place p = place_input(x, true, j, k, block);
            b[block][k][j] = number(state, x->b, at->narrow, c->neg_lo & 2);
            put(&f, at->b, p, at->bits, code_of(x->target, x->b, b[block][k][j]));
            if (x->target == SIM_GFX1100)
                p.lane += 16, put(&f, at->b, p, at->bits, code_of(x->target, x->b, b[block][k][j]));
        }
    for (unsigned i = 0; i < x->m; i++)
        for (unsigned j = 0; j < x->n; j++) {
            sums[block][i][j] = (int)(random_u32(state) % 61) - 30;
            put(&f, at->c, place_sum(x, i, j, block, c->high), at->d_bits, code_of(x->target, x->d, sums[block][i][j]));
            if (c->constant != 99) sums[block][i][j] = c->constant;
        }
}

/* The index of a sparse A: two of each four terms of B. */
static void fill_index(const struct instruction *x, const struct choice *c, unsigned stored, u64 *state) {
    for (unsigned i = 0; i < x->m; i++)
        for (unsigned p = 0; p < stored; p++) {
            u32 least = p % 2 ? stored_k[i][p - 1] % 4 + 1 : 0, which = least + random_u32(state) % (3 + p % 2 - least);
            stored_k[i][p] = p / 2 * 4 + which;
            put(&f, INDEX_AT, place_index(x, i, p, c->set), 2, which);
        }
}

static void undefine(const struct instruction *x, const struct choice *c, const struct layout *at) {
    struct place hole;
    if (c->undefined == 1)
        hole = place_input(x, false, 1, at->stored - 1, 0), f.defined[at->a + hole.row] &= ~((u64)1 << hole.lane);
    if (c->undefined == 2) hole = place_input(x, true, 2, 0, 0), f.defined[at->b + hole.row] &= ~((u64)1 << hole.lane);
    if (c->undefined == 3) hole = place_sum(x, 3, 1, 0, false), f.defined[at->c + hole.row] &= ~((u64)1 << hole.lane);
}

/* The right D[i][j] of a block. */
static long expected(const struct instruction *x, const struct choice *c, unsigned block, unsigned i, unsigned j) {
    unsigned from = c->cbsz ? (block >> c->cbsz << c->cbsz) + c->abid : block;
    bool f64 = x->d == F64, floats = bits_of_type[x->a] == 16;
    long want = sums[block][i][j];
    if (!f64 && c->neg_hi & 4) want = labs(want);
    if (f64 ? c->blgp & 4 : c->neg_lo & 4) want = -want;
    for (unsigned s = 0; s < (is_sparse(x) ? x->k / 2 : x->k); s++) {
        unsigned k = is_sparse(x) ? stored_k[i][s] : s, b_block = block, b_k = k, b_j = j;
        if (c->blgp && !f64) { /* the element that lies where this one's would */
            struct place own = place_input(x, true, j, k, block);
            unsigned lane = lane_of_pattern(c->blgp, own.lane), contiguous = x->k / (64 / (x->n * x->blocks));
            b_j = lane % x->n;
            b_block = lane / x->n % x->blocks;
            b_k = lane / (x->n * x->blocks) * contiguous + k % contiguous;
        }
        long product = (long)a[from][i][s] * b[b_block][b_k][b_j];
        if (f64 ? c->blgp & 1 : floats && (s % 2 ? c->neg_hi : c->neg_lo) & 1) product = -product;
        if (f64 ? c->blgp & 2 : floats && (k % 2 ? c->neg_hi : c->neg_lo) & 2) product = -product;
        want += product;
    }
    return want;
}

/* Whether D[i][j] of a block is defined. Two 16-bit sums of gfx12 share a register. */
static bool is_defined(const struct instruction *x, const struct choice *c, unsigned block, unsigned i, unsigned j) {
    bool shared = x->target == SIM_GFX1201 && bits_of_type[x->d] == 16;
    return !(block == 0 && ((c->undefined == 1 && (shared ? i < 2 : i == 1)) || (c->undefined == 2 && j == 2) ||
                            (c->undefined == 3 && i == 3 && j == 1)));
}

static void one_case(const struct instruction *x, const struct choice *c, u64 *state) {
    struct layout at = layout_of(x, c);
    unsigned bad = 0;
    char text[256];
    fixture_start(&f, x->target, 0);
    for (unsigned block = 0; block < x->blocks; block++) fill(x, c, &at, block, state);
    if (is_sparse(x)) fill_index(x, c, at.stored, state);
    undefine(x, c, &at);
    instruction_text(x, c, text);
    if (getenv("MATRIX_TEXTS")) printf("TEXT %s %s\n", sim_target_name(x->target), text);
    CHECK(fixture_run(&f, text));
    for (unsigned block = 0; block < x->blocks; block++)
        for (unsigned i = 0; i < x->m; i++)
            for (unsigned j = 0; j < x->n; j++) {
                struct place p = place_sum(x, i, j, block, c->high);
                long want = expected(x, c, block, i, j);
                double got = value_of(x->d, get(&f, at.d, p, at.d_bits));
                bool known = f.defined[at.d + p.row * (x->d == F64 ? 2 : 1)] >> p.lane & 1;
                bool want_known = is_defined(x, c, block, i, j);
                test_checks++;
                if ((got == want && known == want_known) || (!want_known && !known)) continue;
                if (bad++ == 0) {
                    test_result(false, __FILE__, __LINE__, text);
                    printf(" on %s: D[%u][%u] of block %u is %g (defined: %d), should be %ld (%d)\n",
                           sim_target_name(x->target), i, j, block, got, known, want, want_known);
                }
            }
}

static void test_one(const struct instruction *x, u64 *state) {
    struct choice plain = {.constant = 99}, c = plain;
    bool neg64 = x->d == F64 && x->target == SIM_GFX942, wmma = !is_mfma(x), floats = bits_of_type[x->a] == 16;
    one_case(x, &plain, state);
    if (!is_sparse(x)) {
        c.constant = 0, one_case(x, &c, state);
        c.constant = -2, one_case(x, &c, state);
        if (bits_of_type[x->d] >= 32) c.constant = 99, c.undefined = 3, one_case(x, &c, state);
    }
    c = plain, c.undefined = 1, one_case(x, &c, state);
    c = plain, c.undefined = 2, one_case(x, &c, state);
    if (is_mfma(x)) {
        c = (struct choice){.acc_a = true, .acc_d = true, .constant = 99}, one_case(x, &c, state);
        c = (struct choice){.acc_b = true, .constant = 99}, one_case(x, &c, state);
    }
    if (x->cbsz && !is_sparse(x))
        for (c = plain, c.cbsz = 1; 1u << c.cbsz <= x->blocks; c.cbsz++)
            for (c.abid = 0; c.abid < 1u << c.cbsz; c.abid++) one_case(x, &c, state);
    if (x->blgp || neg64)
        for (c = plain, c.blgp = 1; c.blgp < 8; c.blgp++) one_case(x, &c, state);
    if (is_sparse(x) && !(x->k == 64 && x->a == IU4)) {
        unsigned sets = is_mfma(x) && bits_of_type[x->a] == 16 ? 4 : 2;
        for (c = plain, c.set = 1; c.set < sets; c.set++) one_case(x, &c, state);
    }
    if (x->a == IU8 || x->a == IU4)
        for (c = plain, c.neg_lo = 1; c.neg_lo < 4; c.neg_lo++) one_case(x, &c, state);
    if (wmma && floats && !is_sparse(x)) {
        for (unsigned bits = 1; bits < 64; bits++) {
            c = plain, c.neg_lo = bits & 7, c.neg_hi = bits >> 3;
            one_case(x, &c, state);
        }
        if (x->target == SIM_GFX1100 && bits_of_type[x->d] == 16) c = plain, c.high = true, one_case(x, &c, state);
    }
}

int main(void) {
    sim_settings_read();
    u64 state = 1;
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) test_one(&instructions[i], &state);
    return test_end();
}
