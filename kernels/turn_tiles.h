/* Tiles of an operand that is turned: through LDS, and from there as chunks of neighbours of the result.
 *
 * Vectors lie in LDS as they do in memory, row by row, and one is left free behind each E rows, E elements being a
 * chunk. Threads beside each other read the same column of rows E apart, which so lie an odd number of vectors apart:
 * eight of them by four columns meet each bank once. */
#ifndef WICK_KERNELS_TURN_TILES_H
#define WICK_KERNELS_TURN_TILES_H

#include "elementwise.h"

#include "turn.h"

/* Blocks on a unit, for which there must be registers: on AMD, as many as LDS of 64 KiB has room for. */
#if defined(GPU_AMD)
#define GPU_TURN_BLOCKS 3
#else
#define GPU_TURN_BLOCKS 4
#endif

/* The offsets are those of (i, 0) in the first matrix. */
struct gpu_turn_tile {
    i64 in, out, other;
    i32 i, o;
    u32 left_i, left_b; /* columns and matrices that are there */
};

/* False for a block without a tile. */
GPU_FN bool gpu_turn_begin(const struct gpu_turn &p, struct gpu_turn_tile *tile) {
    u64 number = gpu_tile();
    if (number >= p.tiles) return false;
    u32 rest = gpu_divide((u32)number, p.tiles_o), to = (u32)number - rest * p.tiles_o.d;
    u32 turn = gpu_divide(rest, p.tiles_i), i = (rest - turn * p.tiles_i.d) * p.side_i;
    rest = gpu_divide(turn, p.tiles_b);
    u32 b = (turn - rest * p.tiles_b.d) * p.side_b;
    gpu_offsets<3> at = gpu_offsets_at<3>(rest, p.shape, p.layout);
    tile->i = (i32)i;
    tile->o = (i32)(to * p.side_o);
    tile->left_i = (u32)p.ni - i < p.side_i ? (u32)p.ni - i : p.side_i;
    tile->left_b = (u32)p.nb - b < p.side_b ? (u32)p.nb - b : p.side_b;
    tile->in = at.at[0] + (i64)(i32)b * p.in_b + (i32)i;
    tile->out = at.at[1] + (i64)(i32)b * p.out_b + (i64)(i32)i * p.out_i;
    tile->other = at.at[2] + (i64)(i32)b * p.other_b + (i64)(i32)i * p.other_i;
    return true;
}

/* ---- from memory to LDS ---- */

/* The vector of a row that this thread reads. */
struct gpu_turn_vector {
    i64 matrix; /* where its matrix begins */
    i64 at;     /* from there */
    i32 column; /* of the tile, where it begins: may be negative */
    bool some;  /* it has an element of the tile */
    bool whole; /* and all of it can be read */
};

template <typename T, bool MANY>
GPU_FN struct gpu_turn_vector gpu_turn_vector_of(const struct gpu_turn &p, const struct gpu_turn_tile &tile, u32 row,
                                                 u32 v) {
    enum { N = 16 / sizeof(T) };
    struct gpu_turn_vector x;
    u32 b = MANY ? gpu_divide(row, p.rows) : 0;
    i32 o = tile.o - (i32)p.early + (i32)(row - (MANY ? b * p.rows.d : 0));
    x.matrix = tile.in - tile.i - p.below;
    if (MANY) x.matrix += (i64)(i32)b * p.in_b;
    x.at = tile.i + (i64)o * p.in_o + p.below;
    x.column = (i32)(v * N - (p.in_at + (u32)x.matrix + (u32)x.at) % N);
    x.at += x.column;
    x.some = row < p.all_rows && (!MANY || b < tile.left_b) && (u32)o < (u32)p.no && x.column < (i32)tile.left_i;
    x.whole = x.some && (u64)x.at <= p.span - N;
    return x;
}

/* A vector that reaches beyond its matrix, at either end, is read by elements, since there may be no memory. What lies
 * between the rows of a matrix can be read. */
