/* Matrix products of bf16 and f16 by matrix instructions, and of f8e4m3 where fragments can be of it (MMA_F8), whose
 * pairs are the elements then. Operands have one dim of stride 1 and start, as their rows do, at multiples of 16
 * bytes; others are packed first (gemm.hip, and f8e4m3 by gemm_mma_pack.h).
 *
 * A block of 256 threads makes a tile of 128 x 256 (on Hopper by gemm_bulk.hip), 128 x 128, 64 x 128 or 64 x 64; its waves, 2 x WAVES / 2 of them,
 * have MI x NI tiles of 16 x 16 each. Where groups of four waves have instructions of their own (mma_group.h), a block
 * is two of them, one above the other or side by side. */
#include "gemm_common.h"
#include "gemm_mma_pack.h"
#include "gemm_mma_store.h"
#include "mma_across.h"

#if MMA && MMA_ASYNC
/* ---- asynchronous copies: LDS holds some steps of 64 terms, as mma_across.h says ---- */

struct alignas(1024) mma_page {
    u8 bytes[1024];
};
GPU_DYNAMIC_SHARED(struct mma_page, mma_shared);
enum { STEP = GPU_MMA_STEP, LINE = MMA_LINE, LINES = MMA_LINES };

/* This thread's pieces of an operand: ROWS / 32 of them, `next` bytes apart in memory and mma_next in LDS. */
struct mma_source {
    const u8 *base, *from;
    i64 next, advance;
    i64 left; /* terms of k from this thread's first piece to the end */
    u32 place, there; /* there: ACROSS, bytes of a piece that exist; otherwise a bit a piece */
};

template <int ROWS, bool ACROSS>
GPU_FN struct mma_source mma_source_of(const struct gpu_gemm_side &side, i64 offset, i64 row0, i64 rows, i64 k0,
                                       i64 k1) {
    enum { PIECES = ACROSS ? ROWS / 8 : STEP / 8 };
    struct mma_source s;
    u32 line = gpu_thread() / PIECES, piece = gpu_thread() % PIECES;
    i64 pitch = (ACROSS ? side.k : side.row) * 2;
    s.base = (const u8 *)side.from + offset * 2;
    s.place = (piece / 8 * LINES + line) * LINE + (piece % 8 ^ line % 8) * 16;
    s.next = GPU_BLOCK / PIECES * pitch;
    if (ACROSS) {
        i64 bytes = (rows - row0 - piece * 8) * 2;
        s.from = s.base + (k0 + line) * pitch + (row0 + piece * 8) * 2;
        s.advance = STEP * pitch;
        s.left = k1 - k0 - line;
        s.there = bytes <= 0 ? 0 : bytes < 16 ? (u32)bytes : 16;
    } else {
        s.from = s.base + (row0 + line) * pitch + (k0 + piece * 8) * 2;
        s.advance = STEP * 2;
        s.left = k1 - k0 - piece * 8;
        s.there = 0;
        GPU_UNROLL for (u32 j = 0; j < ROWS / 32; j++)
            if (row0 + line + j * (GPU_BLOCK / PIECES) < rows) s.there |= 1u << j;
    }
    return s;
}

template <int ROWS, bool ACROSS> GPU_FN void mma_source_copy(struct mma_source &s, u8 *lds) {
    enum { NEXT = GPU_BLOCK / (ACROSS ? ROWS / 8 : STEP / 8) };
    u32 whole = s.left >= 8 ? 16 : s.left <= 0 ? 0 : (u32)s.left * 2;
    GPU_UNROLL for (u32 j = 0; j < ROWS / 32; j++) {
        u32 n = ACROSS ? (s.left > (i64)(j * NEXT) ? s.there : 0) : (s.there >> j & 1 ? whole : 0);
        mma_copy16(lds + s.place + j * (NEXT * LINE), n ? s.from + j * s.next : s.base, n);
    }
    s.from += s.advance;
    s.left -= STEP;
}

/* The steps of a product on their way through LDS, which holds `stages` of them: `ahead` are asked for before the first
 * one is used, and one more with each that is. A stage is filled again LAG steps after it was used. */
