/* Reading and writing registers, whatever names them. */
#include "gfxsim/gfxsim.h"

#include <string.h>

/* Bit of MODE that s_set_gpr_idx_on sets on gfx9: vector registers are then indexed by M0. */
static const u32 GPR_IDX_EN = (u32)1 << 27;

static u64 special(const struct sim_wave *wave, unsigned which) {
    switch (which) {
    case SIM_SHARED_BASE: return SIM_SHARED_APERTURE;
    case SIM_SHARED_LIMIT: return SIM_SHARED_APERTURE | 0xffffffffu;
    case SIM_PRIVATE_BASE: return SIM_PRIVATE_APERTURE;
    case SIM_PRIVATE_LIMIT: return SIM_PRIVATE_APERTURE | 0xffffffffu;
    case SIM_VCCZ: return wave->size == 64 ? SIM_VCC64(wave) == 0 : wave->s[SIM_VCC] == 0;
    case SIM_EXECZ: return SIM_EXEC64(wave) == 0;
    default: return 0;
    }
}

u32 sim_scalar_read(struct sim_wave *wave, const struct sim_operand *operand, unsigned n) {
    switch (operand->kind) {
    case SIM_SGPR: return operand->index == SIM_NULL ? 0 : wave->s[(operand->index + n) % SIM_SGPRS];
    case SIM_CONSTANT: return n < 2 ? (u32)(operand->value >> (32 * n)) : 0;
    case SIM_SCC: return n == 0 ? wave->scc : 0;
    /* An aperture's address is in the upper register: as an operand of 32 bits it reads 0, on hardware as well. */
    case SIM_SPECIAL: return n < 2 ? (u32)(special(wave, operand->index) >> (32 * n)) : 0;
    default: sim_fail(wave, -1, 719, "a scalar is read from an operand that is none");
    }
}

u64 sim_scalar_read64(struct sim_wave *wave, const struct sim_operand *operand) {
    if (operand->kind == SIM_CONSTANT) return operand->value;
    return sim_scalar_read(wave, operand, 0) | (u64)sim_scalar_read(wave, operand, 1) << 32;
}

u32 sim_scalar_known(const struct sim_wave *wave, const struct sim_operand *operand, unsigned n) {
    bool all = true;
    switch (operand->kind) {
    case SIM_SGPR: return operand->index == SIM_NULL ? ~(u32)0 : wave->s_known[(operand->index + n) % SIM_SGPRS];
    case SIM_SCC: all = wave->scc_defined; break;
    case SIM_SPECIAL:
        if (operand->index == SIM_VCCZ)
            all = wave->s_known[SIM_VCC] == ~(u32)0 && (wave->size == 32 || wave->s_known[SIM_VCC + 1] == ~(u32)0);
        break;
    default: break;
    }
    return all ? ~(u32)0 : 0;
}

bool sim_scalar_defined(const struct sim_wave *wave, const struct sim_operand *operand) {
    u32 known = ~(u32)0;
    for (unsigned n = 0; n < operand->count || n == 0; n++) known &= sim_scalar_known(wave, operand, n);
    return known == ~(u32)0;
}

void sim_scalar_put(struct sim_wave *wave, const struct sim_operand *operand, unsigned n, u32 value, u32 known) {
    if (operand->kind == SIM_SCC) {
        wave->scc = value & 1;
        wave->scc_defined = known & 1;
        return;
    }
    if (operand->kind != SIM_SGPR) sim_fail(wave, -1, 719, "a scalar is written to an operand that is none");
    if (operand->index == SIM_NULL) return;
    unsigned index = (operand->index + n) % SIM_SGPRS;
    if (index >= SIM_EXEC) {
        if (index > SIM_EXEC && wave->size == 32) return;
        u32 lanes = (u32)(wave->lanes >> (32 * (index - SIM_EXEC)));
        if (~known & lanes && sim_settings.check)
            sim_fail(wave, __builtin_ctz(~known & lanes) + 32 * (int)(index - SIM_EXEC), 719,
                     "EXEC is set to a value that was never written");
    }
    wave->s[index] = value;
    wave->s_known[index] = known;
}

void sim_scalar_write(struct sim_wave *wave, const struct sim_operand *operand, unsigned n, u32 value, bool defined) {
    sim_scalar_put(wave, operand, n, value, defined ? ~(u32)0 : 0);
}

void sim_scalar_write64(struct sim_wave *wave, const struct sim_operand *operand, u64 value, bool defined) {
    sim_scalar_write(wave, operand, 0, (u32)value, defined);
    sim_scalar_write(wave, operand, 1, (u32)(value >> 32), defined);
}

/* gfx9's indexing by M0: bits 12 to 15 say for which operands, bits 0 to 7 by how much. */
unsigned sim_row_index(struct sim_wave *wave, const struct sim_operand *operand, unsigned n) {
    unsigned index = operand->index + n;
    if (wave->mode & GPR_IDX_EN && wave->target & SIM_GFX9 && operand->kind == SIM_VGPR && wave->inst) {
        const struct sim_inst *inst = wave->inst;
        u32 m0 = wave->s[SIM_M0];
        bool is_source = operand >= inst->src && operand < inst->src + 3;
        unsigned bit = is_source ? 12 + (unsigned)(operand - inst->src) : 15;
        if ((is_source || operand == inst->dst) && m0 >> bit & 1) index += m0 & 0xff;
    }
    if (operand->kind == SIM_AGPR) index += wave->n_arch;
    unsigned end = operand->kind == SIM_AGPR || !wave->n_arch ? wave->n_v : wave->n_arch;
    if (index >= end)
        sim_fail(wave, -1, 719, "register %s%u is beyond those of the kernel", operand->kind == SIM_AGPR ? "a" : "v",
                 operand->index + n);
    return index;
}

const u32 *sim_row(struct sim_wave *wave, const struct sim_operand *operand, unsigned n, u32 space[64], u64 *defined) {
    if (operand->kind == SIM_VGPR || operand->kind == SIM_AGPR) {
        unsigned index = sim_row_index(wave, operand, n);
        *defined = wave->v_defined[index];
        return wave->v[index];
    }
    u32 value = sim_scalar_read(wave, operand, n);
    for (unsigned lane = 0; lane < 64; lane++) space[lane] = value;
    *defined = sim_scalar_known(wave, operand, n) == ~(u32)0 ? ~(u64)0 : 0;
    return space;
}

u32 *sim_row_out(struct sim_wave *wave, const struct sim_operand *operand, unsigned n, u64 **defined) {
    if (operand->kind != SIM_VGPR && operand->kind != SIM_AGPR) return NULL;
    unsigned index = sim_row_index(wave, operand, n);
    *defined = &wave->v_defined[index];
    return wave->v[index];
}
