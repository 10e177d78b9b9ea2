/* Large matrix products of bf16 and f16 by groups of waves, for which one thread asks for copies of whole tiles
 * (mma_bulk.h). Operands have one dim of stride 1 and start, as their rows and batches do, at multiples of 16 bytes.
 *
 * A block stays on its unit and makes tile after tile of 128 x 256, so that the copies of the next tile are under way
 * while sums of this one are stored. Two groups multiply 64 rows each; the third one's first thread fills the steps of
 * 64 terms that LDS holds as they become free. */
#include "functions.h"
#include "gemm_bulk.h"
#include "gemm_common.h"
#include "mma_bulk.h"

#if MMA_BULK
struct alignas(1024) bulk_page {
    u8 bytes[1024];
};
GPU_DYNAMIC_SHARED(struct bulk_page, bulk_shared);
enum {
    STEP = GPU_MMA_STEP,
    STAGES = GPU_BULK_STAGES,
    STAGE = GPU_MMA_STAGE(GPU_BULK_ROWS, GPU_BULK_COLUMNS),
    B = GPU_BULK_ROWS * STEP * 2, /* where B's part of a stage begins */
    GROUPS = 2
};

GPU_FN u64 *bulk_full(u32 stage) {
    return (u64 *)((u8 *)bulk_shared + STAGES * STAGE + GPU_BULK_STORE + GPU_BULK_BIAS) + stage;
}
GPU_FN u64 *bulk_empty(u32 stage) { return bulk_full(stage) + STAGES; }

GPU_FN u32 bulk_steps(const struct gemm_place &at) { return (u32)((at.k1 - at.k0 + STEP - 1) / STEP); }

/* ---- the group that asks for copies ---- */

/* An operand's tile: its first row and its matrix; the term that comes next is the same for both. */
struct bulk_tile {
    bool along_k;
    i32 row, z;
};
/* One step of one operand: boxes of ROWS lines along k, or of 64 terms across 64 rows. */
template <int ROWS>
GPU_FN void bulk_ask(u8 *lds, const struct gpu_tensor_map &map, const struct bulk_tile &tile, i32 k, u64 *full) {
    if (tile.along_k)
        bulk_copy(lds, map, k, tile.row, tile.z, full);
    else
        GPU_UNROLL for (int r = 0; r < ROWS; r += 64)
            bulk_copy(lds + r * GROUP_LINE, map, tile.row + r, k, tile.z, full);
}

GPU_FN void bulk_fill(const struct gpu_gemm_bulk &p) {
    struct bulk_ring ring = {0, 1};
    GPU_NO_UNROLL for (u32 tile = gpu_block_x(); tile < p.tiles; tile += gpu_blocks_x()) {
        struct gemm_place at = gemm_locate_block(p.g, tile);
        const struct bulk_tile a = {(p.g.a.mode & GPU_GEMM_ALONG_K) != 0, (i32)at.tile_row * GPU_BULK_ROWS,
                                    p.a_batches ? (i32)at.batch : 0};
        const struct bulk_tile b = {(p.g.b.mode & GPU_GEMM_ALONG_K) != 0, (i32)at.tile_column * GPU_BULK_COLUMNS,
                                    p.b_batches ? (i32)at.batch : 0};
        i32 k = (i32)at.k0;
        GPU_NO_UNROLL for (u32 left = bulk_steps(at); left > 0; left--) {
            u8 *lds = (u8 *)bulk_shared + ring.stage * STAGE;
            u64 *full = bulk_full(ring.stage);
            bulk_wait(bulk_empty(ring.stage), ring.phase);
            bulk_expect(full, STAGE);
            bulk_ask<GPU_BULK_ROWS>(lds, p.a, a, k, full);
            bulk_ask<GPU_BULK_COLUMNS>(lds + B, p.b, b, k, full);
            bulk_next<STAGES>(ring);
            k += STEP;
        }
    }
}

/* ---- the groups that multiply ---- */

typedef struct group_sums<GPU_BULK_COLUMNS> bulk_sums;

/* This wave has no more use for a stage. */
GPU_FN void bulk_leave(u32 stage) {
    if (gpu_lane() == 0) bulk_arrive(bulk_empty(stage));
}

