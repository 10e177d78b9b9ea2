/* ResNet: finding the weights by either naming, and folding batch norms into convolutions. */
#include "model/resnet.h"

#include "core/memory.h"
#include "text/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 256, PREFIX = 128, MAX_CONFIG = 1 << 22 };

/* What the parts outside the blocks are called. */
struct naming {
    const char *marker; /* a tensor every model of this naming has */
    const char *stem_conv, *stem_norm;
    const char *head_weight, *head_bias;
};

static const struct naming torchvision = {.marker = "layer1.0.conv1.weight",
                                          .stem_conv = "conv1.weight",
                                          .stem_norm = "bn1",
                                          .head_weight = "fc.weight",
                                          .head_bias = "fc.bias"};

static const struct naming transformers = {.marker = "encoder.stages.0.layers.0.layer.0.convolution.weight",
                                           .stem_conv = "embedder.embedder.convolution.weight",
                                           .stem_norm = "embedder.embedder.normalization",
                                           .head_weight = "classifier.1.weight",
                                           .head_bias = "classifier.1.bias"};

struct loader {
    struct wick_archive *archive;
    struct wick_device *device;
    const struct naming *naming;
    char prefix[PREFIX];
    bool stride_first; /* bottlenecks stride in their first convolution */
};

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Finds the naming and the prefix by a tensor that each naming has. */
static enum wick_status find_naming(struct loader *loader) {
    static const struct naming *const namings[] = {&torchvision, &transformers};
    for (int64_t i = 0; i < wick_archive_count(loader->archive); i++) {
        const char *name = wick_archive_name(loader->archive, i);
        for (int k = 0; k < 2; k++) {
            size_t length = strlen(name) - (ends_with(name, namings[k]->marker) ? strlen(namings[k]->marker) : 0);
            if (length == strlen(name) || length >= PREFIX) continue;
            memcpy(loader->prefix, name, length);
            loader->prefix[length] = '\0';
            loader->naming = namings[k];
            return WICK_OK;
        }
    }
    return wick__fail(WICK_FORMAT, "resnet_open: the file has neither %s (torchvision) nor %s (transformers)",
                      torchvision.marker, transformers.marker);
}

static bool has(const struct loader *loader, const char *name) {
    char full[NAME + PREFIX];
    snprintf(full, sizeof full, "%s%s", loader->prefix, name);
    return wick_archive_find(loader->archive, full) >= 0;
}

/* Names of a convolution of a block and of its norm; false when there is no such. torchvision counts stages and
 * convolutions from 1. */
static bool block_names(const struct loader *loader, int stage, int block, int conv, char weight[NAME],
                        char norm[NAME]) {
    if (loader->naming == &torchvision) {
        snprintf(weight, NAME, "layer%d.%d.conv%d.weight", stage + 1, block, conv + 1);
        snprintf(norm, NAME, "layer%d.%d.bn%d", stage + 1, block, conv + 1);
    } else {
        snprintf(weight, NAME, "encoder.stages.%d.layers.%d.layer.%d.convolution.weight", stage, block, conv);
        snprintf(norm, NAME, "encoder.stages.%d.layers.%d.layer.%d.normalization", stage, block, conv);
    }
    return has(loader, weight);
}

static bool shortcut_names(const struct loader *loader, int stage, int block, char weight[NAME], char norm[NAME]) {
    if (loader->naming == &torchvision) {
        snprintf(weight, NAME, "layer%d.%d.downsample.0.weight", stage + 1, block);
        snprintf(norm, NAME, "layer%d.%d.downsample.1", stage + 1, block);
    } else {
        snprintf(weight, NAME, "encoder.stages.%d.layers.%d.shortcut.convolution.weight", stage, block);
        snprintf(norm, NAME, "encoder.stages.%d.layers.%d.shortcut.normalization", stage, block);
    }
    return has(loader, weight);
}

/* A tensor in f32 on the loader's device, of the wanted rank. The head of transformers' models stands outside the
 * prefix, so a name is tried with it and then without. */
