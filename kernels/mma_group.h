/* Matrix instructions of a group of four waves on tiles in LDS: products of 64 x COLUMNS, f16 or bf16 in, f32 sums,
 * which run on their own until they are waited for (Hopper's wgmma; code for sm_90a only). With A in registers also of
 * f32, of which they read eleven bits; a step is then 32 terms.
 *
 * A step of an operand is 64 terms of its rows, of A, or columns, of B, as lines of 128 bytes in LDS from a multiple of
 * 1024 on. Either a line is the 64 terms of a row, or, when rows are neighbours in memory (ACROSS), blocks of 64 lines
 * hold a term each of 64 rows. Line l has its 16-byte pieces in other places: piece c at c ^ l % 8. See the PTX manual,
 * "Asynchronous Warpgroup Level Matrix Multiply-Accumulate": 128-byte swizzle.
 *
 *   MMA_GROUP  whether the target has them; the rest is there only if so. A processor stands in for them too. */
#ifndef WICK_KERNELS_MMA_GROUP_H
#define WICK_KERNELS_MMA_GROUP_H

#include "mma.h"

#if defined(GPU_NVIDIA) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define MMA_GROUP 1
#elif defined(GPU_HOST) && defined(GPU_HOST_GROUP)
#define MMA_GROUP 1
#else
#define MMA_GROUP 0
#endif

#if MMA_GROUP
enum { GROUP_STEP = 64, GROUP_LINE = 128, GROUP_BLOCK = 64 * GROUP_LINE };

/* A lane's part of 64 x COLUMNS sums, tile after tile of 16 columns; group_row and group_column say which they are. */
template <int COLUMNS> struct group_sums {
    struct mma_tile tile[COLUMNS / 16];
};
template <int COLUMNS> GPU_FN f32 &group_at(struct group_sums<COLUMNS> &sum, u32 i) {
    return sum.tile[i / MMA_SUMS].v[i % MMA_SUMS];
}
GPU_FN u32 group_row(u32 i) { return gpu_wave() % 4 * 16 + gpu_lane() / 4 + i / 2 % 2 * 8; }
GPU_FN u32 group_column(u32 i) { return i / 4 * 8 + gpu_lane() % 4 * 2 + i % 2; }

/* Which group a wave is of, as a number that is the same in all its lanes for the compiler too. */
GPU_FN u32 group_number(void) { return gpu_shuffle_word(gpu_wave() / 4, 0); }

template <int COLUMNS> GPU_FN void group_clear(struct group_sums<COLUMNS> &sum) {
    GPU_UNROLL for (int i = 0; i < COLUMNS / 2; i++) group_at(sum, i) = 0;
}

#if defined(GPU_HOST)
GPU_FN void group_publish(void) {}
GPU_FN void group_begin(void) {}
GPU_FN void group_commit(void) {}
template <int N> GPU_FN void group_wait(void) {}
GPU_FN void group_sync_wave(void) { gpu_host.exchange(0); }

template <typename T> static f32 group_element(const u8 *lds, bool across, u32 row, u32 k) {
    u32 line = across ? row / 64 * 64 + k : row, place = across ? row % 64 : k;
    const u8 *at = lds + line * GROUP_LINE + (place / 8 ^ line % 8) * 16 + place % 8 * 2;
    return mma_up(*(const u16 *)at, T());
}
template <typename T, int TILES, bool B_ACROSS>
static void group_add(struct mma_tile (&sum)[TILES], const f32 (&x)[2][GROUP_STEP], const u8 *b) {
    for (u32 i = 0; i < TILES * MMA_SUMS; i += i % 2 ? 3 : 1)
        for (u32 k = 0; k < GROUP_STEP; k++) {
            f32 y = group_element<T>(b, B_ACROSS, group_column(i), k), *s = sum[i / MMA_SUMS].v + i % MMA_SUMS;
            s[0] = gpu_fma(x[0][k], y, s[0]);
            s[2] = gpu_fma(x[1][k], y, s[2]);
        }
}
template <typename T, bool A_ACROSS, bool B_ACROSS, bool FIRST = false, int PARTS = 4, int TILES>
static void group_multiply(struct mma_tile (&sum)[TILES], const u8 *a, const u8 *b) {
    f32 x[2][GROUP_STEP] = {{0}};
    for (u32 half = 0; half < 2; half++)
        for (u32 k = 0; k < PARTS * 16; k++) x[half][k] = group_element<T>(a, A_ACROSS, group_row(half * 2), k);
    for (u32 i = 0; FIRST && i < TILES * MMA_SUMS; i++) sum[i / MMA_SUMS].v[i % MMA_SUMS] = 0;
    group_add<T, TILES, B_ACROSS>(sum, x, b);
}
template <bool FIRST, int TILES>
static void group_multiply_tf32(struct mma_tile (&sum)[TILES], const struct mma_fragment &a, const u8 *b, u32 t) {
    f32 x[2][8];
    for (u32 w = 0; w < 4; w++) {
        const u64 *all = gpu_host.exchange(a.word[w]);
        for (u32 l = 0; l < 4; l++) x[w % 2][w / 2 * 4 + l] = mma_up((u32)all[gpu_lane() / 4 * 4 + l], f32());
    }
    for (u32 i = 0; i < TILES * MMA_SUMS; i++) {
        f32 &s = sum[i / MMA_SUMS].v[i % MMA_SUMS];
        u32 column = group_column(i);
        if (FIRST) s = 0;
        for (u32 k = 0; k < 8; k++) {
            const u32 *piece = (const u32 *)(b + column * GROUP_LINE + ((t * 2 + k / 4) ^ column % 8) * 16);
            s = gpu_fma(x[i / 2 % 2][k], mma_up(piece[k % 4], f32()), s);
        }
    }
}
template <typename T, bool B_ACROSS, int TILES>
static void group_multiply_kept(struct mma_tile (&sum)[TILES], const struct mma_fragment *a, const u8 *b) {
    f32 x[2][GROUP_STEP];
    for (u32 t = 0; t < GROUP_STEP / 16; t++)
        for (u32 w = 0; w < 4; w++) {
            const u64 *all = gpu_host.exchange(a[t].word[w]);
            for (u32 l = 0; l < 4; l++)
                for (u32 e = 0; e < 2; e++)
                    x[w % 2][t * 16 + w / 2 * 8 + l * 2 + e] =
                        mma_up((u32)all[gpu_lane() / 4 * 4 + l] >> e * 16 & 0xffff, T());
        }
    group_add<T, TILES, B_ACROSS>(sum, x, b);
}
template <int TILES> GPU_FN void group_hold(struct mma_tile (&)[TILES]) {}
GPU_FN void group_behind(f32) {}
#else
/* What this thread wrote to LDS, its finished asynchronous copies too, becomes visible to matrix instructions that come
 * after a barrier. */
