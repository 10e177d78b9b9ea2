/* Losses of classes: a line of x is read once for the largest element and the sum of exponentials, which go on
 * together. Gradients take the logarithms of the sums from there. */
#include "dtype.h"
#include "reduce_body.h"
#include "some.h"
#include "wave.h"

#include "cross_entropy.h"

/* What is known of a part of a line: its largest element, the sum of e^(x - most), the sum of the classes' weights in
 * the target, and that of these times x. */
template <typename C> struct classes_part {
    C most;
    f64 sum, weight, product;
};

/* e^(x - most), where a `most` of no elements, -infinity, counts as 0. */
template <typename C> GPU_FN C classes_exp(C x, C most) {
    C none;
    reduce_least(&none);
    return reduce_exp(x - (most == none ? (C)0 : most));
}

struct classes_join {
    template <typename P> GPU_FN P of(P a, P b) {
        P y;
        y.most = b.most > a.most ? b.most : a.most;
        y.sum = a.sum * (f64)classes_exp(a.most, y.most) + b.sum * (f64)classes_exp(b.most, y.most);
        y.weight = a.weight + b.weight;
        y.product = a.product + b.product;
        return y;
    }
};

/* Which line a thread works on, and its place among those that do. */
struct classes_place {
    i64 line, start; /* start: of its elements */
    u32 lane, lanes;
    bool live;
};

GPU_FN classes_place classes_find(const struct gpu_cross_entropy &p) {
    classes_place at;
    i64 item = reduce_block(), outer, column;
    if (p.across == 0) {
        at.line = item * (gpu_threads() / p.group) + gpu_thread() / p.group;
        at.lane = gpu_thread() % p.group;
        at.lanes = p.group;
        at.live = at.line < p.lines;
        outer = p.inner == 1 ? at.line : at.line / p.inner;
        column = at.line - outer * p.inner;
    } else {
        outer = item / p.tiles;
        column = (item - outer * p.tiles) * p.across + gpu_thread() % p.across;
        at.line = outer * p.inner + column;
        at.lane = gpu_thread() / p.across;
        at.lanes = GPU_BLOCK / p.across;
        at.live = column < p.inner && outer * p.inner < p.lines;
    }
    at.start = outer * p.n * p.inner + column;
    return at;
}

/* Joins a value of each thread of a line. */
template <typename J, typename P>
GPU_FN P classes_all(P v, const struct gpu_cross_entropy &p, P *room) {
    if (p.across == 0) return gpu_group_join<J>(v, p.group, room);
    room[gpu_thread()] = v;
    gpu_sync();
    GPU_NO_UNROLL for (u32 step = GPU_BLOCK / 2; step >= p.across; step /= 2) {
        if (gpu_thread() < step) room[gpu_thread()] = J::of(room[gpu_thread()], room[gpu_thread() + step]);
        gpu_sync();
    }
    v = room[gpu_thread() % p.across];
    gpu_sync();
    return v;
}

template <typename T> GPU_FN typename gpu_compute<T>::type classes_weight(const struct gpu_cross_entropy &p, i64 c) {
    return p.weight ? gpu_up(((const T *)p.weight)[c]) : (typename gpu_compute<T>::type)1;
}

/* The weight of class c in the target, but for that of an id. */
template <typename T> GPU_FN f64 classes_share(const struct gpu_cross_entropy &p, i64 start, i64 c) {
    f64 share = p.smoothing / (f64)p.n;
    if (p.probabilities)
        share += (f64)gpu_up(((const T *)p.probabilities)[start + c * p.inner]) * (1 - p.smoothing);
    return share * (f64)classes_weight<T>(p, c);
}

/* A line of n elements at x as whole vectors of 16 bytes and elements before and after them, all of them where vectors
 * are not wanted. */
struct classes_span {
    i64 head, body; /* elements before the vectors, and in them */
};
template <typename T> GPU_FN classes_span classes_cut(const T *x, i64 n, u32 vectors) {
    classes_span s;
    s.head = vectors ? (i64)((16 - ((u64)x & 15)) % 16 / sizeof(T)) : n;
    if (s.head > n) s.head = n;
    s.body = (n - s.head) / gpu_vec<T>::N * gpu_vec<T>::N;
    return s;
}

/* The id of a line, 2^64 - 1 where it is left out. */
GPU_FN u64 classes_id(const struct gpu_cross_entropy &p, i64 line) {
    u64 v = p.ids.width == 8   ? ((const u64 *)p.ids.data)[line]
            : p.ids.width == 4 ? ((const u32 *)p.ids.data)[line]
            : p.ids.width == 2 ? ((const u16 *)p.ids.data)[line]
                               : ((const u8 *)p.ids.data)[line];
    if (p.ignore && v == p.ignored) return ~0ull;
    return gpu_id_at(p.ids, line);
}

