/* A tokenizer as its files describe it; tokenizer_load.c fills it in, tokenizer.c runs it. */
#ifndef WICK_TEXT_TOKENIZER_H
#define WICK_TEXT_TOKENIZER_H

#include "text/added.h"
#include "text/normalize.h"
#include "text/pieces.h"
#include "text/vocab.h"

#include <wick/text.h>

struct json_t;

enum { WICK__ADDED_MAX = 16384, WICK__TEMPLATE_MAX = 64 };

struct wick_tokenizer {
    struct wick__normalizer normalizer; /* all false: text is taken as it is */
    struct wick__vocab vocab;
    struct wick__pieces pieces; /* BPE, SentencePiece or Unigram; otherwise WordPiece, by what follows */
    struct wick__buffer prefix; /* what stands before a token that continues a word, "##" */
    uint64_t prefix_hash;
    int32_t unknown;                 /* id */
    int64_t max_word_chars;          /* a longer word is unknown */
    struct wick__added_token *added; /* in the order of their ids */
    int n_added, added_capacity;
    bool any_normalized; /* whether some added tokens are looked for after normalization */
    /* [normalized][literal]: those that are looked for after normalization or before, with control tokens or without */
    struct wick__added_index find_added[2][2];
    int32_t before[WICK__TEMPLATE_MAX], after[WICK__TEMPLATE_MAX]; /* special ids around the text */
    int n_before, n_after;
    int64_t max_length; /* 0: not stated */
};

/* Fills a zeroed tokenizer from a folder's files. On failure the caller frees what is there. */
enum wick_status wick__tokenizer_load(struct wick_tokenizer *tokenizer, const char *folder);

/* Sets what stands before a token that continues a word. */
enum wick_status wick__tokenizer_prefix(struct wick_tokenizer *tokenizer, const char *prefix);

/* The model, normalizer and pre-tokenizer of a tokenizer.json whose model is BPE or Unigram, into a zeroed tokenizer:
 * all but the added tokens and the post-processor. */
enum wick_status wick__tokenizer_load_pieces(struct wick_tokenizer *tokenizer, const struct json_t *root);

/* Adds a token that may have the text of another, which then stays the one that is found by it. */
enum wick_status wick__tokenizer_add(struct wick_tokenizer *tokenizer, const char *text, size_t nbytes, int32_t id);

/* Puts the added tokens in order and makes their indexes, once all are there. */
enum wick_status wick__tokenizer_finish_added(struct wick_tokenizer *tokenizer);

/* A number of ids that no text of nbytes has fewer of; 0: not known. */
int64_t wick__tokenizer_least(const struct wick_tokenizer *tokenizer, size_t nbytes);

/* The same from the metadata of a GGUF file. */
enum wick_status wick__tokenizer_load_gguf(struct wick_tokenizer *tokenizer, const char *path);

struct wick_archive;
/* The tokenizer in the keys of a GGUF archive, which it does not need afterwards; NULL on failure. */
struct wick_tokenizer *wick__tokenizer_of(const struct wick_archive *archive);

#endif
