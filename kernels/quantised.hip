/* Tensors of blocks: to floats, and multiplied by activations as they are or rounded to 8 bits. */
#include "gemm_common.h"
#include "quantised.h"
#include "wave.h"

#define BLOCK_FN GPU_FN
#define BLOCK_TABLE GPU_CONSTANT
#define BLOCK_UNROLL GPU_UNROLL
GPU_FN f32 block_from_f16(u16 bits) {
    f16 x;
    x.bits = bits;
    return gpu_from_f16(x);
}
#define BLOCK_F16(bits) block_from_f16(bits)
#define BLOCK_F32(bits) gpu_bits<f32>(bits)
#include "block_words.h"

/* A thread a group of 16, in stores of 16 bytes. */
template <typename T> GPU_FN void dequantise_to(const struct block_words &r, T *out) {
    enum { N = 16 / sizeof(T) };
    GPU_UNROLL for (int i = 0; i < BLOCK_GROUP; i += N) {
        gpu_vec<T> v;
        GPU_UNROLL for (int j = 0; j < N; j++) {
            i32 q = (i32)(i8)(r.w[(i + j) / 4] >> 8 * ((i + j) % 4)) - r.less;
            gpu_down(&v.v[j], r.scale * (f32)q + r.shift);
        }
        gpu_store16(out + i, v);
    }
}
GPU_KERNEL(dequantise, struct gpu_dequantise) {
    for (u64 g = gpu_global(); g < (u64)p.groups; g += gpu_stride()) {
        u64 block = g >> p.per_block_log2;
        struct block_words r;
        block_read_words((int)p.type, p.aligned, p.x + block * p.nbytes, (int)(g - (block << p.per_block_log2)), &r);
        if (p.to == GPU_PLAIN_f32)
            dequantise_to(r, (f32 *)p.out + g * BLOCK_GROUP);
        else if (p.to == GPU_PLAIN_f16)
            dequantise_to(r, (f16 *)p.out + g * BLOCK_GROUP);
        else
            dequantise_to(r, (bf16 *)p.out + g * BLOCK_GROUP);
    }
}

/* What 32 activations are multiplied by, by their largest magnitude; 0 where one is infinite or NaN. */
GPU_FN f32 round_by(f32 most, f32 wrong) {
    const f32 SMALLEST = 7.5231638e-37f; /* 2^-120; C++14 has no hexadecimal floats */
    return most > SMALLEST && wrong == 0 ? 127.0f / most : 0.0f;
}
GPU_FN i8 round_one(f32 x, f32 by) { return (i8)(i32)gpu_rint(by > 0 ? x * by : 0.0f); }

/* A wave takes 32 activations at a time, a lane one of them. The scale is NaN where one is infinite or NaN. */
template <typename T> GPU_FN void round_activations(const struct gpu_activations &p) {
    enum { QUANTUM = 32 };
    u64 count = (u64)p.count * QUANTUM, ceiling = (count + GPU_WAVE - 1) / GPU_WAVE * GPU_WAVE;
    for (u64 i = gpu_global(); i < ceiling; i += gpu_stride()) {
        f32 x = i < count ? gpu_up(((const T *)p.x)[i]) : 0.0f;
        f32 most = gpu_wave_join<gpu_join_max>(gpu_fabs(x), QUANTUM);
        f32 wrong = gpu_wave_join<gpu_join_add>(x * 0.0f, QUANTUM), by = round_by(most, wrong);
        if (i >= count) continue;
        p.q[i] = round_one(x, by);
        if (i % QUANTUM == 0) p.scale[i / QUANTUM] = most / 127.0f + wrong;
    }
}
GPU_KERNEL(activations_8_bit_bf16, struct gpu_activations) { round_activations<bf16>(p); }
GPU_KERNEL(activations_8_bit_f16, struct gpu_activations) { round_activations<f16>(p); }
GPU_KERNEL(activations_8_bit_f32, struct gpu_activations) { round_activations<f32>(p); }

/* A wave a row of weights and some rows of activations, its columns; its lanes take groups in turn. */
template <typename T, int C> struct exact_products {
    const T *x[C];
    GPU_FN void start(const struct gpu_linear_quantised &p, exact_products &t, const i64 (&row)[C]) {
        GPU_UNROLL for (int c = 0; c < C; c++) t.x[c] = (const T *)p.x + row[c] * p.k;
    }
    GPU_FN void add(const struct gpu_linear_quantised &p, const exact_products &t, const u8 *block, i64 g, int part,
                    f32 (&sum)[C]) {
        struct block_group r;
        block_read((int)p.type, block, part, &r);
        GPU_UNROLL for (int i = 0; i < BLOCK_GROUP; i++) {
            f32 w = r.scale * (f32)r.q[i] + r.shift;
            GPU_UNROLL for (int c = 0; c < C; c++) sum[c] = gpu_fma(w, gpu_up(t.x[c][g * BLOCK_GROUP + i]), sum[c]);
        }
    }
};

