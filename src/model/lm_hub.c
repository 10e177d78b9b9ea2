/* The families of language models as the Hugging Face hub has them: config.json, read strictly. A key that is not known
 * is refused by name, unless it says nothing: null, false, or an empty list or object. */
#include "model/lm.h"

#include "core/memory.h"
#include "text/json.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const struct wick__hub hubs[] = {
    {.type = "llama", .family = "llama", .rope_base = 10000},
    {.type = "mistral", .family = "llama", .windows = true, .rope_base = 10000, .needed = {"sliding_window"}},
    {.type = "mixtral",
     .family = "llama",
     .router = "block_sparse_moe.gate",
     .experts = "block_sparse_moe.experts",
     .expert = {"w1", "w3", "w2"},
     .windows = true,
     .rope_base = 1e6,
     .needed = {"sliding_window", "num_local_experts", "num_experts_per_tok"}},
    {.type = "qwen2", .family = "qwen2", .windows = true, .asked = true, .rope_base = 10000},
    {.type = "qwen3", .family = "qwen3", .windows = true, .asked = true, .rope_base = 10000, .needed = {"head_dim"}},
    {.type = "qwen3_moe",
     .family = "qwen3moe",
     .router = "mlp.gate",
     .experts = "mlp.experts",
     .expert = {"gate_proj", "up_proj", "down_proj"},
     .windows = true,
     .asked = true,
     .rope_base = 10000,
     .needed = {"head_dim", "moe_intermediate_size", "num_experts_per_tok", "norm_topk_prob"}},
    {.type = "gemma",
     .family = "gemma",
     .tied = true,
     .norms_from_one = true,
     .rope_base = 10000,
     .needed = {"head_dim", "num_key_value_heads"}},
    {.type = "gemma2",
     .family = "gemma2",
     .tied = true,
     .norms_from_one = true,
     .windows = true,
     .rope_base = 10000,
     .needed = {"head_dim", "num_key_value_heads", "sliding_window", "query_pre_attn_scalar", "attn_logit_softcapping",
                "final_logit_softcapping"}},
    {.type = "gemma3_text",
     .family = "gemma3",
     .tied = true,
     .norms_from_one = true,
     .windows = true,
     .rope_base = 1e6,
     .needed = {"head_dim", "num_key_value_heads", "sliding_window", "query_pre_attn_scalar"}},
    {.type = "phi3", .family = "phi3", .windows = true, .rope_base = 10000, .needed = {"sliding_window"}},
};

#define AT(member) offsetof(struct wick__lm_config, member)

