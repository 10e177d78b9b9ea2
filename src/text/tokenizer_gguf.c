/* Reading a tokenizer from the metadata of a GGUF file. */
#include "text/byte_level.h"
#include "text/tokenizer.h"

#include <wick/format.h>

#include <stdio.h>
#include <stdlib.h>

enum { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE }; /* tokenizer.ggml.token_type */

struct reader {
    struct wick_tokenizer *tokenizer;
    const struct wick_archive *archive;
    struct wick__buffer text; /* of the value that was read last, with a 0 behind it */
};

/* ---- values ---- */

/* The text of a value, or of one item of an array, into reader->text; false when there is none. */
static bool value(struct reader *reader, const char *key, int64_t item) {
    int64_t i = wick_archive_metadata_find(reader->archive, key);
    if (i < 0) return false;
    reader->text.nbytes = 0;
    int64_t length = wick_archive_metadata_text(reader->archive, i, item, reader->text.data, reader->text.capacity);
    if (length < 0) return false;
    if ((size_t)length >= reader->text.capacity) {
        if (wick__buffer_reserve(&reader->text, (size_t)length + 1) != WICK_OK) return false;
        length = wick_archive_metadata_text(reader->archive, i, item, reader->text.data, reader->text.capacity);
    }
    reader->text.nbytes = (size_t)length;
    return true;
}

static int64_t length_of(struct reader *reader, const char *key) {
    struct wick_metadata metadata;
    int64_t i = wick_archive_metadata_find(reader->archive, key);
    if (i < 0 || wick_archive_metadata(reader->archive, i, &metadata) != WICK_OK) return 0;
    return metadata.type == WICK_METADATA_ARRAY ? metadata.length : 0;
}

static int64_t number(struct reader *reader, const char *key, int64_t otherwise) {
    return value(reader, key, -1) ? strtoll(reader->text.data, NULL, 10) : otherwise;
}

static bool flag(struct reader *reader, const char *key, bool otherwise) {
    return value(reader, key, -1) ? strcmp(reader->text.data, "true") == 0 : otherwise;
}

/* ---- tokens ---- */

static enum wick_status add_special(struct wick_tokenizer *tokenizer, const char *text, size_t nbytes, int32_t id,
                                    bool control) {
    struct wick__added_token *token = &tokenizer->added[tokenizer->n_added];
    if (nbytes == 0) return WICK_OK;
    *token = (struct wick__added_token){.content = wick__alloc(nbytes), .nbytes = nbytes, .id = id, .control = control};
    if (!token->content) return WICK_MEMORY;
    memcpy(token->content, text, nbytes);
    tokenizer->n_added++;
    return WICK_OK;
}

/* The token "<0x0A>" stands for a byte. */
static int byte_token(const char *text, size_t nbytes) {
    unsigned byte;
    return nbytes == 6 && sscanf(text, "<0x%2X>", &byte) == 1 ? (int)byte : -1;
}

static bool is_special(int64_t type) { return type == CONTROL || type == USER_DEFINED || type == UNKNOWN; }

/* BERT's tokens: U+2581 stands before those that begin a word, where its own files have "##" before the others. */
static enum wick_status add_word_piece(struct reader *reader, int32_t id) {
    struct wick__vocab *vocab = &reader->tokenizer->vocab;
    const char *text = reader->text.data;
    size_t nbytes = reader->text.nbytes;
    if (nbytes > 3 && memcmp(text, "\u2581", 3) == 0) return wick__vocab_add(vocab, text + 3, nbytes - 3, id);
    struct wick__buffer word = {0};
    enum wick_status status = wick__buffer_append(&word, "##", 2);
    if (status == WICK_OK) status = wick__buffer_append(&word, text, nbytes);
    if (status == WICK_OK) status = wick__vocab_add(vocab, word.data, word.nbytes, id);
    wick__buffer_free(&word);
    return status;
}

