/* Convolutions of bf16 and f16 by matrix instructions.
 *
 * The input is first written once more with channels innermost and zeros around it (conv_pack). After that every run of
 * eight terms of the sum is 16 bytes that lie together, none needs a check, and a window is an address plus the step of a
 * tap: nothing like a matrix of windows is ever made.
 *
 * A block of 256 threads makes 64 or 128 channels by 128 results; its waves, 2 x WAVES / 2, have MI x NI tiles of 16 x 16
 * each, or two groups of four waves (mma_group.h) 64 channels by 128 results or by 64. */
#include "conv_mma_place.h"
#include "conv_pack.h"
#include "kept.h"
#include "mma_group.h"

GPU_KERNEL(conv_pack, struct gpu_conv_pack) { conv_pack_tiles<u16>(p, p); }
GPU_KERNEL(conv_pack_few, struct gpu_conv_pack) { conv_pack_positions(p); }
GPU_KERNEL(conv_pack_last, struct gpu_conv_pack_last) { conv_pack_pieces(p); }
GPU_KERNEL(conv_pack_fours, struct gpu_conv_pack) { conv_pack_planes(p, p); }
GPU_KERNEL(conv_pack_weights, struct gpu_conv_pack_weights) { conv_pack_tiles<u16>(p.pack, p); }
GPU_KERNEL(conv_pack_weights_fours, struct gpu_conv_pack_weights) { conv_pack_planes(p.pack, p); }
GPU_KERNEL(conv_pack_merged, struct gpu_conv_pack_merged) {
    if (gpu_global() == 0) *p.odd = 0;
    for (u32 i = (u32)gpu_global(); i < p.count; i += (u32)gpu_stride()) {
        u32 piece = i % p.pitch, rest = i / p.pitch, which = rest % p.merged, tap = rest / p.merged % p.taps;
        u32 row = rest / p.merged / p.taps;
        gpu_16 v = {{0, 0, 0, 0}};
        if (which == row / p.cout % p.merged) v = ((const gpu_16 *)p.from)[(row * p.taps + tap) * p.pitch + piece];
        ((gpu_16 *)p.to)[i] = v;
    }
}

#if MMA && MMA_ASYNC
/* LDS holds some steps, [row][k] with the 16-byte pieces of a row in other places: piece c of row r at c ^ r % 8. */
struct alignas(1024) conv_page {
    u8 bytes[1024];
};
GPU_DYNAMIC_SHARED(struct conv_page, conv_shared);
enum { STEP = GPU_CONV_MMA_STEP, PIECES = STEP / 8, LINES = GPU_BLOCK / PIECES, NI = COLUMNS / 16 / WAVE_COLUMNS };

/* This thread's pieces of the steps on their way to LDS. */
template <int ROWS> struct conv_source {
    enum { STAGE = GPU_CONV_MMA_STAGE(ROWS), B = ROWS * STEP * 2 };
    const u16 *weight;
    const gpu_16 *x;
    u32 window[COLUMNS / LINES];
    struct conv_phase phase;
    struct conv_terms terms;
    u32 channels, place; /* channels from this thread's first to the end */
    u32 left, filled;    /* steps not asked for yet, the stage of the next */
};

template <int ROWS> GPU_FN void conv_fill(const struct gpu_conv_mma &p, struct conv_source<ROWS> &s) {
    if (s.left > 0) {
        u8 *to = (u8 *)conv_shared + s.filled * conv_source<ROWS>::STAGE + s.place;
        u32 there = s.terms.k < s.phase.k ? 16 : 0;
        GPU_UNROLL for (u32 j = 0; j < ROWS / LINES; j++) {
            u32 n = j * LINES < s.channels ? there : 0;
            mma_copy16(to + j * (LINES * STEP * 2), n ? s.weight + (i64)j * LINES * p.k : (const u16 *)p.weight, n);
        }
        GPU_UNROLL for (u32 j = 0; j < COLUMNS / LINES; j++)
            mma_copy16(to + conv_source<ROWS>::B + j * (LINES * STEP * 2),
                       s.x + (there ? s.window[j] + s.terms.offset : 0), there);
        s.weight += STEP;
        conv_terms_next<8>(p, s.phase, s.terms, STEP);
        s.filled = s.filled + 1 == p.stages ? 0 : s.filled + 1;
        s.left--;
    }
    mma_copy_commit();
}

