/* The ds instructions between the lanes of a wave, and the counters that a wave changes as one. */
#include "lds.h"

#include <string.h>

u32 sim_lds_base(struct sim_wave *wave) {
    if (sim_settings.check && wave->s_known[SIM_M0] != ~(u32)0)
        sim_fail(wave, -1, 719, "an LDS address is taken from M0, which was never written");
    return wave->s[SIM_M0] & 0xffff;
}

/* Adds `sign` times the number of active lanes to a counter; all of them get its old value. */
static void count(struct sim_wave *wave, const struct sim_inst *inst, int sign) {
    static const struct sim_form form = {.nbytes = 4, .atomic = SIM_ADD};
    struct sim_places lanes, one = {.space = SIM_LDS, .n = 1};
    sim_places_take(wave, &lanes);
    if (!lanes.n) return;
    u32 row[64] = {0};
    struct sim_data data = {.row = {row}, .n = 1};
    one.lane[0] = lanes.lane[0];
    one.mask = (u64)1 << one.lane[0];
    one.at[0] = sim_lds_base(wave) + (u32)inst->offset;
    row[one.lane[0]] = sign > 0 ? lanes.n : 0 - lanes.n;
    sim_atomic_lanes(wave, &one, &form, &data, inst->dst);
    u64 *defined;
    u32 *out = sim_row_out(wave, inst->dst, 0, &defined);
    for (unsigned i = 1; i < lanes.n; i++) out[lanes.lane[i]] = out[one.lane[0]];
    *defined |= lanes.mask;
}
void sim_lds_append(struct sim_wave *wave, const struct sim_inst *inst) { count(wave, inst, 1); }
void sim_lds_consume(struct sim_wave *wave, const struct sim_inst *inst) { count(wave, inst, -1); }

/* Lane l gets the value of lane from[l]. Inactive lanes give 0, and reading them is a finding, unless `all` counts them
 * as active. */
static void gather(struct sim_wave *wave, const struct sim_inst *inst, const struct sim_operand *values,
                   const u8 from[64], bool all) {
    u32 space[64], out[64] = {0};
    u64 given, *defined, exec = SIM_EXEC64(wave), result = 0;
    const u32 *row = sim_row(wave, values, 0, space, &given);
    for (u64 left = exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if (!all && !(exec >> from[lane] & 1)) {
            if (sim_settings.check && !sim_settings.isa)
                sim_doubt(wave, (int)lane, SIM_INACTIVE_LANE,
                          "inactive lane: the value of lane %u is read, which is not active", from[lane]);
            result |= (u64)1 << lane;
            continue;
        }
        out[lane] = row[from[lane]];
        result |= (given >> from[lane] & 1) << lane;
    }
    u32 *to = sim_row_out(wave, inst->dst, 0, &defined);
    if (exec == ~(u64)0)
        memcpy(to, out, sizeof out);
    else
        for (u64 left = exec; left; left &= left - 1) to[__builtin_ctzll(left)] = out[__builtin_ctzll(left)];
    *defined = (*defined & ~exec) | result;
}

static void bpermute(struct sim_wave *wave, const struct sim_inst *inst, bool all) {
    u32 space[64];
    u8 from[64];
    if (!SIM_EXEC64(wave)) return;
    const u32 *address = sim_address_row(wave, &inst->src[0], 0, space);
    for (unsigned lane = 0; lane < 64; lane++) from[lane] = (u8)((address[lane] + (u32)inst->offset) / 4 % wave->size);
    gather(wave, inst, &inst->src[1], from, all);
}
void sim_lds_bpermute(struct sim_wave *wave, const struct sim_inst *inst) { bpermute(wave, inst, false); }
void sim_lds_bpermute_fi(struct sim_wave *wave, const struct sim_inst *inst) { bpermute(wave, inst, true); }

/* Each active lane gives its value to a lane; of several to one, that of the highest arrives. Those without one get 0.
 */
void sim_lds_permute(struct sim_wave *wave, const struct sim_inst *inst) {
    u32 space[2][64], out[64] = {0};
    u64 given, *defined, exec = SIM_EXEC64(wave), result = ~(u64)0;
    if (!exec) return;
    const u32 *address = sim_address_row(wave, &inst->src[0], 0, space[0]);
    const u32 *row = sim_row(wave, &inst->src[1], 0, space[1], &given);
    for (u64 left = exec; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        unsigned to = (address[lane] + (u32)inst->offset) / 4 % wave->size;
        out[to] = row[lane];
        result = (result & ~((u64)1 << to)) | (given >> lane & 1) << to;
    }
    u32 *to = sim_row_out(wave, inst->dst, 0, &defined);
    for (u64 left = exec; left; left &= left - 1) to[__builtin_ctzll(left)] = out[__builtin_ctzll(left)];
    *defined = (*defined & ~exec) | (result & exec);
}

/* The five lower bits of a number in the opposite order. */
static unsigned reversed(unsigned n) { return (n & 1) << 4 | (n & 2) << 2 | (n & 4) | (n & 8) >> 2 | (n & 16) >> 4; }

/* Within each 32 lanes: a butterfly of an FFT, a rotation, an order of four lanes, or bits of the lane's number
 * changed. */
void sim_lds_swizzle(struct sim_wave *wave, const struct sim_inst *inst) {
    u32 pattern = (u32)inst->offset & 0xffff;
    unsigned mask = pattern & 0x1f;
    u8 from[64];
    if (!SIM_EXEC64(wave)) return;
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned i = lane & 0x1f, j;
        if (pattern >= 0xe000) {
            j = (reversed(i) >> __builtin_popcount(mask)) | (i & mask);
        } else if (pattern >= 0xc000) {
            unsigned by = pattern >> 5 & 0x1f;
            if (pattern & 0x400) by = 0 - by;
            j = (i & mask) | ((i + by) & 0x1f & ~mask);
        } else if (pattern & 0x8000) {
            j = (i & 0x1c) | (pattern >> 2 * (i & 3) & 3);
        } else {
            j = ((i & mask) | (pattern >> 5 & 0x1f)) ^ (pattern >> 10 & 0x1f);
        }
        from[lane] = (u8)(j | (lane & 0x20));
    }
    gather(wave, inst, &inst->src[0], from, false);
}
