/* Reading a tokenizer from tokenizer.json, or from vocab.txt and tokenizer_config.json. */
#include "text/tokenizer.h"

#include "text/json.h"
#include "text/unicode.h"

#include <stdlib.h>

enum { FILE_MAX = 64 << 20, MAX_LENGTH = 1 << 30 };

enum wick_status wick__tokenizer_prefix(struct wick_tokenizer *tokenizer, const char *prefix) {
    tokenizer->prefix_hash = wick__hash_start();
    for (const char *c = prefix; *c; c++) tokenizer->prefix_hash = wick__hash_byte(tokenizer->prefix_hash, *c);
    return wick__buffer_append(&tokenizer->prefix, prefix, strlen(prefix));
}

/* ---- added tokens ---- */

static enum wick_status add_token(struct wick_tokenizer *tokenizer, const char *content, size_t nbytes, int64_t id,
                                  struct wick__added_token flags) {
    if (nbytes == 0) return WICK_OK;
    if (tokenizer->n_added == tokenizer->added_capacity)
        return wick__fail(WICK_FORMAT, "tokenizer: more than %d added tokens", tokenizer->added_capacity);
    int32_t known = wick__vocab_id(&tokenizer->vocab, content, nbytes);
    bool pieces = tokenizer->pieces.kind != WICK__PIECES_NONE;
    if (pieces) { /* a token of bytes may have the same text */
        if (id < 0) return wick__fail(WICK_FORMAT, "added token '%.40s' has no id", content);
        if (known != id) WICK__TRY(wick__tokenizer_add(tokenizer, content, nbytes, (int32_t)id));
    } else if (known >= 0) {
        id = known;
    } else {
        WICK__TRY(wick__vocab_add(&tokenizer->vocab, content, nbytes, id));
    }
    struct wick__buffer text = {0};
    enum wick_status status;
    if (flags.normalized && !pieces)
        status = wick__normalize(&tokenizer->normalizer, content, nbytes, &text);
    else if (flags.normalized && tokenizer->pieces.compose)
        status = wick__compose(content, nbytes, &text);
    else
        status = wick__buffer_append(&text, content, nbytes);
    if (status == WICK_OK && text.nbytes > 0) {
        flags.content = wick__alloc(text.nbytes);
        flags.nbytes = text.nbytes;
        flags.id = (int32_t)id;
        if (flags.content) {
            memcpy(flags.content, text.data, text.nbytes);
            tokenizer->added[tokenizer->n_added++] = flags;
            tokenizer->any_normalized |= flags.normalized;
        } else {
            status = WICK_MEMORY;
        }
    }
    wick__buffer_free(&text);
    return status;
}

static enum wick_status alloc_added(struct wick_tokenizer *tokenizer, size_t n) {
    if (n > WICK__ADDED_MAX) return wick__fail(WICK_FORMAT, "%zu added tokens, at most %d", n, WICK__ADDED_MAX);
    tokenizer->added = wick__calloc(n, sizeof *tokenizer->added);
    if (!tokenizer->added) return WICK_MEMORY;
    tokenizer->added_capacity = (int)n;
    return WICK_OK;
}

static enum wick_status load_added(struct wick_tokenizer *tokenizer, const json_t *list) {
    size_t i;
    const json_t *item;
    if (list && !json_is_null(list) && !json_is_array(list))
        return wick__fail(WICK_FORMAT, "'added_tokens' is not a list");
    WICK__TRY(alloc_added(tokenizer, json_array_size(list)));
    json_array_foreach(list, i, item) {
        struct wick__added_token flags = {.normalized = true};
        const json_t *content = json_object_get(item, "content");
        int64_t id = -1;
        if (!json_is_string(content)) return wick__fail(WICK_FORMAT, "added token %zu has no content", i);
        WICK__TRY(wick__json_int(item, "id", 0, WICK__VOCAB_MAX - 1, &id));
        WICK__TRY(wick__json_bool(item, "single_word", &flags.single_word));
        WICK__TRY(wick__json_bool(item, "lstrip", &flags.lstrip));
        WICK__TRY(wick__json_bool(item, "rstrip", &flags.rstrip));
        WICK__TRY(wick__json_bool(item, "normalized", &flags.normalized));
        if (tokenizer->pieces.kind != WICK__PIECES_NONE) WICK__TRY(wick__json_bool(item, "special", &flags.control));
        WICK__TRY(add_token(tokenizer, json_string_value(content), json_string_length(content), id, flags));
    }
    return wick__tokenizer_finish_added(tokenizer);
}

