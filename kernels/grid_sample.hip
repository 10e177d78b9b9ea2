/* grid_sample and its gradients. Places are f64. That of x is a gather: the taps of all points are sorted by the
 * elements that they take, once for all channels, so that each element adds up its own in the order of the points. */
#include "dtype.h"
#include "place.h"

#include "grid_sample.h"

/* Where a point lies along one dim: tap k takes the element at low + k, or for cubic ones at low + k - 1. */
struct grid_place {
    i64 low;
    f64 part, slope; /* slope: of the place, by the grid's number */
};

/* Whether dim d is sampled: the first of three may be missing. */
GPU_FN bool grid_there(const struct gpu_grid &p, u32 d) { return d > 0 || gpu_anew(p.dims) == 3; }

/* x reflected at both ends of n elements. NaN for infinities. */
GPU_FN f64 grid_reflected(f64 x, i64 n, u32 corners, f64 *slope) {
    f64 low = corners ? 0 : -0.5, span = corners ? (f64)(n - 1) : (f64)n;
    if (span == 0) {
        *slope = 0;
        return 0;
    }
    x -= low;
    if (x < 0) {
        x = -x;
        *slope = -*slope;
    }
    f64 turns = gpu_floor(x / span), rest = gpu_fma(-turns, span, x);
    if (rest < 0) {
        turns -= 1;
        rest += span;
    } else if (rest >= span) {
        turns += 1;
        rest -= span;
    }
    if (turns - 2 * gpu_floor(turns / 2) == 0) return rest + low;
    *slope = -*slope;
    return span - rest + low;
}

GPU_FN f64 grid_clipped(f64 x, i64 n, f64 *slope) {
    f64 last = (f64)(n - 1);
    if (x > 0 && x < last) return x;
    *slope = 0;
    return x <= 0 ? 0 : x >= last ? last : x;
}

GPU_FN struct grid_place grid_find(const struct gpu_grid &p, u32 d, f64 at) {
    struct grid_place r;
    i64 n = p.size[d];
    if (!(at == at)) at = -1;
    r.slope = p.corners ? (f64)(n - 1) / 2 : (f64)n / 2;
    u32 mode = gpu_anew(p.mode), padding = gpu_anew(p.padding);
    f64 x = p.corners ? (at + 1) / 2 * (f64)(n - 1) : ((at + 1) * (f64)n - 1) / 2;
    const f64 far = 1099511627776.0; /* 2^40 */
    if (mode != GPU_GRID_BICUBIC) {
        if (padding == GPU_GRID_REFLECTION) x = grid_reflected(x, n, p.corners, &r.slope);
        if (padding != GPU_GRID_ZEROS) x = grid_clipped(x, n, &r.slope);
        if (!(x > -far)) x = -far; /* nothing lies there */
    }
    x = x > far ? far : x > -far ? x : -far;
    f64 low = mode == GPU_GRID_NEAREST ? gpu_rint(x) : gpu_floor(x);
    r.low = (i64)low;
    r.part = x - low;
    if (mode == GPU_GRID_NEAREST) r.slope = 0;
    return r;
}

/* The places of point `i` of all images' points. */
template <typename T> GPU_FN void grid_locate(const struct gpu_grid &p, i64 i, struct grid_place (&r)[3]) {
    GPU_UNROLL for (u32 d = 0; d < 3; d++) {
        r[d].low = 0;
        r[d].part = r[d].slope = 0;
        if (grid_there(p, d)) r[d] = grid_find(p, d, (f64)gpu_up(((const T *)p.grid)[i * p.dims + (2 - d)]));
    }
}

GPU_FN u32 grid_taps(const struct gpu_grid &p, u32 d) {
    u32 mode = gpu_anew(p.mode);
    return !grid_there(p, d) || mode == GPU_GRID_NEAREST ? 1 : mode == GPU_GRID_BICUBIC ? 4 : 2;
}

