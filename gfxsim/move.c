/* Loads and stores: between the rows of registers and the lanes' memory. */
#include "check.h"
#include "move.h"

#include <string.h>

void sim_data_of(struct sim_wave *wave, const struct sim_operand *operand, unsigned nbytes, u32 space[][64],
                 struct sim_data *data) {
    *data = (struct sim_data){.n = (nbytes + 3) / 4};
    for (unsigned r = 0; r < data->n; r++) {
        u64 defined;
        data->row[r] = sim_row(wave, operand, r, space[r], &defined);
        data->undefined[r] = ~defined;
    }
}

void sim_pointers(const struct sim_wave *wave, const struct sim_places *lanes, u8 *at[64]) {
    switch (lanes->space) {
    case SIM_GLOBAL:
        for (unsigned i = 0; i < lanes->n; i++) at[i] = (u8 *)(uintptr_t)lanes->at[i];
        break;
    case SIM_LDS:
        for (unsigned i = 0; i < lanes->n; i++) at[i] = wave->block->lds + lanes->at[i];
        break;
    default:
        for (unsigned i = 0; i < lanes->n; i++)
            at[i] = (u8 *)wave->scratch + (size_t)lanes->lane[i] * wave->scratch_bytes + lanes->at[i];
    }
}

void sim_check(struct sim_wave *wave, const struct sim_places *lanes, unsigned nbytes, int access,
               const struct sim_data *data, u64 undefined[4]) {
    if (lanes->space == SIM_GLOBAL)
        sim_check_global(wave, lanes, nbytes, access, data);
    else if (lanes->space == SIM_LDS)
        sim_check_lds(wave, lanes, nbytes, access, data);
    else
        sim_check_scratch(wave, lanes, nbytes, access, data, undefined);
}

void sim_check_scratch(struct sim_wave *wave, const struct sim_places *lanes, unsigned nbytes, int access,
                       const struct sim_data *data, u64 undefined[4]) {
    for (unsigned i = 0; i < lanes->n; i++) {
        unsigned lane = lanes->lane[i];
        if (lanes->at[i] + nbytes > wave->scratch_bytes)
            sim_fail(wave, (int)lane, 700, "outside the scratch memory of a lane: %s at byte %llu of %u",
                     sim_say_access((char[40]){0}, access, nbytes), (unsigned long long)lanes->at[i],
                     wave->scratch_bytes);
        if (access & SIM_ATOMIC && lanes->at[i] % nbytes)
            sim_fail(wave, (int)lane, 700,
                     "misaligned: an atomic on %u bytes at byte %llu of the lane's scratch memory", nbytes,
                     (unsigned long long)lanes->at[i]);
        if (!sim_settings.check) continue;
        u8 *known = wave->scratch_shadow + (size_t)lane * wave->scratch_bytes + lanes->at[i];
        for (unsigned b = 0; b < nbytes; b++) {
            unsigned r = b / 4;
            /* Compilers spill registers of which not all lanes were written, so what is read is undefined, no finding.
             */
            if (access & (SIM_READ | SIM_ATOMIC) && known[b] != SIM_DEFINED) undefined[r] |= (u64)1 << lane;
            if (access & (SIM_WRITE | SIM_ATOMIC))
                known[b] = data->undefined[r] >> lane & 1 ? SIM_UNDEFINED : SIM_DEFINED;
        }
    }
    if (wave->counts) {
        for (unsigned w = 0; w < 2; w++)
            if (access & (w ? SIM_WRITE | SIM_ATOMIC : SIM_READ | SIM_ATOMIC))
                wave->counts->bytes[w] += (u64)lanes->n * nbytes;
    }
}

/* What a register holds that a load of 1 or 2 bytes writes only half of. Those of gfx90a and gfx942, whose memory has
 * ECC, write all of it (LLVM: d16PreservesUnusedBits). */
static inline u32 kept(const struct sim_wave *wave, u32 old) { return wave->target & SIM_GFX9 ? 0 : old; }

