/* Convolutions of f32 by matrix instructions of eleven bits (mma_tf32.h), of the copies that conv_pack.h makes: a run of
 * four terms is 16 bytes, none of which needs a check. A block makes 64 or 128 channels by 128 results; of 64 channels a
 * group of waves makes results by channels (TURNED), as it wants 128 rows. */
#include "conv_mma_place.h"
#include "conv_pack.h"
#include "mma_tf32.h"

#if MMA && MMA_ASYNC
enum { PIECES = TF32_STEP / 4, LINES = GPU_BLOCK / PIECES };

/* This thread's pieces of the steps on their way to LDS. */
template <int ROWS, bool TURNED> struct conv_source {
    enum {
        STAGE = GPU_TF32_STAGE(ROWS, COLUMNS),
        WEIGHTS = TURNED ? COLUMNS * TF32_PITCH * 4 : 0,
        WINDOWS = TURNED ? 0 : ROWS * TF32_PITCH * 4
    };
    const struct gpu_conv_mma &p;
    const f32 *weight, *x;
    u32 window[COLUMNS / LINES];
    struct conv_phase phase;
    struct conv_terms terms;
    u32 channels, place; /* channels from this thread's first to the end */
};
template <int ROWS, bool TURNED> GPU_FN void tf32_copy(struct conv_source<ROWS, TURNED> &s, mma_lds to) {
    typedef struct conv_source<ROWS, TURNED> type;
    u32 there = s.terms.k < s.phase.k ? 16 : 0;
    to += s.place;
    GPU_UNROLL for (u32 j = 0; j < ROWS / LINES; j++) {
        u32 n = j * LINES < s.channels ? there : 0;
        mma_copy16_at(to + type::WEIGHTS + j * (LINES * TF32_PITCH * 4),
                      n ? s.weight + (i64)j * LINES * s.p.k : (const f32 *)s.p.weight, n);
    }
    GPU_UNROLL for (u32 j = 0; j < COLUMNS / LINES; j++)
        mma_copy16_at(to + type::WINDOWS + j * (LINES * TF32_PITCH * 4),
                      s.x + (there ? s.window[j] + s.terms.offset : 0), there);
    s.weight += TF32_STEP;
    conv_terms_next<1>(s.p, s.phase, s.terms, TF32_STEP);
}
template <int ROWS, bool TURNED> GPU_FN bool tf32_a_lines(const struct conv_source<ROWS, TURNED> &) { return false; }
template <int ROWS, bool TURNED> GPU_FN bool tf32_b_lines(const struct conv_source<ROWS, TURNED> &) { return false; }

template <int ROWS, bool TURNED> struct conv_work {
    const struct gpu_conv_mma &p;
    const struct conv_block &at;
    u32 steps;
};
template <int ROWS, bool TURNED>
GPU_FN struct conv_source<ROWS, TURNED> tf32_source(const struct conv_work<ROWS, TURNED> &w, bool) {
    const struct gpu_conv_mma &p = w.p;
    const struct conv_block &at = w.at;
    u32 line = gpu_thread() / PIECES, piece = gpu_thread() % PIECES;
    struct conv_source<ROWS, TURNED> s = {p, (const f32 *)p.weight + conv_weights_of(p, at, line) + piece * 4,
                                          (const f32 *)p.x + at.group * p.group, {}, at.phase,
                                          conv_terms_of<1>(p, at.phase, piece * 4),
                                          p.cout > at.channel0 + line ? p.cout - at.channel0 - line : 0,
                                          (line * TF32_PITCH + piece * 4) * 4};
    GPU_UNROLL for (u32 j = 0; j < COLUMNS / LINES; j++)
        s.window[j] = conv_window(p, at.phase, at.q0 + line + j * LINES);
    return s;
}

GPU_FN u32 conv_steps(const struct conv_block &at) { return (at.phase.k + TF32_STEP - 1) / TF32_STEP; }

template <int ROWS> GPU_FN void conv_tf32(const struct gpu_conv_mma &p) {
    enum { TURNED = MMA_GROUP && ROWS == 64 };
    struct conv_block at = conv_block_of(p, ROWS);
    struct conv_work<ROWS, TURNED> work = {p, at, conv_steps(at)};
#if MMA_GROUP
    struct mma_tile sum[1][ROWS / 16];
    tf32_group_tile(work, sum);
    conv_store<f32, TURNED>(p, at, sum, (f32 *)tf32_group_stages<ROWS>());
#else
    struct mma_tile sum[ROWS / 32][COLUMNS / 16 / TF32_ACROSS];
    tf32_tile<ROWS, COLUMNS>(work, p.stages, sum);
    conv_store<f32, TURNED>(p, at, sum, (f32 *)tf32_shared);
#endif
}
#define CONV_TF32(rows) conv_tf32<rows>(p)
#define CONV_PACK(pack) conv_pack_tiles<u32>(pack, p)
#else
/* The host never asks for these elsewhere. */
#define CONV_TF32(rows) (void)p
#define CONV_PACK(pack) (void)p
#endif

GPU_KERNEL(conv_pack_f32, struct gpu_conv_pack) { CONV_PACK(p); }
GPU_KERNEL(conv_pack_weights_f32, struct gpu_conv_pack_weights) { CONV_PACK(p.pack); }

GPU_KERNEL(conv_tf32_64, struct gpu_conv_mma) { CONV_TF32(64); }
GPU_KERNEL(conv_tf32_128, struct gpu_conv_mma) { CONV_TF32(128); }
