/* Text to token ids and back: WordPiece behind BERT's own clean-up and splitting, byte-level BPE, and SentencePiece's
 * BPE, as the model's files state it.
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

/* A text that the library made: `nbytes` bytes with a 0 behind them. Free it with wick_text_free. */
struct wick_text {
    char *data;
    size_t nbytes;
    size_t capacity; /* the library's */
};

/* Frees the text and makes it empty. NULL is fine. */
WICK_API void wick_text_free(struct wick_text *text);

/* Opens the tokenizer of a GGUF file, of the kinds gpt2 (byte-level BPE, by the name of its splitter in
 * tokenizer.ggml.pre) and llama (SentencePiece); or that of a model folder, laid out as the Hugging Face hub does: from
 * tokenizer.json, or else from vocab.txt and, where it is there, tokenizer_config.json. NULL and WICK_IO when none of
 * them can be read, WICK_FORMAT when one is damaged or larger than 32 MiB, WICK_UNSUPPORTED for kinds of tokenizer
 * other than WordPiece with BERT's normalizer, pre-tokenizer and a template of special tokens, WICK_MEMORY. Close with
 * wick_tokenizer_close. */
WICK_API struct wick_tokenizer *wick_tokenizer_open(const char *folder);

/* Ends the use of a tokenizer and frees it. NULL is fine. */
WICK_API void wick_tokenizer_close(struct wick_tokenizer *tokenizer);

/* Encodes `nbytes` bytes of UTF-8, with the special tokens the model wants around them: [CLS] text [SEP].
 * *n is how many ids the whole text has. When that is more than `max`, the end of the text is cut, not the special
 * tokens after it; so min(*n, max) ids are written. max 0 only counts; `ids` may then be NULL.
 * WICK_INVALID (NULL, or a max > 0 that has no room for the special tokens), WICK_MEMORY. */
WICK_API WICK_CHECKED enum wick_status wick_tokenizer_encode(const struct wick_tokenizer *tokenizer, const char *text,
                                                             size_t nbytes, int64_t max, int32_t *ids, int64_t *n);

/* Room for ids: `max` of them at `ids`, which may be NULL when max is 0. */
struct wick_ids {
    int32_t *ids;
    int64_t max;
    int64_t n; /* how many the text has */
};

enum wick_encode_flags {
    WICK_ENCODE_PLAIN = 1,  /* without the special tokens that the model wants around a text */
    WICK_ENCODE_LITERAL = 2 /* the names of control tokens in the text, such as <|im_end|>, are text like any other */
};

/* The same with flags of WICK_ENCODE_... or 0. WICK_RANGE for a text that takes too long to split into words. */
WICK_API WICK_CHECKED enum wick_status wick_tokenizer_encode_with(const struct wick_tokenizer *tokenizer,
                                                                  const char *text, size_t nbytes, unsigned flags,
                                                                  struct wick_ids *ids);

/* ---- back to text ---- of byte-level BPE and SentencePiece; WICK_UNSUPPORTED for WordPiece. */

/* The text of n ids, without control tokens. Bytes that are no UTF-8 come out as U+FFFD. *text is written only on
 * success; free it with wick_text_free. WICK_INVALID (NULL), WICK_RANGE (an id that stands for no token), WICK_MEMORY.
 */
WICK_API WICK_CHECKED enum wick_status wick_tokenizer_decode(const struct wick_tokenizer *tokenizer, int64_t n,
                                                             const int32_t *ids, struct wick_text *text);

struct wick_decoder;

/* Decodes ids as they come. The tokenizer must outlive the decoder, which belongs to one thread. NULL and WICK_INVALID,
 * WICK_UNSUPPORTED, WICK_MEMORY. The caller gives it back with wick_decoder_close. */
WICK_API struct wick_decoder *wick_decoder_open(const struct wick_tokenizer *tokenizer);
WICK_API void wick_decoder_close(struct wick_decoder *decoder);

/* Adds an id and points *text at the characters that are complete now, *nbytes bytes of UTF-8 that stay until the next
 * call; a character whose bytes are not all there waits. WICK_RANGE for an id that stands for no token, WICK_MEMORY. */
WICK_API WICK_CHECKED enum wick_status wick_decoder_push(struct wick_decoder *decoder, int32_t id, const char **text,
                                                         size_t *nbytes);

/* Ends the text: what still waits comes out as U+FFFD. The decoder can begin another text then. */
WICK_API WICK_CHECKED enum wick_status wick_decoder_end(struct wick_decoder *decoder, const char **text,
                                                        size_t *nbytes);

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
