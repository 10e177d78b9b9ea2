/* Weights of a language model: every tensor of the files has a place, and every place its shape. */
#include "model/lm.h"

#include "core/checked.h"
#include "core/device.h"
#include "core/memory.h"
#include "core/tensor.h"
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loader {
    struct wick_lm *lm;
    const struct wick__lm_source *source;
    struct wick_archive *archive;
    bool *used;               /* of each tensor, whether it has a place */
    struct wick_device *host; /* NULL where weights stay in the file's pages, and can't be joined */
};

/* A place for a tensor: [size[0], size[1], ...], ended by 0. */
struct place {
    const char *gguf, *hub; /* names */
    bool needed;
    int64_t size[4];
    struct wick_tensor **to;
};

static int rank_of(const struct place *place) {
    int rank = 0;
    while (rank < 3 && place->size[rank] > 0) rank++;
    return rank;
}

static enum wick_status check_shape(const struct wick_archive_entry *entry, const struct place *place) {
    char want[80] = "";
    int rank = rank_of(place);
    bool good = entry->rank == rank;
    for (int i = 0, at = 0; i < rank; i++) {
        good = good && entry->shape[i] == place->size[i];
        at += snprintf(want + at, sizeof want - (size_t)at, "%s%lld", i ? "," : "", (long long)place->size[i]);
    }
    if (good) return WICK_OK;
    return wick__fail(WICK_FORMAT, "tensor '%s' is not of the shape [%s] that the model's keys make it", entry->name,
                      want);
}

/* Whether a layer takes a tensor as it is, or a vector as f32. */
static bool takes(const struct wick_archive_entry *entry) {
    bool plain = entry->dtype == WICK_F32 || entry->dtype == WICK_F16 || entry->dtype == WICK_BF16;
    bool blocks = wick_dtype_kind(entry->dtype) == WICK_DTYPE_KIND_QUANTISED;
    return entry->loadable && (plain || (blocks && entry->rank > 1));
}

/* Vectors become f32; matrices stay as they are if wick_linear takes them. */
static enum wick_status load(struct loader *loader, const struct place *place) {
    struct wick_archive_entry entry;
    const char *name = loader->lm->config.hub ? place->hub : place->gguf;
    int64_t i = wick_archive_find(loader->archive, name);
    if (i < 0 && !place->needed) return WICK_OK;
    if (i < 0) return wick__fail(WICK_FORMAT, "tensor '%s' is missing", name);
    WICK__TRY(wick_archive_describe(loader->archive, i, &entry));
    WICK__TRY(check_shape(&entry, place));
    if (!takes(&entry))
        return wick__fail(WICK_UNSUPPORTED, "tensor '%s' is of type %s, which no layer takes", entry.name, entry.type);
    struct wick_tensor *x = wick_archive_load_at(loader->archive, i, loader->lm->device);
    if (x && entry.rank == 1 && entry.dtype != WICK_F32) x = wick_cast(x, WICK_F32);
    if (!x) return wick__latest();
    *place->to = wick_retain(x);
    loader->lm->weight_bytes += entry.nbytes;
    loader->used[i] = true;
    return WICK_OK;
}

/* The weights of a norm, [n]: some folders hold them less 1. */
static enum wick_status load_norm(struct loader *loader, const struct place *place) {
    const struct wick__hub *hub = loader->lm->config.hub;
    WICK__TRY(load(loader, place));
    if (!hub || !hub->norms_from_one) return WICK_OK;
    struct wick_tensor *x = wick_affine(*place->to, WICK_INT(1), WICK_INT(1));
    if (!x) return wick__latest();
    wick_release(*place->to);
    *place->to = wick_retain(x);
    return WICK_OK;
}

/* ---- layers ---- */

