/* Sorting lines, by the size of an element: short ones by comparison, those of a tile in LDS, longer ones in passes over
 * memory that read and write every item once (Adinets and Merrill, "Onesweep", 2022). */
#include "radix.h"

/* Where the first elements of a line lie in the input and in the results. */
struct line {
    i64 in, out;
};
GPU_FN struct line find_line(u64 l, const struct gpu_sort &s) {
    i64 outer = (i64)l, rest = 0;
    struct line line;
    if (s.inner > 1) {
        outer = (i64)(l / (u64)s.inner);
        rest = (i64)l - outer * s.inner;
    }
    line.in = outer * s.n * s.inner + rest;
    line.out = outer * s.k * s.inner + rest;
    return line;
}

/* Writes item number `i` of a sorted line, element `at` of the input. */
template <typename T> GPU_FN void put(const struct gpu_sort &s, struct line line, i64 i, T key, u32 at) {
    T x;
    if (s.values) {
        if (!radix_element(key, s, &x)) x = ((const T *)s.in)[line.in + (i64)at * s.inner];
        ((T *)s.values)[line.out + i * s.inner] = x;
    }
    if (s.indices) s.indices[line.out + i * s.inner] = at;
}

/* Lines of up to GPU_SORT_SHORT elements, several to a block. */
template <typename T> GPU_FN void sort_short(const struct gpu_sort &s) {
    GPU_SHARED T keys[GPU_BLOCK];
    u32 n = (u32)s.n, together = GPU_BLOCK / n;
    /* Threads go along memory: first along the lines, or from line to line. */
    u32 mine = s.inner > 1 ? gpu_thread() % together : gpu_thread() / n;
    u32 i = s.inner > 1 ? gpu_thread() / together : gpu_thread() % n;
    for (u64 first = (u64)gpu_block_x() * together; first < (u64)s.lines; first += (u64)gpu_blocks_x() * together) {
        bool valid = mine < together && i < n && first + mine < (u64)s.lines;
        struct line line = find_line(valid ? first + mine : 0, s);
        T key = 0;
        u32 rank = 0;
        if (valid) {
            key = radix_key(((const T *)s.in)[line.in + (i64)i * s.inner], s);
            keys[mine * n + i] = key;
        }
        gpu_sync();
        if (valid) {
            for (u32 j = 0; j < n; j++) {
                T other = keys[mine * n + j];
                rank += other < key || (other == key && j < i) ? 1 : 0;
            }
            if (rank < (u64)s.k) put(s, line, rank, key, i);
        }
        gpu_sync();
    }
}

/* Lines of up to a tile, one to a block at a time. */
template <typename T, int I> GPU_FN void sort_block(const struct gpu_sort &s) {
    GPU_SHARED struct radix_items<T, I> items;
    u32 n = (u32)s.n;
    for (u64 l = gpu_block_x(); l < (u64)s.lines; l += gpu_blocks_x()) {
        struct line line = find_line(l, s);
        const T *in = (const T *)s.in + line.in;
        for (u32 i = gpu_thread(); i < GPU_BLOCK * I; i += GPU_BLOCK) {
            items.keys[i] = i < n ? radix_key(in[(i64)i * s.inner], s) : (T)~(T)0; /* those that fill up come last */
            items.ats[i] = (u16)i;
        }
        radix_sort<T, I>(&items, s.passes);
        for (u32 i = gpu_thread(); i < n && i < (u64)s.k; i += GPU_BLOCK) put(s, line, i, items.keys[i], items.ats[i]);
        gpu_sync();
    }
}

