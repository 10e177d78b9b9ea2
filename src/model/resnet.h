/* A ResNet's parts: what src/model/resnet_load.c fills and src/model/resnet.c runs. */
#ifndef WICK_MODEL_RESNET_H
#define WICK_MODEL_RESNET_H

#include <wick/wick.h>

enum { RESNET_STAGES = 4, RESNET_MAX_BLOCKS = 64 };

/* A convolution with the batch norm behind it folded in: weight [Cout,Cin,k,k], bias [Cout]. */
struct wick__conv_norm {
    struct wick_tensor *weight, *bias;
    int64_t stride, padding;
};

/* conv[0 .. n-1] one after the other, and what is added to their result: the input, through `shortcut` if it has one.
 */
struct wick__res_block {
    int n; /* 2: basic, 3: bottleneck */
    struct wick__conv_norm conv[3];
    struct wick__conv_norm shortcut;
};

struct wick_resnet {
    struct wick__conv_norm stem;
    int blocks[RESNET_STAGES];
    struct wick__res_block *block[RESNET_STAGES];
    struct wick_tensor *head_weight, *head_bias; /* [classes,C], [classes] */
};

#endif
