/* Reductions of lines that lie along memory and across it, for an element type T and a kind K of reduce_kinds.h. */
#ifndef WICK_KERNELS_REDUCE_BODY_H
#define WICK_KERNELS_REDUCE_BODY_H

#include "layout.h"
#include "reduce_kinds.h"

/* LDS that the kinds share: a part of up to four words for each thread. */
enum { REDUCE_ROOM = GPU_BLOCK * 4 };
/* Blocks on a unit at a time, at least: enough loads in flight for kernels that do nothing else. */
#define REDUCE_BLOCKS(T) (sizeof(T) == 1 ? 3 : 4)

/* The number of this block in a grid of x and y: reductions take as many blocks as there is work for. */
GPU_FN i64 reduce_block(void) { return (i64)gpu_block_y() * gpu_blocks_x() + gpu_block_x(); }

template <typename T> struct reduce_is_bf16 {
    enum { value = 0 };
};
template <> struct reduce_is_bf16<bf16> {
    enum { value = 1 };
};

/* Whether rows may begin anywhere, and more are in flight: of floats of 16 and 32 bits, for kinds K of one word and little
 * code. src/gpu/ops/lines.c knows them by is_eager. */
template <typename T, typename K> struct reduce_eager {
    enum {
        FLOAT = gpu_is_float<typename gpu_compute<T>::type>::value && (sizeof(T) == 2 || sizeof(T) == 4),
        value = FLOAT && K::WORDS == 1 && !K::SLOW
    };
};

/* The f32 next to x that is odd unless it is x: rounding that to a smaller float T rounds x but once. It is what f32 has of
 * x's bits, the last one set if there are others. What is subnormal in f32 is 0 but in bf16, and has fewer bits. */
template <typename T> GPU_FN f32 reduce_odd(f64 x) {
    enum { BF16 = reduce_is_bf16<T>::value };
    u64 bits = gpu_bits<u64>(x);
    u32 low = (u32)bits, rest = 0x1fffffff;
    if (BF16 && ((u32)(bits >> 32) & 0x7ff00000u) < 897u << 20) {
        f32 y = (f32)x;
        u32 last = (f64)y != x;
        if (gpu_fabs((f64)y) > gpu_fabs(x)) y = gpu_bits<f32>(gpu_bits<u32>(y) - 1);
        return gpu_bits<f32>(gpu_bits<u32>(y) | last);
    }
    low = (low | ((low & rest) + rest)) & ~rest;
    return (f32)gpu_bits<f64>((bits >> 32 << 32) | low);
}

/* Result number i, the bits of an f64 or an integer, in the result's dtype. */
GPU_FN void reduce_put(const struct gpu_reduce_end &end, i64 i, u64 word) {
    f64 y = gpu_bits<f64>(word);
    switch (end.store) {
    case GPU_STORE_B1: ((u8 *)end.out)[i] = (u8)word; break;
    case GPU_STORE_B2: ((u16 *)end.out)[i] = (u16)word; break;
    case GPU_STORE_B4: ((u32 *)end.out)[i] = (u32)word; break;
    case GPU_STORE_B8: ((u64 *)end.out)[i] = word; break;
    case GPU_STORE_BF16: ((bf16 *)end.out)[i] = gpu_to_bf16(reduce_odd<bf16>(y)); break;
    case GPU_STORE_F16: ((f16 *)end.out)[i] = gpu_to_f16(reduce_odd<f16>(y)); break;
    case GPU_STORE_F32: ((f32 *)end.out)[i] = (f32)y; break;
    case GPU_STORE_F64: ((f64 *)end.out)[i] = y; break;
    default: ((f8e4m3 *)end.out)[i] = gpu_to_f8e4m3(reduce_odd<f8e4m3>(y)); break;
    }
}

/* What a kind leaves for the kernel to store. */
struct reduce_words {
    u64 word[3];
};

template <typename K> GPU_FN void reduce_leave(typename K::Part q, const struct gpu_reduce_end &end, reduce_words *w) {
    if (end.finish == GPU_FINISH_PART)
        K::pack(q, w->word);
    else
        w->word[0] = K::result(q, end);
}