template <typename T, bool MANY>
GPU_FN void gpu_turn_load(const struct gpu_turn &p, const struct gpu_turn_tile &tile, gpu_16 *shared) {
    enum { N = 16 / sizeof(T) };
    const T *in = (const T *)p.in;
    u32 first = gpu_divide(gpu_thread(), p.pitch), v = gpu_thread() - first * p.pitch.d;
    gpu_16 loaded[GPU_TURN_TASKS];
    bool cut = false;
    if (first >= p.step) return;
    GPU_UNROLL for (int k = 0; k < GPU_TURN_TASKS; k++) {
        struct gpu_turn_vector x = gpu_turn_vector_of<T, MANY>(p, tile, first + k * p.step, v);
        loaded[k] = gpu_16();
        if (x.whole) loaded[k] = gpu_bits<gpu_16>(gpu_load16(in + x.matrix + x.at));
        cut |= x.some != x.whole;
    }
    GPU_UNROLL for (int k = 0; k < GPU_TURN_TASKS; k++) {
        u32 row = first + k * p.step;
        if (row < p.all_rows) shared[row * p.pitch.d + (row >> p.chunk_bits) + v] = loaded[k];
    }
    if (!cut) return;
    GPU_NO_UNROLL for (u32 row = first; row < p.all_rows; row += p.step) {
        struct gpu_turn_vector x = gpu_turn_vector_of<T, MANY>(p, tile, row, v);
        T *to = (T *)&shared[row * p.pitch.d + (row >> p.chunk_bits) + v];
        if (x.some == x.whole) continue;
        GPU_NO_UNROLL for (i32 e = 0; e < N; e++)
            if (x.column + e >= 0 && x.column + e < (i32)tile.left_i) to[e] = in[x.matrix + x.at + e];
    }
}

template <typename T>
GPU_FN void gpu_turn_load(const struct gpu_turn &p, const struct gpu_turn_tile &tile, gpu_16 *shared) {
    if (p.side_b > 1)
        gpu_turn_load<T, true>(p, tile, shared);
    else
        gpu_turn_load<T, false>(p, tile, shared);
}

/* ---- from LDS to chunks of the result ---- */

/* Where a thread is: at one chunk of a column or two, of which the second is 2^(lane_bits + group_bits) further. */
struct gpu_turn_line {
    i64 out, other; /* the first element */
    i32 o, end;     /* that along o, which may lie before 0; those from `end` on are not of the tile */
    u32 column;
    u32 at[GPU_TURN_SLOTS]; /* bytes in LDS */
};

GPU_FN u32 gpu_turn_columns(const struct gpu_turn &p) { return 1u << (5 - p.lane_bits + p.column_bits); }

/* E is the elements of a chunk. All columns of a thread begin at the same place in a chunk, as they are a multiple of E
 * apart. */
template <int E>
GPU_FN struct gpu_turn_line gpu_turn_line_of(const struct gpu_turn &p, const struct gpu_turn_tile &tile, u32 line) {
    enum { BITS = E == 2 ? 1 : E == 4 ? 2 : 3 };
    struct gpu_turn_line x;
    u32 t = gpu_thread(), lane = t & ((1u << p.lane_bits) - 1), group = t >> 5, turn = gpu_divide(line, p.places);
    u32 along = group & ((1u << p.group_bits) - 1), rest = group >> p.group_bits;
    u32 across = rest & ((1u << p.column_bits) - 1), width = p.lane_bits + p.group_bits;
    u32 b = (turn << (3 - p.group_bits - p.column_bits)) + (rest >> p.column_bits);
    u32 first = (line - turn * p.places.d) * (GPU_TURN_SLOTS << width) + (along << p.lane_bits | lane) * E;
    x.column = across << (5 - p.lane_bits) | (t & 31) >> p.lane_bits;
    x.out = tile.out + (i64)(i32)b * p.out_b + (i64)(i32)x.column * p.out_i + tile.o;
    i32 before = (i32)((p.out_at + (u32)x.out) % E), skip = (i32)first - before;
    x.out += skip;
    x.o = tile.o + skip;
    x.end = tile.o + (i32)p.side_o - before < p.no ? tile.o + (i32)p.side_o - before : p.no;
    x.other = tile.other + (i64)(i32)b * p.other_b + (i64)(i32)x.column * p.other_i + (i64)x.o * p.other_o;
    u32 row = b * p.rows.d + p.early + (u32)skip, pitch = p.pitch.d * 16, columns = x.column << p.in_bits;
    u32 shift = (p.in_at + (u32)tile.in + b * (u32)p.in_b + (u32)x.o * (u32)p.in_o) << p.in_bits;
    u32 step = (u32)p.in_o << p.in_bits;
    GPU_UNROLL for (int c = 0; c < GPU_TURN_SLOTS / E; c++) {
        u32 apart = (u32)(c * E) << width, r = first + apart < p.side_o ? row + apart : 0;
        u32 begin = r * pitch + columns, phase = shift + apart * step;
        GPU_UNROLL for (int k = 0; k < E; k++) {
            u32 free = ((r << (4 - BITS)) + (u32)(k << (4 - BITS))) & ~15u;
            x.at[c * E + k] = begin + k * pitch + free + ((phase + k * step) & 15);
        }
    }
    if (b >= tile.left_b || x.o >= x.end) x.column = tile.left_i; /* nothing is left */
    return x;
}

