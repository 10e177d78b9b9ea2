/* Sorting by digits of 8 bits: keys whose unsigned order is the order wanted, and the place of a block's items when
 * they are sorted by one digit. */
#ifndef WICK_KERNELS_RADIX_H
#define WICK_KERNELS_RADIX_H

#include "wave.h"

#include "sort.h"

enum { RADIX_WAVES = GPU_BLOCK / GPU_WAVE };

/* Elements as keys: for floats -0 is +0, and every NaN comes after all others. */
template <typename T> GPU_FN T radix_key(T x, const struct gpu_sort &s) {
    const T top = (T)((T)1 << (8 * sizeof(T) - 1));
    T key = x;
    if (s.order == GPU_ORDER_FLOAT) {
        T magnitude = (T)(x & (T)(top - 1));
        key = (T)(x & top ? top - magnitude : top + magnitude);
        if (magnitude > (T)s.most) key = (T)~(T)0;
    } else if (s.order == GPU_ORDER_SIGNED) {
        key = (T)(x ^ top);
    }
    return s.descending ? (T)~key : key;
}

/* The element of a key; false when several elements have it: both zeros, all NaN. */
template <typename T> GPU_FN bool radix_element(T key, const struct gpu_sort &s, T *x) {
    const T top = (T)((T)1 << (8 * sizeof(T) - 1));
    if (s.descending) key = (T)~key;
    *x = key;
    if (s.order == GPU_ORDER_SIGNED) *x = (T)(key ^ top);
    if (s.order != GPU_ORDER_FLOAT) return true;
    *x = (T)(key >= top ? key - top : top | (T)(top - key));
    return key != top && key != (T)~(T)0;
}

template <typename T> GPU_FN u32 radix_digit(T key, u32 pass) { return (u32)(key >> (8 * pass)) & 255; }

/* What a block needs to rank its items. */
struct radix_ranks {
    u32 counts[RADIX_WAVES][GPU_SORT_DIGITS];
    u32 waves[GPU_WAVES];
};

/* Items of a thread are WAVE apart, those of a wave side by side: item j of this thread is number
 * radix_number(j, items) of the block. */
GPU_FN u32 radix_number(u32 j, u32 items) { return gpu_wave() * GPU_WAVE * items + j * GPU_WAVE + gpu_lane(); }

/* How many items of the wave have the same digit in front of this lane's, in earlier calls or in lanes below. */
GPU_FN u32 radix_rank_one(u32 digit, u32 *counts) {
    u32 before = 0;
    gpu_lanes same = ~(gpu_lanes)0;
    GPU_UNROLL for (int b = 0; b < 8; b++) {
        bool bit = (digit >> b & 1) != 0;
        gpu_lanes set = (gpu_lanes)gpu_ballot(bit);
        same &= bit ? set : ~set;
    }
    /* The first lane with the digit counts for all of them. */
    u32 rank = gpu_lanes_count(same & (((gpu_lanes)1 << gpu_lane()) - 1));
    if (rank == 0) before = gpu_atomic_add(&counts[digit], gpu_lanes_count(same));
    return gpu_shuffle(before, gpu_lanes_first(same)) + rank;
}

/* The place of each of the block's items when they are sorted by a digit, equal ones in their order. *first becomes where
 * digit number gpu_thread() begins, and the result is how many have it. */
template <typename T, int I>
GPU_FN u32 radix_rank(const T (&key)[I], u32 (&place)[I], u32 pass, struct radix_ranks *shared, u32 *first) {
    u32 *mine = shared->counts[gpu_wave()];
    for (u32 d = gpu_lane(); d < GPU_SORT_DIGITS; d += GPU_WAVE) mine[d] = 0;
    gpu_sync();
    GPU_UNROLL for (int j = 0; j < I; j++) place[j] = radix_rank_one(radix_digit(key[j], pass), mine);
    gpu_sync();
    u32 digit = gpu_thread(), sum = 0, before = 0;
    GPU_UNROLL for (int w = 0; w < RADIX_WAVES; w++) {
        u32 count = shared->counts[w][digit];
        shared->counts[w][digit] = sum;
        sum += count;
    }
    gpu_block_scan<gpu_join_add>(sum, shared->waves, &before);
    GPU_UNROLL for (int w = 0; w < RADIX_WAVES; w++) shared->counts[w][digit] += before;
    gpu_sync();
    GPU_UNROLL for (int j = 0; j < I; j++) place[j] += mine[radix_digit(key[j], pass)];
    *first = before;
    return sum;
}

/* What sorting up to I items a thread in LDS takes. */
template <typename T, int I> struct radix_items {
    T keys[GPU_BLOCK * I];
    u16 ats[GPU_BLOCK * I];
    struct radix_ranks ranks;
};

/* Sorts a block's keys by their lowest `passes` bytes; ats moves with them. Every thread has what the others wrote before
 * and after. */
template <typename T, int I> GPU_FN void radix_sort(struct radix_items<T, I> *items, u32 passes) {
    gpu_sync();
    GPU_NO_UNROLL for (u32 pass = 0; pass < passes; pass++) {
        T key[I];
        u16 at[I];
        u32 place[I], first;
        GPU_UNROLL for (int j = 0; j < I; j++) {
            key[j] = items->keys[radix_number(j, I)];
            at[j] = items->ats[radix_number(j, I)];
        }
        radix_rank<T, I>(key, place, pass, &items->ranks, &first);
        GPU_UNROLL for (int j = 0; j < I; j++) {
            items->keys[place[j]] = key[j];
            items->ats[place[j]] = at[j];
        }
        gpu_sync();
    }
}

#endif
