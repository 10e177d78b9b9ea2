/* What follows the network, as sentence-transformers' files say: modules.json, a Pooling module's config.json, and
 * sentence_bert_config.json. */
#include "model/embedder.h"

#include "core/memory.h"
#include "text/json.h"

#include <stdio.h>
#include <string.h>

enum { CONFIG_MAX = 1 << 20 };

static enum wick_status add_mode(struct wick_embedder *embedder, const json_t *mode) {
    static const struct {
        const char *name;
        unsigned pooling;
    } known[] = {{"cls", WICK__POOL_CLS},
                 {"max", WICK__POOL_MAX},
                 {"mean", WICK__POOL_MEAN},
                 {"mean_sqrt_len_tokens", WICK__POOL_MEAN_SQRT}};
    const char *name = json_is_string(mode) ? json_string_value(mode) : "";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name) != 0) continue;
        if (embedder->pooling >= known[i].pooling)
            return wick__fail(WICK_UNSUPPORTED, "pooling modes in an order other than cls, max, mean, mean_sqrt");
        embedder->pooling |= known[i].pooling;
        return WICK_OK;
    }
    return wick__fail(WICK_UNSUPPORTED, "pooling mode '%.40s' is not known", name);
}

/* The modes are either named by "pooling_mode", or each has a flag of its own. */
static enum wick_status load_pooling(struct wick_embedder *embedder, const json_t *config) {
    static const struct {
        const char *key;
        unsigned pooling;
    } flags[] = {
        {"pooling_mode_cls_token", WICK__POOL_CLS},    {"pooling_mode_max_tokens", WICK__POOL_MAX},
        {"pooling_mode_mean_tokens", WICK__POOL_MEAN}, {"pooling_mode_mean_sqrt_len_tokens", WICK__POOL_MEAN_SQRT},
        {"pooling_mode_weightedmean_tokens", 0},       {"pooling_mode_lasttoken", 0}};
    const json_t *modes = json_object_get(config, "pooling_mode"), *mode;
    size_t i;
    embedder->pooling = 0;
    if (json_is_string(modes)) return add_mode(embedder, modes);
    json_array_foreach(modes, i, mode) WICK__TRY(add_mode(embedder, mode));
    for (i = 0; !modes && i < sizeof flags / sizeof *flags; i++) {
        bool on = false;
        WICK__TRY(wick__json_bool(config, flags[i].key, &on));
        if (on && !flags[i].pooling) return wick__fail(WICK_UNSUPPORTED, "'%s' is not known", flags[i].key);
        if (on) embedder->pooling |= flags[i].pooling;
    }
    if (embedder->pooling == 0) embedder->pooling = WICK__POOL_MEAN;
    return WICK_OK;
}

/* A module's folder is a plain name inside the model's folder. */
static bool plain_name(const char *name) { return *name && *name != '.' && !strchr(name, '/'); }

static enum wick_status load_module(struct wick_embedder *embedder, const char *folder, size_t number,
                                    const json_t *module) {
    const char *type = "", *path = "";
    WICK__TRY(wick__json_string(module, "type", &type));
    WICK__TRY(wick__json_string(module, "path", &path));
    const char *last = strrchr(type, '.');
    last = last ? last + 1 : type;
    if (number == 0) {
        if (strcmp(last, "Transformer") == 0 && !*path) return WICK_OK;
        return wick__fail(WICK_UNSUPPORTED, "modules.json: module 0 is '%.80s' in '%.80s', no Transformer in ''", type,
                          path);
    }
    if (strcmp(last, "Pooling") == 0 && number == 1) {
        char place[4096];
        json_t *config;
        if (!plain_name(path)) return wick__fail(WICK_FORMAT, "modules.json: '%.80s' is not a folder's name", path);
        if (snprintf(place, sizeof place, "%s/%s", folder, path) >= (int)sizeof place)
            return wick__fail(WICK_IO, "%.80s...: the path is too long", folder);
        WICK__TRY(wick__json_read(place, "config.json", CONFIG_MAX, false, &config));
        enum wick_status status = load_pooling(embedder, config);
        json_decref(config);
        return status;
    }
    if (strcmp(last, "Normalize") == 0 && number >= 1) {
        embedder->normalize = true;
        return WICK_OK;
    }
    return wick__fail(WICK_UNSUPPORTED, "modules.json: module %zu is '%.80s', which is not known there", number, type);
}

/* modules.json is a list, which wick__json_read does not take: it is read as a member of an object. */
static enum wick_status load_modules(struct wick_embedder *embedder, const char *folder) {
    struct wick__file_text text;
    size_t i;
    json_error_t error;
    const json_t *module;
    embedder->pooling = WICK__POOL_MEAN;
    WICK__TRY(wick__file_read(folder, "modules.json", CONFIG_MAX, true, &text));
    if (!text.data) return WICK_OK;
    json_t *list = json_loadb(text.data, text.nbytes, JSON_REJECT_DUPLICATES, &error);
    wick__free(text.data, text.capacity);
    if (!list)
        return wick__fail(WICK_FORMAT, "%s/modules.json: line %d, column %d: %s", folder, error.line, error.column,
                          error.text);
    enum wick_status status = WICK_OK;
    if (!json_is_array(list) || json_array_size(list) == 0)
        status = wick__fail(WICK_FORMAT, "%s/modules.json: is not a list of modules", folder);
    json_array_foreach(list, i, module) {
        if (status == WICK_OK) status = load_module(embedder, folder, i, module);
    }
    json_decref(list);
    return status;
}

static enum wick_status load_limits(struct wick_embedder *embedder, const char *folder) {
    json_t *config;
    int64_t length = wick_tokenizer_max_length(embedder->tokenizer);
    bool lower = false;
    WICK__TRY(wick__json_read(folder, "sentence_bert_config.json", CONFIG_MAX, true, &config));
    enum wick_status status = wick__json_int(config, "max_seq_length", 2, 1 << 24, &length);
    if (status == WICK_OK) status = wick__json_bool(config, "do_lower_case", &lower);
    json_decref(config);
    WICK__TRY(status);
    if (lower) return wick__fail(WICK_UNSUPPORTED, "sentence_bert_config.json: do_lower_case is true");
    if (length == 0 || length > embedder->bert.positions) length = embedder->bert.positions;
    embedder->max_length = length;
    return WICK_OK;
}

enum wick_status wick__embedder_configure(struct wick_embedder *embedder, const char *folder) {
    WICK__TRY(load_modules(embedder, folder));
    WICK__TRY(load_limits(embedder, folder));
    embedder->dim = embedder->bert.hidden * __builtin_popcount(embedder->pooling);
    if (wick_tokenizer_vocab_size(embedder->tokenizer) > embedder->bert.vocab)
        return wick__fail(WICK_FORMAT, "%s: the tokenizer has %d ids, the network %lld", folder,
                          wick_tokenizer_vocab_size(embedder->tokenizer), (long long)embedder->bert.vocab);
    return WICK_OK;
}
