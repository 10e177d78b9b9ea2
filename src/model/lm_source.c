/* A language model's files: a GGUF file, or a folder as the Hugging Face hub has it. */
#include "model/lm.h"

#include "core/memory.h"
#include "text/json.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { CONFIG_MAX = 1 << 20, TEXT_MAX = 64 << 20 };

enum wick_status wick__lm_source_open(const char *op, const char *path, const struct wick_lm_options *options,
                                      struct wick__lm_source *source) {
    struct stat about;
    *source = (struct wick__lm_source){.path = path, .copied = options && options->files.copy};
    if (!path) return wick__fail(WICK_INVALID, "%s: path is NULL", op);
    WICK__TRY(wick__reserved(op, options ? options->reserved : NULL));
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        WICK__TRY(wick__json_read(path, "config.json", CONFIG_MAX, false, &source->config));
        WICK__TRY(wick__json_read(path, "generation_config.json", CONFIG_MAX, true, &source->generation));
    }
    source->archive = wick_archive_open(path, options ? &options->files : NULL);
    if (!source->archive) return wick__latest();
    if (source->config || wick_archive_format(source->archive) == WICK_FORMAT_GGUF) return WICK_OK;
    return wick__fail(WICK_UNSUPPORTED, "%s is %s, not GGUF; a model of another format is a folder with config.json",
                      path, wick_format_name(wick_archive_format(source->archive)));
}

void wick__lm_source_close(struct wick__lm_source *source) {
    wick_archive_close(source->archive);
    json_decref(source->config);
    json_decref(source->generation);
}

/* ---- the text around a model ---- */

enum wick_status wick__hub_check_tokenizer(const char *folder) {
    char path[4096];
    struct stat about;
    if (snprintf(path, sizeof path, "%s/tokenizer.json", folder) < (int)sizeof path && stat(path, &about) == 0)
        return WICK_OK;
    return wick__fail(WICK_IO, "%s: there is no tokenizer.json; a tokenizer.model is not read", folder);
}

enum wick_status wick__lm_add_end(struct wick_lm *lm, const char *key, int64_t id) {
    if (id < 0) return WICK_OK;
    for (int i = 0; i < lm->n_ends; i++)
        if (lm->ends[i] == id) return WICK_OK;
    if (lm->n_ends == WICK__LM_ENDS)
        return wick__fail(WICK_UNSUPPORTED, "'%s': more than %d tokens end a text", key, WICK__LM_ENDS);
    lm->ends[lm->n_ends++] = (int32_t)id;
    return WICK_OK;
}

/* An id or a list of ids; calls itself for the items of a list. */
static enum wick_status take_ends(struct wick_lm *lm, const char *file, const json_t *value) {
    const json_t *item;
    size_t i;
    if (!value || json_is_null(value)) return WICK_OK;
    json_array_foreach(value, i, item) {
        if (json_is_array(item)) return wick__fail(WICK_FORMAT, "%s: 'eos_token_id' is a list of lists", file);
        WICK__TRY(take_ends(lm, file, item));
    }
    if (json_is_array(value)) return WICK_OK;
    json_int_t id = json_integer_value(value);
    if (!json_is_integer(value) || id < 0 || id >= lm->config.vocab)
        return wick__fail(WICK_FORMAT, "%s: 'eos_token_id' is not in 0..%lld", file, (long long)lm->config.vocab - 1);
    return wick__lm_add_end(lm, "eos_token_id", id);
}

/* The template's text from tokenizer_config.json: a string, or the one named default in a list. */
static const json_t *template_of(const json_t *config) {
    const json_t *found = json_object_get(config, "chat_template"), *item;
    size_t i;
    if (json_is_string(found)) return found;
    json_array_foreach(found, i, item) {
        const char *name = json_string_value(json_object_get(item, "name"));
        if (name && strcmp(name, "default") == 0) return json_object_get(item, "template");
    }
    return NULL;
}

static enum wick_status copy_template(struct wick_lm *lm, const json_t *config) {
    const json_t *source = template_of(config);
    struct wick_text *text = &lm->chat_template;
    if (!json_is_string(source)) return WICK_OK;
    size_t n = json_string_length(source);
    text->data = wick__alloc(n + 1);
    if (!text->data) return WICK_MEMORY;
    memcpy(text->data, json_string_value(source), n);
    text->data[n] = 0;
    text->nbytes = n;
    text->capacity = n + 1;
    return WICK_OK;
}

/* The id of a token that tokenizer_config.json names, by a string or by the content of an object; *id stays if it
 * names none of the model's. */
static enum wick_status take_special(const struct wick_lm *lm, const json_t *config, const char *key, int64_t *id) {
    const json_t *value = json_object_get(config, key);
    const char *name = NULL;
    WICK__TRY(json_is_object(value) ? wick__json_string(value, "content", &name)
                                    : wick__json_string(config, key, &name));
    int32_t found = name ? wick_tokenizer_id(lm->tokenizer, name) : -1;
    if (found >= 0 && found < lm->config.vocab) *id = found;
    return WICK_OK;
}

/* The tokens that chat templates write, and what else ends a text. The tokenizer's names come before the model's ids,
 * because those are what a template was written for. */
static enum wick_status load_ids(struct wick_lm *lm, const struct wick__lm_source *source, const json_t *config) {
    int64_t begin = -1, end = -1;
    WICK__TRY(wick__json_int(source->config, "bos_token_id", 0, lm->config.vocab - 1, &begin));
    WICK__TRY(take_special(lm, config, "bos_token", &begin));
    WICK__TRY(take_special(lm, config, "eos_token", &end));
    WICK__TRY(wick__lm_add_end(lm, "eos_token", end));
    lm->begin = (int32_t)begin;
    WICK__TRY(take_ends(lm, "generation_config.json", json_object_get(source->generation, "eos_token_id")));
    return take_ends(lm, "config.json", json_object_get(source->config, "eos_token_id"));
}

enum wick_status wick__hub_load_text(struct wick_lm *lm, const struct wick__lm_source *source) {
    struct wick__file_text file;
    json_t *config;
    WICK__TRY(wick__file_read(source->path, "chat_template.jinja", TEXT_MAX, true, &file));
    if (file.data) lm->chat_template = (struct wick_text){file.data, file.nbytes, file.capacity};
    WICK__TRY(wick__json_read(source->path, "tokenizer_config.json", TEXT_MAX, true, &config));
    enum wick_status status = load_ids(lm, source, config);
    if (status == WICK_OK && !file.data) status = copy_template(lm, config);
    json_decref(config);
    return status;
}
