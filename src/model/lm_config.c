/* The families of language models, and their keys in GGUF files. */
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

enum { SIZE, REAL, SCALING, SKIP, UNIT };

#define AT(member) offsetof(struct wick__lm_config, member)

/* Keys behind "ARCH.". A size lies in low..high. A UNIT must be 1 if it is there; SKIP is of no use here. */
static const struct {
    const char *name;
    int kind;
    size_t at;
    int64_t low, high;
} keys[] = {
    {"block_count", SIZE, AT(n_layers), 1, 1024},
    {"context_length", SIZE, AT(context), 1, 1 << 30},
    {"embedding_length", SIZE, AT(hidden), 1, 1 << 20},
    {"feed_forward_length", SIZE, AT(wide), 1, 1 << 24},
    {"attention.head_count", SIZE, AT(heads), 1, 1 << 16},
    {"attention.head_count_kv", SIZE, AT(kv_heads), 1, 1 << 16},
    {"attention.key_length", SIZE, AT(head), 1, 1 << 16},
    {"attention.value_length", SIZE, AT(value_head), 1, 1 << 16},
    {"attention.sliding_window", SIZE, AT(window), 0, 1 << 30},
    {"attention.sliding_window_pattern", SIZE, AT(period), 1, 1024},
    {"attention.layer_norm_rms_epsilon", REAL, AT(epsilon), 0, 1},
    {"attention.scale", REAL, AT(scale), 0, 1 << 20},
    {"attn_logit_softcapping", REAL, AT(attention_cap), 0, 1 << 20},
    {"final_logit_softcapping", REAL, AT(final_cap), 0, 1 << 20},
    {"vocab_size", SIZE, AT(vocab), 1, 1 << 22},
    {"expert_count", SIZE, AT(experts), 0, 1 << 16},
    {"expert_used_count", SIZE, AT(experts_used), 0, 1 << 16},
    {"expert_feed_forward_length", SIZE, AT(expert_wide), 1, 1 << 24},
    {"rope.dimension_count", SIZE, AT(rope_dims), 2, 1 << 16},
    {"rope.freq_base", REAL, AT(rope_base), 0, INT64_C(1) << 50},
    {"rope.freq_base_swa", REAL, AT(local_base), 0, INT64_C(1) << 50},
    {"rope.scaling.type", SCALING, AT(scaling), 0, 0},
    {"rope.scaling.factor", REAL, AT(rope_factor), 0, 1 << 20},
    {"rope.scale_linear", REAL, AT(rope_factor), 0, 1 << 20},
    {"rope.scaling.original_context_length", SIZE, AT(original_context), 1, 1 << 30},
    {"rope.scaling.attn_factor", REAL, AT(attention_factor), 0, 1 << 20},
    {"rope.scaling.yarn_beta_fast", REAL, AT(beta_fast), 0, 1 << 20},
    {"rope.scaling.yarn_beta_slow", REAL, AT(beta_slow), 0, 1 << 20},
    {"rope.scaling.yarn_ext_factor", UNIT, 0, 0, 0},
    {"rope.scaling.yarn_attn_factor", UNIT, 0, 0, 0},
    {"rope.scaling.finetuned", SKIP, 0, 0, 0},
    {"tensor_data_layout", SKIP, 0, 0, 0},
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

/* Sets the member that a key names. */
static enum wick_status take_key(struct wick__lm_config *config, const struct wick_metadata *metadata, const char *text,
                                 size_t row) {
    char *member = (char *)config + keys[row].at, *end;
    double number = strtod(text, &end);
    bool is_text = metadata->type == WICK_METADATA_STRING || metadata->type == WICK_METADATA_BOOL;
    if (keys[row].kind == SKIP) return WICK_OK;
    if (metadata->type == WICK_METADATA_ARRAY)
        return wick__fail(WICK_UNSUPPORTED, "key '%s' differs from layer to layer", metadata->key);
    if (keys[row].kind == SCALING) return take_scaling(text, (enum wick__scaling *)(void *)member);
    if (is_text || *end || !isfinite(number))
        return wick__fail(WICK_FORMAT, "key '%s' is not a number: '%.40s'", metadata->key, text);
    if (keys[row].kind == UNIT) {
        if (number == 1) return WICK_OK;
        return wick__fail(WICK_UNSUPPORTED, "key '%s' is %g; only 1 is known", metadata->key, number);
    }
    if (number < (double)keys[row].low || number > (double)keys[row].high)
        return wick__fail(WICK_FORMAT, "key '%s' is %g, not in %lld .. %lld", metadata->key, number,
                          (long long)keys[row].low, (long long)keys[row].high);
    if (keys[row].kind == REAL)
        *(double *)(void *)member = number;
    else if (number != floor(number))
        return wick__fail(WICK_FORMAT, "key '%s' is %g, no whole number", metadata->key, number);
    else
        *(int64_t *)(void *)member = (int64_t)number;
    return WICK_OK;
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
        WICK__TRY(take_key(config, &metadata, text, row));
    }
    return WICK_OK;
}

static enum wick_status find_family(struct wick__lm_config *config, struct wick_archive *archive) {
    char text[64] = "";
    int64_t i = wick_archive_metadata_find(archive, "general.architecture");
    if (wick_archive_format(archive) != WICK_FORMAT_GGUF)
        return wick__fail(WICK_UNSUPPORTED, "the model is %s, not GGUF",
                          wick_format_name(wick_archive_format(archive)));
    if (i < 0) return wick__fail(WICK_FORMAT, "key 'general.architecture' is missing");
    wick_archive_metadata_text(archive, i, -1, text, sizeof text);
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        if (strcmp(text, families[f].name) == 0) config->family = &families[f];
    if (config->family) return WICK_OK;
    return wick__fail(WICK_UNSUPPORTED, "general.architecture '%s' is not known", text);
}

/* What must be there, and what follows from the rest. */
static enum wick_status complete(struct wick__lm_config *config) {
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
    if (config->epsilon <= 0) return wick__fail(WICK_FORMAT, "attention.layer_norm_rms_epsilon is missing");
    if (config->rope_base <= 0 || config->rope_factor <= 0 || config->local_base < 0)
        return wick__fail(WICK_FORMAT, "rope's base and factor must be above 0");
    if (config->original_context == 0) config->original_context = config->context;
    if (config->scale == 0) {
        bool by_hidden = config->n_layers == config->family->wide_layers;
        config->scale = 1 / sqrt((double)(by_hidden ? config->hidden / config->heads : config->head));
    }
    return WICK_OK;
}

enum wick_status wick__lm_configure(struct wick__lm_config *config, struct wick_archive *archive) {
    *config = (struct wick__lm_config){.rope_base = 10000, .rope_factor = 1, .beta_fast = 32, .beta_slow = 1};
    WICK__TRY(find_family(config, archive));
    const struct wick__family *family = config->family;
    config->window = family->window;
    config->period = family->period;
    config->local_base = family->local_base;
    config->attention_cap = family->attention_cap;
    config->final_cap = family->final_cap;
    WICK__TRY(take_keys(config, archive));
    /* A factor without a type is an old file's way to say linear. */
    if (config->scaling == WICK__SCALING_NONE && config->rope_factor != 1) config->scaling = WICK__SCALING_LINEAR;
    return complete(config);
}

bool wick__lm_windowed(const struct wick__lm_config *config, int64_t layer) {
    return config->window > 0 && (config->period == 0 || (layer + 1) % config->period != 0);
}
