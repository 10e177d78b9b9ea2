/* How sums are rounded: what arXiv:2511.10909 measured on an MI250X (gfx90a) and an MI300X (gfx942), worked out by hand
 * for the element D[0][0] of single products, and what gfxsim/matrix.h says was chosen for the others. */
#include <float.h>

#include "fixture.h"

static struct fixture f;

enum kind { HALF, BRAIN, SINGLE, BYTE };

/* A product whose A is in v[8:..], B in v[16:..], C in v[32:..], D in v[64:..], with `each` terms in a lane, the next
 * ones 16 lanes on. */
struct product {
    enum sim_target target;
    const char *text;
    enum kind kind;
    unsigned each;
};

/* D[0][0] of a row and a column of n terms, the others 0; values as the bits of their type. */
static float first(struct product p, unsigned n, const u32 *a, const u32 *b, float c) {
    unsigned bits = p.kind == SINGLE ? 32 : p.kind == BYTE ? 8 : 16;
    fixture_start(&f, p.target, 0);
    f.rows[32][0] = sim_bits_f32(c);
    for (unsigned k = 0; k < n; k++) {
        unsigned lane = k / p.each * 16, row = k % p.each * bits / 32, at = k % p.each * bits % 32;
        f.rows[8 + row][lane] |= a[k] << at;
        f.rows[16 + row][lane] |= b[k] << at;
        if (p.target == SIM_GFX1100) {
            f.rows[8 + row][lane + 16] |= a[k] << at;
            f.rows[16 + row][lane + 16] |= b[k] << at;
        }
    }
    CHECK(fixture_run(&f, p.text));
    return sim_f32(f.rows[64][0]);
}
#define BITS(got, want)                                                                                                \
    do {                                                                                                               \
        float bits_got = (got), bits_want = (want);                                                                    \
        TEST_CHECK_(sim_bits_f32(bits_got) == sim_bits_f32(bits_want), "%s is %a, should be %a", #got, bits_got,       \
                    bits_want);                                                                                        \
    } while (0)

static const struct product
    half90 = {SIM_GFX90A, "v_mfma_f32_16x16x16f16 v[64:67], v[8:9], v[16:17], v[32:35]", HALF, 4},
    brain90 = {SIM_GFX90A, "v_mfma_f32_16x16x16bf16_1k v[64:67], v[8:9], v[16:17], v[32:35]", BRAIN, 4},
    old90 = {SIM_GFX90A, "v_mfma_f32_16x16x8bf16 v[64:67], v8, v16, v[32:35]", BRAIN, 2},
    single90 = {SIM_GFX90A, "v_mfma_f32_16x16x4f32 v[64:67], v8, v16, v[32:35]", SINGLE, 1},
    half942 = {SIM_GFX942, "v_mfma_f32_16x16x16_f16 v[64:67], v[8:9], v[16:17], v[32:35]", HALF, 4},
    brain942 = {SIM_GFX942, "v_mfma_f32_16x16x16_bf16 v[64:67], v[8:9], v[16:17], v[32:35]", BRAIN, 4},
    xf942 = {SIM_GFX942, "v_mfma_f32_16x16x8_xf32 v[64:67], v[8:9], v[16:17], v[32:35]", SINGLE, 2},
    byte942 = {SIM_GFX942, "v_mfma_f32_16x16x32_fp8_fp8 v[64:67], v[8:9], v[16:17], v[32:35]", BYTE, 8},
    half1100 = {SIM_GFX1100, "v_wmma_f32_16x16x16_f16 v[64:71], v[8:15], v[16:23], v[32:39]", HALF, 16},
    half1201 = {SIM_GFX1201, "v_wmma_f32_16x16x16_f16 v[64:71], v[8:11], v[16:19], v[32:39]", HALF, 4};

/* halves */
enum {
    H1 = 0x3c00,
    HM1 = 0xbc00,
    H2_12 = 0x6c00,
    H2_M14 = 0x0400,
    HM2_M14 = 0x8400,
    HTINY = 0x0001,
    HINF = 0x7c00,
    HBIG = 0x7bff
};

