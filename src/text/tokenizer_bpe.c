/* Reading a tokenizer.json whose model is BPE, over bytes as GPT-2, Llama 3 and Qwen have it, or over characters with a
 * token for each byte as Llama 2, Mistral and Gemma have it, or Unigram. What is not known is refused by its name. */
#include "text/byte_level.h"
#include "text/json.h"
#include "text/tokenizer.h"

#include <stdio.h>

static const char byte_level_words[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

static const char *type_of(const json_t *object) {
    const char *type = json_string_value(json_object_get(object, "type"));
    return type ? type : "";
}

static bool is_type(const json_t *object, const char *type) { return strcmp(type_of(object), type) == 0; }

static bool is_absent(const json_t *value) { return !value || json_is_null(value); }

enum wick_status wick__tokenizer_add(struct wick_tokenizer *tokenizer, const char *text, size_t nbytes, int32_t id) {
    char name[32];
    if (nbytes > 0 && wick__vocab_id(&tokenizer->vocab, text, nbytes) < 0)
        return wick__vocab_add(&tokenizer->vocab, text, nbytes, id);
    nbytes = (size_t)snprintf(name, sizeof name, "[token %d]", (int)id);
    return wick__vocab_add(&tokenizer->vocab, name, nbytes, id);
}

/* ---- the parts of a sequence ---- */

/* Calls `load` for the object, or for each of its parts under `key` where it is a Sequence. */
typedef enum wick_status part_fn(struct wick_tokenizer *tokenizer, const json_t *part);
static enum wick_status each_part(struct wick_tokenizer *tokenizer, const json_t *object, const char *key,
                                  part_fn *load) {
    const json_t *part;
    size_t i;
    if (is_absent(object)) return WICK_OK;
    if (!is_type(object, "Sequence")) return load(tokenizer, object);
    json_array_foreach(json_object_get(object, key), i, part) { WICK__TRY(load(tokenizer, part)); }
    return WICK_OK;
}

static const char *model_of(const struct wick__pieces *pieces) {
    return pieces->kind == WICK__PIECES_UNIGRAM ? "Unigram" : "BPE";
}

/* ---- normalizer ---- */

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static enum wick_status load_normalizer(struct wick_tokenizer *tokenizer, const json_t *part) {
    struct wick__pieces *pieces = &tokenizer->pieces;
    bool characters = pieces->kind != WICK__PIECES_BPE;
    if (is_type(part, "NFC")) {
        pieces->compose = true;
        return WICK_OK;
    }
    if (characters && is_type(part, "Prepend") && strcmp(text_of(part, "prepend"), "\u2581") == 0) {
        pieces->space_prefix = true;
        return WICK_OK;
    }
    if (characters && is_type(part, "Replace") &&
        strcmp(text_of(json_object_get(part, "pattern"), "String"), " ") == 0 &&
        strcmp(text_of(part, "content"), "\u2581") == 0) {
        pieces->keep_blanks = false;
        return WICK_OK;
    }
    return wick__fail(WICK_UNSUPPORTED, "normalizer of type '%.40s' is not known for %s", type_of(part),
                      model_of(pieces));
}

/* ---- pre-tokenizer ---- */

static enum wick_status add_pattern(struct wick__splitter *splitter, const char *pattern, size_t nbytes) {
    if (splitter->n == WICK__SPLIT_MAX)
        return wick__fail(WICK_UNSUPPORTED, "more than %d pre-tokenizers", WICK__SPLIT_MAX);
    splitter->patterns[splitter->n] = wick__regex_new(pattern, nbytes);
    return splitter->patterns[splitter->n++] ? WICK_OK : wick__latest();
}

/* A string as a pattern: each character that is not a letter or digit escaped. */
static enum wick_status add_string(struct wick__splitter *splitter, const char *text) {
    struct wick__buffer pattern = {0};
    enum wick_status status = WICK_OK;
    for (const char *c = text; *c && status == WICK_OK; c++) {
        bool ascii_mark = (unsigned char)*c < 0x80 && !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                              "0123456789",
                                                              *c);
        if (ascii_mark) status = wick__buffer_append(&pattern, "\\", 1);
        if (status == WICK_OK) status = wick__buffer_append(&pattern, c, 1);
    }
    if (status == WICK_OK) status = add_pattern(splitter, pattern.data ? pattern.data : "", pattern.nbytes);
    wick__buffer_free(&pattern);
    return status;
}

