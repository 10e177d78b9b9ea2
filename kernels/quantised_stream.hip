/* One row of activations by weights of the types that models are mostly made of, at the speed of memory: a wave brings
 * a stretch of a row of weights into LDS by loads of 16 bytes side by side, whatever the type, and asks for the next
 * one before it multiplies. A lane then multiplies a unit of 32 or 64 weights, whose scales it unpacks once.
 *
 * The activations lie in LDS as numbers of 8 bits: a unit's groups of 16 are as many planes, in which lanes read 16
 * bytes side by side. Their sums of 16, or of 32 by their scale (stream_scaled), lie by units. */
#include "gemm_common.h"
#include "quantised.h"
#include "sigmoid.h"
#include "wave.h"

#define BLOCK_FN GPU_FN
#define BLOCK_TABLE GPU_CONSTANT
#define BLOCK_UNROLL GPU_UNROLL
GPU_FN f32 block_from_f16(u16 bits) {
    f16 x;
    x.bits = bits;
    return gpu_from_f16(x);
}
#define BLOCK_F16(bits) block_from_f16(bits)
#define BLOCK_F32(bits) gpu_bits<f32>(bits)
#include "blocks.h"
#include "iq4.h"
#include "quantised_round.h"

/* Dot products with the high four bits of each byte, as numbers of 0 to 15, over GPU_DOT4_HIGH. */
#if defined(GPU_NVIDIA)
#define GPU_DOT4_HIGH 0.0625f
GPU_FN i32 gpu_dot4_high(u32 a, u32 b, i32 sum) {
    i32 r;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a & 0xf0f0f0f0u), "r"(b), "r"(sum));
    return r;
}
#else
#define GPU_DOT4_HIGH 1.0f
GPU_FN i32 gpu_dot4_high(u32 a, u32 b, i32 sum) { return gpu_dot4(a >> 4 & 0x0f0f0f0fu, b, sum); }
#endif

/* ---- units, of which `u` counts those of the stretch and `unit` those of the row ---- */

/* Group `plane` of a unit of the activations. */
GPU_FN gpu_vec<u32> stream_activations(const struct stream_room &room, u32 units, u32 unit, u32 plane) {
    return *(const gpu_vec<u32> *)(room.words + (plane * units + unit) * 4);
}
/* N words from a byte at a multiple of 2; the word behind them is read too. */
template <int N> GPU_FN void stream_words(const u32 *stage, u32 byte, u32 (&w)[N]) {
    const u32 *from = stage + byte / 4;
    u32 shift = byte % 4 * 8, low = from[0];
    GPU_UNROLL for (int j = 0; j < N; j++) {
        u32 high = from[j + 1];
        w[j] = (u32)(((u64)high << 32 | low) >> shift);
        low = high;
    }
}

