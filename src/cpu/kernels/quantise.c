/* Floats to blocks: scales by quantise_fit.h, and the places of their bits, which kernels/blocks.h describes. */
#include "cpu/kernels/quantise.h"

#include "core/convert.h"
#include "cpu/kernels/quantise_fit.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "core/dtype.h"

#include <stdatomic.h>

enum { MOST = 256 };

static const int8_t iq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
/* Doubled e2m1: the levels, and the codes of those below 0, at 0 and above. */
static const int8_t e2m1[15] = {-12, -8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12};

/* ---- bits ---- */

static void put_u16(uint8_t *b, uint32_t x) {
    b[0] = (uint8_t)x;
    b[1] = (uint8_t)(x >> 8);
}

/* Writes a scale as f16, and returns what it became. */
static float put_half(uint8_t *b, float x) {
    uint16_t half = wick__f32_to_f16(x);
    put_u16(b, half);
    return wick__f16_to_f32(half);
}

/* 32 codes of 4 bits as 16 bytes, the first 16 in the lower halves. */
static void put_nibbles(uint8_t *b, const uint8_t *code) {
    for (int i = 0; i < 16; i++) b[i] = (uint8_t)((code[i] & 15) | code[i + 16] << 4);
}

static void put_fifth_bits(uint8_t *b, const uint8_t *code) {
    for (int i = 0; i < 4; i++) b[i] = 0;
    for (int i = 0; i < 32; i++) b[i / 8] = (uint8_t)(b[i / 8] | (code[i] >> 4 & 1) << i % 8);
}

/* 256 codes of 2 bits as 64 bytes, 128 at a time in four planes of 32. */
static void put_planes(uint8_t *b, const uint8_t *code) {
    for (int i = 0; i < 64; i++) {
        const uint8_t *from = code + 128 * (i / 32) + i % 32;
        b[i] = (uint8_t)((from[0] & 3) | (from[32] & 3) << 2 | (from[64] & 3) << 4 | (from[96] & 3) << 6);
    }
}

/* Where a level stands in a table. */
static int index_of(const int8_t *table, int level) {
    int i = 0;
    while (table[i] != level) i++;
    return i;
}
static uint8_t e2m1_code(int level) {
    static const uint8_t code[15] = {15, 14, 13, 12, 11, 10, 9, 0, 1, 2, 3, 4, 5, 6, 7};
    return code[index_of(e2m1, level)];
}

/* ---- one scale a block ---- */

/* Level i becomes code level - low. There is room for a block of any size. */
static void fit_codes(const struct wick__numbers *v, const struct wick__levels *levels, uint8_t *scale_at,
                      uint8_t *code) {
    int8_t q[MOST];
    wick__assign(v, levels, put_half(scale_at, wick__fit_scale(v, levels)), 0, q);
    for (int i = 0; i < v->n; i++) code[i] = (uint8_t)(q[i] - levels->low);
}

static void fit_line_codes(const struct wick__numbers *v, int high, uint8_t *b, uint8_t *code) {
    const struct wick__levels levels = {.high = high};
    float scale, shift;
    wick__fit_line(v, high, false, &scale, &shift);
    scale = put_half(b, scale);
    shift = put_half(b + 2, shift);
    wick__assign(v, &levels, scale, shift, (int8_t *)code);
}

