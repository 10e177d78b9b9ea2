/* Atomics, of device memory and LDS alike. */
#include "bits.h"
#include "matrix.h"
#include "move.h"

#include <math.h>

static u32 add_f16(u32 a, u32 b) {
    return sim_f16_bits(sim_element_value(SIM_EL_F16, a & 0xffff) + sim_element_value(SIM_EL_F16, b & 0xffff));
}
static u32 add_bf16(u32 a, u32 b) { return sim_bf16_bits(sim_f32(a << 16) + sim_f32(b << 16)); }

/* The lesser (sign 1) or greater (sign -1) of numbers, a number rather than a NaN, and -0 as less than 0. */
static double number(double a, double b, int sign) {
    if (isnan(a)) return isnan(b) ? a + b : b;
    if (isnan(b)) return a;
    if (a == b) return (signbit(a) != 0) == (sign > 0) ? a : b;
    return (a < b) == (sign > 0) ? a : b;
}

/* What an atomic on 32 bits makes of the old value; b is the second operand of those that have two. */
static u32 combine32(unsigned atomic, u32 old, u32 a, u32 b) {
    switch (atomic) {
    case SIM_SWAP: return a;
    case SIM_CMPSWAP: return old == b ? a : old;
    case SIM_CMPST: return old == a ? b : old;
    case SIM_FCMPSWAP: return sim_f32(old) == sim_f32(b) ? a : old;
    case SIM_FCMPST: return sim_f32(old) == sim_f32(a) ? b : old;
    case SIM_ADD: return old + a;
    case SIM_SUB: return old - a;
    case SIM_RSUB: return a - old;
    case SIM_CSUB: return old < a ? 0 : old - a;
    case SIM_COND_SUB: return old >= a ? old - a : old;
    case SIM_SMIN: return (i32)a < (i32)old ? a : old;
    case SIM_UMIN: return a < old ? a : old;
    case SIM_SMAX: return (i32)a > (i32)old ? a : old;
    case SIM_UMAX: return a > old ? a : old;
    case SIM_AND: return old & a;
    case SIM_OR: return old | a;
    case SIM_XOR: return old ^ a;
    case SIM_MSKOR: return (old & ~a) | b;
    case SIM_INC: return old >= a ? 0 : old + 1;
    case SIM_DEC: return old == 0 || old > a ? a : old - 1;
    case SIM_WRAP: return old >= a ? old - a : old + b;
    case SIM_FADD: return sim_bits_f32(sim_f32(old) + sim_f32(a));
    case SIM_FMIN: return sim_f32(a) < sim_f32(old) ? a : old;
    case SIM_FMAX: return sim_f32(a) > sim_f32(old) ? a : old;
    case SIM_FMIN_NUM: return sim_bits_f32((float)number(sim_f32(old), sim_f32(a), 1));
    case SIM_FMAX_NUM: return sim_bits_f32((float)number(sim_f32(old), sim_f32(a), -1));
    case SIM_PK_ADD_F16: return add_f16(old, a) | add_f16(old >> 16, a >> 16) << 16;
    default: return add_bf16(old & 0xffff, a & 0xffff) | add_bf16(old >> 16, a >> 16) << 16;
    }
}

static u64 combine64(unsigned atomic, u64 old, u64 a, u64 b) {
    switch (atomic) {
    case SIM_SWAP: return a;
    case SIM_CMPSWAP: return old == b ? a : old;
    case SIM_CMPST: return old == a ? b : old;
    case SIM_FCMPSWAP: return sim_f64(old) == sim_f64(b) ? a : old;
    case SIM_FCMPST: return sim_f64(old) == sim_f64(a) ? b : old;
    case SIM_ADD: return old + a;
    case SIM_SUB: return old - a;
    case SIM_RSUB: return a - old;
    case SIM_SMIN: return (i64)a < (i64)old ? a : old;
    case SIM_UMIN: return a < old ? a : old;
    case SIM_SMAX: return (i64)a > (i64)old ? a : old;
    case SIM_UMAX: return a > old ? a : old;
    case SIM_AND: return old & a;
    case SIM_OR: return old | a;
    case SIM_XOR: return old ^ a;
    case SIM_MSKOR: return (old & ~a) | b;
    case SIM_INC: return old >= a ? 0 : old + 1;
    case SIM_DEC: return old == 0 || old > a ? a : old - 1;
    case SIM_FADD: return sim_bits_f64(sim_f64(old) + sim_f64(a));
    case SIM_FMIN: return sim_f64(a) < sim_f64(old) ? a : old;
    case SIM_FMAX: return sim_f64(a) > sim_f64(old) ? a : old;
    case SIM_CONDXCHG: /* each half is replaced when its data has the highest bit, which is cut off */
        if (a >> 31 & 1) old = (old & 0xffffffff00000000u) | (a & 0x7fffffff);
        return a >> 63 ? (old & 0xffffffff) | (a & 0x7fffffff00000000u) : old;
    case SIM_FMIN_NUM: return sim_bits_f64(number(sim_f64(old), sim_f64(a), 1));
    default: return sim_bits_f64(number(sim_f64(old), sim_f64(a), -1));
    }
}

/* Bits of value number n of a lane's data. */
static u64 value_of(const struct sim_data *data, unsigned nbytes, unsigned n, unsigned lane) {
    if (nbytes == 4) return n < data->n ? data->row[n][lane] : 0;
    return 2 * n < data->n ? data->row[2 * n][lane] | (u64)data->row[2 * n + 1][lane] << 32 : 0;
}

void sim_atomic_lanes(struct sim_wave *wave, const struct sim_places *lanes, const struct sim_form *form,
                      const struct sim_data *data, const struct sim_operand *dst) {
    unsigned op = form->atomic;
    bool exchange = op == SIM_CMPSWAP || op == SIM_CMPST || op == SIM_FCMPSWAP || op == SIM_FCMPST;
    u64 undefined[4] = {0}, old[64];
    u8 *at[64];
    sim_check(wave, lanes, form->nbytes, SIM_ATOMIC | (exchange ? SIM_EXCHANGE : 0), data, undefined);
    sim_pointers(wave, lanes, at);
    for (unsigned i = 0; i < lanes->n; i++) {
        u64 a = value_of(data, form->nbytes, 0, lanes->lane[i]), b = value_of(data, form->nbytes, 1, lanes->lane[i]);
        if (form->nbytes == 4) {
            sim_any32 *word = (sim_any32 *)at[i];
            u32 seen = __atomic_load_n(word, __ATOMIC_RELAXED);
            while (!__atomic_compare_exchange_n(word, &seen, combine32(op, seen, (u32)a, (u32)b), false,
                                                __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
            }
            old[i] = seen;
        } else {
            sim_any64 *word = (sim_any64 *)at[i];
            u64 seen = __atomic_load_n(word, __ATOMIC_RELAXED);
            while (!__atomic_compare_exchange_n(word, &seen, combine64(op, seen, a, b), false, __ATOMIC_SEQ_CST,
                                                __ATOMIC_RELAXED)) {
            }
            old[i] = seen;
        }
    }
    for (unsigned r = 0; dst && r < form->nbytes / 4u; r++) {
        u64 *defined;
        u32 *row = sim_row_out(wave, dst, r, &defined);
        for (unsigned i = 0; i < lanes->n; i++) row[lanes->lane[i]] = (u32)(old[i] >> 32 * r);
        *defined = (*defined | lanes->mask) & ~undefined[r];
    }
}