/* q4_k, and q5_k with its fifth bits: a unit is 32 bytes, low halves of one sub-block and high halves of the next. */
template <int TYPE> struct stream_unit {
    enum { FIVE = TYPE == BLOCK_q5_k };
    /* What does not depend on the row. */
    struct held {
        gpu_vec<u32> x[4];
        f32 by[2], all[2];
    };
    GPU_FN void hold(const struct stream_room &room, u32 units, u32 unit, struct held &h) {
        struct alignas(8) two {
            f32 v[2];
        };
        GPU_UNROLL for (u32 plane = 0; plane < 4; plane++) h.x[plane] = stream_activations(room, units, unit, plane);
        two by = ((const two *)room.scales)[unit], all = ((const two *)room.sums)[unit];
        GPU_UNROLL for (int s = 0; s < 2; s++) {
            h.by[s] = by.v[s];
            h.all[s] = all.v[s];
        }
    }
    GPU_FN f32 multiply(const u32 *stage, u32 u, const struct held &h, f32 sum) {
        const u32 *b = stage + u / 4 * (stream_type<TYPE>::NBYTES / 4);
        u32 pair = u % 4;
        gpu_vec<u32> head = *(const gpu_vec<u32> *)b;
        i32 t[2] = {0, 0};
        GPU_UNROLL for (u32 half = 0; half < 2; half++) {
            gpu_vec<u32> q = *(const gpu_vec<u32> *)(b + (FIVE ? 12 : 4) + pair * 8 + half * 4), high = q;
            if (FIVE) high = *(const gpu_vec<u32> *)(b + 4 + half * 4);
            STREAM_EACH {
                u32 low = q.v[j] & 0x0f0f0f0fu;
                if (FIVE) {
                    u32 bits = high.v[j] >> 2 * pair;
                    low |= bits << 4 & 0x10101010u;
                    u32 up = (q.v[j] >> 4 & 0x0f0f0f0fu) | (bits << 3 & 0x10101010u);
                    t[1] = gpu_dot4(up, h.x[2 + half].v[j], t[1]);
                } else {
                    t[1] = gpu_dot4_high(q.v[j], h.x[2 + half].v[j], t[1]);
                }
                t[0] = gpu_dot4(low, h.x[half].v[j], t[0]);
            }
        }
        /* As block_scale_min, for two sub-blocks at once. The last four have high bits where the first four's scales
         * are. */
        u32 shift = pair % 2 * 16, mask = pair < 2 ? 0x3f3fu : 0x0f0fu, more = pair < 2 ? 0 : 0x3030u;
        u32 scale = ((pair < 2 ? head.v[1] : head.v[3]) >> shift & mask) | (head.v[1] >> (shift + 2) & more);
        u32 least = ((pair < 2 ? head.v[2] : head.v[3] >> 4) >> shift & mask) | (head.v[2] >> (shift + 2) & more);
        f32 d = block_from_f16((u16)head.v[0]), dmin = block_from_f16((u16)(head.v[0] >> 16));
        f32 product = h.by[0] * (f32)(t[0] * (i32)(scale & 255)), less = h.all[0] * (f32)(least & 255);
        const f32 part = FIVE ? 1.0f : GPU_DOT4_HIGH;
        product = gpu_fma(h.by[1] * part, (f32)(t[1] * (i32)(scale >> 8)), product);
        less = gpu_fma(h.all[1], (f32)(least >> 8), less);
        return gpu_fma(-dmin, less, gpu_fma(d, product, sum));
    }
    GPU_FN f32 add(const struct stream_room &room, u32 u, u32 units, u32 unit, f32 sum) {
        struct held h;
        hold(room, units, unit, h);
        return multiply(room.stage, u, h, sum);
    }
};

template <> struct stream_unit<BLOCK_q8_0> {
    GPU_FN f32 add(const struct stream_room &room, u32 u, u32 units, u32 unit, f32 sum) {
        u32 w[17];
        GPU_UNROLL for (int j = 0; j < 17; j++) w[j] = room.stage[17 * u + (u32)j];
        i32 t[2] = {0, 0};
        GPU_UNROLL for (int h = 0; h < 2; h++) {
            gpu_vec<u32> x = stream_activations(room, units, unit, (u32)h);
            gpu_vec<u32> y = stream_activations(room, units, unit, 2 + (u32)h);
            STREAM_EACH {
                t[0] = gpu_dot4(w[4 * h + j] >> 16 | w[4 * h + j + 1] << 16, x.v[j], t[0]);
                t[1] = gpu_dot4(w[9 + 4 * h + j], y.v[j], t[1]);
            }
        }
        const f32 *scale = room.scales + 2 * unit;
        sum = gpu_fma(block_from_f16((u16)w[0]) * scale[0], (f32)t[0], sum);
        return gpu_fma(block_from_f16((u16)(w[8] >> 16)) * scale[1], (f32)t[1], sum);
    }
};

