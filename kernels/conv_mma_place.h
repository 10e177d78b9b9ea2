/* Convolutions by matrix instructions, of any dtype: which results and terms are whose, and stores. */
#ifndef WICK_KERNELS_CONV_MMA_PLACE_H
#define WICK_KERNELS_CONV_MMA_PLACE_H

#include "conv_mma.h"
#include "elementwise.h"
#include "layout.h"
#include "mma.h"

#if MMA
enum { WAVES = GPU_BLOCK / GPU_WAVE, WAVE_COLUMNS = WAVES / 2, COLUMNS = GPU_CONV_MMA_COLUMNS };

/* A phase. */
struct conv_phase {
    u32 number, which[3];
    u32 k, taps_h, taps_w; /* without terms, taps are counted as 1 */
};
GPU_FN struct conv_phase conv_phase_of(const struct gpu_conv_mma &p, u32 number) {
    struct conv_phase r;
    r.number = number;
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
GPU_FN u32 conv_window(const struct gpu_conv_mma &p, const struct conv_phase &phase, u32 q) {
    struct conv_position o = conv_position_of(p, q < p.images * p.plane ? q : 0);
    u32 r = o.image * p.image;
    GPU_UNROLL for (int a = 0; a < 3; a++)
        r += o.at[a] * p.result_step[a] + p.dim[a].first[phase.which[a]] * p.step[a];
    return r;
}

/* A run of terms of the sum, and where it is in x, from a window on; what lies before that wraps around. RUN: elements
 * that x counts as one. */
struct conv_terms {
    u32 k, channel;
    u32 h, w; /* tap in the last two dims */
    u32 offset;
};

template <u32 RUN>
GPU_FN struct conv_terms conv_terms_of(const struct gpu_conv_mma &p, const struct conv_phase &phase, u32 k) {
    struct conv_terms r;
    u32 tap = k / p.pitch;
    r.k = k;
    r.channel = k - tap * p.pitch;
    r.w = tap % phase.taps_w;
    tap /= phase.taps_w;
    r.h = tap % phase.taps_h;
    r.offset = tap / phase.taps_h * p.tap_step[0] + r.h * p.tap_step[1] + r.w * p.tap_step[2] +
               r.channel / RUN;
    return r;
}

template <u32 RUN>
GPU_FN void conv_terms_next(const struct gpu_conv_mma &p, const struct conv_phase &phase, struct conv_terms &r,
                            u32 step) {
    r.k += step;
    r.channel += step;
    r.offset += step / RUN;
    GPU_NO_UNROLL while (r.channel >= p.pitch) {
        r.channel -= p.pitch;
        r.offset += p.tap_step[2] - p.pitch / RUN;
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
    u32 first, end; /* of k: its part */
};

GPU_FN struct conv_block conv_block_of(const struct gpu_conv_mma &p, u32 rows) {
    struct conv_block r;
    u32 block = gpu_block_x() / p.phases, which = block % (p.channel_tiles * p.groups);
    r.phase = conv_phase_of(p, gpu_block_x() % p.phases);
    r.q0 = block / (p.channel_tiles * p.groups) * COLUMNS;
    r.group = which / p.channel_tiles;
    r.channel0 = which % p.channel_tiles * rows;
    r.first = gpu_block_y() * p.part < r.phase.k ? gpu_block_y() * p.part : r.phase.k;
    r.end = r.phase.k - r.first < p.part ? r.phase.k : r.first + p.part;
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
    if (p.sums) {
        ((f32 *)p.sums)[gpu_block_y() * p.count + place] = x;
        return;
    }
    if (p.bias) x += p.f8 ? gpu_up(((const f8e4m3 *)p.bias)[channel]) : gpu_up(((const T *)p.bias)[channel]);
    if (p.relu && x < 0) x = 0;
    if (p.f8)
        ((f8e4m3 *)p.out)[place] = gpu_to_f8e4m3(x);
    else
        gpu_down((T *)p.out + place, x);
}
/* Four results together, from q of `r` on. */
template <typename T>
GPU_FN void conv_store_four(const struct gpu_conv_mma &p, const struct conv_block &at, const struct conv_result &r,
                            u32 m, const f32 *from) {
    if (m >= p.cout || !r.there) return;
    i64 channel = (i64)at.group * p.cout + m, place = r.to + channel * p.out_plane;
    gpu_pack<f32, 4> x = *(const gpu_pack<f32, 4> *)from;
    if (p.sums) {
        *(gpu_pack<f32, 4> *)((f32 *)p.sums + (gpu_block_y() * p.count + place)) = x;
        return;
    }
    f32 bias = p.bias ? gpu_up(((const T *)p.bias)[channel]) : 0;
    gpu_pack<T, 4> y;
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        if (p.bias) x.v[i] += bias;
        if (p.relu && x.v[i] < 0) x.v[i] = 0;
        gpu_down(&y.v[i], x.v[i]);
    }
    *(gpu_pack<T, 4> *)((T *)p.out + place) = y;
}

/* Through LDS, 16 channels of each wave at a time, so that neighbours store neighbouring results. `lds` has room for
 * that many lines of PITCH. TURNED: sums are 16 results of each wave by all channels. */
template <typename T, bool TURNED, int MI, int NI>
GPU_FN void conv_store(const struct gpu_conv_mma &p, const struct conv_block &at, struct mma_tile (&sum)[MI][NI], f32 *lds) {
    enum { PITCH = COLUMNS + 8, ACROSS = TURNED ? 1 : COLUMNS / 16 / NI, LINES = TURNED ? NI * 16 : WAVES / ACROSS * 16 };
    u32 wave_row = gpu_wave() / ACROSS, wave_column = gpu_wave() % ACROSS;
    u32 fours = p.fours ? 4 : 1, q = gpu_thread() % (COLUMNS / fours) * fours, line0 = gpu_thread() / (COLUMNS / fours);
    struct conv_result result = conv_result_at(p, at, at.q0 + q);
    GPU_NO_UNROLL for (u32 pass = 0; pass < MI; pass++) {
        gpu_sync();
        GPU_UNROLL for (int j = 0; j < NI; j++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++) {
            u32 row = wave_row * 16 + mma_row(e), column = (wave_column * NI + j) * 16 + mma_column(e);
            lds[TURNED ? column * PITCH + row : row * PITCH + column] = sum[0][j].v[e];
            /* The next tiles move up, for registers can't be picked by number. */
            GPU_UNROLL for (int i = 0; i + 1 < MI; i++) sum[i][j].v[e] = sum[i + 1][j].v[e];
        }
        gpu_sync();
        GPU_NO_UNROLL for (u32 line = line0; line < LINES; line += GPU_BLOCK / COLUMNS * fours) {
            u32 m = at.channel0 + line / 16 * (MI * 16) + pass * 16 + line % 16;
            if (p.fours)
                conv_store_four<T>(p, at, result, m, lds + line * PITCH + q);
            else
                conv_store_one<T>(p, at, result, m, lds[line * PITCH + q]);
        }
    }
}

#endif

#endif
