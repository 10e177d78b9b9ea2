/* Questions about one or two tensors, answered by 0 and 1 as u8; and choice between two tensors by a third. */
#include "elementwise.h"

#include "binary.h"

#define CASE(name, answer)                                                                                             \
    case GPU_OP_##name:                                                                                                \
        GPU_UNROLL for (int s = 0; s < S; s++) {                                                                       \
            C x = a[s], y = b[s];                                                                                      \
            (void)y;                                                                                                   \
            r[s] = answer;                                                                                             \
        }                                                                                                              \
        break;

#define ANSWER_eq x == y
#define ANSWER_ne x != y
#define ANSWER_lt x < y
#define ANSWER_le x <= y
#define ANSWER_gt x > y
#define ANSWER_ge x >= y
#define ANSWER_logical_and x != 0 && y != 0
#define ANSWER_logical_or x != 0 || y != 0
#define ANSWER_logical_xor (x != 0) != (y != 0)
#define ANSWER_logical_not x == 0
#define ANSWER_isnan x != x
#define ANSWER_isinf x - x != 0 && x == x
#define ANSWER_isfinite x - x == 0

/* Questions about one operand take it as both. */
#define ALL_CASE_ALL(name) CASE(name, ANSWER_##name)
#define ALL_CASE_FLOATS(name)
#define FLOAT_CASE_ALL(name) CASE(name, ANSWER_##name)
#define FLOAT_CASE_FLOATS(name) CASE(name, ANSWER_##name)

template <int IS_FLOAT> struct questions {
    template <typename C, int S> GPU_FN void answer(u8 (&r)[S], const C (&a)[S], const C (&b)[S], u32 op) {
        switch (op) {
#define WICK__COMPARISON(number, name, dtypes, ...) ALL_CASE_##dtypes(name)
#define WICK__QUESTION(number, name, dtypes, ...) ALL_CASE_##dtypes(name)
#include "elementwise_ops.h"
        default: break;
        }
    }
};
template <> struct questions<1> {
    template <typename C, int S> GPU_FN void answer(u8 (&r)[S], const C (&a)[S], const C (&b)[S], u32 op) {
        switch (op) {
#define WICK__COMPARISON(number, name, dtypes, ...) FLOAT_CASE_##dtypes(name)
#define WICK__QUESTION(number, name, dtypes, ...) FLOAT_CASE_##dtypes(name)
#include "elementwise_ops.h"
        default: break;
        }
    }
};