static void to_q4_0(const struct wick__numbers *v, uint8_t *b) {
    uint8_t code[MOST];
    fit_codes(v, &(struct wick__levels){.low = -8, .high = 7}, b, code);
    put_nibbles(b + 2, code);
}
static void to_q4_1(const struct wick__numbers *v, uint8_t *b) {
    uint8_t code[MOST];
    fit_line_codes(v, 15, b, code);
    put_nibbles(b + 4, code);
}
static void to_q5_0(const struct wick__numbers *v, uint8_t *b) {
    uint8_t code[MOST];
    fit_codes(v, &(struct wick__levels){.low = -16, .high = 15}, b, code);
    put_fifth_bits(b + 2, code);
    put_nibbles(b + 6, code);
}
static void to_q5_1(const struct wick__numbers *v, uint8_t *b) {
    uint8_t code[MOST];
    fit_line_codes(v, 31, b, code);
    put_fifth_bits(b + 4, code);
    put_nibbles(b + 8, code);
}
static void to_iq4_nl(const struct wick__numbers *v, uint8_t *b) {
    const struct wick__levels levels = {.low = -127, .high = 113, .table = iq4, .count = 16};
    int8_t q[32];
    uint8_t code[32];
    wick__assign(v, &levels, put_half(b, wick__fit_scale(v, &levels)), 0, q);
    for (int i = 0; i < 32; i++) code[i] = (uint8_t)index_of(iq4, q[i]);
    put_nibbles(b + 2, code);
}

/* Scales of 8 bits so fine that none is searched: the largest becomes 127. */
static float put_bytes(const struct wick__numbers *v, float scale, uint8_t *q) {
    const struct wick__levels levels = {.low = -127, .high = 127};
    wick__assign(v, &levels, scale, 0, (int8_t *)q);
    return scale;
}
static void to_q8_0(const struct wick__numbers *v, uint8_t *b) {
    put_bytes(v, put_half(b, fabsf(wick__largest(v->x, 32)) / 127), b + 2);
}
static void to_q8_1(const struct wick__numbers *v, uint8_t *b) {
    int sum = 0;
    float scale = put_bytes(v, put_half(b, fabsf(wick__largest(v->x, 32)) / 127), b + 4);
    for (int i = 0; i < 32; i++) sum += (int8_t)b[4 + i];
    put_half(b + 2, scale * (float)sum);
}
static void to_q8_k(const struct wick__numbers *v, uint8_t *b) {
    float scale = fabsf(wick__largest(v->x, 256)) / 127;
    uint32_t bits = wick__f32_bits(scale);
    put_u16(b, bits);
    put_u16(b + 2, bits >> 16);
    put_bytes(v, scale, b + 4);
    for (int g = 0; g < 16; g++) {
        int sum = 0;
        for (int i = 0; i < 16; i++) sum += (int8_t)b[4 + 16 * g + i];
        put_u16(b + 260 + 2 * g, (uint32_t)sum);
    }
}

/* The power of two with the least error, of those about the largest magnitude. */
static void to_mxfp4(const struct wick__numbers *v, uint8_t *b) {
    const struct wick__levels levels = {.low = -12, .high = 12, .table = e2m1, .count = 15};
    float most = fabsf(wick__largest(v->x, 32)), least = INFINITY;
    int8_t q[32];
    uint8_t code[32];
    int top = most > 0 ? ilogbf(most) + 125 : 0; /* the largest level, 12, is at least 2^3 */
    b[0] = 0;
    for (int e = top - 1; e <= top + 1; e++) {
        if (e < 0 || e > 254) continue;
        float error = wick__assign(v, &levels, ldexpf(1, e - 128), 0, NULL);
        if (error < least) {
            least = error;
            b[0] = (uint8_t)e;
        }
    }
    wick__assign(v, &levels, ldexpf(1, b[0] - 128), 0, q);
    for (int i = 0; i < 32; i++) code[i] = e2m1_code(q[i]);
    put_nibbles(b + 1, code);
}

