/* The copies with channels innermost, for convolutions by matrix instructions: 64 positions by 64 channels through LDS.
 * E: u16 or u32, as wide as the elements. */
#ifndef WICK_KERNELS_CONV_PACK_H
#define WICK_KERNELS_CONV_PACK_H

#include "conv_mma.h"
#include "dtype.h"


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

GPU_FN u16 conv_pack_element(const struct gpu_conv_pack &p, i64 at, u16) {
    return p.f8 ? gpu_to_f16(gpu_up(((const f8e4m3 *)p.in)[at])).bits : ((const u16 *)p.in)[at];
}
GPU_FN u32 conv_pack_element(const struct gpu_conv_pack &p, i64 at, u32) { return ((const u32 *)p.in)[at]; }

template <typename E, typename P> GPU_FN void conv_pack_tiles(const struct gpu_conv_pack &p, const P &whole) {
    enum { EDGE = 64, PER = 16 / sizeof(E), PITCH = EDGE + 4 / sizeof(E) };
    GPU_SHARED E tile[EDGE * PITCH]; /* [position][channel] */
    GPU_SHARED i64 goes[EDGE];       /* where a position does */
    u32 t = gpu_thread(), channel0 = gpu_block_x() % p.channel_tiles * EDGE;
    u32 place0 = gpu_block_x() / p.channel_tiles * EDGE, place = place0 + t % EDGE;
    u32 row = p.out_size[2], lines = p.out_size[1], w = place % row + (u32)p.first[2];
    u32 h = place / row % lines + (u32)p.first[1], d = place / row / lines + (u32)p.first[0];
    bool inside = place < p.out_plane && w < p.size[2] && h < p.size[1] && d < p.size[0];
    u32 channels = p.channels - channel0, filled = p.pitch - channel0 < EDGE ? p.pitch - channel0 : EDGE;
    u32 from = inside ? d * p.step + h * p.size[2] + w : 0;
    u32 odd = 0;
    for (i64 b = gpu_block_y(); b < p.batch; b += p.grid_batch) {
        i64 in = b * p.in_batch + (i64)channel0 * p.channel_step + from;
        if (t < EDGE) goes[t] = place < p.out_plane ? conv_pack_to(whole, b, place) : -1;
        GPU_NO_UNROLL for (u32 c0 = t / EDGE; c0 < filled; c0 += 8 * (GPU_BLOCK / EDGE)) {
            u32 x[8]; /* in flight together */
            GPU_UNROLL for (u32 i = 0; i < 8; i++) {
                u32 c = c0 + i * (GPU_BLOCK / EDGE);
                i64 at = in + (i64)c * p.channel_step;
                x[i] = 0;
                if (inside && c < channels) x[i] = conv_pack_element(p, at, E());
                odd |= (x[i] & p.mask) == p.mask;
            }
            GPU_UNROLL for (u32 i = 0; i < 8; i++) {
                u32 c = c0 + i * (GPU_BLOCK / EDGE);
                if (c < EDGE) tile[t % EDGE * PITCH + c] = (E)x[i];
            }
        }
        gpu_sync();
        GPU_NO_UNROLL for (u32 u = t; u < EDGE * (filled / PER); u += GPU_BLOCK) {
            u32 position = u / (filled / PER), c = u % (filled / PER) * PER;
            i64 to = goes[position];
            if (to >= 0) {
                gpu_16 v;
                const u32 *words = (const u32 *)(tile + position * PITCH + c);
                GPU_UNROLL for (int i = 0; i < 4; i++) v.word[i] = words[i];
                *(gpu_16 *)((E *)p.out + to + channel0 + c) = v;
            }
        }
        gpu_sync();
    }
    if (p.odd && odd) *p.odd = 1;
}

/* The same of planes that lie together, by four elements of a channel at once: a tile is 64 positions of the input, and
 * other blocks write the margins. */
GPU_FN void conv_pack_margins(const struct gpu_conv_pack &p, u32 run, u32 channel0, u32 filled) {
    u32 place = run * GPU_BLOCK + gpu_thread(), row = p.out_size[2], lines = p.out_size[1];
    u32 line = place / row, w = place - line * row + (u32)p.first[2], d = line / lines;
    u32 h = line - d * lines + (u32)p.first[1];
    if (place >= p.out_plane || (w < p.size[2] && h < p.size[1] && d + (u32)p.first[0] < p.size[0])) return;
    for (i64 b = gpu_block_y(); b < p.batch; b += p.grid_batch) {
        gpu_16 *to = (gpu_16 *)((u16 *)p.out + conv_pack_to(p, b, place) + channel0);
        GPU_NO_UNROLL for (u32 c = 0; c < filled / 8; c++) to[c] = gpu_16{{0, 0, 0, 0}};
    }
}