/* N elements of a line from number c on join a part. */
template <typename T, int N>
GPU_FN void classes_take(classes_part<typename gpu_compute<T>::type> *q, const struct gpu_cross_entropy &p, i64 start,
                         i64 c) {
    typedef typename gpu_compute<T>::type C;
    C x[N], top = q->most;
    gpu_some_load<N>((const T *)p.x + start + c * p.inner, x);
    if (p.probabilities || p.smoothing > 0) {
        GPU_UNROLL for (int k = 0; k < N; k++) {
            f64 share = classes_share<T>(p, start, c + k);
            q->weight += share;
            q->product += share * (f64)x[k];
        }
    }
    GPU_UNROLL for (int k = 0; k < N; k++) top = x[k] > top ? x[k] : top;
    GPU_UNROLL for (int k = 0; k < N; k++) x[k] = classes_exp(x[k], top);
    q->sum = q->sum * (f64)classes_exp(q->most, top) + (f64)gpu_tree<N>::template of<gpu_join_add>(x);
    q->most = top;
}

/* The loss of a line, whose first thread stores it. */
template <typename T>
GPU_FN void classes_finish(const classes_part<typename gpu_compute<T>::type> &q, const struct gpu_cross_entropy &p,
                           const classes_place &at) {
    typedef typename gpu_compute<T>::type C;
    f64 log_sum = gpu_log(q.sum), all = (f64)q.most + log_sum + (f64)(q.most - q.most), y = 0, weight = 1;
    if (p.probabilities) {
        y = q.weight * all - q.product;
    } else {
        u64 id = classes_id(p, at.line);
        bool in = id != ~0ull;
        weight = in ? (f64)classes_weight<T>(p, (i64)id) : 0;
        f64 own = in && p.n > 0 ? (f64)gpu_up(((const T *)p.x)[at.start + (i64)id * p.inner]) : 0;
        if (in && p.nll) y = -weight * own;
        if (in && !p.nll) {
            y = (1 - p.smoothing) * weight * ((f64)q.most - own + log_sum);
            if (p.smoothing > 0) y += q.weight * all - q.product;
        }
    }
    if (p.wide)
        ((C *)p.out)[at.line] = (C)y;
    else
        ((T *)p.out)[at.line] = gpu_round<T>((C)y);
    ((C *)p.weights)[at.line] = (C)weight;
    p.log_sums[at.line] = p.nll ? 0 : all;
}

template <typename T> GPU_FN void classes_losses(const struct gpu_cross_entropy &p) {
    typedef typename gpu_compute<T>::type C;
    typedef classes_part<C> P;
    enum { N = gpu_vec<T>::N };
    GPU_SHARED P room[GPU_BLOCK];
    classes_place at = classes_find(p);
    P q;
    reduce_least(&q.most);
    q.sum = q.weight = q.product = 0;
    i64 n = at.live && !p.nll ? p.n : 0;
    classes_span s = classes_cut((const T *)p.x + at.start, n, p.vectors);
    GPU_NO_UNROLL for (i64 c = (i64)at.lane * N; c < s.body; c += (i64)at.lanes * N)
        classes_take<T, N>(&q, p, at.start, s.head + c);
    GPU_NO_UNROLL for (i64 c = at.lane; c < n - s.body; c += at.lanes)
        classes_take<T, 1>(&q, p, at.start, c < s.head ? c : c + s.body);
    if (!p.nll) q = classes_all<classes_join>(q, p, room);
    if (at.live && at.lane == 0) classes_finish<T>(q, p, at);
}

template <typename T> GPU_FN void classes_mean(const struct gpu_cross_entropy_mean &p) {
    typedef typename gpu_compute<T>::type C;
    enum { UNROLL = 4 };
    GPU_SHARED f64 room[2 * GPU_BLOCK / GPU_WAVE];
    f64 sums[2] = {0, 0};
    GPU_NO_UNROLL for (i64 i = gpu_thread(); i < p.lines; i += GPU_BLOCK * UNROLL) {
        GPU_UNROLL for (int k = 0; k < UNROLL; k++) {
            i64 line = i + k * GPU_BLOCK;
            bool in = line < p.lines;
            sums[0] += in ? (f64)((const C *)p.losses)[line] : 0;
            sums[1] += in ? (f64)((const C *)p.weights)[line] : 0;
        }
    }
    f64 all = gpu_block_join_each<gpu_join_add, 2>(sums, room), weight = gpu_shuffle(all, 1);
    if (gpu_thread() > 0) return;
    *(T *)p.out = gpu_round<T>((C)(all / weight));
    *(C *)p.total = (C)weight;
}

