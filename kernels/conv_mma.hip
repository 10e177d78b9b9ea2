/* Convolutions of bf16 and f16 by matrix instructions.
 *
 * The input is first written once more with channels innermost and zeros around it (conv_pack). After that every run of
 * eight terms of the sum is 16 bytes that lie together, none needs a check, and a window is an address plus the step of a
 * tap: nothing like a matrix of windows is ever made.
 *
 * A block of 256 threads makes 64 or 128 channels by 128 results; its waves, 2 x WAVES / 2, have MI x NI tiles of 16 x 16
 * each, or two groups of four waves (mma_group.h) 64 channels by 128 results or by 64. */
#include "conv_mma.h"
#include "layout.h"
#include "mma_group.h"

/* ---- packing: 64 positions by 64 channels through LDS ---- */

/* Where position `place` of batch b goes, or -1 for nowhere. */
GPU_FN i64 conv_pack_to(const struct gpu_conv_pack &p, i64 b, u32 place) { return (b * p.out_plane + place) * p.pitch; }

/* A tap belongs to the phase (tap dilation - padding) mod stride, and is there one of every tap_step. */
GPU_FN i64 conv_pack_to(const struct gpu_conv_pack_weights &p, i64 b, u32 place) {
    u32 taps = p.kernel[0] * p.kernel[1] * p.kernel[2], channel = place / taps, rest = place - channel * taps;
    u32 row = rest / p.kernel[2], of[3] = {row / p.kernel[1], row % p.kernel[1], rest % p.kernel[2]};
    u32 phase = 0, tap = 0;
    GPU_UNROLL for (int a = 0; a < 3; a++) {
        u32 short_of = p.padding[a] % p.stride[a]; /* of a multiple of the stride */
        u32 which = (of[a] * p.dilation[a] + p.stride[a] - short_of) % p.stride[a];
        if (which >= p.dim[a].phases) return -1;
        phase = phase * p.dim[a].phases + which;
        tap = tap * p.dim[a].taps[which] + of[a] / p.tap_step[a];
    }
    return (((i64)phase * p.groups + b) * p.cout + channel) * p.k + tap * p.pack.pitch;
}

template <typename P> GPU_FN void conv_pack_tiles(const struct gpu_conv_pack &p, const P &whole) {
    enum { EDGE = 64, PITCH = EDGE + 2 };
    GPU_SHARED u16 tile[EDGE * PITCH]; /* [position][channel] */
    u32 t = gpu_thread(), channel0 = gpu_block_x() % p.channel_tiles * EDGE;
    u32 place0 = gpu_block_x() / p.channel_tiles * EDGE, place = place0 + t % EDGE;
    u32 row = p.out_size[2], lines = p.out_size[1], w = place % row + (u32)p.first[2];
    u32 h = place / row % lines + (u32)p.first[1], d = place / row / lines + (u32)p.first[0];
    bool inside = place < p.out_plane && w < p.size[2] && h < p.size[1] && d < p.size[0];
    u32 channels = p.channels - channel0, filled = p.pitch - channel0 < EDGE ? p.pitch - channel0 : EDGE;
    u32 from = inside ? d * p.step + h * p.size[2] + w : 0;
    for (i64 b = gpu_block_y(); b < p.batch; b += p.grid_batch) {
        i64 in = b * p.in_batch + (i64)channel0 * p.channel_step + from;
        GPU_NO_UNROLL for (u32 c0 = t / EDGE; c0 < filled; c0 += 8 * (GPU_BLOCK / EDGE)) {
            u16 x[8]; /* in flight together */
            GPU_UNROLL for (u32 i = 0; i < 8; i++) {
                u32 c = c0 + i * (GPU_BLOCK / EDGE);
                i64 at = in + (i64)c * p.channel_step;
                x[i] = 0;
                if (inside && c < channels)
                    x[i] = p.f8 ? gpu_to_f16(gpu_up(((const f8e4m3 *)p.in)[at])).bits : ((const u16 *)p.in)[at];
            }
            GPU_UNROLL for (u32 i = 0; i < 8; i++) {
                u32 c = c0 + i * (GPU_BLOCK / EDGE);
                if (c < EDGE) tile[t % EDGE * PITCH + c] = x[i];
            }
        }
        gpu_sync();
        GPU_NO_UNROLL for (u32 u = t; u < EDGE * (filled / 8); u += GPU_BLOCK) {
            u32 position = u / (filled / 8), c = u % (filled / 8) * 8;
            i64 to = place0 + position < p.out_plane ? conv_pack_to(whole, b, place0 + position) : -1;
            if (to >= 0) {
                gpu_16 v;
                const u32 *words = (const u32 *)(tile + position * PITCH + c);
                GPU_UNROLL for (int i = 0; i < 4; i++) v.word[i] = words[i];
                *(gpu_16 *)((u16 *)p.out + to + channel0 + c) = v;
            }
        }
        gpu_sync();
    }
}

