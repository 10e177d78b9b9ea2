/* Scaled dot product attention of bf16 and f16 by the matrix instructions of groups of waves (after Shah and others,
 * "FlashAttention-3"). q, k and v as in attention_mma.hip, which serves where the target has no such instructions.
 *
 * A block of two groups has 128 queries, a group 64. Keys and values come in steps of KEYS, two of each in LDS. The groups
 * take turns: while one's products run, of the scores of a step and of the values of the step before, the other makes
 * weights of its scores. */
#include "attention_group.h"

#if MMA_GROUP
enum { THREADS = 2 * GROUP, ROWS = 128 };

/* The keys of step i; then the keys of step i + 1 and the values of step i on their way. Both groups have read what was
 * there. */
template <int WIDE, int KEYS>
GPU_FN void attention_fill_keys(const struct gpu_attention &p, const struct attention_place &at, mma_lds lds, u32 i) {
    const u16 *k = (const u16 *)p.k + at.k + at.begin * p.k_stride[2];
    const struct attention_source source = {k, p.k_stride[2], (u32)(at.end - at.begin), attention_bytes<WIDE>(p.depth)};
    attention_fill<WIDE, KEYS, KEYS>(lds + (ROWS + i % 2 * KEYS) * WIDE * 2, source, i * KEYS, i < 2);
}
template <int WIDE, int KEYS>
GPU_FN void attention_fill_next(const struct gpu_attention &p, const struct attention_place &at, mma_lds lds, u32 i) {
    const u16 *v = (const u16 *)p.v + at.v + at.begin * p.v_stride[2];
    const struct attention_source source = {v, p.v_stride[2], (u32)(at.end - at.begin), attention_bytes<WIDE>(p.width)};
    if ((i + 1) * KEYS < source.keys) attention_fill_keys<WIDE, KEYS>(p, at, lds, i + 1);
    attention_fill<WIDE, KEYS, 64>(lds + (ROWS + (2 + i % 2) * KEYS) * WIDE * 2, source, i * KEYS, i < 2);
    mma_copy_commit();
}

/* All steps of the keys of `at`; the queries and the first keys are in LDS. Group 1 is a turn behind. Products stand in no
 * branch, for there the compiler would wait for each. */
template <typename T, int DIM, int KEYS>
GPU_FN void attention_take_turns(const struct gpu_attention &p, const struct attention_place &at,
                                 const struct attention_row *rows, const struct attention_free &free, u8 *lds,
                                 struct attention_sums<1, DIM / 16> &sums) {
    enum { WIDE = attention_wide<DIM>::value, SIZE = KEYS * WIDE * 2 };
    u32 group = group_number(), keys = (u32)(at.end - at.begin), steps = (keys + KEYS - 1) / KEYS;
    const u8 *q = lds + group * (64 * WIDE * 2), *ks = lds + ROWS * WIDE * 2, *vs = ks + 2 * SIZE;
    struct mma_tile s[1][KEYS / 16];
    struct mma_fragment x[KEYS / 16];
    f32 fade[1][2];
    mma_clear(s);
    if (group == 1) gpu_sync();
    group_begin();
    attention_score_keys<T, DIM, KEYS>(s[0], q, ks);
    if (group == 0) attention_fill_next<WIDE, KEYS>(p, at, mma_lds_of(lds), 0);
    group_wait<0>();
    group_hold(s[0]);
    GPU_NO_UNROLL for (u32 i = 0;;) {
        gpu_sync(); /* the other's turn */
        attention_rate<T>(p, attention_part{rows + gpu_wave() * 16, at.begin, keys, free}, i * KEYS, s, sums, fade);
        attention_fade(sums, fade);
        attention_pack<T>(x, s[0]);
        if (group == 0) {
            mma_copy_wait<0>();
            group_publish();
        }
        gpu_sync();
        if (++i == steps) break;
        group_begin();
        attention_score_keys<T, DIM, KEYS>(s[0], q, ks + i % 2 * SIZE);
        attention_add_values<T, DIM, KEYS>(sums.out[0], x, vs + (i - 1) % 2 * SIZE);
        if (group == 0) attention_fill_next<WIDE, KEYS>(p, at, mma_lds_of(lds), i);
        group_wait<0>();
        group_hold(s[0]);
        group_hold(sums.out[0]);
    }
    group_begin();
    attention_add_values<T, DIM, KEYS>(sums.out[0], x, vs + (steps - 1) % 2 * SIZE);
    group_wait<0>();
    group_hold(sums.out[0]);
    if (group == 0) gpu_sync();
}

template <typename T, int DIM, int KEYS> GPU_FN void attention_group(const struct gpu_attention &p) {
    enum { WIDE = attention_wide<DIM>::value };
    GPU_SHARED struct attention_row rows[ROWS];
    GPU_SHARED struct attention_place at; /* registers are few */
    GPU_SHARED struct attention_free free;
    GPU_SHARED u32 any;
    u8 *lds = (u8 *)attention_shared;
    struct attention_place own = attention_locate(p, ROWS);
    if (p.q_starts && p.first == 0 && gpu_block_x() == 0) attention_check_starts(p);
    if (own.row0 >= own.rows) return;
    for (u32 r = gpu_thread(); r < ROWS; r += THREADS) rows[r] = attention_row_of(p, own, r);
    if (gpu_thread() == 0) {
        any = 0;
        at = own;
        free = attention_free_of(p, own);
    }
    gpu_sync();
    attention_fill_queries<WIDE, ROWS, THREADS>(p, rows, mma_lds_of(lds));
    if (gpu_thread() < GROUP) attention_fill_keys<WIDE, KEYS>(p, at, mma_lds_of(lds), 0);
    mma_copy_commit();
    mma_copy_wait<0>();
    group_publish();
    gpu_sync();

    struct attention_sums<1, DIM / 16> sums;
    sums.most[0][0] = sums.most[0][1] = attention_lowest(0.0f);
    sums.total[0][0] = sums.total[0][1] = 0;
    mma_clear(sums.out);
    if (at.end > at.begin) attention_take_turns<T, DIM, KEYS>(p, at, rows, free, lds, sums);
    bool hides = free.begin > 0 || free.end < (u32)(at.end - at.begin);
    u32 again = attention_store<T>(p, rows + gpu_wave() * 16, sums, hides);
    if (again) any = 1;
    gpu_sync();
    if (any) attention_repair<T, ROWS, THREADS>(p, at, rows, sums, again, (f32 *)attention_shared);
}
#define ATTENTION_GROUP(type, dim, keys) attention_group<type, dim, keys>(p)
#else
/* The host asks for these only where they are. */
#define ATTENTION_GROUP(type, dim, keys) (void)p
#endif

#define ATTENTION_GROUPS(type)                                                                                         \
    GPU_KERNEL_OF(attention_group_64_##type, struct gpu_attention, 256, 2) { ATTENTION_GROUP(type, 64, 64); }          \
    GPU_KERNEL_OF(attention_group_96_##type, struct gpu_attention, 256, 1) { ATTENTION_GROUP(type, 96, 128); }         \
    GPU_KERNEL_OF(attention_group_128_##type, struct gpu_attention, 256, 1) { ATTENTION_GROUP(type, 128, 128); }
ATTENTION_GROUPS(bf16)
ATTENTION_GROUPS(f16)
