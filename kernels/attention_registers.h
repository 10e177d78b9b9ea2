/* Attention by matrix instructions where tiles pass through registers into LDS (AMD): attention_mma.hip.
 *
 * LDS holds a step of keys as [key][element], and one of values turned round, as [column][key]: a thread takes eight
 * columns of two keys and stores pairs. Sums have a query in each column: scores are products of keys by queries, and
 * results of columns of values by weights, which are then in the lanes that made them. */
#ifndef WICK_KERNELS_ATTENTION_REGISTERS_H
#define WICK_KERNELS_ATTENTION_REGISTERS_H

#include "attention_tiles.h"

#if MMA && !MMA_ASYNC
/* KEPT: fragments of the queries stay in registers; where those are too few the queries stay in LDS. */
template <int DIM> struct attention_shape {
    enum {
        WIDE = GPU_WAVE == 64,
        THREADS = DIM <= 128 ? 256 : WIDE ? 512 : 128,
        WAVES = THREADS / GPU_WAVE,
        TILES = DIM <= 128 && WIDE ? 2 : 1,
        ROWS = WAVES * 16 * TILES,
        KEYS = DIM <= 64 ? 64 : DIM <= 128 ? (MMA_SUMS * MMA_WORDS == 32 ? 64 : 32) : WIDE ? 32 : 16,
        KEPT = DIM <= 128 || WIDE,
        BLOCKS = DIM > 128 ? 1 : WIDE ? 2 : 3, /* that a unit shall have registers for */
        PIECES = DIM / 8,                    /* of 16 bytes, of a row of queries or keys */
        STEP = KEYS * PIECES,                /* of keys, and of values */
        MINE = STEP / THREADS,
        CHUNK = KEPT && ROWS > 2 * KEYS ? 2 * KEYS : ROWS, /* queries in LDS at a time */
        SIZE = 2 * STEP + (KEPT ? 0 : ROWS * PIECES),
        DEEP = DIM / MMA_K
    };
    static_assert(!KEPT || CHUNK <= 2 * KEYS, "room for the queries");
    static_assert(SIZE >= WAVES * 128, "room for 16 rows of 32 results of each wave");
    static_assert(SIZE * 4 >= ROWS * 2 + THREADS, "room for the notes of attention_mend");
};

/* Where a piece of a line of PIECES lies: within 128 bytes pieces change places, so that neither those of one line nor
 * those of eight lines, next to each other or eight apart, meet in a bank. `from` is the place of a line and a piece that
 * these are more than, with no bit in common. */
template <int PIECES> GPU_FN u32 attention_place(u32 line, u32 piece, u32 from = 0) {
    u32 at = line * PIECES + piece, turn = line / (PIECES < 8 ? 8 / PIECES : 1) ^ line / 8;
    return (from ^ (at ^ turn) % 8) + at / 8 * 8;
}

/* A fragment: 16 lines from number `line` on, terms from piece number `piece` on. `from` is attention_own's. */
template <int PIECES> GPU_FN struct mma_fragment attention_load(const gpu_16 *lds, u32 from, u32 line, u32 piece) {
    struct mma_fragment f;
    GPU_UNROLL for (u32 i = 0; i < MMA_WORDS / 4; i++) {
        gpu_16 x = lds[attention_place<PIECES>(line, piece + i, from)];
        GPU_UNROLL for (u32 w = 0; w < 4; w++) f.word[i * 4 + w] = x.word[w];
    }
    return f;
}
/* Anew in each step, for what comes of it would fill registers. */
template <int PIECES> GPU_FN u32 attention_own(void) {
    return gpu_anew(attention_place<PIECES>(gpu_lane() % 16, mma_piece()));
}

/* What a thread takes of keys or values in each step: pieces of eight elements, the first of row `row` of the step from
 * `column` on. whole: rows have whole pieces. */
struct attention_source {
    const u16 *from;
    i64 stride;
    u32 keys, elements, row, column;
    bool whole;
};

