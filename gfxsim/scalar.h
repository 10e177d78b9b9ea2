/* What the files of the scalar instructions share. */
#ifndef GFXSIM_SCALAR_H
#define GFXSIM_SCALAR_H

#include "gfxsim.h"

static const u32 ALL32 = ~(u32)0;
static const u64 ALL64 = ~(u64)0;

#define ROW(name, targets, class, dst, src, run) sim_run sim_scalar_##run;
#include "scalar.def"
#undef ROW

/* Values come with what is known of each bit. */
static inline u32 sim_get32(struct sim_wave *wave, const struct sim_operand *operand, u32 *known) {
    if (operand->kind == SIM_SGPR && operand->index != SIM_NULL) {
        *known = wave->s_known[operand->index];
        return wave->s[operand->index];
    }
    *known = sim_scalar_known(wave, operand, 0);
    return sim_scalar_read(wave, operand, 0);
}

static inline u64 sim_get64(struct sim_wave *wave, const struct sim_operand *operand, u64 *known) {
    if (operand->kind == SIM_SGPR && operand->index < SIM_SGPRS - 1 && operand->index != SIM_NULL) {
        unsigned i = operand->index;
        *known = wave->s_known[i] | (u64)wave->s_known[i + 1] << 32;
        return wave->s[i] | (u64)wave->s[i + 1] << 32;
    }
    *known = sim_scalar_known(wave, operand, 0) | (u64)sim_scalar_known(wave, operand, 1) << 32;
    return sim_scalar_read64(wave, operand);
}

static inline void sim_put64(struct sim_wave *wave, const struct sim_operand *operand, u64 value, u64 known) {
    sim_scalar_put(wave, operand, 0, (u32)value, (u32)known);
    sim_scalar_put(wave, operand, 1, (u32)(value >> 32), (u32)(known >> 32));
}

static inline void sim_put_scc(struct sim_wave *wave, bool scc, bool known) {
    wave->scc = scc;
    wave->scc_defined = known;
}

/* An address for a jump or a load has to have been written. */
static inline u64 sim_get_address(struct sim_wave *wave, const struct sim_operand *operand) {
    u64 known, address = sim_get64(wave, operand, &known);
    if (known != ALL64 && sim_settings.check)
        sim_fail(wave, -1, 719, "an address from a register that was never written");
    return address;
}

#endif
