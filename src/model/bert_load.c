/* BERT's configuration and weights, under the names that Hugging Face's transformers gives them. */
#include "model/bert.h"

#include "core/memory.h"
#include "text/json.h"

#include <stdio.h>
#include <string.h>

enum { CONFIG_MAX = 1 << 20 };

static enum wick_status load_activation(struct wick__bert *bert, const json_t *config) {
    static const struct {
        const char *name;
        enum wick_activation activation;
    } known[] = {{"gelu", WICK_ACTIVATION_GELU},
                 {"gelu_new", WICK_ACTIVATION_GELU_TANH},
                 {"gelu_pytorch_tanh", WICK_ACTIVATION_GELU_TANH},
                 {"relu", WICK_ACTIVATION_RELU},
                 {"silu", WICK_ACTIVATION_SILU},
                 {"swish", WICK_ACTIVATION_SILU},
                 {"tanh", WICK_ACTIVATION_TANH}};
    const char *name = "gelu";
    WICK__TRY(wick__json_string(config, "hidden_act", &name));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name) != 0) continue;
        bert->activation = known[i].activation;
        return WICK_OK;
    }
    return wick__fail(WICK_UNSUPPORTED, "config.json: hidden_act '%.40s' is not known", name);
}

static enum wick_status load_config(struct wick__bert *bert, const json_t *config) {
    const char *type = "", *positions = "absolute";
    const json_t *epsilon = json_object_get(config, "layer_norm_eps");
    struct {
        const char *name;
        int64_t *value;
        int64_t most;
    } sizes[] = {{"hidden_size", &bert->hidden, 1 << 20},
                 {"intermediate_size", &bert->intermediate, 1 << 22},
                 {"num_hidden_layers", &bert->n_layers, 1024},
                 {"num_attention_heads", &bert->heads, 1 << 16},
                 {"max_position_embeddings", &bert->positions, 1 << 24},
                 {"vocab_size", &bert->vocab, 1 << 24},
                 {"type_vocab_size", &bert->types, 1 << 16}};
    WICK__TRY(wick__json_string(config, "model_type", &type));
    if (strcmp(type, "bert") != 0)
        return wick__fail(WICK_UNSUPPORTED, "config.json: model_type '%.40s': only bert is known", type);
    WICK__TRY(wick__json_string(config, "position_embedding_type", &positions));
    if (strcmp(positions, "absolute") != 0)
        return wick__fail(WICK_UNSUPPORTED, "config.json: position_embedding_type '%.40s'", positions);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        WICK__TRY(wick__json_int(config, sizes[i].name, 1, sizes[i].most, sizes[i].value));
        if (*sizes[i].value == 0) return wick__fail(WICK_FORMAT, "config.json: '%s' is missing", sizes[i].name);
    }
    if (bert->hidden % bert->heads != 0)
        return wick__fail(WICK_FORMAT, "config.json: hidden_size %lld is not a multiple of num_attention_heads %lld",
                          (long long)bert->hidden, (long long)bert->heads);
    if (epsilon && !json_is_number(epsilon))
        return wick__fail(WICK_FORMAT, "config.json: 'layer_norm_eps' is not a number");
    bert->epsilon = epsilon ? json_number_value(epsilon) : 1e-12;
    if (!(bert->epsilon >= 0 && bert->epsilon < 1))
        return wick__fail(WICK_FORMAT, "config.json: layer_norm_eps %g is not in 0..1", bert->epsilon);
    return load_activation(bert, config);
}

/* ---- weights ---- */

struct loader {
    struct wick_archive *archive;
    struct wick_device *device;
    const char *prefix; /* "" or "bert." */
    enum wick_dtype dtype;
};

/* The number of a tensor, also under the name that TensorFlow's checkpoints left: gamma and beta. */
static int64_t find(const struct loader *loader, const char *name) {
    char full[256];
    snprintf(full, sizeof full, "%s%s", loader->prefix, name);
    int64_t i = wick_archive_find(loader->archive, full);
    char *weight = strstr(full, "LayerNorm.weight"), *bias = strstr(full, "LayerNorm.bias");
    if (i >= 0 || (!weight && !bias)) return i;
    if (weight)
        memcpy(weight, "LayerNorm.gamma", sizeof "LayerNorm.gamma");
    else
        memcpy(bias, "LayerNorm.beta", sizeof "LayerNorm.beta");
    return wick_archive_find(loader->archive, full);
}

/* Loads [rows, columns], or [rows] when columns is 0, as loader->dtype. The tensor gets a reference that no scope owns.
 */