/* Counts the digits of all passes; a block takes a part of one line. */
template <typename T, int I> GPU_FN void sort_count(const struct gpu_sort_pass &p) {
    GPU_SHARED u32 counts[sizeof(T)][GPU_SORT_DIGITS];
    const struct gpu_sort &s = p.sort;
    i64 chunk = (i64)GPU_SORT_COUNT_TILES * GPU_BLOCK * I;
    u32 parts = (u32)((s.n + chunk - 1) / chunk);
    u64 l = gpu_block_x() / parts;
    struct line line = find_line(l, s);
    i64 begin = (i64)(gpu_block_x() % parts) * chunk, end = begin + chunk < s.n ? begin + chunk : s.n;
    GPU_UNROLL for (int d = 0; d < (int)sizeof(T); d++) counts[d][gpu_thread()] = 0;
    gpu_sync();
    for (i64 i = begin + gpu_thread(); i < end; i += 4 * GPU_BLOCK) {
        T key[4];
        GPU_UNROLL for (int u = 0; u < 4; u++)
            if (i + u * GPU_BLOCK < end) key[u] = ((const T *)s.in)[line.in + (i + u * GPU_BLOCK) * s.inner];
        GPU_UNROLL for (int u = 0; u < 4; u++) {
            if (i + u * GPU_BLOCK >= end) break;
            T k = radix_key(key[u], s);
            GPU_UNROLL for (int d = 0; d < (int)sizeof(T); d++)
                if ((u32)d < s.passes) gpu_atomic_add(&counts[d][radix_digit(k, d)], 1);
        }
    }
    gpu_sync();
    GPU_UNROLL for (int d = 0; d < (int)sizeof(T); d++) {
        u32 count = counts[d][gpu_thread()];
        if ((u32)d < s.passes && count) gpu_atomic_add(&p.counts[(l * s.passes + d) * GPU_SORT_DIGITS + gpu_thread()], count);
    }
}

/* How many items in the tiles of the line before this one have digit number gpu_thread(): published tile by tile, as
 * the count of a tile at first (an odd tag), and of all up to it when that is known (an even one). A tile waits only
 * for those that were taken before it. */
GPU_FN u64 look_back(const struct gpu_sort_pass &p, u64 tile, bool first_of_line, u32 count) {
    volatile u64 *status = p.status + tile * GPU_SORT_DIGITS + gpu_thread();
    u64 partial = 2 * (u64)p.pass + 1, before = 0, mask = ((u64)1 << 40) - 1;
    if (!first_of_line) {
        *status = partial << 40 | count;
        volatile u64 *other = status - GPU_SORT_DIGITS;
        for (bool whole = false; !whole;) {
            u64 v = *other;
            if (v >> 40 < partial) continue;
            before += v & mask;
            whole = v >> 40 == partial + 1;
            other -= GPU_SORT_DIGITS;
        }
    }
    *status = (partial + 1) << 40 | (before + count);
    return before;
}

