/* The forward pass of a language model, over tokens of several sequences that lie one after the other. */
#include "model/lm.h"

#include "core/checked.h"
#include "core/memory.h"
#include "core/tensor.h"

#include <math.h>
#include <stdio.h>

struct pass {
    const struct wick_lm *lm;
    const struct wick__lm_batch *batch;
    struct wick_tensor *angles[2][2]; /* cosines and sines: of all layers, of those with a local rope */
    struct wick_tensor *heads[2][2];  /* the same for each head, and angles of 0 for those of values; or NULL */
    const struct wick_tensor *lengths;
    bool step; /* wick__lm_steps_whole */
};

/* ---- layers of weights ---- */

/* Rows that products take; with a norm, after that. */
struct rows {
    const struct wick_tensor *x, *norm;
};
static struct rows plain_rows(const struct wick_tensor *x) { return (struct rows){x, NULL}; }

static bool is_half(const struct wick_tensor *weight) {
    enum wick_dtype dtype = wick_tensor_dtype(weight);
    return dtype == WICK_BF16 || dtype == WICK_F16;
}

/* Whether a product of x with a weight takes f32. Plain weights of 16 bits multiply activations of their own dtype,
 * except for few rows on a GPU, where casts take longer than they save. */
static bool takes_f32(const struct wick_lm *lm, const struct wick_tensor *x, const struct wick_tensor *weight) {
    enum wick_dtype dtype = wick_tensor_dtype(weight);
    if (is_half(weight)) return !lm->device->heap->host_visible && wick_tensor_dim(x, 0) <= WICK__LM_FEW;
    return wick_dtype_kind(dtype) == WICK_DTYPE_KIND_QUANTISED || dtype == WICK_F32;
}

static struct wick_linear_options options_of(const struct wick_lm *lm, const struct wick_tensor *weight,
                                             const struct wick_tensor *norm, enum wick_activation activation) {
    return (struct wick_linear_options){.activation = activation,
                                        .products = is_half(weight) ? WICK_PRODUCTS_8_BIT : lm->products,
                                        .norm = norm,
                                        .epsilon = lm->config.epsilon};
}

/* x is f32 or what the weight takes; the product is what the weight takes. */
static struct wick_tensor *multiply_plain(const struct wick_lm *lm, struct rows rows, const struct wick_tensor *weight,
                                          enum wick_activation activation) {
    const struct wick_linear_options options = options_of(lm, weight, rows.norm, activation);
    const struct wick_tensor *x = rows.x;
    return wick_linear_with(takes_f32(lm, x, weight) ? x : wick_cast(x, wick_tensor_dtype(weight)), weight, NULL,
                            &options);
}

/* The product is f32. */
static struct wick_tensor *multiply(const struct wick_lm *lm, struct rows rows, const struct wick_tensor *weight,
                                    enum wick_activation activation) {
    struct wick_tensor *y = multiply_plain(lm, rows, weight, activation);
    return takes_f32(lm, rows.x, weight) ? y : wick_cast(y, WICK_F32);
}

/* The same with the rows of `more`, which may be NULL, behind those of the weight. */
static struct wick_tensor *multiply_more(const struct wick_lm *lm, struct rows rows, const struct wick_tensor *weight,
                                         const struct wick_tensor *more) {
    struct wick_linear_options options = options_of(lm, weight, rows.norm, WICK_ACTIVATION_NONE);
    options.more = more;
    return more ? wick_linear_with(rows.x, weight, NULL, &options) : multiply(lm, rows, weight, WICK_ACTIVATION_NONE);
}

/* Shows a product to whoever wants to see it. */
static void show(const struct wick_lm *lm, const struct wick__lm_layer *layer, int part, const struct wick_tensor *x,
                 const struct wick_tensor *ids) {
    char name[64];
    const char *called = lm->on_product && x ? wick__lm_part_name(lm, part) : NULL;
    if (!called) return;
    snprintf(name, sizeof name, "blk.%lld.%s.weight", (long long)(layer - lm->layers), called);
    lm->on_product(lm->context, &(struct wick_lm_product){
                                    .name = name, .x = x, .ids = ids, .experts = ids ? lm->config.experts : 0});
}