GPU_KERNEL(conv_pack, struct gpu_conv_pack) { conv_pack_tiles(p, p); }
GPU_KERNEL(conv_pack_weights, struct gpu_conv_pack_weights) { conv_pack_tiles(p.pack, p); }

#if MMA
enum { WAVES = GPU_BLOCK / GPU_WAVE, WAVE_COLUMNS = WAVES / 2, COLUMNS = GPU_CONV_MMA_COLUMNS,
       NI = COLUMNS / 16 / WAVE_COLUMNS };

/* The phase of this block. */
struct conv_phase {
    u32 number, which[3];
    u32 k, taps_h, taps_w; /* without terms, taps are counted as 1 */
};
GPU_FN struct conv_phase conv_phase_of(const struct gpu_conv_mma &p) {
    struct conv_phase r;
    r.number = gpu_block_x() % p.phases;
    r.which[2] = r.number % p.dim[2].phases;
    u32 rest = r.number / p.dim[2].phases;
    r.which[1] = rest % p.dim[1].phases;
    r.which[0] = rest / p.dim[1].phases;
    r.taps_h = p.dim[1].taps[r.which[1]];
    r.taps_w = p.dim[2].taps[r.which[2]];
    r.k = p.dim[0].taps[r.which[0]] * r.taps_h * r.taps_w * p.pitch;
    if (r.k == 0) r.taps_h = r.taps_w = 1;
    return r;
}

/* Result q of a phase. */
struct conv_position {
    u32 image, at[3];
};
GPU_FN struct conv_position conv_position_of(const struct gpu_conv_mma &p, u32 q) {
    struct conv_position r;
    r.image = gpu_divide(q, p.by_plane);
    u32 rest = q - r.image * p.plane, line = gpu_divide(rest, p.by_w);
    r.at[2] = rest - line * p.results[2];
    r.at[0] = gpu_divide(line, p.by_h);
    r.at[1] = line - r.at[0] * p.results[1];
    return r;
}

/* Offset in x of result q's window; results past the end have that of the first. */
GPU_FN i64 conv_window(const struct gpu_conv_mma &p, const struct conv_phase &phase, u32 q) {
    struct conv_position o = conv_position_of(p, q < p.images * p.plane ? q : 0);
    i64 r = o.image * p.image;
    GPU_UNROLL for (int a = 0; a < 3; a++)
        r += o.at[a] * p.result_step[a] + p.dim[a].first[phase.which[a]] * p.step[a];
    return r;
}

/* A run of eight terms of the sum, and where it is in x. */
struct conv_terms {
    u32 k, channel;
    u32 h, w; /* tap in the last two dims */
    i64 offset;
};

GPU_FN struct conv_terms conv_terms_of(const struct gpu_conv_mma &p, const struct conv_phase &phase, u32 k) {
    struct conv_terms r;
    u32 tap = k / p.pitch;
    r.k = k;
    r.channel = k - tap * p.pitch;
    r.w = tap % phase.taps_w;
    tap /= phase.taps_w;
    r.h = tap % phase.taps_h;
    r.offset = tap / phase.taps_h * p.tap_step[0] + r.h * p.tap_step[1] + r.w * p.tap_step[2] + r.channel;
    return r;
}

GPU_FN void conv_terms_next(const struct gpu_conv_mma &p, const struct conv_phase &phase, struct conv_terms &r,
                            u32 step) {
    r.k += step;
    r.channel += step;
    r.offset += step;
    GPU_NO_UNROLL while (r.channel >= p.pitch) {
        r.channel -= p.pitch;
        r.offset += p.tap_step[2] - p.pitch;
        if (++r.w == phase.taps_w) {
            r.w = 0;
            r.offset += p.tap_step[1] - phase.taps_w * p.tap_step[2];
            if (++r.h == phase.taps_h) {
                r.h = 0;
                r.offset += p.tap_step[0] - phase.taps_h * p.tap_step[1];
            }
        }
    }
}

struct conv_block {
    struct conv_phase phase;
    u32 group, channel0, q0;
};