static void gfx90a(void) {
    u32 one[16] = {H1, H1, H1, H1}, big[16] = {H2_12, H1, H1, H1}, big_by[16] = {H2_12, H1, H1, H1};
    u32 tiny[16] = {HTINY}, ones[16] = {H1};
    u32 b1 = 0x3f80, b1s[16] = {b1, b1, b1, b1}, least[16] = {0x0080}, half[16] = {0x3f00}, denormal[16] = {0x0040};
    u32 four[4] = {0x4b800000, 0x3f800000, 0x3f800000, 0x3f800000},
        ones4[4] = {0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000};
    u32 b24[16] = {0x4b80, b1, b1, b1};
    /* a group is (p0 + p1) + (p2 + p3): 2^24 + 1 loses the 1, 1 + 1 does not */
    BITS(first(half90, 4, big, big_by, 0), 0x1p24f + 2);
    BITS(first(brain90, 4, b24, b1s, 0), 0x1p24f + 2);
    /* pairs are added one by one where there are two terms in a group; f32 is a chain */
    BITS(first(old90, 4, b24, b1s, 0), 0x1p24f + 2);
    BITS(first(single90, 4, four, ones4, 0), 0x1p24f);
    BITS(first(half90, 4, one, one, 0x1p24f), 0x1p24f + 4);
    /* denormals of A, C and the sum are 0, with C's sign lost and the sum's kept */
    BITS(first(half90, 1, tiny, ones, 0), 0);
    BITS(first(half90, 1, ones, tiny, 0), 0);
    BITS(first(half90, 1, (u32[16]){0}, ones, 0x1p-127f), 0);
    BITS(first(brain90, 1, denormal, b1s, 0), 0);
    BITS(first(brain90, 1, least, half, 0), 0);
    BITS(first(brain90, 1, least, b1s, 0), FLT_MIN);
    /* so is 2^-126 - 1.5 * 2^-126 within a group */
    BITS(first(brain90, 3, (u32[16]){0x0080, 0x80c0, 0x00c0}, b1s, 0), 0x1.8p-126f);
    /* f32 keeps them */
    BITS(first(single90, 1, (u32[4]){1}, ones4, 0), sim_f32(1));
}

static void gfx942(void) {
    u32 big[16] = {H2_12, H1, H1, H1}, two[16] = {H1, HM2_M14}, by[16] = {H1, H2_M14}, none[16] = {0};
    u32 ones[16] = {H1, H1, H1, H1}, tiny[16] = {HTINY}, low[16] = {H1, H2_M14};
    u32 x[8] = {0x3f801fff}, y[8] = {0x3f800000};
    u32 sixteen[32] = {0x40}, sixteen_by[32] = {0x40};
    /* eight terms are aligned at the largest, cut and rounded once: 2^24 + 3 is half way, to even */
    BITS(first(half942, 4, big, big, 0), 0x1p24f + 4);
    /* -2^-28 beside 1 is cut to nothing in the products ... */
    BITS(first(half942, 2, two, by, 0), 1);
    BITS(first(half942, 2, low, by, 0), 1);
    /* ... but a small negative C, like small negative products beside C, is rounded down */
    BITS(first(half942, 1, ones, ones, -0x1p-40f), 1 - 0x1p-24f);
    BITS(first(half942, 1, ones, ones, 0x1p-40f), 1);
    /* 24 bits after the point of C's exponent: 1 + 2^-24 ties to even with C = 2^-24 and goes up with more */
    BITS(first(half942, 1, ones, ones, 0x1p-24f), 1);
    BITS(first(half942, 1, ones, ones, 0x1.8p-24f), 1);
    BITS(first(half942, 1, ones, ones, 0x1p-23f), 1 + 0x1p-23f);
    /* denormals count */
    BITS(first(half942, 1, tiny, ones, 0), 0x1p-24f);
    BITS(first(half942, 1, none, ones, 0x1p-127f), 0x1p-127f);
    BITS(first(brain942, 1, (u32[16]){0x0040}, (u32[16]){0x3f80}, 0), 0x1p-127f);
    /* xf32 has 10 bits of mantissa, the others are cut */
    BITS(first(xf942, 1, x, y, 0), 1);
    x[0] = 0x3f802000;
    BITS(first(xf942, 1, x, y, 0), 1 + 0x1p-10f);
    /* 0x40 is 1 in the form with bias 8; 0x01 is 2^-10; 0x80 is NaN */
    BITS(first(byte942, 1, sixteen, sixteen_by, 0), 1);
    sixteen[0] = 0x01;
    BITS(first(byte942, 1, sixteen, sixteen_by, 0), 0x1p-10f);
    sixteen[0] = 0x80;
    CHECK(isnan(first(byte942, 1, sixteen, sixteen_by, 0)));
    /* a small C is dropped rather than rounded down where it is below the 25th bit */
    sixteen[0] = 0x40;
    BITS(first(byte942, 1, sixteen, sixteen_by, -0x1p-26f), 1);
    BITS(first(byte942, 1, sixteen, sixteen_by, -0x1p-25f), 1 - 0x1p-24f);
}

