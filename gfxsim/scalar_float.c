/* Scalar floats, of gfx11.5 and gfx12. */
#include "scalar.h"
#include "vector_math.h"

#include <fenv.h>

#define RUN(name) void sim_scalar_##name(struct sim_wave *wave, const struct sim_inst *inst)

/* MODE has two bits each for rounding f32, rounding f16, denormals of f32 and of f16: bit 0 of the latter keeps those
 * that are read, bit 1 those that are made. */
struct modes {
    unsigned round;
    bool flush_in, flush_out;
};
static struct modes modes_of(const struct sim_wave *wave, bool half) {
    unsigned shift = half ? 2 : 0, denormals = wave->mode >> (4 + shift) & 3;
    return (struct modes){wave->mode >> shift & 3, !(denormals & 1), !(denormals & 2)};
}

static float flushed(float value, bool half) {
    if (!half) return sim_flush(value);
    return fabsf(value) < 0x1p-14f ? copysignf(0, value) : value;
}
static float bits_to_float(u32 bits, bool half) { return half ? sim_f16_to_f32(bits & 0xffff) : sim_f32(bits); }

/* Up to three values of the same width, flushed as MODE says. */
struct values {
    float v[3];
    u32 known;
    struct modes modes;
};
static struct values read_values(struct sim_wave *wave, const struct sim_inst *inst, bool half, bool and_destination) {
    struct values x = {.known = 1, .modes = modes_of(wave, half)};
    for (unsigned i = 0; i < 3; i++) {
        u32 known = 1, bits = 0;
        if (i < inst->n_src)
            bits = sim_get32(wave, &inst->src[i], &known);
        else if (i == 2 && and_destination)
            bits = sim_get32(wave, &inst->dst[0], &known);
        x.known &= known;
        x.v[i] = bits_to_float(bits, half);
        if (x.modes.flush_in) x.v[i] = flushed(x.v[i], half);
    }
    return x;
}

/* A NaN that no source had is the positive one; one of a source's is quiet. */
static u32 result_bits(const struct values *x, float value) {
    if (value == value) return sim_bits_f32(value);
    for (unsigned i = 0; i < 3; i++)
        if (x->v[i] != x->v[i]) return sim_bits_f32(x->v[i]) | 0x400000;
    return 0x7fc00000;
}

static void write_f32(struct sim_wave *wave, const struct sim_inst *inst, const struct values *x, float value) {
    u32 bits = result_bits(x, value);
    if (x->modes.flush_out) bits = sim_bits_f32(sim_flush(sim_f32(bits)));
    sim_scalar_write(wave, &inst->dst[0], 0, bits, x->known);
}
static void write_f16(struct sim_wave *wave, const struct sim_inst *inst, const struct values *x, float value) {
    u32 bits = sim_f32_to_f16_round(sim_f32(result_bits(x, value)), x->modes.round);
    if (x->modes.flush_out && !(bits & 0x7c00)) bits &= 0x8000;
    sim_scalar_write(wave, &inst->dst[0], 0, bits, x->known);
}

