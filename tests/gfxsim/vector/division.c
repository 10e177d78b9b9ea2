/* Division as compilers expand it: with v_div_scale, v_div_fmas and v_div_fixup it is rounded as the processor's own
 * division, denormal quotients and sources included. */
#include "tests/gfxsim/matrix/fixture.h"

#include <math.h>

static struct fixture f;
static u64 state = 5;

static void run(const char *const texts[], unsigned n) {
    for (unsigned i = 0; i < n; i++) CHECK(fixture_run(&f, texts[i]));
}

/* Exponents anywhere, or such that the quotient is denormal or nearly so; few bits now and then, for exact ties. */
static double number(int least, int greatest, unsigned fraction) {
    const int exponent = least + (int)(random_u32(&state) % (u32)(greatest - least));
    u64 bits = ((u64)random_u32(&state) << 32 | random_u32(&state)) >> 11;
    bits &= ~(u64)0 << (random_u32(&state) % 3 ? 53 - fraction : 30 + random_u32(&state) % 22);
    return ldexp(1 + (double)(bits & (((u64)1 << 52) - 1)) * 0x1p-52, exponent) * (random_u32(&state) & 1 ? 1 : -1);
}

static void f32(enum sim_target target) {
    static const char *const texts[] = {
        "v_div_scale_f32 v3, s[4:5], v2, v2, v1",
        "v_div_scale_f32 v4, vcc, v1, v2, v1",
        "v_rcp_f32_e32 v5, v3",
        "v_fma_f32 v6, -v3, v5, 1.0",
        "v_fma_f32 v5, v6, v5, v5",
        "v_mul_f32_e32 v6, v4, v5",
        "v_fma_f32 v7, -v3, v6, v4",
        "v_fma_f32 v6, v7, v5, v6",
        "v_fma_f32 v3, -v3, v6, v4",
        "v_div_fmas_f32 v3, v3, v5, v6",
        "v_div_fixup_f32 v8, v3, v2, v1",
    };
    for (unsigned round = 0; round < 400; round++) {
        fixture_start(&f, target, 0);
        f.wave.mode = 0x3f0;
        memset(f.wave.s_known, 0xff, sizeof f.wave.s_known);
        for (unsigned l = 0; l < 64; l++) {
            const int kind = (int)(round % 4);
            const float d = (float)number(kind == 1 ? 100 : -149, 128, 24);
            const float q = (float)number(kind == 0 ? -149 : -150, kind == 0 ? 128 : -125, 24);
            f.rows[2][l] = sim_bits_f32(d);
            f.rows[1][l] = sim_bits_f32(kind == 3 ? (float)number(-149, 128, 24) : d * q);
        }
        run(texts, sizeof texts / sizeof *texts);
        for (unsigned l = 0; l < 64; l++) {
            const float n = sim_f32(f.rows[1][l]), d = sim_f32(f.rows[2][l]), q = n / d;
            if (q != q)
                CHECK((f.rows[8][l] & 0x7fffffff) > 0x7f800000);
            else
                CHECK_INT(f.rows[8][l], sim_bits_f32(q));
        }
    }
}

static void put(unsigned row, unsigned lane, double v) {
    u64 bits = sim_bits_f64(v);
    f.rows[row][lane] = (u32)bits;
    f.rows[row + 1][lane] = (u32)(bits >> 32);
}
static double get(unsigned row, unsigned lane) { return sim_f64(f.rows[row][lane] | (u64)f.rows[row + 1][lane] << 32); }

static void f64(enum sim_target target) {
    static const char *const texts[] = {
        "v_div_scale_f64 v[6:7], s[4:5], v[4:5], v[4:5], v[2:3]",
        "v_rcp_f64_e32 v[8:9], v[6:7]",
        "v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0",
        "v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]",
        "v_fma_f64 v[10:11], -v[6:7], v[8:9], 1.0",
        "v_fma_f64 v[8:9], v[8:9], v[10:11], v[8:9]",
        "v_div_scale_f64 v[12:13], vcc, v[2:3], v[4:5], v[2:3]",
        "v_mul_f64 v[14:15], v[12:13], v[8:9]",
        "v_fma_f64 v[6:7], -v[6:7], v[14:15], v[12:13]",
        "v_div_fmas_f64 v[6:7], v[6:7], v[8:9], v[14:15]",
        "v_div_fixup_f64 v[16:17], v[6:7], v[4:5], v[2:3]",
    };
    for (unsigned round = 0; round < 400; round++) {
        fixture_start(&f, target, 0);
        f.wave.mode = 0x3f0;
        memset(f.wave.s_known, 0xff, sizeof f.wave.s_known);
        for (unsigned l = 0; l < 64; l++) {
            const int kind = (int)(round % 4);
            const double d = number(kind == 1 ? 900 : -1074, 1024, 53);
            const double q = number(kind == 0 ? -1074 : -1075, kind == 0 ? 1024 : -1021, 53);
            put(4, l, d);
            put(2, l, kind == 3 ? number(-1074, 1024, 53) : d * q);
        }
        run(texts, sizeof texts / sizeof *texts);
        for (unsigned l = 0; l < 64; l++) {
            const double q = get(2, l) / get(4, l), got = get(16, l);
            if (q != q)
                CHECK(got != got);
            else {
                put(40, l, q);
                CHECK_INT(f.rows[16][l] | (u64)f.rows[17][l] << 32, f.rows[40][l] | (u64)f.rows[41][l] << 32);
            }
        }
    }
}

int main(void) {
    f32(SIM_GFX942);
    f64(SIM_GFX90A);
    return test_end();
}
