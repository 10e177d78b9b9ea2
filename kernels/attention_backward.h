/* Parameters of the gradients of attention. */
#ifndef WICK_KERNELS_ATTENTION_BACKWARD_H
#define WICK_KERNELS_ATTENTION_BACKWARD_H

#include "attention.h"

/* Whose gradient a launch computes: by matrix instructions those of k and v together, as that of k. */
enum gpu_attention_of { GPU_ATTENTION_OF_Q, GPU_ATTENTION_OF_K, GPU_ATTENTION_OF_V };

/* Block first + x works on a tile of a head, of q for the gradient of q and else of k: first on the first tiles of `across`
 * heads, of q the last ones, then on the tiles behind, so that with causal rows short ones fill what long ones leave; block z
 * on a run of columns. Of packed sequences a head has the tiles that `struct gpu_attention` lays down, of queries or keys. */
struct gpu_attention_backward {
    struct gpu_attention a;                   /* all but the results, and what belongs to splits and merged heads */
    const void *gradient, *result, *log_sums; /* of out; log_sums in the type of sums */
    void *delta;                              /* [rows of out] in the type of sums: sum(gradient result) */
    void *tops;   /* f32 [rows of out]: the largest finite magnitude in the gradient; NULL: not wanted */
    void *powers; /* f32 [batch, key_heads], [key_heads] when packed: the power of two below 1 / the largest of tops */
    void *out;    /* [batch, heads, positions, length], or [positions, heads, length] when packed */
    void *out_v;  /* beside out of k */
    i64 gradient_stride[4], result_stride[4], sums_stride[4];
    u16 of;    /* enum gpu_attention_of. Eight more bytes in this struct may not fit: see struct gpu_attention */
    u16 whole; /* rows of gradient and result are whole pieces of 16 bytes, at multiples of 16 */
    u32 key_heads;
};

#endif
