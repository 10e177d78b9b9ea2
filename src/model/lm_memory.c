/* What a language model and its sequences hold of a device's memory, from the head of a file alone. */
#include "model/lm.h"

#include "core/checked.h"
#include "core/device.h"
#include "core/dtype.h"

#include <string.h>

/* Files can ask for products that no integer holds; this stands for all of them. */
static const int64_t ENDLESS = INT64_MAX / 4;

static int64_t times(int64_t a, int64_t b) {
    int64_t product;
    return wick__mul(a, b, &product) ? wick__min(product, ENDLESS) : ENDLESS;
}

static int64_t plus(int64_t a, int64_t b) { return wick__min(a + b, ENDLESS); }

enum wick_status wick__lm_cache_dtype(const char *op, const struct wick__lm_config *config, enum wick_dtype asked,
                                      enum wick_dtype *dtype) {
    *dtype = asked == 0 ? WICK_F32 : asked;
    if (*dtype != WICK_F32 && *dtype != WICK_F16 && *dtype != WICK_BF16 && *dtype != WICK_DTYPE_q8_0)
        return wick__fail(WICK_DTYPE, "%s: the cache is f32, f16, bf16 or q8_0, not %s", op, wick_dtype_name(*dtype));
    if (config->head % wick_dtype_block(*dtype) != 0)
        return wick__fail(WICK_SHAPE, "%s: the cache can't be %s: heads of %lld are no whole number of blocks of %d",
                          op, wick_dtype_name(*dtype), (long long)config->head, wick_dtype_block(*dtype));
    return WICK_OK;
}

/* Keys and values of a token in all layers. */
static int64_t token_bytes(const struct wick__lm_config *config, enum wick_dtype dtype) {
    int64_t head = config->head / wick_dtype_block(dtype) * wick_dtype_block_bytes(dtype);
    return times(2 * config->n_layers * config->kv_heads, head);
}

/* What the widest layer makes of a batch of tokens, the logits, and the old keys and values of a layer beside the new
 * ones while its cache grows. Blocks of a pool may be larger by a quarter. */
static int64_t work_bytes(const struct wick__lm_config *config, const struct wick_lm_use *use, int64_t length,
                          int64_t cache) {
    int64_t tokens = wick__min(length, WICK__LM_BATCH);
    int64_t wide = times(4, config->experts ? times(config->experts_used, config->expert_wide) : config->wide);
    int64_t heads = times(6 * (config->heads + config->kv_heads), config->head);
    int64_t layer = times(tokens, plus(12 * config->hidden, plus(wide, heads)));
    int64_t rows = use->all ? (length > WICK__LM_BATCH ? times(2, length) : length) : 1;
    int64_t logits = times(plus(rows, config->final_cap > 0 ? 3 * tokens : 1), config->vocab);
    int64_t bytes = plus(times(sizeof(float), plus(layer, logits)), cache / config->n_layers);
    return plus(bytes, bytes / 4);
}

/* What graphs keep: for each a step of one token, as work_bytes says, twice for what pools can't share. */
static int64_t graph_bytes(const struct wick_device *device, const struct wick__lm_config *config,
                           const struct wick_lm_use *use) {
    if (device->heap->host_visible || config->experts) return 0;
    return times(2 * wick__max(use->sequences, 1), work_bytes(config, use, 1, 0));
}

/* What the threads of a CPU keep of their own: blocks of keys and values, and of products' operands. */
static enum wick_status find_thread_bytes(const struct wick_device *device, const struct wick__lm_config *config,
                                          int64_t *bytes) {
    enum { EACH = 128 * 1024, HEAD = 64 };
    struct wick_device_info info;
    WICK__TRY(wick_device_describe(device, &info));
    *bytes = times(info.threads, times(EACH, wick__max(1, config->head / HEAD)));
    return WICK_OK;
}

/* Bytes that the device has for tensors; INT64_MAX: not known. */
static enum wick_status find_available(const struct wick_device *device, int64_t *available) {
    struct wick_device_info info;
    struct wick_memory memory;
    WICK__TRY(wick_device_describe(device, &info));
    WICK__TRY(wick_memory_stats(device, &memory));
    uint64_t left = info.memory_free ? (uint64_t)info.memory_free + memory.cached : INT64_MAX;
    uint64_t within = memory.limit > memory.used ? memory.limit - memory.used : 0;
    if (within < left) left = within;
    *available = left < INT64_MAX ? (int64_t)left : INT64_MAX;
    return WICK_OK;
}