template <> struct stream_unit<BLOCK_q6_k> {
    GPU_FN f32 add(const struct stream_room &room, u32 u, u32 units, u32 unit, f32 sum) {
        u32 block = u / 4 * 210, n = u / 2 % 2, h = u % 2, at = block + 64 * n + 16 * h;
        u32 q[2][4], high[4], scale[2], d = room.stage[(block + 208) / 4] >> (block + 208) % 4 * 8;
        stream_words(room.stage, at, q[0]);
        stream_words(room.stage, at + 32, q[1]);
        stream_words(room.stage, block + 128 + 32 * n + 16 * h, high);
        stream_words(room.stage, block + 192 + 8 * n, scale);
        f32 total = 0;
        GPU_UNROLL for (u32 plane = 0; plane < 4; plane++) {
            gpu_vec<u32> x = stream_activations(room, units, unit, plane);
            i32 t = -32 * room.sums[unit * 4 + plane];
            STREAM_EACH {
                u32 low = q[plane % 2][j] >> plane / 2 * 4 & 0x0f0f0f0fu;
                u32 up = (plane < 2 ? high[j] << (4 - 2 * plane) : high[j] >> (2 * plane - 4)) & 0x30303030u;
                t = gpu_dot4(low | up, x.v[j], t);
            }
            i32 by = (i8)(scale[plane / 2] >> (plane % 2 * 16 + 8 * h));
            total = gpu_fma(room.scales[unit / 2 * 4 + plane], (f32)(t * by), total);
        }
        return gpu_fma(block_from_f16((u16)d), total, sum);
    }
};

template <> struct stream_unit<BLOCK_q3_k> {
    GPU_FN f32 add(const struct stream_room &room, u32 u, u32 units, u32 unit, f32 sum) {
        u32 block = u / 4 * 110, n = u / 2 % 2, h = u % 2, q[4], third[4], scale[3];
        u32 d = room.stage[(block + 108) / 4] >> (block + 108) % 4 * 8;
        stream_words(room.stage, block + 32 + 32 * n + 16 * h, q);
        stream_words(room.stage, block + 16 * h, third);
        stream_words(room.stage, block + 96, scale);
        f32 total = 0;
        GPU_UNROLL for (u32 plane = 0; plane < 4; plane++) {
            gpu_vec<u32> x = stream_activations(room, units, unit, plane);
            i32 t = -4 * room.sums[unit * 4 + plane];
            STREAM_EACH {
                u32 bit = third[j] >> (4 * n + plane) & 0x01010101u;
                t = gpu_dot4((q[j] >> 2 * plane & 0x03030303u) | bit << 2, x.v[j], t);
            }
            u32 at = 2 * plane + h; /* of the eight scales of this half */
            u32 low = scale[plane / 2] >> (at % 4 * 8 + 4 * n) & 15;
            u32 high = scale[2] >> (at % 4 * 8 + 4 * n + at / 4 * 2) & 3;
            i32 by = (i32)(low | high << 4) - 32;
            total = gpu_fma(room.scales[unit / 2 * 4 + plane], (f32)(t * by), total);
        }
        return gpu_fma(block_from_f16((u16)d), total, sum);
    }
};

template <> struct stream_unit<BLOCK_q2_k> {
    GPU_FN f32 add(const struct stream_room &room, u32 u, u32 units, u32 unit, f32 sum) {
        const u32 *b = room.stage + u / 4 * 21;
        u32 n = u / 2 % 2, h = u % 2, both = b[20];
        f32 d = block_from_f16((u16)both), dmin = block_from_f16((u16)(both >> 16));
        gpu_vec<i32> all = *(const gpu_vec<i32> *)(room.sums + unit * 4);
        u32 q[4];
        STREAM_EACH q[j] = b[4 + 8 * n + 4 * h + (u32)j];
        GPU_UNROLL for (u32 plane = 0; plane < 4; plane++) {
            gpu_vec<u32> x = stream_activations(room, units, unit, plane);
            i32 t = 0;
            STREAM_EACH t = gpu_dot4(q[j] >> 2 * plane & 0x03030303u, x.v[j], t);
            u32 scale = b[2 * n + plane / 2] >> (plane % 2 * 16 + 8 * h);
            f32 product = (f32)(t * (i32)(scale & 15)), less = (f32)(all.v[plane] * (i32)(scale >> 4 & 15));
            sum = gpu_fma(room.scales[unit / 2 * 4 + plane], gpu_fma(d, product, -(dmin * less)), sum);
        }
        return sum;
    }
};

