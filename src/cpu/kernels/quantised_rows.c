/* Rows of weights in blocks by one row of activations of 8 bits, eight rows at once.
 *
 * Words of the blocks of eight rows are interleaved in registers, as they are stored: a row has a lane from then on, so
 * that sums need no adding across lanes, and take the order of a panel's (quantised_dot.h). Codes are unsigned, and
 * sums begin with what they are too high by, in whole numbers. Where products of a pair could leave 16 bits, codes of 8
 * bits are signed instead. */
#include "cpu/kernels/quantised_rows.h"

#if WICK_ISA_LEVEL >= 1
#include "cpu/kernels/quantised_codes_16.h"

/* What sets a dtype apart. */
struct row_type {
    int elements, nbytes; /* of a block */
    bool shifted, above;
    void (*scales)(const uint8_t *b, int64_t step, struct row_scales *scales);
    void (*codes)(const struct row_dot dot, const uint8_t *b, int64_t step, const int8_t *x, __m256i *sums);
};

/* As much of the next eight rows as these have read with the block at b, in the order of memory: that is what
 * processors foresee, who would see eight streams here. */
DOT_FN void prefetch(const uint8_t *first, const uint8_t *b, int64_t step, int nbytes) {
    const uint8_t *next = first + WICK__ROWS_AT_ONCE * (step + (b - first));
    for (int at = 0; at < WICK__ROWS_AT_ONCE * nbytes; at += 64) __builtin_prefetch(next + at);
}

ROW_FN void eight_rows(const struct row_type type, const struct row_dot dot, const struct wick__rows_call *call) {
    const int groups = type.elements / 32;
    const uint8_t *b = call->weight;
    int64_t step = call->step, g = 0;
    __m256 total = _mm256_setzero_ps();
    for (int64_t k = 0; k < call->k; k += type.elements, b += type.nbytes, g += groups) {
        struct row_scales s;
        __m256i sums[ROW_GROUPS];
        type.scales(b, step, &s);
        prefetch(call->weight, b, step, type.nbytes);
        type.codes(dot, b, step, call->q + k, sums);
        for (int i = 0; i < groups; i++) {
            __m256i sum = sums[i];
            if (type.above) sum = _mm256_add_epi32(sum, _mm256_set1_epi32(call->start[g + i]));
            __m256 by = s.scale[i] * _mm256_broadcast_ss(call->scale + g + i);
            total = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), by, total);
            if (type.shifted) total = _mm256_fmadd_ps(s.shift[i], _mm256_broadcast_ss(call->sum + g + i), total);
        }
    }
    _mm256_storeu_ps(call->out, total);
}

/* ---- whole scales of 16 elements ---- */

struct row_type_16 {
    int nbytes, above_bits; /* codes are 1 << above_bits above their integers, but with 0, as they are */
    bool shifted;
    struct row_dot dot;
    void (*scales)(const uint8_t *b, int64_t step, struct scales_16 *s);
    void (*load)(const uint8_t *b, int64_t step, const int half, struct half_block *from);
    void (*codes)(struct half_block *from, const int half, const int p, const int h, __m256i codes[4]);
};

/* Of a block, without the scales that all its elements share. */
struct sums_16 {
    __m256 products, shifts;
};

ROW_FN void add_half(const struct row_type_16 type, const struct wick__rows_call *x, const uint8_t *b, const int half,
                     const struct scales_16 *s, struct sums_16 *to) {
    struct half_block from;
    type.load(b, x->step, half, &from);
#pragma GCC unroll 4 /* shifts by constants */
    for (int p = 0; p < 4; p++) {
        const int word = 2 * half + p / 2, byte = p % 2 * 2;
        __m256i codes[4], sums[2], two = _mm256_set1_epi32(x->start[8 * half + 2 * p]);
        __m256 by = _mm256_broadcast_ss(x->scale + 8 * half + 2 * p);
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
            type.codes(&from, half, p, h, codes);
            sums[h] = scaled_half(type.dot, codes, x->q + 128 * half + 32 * p + 16 * h, s->scale[word], byte + h,
                                  !type.shifted);
        }
        sums[0] = _mm256_add_epi32(sums[0], sums[1]);
        if (type.above_bits) {
            __m256i above = _mm256_madd_epi16(two_bytes(s->scale[word], byte, byte + 1, !type.shifted), two);
            sums[0] = _mm256_sub_epi32(sums[0], _mm256_slli_epi32(above, type.above_bits));
        }
        to->products = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[0]), by, to->products);
        if (type.shifted) {
            __m256i min = _mm256_madd_epi16(two_bytes(s->min[word], byte, byte + 1, false), two);
            to->shifts = _mm256_fmadd_ps(_mm256_cvtepi32_ps(min), by, to->shifts);
        }
    }
}

