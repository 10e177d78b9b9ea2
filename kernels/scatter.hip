/* Placing, adding, multiplying and comparing by id, in the order of the ids and without atomic additions: the same ids
 * give the same bits each time. Lines that fit are made in LDS; otherwise sorting brings the sources of an element
 * together. */
#include "dtype.h"
#include "layout.h"
#include "radix.h"

#include "scatter.h"

enum { NOWHERE = 0xffff };

/* Where a block's lines begin: out, x, ids, source. */
struct line_starts {
    i64 at[GPU_SCATTER_LINES][4];
};

/* A group of lines, and a tile of each. */
struct group {
    u64 first; /* line */
    u32 lines;
    i64 begin; /* of the tile */
    u32 tile;  /* its size */
};

GPU_FN struct group find_group(const struct gpu_scatter &p, u64 number, struct line_starts *starts) {
    struct group g;
    u64 of_lines = number / p.tiles;
    g.first = of_lines * p.together;
    g.lines = (u64)p.shape.count - g.first < p.together ? (u32)((u64)p.shape.count - g.first) : p.together;
    g.begin = (i64)(number - of_lines * p.tiles) * p.tile;
    g.tile = p.n - g.begin < p.tile ? (u32)(p.n - g.begin) : p.tile;
    if (gpu_thread() < g.lines) {
        gpu_offsets<4> o = gpu_locate<4>(g.first + gpu_thread(), p.shape, p.layout);
        GPU_UNROLL for (int i = 0; i < 4; i++) starts->at[gpu_thread()][i] = o.at[i];
    }
    return g;
}

/* Number q of all things of a group as a line and a place in it; `by` is the number of places. */
struct spot {
    u32 line;
    i64 place;
};
GPU_FN struct spot find_spot(const struct gpu_scatter &p, u64 q, const struct gpu_divisor &by) {
    struct spot s = {0, (i64)q};
    if (p.together == 1) return s;
    if (p.across) {
        u32 place = gpu_divide((u32)q, p.by_together);
        s.place = place;
        s.line = (u32)q - place * p.together;
    } else {
        s.line = gpu_divide((u32)q, by);
        s.place = (u32)q - s.line * by.d;
    }
    return s;
}

/* The place in LDS of the element that an id names; NOWHERE (or more) when it is not in the tile. */
GPU_FN u32 tile_place(const struct gpu_scatter &p, const struct group &g, const struct line_starts &starts,
                      struct spot s) {
    u64 id = gpu_id_at(p.ids, starts.at[s.line][2] + s.place * p.step[2]) - (u64)g.begin;
    if (id >= g.tile) return NOWHERE;
    return p.across ? (u32)id * p.together + s.line : s.line * p.tile + (u32)id;
}

/* ---- scatter ---- */

template <typename T> GPU_FN void scatter_lines(const struct gpu_scatter &p) {
    GPU_SHARED u32 latest[GPU_SCATTER_TILE]; /* 1 + the place of the last source, 0 when there is none */
    GPU_SHARED struct line_starts starts;
    if (p.bad && *p.bad) return;
    struct group g = find_group(p, gpu_block_x(), &starts);
    u32 size = p.together * p.tile;
    for (u32 e = gpu_thread(); e < size; e += GPU_BLOCK) latest[e] = 0;
    gpu_sync();
    u64 sources = (u64)p.together * (u64)p.k;
    for (u64 first = gpu_thread(); first < sources; first += 2 * GPU_BLOCK) {
        struct spot s[2];
        u32 e[2];
        GPU_UNROLL for (int u = 0; u < 2; u++) {
            u64 q = first + u * GPU_BLOCK;
            s[u] = find_spot(p, q < sources ? q : first, p.by_k);
            e[u] = s[u].line < g.lines ? tile_place(p, g, starts, s[u]) : NOWHERE;
        }
        GPU_UNROLL for (int u = 0; u < 2; u++)
            if (e[u] != NOWHERE) gpu_atomic_max(&latest[e[u]], (u32)s[u].place + 1);
    }
    gpu_sync();
    GPU_NO_UNROLL for (u32 e = gpu_thread(); e < size; e += GPU_BLOCK) {
        struct spot s = find_spot(p, e, p.by_tile);
        if (s.line >= g.lines || s.place >= g.tile) continue;
        const i64 *at = starts.at[s.line];
        u32 last = latest[e];
        T *to = (T *)p.out + at[0] + (g.begin + s.place) * p.step[0];
        const T *from = (const T *)p.source + at[3] + (i64)(last - 1) * p.step[3];
        if (!last) from = (const T *)p.x + at[1] + (g.begin + s.place) * p.step[1];
        if (from != to) *to = *from;
    }
}