/* Biases follow from the tensors, and so are skipped; other functions here read some of the skipped keys. */
static const struct wick__key keys[] = {
    {"num_hidden_layers", WICK__KEY_SIZE, AT(n_layers), 1, 1024},
    {"max_position_embeddings", WICK__KEY_SIZE, AT(context), 1, 1 << 30},
    {"hidden_size", WICK__KEY_SIZE, AT(hidden), 1, 1 << 20},
    {"intermediate_size", WICK__KEY_SIZE, AT(wide), 1, 1 << 24},
    {"num_attention_heads", WICK__KEY_SIZE, AT(heads), 1, 1 << 16},
    {"num_key_value_heads", WICK__KEY_SIZE, AT(kv_heads), 1, 1 << 16},
    {"head_dim", WICK__KEY_SIZE, AT(head), 1, 1 << 16},
    {"vocab_size", WICK__KEY_SIZE, AT(vocab), 1, 1 << 22},
    {"rms_norm_eps", WICK__KEY_REAL, AT(epsilon), 0, 1},
    {"num_local_experts", WICK__KEY_SIZE, AT(experts), 1, 1 << 16},
    {"num_experts", WICK__KEY_SIZE, AT(experts), 1, 1 << 16},
    {"num_experts_per_tok", WICK__KEY_SIZE, AT(experts_used), 1, 1 << 16},
    {"moe_intermediate_size", WICK__KEY_SIZE, AT(expert_wide), 1, 1 << 24},
    {"attn_logit_softcapping", WICK__KEY_REAL, AT(attention_cap), 0, 1 << 20},
    {"final_logit_softcapping", WICK__KEY_REAL, AT(final_cap), 0, 1 << 20},
    {"rope_theta", WICK__KEY_REAL, AT(rope_base), 0, INT64_C(1) << 50},
    {"rope_local_base_freq", WICK__KEY_REAL, AT(local_base), 0, INT64_C(1) << 50},
    {"original_max_position_embeddings", WICK__KEY_SIZE, AT(original_context), 1, 1 << 30},
    {"sliding_window_pattern", WICK__KEY_SIZE, AT(period), 1, 1024},
    {"_sliding_window_pattern", WICK__KEY_SIZE, AT(period), 1, 1024},
    {"query_pre_attn_scalar", WICK__KEY_SKIP, 0, 0, 0},
    {"partial_rotary_factor", WICK__KEY_SKIP, 0, 0, 0},
    {"decoder_sparse_step", WICK__KEY_UNIT, 0, 0, 0},
    {"full_attn_mod", WICK__KEY_UNIT, 0, 0, 0},
    {"interpolate_factor", WICK__KEY_UNIT, 0, 0, 0},
    {"model_type", WICK__KEY_SKIP, 0, 0, 0},
    {"hidden_act", WICK__KEY_SKIP, 0, 0, 0},
    {"hidden_activation", WICK__KEY_SKIP, 0, 0, 0},
    {"rope_parameters", WICK__KEY_SKIP, 0, 0, 0},
    {"rope_scaling", WICK__KEY_SKIP, 0, 0, 0},
    {"layer_types", WICK__KEY_SKIP, 0, 0, 0},
    {"sliding_window", WICK__KEY_SKIP, 0, 0, 0},
    {"use_sliding_window", WICK__KEY_SKIP, 0, 0, 0},
    {"max_window_layers", WICK__KEY_SKIP, 0, 0, 0},
    {"norm_topk_prob", WICK__KEY_SKIP, 0, 0, 0},
    {"tie_word_embeddings", WICK__KEY_SKIP, 0, 0, 0},
    {"is_causal", WICK__KEY_SKIP, 0, 0, 0},
    {"attention_bias", WICK__KEY_SKIP, 0, 0, 0},
    {"mlp_bias", WICK__KEY_SKIP, 0, 0, 0},
    {"bos_token_id", WICK__KEY_SKIP, 0, 0, 0},
    {"eos_token_id", WICK__KEY_SKIP, 0, 0, 0},
    {"pad_token_id", WICK__KEY_SKIP, 0, 0, 0},
    {"unk_token_id", WICK__KEY_SKIP, 0, 0, 0},
};

/* Keys about training, files and other programs. */
static const char *const aside[] = {"architectures",
                                    "torch_dtype",
                                    "dtype",
                                    "transformers_version",
                                    "use_cache",
                                    "initializer_range",
                                    "attention_dropout",
                                    "embd_pdrop",
                                    "resid_pdrop",
                                    "hidden_dropout",
                                    "output_router_logits",
                                    "router_aux_loss_coef",
                                    "auto_map",
                                    "router_jitter_noise",
                                    "pretraining_tp",
                                    "cache_implementation",
                                    "is_llama_config",
                                    "_name_or_path",
                                    "transformers.js_config",
                                    "return_dict",
                                    "id2label",
                                    "label2id",
                                    "use_bfloat16",
                                    "chunk_size_feed_forward",
                                    "unsloth_version",
                                    "unsloth_fixed"};