ROW_FN void eight_rows_16(const struct row_type_16 type, const struct wick__rows_call *call) {
    struct wick__rows_call x = *call;
    __m256 total = _mm256_setzero_ps();
    for (const uint8_t *b = x.weight; x.k > 0; x.k -= WICK__STRETCH, b += type.nbytes) {
        struct scales_16 s;
        struct sums_16 sums = {_mm256_setzero_ps(), _mm256_setzero_ps()};
        type.scales(b, x.step, &s);
        prefetch(x.weight, b, x.step, type.nbytes);
        add_half(type, &x, b, 0, &s, &sums);
        add_half(type, &x, b, 1, &s, &sums);
        total = _mm256_fmadd_ps(s.d, sums.products, total);
        if (type.shifted) total = _mm256_fmadd_ps(s.dmin, sums.shifts, total);
        x.q += WICK__STRETCH;
        x.start += WICK__STRETCH / 16;
        x.scale += WICK__STRETCH / 16;
    }
    _mm256_storeu_ps(x.out, total);
}

/* ---- functions for each dtype ---- */

/* Codes up to 15, 31, 63, and signed ones. With VNNI all are unsigned. */
#if WICK_ISA_LEVEL == 2
#define UP_TO_15 ((struct row_dot){half_vnni, false, false, true})
#define UP_TO_31 UP_TO_15
#define UP_TO_63 UP_TO_15
#define SIGNED UP_TO_15
#define ATTRIBUTE VNNI
#define ABOVE(plain, with_vnni) with_vnni
#else
#define UP_TO_15 ((struct row_dot){half_16, true, true, false})
#define UP_TO_31 ((struct row_dot){half_16, true, false, false})
#define UP_TO_63 ((struct row_dot){NULL, false, false, false}) /* scaled_half knows */
#define SIGNED ((struct row_dot){half_signed, false, false, false})
#define ATTRIBUTE
#define ABOVE(plain, with_vnni) plain
#endif

/* X(name, elements, bytes of a block, whether it has shifts, what codes are above their integers, that with VNNI,
 * scales, codes) */
#define ROW_TYPES(X)                                                                                                   \
    X(q4_0, 32, 18, false, 8, 8, scales_half, UP_TO_15)                                                                \
    X(q4_1, 32, 20, true, 0, 0, scales_halves, UP_TO_15)                                                               \
    X(q5_0, 32, 22, false, 16, 16, scales_half, UP_TO_31)                                                              \
    X(q5_1, 32, 24, true, 0, 0, scales_halves, UP_TO_31)                                                               \
    X(q8_0, 32, 34, false, 0, 128, scales_half, SIGNED)                                                                \
    X(iq4_nl, 32, 18, false, 0, 128, scales_half, SIGNED)                                                              \
    X(mxfp4, 32, 17, false, 12, 12, scales_mxfp4, UP_TO_31)                                                            \
    X(q4_k, 256, 144, true, 0, 0, scales_of_k, UP_TO_15)                                                               \
    X(q5_k, 256, 176, true, 0, 0, scales_of_k, UP_TO_31)                                                               \
    X(iq4_xs, 256, 136, false, 0, 128, scales_of_iq4_xs, SIGNED)                                                       \
    X(tq2_0, 256, 66, false, 1, 1, scales_of_tq2_0, UP_TO_15)
/* X(name, bytes of a block, above_bits, whether it has shifts, codes) */
#define ROW_TYPES_16(X)                                                                                                \
    X(q2_k, 84, 0, true, UP_TO_15)                                                                                     \
    X(q3_k, 110, 2, false, UP_TO_15)                                                                                   \
    X(q6_k, 210, 5, false, UP_TO_63)

#define FUNCTION(name, elements, nbytes, shifted, above, with_vnni, scales, dot)                                       \
    ATTRIBUTE static void rows_##name(const struct wick__rows_call *call) {                                            \
        eight_rows((struct row_type){elements, nbytes, shifted, ABOVE(above, with_vnni) != 0, scales, codes_##name},   \
                   dot, call);                                                                                         \
    }
ROW_TYPES(FUNCTION)
#define FUNCTION_16(name, nbytes, above_bits, shifted, dot)                                                            \
    ATTRIBUTE static void rows_##name(const struct wick__rows_call *call) {                                            \
        eight_rows_16(                                                                                                 \
            (struct row_type_16){nbytes, above_bits, shifted, dot, scales_16_##name, load_##name, codes_16_##name},    \
            call);                                                                                                     \
    }
ROW_TYPES_16(FUNCTION_16)
#endif

struct wick__rows wick__rows_avx2(enum wick_dtype dtype);

struct wick__rows WICK__ISA(wick__rows)(enum wick_dtype dtype) {
#if WICK_ISA_LEVEL == 2
    if (!wick__isa_has_avx512_vnni()) return wick__rows_avx2(dtype);
#endif
#if WICK_ISA_LEVEL >= 1
    switch (dtype) {
#define CASE(name, elements, nbytes, shifted, above, with_vnni, ...)                                                   \
    case WICK_DTYPE_##name: return (struct wick__rows){rows_##name, ABOVE(above, with_vnni)};
        ROW_TYPES(CASE)
#undef CASE
#define CASE(name, ...)                                                                                                \
    case WICK_DTYPE_##name: return (struct wick__rows){rows_##name, 0};
        ROW_TYPES_16(CASE)
#undef CASE
    default: break;
    }
#endif
    (void)dtype;
    return (struct wick__rows){NULL, 0};
}