template <typename T, bool A_ACROSS, bool B_ACROSS>
GPU_FN void bulk_multiply(bulk_sums &sum, u32 steps, u32 group, struct bulk_ring &ring) {
    u32 before = 0;
    GPU_NO_UNROLL for (u32 step = 0; step < steps; step++) {
        const u8 *from = (const u8 *)bulk_shared + ring.stage * STAGE;
        bulk_wait(bulk_full(ring.stage), ring.phase);
        group_begin();
        group_multiply<T, A_ACROSS, B_ACROSS>(sum.tile, from + group * (64 * GROUP_LINE), from + B);
        group_commit();
        /* One batch stays under way, so that the matrix units have work while threads look at barriers. */
        group_wait<1>();
        if (step > 0) bulk_leave(before);
        before = ring.stage;
        bulk_next<STAGES>(ring);
    }
    group_wait<0>();
    group_hold(sum.tile);
    if (steps > 0) bulk_leave(before);
}

/* x times the sigmoid of y, to the digits that 16 bits keep. Of y far below 0 e^y is a number without all of them, but
 * then the result is nearer to 0 than the least that they hold. */
GPU_FN f32 bulk_gated(f32 x, f32 y) {
    f32 e = mma_exp2(-1.4426950408889634f * gpu_fabs(y));
    return x * ((y < 0 ? e : 1.0f) * mma_reciprocal(1.0f + e));
}
template <int ACTIVATION> GPU_FN f32 bulk_activated(f32 x) {
    if (ACTIVATION == GPU_ACTIVATION_GELU) return gemm_activate_float<f32>(ACTIVATION, x); /* gpu_gelu divides: 11 us more */
    if (ACTIVATION == GPU_ACTIVATION_SILU) return bulk_gated(x, x);
    /* (1 + tanh u) / 2 is the sigmoid of 2 u. */
    if (ACTIVATION == GPU_ACTIVATION_GELU_TANH)
        return bulk_gated(x, 1.5957691216057308f * gpu_fma(0.044715f * x * x, x, x));
    if (ACTIVATION == GPU_ACTIVATION_TANH) return gpu_hyperbolic_tangent(x);
    return x < 0 ? 0 : x;
}
template <int ACTIVATION> GPU_FN void bulk_activate(f32 (&x)[32]) {
    GPU_UNROLL for (int i = 0; i < 32; i++) x[i] = bulk_activated<ACTIVATION>(x[i]);
}

/* What a thread takes along for a tile's bias: that of one of the columns, or of its lane's two rows. */
struct bulk_bias {
    f32 one[2];
};
template <typename T>
GPU_FN struct bulk_bias bulk_bias_of(const struct gpu_gemm &p, i64 row0, i64 column0) {
    struct bulk_bias mine = {{0, 0}};
    const T *bias = (const T *)p.out.bias;
    if (!bias) return mine;
    if (p.out.bias_rows) {
        GPU_UNROLL for (u32 h = 0; h < 2; h++) {
            i64 row = row0 + group_row(h * 2);
            if (row < p.m) mine.one[h] = gpu_up(bias[row * p.out.bias_step]);
        }
    } else if (column0 + gpu_thread() < p.n) {
        mine.one[0] = gpu_up(bias[(column0 + gpu_thread()) * p.out.bias_step]);
    }
    return mine;
}
/* Shows the columns' to the other threads, by one of two places in turn. */
GPU_FN const f32 *bulk_bias_share(const struct gpu_gemm &p, const struct bulk_bias &mine, u32 turn) {
    f32 *all = (f32 *)((u8 *)bulk_shared + STAGES * STAGE + GPU_BULK_STORE) + turn % 2 * GPU_BULK_COLUMNS;
    if (!p.out.bias || p.out.bias_rows) return NULL;
    all[gpu_thread()] = mine.one[0];
    bulk_sync(1, GROUPS * 128);
    return all;
}
/* Adds the bias to this lane's 32 sums of 16 rows and 64 columns; `columns` are theirs or NULL. */
GPU_FN void bulk_bias_add(const struct bulk_bias &mine, const f32 *columns, f32 (&x)[32]) {
    GPU_UNROLL for (u32 i = 0; i < 32; i += 4) {
        float2 two = make_float2(0, 0);
        if (columns) two = *(const float2 *)(columns + group_column(i));
        GPU_UNROLL for (u32 e = 0; e < 4; e++) x[i + e] += columns ? (e % 2 ? two.y : two.x) : mine.one[e / 2];
    }
}

