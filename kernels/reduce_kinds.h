/* The kinds of reductions, for an element type T each. A kind K has
 *
 *   State                      what a thread gathers; start() is one of nothing
 *   several<N>(state, v, at, step, end)   takes in N elements, number at, at + step, ... of the line
 *   vectors<A>(state, u, at, step, end)   takes in A vectors, the first elements of which are number at, at + step, ...
 *   Part, part(state)          what that comes to; of(a, b) joins two, a of elements in front of those of b
 *   close(state, n, group, room)   the part of a group's n elements, in every thread
 *   pack, unpack               a part as WORDS words
 *   SLOW                       whether it takes much code for an element: fewer are then in flight
 *   result(part, end)          the word to store: the bits of an f64, or an integer */
#ifndef WICK_KERNELS_REDUCE_KINDS_H
#define WICK_KERNELS_REDUCE_KINDS_H

#include "dtype.h"
#include "reduce.h"
#include "wave.h"

template <int SIZE> struct gpu_unsigned;
template <> struct gpu_unsigned<1> { typedef u8 type; };
template <> struct gpu_unsigned<2> { typedef u16 type; };
template <> struct gpu_unsigned<4> { typedef u32 type; };
template <> struct gpu_unsigned<8> { typedef u64 type; };

/* (x & mask) ^ flip on the bits of x. */
template <typename T> GPU_FN T reduce_masked(T x, u64 mask, u64 flip) {
    typedef typename gpu_unsigned<sizeof(T)>::type U;
    return gpu_bits<T>((U)((gpu_bits<U>(x) & (U)mask) ^ (U)flip));
}

/* The same of a vector, by words. */
template <typename T> GPU_FN gpu_vec<T> reduce_masked_vector(gpu_vec<T> v, u64 mask, u64 flip) {
    u32 low = sizeof(T) == 1 ? 0x1010101u : sizeof(T) == 2 ? 0x10001u : 1;
    u32 mask_low = (u32)(typename gpu_unsigned<sizeof(T) == 8 ? 4 : sizeof(T)>::type)mask * low;
    u32 flip_low = (u32)(typename gpu_unsigned<sizeof(T) == 8 ? 4 : sizeof(T)>::type)flip * low;
    gpu_16 words = gpu_bits<gpu_16>(v);
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        bool high = sizeof(T) == 8 && i % 2;
        words.word[i] =
            (words.word[i] & (high ? (u32)(mask >> 32) : mask_low)) ^ (high ? (u32)(flip >> 32) : flip_low);
    }
    return gpu_bits<gpu_vec<T>>(words);
}

GPU_FN u64 reduce_word(f64 x) { return gpu_bits<u64>(x); }
GPU_FN u64 reduce_word(u64 x) { return x; }
GPU_FN u64 reduce_word(u32 x) { return x; }
GPU_FN void reduce_unword(f64 *x, u64 word) { *x = gpu_bits<f64>(word); }
GPU_FN void reduce_unword(u64 *x, u64 word) { *x = word; }
GPU_FN void reduce_unword(u32 *x, u64 word) { *x = (u32)word; }

GPU_FN bool reduce_finite(f64 x) { return x - x == 0; }
/* e^x, within (2 + |x|) 2^-23 of itself in f32. */
GPU_FN f32 reduce_exp(f32 x) { return gpu_exp2(x * 1.44269504088896340736f); }
GPU_FN f64 reduce_exp(f64 x) { return gpu_exp(x); }

/* What kinds whose state is one value S have in common. */
template <typename S> struct reduce_simple {
    typedef S State;
    typedef S Part;
    enum { WORDS = 1, SLOW = 0 };
    GPU_FN Part part(State s) { return s; }
    GPU_FN void pack(Part q, u64 *w) { w[0] = reduce_word(q); }
    GPU_FN Part unpack(const u64 *w) {
        Part q;
        reduce_unword(&q, w[0]);
        return q;
    }
};

/* Vectors one by one, for kinds that have no better way. */
template <typename K> struct reduce_each {
    template <int A, typename S, typename T>
    GPU_FN void vectors(S &s, const gpu_vec<T> (&u)[A], i64 at, i64 step, const struct gpu_reduce_end &end) {
        GPU_UNROLL for (int k = 0; k < A; k++)
            K::template several<gpu_vec<T>::N>(s, u[k].v, at + k * step, 1, end);
    }
};

