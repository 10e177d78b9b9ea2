/* Batch norm in training. Statistics are taken in one pass, as deviations from the first elements of each thread, and
 * joined by Chan's formula: blocks take parts of channels, and those of the second launch join what the first left. A
 * channel that is small is one block's, which reads it once more from a cache. */
#include "normalize_moments.h"
#include "normalize_planes.h"

/* Elements from .. to - 1 of the planes of one channel, in first .. last - 1 of outer. */
struct planes_part {
    i64 number, channel, first, last, from, to;
};
GPU_FN planes_part planes_find(const struct gpu_normalize_planes &p, i64 item) {
    planes_part s;
    s.number = item / p.channels;
    s.channel = item - s.number * p.channels;
    i64 image = p.pieces == 1 ? s.number : s.number / p.pieces;
    s.first = image * p.rows;
    s.last = s.first + p.rows < p.outer ? s.first + p.rows : p.outer;
    s.from = (s.number - image * p.pieces) * p.length;
    s.to = s.from + p.length < p.plane ? s.from + p.length : p.plane;
    return s;
}
/* The number of the first element of a part in number o of outer. */
GPU_FN i64 planes_at(const struct gpu_normalize_planes &p, const planes_part &s, i64 o) {
    return (o * p.channels + s.channel) * p.plane + s.from;
}

/* How elements are taken in. The sum for the mean of f32 stays f64, for a mean may cancel an element. */
template <typename T> struct planes_kind : reduce_moments<T> {};
template <> struct planes_kind<f32> : reduce_moments<f32> {
    template <int A>
    GPU_FN void vectors(State &s, const gpu_vec<f32> (&u)[A], i64 at, i64 step, const struct gpu_reduce_end &end) {
        enum { N = gpu_vec<f32>::N };
        f64 sum[A];
        f32 squares[A];
        (void)at, (void)step, (void)end;
        if (s.n == 0) s.center = center<N>(u[0].v);
        GPU_UNROLL for (int k = 0; k < A; k++) {
            f64 wide[N];
            f32 q[N];
            GPU_UNROLL for (int i = 0; i < N; i++) {
                f32 d = u[k].v[i] - s.center;
                wide[i] = (f64)u[k].v[i];
                q[i] = d * d;
            }
            sum[k] = gpu_tree<N>::template of<gpu_join_add>(wide);
            squares[k] = gpu_tree<N>::template of<gpu_join_add>(q);
        }
        f32 all = gpu_tree<A>::template of<gpu_join_add>(squares);
        s.sum += gpu_tree<A>::template of<gpu_join_add>(sum) - (f64)s.center * (A * N);
        s.squares += (f64)all;
        s.n += A * N;
        if (!(all > 1e-28f && all < 1e37f)) s.rough = 1;
    }
};

template <typename T, typename K, int AHEAD>
GPU_FN void planes_gather(const struct gpu_normalize_planes &p, const planes_part &s, typename K::State &state) {
    struct gpu_reduce_end end;
    end.group = p.across;
    u32 lane = gpu_thread() % p.across, beside = gpu_threads() / p.across;
    GPU_NO_UNROLL for (i64 o = s.first + gpu_thread() / p.across; o < s.last; o += beside)
        reduce_run<T, K, AHEAD>(end, (const T *)p.in + planes_at(p, s, o), s.to - s.from, 0, lane, state);
}

/* The statistics of a part, in every thread. */
template <typename T>
GPU_FN typename reduce_moments<T>::Part planes_moments(const struct gpu_normalize_planes &p, const planes_part &s,
                                                       u64 *room) {
    typedef planes_kind<T> K;
    typedef reduce_careful<reduce_moments<T>> again;
    typename K::State state = K::start();
    planes_gather<T, K, (sizeof(T) == 1 ? 2 : 4)>(p, s, state);
    if (again::rough(state)) {
        state = K::start();
        planes_gather<T, typename again::type, 1>(p, s, state);
    }
    return K::close(state, (s.last - s.first) * (s.to - s.from), gpu_threads(), room);
}

/* Those of the part's channel, of all its parts. */
template <typename T>
GPU_FN typename reduce_moments<T>::Part planes_join(const struct gpu_normalize_planes &p, const planes_part &s,
                                                    u64 *room) {
    typedef reduce_moments<T> K;
    typename K::Part q = K::part(K::start());
    i64 words = p.parts * p.channels;
    GPU_NO_UNROLL for (i64 k = gpu_thread(); k < p.parts; k += gpu_threads()) {
        const u64 *in = p.stats + k * p.channels + s.channel;
        u64 word[3] = {in[0], in[words], in[2 * words]};
        q = K::of(q, K::unpack(word));
    }
    return gpu_group_join<K>(q, gpu_threads(), (typename K::Part *)room);
}

/* What becomes of a channel's elements: (x - mean) / deviation * weight + bias. */
template <typename C> struct planes_line {
    normalize_moments<C> m;
    C weight, bias;
};
template <typename T, typename C>
GPU_FN planes_line<C> planes_line_of(const struct gpu_normalize_planes &p, const planes_part &s,
                                     typename reduce_moments<T>::Part q) {
    u64 word[3];
    reduce_moments<T>::pack(q, word);
    f64 mean = gpu_bits<f64>(word[1]), root = gpu_bits<f64>(word[2]);
    f64 scaled = (f64)normalize_scaled((C)gpu_join_max::of(gpu_fabs(mean), root), p.epsilon);
    f64 variance = normalize_variance(mean, root, scaled, true, p.epsilon);
    if (s.number == 0 && gpu_thread() == 0) {
        if (p.inverse) ((C *)p.inverse)[s.channel] = (C)(scaled / gpu_sqrt(variance));
        if (p.mean) ((C *)p.mean)[s.channel] = (C)(mean / scaled);
    }
    planes_line<C> y = {normalize_by(mean, variance, (C)scaled, 1), 1, (C)-0.0};
    if (p.weight) y.weight = gpu_up(((const T *)p.weight)[s.channel]);
    if (p.bias) y.bias = gpu_up(((const T *)p.bias)[s.channel]);
    return y;
}
template <typename C> GPU_FN C planes_normal(const planes_line<C> &y, C x) {
    return normalize_apart(y.m, x) * y.m.scale * y.weight + y.bias;
}