GPU_FN void bulk_activation(const struct gpu_gemm &p, f32 (&x)[32]) {
    switch (p.out.activation) {
    case GPU_ACTIVATION_RELU: bulk_activate<GPU_ACTIVATION_RELU>(x); break;
    case GPU_ACTIVATION_GELU: bulk_activate<GPU_ACTIVATION_GELU>(x); break;
    case GPU_ACTIVATION_GELU_TANH: bulk_activate<GPU_ACTIVATION_GELU_TANH>(x); break;
    case GPU_ACTIVATION_SILU: bulk_activate<GPU_ACTIVATION_SILU>(x); break;
    case GPU_ACTIVATION_TANH: bulk_activate<GPU_ACTIVATION_TANH>(x); break;
    default: break;
    }
}

/* Where row r, column c lies in a box of 16 rows and 64 columns, as a copy to memory takes it. */
GPU_FN u16 *bulk_place(u8 *box, u32 r, u32 c) {
    return (u16 *)(box + r * GROUP_LINE + (c / 8 ^ r % 8) * 16 + c % 8 * 2);
}
/* Puts this lane's 32 there. */
template <typename T> GPU_FN void bulk_box(u8 *box, const f32 (&x)[32]) {
    GPU_UNROLL for (u32 i = 0; i < 32; i += 2)
        *(u32 *)bulk_place(box, group_row(i) % 16, group_column(i)) = mma_pack(x[i], x[i + 1], T());
}

/* Stores this wave's 16 rows of 64 columns through a box where rows begin anywhere: pairs of neighbours where they lie
 * in one word. */
template <typename T>
GPU_FN void bulk_pairs(const struct gpu_gemm &p, i64 to, i64 row0, i64 column0, u8 *box, const f32 (&x)[32]) {
    u32 columns = p.n - column0 < 64 ? (u32)(p.n - column0) : 64, rows = p.m - row0 < 16 ? (u32)(p.m - row0) : 16;
    if (p.m <= row0 || p.n <= column0) return; /* the whole wave */
    group_sync_wave();
    bulk_box<T>(box, x);
    group_sync_wave();
    u16 *first = (u16 *)p.out.to + to + row0 * p.n + column0;
    GPU_UNROLL for (u32 r = 0; r < 16; r++) {
        u16 *row = first + r * p.n;
        u32 odd = (u32)(u64)row / 2 % 2, c = gpu_lane() * 2 + odd;
        u32 low = *bulk_place(box, r, c & 63), high = *bulk_place(box, r, (c + 1) & 63);
        if (r < rows && c + 1 < columns)
            *(u32 *)(row + c) = low | high << 16;
        else if (r < rows && c < columns)
            row[c] = (u16)low;
        if (r < rows && odd && gpu_lane() == 31) row[0] = (u16)high; /* (c + 1) & 63 is 0 there */
    }
}

/* Stores this lane's 32 one by one, as f8e4m3. */
GPU_FN void bulk_singly(const struct gpu_gemm &p, i64 to, i64 row0, i64 column0, const f32 (&x)[32]) {
    GPU_UNROLL for (u32 i = 0; i < 32; i++) {
        i64 row = row0 + group_row(i) % 16, column = column0 + group_column(i);
        if (row < p.m && column < p.n) gpu_down((f8e4m3 *)p.out.to + to + row * p.n + column, x[i]);
    }
}

/* The same as they are, of a part of k or because the result is of f32. */
GPU_FN void bulk_parts(const struct gpu_gemm &p, i64 to, i64 row0, i64 column0, const f32 (&x)[32]) {
    bool pairs = p.n % 2 == 0 && (u64)p.out.to % 8 == 0;
    GPU_UNROLL for (u32 i = 0; i < 32; i += 2) {
        i64 row = row0 + group_row(i) % 16, column = column0 + group_column(i);
        if (row >= p.m || column >= p.n) continue;
        f32 *at = (f32 *)p.out.to + to + row * p.n + column;
        if (pairs) {
            *(float2 *)at = make_float2(x[i], x[i + 1]);
        } else {
            at[0] = x[i];
            if (column + 1 < p.n) at[1] = x[i + 1];
        }
    }
}

/* Sends this wave's 16 rows of 64 columns on their way, by one of its two boxes. */
template <typename T>
GPU_FN void bulk_send(const struct gpu_gemm_bulk &p, i32 column, i32 row, i32 z, u8 *box, const f32 (&x)[32]) {
    if (gpu_lane() == 0) bulk_put_wait<1>();
    group_sync_wave();
    bulk_box<T>(box, x);
    bulk_show();
    group_sync_wave();
    if (gpu_lane() == 0) bulk_put(p.c, column, row, z, box);
}