/* Adds the token in reader->text. Of several with one text, the first is found by it; the others get a name. */
static enum wick_status add_token(struct reader *reader, int32_t id, int64_t type) {
    struct wick_tokenizer *tokenizer = reader->tokenizer;
    struct wick__pieces *pieces = &tokenizer->pieces;
    const char *text = reader->text.data;
    size_t nbytes = reader->text.nbytes;
    char name[32];
    if (is_special(type)) WICK__TRY(add_special(tokenizer, text, nbytes, id, type != USER_DEFINED));
    bool bytes = pieces->kind == WICK__PIECES_BPE && !is_special(type);
    if (pieces->kind == WICK__PIECES_NONE && !is_special(type)) return add_word_piece(reader, id);
    if (bytes && !wick__byte_level(text, nbytes, reader->text.data, &nbytes)) nbytes = 0;
    if (nbytes == 0 || wick__vocab_id(&tokenizer->vocab, text, nbytes) >= 0) {
        nbytes = (size_t)snprintf(name, sizeof name, "[token %d]", (int)id);
        return wick__vocab_add(&tokenizer->vocab, name, nbytes, id);
    }
    if (bytes && nbytes == 1) pieces->byte_ids[(unsigned char)text[0]] = id;
    if (pieces->kind != WICK__PIECES_BPE && type == BYTE && byte_token(text, nbytes) >= 0)
        pieces->byte_ids[byte_token(text, nbytes)] = id;
    return wick__vocab_add(&tokenizer->vocab, text, nbytes, id);
}

static enum wick_status load_tokens(struct reader *reader) {
    struct wick_tokenizer *tokenizer = reader->tokenizer;
    int64_t n = length_of(reader, "tokenizer.ggml.tokens"), special = 0;
    if (n <= 0 || n >= WICK__VOCAB_MAX)
        return wick__fail(WICK_FORMAT, "tokenizer.ggml.tokens has %lld tokens", (long long)n);
    bool typed = length_of(reader, "tokenizer.ggml.token_type") == n;
    for (int64_t i = 0; typed && i < n; i++) {
        value(reader, "tokenizer.ggml.token_type", i);
        int64_t type = strtoll(reader->text.data, NULL, 10);
        special += is_special(type);
    }
    tokenizer->added = wick__calloc((size_t)special, sizeof *tokenizer->added);
    if (!tokenizer->added) return WICK_MEMORY;
    tokenizer->added_capacity = (int)special;
    for (int64_t i = 0; i < n; i++) {
        int64_t type = NORMAL;
        if (typed && value(reader, "tokenizer.ggml.token_type", i)) type = strtoll(reader->text.data, NULL, 10);
        if (!value(reader, "tokenizer.ggml.tokens", i))
            return wick__fail(WICK_FORMAT, "token %lld can't be read", (long long)i);
        WICK__TRY(add_token(reader, (int32_t)i, type));
    }
    return wick__tokenizer_finish_added(tokenizer);
}

/* ---- merges and scores ---- */

static enum wick_status load_merges(struct reader *reader) {
    struct wick_tokenizer *tokenizer = reader->tokenizer;
    const struct wick__vocab *vocab = &tokenizer->vocab;
    int64_t n = length_of(reader, "tokenizer.ggml.merges");
    bool bytes = tokenizer->pieces.kind == WICK__PIECES_BPE;
    if (n <= 0 || n > 1 << 24) return wick__fail(WICK_FORMAT, "tokenizer.ggml.merges has %lld merges", (long long)n);
    WICK__TRY(wick__merges_reserve(&tokenizer->pieces.merges, (uint32_t)n));
    for (int64_t i = 0; i < n; i++) {
        if (!value(reader, "tokenizer.ggml.merges", i))
            return wick__fail(WICK_FORMAT, "merge %lld can't be read", (long long)i);
        char *text = reader->text.data,
             *blank = reader->text.nbytes > 1 ? memchr(text + 1, ' ', reader->text.nbytes - 1) : NULL;
        if (!blank) return wick__fail(WICK_FORMAT, "merge %lld is not a pair", (long long)i);
        char *second = blank + 1;
        size_t left = (size_t)(blank - text), right = (size_t)(text + reader->text.nbytes - second);
        if (bytes && (!wick__byte_level(text, left, text, &left) || !wick__byte_level(second, right, second, &right)))
            continue;
        struct wick__merge merge = {.rank = (int32_t)i,
                                    .left = wick__vocab_id(vocab, text, left),
                                    .right = wick__vocab_id(vocab, second, right)};
        memmove(text + left, second, right);
        merge.result = wick__vocab_id(vocab, text, left + right);
        if (merge.left >= 0 && merge.right >= 0 && merge.result >= 0)
            wick__merges_add(&tokenizer->pieces.merges, &merge);
    }
    return WICK_OK;
}