/* The bytes of a load of 1 or 2 in a register that held `old`. */
static inline u32 small_value(const u8 *at, const struct sim_form *form, u32 old) {
    u32 value = at[0];
    if (form->nbytes == 2) {
        u16 both;
        memcpy(&both, at, 2);
        value = form->is_signed ? (u32)(i16)both : both;
    } else if (form->is_signed) {
        value = (u32)(i8)value;
    }
    if (form->half == 1) return (old & 0xffff0000u) | (value & 0xffff);
    if (form->half == 2) return (old & 0xffff) | value << 16;
    return value;
}

void sim_load_lanes(struct sim_wave *wave, const struct sim_places *lanes, const struct sim_form *form,
                    const struct sim_operand *dst, unsigned first, int access) {
    u64 undefined[4] = {0};
    u8 *at[64];
    u32 *row[4];
    unsigned words = (form->nbytes + 3u) / 4;
    sim_check(wave, lanes, form->nbytes, access, NULL, undefined);
    sim_pointers(wave, lanes, at);
    for (unsigned r = 0; r < words; r++) {
        u64 *defined;
        row[r] = sim_row_out(wave, dst, first + r, &defined);
        *defined = (*defined | lanes->mask) & ~undefined[r];
    }
    const u8 *lane = lanes->lane;
    switch (form->nbytes) {
    case 4:
        for (unsigned i = 0; i < lanes->n; i++) row[0][lane[i]] = sim_load32(at[i]);
        break;
    case 8:
    case 16:
        for (unsigned r = 0; r < words; r += 2)
            for (unsigned i = 0; i < lanes->n; i++) {
                u64 value = sim_load64(at[i] + 4 * r);
                row[r][lane[i]] = (u32)value;
                row[r + 1][lane[i]] = (u32)(value >> 32);
            }
        break;
    case 12:
        for (unsigned r = 0; r < 3; r++)
            for (unsigned i = 0; i < lanes->n; i++) row[r][lane[i]] = sim_load32(at[i] + 4 * r);
        break;
    default:
        for (unsigned i = 0; i < lanes->n; i++) row[0][lane[i]] = small_value(at[i], form, kept(wave, row[0][lane[i]]));
    }
}

void sim_load_zeros(struct sim_wave *wave, u64 lanes, const struct sim_form *form, const struct sim_operand *dst,
                    unsigned first) {
    static const u8 zeros[4];
    for (unsigned r = 0; lanes && r < (form->nbytes + 3u) / 4; r++) {
        u64 *defined;
        u32 *row = sim_row_out(wave, dst, first + r, &defined);
        for (u64 left = lanes; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            row[lane] = form->half ? small_value(zeros, form, kept(wave, row[lane])) : 0;
        }
        *defined |= lanes;
    }
}

void sim_store_lanes(struct sim_wave *wave, const struct sim_places *lanes, const struct sim_form *form,
                     const struct sim_data *data, int access) {
    u64 undefined[4] = {0};
    u8 *at[64];
    struct sim_data shifted = *data;
    shifted.shift = form->half == 2 ? 16 : 0;
    sim_check(wave, lanes, form->nbytes, access, &shifted, undefined);
    sim_pointers(wave, lanes, at);
    const u8 *lane = lanes->lane;
    switch (form->nbytes) {
    case 1:
        for (unsigned i = 0; i < lanes->n; i++) *at[i] = (u8)(data->row[0][lane[i]] >> shifted.shift);
        break;
    case 2:
        for (unsigned i = 0; i < lanes->n; i++) {
            u16 value = (u16)(data->row[0][lane[i]] >> shifted.shift);
            memcpy(at[i], &value, 2);
        }
        break;
    case 8:
    case 16:
        for (unsigned r = 0; r < data->n; r += 2)
            for (unsigned i = 0; i < lanes->n; i++)
                sim_store64(at[i] + 4 * r, data->row[r][lane[i]] | (u64)data->row[r + 1][lane[i]] << 32);
        break;
    default:
        for (unsigned r = 0; r < data->n; r++)
            for (unsigned i = 0; i < lanes->n; i++) sim_store32(at[i] + 4 * r, data->row[r][lane[i]]);
    }
}
