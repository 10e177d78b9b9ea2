/* Copies from any layout to any other, by the size of an element. */
#include "turn_tiles.h"

#include "copy.h"

GPU_KERNEL(copy_flat, struct gpu_copy_flat) {
    enum { N = GPU_COPY_FLAT / 16 };
    u64 first = gpu_tile() * (GPU_BLOCK * GPU_COPY_FLAT), end = (u64)p.nbytes, vector = first + gpu_thread() * 16;
    const u8 *in = (const u8 *)p.in;
    u8 *out = (u8 *)p.out;
    gpu_16 v[N];
    if (first + GPU_BLOCK * GPU_COPY_FLAT <= end) {
        GPU_UNROLL for (int k = 0; k < N; k++) {
            if (in) {
                v[k] = *(const gpu_16 *)(in + vector + k * GPU_BLOCK * 16);
            } else {
                v[k].word[0] = (u32)p.value[0];
                v[k].word[1] = (u32)(p.value[0] >> 32);
                v[k].word[2] = (u32)p.value[1];
                v[k].word[3] = (u32)(p.value[1] >> 32);
            }
        }
        GPU_UNROLL for (int k = 0; k < N; k++) * (gpu_16 *)(out + vector + k * GPU_BLOCK * 16) = v[k];
        return;
    }
    /* The last tile: whole vectors, then single bytes. */
    GPU_NO_UNROLL for (; vector + 16 <= end; vector += GPU_BLOCK * 16) {
        gpu_16 one;
        if (in) {
            one = *(const gpu_16 *)(in + vector);
        } else {
            one.word[0] = (u32)p.value[0];
            one.word[1] = (u32)(p.value[0] >> 32);
            one.word[2] = (u32)p.value[1];
            one.word[3] = (u32)(p.value[1] >> 32);
        }
        *(gpu_16 *)(out + vector) = one;
    }
    if (vector < end) GPU_NO_UNROLL for (u64 i = vector; i < end; i++) {
            u32 at = (u32)i & 15;
            out[i] = in ? in[i] : (u8)((at < 8 ? p.value[0] : p.value[1]) >> (at & 7) * 8);
        }
}

GPU_FN void copy_value(u8 *r, const u64 (&value)[2]) { *r = (u8)value[0]; }
GPU_FN void copy_value(u16 *r, const u64 (&value)[2]) { *r = (u16)value[0]; }
GPU_FN void copy_value(u32 *r, const u64 (&value)[2]) { *r = (u32)value[0]; }
GPU_FN void copy_value(u64 *r, const u64 (&value)[2]) { *r = value[0]; }
GPU_FN void copy_value(gpu_16 *r, const u64 (&value)[2]) {
    r->word[0] = (u32)value[0];
    r->word[1] = (u32)(value[0] >> 32);
    r->word[2] = (u32)value[1];
    r->word[3] = (u32)(value[1] >> 32);
}

template <typename T> GPU_FN void copy_strided(const struct gpu_copy_strided &p) {
    enum { S = GPU_COPY_SLOTS(sizeof(T)) };
    u64 first = gpu_tile() * (GPU_BLOCK * S) + gpu_thread(), count = (u64)p.shape.count;
    T v[S];
    i64 at[S];
    GPU_UNROLL for (int s = 0; s < S; s++) {
        u64 i = first + (u32)(s * GPU_BLOCK);
        gpu_offsets<2> o = gpu_offsets_at<2>(i < count ? (u32)i : 0, p.shape, p.layout);
        at[s] = o.at[1];
        if (p.in)
            v[s] = ((const T *)p.in)[o.at[0]];
        else
            copy_value(&v[s], p.value);
    }
    GPU_UNROLL for (int s = 0; s < S; s++) if (first + (u32)(s * GPU_BLOCK) < count)((T *)p.out)[at[s]] = v[s];
}

/* Of an operand that is turned. */
template <typename T> GPU_FN void copy_turn(const struct gpu_turn &p) {
    GPU_SHARED gpu_16 shared[GPU_TURN_VECTORS];
    struct gpu_turn_tile tile;
    if (!gpu_turn_begin(p, &tile)) return;
    gpu_turn_load<T>(p, tile, shared);
    gpu_sync();
    GPU_NO_UNROLL for (u32 n = 0; n < p.lines; n++) {
        struct gpu_turn_line line = gpu_turn_line_of<GPU_TURN_CHUNK(sizeof(T))>(p, tile, n);
        GPU_NO_UNROLL for (; line.column < tile.left_i; gpu_turn_next(&line, p)) {
            T v[GPU_TURN_SLOTS];
            gpu_turn_take<T>(v, line, shared);
            gpu_turn_put(v, p, line);
        }
    }
}

#define COPY(suffix, type)                                                                                             \
    GPU_KERNEL(copy_strided_##suffix, struct gpu_copy_strided) { copy_strided<type>(p); }                              \
    GPU_KERNEL_OF(copy_turn_##suffix, struct gpu_turn, GPU_BLOCK, GPU_TURN_BLOCKS) { copy_turn<type>(p); }
COPY(b1, u8)
COPY(b2, u16)
COPY(b4, u32)
COPY(b8, u64)
GPU_KERNEL(copy_strided_b16, struct gpu_copy_strided) { copy_strided<gpu_16>(p); }