static void wmma(void) {
    u32 big[16] = {H2_12, H1, H1, H1}, tiny[16] = {HTINY}, ones[16] = {H1};
    BITS(first(half1100, 4, big, big, 0), 0x1p24f); /* a chain: each 1 is lost */
    BITS(first(half1201, 4, big, big, 0), 0x1p24f);
    BITS(first(half1100, 1, tiny, ones, 0), 0x1p-24f);
    BITS(first(half1201, 1, tiny, ones, 0x1p-140f), 0x1p-24f);
}

/* Infinities, NaNs and overflow. */
static void specials(void) {
    const struct product all[] = {half90, half942, half1100, half1201};
    for (unsigned i = 0; i < 4; i++) {
        u32 inf[16] = {HINF}, one[16] = {H1}, zero[16] = {0}, two[16] = {HINF, HINF}, against[16] = {H1, HM1};
        BITS(first(all[i], 1, inf, one, 0), INFINITY);
        BITS(first(all[i], 1, inf, (u32[16]){HM1}, 5), -INFINITY);
        CHECK(isnan(first(all[i], 1, inf, zero, 0)));
        CHECK(isnan(first(all[i], 2, two, against, 0)));
        CHECK(isnan(first(all[i], 1, one, one, NAN)));
        BITS(first(all[i], 1, one, one, INFINITY), INFINITY);
        BITS(first(all[i], 1, (u32[16]){HBIG}, (u32[16]){HBIG}, FLT_MAX), FLT_MAX);
    }
    /* a product of bf16 beyond f32 */
    BITS(first(brain942, 1, (u32[16]){0x7f7f}, (u32[16]){0x7f7f}, 0), INFINITY);
    BITS(first(brain90, 1, (u32[16]){0x7f7f}, (u32[16]){0xff7f}, 0), -INFINITY);
}

/* Random f16 against sums in f64, to what three roundings of each group and the cut terms can make. */
static void near(struct product p) {
    static const float scale = 0x1p-10f;
    u64 state = 7;
    for (unsigned round = 0; round < 200; round++) {
        u32 a[16], b[16];
        float c = (float)((int)random_u32(&state) % 4096) * scale, got;
        double sum = c, size = fabs(sum);
        for (unsigned k = 0; k < 16; k++) {
            /* exponents of 2^-8 to 2^7 */
            a[k] = (random_u32(&state) & 0x83ff) | (random_u32(&state) % 16 + 7) << 10;
            b[k] = (random_u32(&state) & 0x83ff) | (random_u32(&state) % 16 + 7) << 10;
        }
        for (unsigned k = 0; k < 16; k++) {
            double x = ldexp(1024 + (double)(a[k] & 0x3ff), (int)(a[k] >> 10 & 31) - 25) * (a[k] >> 15 ? -1 : 1),
                   y = ldexp(1024 + (double)(b[k] & 0x3ff), (int)(b[k] >> 10 & 31) - 25) * (b[k] >> 15 ? -1 : 1);
            sum += x * y;
            size += fabs(x * y);
        }
        got = first(p, 16, a, b, c);
        CHECK_NEAR(got, sum, size * 20 * 0x1p-24);
    }
}

int main(void) {
    sim_settings_read();
    gfx90a();
    gfx942();
    wmma();
    specials();
    near(half90);
    near(half942);
    near(half1100);
    /* findings: lanes off, and halves that differ */
    fixture_start(&f, SIM_GFX1100, 0);
    SIM_EXEC64(&f.wave) = 0xffff;
    CHECK(!fixture_run(&f, half1100.text));
    fixture_start(&f, SIM_GFX1100, 0);
    f.rows[8][3] = H1;
    CHECK(!fixture_run(&f, half1100.text));
    fixture_start(&f, SIM_GFX90A, 0);
    SIM_EXEC64(&f.wave) = 0; /* MFMA does not look at it */
    f.rows[8][0] = f.rows[16][0] = H1;
    CHECK(fixture_run(&f, half90.text));
    CHECK_INT(f.rows[64][0], 0x3f800000);
    return test_end();
}
