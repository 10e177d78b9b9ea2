/* The kinds of reductions whose terms may leave the range of their type although the result does not: products, squares,
 * deviations, exponentials and powers. Each is scaled on the way where it has to be. Included by reduce_kinds.h, which
 * says what a kind has. */
#ifndef WICK_KERNELS_REDUCE_SUMS_H
#define WICK_KERNELS_REDUCE_SUMS_H

/* ---- products: a mantissa of 1 up to 2, or 0, infinite or NaN, times a power of two ---- */

struct reduce_scaled_product {
    f64 mantissa;
    i64 exponent;
};

GPU_FN reduce_scaled_product reduce_split(f64 x, i64 exponent) {
    reduce_scaled_product q = {x, exponent};
    if (x != 0 && gpu_fabs(x) < 2.2250738585072014e-308) { /* subnormal: times 2^64 */
        q.mantissa *= 18446744073709551616.0;
        q.exponent -= 64;
    }
    u64 bits = gpu_bits<u64>(q.mantissa);
    u32 field = (u32)(bits >> 52) & 0x7ff;
    if (field == 0 || field == 0x7ff) return q;
    q.mantissa = gpu_bits<f64>((bits & 0x800fffffffffffffull) | 0x3ff0000000000000ull);
    q.exponent += (i64)field - 1023;
    return q;
}

/* The one rounding is that of the last product. */
GPU_FN f64 reduce_unsplit(reduce_scaled_product q) {
    f64 y = q.mantissa;
    i64 e = q.exponent;
    if (e > 1023) {
        y *= 8.98846567431158e307; /* 2^1023 */
        e = e - 1023 < 1023 ? e - 1023 : 1023;
    } else if (e < -1022) {
        y *= 1.1830521861667747e-271; /* 2^-900 */
        e = e + 900 > -1022 ? e + 900 : -1022;
    }
    return y * gpu_bits<f64>((u64)(1023 + e) << 52);
}

template <typename T> struct reduce_product : reduce_each<reduce_product<T>> {
    typedef reduce_scaled_product State;
    typedef reduce_scaled_product Part;
    enum { WORDS = 2, SLOW = 0 };
    GPU_FN State start(void) { return {1, 0}; }
    /* f64 holds the product of four elements of any other type. */
    template <int N> GPU_FN void several(State &s, const T *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        enum { TOGETHER = sizeof(T) == 8 ? 1 : N < 4 ? N : 4 };
        f64 c[N];
        (void)at, (void)step, (void)end;
        GPU_UNROLL for (int i = 0; i < N; i++) c[i] = (f64)gpu_up(v[i]);
        GPU_UNROLL for (int i = 0; i < N; i += TOGETHER)
            s = of(s, reduce_split(gpu_tree<TOGETHER>::template of<reduce_join_multiply>(c + i), 0));
    }
    GPU_FN Part part(State s) { return s; }
    GPU_FN Part of(Part a, Part b) { return reduce_split(a.mantissa * b.mantissa, a.exponent + b.exponent); }
    GPU_FN Part close(State s, i64 n, u32 group, u64 *room) {
        (void)n;
        return gpu_group_join<reduce_product>(s, group, (Part *)room);
    }
    GPU_FN void pack(Part q, u64 *w) {
        w[0] = reduce_word(q.mantissa);
        w[1] = (u64)q.exponent;
    }
    GPU_FN Part unpack(const u64 *w) { return {gpu_bits<f64>(w[0]), (i64)w[1]}; }
    GPU_FN u64 result(Part q, const struct gpu_reduce_end &end) {
        (void)end;
        return gpu_bits<u64>(reduce_unsplit(q));
    }
};

/* ---- squares; a part is packed as their root ---- */

/* What f64 is multiplied with before it is squared, where `most` is the greatest magnitude: a power of two in steps of
 * 2^256, so that it seldom changes. What vanishes then is too small to matter. */