static enum wick_status load_tensor(const struct loader *loader, const char *name, int64_t rows, int64_t columns,
                                    struct wick_tensor **result) {
    int64_t i = find(loader, name);
    struct wick_archive_entry entry;
    if (i < 0) return wick__fail(WICK_FORMAT, "the weights hold no tensor '%s%s'", loader->prefix, name);
    WICK__TRY(wick_archive_describe(loader->archive, i, &entry));
    if (entry.rank != (columns ? 2 : 1) || entry.shape[0] != rows || (columns && entry.shape[1] != columns))
        return wick__fail(WICK_FORMAT, "tensor '%s' is not of the shape [%lld%s%.0lld] that config.json makes it",
                          entry.name, (long long)rows, columns ? "," : "", (long long)columns);
    if (!entry.loadable || !wick_dtype_is_float(entry.dtype))
        return wick__fail(WICK_UNSUPPORTED, "tensor '%s' is of type %s; floats are needed", entry.name, entry.type);
    struct wick_tensor *x = wick_archive_load_at(loader->archive, i, loader->device);
    if (x && wick_tensor_dtype(x) != loader->dtype) x = wick_cast(x, loader->dtype);
    if (!x) return wick__latest();
    *result = wick_retain(x);
    return WICK_OK;
}

static enum wick_status load_layer(const struct loader *loader, const struct wick__bert *bert, int64_t number) {
    const int64_t h = bert->hidden, i = bert->intermediate;
    const struct {
        const char *name;
        int64_t rows, columns;
    } parts[WICK__BERT_PARTS] = {
        [WICK__BERT_QUERY] = {"attention.self.query", h, h},
        [WICK__BERT_KEY] = {"attention.self.key", h, h},
        [WICK__BERT_VALUE] = {"attention.self.value", h, h},
        [WICK__BERT_ATTENTION_OUT] = {"attention.output.dense", h, h},
        [WICK__BERT_ATTENTION_NORM] = {"attention.output.LayerNorm", h, 0},
        [WICK__BERT_UP] = {"intermediate.dense", i, h},
        [WICK__BERT_DOWN] = {"output.dense", h, i},
        [WICK__BERT_NORM] = {"output.LayerNorm", h, 0},
    };
    struct wick__bert_layer *layer = &bert->layers[number];
    for (int part = 0; part < WICK__BERT_PARTS; part++) {
        char name[128];
        snprintf(name, sizeof name, "encoder.layer.%lld.%s.weight", (long long)number, parts[part].name);
        WICK__TRY(load_tensor(loader, name, parts[part].rows, parts[part].columns, &layer->weight[part]));
        snprintf(name, sizeof name, "encoder.layer.%lld.%s.bias", (long long)number, parts[part].name);
        WICK__TRY(load_tensor(loader, name, parts[part].rows, 0, &layer->bias[part]));
    }
    return WICK_OK;
}

static enum wick_status load_weights(struct wick__bert *bert, const struct loader *loader) {
    struct wick_tensor *positions = NULL, *types = NULL;
    const int64_t h = bert->hidden;
    WICK__TRY(load_tensor(loader, "embeddings.word_embeddings.weight", bert->vocab, h, &bert->words));
    WICK__TRY(load_tensor(loader, "embeddings.LayerNorm.weight", h, 0, &bert->norm_weight));
    WICK__TRY(load_tensor(loader, "embeddings.LayerNorm.bias", h, 0, &bert->norm_bias));
    const struct loader layers = {loader->archive, loader->device, loader->prefix, bert->dtype};
    for (int64_t i = 0; i < bert->n_layers; i++) WICK__TRY(load_layer(&layers, bert, i));
    enum wick_status status =
        load_tensor(loader, "embeddings.position_embeddings.weight", bert->positions, h, &positions);
    if (status == WICK_OK)
        status = load_tensor(loader, "embeddings.token_type_embeddings.weight", bert->types, h, &types);
    if (status == WICK_OK) {
        struct wick_tensor *places = wick_add(positions, wick_select(types, 0, 0));
        if (places)
            bert->places = wick_retain(places);
        else
            status = wick__latest();
    }
    wick_release(positions);
    wick_release(types);
    return status;
}

enum wick_status wick__bert_load(struct wick__bert *bert, const char *folder,
                                 const struct wick_archive_options *options) {
    json_t *config;
    struct loader loader = {NULL, bert->device, "", WICK_F32};
    WICK__TRY(wick__json_read(folder, "config.json", CONFIG_MAX, false, &config));
    enum wick_status status = load_config(bert, config);
    json_decref(config);
    if (status != WICK_OK) return status;
    bert->layers = wick__calloc((size_t)bert->n_layers, sizeof *bert->layers);
    if (!bert->layers) return WICK_MEMORY;
    loader.archive = wick_archive_open(folder, options);
    if (!loader.archive) return wick__latest();
    if (wick_archive_find(loader.archive, "bert.embeddings.word_embeddings.weight") >= 0) loader.prefix = "bert.";
    wick_scope_begin();
    status = load_weights(bert, &loader);
    wick_scope_end(NULL);
    wick_archive_close(loader.archive);
    return status;
}

void wick__bert_free(struct wick__bert *bert) {
    for (int64_t i = 0; bert->layers && i < bert->n_layers; i++) {
        for (int part = 0; part < WICK__BERT_PARTS; part++) {
            wick_release(bert->layers[i].weight[part]);
            wick_release(bert->layers[i].bias[part]);
        }
    }
    wick__free(bert->layers, (size_t)bert->n_layers * sizeof *bert->layers);
    wick_release(bert->words);
    wick_release(bert->places);
    wick_release(bert->norm_weight);
    wick_release(bert->norm_bias);
}