/* ---- tokenizer.json ---- */

static enum wick_status need_type(const json_t *object, const char *part, const char *type) {
    const char *found = "";
    WICK__TRY(wick__json_string(object, "type", &found));
    if (strcmp(found, type) == 0) return WICK_OK;
    return wick__fail(WICK_UNSUPPORTED, "%s of type '%.40s': only %s is known", part, found, type);
}

static enum wick_status load_normalizer(struct wick__normalizer *normalizer, const json_t *object) {
    if (!object || json_is_null(object)) return WICK_OK;
    WICK__TRY(need_type(object, "normalizer", "BertNormalizer"));
    *normalizer = (struct wick__normalizer){true, true, false, true};
    WICK__TRY(wick__json_bool(object, "clean_text", &normalizer->clean));
    WICK__TRY(wick__json_bool(object, "handle_chinese_chars", &normalizer->ideographs));
    WICK__TRY(wick__json_bool(object, "lowercase", &normalizer->lowercase));
    normalizer->strip_accents = normalizer->lowercase; /* what null stands for */
    return wick__json_bool(object, "strip_accents", &normalizer->strip_accents);
}

static enum wick_status load_model(struct wick_tokenizer *tokenizer, const json_t *model) {
    const char *unknown = "[UNK]", *prefix = "##", *type = "WordPiece", *token;
    const json_t *vocab = json_object_get(model, "vocab"), *id;
    size_t nbytes;
    WICK__TRY(wick__json_string(model, "type", &type)); /* old files do not state it */
    if (strcmp(type, "WordPiece") != 0)
        return wick__fail(WICK_UNSUPPORTED, "model of type '%.40s': only WordPiece, BPE and Unigram are known", type);
    WICK__TRY(wick__json_string(model, "unk_token", &unknown));
    WICK__TRY(wick__json_string(model, "continuing_subword_prefix", &prefix));
    WICK__TRY(wick__json_int(model, "max_input_chars_per_word", 0, 1 << 20, &tokenizer->max_word_chars));
    WICK__TRY(wick__tokenizer_prefix(tokenizer, prefix));
    if (!json_is_object(vocab)) return wick__fail(WICK_FORMAT, "the model has no vocabulary");
    json_object_keylen_foreach((json_t *)(uintptr_t)vocab, token, nbytes, id) {
        if (!json_is_integer(id)) return wick__fail(WICK_FORMAT, "token '%.40s' has no integer for an id", token);
        WICK__TRY(wick__vocab_add(&tokenizer->vocab, token, nbytes, json_integer_value(id)));
    }
    tokenizer->unknown = wick__vocab_id(&tokenizer->vocab, unknown, strlen(unknown));
    if (tokenizer->unknown < 0)
        return wick__fail(WICK_FORMAT, "the unknown token '%.40s' is not in the vocabulary", unknown);
    return WICK_OK;
}

static enum wick_status add_special(struct wick_tokenizer *tokenizer, bool after, int64_t id) {
    int *n = after ? &tokenizer->n_after : &tokenizer->n_before;
    if (id < 0 || id >= tokenizer->vocab.n_ids) return wick__fail(WICK_FORMAT, "a special token has no valid id");
    if (*n == WICK__TEMPLATE_MAX) return wick__fail(WICK_FORMAT, "more than %d special tokens", WICK__TEMPLATE_MAX);
    (after ? tokenizer->after : tokenizer->before)[(*n)++] = (int32_t)id;
    return WICK_OK;
}

/* {"single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, ...],
 *  "special_tokens": {"[CLS]": {"ids": [101]}}} */