GPU_FN f64 reduce_pre(f64 most) {
    if (!reduce_finite(most) || most == 0) return 1;
    i32 step = ((i32)(gpu_bits<u64>(most) >> 52) + 129) / 256 * 256 - 1024;
    step = step > 768 ? 768 : step < -768 ? -768 : step;
    return gpu_bits<f64>((u64)(1023 - step) << 52);
}
/* What scaling changes by when `most` grows; exact, or so small that it does not matter. Of nothing but zeros, 0. */
GPU_FN f64 reduce_change(f64 most, f64 greater) {
    return most == 0 ? 0 : reduce_pre(greater) * (1 / reduce_pre(most));
}

/* f16 and f8e4m3 have squares that f32 can hold, f64 those of all but f64. */
template <typename T> struct reduce_wide { typedef f64 type; };
template <> struct reduce_wide<f16> { typedef f32 type; };
template <> struct reduce_wide<f8e4m3> { typedef f32 type; };

template <typename T> struct reduce_squares : reduce_simple<f64>, gpu_join_add, reduce_each<reduce_squares<T>> {
    typedef typename reduce_wide<T>::type W;
    GPU_FN f64 start(void) { return 0; }
    template <int N> GPU_FN void several(f64 &s, const T *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        W c[N];
        (void)at, (void)step, (void)end;
        GPU_UNROLL for (int i = 0; i < N; i++) {
            W x = (W)gpu_up(v[i]);
            c[i] = x * x;
        }
        s += (f64)gpu_tree<N>::template of<gpu_join_add>(c);
    }
    GPU_FN f64 close(f64 s, i64 n, u32 group, u64 *room) {
        (void)n;
        return gpu_group_join<gpu_join_add>(s, group, (f64 *)room);
    }
    GPU_FN void pack(f64 q, u64 *w) { w[0] = reduce_word(gpu_sqrt(q)); }
    GPU_FN u64 result(f64 q, const struct gpu_reduce_end &end) {
        (void)end;
        return gpu_bits<u64>(gpu_sqrt(q));
    }
};

struct reduce_scaled_squares {
    f64 most, sum; /* of (x reduce_pre(most))^2 */
};

template <> struct reduce_squares<f64> : reduce_each<reduce_squares<f64>> {
    struct State {
        f64 most, pre, sum;
    };
    typedef reduce_scaled_squares Part;
    enum { WORDS = 1, SLOW = 0 };
    GPU_FN State start(void) { return {0, 1, 0}; }
    template <int N> GPU_FN void several(State &s, const f64 *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        f64 c[N];
        (void)at, (void)step, (void)end;
        GPU_UNROLL for (int i = 0; i < N; i++) c[i] = gpu_fabs(v[i]);
        f64 most = gpu_tree<N>::template of<gpu_join_max>(c);
        if (most > s.most) {
            f64 change = reduce_change(s.most, most);
            s.sum *= change * change;
            s.most = most;
            s.pre = reduce_pre(most);
        }
        GPU_UNROLL for (int i = 0; i < N; i++) {
            c[i] *= s.pre;
            c[i] *= c[i];
        }
        s.sum += gpu_tree<N>::template of<gpu_join_add>(c);
    }
    GPU_FN Part part(State s) { return {s.most, s.sum}; }
    GPU_FN Part of(Part a, Part b) {
        f64 most = gpu_join_max::of(a.most, b.most), change = reduce_change(a.most, most);
        f64 other = reduce_change(b.most, most);
        return {most, a.sum * (change * change) + b.sum * (other * other)};
    }
    GPU_FN Part close(State s, i64 n, u32 group, u64 *room) {
        (void)n;
        return gpu_group_join<reduce_squares>(part(s), group, (Part *)room);
    }
    GPU_FN void pack(Part q, u64 *w) { w[0] = reduce_word(gpu_sqrt(q.sum) / reduce_pre(q.most)); }
    GPU_FN Part unpack(const u64 *w) {
        f64 root = gpu_bits<f64>(w[0]), scaled = root * reduce_pre(root);
        return {root, scaled * scaled};
    }
    GPU_FN u64 result(Part q, const struct gpu_reduce_end &end) {
        (void)end;
        return gpu_bits<u64>(gpu_sqrt(q.sum) / reduce_pre(q.most));
    }
};