template <int C> struct rounded_products {
    i64 row[C];
    GPU_FN void start(const struct gpu_linear_quantised &, rounded_products &t, const i64 (&row)[C]) {
        GPU_UNROLL for (int c = 0; c < C; c++) t.row[c] = row[c];
    }
    GPU_FN void add(const struct gpu_linear_quantised &p, const rounded_products &t, const u8 *block, i64 g, int part,
                    f32 (&sum)[C]) {
        struct block_words r;
        block_read_words((int)p.type, p.aligned, block, part, &r);
        GPU_UNROLL for (int c = 0; c < C; c++) {
            gpu_vec<u32> x = gpu_load16((const u32 *)(p.q + t.row[c] * p.k) + g * BLOCK_WORDS);
            f32 scale = p.scale[t.row[c] * (p.k / 32) + g / 2];
            i32 product = 0, all = 0;
            WORDS_EACH {
                product = gpu_dot4(r.w[j], x.v[j], product);
                all = gpu_dot4(0x01010101u, x.v[j], all);
            }
            sum[c] = gpu_fma(r.scale * scale, (f32)(product - r.less * all), sum[c]);
            sum[c] = gpu_fma(r.shift, scale * (f32)all, sum[c]);
        }
    }
};

template <typename T, int C, typename P> GPU_FN void linear_quantised(const struct gpu_linear_quantised &p) {
    enum { WAVES = GPU_BLOCK / GPU_WAVE };
    i64 n = (i64)gpu_block_x() * WAVES + gpu_wave();
    bool there = n < p.n;
    const u8 *weight = p.weight + (there ? n : 0) * p.row_nbytes;
    for (i64 first = (i64)gpu_block_y() * C; first < p.m; first += (i64)gpu_blocks_y() * C) {
        P terms;
        i64 row[C];
        f32 sum[C];
        GPU_UNROLL for (int c = 0; c < C; c++) {
            row[c] = first + c < p.m ? first + c : p.m - 1;
            sum[c] = 0;
        }
        P::start(p, terms, row);
        GPU_NO_UNROLL for (i64 g = gpu_lane(); g < p.k / BLOCK_GROUP; g += GPU_WAVE) {
            i64 block = (i64)((u64)g >> p.per_block_log2);
            P::add(p, terms, weight + block * p.nbytes, g, (int)(g - (block << p.per_block_log2)), sum);
        }
        GPU_UNROLL for (int c = 0; c < C; c++) {
            f32 total = gpu_wave_join<gpu_join_add>(sum[c]);
            if (!there || gpu_lane() != 0 || first + c >= p.m) continue;
            if (p.bias) total += gpu_up(((const T *)p.bias)[n]);
            gpu_down((T *)p.out + (first + c) * p.n + n, gemm_activate_float(p.activation, total));
        }
    }
}

/* ---- one row of activations ---- */

enum { QUANTUM_WORDS = 8 }; /* of 32 activations */

/* Rounds a row of activations into LDS, four to a word, as round_activations does. */
template <typename T> GPU_FN void vector_round(const struct gpu_linear_quantised &p, u32 *words, f32 *scales) {
    const T *x = (const T *)p.x;
    u32 count = (u32)p.k / 4, ceiling = (count + GPU_BLOCK - 1) / GPU_BLOCK * GPU_BLOCK;
    GPU_NO_UNROLL for (u32 i = gpu_thread(); i < ceiling; i += GPU_BLOCK) {
        f32 v[4], most = 0, wrong = 0;
        GPU_UNROLL for (u32 j = 0; j < 4; j++) {
            v[j] = i < count ? gpu_up(x[i * 4 + j]) : 0.0f;
            most = gpu_join_max::of(most, gpu_fabs(v[j]));
            wrong += v[j] * 0.0f;
        }
        most = gpu_wave_join<gpu_join_max>(most, QUANTUM_WORDS);
        wrong = gpu_wave_join<gpu_join_add>(wrong, QUANTUM_WORDS);
        f32 by = round_by(most, wrong);
        if (i >= count) continue;
        u32 word = 0;
        GPU_UNROLL for (u32 j = 0; j < 4; j++) word |= (u32)(u8)round_one(v[j], by) << 8 * j;
        words[i] = word;
        if (i % QUANTUM_WORDS == 0) scales[i / QUANTUM_WORDS] = most / 127.0f + wrong;
    }
}