/* Two blocks of 32 weights with a scale each, and a least one (LEAST) or a number that all lie below (LESS). */
template <int TYPE> struct stream_unit_pair {
    enum {
        BYTES = stream_type<TYPE>::NBYTES,
        WORDS = BYTES / 2,
        TABLE = TYPE == BLOCK_iq4_nl,
        FIVE = TYPE == BLOCK_q5_0 || TYPE == BLOCK_q5_1,
        LEAST = TYPE == BLOCK_q4_1 || TYPE == BLOCK_q5_1,
        LESS = TYPE == BLOCK_q4_0 ? 8 : TYPE == BLOCK_q5_0 ? 16 : 0,
        PIECE = WORDS % 4 == 0 ? 4 : WORDS % 2 == 0 ? 2 : 1 /* words that are read at once */
    };
    struct alignas(4 * PIECE) piece {
        u32 word[PIECE];
    };
    /* The word at a byte that is a multiple of 2. */
    GPU_FN u32 word(const u32 (&w)[WORDS], int byte) {
        return byte % 4 ? w[byte / 4] >> 16 | w[byte / 4 + 1] << 16 : w[byte / 4];
    }
    GPU_FN u32 fifth(u32 bits) { return (bits & 15) * 0x2040810u & 0x10101010u; }

    GPU_FN f32 add(const struct stream_room &room, u32 u, u32 units, u32 unit, f32 sum) {
        u32 w[WORDS];
        GPU_UNROLL for (u32 i = 0; i < WORDS; i += PIECE) {
            piece from = *(const piece *)(room.stage + WORDS * u + i);
            GPU_UNROLL for (u32 j = 0; j < PIECE; j++) w[i + j] = from.word[j];
        }
        gpu_vec<i32> all = *(const gpu_vec<i32> *)(room.sums + unit * 4);
        GPU_UNROLL for (int h = 0; h < 2; h++) {
            gpu_vec<u32> x = stream_activations(room, units, unit, 2 * (u32)h);
            gpu_vec<u32> y = stream_activations(room, units, unit, 2 * (u32)h + 1);
            i32 t = 0, both = all.v[2 * h] + all.v[2 * h + 1];
            u32 bits = FIVE ? word(w, BYTES * (h + 1) - 20) : 0;
            STREAM_EACH {
                u32 q = word(w, BYTES * (h + 1) - 16 + 4 * j), low = q & 0x0f0f0f0fu, up = q >> 4 & 0x0f0f0f0fu;
                if (TABLE) iq4_words(q, low, up);
                if (FIVE) {
                    low |= fifth(bits >> 4 * j);
                    up |= fifth(bits >> (16 + 4 * j));
                }
                t = gpu_dot4(up, y.v[j], gpu_dot4(low, x.v[j], t));
            }
            f32 by = room.scales[2 * unit + (u32)h];
            u32 head = w[BYTES * h / 4] >> BYTES * h % 4 * 8;
            f32 d = block_from_f16((u16)head);
            if (LEAST)
                sum = gpu_fma(by, gpu_fma(d, (f32)t, block_from_f16((u16)(head >> 16)) * (f32)both), sum);
            else
                sum = gpu_fma(d * by, (f32)(t - LESS * both), sum);
        }
        return sum;
    }
};
template <> struct stream_unit<BLOCK_q4_0> : stream_unit_pair<BLOCK_q4_0> {};
template <> struct stream_unit<BLOCK_q4_1> : stream_unit_pair<BLOCK_q4_1> {};
template <> struct stream_unit<BLOCK_q5_0> : stream_unit_pair<BLOCK_q5_0> {};
template <> struct stream_unit<BLOCK_q5_1> : stream_unit_pair<BLOCK_q5_1> {};
template <> struct stream_unit<BLOCK_iq4_nl> : stream_unit_pair<BLOCK_iq4_nl> {};

template <> struct stream_unit<BLOCK_iq4_xs> {
    GPU_FN f32 add(const struct stream_room &room, u32 u, u32 units, u32 unit, f32 sum) {
        struct alignas(8) two {
            u32 word[2];
        };
        const two *b = (const two *)(room.stage + u / 8 * 34);
        u32 sub = u % 8;
        two head = b[0], q[2] = {b[1 + 2 * sub], b[2 + 2 * sub]};
        gpu_vec<u32> x = stream_activations(room, units, unit, 0), y = stream_activations(room, units, unit, 1);
        i32 t = 0;
        STREAM_EACH {
            u32 low, up;
            iq4_words(q[j / 2].word[j % 2], low, up);
            t = gpu_dot4(up, y.v[j], gpu_dot4(low, x.v[j], t));
        }
        i32 scale = (i32)((head.word[1] >> 4 * sub & 15) | (head.word[0] >> (16 + 2 * sub) & 3) << 4) - 32;
        return gpu_fma(block_from_f16((u16)head.word[0]) * room.scales[unit], (f32)(t * scale), sum);
    }
};