template <typename T, int I> GPU_FN void sort_pass(const struct gpu_sort_pass &p) {
    enum { TILE = GPU_BLOCK * I };
    GPU_SHARED union {
        T keys[TILE];
        u32 ats[TILE];
    } items;
    GPU_SHARED struct radix_ranks ranks;
    GPU_SHARED u32 base[GPU_SORT_DIGITS]; /* of a digit's items in the line, less their place in the tile */
    GPU_SHARED u32 ticket;
    const struct gpu_sort &s = p.sort;
    if (gpu_thread() == 0) ticket = gpu_atomic_add(&p.ticket[p.pass], 1);
    gpu_sync();
    u64 tile = ticket, l = tile / p.tiles;
    i64 begin = (i64)(tile - l * p.tiles) * TILE;
    u32 n = (u32)(s.n - begin < TILE ? s.n - begin : TILE);
    T key[I];
    u32 at[I], place[I], first;
    if (p.keys) {
        const T *keys = (const T *)p.keys + (i64)l * s.n + begin;
        GPU_UNROLL for (int j = 0; j < I; j++) {
            key[j] = (T)~(T)0;
            if (radix_number(j, I) < n) key[j] = keys[radix_number(j, I)];
        }
    } else {
        const T *in = (const T *)s.in + find_line(l, s).in + begin * s.inner;
        GPU_UNROLL for (int j = 0; j < I; j++) {
            key[j] = (T)~(T)0;
            if (radix_number(j, I) < n) key[j] = radix_key(in[(i64)radix_number(j, I) * s.inner], s);
        }
    }
    u32 count = radix_rank<T, I>(key, place, p.pass, &ranks, &first);
    if (gpu_thread() == 255) count -= TILE - n; /* the keys that fill up the tile */
    u32 start = 0;
    gpu_block_scan<gpu_join_add>(p.counts[(l * s.passes + p.pass) * GPU_SORT_DIGITS + gpu_thread()], ranks.waves, &start);
    base[gpu_thread()] = start + (u32)look_back(p, tile, begin == 0, count) - first;
    GPU_UNROLL for (int j = 0; j < I; j++) items.keys[place[j]] = key[j];
    GPU_UNROLL for (int j = 0; j < I; j++) {
        at[j] = (u32)begin + radix_number(j, I);
        if (p.keys && radix_number(j, I) < n) at[j] = p.at[(i64)l * s.n + at[j]];
    }
    gpu_sync();
    GPU_UNROLL for (int j = 0; j < I; j++) key[j] = items.keys[gpu_thread() + j * GPU_BLOCK];
    gpu_sync();
    GPU_UNROLL for (int j = 0; j < I; j++) items.ats[place[j]] = at[j];
    gpu_sync();
    if (p.next_keys) {
        T *next_keys = (T *)p.next_keys + (i64)l * s.n;
        u32 *next_at = p.next_at + (i64)l * s.n;
        GPU_UNROLL for (int j = 0; j < I; j++) {
            u32 i = gpu_thread() + j * GPU_BLOCK, to = base[radix_digit(key[j], p.pass)] + i;
            if (i < n) {
                next_keys[to] = key[j];
                next_at[to] = items.ats[i];
            }
        }
    } else {
        struct line line = find_line(l, s);
        GPU_UNROLL for (int j = 0; j < I; j++) {
            u32 i = gpu_thread() + j * GPU_BLOCK, to = base[radix_digit(key[j], p.pass)] + i;
            if (i < n && to < (u64)s.k) put(s, line, to, key[j], items.ats[i]);
        }
    }
}

#define SORT(suffix, type, items)                                                                                      \
    GPU_KERNEL(sort_short_##suffix, struct gpu_sort) { sort_short<type>(p); }                                          \
    GPU_KERNEL(sort_block4_##suffix, struct gpu_sort) { sort_block<type, 4>(p); }                                      \
    GPU_KERNEL(sort_block8_##suffix, struct gpu_sort) { sort_block<type, 8>(p); }                                      \
    GPU_KERNEL(sort_count_##suffix, struct gpu_sort_pass) { sort_count<type, items>(p); }                              \
    GPU_KERNEL_OF(sort_pass_##suffix, struct gpu_sort_pass, GPU_BLOCK, 3) { sort_pass<type, items>(p); }
SORT(b1, u8, GPU_SORT_ITEMS)
SORT(b2, u16, GPU_SORT_ITEMS)
SORT(b4, u32, GPU_SORT_ITEMS)
SORT(b8, u64, GPU_SORT_ITEMS / 2)
GPU_KERNEL(sort_block16_b1, struct gpu_sort) { sort_block<u8, 16>(p); }
GPU_KERNEL(sort_block16_b2, struct gpu_sort) { sort_block<u16, 16>(p); }
GPU_KERNEL(sort_block16_b4, struct gpu_sort) { sort_block<u32, 16>(p); }

GPU_KERNEL(sort_zero, struct gpu_sort_zero) {
    gpu_16 zero = {{0, 0, 0, 0}};
    for (u64 i = gpu_global(); i < (u64)p.vectors; i += gpu_stride()) ((gpu_16 *)p.memory)[i] = zero;
}