/* Whether a value says nothing. */
static bool is_empty(const json_t *value) {
    return !value || json_is_null(value) || json_is_false(value) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

static bool is_among(const char *const *names, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static bool is_aside(const char *name) { return is_among(aside, sizeof aside / sizeof *aside, name); }

/* Keys that are true where they are not there; as false they would say something. */
static enum wick_status check_true(const char *name, const json_t *value) {
    static const char *const names[] = {"is_causal", "truncate"};
    if (!is_among(names, sizeof names / sizeof *names, name) || json_is_null(value) || json_is_true(value))
        return WICK_OK;
    return wick__fail(WICK_UNSUPPORTED, "config.json: key '%s' is not true", name);
}

/* Sets what a table of keys says of the members of an object. */
static enum wick_status take_keys(struct wick__lm_config *config, const json_t *object, const struct wick__key *rows,
                                  size_t n) {
    const char *name;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        size_t row = 0;
        while (row < n && strcmp(name, rows[row].name) != 0) row++;
        WICK__TRY(check_true(name, value));
        if (is_empty(value) || (row == n && is_aside(name)) || (row < n && rows[row].kind == WICK__KEY_SKIP)) continue;
        if (row == n) return wick__fail(WICK_UNSUPPORTED, "config.json: key '%.200s' is not known", name);
        if (!json_is_number(value)) return wick__fail(WICK_FORMAT, "config.json: key '%s' is not a number", name);
        WICK__TRY(wick__lm_take(config, &rows[row], name, json_number_value(value)));
    }
    return WICK_OK;
}

/* A real above 0 that may be left out; *number stays then. */
static enum wick_status take_real(const json_t *object, const char *name, double most, double *number) {
    const json_t *value = json_object_get(object, name);
    if (!value || json_is_null(value)) return WICK_OK;
    double found = json_number_value(value);
    if (!json_is_number(value) || !(found > 0 && found <= most))
        return wick__fail(WICK_FORMAT, "config.json: key '%s' is no number above 0, at most %g", name, most);
    *number = found;
    return WICK_OK;
}

/* ---- rope ---- */

static const struct wick__key rope_keys[] = {
    {"rope_theta", WICK__KEY_REAL, AT(rope_base), 0, INT64_C(1) << 50},
    {"factor", WICK__KEY_REAL, AT(rope_factor), 0, 1 << 20},
    {"original_max_position_embeddings", WICK__KEY_SIZE, AT(original_context), 1, 1 << 30},
    {"attention_factor", WICK__KEY_REAL, AT(rope_gain), 0, 1 << 20},
    {"beta_fast", WICK__KEY_REAL, AT(beta_fast), 0, 1 << 20},
    {"beta_slow", WICK__KEY_REAL, AT(beta_slow), 0, 1 << 20},
    {"low_freq_factor", WICK__KEY_REAL, AT(low_frequency), 0, 1 << 20},
    {"high_freq_factor", WICK__KEY_REAL, AT(high_frequency), 0, 1 << 20},
    {"partial_rotary_factor", WICK__KEY_SKIP, 0, 0, 0},
    {"short_factor", WICK__KEY_SKIP, 0, 0, 0},
    {"long_factor", WICK__KEY_SKIP, 0, 0, 0},
    {"rope_type", WICK__KEY_SKIP, 0, 0, 0},
    {"type", WICK__KEY_SKIP, 0, 0, 0},
    {"finetuned", WICK__KEY_SKIP, 0, 0, 0},
    {"truncate", WICK__KEY_SKIP, 0, 0, 0},
};

/* The object that describes the rope of layers without a window, and of those with one if they differ; NULL: none. */
static const json_t *rope_of(const json_t *json, const json_t **local) {
    const json_t *rope = json_object_get(json, "rope_parameters");
    if (is_empty(rope)) rope = json_object_get(json, "rope_scaling");
    const json_t *full = json_object_get(rope, "full_attention");
    *local = full ? json_object_get(rope, "sliding_attention") : NULL;
    return full ? full : rope;
}

static enum wick_status find_scaling(const json_t *rope, enum wick__scaling *scaling) {
    static const struct {
        const char *name;
        enum wick__scaling scaling;
    } known[] = {{"default", WICK__SCALING_NONE},  {"linear", WICK__SCALING_LINEAR}, {"yarn", WICK__SCALING_YARN},
                 {"longrope", WICK__SCALING_LONG}, {"su", WICK__SCALING_LONG},       {"llama3", WICK__SCALING_LLAMA3}};
    const char *type = "default";
    WICK__TRY(wick__json_string(rope, "type", &type));
    WICK__TRY(wick__json_string(rope, "rope_type", &type));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(type, known[i].name) != 0) continue;
        *scaling = known[i].scaling;
        return WICK_OK;
    }
    return wick__fail(WICK_UNSUPPORTED, "config.json: rope_type '%.40s' is not known", type);
}