static struct wick_tensor *load(const struct loader *loader, const char *name, int rank) {
    char full[NAME + PREFIX];
    snprintf(full, sizeof full, "%s%s", loader->prefix, name);
    bool bare = wick_archive_find(loader->archive, full) < 0 && wick_archive_find(loader->archive, name) >= 0;
    struct wick_tensor *x = wick_cast(wick_archive_load(loader->archive, bare ? name : full, loader->device), WICK_F32);
    if (x && wick_tensor_rank(x) != rank) {
        wick__fail(WICK_FORMAT, "resnet_open: %s has rank %d, not %d", full, wick_tensor_rank(x), rank);
        return NULL;
    }
    return x;
}

/* Reads one vector of a batch norm, which must have n elements. */
static bool read_vector(const struct loader *loader, const char *norm, const char *part, int64_t n, float *values) {
    char name[NAME];
    snprintf(name, sizeof name, "%.200s.%s", norm, part);
    struct wick_tensor *vector = load(loader, name, 1);
    if (!vector) return false;
    if (wick_tensor_count(vector) != n) {
        wick__fail(WICK_FORMAT, "resnet_open: %s has %lld elements, its convolution %lld channels", name,
                   (long long)wick_tensor_count(vector), (long long)n);
        return false;
    }
    return wick_read(vector, values, (size_t)n * sizeof *values) == WICK_OK;
}

/* Scales `weight` [C, each] and writes the bias. y = (conv(x) - mean) / sqrt(var + eps) * gamma + beta is a
 * convolution with weight * gamma / sqrt(var + eps) and bias beta - mean * gamma / sqrt(var + eps). */
static void fold(int64_t channels, int64_t each, const float *const norm[4], float *weight, float *bias) {
    const double epsilon = 1e-5; /* BatchNorm2d's, in both libraries */
    for (int64_t c = 0; c < channels; c++) {
        double factor = (double)norm[0][c] / sqrt((double)norm[3][c] + epsilon);
        for (int64_t i = 0; i < each; i++) weight[c * each + i] = (float)((double)weight[c * each + i] * factor);
        bias[c] = (float)((double)norm[1][c] - (double)norm[2][c] * factor);
    }
}

static bool fold_tensors(const struct loader *loader, const struct wick_tensor *weight, const char *norm,
                         struct wick__conv_norm *layer) {
    static const char *const parts[4] = {"weight", "bias", "running_mean", "running_var"};
    const int64_t *shape = wick_tensor_shape(weight);
    int64_t count = wick_tensor_count(weight), channels = shape[0];
    size_t nbytes = (size_t)(count + 5 * channels) * sizeof(float);
    float *values = wick__alloc(nbytes);
    if (!values) return false;
    const float *vectors[4];
    bool ok = wick_read(weight, values, (size_t)count * sizeof *values) == WICK_OK;
    for (int i = 0; ok && i < 4; i++) {
        float *vector = values + count + (i + 1) * channels;
        vectors[i] = vector;
        ok = read_vector(loader, norm, parts[i], channels, vector);
    }
    if (ok) {
        fold(channels, channels ? count / channels : 0, vectors, values, values + count);
        layer->weight =
            wick_retain(wick_from_data(loader->device, WICK_F32, 4, shape, values, (size_t)count * sizeof *values));
        layer->bias = wick_retain(
            wick_from_data(loader->device, WICK_F32, 1, shape, values + count, (size_t)channels * sizeof *values));
        layer->padding = shape[2] / 2;
    }
    wick__free(values, nbytes);
    return layer->weight && layer->bias;
}

static bool load_layer(const struct loader *loader, const char *weight, const char *norm, int64_t stride,
                       struct wick__conv_norm *layer) {
    wick_scope_begin();
    struct wick_tensor *plain = load(loader, weight, 4);
    bool ok = plain && fold_tensors(loader, plain, norm, layer);
    wick_scope_end(NULL);
    layer->stride = stride;
    return ok;
}