/* n elements side by side, by `across` threads: as reduce_run takes them. */
template <typename T, typename C>
GPU_FN void planes_run(const struct gpu_normalize_planes &p, const planes_line<C> &y, const T *x, T *out, i64 n) {
    enum { N = gpu_vec<T>::N, AHEAD = sizeof(T) == 1 ? 2 : 4 };
    u32 across = p.across, lane = gpu_thread() % across;
    i64 head = (i64)((16 - ((u64)x & 15)) % 16 / sizeof(T));
    if (head > n || !p.alike) head = n;
    i64 vectors = (n - head) / N, body = vectors * N;
    GPU_NO_UNROLL for (i64 v = lane; v < vectors; v += AHEAD * across) {
        gpu_vec<T> u[AHEAD];
        /* Where there is no vector the first is loaded again, and not taken. */
        GPU_UNROLL for (int k = 0; k < AHEAD; k++)
            u[k] = gpu_load16(x + head + (v + k * across < vectors ? v + k * across : v) * N);
        GPU_UNROLL for (int k = 0; k < AHEAD; k++) {
            C c[N];
            if (v + k * across >= vectors) break;
            gpu_up_vector(u[k], c);
            GPU_UNROLL for (int i = 0; i < N; i++) c[i] = planes_normal(y, c[i]);
            gpu_down_vector(&u[k], c);
            gpu_store16(out + head + (v + k * across) * N, u[k]);
        }
    }
    GPU_NO_UNROLL for (i64 i = lane; i < n - body; i += across) {
        i64 place = i < head ? i : i + body;
        out[place] = gpu_round<T>(planes_normal(y, (C)gpu_up(x[place])));
    }
}

template <typename T>
GPU_FN void planes_put(const struct gpu_normalize_planes &p, const planes_part &s,
                       const planes_line<typename gpu_compute<T>::type> &y) {
    u32 beside = gpu_threads() / p.across;
    GPU_NO_UNROLL for (i64 o = s.first + gpu_thread() / p.across; o < s.last; o += beside) {
        i64 at = planes_at(p, s, o);
        planes_run(p, y, (const T *)p.in + at, (T *)p.out + at, s.to - s.from);
    }
}

template <typename T> GPU_FN void normalize_planes_stats(const struct gpu_normalize_planes &p) {
    GPU_SHARED u64 room[GPU_WAVES * 4];
    if (reduce_block() >= p.parts * p.channels) return;
    planes_part s = planes_find(p, reduce_block());
    typename reduce_moments<T>::Part q = planes_moments<T>(p, s, room);
    if (gpu_thread() > 0) return;
    u64 word[3];
    reduce_moments<T>::pack(q, word);
    GPU_UNROLL for (int w = 0; w < 3; w++) p.stats[(w * p.parts + s.number) * p.channels + s.channel] = word[w];
}

/* The parts come in reverse order: what was read last for the statistics may still be in a cache. */
template <typename T> GPU_FN void normalize_planes_apply(const struct gpu_normalize_planes &p) {
    typedef typename gpu_compute<T>::type C;
    GPU_SHARED u64 room[GPU_WAVES * 4];
    i64 items = p.parts * p.channels;
    if (reduce_block() >= items) return;
    planes_part s = planes_find(p, items - 1 - reduce_block());
    planes_line<C> y = planes_line_of<T, C>(p, s, planes_join<T>(p, s, room));
    planes_put<T>(p, s, y);
}

template <typename T> GPU_FN void normalize_planes_whole(const struct gpu_normalize_planes &p) {
    typedef typename gpu_compute<T>::type C;
    GPU_SHARED u64 room[GPU_WAVES * 4];
    if (reduce_block() >= p.channels) return;
    planes_part s = planes_find(p, reduce_block());
    planes_line<C> y = planes_line_of<T, C>(p, s, planes_moments<T>(p, s, room));
    planes_put<T>(p, s, y);
}

#define BLOCKS(T) (sizeof(T) == 8 ? 3 : 4)
#define BLOCKS_WHOLE(T) (sizeof(T) == 8 ? 1 : 2)

#define NORMALIZE_PLANES(T)                                                                                            \
    GPU_KERNEL_OF(normalize_planes_stats_##T, struct gpu_normalize_planes, GPU_BLOCK, BLOCKS(T)) {                     \
        normalize_planes_stats<T>(p);                                                                                  \
    }                                                                                                                  \
    GPU_KERNEL_OF(normalize_planes_apply_##T, struct gpu_normalize_planes, GPU_BLOCK, BLOCKS(T)) {                     \
        normalize_planes_apply<T>(p);                                                                                  \
    }                                                                                                                  \
    GPU_KERNEL_OF(normalize_planes_whole_##T, struct gpu_normalize_planes, GPU_NORMALIZE_WHOLE, BLOCKS_WHOLE(T)) {     \
        normalize_planes_whole<T>(p);                                                                                  \
    }
GPU_FLOATS(NORMALIZE_PLANES)