/* ---- scatter_add, and its kind ---- */

/* What elements are summed in; integers wrap, so unsigned ones will do. */
template <typename T> struct sum_of {
    typedef f32 type, ordered;
    GPU_FN f32 up(T x) { return gpu_up(x); }
    GPU_FN T down(f32 x) { return gpu_round<T>(x); }
};
#define SUM_OF(T, S, O)                                                                                                \
    template <> struct sum_of<T> {                                                                                     \
        typedef S type;                                                                                                \
        typedef O ordered;                                                                                             \
        GPU_FN S up(T x) { return (S)x; }                                                                              \
        GPU_FN T down(S x) { return (T)x; }                                                                            \
    };
SUM_OF(u8, u32, u32)
SUM_OF(u32, u32, u32)
SUM_OF(i16, u32, i32)
SUM_OF(i32, u32, i32)
SUM_OF(i64, u64, i64)
SUM_OF(f64, f64, f64)

/* What an element and a source come to. NaN is the largest and the least. */
template <typename T>
GPU_FN typename sum_of<T>::type join(u32 how, typename sum_of<T>::type a, typename sum_of<T>::type b) {
    typedef typename sum_of<T>::ordered O;
    if (how == GPU_SCATTER_ADD) return a + b;
    if (how == GPU_SCATTER_MULTIPLY) return a * b;
    bool first = how == GPU_SCATTER_LARGEST ? (O)b > (O)a : (O)b < (O)a;
    return first || (O)b != (O)b ? b : a;
}

/* The sources of a chunk, and for each element of the tile a list of its own: `head` is 1 + the source that came last
 * to it, `next` of a source 1 + the one before. Which came when is chance; the sum is taken in the order of sources. */
template <typename S> struct chunk {
    S sums[GPU_SCATTER_ADD_TILE];
    S values[GPU_SCATTER_CHUNK];
    u32 head[GPU_SCATTER_ADD_TILE];
    u16 next[GPU_SCATTER_CHUNK];
    u16 to[GPU_SCATTER_CHUNK];
    u16 heavy[GPU_SCATTER_CHUNK / GPU_SCATTER_FEW];
    u32 heavies;
};

/* Adds the sources of element e; leaves it to a wave when they are many. */
template <typename T> GPU_FN void add_list(struct chunk<typename sum_of<T>::type> *c, u32 how, u32 e) {
    u32 head = c->head[e], count = 0, last = 0;
    if (head == 0) return;
    c->head[e] = 0;
    for (u32 i = head; i && count <= GPU_SCATTER_FEW; i = c->next[i - 1]) count++;
    if (count > GPU_SCATTER_FEW) {
        c->heavy[gpu_atomic_add(&c->heavies, 1)] = (u16)e;
        return;
    }
    typename sum_of<T>::type sum = c->sums[e];
    for (; count > 0; count--) {
        u32 least = ~0u;
        for (u32 i = head; i; i = c->next[i - 1])
            if (i > last && i < least) least = i;
        sum = join<T>(how, sum, c->values[least - 1]);
        last = least;
    }
    c->sums[e] = sum;
}

