/* Text to token ids and back: WordPiece with BERT's clean-up and splitting, byte-level BPE, SentencePiece's BPE and
 * Unigram, as the model's files specify.
 *
 *     struct wick_tokenizer *tokenizer = wick_tokenizer_open("all-MiniLM-L6-v2");
 *     int32_t ids[256];
 *     int64_t n;
 *     if (wick_tokenizer_encode(tokenizer, "Hello, world!", 13, 256, ids, &n) == WICK_OK)
 *         for (int64_t i = 0; i < n; i++) printf("%d ", ids[i]);      // 101 7592 1010 2088 999 102
 *     wick_tokenizer_close(tokenizer);
 *
 * The ids are those of Hugging Face's `tokenizers` for the same folder and text, without padding. Text is UTF-8. Each
 * maximal run of bytes that can't begin a character counts as one U+FFFD; the usual clean-up removes it, as it removes
 * control characters. The Unicode tables stay at the versions that library uses (src/text/unicode.c).
 *
 * A tokenizer never changes once it is open. Threads may share it. */
#ifndef WICK_TEXT_H
#define WICK_TEXT_H

#include <wick/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_tokenizer;

/* A text that the library allocated: `nbytes` bytes and a final 0. Free it with wick_text_free. */
struct wick_text {
    char *data;
    size_t nbytes;
    size_t capacity; /* the library's */
};

/* Frees the text and makes it empty. NULL is fine. */
WICK_API void wick_text_free(struct wick_text *text);

/* Opens the tokenizer of a GGUF file or of a model folder. In GGUF files it reads the kinds gpt2 (byte-level BPE, with
 * the splitter named in tokenizer.ggml.pre), llama (SentencePiece), gemma4 and bert. In folders, laid out as on the
 * Hugging Face hub, it reads tokenizer.json, or else vocab.txt and, if present, tokenizer_config.json. NULL on failure:
 * WICK_IO (none of them can be read), WICK_FORMAT (one is damaged or larger than 64 MiB), WICK_UNSUPPORTED (in a
 * folder, a tokenizer other than WordPiece with BERT's normalizer and pre-tokenizer; BPE with the pre-tokenizers
 * ByteLevel, Digits and isolating Splits and the normalizer NFC; BPE over characters, with byte_fallback or unk_token,
 * or Unigram with tokens of at most 256 bytes, either with the pre-tokenizer Metaspace and the normalizers NFC, Prepend
 * of U+2581 and Replace of blanks by it; the text names what is unknown), WICK_MEMORY. Close with wick_tokenizer_close.
 */
WICK_API struct wick_tokenizer *wick_tokenizer_open(const char *folder);

/* Closes and frees a tokenizer. NULL is fine. */
WICK_API void wick_tokenizer_close(struct wick_tokenizer *tokenizer);

/* Encodes `nbytes` bytes of UTF-8, with the special tokens that the model wants around them: [CLS] text [SEP]. *n
 * receives the number of ids of the whole text. If that exceeds `max`, the end of the text is cut, but not the special
 * tokens after it. So it writes min(*n, max) ids. With max 0 it only counts, and `ids` may be NULL. WICK_INVALID (NULL,
 * or a max > 0 without room for the special tokens), WICK_MEMORY. */
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
    WICK_ENCODE_LITERAL = 2 /* names of control tokens in the text, such as <|im_end|>, are ordinary text */
};

/* The same with flags of WICK_ENCODE_... or 0. WICK_RANGE for a text that takes too long to split into words. */
WICK_API WICK_CHECKED enum wick_status wick_tokenizer_encode_with(const struct wick_tokenizer *tokenizer,
                                                                  const char *text, size_t nbytes, unsigned flags,
                                                                  struct wick_ids *ids);

/* ---- back to text ---- of byte-level BPE, SentencePiece and Unigram; WICK_UNSUPPORTED for WordPiece. */

/* Writes the text of n ids to *text, without control tokens. Bytes that are not UTF-8 become U+FFFD. A failure leaves
 * *text as it was. Free it with wick_text_free. WICK_INVALID (NULL), WICK_RANGE (an id without a token), WICK_MEMORY.
 */
WICK_API WICK_CHECKED enum wick_status wick_tokenizer_decode(const struct wick_tokenizer *tokenizer, int64_t n,
                                                             const int32_t *ids, struct wick_text *text);

struct wick_decoder;

/* Opens a decoder of ids that come one at a time. The tokenizer must outlive it, and it belongs to one thread. NULL on
 * failure: WICK_INVALID, WICK_UNSUPPORTED, WICK_MEMORY. Close with wick_decoder_close. */
WICK_API struct wick_decoder *wick_decoder_open(const struct wick_tokenizer *tokenizer);
WICK_API void wick_decoder_close(struct wick_decoder *decoder);

/* The same with n stop texts, UTF-8 that ends at its NUL: the text ends before the first stop text that is complete,
 * the longest if several end at one byte, wherever the ids cut it. What may become a stop text waits until that is
 * settled. WICK_INVALID also for a stop text that is NULL, empty or no UTF-8. Close with wick_decoder_close. */
WICK_API struct wick_decoder *wick_decoder_open_with(const struct wick_tokenizer *tokenizer, int64_t n,
                                                     const char *const *stops);

/* Which stop text ended the text, 0 .. n-1, until another text begins; -1 if none has, and for NULL. Ids pushed after
 * it give no text. */
WICK_API int64_t wick_decoder_stopped(const struct wick_decoder *decoder);

/* Adds an id and points *text at the characters that are now complete: *nbytes bytes of UTF-8, valid until the next
 * call. An incomplete character waits for its remaining bytes. WICK_RANGE for an id without a token, WICK_MEMORY. */
WICK_API WICK_CHECKED enum wick_status wick_decoder_push(struct wick_decoder *decoder, int32_t id, const char **text,
                                                         size_t *nbytes);

/* Ends the text and gives what waited. An incomplete character becomes U+FFFD. The next push begins another text. */
WICK_API WICK_CHECKED enum wick_status wick_decoder_end(struct wick_decoder *decoder, const char **text,
                                                        size_t *nbytes);

/* One more than the highest id; 0 for NULL. */
WICK_API int32_t wick_tokenizer_vocab_size(const struct wick_tokenizer *tokenizer);

/* The token of an id, "##ing", which belongs to the tokenizer; NULL if it has none. */
WICK_API const char *wick_tokenizer_token(const struct wick_tokenizer *tokenizer, int32_t id);

/* The id of a token as the vocabulary spells it, "[PAD]" or "##ing"; -1 if there is no such token. */
WICK_API int32_t wick_tokenizer_id(const struct wick_tokenizer *tokenizer, const char *token);

/* The longest input the tokenizer's files name (model_max_length), special tokens included; 0 when they name none,
 * or one above 2^30, which is how they say that there is no limit. */
WICK_API int64_t wick_tokenizer_max_length(const struct wick_tokenizer *tokenizer);

#ifdef __cplusplus
}
#endif
#endif
