/* GGML's quantised types: how a block's bytes become numbers. The one place that knows, for kernels and the processor.
 *
 * Sixteen neighbours, a group, share what they are scaled by in every type: element i is scale q[i] + shift. Products
 * and sums of that formula are exact in f32 for types without a shift, but for subnormal scales; the others round the
 * sum. Types without a shift have -0, which changes nothing, not even the sign of 0.
 *
 * Plain C that device compilers take too. Who includes it defines
 *
 *   BLOCK_FN          what comes before a function
 *   BLOCK_TABLE       what comes before a table of constants
 *   BLOCK_UNROLL      what comes before a loop of fixed length
 *   BLOCK_F16(bits)   f16 as f32
 *   BLOCK_F32(bits)   the f32 that has these bits */
#ifndef WICK_KERNELS_BLOCKS_H
#define WICK_KERNELS_BLOCKS_H

#include "params.h"

#include "block_grids.h"

/* X(name, elements, bytes) of a block, in the order of enum wick_dtype from q4_0 on. */
#define BLOCK_TYPES(X)                                                                                                 \
    X(q4_0, 32, 18) X(q4_1, 32, 20) X(q5_0, 32, 22) X(q5_1, 32, 24) X(q8_0, 32, 34) X(q8_1, 32, 36)                    \
    X(q2_k, 256, 84) X(q3_k, 256, 110) X(q4_k, 256, 144) X(q5_k, 256, 176) X(q6_k, 256, 210) X(q8_k, 256, 292)         \
    X(iq2_xxs, 256, 66) X(iq2_xs, 256, 74) X(iq3_xxs, 256, 98) X(iq1_s, 256, 50) X(iq4_nl, 32, 18) X(iq3_s, 256, 110)  \
    X(iq2_s, 256, 82) X(iq4_xs, 256, 136) X(iq1_m, 256, 56) X(tq1_0, 256, 54) X(tq2_0, 256, 66) X(mxfp4, 32, 17)       \
    X(nvfp4, 64, 36) X(q1_0, 128, 18) X(q2_0, 64, 18)
enum block_type {
#define BLOCK_TYPE(name, elements, nbytes) BLOCK_##name,
    BLOCK_TYPES(BLOCK_TYPE)
#undef BLOCK_TYPE
        BLOCK_TYPE_COUNT
};

enum { BLOCK_GROUP = 16, BLOCK_MOST = 256 };

/* Sixteen elements: element i is scale q[i] + shift. */
struct block_group {
    float scale, shift;
    i8 q[BLOCK_GROUP];
};

#define BLOCK_EACH BLOCK_UNROLL for (int i = 0; i < BLOCK_GROUP; i++)

BLOCK_FN u32 block_u16(const u8 *b) { return b[0] | (u32)b[1] << 8; }
BLOCK_FN u32 block_u32(const u8 *b) { return block_u16(b) | block_u16(b + 2) << 16; }
BLOCK_FN float block_f16(const u8 *b) { return BLOCK_F16((u16)block_u16(b)); }

/* Each function below reads group g of the block at b. */

/* ---- 32 elements and one scale ---- */

BLOCK_FN void block_q4_0(const u8 *b, int g, struct block_group *r) {
    r->scale = block_f16(b);
    BLOCK_EACH r->q[i] = (i8)((b[2 + i] >> 4 * g & 15) - 8);
}
BLOCK_FN void block_q4_1(const u8 *b, int g, struct block_group *r) {
    r->scale = block_f16(b);
    r->shift = block_f16(b + 2);
    BLOCK_EACH r->q[i] = (i8)(b[4 + i] >> 4 * g & 15);
}
BLOCK_FN void block_q5_0(const u8 *b, int g, struct block_group *r) {
    u32 high = block_u16(b + 2 + 2 * g);
    r->scale = block_f16(b);
    BLOCK_EACH r->q[i] = (i8)((int)((b[6 + i] >> 4 * g & 15) | (high >> i & 1) << 4) - 16);
}
BLOCK_FN void block_q5_1(const u8 *b, int g, struct block_group *r) {
    u32 high = block_u16(b + 4 + 2 * g);
    r->scale = block_f16(b);
    r->shift = block_f16(b + 2);
    BLOCK_EACH r->q[i] = (i8)((b[8 + i] >> 4 * g & 15) | (high >> i & 1) << 4);
}
BLOCK_FN void block_q8_0(const u8 *b, int g, struct block_group *r) {
    r->scale = block_f16(b);
    BLOCK_EACH r->q[i] = (i8)b[2 + BLOCK_GROUP * g + i];
}
BLOCK_FN void block_q8_1(const u8 *b, int g, struct block_group *r) {
    r->scale = block_f16(b);
    BLOCK_EACH r->q[i] = (i8)b[4 + BLOCK_GROUP * g + i];
}

