/* Weights of a language model: every tensor of the file has a place, and every place its shape. */
#include "model/lm.h"

#include "core/checked.h"
#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loader {
    struct wick_lm *lm;
    struct wick_archive *archive;
    int64_t used; /* tensors that found a place */
};

/* A place for a tensor: [size[0], size[1], ...], ended by 0. */
struct place {
    const char *name;
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

/* Vectors become f32; matrices stay as they are if wick_linear takes them. */
static enum wick_status load(struct loader *loader, const struct place *place) {
    struct wick_archive_entry entry;
    int64_t i = wick_archive_find(loader->archive, place->name);
    if (i < 0 && !place->needed) return WICK_OK;
    if (i < 0) return wick__fail(WICK_FORMAT, "tensor '%s' is missing", place->name);
    WICK__TRY(wick_archive_describe(loader->archive, i, &entry));
    WICK__TRY(check_shape(&entry, place));
    bool plain = entry.loadable && (entry.dtype == WICK_F32 || entry.dtype == WICK_F16 || entry.dtype == WICK_BF16);
    bool blocks = entry.loadable && wick_dtype_kind(entry.dtype) == WICK_DTYPE_KIND_QUANTISED;
    if (!plain && !(blocks && entry.rank > 1))
        return wick__fail(WICK_UNSUPPORTED, "tensor '%s' is of type %s, which no layer takes", entry.name, entry.type);
    struct wick_tensor *x = wick_archive_load_at(loader->archive, i, loader->lm->device);
    if (x && entry.rank == 1 && entry.dtype != WICK_F32) x = wick_cast(x, WICK_F32);
    if (!x) return wick__latest();
    *place->to = wick_retain(x);
    loader->lm->weight_bytes += entry.nbytes;
    loader->used++;
    return WICK_OK;
}

/* ---- layers ---- */

/* How the tensors of a layer are called, and their shapes. */
static void layer_places(const struct wick__lm_config *c, struct place places[WICK__LM_PARTS]) {
    const int64_t h = c->hidden, q = c->heads * c->head, k = c->kv_heads * c->head, e = c->experts;
    const bool heads = c->family->head_norms, after = c->family->after_norms;
    const struct place rows[WICK__LM_PARTS] = {
        [WICK__LM_ATTENTION_NORM] = {"attn_norm", true, {h}, NULL},
        [WICK__LM_QUERY] = {"attn_q", true, {q, h}, NULL},
        [WICK__LM_KEY] = {"attn_k", true, {k, h}, NULL},
        [WICK__LM_VALUE] = {"attn_v", true, {k, h}, NULL},
        [WICK__LM_QUERY_NORM] = {heads ? "attn_q_norm" : NULL, true, {c->head}, NULL},
        [WICK__LM_KEY_NORM] = {heads ? "attn_k_norm" : NULL, true, {c->head}, NULL},
        [WICK__LM_OUT] = {"attn_output", true, {h, q}, NULL},
        [WICK__LM_AFTER_ATTENTION] = {after ? "post_attention_norm" : NULL, true, {h}, NULL},
        [WICK__LM_NETWORK_NORM] = {"ffn_norm", true, {h}, NULL},
        [WICK__LM_ROUTER] = {e ? "ffn_gate_inp" : NULL, true, {e, h}, NULL},
        [WICK__LM_GATE] = {e ? "ffn_gate_exps" : "ffn_gate", true, {c->wide, h}, NULL},
        [WICK__LM_UP] = {e ? "ffn_up_exps" : "ffn_up", true, {c->wide, h}, NULL},
        [WICK__LM_DOWN] = {e ? "ffn_down_exps" : "ffn_down", true, {h, c->wide}, NULL},
        [WICK__LM_AFTER_NETWORK] = {after ? "post_ffw_norm" : NULL, true, {h}, NULL},
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
    return lm->fused_up && part == WICK__LM_GATE ? NULL : places[part].name;
}

/* One matrix in the place of several that lie one below the other: phi3 has them. */
static enum wick_status load_fused(struct loader *loader, const char *name, int n, const struct place *places) {
    struct wick_tensor *all = NULL;
    struct place place = {name, true, {0, places[0].size[1]}, &all};
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

enum { NAME = 96 };

static enum wick_status load_part(struct loader *loader, int64_t number, int part, const struct place *place) {
    struct wick__lm_layer *layer = &loader->lm->layers[number];
    char name[NAME];
    struct place full = *place;
    if (!place->name) return WICK_OK;
    full.name = name;
    full.to = &layer->weight[part];
    snprintf(name, sizeof name, "blk.%lld.%s.weight", (long long)number, place->name);
    if (!layer->weight[part]) WICK__TRY(load(loader, &full));
    if (rank_of(place) != 2) return WICK_OK;
    full = (struct place){name, false, {place->size[0]}, &layer->bias[part]};
    snprintf(name, sizeof name, "blk.%lld.%s.bias", (long long)number, place->name);
    return load(loader, &full);
}

static enum wick_status load_layer(struct loader *loader, int64_t number) {
    struct wick__lm_layer *layer = &loader->lm->layers[number];
    struct place places[WICK__LM_PARTS];
    char name[NAME];
    layer_places(&loader->lm->config, places);
    for (int part = 0; part < WICK__LM_PARTS; part++) places[part].to = &layer->weight[part];
    snprintf(name, sizeof name, "blk.%lld.attn_qkv.weight", (long long)number);
    loader->lm->fused_qkv = wick_archive_find(loader->archive, name) >= 0;
    if (loader->lm->fused_qkv) WICK__TRY(load_fused(loader, name, 3, &places[WICK__LM_QUERY]));
    snprintf(name, sizeof name, "blk.%lld.ffn_gate.weight", (long long)number);
    bool gate = wick_archive_find(loader->archive, name) >= 0;
    snprintf(name, sizeof name, "blk.%lld.ffn_up.weight", (long long)number);
    loader->lm->fused_up = !gate && wick_archive_find(loader->archive, name) >= 0;
    if (loader->lm->fused_up) WICK__TRY(load_fused(loader, name, 2, &places[WICK__LM_GATE]));
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
    static const char *const names[] = {"<|im_end|>",    "<|eot_id|>", "<|eom_id|>",     "<end_of_turn>",
                                        "<|endoftext|>", "<|end|>",    "<|end_of_text|>"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int32_t id;
        WICK__TRY(load_id(lm, archive, keys[i], &id));
        if (id >= 0) lm->ends[lm->n_ends++] = id;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int32_t id = wick_tokenizer_id(lm->tokenizer, names[i]);
        if (id >= 0 && id < lm->config.vocab) lm->ends[lm->n_ends++] = id;
    }
    return load_id(lm, archive, "tokenizer.ggml.bos_token_id", &lm->begin);
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

/* A tensor without a place means that the model is computed in another way than here. */
static enum wick_status check_all_used(struct loader *loader) {
    static const char *const factors[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"};
    int64_t n = wick_archive_count(loader->archive);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        loader->used += wick_archive_find(loader->archive, factors[i]) >= 0;
    for (int64_t i = 0; i < n && loader->used < n; i++) {
        const char *name = wick_archive_name(loader->archive, i);
        long long number;
        char part[64] = "";
        struct place places[WICK__LM_PARTS];
        bool known = false;
        if (sscanf(name, "blk.%lld.%63s", &number, part) == 2 && number >= loader->lm->config.n_layers)
            return wick__fail(WICK_UNSUPPORTED, "tensor '%s' is beyond the %lld layers", name,
                              (long long)loader->lm->config.n_layers);
        layer_places(&loader->lm->config, places);
        part[strcspn(part, ".")] = 0;
        for (int p = 0; p < WICK__LM_PARTS; p++) known = known || (places[p].name && strcmp(part, places[p].name) == 0);
        known = known || strcmp(part, "attn_qkv") == 0 || strncmp(name, "token_embd.weight", 18) == 0 ||
                strncmp(name, "output", 6) == 0 || strncmp(name, "rope_f", 6) == 0;
        if (!known) return wick__fail(WICK_UNSUPPORTED, "tensor '%s' is not known", name);
    }
    if (loader->used == n) return WICK_OK;
    return wick__fail(WICK_UNSUPPORTED, "%lld of %lld tensors have no place in the model",
                      (long long)(n - loader->used), (long long)n);
}

static enum wick_status load_all(struct loader *loader) {
    struct wick_lm *lm = loader->lm;
    const struct wick__lm_config *c = &lm->config;
    const struct place places[] = {{"token_embd.weight", true, {c->vocab, c->hidden}, &lm->embedding},
                                   {"output.weight", false, {c->vocab, c->hidden}, &lm->output},
                                   {"output_norm.weight", true, {c->hidden}, &lm->norm}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) WICK__TRY(load(loader, &places[i]));
    if (!lm->output) lm->output = wick_retain(lm->embedding);
    for (int64_t i = 0; i < c->n_layers; i++) WICK__TRY(load_layer(loader, i));
    WICK__TRY(check_all_used(loader));
    return wick__lm_make_ropes(lm, loader->archive);
}

enum wick_status wick__lm_load(struct wick_lm *lm, struct wick_archive *archive) {
    struct loader loader = {lm, archive, 0};
    WICK__TRY(wick__lm_configure(&lm->config, archive));
    WICK__TRY(find_vocab(lm, archive));
    lm->layers = wick__calloc((size_t)lm->config.n_layers, sizeof *lm->layers);
    if (!lm->layers) return WICK_MEMORY;
    WICK__TRY(load_ends(lm, archive));
    WICK__TRY(load_template(lm, archive));
    wick_scope_begin();
    enum wick_status status = load_all(&loader);
    wick_scope_end(NULL);
    return status;
}

void wick__lm_unload(struct wick_lm *lm) {
    for (int64_t i = 0; lm->layers && i < lm->config.n_layers; i++) {
        for (int part = 0; part < WICK__LM_PARTS; part++) {
            wick_release(lm->layers[i].weight[part]);
            wick_release(lm->layers[i].bias[part]);
        }
    }
    wick__free(lm->layers, (size_t)lm->config.n_layers * sizeof *lm->layers);
    for (int i = 0; i < WICK__LM_ROPES; i++)
        wick__free(lm->ropes[i].angle, (size_t)(lm->config.rope_dims / 2) * sizeof(double));
    wick_release(lm->embedding);
    wick_release(lm->output);
    wick_release(lm->norm);
    wick_text_free(&lm->chat_template);
}
