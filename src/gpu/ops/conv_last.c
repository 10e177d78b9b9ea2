/* Images with channels last for convolutions by matrix instructions: their copy with zeros around. */
#include "gpu/ops/conv.h"

#include "core/checked.h"

enum wick_status wick__conv_pack_last(struct wick__gpu *gpu, const struct wick__conv_images *images) {
    const u32 pieces = (u32)(images->channels / WICK__CONV_PIECE);
    struct gpu_conv_pack_last p = {.in = images->in,
                                   .out = images->out,
                                   .batch = (u32)images->n,
                                   .in_batch = pieces,
                                   .count = pieces,
                                   .grid_batch = (u32)wick__min(images->n, 65535)};
    wick__gpu_divisor(&p.by_pieces, pieces);
    for (int a = 0; a < 3; a++) {
        p.in_batch *= (u32)images->from[a];
        p.count *= (u32)images->to[a];
        p.size[a] = (u32)images->from[a];
        p.first[a] = (i32)images->first[a];
        wick__gpu_divisor(&p.by_out_size[a], (u32)images->to[a]);
    }
    struct wick__launch launch = {
        .kernel = WICK__GPU_K_conv_pack_last,
        .grid = {(unsigned)wick__div_up(p.count, GPU_BLOCK * GPU_CONV_PACK_EACH), p.grid_batch}};
    return wick__gpu_launch(gpu, &launch, &p);
}