GPU_FN struct conv_block conv_block_of(const struct gpu_conv_mma &p, u32 rows) {
    struct conv_block r;
    u32 block = gpu_block_x() / p.phases, which = block % (p.channel_tiles * p.groups);
    r.phase = conv_phase_of(p);
    r.q0 = block / (p.channel_tiles * p.groups) * COLUMNS;
    r.group = which / p.channel_tiles;
    r.channel0 = which % p.channel_tiles * rows;
    return r;
}

/* Where the weights of a channel of the tile lie. */
GPU_FN i64 conv_weights_of(const struct gpu_conv_mma &p, const struct conv_block &at, u32 channel) {
    return (((i64)at.phase.number * p.groups + at.group) * p.cout + at.channel0 + channel) * p.k;
}

/* Where result q of the first channel lies, and whether it is there. */
struct conv_result {
    i64 to;
    u32 there;
};
GPU_FN struct conv_result conv_result_at(const struct gpu_conv_mma &p, const struct conv_block &at, u32 q) {
    struct conv_result r;
    struct conv_position o = conv_position_of(p, q);
    r.to = (i64)o.image * p.groups * p.cout * p.out_plane;
    r.there = q < p.images * p.plane;
    GPU_UNROLL for (int a = 0; a < 3; a++) {
        r.to += o.at[a] * p.out_step[a] + at.phase.which[a] * p.out_next[a];
        r.there = r.there && o.at[a] < p.dim[a].results[at.phase.which[a]];
    }
    return r;
}
template <typename T>
GPU_FN void conv_store_one(const struct gpu_conv_mma &p, const struct conv_block &at, const struct conv_result &r, u32 m,
                           f32 x) {
    if (m >= p.cout || !r.there) return;
    i64 channel = (i64)at.group * p.cout + m, place = r.to + channel * p.out_plane;
    if (p.bias) x += p.f8 ? gpu_up(((const f8e4m3 *)p.bias)[channel]) : gpu_up(((const T *)p.bias)[channel]);
    if (p.relu && x < 0) x = 0;
    if (p.f8)
        ((f8e4m3 *)p.out)[place] = gpu_to_f8e4m3(x);
    else
        gpu_down((T *)p.out + place, x);
}

/* Through LDS, 32 channels at a time, so that neighbours store neighbouring results. */
template <typename T, int MI>
GPU_FN void conv_store(const struct gpu_conv_mma &p, const struct conv_block &at, struct mma_tile (&sum)[MI][NI], f32 *lds) {
    enum { PITCH = COLUMNS + 8 };
    u32 wave_row = gpu_wave() / WAVE_COLUMNS, wave_column = gpu_wave() % WAVE_COLUMNS;
    struct conv_result result = conv_result_at(p, at, at.q0 + gpu_thread() % COLUMNS);
    GPU_NO_UNROLL for (u32 pass = 0; pass < MI; pass++) {
        gpu_sync();
        GPU_UNROLL for (int j = 0; j < NI; j++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++) {
            lds[(wave_row * 16 + mma_row(e)) * PITCH + (wave_column * NI + j) * 16 + mma_column(e)] = sum[0][j].v[e];
            /* The next tiles move up, for registers can't be picked by number. */
            GPU_UNROLL for (int i = 0; i + 1 < MI; i++) sum[i][j].v[e] = sum[i + 1][j].v[e];
        }
        gpu_sync();
        GPU_NO_UNROLL for (u32 line = gpu_thread() / COLUMNS; line < 32; line += GPU_BLOCK / COLUMNS)
            conv_store_one<T>(p, at, result, at.channel0 + line / 16 * (MI * 16) + pass * 16 + line % 16,
                              lds[line * PITCH + gpu_thread() % COLUMNS]);
    }
}

template <int MI> GPU_FN void conv_clear(struct mma_tile (&sum)[MI][NI]) {
    GPU_UNROLL for (int i = 0; i < MI; i++) GPU_UNROLL for (int j = 0; j < NI; j++)
        GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) sum[i][j].v[e] = 0;
}
#endif

#if MMA && MMA_ASYNC
/* LDS holds some steps, [row][k] with the 16-byte pieces of a row in other places: piece c of row r at c ^ r % 8. */
struct alignas(1024) conv_page {
    u8 bytes[1024];
};
GPU_DYNAMIC_SHARED(struct conv_page, conv_shared);
enum { STEP = GPU_CONV_MMA_STEP, PIECES = STEP / 8, LINES = GPU_BLOCK / PIECES };

