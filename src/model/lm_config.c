/* The families of language models, and their keys in GGUF files. Those of config.json are in lm_hub.c. */
#include "model/lm.h"

#include "core/checked.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mistral's and Mixtral's files call themselves llama. */
static const struct wick__family families[] = {
    {.name = "llama", .interleaved = true, .gate = WICK_ACTIVATION_SILU},
    {.name = "qwen2", .gate = WICK_ACTIVATION_SILU},
    {.name = "qwen3", .gate = WICK_ACTIVATION_SILU, .head_norms = true},
    {.name = "qwen3moe", .gate = WICK_ACTIVATION_SILU, .head_norms = true},
    {.name = "gemma", .gate = WICK_ACTIVATION_GELU_TANH, .scaled_embedding = true},
    {.name = "gemma2",
     .gate = WICK_ACTIVATION_GELU_TANH,
     .scaled_embedding = true,
     .after_norms = true,
     .attention_cap = 50,
     .final_cap = 30,
     .window = 4096,
     .period = 2,
     .wide_layers = 46},
    {.name = "gemma3",
     .gate = WICK_ACTIVATION_GELU_TANH,
     .scaled_embedding = true,
     .after_norms = true,
     .head_norms = true,
     .window = 1024,
     .period = 6,
     .local_base = 10000,
     .wide_layers = 62},
    {.name = "phi3", .gate = WICK_ACTIVATION_SILU},
};

#define AT(member) offsetof(struct wick__lm_config, member)

/* Keys behind "ARCH.". */
static const struct wick__key keys[] = {
    {"block_count", WICK__KEY_SIZE, AT(n_layers), 1, 1024},
    {"context_length", WICK__KEY_SIZE, AT(context), 1, 1 << 30},
    {"embedding_length", WICK__KEY_SIZE, AT(hidden), 1, 1 << 20},
    {"feed_forward_length", WICK__KEY_SIZE, AT(wide), 1, 1 << 24},
    {"attention.head_count", WICK__KEY_SIZE, AT(heads), 1, 1 << 16},
    {"attention.head_count_kv", WICK__KEY_SIZE, AT(kv_heads), 1, 1 << 16},
    {"attention.key_length", WICK__KEY_SIZE, AT(head), 1, 1 << 16},
    {"attention.value_length", WICK__KEY_SIZE, AT(value_head), 1, 1 << 16},
    {"attention.sliding_window", WICK__KEY_SIZE, AT(window), 0, 1 << 30},
    {"attention.sliding_window_pattern", WICK__KEY_SIZE, AT(period), 1, 1024},
    {"attention.layer_norm_rms_epsilon", WICK__KEY_REAL, AT(epsilon), 0, 1},
    {"attention.scale", WICK__KEY_REAL, AT(scale), 0, 1 << 20},
    {"attn_logit_softcapping", WICK__KEY_REAL, AT(attention_cap), 0, 1 << 20},
    {"final_logit_softcapping", WICK__KEY_REAL, AT(final_cap), 0, 1 << 20},
    {"vocab_size", WICK__KEY_SIZE, AT(vocab), 1, 1 << 22},
    {"expert_count", WICK__KEY_SIZE, AT(experts), 0, 1 << 16},
    {"expert_used_count", WICK__KEY_SIZE, AT(experts_used), 0, 1 << 16},
    {"expert_feed_forward_length", WICK__KEY_SIZE, AT(expert_wide), 1, 1 << 24},
    {"rope.dimension_count", WICK__KEY_SIZE, AT(rope_dims), 2, 1 << 16},
    {"rope.freq_base", WICK__KEY_REAL, AT(rope_base), 0, INT64_C(1) << 50},
    {"rope.freq_base_swa", WICK__KEY_REAL, AT(local_base), 0, INT64_C(1) << 50},
    {"rope.scaling.type", WICK__KEY_SCALING, AT(scaling), 0, 0},
    {"rope.scaling.factor", WICK__KEY_REAL, AT(rope_factor), 0, 1 << 20},
    {"rope.scale_linear", WICK__KEY_REAL, AT(rope_factor), 0, 1 << 20},
    {"rope.scaling.original_context_length", WICK__KEY_SIZE, AT(original_context), 1, 1 << 30},
    {"rope.scaling.attn_factor", WICK__KEY_REAL, AT(attention_factor), 0, 1 << 20},
    {"rope.scaling.yarn_beta_fast", WICK__KEY_REAL, AT(beta_fast), 0, 1 << 20},
    {"rope.scaling.yarn_beta_slow", WICK__KEY_REAL, AT(beta_slow), 0, 1 << 20},
    {"rope.scaling.yarn_ext_factor", WICK__KEY_UNIT, 0, 0, 0},
    {"rope.scaling.yarn_attn_factor", WICK__KEY_UNIT, 0, 0, 0},
    {"rope.scaling.finetuned", WICK__KEY_SKIP, 0, 0, 0},
    {"tensor_data_layout", WICK__KEY_SKIP, 0, 0, 0},
};