/* Stores what is left, as part or result number i. */
GPU_FN void reduce_store(const struct gpu_reduce_end &end, i64 i, u32 words, const reduce_words &w) {
    if (end.finish != GPU_FINISH_PART) {
        reduce_put(end, i, w.word[0]);
        return;
    }
    u64 *out = (u64 *)end.out + i;
    out[0] = w.word[0];
    if (words > 1) out[end.parts] = w.word[1];
    if (words > 2) out[2 * end.parts] = w.word[2];
}

GPU_FN u32 reduce_kind_words(u32 kind) {
    bool two = kind == GPU_REDUCE_EXPS || kind == GPU_REDUCE_ARG || kind == GPU_REDUCE_PRODUCT;
    return kind == GPU_REDUCE_MOMENTS ? 3 : two ? 2 : 1;
}

/* The offset of element i of a shape; small code, for where it is not often needed. */
GPU_FN i64 reduce_offset(u64 i, const struct gpu_shape &shape, const struct gpu_layout &at) {
    if (shape.rank == 1) return (i64)i * at.stride[0];
    i64 offset = 0;
    GPU_NO_UNROLL for (u32 d = 0; d < shape.rank; d++) {
        u64 rest = shape.narrow ? (u64)gpu_divide((u32)i, shape.divisor[d]) : i / (u64)shape.size[d];
        offset += (i64)(i - rest * (u64)shape.size[d]) * at.stride[d];
        i = rest;
    }
    return offset;
}

/* ---- along memory ---- */

/* n elements side by side, the first number `at` of the line, taken by the lanes of a group: a vector each, some in
 * flight; those before the first whole vector and after the last come one by one, last. */
template <typename T, typename K, int AHEAD>
GPU_FN void reduce_run(const struct gpu_reduce_end &end, const T *x, i64 n, i64 at, u32 lane, typename K::State &s) {
    enum { N = gpu_vec<T>::N };
    u32 group = end.group;
    i64 head = (i64)((16 - ((u64)x & 15)) % 16 / sizeof(T));
    if (head > n) head = n;
    i64 body = (n - head) / N * N, step = (i64)(group * N), left = body / N - lane;
    const T *y = x + head + lane * N;
    i64 here = at + head + lane * N;
    GPU_NO_UNROLL for (; left > (AHEAD - 1) * group; left -= AHEAD * group) {
        gpu_vec<T> u[AHEAD];
        GPU_UNROLL for (int k = 0; k < AHEAD; k++) u[k] = gpu_load16(y + k * step);
        K::template vectors<AHEAD>(s, u, here, step, end);
        y += AHEAD * step;
        here += AHEAD * step;
    }
    /* What is left of them, at once too: where there is no vector the first is loaded again, and not taken. */
    if (left > 0) {
        gpu_vec<T> u[AHEAD > 1 ? AHEAD - 1 : 1];
        GPU_UNROLL for (int k = 0; k < AHEAD - 1; k++) u[k] = gpu_load16(k * group < left ? y + k * step : y);
        GPU_UNROLL for (int k = 0; k < AHEAD - 1; k++) {
            gpu_vec<T> one[1] = {u[k]};
            if (k * group < left) K::template vectors<1>(s, one, here + k * step, step, end);
        }
    }
    GPU_NO_UNROLL for (i64 i = lane; i < n - body; i += group) {
        i64 place = i < head ? i : i + body;
        K::template several<1>(s, x + place, at + place, 1, end);
    }
}

/* Elements i, i + step, ... below `end` of a run, the first of which is number `at` of the line. */
struct reduce_steps {
    i64 i, end, step, at;
};

/* N of them at a time in flight, while there are as many. */
template <typename T, typename K, int N>
GPU_FN void reduce_strided(const struct gpu_reduce_rows &p, const T *y, reduce_steps &r, typename K::State &s) {
    GPU_NO_UNROLL for (; r.i + (N - 1) * r.step < r.end; r.i += N * r.step) {
        T v[N];
        GPU_UNROLL for (int k = 0; k < N; k++) v[k] = y[(r.i + k * r.step) * p.stride];
        K::template several<N>(s, v, r.at + r.i, r.step, p.end);
    }
}