static struct wick_tensor *add_bias(const struct wick__lm_layer *layer, int part, struct wick_tensor *y) {
    return layer->bias[part] ? wick_add(y, layer->bias[part]) : y;
}

static struct wick_tensor *linear(const struct wick_lm *lm, const struct wick__lm_layer *layer, int part,
                                  struct rows rows) {
    show(lm, layer, part, rows.x, NULL);
    return add_bias(layer, part, multiply(lm, rows, layer->weight[part], WICK_ACTIVATION_NONE));
}

static struct wick_tensor *norm(const struct wick_lm *lm, const struct wick_tensor *x,
                                const struct wick_tensor *weight) {
    return wick_rms_norm(x, weight, lm->config.epsilon);
}

/* x [N, hidden] for a product with `by`. A GPU norms a single row within the product if the weights are of blocks or of
 * 16 bits, but not where somebody looks at what products take. */
static struct rows normed(const struct wick_lm *lm, const struct wick_tensor *x, const struct wick_tensor *weight,
                          const struct wick_tensor *by) {
    bool one = x && wick_tensor_dim(x, 0) == 1 && !lm->device->heap->host_visible && !lm->on_product;
    if (one && by && wick_tensor_dtype(by) != WICK_F32 && takes_f32(lm, x, by)) return (struct rows){x, weight};
    return plain_rows(norm(lm, x, weight));
}

/* `onto` + y, after its norm if there is one. */
static struct wick_tensor *add_to(const struct wick_lm *lm, const struct wick_tensor *onto, struct wick_tensor *y,
                                  const struct wick_tensor *after) {
    return wick_add(onto, after ? norm(lm, y, after) : y);
}

/* `onto` + the last product of attention or of the network, of swiglu(x) there if x is that of gate and up. To a single
 * row `onto` is a bias. */
static struct wick_tensor *join(const struct wick_lm *lm, const struct wick__lm_layer *layer, int part,
                                const struct wick_tensor *x, bool swiglu, const struct wick_tensor *onto) {
    const int behind = part == WICK__LM_OUT ? WICK__LM_AFTER_ATTENTION : WICK__LM_AFTER_NETWORK;
    const struct wick_tensor *weight = layer->weight[part], *after = layer->weight[behind];
    struct wick_linear_options options = options_of(lm, weight, NULL, WICK_ACTIVATION_NONE);
    bool one = x && !after && !layer->bias[part] && wick_tensor_dim(x, 0) == 1 && takes_f32(lm, x, weight);
    options.swiglu = swiglu && one && !lm->on_product;
    if (swiglu && !options.swiglu) x = wick_swiglu(x);
    if (one) {
        const struct wick_tensor *bias = wick_select(onto, 0, 0);
        show(lm, layer, part, x, NULL);
        return bias ? wick_linear_with(x, weight, bias, &options) : NULL; /* without one it would be another product */
    }
    return add_to(lm, onto, linear(lm, layer, part, plain_rows(x)), after);
}

/* ---- attention ---- */

/* Rows [N, heads * head] to [1, N, heads, head], with a norm and positions. */
static struct wick_tensor *heads_of(const struct pass *pass, const struct wick_tensor *x, int64_t heads,
                                    const struct wick_tensor *weight, struct wick_tensor *const angles[2]) {
    const struct wick__lm_config *config = &pass->lm->config;
    struct wick_tensor *y = wick_reshape(x, WICK_SHAPE(1, pass->batch->n_tokens, heads, config->head));
    if (weight) y = norm(pass->lm, y, weight);
    if (!angles) return y;
    int64_t rest = config->head - config->rope_dims;
    if (rest == 0) return wick_rope_thd(y, angles[0], angles[1], config->interleaved);
    struct wick_tensor *turned = wick_narrow(y, 3, 0, config->rope_dims);
    turned = wick_rope_thd(turned, angles[0], angles[1], config->interleaved);
    return wick_cat(2, (struct wick_tensor *[]){turned, wick_narrow(y, 3, config->rope_dims, rest)}, 3);
}