/* Half of an unsigned e4m3. */
static float half_of_e4m3(int code) {
    return code < 8 ? (float)code * 0x1p-10f : ldexpf(1 + (float)(code & 7) / 8, (code >> 3) - 8);
}
static void to_nvfp4(const struct wick__numbers *v, uint8_t *b) {
    const struct wick__levels levels = {.low = -12, .high = 12, .table = e2m1, .count = 15};
    for (int g = 0; g < 4; g++) {
        struct wick__numbers part = {v->x + 16 * g, v->w + 16 * g, 16};
        float wanted = fabsf(wick__largest(part.x, 16)) / 12, least = INFINITY;
        int8_t q[16];
        int near = 0;
        while (near < 126 && half_of_e4m3(near) < wanted) near++;
        for (int code = (int)wick__max(0, near - 6); code <= wick__min(126, near + 2); code++) {
            float error = wick__assign(&part, &levels, half_of_e4m3(code), 0, NULL);
            if (error >= least) continue;
            least = error;
            b[g] = (uint8_t)code;
        }
        wick__assign(&part, &levels, half_of_e4m3(b[g]), 0, q);
        for (int i = 0; i < 8; i++) b[4 + 8 * g + i] = (uint8_t)(e2m1_code(q[i]) | e2m1_code(q[i + 8]) << 4);
    }
}

static void to_tq2_0(const struct wick__numbers *v, uint8_t *b) {
    uint8_t code[256];
    fit_codes(v, &(struct wick__levels){.low = -1, .high = 1}, b + 64, code);
    put_planes(b, code);
}
/* Five digits of base 3 as a fraction of 256, rounded up. */
static void to_tq1_0(const struct wick__numbers *v, uint8_t *b) {
    uint8_t code[256];
    fit_codes(v, &(struct wick__levels){.low = -1, .high = 1}, b + 52, code);
    for (int i = 0; i < 52; i++) {
        const uint8_t *from = i < 32 ? code + i : i < 48 ? code + 160 + i - 32 : code + 240 + i - 48;
        int step = i < 32 ? 32 : i < 48 ? 16 : 4, digits = i < 48 ? 5 : 4, value = 0;
        for (int d = 0; d < 5; d++) value = 3 * value + (d < digits ? from[d * step] : 0);
        b[i] = (uint8_t)((value * 256 + 242) / 243);
    }
}
static void to_q1_0(const struct wick__numbers *v, uint8_t *b) {
    float sum = 0, weights = 0;
    for (int i = 0; i < 128; i++) {
        sum += v->w[i] * fabsf(v->x[i]);
        weights += v->w[i];
    }
    put_half(b, weights > 0 ? sum / weights : 0);
    for (int i = 0; i < 16; i++) b[2 + i] = 0;
    for (int i = 0; i < 128; i++) b[2 + i / 8] = (uint8_t)(b[2 + i / 8] | (v->x[i] >= 0) << i % 8);
}
static void to_q2_0(const struct wick__numbers *v, uint8_t *b) {
    uint8_t code[MOST];
    fit_codes(v, &(struct wick__levels){.low = -1, .high = 2}, b, code);
    for (int i = 0; i < 16; i++)
        b[2 + i] = (uint8_t)(code[4 * i] | code[4 * i + 1] << 2 | code[4 * i + 2] << 4 | code[4 * i + 3] << 6);
}

/* ---- scales of scales ---- */

/* A block of 256 in parts, each with a scale that is a small integer times the block's. */
struct parts {
    int count, size;            /* parts, and elements of one */
    struct wick__levels levels; /* of elements */
    int low, high;              /* of scales */
};

static struct wick__numbers part_of(const struct wick__numbers *v, const struct parts *p, int i) {
    return (struct wick__numbers){v->x + i * p->size, v->w + i * p->size, p->size};
}

/* Fits a block without shifts: its scale goes to scale_at, those of the parts to `scale`, the levels to q. */
static void fit_parts(const struct wick__numbers *v, const struct parts *p, uint8_t *scale_at, int *scale, int8_t *q) {
    float wanted[16], all = 0;
    for (int i = 0; i < p->count; i++) {
        struct wick__numbers part = part_of(v, p, i);
        wanted[i] = wick__fit_scale(&part, &p->levels);
    }
    all = put_half(scale_at, wick__largest(wanted, p->count) / (float)p->low);
    for (int i = 0; i < p->count; i++) {
        struct wick__numbers part = part_of(v, p, i);
        int near = all != 0 ? (int)rintf(fmaxf((float)p->low, fminf((float)p->high, wanted[i] / all))) : 0;
        float least = INFINITY;
        for (int s = (int)wick__max(p->low, near - 1); s <= wick__min(p->high, near + 1); s++) {
            float error = wick__assign(&part, &p->levels, all * (float)s, 0, NULL);
            if (error >= least) continue;
            least = error;
            scale[i] = s;
        }
        wick__assign(&part, &p->levels, all * (float)scale[i], 0, q + i * p->size);
    }
}