/* The element that tap k takes; -1 for none. */
GPU_FN i64 grid_at(const struct gpu_grid &p, u32 d, const struct grid_place &r, u32 k) {
    i64 n = p.size[gpu_anew(d)], at = r.low + (i64)k;
    u32 padding = gpu_anew(p.padding);
    if (!grid_there(p, d)) return 0;
    if (gpu_anew(p.mode) == GPU_GRID_BICUBIC) {
        f64 slope = 1;
        at--;
        if (padding == GPU_GRID_REFLECTION)
            at = (i64)gpu_rint(grid_reflected((f64)at, n, gpu_anew(p.corners), &slope));
        if (padding != GPU_GRID_ZEROS) at = at < 0 ? 0 : at < n ? at : n - 1;
    }
    return at >= 0 && at < n ? at : -1;
}

GPU_FN f64 grid_weight(const struct gpu_grid &p, u32 d, const struct grid_place &r, u32 k) {
    u32 mode = gpu_anew(p.mode);
    if (!grid_there(p, d) || mode == GPU_GRID_NEAREST) return 1;
    if (mode == GPU_GRID_BICUBIC) return gpu_cubic(r.part, (i64)k - 1);
    return k ? r.part : 1 - r.part;
}

/* The slope of the weight, by the grid's number. */
GPU_FN f64 grid_slope(const struct gpu_grid &p, const struct grid_place &r, u32 k) {
    if (gpu_anew(p.mode) != GPU_GRID_BICUBIC) return k ? r.slope : -r.slope;
    const f64 a = -0.75;
    f64 t = k == 0 ? r.part + 1 : k == 1 ? r.part : k == 2 ? 1 - r.part : 2 - r.part;
    f64 by = k == 1 || k == 2 ? (3 * (a + 2) * t - 2 * (a + 3)) * t : (3 * a * t - 10 * a) * t + 8 * a;
    return (k < 2 ? by : -by) * r.slope;
}

/* Tap number k of a point: the position that it takes in the plane, -1 for none, and its weight. */
GPU_FN i64 grid_tap(const struct gpu_grid &p, const struct grid_place (&r)[3], u32 k, f64 *weight) {
    i64 place = 0, step = 1;
    bool inside = true;
    *weight = 1;
    GPU_UNROLL for (int d = 2; d >= 0; d--) {
        u32 n = grid_taps(p, (u32)d), which = k % n;
        i64 at = grid_at(p, (u32)d, r[d], which);
        k /= n;
        inside = inside && at >= 0;
        place += at * step;
        step *= p.size[gpu_anew((u32)d)];
        *weight *= grid_weight(p, (u32)d, r[d], which);
    }
    return inside ? place : -1;
}

/* A weight of 0 drops its element. */
template <typename T> GPU_FN void grid_sample(const struct gpu_grid &p) {
    typedef typename gpu_compute<T>::type C;
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        i64 line = (i64)i / p.points, point = (i64)i - line * p.points, image = line / p.chunks;
        i64 first = (line - image * p.chunks) * GPU_GRID_CHANNELS;
        struct grid_place r[3];
        grid_locate<T>(p, image * p.points + point, r);
        C sum[GPU_GRID_CHANNELS];
        GPU_UNROLL for (int c = 0; c < GPU_GRID_CHANNELS; c++) sum[c] = 0;
        GPU_NO_UNROLL for (u32 k = 0; k < p.taps; k++) {
            f64 weight;
            i64 at = grid_tap(p, r, k, &weight);
            if (at < 0 || weight == 0) continue;
            const T *x = (const T *)p.x + (image * p.channels + first) * p.plane + at;
            GPU_UNROLL for (int c = 0; c < GPU_GRID_CHANNELS; c++) {
                if (first + c < p.channels) sum[c] += (C)weight * gpu_up(x[c * p.plane]);
            }
        }
        GPU_UNROLL for (int c = 0; c < GPU_GRID_CHANNELS; c++) {
            if (first + c < p.channels)
                ((T *)p.out)[(image * p.channels + first + c) * p.points + point] = gpu_round<T>(sum[c]);
        }
    }
}