/* Queries, keys and values of all tokens, [1, N, heads, head] each; `joint`: values are behind the keys in kv[0]. */
struct projected {
    struct wick_tensor *q, *kv[2];
    bool joint;
};

/* Whether more than positions changes queries, keys and values. */
static bool has_more(const struct wick__lm_layer *layer) {
    bool biased = layer->bias[WICK__LM_QUERY] || layer->bias[WICK__LM_KEY] || layer->bias[WICK__LM_VALUE];
    return biased || layer->weight[WICK__LM_QUERY_NORM];
}

/* Whether queries, keys and values are one product that nothing but positions changes. */
static bool is_one(const struct wick__lm_layer *layer) { return layer->qkv.parts == 3 && !has_more(layer); }

bool wick__lm_is_joint(const struct wick_lm *lm, const struct wick__lm_layer *layer) {
    return is_one(layer) && lm->config.rope_dims == lm->config.head;
}

/* Whether values alone are no part of that product, for their dtype, and a GPU multiplies a single row by both. */
static bool is_one_with_values(const struct pass *pass, const struct wick__lm_layer *layer) {
    const struct wick_tensor *value = layer->weight[WICK__LM_VALUE];
    return pass->batch->n_tokens == 1 && layer->qkv.parts == 2 && value && !has_more(layer) &&
           wick_dtype_kind(wick_tensor_dtype(value)) == WICK_DTYPE_KIND_QUANTISED &&
           wick_dtype_kind(wick_tensor_dtype(layer->qkv.weight)) == WICK_DTYPE_KIND_QUANTISED;
}

/* All heads are turned at once, each by a table of its own; or later, without tables. */
static struct projected project_joint(const struct pass *pass, const struct wick__lm_layer *layer, struct rows rows,
                                      struct wick_tensor *const tables[2]) {
    const struct wick__lm_config *config = &pass->lm->config;
    int64_t rest = 2 * config->kv_heads, heads = config->heads + rest;
    for (int i = 0; i < 3; i++) show(pass->lm, layer, WICK__LM_QUERY + i, rows.x, NULL);
    const struct wick_tensor *more = layer->qkv.parts < 3 ? layer->weight[WICK__LM_VALUE] : NULL;
    struct wick_tensor *all = multiply_more(pass->lm, rows, layer->qkv.weight, more);
    all = wick_reshape(all, WICK_SHAPE(1, pass->batch->n_tokens, heads, config->head));
    if (tables)
        all = wick_transpose(wick_rope_thd(wick_transpose(all, 0, 2), tables[0], tables[1], config->interleaved), 0, 2);
    return (struct projected){
        wick_narrow(all, 2, 0, config->heads), {wick_narrow(all, 2, config->heads, rest), NULL}, true};
}