/* The scale and the minimum of a part among those next to the ones wanted. */
static void choose_line(const struct wick__numbers *part, const struct parts *p, const float all[2],
                        const float wanted[2], int chosen[2]) {
    int near[2];
    float least = INFINITY;
    for (int i = 0; i < 2; i++)
        near[i] = all[i] != 0 ? (int)rintf(fmaxf(0, fminf((float)p->high, wanted[i] / all[i]))) : 0;
    for (int s = (int)wick__max(0, near[0] - 1); s <= wick__min(p->high, near[0] + 1); s++)
        for (int m = (int)wick__max(0, near[1] - 1); m <= wick__min(p->high, near[1] + 1); m++) {
            float error = wick__assign(part, &p->levels, all[0] * (float)s, -(all[1] * (float)m), NULL);
            if (error >= least) continue;
            least = error;
            chosen[0] = s;
            chosen[1] = m;
        }
}

/* The same with shifts, of which the block's scale goes behind the other. */
static void fit_lines(const struct wick__numbers *v, const struct parts *p, uint8_t *scale_at, int (*scale)[2],
                      int8_t *q) {
    float wanted[16][2], most[2] = {0}, all[2];
    for (int i = 0; i < p->count; i++) {
        struct wick__numbers part = part_of(v, p, i);
        wick__fit_line(&part, p->levels.high, true, &wanted[i][0], &wanted[i][1]);
        wanted[i][1] = -wanted[i][1];
        for (int j = 0; j < 2; j++) most[j] = fmaxf(most[j], wanted[i][j]);
    }
    for (int j = 0; j < 2; j++) all[j] = put_half(scale_at + 2 * j, most[j] / (float)p->high);
    for (int i = 0; i < p->count; i++) {
        struct wick__numbers part = part_of(v, p, i);
        choose_line(&part, p, all, wanted[i], scale[i]);
        wick__assign(&part, &p->levels, all[0] * (float)scale[i][0], -(all[1] * (float)scale[i][1]), q + i * p->size);
    }
}

/* The 12 bytes of q4_k and q5_k. */
static void put_scales_k(uint8_t *b, const int (*scale)[2]) {
    for (int j = 0; j < 4; j++) {
        b[j] = (uint8_t)(scale[j][0] | scale[j + 4][0] >> 4 << 6);
        b[j + 4] = (uint8_t)(scale[j][1] | scale[j + 4][1] >> 4 << 6);
        b[j + 8] = (uint8_t)((scale[j + 4][0] & 15) | (scale[j + 4][1] & 15) << 4);
    }
}