static enum wick_status load_split(struct wick_tokenizer *tokenizer, const json_t *part) {
    const json_t *pattern = json_object_get(part, "pattern"), *regex = json_object_get(pattern, "Regex");
    const char *behavior = text_of(part, "behavior"), *string = text_of(pattern, "String");
    bool invert = false;
    WICK__TRY(wick__json_bool(part, "invert", &invert));
    /* There are no blanks left where they became U+2581: Gemma's file splits at them all the same. */
    if (tokenizer->pieces.kind == WICK__PIECES_CHARACTERS && !tokenizer->pieces.keep_blanks && strcmp(string, " ") == 0)
        return WICK_OK;
    if (invert || strcmp(behavior, "Isolated") != 0 || tokenizer->pieces.kind != WICK__PIECES_BPE)
        return wick__fail(WICK_UNSUPPORTED, "pre-tokenizer Split of behavior '%.40s'%s is not known", behavior,
                          invert ? ", inverted," : "");
    if (json_is_string(regex))
        return add_pattern(&tokenizer->pieces.splitter, json_string_value(regex), json_string_length(regex));
    if (!*string) return wick__fail(WICK_FORMAT, "pre-tokenizer Split has no pattern");
    return add_string(&tokenizer->pieces.splitter, string);
}

/* Blanks become U+2581, with one before the text, and words are cut there. */
static enum wick_status load_metaspace(struct wick_tokenizer *tokenizer, const json_t *part) {
    struct wick__pieces *pieces = &tokenizer->pieces;
    const char *scheme = NULL;
    bool prefix = true, split = true;
    WICK__TRY(wick__json_string(part, "prepend_scheme", &scheme));
    WICK__TRY(wick__json_bool(part, "add_prefix_space", &prefix));
    WICK__TRY(wick__json_bool(part, "split", &split));
    if (!scheme) scheme = prefix ? "always" : "never";
    bool always = strcmp(scheme, "always") == 0, first = strcmp(scheme, "first") == 0;
    if (strcmp(text_of(part, "replacement"), "\u2581") != 0)
        return wick__fail(WICK_UNSUPPORTED, "pre-tokenizer Metaspace with replacement '%.40s' is not known",
                          text_of(part, "replacement"));
    if (!always && !first && strcmp(scheme, "never") != 0)
        return wick__fail(WICK_UNSUPPORTED, "pre-tokenizer Metaspace with prepend_scheme '%.40s' is not known", scheme);
    if (pieces->metaspace || (pieces->space_prefix && (always || first)))
        return wick__fail(WICK_UNSUPPORTED, "pre-tokenizer Metaspace after another blank before the text");
    pieces->keep_blanks = false;
    pieces->metaspace = true;
    pieces->space_prefix = always || first;
    pieces->prefix_once = first;
    pieces->split_blanks = split;
    return WICK_OK;
}

static enum wick_status load_pre_tokenizer(struct wick_tokenizer *tokenizer, const json_t *part) {
    struct wick__pieces *pieces = &tokenizer->pieces;
    bool prefix = true, words = true, digits = false;
    if (is_type(part, "Split")) return load_split(tokenizer, part);
    if (is_type(part, "Metaspace") && pieces->kind != WICK__PIECES_BPE) return load_metaspace(tokenizer, part);
    if (is_type(part, "Digits") && pieces->kind == WICK__PIECES_BPE) {
        WICK__TRY(wick__json_bool(part, "individual_digits", &digits));
        return add_pattern(&pieces->splitter, digits ? "\\p{N}" : "\\p{N}+", digits ? 5 : 6);
    }
    if (!is_type(part, "ByteLevel") || pieces->kind != WICK__PIECES_BPE)
        return wick__fail(WICK_UNSUPPORTED, "pre-tokenizer of type '%.40s' is not known for %s", type_of(part),
                          model_of(pieces));
    WICK__TRY(wick__json_bool(part, "add_prefix_space", &prefix));
    WICK__TRY(wick__json_bool(part, "use_regex", &words));
    if (prefix && pieces->splitter.n > 0)
        return wick__fail(WICK_UNSUPPORTED, "pre-tokenizer ByteLevel with add_prefix_space after others");
    pieces->space_prefix = prefix;
    return words ? add_pattern(&pieces->splitter, byte_level_words, sizeof byte_level_words - 1) : WICK_OK;
}