static struct projected project(const struct pass *pass, const struct wick__lm_layer *layer, struct rows rows,
                                bool local) {
    const struct wick_lm *lm = pass->lm;
    const struct wick__lm_config *config = &lm->config;
    const int64_t heads[3] = {config->heads, config->kv_heads, config->kv_heads};
    const int norms[2] = {WICK__LM_QUERY_NORM, WICK__LM_KEY_NORM}, parts = layer->qkv.parts;
    struct wick_tensor *const *angles = pass->step ? NULL : pass->angles[local], *qkv[3];
    if (pass->step && (is_one(layer) || is_one_with_values(pass, layer))) return project_joint(pass, layer, rows, NULL);
    if (pass->heads[local][0] && wick__lm_is_joint(lm, layer))
        return project_joint(pass, layer, rows, pass->heads[local]);
    struct wick_tensor *all = parts ? multiply(lm, rows, layer->qkv.weight, WICK_ACTIVATION_NONE) : NULL;
    int64_t start = 0;
    for (int i = 0; i < 3; i++) {
        if (i < parts) show(lm, layer, WICK__LM_QUERY + i, rows.x, NULL);
        qkv[i] = i < parts ? add_bias(layer, WICK__LM_QUERY + i, wick_narrow(all, 1, start, heads[i] * config->head))
                           : linear(lm, layer, WICK__LM_QUERY + i, rows);
        start += heads[i] * config->head;
    }
    bool plain = !layer->bias[WICK__LM_QUERY] && !layer->bias[WICK__LM_KEY] && !layer->weight[WICK__LM_QUERY_NORM];
    if (parts > 1 && plain && !pass->step) { /* both are turned at once */
        int64_t both = heads[0] + heads[1];
        struct wick_tensor *turned = heads_of(pass, wick_narrow(all, 1, 0, both * config->head), both, NULL, angles);
        qkv[0] = wick_narrow(turned, 2, 0, heads[0]);
        qkv[1] = wick_narrow(turned, 2, heads[0], heads[1]);
    } else {
        for (int i = 0; i < 2; i++) qkv[i] = heads_of(pass, qkv[i], heads[i], layer->weight[norms[i]], angles);
    }
    return (struct projected){qkv[0], {qkv[1], heads_of(pass, qkv[2], heads[2], NULL, NULL)}, false};
}

/* Rows of a span, [1, heads, n, head]. */
static struct wick_tensor *rows_of(const struct wick__lm_span *span, const struct wick_tensor *x) {
    return wick_transpose(wick_narrow(x, 1, span->start, span->n), 1, 2);
}

/* Puts keys and values behind those of the sequence, and looks at all of them. -> [1, n, heads, head] */
static struct wick_tensor *attend_span(const struct pass *pass, int64_t number, const struct wick__lm_span *span,
                                       const struct projected *all) {
    const struct wick__lm_config *config = &pass->lm->config;
    struct wick_sequence *sequence = span->sequence;
    struct wick_tensor *q = rows_of(span, all->q);
    for (int i = 0; i < (all->joint ? 1 : 2); i++) {
        struct wick_tensor *to = all->joint ? sequence->kv[number] : wick__kv_part(sequence, 2 * number + i);
        if (wick__kv_put(sequence, to, rows_of(span, all->kv[i])) != WICK_OK) return NULL;
    }
    if (sequence->dtype == WICK_F16 || sequence->dtype == WICK_BF16) q = wick_cast(q, sequence->dtype);
    const struct wick_attention_options options = {.scale = config->scale,
                                                   .soft_cap = config->attention_cap,
                                                   .causal = true,
                                                   .align_last = true,
                                                   .windowed = wick__lm_windowed(config, number),
                                                   .left = config->window - 1,
                                                   .right = -1};
    struct wick_tensor *mixed = wick__kv_attend(sequence, number, q, sequence->length + span->n, &options);
    return wick_transpose(wick_cast(mixed, WICK_F32), 1, 2);
}

bool wick__lm_is_step(const struct wick__lm_batch *batch) {
    enum wick_dtype dtype = batch->spans[0].sequence->dtype;
    bool good = batch->n_tokens == batch->n_spans && dtype != WICK_DTYPE_q8_0;
    for (int i = 1; i < batch->n_spans && good; i++) good = batch->spans[i].sequence->dtype == dtype;
    return good;
}

bool wick__lm_steps_whole(const struct wick_lm *lm, const struct wick__lm_batch *batch) {
    return wick__lm_is_step(batch) && !lm->device->heap->host_visible;
}

/* Room for a tensor of each sequence. */
static size_t parts_nbytes(const struct wick__lm_batch *batch) {
    return (size_t)batch->n_spans * sizeof(struct wick_tensor *);
}

/* The same for one token of each sequence. -> [n, heads, 1, head]. Of a whole step attention turns queries and keys,
 * and rounds to what the caches are; casts and ropes are launches of their own else. */