/* How the tensors of a layer are called, and their shapes. Experts of folders are elsewhere: load_experts. */
static void layer_places(const struct wick__lm_config *c, struct place places[WICK__LM_PARTS]) {
    const int64_t h = c->hidden, q = c->heads * c->head, k = c->kv_heads * c->head, e = c->experts;
    const bool heads = c->family->head_norms, after = c->family->after_norms;
    const char *between = after ? "pre_feedforward_layernorm" : "post_attention_layernorm";
    const struct place rows[WICK__LM_PARTS] = {
        [WICK__LM_ATTENTION_NORM] = {"attn_norm", "input_layernorm", true, {h}, NULL},
        [WICK__LM_QUERY] = {"attn_q", "self_attn.q_proj", true, {q, h}, NULL},
        [WICK__LM_KEY] = {"attn_k", "self_attn.k_proj", true, {k, h}, NULL},
        [WICK__LM_VALUE] = {"attn_v", "self_attn.v_proj", true, {k, h}, NULL},
        [WICK__LM_QUERY_NORM] = {heads ? "attn_q_norm" : NULL, "self_attn.q_norm", true, {c->head}, NULL},
        [WICK__LM_KEY_NORM] = {heads ? "attn_k_norm" : NULL, "self_attn.k_norm", true, {c->head}, NULL},
        [WICK__LM_OUT] = {"attn_output", "self_attn.o_proj", true, {h, q}, NULL},
        [WICK__LM_AFTER_ATTENTION] =
            {after ? "post_attention_norm" : NULL, "post_attention_layernorm", true, {h}, NULL},
        [WICK__LM_NETWORK_NORM] = {"ffn_norm", between, true, {h}, NULL},
        [WICK__LM_ROUTER] = {e ? "ffn_gate_inp" : NULL, c->hub ? c->hub->router : NULL, true, {e, h}, NULL},
        [WICK__LM_GATE] = {e ? "ffn_gate_exps" : "ffn_gate", "mlp.gate_proj", true, {c->wide, h}, NULL},
        [WICK__LM_UP] = {e ? "ffn_up_exps" : "ffn_up", "mlp.up_proj", true, {c->wide, h}, NULL},
        [WICK__LM_DOWN] = {e ? "ffn_down_exps" : "ffn_down", "mlp.down_proj", true, {h, c->wide}, NULL},
        [WICK__LM_AFTER_NETWORK] = {after ? "post_ffw_norm" : NULL, "post_feedforward_layernorm", true, {h}, NULL},
    };
    memcpy(places, rows, sizeof rows);
    for (int part = WICK__LM_GATE; e > 0 && part <= WICK__LM_DOWN; part++) {
        bool down = part == WICK__LM_DOWN;
        const int64_t size[3] = {e, down ? h : c->expert_wide, down ? c->expert_wide : h};
        memcpy(places[part].size, size, sizeof size);
    }
}

const char *wick__lm_part_name(const struct wick_lm *lm, int part) {
    struct place places[WICK__LM_PARTS];
    layer_places(&lm->config, places);
    if (lm->fused_qkv && part == WICK__LM_QUERY) return "attn_qkv";
    if (lm->fused_qkv && (part == WICK__LM_KEY || part == WICK__LM_VALUE)) return NULL;
    return lm->fused_up && part == WICK__LM_GATE ? NULL : places[part].gguf;
}

enum { NAME = 128 };

/* The name of a layer's tensor: part and kind, "weight" or "bias", as the files spell them. */
static void name_part(const struct loader *loader, int64_t number, const char *part, const char *kind,
                      char name[NAME]) {
    const char *layers = loader->lm->config.hub ? "model.layers" : "blk";
    snprintf(name, NAME, "%s.%lld.%s.%s", layers, (long long)number, part, kind);
}

/* One matrix in the place of several that lie one below the other: phi3 has them. */
static enum wick_status load_fused(struct loader *loader, const char *name, int n, const struct place *places) {
    struct wick_tensor *all = NULL;
    struct place place = {name, name, true, {0, places[0].size[1]}, &all};
    for (int i = 0; i < n; i++) place.size[0] += places[i].size[0];
    WICK__TRY(load(loader, &place));
    enum wick_status status = WICK_OK;
    int64_t start = 0;
    for (int i = 0; i < n && status == WICK_OK; start += places[i++].size[0]) {
        struct wick_tensor *x = wick_narrow(all, 0, start, places[i].size[0]);
        if (x)
            *places[i].to = wick_retain(x);
        else
            status = wick__latest();
    }
    wick_release(all);
    return status;
}