/* ---- gradients ---- */

/* What the elements of a line's gradient depend on. */
struct classes_line {
    f64 g, log_sum, own; /* own: the weight of the id's class in the target */
    u64 id;
};

/* N elements of a line's gradient from number c on: g (factor e^(x - log_sum) - share). */
template <typename T, int N>
GPU_FN void classes_slopes(const struct gpu_cross_entropy &p, i64 start, i64 c, const classes_line &l, f64 factor) {
    typedef typename gpu_compute<T>::type C;
    bool shared = p.probabilities || p.smoothing > 0;
    C x[N], by = (C)(l.g * factor);
    gpu_some_load<N>((const T *)p.x + start + c * p.inner, x);
    GPU_UNROLL for (int k = 0; k < N; k++) {
        f64 d = (f64)x[k] - l.log_sum;
        x[k] = by * reduce_exp((C)d);
        if (shared) x[k] -= (C)(l.g * classes_share<T>(p, start, c + k));
        if ((u64)(c + k) == l.id) x[k] -= (C)(l.g * l.own);
        if (p.of_target) {
            f64 slope = -l.g * (f64)classes_weight<T>(p, c + k) * (1 - p.smoothing) * d;
            ((T *)p.of_target)[start + (c + k) * p.inner] = gpu_round<T>((C)slope);
        }
    }
    gpu_some_store<N>((T *)p.out + start + c * p.inner, x);
}

/* Those of a line that is left out, or that has logarithms of probabilities. */
template <typename T>
GPU_FN void classes_plain(const struct gpu_cross_entropy &p, const classes_place &at, const classes_line &l) {
    typedef typename gpu_compute<T>::type C;
    GPU_NO_UNROLL for (i64 c = at.lane; c < p.n; c += at.lanes) {
        C y = (u64)c == l.id ? (C)(-l.g * l.own) : (C)0;
        ((T *)p.out)[at.start + c * p.inner] = gpu_round<T>(y);
    }
}

template <typename T> GPU_FN void classes_gradients(const struct gpu_cross_entropy &p) {
    typedef typename gpu_compute<T>::type C;
    enum { N = gpu_vec<T>::N };
    GPU_SHARED f64 room[GPU_BLOCK];
    classes_place at = classes_find(p);
    f64 factor = 0;
    if (p.probabilities || p.smoothing > 0) {
        if (at.live)
            GPU_NO_UNROLL for (i64 c = at.lane; c < p.n; c += at.lanes) factor += classes_share<T>(p, at.start, c);
        factor = classes_all<gpu_join_add>(factor, p, room);
    }
    if (!at.live) return;
    classes_line l;
    l.g = (f64)((const C *)p.gradient)[p.single ? 0 : at.line];
    l.id = p.probabilities ? ~0ull : classes_id(p, at.line);
    l.own = l.id == ~0ull ? 0 : (1 - p.smoothing) * (f64)classes_weight<T>(p, (i64)l.id);
    if (p.nll || (!p.probabilities && l.id == ~0ull)) {
        classes_plain<T>(p, at, l);
        return;
    }
    l.log_sum = p.log_sums[at.line];
    factor += l.own;
    classes_span s = classes_cut((const T *)p.x + at.start, p.n, p.vectors);
    GPU_NO_UNROLL for (i64 c = (i64)at.lane * N; c < s.body; c += (i64)at.lanes * N)
        classes_slopes<T, N>(p, at.start, s.head + c, l, factor);
    GPU_NO_UNROLL for (i64 c = at.lane; c < p.n - s.body; c += at.lanes)
        classes_slopes<T, 1>(p, at.start, c < s.head ? c : c + s.body, l, factor);
}

#define CROSS_ENTROPY(T)                                                                                               \
    GPU_KERNEL(cross_entropy_##T, struct gpu_cross_entropy) { classes_losses<T>(p); }                                  \
    GPU_KERNEL(cross_entropy_backward_##T, struct gpu_cross_entropy) { classes_gradients<T>(p); }                      \
    GPU_KERNEL(cross_entropy_mean_##T, struct gpu_cross_entropy_mean) { classes_mean<T>(p); }
GPU_FLOATS(CROSS_ENTROPY)