template <typename P> GPU_FN void conv_pack_planes(const struct gpu_conv_pack &p, const P &whole) {
    enum { EDGE = 64, PITCH = EDGE + 2, LOADS = EDGE * EDGE / 4 / GPU_BLOCK };
    struct alignas(8) four {
        u16 v[4];
    };
    GPU_SHARED u16 tile[EDGE * PITCH]; /* [position][channel] */
    GPU_SHARED i64 goes[EDGE];         /* where a position does, or -1 for nowhere */
    u32 t = gpu_thread(), run = gpu_block_x() / p.channel_tiles, channel0 = gpu_block_x() % p.channel_tiles * EDGE;
    u32 channels = p.channels - channel0, filled = p.pitch - channel0 < EDGE ? p.pitch - channel0 : EDGE;
    if (run >= p.runs) {
        conv_pack_margins(p, run - p.runs, channel0, filled);
        return;
    }
    u32 place0 = run * EDGE, plane = p.size[0] * p.step, pieces = filled / 8;
    u32 odd = 0;
    u32 at = place0 + t, line = at / p.size[2], w = at - line * p.size[2] - (u32)p.first[2], d = line / p.size[1];
    u32 h = line - d * p.size[1] - (u32)p.first[1];
    d -= (u32)p.first[0];
    bool there = at < plane && w < p.out_size[2] && h < p.out_size[1] && d < p.out_size[0];
    for (i64 b = gpu_block_y(); b < p.batch; b += p.grid_batch) {
        const u16 *in = (const u16 *)p.in + b * p.in_batch + (i64)channel0 * p.channel_step + place0;
        struct four x[LOADS];
        GPU_UNROLL for (u32 i = 0; i < LOADS; i++) {
            u32 c = t / (EDGE / 4) + i * (GPU_BLOCK / (EDGE / 4)), at = t % (EDGE / 4) * 4;
            GPU_UNROLL for (int e = 0; e < 4; e++) x[i].v[e] = 0;
            if (c < channels && place0 + at < plane) x[i] = *(const struct four *)(in + (i64)c * p.channel_step + at);
        }
        if (t < EDGE) goes[t] = there ? conv_pack_to(whole, b, (d * p.out_size[1] + h) * p.out_size[2] + w) : -1;
        GPU_UNROLL for (u32 i = 0; i < LOADS; i++) GPU_UNROLL for (u32 e = 0; e < 4; e++) {
            u32 c = t / (EDGE / 4) + i * (GPU_BLOCK / (EDGE / 4));
            tile[(t % (EDGE / 4) * 4 + e) * PITCH + c] = x[i].v[e];
            odd |= (x[i].v[e] & p.mask) == p.mask;
        }
        gpu_sync();
        GPU_NO_UNROLL for (u32 u = t; u < EDGE * pieces; u += GPU_BLOCK) {
            u32 position = u / pieces, c = (u - position * pieces) * 8;
            i64 to = goes[position];
            if (to < 0) continue;
            gpu_16 v;
            const u32 *words = (const u32 *)(tile + position * PITCH + c);
            GPU_UNROLL for (int i = 0; i < 4; i++) v.word[i] = words[i];
            *(gpu_16 *)((u16 *)p.out + to + channel0 + c) = v;
        }
        gpu_sync();
    }
    if (p.odd && odd) *p.odd = 1;
}

/* The same of few channels without LDS: a thread makes a position, whose neighbours read neighbours of each channel. */
GPU_FN void conv_pack_positions(const struct gpu_conv_pack &p) {
    u32 place = gpu_block_x() * GPU_BLOCK + gpu_thread(), row = p.out_size[2], lines = p.out_size[1];
    u32 line = place / row, w = place - line * row + (u32)p.first[2], d = line / lines;
    u32 h = line - d * lines + (u32)p.first[1];
    if (place >= p.out_plane) return;
    d += (u32)p.first[0];
    bool inside = w < p.size[2] && h < p.size[1] && d < p.size[0];
    u32 from = inside ? d * p.step + h * p.size[2] + w : 0;
    for (i64 b = gpu_block_y(); b < p.batch; b += p.grid_batch) {
        gpu_16 *to = (gpu_16 *)((u16 *)p.out + conv_pack_to(p, b, place));
        GPU_NO_UNROLL for (u32 c0 = 0; c0 < p.pitch; c0 += 8) {
            i64 at = b * p.in_batch + (i64)c0 * p.channel_step + from;
            u32 x[8];
            GPU_UNROLL for (u32 i = 0; i < 8; i++) {
                x[i] = 0;
                if (inside && c0 + i < p.channels) x[i] = conv_pack_element(p, at + (i64)i * p.channel_step, u16());
            }
            to[c0 / 8] = gpu_16{{x[0] | x[1] << 16, x[2] | x[3] << 16, x[4] | x[5] << 16, x[6] | x[7] << 16}};
        }
    }
}

/* Of channels that lie last: a thread copies some pieces of 16 bytes. */
GPU_FN void conv_pack_pieces(const struct gpu_conv_pack_last &p) {
    enum { EACH = GPU_CONV_PACK_EACH };
    const gpu_16 *from[EACH];
    u32 first = gpu_block_x() * (EACH * GPU_BLOCK) + gpu_thread();
    GPU_UNROLL for (u32 k = 0; k < EACH; k++) {
        u32 i = first + k * GPU_BLOCK, place = gpu_divide(i, p.by_pieces), line = gpu_divide(place, p.by_out_size[2]);
        u32 d = gpu_divide(line, p.by_out_size[1]), w = place - line * p.by_out_size[2].d + (u32)p.first[2];
        u32 h = line - d * p.by_out_size[1].d + (u32)p.first[1];
        d += (u32)p.first[0];
        u32 at = ((d * p.size[1] + h) * p.size[2] + w) * p.by_pieces.d + (i - place * p.by_pieces.d);
        bool inside = i < p.count && w < p.size[2] && h < p.size[1] && d < p.size[0];
        from[k] = inside ? (const gpu_16 *)p.in + at : 0;
    }
    for (u32 b = gpu_block_y(); b < p.batch; b += p.grid_batch) {
        gpu_16 v[EACH];
        GPU_UNROLL for (u32 k = 0; k < EACH; k++) {
            v[k] = gpu_16{{0, 0, 0, 0}};
            if (from[k]) v[k] = from[k][(i64)b * p.in_batch];
        }
        GPU_UNROLL for (u32 k = 0; k < EACH; k++)
            if (first + k * GPU_BLOCK < p.count) ((gpu_16 *)p.out)[(i64)b * p.count + first + k * GPU_BLOCK] = v[k];
    }
}

#endif