/* The elements of A vectors, (x & mask) ^ flip, in the type they are computed in. */
template <int A, typename T>
GPU_FN void reduce_up(const gpu_vec<T> (&u)[A], u64 mask, u64 flip, typename gpu_compute<T>::type *c) {
    enum { N = gpu_vec<T>::N };
    GPU_UNROLL for (int k = 0; k < A; k++) {
        gpu_vec<T> v = reduce_masked_vector(u[k], mask, flip);
        typename gpu_compute<T>::type up[N];
        gpu_up_vector(v, up);
        GPU_UNROLL for (int i = 0; i < N; i++) c[k * N + i] = up[i];
    }
}

/* ---- integers: U is the type without sign of their size, A that which they are gathered in ---- */

template <typename U> struct reduce_gather { typedef u32 type; };
template <> struct reduce_gather<u64> { typedef u64 type; };

template <typename U, typename A, typename J> struct reduce_integers : reduce_simple<A>, J {
    GPU_FN A close(A s, i64 n, u32 group, u64 *room) {
        (void)n;
        return gpu_group_join<J>(s, group, (A *)room);
    }
    GPU_FN u64 result(A q, const struct gpu_reduce_end &end) {
        (void)end;
        return q;
    }
};

struct reduce_join_multiply {
    template <typename T> GPU_FN T of(T a, T b) { return a * b; }
};

template <typename U> struct reduce_int_sum
    : reduce_integers<U, typename reduce_gather<U>::type, gpu_join_add>, reduce_each<reduce_int_sum<U>> {
    typedef typename reduce_gather<U>::type A;
    GPU_FN A start(void) { return 0; }
    template <int N> GPU_FN void several(A &s, const U *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        (void)at, (void)step, (void)end;
        GPU_UNROLL for (int i = 0; i < N; i++) s += v[i];
    }
};

template <typename U> struct reduce_int_prod
    : reduce_integers<U, typename reduce_gather<U>::type, reduce_join_multiply>, reduce_each<reduce_int_prod<U>> {
    typedef typename reduce_gather<U>::type A;
    GPU_FN A start(void) { return 1; }
    template <int N> GPU_FN void several(A &s, const U *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        (void)at, (void)step, (void)end;
        GPU_UNROLL for (int i = 0; i < N; i++) s *= v[i];
    }
};

template <typename U> struct reduce_int_extreme
    : reduce_integers<U, typename reduce_gather<U>::type, gpu_join_max>, reduce_each<reduce_int_extreme<U>> {
    typedef typename reduce_gather<U>::type A;
    GPU_FN A start(void) { return 0; }
    template <int N> GPU_FN void several(A &s, const U *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        (void)at, (void)step;
        GPU_UNROLL for (int i = 0; i < N; i++) {
            A x = (U)(v[i] ^ (U)end.flip);
            s = x > s ? x : s;
        }
    }
    GPU_FN u64 result(A q, const struct gpu_reduce_end &end) { return q ^ (A)end.flip; }
};

template <typename U> struct reduce_count : reduce_integers<U, u64, gpu_join_add>, reduce_each<reduce_count<U>> {
    GPU_FN u64 start(void) { return 0; }
    template <int N> GPU_FN void several(u64 &s, const U *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        u32 n = 0;
        (void)at, (void)step;
        GPU_UNROLL for (int i = 0; i < N; i++) {
            U x = (U)(v[i] & (U)end.mask);
            n += (u32)(x < 1 ? x : 1); /* the lesser of both: AMD has few registers for comparisons */
        }
        s += n;
    }
    GPU_FN u64 result(u64 q, const struct gpu_reduce_end &end) {
        return end.finish == GPU_FINISH_ANY   ? q > 0
               : end.finish == GPU_FINISH_ALL ? q == (u64)end.terms
                                              : gpu_bits<u64>((f64)q);
    }
};

/* ---- the place of an extreme; C is what is compared ---- */

template <typename C> struct reduce_best {
    C value;
    u32 at; /* ~0u: nothing better than the start was seen */
};

GPU_FN void reduce_least(f32 *x) { *x = -gpu_bits<f32>(0x7f800000u); }
GPU_FN void reduce_least(f64 *x) { *x = -gpu_bits<f64>(0x7ff0000000000000ull); }
GPU_FN void reduce_least(u32 *x) { *x = 0; }
GPU_FN void reduce_least(u64 *x) { *x = 0; }

/* What elements are compared as: without sign in a word, or in the type that floats are computed in. */
GPU_FN u32 reduce_key(u8 x) { return x; }
GPU_FN u32 reduce_key(u16 x) { return x; }
template <typename T> GPU_FN typename gpu_compute<T>::type reduce_key(T x) { return gpu_up(x); }

