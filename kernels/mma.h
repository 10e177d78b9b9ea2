/* Matrix instructions: products of 16 x 16 tiles by one wave, f16, bf16 or f8e4m3 in, f32 sums. The other file beside
 * gpu.h with differences between targets, for it is about instructions. NVIDIA's also take f32, of which they read the
 * sign, the exponent and ten bits (TF32): words are elements then, and a fragment has eight terms.
 *
 *   MMA        whether the target has them; the rest is there only if so
 *   MMA_F8     whether fragments can be of f8e4m3: of its own instructions, or, on NVIDIA's, whose have shorter sums
 *              (docs/numerics.md), of f16 that they are unpacked to
 *   MMA_ASYNC  tiles reach LDS by asynchronous copies, and fragments leave it by loads that can transpose (NVIDIA);
 *              otherwise tiles pass through registers and lie in LDS with k innermost
 *   MMA_K      terms of k in a fragment, of f8e4m3 twice as many: a pair of them counts as one element of 16 bits
 *   MMA_SUMS   elements of a 16 x 16 tile of sums that a lane holds; mma_row and mma_column say which
 *
 * A fragment is 16 rows of A, or 16 columns of B, by MMA_K terms. Which terms a lane holds does not matter where A and
 * B agree. A processor stands in for NVIDIA with waves of 32, for AMD's MFMA with waves of 64, and, with GPU_HOST_WMMA and
 * waves of 32, for its WMMA as gfx12 has it. */
#ifndef WICK_KERNELS_MMA_H
#define WICK_KERNELS_MMA_H

#include "dtype.h"

#if defined(GPU_NVIDIA)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define MMA_PTX 1
#endif
#elif defined(GPU_HOST)
#if defined(GPU_HOST_WMMA)
#define MMA_WMMA12 1
#elif GPU_WAVE == 32
#define MMA_PTX 1
#else
#define MMA_MFMA 1
#endif
#elif defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
#define MMA_MFMA 1
#elif defined(__GFX11__)
#define MMA_WMMA11 1
#elif defined(__GFX12__)
#define MMA_WMMA12 1
#endif

#if defined(MMA_PTX) || defined(MMA_MFMA) || defined(MMA_WMMA11) || defined(MMA_WMMA12)
#define MMA 1
#else
#define MMA 0
#endif
#if defined(MMA_PTX)
#define MMA_ASYNC 1
#else
#define MMA_ASYNC 0
#endif

#if defined(MMA_MFMA) && !defined(__gfx90a__) || defined(MMA_WMMA12) || defined(MMA_PTX)
#define MMA_F8 1
#else
#define MMA_F8 0
#endif
/* Before gfx950 MFMA has the format FNUZ: the same bits stand for half the value, 0x80 is NaN instead of -0, and what is
 * NaN in f8e4m3 is a number. */
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
#define MMA_FNUZ 1
#else
#define MMA_FNUZ 0
#endif

#if MMA
enum { MMA_SUMS = 256 / GPU_WAVE };
#if defined(MMA_MFMA)
enum { MMA_K = 32, MMA_WORDS = 4 };
#elif defined(MMA_WMMA11)
enum { MMA_K = 16, MMA_WORDS = 8 };
#else
enum { MMA_K = 16, MMA_WORDS = 4 };
#endif

struct mma_fragment {
    u32 word[MMA_WORDS];
};
struct mma_tile {
    f32 v[MMA_SUMS];
};
template <int MI, int NI> GPU_FN void mma_clear(struct mma_tile (&sum)[MI][NI]) {
    GPU_UNROLL for (int i = 0; i < MI; i++) GPU_UNROLL for (int j = 0; j < NI; j++)
        GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) sum[i][j].v[e] = 0;
}

/* The place in a tile of this lane's element i of the sums. */
#if defined(MMA_PTX)
GPU_FN u32 mma_row(u32 i) { return gpu_lane() / 4 + i / 2 % 2 * 8; }
GPU_FN u32 mma_column(u32 i) { return i / 4 * 8 + gpu_lane() % 4 * 2 + i % 2; }
#else
GPU_FN u32 mma_column(u32) { return gpu_lane() % 16; }
#if defined(MMA_WMMA11)
enum { MMA_ROW_STEP = 2 }; /* rows from an element to the next */
GPU_FN u32 mma_row(u32 i) { return i * 2 + gpu_lane() / 16; }
#else
enum { MMA_ROW_STEP = 1 };
GPU_FN u32 mma_row(u32 i) { return gpu_lane() / 16 * MMA_SUMS + i; }
#endif
#endif

/* ---- sum += a b ---- */