/* `bytes` are those of an element of the result. */
GPU_FN struct gpu_turn_line gpu_turn_line_of(const struct gpu_turn &p, const struct gpu_turn_tile &tile, u32 line,
                                             u32 bytes) {
    return bytes == 4 ? gpu_turn_line_of<4>(p, tile, line) : gpu_turn_line_of<8>(p, tile, line);
}

GPU_FN void gpu_turn_next(struct gpu_turn_line *x, const struct gpu_turn &p) {
    u32 columns = gpu_turn_columns(p);
    x->column += columns;
    x->out += (i64)(i32)columns * p.out_i;
    x->other += (i64)(i32)columns * p.other_i;
    GPU_UNROLL for (int s = 0; s < GPU_TURN_SLOTS; s++) x->at[s] += columns << p.in_bits;
}

/* The operand's elements as bits. */
template <typename T, typename Bits>
GPU_FN void gpu_turn_take(Bits (&r)[GPU_TURN_SLOTS], const struct gpu_turn_line &x, const gpu_16 *shared) {
    GPU_UNROLL for (int s = 0; s < GPU_TURN_SLOTS; s++) r[s] = *(const T *)((const u8 *)shared + x.at[s]);
}

struct gpu_turn_chunk {
    u32 apart;  /* from the first one */
    i32 o, end; /* as those of a line */
    bool whole; /* all its elements are there */
};

GPU_FN bool gpu_turn_has(const struct gpu_turn_chunk &x, int k) { return x.o + k >= 0 && x.o + k < x.end; }

template <int E>
GPU_FN struct gpu_turn_chunk gpu_turn_chunk_of(const struct gpu_turn &p, const struct gpu_turn_line &line, int c) {
    struct gpu_turn_chunk x;
    x.apart = (u32)(c * E) << (p.lane_bits + p.group_bits);
    x.o = gpu_anew(line.o) + (i32)x.apart;
    x.end = line.end;
    x.whole = x.o >= 0 && x.o + E <= x.end;
    return x;
}

template <typename T>
GPU_FN void gpu_turn_put(const T (&r)[GPU_TURN_SLOTS], const struct gpu_turn &p, const struct gpu_turn_line &line) {
    enum { E = GPU_TURN_CHUNK(sizeof(T)) };
    GPU_UNROLL for (int c = 0; c < GPU_TURN_SLOTS / E; c++) {
        struct gpu_turn_chunk x = gpu_turn_chunk_of<E>(p, line, c);
        T *out = (T *)p.out + line.out + x.apart;
        if (x.whole) {
            gpu_pack<T, E> pack;
            GPU_UNROLL for (int k = 0; k < E; k++) pack.v[k] = r[c * E + k];
            gpu_store_pack(out, pack);
        } else {
            GPU_UNROLL for (int k = 0; k < E; k++) if (gpu_turn_has(x, k)) out[k] = r[c * E + k];
        }
    }
}