template <int ROWS, int COLUMNS, bool A_ACROSS, bool B_ACROSS> struct mma_ring {
    enum { STAGE = GPU_MMA_STAGE(ROWS, COLUMNS), B = ROWS * STEP * 2 };
    struct mma_source a, b;
    u32 left, filled; /* steps not asked for yet, the stage of the next */
};

template <int ROWS, int COLUMNS, bool A_ACROSS, bool B_ACROSS>
GPU_FN void mma_ring_fill(struct mma_ring<ROWS, COLUMNS, A_ACROSS, B_ACROSS> &ring, u32 stages) {
    typedef struct mma_ring<ROWS, COLUMNS, A_ACROSS, B_ACROSS> type;
    if (ring.left > 0) {
        u8 *to = (u8 *)mma_shared + ring.filled * type::STAGE;
        mma_source_copy<ROWS, A_ACROSS>(ring.a, to);
        mma_source_copy<COLUMNS, B_ACROSS>(ring.b, to + type::B);
        ring.filled = ring.filled + 1 == stages ? 0 : ring.filled + 1;
        ring.left--;
    }
    mma_copy_commit();
}

template <int ROWS, int COLUMNS, bool A_ACROSS, bool B_ACROSS>
GPU_FN struct mma_ring<ROWS, COLUMNS, A_ACROSS, B_ACROSS> mma_ring_of(const struct gpu_gemm &p,
                                                                      const struct gemm_place &at, u32 steps,
                                                                      u32 ahead) {
    struct mma_ring<ROWS, COLUMNS, A_ACROSS, B_ACROSS> ring;
    ring.a = mma_source_of<ROWS, A_ACROSS>(p.a, at.a, (i64)at.tile_row * ROWS, p.m, at.k0, at.k1);
    ring.b = mma_source_of<COLUMNS, B_ACROSS>(p.b, at.b, (i64)at.tile_column * COLUMNS, p.n, at.k0, at.k1);
    ring.left = steps;
    ring.filled = 0;
    GPU_NO_UNROLL for (u32 s = 0; s < ahead; s++) mma_ring_fill(ring, p.stages);
    return ring;
}

GPU_FN u32 mma_steps(const struct gemm_place &at) { return (u32)((at.k1 - at.k0 + STEP - 1) / STEP); }
GPU_FN u32 mma_ahead(u32 steps, u32 stages, u32 lag) { return steps <= stages ? steps : stages - lag; }

#if MMA_GROUP
/* ---- products by groups of waves ---- */

/* Whether the result's rows are stored by 16 bytes, with no more than a bias and relu before: the common case, which
 * group_lines has the fewest instructions for. */
GPU_FN bool group_plain(const struct gpu_gemm &p) {
    return !p.out.partial && !p.f8 && p.out.activation <= GPU_ACTIVATION_RELU && p.n % 8 == 0 && (u64)p.out.to % 16 == 0;
}

