/* The lanes of vector instructions: rows of registers and constants, masks, and lanes that read others by DPP. */
#include "gfxsim/vector.h"

enum { MODE_GPR_INDEX = 1 << 27 }; /* of MODE: registers by M0 (gfx9) */

unsigned sim_lanes_register(struct sim_wave *wave, const struct sim_operand *operand, unsigned word) {
    /* most are plain registers that are there */
    const unsigned index = operand->index + word, end = wave->n_arch ? wave->n_arch : wave->n_v;
    if (operand->kind == SIM_VGPR && index < end && !(wave->mode & MODE_GPR_INDEX)) return index;
    return sim_row_index(wave, operand, word);
}

static void fill(u32 row[64], u32 value) {
    for (unsigned l = 0; l < 64; l++) row[l] = value;
}

const u32 *sim_lanes_row(struct sim_wave *wave, const struct sim_operand *operand, unsigned word, u32 space[64],
                         u64 *defined) {
    u32 value;
    switch (operand->kind) {
    case SIM_VGPR:
    case SIM_AGPR: {
        const unsigned index = sim_lanes_register(wave, operand, word);
        *defined &= wave->v_defined[index];
        return wave->v[index];
    }
    case SIM_CONSTANT: value = word > 1 ? 0 : (u32)(operand->value >> (32 * word)); break;
    case SIM_SGPR: {
        const struct sim_operand one = {.kind = SIM_SGPR, .count = 1, .index = (u16)(operand->index + word)};
        value = sim_scalar_read(wave, operand, word);
        if (!sim_scalar_defined(wave, operand->count > 1 ? &one : operand)) *defined = 0;
        break;
    }
    default:
        value = sim_scalar_read(wave, operand, word);
        if (!sim_scalar_defined(wave, operand)) *defined = 0;
    }
    fill(space, value);
    return space;
}

u64 sim_mask_read(struct sim_wave *wave, const struct sim_operand *operand, u64 *defined) {
    u64 known = sim_scalar_known(wave, operand, 0);
    if (wave->size == 64) known |= (u64)sim_scalar_known(wave, operand, 1) << 32;
    *defined &= known;
    return wave->size == 64 ? sim_scalar_read64(wave, operand) : sim_scalar_read(wave, operand, 0);
}

void sim_mask_write(struct sim_wave *wave, const struct sim_operand *operand, u64 mask, u64 known) {
    sim_scalar_put(wave, operand, 0, (u32)mask, (u32)known);
    if (wave->size == 64) sim_scalar_put(wave, operand, 1, (u32)(mask >> 32), (u32)(known >> 32));
}

/* The lanes of a mask as words of all ones: a byte's eight lanes at a time, from a table. */
static void expand(u64 mask, u32 row[64]) {
    for (unsigned half = 0; half < 64; half += 32) {
        const u32 bits = (u32)(mask >> half);
        for (unsigned l = 0; l < 32; l++) row[half + l] = 0 - (u32)((bits & (u32)1 << l) != 0);
    }
}

static void blend(u32 *restrict to, const u32 *restrict from, u64 lanes) {
    u32 mask[64];
    expand(lanes, mask);
    for (unsigned l = 0; l < 64; l++) to[l] = (from[l] & mask[l]) | (to[l] & ~mask[l]);
}

void sim_lanes_write(struct sim_wave *wave, const struct sim_operand *operand, unsigned word, const u32 *row, u64 lanes,
                     u64 defined) {
    if (operand->kind != SIM_VGPR && operand->kind != SIM_AGPR) {
        sim_fail(wave, -1, 719, "a vector instruction's result is not a vector register");
    }
    const unsigned index = sim_lanes_register(wave, operand, word);
    if (lanes == ~(u64)0)
        memcpy(wave->v[index], row, sizeof wave->v[index]);
    else
        blend(wave->v[index], row, lanes);
    wave->v_defined[index] = (wave->v_defined[index] & ~lanes) | (defined & lanes);
}

/* ---- DPP ---- */

/* Lane a lane reads from; -1: out of range. */
static int dpp16_source(unsigned control, unsigned lane, unsigned n) {
    const unsigned row = lane & ~15u, column = lane & 15, by = control & 15;
    if (control < 0x100) return (int)((lane & ~3u) | (control >> (2 * (lane & 3)) & 3));
    switch (control & ~15u) {
    case SIM_ROW_SHL: return column + by < 16 ? (int)(lane + by) : -1;
    case SIM_ROW_SHR: return column >= by ? (int)(lane - by) : -1;
    case SIM_ROW_ROR: return (int)(row | ((column - by) & 15));
    case SIM_ROW_SHARE: return (int)(row | by);
    case SIM_ROW_XMASK: return (int)(row | (column ^ by));
    }
    switch (control) {
    case SIM_WAVE_SHL: return lane + 1 < n ? (int)lane + 1 : -1;
    case SIM_WAVE_ROL: return (int)((lane + 1) % n);
    case SIM_WAVE_SHR: return (int)lane - 1;
    case SIM_WAVE_ROR: return (int)((lane + n - 1) % n);
    case SIM_ROW_MIRROR: return (int)(row | (15 - column));
    case SIM_ROW_HALF_MIRROR: return (int)((lane & ~7u) | (7 - (lane & 7)));
    case SIM_ROW_BCAST15: return (int)row - 1;
    case SIM_ROW_BCAST31: return lane >= 32 ? 31 : -1;
    }
    return -1;
}

u64 sim_dpp_lanes(const struct sim_wave *wave, const struct sim_inst *inst, i8 from[64]) {
    const u64 exec = SIM_EXEC64(wave) & sim_wave_lanes(wave);
    u64 written = 0;
    for (unsigned l = 0; l < wave->size; l++) {
        int source;
        bool write = exec >> l & 1, zero = inst->bound_ctrl;
        if (inst->dpp == SIM_DPP8) {
            source = (int)((l & ~7u) | (inst->dpp8 >> (3 * (l & 7)) & 7));
            zero = true;
        } else {
            source = dpp16_source(inst->dpp_control, l, wave->size);
            write = write && inst->row_mask >> (l >> 4) & 1 && inst->bank_mask >> (l >> 2 & 3) & 1;
        }
        if (source >= 0 && !(exec >> source & 1) && !inst->fi) source = -1;
        if (source < 0 && !zero) write = false;
        from[l] = (i8)source;
        written |= (u64)write << l;
    }
    return written;
}

void sim_dpp_read(struct sim_wave *wave, const struct sim_inst *inst, struct sim_lanes *x, struct sim_space *space) {
    i8 from[64];
    x->enabled = sim_dpp_lanes(wave, inst, from);
    const struct sim_operand *operand = &inst->src[0];
    const unsigned words = sim_type_words[operand->type];
    u64 known = ~(u64)0;
    for (unsigned w = 0; w < words; w++) {
        u32 row[64];
        const u32 *source = x->s[0][w];
        if (operand->kind == SIM_VGPR) known &= wave->v_defined[sim_lanes_register(wave, operand, w)];
        for (unsigned l = 0; l < x->n; l++) row[l] = from[l] < 0 ? 0 : source[from[l]];
        memcpy(space->s[0][w], row, sizeof row);
        x->s[0][w] = space->s[0][w];
    }
    for (unsigned l = 0; l < x->n; l++) {
        if (from[l] >= 0 && !(known >> from[l] & 1)) x->defined &= ~((u64)1 << l);
    }
}