/* Each wave stores its 16 rows, 64 columns at a time. */
template <typename T>
GPU_FN void bulk_store(const struct gpu_gemm_bulk &p, const struct gemm_place &at, bulk_sums &sum, i64 row0,
                       const struct bulk_bias &bias, const f32 *columns) {
    u8 *mine = (u8 *)bulk_shared + STAGES * STAGE + gpu_wave() * (2 * GPU_BULK_BOX);
    i64 column0 = (i64)at.tile_column * GPU_BULK_COLUMNS;
    row0 += gpu_wave() % 4 * 16;
    GPU_NO_UNROLL for (u32 pass = 0; pass < GPU_BULK_COLUMNS / 64; pass++, column0 += 64) {
        f32 x[32];
        GPU_UNROLL for (u32 i = 0; i < 32; i++) x[i] = group_at(sum, i);
        /* The next columns move up, for registers can't be picked by number. */
        GPU_UNROLL for (u32 i = 0; i + 32 < GPU_BULK_COLUMNS / 2; i++) group_at(sum, i) = group_at(sum, i + 32);
        if (p.g.out.partial) {
            bulk_parts(p.g, at.to, row0, column0, x);
            continue;
        }
        if (p.g.out.bias) bulk_bias_add(bias, columns ? columns + pass * 64 : NULL, x);
        bulk_activation(p.g, x);
        if (p.c_mapped)
            bulk_send<T>(p, (i32)column0, (i32)row0, (i32)at.batch, mine + pass % 2 * GPU_BULK_BOX, x);
        else if (p.g.f8)
            bulk_singly(p.g, at.to, row0, column0, x);
        else
            bulk_pairs<T>(p.g, at.to, row0, column0, mine, x);
    }
}

template <typename T> GPU_FN void bulk_work(const struct gpu_gemm_bulk &p, u32 group) {
    struct bulk_ring ring = {0, 0};
    bool a_across = !(p.g.a.mode & GPU_GEMM_ALONG_K), b_across = !(p.g.b.mode & GPU_GEMM_ALONG_K);
    u32 turn = 0;
    GPU_NO_UNROLL for (u32 tile = gpu_block_x(); tile < p.tiles; tile += gpu_blocks_x(), turn++) {
        struct gemm_place at = gemm_locate_block(p.g, tile);
        i64 row0 = (i64)at.tile_row * GPU_BULK_ROWS + group * 64, column0 = (i64)at.tile_column * GPU_BULK_COLUMNS;
        struct bulk_bias bias = p.g.f8 ? bulk_bias_of<f8e4m3>(p.g, row0, column0) : bulk_bias_of<T>(p.g, row0, column0);
        bulk_sums sum;
        group_clear(sum);
        if (a_across && b_across)
            bulk_multiply<T, true, true>(sum, bulk_steps(at), group, ring);
        else if (a_across)
            bulk_multiply<T, true, false>(sum, bulk_steps(at), group, ring);
        else if (b_across)
            bulk_multiply<T, false, true>(sum, bulk_steps(at), group, ring);
        else
            bulk_multiply<T, false, false>(sum, bulk_steps(at), group, ring);
        bulk_store<T>(p, at, sum, row0, bias, bulk_bias_share(p.g, bias, turn));
    }
    if (gpu_lane() == 0) bulk_put_end();
}

template <typename T> GPU_FN void bulk_run(const struct gpu_gemm_bulk &p) {
    u32 group = group_number();
    if (gpu_thread() == 0) {
        for (u32 s = 0; s < STAGES; s++) {
            bulk_barrier_begin(bulk_full(s), 1);
            bulk_barrier_begin(bulk_empty(s), GROUPS * 4);
        }
        bulk_barriers_publish();
    }
    gpu_sync();
    if (group == GROUPS) {
        group_give_registers<40>();
        if (gpu_thread() == GROUPS * 128) bulk_fill(p);
    } else {
        group_take_registers<232>();
        bulk_work<T>(p, group);
    }
}

BULK_KERNEL(bulk_bf16, struct gpu_gemm_bulk, GPU_BULK_THREADS) { bulk_run<bf16>(p); }
BULK_KERNEL(bulk_f16, struct gpu_gemm_bulk, GPU_BULK_THREADS) { bulk_run<f16>(p); }
#else
/* The host never asks for these where there are no such copies. */
GPU_KERNEL(bulk_bf16, struct gpu_gemm_bulk) { (void)p; }
GPU_KERNEL(bulk_f16, struct gpu_gemm_bulk) { (void)p; }
#endif
