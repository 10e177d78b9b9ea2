/* Max and average pooling over 1 to 3 dims, plain and adaptive: a thread makes an element, or several do where windows
 * are large. Averages of floats are summed in f64, those of integers in 128 bits. */
#include "dtype.h"
#include "layout.h"
#include "wave.h"

#include "pool.h"

GPU_FN struct gpu_window find_steps(const struct gpu_pool &p, int d, i64 o) {
    struct gpu_window w;
    i64 in = p.from[d], start = o * p.stride[d] - p.padding[d], step = p.step[d];
    i64 stop = start + (p.kernel[d] - 1) * step + 1;
    if (stop > in + p.padding[d]) stop = in + p.padding[d];
    w.full = stop - start;
    w.start = start < 0 ? start + (-start + step - 1) / step * step : start;
    if (stop > in) stop = in;
    w.count = stop > w.start ? (stop - w.start + step - 1) / step : 0;
    return w;
}

GPU_FN struct gpu_window find_window(const struct gpu_pool &p, int d, i64 o) {
    if (!p.adaptive) return find_steps(p, d, o);
    struct gpu_window w;
    /* floor(o in / n) without the product. */
    i64 in = p.from[d], n = p.to[d], whole = in / n, part = in % n;
    w.start = o * whole + (i64)((u64)o * (u64)part / (u64)n);
    w.count = (o + 1) * whole + (i64)(((u64)(o + 1) * (u64)part + (u64)n - 1) / (u64)n) - w.start;
    w.full = w.count;
    return w;
}

/* The same where the product is narrow. */
GPU_FN struct gpu_window find_adaptive(const struct gpu_pool &p, int d, u32 o) {
    struct gpu_window w;
    u32 in = (u32)p.from[d], start = gpu_divide(o * in, p.by[d]);
    w.start = start;
    w.count = w.full = gpu_divide((o + 1) * in + (u32)p.to[d] - 1, p.by[d]) - start;
    return w;
}

/* The windows of each dim, of which block y makes those of one. */
GPU_KERNEL(pool_windows, struct gpu_pool) {
    u32 d = gpu_block_y();
    for (u64 o = gpu_global(); o < (u64)p.to[d]; o += gpu_stride()) p.windows[d][o] = find_window(p, (int)d, (i64)o);
}

/* Window of element i of the result; `made`: pool_windows has filled the windows. */
struct place {
    i64 plane;
    struct gpu_window w[3];
};

template <bool made> GPU_FN struct place find_place(const struct gpu_pool &p, u64 i) {
    struct place at;
    u64 rest = i;
    GPU_UNROLL for (int d = 2; d >= 0; d--) {
        u64 quotient = p.narrow ? gpu_divide((u32)rest, p.by[d]) : rest / (u64)p.to[d];
        u64 o = rest - quotient * (u64)p.to[d];
        at.w[d] = made ? p.windows[d][o] : p.adaptive ? find_adaptive(p, d, (u32)o) : find_steps(p, d, (i64)o);
        rest = quotient;
    }
    at.plane = (i64)rest;
    return at;
}

/* ---- arithmetic ---- */

template <typename T> GPU_FN T lowest(T) {
    return (T)((T)-1 < (T)0 ? (u64)1 << (8 * sizeof(T) - 1) : 0);
}
GPU_FN f32 lowest(f32) { return gpu_bits<f32>(0xff800000u); }
GPU_FN f64 lowest(f64) { return gpu_bits<f64>(0xfff0000000000000ull); }

/* A sum of i64 that can't overflow. */
struct sum128 {
    u64 low;
    i64 high;
};
GPU_FN struct sum128 zero_of(i64) { return {0, 0}; }
GPU_FN f64 zero_of(f64) { return 0; }
GPU_FN struct sum128 plus(struct sum128 a, struct sum128 b) {
    struct sum128 r;
    r.low = a.low + b.low;
    r.high = (i64)((u64)a.high + (u64)b.high + (r.low < a.low ? 1 : 0));
    return r;
}
GPU_FN f64 plus(f64 a, f64 b) { return a + b; }
GPU_FN struct sum128 widened(i64 x) { return {(u64)x, x < 0 ? -1 : 0}; }
GPU_FN f64 widened(f64 x) { return x; }

struct join_plus {
    template <typename T> GPU_FN T of(T a, T b) { return plus(a, b); }
};

