/* Ids to text, as they come. */
#include "text/stop.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

struct wick_decoder {
    const struct wick_tokenizer *tokenizer;
    struct wick__stops stops;
    struct wick__buffer text; /* what is complete: `given` bytes that the caller has, and what may begin a stop text */
    size_t given;
    char waiting[4]; /* the beginning of a character */
    size_t n_waiting;
    bool began; /* something came out */
    bool ended; /* by wick_decoder_end; the next text has not begun */
};

/* How many bytes a character that begins with this one has; 1 for what begins none. */
static size_t length_of(unsigned char first) {
    return first >= 0xF0 && first <= 0xF4 ? 4 : first >= 0xE0 ? (first < 0xF0 ? 3 : 1) : first >= 0xC2 ? 2 : 1;
}

/* Moves what waits to the text: a character when it is complete, U+FFFD for bytes that are none; when `all`, whatever
 * is there. */
static enum wick_status settle(struct wick_decoder *decoder, bool all) {
    while (decoder->n_waiting > 0) {
        uint32_t c;
        size_t length = wick__utf8_get(decoder->waiting, decoder->n_waiting, &c);
        bool partial =
            c == 0xFFFD && length == decoder->n_waiting && length < length_of((unsigned char)decoder->waiting[0]);
        char bytes[4];
        if (partial && !all) return WICK_OK;
        WICK__TRY(wick__buffer_append(&decoder->text, bytes, wick__utf8_put(c, bytes)));
        decoder->n_waiting -= length;
        memmove(decoder->waiting, decoder->waiting + length, decoder->n_waiting);
    }
    return WICK_OK;
}

static enum wick_status put_byte(struct wick_decoder *decoder, char byte) {
    decoder->waiting[decoder->n_waiting++] = byte;
    return settle(decoder, false);
}