static bool load_block(const struct loader *loader, int stage, int index, struct wick__res_block *block) {
    char weight[NAME], norm[NAME];
    int64_t stride = stage > 0 && index == 0 ? 2 : 1;
    while (block->n < 3 && block_names(loader, stage, index, block->n, weight, norm)) block->n++;
    if (block->n < 2) {
        wick__fail(WICK_FORMAT, "resnet_open: block %d of stage %d has %d convolutions, not 2 or 3", index, stage,
                   block->n);
        return false;
    }
    int strided = block->n == 3 && !loader->stride_first ? 1 : 0;
    for (int i = 0; i < block->n; i++) {
        block_names(loader, stage, index, i, weight, norm);
        if (!load_layer(loader, weight, norm, i == strided ? stride : 1, &block->conv[i])) return false;
    }
    return !shortcut_names(loader, stage, index, weight, norm) ||
           load_layer(loader, weight, norm, stride, &block->shortcut);
}

static bool load_stage(const struct loader *loader, int stage, struct wick_resnet *resnet) {
    char weight[NAME], norm[NAME];
    int n = 0;
    while (n < RESNET_MAX_BLOCKS && block_names(loader, stage, n, 0, weight, norm)) n++;
    resnet->block[stage] = wick__calloc((size_t)n, sizeof *resnet->block[stage]);
    if (!resnet->block[stage]) return false;
    resnet->blocks[stage] = n;
    for (int i = 0; i < n; i++)
        if (!load_block(loader, stage, i, &resnet->block[stage][i])) return false;
    return true;
}

static bool load_head(const struct loader *loader, struct wick_resnet *resnet) {
    wick_scope_begin();
    resnet->head_weight = wick_retain(load(loader, loader->naming->head_weight, 2));
    resnet->head_bias = wick_retain(load(loader, loader->naming->head_bias, 1));
    wick_scope_end(NULL);
    return resnet->head_weight && resnet->head_bias;
}

/* Whether a config.json in the folder, when there is one, asks for the stride in the first convolution of a
 * bottleneck. */
static enum wick_status read_config(struct loader *loader, const char *folder) {
    json_t *config;
    WICK__TRY(wick__json_read(folder, "config.json", MAX_CONFIG, true, &config));
    enum wick_status status = wick__json_bool(config, "downsample_in_bottleneck", &loader->stride_first);
    json_decref(config);
    return status;
}

struct wick_resnet *wick_resnet_open(const char *path, struct wick_device *device) {
    return wick_resnet_open_with(path, device, NULL);
}

struct wick_resnet *wick_resnet_open_with(const char *path, struct wick_device *device,
                                          const struct wick_archive_options *options) {
    struct loader loader = {.device = device};
    struct wick_device_info info;
    if (!path) {
        wick__fail(WICK_INVALID, "resnet_open: path is NULL");
        return NULL;
    }
    if (wick_device_describe(device, &info) != WICK_OK) return NULL;
    if (read_config(&loader, path) != WICK_OK) return NULL;
    loader.archive = wick_archive_open(path, options);
    if (!loader.archive) return NULL;
    struct wick_resnet *resnet = wick__calloc(1, sizeof *resnet);
    bool ok = resnet && find_naming(&loader) == WICK_OK &&
              load_layer(&loader, loader.naming->stem_conv, loader.naming->stem_norm, 2, &resnet->stem);
    for (int stage = 0; ok && stage < RESNET_STAGES; stage++) ok = load_stage(&loader, stage, resnet);
    ok = ok && load_head(&loader, resnet);
    wick_archive_close(loader.archive);
    if (ok) return resnet;
    wick_resnet_close(resnet);
    return NULL;
}

static void release_layer(struct wick__conv_norm *layer) {
    wick_release(layer->weight);
    wick_release(layer->bias);
}

void wick_resnet_close(struct wick_resnet *resnet) {
    if (!resnet) return;
    release_layer(&resnet->stem);
    for (int stage = 0; stage < RESNET_STAGES; stage++) {
        for (int i = 0; i < resnet->blocks[stage]; i++) {
            struct wick__res_block *block = &resnet->block[stage][i];
            for (int k = 0; k < 3; k++) release_layer(&block->conv[k]);
            release_layer(&block->shortcut);
        }
        wick__free(resnet->block[stage], (size_t)resnet->blocks[stage] * sizeof *resnet->block[stage]);
    }
    wick_release(resnet->head_weight);
    wick_release(resnet->head_bias);
    wick__free(resnet, sizeof *resnet);
}