/* sum / n toward zero, cut to 64 bits; 0 for n = 0. */
GPU_FN i64 quotient_of(struct sum128 sum, i64 n) {
    if (n == 0) return 0;
    if (sum.high == (i64)sum.low >> 63) {
        u64 size = (i64)sum.low < 0 ? 0 - sum.low : sum.low, q = size / (u64)n;
        return (i64)((i64)sum.low < 0 ? 0 - q : q);
    }
    bool negative = sum.high < 0;
    u64 low = negative ? 0 - sum.low : sum.low, high = negative ? ~(u64)sum.high + (sum.low == 0 ? 1 : 0) : (u64)sum.high;
    u64 rest = high % (u64)n, q = 0;
    GPU_NO_UNROLL for (int bit = 63; bit >= 0; bit--) {
        rest = rest << 1 | (low >> bit & 1);
        q = q << 1 | (rest >= (u64)n ? 1 : 0);
        if (rest >= (u64)n) rest -= (u64)n;
    }
    return (i64)(negative ? 0 - q : q);
}
GPU_FN f64 quotient_of(f64 sum, i64 n) { return sum / (f64)n; }

/* What a dtype's averages are made in. */
template <typename T> struct wide_of {
    typedef i64 type;
};
#define WIDE_OF(T)                                                                                                     \
    template <> struct wide_of<T> {                                                                                    \
        typedef f64 type;                                                                                              \
    };
GPU_FLOATS(WIDE_OF)

GPU_FN void put(bf16 *r, f64 x) { *r = gpu_to_bf16((f32)x); }
GPU_FN void put(f16 *r, f64 x) { *r = gpu_to_f16((f32)x); }
GPU_FN void put(f8e4m3 *r, f64 x) { *r = gpu_to_f8e4m3((f32)x); }
template <typename T, typename V> GPU_FN void put(T *r, V x) { *r = (T)x; }

template <typename T> GPU_FN void put_mean(const struct gpu_pool &p, const struct place &at, i64 i,
                                           decltype(zero_of((typename wide_of<T>::type)0)) sum) {
    i64 n = at.w[0].count * at.w[1].count * at.w[2].count;
    if (p.count_padding) n = at.w[0].full * at.w[1].full * at.w[2].full;
    put((T *)p.out + i, quotient_of(sum, p.divisor > 0 ? p.divisor : n));
}

/* Adds what element number `first`, `first` + `by`, ... of the window are: to the greatest, and to the sum. AHEAD of them
 * are in flight; where there is none the first is loaded again, and not taken. */
template <typename T, bool MAX, int AHEAD, typename V, typename S>
GPU_FN void look(const struct gpu_pool &p, const struct place &at, i64 row, i64 first, i64 by, V *most, S *sum) {
    const T *in = (const T *)p.in + row * p.from[2] + at.w[2].start;
    GPU_NO_UNROLL for (i64 k = first; k < at.w[2].count; k += AHEAD * by) {
        T v[AHEAD];
        GPU_UNROLL for (int j = 0; j < AHEAD; j++) v[j] = in[(k + j * by < at.w[2].count ? k + j * by : k) * p.step[2]];
        GPU_UNROLL for (int j = 0; j < AHEAD; j++) {
            if (j > 0 && k + j * by >= at.w[2].count) break;
            V x = gpu_up(v[j]);
            if (MAX)
                *most = x > *most || x != x ? x : *most;
            else
                *sum = plus(*sum, widened((typename wide_of<T>::type)x));
        }
    }
}

template <typename T, bool MAX> GPU_FN void pool_each(const struct gpu_pool &p) {
    typedef typename gpu_compute<T>::type V;
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        struct place at = find_place<true>(p, i);
        V most = lowest((V)0);
        auto sum = zero_of((typename wide_of<T>::type)0);
        for (i64 d = 0; d < at.w[0].count; d++)
            for (i64 h = 0; h < at.w[1].count; h++) {
                i64 row = (at.plane * p.from[0] + at.w[0].start + d * p.step[0]) * p.from[1] + at.w[1].start + h * p.step[1];
                look<T, MAX, 1>(p, at, row, 0, 1, &most, &sum);
            }
        if (MAX)
            ((T *)p.out)[i] = gpu_round<T>(most);
        else
            put_mean<T>(p, at, (i64)i, sum);
    }
}

/* ---- windows that need no division: not adaptive, of elements that are neighbours; fewer than 2^31 results ---- */

GPU_FN struct gpu_window find_plain(const struct gpu_pool &p, int d, i64 o) {
    struct gpu_window w;
    i64 in = p.from[d], start = o * p.stride[d] - p.padding[d], stop = start + p.kernel[d];
    if (stop > in + p.padding[d]) stop = in + p.padding[d];
    w.full = stop - start;
    w.start = start < 0 ? 0 : start;
    if (stop > in) stop = in;
    w.count = stop > w.start ? stop - w.start : 0;
    return w;
}