/* Puts one expert's matrix into those of all, which the first one makes room for. */
static enum wick_status load_expert(struct loader *loader, int64_t expert, const struct place *one,
                                    const struct place *all) {
    const int64_t *size = all->size;
    WICK__TRY(load(loader, one));
    const struct wick_tensor *x = *one->to;
    enum wick_dtype dtype = wick_tensor_dtype(x);
    if (!*all->to) *all->to = wick_retain(wick_empty(loader->lm->device, dtype, WICK_SHAPE(size[0], size[1], size[2])));
    if (!*all->to) return wick__latest();
    if (wick_tensor_dtype(*all->to) != dtype)
        return wick__fail(WICK_UNSUPPORTED, "tensor '%s' is %s, other experts are %s", one->hub, wick_dtype_name(dtype),
                          wick_dtype_name(wick_tensor_dtype(*all->to)));
    return wick_slice_set_inplace(*all->to, wick_unsqueeze(x, 0), 0, expert);
}

static void name_expert(const struct loader *loader, int64_t number, int part, int64_t expert, char name[NAME]) {
    const struct wick__hub *hub = loader->lm->config.hub;
    char called[NAME / 2];
    snprintf(called, sizeof called, "%s.%lld.%s", hub->experts, (long long)expert, hub->expert[part - WICK__LM_GATE]);
    name_part(loader, number, called, "weight", name);
}

/* The experts of a folder, a tensor each, in one: [experts, rows, columns]. Only one at a time is held beside it. */
static enum wick_status load_experts(struct loader *loader, int64_t number, int part, const struct place *all) {
    const int64_t n = all->size[0];
    char name[NAME];
    for (int64_t i = 0; i < n; i++) { /* before there is room for all of them */
        name_expert(loader, number, part, i, name);
        if (wick_archive_find(loader->archive, name) < 0)
            return wick__fail(WICK_FORMAT, "tensor '%s' is missing", name);
    }
    for (int64_t i = 0; i < n; i++) {
        struct wick_tensor *x = NULL;
        const struct place one = {name, name, true, {all->size[1], all->size[2]}, &x};
        name_expert(loader, number, part, i, name);
        wick_scope_begin();
        enum wick_status status = load_expert(loader, i, &one, all);
        wick_scope_end(NULL);
        wick_release(x);
        WICK__TRY(status);
    }
    return WICK_OK;
}

static enum wick_status load_part(struct loader *loader, int64_t number, int part, const struct place *place) {
    struct wick__lm_layer *layer = &loader->lm->layers[number];
    const char *called = loader->lm->config.hub ? place->hub : place->gguf;
    char name[NAME];
    struct place full = *place;
    if (!place->gguf) return WICK_OK;
    full.gguf = full.hub = name;
    full.to = &layer->weight[part];
    if (rank_of(place) == 3 && loader->lm->config.hub) return load_experts(loader, number, part, &full);
    name_part(loader, number, called, "weight", name);
    if (!layer->weight[part]) WICK__TRY((rank_of(place) == 1 ? load_norm : load)(loader, &full));
    if (rank_of(place) != 2) return WICK_OK;
    full = (struct place){name, name, false, {place->size[0]}, &layer->bias[part]};
    name_part(loader, number, called, "bias", name);
    return load(loader, &full);
}

/* Whether a layer has one matrix under this name, which stays in `name`. */
static bool find_fused(const struct loader *loader, int64_t number, const char *gguf, const char *hub,
                       char name[NAME]) {
    name_part(loader, number, loader->lm->config.hub ? hub : gguf, "weight", name);
    return wick_archive_find(loader->archive, name) >= 0;
}