#if defined(GPU_HOST)
/* Lane l's fragments hold elements of row (column) and k as below, two (of f8e4m3 four) to a word. */
GPU_FN f32 mma_up(u32 bits, bf16) { return gpu_from_bf16(bf16{(u16)bits}); }
GPU_FN f32 mma_up(u32 bits, f16) { return gpu_from_f16(f16{(u16)bits}); }
GPU_FN f32 mma_up(u32 bits, f8e4m3) { return gpu_up(f8e4m3{(u8)bits}); }
GPU_FN f32 mma_up(u32 bits, f32) { return gpu_bits<f32>(bits & 0xffffe000u); }
template <typename T>
static void mma(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b) {
    enum { PER = 4 / sizeof(T), K = MMA_K * PER / 2 };
    f32 x[16][K], y[16][K];
    for (u32 w = 0; w < MMA_WORDS; w++) {
        const u64 *all = gpu_host.exchange((u64)b.word[w] << 32 | a.word[w]);
        for (u32 l = 0; l < GPU_WAVE; l++)
            for (u32 e = 0; e < PER; e++) {
#if defined(MMA_PTX)
                u32 row = l / 4 + w % 2 * 8, column = l / 4 + w / 2 * 8, ka = (w / 2 * 4 + l % 4) * PER + e,
                    kb = (w % 2 * 4 + l % 4) * PER + e;
#else
                u32 row = l % 16, column = row, ka = (l / 16 * 4 + w) * PER + e, kb = ka;
#endif
                x[row][ka] = mma_up((u32)(all[l] >> 32 / PER * e), T());
                y[column][kb] = mma_up((u32)(all[l] >> (32 + 32 / PER * e)), T());
            }
    }
    for (u32 i = 0; i < MMA_SUMS; i++)
        for (u32 k = 0; k < K; k++) sum.v[i] = gpu_fma(x[mma_row(i)][k], y[mma_column(i)][k], sum.v[i]);
}
#elif defined(MMA_PTX)
#define MMA_PTX_HALF(type, c, h)                                                                                       \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "          \
        "{%0,%1,%2,%3};"                                                                                               \
        : "+f"(sum.v[c]), "+f"(sum.v[c + 1]), "+f"(sum.v[c + 2]), "+f"(sum.v[c + 3])                                   \
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[h]), "r"(b.word[h + 1]))
GPU_FN void mma_of(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b, bf16) {
    MMA_PTX_HALF("bf16", 0, 0);
    MMA_PTX_HALF("bf16", 4, 2);
}
GPU_FN void mma_of(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b, f16) {
    MMA_PTX_HALF("f16", 0, 0);
    MMA_PTX_HALF("f16", 4, 2);
}
#undef MMA_PTX_HALF
#define MMA_PTX_TF32(c, h)                                                                                             \
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"      \
        : "+f"(sum.v[c]), "+f"(sum.v[c + 1]), "+f"(sum.v[c + 2]), "+f"(sum.v[c + 3])                                   \
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[h]), "r"(b.word[h + 1]))
GPU_FN void mma_of(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b, f32) {
    MMA_PTX_TF32(0, 0);
    MMA_PTX_TF32(4, 2);
}
#undef MMA_PTX_TF32
/* In two halves, each of what one word of a row holds: which of its terms go where does not matter. On sm_90 PTX's own
 * product of f8e4m3 for one wave is compiled to the same instructions. */