static enum wick_status load_template(struct wick_tokenizer *tokenizer, const json_t *object) {
    const json_t *list = json_object_get(object, "single"), *item, *id;
    size_t i, j;
    bool after = false;
    if (!json_is_array(list)) return wick__fail(WICK_FORMAT, "the template of special tokens has no 'single'");
    json_array_foreach(list, i, item) {
        const char *name = NULL;
        if (json_object_get(item, "Sequence")) {
            if (after) return wick__fail(WICK_UNSUPPORTED, "a template that repeats the text");
            after = true;
            continue;
        }
        WICK__TRY(wick__json_string(json_object_get(item, "SpecialToken"), "id", &name));
        const json_t *ids =
            name ? json_object_get(json_object_get(json_object_get(object, "special_tokens"), name), "ids") : NULL;
        if (!json_is_array(ids)) return wick__fail(WICK_FORMAT, "item %zu of the template has no ids", i);
        json_array_foreach(ids, j, id) {
            WICK__TRY(add_special(tokenizer, after, json_is_integer(id) ? json_integer_value(id) : -1));
        }
    }
    return after ? WICK_OK : wick__fail(WICK_FORMAT, "the template of special tokens has no place for the text");
}

static enum wick_status load_post_processor(struct wick_tokenizer *tokenizer, const json_t *object) {
    const char *type = "";
    if (!object || json_is_null(object)) return WICK_OK;
    WICK__TRY(wick__json_string(object, "type", &type));
    if (strcmp(type, "ByteLevel") == 0) return WICK_OK; /* it moves offsets, not ids */
    if (strcmp(type, "BertProcessing") == 0 ||
        strcmp(type, "RobertaProcessing") == 0) { /* {"cls": ["[CLS]", 101], "sep": ["[SEP]", 102]} */
        const json_t *cls = json_array_get(json_object_get(object, "cls"), 1);
        const json_t *sep = json_array_get(json_object_get(object, "sep"), 1);
        WICK__TRY(add_special(tokenizer, false, json_is_integer(cls) ? json_integer_value(cls) : -1));
        return add_special(tokenizer, true, json_is_integer(sep) ? json_integer_value(sep) : -1);
    }
    WICK__TRY(need_type(object, "post-processor", "TemplateProcessing"));
    return load_template(tokenizer, object);
}

static enum wick_status load_post_processors(struct wick_tokenizer *tokenizer, const json_t *object) {
    const json_t *list = json_object_get(object, "processors"), *item;
    size_t i;
    if (!json_is_array(list)) return load_post_processor(tokenizer, object);
    json_array_foreach(list, i, item) { WICK__TRY(load_post_processor(tokenizer, item)); }
    return WICK_OK;
}

static enum wick_status load_json(struct wick_tokenizer *tokenizer, const json_t *root) {
    const json_t *splitter = json_object_get(root, "pre_tokenizer"), *model = json_object_get(root, "model");
    const char *type = "";
    WICK__TRY(wick__json_string(model, "type", &type));
    if (strcmp(type, "BPE") == 0 || strcmp(type, "Unigram") == 0 ||
        (!*type && json_is_array(json_object_get(model, "merges")))) {
        WICK__TRY(wick__tokenizer_load_pieces(tokenizer, root));
        WICK__TRY(load_added(tokenizer, json_object_get(root, "added_tokens")));
        return load_post_processors(tokenizer, json_object_get(root, "post_processor"));
    }
    WICK__TRY(need_type(splitter, "pre-tokenizer", "BertPreTokenizer"));
    WICK__TRY(load_normalizer(&tokenizer->normalizer, json_object_get(root, "normalizer")));
    WICK__TRY(load_model(tokenizer, model));
    WICK__TRY(load_added(tokenizer, json_object_get(root, "added_tokens")));
    return load_post_processors(tokenizer, json_object_get(root, "post_processor"));
}

/* ---- vocab.txt ---- */

/* One token a line, whose number is its id. */
static enum wick_status load_vocab_text(struct wick_tokenizer *tokenizer, const char *folder) {
    struct wick__file_text text;
    enum wick_status status = wick__file_read(folder, "vocab.txt", FILE_MAX, false, &text);
    int64_t id = 0;
    if (status != WICK_OK) return status;
    const char *data = text.data;
    const size_t nbytes = text.nbytes;
    for (size_t at = 0; at < nbytes && status == WICK_OK; id++) {
        const char *end = memchr(data + at, '\n', nbytes - at);
        size_t length = end ? (size_t)(end - (data + at)) : nbytes - at;
        size_t kept = length && data[at + length - 1] == '\r' ? length - 1 : length;
        status = wick__vocab_add(&tokenizer->vocab, data + at, kept, id);
        at += length + 1;
    }
    wick__free(text.data, text.capacity);
    return status;
}

