/* Max and average pooling of images with channels last. Threads side by side read channels that lie side by side; what
 * they come to goes through LDS, from where neighbouring results of a channel leave together. Averages are summed in f64. */
#include "dtype.h"
#include "layout.h"
#include "wave.h"

#include "pool_last.h"

enum { POOL_LAST_ROOM = 3072, POOL_LAST_PAD = 2 };

/* Where the window of a result begins in each dim. */
struct last_window {
    i32 start[3];
};

GPU_FN last_window last_find(const struct gpu_pool_last &p, u32 place) {
    last_window w;
    GPU_UNROLL for (int d = 2; d >= 0; d--) {
        u32 quotient = gpu_divide(place, p.by[d]);
        w.start[d] = (i32)(place - quotient * p.by[d].d) * p.stride[d] - p.padding[d];
        place = quotient;
    }
    return w;
}

/* What the sum of a window is divided by. */
GPU_FN f64 last_divisor(const struct gpu_pool_last &p, const last_window &w) {
    i64 n = 1;
    if (p.divisor > 0) return (f64)p.divisor;
    GPU_UNROLL for (int d = 0; d < 3; d++) {
        i32 in = p.from[d], begin = w.start[d], end = begin + p.kernel[d];
        end = end < in + p.padding[d] ? end : in + p.padding[d];
        if (!p.count_padding) {
            begin = begin > 0 ? begin : 0;
            end = end < in ? end : in;
        }
        n *= end > begin ? end - begin : 0;
    }
    return (f64)n;
}

/* A greatest element or a sum, in what it is gathered in. */
template <typename T, bool MAX> struct last_sum { typedef f64 type; };
template <typename T> struct last_sum<T, true> { typedef typename gpu_compute<T>::type type; };

template <typename T> GPU_FN void last_take(typename gpu_compute<T>::type *most, T element) {
    typename gpu_compute<T>::type x = gpu_up(element);
    *most = x > *most || x != x ? x : *most;
}
template <typename T> GPU_FN void last_take(f64 *sum, T element) { *sum += (f64)gpu_up(element); }

/* Element `tap` of K windows, N channels of each; x is channel 0 of theirs. */
template <typename T, int N, int K, typename S>
GPU_FN void last_tap(const struct gpu_pool_last &p, const T *x, const last_window (&w)[K], const i32 (&tap)[3],
                     S (&s)[K][N]) {
    gpu_vec<T> v[K];
    bool inside[K];
    GPU_UNROLL for (int k = 0; k < K; k++) {
        u32 at[3];
        GPU_UNROLL for (int d = 0; d < 3; d++) at[d] = (u32)(w[k].start[d] + tap[d]);
        inside[k] = at[0] < (u32)p.from[0] && at[1] < (u32)p.from[1] && at[2] < (u32)p.from[2];
        u32 place = (at[0] * (u32)p.from[1] + at[1]) * (u32)p.from[2] + at[2];
        if (inside[k]) v[k] = gpu_load16(x + (i64)place * p.channels);
    }
    GPU_UNROLL for (int k = 0; k < K; k++)
        GPU_UNROLL for (int i = 0; i < N; i++)
            if (inside[k]) last_take(&s[k][i], v[k].v[i]);
}

template <typename T, bool MAX> GPU_FN void last_tile(const struct gpu_pool_last &p, T *tile) {
    enum { N = gpu_vec<T>::N, K = GPU_POOL_LAST_EACH };
    typedef typename last_sum<T, MAX>::type S;
    u32 lane = gpu_thread() % p.across, mine = gpu_thread() / p.across, beside = GPU_BLOCK / p.across;
    u32 wide = beside * p.each, pitch = wide + POOL_LAST_PAD;
    i64 item = gpu_block_x(), rest = item / p.channel_tiles, image = rest / p.place_tiles;
    i64 channel = (item - rest * p.channel_tiles) * p.across * N;
    u32 first = (u32)(rest - image * p.place_tiles) * wide;
    const T *x = (const T *)p.in + image * p.plane * p.channels + channel + lane * N;
    last_window w[K];
    S s[K][N];
    GPU_UNROLL for (int k = 0; k < K; k++) {
        u32 place = first + k * beside + mine;
        w[k] = last_find(p, place < p.places ? place : 0);
        if (k >= (int)p.each) w[k].start[0] = p.from[0]; /* has no elements */
        GPU_UNROLL for (int i = 0; i < N; i++) s[k][i] = MAX ? (S)gpu_bits<f32>(0xff800000u) : (S)0;
    }
    if (channel + lane * N < p.channels) {
        i32 tap[3];
        GPU_NO_UNROLL for (tap[0] = 0; tap[0] < p.kernel[0]; tap[0]++)
            GPU_NO_UNROLL for (tap[1] = 0; tap[1] < p.kernel[1]; tap[1]++)
                GPU_NO_UNROLL for (tap[2] = 0; tap[2] < p.kernel[2]; tap[2]++) last_tap<T, N, K>(p, x, w, tap, s);
    }
    GPU_UNROLL for (int k = 0; k < K; k++) {
        if (k >= (int)p.each) break;
        f64 by = MAX ? 1 : last_divisor(p, w[k]);
        GPU_UNROLL for (int i = 0; i < N; i++) {
            f64 mean = MAX ? 0 : (f64)s[k][i] / by;
            T result = gpu_round<T>(MAX ? (typename gpu_compute<T>::type)s[k][i] : (typename gpu_compute<T>::type)mean);
            tile[(lane * N + i) * pitch + k * beside + mine] = result;
        }
    }
    gpu_sync();
    GPU_NO_UNROLL for (u32 i = gpu_thread(); i < p.across * N * wide; i += GPU_BLOCK) {
        u32 row = i >> p.log2_wide, column = i & (wide - 1);
        if (channel + row < p.channels && first + column < p.places)
            ((T *)p.out)[(image * p.channels + channel + row) * p.places + first + column] = tile[row * pitch + column];
    }
}

/* Blocks on a unit. On sm_80 three would leave too few registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define POOL_LAST_BLOCKS 2
#else
#define POOL_LAST_BLOCKS 3
#endif
#define POOL_LAST(T)                                                                                                   \
    GPU_KERNEL_OF(pool_last_##T, struct gpu_pool_last, GPU_BLOCK, POOL_LAST_BLOCKS) {                                  \
        GPU_SHARED u32 room[POOL_LAST_ROOM];                                                                           \
        if (p.max)                                                                                                     \
            last_tile<T, true>(p, (T *)room);                                                                             \
        else                                                                                                           \
            last_tile<T, false>(p, (T *)room);                                                                            \
    }
POOL_LAST(bf16)
POOL_LAST(f16)
POOL_LAST(f32)