GPU_FN void mma_of(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b, f8e4m3) {
    GPU_UNROLL for (int h = 0; h < 4; h += 2) {
        struct mma_fragment x, y;
        GPU_UNROLL for (int i = 0; i < 4; i++) x.word[i] = gpu_f8_as_f16(a.word[h + i % 2] >> i / 2 * 16);
        GPU_UNROLL for (int i = 0; i < 4; i++) y.word[i] = gpu_f8_as_f16(b.word[h / 2 + i / 2 * 2] >> i % 2 * 16);
        mma_of(sum, x, y, f16());
    }
}
#else
typedef f32 mma_sums __attribute__((ext_vector_type(MMA_SUMS)));
struct mma_pair {
    u32 word[2];
};
typedef short mma_shorts __attribute__((ext_vector_type(MMA_WORDS * 2)));
typedef _Float16 mma_halves __attribute__((ext_vector_type(MMA_WORDS * 2)));
#if defined(MMA_MFMA)
typedef short mma_shorts4 __attribute__((ext_vector_type(4)));
typedef _Float16 mma_halves4 __attribute__((ext_vector_type(4)));
GPU_FN void mma_of(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b, bf16) {
    GPU_UNROLL for (int h = 0; h < 4; h += 2) sum = gpu_bits<mma_tile>(__builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
        gpu_bits<mma_shorts4>(mma_pair{{a.word[h], a.word[h + 1]}}),
        gpu_bits<mma_shorts4>(mma_pair{{b.word[h], b.word[h + 1]}}), gpu_bits<mma_sums>(sum), 0, 0, 0));
}
#if defined(__gfx90a__)
/* Its products of f16 take subnormal operands as 0; those of f32 don't, at a quarter of the rate. */
GPU_FN void mma_of(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b, f16) {
    mma_halves x = gpu_bits<mma_halves>(a), y = gpu_bits<mma_halves>(b);
    GPU_UNROLL for (int e = 0; e < 8; e++) sum = gpu_bits<mma_tile>(
        __builtin_amdgcn_mfma_f32_16x16x4f32((f32)x[e], (f32)y[e], gpu_bits<mma_sums>(sum), 0, 0, 0));
}
#else
GPU_FN void mma_of(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b, f16) {
    GPU_UNROLL for (int h = 0; h < 4; h += 2) sum = gpu_bits<mma_tile>(__builtin_amdgcn_mfma_f32_16x16x16f16(
        gpu_bits<mma_halves4>(mma_pair{{a.word[h], a.word[h + 1]}}),
        gpu_bits<mma_halves4>(mma_pair{{b.word[h], b.word[h + 1]}}), gpu_bits<mma_sums>(sum), 0, 0, 0));
}
#if MMA_F8
GPU_FN void mma_of(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b, f8e4m3) {
    GPU_UNROLL for (int h = 0; h < 4; h += 2) sum = gpu_bits<mma_tile>(__builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(
        gpu_bits<long>(mma_pair{{a.word[h], a.word[h + 1]}}), gpu_bits<long>(mma_pair{{b.word[h], b.word[h + 1]}}),
        gpu_bits<mma_sums>(sum), 0, 0, 0));
}
#endif
#endif
#else
#if defined(MMA_WMMA11)
#define MMA_BF16 __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32
#define MMA_F16 __builtin_amdgcn_wmma_f32_16x16x16_f16_w32
#else
#define MMA_BF16 __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12
#define MMA_F16 __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12
#endif
GPU_FN void mma_of(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b, bf16) {
    sum = gpu_bits<mma_tile>(MMA_BF16(gpu_bits<mma_shorts>(a), gpu_bits<mma_shorts>(b), gpu_bits<mma_sums>(sum)));
}
GPU_FN void mma_of(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b, f16) {
    sum = gpu_bits<mma_tile>(MMA_F16(gpu_bits<mma_halves>(a), gpu_bits<mma_halves>(b), gpu_bits<mma_sums>(sum)));
}
#undef MMA_BF16
#undef MMA_F16
#if MMA_F8
typedef int mma_ints2 __attribute__((ext_vector_type(2)));
GPU_FN void mma_of(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b, f8e4m3) {
    GPU_UNROLL for (int h = 0; h < 4; h += 2) sum = gpu_bits<mma_tile>(
        __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(gpu_bits<mma_ints2>(mma_pair{{a.word[h], a.word[h + 1]}}),
                                                             gpu_bits<mma_ints2>(mma_pair{{b.word[h], b.word[h + 1]}}),
                                                             gpu_bits<mma_sums>(sum)));
}
#endif
#endif
#endif
#if !defined(GPU_HOST)
template <typename T>
GPU_FN void mma(struct mma_tile &sum, const struct mma_fragment &a, const struct mma_fragment &b) {
    mma_of(sum, a, b, T());
}
#endif

/* ---- arithmetic on sums ---- */

/* Two sums as neighbours in a word of a fragment, each rounded once. */
GPU_FN u32 mma_pack(f32 low, f32 high, bf16) {
#if defined(GPU_NVIDIA)
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
#else
    return (u32)gpu_to_bf16(high).bits << 16 | gpu_to_bf16(low).bits;
#endif
}
GPU_FN u32 mma_pack(f32 low, f32 high, f16) {
#if defined(GPU_NVIDIA)
    u32 r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
#else
    return (u32)gpu_to_f16(high).bits << 16 | gpu_to_f16(low).bits;
#endif
}

/* 2^x by the instruction for it, to 2 units in the last place; denormal results are 0. */
GPU_FN f32 mma_exp2(f32 x) {
#if defined(GPU_HOST)
    return gpu_exp2(x);
#elif defined(GPU_NVIDIA)
    f32 r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
#elif __has_builtin(__builtin_amdgcn_exp2f)
    return __builtin_amdgcn_exp2f(x);
#else /* before LLVM 17 */
    return gpu_exp2(x);
#endif
}