/* Stores 16 rows of 64 columns from LDS, a lane eight columns of every fourth row. */
template <typename T>
GPU_FN void group_lines(const struct gpu_gemm &p, const struct gemm_place &at, i64 row0, i64 column0, const f32 *lds) {
    enum { PITCH = GPU_MMA_STORE_PITCH };
    u32 line0 = gpu_lane() / 8, j = gpu_lane() % 8 * 8;
    i64 row = row0 + line0, column = column0 + j;
    u32 rows = column >= p.n || row >= p.m ? 0 : p.m - row < 16 ? (u32)(p.m - row) : 16;
    u16 *to = (u16 *)p.out.to + at.to + row * p.n + column;
    const T *bias = (const T *)p.out.bias;
    f32 add[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (bias && !p.out.bias_rows && rows > 0)
        GPU_UNROLL for (int e = 0; e < 8; e++) add[e] = gpu_up(bias[(column + e) * p.out.bias_step]);
    gemm_quad<f32> x[4][2];
    GPU_UNROLL for (u32 i = 0; i < 4; i++) GPU_UNROLL for (u32 h = 0; h < 2; h++)
        x[i][h] = *(const gemm_quad<f32> *)(lds + (line0 + i * 4) * PITCH + j + h * 4);
    GPU_UNROLL for (u32 i = 0; i < 4; i++) {
        if (i * 4 >= rows) break;
        f32 one = bias && p.out.bias_rows ? gpu_up(bias[(row + i * 4) * p.out.bias_step]) : 0;
        GPU_UNROLL for (u32 e = 0; e < 8; e++) {
            f32 &y = x[i][e / 4].v[e % 4];
            if (bias) y += p.out.bias_rows ? one : add[e];
            if (p.out.activation == GPU_ACTIVATION_RELU && y < 0) y = 0;
        }
        gpu_vec<u16> v;
        GPU_UNROLL for (u32 e = 0; e < 8; e += 2) {
            u32 two = mma_pack(x[i][e / 4].v[e % 4], x[i][e / 4].v[e % 4 + 1], T());
            v.v[e] = (u16)two;
            v.v[e + 1] = (u16)(two >> 16);
        }
        gpu_store16(to, v);
        to += 4 * p.n;
    }
}

/* Each wave turns its 16 rows round in LDS, 64 columns at a time, to stores of whole lines. */
template <typename T, int COLUMNS>
GPU_FN void group_store(const struct gpu_gemm &p, const struct gemm_place &at, struct group_sums<COLUMNS> &sum,
                        i64 row0, i64 column0, f32 *lds) {
    enum { PITCH = GPU_MMA_STORE_PITCH, PASS = 32 };
    struct alignas(8) pair {
        f32 v[2];
    };
    f32 *mine = lds + gpu_wave() * (16 * PITCH);
    bool plain = group_plain(p);
    row0 += gpu_wave() % 4 * 16;
    GPU_NO_UNROLL for (u32 pass = 0; pass < COLUMNS / 64; pass++) {
        GPU_UNROLL for (u32 i = 0; i < PASS; i += 2) {
            struct pair two = {{group_at(sum, i), group_at(sum, i + 1)}};
            *(struct pair *)(mine + group_row(i) % 16 * PITCH + group_column(i)) = two;
        }
        /* The next columns move up, for registers can't be picked by number. */
        GPU_UNROLL for (int i = 0; i + PASS < COLUMNS / 2; i++) group_at(sum, i) = group_at(sum, i + PASS);
        group_sync_wave();
        if (plain) group_lines<T>(p, at, row0, column0 + pass * 64, mine);
        GPU_NO_UNROLL for (u32 u = plain ? 16 * 16 : gpu_lane(); u < 16 * 16; u += GPU_WAVE) {
            u32 line = u / 16, j = u % 16 * 4;
            i64 row = row0 + line, column = column0 + pass * 64 + j;
            if (row >= p.m || column >= p.n) continue;
            u32 n = p.n - column < 4 ? (u32)(p.n - column) : 4;
            gemm_quad<f32> x = *(const gemm_quad<f32> *)(mine + line * PITCH + j);
            if (p.f8)
                gemm_store<f8e4m3>(p.out, at.to + row * p.n + column, column, n, x);
            else
                gemm_store<T>(p.out, at.to + row * p.n + column, column, n, x);
        }
        group_sync_wave();
    }
}

template <typename T, int ROWS, int COLUMNS, bool A_ACROSS, bool B_ACROSS>
GPU_FN void group_run(const struct gpu_gemm &p) {
    /* One group above the other, or side by side. A tile that fills a unit by itself keeps a batch of products under way
     * while it waits for the others at the barrier; of smaller ones another block fills the gap. */
    enum { HIGH = ROWS / 64, N = COLUMNS / (2 / HIGH), LAG = COLUMNS == 256 ? 2 : 1 };
    typedef struct mma_ring<ROWS, COLUMNS, A_ACROSS, B_ACROSS> ring_type;
    struct gemm_place at = gemm_locate(p);
    u32 steps = mma_steps(at), stages = p.stages, ahead = mma_ahead(steps, stages, LAG), used = 0;
    ring_type ring = mma_ring_of<ROWS, COLUMNS, A_ACROSS, B_ACROSS>(p, at, steps, ahead);
    u32 group = group_number(), row = HIGH == 2 ? group * 64 : 0, column = HIGH == 2 ? 0 : group * N;
    const u8 *a = (const u8 *)mma_shared + row * LINE, *b = (const u8 *)mma_shared + ring_type::B + column * LINE;
    struct group_sums<N> sum;
    group_clear(sum);
    GPU_NO_UNROLL for (u32 step = 0; step < steps; step++) {
        mma_copy_wait_but(ahead - 1);
        if (LAG == 1) group_wait<0>();
        group_publish();
        gpu_sync();
        group_begin();
        group_multiply<T, A_ACROSS, B_ACROSS>(sum.tile, a + used * ring_type::STAGE, b + used * ring_type::STAGE);
        group_commit();
        used = used + 1 == stages ? 0 : used + 1;
        mma_ring_fill(ring, stages);
        if (LAG == 2) group_wait<1>();
    }
    group_wait<0>();
    mma_copy_wait<0>();
    gpu_sync();
    group_store<T, N>(p, at, sum, (i64)at.tile_row * ROWS + row, (i64)at.tile_column * COLUMNS + column,
                      (f32 *)mma_shared);
}
#endif

/* ---- products by waves ---- */

template <typename T, int MI, int NI, bool A_ACROSS, bool B_ACROSS> GPU_FN void mma_run(const struct gpu_gemm &p) {
    enum { ROWS = 2 * MI * 16, COLUMNS = WAVE_COLUMNS * NI * 16 };
    typedef struct mma_ring<ROWS, COLUMNS, A_ACROSS, B_ACROSS> ring_type;
    struct gemm_place at = gemm_locate(p);
    u32 steps = mma_steps(at), stages = p.stages, ahead = mma_ahead(steps, stages, 1), used = 0;
    ring_type ring = mma_ring_of<ROWS, COLUMNS, A_ACROSS, B_ACROSS>(p, at, steps, ahead);
    u32 a_base = mma_fragment_base<A_ACROSS>(gpu_wave() / WAVE_COLUMNS * (MI * 16), 0);
    u32 b_base = mma_fragment_base<B_ACROSS>(gpu_wave() % WAVE_COLUMNS * (NI * 16), 1);
    struct mma_tile sum[MI][NI];
    mma_clear(sum);
    GPU_NO_UNROLL for (u32 step = 0; step < steps; step++) {
        mma_copy_wait_but(ahead - 1);
        gpu_sync();
        mma_ring_fill(ring, stages);
        const u8 *from = (const u8 *)mma_shared + used * ring_type::STAGE;
        used = used + 1 == stages ? 0 : used + 1;
        struct mma_fragment x[2][MI], y[2][NI];
        GPU_UNROLL for (int i = 0; i < MI; i++) x[0][i] = mma_fragment_at<A_ACROSS>(from, a_base, i, 0);
        GPU_UNROLL for (int j = 0; j < NI; j++) y[0][j] = mma_fragment_at<B_ACROSS>(from + ring_type::B, b_base, j, 0);
        GPU_UNROLL for (int t = 0; t < STEP / MMA_K; t++) {
            if (t + 1 < STEP / MMA_K) {
                GPU_UNROLL for (int i = 0; i < MI; i++)
                    x[(t + 1) % 2][i] = mma_fragment_at<A_ACROSS>(from, a_base, i, t + 1);
                GPU_UNROLL for (int j = 0; j < NI; j++)
                    y[(t + 1) % 2][j] = mma_fragment_at<B_ACROSS>(from + ring_type::B, b_base, j, t + 1);
            }
            GPU_UNROLL for (int i = 0; i < MI; i++) GPU_UNROLL for (int j = 0; j < NI; j++)
                mma<T>(sum[i][j], x[t % 2][i], y[t % 2][j]);
        }
    }
    mma_copy_wait<0>();
    mma_store<T, MI, NI>(p, at, sum, (f32 *)mma_shared);
}

/* Which of the two a tile takes. */
template <bool GROUP> struct mma_way {
    template <typename T, int ROWS, int COLUMNS, bool A_ACROSS, bool B_ACROSS>
    GPU_FN void run(const struct gpu_gemm &p) {
        mma_run<T, ROWS / 32, COLUMNS / 16 / WAVE_COLUMNS, A_ACROSS, B_ACROSS>(p);
    }
};
#if MMA_GROUP
template <> struct mma_way<true> {
    template <typename T, int ROWS, int COLUMNS, bool A_ACROSS, bool B_ACROSS>
    GPU_FN void run(const struct gpu_gemm &p) {
        group_run<T, ROWS, COLUMNS, A_ACROSS, B_ACROSS>(p);
    }
};
#endif

template <typename T, int ROWS, int COLUMNS> GPU_FN void mma_product(const struct gpu_gemm &p) {
    typedef mma_way<MMA_GROUP && COLUMNS >= 128 && sizeof(T) == 2> way;
    bool a_across = !(p.a.mode & GPU_GEMM_ALONG_K), b_across = !(p.b.mode & GPU_GEMM_ALONG_K);
    if (a_across && b_across)
        way::template run<T, ROWS, COLUMNS, true, true>(p);
    else if (a_across)
        way::template run<T, ROWS, COLUMNS, true, false>(p);
    else if (b_across)
        way::template run<T, ROWS, COLUMNS, false, true>(p);
    else
        way::template run<T, ROWS, COLUMNS, false, false>(p);
}

#elif MMA
/* ---- through registers ----
 *
 * LDS holds two steps of 32 terms as [row][k]. An operand whose rows are neighbours in memory is transposed on the way:
 * a thread takes eight rows of two neighbouring terms, and stores pairs of terms. */
enum { STEP = 32, PITCH = STEP + 8 };

struct mma_source {
    const u16 *from;
    i64 pitch, left;
    i64 rows; /* from this thread's first row to the end */
    u32 place, across;
    gpu_16 v[2];
};

template <int ROWS>
GPU_FN struct mma_source mma_source_of(const struct gpu_gemm_side &side, i64 offset, i64 row0, i64 rows, i64 k0,
                                       i64 k1) {
    struct mma_source s;
    u32 t = gpu_thread(), row, k;
    s.across = !(side.mode & GPU_GEMM_ALONG_K);
    if (s.across) {
        row = t / 8 % (ROWS / 8) * 8;
        k = (t % 8 + t / ROWS * 8) * 2;
    } else {
        row = t / 4;
        k = t % 4 * 8;
    }
    s.pitch = s.across ? side.k : side.row;
    s.from = (const u16 *)side.from + offset + (row0 + row) * side.row + (k0 + k) * side.k;
    s.left = k1 - k0 - k;
    s.rows = rows - row0 - row;
    if (k >= STEP) { /* a tile of 64 rows leaves half of the threads nothing to transpose */
        s.left = s.rows = 0;
        k = STEP;
    }
    s.place = row * PITCH + k;
    return s;
}

template <int ROWS> GPU_FN void mma_source_fetch(struct mma_source &s) {
    if (s.across) {
        s.v[0] = mma_fetch8(s.from, s.left > 0 ? s.rows : 0);
        s.v[1] = mma_fetch8(s.from + s.pitch, s.left > 1 ? s.rows : 0);
        s.from += STEP * s.pitch;
    } else {
        GPU_UNROLL for (int j = 0; j < ROWS / 64; j++)
            s.v[j] = mma_fetch8(s.from + j * 64 * s.pitch, s.rows > j * 64 ? s.left : 0);
        s.from += STEP;
    }
    s.left -= STEP;
}

template <int ROWS> GPU_FN void mma_source_put(const struct mma_source &s, u16 *lds) {
    if (s.across) {
        if (s.place % PITCH >= STEP) return;
        mma_put_across(lds + s.place, PITCH, s.v);
    } else {
        GPU_UNROLL for (int j = 0; j < ROWS / 64; j++) *(gpu_16 *)(lds + s.place + j * 64 * PITCH) = s.v[j];
    }
}

template <typename T, int ROWS, int COLUMNS> GPU_FN void mma_product(const struct gpu_gemm &p) {
    enum { MI = ROWS / 32, NI = COLUMNS / 16 / WAVE_COLUMNS, STAGE = (ROWS + COLUMNS) * PITCH, B = ROWS * PITCH,
           STORE = 32 * (COLUMNS + 8) * 2, SIZE = 2 * STAGE > STORE ? 2 * STAGE : STORE };
    GPU_SHARED gpu_16 shared[SIZE / 8];
    u16 *lds = (u16 *)shared;
    struct gemm_place at = gemm_locate(p);
    struct mma_source a = mma_source_of<ROWS>(p.a, at.a, (i64)at.tile_row * ROWS, p.m, at.k0, at.k1);
    struct mma_source b = mma_source_of<COLUMNS>(p.b, at.b, (i64)at.tile_column * COLUMNS, p.n, at.k0, at.k1);
    const u32 a_base = gpu_wave() / WAVE_COLUMNS * (MI * 16) * PITCH;
    const u32 b_base = B + gpu_wave() % WAVE_COLUMNS * (NI * 16) * PITCH;
    struct mma_tile sum[MI][NI];
    mma_clear(sum);
    u32 steps = (u32)((at.k1 - at.k0 + STEP - 1) / STEP), buffer = 0;
    mma_source_fetch<ROWS>(a);
    mma_source_fetch<COLUMNS>(b);
    mma_source_put<ROWS>(a, lds);
    mma_source_put<COLUMNS>(b, lds + B);
    gpu_sync();
    GPU_NO_UNROLL for (u32 step = 0; step < steps; step++) {
        const u16 *from = lds + buffer * STAGE;
        if (step + 1 < steps) {
            mma_source_fetch<ROWS>(a);
            mma_source_fetch<COLUMNS>(b);
        }
        GPU_UNROLL for (int t = 0; t < STEP; t += MMA_K) {
            struct mma_fragment x[MI], y[NI];
            GPU_UNROLL for (int i = 0; i < MI; i++) x[i] = mma_load_rows(from + a_base + i * 16 * PITCH + t, PITCH);
            GPU_UNROLL for (int j = 0; j < NI; j++) y[j] = mma_load_rows(from + b_base + j * 16 * PITCH + t, PITCH);
            GPU_UNROLL for (int i = 0; i < MI; i++)
                GPU_UNROLL for (int j = 0; j < NI; j++) mma<T>(sum[i][j], x[i], y[j]);
        }
        buffer ^= 1;
        if (step + 1 < steps) {
            mma_source_put<ROWS>(a, lds + buffer * STAGE);
            mma_source_put<COLUMNS>(b, lds + buffer * STAGE + B);
        }
        gpu_sync();
    }
    mma_store<T, MI, NI>(p, at, sum, (f32 *)lds);
}
#endif

#if MMA
#define MMA_PRODUCT(type, rows, columns) mma_product<type, rows, columns>(p)
#else
/* The host never asks for these where there are no matrix instructions. */
#define MMA_PRODUCT(type, rows, columns) (void)p
#endif
#if MMA && MMA_ASYNC && !(MMA_GROUP && defined(GPU_NVIDIA)) /* which has gemm_bulk.hip */
#define MMA_WIDE(type) MMA_PRODUCT(type, 128, 256)
#else
#define MMA_WIDE(type) (void)p
#endif
/* Blocks that a unit shall have registers for: small tiles of groups of waves have few sums a thread. */
#if MMA && MMA_GROUP
enum { MMA_BLOCKS_64 = 3, MMA_BLOCKS_128 = 2 };
#else
enum { MMA_BLOCKS_64 = 1, MMA_BLOCKS_128 = 1 };
#endif
#define MMA_KERNELS(type, blocks_64, blocks_128)                                                                       \
    GPU_KERNEL(mma_64_##type, struct gpu_gemm) { MMA_PRODUCT(type, 64, 64); }                                          \
    GPU_KERNEL_OF(mma_64_128_##type, struct gpu_gemm, GPU_BLOCK, blocks_64) { MMA_PRODUCT(type, 64, 128); }            \
    GPU_KERNEL_OF(mma_128_##type, struct gpu_gemm, GPU_BLOCK, blocks_128) { MMA_PRODUCT(type, 128, 128); }
MMA_KERNELS(bf16, MMA_BLOCKS_64, MMA_BLOCKS_128)
MMA_KERNELS(f16, MMA_BLOCKS_64, MMA_BLOCKS_128)
GPU_KERNEL(mma_256_bf16, struct gpu_gemm) { MMA_WIDE(bf16); }
GPU_KERNEL(mma_256_f16, struct gpu_gemm) { MMA_WIDE(f16); }

/* Nor does it ask for these where fragments can't be of f8e4m3. */
#if MMA_F8
GPU_KERNEL(mma_pack_f8, struct gpu_gemm_pack) { mma_pack_tiles(p); }
#else
#undef MMA_PRODUCT
#define MMA_PRODUCT(type, rows, columns) (void)p
GPU_KERNEL(mma_pack_f8, struct gpu_gemm_pack) { (void)p; }
#endif
MMA_KERNELS(f8e4m3, 1, 1)