/* By the grid: a thread a point. */
template <typename T> GPU_FN void grid_by_grid(const struct gpu_grid &p) {
    typedef typename gpu_compute<T>::type C;
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        i64 image = (i64)i / p.points, point = (i64)i - image * p.points;
        struct grid_place r[3];
        grid_locate<T>(p, (i64)i, r);
        f64 slope[3];
        GPU_UNROLL for (int d = 0; d < 3; d++) slope[d] = 0;
        GPU_NO_UNROLL for (u32 k = 0; k < p.taps && p.mode != GPU_GRID_NEAREST; k++) {
            f64 weight;
            i64 at = grid_tap(p, r, k, &weight);
            if (at < 0) continue;
            f64 sum = 0;
            GPU_NO_UNROLL for (i64 c = image * p.channels; c < (image + 1) * p.channels; c++) {
                sum += (f64)gpu_up(((const T *)p.gradient)[c * p.points + point]) *
                       (f64)gpu_up(((const T *)p.x)[c * p.plane + at]);
            }
            u32 rest = k, which[3];
            GPU_UNROLL for (int d = 2; d >= 0; d--) {
                which[d] = rest % grid_taps(p, (u32)d);
                rest /= grid_taps(p, (u32)d);
            }
            GPU_UNROLL for (int d = 0; d < 3; d++) {
                f64 by = grid_there(p, (u32)d) ? grid_slope(p, r[d], which[d]) : 0;
                GPU_UNROLL for (int other = 0; other < 3; other++) {
                    if (other != d) by *= grid_weight(p, (u32)other, r[other], which[other]);
                }
                slope[d] += by * sum;
            }
        }
        GPU_UNROLL for (int d = 0; d < 3; d++) {
            if (grid_there(p, (u32)d)) ((T *)p.out)[(i64)i * p.dims + (2 - d)] = gpu_round<T>((C)slope[d]);
        }
    }
}

/* By x, first: what each tap takes. */
template <typename T> GPU_FN void grid_keys(const struct gpu_grid &p) {
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        i64 point = (i64)(i / p.taps);
        struct grid_place r[3];
        f64 weight;
        grid_locate<T>(p, point, r);
        i64 at = grid_tap(p, r, (u32)(i - (u64)point * p.taps), &weight);
        p.keys[i] = at < 0 || weight == 0 ? (u32)p.plane : (u32)at;
    }
}

/* Then the sums of what takes an element, with keys sorted. */
template <typename T> GPU_FN void grid_by_x(const struct gpu_grid &p) {
    typedef typename gpu_compute<T>::type C;
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        i64 line = (i64)i / p.plane, at = (i64)i - line * p.plane, image = line / p.chunks;
        i64 first = (line - image * p.chunks) * GPU_GRID_CHANNELS, all = p.points * p.taps;
        const u32 *keys = p.keys + image * all, *order = p.order + image * all;
        i64 begin = 0, end = all; /* the first key that is not below `at` */
        GPU_NO_UNROLL while (begin < end) {
            i64 middle = (begin + end) / 2;
            if (keys[middle] < (u32)at)
                begin = middle + 1;
            else
                end = middle;
        }
        f64 sum[GPU_GRID_CHANNELS];
        GPU_UNROLL for (int c = 0; c < GPU_GRID_CHANNELS; c++) sum[c] = 0;
        GPU_NO_UNROLL for (i64 j = begin; j < all && keys[j] == (u32)at; j++) {
            u32 point = order[j] / p.taps;
            struct grid_place r[3];
            f64 weight;
            grid_locate<T>(p, image * p.points + point, r);
            grid_tap(p, r, order[j] - point * p.taps, &weight);
            const T *g = (const T *)p.gradient + (image * p.channels + first) * p.points + point;
            GPU_UNROLL for (int c = 0; c < GPU_GRID_CHANNELS; c++) {
                if (first + c < p.channels) sum[c] += weight * (f64)gpu_up(g[c * p.points]);
            }
        }
        GPU_UNROLL for (int c = 0; c < GPU_GRID_CHANNELS; c++) {
            if (first + c < p.channels)
                ((T *)p.out)[(image * p.channels + first + c) * p.plane + at] = gpu_round<T>((C)sum[c]);
        }
    }
}

#define GRID(T)                                                                                                        \
    GPU_KERNEL(grid_sample_##T, struct gpu_grid) { grid_sample<T>(p); }                                                \
    GPU_KERNEL(grid_by_grid_##T, struct gpu_grid) { grid_by_grid<T>(p); }                                              \
    GPU_KERNEL(grid_keys_##T, struct gpu_grid) { grid_keys<T>(p); }                                                    \
    GPU_KERNEL(grid_by_x_##T, struct gpu_grid) { grid_by_x<T>(p); }
GPU_FLOATS(GRID)