/* How many of the first `most` parts are matrices of one dtype that layers take; where in the archive. */
static enum wick_status find_joined(struct loader *loader, int64_t number, int most, const struct place *places,
                                    int64_t *at, int *n) {
    struct wick_archive_entry entry = {0};
    enum wick_dtype dtype = WICK_F32;
    char name[NAME];
    for (*n = 0; *n < most; ++*n) {
        const struct place *place = &places[*n];
        if (!place->gguf || *place->to || rank_of(place) != 2) return WICK_OK;
        name_part(loader, number, loader->lm->config.hub ? place->hub : place->gguf, "weight", name);
        at[*n] = wick_archive_find(loader->archive, name);
        if (at[*n] < 0) return WICK_OK;
        WICK__TRY(wick_archive_describe(loader->archive, at[*n], &entry));
        if (!takes(&entry) || (*n > 0 && entry.dtype != dtype)) return WICK_OK;
        WICK__TRY(check_shape(&entry, place));
        dtype = entry.dtype;
    }
    return WICK_OK;
}

/* Loads matrices that multiply the same rows below one another. */
static enum wick_status load_joined(struct loader *loader, int64_t number, int most, const struct place *places,
                                    struct wick__lm_joined *joined) {
    struct wick_lm *lm = loader->lm;
    struct wick_device *device = lm->device;
    int64_t at[3], rows = 0, start = 0;
    int n;
    WICK__TRY(find_joined(loader, number, most, places, at, &n));
    if (n < 2) return WICK_OK;
    struct wick_archive_entry entry;
    WICK__TRY(wick_archive_describe(loader->archive, at[0], &entry));
    for (int i = 0; i < n; i++) rows += places[i].size[0];
    struct wick_tensor *all = wick_empty(device, entry.dtype, WICK_SHAPE(rows, entry.shape[1]));
    for (int i = 0; i < n; start += places[i++].size[0]) {
        struct wick_tensor *part = wick_narrow(all, 0, start, places[i].size[0]),
                           *x = part ? wick_archive_load_at(loader->archive, at[i], loader->host) : NULL;
        x = x ? wick_contiguous(x) : NULL;
        if (!x) return wick__latest();
        WICK__TRY(wick_archive_describe(loader->archive, at[i], &entry));
        WICK__TRY(device->backend->upload(device, wick__data(part), wick__data(x), (size_t)entry.nbytes));
        *places[i].to = wick_retain(part);
        lm->weight_bytes += entry.nbytes;
        loader->used[at[i]] = true;
    }
    *joined = (struct wick__lm_joined){wick_retain(all), n};
    return WICK_OK;
}

static enum wick_status load_layer(struct loader *loader, int64_t number) {
    struct wick__lm_layer *layer = &loader->lm->layers[number];
    struct wick_lm *lm = loader->lm;
    struct place places[WICK__LM_PARTS];
    char name[NAME];
    layer_places(&lm->config, places);
    for (int part = 0; part < WICK__LM_PARTS; part++) places[part].to = &layer->weight[part];
    lm->fused_qkv = find_fused(loader, number, "attn_qkv", "self_attn.qkv_proj", name);
    if (lm->fused_qkv) WICK__TRY(load_fused(loader, name, 3, &places[WICK__LM_QUERY]));
    lm->fused_up = !find_fused(loader, number, "ffn_gate", "mlp.gate_proj", name) &&
                   find_fused(loader, number, "ffn_up", "mlp.gate_up_proj", name);
    if (lm->fused_up) WICK__TRY(load_fused(loader, name, 2, &places[WICK__LM_GATE]));
    if (loader->host) {
        WICK__TRY(load_joined(loader, number, 3, &places[WICK__LM_QUERY], &layer->qkv));
        WICK__TRY(load_joined(loader, number, 2, &places[WICK__LM_GATE], &layer->gated));
    }
    for (int part = 0; part < WICK__LM_PARTS; part++) WICK__TRY(load_part(loader, number, part, &places[part]));
    return WICK_OK;
}

/* ---- the rest ---- */

/* A key that names a token; -1 without it. */
static enum wick_status load_id(const struct wick_lm *lm, struct wick_archive *archive, const char *key, int32_t *id) {
    char text[32];
    int64_t at = wick_archive_metadata_find(archive, key);
    *id = -1;
    if (at < 0) return WICK_OK;
    wick_archive_metadata_text(archive, at, -1, text, sizeof text);
    int64_t value = strtoll(text, NULL, 10);
    if (value < 0 || value >= lm->config.vocab)
        return wick__fail(WICK_FORMAT, "key '%s' is %lld, the vocabulary has %lld tokens", key, (long long)value,
                          (long long)lm->config.vocab);
    *id = (int32_t)value;
    return WICK_OK;
}