static struct wick_tensor *attend_step(const struct pass *pass, int64_t number, const struct projected *all,
                                       bool local) {
    const struct wick__lm_config *config = &pass->lm->config;
    const struct wick__lm_batch *batch = pass->batch;
    const enum wick_dtype dtype = pass->step ? WICK_F32 : batch->spans[0].sequence->dtype;
    const struct wick_attention_options attention = {.scale = config->scale,
                                                     .soft_cap = config->attention_cap,
                                                     .windowed = wick__lm_windowed(config, number),
                                                     .left = config->window - 1,
                                                     .right = -1};
    struct wick_tensor *parts[3] = {all->q, all->kv[0], all->kv[1]};
    for (int i = 0; i < (all->joint ? 2 : 3); i++) {
        parts[i] = wick_cast(wick_transpose(wick_transpose(parts[i], 0, 1), 1, 2), dtype);
        if (!parts[i]) return NULL;
    }
    const struct wick_step_options options = {.v = parts[2],
                                              .lengths = pass->lengths,
                                              .cosine = pass->step ? pass->angles[local][0] : NULL,
                                              .sine = pass->step ? pass->angles[local][1] : NULL,
                                              .interleaved = config->interleaved,
                                              .attention = &attention};
    struct wick_tensor **caches = wick__alloc(parts_nbytes(batch)), *mixed;
    if (!caches) return NULL;
    for (int i = 0; i < batch->n_spans; i++) {
        const struct wick_sequence *sequence = batch->spans[i].sequence;
        caches[i] =
            pass->lengths ? sequence->kv[number] : wick_narrow(sequence->kv[number], 2, 0, sequence->length + 1);
    }
    mixed = wick_attention_step(parts[0], parts[1], batch->n_spans, caches, &options);
    wick__free(caches, parts_nbytes(batch));
    return wick_cast(mixed, WICK_F32);
}

/* x + attention of a layer to it. */
static struct wick_tensor *attend(const struct pass *pass, int64_t number, const struct wick_tensor *x) {
    const struct wick_lm *lm = pass->lm;
    const struct wick__lm_config *config = &lm->config;
    const struct wick__lm_layer *layer = &lm->layers[number];
    const struct wick__lm_batch *batch = pass->batch;
    bool local = config->local_base > 0 && wick__lm_windowed(config, number);
    struct wick_tensor *mixed;
    const struct wick_tensor *by = layer->qkv.parts ? layer->qkv.weight : layer->weight[WICK__LM_QUERY];
    const struct projected all = project(pass, layer, normed(lm, x, layer->weight[WICK__LM_ATTENTION_NORM], by), local);
    if (batch->n_spans == 1 && !pass->step) {
        mixed = attend_span(pass, number, batch->spans, &all);
    } else if (wick__lm_is_step(batch)) {
        mixed = attend_step(pass, number, &all, local);
    } else {
        struct wick_tensor **parts = wick__alloc(parts_nbytes(batch));
        if (!parts) return NULL;
        for (int i = 0; i < batch->n_spans; i++) parts[i] = attend_span(pass, number, &batch->spans[i], &all);
        mixed = wick_cat(batch->n_spans, parts, 1);
        wick__free(parts, parts_nbytes(batch));
    }
    mixed = wick_reshape(mixed, WICK_SHAPE(batch->n_tokens, config->heads * config->head));
    return join(lm, layer, WICK__LM_OUT, mixed, false, x);
}

/* ---- the network of a layer ---- */