/* ---- functions of f32, f16 and bf16, computed in f32; the dtype is one of enum gpu_turn_dtype ---- */

/* Reads a tile. False for a block without one. */
GPU_FN bool gpu_turn_floats(struct gpu_turn_tile *tile, const struct gpu_turn &p, u32 dtype, gpu_16 *shared) {
    if (!gpu_turn_begin(p, tile)) return false;
    if (dtype == GPU_TURN_f32)
        gpu_turn_load<u32>(p, *tile, shared);
    else
        gpu_turn_load<u16>(p, *tile, shared);
    gpu_sync();
    return true;
}

GPU_FN void gpu_turn_take_floats(f32 (&v)[GPU_TURN_SLOTS], u32 dtype, const struct gpu_turn_line &line,
                                 const gpu_16 *shared) {
    u32 r[GPU_TURN_SLOTS];
    if (dtype == GPU_TURN_f32) {
        gpu_turn_take<u32>(r, line, shared);
        GPU_UNROLL for (int s = 0; s < GPU_TURN_SLOTS; s++) v[s] = gpu_bits<f32>(r[s]);
        return;
    }
    gpu_turn_take<u16>(r, line, shared);
    if (dtype == GPU_TURN_f16) {
        GPU_UNROLL for (int s = 0; s < GPU_TURN_SLOTS; s++) {
            f16 half;
            half.bits = (u16)r[s];
            v[s] = gpu_up(half);
        }
    } else {
        GPU_UNROLL for (int s = 0; s < GPU_TURN_SLOTS; s++) v[s] = gpu_bits<f32>(r[s] << 16);
    }
}

template <typename T>
GPU_FN void gpu_turn_put_halves(const f32 (&v)[GPU_TURN_SLOTS], const struct gpu_turn &p,
                                const struct gpu_turn_line &line) {
    gpu_vec<T> r;
    gpu_down_vector(&r, v);
    gpu_turn_put(r.v, p, line);
}

GPU_FN void gpu_turn_put_floats(const f32 (&v)[GPU_TURN_SLOTS], const struct gpu_turn &p, u32 dtype,
                                const struct gpu_turn_line &line) {
    if (dtype == GPU_TURN_f32)
        gpu_turn_put(v, p, line);
    else if (dtype == GPU_TURN_f16)
        gpu_turn_put_halves<f16>(v, p, line);
    else
        gpu_turn_put_halves<bf16>(v, p, line);
}

/* The other operand's elements. */
template <typename T>
GPU_FN void gpu_turn_other(f32 (&v)[GPU_TURN_SLOTS], const struct gpu_turn &p, const struct gpu_turn_line &line) {
    enum { E = GPU_TURN_CHUNK(sizeof(T)) };
    GPU_UNROLL for (int c = 0; c < GPU_TURN_SLOTS / E; c++) {
        struct gpu_turn_chunk x = gpu_turn_chunk_of<E>(p, line, c);
        const T *from = (const T *)p.other + line.other + (i64)(i32)x.apart * p.other_o;
        gpu_vec<T> r = {};
        if (p.whole_other && x.whole) {
            r = gpu_load16(from);
        } else {
            GPU_UNROLL for (int k = 0; k < E; k++) if (gpu_turn_has(x, k)) r.v[k] = from[(i64)k * p.other_o];
        }
        GPU_UNROLL for (int k = 0; k < E; k++) v[c * E + k] = gpu_up(r.v[k]);
    }
}

GPU_FN void gpu_turn_other_floats(f32 (&v)[GPU_TURN_SLOTS], const struct gpu_turn &p, u32 dtype,
                                  const struct gpu_turn_line &line) {
    if (dtype == GPU_TURN_f32)
        gpu_turn_other<f32>(v, p, line);
    else if (dtype == GPU_TURN_f16)
        gpu_turn_other<f16>(v, p, line);
    else
        gpu_turn_other<bf16>(v, p, line);
}

#endif