static const int host_rounding[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

/* The compiler must not move arithmetic out from between the changes of rounding: so the values are volatile. */
typedef float arithmetic(float a, float b, float c);
static float rounded(arithmetic *f, const struct values *x) {
    if (x->modes.round == 0) return f(x->v[0], x->v[1], x->v[2]);
    volatile float a = x->v[0], b = x->v[1], c = x->v[2], d;
    fesetround(host_rounding[x->modes.round]);
    d = f(a, b, c);
    fesetround(FE_TONEAREST);
    return d;
}

#define F32(name, and_destination, expression)                                                                         \
    static float name##_f32_of(float a, float b, float c) {                                                            \
        (void)a, (void)b, (void)c;                                                                                     \
        return expression;                                                                                             \
    }                                                                                                                  \
    RUN(name##_f32) {                                                                                                  \
        struct values x = read_values(wave, inst, false, and_destination);                                             \
        write_f32(wave, inst, &x, rounded(name##_f32_of, &x));                                                         \
    }
/* Computed as f32, which is exact or, with more than twice the bits, rounds to the same. */
#define F16(name, and_destination, expression)                                                                         \
    RUN(name##_f16) {                                                                                                  \
        struct values x = read_values(wave, inst, true, and_destination);                                              \
        float a = x.v[0], b = x.v[1], c = x.v[2];                                                                      \
        (void)a, (void)b, (void)c;                                                                                     \
        write_f16(wave, inst, &x, expression);                                                                         \
    }
/* One of the sources as it is, NaNs as the function says. */
#define CHOICE(name, function)                                                                                         \
    RUN(name##_f32) {                                                                                                  \
        struct values x = read_values(wave, inst, false, false);                                                       \
        float d = function(x.v[0], x.v[1]);                                                                            \
        if (x.modes.flush_out) d = sim_flush(d);                                                                       \
        sim_scalar_write(wave, &inst->dst[0], 0, sim_bits_f32(d), x.known);                                            \
    }                                                                                                                  \
    RUN(name##_f16) {                                                                                                  \
        struct values x = read_values(wave, inst, true, false);                                                        \
        u32 d = sim_f32_to_f16(function(x.v[0], x.v[1]));                                                              \
        if (x.modes.flush_out && !(d & 0x7c00)) d &= 0x8000;                                                           \
        sim_scalar_write(wave, &inst->dst[0], 0, d, x.known);                                                          \
    }
#define COMPARE(name, expression)                                                                                      \
    RUN(cmp_##name##_f32) {                                                                                            \
        struct values x = read_values(wave, inst, false, false);                                                       \
        float a = x.v[0], b = x.v[1];                                                                                  \
        sim_put_scc(wave, expression, x.known);                                                                        \
    }                                                                                                                  \
    RUN(cmp_##name##_f16) {                                                                                            \
        struct values x = read_values(wave, inst, true, false);                                                        \
        float a = x.v[0], b = x.v[1];                                                                                  \
        sim_put_scc(wave, expression, x.known);                                                                        \
    }

F32(add, false, a + b)
F32(sub, false, a - b)
F32(mul, false, (a * b))
F32(fma, false, fmaf(a, b, c))
F32(fmac, true, fmaf(a, b, c))
F32(ceil, false, ceilf(a))
F32(floor, false, floorf(a))
F32(trunc, false, truncf(a))
/* To nearest even whatever MODE says, as the host rounds. */
RUN(rndne_f32) {
    struct values x = read_values(wave, inst, false, false);
    write_f32(wave, inst, &x, rintf(x.v[0]));
}

F16(add, false, a + b)
F16(sub, false, a - b)
F16(mul, false, (a * b))
F16(fmac, true, sim_fma_odd(a, b, c))
F16(ceil, false, ceilf(a))
F16(floor, false, floorf(a))
F16(trunc, false, truncf(a))
F16(rndne, false, rintf(a))

/* gfx11.5 with MODE's IEEE: a signalling NaN yields itself, quiet, the first of two. */
static bool half_signals(u32 h) { return (h & 0x7c00) == 0x7c00 && h & 0x1ff && !(h & 0x200); }
#define IEEE_CHOICE(name, function)                                                                                    \
    RUN(name##_f32) {                                                                                                  \
        struct values x = read_values(wave, inst, false, false);                                                       \
        float d = function(x.v[0], x.v[1], wave->mode & 0x200);                                                        \
        if (x.modes.flush_out) d = sim_flush(d);                                                                       \
        sim_scalar_write(wave, &inst->dst[0], 0, sim_bits_f32(d), x.known);                                            \
    }                                                                                                                  \
    RUN(name##_f16) {                                                                                                  \
        struct values x = read_values(wave, inst, true, false);                                                        \
        u32 d = sim_f32_to_f16(function(x.v[0], x.v[1], false));                                                       \
        if (x.modes.flush_out && !(d & 0x7c00)) d &= 0x8000;                                                           \
        for (unsigned n = 2; n-- > 0 && wave->mode & 0x200;) {                                                         \
            const u32 h = sim_scalar_read(wave, &inst->src[n], 0) & 0xffff;                                            \
            if (half_signals(h)) d = h | 0x200;                                                                        \
        }                                                                                                              \
        sim_scalar_write(wave, &inst->dst[0], 0, d, x.known);                                                          \
    }

IEEE_CHOICE(min, sim_min_f32)
IEEE_CHOICE(max, sim_max_f32)
CHOICE(min_num, sim_min_num_f32)
CHOICE(max_num, sim_max_num_f32)
CHOICE(minimum, sim_minimum_f32)
CHOICE(maximum, sim_maximum_f32)

COMPARE(lt, a < b)
COMPARE(eq, a == b)
COMPARE(le, a <= b)
COMPARE(gt, a > b)
COMPARE(lg, a<b || a> b)
COMPARE(ge, a >= b)
COMPARE(o, a == a && b == b)
COMPARE(u, a != a || b != b)
COMPARE(nge, !(a >= b))
COMPARE(nlg, !(a < b || a > b))
COMPARE(ngt, !(a > b))
COMPARE(nle, !(a <= b))
COMPARE(neq, a != b)
COMPARE(nlt, !(a < b))

/* ---- conversions ---- */

/* Of the signed or unsigned integer: at most 53 bits, so the double is exact. */
static void from_integer(struct sim_wave *wave, const struct sim_inst *inst, double value, u32 known) {
    volatile double exact = value;
    fesetround(host_rounding[wave->mode & 3]);
    volatile float d = (float)exact;
    fesetround(FE_TONEAREST);
    sim_scalar_write(wave, &inst->dst[0], 0, sim_bits_f32(d), known);
}
RUN(cvt_f32_i32) {
    u32 known, a = sim_get32(wave, &inst->src[0], &known);
    from_integer(wave, inst, (i32)a, known);
}
RUN(cvt_f32_u32) {
    u32 known, a = sim_get32(wave, &inst->src[0], &known);
    from_integer(wave, inst, a, known);
}
/* To zero; what does not fit is the nearest that does, a NaN 0. */
RUN(cvt_i32_f32) {
    struct values x = read_values(wave, inst, false, false);
    float a = x.v[0];
    i32 d = a != a ? 0 : a >= 0x1p31f ? INT32_MAX : a < -0x1p31f ? INT32_MIN : (i32)a;
    sim_scalar_write(wave, &inst->dst[0], 0, (u32)d, x.known);
}
RUN(cvt_u32_f32) {
    struct values x = read_values(wave, inst, false, false);
    float a = x.v[0];
    u32 d = !(a > 0) ? 0 : a >= 0x1p32f ? UINT32_MAX : (u32)a;
    sim_scalar_write(wave, &inst->dst[0], 0, d, x.known);
}
RUN(cvt_f16_f32) {
    struct values x = read_values(wave, inst, false, false);
    x.modes = modes_of(wave, true);
    write_f16(wave, inst, &x, x.v[0]);
}
static void from_half(struct sim_wave *wave, const struct sim_inst *inst, unsigned shift) {
    u32 known, a = sim_get32(wave, &inst->src[0], &known) >> shift & 0xffff;
    float d = sim_f16_to_f32(a);
    if (modes_of(wave, true).flush_in) d = flushed(d, true);
    sim_scalar_write(wave, &inst->dst[0], 0, sim_bits_f32(d), known);
}
RUN(cvt_f32_f16) { from_half(wave, inst, 0); }
RUN(cvt_hi_f32_f16) { from_half(wave, inst, 16); }
RUN(cvt_pk_rtz_f16_f32) {
    struct values x = read_values(wave, inst, false, false);
    u32 d = sim_f32_to_f16_round(x.v[0], 3) | sim_f32_to_f16_round(x.v[1], 3) << 16;
    sim_scalar_write(wave, &inst->dst[0], 0, d, x.known);
}
