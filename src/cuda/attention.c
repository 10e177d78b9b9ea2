/* cuDNN's attention: one operation, which cuDNN 9.13 and later have. Its engines compile their kernels. */
#include "cuda/graph.h"

/* Numbers by which a plan's tensors are told from one another. */
enum { Q = 1, K, V, OUT, SCALE, LOG_SUMS };

/* A tensor [batches, heads, positions, elements], by its strides or dense where those are NULL. */
static void *tensor(struct wick__graph_made *made, int number, cudnnDataType_t type, const int64_t dims[4],
                    const int64_t *outer) {
    const int64_t dense[4] = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
    const int64_t given[4] = {outer ? outer[0] : 0, outer ? outer[1] : 0, outer ? outer[2] : 0, 1};
    return wick__graph_tensor(made, &(struct wick__graph_tensor){.number = number,
                                                                 .type = type,
                                                                 .rank = 4,
                                                                 .dims = dims,
                                                                 .strides = outer ? given : dense,
                                                                 .is_value = number == SCALE});
}

static void *graph_of(struct wick__graph_made *made, void *handle, const void *call) {
    const struct wick__dnn_attention *a = call;
    const cudnnDataType_t type = wick__cudnn_type(a->dtype);
    const int64_t q[4] = {a->batches, a->heads, a->queries, a->depth};
    const int64_t k[4] = {a->batches, a->key_heads, a->keys, a->depth};
    const int64_t v[4] = {a->batches, a->key_heads, a->keys, a->width};
    const int64_t out[4] = {a->batches, a->heads, a->queries, a->width};
    const int64_t sums[4] = {a->batches, a->heads, a->queries, 1}, one[4] = {1, 1, 1, 1};
    void *const parts[] = {tensor(made, Q, type, q, a->q_stride),
                           tensor(made, K, type, k, a->k_stride),
                           tensor(made, V, type, v, a->v_stride),
                           tensor(made, OUT, type, out, NULL),
                           tensor(made, SCALE, CUDNN_DATA_FLOAT, one, NULL),
                           a->log_sums ? tensor(made, LOG_SUMS, CUDNN_DATA_FLOAT, sums, NULL) : NULL};
    static const int names[] = {CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC,     CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
                                CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC,     CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC,
                                CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC};
    void *op = wick__graph_make(made, CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
    for (int i = 0; i < (a->log_sums ? 6 : 5); i++) wick__graph_set_part(made, op, names[i], parts[i]);
    wick__graph_finalize(made, op);
    return wick__graph_of(made, handle, 1, &op);
}

int wick__cudnn_attention_plan(void *handle, const struct wick__dnn_attention *a, struct wick__planned *planned) {
    return wick__graph_plan(&(struct wick__graph_wanted){handle, graph_of, a, a->dtype, true}, planned);
}

int wick__cudnn_attention_run(void *handle, void *plan, const struct wick__dnn_attention *a, void *workspace) {
    static const int64_t numbers[] = {Q, K, V, OUT, SCALE, LOG_SUMS};
    float scale = a->scale;
    void *const data[] = {
        (void *)(uintptr_t)a->q, (void *)(uintptr_t)a->k, (void *)(uintptr_t)a->v, a->out, &scale, a->log_sums};
    return wick__graph_run(handle, plan, &(struct wick__graph_operands){a->log_sums ? 6 : 5, numbers, data}, workspace);
}