/* How it goes on from there: of keys down the rows, of values in pairs of neighbours along them. */
template <int DIM> struct attention_keys {
    enum { NEXT = attention_shape<DIM>::THREADS / attention_shape<DIM>::PIECES };
    GPU_FN u32 row(void) { return gpu_thread() / attention_shape<DIM>::PIECES; }
    GPU_FN u32 column(void) { return gpu_thread() % attention_shape<DIM>::PIECES * 8; }
    GPU_FN u32 down(u32 n) { return n * NEXT; }
    GPU_FN u32 along(u32) { return 0; }
};
template <int DIM> struct attention_values {
    enum { PAIRS = attention_shape<DIM>::KEYS / 2, NEXT = attention_shape<DIM>::THREADS / (8 * PAIRS) * 64 };
    GPU_FN u32 term(void) { return gpu_thread() / 8 % PAIRS * 2; } /* of the product with weights, that the pair begins at */
    GPU_FN u32 row(void) { return mma_turned(term()); }
    GPU_FN u32 column(void) { return gpu_thread() / (8 * PAIRS) * 64 + gpu_thread() % 8 * 8; }
    GPU_FN u32 down(u32 n) { return n % 2; }
    GPU_FN u32 along(u32 n) { return n / 2 * NEXT; }
};

template <typename W>
GPU_FN struct attention_source attention_source_of(const u16 *from, i64 stride, u32 keys, i64 elements) {
    return {from, stride, keys, (u32)elements, W::row(), W::column(), elements % 8 == 0};
}

/* A piece with zeros for what is not there. */
template <typename W> GPU_FN gpu_16 attention_piece(const struct attention_source &s, u32 first, u32 n) {
    u32 row = first + s.row + W::down(n), column = s.column + W::along(n);
    bool there = row < s.keys && column < s.elements;
    return mma_fetch8(s.from + (there ? row * s.stride + column : 0), there ? s.elements - column : 0);
}

/* The pieces of the step from number `first` on, on their way to registers: of those that are not there, others. Offsets
 * take 32 bits, for those of 64 there are no registers. */
template <typename W, int DIM, int N>
GPU_FN void attention_fetch(const struct attention_source &s, u32 first, gpu_16 (&x)[N]) {
    const u16 *from = s.from + first * s.stride;
    u32 left = s.keys - first, stride = (u32)s.stride;
    if (!s.whole) return;
    GPU_UNROLL for (u32 n = 0; n < N; n++) {
        u32 column = s.column + W::along(n), row = s.row;
        if (column >= s.elements) column = 0;
        const u16 *line = from + W::down(n) * s.stride;
        if (left < attention_shape<DIM>::KEYS) {
            row += W::down(n);
            line = from;
            if (row >= left) row = left - 1;
        }
        x[n] = *(const gpu_16 *)((const u8 *)line + (row * stride + column) * 2);
    }
}

template <int DIM> GPU_FN void attention_put_keys(const struct attention_source &s, u32 first, gpu_16 *lds,
                                                  const gpu_16 (&x)[attention_shape<DIM>::MINE]) {
    typedef attention_shape<DIM> shape;
    typedef attention_keys<DIM> keys;
    u32 own = gpu_anew(attention_place<shape::PIECES>(s.row, s.column / 8));
    if (!s.whole) {
        GPU_NO_UNROLL for (u32 n = 0; n < shape::MINE; n++)
            lds[attention_place<shape::PIECES>(n * keys::NEXT, 0, own)] = attention_piece<keys>(s, first, n);
    } else if (s.column < s.elements) {
        GPU_UNROLL for (u32 n = 0; n < shape::MINE; n++)
            lds[attention_place<shape::PIECES>(n * keys::NEXT, 0, own)] = x[n];
    }
}

/* The first step of keys, with zeros in the columns that are not there in any. */
template <int DIM> GPU_FN void attention_begin_keys(const struct attention_source &s, gpu_16 *lds,
                                                    gpu_16 (&x)[attention_shape<DIM>::MINE]) {
    typedef attention_shape<DIM> shape;
    u32 own = attention_place<shape::PIECES>(s.row, s.column / 8);
    attention_fetch<attention_keys<DIM>, DIM>(s, 0, x);
    GPU_UNROLL for (u32 n = 0; n < shape::MINE; n++)
        lds[attention_place<shape::PIECES>(n * attention_keys<DIM>::NEXT, 0, own)] = gpu_16{{0, 0, 0, 0}};
    attention_put_keys<DIM>(s, 0, lds, x);
}

