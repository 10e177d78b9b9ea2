/* Between lanes, between a lane and a scalar register, and by a register's number in M0. */
#include "gfxsim/vector_math.h"

static const struct sim_vector plain = {NULL, NULL, 0};

static unsigned first_lane(const struct sim_wave *wave) {
    const u64 exec = SIM_EXEC64(wave) & sim_wave_lanes(wave);
    return exec ? (unsigned)__builtin_ctzll(exec) : 0;
}

static u32 scalar(struct sim_wave *wave, const struct sim_operand *operand, const char *what) {
    if (!sim_scalar_defined(wave, operand)) sim_fail(wave, -1, 719, "%s from a register never written", what);
    return sim_scalar_read(wave, operand, 0);
}

static void read_lane(struct sim_wave *wave, const struct sim_inst *inst, unsigned lane) {
    u32 space[64];
    u64 defined = ~(u64)0;
    const u32 *row = sim_lanes_row(wave, &inst->src[0], 0, space, &defined);
    sim_scalar_write(wave, &inst->dst[0], 0, row[lane], defined >> lane & 1);
}

static void readfirstlane(struct sim_wave *wave, const struct sim_inst *inst) {
    read_lane(wave, inst, first_lane(wave));
}

static void readlane(struct sim_wave *wave, const struct sim_inst *inst) {
    read_lane(wave, inst, scalar(wave, &inst->src[1], "a lane's number") & (wave->size - 1));
}

/* Compilers spill masks to lanes, some bits of which nothing wrote and which ands take away later: a lane, of which one
 * bit is kept, is defined when any of them is. */
static void writelane(struct sim_wave *wave, const struct sim_inst *inst) {
    const unsigned lane = scalar(wave, &inst->src[1], "a lane's number") & (wave->size - 1);
    const unsigned index = sim_lanes_register(wave, &inst->dst[0], 0);
    const u64 bit = (u64)1 << lane;
    wave->v[index][lane] = sim_scalar_read(wave, &inst->src[0], 0);
    wave->v_defined[index] &= ~bit;
    if (sim_scalar_known(wave, &inst->src[0], 0)) wave->v_defined[index] |= bit;
}

static void swap_registers(struct sim_wave *wave, unsigned a, unsigned b) {
    const u64 exec = SIM_EXEC64(wave) & sim_wave_lanes(wave), differ = (wave->v_defined[a] ^ wave->v_defined[b]) & exec;
    for (unsigned l = 0; l < wave->size; l++) {
        if (!(exec >> l & 1)) continue;
        const u32 v = wave->v[a][l];
        wave->v[a][l] = wave->v[b][l];
        wave->v[b][l] = v;
    }
    wave->v_defined[a] ^= differ;
    wave->v_defined[b] ^= differ;
}

static void swap(struct sim_wave *wave, const struct sim_inst *inst) {
    swap_registers(wave, sim_lanes_register(wave, &inst->dst[0], 0), sim_lanes_register(wave, &inst->dst[1], 0));
}

static void swap_halves(struct sim_wave *wave, const struct sim_inst *inst) {
    const unsigned a = sim_lanes_register(wave, &inst->dst[0], 0), b = sim_lanes_register(wave, &inst->dst[1], 0);
    const unsigned p = inst->dst[0].high ? 16 : 0, q = inst->dst[1].high ? 16 : 0;
    const u64 exec = SIM_EXEC64(wave) & sim_wave_lanes(wave);
    for (unsigned l = 0; l < wave->size; l++) {
        if (!(exec >> l & 1)) continue;
        const u32 x = wave->v[a][l] >> p & 0xffff, y = wave->v[b][l] >> q & 0xffff;
        wave->v[a][l] = (wave->v[a][l] & ~((u32)0xffff << p)) | y << p;
        wave->v[b][l] = (wave->v[b][l] & ~((u32)0xffff << q)) | x << q;
    }
}

/* Lanes' sources in from[], -1 for 0, to the lanes of `enabled`. */
static void permute(struct sim_wave *wave, const struct sim_inst *inst, const i8 from[64], u64 enabled) {
    u32 space[64], row[64];
    u64 known = ~(u64)0, defined = 0;
    const u32 *source = sim_lanes_row(wave, &inst->src[0], 0, space, &known);
    for (unsigned l = 0; l < 64; l++) {
        const bool zero = l >= wave->size || from[l] < 0;
        row[l] = zero ? 0 : source[from[l]];
        defined |= (u64)(zero || known >> from[l] & 1) << l;
    }
    sim_lanes_write(wave, &inst->dst[0], 0, row, enabled, defined);
}

/* `select` 0 to 15 for each lane, in its row of 16 or in the neighbouring one. op_sel: inactive lanes are read, and if
 * not, read as 0. */