/* The greatest of each vector, as keys; NaN if there is one. */
template <typename T, int A, typename C> GPU_FN void reduce_tops(const gpu_vec<T> (&v)[A], C (&top)[A]) {
    enum { N = gpu_vec<T>::N };
    GPU_UNROLL for (int k = 0; k < A; k++) {
        C key[N];
        GPU_UNROLL for (int i = 0; i < N; i++) key[i] = reduce_key(v[k].v[i]);
        top[k] = gpu_tree<N>::template of<gpu_join_max>(key);
    }
}
#if defined(GPU_MAX_PAIRS)
/* Two at a time. */
template <typename T> GPU_FN f32 reduce_top_of_pairs(const gpu_vec<T> &v) {
    gpu_16 x = gpu_bits<gpu_16>(v);
    u32 most = gpu_max_pair(v.v[0], gpu_max_pair(v.v[0], x.word[0], x.word[1]),
                            gpu_max_pair(v.v[0], x.word[2], x.word[3]));
    T low, high;
    low.bits = (u16)most;
    high.bits = (u16)(most >> 16);
    return gpu_join_max::of(gpu_up(low), gpu_up(high));
}
template <int A> GPU_FN void reduce_tops(const gpu_vec<bf16> (&v)[A], f32 (&top)[A]) {
    GPU_UNROLL for (int k = 0; k < A; k++) top[k] = reduce_top_of_pairs(v[k]);
}
template <int A> GPU_FN void reduce_tops(const gpu_vec<f16> (&v)[A], f32 (&top)[A]) {
    GPU_UNROLL for (int k = 0; k < A; k++) top[k] = reduce_top_of_pairs(v[k]);
}
#endif

template <typename T, typename C> struct reduce_arg {
    typedef reduce_best<C> State;
    typedef reduce_best<C> Part;
    enum { WORDS = 2, SLOW = 0 };
    GPU_FN State start(void) {
        State s;
        reduce_least(&s.value);
        s.at = ~0u;
        return s;
    }
    /* Greater, or the first NaN. */
    GPU_FN bool beats(C a, C b) { return a > b || (a != a && b == b); }
    /* Single elements may come after those that they stand in front of. */
    GPU_FN bool settled(const State &s, C best, i64 at) {
        return !beats(best, s.value) && ((u32)at >= s.at || beats(s.value, best));
    }
    template <int N> GPU_FN void several(State &s, const T *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        C key[N];
        GPU_UNROLL for (int i = 0; i < N; i++) key[i] = reduce_key(reduce_masked(v[i], ~0ull, end.flip));
        C best = gpu_tree<N>::template of<gpu_join_max>(key);
        if (settled(s, best, at)) return;
        u32 first = 0;
        GPU_UNROLL for (int i = N - 1; i >= 0; i--)
            if (key[i] == best || key[i] != key[i]) first = (u32)i;
        s.value = best;
        s.at = (u32)at + first * (u32)step;
    }
    /* Which vector it is comes first, then where in that. */
    template <int A>
    GPU_FN void vectors(State &s, const gpu_vec<T> (&u)[A], i64 at, i64 step, const struct gpu_reduce_end &end) {
        enum { N = gpu_vec<T>::N };
        gpu_vec<T> v[A];
        C top[A];
        GPU_UNROLL for (int k = 0; k < A; k++) v[k] = reduce_masked_vector(u[k], ~0ull, end.flip);
        reduce_tops(v, top);
        C best = gpu_tree<A>::template of<gpu_join_max>(top);
        if (settled(s, best, at)) return;
        gpu_vec<T> chosen = v[A - 1];
        u32 number = A - 1, first = N - 1;
        GPU_UNROLL for (int k = A - 2; k >= 0; k--)
            if (top[k] == best || top[k] != top[k]) {
                chosen = v[k];
                number = (u32)k;
            }
        GPU_UNROLL for (int i = N - 2; i >= 0; i--) {
            C key = reduce_key(chosen.v[i]);
            if (key == best || key != key) first = (u32)i;
        }
        s.value = best;
        s.at = (u32)at + number * (u32)step + first;
    }
    GPU_FN Part part(State s) { return s; }
    GPU_FN Part of(Part a, Part b) {
        if (beats(b.value, a.value)) return b;
        if (!beats(a.value, b.value) && b.at < a.at) return b;
        return a;
    }
    GPU_FN Part close(State s, i64 n, u32 group, u64 *room) {
        (void)n;
        return gpu_group_join<reduce_arg>(s, group, (State *)room);
    }
    GPU_FN void pack(Part q, u64 *w) {
        w[0] = reduce_word(q.value);
        w[1] = q.at;
    }
    GPU_FN Part unpack(const u64 *w) {
        Part q;
        reduce_unword(&q.value, w[0]);
        q.at = (u32)w[1];
        return q;
    }
    GPU_FN u64 result(Part q, const struct gpu_reduce_end &end) {
        (void)end;
        return q.at == ~0u ? 0 : q.at; /* nothing is better than the least there is: all are that */
    }
};
GPU_FN u64 reduce_word(f32 x) { return gpu_bits<u64>((f64)x); }
GPU_FN void reduce_unword(f32 *x, u64 word) { *x = (f32)gpu_bits<f64>(word); }