static enum wick_status take_scaling(const char *text, enum wick__scaling *scaling) {
    static const char *const names[] = {[WICK__SCALING_NONE] = "none",
                                        [WICK__SCALING_LINEAR] = "linear",
                                        [WICK__SCALING_YARN] = "yarn",
                                        [WICK__SCALING_LONG] = "longrope"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *scaling = (enum wick__scaling)i;
        return WICK_OK;
    }
    return wick__fail(WICK_UNSUPPORTED, "rope.scaling.type '%.40s' is not known", text);
}

enum wick_status wick__lm_take(struct wick__lm_config *config, const struct wick__key *key, const char *name,
                               double number) {
    char *member = (char *)config + key->at;
    if (key->kind == WICK__KEY_UNIT) {
        if (number == 1) return WICK_OK;
        return wick__fail(WICK_UNSUPPORTED, "key '%s' is %g; only 1 is known", name, number);
    }
    if (!(number >= (double)key->low && number <= (double)key->high))
        return wick__fail(WICK_FORMAT, "key '%s' is %g, not in %lld .. %lld", name, number, (long long)key->low,
                          (long long)key->high);
    if (key->kind == WICK__KEY_REAL)
        *(double *)(void *)member = number;
    else if (number != floor(number))
        return wick__fail(WICK_FORMAT, "key '%s' is %g, no whole number", name, number);
    else
        *(int64_t *)(void *)member = (int64_t)number;
    return WICK_OK;
}

/* Sets the member that a key names. */
static enum wick_status take_key(struct wick__lm_config *config, const struct wick_metadata *metadata, const char *text,
                                 const struct wick__key *key) {
    char *end;
    double number = strtod(text, &end);
    bool is_text = metadata->type == WICK_METADATA_STRING || metadata->type == WICK_METADATA_BOOL;
    if (key->kind == WICK__KEY_SKIP) return WICK_OK;
    if (metadata->type == WICK_METADATA_ARRAY)
        return wick__fail(WICK_UNSUPPORTED, "key '%s' differs from layer to layer", metadata->key);
    if (key->kind == WICK__KEY_SCALING) return take_scaling(text, &config->scaling);
    if (is_text || *end || !isfinite(number))
        return wick__fail(WICK_FORMAT, "key '%s' is not a number: '%.40s'", metadata->key, text);
    return wick__lm_take(config, key, metadata->key, number);
}

/* Every key of the family is known, or the model would be computed wrongly. */
static enum wick_status take_keys(struct wick__lm_config *config, struct wick_archive *archive) {
    size_t prefix = strlen(config->family->name), n = sizeof keys / sizeof *keys;
    for (int64_t i = 0; i < wick_archive_metadata_count(archive); i++) {
        struct wick_metadata metadata;
        char text[128];
        size_t row = 0;
        WICK__TRY(wick_archive_metadata(archive, i, &metadata));
        if (strncmp(metadata.key, config->family->name, prefix) != 0 || metadata.key[prefix] != '.') continue;
        while (row < n && strcmp(metadata.key + prefix + 1, keys[row].name) != 0) row++;
        if (row == n) return wick__fail(WICK_UNSUPPORTED, "key '%.200s' is not known", metadata.key);
        wick_archive_metadata_text(archive, i, -1, text, sizeof text);
        WICK__TRY(take_key(config, &metadata, text, &keys[row]));
    }
    return WICK_OK;
}

