/* Scalar loads. A register is known when all bytes it was loaded from are: compilers load more than they use. */
#include "scalar.h"

#include <string.h>

#define RUN(name) void sim_scalar_##name(struct sim_wave *wave, const struct sim_inst *inst)

/* Whether n bytes were written; a finding when they are not all of one live allocation. */
static bool readable(struct sim_wave *wave, u64 address, unsigned n) {
    const u8 *known = sim_shadow + (address - (u64)(uintptr_t)sim_range);
    bool written = true;
    if (address < (u64)(uintptr_t)sim_range || address - (u64)(uintptr_t)sim_range > sim_range_bytes - n)
        sim_access(wave, 0, address, n, 1, SIM_READ);
    for (unsigned i = 0; i < n; i++) {
        if (known[i] < SIM_UNDEFINED) sim_access(wave, 0, address, n, 1, SIM_READ);
        if (known[i] == SIM_UNDEFINED) written = false;
    }
    return written;
}

static void fetch(struct sim_wave *wave, u64 address, unsigned n, void *to, bool *known) {
    *known = true;
    if (sim_settings.check) *known = readable(wave, address, n);
    memcpy(to, (const void *)(uintptr_t)address, n);
}

static u64 get_offset(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_operand *operand = &inst->src[1];
    if (operand->kind == SIM_CONSTANT) return (u64)operand->integer + (u64)(i64)inst->offset;
    u32 known, offset = sim_get32(wave, operand, &known);
    if (known != ALL32 && sim_settings.check)
        sim_fail(wave, -1, 719, "an address from a register that was never written");
    return offset + (u64)(i64)inst->offset;
}

static void load_registers(struct sim_wave *wave, const struct sim_inst *inst, u64 address, unsigned limit) {
    const struct sim_operand *to = &inst->dst[0];
    if (address % 4 && sim_settings.check)
        sim_fail(wave, -1, 700, "misaligned: a scalar load from 0x%llx", (unsigned long long)address);
    address &= ~(u64)3;
    for (unsigned n = 0; n < to->count; n++) {
        u32 value = 0;
        bool known = true;
        if (n < limit) fetch(wave, address + 4 * n, 4, &value, &known);
        sim_scalar_write(wave, to, n, value, known);
    }
}

static void load_narrow(struct sim_wave *wave, const struct sim_inst *inst, u64 address, unsigned nbytes,
                        bool is_signed, bool inside) {
    u32 value = 0;
    bool known = true;
    if (address % nbytes && sim_settings.check)
        sim_fail(wave, -1, 700, "misaligned: a scalar load from 0x%llx", (unsigned long long)address);
    if (inside) fetch(wave, address, nbytes, &value, &known);
    if (is_signed) value = nbytes == 1 ? (u32)(i8)value : (u32)(i16)value;
    sim_scalar_write(wave, &inst->dst[0], 0, value, known);
}

static u64 get_global(struct sim_wave *wave, const struct sim_inst *inst) {
    return sim_get_address(wave, &inst->src[0]) + get_offset(wave, inst);
}

RUN(load) { load_registers(wave, inst, get_global(wave, inst), UINT32_MAX); }
RUN(load_u8) { load_narrow(wave, inst, get_global(wave, inst), 1, false, true); }
RUN(load_i8) { load_narrow(wave, inst, get_global(wave, inst), 1, true, true); }
RUN(load_u16) { load_narrow(wave, inst, get_global(wave, inst), 2, false, true); }
RUN(load_i16) { load_narrow(wave, inst, get_global(wave, inst), 2, true, true); }

/* The address in a buffer, and the bytes from there to its end: a 48-bit base, 14 bits of stride, and as many records
 * as word 2 says, which are bytes when the stride is 0. */
static u64 get_buffer(struct sim_wave *wave, const struct sim_inst *inst, u64 *left) {
    const struct sim_operand *descriptor = &inst->src[0];
    if (!sim_scalar_defined(wave, descriptor) && sim_settings.check)
        sim_fail(wave, -1, 719, "a buffer's descriptor was never written");
    u32 word1 = sim_scalar_read(wave, descriptor, 1);
    u64 base = sim_scalar_read(wave, descriptor, 0) | (u64)(word1 & 0xffff) << 32;
    u64 nbytes = sim_scalar_read(wave, descriptor, 2), stride = word1 >> 16 & 0x3fff;
    u64 offset = get_offset(wave, inst);
    if (stride) nbytes *= stride;
    *left = offset < nbytes ? nbytes - offset : 0;
    return base + offset;
}

/* What lies beyond a buffer's end reads 0. */
RUN(buffer_load) {
    u64 left, address = get_buffer(wave, inst, &left);
    load_registers(wave, inst, address, left / 4 < 16 ? (unsigned)(left / 4) : 16);
}
static void buffer_load_narrow(struct sim_wave *wave, const struct sim_inst *inst, unsigned nbytes, bool is_signed) {
    u64 left, address = get_buffer(wave, inst, &left);
    load_narrow(wave, inst, address, nbytes, is_signed, left >= nbytes);
}
RUN(buffer_load_u8) { buffer_load_narrow(wave, inst, 1, false); }
RUN(buffer_load_i8) { buffer_load_narrow(wave, inst, 1, true); }
RUN(buffer_load_u16) { buffer_load_narrow(wave, inst, 2, false); }
RUN(buffer_load_i16) { buffer_load_narrow(wave, inst, 2, true); }