/* Two keys' values turned round to pairs, of which one column has `own`. */
template <int PIECES> GPU_FN void attention_put_pairs(gpu_16 *lds, u32 own, u32 word, u32 column, const gpu_16 &x,
                                                      const gpu_16 &y) {
    GPU_UNROLL for (u32 e = 0; e < 8; e++) {
        u32 low = x.word[e / 2], high = y.word[e / 2];
        lds[attention_place<PIECES>(column + e, 0, own)].word[word] =
            e % 2 ? low >> 16 | (high & 0xffff0000u) : (low & 0xffff) | high << 16;
    }
}
template <int DIM> GPU_FN void attention_put_values(const struct attention_source &s, u32 first, gpu_16 *lds,
                                                    const gpu_16 (&x)[attention_shape<DIM>::MINE]) {
    typedef attention_values<DIM> values;
    enum { PIECES = attention_shape<DIM>::KEYS / 8, MINE = attention_shape<DIM>::MINE };
    u32 own = gpu_anew(attention_place<PIECES>(s.column, values::term() / 8)), word = values::term() % 8 / 2;
    bool full = first + attention_shape<DIM>::KEYS <= s.keys;
    if (!s.whole || !full) {
        GPU_NO_UNROLL for (u32 n = 0; n < MINE; n += 2)
            attention_put_pairs<PIECES>(lds, own, word, values::along(n), attention_piece<values>(s, first, n),
                                        attention_piece<values>(s, first, n + 1));
    } else {
        GPU_UNROLL for (u32 n = 0; n < MINE; n += 2)
            attention_put_pairs<PIECES>(lds, own, word, values::along(n), x[n], x[n + 1]);
    }
}

/* Queries of the block from number `first` on into LDS. */
template <int DIM> GPU_FN void attention_put_queries(const struct gpu_attention &p, const struct attention_row *rows,
                                                     u32 first, gpu_16 *lds) {
    typedef attention_shape<DIM> shape;
    u32 piece = gpu_thread() % shape::PIECES;
    rows += first;
    GPU_NO_UNROLL for (u32 r = gpu_thread() / shape::PIECES; r < shape::CHUNK; r += shape::THREADS / shape::PIECES)
        lds[r / 16 * (16 * shape::PIECES) + attention_place<shape::PIECES>(r % 16, piece)] =
            mma_fetch8((const u16 *)p.q + rows[r].q + piece * 8, rows[r].out >= 0 ? p.depth - piece * 8 : 0);
}

/* Lines of a wave, DIM elements each: fragments in registers, or where they lie in LDS. */
template <int DIM, int TILES, bool KEPT> struct attention_lines {
    struct mma_fragment kept[TILES][KEPT ? DIM / MMA_K : 1];
    const gpu_16 *lds;
    GPU_FN struct mma_fragment at(const attention_lines &q, u32 own, u32 i, u32 d) {
        if (KEPT) return q.kept[i][KEPT ? d : 0];
        return attention_load<DIM / 8>(q.lds + i * (16 * (DIM / 8)), own, 0, d * (MMA_K / 8));
    }
};
template <int DIM>
using attention_queries = attention_lines<DIM, attention_shape<DIM>::TILES, attention_shape<DIM>::KEPT>;
template <int DIM> GPU_FN void attention_take_queries(const struct gpu_attention &p, const struct attention_row *rows,
                                                      gpu_16 *lds, attention_queries<DIM> &q) {
    typedef attention_shape<DIM> shape;
    u32 line = gpu_wave() * (16 * shape::TILES), own = attention_own<shape::PIECES>();
    q.lds = lds + line % shape::CHUNK * shape::PIECES;
    GPU_UNROLL for (u32 first = 0; first < shape::ROWS; first += shape::CHUNK) {
        attention_put_queries<DIM>(p, rows, first, lds);
        gpu_sync();
        if (!shape::KEPT) return;
        if (line / shape::CHUNK == first / shape::CHUNK)
            GPU_UNROLL for (u32 i = 0; i < shape::TILES; i++) GPU_UNROLL for (u32 d = 0; d < shape::DEEP; d++)
                q.kept[i][d] = attention_load<shape::PIECES>(q.lds + i * (16 * shape::PIECES), own, 0, d * (MMA_K / 8));
        gpu_sync();
    }
}

/* q k^T for a step of keys. */
template <typename T, int DIM, int TILES, bool KEPT, int COLUMNS>
GPU_FN void attention_multiply(const struct attention_lines<DIM, TILES, KEPT> &q, const gpu_16 *ks,
                               struct mma_tile (&s)[TILES][COLUMNS]) {
    enum { PIECES = DIM / 8 };
    u32 own = attention_own<PIECES>();
    mma_clear(s);
    GPU_UNROLL for (u32 d = 0; d < DIM / MMA_K; d++) {
        struct mma_fragment y[TILES];
        GPU_UNROLL for (int i = 0; i < TILES; i++) y[i] = attention_lines<DIM, TILES, KEPT>::at(q, own, i, d);
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) {
            struct mma_fragment x = attention_load<PIECES>(ks, own, j * 16, d * (MMA_K / 8));
            GPU_UNROLL for (int i = 0; i < TILES; i++) mma<T>(s[i][j], x, y[i]);
        }
        mma_stay();
    }
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++) mma_hold(s[i][j]);
}