/* ---- 256 elements, and scales of scales ---- */

BLOCK_FN void block_q2_k(const u8 *b, int g, struct block_group *r) {
    const u8 *q = b + 16 + 32 * (g / 8) + 16 * (g % 2);
    r->scale = block_f16(b + 80) * (float)(b[g] & 15);
    r->shift = -(block_f16(b + 82) * (float)(b[g] >> 4));
    BLOCK_EACH r->q[i] = (i8)(q[i] >> 2 * (g % 8 / 2) & 3);
}
BLOCK_FN void block_q3_k(const u8 *b, int g, struct block_group *r) {
    const u8 *high = b + 16 * (g % 2), *q = b + 32 + 32 * (g / 8) + 16 * (g % 2);
    int scale = (b[96 + g % 8] >> 4 * (g / 8) & 15) | (b[104 + g % 4] >> 2 * (g / 4) & 3) << 4;
    r->scale = block_f16(b + 108) * (float)(scale - 32);
    BLOCK_EACH r->q[i] = (i8)((q[i] >> 2 * (g % 8 / 2) & 3) - (high[i] >> g / 2 & 1 ? 0 : 4));
}

/* The j-th of the 8 scales and minima of 6 bits that q4_k and q5_k pack into 12 bytes. */
BLOCK_FN void block_scale_min(const u8 *s, int j, int *scale, int *min) {
    if (j < 4) {
        *scale = s[j] & 63;
        *min = s[j + 4] & 63;
    } else {
        *scale = (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
        *min = s[j + 4] >> 4 | s[j] >> 6 << 4;
    }
}
BLOCK_FN void block_scales_k(const u8 *b, int g, struct block_group *r) {
    int scale, min;
    block_scale_min(b + 4, g / 2, &scale, &min);
    r->scale = block_f16(b) * (float)scale;
    r->shift = -(block_f16(b + 2) * (float)min);
}
BLOCK_FN void block_q4_k(const u8 *b, int g, struct block_group *r) {
    const u8 *q = b + 16 + 32 * (g / 4) + 16 * (g % 2);
    block_scales_k(b, g, r);
    BLOCK_EACH r->q[i] = (i8)(q[i] >> 4 * (g / 2 % 2) & 15);
}
BLOCK_FN void block_q5_k(const u8 *b, int g, struct block_group *r) {
    const u8 *high = b + 16 + 16 * (g % 2), *q = b + 48 + 32 * (g / 4) + 16 * (g % 2);
    block_scales_k(b, g, r);
    BLOCK_EACH r->q[i] = (i8)((q[i] >> 4 * (g / 2 % 2) & 15) | (high[i] >> g / 2 & 1) << 4);
}
BLOCK_FN void block_q6_k(const u8 *b, int g, struct block_group *r) {
    int plane = g % 8 / 2;
    const u8 *q = b + 64 * (g / 8) + 32 * (plane % 2) + 16 * (g % 2), *high = b + 128 + 32 * (g / 8) + 16 * (g % 2);
    r->scale = block_f16(b + 208) * (float)(i8)b[192 + g];
    BLOCK_EACH r->q[i] = (i8)(((q[i] >> 4 * (plane / 2) & 15) | (high[i] >> 2 * plane & 3) << 4) - 32);
}
BLOCK_FN void block_q8_k(const u8 *b, int g, struct block_group *r) {
    r->scale = BLOCK_F32(block_u32(b));
    BLOCK_EACH r->q[i] = (i8)b[4 + BLOCK_GROUP * g + i];
}

/* ---- values from a table ---- */

BLOCK_TABLE i8 block_iq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
/* e2m1, doubled. */
BLOCK_TABLE i8 block_e2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

BLOCK_FN void block_iq4_nl(const u8 *b, int g, struct block_group *r) {
    r->scale = block_f16(b);
    BLOCK_EACH r->q[i] = block_iq4[b[2 + i] >> 4 * g & 15];
}
BLOCK_FN void block_iq4_xs(const u8 *b, int g, struct block_group *r) {
    int sub = g / 2, scale = (b[4 + sub / 2] >> 4 * (sub % 2) & 15) | (int)(block_u16(b + 2) >> 2 * sub & 3) << 4;
    r->scale = block_f16(b) * (float)(scale - 32);
    BLOCK_EACH r->q[i] = block_iq4[b[8 + 16 * sub + i] >> 4 * (g % 2) & 15];
}
/* 2^(e - 128). */
BLOCK_FN void block_mxfp4(const u8 *b, int g, struct block_group *r) {
    r->scale = BLOCK_F32(b[0] < 2 ? 0x200000u << b[0] : (u32)(b[0] - 1) << 23);
    BLOCK_EACH r->q[i] = block_e2m1[b[1 + i] >> 4 * g & 15];
}
/* Half of an unsigned e4m3, of which the NaN counts as 0. */
BLOCK_FN void block_nvfp4(const u8 *b, int g, struct block_group *r) {
    u32 e = b[g] >> 3 & 15, m = b[g] & 7;
    float normal = BLOCK_F32((e + 119) << 23 | m << 20), small = (float)m * 0.0009765625f;
    r->scale = b[g] == 0x7f ? 0.0f : e == 0 ? small : normal;
    BLOCK_EACH r->q[i] = block_e2m1[b[4 + 8 * g + i % 8] >> 4 * (i / 8) & 15];
}

/* ---- vectors from a codebook, with signs ---- */

/* Seven signs, and an eighth that makes their number even. */
BLOCK_FN u32 block_signs(u32 seven) {
    u32 parity = seven ^ seven >> 4;
    return seven | (0x6996u >> (parity & 15) & 1) << 7;
}
/* Half h of a group: 8 elements of an entry of iq2, whose digits stand for 8, 25 and 43. */
BLOCK_FN void block_vector2(u32 entry, u32 signs, int h, struct block_group *r) {
    BLOCK_UNROLL for (int i = 0; i < 8; i++) {
        int digit = (int)(entry >> 2 * i & 3), value = 8 + 17 * digit + digit / 2;
        r->q[8 * h + i] = (i8)(signs >> i & 1 ? -value : value);
    }
}
/* Quarter h of a group: 4 elements of an entry of iq3. The digits of iq3_s stand for odd numbers, those of iq3_xxs for 4
 * more than their eightfold, the last for 62. */
BLOCK_FN void block_vector3(u32 entry, u32 signs, int h, int odd, struct block_group *r) {
    BLOCK_UNROLL for (int i = 0; i < 4; i++) {
        int digit = (int)(entry >> 4 * i & 15), value = odd ? 2 * digit + 1 : 8 * digit + 4 + 2 * (digit == 7);
        r->q[4 * h + i] = (i8)(signs >> i & 1 ? -value : value);
    }
}
/* Half h of a group: 8 elements of an entry of iq1, -1, 0 or 1 and an eighth more or less, in eighths. */
BLOCK_FN void block_vector1(u32 entry, int less, int h, struct block_group *r) {
    BLOCK_UNROLL for (int i = 0; i < 8; i++)
        r->q[8 * h + i] = (i8)(8 * ((int)(entry >> 2 * i & 3) - 1) + (less ? -1 : 1));
}

BLOCK_FN void block_iq2_xxs(const u8 *b, int g, struct block_group *r) {
    const u8 *index = b + 2 + 8 * (g / 2);
    u32 rest = block_u32(index + 4);
    r->scale = block_f16(b) * (0.5f + (float)(rest >> 28)) * 0.25f;
    BLOCK_UNROLL for (int h = 0; h < 2; h++) {
        int n = 2 * (g % 2) + h;
        block_vector2(block_grid_iq2_xxs[index[n]], block_signs(rest >> 7 * n & 127), h, r);
    }
}
BLOCK_FN float block_scale2(const u8 *b, const u8 *scales, int g) {
    return block_f16(b) * (0.5f + (float)(scales[g / 2] >> 4 * (g % 2) & 15)) * 0.25f;
}
BLOCK_FN void block_iq2_xs(const u8 *b, int g, struct block_group *r) {
    r->scale = block_scale2(b, b + 66, g);
    BLOCK_UNROLL for (int h = 0; h < 2; h++) {
        u32 word = block_u16(b + 2 + 2 * (2 * g + h));
        block_vector2(block_grid_iq2_xs[word & 511], block_signs(word >> 9), h, r);
    }
}
BLOCK_FN void block_iq2_s(const u8 *b, int g, struct block_group *r) {
    r->scale = block_scale2(b, b + 74, g);
    BLOCK_UNROLL for (int h = 0; h < 2; h++) {
        int n = 2 * g + h;
        u32 index = b[2 + n] | (b[66 + n / 4] >> 2 * (n % 4) & 3u) << 8;
        block_vector2(block_grid_iq2_s[index], b[34 + n], h, r);
    }
}
BLOCK_FN void block_iq3_xxs(const u8 *b, int g, struct block_group *r) {
    u32 rest = block_u32(b + 66 + 4 * (g / 2));
    r->scale = block_f16(b) * (0.5f + (float)(rest >> 28)) * 0.5f;
    BLOCK_UNROLL for (int h = 0; h < 4; h++) {
        int n = 2 * (g % 2) + h / 2;
        u32 signs = block_signs(rest >> 7 * n & 127) >> 4 * (h % 2);
        block_vector3(block_grid_iq3_xxs[b[2 + 4 * g + h]], signs, h, 0, r);
    }
}
BLOCK_FN void block_iq3_s(const u8 *b, int g, struct block_group *r) {
    r->scale = block_f16(b) * (float)(1 + 2 * (b[106 + g / 4] >> 4 * (g / 2 % 2) & 15));
    BLOCK_UNROLL for (int h = 0; h < 4; h++) {
        int n = 4 * g + h;
        u32 index = b[2 + n] | (b[66 + n / 8] >> n % 8 & 1u) << 8;
        block_vector3(block_grid_iq3_s[index], (u32)b[74 + n / 2] >> 4 * (h % 2), h, 1, r);
    }
}
BLOCK_FN void block_iq1_s(const u8 *b, int g, struct block_group *r) {
    u32 high = block_u16(b + 34 + 2 * (g / 2));
    r->scale = block_f16(b) * (float)(2 * (high >> 12 & 7) + 1) * 0.125f;
    BLOCK_UNROLL for (int h = 0; h < 2; h++) {
        int n = 2 * g + h;
        block_vector1(block_grid_iq1[b[2 + n] | (high >> 3 * (n % 4) & 7) << 8], (int)(high >> 15), h, r);
    }
}
/* The f16 lies in the high four bits of four words, whose other bits are sixteen scales. */
BLOCK_FN void block_iq1_m(const u8 *b, int g, struct block_group *r) {
    u32 scale = block_u16(b + 48 + 2 * (g / 4)) >> 3 * (g % 4) & 7;
    u32 bits = (u32)b[49] >> 4 | (u32)b[51] >> 4 << 4 | (u32)b[53] >> 4 << 8 | (u32)b[55] >> 4 << 12;
    r->scale = BLOCK_F16((u16)bits) * (float)(2 * scale + 1) * 0.125f;
    BLOCK_UNROLL for (int h = 0; h < 2; h++) {
        u32 high = (u32)b[32 + g] >> 4 * h;
        block_vector1(block_grid_iq1[b[2 * g + h] | (high & 7) << 8], (int)(high >> 3 & 1), h, r);
    }
}

/* ---- few values: -1, 0, 1, and one more ---- */

/* Digits of base 3, as fractions of 256: multiplied by a power of 3, the next digit is in front. */
BLOCK_FN void block_tq1_0(const u8 *b, int g, struct block_group *r) {
    r->scale = block_f16(b + 52);
    BLOCK_EACH {
        int plane = g < 10 ? g / 2 : g < 15 ? g - 10 : i / 4;
        int at = g < 10 ? 16 * (g % 2) + i : g < 15 ? 32 + i : 48 + i % 4;
        u32 power = plane == 0 ? 1 : plane == 1 ? 3 : plane == 2 ? 9 : plane == 3 ? 27 : 81;
        r->q[i] = (i8)((int)((b[at] * power & 255) * 3 >> 8) - 1);
    }
}
BLOCK_FN void block_tq2_0(const u8 *b, int g, struct block_group *r) {
    const u8 *q = b + 32 * (g / 8) + 16 * (g % 2);
    r->scale = block_f16(b + 64);
    BLOCK_EACH r->q[i] = (i8)((q[i] >> 2 * (g % 8 / 2) & 3) - 1);
}
BLOCK_FN void block_q1_0(const u8 *b, int g, struct block_group *r) {
    u32 bits = block_u16(b + 2 + 2 * g);
    r->scale = block_f16(b);
    BLOCK_EACH r->q[i] = (i8)(bits >> i & 1 ? 1 : -1);
}
BLOCK_FN void block_q2_0(const u8 *b, int g, struct block_group *r) {
    u32 bits = block_u32(b + 2 + 4 * g);
    r->scale = block_f16(b);
    BLOCK_EACH r->q[i] = (i8)((int)(bits >> 2 * i & 3) - 1);
}

/* Group g of a block of any type. */
BLOCK_FN void block_read(int type, const u8 *b, int g, struct block_group *r) {
    r->shift = -0.0f;
    switch (type) {
#define BLOCK_CASE(name, elements, nbytes)                                                                             \
    case BLOCK_##name: block_##name(b, g, r); break;
        BLOCK_TYPES(BLOCK_CASE)
#undef BLOCK_CASE
    default: break;
    }
}

#endif