static enum wick_status load_ends(struct wick_lm *lm, struct wick_archive *archive) {
    static const char *const keys[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                       "tokenizer.ggml.eom_token_id"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int32_t id;
        WICK__TRY(load_id(lm, archive, keys[i], &id));
        WICK__TRY(wick__lm_add_end(lm, keys[i], id));
    }
    return load_id(lm, archive, "tokenizer.ggml.bos_token_id", &lm->begin);
}

/* Tokens that end a text wherever there are such. */
static enum wick_status add_known_ends(struct wick_lm *lm) {
    static const char *const names[] = {"<|im_end|>",    "<|eot_id|>", "<|eom_id|>",     "<end_of_turn>",
                                        "<|endoftext|>", "<|end|>",    "<|end_of_text|>"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int32_t id = wick_tokenizer_id(lm->tokenizer, names[i]);
        if (id < lm->config.vocab) WICK__TRY(wick__lm_add_end(lm, names[i], id));
    }
    return WICK_OK;
}

static enum wick_status load_template(struct wick_lm *lm, struct wick_archive *archive) {
    int64_t at = wick_archive_metadata_find(archive, "tokenizer.chat_template");
    int64_t length = at < 0 ? 0 : wick_archive_metadata_text(archive, at, -1, NULL, 0);
    if (length <= 0) return WICK_OK;
    struct wick_text *text = &lm->chat_template;
    text->data = wick__alloc((size_t)length + 1);
    if (!text->data) return WICK_MEMORY;
    text->capacity = (size_t)length + 1;
    text->nbytes = (size_t)length;
    wick_archive_metadata_text(archive, at, -1, text->data, text->capacity);
    return WICK_OK;
}

/* The rows of the embedding are the vocabulary. */
static enum wick_status find_vocab(struct wick_lm *lm, struct wick_archive *archive) {
    struct wick_archive_entry entry;
    int64_t i = wick_archive_find(archive, "token_embd.weight");
    if (i < 0) return wick__fail(WICK_FORMAT, "tensor 'token_embd.weight' is missing");
    WICK__TRY(wick_archive_describe(archive, i, &entry));
    if (entry.rank != 2 || entry.shape[0] < 1 || entry.shape[0] > 1 << 22)
        return wick__fail(WICK_FORMAT, "tensor 'token_embd.weight' is not a matrix of tokens");
    if (lm->config.vocab == 0) lm->config.vocab = entry.shape[0];
    return WICK_OK;
}

