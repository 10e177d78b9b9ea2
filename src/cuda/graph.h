/* cuDNN's graphs of operations, and plans made of them. */
#ifndef WICK_CUDA_GRAPH_H
#define WICK_CUDA_GRAPH_H

#include "cuda/cuda.h"

enum { WICK__GRAPH_MADE = 48, WICK__GRAPH_DIMS = 5 };

/* What is made of descriptors, in the order in which it was made; and the first code that was not 0, after which
 * nothing more is done. */
struct wick__graph_made {
    void *all[WICK__GRAPH_MADE];
    int count, code;
};
void wick__graph_release(struct wick__graph_made *made, int down_to);
void *wick__graph_make(struct wick__graph_made *made, int type);
void wick__graph_set(struct wick__graph_made *made, void *descriptor, int name, int type, int64_t count,
                     const void *values);
void wick__graph_set_int(struct wick__graph_made *made, void *descriptor, int name, int type, int value);
void wick__graph_set_part(struct wick__graph_made *made, void *descriptor, int name, void *part);
void wick__graph_finalize(struct wick__graph_made *made, void *descriptor);

/* A tensor at a multiple of 16 bytes, by whose number a call gives its address: of the host's memory where it is a
 * value, of none where it is virtual. */
struct wick__graph_tensor {
    int64_t number;
    cudnnDataType_t type;
    int rank;
    const int64_t *dims, *strides;
    bool is_virtual, is_value;
};
void *wick__graph_tensor(struct wick__graph_made *made, const struct wick__graph_tensor *tensor);
/* All operations. */
void *wick__graph_of(struct wick__graph_made *made, void *handle, int64_t count, void *const *ops);

/* What a plan is wanted of: a call's graph, of operands of a dtype; and whether an engine may compile its code. */
struct wick__graph_wanted {
    void *handle;
    void *(*graph)(struct wick__graph_made *made, void *handle, const void *call);
    const void *call;
    enum wick_dtype dtype;
    bool compiles;
};
/* As conv_plan, conv_run and conv_forget; addresses by the tensors' numbers. */
int wick__graph_plan(const struct wick__graph_wanted *wanted, struct wick__planned *planned);
struct wick__graph_operands {
    int64_t count;
    const int64_t *numbers;
    void *const *data;
};
int wick__graph_run(void *handle, void *plan, const struct wick__graph_operands *operands, void *workspace);
void wick__graph_forget(void *plan);

#endif