enum wick_status wick__hub_factors(const json_t *json, bool stretched, int64_t n, float **factors) {
    const json_t *local, *rope = rope_of(json, &local), *value;
    const char *name = stretched ? "long_factor" : "short_factor";
    const json_t *list = json_object_get(rope, name);
    size_t i;
    *factors = NULL;
    if (is_empty(list)) return WICK_OK;
    if (!json_is_array(list) || json_array_size(list) != (size_t)n)
        return wick__fail(WICK_FORMAT, "config.json: '%s' is not a list of %lld numbers", name, (long long)n);
    float *values = wick__alloc((size_t)n * sizeof(float));
    if (!values) return WICK_MEMORY;
    json_array_foreach(list, i, value) {
        values[i] = (float)json_number_value(value);
        if (values[i] > 0 && isfinite(values[i])) continue;
        wick__free(values, (size_t)n * sizeof(float));
        return wick__fail(WICK_FORMAT, "config.json: '%s': item %zu is no number above 0", name, i);
    }
    *factors = values;
    return WICK_OK;
}

/* Both lists are there, and in order. */
static enum wick_status check_factors(const json_t *json, int64_t n) {
    for (int stretched = 0; stretched < 2; stretched++) {
        float *factors;
        WICK__TRY(wick__hub_factors(json, stretched, n, &factors));
        if (!factors)
            return wick__fail(WICK_FORMAT, "config.json: '%s' is missing", stretched ? "long_factor" : "short_factor");
        wick__free(factors, (size_t)n * sizeof(float));
    }
    return WICK_OK;
}

/* What transformers multiplies cosines and sines by, where the file does not say. */
static double gain_of(const struct wick__lm_config *config) {
    double factor = config->rope_factor, original = (double)config->original_context;
    if (config->scaling == WICK__SCALING_YARN) return factor > 1 ? 1 + 0.1 * log(factor) : 1;
    if (config->scaling != WICK__SCALING_LONG) return 1;
    return factor > 1 && original > 1 ? sqrt(1 + log(factor) / log(original)) : 1;
}

static enum wick_status check_scaling(struct wick__lm_config *config, const json_t *json, const json_t *rope) {
    bool llama3 = config->scaling == WICK__SCALING_LLAMA3, stretch = config->scaling == WICK__SCALING_LONG;
    if (config->original_context == 0 && !llama3) config->original_context = config->context;
    if (is_empty(json_object_get(rope, "factor"))) {
        if (!stretch) return wick__fail(WICK_FORMAT, "config.json: 'factor' of rope is missing");
        config->rope_factor = (double)config->context / (double)config->original_context;
    }
    if (llama3 &&
        !(config->original_context > 0 && config->low_frequency > 0 && config->high_frequency > config->low_frequency))
        return wick__fail(WICK_FORMAT,
                          "config.json: rope of type llama3 needs low_freq_factor below high_freq_factor, and "
                          "original_max_position_embeddings");
    if (config->scaling == WICK__SCALING_YARN && !(config->beta_slow > 0 && config->beta_fast > config->beta_slow))
        return wick__fail(WICK_FORMAT, "config.json: rope of type yarn needs beta_slow below beta_fast");
    if (config->rope_gain == 0) config->rope_gain = gain_of(config);
    return stretch ? check_factors(json, config->rope_dims / 2) : WICK_OK;
}

/* Layers with a window may turn by another base; nothing else may differ. */
static enum wick_status take_local_rope(struct wick__lm_config *config, const json_t *local) {
    struct wick__lm_config other = {.rope_base = config->hub->rope_base};
    enum wick__scaling scaling = WICK__SCALING_NONE;
    if (is_empty(local)) return WICK_OK;
    WICK__TRY(find_scaling(local, &scaling));
    WICK__TRY(take_keys(&other, local, rope_keys, sizeof rope_keys / sizeof *rope_keys));
    if (scaling != WICK__SCALING_NONE || !is_empty(json_object_get(local, "partial_rotary_factor")))
        return wick__fail(WICK_UNSUPPORTED, "config.json: rope of sliding_attention is not of type default");
    config->local_base = other.rope_base;
    return WICK_OK;
}

