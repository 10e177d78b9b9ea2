/* Questions about one or two tensors, answered by 0 and 1 as u8; and choice between two tensors by a third. */
#include "elementwise.h"

#include "binary.h"

#define CASE(name, answer)                                                                                             \
    case GPU_QUESTION_##name:                                                                                          \
        GPU_UNROLL for (int s = 0; s < S; s++) {                                                                       \
            C x = a[s], y = b[s];                                                                                      \
            (void)y;                                                                                                   \
            r[s] = answer;                                                                                             \
        }                                                                                                              \
        break;

template <int IS_FLOAT> struct questions {
    template <typename C, int S> GPU_FN void answer(u8 (&r)[S], const C (&a)[S], const C (&b)[S], u32 op) {
        switch (op) {
            GPU_QUESTIONS(CASE)
        default: break;
        }
    }
};
template <> struct questions<1> {
    template <typename C, int S> GPU_FN void answer(u8 (&r)[S], const C (&a)[S], const C (&b)[S], u32 op) {
        switch (op) {
            GPU_QUESTIONS(CASE)
            GPU_FLOAT_QUESTIONS(CASE)
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
            u64 at = (tile * (GPU_BLOCK * S / E) + (u32)(k * GPU_BLOCK) + gpu_thread()) * E;
            truth[k] = gpu_load_pack<u8, E>((const u8 *)p.walk.in[2] + at);
            x[k] = gpu_load_pack<T, E>((const T *)p.walk.in[0] + at);
            y[k] = gpu_load_pack<T, E>((const T *)p.walk.in[1] + at);
        }
        GPU_UNROLL for (int s = 0; s < S; s++) a[s] = truth[s / E].v[s % E] ? x[s / E].v[s % E] : y[s / E].v[s % E];
        gpu_put<E, S>(a, p.walk, tile);
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