/* Two weights in a word, rounded. They are never below 0, so that half a unit more is enough for bf16; a NaN may get lost,
 * for the total of its row has it too. */
template <typename T> struct attention_weights {
    GPU_FN u32 of(f32 low, f32 high) { return mma_pack(low, high, T()); }
};
template <> struct attention_weights<bf16> {
    GPU_FN u32 of(f32 low, f32 high) {
        return (gpu_bits<u32>(low) + 0x8000) >> 16 | ((gpu_bits<u32>(high) + 0x8000) & 0xffff0000u);
    }
};

/* Adds the weighted values of a step of keys. */
template <typename T, int TILES, int STEPS, int COLUMNS>
GPU_FN void attention_add(const struct mma_tile (&s)[TILES][COLUMNS], const gpu_16 *vs,
                          struct mma_tile (&out)[TILES][STEPS]) {
    enum { PIECES = COLUMNS * 2, HIGH = MMA_K / 16 };
    u32 own = attention_own<PIECES>();
    mma_stay();
    GPU_UNROLL for (u32 j = 0; j < COLUMNS / HIGH; j++) {
        struct mma_fragment y[TILES];
        GPU_UNROLL for (int i = 0; i < TILES; i++) y[i] = mma_turn<attention_weights<T>>(&s[i][j * HIGH]);
        GPU_UNROLL for (u32 c = 0; c < STEPS; c++) {
            struct mma_fragment x = attention_load<PIECES>(vs, own, c * 16, j * (MMA_K / 8));
            GPU_UNROLL for (int i = 0; i < TILES; i++) mma<T>(out[i][c], x, y[i]);
        }
        mma_stay();
    }
}

/* Four neighbours of a row, or of its sums of a part of the keys, to memory. */
template <typename T> GPU_FN void attention_put(const struct gpu_attention &p, i64 row, i64 column,
                                              const gpu_vec<f32> &x) {
    struct alignas(8) pair {
        u32 word[2];
    };
    i64 at = row * p.width + column, left = p.width - column;
    if (p.splits > 1) {
        f32 *to = (f32 *)p.partial + at;
        if (left >= 4 && p.width % 4 == 0)
            gpu_store16(to, x);
        else
            GPU_UNROLL for (i32 e = 0; e < 4; e++) if (e < left) to[e] = x.v[e];
        return;
    }
    pair y;
    GPU_UNROLL for (int e = 0; e < 2; e++) y.word[e] = mma_pack(x.v[e * 2], x.v[e * 2 + 1], T());
    u16 *to = (u16 *)p.out + at;
    if (left >= 4 && p.width % 4 == 0)
        *(pair *)to = y;
    else
        GPU_UNROLL for (i32 e = 0; e < 4; e++) if (e < left) to[e] = (u16)(y.word[e / 2] >> e % 2 * 16);
}

/* Writes the results, or the sums of a part of the keys, 32 columns of 16 rows at a time, which are turned round in LDS,
 * where each wave has a place. The bits of the result are those of the lane's rows that must be summed again, of which
 * there are none unless keys are left out. */
template <typename T, int TILES, int STEPS>
GPU_FN u32 attention_store(const struct gpu_attention &p, const struct attention_row *rows,
                           struct attention_sums<TILES, STEPS> &sums, bool hides, gpu_16 *lds) {
    const f32 ln2 = 0.69314718055994531f;
    u32 again = 0;
    lds += gpu_wave() * 128;
    attention_total(sums);
    GPU_UNROLL for (int i = 0; i < TILES; i++) {
        f32 sum = sums.total[i][0], part = p.splits > 1 ? 1 : sum == 0 ? 0 : 1.0f / sum, high = sums.most[i][0] * ln2;
        i64 row = rows[i * 16 + attention_line(0)].out;
        if (row >= 0 && gpu_lane() < 16) {
            if (p.splits > 1) {
                f32 *to = (f32 *)p.stats + (row + (i64)gpu_block_y() * p.total) * 2;
                to[0] = high;
                to[1] = sum;
            } else if (p.log_sums) {
                ((f32 *)p.log_sums)[row] = attention_log_sum(high, sum);
            }
        }
        bool nan = false;
        GPU_UNROLL for (int c = 0; c < STEPS; c += 2) {
            gpu_sync();
            GPU_UNROLL for (int h = 0; h < 2; h++) {
                struct mma_tile x = mma_gather(sums.out[i][c + h]);
                GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e += 4) {
                    u32 quad = h * 4 + gpu_lane() / 16 * (MMA_SUMS / 4) + e / 4;
                    i64 column = c * 16 + quad * 4;
                    gpu_16 four;
                    GPU_UNROLL for (u32 w = 0; w < 4; w++) {
                        nan |= x.v[e + w] != x.v[e + w] && column + w < p.width;
                        four.word[w] = gpu_bits<u32>(x.v[e + w] * part);
                    }
                    lds[attention_place<8>(gpu_lane() % 16, quad)] = four;
                }
            }
            gpu_sync();
            GPU_NO_UNROLL for (u32 u = gpu_lane(); u < 128; u += GPU_WAVE) {
                i64 to = rows[i * 16 + u / 8].out, column = c * 16 + u % 8 * 4;
                if (to < 0 || column >= p.width) continue;
                if (p.splits > 1) to += (i64)gpu_block_y() * p.total;
                attention_put<T>(p, to, column, gpu_load16((const f32 *)&lds[attention_place<8>(u / 8, u % 8)]));
            }
        }
        if (hides && nan && sum == sum) again |= 1u << i;
    }
    return again;
}