static void permlane(struct sim_wave *wave, const struct sim_inst *inst, const u8 select[64], bool across) {
    const u64 exec = SIM_EXEC64(wave) & sim_wave_lanes(wave);
    u64 enabled = exec;
    i8 from[64] = {0};
    for (unsigned l = 0; l < wave->size; l++) {
        const unsigned source = ((l & ~15u) ^ (across ? 16 : 0)) | select[l];
        from[l] = (i8)source;
        if (exec >> source & 1 || inst->op_sel & 1) continue;
        from[l] = -1;
        if (!(inst->op_sel & 2)) enabled &= ~((u64)1 << l);
    }
    permute(wave, inst, from, enabled);
}

static void select_by_scalars(struct sim_wave *wave, const struct sim_inst *inst, u8 select[64]) {
    const u64 nibbles =
        scalar(wave, &inst->src[1], "lanes' numbers") | (u64)scalar(wave, &inst->src[2], "lanes' numbers") << 32;
    for (unsigned l = 0; l < 64; l++) select[l] = nibbles >> 4 * (l & 15) & 15;
}
static void permlane16(struct sim_wave *wave, const struct sim_inst *inst) {
    u8 select[64];
    select_by_scalars(wave, inst, select);
    permlane(wave, inst, select, false);
}
static void permlanex16(struct sim_wave *wave, const struct sim_inst *inst) {
    u8 select[64];
    select_by_scalars(wave, inst, select);
    permlane(wave, inst, select, true);
}

static void select_by_lanes(struct sim_wave *wave, const struct sim_inst *inst, u8 select[64]) {
    u32 space[64];
    const u64 exec = SIM_EXEC64(wave) & sim_wave_lanes(wave);
    u64 defined = ~(u64)0;
    const u32 *row = sim_lanes_row(wave, &inst->src[1], 0, space, &defined);
    if (exec & ~defined) {
        sim_fail(wave, __builtin_ctzll(exec & ~defined), 719, "a lane's number from a register never written");
    }
    for (unsigned l = 0; l < 64; l++) select[l] = row[l] & 15;
}
static void permlane16_var(struct sim_wave *wave, const struct sim_inst *inst) {
    u8 select[64];
    select_by_lanes(wave, inst, select);
    permlane(wave, inst, select, false);
}
static void permlanex16_var(struct sim_wave *wave, const struct sim_inst *inst) {
    u8 select[64];
    select_by_lanes(wave, inst, select);
    permlane(wave, inst, select, true);
}

/* Halves of a wave of 64 change places; in a wave of 32 nothing happens. */
static void permlane64(struct sim_wave *wave, const struct sim_inst *inst) {
    i8 from[64];
    if (wave->size == 32) return;
    for (unsigned l = 0; l < 64; l++) from[l] = (i8)(l ^ 32);
    permute(wave, inst, from, SIM_EXEC64(wave));
}

/* A word of each source, by op_sel. */
static void pk_mov(struct sim_wave *wave, const struct sim_inst *inst) {
    u32 space[2][64], rows[2][64];
    u64 defined[2] = {~(u64)0, ~(u64)0};
    for (unsigned k = 0; k < 2; k++) {
        const unsigned word = inst->op_sel >> k & 1;
        memcpy(rows[k], sim_lanes_row(wave, &inst->src[k], word, space[k], &defined[k]), sizeof rows[k]);
    }
    const u64 exec = SIM_EXEC64(wave) & sim_wave_lanes(wave);
    for (unsigned k = 0; k < 2; k++) sim_lanes_write(wave, &inst->dst[0], k, rows[k], exec, defined[k]);
}

/* A register's number with what M0 adds. */
static struct sim_operand moved(struct sim_wave *wave, const struct sim_operand *operand, unsigned shift, u32 mask) {
    static const struct sim_operand m0 = {.kind = SIM_SGPR, .type = SIM_B32, .count = 1, .index = SIM_M0};
    struct sim_operand result = *operand;
    result.index = (u16)(result.index + (scalar(wave, &m0, "M0") >> shift & mask));
    return result;
}

static void move(struct sim_wave *wave, const struct sim_operand *to, const struct sim_operand *from) {
    u32 space[64];
    u64 defined = ~(u64)0;
    const u32 *row = sim_lanes_row(wave, from, 0, space, &defined);
    sim_lanes_write(wave, to, 0, row, SIM_EXEC64(wave) & sim_wave_lanes(wave), defined);
}
static void movreld(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_operand to = moved(wave, &inst->dst[0], 0, 0xffff);
    move(wave, &to, &inst->src[0]);
}
static void movrels(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_operand from = moved(wave, &inst->src[0], 0, 0xffff);
    move(wave, &inst->dst[0], &from);
}
static void movrelsd(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_operand to = moved(wave, &inst->dst[0], 0, 0xffff), from = moved(wave, &inst->src[0], 0, 0xffff);
    move(wave, &to, &from);
}
static void movrelsd_2(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_operand to = moved(wave, &inst->dst[0], 16, 0x3ff), from = moved(wave, &inst->src[0], 0, 0x3ff);
    move(wave, &to, &from);
}
static void swaprel(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_operand to = moved(wave, &inst->dst[0], 16, 0x3ff), from = moved(wave, &inst->dst[1], 0, 0x3ff);
    swap_registers(wave, sim_lanes_register(wave, &to, 0), sim_lanes_register(wave, &from, 0));
}