/* ---- rows ---- */

enum { STREAM_MOST = 2 * 48 * 32 }; /* bytes of a stretch for 32 lanes: of q5_1 */

template <typename T, int TYPE, bool SHORT> struct stream {
    typedef stream_type<TYPE> S;
    /* In words of 16 bytes. */
    enum {
        UNITS = S::TURNS * GPU_WAVE, /* of a stretch */
        LOADS = (UNITS * S::UNIT / S::BLOCK * S::NBYTES / 16 + GPU_WAVE - 1) / GPU_WAVE
    };
    GPU_FN u32 size(u32 units) { return units * S::UNIT / S::BLOCK * S::NBYTES / 16; }
    GPU_FN void fetch(const struct gpu_stream_part &p, u32 n, u32 first, u32 units, gpu_vec<u32> (&r)[LOADS]) {
        const u32 *from = (const u32 *)(p.weight + (u64)n * p.row_nbytes) + (u64)size(first) * 4;
        u32 left = size(units - first < UNITS ? units - first : UNITS);
        GPU_UNROLL for (u32 c = 0; c < LOADS; c++) {
            u32 i = c * GPU_WAVE + gpu_lane();
            r[c] = gpu_load16(from + (i < left ? i : left - 1) * 4);
        }
    }
    GPU_FN void put(u32 *stage, const gpu_vec<u32> (&r)[LOADS]) {
        enum { MOST = UNITS * S::UNIT / S::BLOCK * S::NBYTES / 16 };
        GPU_UNROLL for (u32 c = 0; c < LOADS; c++) {
            u32 i = c * GPU_WAVE + gpu_lane();
            if (i < MOST) *(gpu_vec<u32> *)(stage + i * 4) = r[c];
        }
    }
    GPU_FN f32 add_to(const struct gpu_stream_part &part, u32 n) {
        return part.bias && n < part.n ? gpu_up(((const T *)part.bias)[n]) : 0.0f;
    }
    /* SHORT: there is code for rows that are so short that all threads round half a group.
     * A block asks for its first weights and the norm's, rounds the activations for itself, then its waves take rows of
     * its part in turn; `block`: its number among those of the part. */
    GPU_FN void rows(const struct gpu_stream &p, const struct gpu_stream_part &part, u32 block,
                     const struct stream_room &room) {
        enum { WAVES = GPU_BLOCK / GPU_WAVE, HALF = BLOCK_GROUP / 2 };
        u32 units = p.k / S::UNIT;
        u32 n = block * WAVES + gpu_wave(), rows = part.n;
        gpu_vec<u32> r[LOADS];
        if (!p.early) gpu_wait();
        fetch(part, n < rows ? n : rows - 1, 0, units, r);
        f32 norm[BLOCK_GROUP];
        u32 groups = p.k / BLOCK_GROUP;
        if (SHORT && !p.rounded && p.k <= HALF * GPU_BLOCK) {
            f32 half[HALF];
            if (p.norm) stream_some((const T *)p.norm, gpu_thread(), p.k / HALF, half);
            if (p.early) gpu_wait();
            stream_round_short<T, TYPE>(p, room, half);
        } else if (p.norm && groups <= GPU_BLOCK) {
            stream_group((const T *)p.norm, gpu_thread(), groups, norm);
            if (p.early) gpu_wait();
            stream_round_normed<T, TYPE, true>(p, room, norm);
        } else {
            if (p.early) gpu_wait();
            if (p.rounded)
                stream_copy<TYPE>(p, room);
            else if (p.norm)
                stream_round_normed<T, TYPE, false>(p, room, norm);
            else
                stream_round<T, TYPE>(p, room);
        }
        f32 sum = 0, onto = add_to(part, n); /* asked for well before the row's end */
        gpu_sync();
        f32 by = p.norm ? normed_by(room.squares, 1.0 / (f64)p.k, p.epsilon) : 1.0f;
        u32 first = 0;
        GPU_NO_UNROLL while (n < rows) {
            put(room.stage, r);
            stream_sync();
            bool last = first + UNITS >= units;
            u32 next = last ? n + part.blocks * WAVES : n;
            if (next < rows) fetch(part, next, last ? 0 : first + UNITS, units, r);
            GPU_UNROLL for (u32 turn = 0; turn < S::TURNS; turn++) {
                u32 u = turn * GPU_WAVE + gpu_lane();
                if (first + u < units) sum = stream_unit<TYPE>::add(room, u, units, first + u, sum);
            }
            stream_sync();
            if (last) {
                sum = gpu_wave_join<gpu_join_add>(sum);
                if (gpu_lane() == 0)
                    gpu_down((T *)part.out + n, gemm_activate_float(p.activation, gpu_fma(sum, by, onto)));
                sum = 0;
                onto = add_to(part, next);
            }
            first = last ? 0 : first + UNITS;
            n = next;
        }
    }
};

