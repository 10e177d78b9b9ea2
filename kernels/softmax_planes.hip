/* Softmax across memory where lines are few and long: a block takes a plane, and reads it three times, of which a cache
 * has the last two. */
#include "planes.h"
#include "reduce_body.h"
#include "softmax_planes.h"

/* What a block shares. */
template <typename C, int N> struct planes_room {
    C places[GPU_SOFTMAX_THREADS * N], ends[2 * N], lines[GPU_SOFTMAX_PLANES_WIDTH];
};

/* A thread's part of a plane: every `step`th vector from its own on, and up to one element that is in none. */
struct planes_place {
    u32 head, vectors, rest; /* elements before the first vector; vectors; elements that are in none */
    u32 first, end;          /* the first vector; the element, there if this thread's number < rest */
};

template <typename T> GPU_FN planes_place planes_place_of(const struct gpu_softmax_planes &p, const T *x) {
    enum { N = gpu_vec<T>::N };
    planes_place at;
    u32 mine = gpu_thread();
    at.head = (u32)((16 - ((u64)x & 15)) % 16 / sizeof(T));
    at.vectors = (p.n - at.head) / N;
    at.rest = p.n - at.vectors * N;
    at.first = mine < p.step ? mine : at.vectors;
    at.end = mine < at.head ? mine : mine + at.vectors * N;
    return at;
}

/* What all threads have of each line, joined, for the lines of this thread's places and of its end. */
template <typename J, typename C, int N>
GPU_FN void planes_all(const struct gpu_softmax_planes &p, const planes_place &at, C (&v)[N], C *end,
                       planes_room<C, N> &room) {
    u32 mine = gpu_thread(), width = p.width;
    if (mine < p.step)
        GPU_UNROLL for (int i = 0; i < N; i++) room.places[mine * N + i] = v[i];
    if (mine < at.rest) room.ends[mine] = *end;
    gpu_sync();
    gpu_planes_join<J>(room.places, p.step * N, width);
    if (mine < width) {
        u32 line = (at.head + mine) % width, behind = (at.head + at.vectors * N) % width;
        C q = room.places[mine];
        GPU_NO_UNROLL for (u32 i = line; i < at.head; i += width) q = J::of(q, room.ends[i]);
        GPU_NO_UNROLL for (u32 i = at.head + (line + width - behind) % width; i < at.rest; i += width)
            q = J::of(q, room.ends[i]);
        room.lines[line] = q;
    }
    gpu_sync();
    u32 line = (at.head + mine * N) % width;
    GPU_UNROLL for (int i = 0; i < N; i++) {
        v[i] = room.lines[line];
        line = line + 1 < width ? line + 1 : 0;
    }
    *end = room.lines[at.end % width];
}

/* Some of a thread's vectors, from v on; behind the last one, v again. */
template <typename T, int ROWS>
GPU_FN void planes_load(gpu_vec<T> (&rows)[ROWS], const T *x, u32 v, u32 step, u32 vectors) {
    GPU_UNROLL for (u32 k = 0; k < ROWS; k++)
        rows[k] = gpu_load16(x + (v + k * step < vectors ? v + k * step : v) * gpu_vec<T>::N);
}

template <typename T, int N, typename C>
GPU_FN void planes_write(const struct gpu_softmax_planes &p, const planes_place &at, const T *x, T *out,
                         const C (&top)[N], const C (&scale)[N]) {
    enum { ROWS = 4 };
    GPU_NO_UNROLL for (u32 v = at.first; v < at.vectors; v += ROWS * p.step) {
        gpu_vec<T> rows[ROWS];
        planes_load(rows, x, v, p.step, at.vectors);
        GPU_UNROLL for (u32 k = 0; k < ROWS; k++) {
            if (v + k * p.step >= at.vectors) continue;
            C c[N];
            gpu_up_vector(rows[k], c);
            GPU_UNROLL for (int i = 0; i < N; i++) c[i] -= top[i];
            if (p.log) {
                GPU_UNROLL for (int i = 0; i < N; i++) c[i] -= scale[i];
            } else {
                GPU_UNROLL for (int i = 0; i < N; i++) c[i] = reduce_exp(c[i]) * scale[i];
            }
            gpu_down_vector(&rows[k], c);
            gpu_store16(out + (v + k * p.step) * N, rows[k]);
        }
    }
}

template <typename T, typename C, int N>
GPU_FN void softmax_planes(const struct gpu_softmax_planes &p, planes_room<C, N> &room) {
    enum { ROWS = GPU_WAVE == 64 ? 2 : 4 }; /* for want of scalar registers, the bits are the same */
    i64 plane = reduce_block();
    if (plane >= p.planes) return;
    const T *x = (const T *)p.in + plane * p.n;
    T *out = (T *)p.out + plane * p.n;
    planes_place at = planes_place_of(p, x);
    bool has_end = gpu_thread() < at.rest;
    C top[N], sum[N], c[N], end, end_top, end_sum;
    gpu_vec<T> rows[ROWS];
    reduce_least(&end);
    if (has_end) end = gpu_up(x[at.end]);
    GPU_UNROLL for (int i = 0; i < N; i++) reduce_least(&top[i]);
    GPU_NO_UNROLL for (u32 v = at.first; v < at.vectors; v += ROWS * p.step) {
        planes_load(rows, x + at.head, v, p.step, at.vectors);
        GPU_UNROLL for (int k = 0; k < ROWS; k++) {
            gpu_up_vector(rows[k], c);
            GPU_UNROLL for (int i = 0; i < N; i++) top[i] = gpu_join_max::of(top[i], c[i]);
        }
    }
    end_top = end;
    planes_all<gpu_join_max>(p, at, top, &end_top, room);
    GPU_UNROLL for (int i = 0; i < N; i++) sum[i] = 0;
    GPU_NO_UNROLL for (u32 v = at.first; v < at.vectors; v += ROWS * p.step) {
        planes_load(rows, x + at.head, v, p.step, at.vectors);
        GPU_UNROLL for (int k = 0; k < ROWS; k++) {
            gpu_up_vector(rows[k], c);
            if (v + (u32)k * p.step < at.vectors)
                GPU_UNROLL for (int i = 0; i < N; i++) sum[i] += reduce_exp(c[i] - top[i]);
        }
    }
    end_sum = has_end ? reduce_exp(end - end_top) : 0;
    planes_all<gpu_join_add>(p, at, sum, &end_sum, room);
    GPU_UNROLL for (int i = 0; i < N; i++) sum[i] = p.log ? gpu_log(sum[i]) : 1 / sum[i];
    planes_write(p, at, x + at.head, out + at.head, top, sum);
    if (!has_end) return;
    end -= end_top;
    out[at.end] = gpu_round<T>(p.log ? end - gpu_log(end_sum) : reduce_exp(end) / end_sum);
}

#define SOFTMAX_PLANES(T)                                                                                              \
    GPU_KERNEL_OF(softmax_planes_##T, struct gpu_softmax_planes, GPU_SOFTMAX_THREADS, 2) {                             \
        GPU_SHARED planes_room<f32, gpu_vec<T>::N> room;                                                               \
        softmax_planes<T>(p, room);                                                                                    \
    }
SOFTMAX_PLANES(bf16) SOFTMAX_PLANES(f16) SOFTMAX_PLANES(f32)