static enum wick_status take_rope(struct wick__lm_config *config, const json_t *json) {
    const json_t *local, *rope = rope_of(json, &local);
    int64_t head = config->head ? config->head : config->hidden / config->heads;
    double part = 1;
    if (!is_empty(rope) && !json_is_object(rope))
        return wick__fail(WICK_FORMAT, "config.json: the description of rope is not an object");
    if (!is_empty(json_object_get(json, "rope_parameters")) && !is_empty(json_object_get(json, "rope_scaling")))
        return wick__fail(WICK_UNSUPPORTED, "config.json has both rope_parameters and rope_scaling");
    WICK__TRY(take_real(json, "partial_rotary_factor", 1, &part));
    WICK__TRY(take_real(rope, "partial_rotary_factor", 1, &part));
    config->rope_dims = (int64_t)((double)head * part);
    if (is_empty(rope)) return WICK_OK;
    WICK__TRY(find_scaling(rope, &config->scaling));
    WICK__TRY(take_keys(config, rope, rope_keys, sizeof rope_keys / sizeof *rope_keys));
    WICK__TRY(take_local_rope(config, local));
    if (config->scaling != WICK__SCALING_NONE) return check_scaling(config, json, rope);
    config->rope_factor = 1;
    config->rope_gain = 0;
    return WICK_OK;
}

/* ---- windows ---- */

/* One layer in `period` sees all keys, or all layers do, or none. */
static enum wick_status take_layer_types(struct wick__lm_config *config, const json_t *types) {
    size_t n = json_array_size(types), windowed = 0, first = 0;
    if (!json_is_array(types) || n != (size_t)config->n_layers)
        return wick__fail(WICK_FORMAT, "config.json: 'layer_types' is not a list of %lld", (long long)config->n_layers);
    for (size_t i = n; i-- > 0;) {
        const char *type = json_string_value(json_array_get(types, i));
        bool full = type && strcmp(type, "full_attention") == 0;
        if (!full && (!type || strcmp(type, "sliding_attention") != 0))
            return wick__fail(WICK_UNSUPPORTED, "config.json: layer_types: '%.40s' is not known", type ? type : "");
        windowed += !full;
        if (full) first = i;
    }
    if (windowed == 0) config->window = 0;
    config->period = 0;
    if (windowed == 0 || windowed == n) return WICK_OK;
    config->period = (int64_t)first + 1;
    for (size_t i = 0; i < n; i++) {
        bool full = strcmp(json_string_value(json_array_get(types, i)), "full_attention") == 0;
        if (full != ((i + 1) % (first + 1) == 0))
            return wick__fail(WICK_UNSUPPORTED, "config.json: layer_types alternates irregularly at layer %zu", i);
    }
    return WICK_OK;
}

/* Without a list of their types, the layers from max_window_layers on have the window, of qwen2 and qwen3. */
static enum wick_status take_first_window(struct wick__lm_config *config, const json_t *json) {
    int64_t first = 0;
    WICK__TRY(wick__json_int(json, "max_window_layers", 0, INT64_MAX, &first));
    if (config->experts > 0 || first == 0) return WICK_OK;
    if (first < config->n_layers)
        return wick__fail(WICK_UNSUPPORTED, "config.json: max_window_layers %lld of %lld layers", (long long)first,
                          (long long)config->n_layers);
    config->window = 0;
    return WICK_OK;
}

static enum wick_status take_windows(struct wick__lm_config *config, const json_t *json) {
    const struct wick__hub *hub = config->hub;
    const json_t *types = json_object_get(json, "layer_types");
    bool used = !hub->asked;
    int64_t window = 0;
    WICK__TRY(wick__json_int(json, "sliding_window", 0, 1 << 30, &window));
    if (hub->asked) WICK__TRY(wick__json_bool(json, "use_sliding_window", &used));
    if (window > 0 && used && !hub->windows)
        return wick__fail(WICK_UNSUPPORTED, "config.json: a sliding_window is not known of %s", hub->type);
    config->window = used ? window : 0;
    if (config->period == 0) config->period = config->family->period;
    if (!is_empty(types)) {
        WICK__TRY(take_layer_types(config, types));
    } else if (used && hub->asked) {
        WICK__TRY(take_first_window(config, json));
    }
    return WICK_OK;
}

