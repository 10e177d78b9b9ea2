/* For products of one row by quantised weights (quantised_stream.hip): how blocks of each type lie in units, and the
 * activations as numbers of 8 bits in LDS, after a norm or as they are. */
#ifndef WICK_KERNELS_QUANTISED_ROUND_H
#define WICK_KERNELS_QUANTISED_ROUND_H

#include "blocks.h"
#include "normed.h"
#include "quantised.h"

/* BLOCK, NBYTES: weights and bytes of a block. UNIT: weights a lane multiplies at once. TURNS: units of a lane in a
 * stretch. Group g of a row is in plane_of(g) of unit unit_of(g). */
template <int TYPE> struct stream_type;
/* Pairs of blocks of 32 weights. */
template <int BYTES, int N> struct stream_pairs {
    enum { BLOCK = 32, NBYTES = BYTES, UNIT = 64, TURNS = N };
    GPU_FN u32 unit_of(u32 g) { return g / 4; }
    GPU_FN u32 plane_of(u32 g) { return g % 4; }
};
template <> struct stream_type<BLOCK_q8_0> : stream_pairs<34, 1> {};
template <> struct stream_type<BLOCK_q4_0> : stream_pairs<18, 2> {};
template <> struct stream_type<BLOCK_q4_1> : stream_pairs<20, 2> {};
template <> struct stream_type<BLOCK_q5_0> : stream_pairs<22, 2> {};
template <> struct stream_type<BLOCK_q5_1> : stream_pairs<24, 2> {};
template <> struct stream_type<BLOCK_iq4_nl> : stream_pairs<18, 2> {};
template <> struct stream_type<BLOCK_iq4_xs> {
    enum { BLOCK = 256, NBYTES = 136, UNIT = 32, TURNS = 4 };
    GPU_FN u32 unit_of(u32 g) { return g / 2; }
    GPU_FN u32 plane_of(u32 g) { return g % 2; }
};
template <> struct stream_type<BLOCK_q4_k> : stream_pairs<144, 2> {
    enum { BLOCK = 256 };
};
template <> struct stream_type<BLOCK_q5_k> : stream_pairs<176, 2> {
    enum { BLOCK = 256 };
};
/* Planes of 64 weights are halves, quarters and eighths of the same bytes. */
template <int BYTES, int N> struct stream_quarters {
    enum { BLOCK = 256, NBYTES = BYTES, UNIT = 64, TURNS = N };
    GPU_FN u32 unit_of(u32 g) { return g / 8 * 2 + g % 2; }
    GPU_FN u32 plane_of(u32 g) { return g / 2 % 4; }
};
template <> struct stream_type<BLOCK_q6_k> : stream_quarters<210, 1> {};
template <> struct stream_type<BLOCK_q3_k> : stream_quarters<110, 2> {};
template <> struct stream_type<BLOCK_q2_k> : stream_quarters<84, 4> {};

/* Whether sums are those of 32 activations by their scale, instead of whole numbers of 16. */
template <int TYPE> struct stream_scaled {
    enum { YES = TYPE == BLOCK_q4_k || TYPE == BLOCK_q5_k };
};

#define STREAM_EACH GPU_UNROLL for (int j = 0; j < 4; j++)

/* The activations of a row in LDS, and where a wave has its stretch. */
struct stream_room {
    u32 *words;
    f32 *scales;
    i32 *sums;
    u32 *stage;
    f64 *squares; /* of each wave's activations, behind a norm */
};

/* What lanes of a wave wrote into LDS before it, its other lanes read after it. */
GPU_FN void stream_sync(void) {
#if defined(GPU_NVIDIA)
    __syncwarp();
#elif defined(GPU_AMD)
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#else
    gpu_shuffle_xor(0u, 1);
#endif
}

/* The sum of the squares of some numbers by a scale, in f32, so that few numbers are converted to f64. */
template <int N> GPU_FN f32 stream_squares(const f32 (&v)[N], f32 scale) {
    f32 sum[2] = {0, 0}; /* two, so that one does not wait for the other */
    GPU_UNROLL for (int i = 0; i < N; i++) {
        f32 x = v[i] * scale;
        sum[i % 2] = gpu_fma(x, x, sum[i % 2]);
    }
    return sum[0] + sum[1];
}
/* The same in f64, whatever the numbers are. */
template <int N> GPU_FN f64 stream_squares(const f32 (&v)[N]) {
    const f32 UP = 1.2089258e24f, DOWN = 8.2718061e-25f; /* 2^80 and what it is the inverse of */
    f32 sum = stream_squares(v, 1.0f);
    if (sum > 1e-24f && sum < 1e37f) return sum;
    f64 back = sum > 1 ? UP : DOWN;
    return stream_squares(v, sum > 1 ? DOWN : UP) * back * back;
}