/* The same by a wave, which looks at all sources of the chunk. */
template <typename T>
GPU_FN void add_heavy(struct chunk<typename sum_of<T>::type> *c, u32 how, u32 e, u32 sources) {
    typename sum_of<T>::type sum = c->sums[e];
    for (u32 first = 0; first < sources; first += GPU_WAVE) {
        u32 i = first + gpu_lane();
        gpu_lanes mine = (gpu_lanes)gpu_ballot(i < sources && c->to[i < sources ? i : 0] == e);
        for (; mine; mine &= mine - 1) sum = join<T>(how, sum, c->values[first + gpu_lanes_first(mine)]);
    }
    if (gpu_lane() == 0) c->sums[e] = sum;
}

/* How many sources a thread loads at a time: one of u8 and f8e4m3, for which registers would not do. */
template <typename T> struct gpu_sources {
    enum { value = sizeof(T) == 1 ? 1 : 2 };
};

/* Sources `begin` of the chunk and those after it. */
template <typename T>
GPU_FN void load_sources(const struct gpu_scatter &p, const struct group &g, const struct line_starts &starts,
                       struct chunk<typename sum_of<T>::type> *c, u64 first, u32 sources, u32 begin) {
    enum { U = gpu_sources<T>::value };
    u32 to[U];
    i64 from[U];
    GPU_UNROLL for (int u = 0; u < U; u++) {
        u32 i = begin + gpu_thread() + u * GPU_BLOCK;
        struct spot s = find_spot(p, first + (i < sources ? i : 0), p.by_k);
        bool there = i < sources && s.line < g.lines;
        to[u] = NOWHERE;
        from[u] = 0;
        if (there) {
            to[u] = tile_place(p, g, starts, s);
            from[u] = starts.at[s.line][3] + s.place * p.step[3];
        }
    }
    GPU_UNROLL for (int u = 0; u < U; u++) {
        u32 i = begin + gpu_thread() + u * GPU_BLOCK;
        c->to[i] = (u16)to[u];
        if (to[u] == NOWHERE) continue;
        c->values[i] = sum_of<T>::up(((const T *)p.source)[from[u]]);
        c->next[i] = (u16)gpu_atomic_exchange(&c->head[to[u]], i + 1);
    }
}

template <typename T> GPU_FN void scatter_add_lines(const struct gpu_scatter &p) {
    GPU_SHARED struct chunk<typename sum_of<T>::type> c;
    GPU_SHARED struct line_starts starts;
    if (p.bad && *p.bad) return;
    struct group g = find_group(p, gpu_block_x(), &starts);
    u32 size = p.together * p.tile;
    gpu_sync();
    GPU_NO_UNROLL for (u32 e = gpu_thread(); e < size; e += GPU_BLOCK) {
        struct spot s = find_spot(p, e, p.by_tile);
        c.head[e] = 0;
        if (s.line < g.lines && s.place < g.tile)
            c.sums[e] = sum_of<T>::up(((const T *)p.x)[starts.at[s.line][1] + (g.begin + s.place) * p.step[1]]);
    }
    u64 all = (u64)p.together * (u64)p.k;
    for (u64 first = 0; first < all; first += GPU_SCATTER_CHUNK) {
        u32 sources = all - first < GPU_SCATTER_CHUNK ? (u32)(all - first) : GPU_SCATTER_CHUNK;
        if (gpu_thread() == 0) c.heavies = 0;
        gpu_sync();
        GPU_NO_UNROLL for (u32 begin = 0; begin < GPU_SCATTER_CHUNK; begin += gpu_sources<T>::value * GPU_BLOCK)
            load_sources<T>(p, g, starts, &c, first, sources, begin);
        gpu_sync();
        GPU_NO_UNROLL for (u32 e = gpu_thread(); e < size; e += GPU_BLOCK) add_list<T>(&c, p.join, e);
        gpu_sync();
        for (u32 h = gpu_wave(); h < c.heavies; h += GPU_BLOCK / GPU_WAVE) add_heavy<T>(&c, p.join, c.heavy[h], sources);
        gpu_sync();
    }
    GPU_NO_UNROLL for (u32 e = gpu_thread(); e < size; e += GPU_BLOCK) {
        struct spot s = find_spot(p, e, p.by_tile);
        if (s.line < g.lines && s.place < g.tile)
            ((T *)p.out)[starts.at[s.line][0] + (g.begin + s.place) * p.step[0]] = sum_of<T>::down(c.sums[e]);
    }
}