static enum wick_status load_scores(struct reader *reader) {
    struct wick__pieces *pieces = &reader->tokenizer->pieces;
    int64_t n = length_of(reader, "tokenizer.ggml.scores");
    if (n != length_of(reader, "tokenizer.ggml.tokens"))
        return wick__fail(WICK_FORMAT, "tokenizer.ggml.scores has %lld scores, not one a token", (long long)n);
    pieces->scores = wick__calloc((size_t)n, sizeof *pieces->scores);
    if (!pieces->scores) return WICK_MEMORY;
    pieces->n_scores = (int32_t)n;
    for (int64_t i = 0; i < n; i++) {
        if (!value(reader, "tokenizer.ggml.scores", i))
            return wick__fail(WICK_FORMAT, "score %lld can't be read", (long long)i);
        pieces->scores[i] = strtof(reader->text.data, NULL);
        if (!(pieces->scores[i] > -3e38f && pieces->scores[i] < 3e38f))
            return wick__fail(WICK_FORMAT, "score %lld is not a number", (long long)i);
    }
    return WICK_OK;
}

/* ---- special tokens ---- */

/* What WordPiece wants besides its tokens: BERT's clean-up in lower case, [CLS] before a text and [SEP] behind it. */
static enum wick_status load_bert(struct reader *reader) {
    struct wick_tokenizer *tokenizer = reader->tokenizer;
    int64_t n = length_of(reader, "tokenizer.ggml.tokens");
    int64_t cls = number(reader, "tokenizer.ggml.cls_token_id", number(reader, "tokenizer.ggml.bos_token_id", 101));
    int64_t sep = number(reader, "tokenizer.ggml.seperator_token_id", 102); /* spelt so in the files */
    int64_t unknown = number(reader, "tokenizer.ggml.unknown_token_id", 100);
    if (cls < 0 || sep < 0 || unknown < 0 || cls >= n || sep >= n || unknown >= n)
        return wick__fail(WICK_FORMAT, "a special token of the vocabulary is not a token");
    tokenizer->normalizer = (struct wick__normalizer){true, true, true, true};
    tokenizer->unknown = (int32_t)unknown;
    tokenizer->max_word_chars = 100;
    tokenizer->before[tokenizer->n_before++] = (int32_t)cls;
    tokenizer->after[tokenizer->n_after++] = (int32_t)sep;
    return wick__tokenizer_prefix(tokenizer, "##");
}

