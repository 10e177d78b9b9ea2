/* The attention of libcudnn.so.9 over the stand-in driver: one operation. */
#include "cudnn.h"

#include <string.h>

/* Q, K, V and the result, log_sums, and the scale. */
enum { FIRST = 2800, OPERANDS = 4, LOG_SUMS = 2804, SCALE = 2805 };

/* Whether an operand is a tensor of rank 4 at multiples of 16 bytes, its elements side by side. */
static bool read_operand(const struct object *tensor, uint64_t type, long size[4], long stride[3]) {
    const uint64_t *is = tensor ? values_of(tensor, 901, 1, 1) : NULL,
                   *align = tensor ? values_of(tensor, 900, 3, 1) : NULL;
    const uint64_t *sizes = tensor ? values_of(tensor, 902, 3, 4) : NULL;
    const uint64_t *strides = tensor ? values_of(tensor, 903, 3, 4) : NULL;
    if (!is || *is != type || !align || *align != 16 || !sizes || !strides || strides[3] != 1) return false;
    for (int d = 0; d < 4; d++) size[d] = (long)sizes[d];
    for (int d = 0; d < 3; d++) stride[d] = (long)strides[d];
    return true;
}

bool read_attention(const struct object *graph, const struct object *pack, struct standin_attention *a) {
    const uint64_t *ops = values_of(graph, 801, 15, 1);
    const struct object *op = ops ? (struct object *)(uintptr_t)ops[0] : NULL, *tensor[OPERANDS], *scale, *sums;
    long size[OPERANDS][4], sum_size[4], sum_stride[3];
    *a = (struct standin_attention){.batches = 0};
    if (!op || op->type != STANDIN_SDPA || !(scale = part(op, SCALE, STANDIN_TENSOR))) return false;
    const uint64_t *by_value = values_of(scale, 908, 2, 1), *type = values_of(scale, 901, 1, 1);
    if (!by_value || !(*by_value & 255) || !type || *type != 0) return false;
    for (int i = 0; i < OPERANDS; i++) {
        tensor[i] = part(op, FIRST + i, STANDIN_TENSOR);
        type = tensor[i] ? values_of(tensor[i], 901, 1, 1) : NULL;
        if (!type || (*type != 2 && *type != 9) || !read_operand(tensor[i], *type, size[i], a->stride[i])) return false;
        a->dtype = *type == 2 ? STANDIN_F16 : STANDIN_BF16;
    }
    sums = part(op, LOG_SUMS, STANDIN_TENSOR);
    if (sums && !read_operand(sums, 0, sum_size, sum_stride)) return false;
    a->batches = size[0][0];
    a->heads = size[0][1];
    a->key_heads = size[1][1];
    a->queries = size[0][2];
    a->keys = size[1][2];
    a->depth = size[0][3];
    a->width = size[2][3];
    const long wanted[OPERANDS][4] = {{a->batches, a->heads, a->queries, a->depth},
                                      {a->batches, a->key_heads, a->keys, a->depth},
                                      {a->batches, a->key_heads, a->keys, a->width},
                                      {a->batches, a->heads, a->queries, a->width}};
    if (memcmp(wanted, size, sizeof size) != 0) return false;
    if (!pack) return true;
    const float *by = address(pack, scale);
    for (int i = 0; i < OPERANDS; i++) {
        a->operand[i] = address(pack, tensor[i]);
        if (!a->operand[i] || (uintptr_t)a->operand[i] % 16 != 0) return false;
    }
    a->log_sums = sums ? address(pack, sums) : NULL;
    if (!by || (sums && !a->log_sums)) return false;
    a->scale = (double)*by;
    return true;
}
