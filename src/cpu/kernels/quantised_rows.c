/* Rows of weights in blocks by one row of activations of 8 bits.
 *
 * A chunk of a row is a block of 256 elements, or up to 8 blocks of 32. Its scales, times those of the activations,
 * fill one vector; its codes come a unit at a time: as many as a vector of bytes holds, 32 or 64. Codes are unsigned,
 * and sums begin with what they are too high by, in whole numbers. Where products of a pair could leave 16 bits, codes
 * of 8 bits are signed instead. */
#include "cpu/kernels/quantised_rows.h"

#if WICK_ISA_LEVEL >= 1
#include "cpu/kernels/blocks_avx2.h"
#include "cpu/kernels/quantised_dot.h"

#include "cpu/kernels/quantised_codes.h"

enum { CHUNK = 256, GROUPS = CHUNK / 32, AHEAD = 4096 /* bytes */ };

/* Sums so far, whose lanes make the result together. */
struct row_sums {
    wick__vf products[2];
    __m256 shifts;
};

/* How a dtype is multiplied. */
struct row_way {
    dot_fn *dot;
    bool raised, shifted; /* shifted: it has shifts, and codes that are not too high */
};

DOT_FN void prefetch(const uint8_t *from, int nbytes) {
    for (int at = 0; at < nbytes; at += 64) __builtin_prefetch(from + AHEAD + at);
}

/* Unit u of a chunk, from x on. */
DOT_FN void add_unit(const struct row_way way, row_codes w, const struct wick__row_8_bit *x, wick__vf scale, int u,
                     struct row_sums *sums) {
    dot_ints start = way.shifted ? ints_all(0) : ints_load(x->start + u * WICK__VF);
    dot_ints products = way.dot(start, w, ints_load(x->q + u * UNIT));
    sums->products[u & 1] = wick__vf_fma(to_floats(products), scale, sums->products[u & 1]);
}

/* To the next n elements. */
DOT_FN void step(struct wick__row_8_bit *x, int n) {
    x->q += n;
    x->start += n / 4;
    x->scale += n / 32;
    x->sum += n / 32;
}

DOT_FN float row_total(const struct row_sums *s) {
    wick__vf both = s->products[0] + s->products[1];
#if WICK_ISA_LEVEL == 2
    __m256 x = _mm512_castps512_ps256(both) + _mm512_extractf32x8_ps(both, 1) + s->shifts;
#else
    __m256 x = both + s->shifts;
#endif
    __m128 y = _mm256_castps256_ps128(x) + _mm256_extractf128_ps(x, 1);
    y += _mm_movehl_ps(y, y);
    return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
}

/* ---- blocks of 32 ---- */

/* What sets a dtype apart. */
struct row_small {
    struct row_way way;
    int nbytes;
    row_codes (*codes)(const bool raised, const uint8_t *b, int nbytes, const bool two);
};

/* The first words of up to four blocks, 0 for blocks there are not. */
DOT_FN __m128i words_of(const uint8_t *b, int step, const int n) {
    if (n >= 4) return four_words(b, step);
    __m128i x = n > 0 ? _mm_cvtsi32_si128((int)load_u32(b)) : _mm_setzero_si128();
    return n > 1 ? _mm_insert_epi32(x, (int)load_u32(b + step), 1) : x;
}

/* 1, 2 or 8 blocks. */
DOT_FN void small_chunk(const struct row_small type, const uint8_t *b, const int blocks,
                        const struct wick__row_8_bit *x, struct row_sums *sums) {
    const __m128i low = _mm_set1_epi32(0xffff);
    __m128i left = words_of(b, type.nbytes, blocks), right = words_of(b + 4 * type.nbytes, type.nbytes, blocks - 4);
    __m256 scale = _mm256_cvtph_ps(_mm_packus_epi32(_mm_and_si128(left, low), _mm_and_si128(right, low)));
    scale *= _mm256_loadu_ps(x->scale);
    if (type.way.shifted) {
        __m256 shift = _mm256_cvtph_ps(_mm_packus_epi32(_mm_srli_epi32(left, 16), _mm_srli_epi32(right, 16)));
        sums->shifts = _mm256_fmadd_ps(shift, _mm256_loadu_ps(x->sum), sums->shifts);
    }
    if (blocks == 8) prefetch(b, 8 * type.nbytes);
    for (int u = 0; u * UNIT < blocks * 32; u++)
        add_unit(type.way, type.codes(type.way.raised, b + u * (UNIT / 32) * type.nbytes, type.nbytes, blocks > 1), x,
                 scale_32(scale, u), u, sums);
}

DOT_FN void small_rows(const struct row_small type, const struct wick__rows_call *call) {
    for (int64_t r = 0; r < call->rows; r++) {
        struct row_sums sums = {{wick__vf_all(0), wick__vf_all(0)}, _mm256_setzero_ps()};
        struct wick__row_8_bit x = call->x;
        const uint8_t *b = call->weight + r * call->row_nbytes;
        int64_t left = call->k / 32;
        for (; left >= 8; left -= 8, b += 8 * type.nbytes, step(&x, 8 * 32)) small_chunk(type, b, 8, &x, &sums);
        for (; left >= 2; left -= 2, b += 2 * type.nbytes, step(&x, 2 * 32)) small_chunk(type, b, 2, &x, &sums);
        if (left > 0) small_chunk(type, b, 1, &x, &sums);
        call->out[r] = row_total(&sums);
    }
}