/* Ids around a text, as the keys say, or as the kind of tokenizer has it. */
static enum wick_status load_around(struct reader *reader) {
    struct wick_tokenizer *tokenizer = reader->tokenizer;
    bool spm = tokenizer->pieces.kind == WICK__PIECES_SPM;
    static const char *const keys[] = {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id"};
    int64_t ids[2];
    for (int i = 0; i < 2; i++) {
        ids[i] = number(reader, keys[i], spm ? i + 1 : -1);
        if (ids[i] < -1 || ids[i] >= length_of(reader, "tokenizer.ggml.tokens"))
            return wick__fail(WICK_FORMAT, "%s is %lld, which is not a token", keys[i], (long long)ids[i]);
    }
    if (flag(reader, "tokenizer.ggml.add_bos_token", tokenizer->pieces.kind != WICK__PIECES_BPE) && ids[0] >= 0)
        tokenizer->before[tokenizer->n_before++] = (int32_t)ids[0];
    if (flag(reader, "tokenizer.ggml.add_eos_token", false) && ids[1] >= 0)
        tokenizer->after[tokenizer->n_after++] = (int32_t)ids[1];
    tokenizer->pieces.unknown = (int32_t)number(reader, "tokenizer.ggml.unknown_token_id", spm ? 0 : -1);
    if (tokenizer->pieces.unknown >= length_of(reader, "tokenizer.ggml.tokens"))
        return wick__fail(WICK_FORMAT, "tokenizer.ggml.unknown_token_id is not a token");
    return WICK_OK;
}

static enum wick_status load(struct reader *reader) {
    struct wick_tokenizer *tokenizer = reader->tokenizer;
    struct wick__pieces *pieces = &tokenizer->pieces;
    for (int i = 0; i < 256; i++) pieces->byte_ids[i] = -1;
    pieces->n_model = WICK__VOCAB_MAX;
    if (!value(reader, "tokenizer.ggml.model", -1)) return wick__fail(WICK_FORMAT, "there is no tokenizer.ggml.model");
    if (strcmp(reader->text.data, "gpt2") == 0)
        pieces->kind = WICK__PIECES_BPE;
    else if (strcmp(reader->text.data, "llama") == 0)
        pieces->kind = WICK__PIECES_SPM;
    else if (strcmp(reader->text.data, "gemma4") == 0)
        pieces->kind = WICK__PIECES_CHARACTERS;
    else if (strcmp(reader->text.data, "bert") != 0)
        return wick__fail(WICK_UNSUPPORTED,
                          "tokenizer.ggml.model is '%.40s': only gpt2, llama, gemma4 and bert are known",
                          reader->text.data);
    if (pieces->kind == WICK__PIECES_BPE) {
        if (!value(reader, "tokenizer.ggml.pre", -1))
            return wick__fail(WICK_UNSUPPORTED, "there is no tokenizer.ggml.pre, which says how to split text");
        WICK__TRY(wick__splitter_by_name(&pieces->splitter, reader->text.data));
    }
    pieces->space_prefix = pieces->kind == WICK__PIECES_SPM && flag(reader, "tokenizer.ggml.add_space_prefix", true);
    WICK__TRY(load_tokens(reader));
    if (pieces->kind == WICK__PIECES_NONE) return load_bert(reader);
    WICK__TRY(pieces->kind == WICK__PIECES_SPM ? load_scores(reader) : load_merges(reader));
    return load_around(reader);
}

static enum wick_status load_archive(struct wick_tokenizer *tokenizer, const struct wick_archive *archive) {
    struct reader reader = {.tokenizer = tokenizer, .archive = archive};
    enum wick_status status = wick__buffer_reserve(&reader.text, 1024);
    if (status == WICK_OK) status = load(&reader);
    if (status == WICK_OK) status = wick__vocab_finish(&tokenizer->vocab);
    wick__buffer_free(&reader.text);
    return status;
}

enum wick_status wick__tokenizer_load_gguf(struct wick_tokenizer *tokenizer, const char *path) {
    struct wick_archive *archive = wick_archive_open(path, NULL);
    enum wick_status status = archive ? load_archive(tokenizer, archive) : wick__latest();
    wick_archive_close(archive);
    return status;
}

struct wick_tokenizer *wick__tokenizer_of(const struct wick_archive *archive) {
    struct wick_tokenizer *tokenizer = wick__calloc(1, sizeof *tokenizer);
    if (!tokenizer || load_archive(tokenizer, archive) == WICK_OK) return tokenizer;
    wick_tokenizer_close(tokenizer);
    return NULL;
}
