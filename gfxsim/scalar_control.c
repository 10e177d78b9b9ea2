/* Branches, barriers, the end of waves, hardware registers. */
#include "scalar.h"

#define RUN(name) void sim_scalar_##name(struct sim_wave *wave, const struct sim_inst *inst)

/* ---- the program counter ---- */

RUN(getpc) { sim_scalar_write64(wave, &inst->dst[0], wave->pc, true); }
RUN(setpc) { wave->pc = sim_get_address(wave, &inst->src[0]); }
RUN(swappc) {
    u64 to = sim_get_address(wave, &inst->src[0]);
    sim_scalar_write64(wave, &inst->dst[0], wave->pc, true);
    wave->pc = to;
}
RUN(call) {
    sim_scalar_write64(wave, &inst->dst[0], wave->pc, true);
    wave->pc = inst->target;
}
RUN(branch) { wave->pc = inst->target; }

static void branch_if(struct sim_wave *wave, const struct sim_inst *inst, bool condition, bool known,
                      const char *what) {
    if (!known && sim_settings.check) sim_fail(wave, -1, 719, "a branch on %s, which was never written", what);
    if (wave->counts) {
        u64 exec = SIM_EXEC64(wave);
        wave->counts->branches++;
        wave->counts->divergent += exec != 0 && exec != wave->lanes;
    }
    if (condition) wave->pc = inst->target;
}
static bool vcc_is_zero(const struct sim_wave *wave) {
    return wave->size == 64 ? SIM_VCC64(wave) == 0 : wave->s[SIM_VCC] == 0;
}
static bool vcc_known(const struct sim_wave *wave) {
    return wave->s_known[SIM_VCC] == ALL32 && (wave->size == 32 || wave->s_known[SIM_VCC + 1] == ALL32);
}
RUN(cbranch_scc0) { branch_if(wave, inst, !wave->scc, wave->scc_defined, "SCC"); }
RUN(cbranch_scc1) { branch_if(wave, inst, wave->scc, wave->scc_defined, "SCC"); }
RUN(cbranch_vccz) { branch_if(wave, inst, vcc_is_zero(wave), vcc_known(wave), "VCC"); }
RUN(cbranch_vccnz) { branch_if(wave, inst, !vcc_is_zero(wave), vcc_known(wave), "VCC"); }
RUN(cbranch_execz) { branch_if(wave, inst, SIM_EXEC64(wave) == 0, true, "EXEC"); }
RUN(cbranch_execnz) { branch_if(wave, inst, SIM_EXEC64(wave) != 0, true, "EXEC"); }

RUN(endpgm) {
    (void)inst;
    wave->state = SIM_ENDED;
}
RUN(trap) { sim_fail(wave, -1, 719, "the kernel stops itself: trap %lld", (long long)inst->src[0].integer); }
RUN(code_end) {
    (void)inst;
    sim_fail(wave, -1, 719, "the wave runs past the end of the code");
}
RUN(nothing) {
    (void)wave;
    (void)inst;
}

/* ---- barriers ---- */

RUN(barrier) {
    (void)inst;
    wave->barrier_signalled = 1;
    wave->state = SIM_WAITS;
}

/* Whether a gfx12 barrier instruction is for the block's barrier: -1. Number 0 is none. */
static bool of_block(struct sim_wave *wave, const struct sim_operand *operand) {
    i64 number;
    if (operand->kind == SIM_SGPR && operand->index == SIM_M0)
        number = wave->s[SIM_M0] & 31;
    else
        number = (i32)sim_scalar_read(wave, operand, 0);
    if (number != -1 && number != 0) sim_fail(wave, -1, 719, "barrier %lld is not supported", (long long)number);
    return number == -1;
}
static void signal_barrier(struct sim_wave *wave) {
    if (wave->barrier_signalled == 1 && sim_settings.check)
        sim_fail(wave, -1, 719, "the wave signals a barrier twice before it waits");
    wave->barrier_signalled = 1;
}
static unsigned count_signalled(const struct sim_block *block) {
    unsigned n = 0;
    for (u32 i = 0; i < block->n_waves; i++) n += block->waves[i].barrier_signalled == 1;
    return n;
}
RUN(barrier_signal) {
    if (of_block(wave, &inst->src[0])) signal_barrier(wave);
}
RUN(barrier_signal_isfirst) {
    bool is = of_block(wave, &inst->src[0]);
    sim_put_scc(wave, is && count_signalled(wave->block) == 0, true);
    if (is) signal_barrier(wave);
}
RUN(barrier_wait) {
    if ((i16)inst->src[0].integer != -1)
        sim_fail(wave, -1, 719, "barrier %d is not supported", (i16)inst->src[0].integer);
    if (wave->barrier_signalled == 0) sim_fail(wave, -1, 719, "the wave waits at a barrier that it has not signalled");
    if (wave->barrier_signalled == 2)
        wave->barrier_signalled = 0;
    else
        wave->state = SIM_WAITS;
}
RUN(get_barrier_state) {
    const struct sim_block *block = wave->block;
    u32 state = of_block(wave, &inst->src[0]) ? count_signalled(block) << 16 | block->n_waves << 4 | 1 : 0;
    sim_scalar_write(wave, &inst->dst[0], 0, state, true);
}