const struct wick__family *wick__family_find(const char *name) {
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        if (strcmp(name, families[f].name) == 0) return &families[f];
    return NULL;
}

static enum wick_status find_family(struct wick__lm_config *config, struct wick_archive *archive) {
    char text[64] = "";
    int64_t i = wick_archive_metadata_find(archive, "general.architecture");
    if (i < 0) return wick__fail(WICK_FORMAT, "key 'general.architecture' is missing");
    wick_archive_metadata_text(archive, i, -1, text, sizeof text);
    config->family = wick__family_find(text);
    if (config->family) return WICK_OK;
    return wick__fail(WICK_UNSUPPORTED, "general.architecture '%s' is not known", text);
}

static enum wick_status check_needed(const struct wick__lm_config *config) {
    const struct {
        const char *name;
        int64_t value;
    } needed[] = {{"block_count", config->n_layers},
                  {"context_length", config->context},
                  {"embedding_length", config->hidden},
                  {"attention.head_count", config->heads},
                  {"feed_forward_length", wick__max(config->wide, config->expert_wide)}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i].value == 0)
            return wick__fail(WICK_FORMAT, "key '%s.%s' is missing", config->family->name, needed[i].name);
    if (config->epsilon <= 0) return wick__fail(WICK_FORMAT, "attention.layer_norm_rms_epsilon is missing");
    return WICK_OK;
}

static enum wick_status configure_gguf(struct wick__lm_config *config, struct wick_archive *archive) {
    WICK__TRY(find_family(config, archive));
    const struct wick__family *family = config->family;
    config->interleaved = family->interleaved;
    config->window = family->window;
    config->period = family->period;
    config->local_base = family->local_base;
    config->attention_cap = family->attention_cap;
    config->final_cap = family->final_cap;
    WICK__TRY(take_keys(config, archive));
    /* A factor without a type is an old file's way to say linear. */
    if (config->scaling == WICK__SCALING_NONE && config->rope_factor != 1) config->scaling = WICK__SCALING_LINEAR;
    return check_needed(config);
}

/* What follows from the rest. */
static enum wick_status complete(struct wick__lm_config *config) {
    if (config->kv_heads == 0) config->kv_heads = config->heads;
    if (config->head == 0) config->head = config->hidden / config->heads;
    if (config->value_head == 0) config->value_head = config->head;
    if (config->rope_dims == 0) config->rope_dims = config->head;
    if (config->expert_wide == 0) config->expert_wide = config->wide;
    if (config->head == 0 || config->value_head != config->head || config->heads % config->kv_heads != 0 ||
        config->rope_dims > config->head || config->rope_dims % 2 != 0)
        return wick__fail(WICK_UNSUPPORTED, "%lld heads for %lld, keys of %lld, values of %lld, rope over %lld",
                          (long long)config->heads, (long long)config->kv_heads, (long long)config->head,
                          (long long)config->value_head, (long long)config->rope_dims);
    if (config->experts > 0 && (config->experts_used < 1 || config->experts_used > config->experts))
        return wick__fail(WICK_FORMAT, "%lld of %lld experts are used", (long long)config->experts_used,
                          (long long)config->experts);
    if (config->rope_base <= 0 || config->rope_factor <= 0 || config->local_base < 0)
        return wick__fail(WICK_FORMAT, "rope's base and factor must be above 0");
    if (config->original_context == 0) config->original_context = config->context;
    if (config->scale == 0) {
        bool by_hidden = config->n_layers == config->family->wide_layers;
        config->scale = 1 / sqrt((double)(by_hidden ? config->hidden / config->heads : config->head));
    }
    return WICK_OK;
}

enum wick_status wick__lm_configure(struct wick__lm_config *config, const struct wick__lm_source *source) {
    *config = (struct wick__lm_config){.rope_base = 10000, .rope_factor = 1, .beta_fast = 32, .beta_slow = 1};
    if (source->config)
        WICK__TRY(wick__hub_configure(config, source->config));
    else
        WICK__TRY(configure_gguf(config, source->archive));
    return complete(config);
}

bool wick__lm_windowed(const struct wick__lm_config *config, int64_t layer) {
    return config->window > 0 && (config->period == 0 || (layer + 1) % config->period != 0);
}