template <int ROWS>
GPU_FN struct conv_source<ROWS> conv_source_of(const struct gpu_conv_mma &p, const struct conv_block &at, u32 steps,
                                               u32 ahead) {
    struct conv_source<ROWS> s;
    u32 line = gpu_thread() / PIECES, piece = gpu_thread() % PIECES;
    s.place = line * (STEP * 2) + (piece ^ line % 8) * 16;
    s.weight = (const u16 *)p.weight + conv_weights_of(p, at, line) + at.first + piece * 8;
    s.x = (const gpu_16 *)p.x + at.group * p.group;
    s.channels = p.cout > at.channel0 + line ? p.cout - at.channel0 - line : 0;
    GPU_UNROLL for (u32 j = 0; j < COLUMNS / LINES; j++)
        s.window[j] = gpu_kept(conv_window(p, at.phase, at.q0 + line + j * LINES));
    s.phase = at.phase;
    s.phase.k = at.end;
    s.terms = conv_terms_of<8>(p, at.phase, at.first + piece * 8);
    s.left = steps;
    s.filled = 0;
    GPU_NO_UNROLL for (u32 i = 0; i < ahead; i++) conv_fill(p, s);
    return s;
}

#if MMA_GROUP
/* The waves of a group turn their 64 channels of 64 results round in LDS, a wave 16 channels, 64 results at a time. */
template <typename T, int N>
GPU_FN void conv_group_store(const struct gpu_conv_mma &p, const struct conv_block &at, struct group_sums<N> &sum,
                             u32 channel0, u32 column0, f32 *lds) {
    enum { PITCH = 64 + 8, PASS = 32 };
    struct alignas(8) pair {
        f32 v[2];
    };
    f32 *mine = lds + gpu_wave() * (16 * PITCH);
    channel0 += at.channel0 + gpu_wave() % 4 * 16;
    GPU_NO_UNROLL for (u32 pass = 0; pass < N / 64; pass++) {
        GPU_UNROLL for (u32 i = 0; i < PASS; i += 2) {
            struct pair two = {{group_at(sum, i), group_at(sum, i + 1)}};
            *(struct pair *)(mine + group_row(i) % 16 * PITCH + group_column(i)) = two;
        }
        /* The next results move up, for registers can't be picked by number. */
        GPU_UNROLL for (int i = 0; i + PASS < N / 2; i++) group_at(sum, i) = group_at(sum, i + PASS);
        group_sync_wave();
        if (p.fours) {
            u32 column = gpu_lane() % 16 * 4;
            struct conv_result result = conv_result_at(p, at, at.q0 + column0 + pass * 64 + column);
            GPU_UNROLL for (u32 line = gpu_lane() / 16; line < 16; line += 2)
                conv_store_four<T>(p, at, result, channel0 + line, mine + line * PITCH + column);
        }
        GPU_NO_UNROLL for (u32 half = p.fours ? 2 : 0; half < 2; half++) {
            u32 column = half * GPU_WAVE + gpu_lane(), q = at.q0 + column0 + pass * 64 + column;
            struct conv_result result = conv_result_at(p, at, q);
            GPU_NO_UNROLL for (u32 line = 0; line < 16; line++)
                conv_store_one<T>(p, at, result, channel0 + line, mine[line * PITCH + column]);
        }
        group_sync_wave();
    }
}

