/* pad, tril and triu, one_hot: results that are partly the operand and partly a constant. */
#include "elementwise.h"

#include "margin.h"

GPU_FN void margin_value(u8 *r, const u64 (&value)[2]) { *r = (u8)value[0]; }
GPU_FN void margin_value(u16 *r, const u64 (&value)[2]) { *r = (u16)value[0]; }
GPU_FN void margin_value(u32 *r, const u64 (&value)[2]) { *r = (u32)value[0]; }
GPU_FN void margin_value(u64 *r, const u64 (&value)[2]) { *r = value[0]; }
GPU_FN void margin_value(gpu_16 *r, const u64 (&value)[2]) {
    r->word[0] = (u32)value[0];
    r->word[1] = (u32)(value[0] >> 32);
    r->word[2] = (u32)value[1];
    r->word[3] = (u32)(value[1] >> 32);
}

template <typename T> GPU_FN void pad(const struct gpu_pad &p) {
    enum { S = GPU_PAD_SLOTS };
    u64 first = gpu_tile() * (GPU_BLOCK * S) + gpu_thread(), count = (u64)p.shape.count;
    T v[S];
    GPU_UNROLL for (int s = 0; s < S; s++) {
        u64 i = first + (u32)(s * GPU_BLOCK);
        u32 rest = i < count ? (u32)i : 0;
        i64 at = 0;
        bool inside = true;
        GPU_UNROLL_DIMS for (u32 d = 0; d < GPU_RANK; d++) {
            if (d == p.shape.rank) break;
            u32 quotient = gpu_divide(rest, p.shape.divisor[d]);
            i64 x = (i64)(u64)(rest - quotient * p.shape.divisor[d].d) - p.before[d], n = p.from[d];
            rest = quotient;
            if (x < 0 || x >= n) {
                if (p.mode == GPU_PAD_REFLECT) x = x < 0 ? -x : 2 * (n - 1) - x;
                if (p.mode == GPU_PAD_REPLICATE) x = x < 0 ? 0 : n - 1;
                if (p.mode == GPU_PAD_CIRCULAR) x = x % n + (x % n < 0 ? n : 0);
                inside = inside && p.mode != GPU_PAD_CONSTANT;
            }
            at += x * p.layout.stride[d];
        }
        if (inside)
            v[s] = ((const T *)p.in)[at];
        else
            margin_value(&v[s], p.value);
    }
    GPU_UNROLL for (int s = 0; s < S;
                    s++) if (first + (u32)(s * GPU_BLOCK) < count)((T *)p.out)[first + (u32)(s * GPU_BLOCK)] = v[s];
}

/* Row and column of element i of the whole result. */
GPU_FN void triangle_place(const struct gpu_triangle &p, u64 i, i64 *row, i64 *column) {
    if (p.narrow) {
        u32 line = gpu_divide((u32)i, p.by_columns), matrix = gpu_divide(line, p.by_rows);
        *column = (u32)i - line * p.by_columns.d;
        *row = line - matrix * p.by_rows.d;
    } else {
        u64 line = i / (u64)p.columns;
        *column = (i64)(i - line * (u64)p.columns);
        *row = (i64)(line % (u64)p.rows);
    }
}

GPU_FN bool triangle_has(const struct gpu_triangle &p, i64 row, i64 column) {
    return p.upper ? column - row >= p.k : column - row <= p.k;
}

/* Chunks that are all zero are not read. */
template <typename T> GPU_FN void triangle(const struct gpu_triangle &p) {
    enum { E = GPU_CHUNK(sizeof(T)), S = GPU_SLOTS(sizeof(T)) };
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    u64 base = (u64)((const T *)p.walk.out - (const T *)p.first);
    T r[S];
    i64 row, column;
    if (gpu_walk_chunks<S>(p.walk, tile)) {
        GPU_UNROLL for (int c = 0; c < S / E; c++) {
            u64 chunk = tile * (GPU_BLOCK * S / E) + (u32)(c * GPU_BLOCK) + gpu_thread();
            GPU_UNROLL for (int e = 0; e < E; e++) r[c * E + e] = 0;
            if ((chunk + 1) * E > (u64)p.walk.count) continue;
            triangle_place(p, base + chunk * E, &row, &column);
            bool one_row = column + E <= p.columns;
            if (one_row && !triangle_has(p, row, p.upper ? column + E - 1 : column)) continue;
            i64 at = p.walk.mode == GPU_WALK_FLAT ? (i64)(chunk * E) : gpu_walk_at(p.walk, 0, (u32)chunk);
            gpu_pack<T, E> pack = gpu_load_pack<T, E>((const T *)p.walk.in[0] + at);
            GPU_UNROLL for (int e = 0; e < E; e++) {
                i64 i = row, j = column + e;
                if (!one_row) triangle_place(p, base + chunk * E + e, &i, &j);
                if (triangle_has(p, i, j)) r[c * E + e] = pack.v[e];
            }
        }
    } else {
        gpu_fetch<E, S>(r, p.walk, 0, tile);
        GPU_UNROLL for (int s = 0; s < S; s++) {
            triangle_place(p, base + tile * (GPU_BLOCK * S) + (u32)(s * GPU_BLOCK) + gpu_thread(), &row, &column);
            if (!triangle_has(p, row, column)) r[s] = 0;
        }
    }
    gpu_put<E, S>(r, p.walk, tile);
}

GPU_KERNEL(one_hot, struct gpu_one_hot) {
    for (u64 i = gpu_global(); i < (u64)p.shape.count; i += gpu_stride()) {
        gpu_offsets<1> o = gpu_locate<1>(i, p.shape, p.layout);
        u64 id = gpu_id_at(p.ids, o.at[0]), at = i * (u64)p.classes + id;
        if (id == ~0ull) continue;
        if (p.size == 1) ((u8 *)p.out)[at] = (u8)p.one;
        if (p.size == 2) ((u16 *)p.out)[at] = (u16)p.one;
        if (p.size == 4) ((u32 *)p.out)[at] = (u32)p.one;
        if (p.size == 8) ((u64 *)p.out)[at] = p.one;
    }
}

#define MARGIN(suffix, type)                                                                                           \
    GPU_KERNEL(pad_##suffix, struct gpu_pad) { pad<type>(p); }                                                         \
    GPU_KERNEL(triangle_##suffix, struct gpu_triangle) { triangle<type>(p); }
MARGIN(b1, u8)
MARGIN(b2, u16)
MARGIN(b4, u32)
MARGIN(b8, u64)
GPU_KERNEL(pad_b16, struct gpu_pad) { pad<gpu_16>(p); }
