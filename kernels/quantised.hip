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

/* A thread a group of 16. */
template <typename T> GPU_FN void dequantise_to(const struct block_group &r, T *out) {
    GPU_UNROLL for (int i = 0; i < BLOCK_GROUP; i++) gpu_down(&out[i], r.scale * (f32)r.q[i] + r.shift);
}
GPU_KERNEL(dequantise, struct gpu_dequantise) {
    for (u64 g = gpu_global(); g < (u64)p.groups; g += gpu_stride()) {
        u64 block = g / p.per_block;
        struct block_group r;
        block_read((int)p.type, p.x + block * p.nbytes, (int)(g - block * p.per_block), &r);
        if (p.to == GPU_PLAIN_f32)
            dequantise_to(r, (f32 *)p.out + g * BLOCK_GROUP);
        else if (p.to == GPU_PLAIN_f16)
            dequantise_to(r, (f16 *)p.out + g * BLOCK_GROUP);
        else
            dequantise_to(r, (bf16 *)p.out + g * BLOCK_GROUP);
    }
}

/* A wave takes 32 activations at a time, a lane one of them. The scale is NaN where one is infinite or NaN. */
template <typename T> GPU_FN void round_activations(const struct gpu_activations &p) {
    enum { QUANTUM = 32 };
    const f32 SMALLEST = 7.5231638e-37f; /* 2^-120; C++14 has no hexadecimal floats */
    u64 count = (u64)p.count * QUANTUM, ceiling = (count + GPU_WAVE - 1) / GPU_WAVE * GPU_WAVE;
    for (u64 i = gpu_global(); i < ceiling; i += gpu_stride()) {
        f32 x = i < count ? gpu_up(((const T *)p.x)[i]) : 0.0f;
        f32 most = gpu_wave_join<gpu_join_max>(gpu_fabs(x), QUANTUM);
        f32 wrong = gpu_wave_join<gpu_join_add>(x * 0.0f, QUANTUM), by = most > SMALLEST && wrong == 0 ? 127.0f / most : 0.0f;
        if (i >= count) continue;
        p.q[i] = (i8)(i32)gpu_rint(by > 0 ? x * by : 0.0f);
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
            sum[c] = gpu_fma(r.scale * scale, (f32)product, sum[c]);
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

#define LINEAR(T)                                                                                                      \
    GPU_KERNEL(linear_quantised_##T, struct gpu_linear_quantised) {                                                    \
        linear_quantised<T, GPU_QUANTISED_COLUMNS, exact_products<T, GPU_QUANTISED_COLUMNS>>(p);                       \
    }                                                                                                                  \
    GPU_KERNEL(linear_8_bit_##T, struct gpu_linear_quantised) {                                                        \
        linear_quantised<T, GPU_QUANTISED_COLUMNS, rounded_products<GPU_QUANTISED_COLUMNS>>(p);                        \
    }                                                                                                                  \
    GPU_KERNEL(vector_8_bit_##T, struct gpu_linear_quantised) { linear_quantised<T, 1, rounded_products<1>>(p); }
LINEAR(bf16)
LINEAR(f16)
LINEAR(f32)