/* The name of a special token: a string, or an object with its text in 'content'. */
static enum wick_status special_name(const json_t *config, const char *key, const char **name) {
    const json_t *value = json_object_get(config, key);
    return json_is_object(value) ? wick__json_string(value, "content", name) : wick__json_string(config, key, name);
}

static enum wick_status load_text(struct wick_tokenizer *tokenizer, const char *folder, const json_t *config) {
    static const char *const keys[] = {"unk_token", "cls_token", "sep_token", "pad_token", "mask_token"};
    const char *names[] = {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"};
    struct wick__normalizer *normalizer = &tokenizer->normalizer;
    *normalizer = (struct wick__normalizer){true, true, false, true};
    WICK__TRY(wick__json_bool(config, "do_lower_case", &normalizer->lowercase));
    WICK__TRY(wick__json_bool(config, "tokenize_chinese_chars", &normalizer->ideographs));
    normalizer->strip_accents = normalizer->lowercase;
    WICK__TRY(wick__json_bool(config, "strip_accents", &normalizer->strip_accents));
    WICK__TRY(load_vocab_text(tokenizer, folder));
    WICK__TRY(wick__tokenizer_prefix(tokenizer, "##"));
    WICK__TRY(alloc_added(tokenizer, sizeof keys / sizeof *keys));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        WICK__TRY(special_name(config, keys[i], &names[i]));
        int32_t id = wick__vocab_id(&tokenizer->vocab, names[i], strlen(names[i]));
        if (id < 0 && i < 3) return wick__fail(WICK_FORMAT, "vocab.txt: the %s '%.40s' is missing", keys[i], names[i]);
        if (id >= 0) WICK__TRY(add_token(tokenizer, names[i], strlen(names[i]), id, (struct wick__added_token){0}));
    }
    WICK__TRY(wick__tokenizer_finish_added(tokenizer));
    tokenizer->unknown = wick__vocab_id(&tokenizer->vocab, names[0], strlen(names[0]));
    WICK__TRY(add_special(tokenizer, false, wick__vocab_id(&tokenizer->vocab, names[1], strlen(names[1]))));
    return add_special(tokenizer, true, wick__vocab_id(&tokenizer->vocab, names[2], strlen(names[2])));
}

/* ---- both ---- */

/* Files say that there is no limit by null or by a huge number: Transformers writes 10^30. */
static enum wick_status load_max_length(struct wick_tokenizer *tokenizer, const json_t *config) {
    const json_t *length = json_object_get(config, "model_max_length");
    tokenizer->max_length = 0;
    if (json_is_number(length) && json_number_value(length) > MAX_LENGTH) return WICK_OK;
    return wick__json_int(config, "model_max_length", 1, MAX_LENGTH, &tokenizer->max_length);
}

/* Puts the folder in front of a failure's text, where it is not yet. */
static void name_folder(const char *folder) {
    struct wick__error error = {WICK_OK, ""};
    wick__error_swap(&error);
    bool named = strncmp(error.text, folder, strlen(folder)) == 0;
    wick__fail(error.status, named ? "%.0s%s" : "%s: tokenizer: %.800s", folder, error.text);
}

enum wick_status wick__tokenizer_load(struct wick_tokenizer *tokenizer, const char *folder) {
    json_t *root = NULL, *config = NULL;
    struct wick__error earlier = {WICK_OK, ""};
    wick__error_swap(&earlier);
    tokenizer->max_word_chars = 100;
    enum wick_status status = wick__json_read(folder, "tokenizer.json", FILE_MAX, true, &root);
    if (status == WICK_OK) status = wick__json_read(folder, "tokenizer_config.json", FILE_MAX, true, &config);
    if (status == WICK_OK) status = root ? load_json(tokenizer, root) : load_text(tokenizer, folder, config);
    if (status == WICK_OK) status = load_max_length(tokenizer, config);
    if (status == WICK_OK) status = wick__vocab_finish(&tokenizer->vocab);
    json_decref(root);
    json_decref(config);
    if (status != WICK_OK) name_folder(folder);
    if (earlier.status != WICK_OK) wick__error_swap(&earlier); /* the first failure is the one that is kept */
    if (status != WICK_OK) return status;
    return WICK_OK;
}
