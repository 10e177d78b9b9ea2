/* v_dot*: sums made from the published pseudocode, term by term. */
#include "fixture.h"

static struct fixture f;

static u32 run(enum sim_target target, const char *text, u32 a, u32 b, u32 c) {
    fixture_start(&f, target, 0);
    for (unsigned l = 0; l < f.wave.size; l++)
        f.rows[1][l] = a, f.rows[2][l] = b, f.rows[3][l] = c, f.rows[4][l] = 0xabcd1234;
    SIM_EXEC64(&f.wave) = 2;
    f.defined[4] = strstr(text, "_e32") ? 3 : 1; /* those read v4 */
    CHECK(fixture_run(&f, text));
    CHECK_INT(f.rows[4][0], 0xabcd1234);
    CHECK_INT(f.defined[4], 3);
    return f.rows[4][1];
}

static void integers(void) {
    u64 state = 3;
    for (unsigned round = 0; round < 100; round++) {
        u32 a = random_u32(&state), b = random_u32(&state), c = random_u32(&state);
        i64 s16 = (i32)c, u16s = c, s8 = (i32)c, u8s = c, su8 = (i32)c, s4 = (i32)c, u4s = c, su4 = (i32)c;
        for (unsigned e = 0; e < 2; e++) {
            s16 += (i64)(i16)(a >> 16 * e) * (i16)(b >> 16 * e);
            u16s += (i64)(u16)(a >> 16 * e) * (u16)(b >> 16 * e);
        }
        for (unsigned e = 0; e < 4; e++) {
            s8 += (i8)(a >> 8 * e) * (i8)(b >> 8 * e);
            u8s += (u8)(a >> 8 * e) * (u8)(b >> 8 * e);
            su8 += (i8)(a >> 8 * e) * (u8)(b >> 8 * e);
        }
        for (unsigned e = 0; e < 8; e++) {
            int sa = (int)(a >> 4 * e & 15), sb = (int)(b >> 4 * e & 15);
            u4s += sa * sb;
            su4 += sa * (sb > 7 ? sb - 16 : sb);
            s4 += (sa > 7 ? sa - 16 : sa) * (sb > 7 ? sb - 16 : sb);
        }
#define WRAPS(target, text, exact) CHECK_INT(run(target, text, a, b, c), (u32)(u64)(exact))
        WRAPS(SIM_GFX90A, "v_dot2_i32_i16 v4, v1, v2, v3", s16);
        WRAPS(SIM_GFX1030, "v_dot2_u32_u16 v4, v1, v2, v3", u16s);
        WRAPS(SIM_GFX942, "v_dot4_i32_i8 v4, v1, v2, v3", s8);
        WRAPS(SIM_GFX1100, "v_dot4_u32_u8 v4, v1, v2, v3", u8s);
        WRAPS(SIM_GFX1100, "v_dot4_i32_iu8 v4, v1, v2, v3 neg_lo:[1,1,0]", s8);
        WRAPS(SIM_GFX1201, "v_dot4_i32_iu8 v4, v1, v2, v3 neg_lo:[1,0,0]", su8);
        WRAPS(SIM_GFX1030, "v_dot8_i32_i4 v4, v1, v2, v3", s4);
        WRAPS(SIM_GFX1201, "v_dot8_u32_u4 v4, v1, v2, v3", u4s);
        WRAPS(SIM_GFX1100, "v_dot8_i32_iu4 v4, v1, v2, v3 neg_lo:[0,1,0]", su4);
        CHECK_INT((i32)run(SIM_GFX942, "v_dot4_i32_i8 v4, v1, v2, v3 clamp", a, b, c), s8 > INT32_MAX   ? INT32_MAX
                                                                                       : s8 < INT32_MIN ? INT32_MIN
                                                                                                        : s8);
        CHECK_INT(run(SIM_GFX1030, "v_dot2_u32_u16 v4, v1, v2, v3 clamp", a, b, c),
                  u16s > UINT32_MAX ? UINT32_MAX : u16s);
        CHECK_INT((i32)run(SIM_GFX90A, "v_dot2_i32_i16 v4, v1, v2, v3 clamp", a, b, c), s16 > INT32_MAX   ? INT32_MAX
                                                                                        : s16 < INT32_MIN ? INT32_MIN
                                                                                                          : s16);
    }
    CHECK_INT(run(SIM_GFX90A, "v_dot4c_i32_i8_e32 v4, v1, v2", 0x01ff0203, 0x05060708, 0),
              0xabcd1234 + 5 - 6 + 14 + 24);
    CHECK_INT(run(SIM_GFX90A, "v_dot2c_i32_i16_e32 v4, v1, v2", 0xffff0003, 0x00050002, 0), 0xabcd1234 - 5 + 6);
    CHECK_INT(run(SIM_GFX90A, "v_dot8c_i32_i4_e32 v4, v1, v2", 0xf0000002, 0x30000007, 0), 0xabcd1234 - 3 + 14);
}