/* Whether a pre-tokenizer is, or has in it, one of type ByteLevel. */
static bool has_byte_level(const json_t *object) {
    const json_t *part;
    size_t i;
    json_array_foreach(json_object_get(object, "pretokenizers"), i, part) {
        if (is_type(part, "ByteLevel")) return true;
    }
    return is_type(object, "ByteLevel");
}

/* ---- model ---- */

/* The token "<0x0A>" stands for a byte. */
static int byte_token(const char *text, size_t nbytes) {
    unsigned byte;
    return nbytes == 6 && sscanf(text, "<0x%2X>", &byte) == 1 ? (int)byte : -1;
}

/* Adds one token. Those of a ByteLevel are bytes, but for added tokens, which stand as they are. */
static enum wick_status add_token(struct wick_tokenizer *tokenizer, const char *token, size_t nbytes, int32_t id,
                                  struct wick__buffer *bytes) {
    struct wick__pieces *pieces = &tokenizer->pieces;
    if (pieces->kind == WICK__PIECES_CHARACTERS) {
        int byte = byte_token(token, nbytes);
        if (byte >= 0 && pieces->byte_fallback) pieces->byte_ids[byte] = id;
        return wick__tokenizer_add(tokenizer, token, nbytes, id);
    }
    size_t n = 0;
    bytes->nbytes = 0;
    WICK__TRY(wick__buffer_reserve(bytes, nbytes + 1));
    if (!wick__byte_level(token, nbytes, bytes->data, &n)) return wick__tokenizer_add(tokenizer, "", 0, id);
    if (n == 1) pieces->byte_ids[(unsigned char)bytes->data[0]] = id;
    return wick__tokenizer_add(tokenizer, bytes->data, n, id);
}

static enum wick_status load_vocab(struct wick_tokenizer *tokenizer, const json_t *vocab, const json_t *added) {
    struct wick__buffer bytes = {0};
    enum wick_status status = WICK_OK;
    const char *token;
    const json_t *id, *item;
    size_t nbytes, i;
    json_t *plain = json_object();
    json_array_foreach(added, i, item) {
        const char *content = json_string_value(json_object_get(item, "content"));
        if (content) json_object_set_new(plain, content, json_true());
    }
    json_object_keylen_foreach((json_t *)(uintptr_t)vocab, token, nbytes, id) {
        json_int_t number = json_is_integer(id) ? json_integer_value(id) : -1;
        if (number < 0 || number >= WICK__VOCAB_MAX)
            status = wick__fail(WICK_FORMAT, "token '%.40s' has no id in 0..%d", token, WICK__VOCAB_MAX - 1);
        else if (json_object_getn(plain, token, nbytes))
            status = wick__tokenizer_add(tokenizer, token, nbytes, (int32_t)number);
        else
            status = add_token(tokenizer, token, nbytes, (int32_t)number, &bytes);
        if (status != WICK_OK) break;
    }
    json_decref(plain);
    wick__buffer_free(&bytes);
    return status;
}

/* The two parts of a merge: "a b", or ["a", "b"]. */
static bool parts_of(const json_t *merge, const char *part[2], size_t nbytes[2]) {
    const char *text = json_string_value(merge);
    size_t n = json_string_length(merge);
    if (text) {
        const char *blank = n > 1 ? memchr(text + 1, ' ', n - 1) : NULL;
        if (!blank) return false;
        part[0] = text;
        nbytes[0] = (size_t)(blank - text);
        part[1] = blank + 1;
        nbytes[1] = n - nbytes[0] - 1;
        return true;
    }
    for (size_t i = 0; i < 2; i++) {
        const json_t *item = json_array_get(merge, i);
        part[i] = json_string_value(item);
        nbytes[i] = json_string_length(item);
        if (!part[i]) return false;
    }
    return json_array_size(merge) == 2;
}

