/* Parameters of the kernels of all steps of a direction of a recurrent layer, T of them: N sequences, a state of H, g
 * gates. A block keeps some columns of the state's weight in LDS. */
#ifndef WICK_KERNELS_RECURRENT_LAYER_H
#define WICK_KERNELS_RECURRENT_LAYER_H

#include "params.h"

/* Threads of a block; and the larger number of rows that a kernel takes at a time: the other one takes 1. */
enum { GPU_LAYER_THREADS = 512, GPU_LAYER_ROWS = 8 };

/* Blocks go in groups, in y, of `chunks` times so many rows each. A task is the gates of an element of the state, or
 * four elements; a block has `tasks` of them. C is f32. */
struct gpu_layer_way {
    u64 *words;                   /* [2,N,K], tagged, K = H or gH, those of two steps in turns; tags of 0 */
    u32 steps, rows, size;        /* T, N, H; T N is less than 2^31 */
    u32 tasks, chunks, turns;     /* turns: that a wave takes for K terms, of 16 bytes a lane */
    u32 backwards, relu;          /* from the last step to the first */
    struct gpu_divisor by_column; /* by K */
};

struct gpu_recurrent_layer {
    struct gpu_layer_way way;
    const void *input, *weight, *bias, *h, *c; /* [T,N,gH]; [gH,H]; [gH], or NULL for 0; [N,H]; of C, of an LSTM */
    void *out, *next_c, *gates;                /* [T,N,H]; of C, of an LSTM; [T,N,4H] of C, or NULL */
};

struct gpu_recurrent_layer_backward {
    struct gpu_layer_way way;
    const void *gradient, *weight;  /* [T,N,H] of h'; [H,gH]: transposed */
    const void *last;               /* [N,H]: what comes to h' from behind the last step */
    const void *gates, *state;      /* [T,N,4H] of C; [T,N,H]: of a GRU h before the step, of an RNN h' */
    const void *c, *next_c, *carry; /* [T,N,H] of C: an LSTM's c before and behind the step; [N,H]: gradient of c' */
    void *of_input, *of_hidden;     /* [T,N,gH]; of_hidden of a GRU */
    void *of_carry;                 /* [N,H] of C, of an LSTM or GRU */
};

struct gpu_layer_clear {
    u64 *words;
    i64 count;
};

#endif