/* ---- floats; elements that are taken together are joined in the type they are computed in, and then in f64 ---- */

template <typename T> struct reduce_sum : reduce_simple<f64>, gpu_join_add {
    GPU_FN f64 start(void) { return 0; }
    template <int N> GPU_FN void several(f64 &s, const T *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        typename gpu_compute<T>::type c[N];
        (void)at, (void)step;
        GPU_UNROLL for (int i = 0; i < N; i++) c[i] = gpu_up(reduce_masked(v[i], end.mask, 0));
        s += (f64)gpu_tree<N>::template of<gpu_join_add>(c);
    }
    /* A tree in f32 over the few bits of small floats rounds next to nothing, and saves conversions to f64. */
    template <int A>
    GPU_FN void vectors(f64 &s, const gpu_vec<T> (&u)[A], i64 at, i64 step, const struct gpu_reduce_end &end) {
        enum { N = gpu_vec<T>::N, TOGETHER = sizeof(T) < 4 ? A * N : N };
        typename gpu_compute<T>::type c[A * N];
        (void)at, (void)step;
        reduce_up(u, end.mask, 0, c);
        GPU_UNROLL for (int i = 0; i < A * N; i += TOGETHER)
            s += (f64)gpu_tree<TOGETHER>::template of<gpu_join_add>(c + i);
    }
    GPU_FN f64 close(f64 s, i64 n, u32 group, u64 *room) {
        (void)n;
        return gpu_group_join<gpu_join_add>(s, group, (f64 *)room);
    }
    GPU_FN u64 result(f64 q, const struct gpu_reduce_end &end) {
        return gpu_bits<u64>(end.finish == GPU_FINISH_MEAN ? q / (f64)end.terms : q);
    }
};

template <typename T> struct reduce_extreme : reduce_simple<f64>, gpu_join_max {
    typedef typename gpu_compute<T>::type C;
    typedef C State;
    GPU_FN C start(void) {
        C least;
        reduce_least(&least);
        return least;
    }
    template <int N> GPU_FN void several(C &s, const T *v, i64 at, i64 step, const struct gpu_reduce_end &end) {
        C c[N];
        (void)at, (void)step;
        GPU_UNROLL for (int i = 0; i < N; i++) c[i] = gpu_up(reduce_masked(v[i], end.mask, end.flip));
        s = gpu_join_max::of(s, gpu_tree<N>::template of<gpu_join_max>(c));
    }
    template <int A>
    GPU_FN void vectors(C &s, const gpu_vec<T> (&u)[A], i64 at, i64 step, const struct gpu_reduce_end &end) {
        gpu_vec<T> v[A];
        C top[A];
        (void)at, (void)step;
        GPU_UNROLL for (int k = 0; k < A; k++) v[k] = reduce_masked_vector(u[k], end.mask, end.flip);
        reduce_tops(v, top);
        s = gpu_join_max::of(s, gpu_tree<A>::template of<gpu_join_max>(top));
    }
    GPU_FN f64 part(C s) { return (f64)s; }
    GPU_FN f64 close(C s, i64 n, u32 group, u64 *room) {
        (void)n;
        return (f64)gpu_group_join<gpu_join_max>(s, group, (C *)room);
    }
    /* The sign is turned back, if it was turned: the highest bit of `flip`, whatever the dtype's size. */
    GPU_FN u64 result(f64 q, const struct gpu_reduce_end &end) {
        return gpu_bits<u64>(q) ^ (end.flip ? 0x8000000000000000ull : 0);
    }
};

#include "reduce_sums.h"

#endif
