/* Buffer instructions: descriptors, and the addresses they make. */
#include "access.h"

struct buffer {
    u64 base;
    u32 records, stride;
    bool scratch, by_index; /* records count structures, not bytes */
};

static struct buffer read_descriptor(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_operand *rsrc = &inst->src[inst->op->src[0] == SIM_ANY ? 1 : 2];
    u32 word[4];
    if (sim_settings.check && !sim_scalar_defined(wave, rsrc))
        sim_fail(wave, -1, 719, "a buffer's descriptor has registers never written");
    for (unsigned i = 0; i < 4; i++) word[i] = sim_scalar_read(wave, rsrc, i);
    struct buffer buffer = {.base = word[0] | (u64)(word[1] & 0xffff) << 32,
                            .records = word[2],
                            .stride = word[1] >> 16 & 0x3fff,
                            .scratch = word[1] & SIM_SCRATCH_WORD1 && word[3] & SIM_SCRATCH_WORD3};
    /* gfx9 counts structures when there is a stride and an index; later ones say so in two bits, of which 0 and 1 do.
     */
    buffer.by_index = wave->target & SIM_GFX9 ? buffer.stride && inst->idxen : (word[3] >> 28 & 3) < 2;
    if (buffer.by_index && !buffer.stride) buffer.by_index = false;
    return buffer;
}

void sim_buffer_addresses(struct sim_wave *wave, const struct sim_inst *inst, unsigned nbytes, struct sim_places *lanes,
                          u64 *beyond) {
    unsigned first = inst->op->src[0] == SIM_ANY ? 0 : 1; /* operands in front of vaddr, rsrc, soffset */
    const struct sim_operand *vaddr = &inst->src[first], *soffset = &inst->src[first + 2];
    struct buffer buffer = read_descriptor(wave, inst);
    u32 space[2][64], scalar = (u32)sim_scalar_address(wave, soffset);
    const u32 *index = NULL, *offset = NULL;
    unsigned n = 0;
    if (inst->idxen) index = sim_address_row(wave, vaddr, n++, space[0]);
    if (inst->offen) offset = sim_address_row(wave, vaddr, n, space[1]);
    struct sim_places all = *lanes;
    *beyond = 0;
    lanes->n = 0;
    lanes->mask = 0;
    lanes->space = buffer.scratch ? SIM_SCRATCH : SIM_GLOBAL;
    for (unsigned i = 0; i < all.n; i++) {
        u8 lane = all.lane[i];
        u64 inner = (u64)(u32)inst->offset + (offset ? offset[lane] : 0);
        u64 row = index ? index[lane] : 0, at;
        if (buffer.scratch) {
            at = (u32)(((u32)buffer.base + scalar) / wave->size + (u32)inner);
        } else {
            u64 linear = row * buffer.stride + inner + scalar;
            bool inside = buffer.by_index ? row < buffer.records : linear + nbytes <= buffer.records;
            if (!inside) {
                *beyond |= (u64)1 << lane;
                continue;
            }
            at = buffer.base + linear;
        }
        lanes->mask |= (u64)1 << lane;
        lanes->lane[lanes->n] = lane;
        lanes->at[lanes->n++] = at;
    }
}