template <typename T, bool MAX> GPU_FN void pool_plain(const struct gpu_pool &p) {
    typedef typename gpu_compute<T>::type V;
    u64 i = gpu_global();
    if (i >= (u64)p.count) return;
    struct place at;
    u32 rest = (u32)i;
    GPU_UNROLL for (int d = 2; d >= 0; d--) {
        u32 quotient = gpu_divide(rest, p.by[d]);
        at.w[d] = find_plain(p, d, rest - quotient * (u32)p.to[d]);
        rest = quotient;
    }
    at.plane = rest;
    V most = lowest((V)0);
    auto sum = zero_of((typename wide_of<T>::type)0);
    GPU_NO_UNROLL for (i64 d = 0; d < at.w[0].count; d++)
        GPU_NO_UNROLL for (i64 h = 0; h < at.w[1].count; h++)
            look<T, MAX, 1>(p, at, (at.plane * p.from[0] + at.w[0].start + d) * p.from[1] + at.w[1].start + h, 0, 1, &most, &sum);
    if (MAX)
        ((T *)p.out)[i] = gpu_round<T>(most);
    else
        put_mean<T>(p, at, (i64)i, sum);
}

/* ---- windows that are whole planes ---- */

template <typename T, bool MAX, typename V, typename S> GPU_FN void take(T element, V *most, S *sum) {
    V x = gpu_up(element);
    if (MAX)
        *most = x > *most || x != x ? x : *most;
    else
        *sum = plus(*sum, widened((typename wide_of<T>::type)x));
}

/* n elements side by side, by thread `lane` of `group`: some vectors in flight, and single elements at the ends. */
template <typename T, bool MAX, typename V, typename S>
GPU_FN void take_run(const T *x, i64 n, u32 lane, u32 group, V *most, S *sum) {
    enum { N = gpu_vec<T>::N, AHEAD = 4 };
    i64 head = (i64)((16 - ((u64)x & 15)) % 16 / sizeof(T));
    if (head > n) head = n;
    i64 vectors = (n - head) / N;
    GPU_NO_UNROLL for (i64 v = lane; v < vectors; v += AHEAD * group) {
        gpu_vec<T> u[AHEAD];
        /* Where there is no vector the first is loaded again, and not taken. */
        GPU_UNROLL for (int k = 0; k < AHEAD; k++)
            u[k] = gpu_load16(x + head + (v + k * group < vectors ? v + k * group : v) * N);
        GPU_UNROLL for (int k = 0; k < AHEAD; k++) {
            if (v + k * group >= vectors) break;
            GPU_UNROLL for (int i = 0; i < N; i++) take<T, MAX>(u[k].v[i], most, sum);
        }
    }
    i64 rest = n - vectors * N;
    for (i64 i = lane; i < rest; i += group) take<T, MAX>(x[i < head ? i : i + vectors * N], most, sum);
}

/* What all of a block have come to: result number i, or part number `part` of it. */
template <typename T, bool MAX, typename V, typename S>
GPU_FN void take_end(const struct gpu_pool &p, i64 i, i64 part, V most, S sum) {
    GPU_SHARED V most_shared[GPU_WAVES];
    GPU_SHARED S sum_shared[GPU_WAVES];
    if (MAX)
        most = gpu_block_join<gpu_join_max>(most, most_shared);
    else
        sum = gpu_block_join<join_plus>(sum, sum_shared);
    if (gpu_thread() > 0) return;
    if (part >= 0 && MAX)
        ((V *)p.parts)[part] = most;
    else if (part >= 0)
        ((S *)p.parts)[part] = sum;
    else if (MAX)
        ((T *)p.out)[i] = gpu_round<T>(most);
    else
        put((T *)p.out + i, quotient_of(sum, p.divisor > 0 ? p.divisor : p.whole));
}

template <typename T, bool MAX> GPU_FN void pool_whole(const struct gpu_pool &p) {
    typedef typename gpu_compute<T>::type V;
    V most = lowest((V)0);
    auto sum = zero_of((typename wide_of<T>::type)0);
    i64 item = gpu_block_x(), plane = item / p.pieces, from = (item - plane * p.pieces) * p.length;
    i64 n = p.whole - from < p.length ? p.whole - from : p.length;
    take_run<T, MAX>((const T *)p.in + plane * p.whole + from, n, gpu_thread(), GPU_BLOCK, &most, &sum);
    take_end<T, MAX>(p, plane, p.pieces > 1 ? item : -1, most, sum);
}

/* Planes of a few elements, `group` lanes for each. */
template <typename T, bool MAX> GPU_FN void pool_lines(const struct gpu_pool &p) {
    typedef typename gpu_compute<T>::type V;
    V most = lowest((V)0);
    auto sum = zero_of((typename wide_of<T>::type)0);
    u32 lane = gpu_thread() % p.group;
    i64 plane = (i64)gpu_block_x() * (GPU_BLOCK / p.group) + gpu_thread() / p.group;
    if (plane < p.count)
        take_run<T, MAX>((const T *)p.in + plane * p.whole, p.whole, lane, p.group, &most, &sum);
    if (MAX)
        most = gpu_wave_join<gpu_join_max>(most, p.group);
    else
        sum = gpu_wave_join<join_plus>(sum, p.group);
    if (lane > 0 || plane >= p.count) return;
    if (MAX)
        ((T *)p.out)[plane] = gpu_round<T>(most);
    else
        put((T *)p.out + plane, quotient_of(sum, p.divisor > 0 ? p.divisor : p.whole));
}