/* This thread's pieces of the steps on their way to LDS. */
template <int ROWS> struct conv_source {
    enum { STAGE = GPU_CONV_MMA_STAGE(ROWS), B = ROWS * STEP * 2 };
    const u16 *weight, *x;
    i64 window[COLUMNS / LINES];
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
                       there ? s.x + s.window[j] + s.terms.offset : s.x, there);
        s.weight += STEP;
        conv_terms_next(p, s.phase, s.terms, STEP);
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
    s.weight = (const u16 *)p.weight + conv_weights_of(p, at, line) + piece * 8;
    s.x = (const u16 *)p.x + at.group * p.group;
    s.channels = p.cout > at.channel0 + line ? p.cout - at.channel0 - line : 0;
    GPU_UNROLL for (u32 j = 0; j < COLUMNS / LINES; j++)
        s.window[j] = conv_window(p, at.phase, at.q0 + line + j * LINES);
    s.phase = at.phase;
    s.terms = conv_terms_of(p, at.phase, piece * 8);
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
        GPU_NO_UNROLL for (u32 half = 0; half < 2; half++) {
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
    u32 steps = (at.phase.k + STEP - 1) / STEP, ahead = steps <= p.stages ? steps : p.stages - 1, used = 0;
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
    u32 steps = (at.phase.k + STEP - 1) / STEP, ahead = steps <= p.stages ? steps : p.stages - 1, used = 0;
    source_type source = conv_source_of<ROWS>(p, at, steps, ahead);
    struct mma_tile sum[MI][NI];
    conv_clear(sum);
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
    conv_store<T, MI>(p, at, sum, (f32 *)conv_shared);
}
#endif

#elif MMA
/* Through registers; LDS holds two steps of 32 terms as [row][k]. */
enum { STEP = 32, PITCH = STEP + 8, PIECES = STEP / 8, LINES = GPU_BLOCK / PIECES };

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
    const u16 *weight = (const u16 *)p.weight + conv_weights_of(p, at, line) + piece * 8;
    const u16 *x = (const u16 *)p.x + at.group * p.group;
    u32 channels = p.cout - at.channel0;
    i64 window[COLUMNS / LINES];
    GPU_UNROLL for (u32 j = 0; j < COLUMNS / LINES; j++)
        window[j] = conv_window(p, at.phase, at.q0 + line + j * LINES);
    struct conv_terms terms = conv_terms_of(p, at.phase, piece * 8);
    struct mma_tile sum[MI][NI];
    conv_clear(sum);
    u32 steps = (at.phase.k + STEP - 1) / STEP;
    const u32 a_base = gpu_wave() / WAVE_COLUMNS * (MI * 16) * PITCH;
    const u32 b_base = B + gpu_wave() % WAVE_COLUMNS * (NI * 16) * PITCH;
    gpu_16 a_next[ROWS / LINES], b_next[COLUMNS / LINES];
    GPU_NO_UNROLL for (u32 step = 0; step <= steps; step++) {
        /* Past the last step zeros are fetched, which nobody uses. */
        bool there = terms.k < at.phase.k;
        GPU_UNROLL for (u32 j = 0; j < ROWS / LINES; j++)
            a_next[j] = conv_fetch(weight + (i64)j * LINES * p.k, there && line + j * LINES < channels);
        GPU_UNROLL for (u32 j = 0; j < COLUMNS / LINES; j++) b_next[j] = conv_fetch(x + window[j] + terms.offset, there);
        weight += STEP;
        conv_terms_next(p, at.phase, terms, STEP);
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
    conv_store<T, MI>(p, at, sum, (f32 *)lds);
}
#endif

#if MMA
#define CONV_MMA(type, rows) conv_mma<type, rows>(p)
#else
/* The host never asks for these where there are no matrix instructions. */
#define CONV_MMA(type, rows) (void)p
#endif
/* Blocks that a unit shall have registers for: groups of waves keep nothing but sums in them. */
#if MMA && MMA_GROUP
enum { CONV_BLOCKS_64 = 3, CONV_BLOCKS_128 = 2 };
#else
enum { CONV_BLOCKS_64 = 1, CONV_BLOCKS_128 = 1 };
#endif
#define CONV_KERNELS(type)                                                                                             \
    GPU_KERNEL_OF(conv_mma_64_##type, struct gpu_conv_mma, GPU_BLOCK, CONV_BLOCKS_64) { CONV_MMA(type, 64); }          \
    GPU_KERNEL_OF(conv_mma_128_##type, struct gpu_conv_mma, GPU_BLOCK, CONV_BLOCKS_128) { CONV_MMA(type, 128); }
CONV_KERNELS(bf16)
CONV_KERNELS(f16)