GPU_FN void group_publish(void) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/* Before the first product after sums were touched. */
GPU_FN void group_begin(void) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/* Products up to here are one batch. */
GPU_FN void group_commit(void) { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/* Until no more than N batches of this group are under way. */
template <int N> GPU_FN void group_wait(void) { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
GPU_FN void group_sync_wave(void) { __syncwarp(); }

/* Where a tile lies, without what all tiles have: its address and the stride from a block of 64 lines to the next (bits
 * 16 to 29), in units of 16 bytes. All tiles have the stride between eight lines and the next eight (bits 32 to 45) and
 * the swizzle (bit 62). */
GPU_FN u32 group_tile(const u8 *lds) {
    u32 address = (u32)__cvta_generic_to_shared(lds);
    return (GROUP_BLOCK / 16) << 16 | (address & 0x3ffff) / 16;
}
GPU_FN u64 group_whole(u32 tile) { return (u64)(1u << 30 | 1024 / 16) << 32 | tile; }

#define GROUP_NAMES_16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define GROUP_NAMES_32 GROUP_NAMES_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define GROUP_NAMES_48 GROUP_NAMES_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define GROUP_NAMES_64 GROUP_NAMES_48 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define GROUP_NAMES_128                                                                                                \
    GROUP_NAMES_64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"                                  \
                   ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"                                  \
                   ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"                      \
                   ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define GROUP_1(i) "+f"(sum[(i) / MMA_SUMS].v[(i) % MMA_SUMS])
#define GROUP_4(i) GROUP_1(i), GROUP_1((i) + 1), GROUP_1((i) + 2), GROUP_1((i) + 3)
#define GROUP_16(i) GROUP_4(i), GROUP_4((i) + 4), GROUP_4((i) + 8), GROUP_4((i) + 12)
#define GROUP_32(i) GROUP_16(i), GROUP_16((i) + 16)
#define GROUP_48(i) GROUP_32(i), GROUP_16((i) + 32)
#define GROUP_64(i) GROUP_32(i), GROUP_32((i) + 32)
#define GROUP_128(i) GROUP_64(i), GROUP_64((i) + 64)

/* 64 x `columns` by 16 terms; a lane has `sums` of the sums, and the names n0 .. are those after theirs: of a, b, whether
 * there is a sum to add to, and what lies across. In the second form A is in registers. */
#define GROUP_PRODUCT(T, type, columns, sums, n0, n1, n2, n3, n4, n5, n6)                                              \
    template <int A_ACROSS, int B_ACROSS, int ADD>                                                                     \
    GPU_FN void group_product(struct mma_tile (&sum)[columns / 16], u32 a, u32 b, T) {                                 \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type " {" GROUP_NAMES_##sums     \
                     "}, %" #n0 ", %" #n1 ", %" #n2 ", 1, 1, %" #n3 ", %" #n4 ";"                                      \
                     : GROUP_##sums(0)                                                                                 \
                     : "l"(group_whole(a)), "l"(group_whole(b)), "n"(ADD), "n"(A_ACROSS), "n"(B_ACROSS));              \
    }                                                                                                                  \
    template <int B_ACROSS>                                                                                            \
    GPU_FN void group_product_kept(struct mma_tile (&sum)[columns / 16], const struct mma_fragment &a, u32 b, T) {     \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type " {" GROUP_NAMES_##sums     \
                     "}, {%" #n0 ", %" #n1 ", %" #n2 ", %" #n3 "}, %" #n4 ", %" #n5 ", 1, 1, %" #n6 ";"                \
                     : GROUP_##sums(0)                                                                                 \
                     : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "l"(group_whole(b)), "n"(1),    \
                       "n"(B_ACROSS));                                                                                 \
    }