template <typename T, bool MAX> GPU_FN void pool_parts(const struct gpu_pool &p) {
    typedef typename gpu_compute<T>::type V;
    typedef decltype(zero_of((typename wide_of<T>::type)0)) S;
    V most = lowest((V)0);
    S sum = zero_of((typename wide_of<T>::type)0);
    i64 plane = gpu_block_x();
    GPU_NO_UNROLL for (i64 k = gpu_thread(); k < p.pieces; k += GPU_BLOCK) {
        if (MAX)
            most = gpu_join_max::of(most, ((const V *)p.parts)[plane * p.pieces + k]);
        else
            sum = plus(sum, ((const S *)p.parts)[plane * p.pieces + k]);
    }
    take_end<T, MAX>(p, plane, -1, most, sum);
}

/* ---- several threads a window, and adaptive ones ---- */

/* `group` threads for each element, `across` of them along a row of the window. */
template <typename T, bool MAX> GPU_FN void pool_wide(const struct gpu_pool &p) {
    typedef typename gpu_compute<T>::type V;
    typedef decltype(zero_of((typename wide_of<T>::type)0)) S;
    GPU_SHARED V most_shared[GPU_WAVES];
    GPU_SHARED S sum_shared[GPU_WAVES];
    u32 lane = gpu_thread() % p.group, i = gpu_block_x() * (GPU_BLOCK / p.group) + gpu_thread() / p.group;
    bool live = i < (u32)p.count;
    struct place at = find_place<false>(p, live ? i : 0);
    V most = lowest((V)0);
    S sum = zero_of((typename wide_of<T>::type)0);
    i64 rows = at.w[0].count * at.w[1].count;
    u32 beside = lane / p.across, step = p.group / p.across;
    GPU_NO_UNROLL for (i64 r = live ? beside : rows; r < rows; r += step) {
        i64 d = r / at.w[1].count, h = r - d * at.w[1].count;
        i64 row = (at.plane * p.from[0] + at.w[0].start + d * p.step[0]) * p.from[1] + at.w[1].start + h * p.step[1];
        look<T, MAX, 4>(p, at, row, lane - beside * p.across, p.across, &most, &sum);
    }
    if (MAX) {
        most = gpu_group_join<gpu_join_max>(most, p.group, most_shared);
        if (live && lane == 0) ((T *)p.out)[i] = gpu_round<T>(most);
    } else {
        sum = gpu_group_join<join_plus>(sum, p.group, sum_shared);
        if (live && lane == 0) put_mean<T>(p, at, (i64)i, sum);
    }
}

/* Where the largest element of each window lies: the first among equals, or the last NaN. */
template <typename T> GPU_FN void pool_index(const struct gpu_pool &p) {
    typedef typename gpu_compute<T>::type V;
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        struct place at = find_place<true>(p, i);
        const T *plane = (const T *)p.in + at.plane * p.from[0] * p.from[1] * p.from[2];
        V most = (V)0;
        u32 index = ~0u;
        for (i64 d = 0; d < at.w[0].count; d++)
            for (i64 h = 0; h < at.w[1].count; h++) {
                i64 row = (at.w[0].start + d * p.step[0]) * p.from[1] + at.w[1].start + h * p.step[1];
                GPU_NO_UNROLL for (i64 k = 0; k < at.w[2].count; k++) {
                    i64 place = row * p.from[2] + at.w[2].start + k * p.step[2];
                    V x = gpu_up(plane[place]);
                    if (index == ~0u || x > most || x != x) {
                        most = x;
                        index = (u32)place;
                    }
                }
            }
        p.indices[i] = index;
    }
}

#define POOL_KERNEL(name, type)                                                                                        \
    GPU_KERNEL(name##_##type, struct gpu_pool) {                                                                       \
        if (p.max)                                                                                                     \
            name<type, true>(p);                                                                                       \
        else                                                                                                           \
            name<type, false>(p);                                                                                      \
    }
#define POOL(type)                                                                                                     \
    POOL_KERNEL(pool_each, type)                                                                                       \
    POOL_KERNEL(pool_plain, type)                                                                                      \
    POOL_KERNEL(pool_wide, type)                                                                                       \
    POOL_KERNEL(pool_whole, type)                                                                                      \
    POOL_KERNEL(pool_lines, type)                                                                                      \
    POOL_KERNEL(pool_parts, type)                                                                                      \
    GPU_KERNEL(pool_index_##type, struct gpu_pool) { pool_index<type>(p); }
GPU_ALL(POOL)
