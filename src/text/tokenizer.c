/* Running a tokenizer: added tokens, then merges (pieces.c), or normalization, BERT's split into words and WordPiece.
 */
#include "text/tokenizer.h"

#include "text/unicode.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Ids as they come: counted always, written while there is room before the closing special tokens. */
struct output {
    int32_t *ids;
    int64_t n, room;
    bool literal;           /* control tokens are text like any other */
    enum wick__place place; /* where the next part of the text stands */
};

static void emit(struct output *out, int32_t id) {
    if (out->n < out->room) out->ids[out->n] = id;
    out->n++;
}

/* ---- a word ---- */

static int64_t count_chars(const char *text, size_t nbytes) {
    int64_t n = 0;
    for (size_t i = 0; i < nbytes; i++) n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

/* The longest token that text begins with, after the prefix when there is one. *taken is how many bytes it covers. */
static int32_t longest_token(const struct wick_tokenizer *tokenizer, const struct wick__buffer *prefix,
                             const char *text, size_t nbytes, size_t *taken) {
    uint64_t hash = prefix ? tokenizer->prefix_hash : wick__hash_start();
    size_t skip = prefix ? prefix->nbytes : 0;
    int32_t best = -1;
    for (size_t i = 0; i < nbytes && skip + i < tokenizer->vocab.longest; i++) {
        hash = wick__hash_byte(hash, text[i]);
        if (i + 1 < nbytes && ((unsigned char)text[i + 1] & 0xC0) == 0x80) continue; /* inside a character */
        int32_t id = wick__vocab_find(&tokenizer->vocab, hash, prefix, text, i + 1);
        if (id < 0) continue;
        best = id;
        *taken = i + 1;
    }
    return best;
}

/* Greedy longest match from the left; a word with a rest that no token begins is unknown as a whole. */
static void encode_word(const struct wick_tokenizer *tokenizer, const char *word, size_t nbytes, struct output *out) {
    int64_t start = out->n;
    size_t at = 0, taken = 0;
    if ((int64_t)nbytes > tokenizer->max_word_chars && count_chars(word, nbytes) > tokenizer->max_word_chars) {
        emit(out, tokenizer->unknown);
        return;
    }
    for (; at < nbytes; at += taken) {
        int32_t id = longest_token(tokenizer, at ? &tokenizer->prefix : NULL, word + at, nbytes - at, &taken);
        if (id < 0) {
            out->n = start;
            emit(out, tokenizer->unknown);
            return;
        }
        emit(out, id);
    }
}

/* Splits normalized text at white space, which goes, and punctuation, each character of which is a word. */
static void encode_words(const struct wick_tokenizer *tokenizer, const char *text, size_t nbytes, struct output *out) {
    size_t word = 0;
    for (size_t at = 0; at < nbytes;) {
        uint32_t c;
        size_t length = wick__utf8_get(text + at, nbytes - at, &c);
        bool space = wick__is_space(c);
        if (space || wick__is_punctuation(c)) {
            if (at > word) encode_word(tokenizer, text + word, at - word, out);
            if (!space) encode_word(tokenizer, text + at, length, out);
            word = at + length;
        }
        at += length;
    }
    if (nbytes > word) encode_word(tokenizer, text + word, nbytes - word, out);
}

/* ---- added tokens ---- */

static bool word_at(const char *text, size_t nbytes, size_t at) {
    uint32_t c;
    if (at >= nbytes) return false;
    wick__utf8_get(text + at, nbytes - at, &c);
    return wick__is_word(c);
}

/* Widens [*start, *stop) by the white space that the token takes, not to the left of `from`. */
static void take_space(const struct wick__added_token *token, const char *text, size_t nbytes, size_t from,
                       size_t *start, size_t *stop) {
    uint32_t c;
    while (token->lstrip && *start > from) {
        size_t back = wick__utf8_back(text, *start);
        wick__utf8_get(text + back, *start - back, &c);
        if (!wick__is_space(c)) break;
        *start = back < from ? from : back;
    }
    while (token->rstrip && *stop < nbytes) {
        size_t length = wick__utf8_get(text + *stop, nbytes - *stop, &c);
        if (!wick__is_space(c)) break;
        *stop += length;
    }
}

typedef enum wick_status segment_fn(const struct wick_tokenizer *tokenizer, const char *text, size_t nbytes,
                                    struct output *out);

/* Emits the added tokens in the text, and gives what lies between them to `segment`. */
static enum wick_status split_added(const struct wick_tokenizer *tokenizer, bool normalized, const char *text,
                                    size_t nbytes, segment_fn *segment, struct output *out) {
    const struct wick__added_index *index = &tokenizer->find_added[normalized][out->literal];
    size_t from = 0;
    for (size_t at = 0; at < nbytes;) {
        const struct wick__added_token *token = wick__added_find(index, text + at, nbytes - at);
        if (!token) {
            at++;
            continue;
        }
        size_t start = at, stop = at + token->nbytes;
        at = stop;
        if (start < from) continue; /* white space at its start went with the token before */
        if (token->single_word &&
            ((start > 0 && word_at(text, nbytes, wick__utf8_back(text, start))) || word_at(text, nbytes, stop)))
            continue;
        take_space(token, text, nbytes, from, &start, &stop);
        if (start > from) WICK__TRY(segment(tokenizer, text + from, start - from, out));
        emit(out, token->id);
        out->place = WICK__PLACE_BEHIND;
        from = stop;
    }
    return nbytes > from ? segment(tokenizer, text + from, nbytes - from, out) : WICK_OK;
}

/* ---- a text ---- */

static enum wick_status encode_normalized(const struct wick_tokenizer *tokenizer, const char *text, size_t nbytes,
                                          struct output *out) {
    encode_words(tokenizer, text, nbytes, out);
    return WICK_OK;
}

/* Long texts go through in parts that end after a space, where nothing reaches across, so that the buffer stays
 * small. Added tokens that are looked for after normalization may hold spaces; with them the text stays whole. */
static size_t part_length(const struct wick_tokenizer *tokenizer, const char *text, size_t nbytes) {
    enum { PART = 1 << 16 };
    if (nbytes <= PART || tokenizer->any_normalized) return nbytes;
    for (size_t i = PART; i < nbytes; i++)
        if (text[i] == ' ' || text[i] == '\n') return i + 1;
    return nbytes;
}

static enum wick_status encode_raw(const struct wick_tokenizer *tokenizer, const char *text, size_t nbytes,
                                   struct output *out) {
    struct wick__buffer buffer = {0};
    enum wick_status status = WICK_OK;
    for (size_t at = 0; at < nbytes && status == WICK_OK;) {
        size_t length = part_length(tokenizer, text + at, nbytes - at);
        buffer.nbytes = 0;
        status = wick__normalize(&tokenizer->normalizer, text + at, length, &buffer);
        if (status != WICK_OK) break;
        if (tokenizer->any_normalized)
            status = split_added(tokenizer, true, buffer.data, buffer.nbytes, encode_normalized, out);
        else
            encode_words(tokenizer, buffer.data, buffer.nbytes, out);
        at += length;
    }
    wick__buffer_free(&buffer);
    return status;
}

static void emit_piece(void *context, int32_t id) { emit(context, id); }

static enum wick_status encode_segment(const struct wick_tokenizer *tokenizer, const char *text, size_t nbytes,
                                       struct output *out) {
    const struct wick__pieces_out pieces_out = {emit_piece, out};
    enum wick__place place = out->place;
    out->place = WICK__PLACE_WITHIN;
    return wick__pieces_encode(&tokenizer->pieces, &tokenizer->vocab, text, nbytes, place, &pieces_out);
}

/* Added tokens that are looked for after normalization cut the text once more. */
static enum wick_status encode_pieces(const struct wick_tokenizer *tokenizer, const char *text, size_t nbytes,
                                      struct output *out) {
    struct wick__buffer composed = {0};
    if (!tokenizer->any_normalized) return encode_segment(tokenizer, text, nbytes, out);
    enum wick_status status = tokenizer->pieces.compose ? wick__compose(text, nbytes, &composed) : WICK_OK;
    if (status == WICK_OK && tokenizer->pieces.compose)
        status = split_added(tokenizer, true, composed.data, composed.nbytes, encode_segment, out);
    else if (status == WICK_OK)
        status = split_added(tokenizer, true, text, nbytes, encode_segment, out);
    wick__buffer_free(&composed);
    return status;
}

enum wick_status wick_tokenizer_encode_with(const struct wick_tokenizer *tokenizer, const char *text, size_t nbytes,
                                            unsigned flags, struct wick_ids *ids) {
    if (!tokenizer || !ids || (!text && nbytes) || (!ids->ids && ids->max > 0) || ids->max < 0)
        return wick__fail(WICK_INVALID, "tokenizer_encode: NULL argument, or max %lld below 0",
                          (long long)(ids ? ids->max : 0));
    bool plain = flags & WICK_ENCODE_PLAIN;
    int n_before = plain ? 0 : tokenizer->n_before, n_after = plain ? 0 : tokenizer->n_after;
    if (ids->max > 0 && ids->max < n_before + n_after)
        return wick__fail(WICK_INVALID, "tokenizer_encode: max %lld leaves no room for the %d special tokens",
                          (long long)ids->max, n_before + n_after);
    struct output out = {.ids = ids->ids,
                         .room = ids->max > 0 ? ids->max - n_after : 0,
                         .literal = flags & WICK_ENCODE_LITERAL,
                         .place = WICK__PLACE_START};
    segment_fn *segment = tokenizer->pieces.kind == WICK__PIECES_NONE ? encode_raw : encode_pieces;
    for (int i = 0; i < n_before; i++) emit(&out, tokenizer->before[i]);
    if (nbytes) WICK__TRY(split_added(tokenizer, false, text, nbytes, segment, &out));
    int64_t end = out.n < out.room ? out.n : out.room;
    for (int i = 0; i < n_after && ids->max > 0; i++) ids->ids[end + i] = tokenizer->after[i];
    ids->n = out.n + n_after;
    return WICK_OK;
}

static int by_id(const void *a, const void *b) {
    const struct wick__added_token *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

enum wick_status wick__tokenizer_finish_added(struct wick_tokenizer *tokenizer) {
    qsort(tokenizer->added, (size_t)tokenizer->n_added, sizeof *tokenizer->added, by_id);
    for (int i = 0; i < 4; i++)
        WICK__TRY(wick__added_build(&tokenizer->find_added[i / 2][i % 2], tokenizer->n_added, tokenizer->added, i / 2,
                                    i % 2));
    return WICK_OK;
}

/* Where every byte of the text is a byte of one of the ids; for an unknown one stands an id of its own. */
int64_t wick__tokenizer_least(const struct wick_tokenizer *tokenizer, size_t nbytes) {
    const struct wick__pieces *pieces = &tokenizer->pieces;
    bool whole = pieces->kind == WICK__PIECES_BPE && !pieces->compose && tokenizer->vocab.longest > 0;
    for (int i = 0; i < tokenizer->n_added && whole; i++)
        whole = !tokenizer->added[i].lstrip && !tokenizer->added[i].rstrip;
    return whole ? (int64_t)(nbytes / tokenizer->vocab.longest) : 0;
}

enum wick_status wick_tokenizer_encode(const struct wick_tokenizer *tokenizer, const char *text, size_t nbytes,
                                       int64_t max, int32_t *ids, int64_t *n) {
    struct wick_ids all = {.ids = ids, .max = max};
    if (!n) return wick__fail(WICK_INVALID, "tokenizer_encode: NULL argument, or max %lld below 0", (long long)max);
    WICK__TRY(wick_tokenizer_encode_with(tokenizer, text, nbytes, 0, &all));
    *n = all.n;
    return WICK_OK;
}

struct wick_tokenizer *wick_tokenizer_open(const char *folder) {
    if (!folder) {
        wick__fail(WICK_INVALID, "tokenizer_open: folder is NULL");
        return NULL;
    }
    struct wick_tokenizer *tokenizer = wick__calloc(1, sizeof *tokenizer);
    if (!tokenizer) return NULL;
    struct stat about;
    bool file = stat(folder, &about) == 0 && !S_ISDIR(about.st_mode);
    if ((file ? wick__tokenizer_load_gguf : wick__tokenizer_load)(tokenizer, folder) != WICK_OK) {
        wick_tokenizer_close(tokenizer);
        return NULL;
    }
    return tokenizer;
}

void wick_tokenizer_close(struct wick_tokenizer *tokenizer) {
    if (!tokenizer) return;
    for (int i = 0; i < tokenizer->n_added; i++) wick__free(tokenizer->added[i].content, tokenizer->added[i].nbytes);
    wick__free(tokenizer->added, (size_t)tokenizer->added_capacity * sizeof *tokenizer->added);
    for (int i = 0; i < 4; i++) wick__added_free(&tokenizer->find_added[i / 2][i % 2]);
    wick__vocab_free(&tokenizer->vocab);
    wick__pieces_free(&tokenizer->pieces);
    wick__buffer_free(&tokenizer->prefix);
    wick__free(tokenizer, sizeof *tokenizer);
}

int32_t wick_tokenizer_vocab_size(const struct wick_tokenizer *tokenizer) {
    return tokenizer ? tokenizer->vocab.n_ids : 0;
}

const char *wick_tokenizer_token(const struct wick_tokenizer *tokenizer, int32_t id) {
    return tokenizer ? wick__vocab_token(&tokenizer->vocab, id) : NULL;
}

int32_t wick_tokenizer_id(const struct wick_tokenizer *tokenizer, const char *token) {
    return tokenizer && token ? wick__vocab_id(&tokenizer->vocab, token, strlen(token)) : -1;
}

int64_t wick_tokenizer_max_length(const struct wick_tokenizer *tokenizer) {
    return tokenizer ? tokenizer->max_length : 0;
}