/* Runs run0 .. run1-1, elements i0 .. i1-1 of each. With p.some a thread has an element of each of some runs at once. */
template <typename T, typename K>
GPU_FN void reduce_pieces(const struct gpu_reduce_rows &p, const T *x, i64 run0, i64 run1, i64 i0, i64 i1, u32 lane,
                          typename K::State &s) {
    enum { SOME = 4, EAGER = reduce_eager<T, K>::value };
    u32 across = p.across, down = p.end.group / across;
    i64 run = run0 + lane / across;
    if (EAGER && p.some) {
        i64 i = lane % across < p.inner ? lane % across : 0, pitch = p.outer_at[0].stride[0];
        GPU_NO_UNROLL for (; run + (SOME - 1) * down < run1; run += SOME * down) {
            T v[SOME];
            GPU_UNROLL for (int k = 0; k < SOME; k++) v[k] = x[(run + k * down) * pitch + i * p.stride];
            if (lane % across < p.inner) K::template several<SOME>(s, v, run * p.inner + i, down * p.inner, p.end);
        }
    }
    GPU_NO_UNROLL for (; run < run1; run += down) {
        const T *y = x + reduce_offset((u64)run, p.outer, p.outer_at[0]);
        reduce_steps r = {i0 + lane % across, i1, across, run * p.inner};
        if (EAGER && sizeof(T) == 2) reduce_strided<T, K, 8>(p, y, r, s);
        reduce_strided<T, K, 4>(p, y, r, s);
        reduce_strided<T, K, 1>(p, y, r, s);
    }
}

/* A segment of a line: where its elements are, and how many. */
struct reduce_segment {
    i64 number, run0, run1, i0, i1;
};

GPU_FN reduce_segment reduce_cut(const struct gpu_reduce_rows &p, i64 segment) {
    reduce_segment s = {segment, 0, p.runs, 0, p.inner};
    i64 from;
    if (p.direct) {
        s.run0 = p.splits == 1 ? segment : segment / p.splits;
        s.run1 = s.run0 + 1;
        segment -= s.run0 * p.splits;
    }
    from = segment * p.length;
    if (p.direct || p.runs == 1) {
        s.i0 = from;
        s.i1 = from + p.length < p.inner ? from + p.length : p.inner;
    } else {
        s.run0 = from;
        s.run1 = from + p.length < p.runs ? from + p.length : p.runs;
    }
    return s;
}

template <typename T, typename K>
GPU_FN void reduce_row(const struct gpu_reduce_rows &p, const T *x, i64 line, const reduce_segment &cut, bool live,
                       u64 *room, reduce_words *w) {
    u32 lane = gpu_thread() % p.end.group;
    typedef reduce_careful<K> again;
    typename K::State s = reduce_begin<K>::of(p.end, line);
    if (live && p.direct) {
        i64 at = cut.run0 * p.inner + cut.i0;
        reduce_run<T, K, (sizeof(T) == 1 || K::SLOW ? 2 : 4)>(p.end, x + cut.i0, cut.i1 - cut.i0, at, lane, s);
        if (again::rough(s)) {
            s = K::start();
            reduce_run<T, typename again::type, 1>(p.end, x + cut.i0, cut.i1 - cut.i0, at, lane, s);
        }
    } else if (live) {
        reduce_pieces<T, typename again::type>(p, x, cut.run0, cut.run1, cut.i0, cut.i1, lane, s);
    }
    i64 n = (cut.run1 - cut.run0) * (cut.i1 - cut.i0);
    typename K::Part q = p.end.group == 1 ? K::part(s) : K::close(s, n, p.end.group, room);
    reduce_leave<K>(q, p.end, w);
}

