/* What both kinds of attention kernels share: where rows lie, and what happens to a score. */
#ifndef WICK_KERNELS_ATTENTION_COMMON_H
#define WICK_KERNELS_ATTENTION_COMMON_H

#include "attention.h"
#include "dtype.h"

/* A row of a tile. */
struct attention_row {
    i64 q, mask, out; /* offsets of its query and its mask, its number among all rows; out < 0: no such row */
    i64 index;        /* its position among the queries of its head */
};

/* The tile of this block. */
struct attention_place {
    i64 batch, row0, begin, end; /* end: of the keys that some row may see */
    i64 k, v;                    /* offsets of the unit's keys and values */
    u32 unit;
};

GPU_FN struct attention_place attention_locate(const struct gpu_attention &p, u32 tile_rows) {
    struct attention_place at;
    u32 whole = gpu_block_x() / p.tiles, tile = p.tiles - 1 - (gpu_block_x() - whole * p.tiles);
    u32 batch = whole / p.units;
    at.unit = whole - batch * p.units;
    at.batch = batch;
    at.row0 = (i64)tile * tile_rows;
    u32 key_head = p.merged ? at.unit : at.unit / p.group;
    at.k = at.batch * p.k_stride[0] + key_head * p.k_stride[1];
    at.v = at.batch * p.v_stride[0] + key_head * p.v_stride[1];
    at.begin = (i64)gpu_block_y() * p.split;
    at.end = at.begin + p.split < p.keys ? at.begin + p.split : p.keys;
    i64 last = p.rows == p.queries && at.row0 + tile_rows < p.queries ? at.row0 + tile_rows : p.queries;
    if (p.causal && last < at.end) at.end = last;
    return at;
}

GPU_FN struct attention_row attention_row_of(const struct gpu_attention &p, const struct attention_place &at,
                                             u32 line) {
    struct attention_row r;
    i64 row = at.row0 + line, head = at.unit;
    r.q = r.mask = r.index = 0;
    r.out = -1;
    if (row >= p.rows) return r;
    r.index = row;
    if (p.merged) {
        i64 member = row / p.queries;
        r.index = row - member * p.queries;
        head = (i64)at.unit * p.group + member;
    }
    r.q = at.batch * p.q_stride[0] + head * p.q_stride[1] + r.index * p.q_stride[2];
    r.mask = at.batch * p.mask_stride[0] + head * p.mask_stride[1] + r.index * p.mask_stride[2];
    r.out = (at.batch * p.heads + head) * p.queries + r.index;
    return r;
}

GPU_FN f32 attention_lowest(f32) { return gpu_bits<f32>(0xff800000u); }
GPU_FN f64 attention_lowest(f64) { return gpu_bits<f64>((u64)0xfff << 52); }

/* A scaled score after the soft cap, the mask, and what a row may not see. */
template <typename T, typename S>
GPU_FN S attention_score(const struct gpu_attention &p, S score, i64 index, i64 mask, i64 key, i64 end) {
    if (p.cap > 0) score = (S)p.cap * gpu_tanh(score / (S)p.cap);
    if (key >= end || (p.causal && key > index)) return attention_lowest(score);
    if (p.masked == GPU_ATTENTION_KEEP)
        return ((const u8 *)p.mask)[mask + key * p.mask_stride[3]] ? score : attention_lowest(score);
    if (p.masked == GPU_ATTENTION_ADD) score += gpu_up(((const T *)p.mask)[mask + key * p.mask_stride[3]]);
    return score;
}

#endif