/* Rounds N activations, a group or half of one, as round_activations of quantised.hip does, the lanes of a quantum side by
 * side; `i`: which N of `count`. The scale is NaN where the largest magnitude is infinite or NaN. */
template <int TYPE, int N> GPU_FN void stream_round_some(const f32 (&v)[N], u32 i, u32 count, const struct stream_room &room) {
    typedef stream_type<TYPE> S;
    enum { PLANES = S::UNIT / BLOCK_GROUP, SHARE = BLOCK_GROUP / N };
    struct alignas(N) some {
        u32 v[N / 4];
    };
    const f32 SMALLEST = 7.5231638e-37f; /* 2^-120 */
    f32 most = 0;
    if (i - gpu_lane() >= count) return; /* a wave without any */
    GPU_UNROLL for (int e = 0; e < N; e++) most = gpu_join_max::of(most, gpu_fabs(v[e]));
    most = gpu_wave_join<gpu_join_max>(most, 2 * SHARE);
    f32 wrong = most * 0.0f, by = most > SMALLEST && wrong == 0 ? 127.0f / most : 0.0f;
    some words;
    i32 sum = 0;
    GPU_UNROLL for (int j = 0; j < N / 4; j++) {
        words.v[j] = 0;
        /* 1.5 2^23 + a number of up to 22 bits has the whole number next to it in its last bits. */
        GPU_UNROLL for (int e = 0; e < 4; e++)
            words.v[j] |= (gpu_bits<u32>(v[4 * j + e] * by + 12582912.0f) & 255) << 8 * e;
        if (!(by > 0)) words.v[j] = 0;
        sum = gpu_dot4(0x01010101u, words.v[j], sum);
    }
    if (SHARE == 2) sum += (i32)gpu_shuffle_xor((u32)sum, 1);
    i32 other = stream_scaled<TYPE>::YES ? (i32)gpu_shuffle_xor((u32)sum, SHARE) : 0;
    if (i >= count) return;
    u32 g = i / SHARE, part = i % SHARE, unit = S::unit_of(g), plane = S::plane_of(g), units = count / SHARE / PLANES;
    *(some *)(room.words + (plane * units + unit) * 4 + part * (N / 4)) = words;
    f32 scale = most / 127.0f + wrong;
    if (part != 0) return;
    if (!stream_scaled<TYPE>::YES)
        room.sums[unit * PLANES + plane] = sum;
    else if (g % 2 == 0)
        ((f32 *)room.sums)[g / 2] = scale * (f32)(sum + other);
    if (g % 2 == 0) room.scales[g / 2] = scale;
}
template <int TYPE>
GPU_FN void stream_round_group(const f32 (&v)[BLOCK_GROUP], u32 g, u32 groups, const struct stream_room &room) {
    stream_round_some<TYPE>(v, g, groups, room);
}

enum { STREAM_AT_ONCE = 2 }; /* groups of a thread, for their loads to overlap */

template <typename T, int SOME> GPU_FN void stream_some(const T *x, u32 at, u32 count, f32 (&v)[SOME]) {
    enum { N = gpu_vec<T>::N };
    const T *from = x + (at < count ? at : count - 1) * SOME;
    GPU_UNROLL for (u32 i = 0; i < SOME / N; i++) {
        gpu_vec<T> part = gpu_load16(from + i * N);
        GPU_UNROLL for (u32 j = 0; j < N; j++) v[i * N + j] = gpu_up(part.v[j]);
    }
}
template <typename T> GPU_FN void stream_group(const T *x, u32 g, u32 groups, f32 (&v)[BLOCK_GROUP]) {
    stream_some(x, g, groups, v);
}

template <typename T, int TYPE>
GPU_FN void stream_round(const struct gpu_stream &p, const struct stream_room &room) {
    u32 groups = p.k / BLOCK_GROUP;
    GPU_NO_UNROLL for (u32 g = gpu_thread(); g - gpu_thread() < groups; g += STREAM_AT_ONCE * GPU_BLOCK) {
        f32 v[STREAM_AT_ONCE][BLOCK_GROUP];
        GPU_UNROLL for (u32 a = 0; a < STREAM_AT_ONCE; a++)
            if (g - gpu_thread() + a * GPU_BLOCK < groups)
                stream_group((const T *)p.x, g + a * GPU_BLOCK, groups, v[a]);
        GPU_UNROLL for (u32 a = 0; a < STREAM_AT_ONCE; a++)
            stream_round_group<TYPE>(v[a], g + a * GPU_BLOCK, groups, room);
    }
}
/* A thread takes N numbers at most, so that all threads of a block round a short row. `weight`: of the norm, if there is
 * one, as stream_round_normed has it. */