/* ---- all at once ---- */

/* The number of the element of out that source i goes to; p.none when there is none. */
GPU_FN u64 key_of(const struct gpu_scatter_all &p, const gpu_offsets<5> &o) {
    u64 id = gpu_id_at(p.ids, o.at[2]);
    return id == ~0ull ? (u64)p.none : (u64)o.at[1] + id;
}

GPU_KERNEL(scatter_latest, struct gpu_scatter_all) {
    for (u64 i = gpu_global(); i < (u64)p.shape.count; i += gpu_stride()) {
        gpu_offsets<5> o = gpu_locate<5>(i, p.shape, p.layout);
        u64 key = key_of(p, o);
        if (key < (u64)p.none) gpu_atomic_max(&p.latest[key], (u32)o.at[4] + 1);
    }
}

template <typename T> GPU_FN void scatter_all(const struct gpu_scatter_all &p) {
    if (p.bad && *p.bad) return;
    for (u64 i = gpu_global(); i < (u64)p.shape.count; i += gpu_stride()) {
        gpu_offsets<5> o = gpu_locate<5>(i, p.shape, p.layout);
        u64 key = key_of(p, o);
        if (key < (u64)p.none && p.latest[key] == (u32)o.at[4] + 1)
            ((T *)p.out)[o.at[0] + (i64)(key - (u64)o.at[1]) * p.step] = ((const T *)p.source)[o.at[3]];
    }
}

GPU_KERNEL(scatter_keys, struct gpu_scatter_all) {
    for (u64 i = gpu_global(); i < (u64)p.shape.count; i += gpu_stride()) {
        u64 key = key_of(p, gpu_locate<5>(i, p.shape, p.layout));
        if (p.wide)
            ((u64 *)p.keys)[i] = key;
        else
            ((u32 *)p.keys)[i] = (u32)key;
    }
}

GPU_FN u64 key_at(const struct gpu_scatter_all &p, u64 i) {
    return p.wide ? ((const u64 *)p.keys)[i] : ((const u32 *)p.keys)[i];
}

/* The first of a run of equal keys adds all of them. */
template <typename T> GPU_FN void scatter_add_all(const struct gpu_scatter_all &p) {
    if (p.bad && *p.bad) return;
    for (u64 i = gpu_global(); i < (u64)p.shape.count; i += gpu_stride()) {
        u64 key = key_at(p, i);
        if (key >= (u64)p.none || (i > 0 && key_at(p, i - 1) == key)) continue;
        gpu_offsets<5> o = gpu_locate<5>(p.at[i], p.shape, p.layout);
        T *to = (T *)p.out + o.at[0] + (i64)(key - (u64)o.at[1]) * p.step;
        typename sum_of<T>::type sum = sum_of<T>::up(*to);
        for (u64 j = i;;) {
            sum = join<T>(p.join, sum, sum_of<T>::up(((const T *)p.source)[o.at[3]]));
            if (++j == (u64)p.shape.count || key_at(p, j) != key) break;
            o = gpu_locate<5>(p.at[j], p.shape, p.layout);
        }
        *to = sum_of<T>::down(sum);
    }
}