/* ---- blocks of 256 ---- */

struct row_large {
    struct row_way way;
    int nbytes;
    bool groups_16; /* 16 elements share a scale */
    void (*scales)(const uint8_t *b, struct row_scales *scales);
    row_codes (*codes)(const bool raised, const uint8_t *b, const int u);
};

DOT_FN void large_rows(const struct row_large type, const struct wick__rows_call *call) {
    for (int64_t r = 0; r < call->rows; r++) {
        struct row_sums sums = {{wick__vf_all(0), wick__vf_all(0)}, _mm256_setzero_ps()};
        struct wick__row_8_bit x = call->x;
        const uint8_t *b = call->weight + r * call->row_nbytes;
        for (int64_t i = 0; i < call->k; i += CHUNK, b += type.nbytes, step(&x, CHUNK)) {
            struct row_scales scales;
            type.scales(b, &scales);
            times_scales(&scales, type.groups_16, _mm256_loadu_ps(x.scale));
            if (type.way.shifted) sums.shifts = _mm256_fmadd_ps(scales.shift, _mm256_loadu_ps(x.sum), sums.shifts);
            prefetch(b, type.nbytes);
            for (int u = 0; u < CHUNK / UNIT; u++)
                add_unit(type.way, type.codes(type.way.raised, b, u), &x,
                         type.groups_16 ? scale_16(&scales, u) : scale_32(scales.scale[0], u), u, &sums);
        }
        call->out[r] = row_total(&sums);
    }
}

/* ---- functions for each dtype ---- */

/* prefix_NAME for blocks of 32 and 256; `wide_dot` for dtypes with codes of 8 bits, which are raised or not. */
#define SMALL(attribute, prefix, dot, raised, name, nbytes, shifted)                                                   \
    attribute static void prefix##_##name(const struct wick__rows_call *call) {                                        \
        small_rows((struct row_small){{dot, raised, shifted}, nbytes, codes_##name}, call);                            \
    }
#define LARGE(attribute, prefix, dot, raised, name, nbytes, shifted, scales, groups_16)                                \
    attribute static void prefix##_##name(const struct wick__rows_call *call) {                                        \
        large_rows((struct row_large){{dot, raised, shifted}, nbytes, groups_16, scales, codes_##name}, call);         \
    }
#define ALL(attribute, prefix, dot, wide_dot, raised)                                                                  \
    SMALL(attribute, prefix, dot, raised, q4_0, 18, false)                                                             \
    SMALL(attribute, prefix, dot, raised, q4_1, 20, true)                                                              \
    SMALL(attribute, prefix, dot, raised, q5_0, 22, false)                                                             \
    SMALL(attribute, prefix, dot, raised, q5_1, 24, true)                                                              \
    SMALL(attribute, prefix, wide_dot, raised, q8_0, 34, false)                                                        \
    SMALL(attribute, prefix, wide_dot, raised, iq4_nl, 18, false)                                                      \
    LARGE(attribute, prefix, dot, raised, q4_k, 144, true, scales_of_k, false)                                         \
    LARGE(attribute, prefix, dot, raised, q5_k, 176, true, scales_of_k, false)                                         \
    LARGE(attribute, prefix, dot, raised, q6_k, 210, false, scales_of_q6_k, true)                                      \
    LARGE(attribute, prefix, wide_dot, raised, iq4_xs, 136, false, scales_of_iq4_xs, false)

#define NO_ATTRIBUTE
ALL(NO_ATTRIBUTE, plain, dot_unsigned, dot_signed, false)
#if WICK_ISA_LEVEL == 2
ALL(VNNI, vnni, vnni_unsigned, vnni_unsigned, true)
#endif

/* X(name, above, whether its codes are of 8 bits) */
#define ROW_TYPES(X)                                                                                                   \
    X(q4_0, 8, false)                                                                                                  \
    X(q4_1, 0, false)                                                                                                  \
    X(q5_0, 16, false)                                                                                                 \
    X(q5_1, 0, false)                                                                                                  \
    X(q8_0, 128, true)                                                                                                 \
    X(iq4_nl, 128, true)                                                                                               \
    X(q4_k, 0, false)                                                                                                  \
    X(q5_k, 0, false)                                                                                                  \
    X(q6_k, 32, false)                                                                                                 \
    X(iq4_xs, 128, true)
#endif

struct wick__rows WICK__ISA(wick__rows)(enum wick_dtype dtype) {
#if WICK_ISA_LEVEL == 2
#define CASE(name, above, wide)                                                                                        \
    case WICK_DTYPE_##name: return (struct wick__rows){vnni_##name, above};
    if (wick__isa_has_avx512_vnni()) switch (dtype) {
            ROW_TYPES(CASE)
        default: break;
        }
#undef CASE
#endif
#if WICK_ISA_LEVEL >= 1
#define CASE(name, above, wide)                                                                                        \
    case WICK_DTYPE_##name: return (struct wick__rows){plain_##name, wide ? 0 : above};
    switch (dtype) {
        ROW_TYPES(CASE)
    default: break;
    }
#undef CASE
#endif
    (void)dtype;
    return (struct wick__rows){NULL, 0};
}