/* Each token goes through the experts that the router chose, and takes their results by its probabilities. */
static struct wick_tensor *experts(const struct wick_lm *lm, const struct wick__lm_layer *layer,
                                   const struct wick_tensor *x) {
    const struct wick_linear_options plain = {.products = lm->products},
                                     gate = {.activation = lm->config.family->gate, .products = lm->products};
    struct wick_tensor *const *w = layer->weight;
    struct wick_tensor *ids = NULL;
    struct wick_tensor *chance = wick_softmax(linear(lm, layer, WICK__LM_ROUTER, plain_rows(x)), -1);
    chance = wick_topk(chance, lm->config.experts_used, -1, true, &ids);
    if (!chance) return NULL;
    chance = wick_div(chance, wick_sum(chance, 1, (int[]){-1}, true));
    enum wick_dtype dtype = wick_tensor_dtype(w[WICK__LM_GATE]);
    struct wick_tensor *rows = wick_unsqueeze(x, 1);
    if (wick_dtype_kind(dtype) != WICK_DTYPE_KIND_QUANTISED) rows = wick_cast(rows, dtype);
    show(lm, layer, WICK__LM_GATE, rows, ids);
    show(lm, layer, WICK__LM_UP, rows, ids);
    struct wick_tensor *wide = wick_mul(wick_linear_experts(rows, w[WICK__LM_GATE], ids, NULL, &gate),
                                        wick_linear_experts(rows, w[WICK__LM_UP], ids, NULL, &plain));
    dtype = wick_tensor_dtype(w[WICK__LM_DOWN]);
    if (wick_dtype_kind(dtype) != WICK_DTYPE_KIND_QUANTISED) wide = wick_cast(wide, dtype);
    show(lm, layer, WICK__LM_DOWN, wide, ids);
    struct wick_tensor *y = wick_cast(wick_linear_experts(wide, w[WICK__LM_DOWN], ids, NULL, &plain), WICK_F32);
    return wick_sum(wick_mul(y, wick_unsqueeze(chance, 2)), 1, (int[]){1}, false);
}

/* x + the network of a layer of it. */
static struct wick_tensor *network(const struct wick_lm *lm, const struct wick__lm_layer *layer,
                                   const struct wick_tensor *x) {
    const struct wick_tensor *weight = layer->weight[WICK__LM_NETWORK_NORM];
    if (layer->weight[WICK__LM_ROUTER])
        return add_to(lm, x, experts(lm, layer, norm(lm, x, weight)), layer->weight[WICK__LM_AFTER_NETWORK]);
    const struct rows rows =
        normed(lm, x, weight, layer->gated.weight ? layer->gated.weight : layer->weight[WICK__LM_GATE]);
    struct wick_tensor *gate;
    bool silu = lm->config.family->gate == WICK_ACTIVATION_SILU;
    if (layer->gated.weight && silu && !layer->bias[WICK__LM_GATE] && !layer->bias[WICK__LM_UP]) {
        show(lm, layer, WICK__LM_GATE, rows.x, NULL);
        show(lm, layer, WICK__LM_UP, rows.x, NULL);
        struct wick_tensor *wide = multiply_plain(lm, rows, layer->gated.weight, WICK_ACTIVATION_NONE);
        if (wick_tensor_dtype(wide) != wick_tensor_dtype(layer->weight[WICK__LM_DOWN]))
            wide = wick_cast(wide, WICK_F32);
        return join(lm, layer, WICK__LM_DOWN, wide, true, x);
    }
    if (layer->bias[WICK__LM_GATE]) {
        gate = linear(lm, layer, WICK__LM_GATE, rows);
        gate = silu ? wick_silu(gate) : wick_gelu_tanh(gate);
    } else {
        show(lm, layer, WICK__LM_GATE, rows.x, NULL);
        gate = multiply(lm, rows, layer->weight[WICK__LM_GATE], lm->config.family->gate);
    }
    return join(lm, layer, WICK__LM_DOWN, wick_mul(gate, linear(lm, layer, WICK__LM_UP, rows)), false, x);
}

static struct wick_tensor *run_layer(const struct pass *pass, int64_t number, const struct wick_tensor *x) {
    const struct wick_lm *lm = pass->lm;
    const struct wick__lm_layer *layer = &lm->layers[number];
    wick_scope_begin();
    return wick_scope_end(network(lm, layer, attend(pass, number, x)));
}

/* ---- the whole ---- */

