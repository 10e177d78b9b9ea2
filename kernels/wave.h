/* Values of many lanes made one, in a fixed order: lanes 1 apart first, then 2, 4, ..., up through the waves of a block.
 * The tree is the same for waves of 32 and 64, so that sums have the same bits on both.
 *
 * J says how two become one: a struct with `GPU_FN T of(T lower, T upper)`, where `lower` comes from lanes in front of
 * those of `upper`. */
#ifndef WICK_KERNELS_WAVE_H
#define WICK_KERNELS_WAVE_H

#include "gpu.h"

enum { GPU_WAVE_LOG2 = GPU_WAVE == 64 ? 6 : 5 };

struct gpu_join_add {
    template <typename T> GPU_FN T of(T a, T b) { return (T)(a + b); }
};
/* The greater, or the NaN if there is one. */
struct gpu_join_max {
    template <typename T> GPU_FN T of(T a, T b) { return b > a || b != b ? b : a; }
#if defined(GPU_NVIDIA) && __CUDA_ARCH__ >= 800
    GPU_FN float of(float a, float b) {
        float r;
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
        return r;
    }
#endif
};
struct gpu_join_min {
    template <typename T> GPU_FN T of(T a, T b) { return b < a || b != b ? b : a; }
};

/* One value from each of `group` lanes side by side, a power of two up to GPU_WAVE; all lanes of the group get it. Every
 * lane of the wave must take part. */
template <typename J, typename T> GPU_FN T gpu_wave_join(T v, u32 group = GPU_WAVE) {
    GPU_UNROLL for (u32 step = 0; step < GPU_WAVE_LOG2; step++) {
        u32 mask = 1u << step;
        if (mask >= group) break;
        T other = gpu_shuffle_xor(v, mask);
        v = gpu_lane() & mask ? J::of(other, v) : J::of(v, other);
    }
    return v;
}

/* N values from each lane of the wave, a power of two of them up to its lanes, each joined as gpu_wave_join does. A lane
 * gets the value whose number is returned, in v[0]: lanes 0 to N - 1 have one each. Every lane must take part. */
template <typename J, int N, typename T> GPU_FN u32 gpu_wave_join_each(T *v) {
    u32 number = 0;
    GPU_UNROLL for (u32 step = 0; step < GPU_WAVE_LOG2; step++) {
        u32 mask = 1u << step, half = (u32)N >> (step + 1);
        bool upper = (gpu_lane() & mask) != 0;
        if (upper) number += half;
        GPU_UNROLL for (u32 i = 0; i < (u32)N; i++) {
            if (i > 0 && i >= half) break;
            T low = v[i], high = v[i + half]; /* both read, or many of them would go through memory */
            T mine = upper ? high : low, other = gpu_shuffle_xor(upper ? low : high, mask);
            v[i] = upper ? J::of(other, mine) : J::of(mine, other);
        }
    }
    return number;
}

/* N values that one thread has, a power of two of them: neighbours first. */
template <int N> struct gpu_tree {
    template <typename J, typename T> GPU_FN T of(const T *v) {
        return J::of(gpu_tree<N / 2>::template of<J>(v), gpu_tree<N / 2>::template of<J>(v + N / 2));
    }
};
template <> struct gpu_tree<1> {
    template <typename J, typename T> GPU_FN T of(const T *v) { return *v; }
};

/* Room in LDS for gpu_block_join: one value a wave of the largest block. */
enum { GPU_WAVES = 1024 / GPU_WAVE };

/* One value from each thread of a group: one of up to GPU_WAVE lanes as gpu_wave_join takes, or else the whole block of
 * a power of two threads. All threads get it, and every one must take part. `shared` has GPU_WAVES values and may be
 * used again at once. */
template <typename J, typename T> GPU_FN T gpu_group_join(T v, u32 group, T *shared) {
    v = gpu_wave_join<J>(v, group);
    if (group <= GPU_WAVE) return v;
    u32 waves = gpu_threads() / GPU_WAVE;
    if (gpu_lane() == 0) shared[gpu_wave()] = v;
    gpu_sync();
    v = shared[gpu_lane() % waves];
    v = gpu_wave_join<J>(v, waves);
    gpu_sync();
    return v;
}
template <typename J, typename T> GPU_FN T gpu_block_join(T v, T *shared) {
    return gpu_group_join<J>(v, gpu_threads(), shared);
}

/* N values from each thread of a block of GPU_BLOCK threads, as many as gpu_wave_join_each takes, each joined as
 * gpu_block_join does. Thread t < N gets value t. `shared` has N GPU_BLOCK / GPU_WAVE values. */
template <typename J, int N, typename T> GPU_FN T gpu_block_join_each(T *v, T *shared) {
    enum { WAVES = GPU_BLOCK / GPU_WAVE };
    u32 number = gpu_wave_join_each<J, N>(v);
    if (gpu_lane() < N) shared[number * WAVES + gpu_wave()] = v[0];
    gpu_sync();
    return gpu_tree<WAVES>::template of<J>(shared + (gpu_thread() < N ? gpu_thread() : 0) * WAVES);
}

/* v of the lanes in front, joined in order: that of this lane included. */
template <typename J, typename T> GPU_FN T gpu_wave_scan(T v) {
    GPU_UNROLL for (u32 step = 0; step < GPU_WAVE_LOG2; step++) {
        u32 by = 1u << step;
        T before = gpu_shuffle_up(v, by);
        if (gpu_lane() >= by) v = J::of(before, v);
    }
    return v;
}

/* The same for a block: what stands in front of this thread is `*before` (left alone in thread 0), and the result is
 * the join of all threads. `shared` has GPU_WAVES values and may be used again at once. */
template <typename J, typename T> GPU_FN T gpu_block_scan(T v, T *shared, T *before) {
    u32 waves = gpu_threads() / GPU_WAVE;
    T through = gpu_wave_scan<J>(v), previous = gpu_shuffle_up(through, 1);
    if (gpu_lane() == GPU_WAVE - 1) shared[gpu_wave()] = through;
    gpu_sync();
    T all = shared[0], mine = all;
    GPU_NO_UNROLL for (u32 w = 1; w < waves; w++) {
        if (w == gpu_wave()) mine = all;
        all = J::of(all, shared[w]);
    }
    gpu_sync();
    if (gpu_wave() == 0) {
        if (gpu_lane() > 0) *before = previous;
    } else {
        *before = gpu_lane() > 0 ? J::of(mine, previous) : mine;
    }
    return all;
}

#endif