/* REDUCE_ROWS(case KIND: one(...)): the kernel around the kinds. */
#define REDUCE_ROWS(T, cases)                                                                                          \
    GPU_SHARED u64 room[REDUCE_ROOM];                                                                                  \
    u32 per_block = GPU_BLOCK / p.end.group;                                                                           \
    i64 items = p.end.outs * p.end.segments;                                                                           \
    i64 item = reduce_block() * per_block + gpu_thread() / p.end.group;                                            \
    if (reduce_block() * per_block >= items) return;                                                               \
    bool live = item < items;                                                                                          \
    i64 line = !live ? 0 : p.end.segments == 1 ? item : item / p.end.segments;                                         \
    reduce_segment cut = reduce_cut(p, live ? item - line * p.end.segments : 0);                                       \
    const T *x = (const T *)p.in + reduce_offset((u64)line, p.kept, p.kept_at[0]);                                     \
    reduce_words w = {{0, 0, 0}};                                                                                      \
    if (p.direct) x += reduce_offset((u64)cut.run0, p.outer, p.outer_at[0]);                                           \
    switch (p.end.kind) { cases }                                                                                      \
    i64 at = p.end.finish == GPU_FINISH_PART ? line * p.end.part_out + cut.number * p.end.part_segment : line;         \
    if (live && gpu_thread() % p.end.group == 0) reduce_store(p.end, at, reduce_kind_words(p.end.kind), w);
#define REDUCE_ROW(kind, T, K)                                                                                         \
    case kind: reduce_row<T, K<T>>(p, x, line, cut, live, room, &w); break;

/* ---- across memory ---- */

/* Where a thread's columns are, and its rows: first, first + step, ... below `whole` and `rows`, the former of as many
 * elements as a vector has, and `vectors` if they begin at multiples of 16 bytes. */
struct reduce_tile {
    i64 column, first, whole, rows, step;
    bool vectors;
    u64 at_out; /* the result of column 0 */
    i64 split;
};

/* 16 bytes from anywhere, by words that hold some of them. */
template <typename T> GPU_FN gpu_vec<T> reduce_load_words(const T *x) {
    const u32 *from = (const u32 *)((u64)x & ~3ull);
    u32 shift = sizeof(T) < 4 ? ((u32)(u64)x & 3) * 8 : 0, word[5] = {from[0], from[1], from[2], from[3], 0};
    if (shift) word[4] = from[4];
    gpu_16 v;
    GPU_UNROLL for (int i = 0; i < 4; i++) v.word[i] = (u32)(((u64)word[i + 1] << 32 | word[i]) >> shift);
    return gpu_bits<gpu_vec<T>>(v);
}

/* Rows of N columns; in those from `whole` on, only some elements may be there. WORDS: rows may begin anywhere. */
template <typename T, typename K, int N>
GPU_FN void reduce_fall(const struct gpu_reduce_columns &p, const T *x, const reduce_tile &t, typename K::State (&s)[N]) {
    enum { ROWS = N > 8 && K::SLOW ? 1 : N > 8 || K::SLOW ? 2 : 4, WORDS = reduce_eager<T, K>::value };
    i64 r = t.first, whole = WORDS || t.vectors ? t.whole : r;
    GPU_NO_UNROLL for (; r + (ROWS - 1) * t.step < whole; r += ROWS * t.step) {
        gpu_vec<T> rows[ROWS];
        const T *y[ROWS];
        GPU_UNROLL for (int k = 0; k < ROWS; k++)
            y[k] = x + reduce_offset((u64)(r + k * t.step), p.reduced, p.reduced_at[0]);
        if (!WORDS || t.vectors) {
            GPU_UNROLL for (int k = 0; k < ROWS; k++) rows[k] = gpu_load16(y[k]);
        } else {
            GPU_UNROLL for (int k = 0; k < ROWS; k++) rows[k] = reduce_load_words(y[k]);
        }
        GPU_UNROLL for (int i = 0; i < N; i++) {
            T v[ROWS];
            GPU_UNROLL for (int k = 0; k < ROWS; k++) v[k] = rows[k].v[i];
            K::template several<ROWS>(s[i], v, r, t.step, p.end);
        }
    }
    GPU_NO_UNROLL for (; r < t.rows; r += t.step) {
        const T *y = x + reduce_offset((u64)r, p.reduced, p.reduced_at[0]);
        i64 left = p.width - t.column, bound = p.limit - r * p.width - t.column;
        if (bound < left) left = bound;
        gpu_vec<T> row;
        if (r < whole) {
            row = WORDS ? reduce_load_words(y) : gpu_load16(y);
        } else {
            GPU_UNROLL for (int i = 0; i < N; i++)
                if (i < left) row.v[i] = y[i];
        }
        GPU_UNROLL for (int i = 0; i < N; i++)
            if (i < left) K::template several<1>(s[i], row.v + i, r, t.step, p.end);
    }
}