/* ---- deviations; a part is packed as n, mean and the root of the mean of their squares ---- */

/* Each thread sums deviations, and their squares, from the mean of the elements it takes first. */
template <typename C> struct reduce_deviations {
    C center;
    u32 n, rough;
    f64 sum, squares;
};
struct reduce_moments_part {
    f64 n, mean, squares;
};

/* The careful way: squares of f64, which holds those of all but f64. */
template <typename T> struct reduce_moments_careful : reduce_each<reduce_moments_careful<T>> {
    typedef typename gpu_compute<T>::type C;
    typedef reduce_deviations<C> State;
    typedef reduce_moments_part Part;
    enum { WORDS = 3, SLOW = 0 };
    GPU_FN State start(void) {
        State s = {0, 0, 0, 0, 0};
        return s;
    }
    template <int N> GPU_FN void several(State &s, const T *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        f64 d[N], q[N];
        (void)at, (void)step, (void)end;
        if (s.n == 0) s.center = center<N>(v);
        GPU_UNROLL for (int i = 0; i < N; i++) {
            d[i] = (f64)gpu_up(v[i]) - (f64)s.center;
            q[i] = d[i] * d[i];
        }
        s.sum += gpu_tree<N>::template of<gpu_join_add>(d);
        s.squares += gpu_tree<N>::template of<gpu_join_add>(q);
        s.n += N;
    }
    template <int N> GPU_FN C center(const T *v) {
        C c[N];
        GPU_UNROLL for (int i = 0; i < N; i++) c[i] = gpu_up(v[i]) * (C)(1.0 / N);
        return gpu_tree<N>::template of<gpu_join_add>(c);
    }
    GPU_FN Part part(State s) {
        Part q = {(f64)s.n, 0, 0};
        if (s.n == 0) return q;
        f64 apart = s.sum / q.n;
        q.mean = (f64)s.center + apart;
        q.squares = s.squares - s.sum * apart;
        if (q.squares < 0) q.squares = 0;
        return q;
    }
    /* Chan, Golub and LeVeque, 1979. */
    GPU_FN Part of(Part a, Part b) {
        Part q = {a.n + b.n, a.mean, a.squares};
        if (b.n == 0) return q;
        f64 apart = b.mean - a.mean, share = b.n / q.n;
        if (a.n == 0) return b;
        q.mean = a.mean + apart * share;
        q.squares = a.squares + b.squares + apart * apart * (a.n * share);
        return q;
    }
    GPU_FN Part close(State s, i64 n, u32 group, u64 *room) {
        Part q = part(s);
        if (group == 1) return q;
        f64 mean = gpu_group_join<gpu_join_add>(q.n * q.mean, group, (f64 *)room) / (n > 0 ? (f64)n : 1);
        f64 apart = q.mean - mean;
        q.squares = gpu_group_join<gpu_join_add>(q.squares + q.n * apart * apart, group, (f64 *)room);
        q.mean = mean;
        q.n = (f64)n;
        return q;
    }
    GPU_FN void pack(Part q, u64 *w) {
        w[0] = reduce_word(q.n);
        w[1] = reduce_word(q.mean);
        w[2] = reduce_word(q.n > 0 ? gpu_sqrt(q.squares / q.n) : 0);
    }
    GPU_FN Part unpack(const u64 *w) {
        Part q = {gpu_bits<f64>(w[0]), gpu_bits<f64>(w[1]), gpu_bits<f64>(w[2])};
        q.squares *= q.squares * q.n;
        return q;
    }
    GPU_FN u64 result(Part q, const struct gpu_reduce_end &end) {
        f64 n = (f64)end.terms - end.correction, y = q.squares / (n > 0 ? n : 0);
        return gpu_bits<u64>(end.finish == GPU_FINISH_ROOT ? gpu_sqrt(y) : y);
    }
};