/* Whether a tensor has no weights of the model in it: what ropes are made of, or the embedding once more. */
static bool is_aside(const struct wick__lm_config *config, const char *name) {
    static const char *const factors[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"};
    static const char angles[] = ".rotary_emb.inv_freq";
    size_t n = strlen(name);
    for (size_t i = 0; !config->hub && i < sizeof factors / sizeof *factors; i++)
        if (strcmp(name, factors[i]) == 0) return true;
    if (!config->hub) return false;
    return (config->tied && strcmp(name, "lm_head.weight") == 0) ||
           (n >= sizeof angles && strcmp(name + n - (sizeof angles - 1), angles) == 0);
}

/* A tensor without a place means that the model is computed in another way than here. */
static enum wick_status check_all_used(const struct loader *loader) {
    const struct wick__lm_config *config = &loader->lm->config;
    for (int64_t i = 0; i < wick_archive_count(loader->archive); i++) {
        const char *name = wick_archive_name(loader->archive, i);
        long long number;
        if (loader->used[i] || is_aside(config, name)) continue;
        bool layer =
            (config->hub ? sscanf(name, "model.layers.%lld", &number) : sscanf(name, "blk.%lld", &number)) == 1;
        if (layer && number >= config->n_layers)
            return wick__fail(WICK_UNSUPPORTED, "tensor '%s' is beyond the %lld layers", name,
                              (long long)config->n_layers);
        return wick__fail(WICK_UNSUPPORTED, "tensor '%s' is not known", name);
    }
    return WICK_OK;
}

static enum wick_status load_all(struct loader *loader) {
    struct wick_lm *lm = loader->lm;
    const struct wick__lm_config *c = &lm->config;
    const int64_t v = c->vocab, h = c->hidden;
    const struct place embedding = {"token_embd.weight", "model.embed_tokens.weight", true, {v, h}, &lm->embedding},
                       output = {"output.weight", "lm_head.weight", c->hub, {v, h}, &lm->output},
                       norm = {"output_norm.weight", "model.norm.weight", true, {h}, &lm->norm};
    WICK__TRY(load(loader, &embedding));
    if (!c->tied) WICK__TRY(load(loader, &output));
    if (!lm->output) lm->output = wick_retain(lm->embedding);
    WICK__TRY(load_norm(loader, &norm));
    for (int64_t i = 0; i < c->n_layers; i++) {
        wick_scope_begin();
        enum wick_status status = load_layer(loader, i);
        wick_scope_end(NULL);
        WICK__TRY(status);
    }
    WICK__TRY(check_all_used(loader));
    return wick__lm_make_ropes(lm, loader->source);
}

/* The ids around a text, and the chat template. */
static enum wick_status load_text(struct wick_lm *lm, const struct wick__lm_source *source) {
    if (source->config) {
        WICK__TRY(wick__hub_load_text(lm, source));
    } else {
        WICK__TRY(load_ends(lm, source->archive));
        WICK__TRY(load_template(lm, source->archive));
    }
    return add_known_ends(lm);
}

static void keep_constant(const struct wick_tensor *weight) {
    if (weight) weight->storage->constant = true;
}

/* Once they are where they stay, nothing writes weights. */
static enum wick_status settle(const struct wick_lm *lm) {
    WICK__TRY(wick_device_sync(lm->device));
    for (int64_t i = 0; i < lm->config.n_layers; i++) {
        for (int part = 0; part < WICK__LM_PARTS; part++) keep_constant(lm->layers[i].weight[part]);
        keep_constant(lm->layers[i].qkv.weight);
        keep_constant(lm->layers[i].gated.weight);
    }
    keep_constant(lm->norm);
    keep_constant(lm->output);
    return WICK_OK;
}

enum wick_status wick__lm_load(struct wick_lm *lm, const struct wick__lm_source *source) {
    struct loader loader = {lm, source, source->archive, NULL, NULL};
    const size_t n = (size_t)wick_archive_count(source->archive);
    WICK__TRY(wick__lm_configure(&lm->config, source));
    if (!source->config) WICK__TRY(find_vocab(lm, source->archive));
    lm->layers = wick__calloc((size_t)lm->config.n_layers, sizeof *lm->layers);
    if (!lm->layers) return WICK_MEMORY;
    WICK__TRY(load_text(lm, source));
    loader.used = wick__calloc(n, sizeof *loader.used);
    if (!loader.used) return WICK_MEMORY;
    enum wick_status status = WICK_OK;
    if (!lm->device->heap->host_visible && !(loader.host = wick_device_open("cpu"))) status = wick__latest();
    wick_scope_begin();
    if (status == WICK_OK) status = load_all(&loader);
    if (status == WICK_OK) status = settle(lm);
    wick_scope_end(NULL);
    wick_device_close(loader.host);
    wick__free(loader.used, n * sizeof *loader.used);
    return status;
}

void wick__lm_unload(struct wick_lm *lm) {
    for (int64_t i = 0; lm->layers && i < lm->config.n_layers; i++) {
        for (int part = 0; part < WICK__LM_PARTS; part++) {
            wick_release(lm->layers[i].weight[part]);
            wick_release(lm->layers[i].bias[part]);
        }
        wick_release(lm->layers[i].qkv.weight);
        wick_release(lm->layers[i].gated.weight);
    }
    wick__free(lm->layers, (size_t)lm->config.n_layers * sizeof *lm->layers);
    for (int i = 0; i < WICK__LM_ROPES; i++)
        wick__free(lm->ropes[i].angle, (size_t)(lm->config.rope_dims / 2) * sizeof(double));
    wick_release(lm->embedding);
    wick_release(lm->output);
    wick_release(lm->norm);
    wick_text_free(&lm->chat_template);
}