/* The greater of both; the other one where one is NaN. */
GPU_FN f32 mma_max(f32 x, f32 y) {
#if defined(GPU_NVIDIA)
    f32 r;
    asm("max.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return r;
#else
    return __builtin_fmaxf(x, y);
#endif
}

/* 1 / x by the instruction for it, to 1 unit in the last place. */
GPU_FN f32 mma_reciprocal(f32 x) {
#if defined(GPU_HOST)
    return 1.0f / x;
#elif defined(GPU_NVIDIA)
    f32 r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
#else
    return __builtin_amdgcn_rcpf(x);
#endif
}

/* ---- fragments from LDS ---- */

#if MMA_ASYNC
/* An address in LDS. From mma_lds_of it stays in a register; the compiler finds that of a pointer anew at each use. */
#if defined(GPU_HOST)
typedef const u8 *mma_lds;
GPU_FN mma_lds mma_lds_from(const void *at) { return (mma_lds)at; }
GPU_FN mma_lds mma_lds_of(const void *at) { return (mma_lds)at; }
#else
typedef u32 mma_lds;
GPU_FN mma_lds mma_lds_from(const void *at) { return (u32)__cvta_generic_to_shared(at); }
GPU_FN mma_lds mma_lds_of(const void *at) {
    u32 address = mma_lds_from(at);
    asm volatile("" : "+r"(address));
    return address;
}
#endif

/* Four 8 x 8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8. Lane l gets elements
 * l % 4 * 2 and the next of row l / 4 of each; transposed, element l / 4 of rows l % 4 * 2 and the next. */
template <bool TRANSPOSED> GPU_FN struct mma_fragment mma_load_at(mma_lds row) {
    struct mma_fragment f;
#if defined(GPU_HOST)
    const u64 *all = gpu_host.exchange((u64)row);
    u32 lane = gpu_lane();
    for (u32 q = 0; q < 4; q++) {
        u16 e[2];
        for (u32 i = 0; i < 2; i++)
            e[i] = TRANSPOSED ? ((const u16 *)all[q * 8 + lane % 4 * 2 + i])[lane / 4]
                              : ((const u16 *)all[q * 8 + lane / 4])[lane % 4 * 2 + i];
        f.word[q] = (u32)e[1] << 16 | e[0];
    }
#else
    if (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3])
                     : "r"(row)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3])
                     : "r"(row)
                     : "memory");
#endif
    return f;
}
template <bool TRANSPOSED> GPU_FN struct mma_fragment mma_load(const void *row) {
    return mma_load_at<TRANSPOSED>(mma_lds_from(row));
}

/* ---- asynchronous copies of 16 bytes to LDS, those past `n` as zeros ---- */

GPU_FN void mma_copy16_at(mma_lds to, const void *from, u32 n) {
#if defined(GPU_HOST)
    for (u32 i = 0; i < 16; i++) ((u8 *)to)[i] = i < n ? ((const u8 *)from)[i] : 0;
#else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(to), "l"(__cvta_generic_to_global(from)), "r"(n)
                 : "memory");
#endif
}
GPU_FN void mma_copy16_whole_at(mma_lds to, const void *from) {
#if defined(GPU_HOST)
    mma_copy16_at(to, from, 16);
#else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(__cvta_generic_to_global(from)) : "memory");
#endif
}
/* Of 4 bytes, which may lie anywhere; n is 0 or 4. */
GPU_FN void mma_copy4_at(mma_lds to, const void *from, u32 n) {
#if defined(GPU_HOST)
    *(u32 *)to = n ? *(const u32 *)from : 0;
#else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(to), "l"(__cvta_generic_to_global(from)), "r"(n)
                 : "memory");
