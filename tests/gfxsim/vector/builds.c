/* The tables for any x86-64 and those for AVX2 compute the same: every row on registers full of special values,
 * denormals and random bits, in both, with every rounding, flushing or not. NaNs may differ in their bits. */
#include "tests/gfxsim/matrix/fixture.h"

#include "gfxsim/vector.h"

#define TABLES(X) X(f32) X(int) X(16) X(64) X(cmp) X(cvt)
#define DECLARE(name) extern const struct sim_op sim_vector_##name##_base[], sim_vector_##name##_avx2[];
TABLES(DECLARE)

static struct fixture f;
static u64 state = 1;

static u32 interesting(void) {
    static const u32 values[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                 0x7f800001, 0x00000001, 0x807fffff, 0x7f7fffff, 0x3c003c00, 0x7c007c01, 0xfc000001,
                                 0x03ff8000, 0x7bff7bff, 0x7ff00000, 0x7ff80000, 0x3ff00000, 0x000fffff, 0xffffffff,
                                 0x7fffffff, 0x0000ffff, 0x41200000, 0x4b000001, 0x4f000000, 0xcf000001, 0x5f000000};
    const u32 v = random_u32(&state), kind = random_u32(&state) % 4;
    if (kind == 0) return values[v % (sizeof values / sizeof *values)];
    if (kind == 1) return v & 255;
    /* floats of moderate size, whose sums and products are neither 0 nor infinite */
    return kind == 2 ? (v & 0x8fffffff) | 0x30000000 : v;
}

static bool is_nan(u8 type, u32 low, u32 high) {
    switch (type) {
    case SIM_F32:
    case SIM_V2F32: return (low & 0x7fffffff) > 0x7f800000;
    case SIM_F64: return (high & 0x7fffffff) > 0x7ff00000 || ((high & 0x7fffffff) == 0x7ff00000 && low);
    case SIM_F16:
    case SIM_V2F16: return (low & 0x7fff) > 0x7c00;
    }
    return false;
}

/* Runs a row with its sources in rows 1, 5, 9, ... and its result in row 33; scalar masks from s2 on. */
static void run(const struct sim_op *op, struct sim_inst *inst) {
    memset(inst, 0, sizeof *inst);
    *inst = (struct sim_inst){.op = op, .op_sel_hi = 0xff, .row_mask = 0xf, .bank_mask = 0xf, .text = op->name};
    for (; inst->n_dst < SIM_DSTS && op->dst[inst->n_dst]; inst->n_dst++) {
        const u8 type = op->dst[inst->n_dst];
        inst->dst[inst->n_dst] = (struct sim_operand){.kind = type == SIM_MASK ? SIM_SGPR : SIM_VGPR,
                                                      .type = type,
                                                      .count = 2,
                                                      .index = type == SIM_MASK ? 2 : 33};
    }
    for (; inst->n_src < SIM_SRCS && op->src[inst->n_src]; inst->n_src++) {
        const u8 type = op->src[inst->n_src];
        inst->src[inst->n_src] = (struct sim_operand){.kind = type == SIM_MASK ? SIM_SGPR : SIM_VGPR,
                                                      .type = type,
                                                      .count = 2,
                                                      .index = type == SIM_MASK ? 4 : (u16)(1 + 4 * inst->n_src)};
    }
    f.wave.inst = inst;
    if (!setjmp(f.failed)) op->run(&f.wave, inst);
}

static void compare(const struct sim_op *base, const struct sim_op *avx2, enum sim_target target) {
    static struct fixture before, after;
    struct sim_inst inst;
    for (unsigned round = 0; round < 12; round++) {
        fixture_start(&f, target, 0);
        memset(f.wave.s_known, 0xff, sizeof f.wave.s_known);
        f.wave.mode = 0x300 | (round < 4 ? 0xf0 : random_u32(&state) & 0xff);
        for (unsigned row = 0; row < 40; row++) {
            for (unsigned l = 0; l < f.wave.size; l++) f.rows[row][l] = interesting();
        }
        f.wave.s[4] = random_u32(&state), f.wave.s[5] = random_u32(&state);
        if (round & 1) SIM_EXEC64(&f.wave) &= random_u32(&state) | (u64)random_u32(&state) << 32;
        before = f;
        run(base, &inst);
        after = f;
        f = before;
        run(avx2, &inst);
        CHECK_INT(f.wave.s64[1], after.wave.s64[1]);
        CHECK_INT(SIM_EXEC64(&f.wave), SIM_EXEC64(&after.wave));
        if (!memcmp(f.rows[33], after.rows[33], 4 * sizeof f.rows[33])) continue;
        for (unsigned l = 0; l < f.wave.size; l++) {
            for (unsigned w = 0; w < 4; w++) {
                const u32 a = after.rows[33 + w][l], b = f.rows[33 + w][l];
                const u8 type = inst.dst[0].type;
                const u32 ah = after.rows[34][l], bh = f.rows[34][l];
                if (a == b || (is_nan(type, after.rows[33][l], ah) && is_nan(type, f.rows[33][l], bh))) continue;
                if (is_nan(type, a, ah) && is_nan(type, b, bh)) continue;
                if ((type == SIM_V2F16 || type == SIM_F16) && is_nan(type, a >> 16, 0) && is_nan(type, b >> 16, 0))
                    continue;
                test_result(false, base->name, (int)round, "");
                printf("lane %u word %u mode %x: %08x, with AVX2 %08x (%08x %08x, %08x %08x, %08x)\n", l, w,
                       f.wave.mode, a, b, f.rows[1][l], f.rows[2][l], f.rows[5][l], f.rows[6][l], f.rows[9][l]);
            }
        }
        test_checks++;
    }
}

int main(void) {
    static const enum sim_target targets[] = {SIM_GFX90A, SIM_GFX942, SIM_GFX1030, SIM_GFX1100, SIM_GFX1201};
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        printf("this processor has no AVX2\n");
        return 77;
    }
#define PAIR(name) {sim_vector_##name##_base, sim_vector_##name##_avx2},
    static const struct sim_op *const tables[][2] = {TABLES(PAIR)};
    for (unsigned t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (unsigned i = 0; tables[t][0][i].name; i++) {
            CHECK_TEXT(tables[t][0][i].name, tables[t][1][i].name);
            for (unsigned k = 0; k < 5; k++) {
                if (tables[t][0][i].targets & targets[k]) compare(&tables[t][0][i], &tables[t][1][i], targets[k]);
            }
        }
    }
    return test_end();
}