/* Uploads what the pass takes from the host. */
static enum wick_status upload(const struct wick_lm *lm, const struct wick__lm_batch *batch,
                               struct wick__lm_inputs *inputs) {
    const struct wick__lm_tables tables = wick__lm_tables_of(lm, batch);
    size_t nbytes = (size_t)tables.count * sizeof(float);
    float *memory = wick__alloc(2 * nbytes);
    bool good = true;
    if (!memory) return WICK_MEMORY;
    float *const values[2] = {memory, memory + tables.count};
    for (int r = 0; r < tables.n; r++) {
        wick__lm_fill_tables(lm, batch, &tables, r, values);
        for (int i = 0; i < 2; i++) {
            inputs->tables[r][i] = wick_from_data(lm->device, WICK_F32, 3, tables.shape, values[i], nbytes);
            good = good && inputs->tables[r][i];
        }
    }
    wick__free(memory, 2 * nbytes);
    inputs->ids = wick_from_data(lm->device, WICK_I32, WICK_SHAPE(batch->n_tokens), batch->ids,
                                 (size_t)batch->n_tokens * sizeof *batch->ids);
    return good && inputs->ids ? WICK_OK : wick__latest();
}

/* Those of the first rope are for all layers, unless there are tables of a local one. */
static void use_tables(struct pass *pass, const struct wick__lm_inputs *inputs) {
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < 2 && inputs->tables[r][i]; i++) {
            pass->angles[r][i] = wick_select(inputs->tables[r][i], 0, 0);
            pass->heads[r][i] = wick_tensor_dim(inputs->tables[r][i], 0) > 1 ? inputs->tables[r][i] : NULL;
        }
}

/* The rows whose logits are asked for. */
static struct wick_tensor *last_rows(const struct wick_lm *lm, const struct wick__lm_batch *batch,
                                     struct wick_tensor *x) {
    if (batch->all || batch->n_tokens == batch->n_spans) return x;
    const struct wick__lm_span *last = &batch->spans[batch->n_spans - 1];
    if (batch->n_spans == 1) return wick_narrow(x, 0, last->start + last->n - 1, 1);
    size_t nbytes = (size_t)batch->n_spans * sizeof(int32_t);
    int32_t *rows = wick__alloc(nbytes);
    if (!rows) return NULL;
    for (int i = 0; i < batch->n_spans; i++) rows[i] = (int32_t)(batch->spans[i].start + batch->spans[i].n - 1);
    struct wick_tensor *ids = wick_from_data(lm->device, WICK_I32, WICK_SHAPE(batch->n_spans), rows, nbytes);
    wick__free(rows, nbytes);
    return wick_index_select(x, 0, ids);
}

struct wick_tensor *wick__lm_forward(const struct wick_lm *lm, const struct wick__lm_batch *batch,
                                     const struct wick__lm_inputs *inputs) {
    const struct wick__lm_config *config = &lm->config;
    struct wick__lm_inputs own = {.lengths = NULL};
    wick_scope_begin();
    if (!inputs && upload(lm, batch, &own) != WICK_OK) return wick_scope_end(NULL);
    if (!inputs) inputs = &own;
    struct pass pass = {.lm = lm, .batch = batch, .lengths = inputs->lengths, .step = wick__lm_steps_whole(lm, batch)};
    use_tables(&pass, inputs);
    struct wick_tensor *x = wick_cast(wick_embedding(lm->embedding, inputs->ids), WICK_F32);
    if (config->family->scaled_embedding) x = wick_affine(x, WICK_REAL(sqrt((double)config->hidden)), WICK_INT(0));
    for (int64_t i = 0; i < config->n_layers; i++) {
        struct wick_tensor *next = run_layer(&pass, i, x);
        wick__scope_drop(x); /* the next layer needs the memory */
        x = next;
    }
    x = multiply(lm, normed(lm, last_rows(lm, batch, x), lm->norm, lm->output), lm->output, WICK_ACTIVATION_NONE);
    if (config->final_cap > 0)
        x = wick_affine(wick_tanh(wick_affine(x, WICK_REAL(1 / config->final_cap), WICK_INT(0))),
                        WICK_REAL(config->final_cap), WICK_INT(0));
    return wick_scope_end(x);
}