template <typename T, int DIM> GPU_FN void attention_run(const struct gpu_attention &p) {
    typedef attention_shape<DIM> shape;
    enum { ROWS = shape::ROWS, TILES = shape::TILES, KEYS = shape::KEYS, COLUMNS = KEYS / 16, STEPS = DIM / 16 };
    GPU_SHARED gpu_16 lds[shape::SIZE];
    GPU_SHARED struct attention_row rows[ROWS];
    GPU_SHARED struct attention_place kept;
    GPU_SHARED u32 any;
    gpu_16 *ks = lds, *vs = lds + shape::STEP, *qs = shape::KEPT ? lds : vs + shape::STEP;
    struct attention_place at = attention_locate(p, ROWS);
    if (p.q_starts && p.first == 0 && gpu_block_x() == 0) attention_check_starts(p);
    if (at.row0 >= at.rows) return;
    if (gpu_thread() == 0) {
        any = 0;
        kept = at;
    }
    if (gpu_thread() < ROWS) rows[gpu_thread()] = attention_row_of(p, at, gpu_thread());
    gpu_sync();
    attention_queries<DIM> q;
    attention_take_queries(p, rows, qs, q);

    u32 keys = (u32)(at.end - at.begin);
    struct attention_free free = attention_free_of(p, at);
    struct attention_source k = attention_source_of<attention_keys<DIM>>(
        (const u16 *)p.k + at.k + at.begin * p.k_stride[2], p.k_stride[2], keys, p.depth);
    struct attention_source v = attention_source_of<attention_values<DIM>>(
        (const u16 *)p.v + at.v + at.begin * p.v_stride[2], p.v_stride[2], keys, p.width);
    const struct attention_row *mine = rows + gpu_wave() * (16 * TILES);
    struct attention_sums<TILES, STEPS> sums;
    GPU_UNROLL for (int i = 0; i < TILES; i++) {
        sums.most[i][0] = attention_lowest(0.0f);
        sums.total[i][0] = 0;
    }
    mma_clear(sums.out);
    gpu_16 x[shape::MINE];
    if (keys > 0) attention_begin_keys<DIM>(k, ks, x);
    GPU_NO_UNROLL for (u32 key = 0; key < keys; key += KEYS) {
        struct mma_tile s[TILES][COLUMNS];
        gpu_sync();
        attention_fetch<attention_values<DIM>, DIM>(v, key, x);
        attention_multiply<T>(q, ks, s);
        attention_put_values<DIM>(v, key, vs, x);
        gpu_sync();
        f32 fade[TILES][1];
        attention_rate<T>(p, attention_part{mine, kept.begin, keys, free}, key, s, sums, fade);
        if (key + KEYS < keys) attention_fetch<attention_keys<DIM>, DIM>(k, key + KEYS, x);
        attention_fade(sums, fade);
        attention_add<T>(s, vs, sums.out);
        if (key + KEYS < keys) attention_put_keys<DIM>(k, key + KEYS, ks, x);
    }
    bool hides = free.begin > 0 || free.end < keys;
    u32 again = attention_store<T>(p, mine, sums, hides, lds);
    if (again) any = 1;
    gpu_sync();
    if (any) attention_repair<T, ROWS, shape::THREADS>(p, kept, rows, sums, again, (f32 *)lds);
}
#endif

#endif