/* ---- the rest ---- */

static enum wick_status check_needed(const struct wick__lm_config *config, const json_t *json) {
    static const char *const always[] = {
        "num_hidden_layers",   "hidden_size", "intermediate_size", "max_position_embeddings",
        "num_attention_heads", "vocab_size",  "rms_norm_eps"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        const json_t *value = json_object_get(json, always[i]);
        if (!json_is_number(value)) return wick__fail(WICK_FORMAT, "config.json: key '%s' is missing", always[i]);
    }
    for (size_t i = 0; i < sizeof config->hub->needed / sizeof *config->hub->needed && config->hub->needed[i]; i++)
        if (!json_object_get(json, config->hub->needed[i]))
            return wick__fail(WICK_FORMAT, "config.json: key '%s' is missing", config->hub->needed[i]);
    return WICK_OK;
}

static enum wick_status check_activation(const struct wick__lm_config *config, const json_t *json) {
    static const struct {
        const char *name;
        enum wick_activation activation;
    } known[] = {{"silu", WICK_ACTIVATION_SILU},
                 {"swish", WICK_ACTIVATION_SILU},
                 {"gelu_pytorch_tanh", WICK_ACTIVATION_GELU_TANH},
                 {"gelu_new", WICK_ACTIVATION_GELU_TANH}};
    const char *name = NULL;
    WICK__TRY(wick__json_string(json, "hidden_activation", &name));
    if (!name) {
        WICK__TRY(wick__json_string(json, "hidden_act", &name));
        /* The first Gemma's files say gelu and mean the other one. */
        if (name && strcmp(config->hub->type, "gemma") == 0 && strcmp(name, "gelu") == 0) return WICK_OK;
    }
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0 && known[i].activation == config->family->gate) return WICK_OK;
    if (!name) return WICK_OK;
    return wick__fail(WICK_UNSUPPORTED, "config.json: activation '%.40s' is not known of %s", name, config->hub->type);
}

static enum wick_status take_flags(struct wick__lm_config *config, const json_t *json) {
    bool normed = true;
    double scalar = 0;
    config->tied = config->hub->tied;
    WICK__TRY(wick__json_bool(json, "tie_word_embeddings", &config->tied));
    WICK__TRY(wick__json_bool(json, "norm_topk_prob", &normed));
    if (!normed) return wick__fail(WICK_UNSUPPORTED, "config.json: norm_topk_prob is false");
    WICK__TRY(take_real(json, "query_pre_attn_scalar", 1 << 20, &scalar));
    if (scalar > 0) config->scale = 1 / sqrt(scalar);
    if (config->experts > 0 && !config->hub->router)
        return wick__fail(WICK_UNSUPPORTED, "config.json: experts are not known of %s", config->hub->type);
    if (config->experts == 0 && config->hub->router)
        return wick__fail(WICK_FORMAT, "config.json: the number of experts is missing");
    if (config->epsilon <= 0) return wick__fail(WICK_FORMAT, "config.json: rms_norm_eps is not above 0");
    return check_activation(config, json);
}

enum wick_status wick__hub_configure(struct wick__lm_config *config, const json_t *json) {
    const char *type = "";
    WICK__TRY(wick__json_string(json, "model_type", &type));
    for (size_t i = 0; i < sizeof hubs / sizeof *hubs; i++)
        if (strcmp(type, hubs[i].type) == 0) config->hub = &hubs[i];
    if (!config->hub) return wick__fail(WICK_UNSUPPORTED, "config.json: model_type '%.40s' is not known", type);
    config->family = wick__family_find(config->hub->family);
    config->rope_base = config->hub->rope_base;
    config->local_base = config->family->local_base;
    WICK__TRY(check_needed(config, json));
    WICK__TRY(take_keys(config, json, keys, sizeof keys / sizeof *keys));
    WICK__TRY(take_rope(config, json));
    WICK__TRY(take_windows(config, json));
    return take_flags(config, json);
}