/* ---- hardware registers ---- */

enum { /* numbers of hwreg(), the same on all targets but for SHADER_CYCLES's upper half */
       HW_MODE = 1,
       HW_GPR_ALLOC = 5,
       HW_LDS_ALLOC = 6,
       HW_SH_MEM_BASES = 15,
       HW_XCC_ID = 20, /* gfx942; elsewhere the address of scratch */
       HW_SHADER_CYCLES = 29,
       HW_SHADER_CYCLES_HI = 30
};

static u32 hardware_register(const struct sim_wave *wave, unsigned number) {
    switch (number) {
    case HW_MODE: return wave->mode;
    case HW_GPR_ALLOC: return 0;
    case HW_LDS_ALLOC: return (wave->block->lds_bytes + 511) / 512 << 12;
    case HW_SH_MEM_BASES: return (u32)(SIM_SHARED_APERTURE >> 48) << 16 | (u32)(SIM_PRIVATE_APERTURE >> 48);
    case HW_SHADER_CYCLES: return (u32)wave->steps & (wave->target & SIM_GFX1201 ? UINT32_MAX : 0xfffff);
    case HW_SHADER_CYCLES_HI: return (u32)(wave->steps >> 32);
    default: return 0; /* which unit of the card it is on, XCC_ID among them: always the first */
    }
}
static u32 field_mask(u32 hwreg) { return (u32)(((u64)1 << ((hwreg >> 11 & 31) + 1)) - 1); }

RUN(getreg) {
    u32 hwreg = (u32)inst->src[0].integer;
    u32 value = hardware_register(wave, hwreg & 63) >> (hwreg >> 6 & 31) & field_mask(hwreg);
    sim_scalar_write(wave, &inst->dst[0], 0, value, true);
}
/* All but MODE is the trap handler's or about scratch, whose address nothing needs here. */
RUN(setreg) {
    u32 hwreg = (u32)inst->src[0].integer, shift = hwreg >> 6 & 31, known;
    u32 value = sim_get32(wave, &inst->src[1], &known), mask = field_mask(hwreg) << shift;
    if ((hwreg & 63) != HW_MODE) return;
    if (known != ALL32 && sim_settings.check) sim_fail(wave, -1, 719, "MODE is set to a value that was never written");
    wave->mode = (wave->mode & ~mask) | (value << shift & mask);
}
RUN(round_mode) { wave->mode = (wave->mode & ~0x0fu) | ((u32)inst->src[0].integer & 15); }
RUN(denorm_mode) { wave->mode = (wave->mode & ~0xf0u) | ((u32)inst->src[0].integer & 15) << 4; }

/* ---- gfx9's indexing of vector registers: sim_row does it ---- */

enum { GPR_IDX_EN = 1 << 27 };
static void set_m0(struct sim_wave *wave, u32 value, u32 mask) {
    wave->s[SIM_M0] = (wave->s[SIM_M0] & ~mask) | (value & mask);
    wave->s_known[SIM_M0] = ~(u32)0;
}
static u32 get_index(struct sim_wave *wave, const struct sim_inst *inst) {
    u32 known, index = sim_get32(wave, &inst->src[0], &known);
    if (known != ALL32 && sim_settings.check) sim_fail(wave, -1, 719, "the index of a register was never written");
    return index;
}
RUN(set_gpr_idx_on) {
    set_m0(wave, (get_index(wave, inst) & 0xff) | (u32)inst->src[1].integer << 12, 0xf0ff);
    wave->mode |= GPR_IDX_EN;
}
RUN(set_gpr_idx_mode) { set_m0(wave, (u32)inst->src[0].integer << 12, 0xf000); }
RUN(set_gpr_idx_idx) { set_m0(wave, get_index(wave, inst), 0xff); }
RUN(set_gpr_idx_off) {
    (void)inst;
    wave->mode &= ~(u32)GPR_IDX_EN;
}

/* ---- clocks: instructions that the wave has run, so that results repeat ---- */

RUN(memtime) { sim_scalar_write64(wave, &inst->dst[0], wave->steps, true); }

enum { RETURN_REALTIME = 131 };
RUN(sendmsg_rtn32) { sim_scalar_write(wave, &inst->dst[0], 0, 0, true); }
RUN(sendmsg_rtn64) {
    bool clock = inst->src[0].integer == RETURN_REALTIME;
    sim_scalar_write64(wave, &inst->dst[0], clock ? wave->steps : 0, true);
}