template <typename T, int ROWS> GPU_FN void conv_mma(const struct gpu_conv_mma &p) {
    /* One group above the other, or side by side. */
    enum { HIGH = ROWS / 64, N = COLUMNS / (2 / HIGH) };
    typedef struct conv_source<ROWS> source_type;
    struct conv_block at = conv_block_of(p, ROWS);
    u32 steps = (at.end - at.first + STEP - 1) / STEP, ahead = steps <= p.stages ? steps : p.stages - 1, used = 0;
    source_type source = conv_source_of<ROWS>(p, at, steps, ahead);
    u32 group = group_number(), row = HIGH == 2 ? group * 64 : 0, column = HIGH == 2 ? 0 : group * N;
    const u8 *a = (const u8 *)conv_shared + row * (STEP * 2);
    const u8 *b = (const u8 *)conv_shared + source_type::B + column * (STEP * 2);
    struct group_sums<N> sum;
    group_clear(sum);
    GPU_NO_UNROLL for (u32 step = 0; step < steps; step++) {
        mma_copy_wait_but(ahead - 1);
        group_wait<0>();
        group_publish();
        gpu_sync();
        group_begin();
        group_multiply<T, false, false>(sum.tile, a + used * source_type::STAGE, b + used * source_type::STAGE);
        group_commit();
        used = used + 1 == p.stages ? 0 : used + 1;
        conv_fill(p, source);
    }
    group_wait<0>();
    mma_copy_wait<0>();
    gpu_sync();
    conv_group_store<T, N>(p, at, sum, row, column, (f32 *)conv_shared);
}
#else
GPU_FN u32 conv_fragment_base(u32 row0, u32 second) {
    u32 lane = gpu_lane(), low = lane % 8, rows = lane / (second ? 16 : 8) % 2, terms = lane / (second ? 8 : 16) % 2;
    return (row0 + low + rows * 8) * (STEP * 2) + (terms ^ low) * 16;
}

template <typename T, int ROWS> GPU_FN void conv_mma(const struct gpu_conv_mma &p) {
    enum { MI = ROWS / 32 };
    typedef struct conv_source<ROWS> source_type;
    struct conv_block at = conv_block_of(p, ROWS);
    u32 steps = (at.end - at.first + STEP - 1) / STEP, ahead = steps <= p.stages ? steps : p.stages - 1, used = 0;
    source_type source = conv_source_of<ROWS>(p, at, steps, ahead);
    struct mma_tile sum[MI][NI];
    mma_clear(sum);
    u32 a_base = conv_fragment_base(gpu_wave() / WAVE_COLUMNS * (MI * 16), 0);
    u32 b_base = source_type::B + conv_fragment_base(gpu_wave() % WAVE_COLUMNS * (NI * 16), 1);
    GPU_NO_UNROLL for (u32 step = 0; step < steps; step++) {
        mma_copy_wait_but(ahead - 1);
        gpu_sync();
        conv_fill(p, source);
        const u8 *from = (const u8 *)conv_shared + used * source_type::STAGE;
        used = used + 1 == p.stages ? 0 : used + 1;
        struct mma_fragment a[2][MI], b[2][NI];
        GPU_UNROLL for (int i = 0; i < MI; i++) a[0][i] = mma_load<false>(from + a_base + i * (16 * STEP * 2));
        GPU_UNROLL for (int j = 0; j < NI; j++) b[0][j] = mma_load<false>(from + b_base + j * (16 * STEP * 2));
        GPU_UNROLL for (u32 t = 0; t < STEP / MMA_K; t++) {
            if (t + 1 < STEP / MMA_K) {
                GPU_UNROLL for (int i = 0; i < MI; i++)
                    a[(t + 1) % 2][i] = mma_load<false>(from + (a_base ^ (t + 1) * 32) + i * (16 * STEP * 2));
                GPU_UNROLL for (int j = 0; j < NI; j++)
                    b[(t + 1) % 2][j] = mma_load<false>(from + (b_base ^ (t + 1) * 32) + j * (16 * STEP * 2));
            }
            GPU_UNROLL for (int i = 0; i < MI; i++)
                GPU_UNROLL for (int j = 0; j < NI; j++) mma<T>(sum[i][j], a[t % 2][i], b[t % 2][j]);
        }
    }
    mma_copy_wait<0>();
    conv_store<T, false>(p, at, sum, (f32 *)conv_shared);
}
#endif

#elif MMA
/* Through registers; LDS holds two steps of 32 terms as [row][k]. */
enum { STEP = 32, PITCH = STEP + 8, PIECES = STEP / 8, LINES = GPU_BLOCK / PIECES, NI = COLUMNS / 16 / WAVE_COLUMNS };

/* Eight elements, or zeros. */
GPU_FN gpu_16 conv_fetch(const u16 *from, bool there) {
    u32 w[4] = {0, 0, 0, 0};
    if (there) {
        gpu_16 x = *(const gpu_16 *)from;
        GPU_UNROLL for (int i = 0; i < 4; i++) w[i] = x.word[i];
    }
    return gpu_16{{w[0], w[1], w[2], w[3]}};
}