static void to_q4_k(const struct wick__numbers *v, uint8_t *b) {
    const struct parts p = {.count = 8, .size = 32, .levels = {.high = 15}, .high = 63};
    int scale[8][2];
    int8_t q[256];
    fit_lines(v, &p, b, scale, q);
    put_scales_k(b + 4, (const int(*)[2])scale);
    for (int i = 0; i < 128; i++) {
        const int8_t *from = q + 64 * (i / 32) + i % 32;
        b[16 + i] = (uint8_t)(from[0] | from[32] << 4);
    }
}
static void to_q5_k(const struct wick__numbers *v, uint8_t *b) {
    const struct parts p = {.count = 8, .size = 32, .levels = {.high = 31}, .high = 63};
    int scale[8][2];
    int8_t q[256];
    fit_lines(v, &p, b, scale, q);
    put_scales_k(b + 4, (const int(*)[2])scale);
    for (int i = 0; i < 128; i++) {
        const int8_t *from = q + 64 * (i / 32) + i % 32;
        b[48 + i] = (uint8_t)((from[0] & 15) | (from[32] & 15) << 4);
    }
    for (int i = 0; i < 32; i++) {
        int bits = 0;
        for (int g = 0; g < 8; g++) bits |= (q[32 * g + i] >> 4 & 1) << g;
        b[16 + i] = (uint8_t)bits;
    }
}
/* With so few levels the least sum of squares makes all numbers smaller than they are; large ones count more. */
static void to_q2_k(const struct wick__numbers *v, uint8_t *b) {
    const struct parts p = {.count = 16, .size = 16, .levels = {.high = 3}, .high = 15};
    int scale[16][2];
    int8_t q[256];
    float w[256];
    for (int i = 0; i < 256; i++) w[i] = v->w[i] * fabsf(v->x[i]);
    fit_lines(&(struct wick__numbers){v->x, w, 256}, &p, b + 80, scale, q);
    for (int i = 0; i < 16; i++) b[i] = (uint8_t)(scale[i][0] | scale[i][1] << 4);
    put_planes(b + 16, (const uint8_t *)q);
}
static void to_q3_k(const struct wick__numbers *v, uint8_t *b) {
    const struct parts p = {.count = 16, .size = 16, .levels = {.low = -4, .high = 3}, .low = -32, .high = 31};
    int scale[16];
    int8_t q[256];
    uint8_t code[256];
    fit_parts(v, &p, b + 108, scale, q);
    for (int i = 0; i < 256; i++) code[i] = (uint8_t)(q[i] + 4);
    put_planes(b + 32, code);
    for (int i = 0; i < 32; i++) {
        int bits = 0;
        for (int g = 0; g < 8; g++) bits |= (code[32 * g + i] >> 2 & 1) << g;
        b[i] = (uint8_t)bits;
    }
    for (int i = 0; i < 16; i++) scale[i] += 32;
    for (int i = 0; i < 8; i++) b[96 + i] = (uint8_t)((scale[i] & 15) | (scale[i + 8] & 15) << 4);
    for (int i = 0; i < 4; i++)
        b[104 + i] =
            (uint8_t)(scale[i] >> 4 | scale[i + 4] >> 4 << 2 | scale[i + 8] >> 4 << 4 | scale[i + 12] >> 4 << 6);
}
static void to_q6_k(const struct wick__numbers *v, uint8_t *b) {
    const struct parts p = {.count = 16, .size = 16, .levels = {.low = -32, .high = 31}, .low = -128, .high = 127};
    int scale[16];
    int8_t q[256];
    fit_parts(v, &p, b + 208, scale, q);
    for (int i = 0; i < 16; i++) b[192 + i] = (uint8_t)scale[i];
    for (int h = 0; h < 2; h++)
        for (int l = 0; l < 32; l++) {
            int code[4];
            for (int plane = 0; plane < 4; plane++) code[plane] = q[128 * h + 32 * plane + l] + 32;
            b[64 * h + l] = (uint8_t)((code[0] & 15) | (code[2] & 15) << 4);
            b[64 * h + 32 + l] = (uint8_t)((code[1] & 15) | (code[3] & 15) << 4);
            b[128 + 32 * h + l] = (uint8_t)(code[0] >> 4 | code[1] >> 4 << 2 | code[2] >> 4 << 4 | code[3] >> 4 << 6);
        }
}
static void to_iq4_xs(const struct wick__numbers *v, uint8_t *b) {
    const struct parts p = {.count = 8,
                            .size = 32,
                            .levels = {.low = -127, .high = 113, .table = iq4, .count = 16},
                            .low = -32,
                            .high = 31};
    int scale[8];
    int8_t q[256];
    uint32_t high = 0;
    fit_parts(v, &p, b, scale, q);
    for (int i = 0; i < 4; i++) b[4 + i] = 0;
    for (int g = 0; g < 8; g++) {
        uint8_t code[32];
        uint32_t biased = (uint32_t)(scale[g] + 32);
        high |= biased >> 4 << 2 * g;
        b[4 + g / 2] = (uint8_t)(b[4 + g / 2] | (biased & 15) << 4 * (g % 2));
        for (int i = 0; i < 32; i++) code[i] = (uint8_t)index_of(iq4, q[32 * g + i]);
        put_nibbles(b + 8 + 16 * g, code);
    }
    put_u16(b + 2, high);
}