#define SCATTER(suffix, type)                                                                                          \
    GPU_KERNEL(scatter_lines_##suffix, struct gpu_scatter) { scatter_lines<type>(p); }                                 \
    GPU_KERNEL(scatter_all_##suffix, struct gpu_scatter_all) { scatter_all<type>(p); }
SCATTER(b1, u8)
SCATTER(b2, u16)
SCATTER(b4, u32)
SCATTER(b8, u64)
#define SCATTER_ADD(type)                                                                                              \
    GPU_KERNEL(scatter_add_lines_##type, struct gpu_scatter) { scatter_add_lines<type>(p); }                           \
    GPU_KERNEL(scatter_add_all_##type, struct gpu_scatter_all) { scatter_add_all<type>(p); }
GPU_ALL(SCATTER_ADD)

/* ---- index_add ---- */

GPU_KERNEL(index_keys, struct gpu_index_add) {
    for (u64 i = gpu_global(); i < (u64)p.k; i += gpu_stride()) {
        u64 id = gpu_id_at(p.ids, (i64)i * p.ids_step);
        p.keys[i] = id == ~0ull ? (u32)p.n : (u32)id;
    }
}

/* first[r] = how many keys are below r. */
GPU_KERNEL(index_first, struct gpu_index_add) {
    for (u64 r = gpu_global(); r <= (u64)p.n; r += gpu_stride()) {
        u64 begin = 0, end = (u64)p.k;
        while (begin < end) {
            u64 middle = (begin + end) / 2;
            if (p.keys[middle] < r)
                begin = middle + 1;
            else
                end = middle;
        }
        p.first[r] = (u32)begin;
    }
}

/* All of that for a list that one block can sort, which each does for some of the rows; or one alone, where these are too
 * many, the sorted keys. */
template <int I> GPU_FN void index_list(const struct gpu_index_add &p) {
    GPU_SHARED struct radix_items<u32, I> items;
    u32 k = (u32)p.k;
    for (u32 i = gpu_thread(); i < GPU_BLOCK * I; i += GPU_BLOCK) {
        u64 id = i < k ? gpu_id_at(p.ids, (i64)i * p.ids_step) : ~0ull;
        items.keys[i] = id == ~0ull ? (u32)p.n : (u32)id;
        items.ats[i] = (u16)i;
    }
    radix_sort<u32, I>(&items, p.passes);
    for (u32 i = gpu_thread(); gpu_block_x() == 0 && i < k; i += GPU_BLOCK) {
        p.places[i] = items.ats[i];
        if (p.keys) p.keys[i] = items.keys[i];
    }
    if (p.keys) return;
    for (u32 r = (u32)gpu_global(); r <= (u32)p.n; r += (u32)gpu_stride()) {
        u32 begin = 0, end = k;
        while (begin < end) {
            u32 middle = (begin + end) / 2;
            if (items.keys[middle] < r)
                begin = middle + 1;
            else
                end = middle;
        }
        p.first[r] = begin;
    }
}
GPU_KERNEL(index_list4, struct gpu_index_add) { index_list<4>(p); }
GPU_KERNEL(index_list16, struct gpu_index_add) { index_list<16>(p); }

template <typename T, int V> struct alignas(sizeof(T) * V) pack {
    T v[V];
};

template <typename T, int V> GPU_FN void index_sum(const struct gpu_index_add &p) {
    typedef typename sum_of<T>::type S;
    for (u64 i = gpu_global(); i < (u64)p.shape.count / V; i += gpu_stride()) {
        gpu_offsets<3> o = gpu_locate<3>(i * V, p.shape, p.layout);
        u32 begin = p.first[o.at[2]], end = p.first[o.at[2] + 1];
        pack<T, V> x;
        if (p.one)
            GPU_UNROLL for (int j = 0; j < V; j++) x.v[j] = *(const T *)p.x;
        else
            x = *(const pack<T, V> *)((const T *)p.x + o.at[0]);
        if (begin < end) {
            S sum[V];
            GPU_UNROLL for (int j = 0; j < V; j++) sum[j] = sum_of<T>::up(x.v[j]);
            GPU_NO_UNROLL for (u32 s = begin; s < end; s++) {
                pack<T, V> v = *(const pack<T, V> *)((const T *)p.source + o.at[1] + (i64)p.places[s] * p.step);
                GPU_UNROLL for (int j = 0; j < V; j++) sum[j] += sum_of<T>::up(v.v[j]);
            }
            GPU_UNROLL for (int j = 0; j < V; j++) x.v[j] = sum_of<T>::down(sum[j]);
        }
        ((pack<T, V> *)p.out)[i] = x;
    }
}

/* Rows that begin anywhere, most without a source: V elements of the result a thread, whatever rows they are of. */
template <typename T, int V> GPU_FN pack<T, V> index_run(const struct gpu_index_add &p, u32 at) {
    pack<T, V> x;
    if (!p.one) return *(const pack<T, V> *)((const T *)p.x + at);
    GPU_UNROLL for (int j = 0; j < V; j++) x.v[j] = *(const T *)p.x;
    return x;
}

/* Adds the sources begin .. end - 1 to V elements that begin at `at` of each. */
template <typename T, int V>
GPU_FN void index_add_to(const struct gpu_index_add &p, i64 at, u32 begin, u32 end, pack<T, V> *x) {
    typename sum_of<T>::type sum[V];
    GPU_UNROLL for (int j = 0; j < V; j++) sum[j] = sum_of<T>::up(x->v[j]);
    GPU_NO_UNROLL for (u32 s = begin; s < end; s++) {
        const T *from = (const T *)p.source + (i64)p.places[s] * p.step + at;
        GPU_UNROLL for (int j = 0; j < V; j++) sum[j] += sum_of<T>::up(from[j]);
    }
    GPU_UNROLL for (int j = 0; j < V; j++) x->v[j] = sum_of<T>::down(sum[j]);
}

/* x, V elements of a row, with the sources of their columns: `lists` is where those of the first column begin, `at` where
 * the row of sources does. */
template <typename T, int V>
GPU_FN pack<T, V> index_columns(const struct gpu_index_add &p, pack<T, V> x, i64 at, const u32 *lists) {
    u32 begin[V + 1];
    GPU_UNROLL for (int j = 0; j <= V; j++) begin[j] = lists[j];
    GPU_UNROLL for (int j = 0; j < V; j++) {
        if (begin[j] == begin[j + 1]) continue;
        pack<T, 1> one = {{x.v[j]}};
        index_add_to<T, 1>(p, at, begin[j], begin[j + 1], &one);
        x.v[j] = one.v[0];
    }
    return x;
}

/* COLUMNS: the ids are those of columns. */
template <typename T, bool COLUMNS> GPU_FN void index_runs(const struct gpu_index_add &p) {
    enum { V = 16 / sizeof(T) };
    u32 width = (u32)p.shape.size[0], count = (u32)p.shape.count;
    for (u32 at = (u32)gpu_global() * V; at < count; at += (u32)gpu_stride() * V) {
        u32 row = gpu_divide(at, p.shape.divisor[0]), end = at + V < count ? at + V : count;
        u32 last = gpu_divide(end - 1, p.shape.divisor[0]), column = at - row * width;
        u32 first = p.first[COLUMNS ? column : row];
        u32 after = p.first[!COLUMNS ? last + 1 : row == last ? column + end - at : column];
        if (end - at == V && (row == last || (!COLUMNS && first == after))) {
            pack<T, V> x = index_run<T, V>(p, at);
            if (COLUMNS && first < after)
                x = index_columns<T, V>(p, x, row * p.layout[1].stride[1], p.first + column);
            else if (first < after)
                index_add_to<T, V>(p, column, first, after, &x);
            *(pack<T, V> *)((T *)p.out + at) = x;
            continue;
        }
        GPU_NO_UNROLL for (u32 e = at; e < end; e++) {
            pack<T, 1> x = index_run<T, 1>(p, e);
            u32 place = COLUMNS ? column : row;
            i64 from = COLUMNS ? row * p.layout[1].stride[1] : column;
            index_add_to<T, 1>(p, from, p.first[place], p.first[place + 1], &x);
            ((T *)p.out)[e] = x.v[0];
            if (++column < width) continue;
            column = 0;
            row++;
        }
    }
}

#define INDEX_ADD(type)                                                                                                \
    GPU_KERNEL(index_add_##type, struct gpu_index_add) {                                                               \
        if (p.runs == GPU_INDEX_ROWS)                                                                                  \
            index_runs<type, false>(p);                                                                                \
        else if (p.runs == GPU_INDEX_COLUMNS)                                                                          \
            index_runs<type, true>(p);                                                                                 \
        else if (p.vectors)                                                                                            \
            index_sum<type, 16 / sizeof(type)>(p);                                                                     \
        else                                                                                                           \
            index_sum<type, 1>(p);                                                                                     \
    }
GPU_ALL(INDEX_ADD)