/* The added token of an id, NULL for none: its text may be that of another token too. */
static const struct wick__added_token *added_of(const struct wick_tokenizer *tokenizer, int32_t id) {
    int low = 0, high = tokenizer->n_added;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (tokenizer->added[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tokenizer->n_added && tokenizer->added[low].id == id ? &tokenizer->added[low] : NULL;
}

/* The byte that a token of SentencePiece such as <0x0A> stands for; -1 for others. */
static int byte_of(const struct wick__pieces *pieces, int32_t id) {
    for (int byte = 0; byte < 256; byte++)
        if (pieces->byte_ids[byte] == id) return byte;
    return -1;
}

static enum wick_status put_token(struct wick_decoder *decoder, int32_t id) {
    const struct wick_tokenizer *tokenizer = decoder->tokenizer;
    const char *token = wick__vocab_token(&tokenizer->vocab, id);
    size_t n = wick__vocab_token_nbytes(&tokenizer->vocab, id);
    bool spm = tokenizer->pieces.kind != WICK__PIECES_BPE;
    if (!token) return wick__fail(WICK_RANGE, "tokenizer_decode: id %d stands for no token", (int)id);
    const struct wick__added_token *added = added_of(tokenizer, id);
    if (added && added->control) return WICK_OK;
    if (added) {
        token = added->content;
        n = added->nbytes;
    }
    int byte = spm && token[0] == '<' ? byte_of(&tokenizer->pieces, id) : -1;
    if (byte >= 0) {
        decoder->began = true;
        return put_byte(decoder, (char)byte);
    }
    const bool first = !decoder->began, all = tokenizer->pieces.metaspace;
    for (size_t at = 0; at < n; at++) {
        bool blank = spm && n - at >= 3 && memcmp(token + at, "\u2581", 3) == 0;
        /* The blank that encoding adds. */
        bool skipped = blank && tokenizer->pieces.space_prefix && (all ? first : !decoder->began);
        if (!skipped) WICK__TRY(put_byte(decoder, blank ? ' ' : token[at]));
        if (blank) at += 2;
        decoder->began = true;
    }
    return WICK_OK;
}

static enum wick_status check(const struct wick_tokenizer *tokenizer) {
    if (!tokenizer) return wick__fail(WICK_INVALID, "tokenizer_decode: tokenizer is NULL");
    if (tokenizer->pieces.kind != WICK__PIECES_NONE) return WICK_OK;
    return wick__fail(WICK_UNSUPPORTED, "tokenizer_decode: WordPiece does not keep the text");
}

struct wick_decoder *wick_decoder_open_with(const struct wick_tokenizer *tokenizer, int64_t n,
                                            const char *const *stops) {
    if (check(tokenizer) != WICK_OK) return NULL;
    struct wick_decoder *decoder = wick__calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->tokenizer = tokenizer;
    if (wick__stops_fill(&decoder->stops, n, stops) == WICK_OK) return decoder;
    wick_decoder_close(decoder);
    return NULL;
}

struct wick_decoder *wick_decoder_open(const struct wick_tokenizer *tokenizer) {
    return wick_decoder_open_with(tokenizer, 0, NULL);
}

void wick_decoder_close(struct wick_decoder *decoder) {
    if (!decoder) return;
    wick__stops_free(&decoder->stops);
    wick__buffer_free(&decoder->text);
    wick__free(decoder, sizeof *decoder);
}

/* Drops what the caller has had, and begins a text after the end of another. */
static enum wick_status prepare(struct wick_decoder *decoder) {
    if (decoder->ended) wick__stops_reset(&decoder->stops);
    decoder->ended = false;
    decoder->text.nbytes -= decoder->given;
    if (decoder->given) memmove(decoder->text.data, decoder->text.data + decoder->given, decoder->text.nbytes);
    decoder->given = 0;
    return wick__buffer_reserve(&decoder->text, 1); /* so that there is an address */
}

/* Gives what no stop text holds back of the text, which was looked at up to `from`. */
static void give(struct wick_decoder *decoder, size_t from, const char **text, size_t *nbytes) {
    bool stopped = decoder->stops.found >= 0;
    size_t n = stopped ? 0 : wick__stops_scan(&decoder->stops, decoder->text.data, from, decoder->text.nbytes);
    if (decoder->ended && decoder->stops.found < 0) n = decoder->text.nbytes;
    *text = decoder->text.data;
    *nbytes = n;
    decoder->given = decoder->stops.found < 0 ? n : decoder->text.nbytes;
}

enum wick_status wick_decoder_push(struct wick_decoder *decoder, int32_t id, const char **text, size_t *nbytes) {
    if (!decoder || !text || !nbytes) return wick__fail(WICK_INVALID, "decoder_push: NULL argument");
    WICK__TRY(prepare(decoder));
    size_t from = decoder->text.nbytes;
    WICK__TRY(put_token(decoder, id));
    give(decoder, from, text, nbytes);
    return WICK_OK;
}

enum wick_status wick_decoder_end(struct wick_decoder *decoder, const char **text, size_t *nbytes) {
    if (!decoder || !text || !nbytes) return wick__fail(WICK_INVALID, "decoder_end: NULL argument");
    WICK__TRY(prepare(decoder));
    size_t from = decoder->text.nbytes;
    WICK__TRY(settle(decoder, true));
    decoder->began = false;
    decoder->ended = true;
    give(decoder, from, text, nbytes);
    return WICK_OK;
}

int64_t wick_decoder_stopped(const struct wick_decoder *decoder) { return decoder ? decoder->stops.found : -1; }

enum wick_status wick_tokenizer_decode(const struct wick_tokenizer *tokenizer, int64_t n, const int32_t *ids,
                                       struct wick_text *text) {
    WICK__TRY(check(tokenizer));
    if (n < 0 || (n > 0 && !ids) || !text)
        return wick__fail(WICK_INVALID, "tokenizer_decode: NULL argument, or n %lld below 0", (long long)n);
    struct wick_decoder decoder = {.tokenizer = tokenizer};
    enum wick_status status = WICK_OK;
    for (int64_t i = 0; i < n && status == WICK_OK; i++) status = put_token(&decoder, ids[i]);
    if (status == WICK_OK) status = settle(&decoder, true);
    if (status == WICK_OK) status = wick__buffer_append(&decoder.text, "", 1);
    if (status == WICK_OK)
        *text = (struct wick_text){decoder.text.data, decoder.text.nbytes - 1, decoder.text.capacity};
    else
        wick__buffer_free(&decoder.text);
    return status;
}

void wick_text_free(struct wick_text *text) {
    if (!text) return;
    wick__free(text->data, text->capacity);
    *text = (struct wick_text){0};
}
