/* Text to token ids: WordPiece behind BERT's own clean-up and splitting, as the model's files state it.
 *
 *     struct wick_tokenizer *tokenizer = wick_tokenizer_open("all-MiniLM-L6-v2");
 *     int32_t ids[256];
 *     int64_t n;
 *     if (wick_tokenizer_encode(tokenizer, "Hello, world!", 13, 256, ids, &n) == WICK_OK) ...  101 7592 1010 2088 999
 * 102 wick_tokenizer_close(tokenizer);
 *
 * What comes out is what Hugging Face's `tokenizers` makes of the same folder and text, without padding. Text is UTF-8;
 * each maximal run of bytes that can't begin a character counts as one U+FFFD, which the usual clean-up removes, as it
 * removes control characters. The Unicode tables are frozen at the versions that library uses (src/text/unicode.c).
 *
 * A tokenizer never changes once it is open and may be shared between threads. */
#ifndef WICK_TEXT_H
#define WICK_TEXT_H

#include <wick/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_tokenizer;

/* Opens the tokenizer of a model folder, laid out as the Hugging Face hub does: from tokenizer.json, or else from
 * vocab.txt and, where it is there, tokenizer_config.json. NULL and WICK_IO when none of them can be read,
 * WICK_FORMAT when one is damaged or larger than 32 MiB, WICK_UNSUPPORTED for kinds of tokenizer other than
 * WordPiece with BERT's normalizer, pre-tokenizer and a template of special tokens, WICK_MEMORY. */
WICK_API struct wick_tokenizer *wick_tokenizer_open(const char *folder);

/* Ends the use of a tokenizer and frees it. NULL is fine. */
WICK_API void wick_tokenizer_close(struct wick_tokenizer *tokenizer);

/* Encodes `nbytes` bytes of UTF-8, with the special tokens the model wants around them: [CLS] text [SEP].
 * *n is how many ids the whole text has. When that is more than `max`, the end of the text is cut, not the special
 * tokens after it; so min(*n, max) ids are written. max 0 only counts; `ids` may then be NULL.
 * WICK_INVALID (NULL, or a max > 0 that has no room for the special tokens), WICK_MEMORY. */
WICK_API WICK_CHECKED enum wick_status wick_tokenizer_encode(const struct wick_tokenizer *tokenizer, const char *text,
                                                             size_t nbytes, int64_t max, int32_t *ids, int64_t *n);

/* One more than the highest id there is; 0 for NULL. */
WICK_API int32_t wick_tokenizer_vocab_size(const struct wick_tokenizer *tokenizer);

/* The token of an id, "##ing", which belongs to the tokenizer; NULL for an id that stands for none. */
WICK_API const char *wick_tokenizer_token(const struct wick_tokenizer *tokenizer, int32_t id);

/* The id of a token as it is spelled in the vocabulary, "[PAD]" or "##ing"; -1 when there is no such token. */
WICK_API int32_t wick_tokenizer_id(const struct wick_tokenizer *tokenizer, const char *token);

/* The longest input the tokenizer's files name (model_max_length), special tokens included; 0 when they name none. */
WICK_API int64_t wick_tokenizer_max_length(const struct wick_tokenizer *tokenizer);

#ifdef __cplusplus
}
#endif
#endif