/* gfx12's functions of scalars. */
static float exp_of(float v) { return (float)exp2((double)v); }
static float log_of(float v) { return (float)log2((double)v); }
static float rcp_of(float v) { return 1.0f / v; }
static float rsq_of(float v) { return (float)(1.0 / sqrt((double)v)); }
static float sqrt_of(float v) { return sqrtf(v); }

static void of_scalar(struct sim_wave *wave, const struct sim_inst *inst, float (*fn)(float)) {
    const struct sim_operand *operand = &inst->src[0];
    const bool half = operand->type == SIM_F16;
    u32 bits = sim_scalar_read(wave, operand, 0);
    if (half) bits = sim_bits_f32(sim_f16_to_f32(bits & 0xffff));
    if (operand->abs) bits &= 0x7fffffff;
    if (operand->neg) bits ^= 0x80000000;
    const float v = sim_f32(bits);
    float r = half ? fn(v) : sim_flush(fn(sim_flush(v)));
    if (inst->clamp) r = r > 0 ? (r < 1 ? r : 1) : 0;
    sim_scalar_write(wave, &inst->dst[0], 0, half ? sim_f32_to_f16_round(r, wave->mode >> 2 & 3) : sim_bits_f32(r),
                     sim_scalar_defined(wave, operand));
}
#define OF_SCALAR(name)                                                                                                \
    static void s_##name(struct sim_wave *wave, const struct sim_inst *inst) { of_scalar(wave, inst, name##_of); }
OF_SCALAR(exp)
OF_SCALAR(log)
OF_SCALAR(rcp)
OF_SCALAR(rsq)
OF_SCALAR(sqrt)

#define CROSS(run, name, targets, types) {name, targets, SIM_CLASS_CROSS, types, run, &plain},
#define S_ROWS(name)                                                                                                   \
    {"v_s_" #name "_f32", SIM_GFX1201, SIM_CLASS_TRANS, SIM_F_F, s_##name, &plain},                                    \
        {"v_s_" #name "_f16", SIM_GFX1201, SIM_CLASS_TRANS, SIM_H_H, s_##name, &plain},

const struct sim_op sim_vector_cross[] = {
    /* clang-format off */
    CROSS(readfirstlane, "v_readfirstlane_b32", SIM_ALL, SIM_B_B)
    CROSS(readlane, "v_readlane_b32", SIM_ALL, SIM_B_BB)
    CROSS(writelane, "v_writelane_b32", SIM_ALL, SIM_B_BB)
    CROSS(swap, "v_swap_b32", SIM_ALL, SIM_BB_N)
    CROSS(swap_halves, "v_swap_b16", SIM_GFX11_12, SIM_WW_N)
    CROSS(swaprel, "v_swaprel_b32", SIM_GFX10UP, SIM_BB_N)
    CROSS(permlane16, "v_permlane16_b32", SIM_GFX10UP, SIM_B_BBB)
    CROSS(permlanex16, "v_permlanex16_b32", SIM_GFX10UP, SIM_B_BBB)
    CROSS(permlane16_var, "v_permlane16_var_b32", SIM_GFX1201, SIM_B_BB)
    CROSS(permlanex16_var, "v_permlanex16_var_b32", SIM_GFX1201, SIM_B_BB)
    CROSS(permlane64, "v_permlane64_b32", SIM_GFX11_12, SIM_B_B)
    CROSS(movreld, "v_movreld_b32", SIM_GFX10UP, SIM_B_B)
    CROSS(movrels, "v_movrels_b32", SIM_GFX10UP, SIM_B_B)
    CROSS(movrelsd, "v_movrelsd_b32", SIM_GFX10UP, SIM_B_B)
    CROSS(movrelsd_2, "v_movrelsd_2_b32", SIM_GFX10UP, SIM_B_B)
    {"v_pk_mov_b32", SIM_GFX9, SIM_CLASS_VALU, SIM_V_VV, pk_mov, &plain},
    S_ROWS(exp)
    S_ROWS(log)
    S_ROWS(rcp)
    S_ROWS(rsq)
    S_ROWS(sqrt)
    {"v_nop", SIM_ALL, SIM_CLASS_VALU, {SIM_NONE}, {SIM_NONE}, sim_vector_nothing, &plain},
    {"v_clrexcp", SIM_ALL, SIM_CLASS_VALU, {SIM_NONE}, {SIM_NONE}, sim_vector_nothing, &plain},
    {"v_pipeflush", SIM_GFX10UP, SIM_CLASS_VALU, {SIM_NONE}, {SIM_NONE}, sim_vector_nothing, &plain},
    /* clang-format on */
    {0}};