#endif
}
GPU_FN void mma_copy16(void *to, const void *from, u32 n) { mma_copy16_at(mma_lds_from(to), from, n); }
GPU_FN void mma_copy_commit(void) {
#if !defined(GPU_HOST)
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/* Until no more than N of this thread's committed groups are under way. */
template <int N> GPU_FN void mma_copy_wait(void) {
#if !defined(GPU_HOST)
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}
/* The same for a number that is not known when compiling, at most 3. */
GPU_FN void mma_copy_wait_but(u32 n) {
    if (n == 0)
        mma_copy_wait<0>();
    else if (n == 1)
        mma_copy_wait<1>();
    else if (n == 2)
        mma_copy_wait<2>();
    else
        mma_copy_wait<3>();
}
#else
/* The first of the 16-byte pieces of a row that this lane has in a fragment; MMA_WORDS / 4 of them lie side by side. */
GPU_FN u32 mma_piece(void) { return MMA_WORDS == 8 ? 0 : gpu_lane() / 16; }

/* A fragment of 16 rows of `pitch` 16-bit elements with k innermost, from the row and the term given. */
GPU_FN struct mma_fragment mma_load_rows(const u16 *lds, u32 pitch) {
    struct mma_fragment f;
    const gpu_16 *from = (const gpu_16 *)(lds + gpu_lane() % 16 * pitch) + mma_piece();
    GPU_UNROLL for (int i = 0; i < MMA_WORDS; i++) f.word[i] = from[i / 4].word[i % 4];
    return f;
}

/* The compiler moves no instruction across: to load much ahead of its use costs more registers than there are. */
GPU_FN void mma_stay(void) {
#if defined(GPU_AMD)
    __builtin_amdgcn_sched_barrier(0);
#endif
}

/* The product is made here, and not where it is used, where its operands would wait in registers. */
GPU_FN void mma_hold(struct mma_tile &sum) {
#if defined(GPU_AMD)
    mma_sums v = gpu_bits<mma_sums>(sum);
    asm volatile("" : "+v"(v));
    sum = gpu_bits<mma_tile>(v);
#else
    (void)sum;
#endif
}

/* Eight elements, those past n as zeros. */
GPU_FN gpu_16 mma_fetch8(const u16 *from, i64 n) {
    u32 w[4] = {0, 0, 0, 0};
    if (n >= 8) {
        gpu_16 x = *(const gpu_16 *)from;
        GPU_UNROLL for (int i = 0; i < 4; i++) w[i] = x.word[i];
    } else if (n > 0) {
        GPU_UNROLL for (int i = 0; i < 4; i++)
            w[i] = (i * 2 < n ? (u32)from[i * 2] : 0) | (i * 2 + 1 < n ? (u32)from[i * 2 + 1] << 16 : 0);
    }
    return gpu_16{{w[0], w[1], w[2], w[3]}};
}

/* ---- sums as operands: a lane has sums of one column, as it has terms of one column of B ---- */

#if defined(MMA_WMMA11)
/* v of the lane 16 above or below. */
GPU_FN u32 mma_across(u32 v) {
    return (u32)__builtin_amdgcn_permlanex16((int)v, (int)v, 0x76543210, (int)0xfedcba98, false, false);
}
#endif

/* The row, of the 16 rows of tiles one above the other, that mma_turn makes term k of. */
GPU_FN u32 mma_turned(u32 k) {
#if defined(MMA_MFMA)
    return k / 32 * 32 + k / 4 % 2 * 16 + k / 8 % 4 * 4 + k % 4;
#else
    return k;
#endif
}

/* MMA_K / 16 tiles one above the other as columns of B, of words that P::of makes of two sums. */
template <typename P> GPU_FN struct mma_fragment mma_turn(const struct mma_tile *tile) {
    struct mma_fragment f;
#if defined(MMA_WMMA11)
    /* Rows alternate between the halves of the wave, and both need all. */
    u32 low = gpu_lane() < 16 ? 0x05040100 : 0x01000504, high = low + 0x02020202;
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        u32 own = P::of(tile->v[i * 2], tile->v[i * 2 + 1]), other = mma_across(own);
        f.word[i * 2] = __builtin_amdgcn_perm(other, own, low);
        f.word[i * 2 + 1] = __builtin_amdgcn_perm(other, own, high);
    }
#else
    GPU_UNROLL for (int i = 0; i < MMA_WORDS; i++)
        f.word[i] = P::of(tile[i * 2 / MMA_SUMS].v[i * 2 % MMA_SUMS], tile[i * 2 / MMA_SUMS].v[i * 2 % MMA_SUMS + 1]);
#endif
    return f;
}

/* A tile's sums with those of a lane in rows side by side, from row lane / 16 * MMA_SUMS on. */
GPU_FN struct mma_tile mma_gather(const struct mma_tile &sum) {
#if defined(MMA_WMMA11)
    struct mma_tile r;
    bool upper = gpu_lane() >= 16;
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        f32 own = upper ? sum.v[i + 4] : sum.v[i];
        f32 other = gpu_bits<f32>(mma_across(gpu_bits<u32>(upper ? sum.v[i] : sum.v[i + 4])));
        r.v[i * 2] = upper ? other : own;
        r.v[i * 2 + 1] = upper ? own : other;
    }
    return r;
#else
    return sum;
#endif
}
#endif
#endif

#endif