static void floats(void) {
    u32 a = 0x40003c00, b = 0x44004200, one = 0x3f800000; /* {1, 2} and {3, 4} */
    CHECK_INT(run(SIM_GFX90A, "v_dot2_f32_f16 v4, v1, v2, v3", a, b, one), sim_bits_f32(12));
    CHECK_INT(run(SIM_GFX1100, "v_dot2_f32_f16 v4, v1, v2, v3 neg_lo:[1,0,0]", a, b, one), sim_bits_f32(6));
    CHECK_INT(run(SIM_GFX1100, "v_dot2_f32_f16 v4, v1, v2, v3 neg_hi:[0,1,0]", a, b, one), sim_bits_f32(-4));
    CHECK_INT(run(SIM_GFX1030, "v_dot2_f32_f16 v4, v1, v2, v3 op_sel:[1,0,0] op_sel_hi:[0,1,1]", a, b, one),
              sim_bits_f32(11));
    CHECK_INT(run(SIM_GFX942, "v_dot2_f32_f16 v4, v1, v2, v3 clamp", a, b, one), one);
    /* each sum is rounded: 2^24 + 1 + 1 stays 2^24 */
    CHECK_INT(run(SIM_GFX942, "v_dot2_f32_f16 v4, v1, v2, v3", 0x3c003c00, 0x3c003c00, sim_bits_f32(0x1p24f)),
              sim_bits_f32(0x1p24f));
    CHECK_INT(run(SIM_GFX1201, "v_dot2_f32_bf16 v4, v1, v2, v3", 0x40003f80, 0x40804040, one), sim_bits_f32(12));
    CHECK_INT(run(SIM_GFX1100, "v_dot2_f16_f16 v4, v1, v2, v3", a, b, 0x3c00), 0xabcd0000 | 0x4a00);
    CHECK_INT(run(SIM_GFX1100, "v_dot2_bf16_bf16 v4, v1, v2, v3", 0x40003f80, 0x40804040, 0x3f80), 0xabcd0000 | 0x4140);
    CHECK_INT(run(SIM_GFX1100, "v_dot2_f16_f16 v4, v1, v2, v3 op_sel:[0,0,1,1]", a, b, 0x3c000000), 0x4a001234);
    /* 2048 + 1 is half way between halves: to even; 2050 + 1 goes up */
    CHECK_INT(run(SIM_GFX1100, "v_dot2_f16_f16 v4, v1, v2, v3", 0x3c00, 0x3c00, 0x6800) & 0xffff, 0x6800);
    CHECK_INT(run(SIM_GFX1100, "v_dot2_f16_f16 v4, v1, v2, v3", 0x3c00, 0x3c00, 0x6801) & 0xffff, 0x6802);
    CHECK_INT(run(SIM_GFX1201, "v_dot4_f32_fp8_fp8 v4, v1, v2, v3", 0x38383838, 0x38404448, one),
              sim_bits_f32(1 + 1 + 2 + 3 + 4));
    CHECK_INT(run(SIM_GFX1201, "v_dot4_f32_bf8_fp8 v4, v1, v2, v3", 0x3c, 0x40, one), sim_bits_f32(3));
    /* a denormal operand is 0 to v_dot2_f32_f16 */
    CHECK_INT(run(SIM_GFX942, "v_dot2_f32_f16 v4, v1, v2, v3", 0, 0, 1), 0);
    CHECK_INT(run(SIM_GFX1201, "v_dot2_f32_bf16 v4, v1, v2, v3", 0, 0, 1), 1);
    /* v4 holds 0xabcd1234 = -0x1.9a2468p-40 */
    CHECK_INT(run(SIM_GFX90A, "v_dot2c_f32_f16_e32 v4, v1, v2", a, b, 0), sim_bits_f32(11));
    CHECK_INT(run(SIM_GFX1100, "v_dot2acc_f32_f16_e32 v4, v1, v2", a, b, 0), sim_bits_f32(11));
}

int main(void) {
    sim_settings_read();
    integers();
    floats();
    return test_end();
}