template <typename T, int ROWS> GPU_FN void conv_mma(const struct gpu_conv_mma &p) {
    enum { MI = ROWS / 32, B = ROWS * PITCH, STAGE = (ROWS + COLUMNS) * PITCH, STORE = 32 * (COLUMNS + 8) * 2,
           SIZE = 2 * STAGE > STORE ? 2 * STAGE : STORE };
    GPU_SHARED gpu_16 shared[SIZE / 8];
    u16 *lds = (u16 *)shared;
    struct conv_block at = conv_block_of(p, ROWS);
    u32 line = gpu_thread() / PIECES, piece = gpu_thread() % PIECES, place = line * PITCH + piece * 8;
    const u16 *weight = (const u16 *)p.weight + conv_weights_of(p, at, line) + at.first + piece * 8;
    const gpu_16 *x = (const gpu_16 *)p.x + at.group * p.group;
    u32 channels = p.cout - at.channel0;
    u32 window[COLUMNS / LINES];
    GPU_UNROLL for (u32 j = 0; j < COLUMNS / LINES; j++)
        window[j] = conv_window(p, at.phase, at.q0 + line + j * LINES);
    struct conv_terms terms = conv_terms_of<8>(p, at.phase, at.first + piece * 8);
    struct mma_tile sum[MI][NI];
    mma_clear(sum);
    u32 steps = (at.end - at.first + STEP - 1) / STEP;
    const u32 a_base = gpu_wave() / WAVE_COLUMNS * (MI * 16) * PITCH;
    const u32 b_base = B + gpu_wave() % WAVE_COLUMNS * (NI * 16) * PITCH;
    gpu_16 a_next[ROWS / LINES], b_next[COLUMNS / LINES];
    GPU_NO_UNROLL for (u32 step = 0; step <= steps; step++) {
        /* Past the last step zeros are fetched, which nobody uses. */
        bool there = terms.k < at.end;
        GPU_UNROLL for (u32 j = 0; j < ROWS / LINES; j++)
            a_next[j] = conv_fetch(weight + (i64)j * LINES * p.k, there && line + j * LINES < channels);
        GPU_UNROLL for (u32 j = 0; j < COLUMNS / LINES; j++)
            b_next[j] = conv_fetch((const u16 *)(x + (u32)(window[j] + terms.offset)), there);
        weight += STEP;
        conv_terms_next<8>(p, at.phase, terms, STEP);
        if (step > 0) {
            const u16 *from = lds + (step - 1) % 2 * STAGE;
            GPU_UNROLL for (int t = 0; t < STEP; t += MMA_K) {
                struct mma_fragment a[MI], b[NI];
                GPU_UNROLL for (int i = 0; i < MI; i++) a[i] = mma_load_rows(from + a_base + i * 16 * PITCH + t, PITCH);
                GPU_UNROLL for (int j = 0; j < NI; j++) b[j] = mma_load_rows(from + b_base + j * 16 * PITCH + t, PITCH);
                GPU_UNROLL for (int i = 0; i < MI; i++) GPU_UNROLL for (int j = 0; j < NI; j++) mma<T>(sum[i][j], a[i], b[j]);
            }
        }
        u16 *to = lds + step % 2 * STAGE + place;
        GPU_UNROLL for (u32 j = 0; j < ROWS / LINES; j++) *(gpu_16 *)(to + j * LINES * PITCH) = a_next[j];
        GPU_UNROLL for (u32 j = 0; j < COLUMNS / LINES; j++) *(gpu_16 *)(to + B + j * LINES * PITCH) = b_next[j];
        gpu_sync();
    }
    conv_store<T, false>(p, at, sum, (f32 *)lds);
}
#endif

/* ---- the sum of the parts ---- */

