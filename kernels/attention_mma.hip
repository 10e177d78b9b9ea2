/* Scaled dot product attention of bf16 and f16 by matrix instructions (after Dao, "FlashAttention-2"). q, k and v have
 * elements side by side and rows at multiples of 16 bytes; depth and width are at most DIM.
 *
 * A block has 16 * TILES queries a wave. The values of a step of KEYS keys arrive while its scores are made, the keys of
 * the next while its values are added. */
#include "attention_async.h"
#include "attention_registers.h"

#if MMA && MMA_ASYNC
enum { THREADS = ATTENTION_THREADS };

/* The rows of the block, and their queries into LDS. */
template <int DIM, int ROWS>
GPU_FN void attention_begin(const struct gpu_attention &p, const struct attention_place &at, struct attention_row *rows,
                            mma_lds qs) {
    u32 piece = gpu_thread() % (DIM / 8) * 8, nbytes = attention_bytes<DIM>(p.depth);
    for (u32 r = gpu_thread(); r < ROWS; r += THREADS) rows[r] = attention_row_of(p, at, r);
    gpu_sync();
    GPU_NO_UNROLL for (u32 r = gpu_thread() / (DIM / 8); r < ROWS; r += THREADS / (DIM / 8))
        attention_copy<DIM>(qs, r, (const u16 *)p.q + rows[r].q + (nbytes ? piece : 0), rows[r].out >= 0 ? nbytes : 0);
}

template <typename T, int DIM, int TILES, int KEYS> GPU_FN void attention_run(const struct gpu_attention &p) {
    enum { ROWS = 64 * TILES, STEPS = DIM / 16, COLUMNS = KEYS / 16 };
    GPU_SHARED struct attention_row rows[ROWS];
    GPU_SHARED struct attention_place kept; /* for what is rare: registers are few */
    GPU_SHARED u32 any;
    mma_lds qs = mma_lds_of(attention_shared), ks = qs + ROWS * DIM * 2, vs = ks + KEYS * DIM * 2;
    struct attention_place at = attention_locate(p, ROWS);
    if (p.q_starts && p.first == 0 && gpu_block_x() == 0) attention_check_starts(p);
    if (at.row0 >= at.rows) return;
    u32 k_bytes = attention_bytes<DIM>(p.depth), v_bytes = attention_bytes<DIM>(p.width);
    const u16 *k = (const u16 *)p.k + at.k + at.begin * p.k_stride[2];
    const u16 *v = (const u16 *)p.v + at.v + at.begin * p.v_stride[2];
    u32 keys = (u32)(at.end - at.begin);
    const struct attention_row *mine = rows + gpu_wave() * (16 * TILES);
    if (gpu_thread() == 0) {
        any = 0;
        kept = at;
    }
    attention_begin<DIM, ROWS>(p, at, rows, qs);
    struct attention_free free = attention_free_of(p, at);
    attention_copy_keys<DIM, KEYS>(ks, k, p.k_stride[2], 0, keys, k_bytes);
    mma_copy_commit();

    struct attention_sums<TILES, STEPS> sums;
    GPU_UNROLL for (int i = 0; i < TILES; i++) {
        sums.most[i][0] = sums.most[i][1] = attention_lowest(0.0f);
        sums.total[i][0] = sums.total[i][1] = 0;
    }
    mma_clear(sums.out);
    GPU_NO_UNROLL for (u32 key = 0; key < keys; key += KEYS) {
        struct mma_tile s[TILES][COLUMNS];
        mma_copy_wait<0>();
        gpu_sync();
        attention_copy_keys<DIM, KEYS>(vs, v, p.v_stride[2], key, keys, v_bytes);
        mma_copy_commit();
        attention_multiply<T, DIM>(qs, ks, s);
        mma_copy_wait<0>();
        gpu_sync();
        if (key + KEYS < keys) attention_copy_keys<DIM, KEYS>(ks, k, p.k_stride[2], key + KEYS, keys, k_bytes);
        mma_copy_commit();
        f32 fade[TILES][2];
        attention_rate<T>(p, attention_part{mine, kept.begin, keys, free}, key, s, sums, fade);
        attention_fade(sums, fade);
        attention_add<T, DIM>(s, vs, sums.out);
    }
    mma_copy_wait<0>();
    bool hides = free.begin > 0 || free.end < keys;
    u32 again = attention_store<T>(p, mine, sums, hides);
    if (again) any = 1;
    gpu_sync();
    if (any) attention_repair<T, ROWS, THREADS>(p, kept, rows, sums, again, (f32 *)attention_shared);
}
#define ATTENTION_KERNEL(type, dim, tiles, keys)                                                                       \
    GPU_KERNEL_OF(attention_mma_##dim##_##type, struct gpu_attention, THREADS, 2) {                                    \
        attention_run<type, dim, tiles, keys>(p);                                                                      \
    }
#define ATTENTION_MMA(type)                                                                                            \
    ATTENTION_KERNEL(type, 64, 2, 64) ATTENTION_KERNEL(type, 128, 2, 32) ATTENTION_KERNEL(type, 256, 1, 64)

#elif MMA
#define ATTENTION_KERNEL(type, dim)                                                                                    \
    GPU_KERNEL_OF(attention_mma_##dim##_##type, struct gpu_attention, attention_shape<dim>::THREADS,                   \
                  attention_shape<dim>::BLOCKS) {                                                                      \
        attention_run<type, dim>(p);                                                                                   \
    }
#define ATTENTION_MMA(type) ATTENTION_KERNEL(type, 64) ATTENTION_KERNEL(type, 128) ATTENTION_KERNEL(type, 256)

#else
/* The host asks for these only where there are matrix instructions. */
#define ATTENTION_KERNEL(type, dim)                                                                                    \
    GPU_KERNEL(attention_mma_##dim##_##type, struct gpu_attention) { (void)p; }
#define ATTENTION_MMA(type) ATTENTION_KERNEL(type, 64) ATTENTION_KERNEL(type, 128) ATTENTION_KERNEL(type, 256)
#endif

ATTENTION_MMA(bf16)
ATTENTION_MMA(f16)