/* The same of x times reduce_pre(most). */
struct reduce_scaled_deviations {
    f64 center, sum, squares, most, pre;
    u32 n;
};
struct reduce_scaled_moments {
    f64 n, mean, squares, most;
};

template <> struct reduce_moments_careful<f64> : reduce_each<reduce_moments_careful<f64>> {
    typedef reduce_scaled_deviations State;
    typedef reduce_scaled_moments Part;
    enum { WORDS = 3, SLOW = 0 };
    GPU_FN State start(void) { return {0, 0, 0, 0, 1, 0}; }
    template <int N> GPU_FN void several(State &s, const f64 *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        f64 d[N], q[N];
        (void)at, (void)step, (void)end;
        GPU_UNROLL for (int i = 0; i < N; i++) d[i] = gpu_fabs(v[i]);
        f64 most = gpu_tree<N>::template of<gpu_join_max>(d);
        if (most > s.most) {
            f64 change = reduce_change(s.most, most);
            s.center *= change;
            s.sum *= change;
            s.squares *= change * change;
            s.most = most;
            s.pre = reduce_pre(most);
        }
        GPU_UNROLL for (int i = 0; i < N; i++) d[i] = v[i] * s.pre;
        if (s.n == 0) s.center = gpu_tree<N>::template of<gpu_join_add>(d) * (1.0 / N);
        GPU_UNROLL for (int i = 0; i < N; i++) {
            d[i] -= s.center;
            q[i] = d[i] * d[i];
        }
        s.sum += gpu_tree<N>::template of<gpu_join_add>(d);
        s.squares += gpu_tree<N>::template of<gpu_join_add>(q);
        s.n += N;
    }
    GPU_FN Part part(State s) {
        Part q = {(f64)s.n, 0, 0, s.most};
        if (s.n == 0) return q;
        f64 apart = s.sum / q.n;
        q.mean = s.center + apart;
        q.squares = s.squares - s.sum * apart;
        if (q.squares < 0) q.squares = 0;
        return q;
    }
    GPU_FN Part of(Part a, Part b) {
        if (b.n == 0) return a;
        if (a.n == 0) return b;
        Part q = {a.n + b.n, 0, 0, gpu_join_max::of(a.most, b.most)};
        f64 mine = reduce_change(a.most, q.most), other = reduce_change(b.most, q.most);
        f64 mean = a.mean * mine, apart = b.mean * other - mean, share = b.n / q.n;
        q.mean = mean + apart * share;
        q.squares = a.squares * (mine * mine) + b.squares * (other * other) + apart * apart * (a.n * share);
        return q;
    }
    GPU_FN Part close(State s, i64 n, u32 group, u64 *room) {
        (void)n;
        return gpu_group_join<reduce_moments_careful>(part(s), group, (Part *)room);
    }
    GPU_FN void pack(Part q, u64 *w) {
        f64 pre = reduce_pre(q.most);
        w[0] = reduce_word(q.n);
        w[1] = reduce_word(q.mean / pre);
        w[2] = reduce_word(q.n > 0 ? gpu_sqrt(q.squares / q.n) / pre : 0);
    }
    GPU_FN Part unpack(const u64 *w) {
        Part q = {gpu_bits<f64>(w[0]), gpu_bits<f64>(w[1]), gpu_bits<f64>(w[2]), 0};
        q.most = gpu_join_max::of(gpu_fabs(q.mean), q.squares);
        f64 pre = reduce_pre(q.most);
        q.mean *= pre;
        q.squares *= pre;
        q.squares *= q.squares * q.n;
        return q;
    }
    GPU_FN u64 result(Part q, const struct gpu_reduce_end &end) {
        f64 n = (f64)end.terms - end.correction, y = q.squares / (n > 0 ? n : 0), pre = reduce_pre(q.most);
        return gpu_bits<u64>(end.finish == GPU_FINISH_ROOT ? gpu_sqrt(y) / pre : y / pre / pre);
    }
};

