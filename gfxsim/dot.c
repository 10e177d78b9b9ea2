/* Dot products of the vectors within registers. Sums are made term by term in order, as the published pseudocode
 * writes them; v_dot2_f32_f16 takes a denormal f32 operand as 0, which LLVM documents. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "bits.h"
#include "matrix.h"

struct sources {
    const u32 *a, *b, *c;
    u32 *out;
    u64 *out_defined, defined;
    u32 space[3][64];
};
static void start(struct sim_wave *wave, const struct sim_inst *inst, bool sums, struct sources *s) {
    u64 a, b, c;
    if (inst->dpp || inst->sdwa) sim_fail(wave, -1, 719, "gfxsim does not know DPP and SDWA of dot products");
    s->a = sim_row(wave, &inst->src[0], 0, s->space[0], &a);
    s->b = sim_row(wave, &inst->src[1], 0, s->space[1], &b);
    s->c = sim_row(wave, sums ? &inst->dst[0] : &inst->src[2], 0, s->space[2], &c);
    s->out = sim_row_out(wave, &inst->dst[0], 0, &s->out_defined);
    s->defined = a & b & c;
}
static void finish(struct sim_wave *wave, struct sources *s, const u32 result[64]) {
    u64 exec = SIM_EXEC64(wave);
    for (unsigned l = 0; l < 64; l++)
        if (exec >> l & 1) s->out[l] = result[l];
    *s->out_defined = (*s->out_defined & ~exec) | (s->defined & exec);
}

/* Element `high` of a packed operand, with its modifiers. op_sel chooses the half that serves as the low one; the VOP2
 * forms, which add to their destination, have none. */
static float half_of(const struct sim_inst *inst, const struct sim_dot *d, unsigned source, u32 value, bool high) {
    unsigned from = d->sums ? high : (high ? inst->op_sel_hi : inst->op_sel) >> source & 1;
    float x = sim_element_value(d->a, value >> from * 16 & 0xffff);
    return (high ? inst->neg_hi : inst->neg_lo) >> source & 1 ? -x : x;
}
static float saturated(float x) { return x > 1 ? 1 : x > 0 ? x : 0; }

void sim_run_dot2_float(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_dot *d = inst->op->detail;
    struct sources s;
    u32 result[64];
    start(wave, inst, d->sums, &s);
    for (unsigned l = 0; l < 64; l++) {
        float sum = sim_f32(s.c[l]);
        if (d->a == SIM_EL_F16 && fabsf(sum) < FLT_MIN) sum = copysignf(0, sum);
        if (!d->sums && (inst->neg_lo & 4 || inst->src[2].neg)) sum = -sum;
        for (unsigned e = 0; e < 2; e++)
            sum = fmaf(half_of(inst, d, 0, s.a[l], e), half_of(inst, d, 1, s.b[l], e), sum);
        result[l] = sim_bits_f32(inst->clamp ? saturated(sum) : sum);
    }
    finish(wave, &s, result);
}

/* a * b + c, where a * b is exact in f64, rounded to odd: another rounding to 16 bits then is the only one. */
static float odd_fma(float a, float b, float c) {
    double product = (double)a * b, sum = product + c, back = sum - product,
           lost = (product - (sum - back)) + (c - back), over;
    float x = (float)sum;
    u32 bits = sim_bits_f32(x);
    if (!isfinite(x)) return x;
    over = (double)x - sum;
    if (over == lost) return x;
    if (x > 0 ? over > lost : over < lost) bits--;
    return sim_f32(bits | 1);
}

/* 16-bit sums, rounded after each term. op_sel's bits 2 and 3 choose halves of the third source and the result. */
void sim_run_dot2_half(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_dot *d = inst->op->detail;
    struct sources s;
    u32 result[64];
    bool third_high = inst->op_sel & 4 || inst->src[2].high, high = inst->op_sel & 8 || inst->dst[0].high;
    start(wave, inst, false, &s);
    for (unsigned l = 0; l < 64; l++) {
        u32 code = s.c[l] >> (third_high ? 16 : 0) & 0xffff;
        float sum = sim_element_value(d->a, code);
        if (inst->src[2].abs) sum = fabsf(sum);
        if (inst->src[2].neg) sum = -sum;
        for (unsigned e = 0; e < 2; e++) {
            float a = sim_element_value(d->a, s.a[l] >> e * 16 & 0xffff),
                  b = sim_element_value(d->a, s.b[l] >> e * 16 & 0xffff);
            if (inst->src[0].abs) a = fabsf(a);
            if (inst->src[1].abs) b = fabsf(b);
            if (inst->src[0].neg) a = -a;
            if (inst->src[1].neg) b = -b;
            sum = odd_fma(a, b, sum);
            code = d->a == SIM_EL_F16 ? sim_f16_bits(sum) : sim_bf16_bits(sum);
            sum = sim_element_value(d->a, code);
        }
        if (inst->clamp) code = d->a == SIM_EL_F16 ? sim_f16_bits(saturated(sum)) : sim_bf16_bits(saturated(sum));
        result[l] = high ? (s.out[l] & 0xffff) | code << 16 : (s.out[l] & 0xffff0000) | code;
    }
    finish(wave, &s, result);
}

void sim_run_dot4_float(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_dot *d = inst->op->detail;
    struct sources s;
    u32 result[64];
    start(wave, inst, false, &s);
    for (unsigned l = 0; l < 64; l++) {
        float sum = sim_f32(s.c[l]);
        if (inst->neg_hi & 4) sum = fabsf(sum);
        if (inst->neg_lo & 4) sum = -sum;
        for (unsigned e = 0; e < 32; e += 8)
            sum = fmaf(sim_element_value(d->a, s.a[l] >> e & 255), sim_element_value(d->b, s.b[l] >> e & 255), sum);
        result[l] = sim_bits_f32(sum);
    }
    finish(wave, &s, result);
}

void sim_run_dot_int(struct sim_wave *wave, const struct sim_inst *inst) {
    const struct sim_dot *d = inst->op->detail;
    struct sources s;
    u32 result[64], mask = (1u << d->bits) - 1, sign = 1u << (d->bits - 1);
    bool a_signed = d->is_signed || (d->by_neg && inst->neg_lo & 1),
         b_signed = d->is_signed || (d->by_neg && inst->neg_lo & 2), sums_signed = d->is_signed || d->by_neg;
    start(wave, inst, d->sums, &s);
    for (unsigned l = 0; l < 64; l++) {
        i64 sum = sums_signed ? (i64)(i32)s.c[l] : (i64)s.c[l];
        for (unsigned e = 0; e < 32 / d->bits; e++) {
            unsigned at_a = e, at_b = e;
            i64 a, b;
            if (d->bits == 16 && !d->sums) {
                at_a = (e ? inst->op_sel_hi : inst->op_sel) & 1;
                at_b = (e ? inst->op_sel_hi : inst->op_sel) >> 1 & 1;
            }
            a = s.a[l] >> at_a * d->bits & mask;
            b = s.b[l] >> at_b * d->bits & mask;
            if (a_signed && a & sign) a -= (i64)mask + 1;
            if (b_signed && b & sign) b -= (i64)mask + 1;
            sum += a * b;
        }
        if (inst->clamp && sums_signed) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        if (inst->clamp && !sums_signed) sum = sum > UINT32_MAX ? UINT32_MAX : sum;
        result[l] = (u32)(u64)sum;
    }
    finish(wave, &s, result);
}