static enum wick_status compare(const struct wick_device *device, struct wick_lm_memory *memory) {
    int64_t available;
    WICK__TRY(find_available(device, &available));
    memory->needed = plus(memory->weights, plus(memory->cache, memory->work));
    memory->available = available == INT64_MAX ? 0 : available;
    memory->missing = wick__max(memory->needed - available, 0);
    return WICK_OK;
}

enum wick_status wick__lm_head(const struct wick__lm_source *source, struct wick__lm_config *config,
                               struct wick__lm_bytes *bytes) {
    struct wick_archive *archive = source->archive;
    struct wick_archive_entry entry;
    WICK__TRY(wick__lm_configure(config, source));
    *bytes = (struct wick__lm_bytes){0};
    for (int64_t i = 0; i < wick_archive_count(archive); i++) {
        WICK__TRY(wick_archive_describe(archive, i, &entry));
        const int64_t nbytes = wick__min(entry.nbytes, ENDLESS);
        bytes->weights = plus(bytes->weights, nbytes);
        if (config->hub && strstr(entry.name, ".experts.")) bytes->stacked = plus(bytes->stacked, nbytes);
    }
    int64_t i = config->vocab == 0 ? wick_archive_find(archive, "token_embd.weight") : -1;
    if (i < 0) return WICK_OK;
    WICK__TRY(wick_archive_describe(archive, i, &entry));
    config->vocab = entry.shape[0];
    return WICK_OK;
}

/* Experts that were copied into one tensor leave their files' pages, but not a file that was read as a whole. */
static int64_t weight_bytes(const struct wick__lm_source *source, const struct wick_device *device,
                            const struct wick__lm_bytes *bytes) {
    return plus(bytes->weights, source->copied && device->heap->host_visible ? bytes->stacked : 0);
}

enum wick_status wick__lm_needs(const struct wick__lm_source *source, const struct wick_device *device,
                                const struct wick_lm_use *use, struct wick_lm_memory *memory) {
    enum { SEQUENCES = 1 << 20, TOKENS = 1 << 30 };
    static const struct wick_lm_use plain = {.context = 0};
    struct wick__lm_config config;
    enum wick_dtype dtype;
    struct wick__lm_bytes bytes;
    int64_t threads;
    if (!use) use = &plain;
    WICK__TRY(wick__reserved("lm_use", use->reserved));
    WICK__TRY(wick__lm_head(source, &config, &bytes));
    WICK__TRY(wick__lm_cache_dtype("lm_use", &config, use->cache, &dtype));
    if (use->sequences < 0 || use->sequences > SEQUENCES || use->context < 0 || use->context > TOKENS ||
        use->tokens < 0)
        return wick__fail(WICK_RANGE, "lm_use: %lld sequences of %lld tokens in a context of %lld",
                          (long long)use->sequences, (long long)use->tokens, (long long)use->context);
    int64_t tokens = use->context ? use->context : config.context;
    if (use->tokens) tokens = wick__min(tokens, use->tokens);
    WICK__TRY(find_thread_bytes(device, &config, &threads));
    int64_t one = times(token_bytes(&config, dtype), tokens);
    struct wick_lm_memory found = {
        .weights = weight_bytes(source, device, &bytes),
        .cache = times(wick__max(use->sequences, 1), one),
        .work = plus(plus(work_bytes(&config, use, tokens, one), threads), graph_bytes(device, &config, use))};
    WICK__TRY(compare(device, &found));
    *memory = found;
    return WICK_OK;
}

enum wick_status wick__lm_check_memory(const struct wick__lm_source *source, const struct wick_device *device,
                                       const struct wick_lm_use *use) {
    const double mb = 1e6;
    struct wick__lm_config config;
    struct wick_lm_memory memory = {0};
    struct wick__lm_bytes bytes;
    const bool host = device->heap->host_visible; /* weights stay in the file's pages, but for those that are stacked */
    if (!use && host && !source->config) return WICK_OK;
    if (use) {
        WICK__TRY(wick__lm_needs(source, device, use, &memory));
    } else {
        WICK__TRY(wick__lm_head(source, &config, &bytes));
        memory.weights = host ? bytes.stacked : bytes.weights;
        WICK__TRY(compare(device, &memory));
    }
    if (memory.missing == 0) return WICK_OK;
    return wick__fail(
        WICK_MEMORY,
        "%s: %.1f MB of memory are needed on %s: %.1f MB for weights, %.1f MB for keys and values, %.1f MB "
        "to compute with; %.1f MB are available, %.1f MB too few",
        source->path, (double)memory.needed / mb, device->name, (double)memory.weights / mb, (double)memory.cache / mb,
        (double)memory.work / mb, (double)memory.available / mb, (double)memory.missing / mb);
}