template <typename T> GPU_FN void conv_finish_parts(const struct gpu_conv_mma_finish &p) {
    enum { AHEAD = 8 }; /* sums in flight together */
    if (p.odd && *p.odd) return;
    for (u32 i = (u32)gpu_global(); i < p.count; i += (u32)gpu_stride()) {
        const f32 *from = (const f32 *)p.sums + i;
        f32 sum = 0;
        GPU_NO_UNROLL for (u32 part = 0; part < p.parts; part += AHEAD) {
            f32 x[AHEAD];
            GPU_UNROLL for (u32 j = 0; j < AHEAD; j++) x[j] = part + j < p.parts ? from[(i64)(part + j) * p.count] : 0;
            GPU_UNROLL for (u32 j = 0; j < AHEAD; j++) sum += x[j];
        }
        u32 channel = p.bias ? gpu_divide(i, p.by_plane) % p.channels : 0;
        if (p.bias) sum += p.f8 ? gpu_up(((const f8e4m3 *)p.bias)[channel]) : gpu_up(((const T *)p.bias)[channel]);
        if (p.relu && sum < 0) sum = 0;
        if (p.f8)
            ((f8e4m3 *)p.out)[i] = gpu_to_f8e4m3(sum);
        else
            gpu_down((T *)p.out + i, sum);
    }
}

#if MMA
/* One by one, where groups were merged and x has infinities or NaN: 0 times those is NaN, too. */
template <typename T> GPU_FN void conv_again(const struct gpu_conv_mma &p) {
    if (*p.odd == 0) return;
    u32 results = p.images * p.plane;
    i64 all = (i64)p.phases * p.groups * p.cout * results;
    for (i64 i = (i64)gpu_global(); i < all; i += (i64)gpu_stride()) {
        u32 line = (u32)(i / results), q = (u32)(i - (i64)line * results), channel = line % p.cout;
        struct conv_block at;
        at.group = line / p.cout % p.groups;
        at.phase = conv_phase_of(p, line / p.cout / p.groups);
        at.channel0 = 0;
        struct conv_result result = conv_result_at(p, at, q);
        if (!result.there) continue;
        const gpu_16 *x = (const gpu_16 *)p.x + at.group * p.group;
        u32 window = conv_window(p, at.phase, q);
        const u16 *weight = (const u16 *)p.weight + conv_weights_of(p, at, channel);
        struct conv_terms terms = conv_terms_of<8>(p, at.phase, 0);
        f32 sum = 0;
        GPU_NO_UNROLL while (terms.k < at.phase.k) {
            const T *a = (const T *)weight + terms.k, *b = (const T *)(x + (u32)(window + terms.offset));
            GPU_NO_UNROLL for (u32 c = 0; c < p.pitch; c++) sum = gpu_fma(gpu_up(a[c]), gpu_up(b[c]), sum);
            conv_terms_next<8>(p, at.phase, terms, p.pitch);
        }
        conv_store_one<T>(p, at, result, channel, sum);
    }
}

#define CONV_MMA(type, rows)                                                                                           \
    if (!p.odd || *p.odd == 0) conv_mma<type, rows>(p)
#define CONV_AGAIN(type) conv_again<type>(p)
#else
/* The host never asks for these where there are no matrix instructions. */
#define CONV_MMA(type, rows) (void)p
#define CONV_AGAIN(type) (void)p
#endif
/* Blocks that a unit shall have registers for: groups of waves keep nothing but sums in them. */
#if MMA && MMA_GROUP
enum { CONV_BLOCKS_64 = 3, CONV_BLOCKS_128 = 2 };
#else
enum { CONV_BLOCKS_64 = 1, CONV_BLOCKS_128 = 1 };
#endif
#define CONV_KERNELS(type)                                                                                             \
    GPU_KERNEL_OF(conv_mma_64_##type, struct gpu_conv_mma, GPU_BLOCK, CONV_BLOCKS_64) { CONV_MMA(type, 64); }          \
    GPU_KERNEL_OF(conv_mma_128_##type, struct gpu_conv_mma, GPU_BLOCK, CONV_BLOCKS_128) { CONV_MMA(type, 128); }       \
    GPU_KERNEL(conv_mma_again_##type, struct gpu_conv_mma) { CONV_AGAIN(type); }                                       \
    GPU_KERNEL(conv_mma_finish_##type, struct gpu_conv_mma_finish) { conv_finish_parts<type>(p); }
CONV_KERNELS(bf16)
CONV_KERNELS(f16)
