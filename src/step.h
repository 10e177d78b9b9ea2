/* A step of attention, one sequence at a time: for families, as the calls of attention that they have kernels for. */
#ifndef WICK_STEP_H
#define WICK_STEP_H

#include "backend.h"

/* The operands of attention_step; all behind kv may be NULL, and with v there are only keys in kv. Its list has those
 * that are there, and the caches behind them. With tables, or with caches of another dtype than q, families but the
 * CPU's get calls whose rows are not wider than wick__step_wide. */
enum {
    WICK__STEP_Q,
    WICK__STEP_KV,
    WICK__STEP_V,
    WICK__STEP_LENGTHS,
    WICK__STEP_COSINE,
    WICK__STEP_SINE,
    WICK__STEP_CACHES,
    WICK__STEP_WIDE = 256
};

static inline int64_t wick__step_wide(enum wick_dtype dtype) {
    return dtype == WICK_F64 ? WICK__STEP_WIDE / 2 : WICK__STEP_WIDE;
}

static inline int wick__step_sequences(const struct wick__call *call) { return call->n_targets; }
static inline const struct wick_tensor *wick__step_cache(const struct wick__call *call, int sequence) {
    return call->list[call->n_list - call->n_targets + sequence];
}

/* Views of what belongs to a sequence. They hold no references. */
struct wick__step {
    struct wick_tensor q, k, v, out;
};

/* Attention of one sequence. `step` must stay. */
static inline struct wick__call wick__step_call(const struct wick__call *call, int sequence, struct wick__step *step) {
    const struct wick_tensor *cache = wick__step_cache(call, sequence);
    struct wick__layout *q = &step->q.layout, *k = &step->k.layout, *v = &step->v.layout, *out = &step->out.layout;
    *step = (struct wick__step){*call->in[0], *cache, *cache, *call->out[0]};
    q->shape[0] = out->shape[0] = 1;
    q->offset += sequence * q->stride[0];
    out->offset += sequence * out->stride[0];
    k->shape[1] = v->shape[1] = k->shape[1] / 2;
    v->offset += v->shape[1] * v->stride[1];
    return (struct wick__call){.op = WICK_OP_scaled_dot_product_attention,
                               .n_in = 5,
                               .in = {&step->q, &step->k, &step->v},
                               .n_out = 1,
                               .out = {&step->out},
                               .p = call->p};
}

#endif