/* Squares are summed in f32, some at a time, where they neither overflow nor vanish; else the state is rough. */
template <typename T> struct reduce_moments : reduce_moments_careful<T> {
    typedef typename reduce_moments_careful<T>::C C;
    typedef typename reduce_moments_careful<T>::State State;
    template <int A>
    GPU_FN void vectors(State &s, const gpu_vec<T> (&u)[A], i64 at, i64 step, const struct gpu_reduce_end &end) {
        enum { N = gpu_vec<T>::N, FIRST = 16 / N < A ? 16 / N : A }; /* a center of fewer may be far from the mean */
        (void)at, (void)step, (void)end;
        if (s.n == 0) {
            C first[FIRST];
            GPU_UNROLL for (int k = 0; k < FIRST; k++)
                first[k] = reduce_moments_careful<T>::template center<N>(u[k].v) * (C)(1.0 / FIRST);
            s.center = gpu_tree<FIRST>::template of<gpu_join_add>(first);
        }
        C sum[A], squares[A];
        GPU_UNROLL for (int k = 0; k < A; k++) {
            C d[N], q[N];
            gpu_up_vector(u[k], d);
            GPU_UNROLL for (int i = 0; i < N; i++) {
                d[i] -= s.center;
                q[i] = d[i] * d[i];
            }
            sum[k] = gpu_tree<N>::template of<gpu_join_add>(d);
            squares[k] = gpu_tree<N>::template of<gpu_join_add>(q);
        }
        C all = gpu_tree<A>::template of<gpu_join_add>(squares);
        s.sum += (f64)gpu_tree<A>::template of<gpu_join_add>(sum);
        s.squares += (f64)all;
        s.n += A * N;
        if (!(all > (C)1e-28f && all < (C)1e37f)) s.rough = 1;
    }
};

template <> struct reduce_moments<f64> : reduce_moments_careful<f64> {};

/* Whether a state must be gathered again, with more care, and how. */
template <typename K> struct reduce_careful {
    typedef K type;
    GPU_FN bool rough(const typename K::State &) { return false; }
};
template <typename T> struct reduce_careful<reduce_moments<T>> {
    typedef reduce_moments_careful<T> type;
    GPU_FN bool rough(const typename type::State &s) { return s.rough; }
};
template <> struct reduce_careful<reduce_moments<f64>> {
    typedef reduce_moments_careful<f64> type;
    GPU_FN bool rough(const reduce_scaled_deviations &) { return false; }
};

/* ---- exponentials ---- */

template <typename C> struct reduce_scaled {
    C most;
    f64 sum; /* void when `most` is not finite */
};

template <typename T> struct reduce_exps : reduce_each<reduce_exps<T>> {
    typedef typename gpu_compute<T>::type C;
    typedef reduce_scaled<C> State;
    typedef reduce_scaled<f64> Part;
    enum { WORDS = 2, SLOW = 0 };
    GPU_FN State start(void) {
        State s;
        reduce_least(&s.most);
        s.sum = 0;
        return s;
    }
    template <int N> GPU_FN void several(State &s, const T *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        C c[N], least;
        (void)at, (void)step, (void)end;
        reduce_least(&least);
        GPU_UNROLL for (int i = 0; i < N; i++) c[i] = gpu_up(v[i]);
        C most = gpu_join_max::of(s.most, gpu_tree<N>::template of<gpu_join_max>(c));
        if (most == least) return;
        if (most != s.most) {
            s.sum *= (f64)reduce_exp(s.most - most);
            s.most = most;
        }
        GPU_UNROLL for (int i = 0; i < N; i++) c[i] = reduce_exp(c[i] - most);
        s.sum += (f64)gpu_tree<N>::template of<gpu_join_add>(c);
    }
    GPU_FN Part part(State s) {
        Part q = {(f64)s.most, s.sum};
        return q;
    }
    GPU_FN Part of(Part a, Part b) {
        Part q = {gpu_join_max::of(a.most, b.most), 0};
        if (reduce_finite(q.most)) q.sum = a.sum * gpu_exp(a.most - q.most) + b.sum * gpu_exp(b.most - q.most);
        return q;
    }
    GPU_FN Part close(State s, i64 n, u32 group, u64 *room) {
        (void)n;
        C most = gpu_group_join<gpu_join_max>(s.most, group, (C *)room);
        bool finite = reduce_finite((f64)most);
        s.sum = finite ? s.sum * (f64)reduce_exp(s.most - most) : 0;
        Part q = {(f64)most, gpu_group_join<gpu_join_add>(s.sum, group, (f64 *)room)};
        return q;
    }
    GPU_FN void pack(Part q, u64 *w) {
        w[0] = reduce_word(q.most);
        w[1] = reduce_word(q.sum);
    }
    GPU_FN Part unpack(const u64 *w) {
        Part q = {gpu_bits<f64>(w[0]), gpu_bits<f64>(w[1])};
        return q;
    }
    GPU_FN u64 result(Part q, const struct gpu_reduce_end &end) {
        (void)end;
        return gpu_bits<u64>(reduce_finite(q.most) ? q.most + gpu_log(q.sum) : q.most);
    }
};