/* The ids of both parts and of the whole, in the tokens' own spelling; -1 for what is not a token. */
static enum wick_status ids_of(const struct wick_tokenizer *tokenizer, const json_t *merge, struct wick__buffer *text,
                               struct wick__merge *out) {
    bool bytes = tokenizer->pieces.kind == WICK__PIECES_BPE;
    const char *part[2];
    size_t nbytes[2];
    if (!parts_of(merge, part, nbytes)) return wick__fail(WICK_FORMAT, "merge %d is not a pair", (int)out->rank);
    text->nbytes = 0;
    WICK__TRY(wick__buffer_reserve(text, nbytes[0] + nbytes[1] + 1));
    memcpy(text->data, part[0], nbytes[0]);
    if (bytes && !wick__byte_level(part[0], nbytes[0], text->data, &nbytes[0])) return WICK_OK;
    char *second = text->data + nbytes[0];
    memcpy(second, part[1], nbytes[1]);
    if (bytes && !wick__byte_level(part[1], nbytes[1], second, &nbytes[1])) return WICK_OK;
    out->left = wick__vocab_id(&tokenizer->vocab, text->data, nbytes[0]);
    out->right = wick__vocab_id(&tokenizer->vocab, second, nbytes[1]);
    out->result = wick__vocab_id(&tokenizer->vocab, text->data, nbytes[0] + nbytes[1]);
    return WICK_OK;
}

static enum wick_status load_merges(struct wick_tokenizer *tokenizer, const json_t *merges) {
    struct wick__buffer text = {0};
    enum wick_status status = WICK_OK;
    size_t n = json_array_size(merges);
    if (!json_is_array(merges) || n > 1 << 24) return wick__fail(WICK_FORMAT, "the model has no list of merges");
    WICK__TRY(wick__merges_reserve(&tokenizer->pieces.merges, (uint32_t)n));
    for (size_t i = 0; i < n && status == WICK_OK; i++) {
        struct wick__merge merge = {.left = -1, .right = -1, .result = -1, .rank = (int32_t)i};
        status = ids_of(tokenizer, json_array_get(merges, i), &text, &merge);
        if (status == WICK_OK && merge.left >= 0 && merge.right >= 0 && merge.result >= 0)
            wick__merges_add(&tokenizer->pieces.merges, &merge);
    }
    wick__buffer_free(&text);
    return status;
}

/* Refuses what this reader would have to ignore. */
static enum wick_status check_bpe(const json_t *model) {
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    for (size_t i = 0; i < 2; i++)
        if (*text_of(model, affixes[i])) return wick__fail(WICK_UNSUPPORTED, "BPE with a %s is not known", affixes[i]);
    if (!is_absent(json_object_get(model, "dropout")) && json_number_value(json_object_get(model, "dropout")) != 0)
        return wick__fail(WICK_UNSUPPORTED, "BPE with dropout is not known");
    return WICK_OK;
}

static enum wick_status load_bpe(struct wick_tokenizer *tokenizer, const json_t *root, const json_t *model) {
    struct wick__pieces *pieces = &tokenizer->pieces;
    const json_t *vocab = json_object_get(model, "vocab");
    const char *unknown = text_of(model, "unk_token");
    WICK__TRY(wick__json_bool(model, "ignore_merges", &pieces->splitter.whole_words));
    WICK__TRY(wick__json_bool(model, "fuse_unk", &pieces->fuse_unknown));
    WICK__TRY(check_bpe(model));
    if (!json_is_object(vocab)) return wick__fail(WICK_FORMAT, "the model has no vocabulary");
    WICK__TRY(load_vocab(tokenizer, vocab, json_object_get(root, "added_tokens")));
    pieces->n_model = tokenizer->vocab.n_ids;
    WICK__TRY(load_merges(tokenizer, json_object_get(model, "merges")));
    pieces->unknown = *unknown ? wick__vocab_id(&tokenizer->vocab, unknown, strlen(unknown)) : -1;
    if (pieces->kind == WICK__PIECES_BPE || pieces->byte_fallback || pieces->unknown >= 0) return WICK_OK;
    return wick__fail(WICK_UNSUPPORTED, "BPE of neither ByteLevel nor byte_fallback nor unk_token is not known");
}