template <typename T> GPU_FN void compare(const struct gpu_binary &p) {
    typedef typename gpu_compute<T>::type C;
    enum { E = GPU_CHUNK(sizeof(T)), S = GPU_SLOTS_OF_MANY(sizeof(T)) };
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    T q[S];
    C a[S], b[S];
    u8 r[S];
    gpu_fetch<E, S>(q, p.walk, 0, tile);
    GPU_UNROLL for (int s = 0; s < S; s++) a[s] = gpu_up(q[s]);
    gpu_fetch<E, S>(q, p.walk, 1, tile);
    GPU_UNROLL for (int s = 0; s < S; s++) b[s] = gpu_up(q[s]);
    questions<gpu_is_float<C>::value>::answer(r, a, b, p.op);
    gpu_put<E, S>(r, p.walk, tile);
}
#define COMPARE(T)                                                                                                     \
    GPU_KERNEL(compare_##T, struct gpu_binary) { compare<T>(p); }
GPU_ALL(COMPARE)

GPU_FN bool within(const struct gpu_limit &p, f32 x) { return x >= (f32)p.f_low && x <= (f32)p.f_high; }
GPU_FN bool within(const struct gpu_limit &p, f64 x) { return x >= p.f_low && x <= p.f_high; }
template <typename C> GPU_FN bool within(const struct gpu_limit &p, C x) { return x >= (C)p.i_low && x <= (C)p.i_high; }

template <typename T> GPU_FN void limit(const struct gpu_limit &p) {
    enum { E = GPU_CHUNK(sizeof(T)), S = GPU_SLOTS_OF_MANY(sizeof(T)) };
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    T q[S];
    u8 r[S];
    gpu_fetch<E, S>(q, p.walk, 0, tile);
    GPU_UNROLL for (int s = 0; s < S; s++) r[s] = within(p, gpu_up(q[s])) != (p.others != 0);
    gpu_put<E, S>(r, p.walk, tile);
}
#define LIMIT(T)                                                                                                       \
    GPU_KERNEL(limit_##T, struct gpu_limit) { limit<T>(p); }
GPU_ALL(LIMIT)

/* 0x80 in each byte that is not 0. */
GPU_FN u32 truth_of(u32 bytes) { return (((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes) & 0x80808080u; }

/* x where the truth of an element is not 0, else y: E elements of one chunk. Those of fewer than 32 bits are chosen a
 * word at a time, by masks. */
template <typename T, int E>
GPU_FN gpu_pack<T, E> choose_pack(const gpu_pack<u8, E> &truth, const gpu_pack<T, E> &x, const gpu_pack<T, E> &y) {
    gpu_pack<T, E> r;
    GPU_UNROLL for (int e = 0; e < E; e++) r.v[e] = truth.v[e] ? x.v[e] : y.v[e];
    return r;
}
GPU_FN gpu_pack<u8, 16> choose_pack(const gpu_pack<u8, 16> &truth, const gpu_pack<u8, 16> &x, const gpu_pack<u8, 16> &y) {
    gpu_16 t = gpu_bits<gpu_16>(truth), a = gpu_bits<gpu_16>(x), b = gpu_bits<gpu_16>(y);
    GPU_UNROLL for (int w = 0; w < 4; w++) {
        u32 mask = (truth_of(t.word[w]) >> 7) * 0xffu;
        a.word[w] = (a.word[w] & mask) | (b.word[w] & ~mask);
    }
    return gpu_bits<gpu_pack<u8, 16>>(a);
}
GPU_FN gpu_pack<u16, 8> choose_pack(const gpu_pack<u8, 8> &truth, const gpu_pack<u16, 8> &x, const gpu_pack<u16, 8> &y) {
    u64 both = gpu_bits<u64>(truth);
    gpu_16 a = gpu_bits<gpu_16>(x), b = gpu_bits<gpu_16>(y);
    GPU_UNROLL for (int w = 0; w < 4; w++) {
        u32 t = truth_of((u32)(both >> (32 * (w / 2)))) >> (w % 2 ? 23 : 7);
        u32 mask = ((t & 1) | (t << 8 & 0x10000u)) * 0xffffu;
        a.word[w] = (a.word[w] & mask) | (b.word[w] & ~mask);
    }
    return gpu_bits<gpu_pack<u16, 8>>(a);
}

template <typename T> GPU_FN void choose(const struct gpu_where &p) {
    enum { E = GPU_CHUNK(sizeof(T)), S = GPU_SLOTS_OF_MANY(sizeof(T)) };
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    T a[S], b[S];
    bool c[S];
    if (p.condition == 1 && !p.immediate && gpu_walk_straight<S>(p.walk, tile)) {
        /* The loads of all three before the first is used. */
        gpu_pack<T, E> x[S / E], y[S / E];
        gpu_pack<u8, E> truth[S / E];
        GPU_UNROLL for (int k = 0; k < S / E; k++) {
            u64 at = gpu_straight_at<E, S>(tile, k);
            truth[k] = gpu_load_pack<u8, E>((const u8 *)p.walk.in[2] + at);
            x[k] = gpu_load_pack<T, E>((const T *)p.walk.in[0] + at);
            y[k] = gpu_load_pack<T, E>((const T *)p.walk.in[1] + at);
        }
        GPU_UNROLL for (int k = 0; k < S / E; k++) {
            u64 at = gpu_straight_at<E, S>(tile, k);
            gpu_store_pack((T *)p.walk.out + at, choose_pack(truth[k], x[k], y[k]));
        }
        return;
    }
    gpu_fetch<E, S>(b, p.walk, 1, tile);
    if (p.immediate)
        GPU_UNROLL for (int s = 0; s < S; s++) a[s] = (T)p.value;
    else
        gpu_fetch<E, S>(a, p.walk, 0, tile);
    if (p.condition == 1) {
        u8 bytes[S];
        gpu_fetch<E, S>(bytes, p.walk, 2, tile);
        GPU_UNROLL for (int s = 0; s < S; s++) c[s] = bytes[s] != 0;
    } else {
        gpu_fetch_truth<E, S>(c, p.walk, 2, p.condition, tile);
    }
    GPU_UNROLL for (int s = 0; s < S; s++) a[s] = c[s] ? a[s] : b[s];
    gpu_put<E, S>(a, p.walk, tile);
}
GPU_KERNEL(where_b1, struct gpu_where) { choose<u8>(p); }
GPU_KERNEL(where_b2, struct gpu_where) { choose<u16>(p); }
GPU_KERNEL(where_b4, struct gpu_where) { choose<u32>(p); }
GPU_KERNEL(where_b8, struct gpu_where) { choose<u64>(p); }