/* ---- powers: of |x| / most, where an earlier reduction found what `most` of the line is, the greatest magnitude for
 * orders above 0 and the least for others ---- */

struct reduce_scaled_powers {
    f64 most, sum; /* the sum is void when `most` is 0, infinite or NaN: then `most` is the norm */
};

template <typename T> struct reduce_powers : reduce_each<reduce_powers<T>> {
    typedef typename gpu_compute<T>::type C;
    struct State {
        C most;
        f64 sum;
    };
    typedef reduce_scaled_powers Part;
    enum { WORDS = 1, SLOW = 1 };
    GPU_FN State start(void) { return {0, 0}; }
    template <int N> GPU_FN void several(State &s, const T *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        (void)at, (void)step;
        GPU_NO_UNROLL for (int i = 0; i < N; i++) {
            C x = gpu_up(v[0]);
            GPU_UNROLL for (int k = 1; k < N; k++)
                if (i == k) x = gpu_up(v[k]);
            s.sum += (f64)gpu_pow(gpu_fabs(x) / s.most, (C)end.order);
        }
    }
    GPU_FN Part part(State s) { return {(f64)s.most, s.sum}; }
    GPU_FN Part of(Part a, Part b) { return {gpu_join_max::of(a.most, b.most), a.sum + b.sum}; }
    GPU_FN Part close(State s, i64 n, u32 group, u64 *room) {
        (void)n;
        return {(f64)s.most, gpu_group_join<gpu_join_add>(s.sum, group, (f64 *)room)};
    }
    GPU_FN void pack(Part q, u64 *w) { w[0] = reduce_word(q.sum); }
    GPU_FN Part unpack(const u64 *w) { return {0, gpu_bits<f64>(w[0])}; }
    /* The root is left to reduce_join, which takes parts of this kind even where lines are one segment: one power less
     * in the kernels that have many. */
    GPU_FN u64 result(Part q, const struct gpu_reduce_end &end) {
        (void)end;
        return gpu_bits<u64>(q.sum);
    }
};
struct reduce_powers_root : reduce_powers<f64> {
    GPU_FN u64 result(Part q, const struct gpu_reduce_end &end) {
        bool usable = reduce_finite(q.most) && q.most != 0;
        return gpu_bits<u64>(usable ? q.most * gpu_pow(q.sum, 1 / end.order) : q.most);
    }
};

/* What a thread begins a line with. */
template <typename K> struct reduce_begin {
    GPU_FN typename K::State of(const struct gpu_reduce_end &, i64) { return K::start(); }
};
template <typename T> struct reduce_begin<reduce_powers<T>> {
    GPU_FN typename reduce_powers<T>::State of(const struct gpu_reduce_end &end, i64 line) {
        return {(typename gpu_compute<T>::type)end.most[line], 0};
    }
};
template <> struct reduce_begin<reduce_powers_root> : reduce_begin<reduce_powers<f64>> {};

#endif
