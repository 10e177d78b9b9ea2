/* Copies from any layout to any other, by the size of an element. */
#include "elementwise.h"

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

/* A thread takes tasks of WORD rows of 16 bytes along i, where WORD elements fill a word, and turns them into N words
 * of WORD neighbours along o each, which wait in LDS until the block writes 16 bytes along o.
 *
 * LDS serves at once as many lanes as it has banks of a word, GROUP: ACROSS of them beside each other, ROWS below.
 * Lanes put words w of columns c that are N apart, and take words N / WORD apart of columns that follow each other; in
 * both cases the order of the words of a column on AMD makes their banks, w modulo GROUP, different ones. On an H200
 * that took 0 to 8 % longer than one free word after each column, with which two lanes meet in a bank. */
template <typename T, typename Word> GPU_FN void copy_turn(const struct gpu_copy_turn &p) {
    enum {
        SIDE = GPU_TURN_SIDE(sizeof(T)),
        N = 16 / sizeof(T),
        WORD = sizeof(Word) / sizeof(T),
        WORDS = SIDE / WORD,
        ACROSS = SIDE / N,
        GROUP = 128 / sizeof(Word),
        ROWS = GROUP / ACROSS,
        TASKS = ACROSS * WORDS / GPU_BLOCK,
        BITS = 8 * sizeof(T)
    };
#ifdef __AMDGCN__
    GPU_SHARED Word shared[SIDE * WORDS];
    auto place = [](u32 c, u32 w) { return c * WORDS + (w ^ (c / N + w / GROUP) * ROWS % GROUP ^ c % ROWS); };
#else
    GPU_SHARED Word shared[SIDE * (WORDS + 1)];
    auto place = [](u32 c, u32 w) { return c * (WORDS + 1) + w; };
#endif
    u64 tile = gpu_tile();
    if (tile >= p.tiles) return; /* the whole block */
    u32 rest = (u32)tile, to = rest % p.tiles_o, ti;
    rest /= p.tiles_o;
    ti = rest % p.tiles_i;
    gpu_offsets<2> o = gpu_offsets_at<2>(rest / p.tiles_i, p.shape, p.layout);
    i64 i0 = (i64)ti * SIDE, o0 = (i64)to * SIDE;
    const T *in = (const T *)p.in + o.at[0] + i0 + o0 * p.in_o;
    T *out = (T *)p.out + o.at[1] + o0 + i0 * p.out_i;
    u32 left_i = p.ni - i0 < SIDE ? (u32)(p.ni - i0) : SIDE, left_o = p.no - o0 < SIDE ? (u32)(p.no - o0) : SIDE;
    GPU_UNROLL for (int task = 0; task < TASKS; task++) {
        u32 t = (u32)(task * GPU_BLOCK) + gpu_thread(), x = t % ACROSS, row = t / ACROSS;
        Word words[N];
        GPU_UNROLL for (int k = 0; k < N; k++) words[k] = 0;
        GPU_UNROLL for (int j = 0; j < WORD; j++) {
            u32 r = row * WORD + j;
            const T *from = in + (i64)(u64)r * p.in_o;
            if (p.wide_in) {
                if (r < left_o && x * N < left_i) {
                    gpu_vec<T> v = gpu_load16(from + x * N);
                    GPU_UNROLL for (int k = 0; k < N; k++) words[k] |= (Word)((Word)v.v[k] << j * BITS);
                }
            } else {
                GPU_UNROLL for (int k = 0; k < N; k++) {
                    u32 c = x + k * ACROSS;
                    if (r < left_o && c < left_i) words[k] |= (Word)((Word)from[c] << j * BITS);
                }
            }
        }
        GPU_UNROLL for (int k = 0; k < N; k++) {
            u32 c = p.wide_in ? x * N + k : x + k * ACROSS;
            shared[place(c, row)] = words[k];
        }
    }
    gpu_sync();
    GPU_UNROLL for (int task = 0; task < TASKS * WORD; task++) {
        u32 t = (u32)(task * GPU_BLOCK) + gpu_thread(), x = t % ACROSS, c = t / ACROSS;
        T *row = out + (i64)(u64)c * p.out_i;
        if (p.wide_out) {
            gpu_vec<T> v;
            GPU_UNROLL for (int k = 0; k < N / WORD; k++) {
                Word word = shared[place(c, x * (N / WORD) + k)];
                GPU_UNROLL for (int j = 0; j < WORD; j++) v.v[k * WORD + j] = (T)(word >> j * BITS);
            }
            if (c < left_i && x * N < left_o) gpu_store16(row + x * N, v);
        } else {
            GPU_UNROLL for (int k = 0; k < N; k++) {
                u32 r = x + k * ACROSS;
                T v = (T)(shared[place(c, r / WORD)] >> r % WORD * BITS);
                if (c < left_i && r < left_o) row[r] = v;
            }
        }
    }
}

#define COPY(suffix, type, word)                                                                                       \
    GPU_KERNEL(copy_strided_##suffix, struct gpu_copy_strided) { copy_strided<type>(p); }                              \
    GPU_KERNEL(copy_turn_##suffix, struct gpu_copy_turn) { copy_turn<type, word>(p); }
COPY(b1, u8, u32)
COPY(b2, u16, u32)
COPY(b4, u32, u32)
COPY(b8, u64, u64)
GPU_KERNEL(copy_strided_b16, struct gpu_copy_strided) { copy_strided<gpu_16>(p); }