/* [["<unk>", 0.0], ["\u2581the", -3.2], ...], in the order of the ids. */
static enum wick_status load_scores(struct wick_tokenizer *tokenizer, const json_t *list) {
    struct wick__unigram *unigram = &tokenizer->pieces.unigram;
    const size_t n = json_array_size(list);
    double least = 0;
    if (!json_is_array(list) || n == 0 || n > (size_t)WICK__VOCAB_MAX)
        return wick__fail(WICK_FORMAT, "the model has no vocabulary, or one of more than %d tokens", WICK__VOCAB_MAX);
    unigram->scores = wick__calloc(n, sizeof *unigram->scores);
    if (!unigram->scores) return WICK_MEMORY;
    unigram->n_scores = (int32_t)n;
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(list, i), *token = json_array_get(row, 0), *score = json_array_get(row, 1);
        const char *text = json_string_value(token);
        size_t nbytes = json_string_length(token);
        if (!text || !json_is_number(score))
            return wick__fail(WICK_FORMAT, "token %zu of the vocabulary is no text with a score", i);
        if (nbytes > WICK__UNIGRAM_BYTES_MAX)
            return wick__fail(WICK_UNSUPPORTED, "token '%.40s...' has more than %d bytes", text,
                              WICK__UNIGRAM_BYTES_MAX);
        unigram->scores[i] = json_number_value(score);
        if (i == 0 || unigram->scores[i] < least) least = unigram->scores[i];
        if (nbytes > unigram->longest) unigram->longest = nbytes;
        if (tokenizer->pieces.byte_fallback && byte_token(text, nbytes) >= 0)
            tokenizer->pieces.byte_ids[byte_token(text, nbytes)] = (int32_t)i;
        /* Of several with one text, the last counts. */
        if (nbytes > 0)
            WICK__TRY(wick__vocab_add(&tokenizer->vocab, text, nbytes, (int64_t)i));
        else
            WICK__TRY(wick__tokenizer_add(tokenizer, "", 0, (int32_t)i));
    }
    unigram->unknown_score = least - 10;
    return WICK_OK;
}

static enum wick_status load_unigram(struct wick_tokenizer *tokenizer, const json_t *model) {
    struct wick__pieces *pieces = &tokenizer->pieces;
    int64_t unknown = -1;
    WICK__TRY(load_scores(tokenizer, json_object_get(model, "vocab")));
    pieces->n_model = pieces->unigram.n_scores;
    WICK__TRY(wick__json_int(model, "unk_id", 0, pieces->n_model - 1, &unknown));
    pieces->unknown = pieces->unigram.unknown = (int32_t)unknown;
    return WICK_OK;
}

enum wick_status wick__tokenizer_load_pieces(struct wick_tokenizer *tokenizer, const json_t *root) {
    struct wick__pieces *pieces = &tokenizer->pieces;
    const json_t *model = json_object_get(root, "model"), *splitter = json_object_get(root, "pre_tokenizer");
    pieces->kind = is_type(model, "Unigram")  ? WICK__PIECES_UNIGRAM
                   : has_byte_level(splitter) ? WICK__PIECES_BPE
                                              : WICK__PIECES_CHARACTERS;
    pieces->keep_blanks = pieces->kind != WICK__PIECES_BPE;
    for (int i = 0; i < 256; i++) pieces->byte_ids[i] = -1;
    WICK__TRY(wick__json_bool(model, "byte_fallback", &pieces->byte_fallback));
    WICK__TRY(each_part(tokenizer, json_object_get(root, "normalizer"), "normalizers", load_normalizer));
    WICK__TRY(each_part(tokenizer, splitter, "pretokenizers", load_pre_tokenizer));
    if (pieces->kind == WICK__PIECES_UNIGRAM) return load_unigram(tokenizer, model);
    return load_bpe(tokenizer, root, model);
}