/* USUAL: the types are of GPU_QUANTISED_USUAL_TYPES. */
template <typename T, bool USUAL> GPU_FN void stream_8_bit(const struct gpu_stream &p) {
    enum { WAVES = GPU_BLOCK / GPU_WAVE, PITCH = STREAM_MOST / 16 * (GPU_WAVE / 32) + 1 };
    GPU_SHARED gpu_vec<u32> words[GPU_QUANTISED_VECTOR / 16];
    GPU_SHARED gpu_vec<f32> scales[GPU_QUANTISED_VECTOR / 32 / 4];
    GPU_SHARED gpu_vec<i32> sums[GPU_QUANTISED_VECTOR / 16 / 4];
    GPU_SHARED gpu_vec<u32> stage[WAVES * PITCH];
    GPU_SHARED f64 squares[WAVES];
    struct stream_room room = {(u32 *)words, (f32 *)scales, (i32 *)sums, (u32 *)(stage + gpu_wave() * PITCH), squares};
    bool second = gpu_block_x() >= p.part[0].blocks;
    const struct gpu_stream_part part = second ? p.part[1] : p.part[0];
    u32 block = gpu_block_x() - (second ? p.part[0].blocks : 0);
#define STREAM_CASE(name)                                                                                              \
    case BLOCK_##name: stream<T, BLOCK_##name, USUAL>::rows(p, part, block, room); break;
    if (USUAL)
        switch (part.type) {
            GPU_QUANTISED_USUAL_TYPES(STREAM_CASE)
        default: break;
        }
    else
        switch (part.type) {
            GPU_QUANTISED_STREAM_TYPES(STREAM_CASE)
        default: break;
        }
#undef STREAM_CASE
}

/* A thread takes 16 numbers. */
GPU_KERNEL(stream_swiglu, struct gpu_stream_swiglu) {
    struct stream_room room = {p.to->words, p.to->scales, p.to->sums, 0, 0};
    u32 groups = p.k / BLOCK_GROUP, g = gpu_block_x() * gpu_threads() + gpu_thread();
    f32 gate[BLOCK_GROUP], up[BLOCK_GROUP];
    stream_group(p.x, g, groups, gate);
    stream_group(p.x + p.k, g, groups, up);
    GPU_UNROLL for (int i = 0; i < BLOCK_GROUP; i++) gate[i] = gpu_silu_by(gate[i], up[i]);
    switch (p.type) {
#define STREAM_CASE(name)                                                                                              \
    case BLOCK_##name: stream_round_group<BLOCK_##name>(gate, g, groups, room); break;
        GPU_QUANTISED_STREAM_TYPES(STREAM_CASE)
#undef STREAM_CASE
    default: break;
    }
}

#define STREAM(T)                                                                                                      \
    GPU_KERNEL_AHEAD(stream_8_bit_##T, struct gpu_stream, GPU_BLOCK, 1) { stream_8_bit<T, false>(p); }
STREAM(bf16)
STREAM(f16)
STREAM(f32)
GPU_KERNEL_AHEAD(stream_usual, struct gpu_stream, GPU_BLOCK, 1) { stream_8_bit<f32, true>(p); }