/* The groups of a row that a lane takes at once, for their loads to overlap. TYPE: of the blocks. */
enum { VECTOR_AT_ONCE = 2 };
template <int TYPE>
GPU_FN void vector_fetch(const struct gpu_linear_quantised &p, i64 n, u32 g0, struct block_words (&r)[VECTOR_AT_ONCE]) {
    u32 groups = (u32)p.k / BLOCK_GROUP;
    const u8 *weight = p.weight + n * p.row_nbytes;
    GPU_UNROLL for (u32 u = 0; u < VECTOR_AT_ONCE; u++) {
        u32 g = g0 + u * GPU_WAVE < groups ? g0 + u * GPU_WAVE : g0, block = g >> p.per_block_log2;
        block_read_words(TYPE, true, weight + (u64)block * p.nbytes, (int)(g - (block << p.per_block_log2)), &r[u]);
    }
}
GPU_FN f32 vector_add(const struct gpu_linear_quantised &p, const struct block_words (&r)[VECTOR_AT_ONCE], u32 g0,
                      const u32 *words, const f32 *scales, f32 sum) {
    GPU_UNROLL for (u32 u = 0; u < VECTOR_AT_ONCE; u++) {
        u32 g = g0 + u * GPU_WAVE;
        if (g >= (u32)p.k / BLOCK_GROUP) break;
        gpu_vec<u32> x = *(const gpu_vec<u32> *)(words + g * BLOCK_WORDS);
        f32 scale = scales[g / 2];
        i32 product = 0, all = 0;
        WORDS_EACH {
            product = gpu_dot4(r[u].w[j], x.v[j], product);
            all = gpu_dot4(0x01010101u, x.v[j], all);
        }
        sum = gpu_fma(r[u].scale * scale, (f32)(product - r[u].less * all), sum);
        sum = gpu_fma(r[u].shift, scale * (f32)all, sum);
    }
    return sum;
}

/* A block asks for its first weights, rounds the activations for itself, then its waves take rows of weights in turn. */
template <typename T, int TYPE>
GPU_FN void vector_rows(const struct gpu_linear_quantised &p, u32 *words, f32 *scales) {
    enum { WAVES = GPU_BLOCK / GPU_WAVE };
    u32 groups = (u32)p.k / BLOCK_GROUP;
    i64 n = (i64)gpu_block_x() * WAVES + gpu_wave();
    struct block_words r[VECTOR_AT_ONCE];
    /* A lane without a group, in a row shorter than a wave, asks for the first. */
    u32 mine = gpu_lane() < groups ? gpu_lane() : 0;
    vector_fetch<TYPE>(p, n < p.n ? n : p.n - 1, mine, r);
    vector_round<T>(p, words, scales);
    gpu_sync();
    while (n < p.n) {
        f32 sum = vector_add(p, r, gpu_lane(), words, scales, 0);
        GPU_NO_UNROLL for (u32 g0 = gpu_lane() + VECTOR_AT_ONCE * GPU_WAVE; g0 < groups; g0 += VECTOR_AT_ONCE * GPU_WAVE) {
            vector_fetch<TYPE>(p, n, g0, r);
            sum = vector_add(p, r, g0, words, scales, sum);
        }
        i64 next = n + (i64)gpu_blocks_x() * WAVES;
        if (next < p.n) vector_fetch<TYPE>(p, next, mine, r);
        sum = gpu_wave_join<gpu_join_add>(sum);
        if (gpu_lane() == 0) {
            if (p.bias) sum += gpu_up(((const T *)p.bias)[n]);
            gpu_down((T *)p.out + n, gemm_activate_float(p.activation, sum));
        }
        n = next;
    }
}

/* Of types that are read by words, and lie so that they can be. */
template <typename T> GPU_FN void vector_8_bit(const struct gpu_linear_quantised &p) {
    GPU_SHARED gpu_vec<u32> words[GPU_QUANTISED_VECTOR / 16];
    GPU_SHARED f32 scales[GPU_QUANTISED_VECTOR / 32];
    switch (p.type) {
#define VECTOR_CASE(name)                                                                                              \
    case BLOCK_##name: vector_rows<T, BLOCK_##name>(p, (u32 *)words, scales); break;
        GPU_QUANTISED_WORD_TYPES(VECTOR_CASE)
#undef VECTOR_CASE
    default: break;
    }
}

#define LINEAR(T)                                                                                                      \
    GPU_KERNEL(linear_quantised_##T, struct gpu_linear_quantised) {                                                    \
        linear_quantised<T, GPU_QUANTISED_COLUMNS, exact_products<T, GPU_QUANTISED_COLUMNS>>(p);                       \
    }                                                                                                                  \
    GPU_KERNEL(linear_8_bit_##T, struct gpu_linear_quantised) {                                                        \
        linear_quantised<T, GPU_QUANTISED_COLUMNS, rounded_products<GPU_QUANTISED_COLUMNS>>(p);                        \
    }                                                                                                                  \
    GPU_KERNEL(row_8_bit_##T, struct gpu_linear_quantised) { linear_quantised<T, 1, rounded_products<1>>(p); }         \
    GPU_KERNEL(vector_8_bit_##T, struct gpu_linear_quantised) { vector_8_bit<T>(p); }
LINEAR(bf16)
LINEAR(f16)
LINEAR(f32)