/* The line of a column. */
GPU_FN i64 reduce_line(const struct gpu_reduce_columns &p, const reduce_tile &t, i64 column) {
    return (i64)t.at_out + (p.columns == p.width ? column : column % p.columns) * p.out_stride;
}

/* Joins the threads that have the same columns, and stores. */
template <typename T, typename K, int N>
GPU_FN void reduce_land(const struct gpu_reduce_columns &p, const reduce_tile &t, typename K::State (&s)[N], u64 *room) {
    typedef typename K::Part Part;
    Part *shared = (Part *)room;
    u32 across = p.end.group, number = t.column < p.width ? gpu_thread() % p.threads : p.threads;
    GPU_NO_UNROLL for (int k = 0; k < N; k++) {
        typename K::State mine = s[0];
        GPU_UNROLL for (int i = 1; i < N; i++)
            if (i == k) mine = s[i];
        Part q = K::part(mine);
        if (p.half > 0) {
            shared[gpu_thread()] = q;
            gpu_sync();
        }
        GPU_NO_UNROLL for (u32 half = p.half; half >= across; half /= 2) {
            if (number < half && number + half < p.threads) {
                q = K::of(q, shared[gpu_thread() + half]);
                shared[gpu_thread()] = q;
            }
            gpu_sync();
        }
        i64 column = t.column + k;
        if (number < across && column < p.width) {
            reduce_words w = {{0, 0, 0}};
            i64 fold = p.columns == p.width ? 0 : column / p.columns, at = reduce_line(p, t, column);
            reduce_leave<K>(q, p.end, &w);
            if (p.end.finish == GPU_FINISH_PART)
                at = at * p.end.part_out + (t.split + fold * p.splits) * p.end.part_segment;
            reduce_store(p.end, at, K::WORDS, w);
        }
    }
}

template <typename T, typename K>
GPU_FN void reduce_column(const struct gpu_reduce_columns &p, const T *x, const reduce_tile &t, u64 *room) {
    enum { N = gpu_vec<T>::N };
    typename K::State s[N];
    GPU_UNROLL for (int i = 0; i < N; i++)
        s[i] = reduce_begin<K>::of(p.end, reduce_line(p, t, t.column + i < p.width ? t.column + i : 0));
    if (t.column < p.width) reduce_fall<T, K, N>(p, x, t, s);
    reduce_land<T, K, N>(p, t, s, room);
}

/* The tile of item i, and where its columns begin. Behind the last item it has none. */
template <typename T> GPU_FN const T *reduce_place(const struct gpu_reduce_columns &p, i64 i, i64 items, reduce_tile *t) {
    enum { N = gpu_vec<T>::N };
    bool live = i < items;
    if (!live) i = 0;
    i64 tile = i % p.tiles, rest = i / p.tiles;
    u32 number = gpu_thread() % p.threads;
    t->split = rest % p.splits;
    u64 kept = (u64)(rest / p.splits);
    t->at_out = (u64)reduce_offset(kept, p.kept, p.kept_at[1]);
    i64 column = (tile * p.end.group + number % p.end.group) * N;
    /* The last columns are a vector's too: some of them have two threads, which find the same. */
    if (column < p.width && column > p.width - N && p.width > N) column = p.width - N;
    t->column = live ? column : p.width;
    t->step = p.threads / p.end.group;
    t->first = t->split * p.length + number / p.end.group;
    t->rows = (t->split + 1) * p.length < p.rows ? (t->split + 1) * p.length : p.rows;
    const T *x = (const T *)p.in + reduce_offset(kept, p.kept, p.kept_at[0]) + t->column;
    t->whole = t->first;
    t->vectors = p.aligned && ((u64)x & 15) == 0;
    if (t->column + N <= p.width) {
        /* The last row may be folded of fewer. */
        t->whole = t->rows;
        if (t->rows == p.rows && (p.rows - 1) * p.width + t->column + N > p.limit) t->whole--;
    }
    return x;
}