template <typename T, int TYPE, int N>
GPU_FN void stream_round_short(const struct gpu_stream &p, const struct stream_room &room, const f32 (&weight)[N]) {
    f32 v[N];
    u32 count = p.k / N;
    stream_some((const T *)p.x, gpu_thread(), count, v);
    if (p.norm) {
        normed_leave(gpu_thread() < count ? stream_squares(v) : 0.0, room.squares);
        stream_sync(); /* or compilers mix both, which takes 16 registers more */
        GPU_UNROLL for (u32 i = 0; i < N; i++) v[i] *= weight[i];
    }
    stream_round_some<TYPE>(v, gpu_thread(), count, room);
}

/* As stream_swiglu left it. */
template <int TYPE> GPU_FN void stream_copy(const struct gpu_stream &p, const struct stream_room &room) {
    enum {
        TURNS = GPU_QUANTISED_VECTOR / 16 / GPU_BLOCK,
        QUANTA = GPU_QUANTISED_VECTOR / 32 / 4,
        SUMS = stream_scaled<TYPE>::YES ? 32 : 16 /* activations of a sum */
    };
    gpu_vec<u32> words[TURNS], scale, sum;
    u32 t = gpu_thread(), n = (p.k + 15) / 16, scales = (p.k / 32 + 3) / 4, sums = (p.k / SUMS + 3) / 4;
    GPU_UNROLL for (u32 a = 0; a < TURNS; a++)
        if (t + a * GPU_BLOCK < n) words[a] = gpu_load16(p.rounded->words + (t + a * GPU_BLOCK) * 4);
    if (t < scales) scale = gpu_load16((const u32 *)p.rounded->scales + t * 4);
    if (t < sums) sum = gpu_load16((const u32 *)p.rounded->sums + t * 4);
    static_assert(2 * QUANTA <= GPU_BLOCK, "a thread has one vector of scales, and one of sums");
    GPU_UNROLL for (u32 a = 0; a < TURNS; a++)
        if (t + a * GPU_BLOCK < n) *(gpu_vec<u32> *)(room.words + (t + a * GPU_BLOCK) * 4) = words[a];
    if (t < scales) *(gpu_vec<u32> *)(room.scales + t * 4) = scale;
    if (t < sums) *(gpu_vec<u32> *)(room.sums + t * 4) = sum;
}

/* The same before a norm, whose factor is that of all of a row's results: numbers of 8 bits by scales do not depend on
 * it, so that no wave waits for the others' squares before it rounds. ONE: of a group a thread at most, whose weights are
 * `first`. */
template <typename T, int TYPE, bool ONE>
GPU_FN void stream_round_normed(const struct gpu_stream &p, const struct stream_room &room,
                                const f32 (&first)[BLOCK_GROUP]) {
    enum { AT_ONCE = ONE ? 1 : STREAM_AT_ONCE };
    static_assert(STREAM_AT_ONCE * GPU_BLOCK * BLOCK_GROUP >= GPU_QUANTISED_NORMED, "groups of all threads at once");
    u32 groups = p.k / BLOCK_GROUP;
    f32 v[AT_ONCE][BLOCK_GROUP];
    f64 sum = 0;
    GPU_UNROLL for (u32 a = 0; a < AT_ONCE; a++)
        stream_group((const T *)p.x, gpu_thread() + a * GPU_BLOCK, groups, v[a]);
    GPU_UNROLL for (u32 a = 0; a < AT_ONCE; a++) {
        if (gpu_thread() + a * GPU_BLOCK >= groups) break;
        sum += stream_squares(v[a]);
    }
    normed_leave(sum, room.squares);
    stream_sync(); /* or compilers mix both, which takes 16 registers more */
    GPU_UNROLL for (u32 a = 0; a < AT_ONCE; a++) {
        f32 weight[BLOCK_GROUP];
        u32 g = gpu_thread() + a * GPU_BLOCK;
        if (!ONE) stream_group((const T *)p.norm, g, groups, weight);
        GPU_UNROLL for (u32 i = 0; i < BLOCK_GROUP; i++) v[a][i] *= ONE ? first[i] : weight[i];
        stream_round_group<TYPE>(v[a], g, groups, room);
    }
}

#endif