#define GROUP_PRODUCTS(T, type)                                                                                        \
    GROUP_PRODUCT(T, type, 32, 16, 16, 17, 18, 19, 20, 21, 22)                                                         \
    GROUP_PRODUCT(T, type, 64, 32, 32, 33, 34, 35, 36, 37, 38)                                                         \
    GROUP_PRODUCT(T, type, 96, 48, 48, 49, 50, 51, 52, 53, 54)                                                         \
    GROUP_PRODUCT(T, type, 128, 64, 64, 65, 66, 67, 68, 69, 70)                                                        \
    GROUP_PRODUCT(T, type, 256, 128, 128, 129, 130, 131, 132, 133, 134)
GROUP_PRODUCTS(bf16, "bf16")
GROUP_PRODUCTS(f16, "f16")
#undef GROUP_PRODUCTS
#undef GROUP_PRODUCT
/* The same of f32, with A in registers and 8 terms. */
#define GROUP_PRODUCT_TF32(columns, sums, n0, n1, n2, n3, n4, n5)                                                      \
    template <int ADD>                                                                                                 \
    GPU_FN void group_product_tf32(struct mma_tile (&sum)[columns / 16], const struct mma_fragment &a, u32 b) {        \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k8.f32.tf32.tf32 {" GROUP_NAMES_##sums              \
                     "}, {%" #n0 ", %" #n1 ", %" #n2 ", %" #n3 "}, %" #n4 ", %" #n5 ", 1, 1;"                          \
                     : GROUP_##sums(0)                                                                                 \
                     : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "l"(group_whole(b)), "n"(ADD)); \
    }
GROUP_PRODUCT_TF32(64, 32, 32, 33, 34, 35, 36, 37)
GROUP_PRODUCT_TF32(128, 64, 64, 65, 66, 67, 68, 69)
#undef GROUP_PRODUCT_TF32

/* sum += a b over a step, or over that many PARTS of 16 terms of it; sum = a b if FIRST. */
template <typename T, bool A_ACROSS, bool B_ACROSS, bool FIRST = false, int PARTS = 4, int TILES>
GPU_FN void group_multiply(struct mma_tile (&sum)[TILES], const u8 *a, const u8 *b) {
    /* 16 terms on: 32 bytes in every line, or 16 lines. */
    enum { A = (A_ACROSS ? 16 * GROUP_LINE : 32) / 16, B = (B_ACROSS ? 16 * GROUP_LINE : 32) / 16 };
    u32 a_tile = group_tile(a), b_tile = group_tile(b);
    group_product<A_ACROSS, B_ACROSS, !FIRST>(sum, a_tile, b_tile, T());
    GPU_UNROLL for (u32 t = 1; t < PARTS; t++)
        group_product<A_ACROSS, B_ACROSS, 1>(sum, a_tile + t * A, b_tile + t * B, T());
}

/* The same with A in registers, as fragments of 16 terms. */
template <typename T, bool B_ACROSS, int TILES>
GPU_FN void group_multiply_kept(struct mma_tile (&sum)[TILES], const struct mma_fragment *a, const u8 *b) {
    enum { B = (B_ACROSS ? 16 * GROUP_LINE : 32) / 16 };
    u32 b_tile = group_tile(b);
    GPU_UNROLL for (u32 t = 0; t < GROUP_STEP / 16; t++) group_product_kept<B_ACROSS>(sum, a[t], b_tile + t * B, T());
}

/* The same of f32, by the terms 8 t of a step of 32; sum = a b if FIRST. */
template <bool FIRST, int TILES>
GPU_FN void group_multiply_tf32(struct mma_tile (&sum)[TILES], const struct mma_fragment &a, const u8 *b, u32 t) {
    group_product_tf32<!FIRST>(sum, a, group_tile(b) + t * 2);
}

/* The compiler knows nothing of sums that come later: after a wait, nothing that uses them moves before it. */
template <int TILES> GPU_FN void group_hold(struct mma_tile (&sum)[TILES]) {
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++)
        asm volatile("" : "+f"(sum[i].v[e])::"memory");
}

/* A wait that follows stays behind what x is computed of; else the compiler begins with it. x is never below 0, which the
 * compiler does not know. */
GPU_FN void group_behind(f32 x) {
    asm volatile("{\n.reg .pred p;\nsetp.lt.f32 p, %0, 0f00000000;\nvote.sync.any.pred p, p, 0xffffffff;\n@p trap;\n}" ::"f"(x)
                 : "memory");
}
#endif
#endif

#endif