/* ---- rows ---- */

typedef void to_fn(const struct wick__numbers *v, uint8_t *b);

static to_fn *quantiser(enum wick_dtype dtype) {
    static to_fn *const of[WICK_DTYPE_COUNT] = {
        [WICK_DTYPE_q4_0] = to_q4_0,     [WICK_DTYPE_q4_1] = to_q4_1,     [WICK_DTYPE_q5_0] = to_q5_0,
        [WICK_DTYPE_q5_1] = to_q5_1,     [WICK_DTYPE_q8_0] = to_q8_0,     [WICK_DTYPE_q8_1] = to_q8_1,
        [WICK_DTYPE_q2_k] = to_q2_k,     [WICK_DTYPE_q3_k] = to_q3_k,     [WICK_DTYPE_q4_k] = to_q4_k,
        [WICK_DTYPE_q5_k] = to_q5_k,     [WICK_DTYPE_q6_k] = to_q6_k,     [WICK_DTYPE_q8_k] = to_q8_k,
        [WICK_DTYPE_iq4_nl] = to_iq4_nl, [WICK_DTYPE_iq4_xs] = to_iq4_xs, [WICK_DTYPE_tq1_0] = to_tq1_0,
        [WICK_DTYPE_tq2_0] = to_tq2_0,   [WICK_DTYPE_mxfp4] = to_mxfp4,   [WICK_DTYPE_nvfp4] = to_nvfp4,
        [WICK_DTYPE_q1_0] = to_q1_0,     [WICK_DTYPE_q2_0] = to_q2_0,
    };
    return of[dtype];
}

struct job {
    const struct wick__quantise *q;
    to_fn *to;
    int elements, nbytes; /* of a block */
    atomic_bool beyond;
};

/* Whether all numbers can have a scale of f16: none is NaN. */
static bool within(const float *x, int n) {
    bool all = true;
    for (int i = 0; i < n; i++) all = all && fabsf(x[i]) <= 65504;
    return all;
}

/* Units are blocks. */
static void quantise_blocks(void *context, int worker, int64_t begin, int64_t end) {
    struct job *job = context;
    const struct wick__quantise *q = job->q;
    float same[MOST];
    (void)worker;
    for (int i = 0; i < MOST; i++) same[i] = 1;
    for (int64_t block = begin; block < end; block++) {
        int64_t at = block * job->elements;
        struct wick__numbers v = {q->x + at, q->importance ? q->importance + at % q->k : same, job->elements};
        if (within(v.x, v.n))
            job->to(&v, q->out + block * job->nbytes);
        else
            atomic_store_explicit(&job->beyond, true, memory_order_relaxed);
    }
}

wick__quantise_fn WICK__ISA(wick__quantise);
bool WICK__ISA(wick__quantise)(const struct wick__quantise *q) {
    const struct wick__traits *traits = &wick__traits[q->dtype];
    struct job job = {.q = q, .to = quantiser(q->dtype), .elements = traits->elements, .nbytes = traits->nbytes};
    atomic_init(&job.beyond, false);
    wick__parallel(q->rows * (q->k / job.elements), 16, quantise_blocks, &job);
    return !atomic_load(&job.beyond);
}