#define REDUCE_COLUMNS(T, cases)                                                                                       \
    GPU_SHARED u64 room[REDUCE_ROOM];                                                                                  \
    i64 items = p.kept.count * p.splits * p.tiles, first = reduce_block() * (GPU_BLOCK / p.threads);                   \
    if (first >= items) return;                                                                                        \
    reduce_tile t;                                                                                                     \
    const T *x = reduce_place<T>(p, gpu_thread() < p.busy ? first + gpu_thread() / p.threads : items, items, &t);      \
    switch (p.end.kind) { cases }
#define REDUCE_COLUMN(kind, T, K)                                                                                      \
    case kind: reduce_column<T, K<T>>(p, x, t, room); break;

/* ---- parts ---- */

template <typename K> GPU_FN typename K::Part reduce_part(const struct gpu_reduce_join &p, i64 i) {
    u64 word[3] = {p.in[i], 0, 0};
    if (K::WORDS > 1) word[1] = p.in[i + p.parts];
    if (K::WORDS > 2) word[2] = p.in[i + 2 * p.parts];
    return K::unpack(word);
}

/* The place that part s of a line tells, where rows were folded. */
template <typename K> struct reduce_unfold {
    GPU_FN void of(const struct gpu_reduce_join &, i64, typename K::Part &) {}
};
template <typename T, typename C> struct reduce_unfold<reduce_arg<T, C>> {
    GPU_FN void of(const struct gpu_reduce_join &p, i64 s, reduce_best<C> &q) {
        if (p.fold > 1 && q.at != ~0u) q.at = q.at * p.fold + (u32)(s / p.splits);
    }
};

/* Joins the parts of a line: every `step` of them from `first` on, some in flight. */
template <typename K>
GPU_FN typename K::Part reduce_parts_of(const struct gpu_reduce_join &p, i64 line, u32 first, u32 step) {
    enum { AHEAD = 4 };
    typename K::Part q = K::part(reduce_begin<K>::of(p.end, line));
    i64 s = first, i = line * p.end.part_out + s * p.end.part_segment, far = step * p.end.part_segment;
    GPU_NO_UNROLL for (; s < p.end.segments; s += AHEAD * step) {
        typename K::Part part[AHEAD];
        /* Where there is no part one is loaded twice, and not taken. */
        GPU_UNROLL for (int k = 0; k < AHEAD; k++)
            part[k] = reduce_part<K>(p, s + k * step < p.end.segments ? i + k * far : i);
        GPU_UNROLL for (int k = 0; k < AHEAD; k++) reduce_unfold<K>::of(p, s + k * step, part[k]);
        GPU_UNROLL for (int k = 0; k < AHEAD; k++)
            if (s + k * step < p.end.segments) q = K::of(q, part[k]);
        i += AHEAD * far;
    }
    return q;
}

/* Joins the parts of this thread's line: with those of its group, or where lines lie side by side, with those of the
 * threads below. */
template <typename K>
GPU_FN void reduce_parts(const struct gpu_reduce_join &p, i64 line, bool live, u64 *room, reduce_words *w) {
    typedef typename K::Part Part;
    u32 across = p.across, group = p.end.group;
    Part *shared = (Part *)room, q = K::part(K::start());
    if (across == 1) {
        if (live) q = reduce_parts_of<K>(p, line, gpu_thread() % group, group);
        q = gpu_group_join<K>(q, group, shared);
    } else {
        if (live) q = reduce_parts_of<K>(p, line, gpu_thread() / across, GPU_BLOCK / across);
        shared[gpu_thread()] = q;
        gpu_sync();
        GPU_NO_UNROLL for (u32 half = GPU_BLOCK / 2; half >= across; half /= 2) {
            if (gpu_thread() < half) {
                q = K::of(q, shared[gpu_thread() + half]);
                shared[gpu_thread()] = q;
            }
            gpu_sync();
        }
    }
    reduce_leave<K>(q, p.end, w);
}

#endif
