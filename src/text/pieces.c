/* From text to symbols, through the merges, to ids. */
#include "text/pieces.h"

#include "text/normalize.h"
#include "text/unicode.h"

enum { UNKNOWN = INT32_MAX }; /* a character that is not a token */

void wick__pieces_free(struct wick__pieces *pieces) {
    wick__splitter_free(&pieces->splitter);
    wick__merges_free(&pieces->merges);
    wick__free(pieces->scores, (size_t)pieces->n_scores * sizeof *pieces->scores);
    wick__free(pieces->unigram.scores, (size_t)pieces->unigram.n_scores * sizeof *pieces->unigram.scores);
    *pieces = (struct wick__pieces){0};
}

/* What encoding one text takes along. */
struct job {
    const struct wick__pieces *pieces;
    const struct wick__vocab *vocab;
    const struct wick__pieces_out *out;
    struct wick__buffer symbols; /* of struct wick__symbol_link, or room for unigram.h */
    bool unknown;                /* the last character was */
};

static void emit(const struct job *job, int32_t id) { job->out->emit(job->out->context, id); }

/* Room for n symbols; NULL after a failure. */
static struct wick__symbol_link *symbols_of(struct job *job, size_t n) {
    job->symbols.nbytes = 0;
    if (n > INT32_MAX / 2 / sizeof(struct wick__symbol_link)) {
        wick__fail(WICK_RANGE, "a text of more than %zu characters without a break", n);
        return NULL;
    }
    if (wick__buffer_reserve(&job->symbols, n * sizeof(struct wick__symbol_link)) != WICK_OK) return NULL;
    return (struct wick__symbol_link *)(void *)job->symbols.data;
}

/* ---- byte-level BPE ---- */

static int32_t pair_by_rank(const void *context, int32_t left, int32_t right, int32_t *rank) {
    const struct job *job = context;
    const struct wick__merge *merge = wick__merges_find(&job->pieces->merges, left, right);
    if (!merge) return -1;
    *rank = merge->rank;
    return merge->result;
}

static enum wick_status encode_word(void *context, const char *word, size_t nbytes) {
    struct job *job = context;
    const struct wick__pieces *pieces = job->pieces;
    if (pieces->splitter.whole_words || nbytes == 1) {
        int32_t id = wick__vocab_id(job->vocab, word, nbytes);
        if (id >= 0 && id < pieces->n_model) {
            emit(job, id);
            return WICK_OK;
        }
    }
    struct wick__symbol_link *symbols = symbols_of(job, nbytes);
    if (!symbols) return wick__latest();
    int32_t n = (int32_t)nbytes;
    for (int32_t i = 0; i < n; i++) {
        int32_t id = pieces->byte_ids[(unsigned char)word[i]];
        if (id < 0) id = pieces->unknown;
        if (id < 0)
            return wick__fail(WICK_FORMAT, "the vocabulary has no token for the byte 0x%02X", (unsigned char)word[i]);
        symbols[i] = (struct wick__symbol_link){id, i + 1 < n ? i + 1 : -1, i - 1};
    }
    WICK__TRY(wick__merge_all(symbols, n, pair_by_rank, job));
    for (int32_t i = 0; i >= 0; i = symbols[i].next) emit(job, symbols[i].id);
    return WICK_OK;
}

/* ---- SentencePiece ---- */

/* A pair becomes the token that has both texts in one; the highest score comes first. */
static int32_t pair_by_score(const void *context, int32_t left, int32_t right, int32_t *rank) {
    const struct job *job = context;
    char text[512];
    if (left == UNKNOWN || right == UNKNOWN) return -1;
    const char *a = wick__vocab_token(job->vocab, left), *b = wick__vocab_token(job->vocab, right);
    size_t n = strlen(a), m = strlen(b);
    if (n + m > job->vocab->longest || n + m > sizeof text) return -1;
    memcpy(text, a, n);
    memcpy(text + n, b, m);
    int32_t id = wick__vocab_id(job->vocab, text, n + m);
    if (id < 0 || id >= job->pieces->n_scores) return -1;
    /* Scores as integers in the same order: a float's bits, turned so that the highest score is the lowest rank. */
    int32_t bits;
    memcpy(&bits, &job->pieces->scores[id], sizeof bits);
    if (bits < 0) bits = (int32_t)(0x80000000u - (uint32_t)bits);
    *rank = bits == INT32_MIN ? INT32_MAX : -bits;
    return id;
}

static enum wick_status emit_bytes(const struct job *job, const char *text, size_t nbytes) {
    for (size_t i = 0; i < nbytes; i++) {
        int32_t id = job->pieces->byte_ids[(unsigned char)text[i]];
        if (id < 0) id = job->pieces->unknown;
        if (id < 0)
            return wick__fail(WICK_FORMAT, "the vocabulary has no token for the byte 0x%02X", (unsigned char)text[i]);
        emit(job, id);
    }
    return WICK_OK;
}

/* What no token stands for: its bytes where all of them have tokens, or unknown. */
static enum wick_status emit_unknown(struct job *job, const char *text, size_t nbytes) {
    const struct wick__pieces *pieces = job->pieces;
    bool all = true, again = job->unknown && pieces->fuse_unknown;
    for (size_t i = 0; i < nbytes; i++) all = all && pieces->byte_ids[(unsigned char)text[i]] >= 0;
    if (all || pieces->kind == WICK__PIECES_SPM || pieces->unknown < 0) return emit_bytes(job, text, nbytes);
    if (!again) emit(job, pieces->unknown);
    job->unknown = true;
    return WICK_OK;
}

static enum wick_status encode_characters(struct job *job, const char *text, size_t nbytes) {
    struct wick__symbol_link *symbols = symbols_of(job, nbytes);
    int32_t n = 0;
    uint32_t c;
    if (!symbols) return wick__latest();
    job->unknown = false;
    for (size_t at = 0; at < nbytes; n++) {
        size_t length = wick__utf8_get(text + at, nbytes - at, &c);
        int32_t id = wick__vocab_id(job->vocab, text + at, length);
        symbols[n] = (struct wick__symbol_link){id < 0 || id >= job->pieces->n_model ? UNKNOWN : id, n + 1, n - 1};
        at += length;
    }
    symbols[n - 1].next = -1;
    wick__pair_fn *pair = job->pieces->kind == WICK__PIECES_SPM ? pair_by_score : pair_by_rank;
    WICK__TRY(wick__merge_all(symbols, n, pair, job));
    size_t at = 0;
    for (int32_t i = 0; i >= 0; i = symbols[i].next) {
        /* A symbol begins at character i; the text of its id may be another's, where two tokens have one id. */
        size_t start = at;
        for (int32_t c_at = i; c_at < (symbols[i].next < 0 ? n : symbols[i].next); c_at++)
            at += wick__utf8_get(text + at, nbytes - at, &c);
        if (symbols[i].id == UNKNOWN) {
            WICK__TRY(emit_unknown(job, text + start, at - start));
            continue;
        }
        emit(job, symbols[i].id);
        job->unknown = false;
    }
    return WICK_OK;
}

/* ---- Unigram ---- */

static enum wick_status take_token(void *context, int32_t id, const char *text, size_t nbytes) {
    struct job *job = context;
    const struct wick__pieces *pieces = job->pieces;
    int32_t whole = id == pieces->unknown ? wick__vocab_id(job->vocab, text, nbytes) : id;
    if (whole < 0 || whole >= pieces->n_model) return emit_unknown(job, text, nbytes);
    emit(job, whole);
    return WICK_OK;
}

/* ---- both ---- */

/* A text whose blanks are U+2581, or a word of it. */
static enum wick_status encode_spaced(struct job *job, const char *text, size_t nbytes) {
    const struct wick__pieces *pieces = job->pieces;
    if (pieces->kind == WICK__PIECES_UNIGRAM) {
        job->unknown = false;
        const struct wick__cutter cutter = {&pieces->unigram, job->vocab, &job->symbols, take_token, job};
        return wick__unigram_cut(&cutter, text, nbytes);
    }
    int32_t id = pieces->splitter.whole_words ? wick__vocab_id(job->vocab, text, nbytes) : -1;
    if (id < 0 || id >= pieces->n_model) return encode_characters(job, text, nbytes);
    emit(job, id);
    return WICK_OK;
}

/* Words begin at each U+2581. */
static enum wick_status encode_spaced_words(struct job *job, const char *text, size_t nbytes) {
    if (!job->pieces->split_blanks) return encode_spaced(job, text, nbytes);
    for (size_t at = 0, end; at < nbytes; at = end) {
        end = at + 1;
        while (end < nbytes && !(nbytes - end >= 3 && memcmp(text + end, "\u2581", 3) == 0)) end++;
        WICK__TRY(encode_spaced(job, text + at, end - at));
    }
    return WICK_OK;
}

static bool is_blank(const char *text, size_t nbytes) {
    return text[0] == ' ' || (nbytes >= 3 && memcmp(text, "\u2581", 3) == 0);
}

/* Blanks as U+2581, one more before the text where the vocabulary wants it. */
static enum wick_status encode_spm(struct job *job, const char *text, size_t nbytes, enum wick__place place) {
    const struct wick__pieces *pieces = job->pieces;
    struct wick__buffer spaced = {0};
    enum wick_status status = WICK_OK;
    bool first = place == WICK__PLACE_START || (place == WICK__PLACE_BEHIND && !pieces->prefix_once);
    if (first && pieces->space_prefix && !(pieces->metaspace && is_blank(text, nbytes)))
        status = wick__buffer_append(&spaced, "\u2581", 3);
    for (size_t i = 0; i < nbytes && status == WICK_OK; i++)
        status = text[i] == ' ' && !pieces->keep_blanks ? wick__buffer_append(&spaced, "\u2581", 3)
                                                        : wick__buffer_append(&spaced, text + i, 1);
    if (status == WICK_OK) status = encode_spaced_words(job, spaced.data, spaced.nbytes);
    wick__buffer_free(&spaced);
    return status;
}

/* Byte-level BPE; a blank before a text that has none where the vocabulary wants it. */
static enum wick_status encode_bytes(struct job *job, const char *text, size_t nbytes) {
    const struct wick__splitter *splitter = &job->pieces->splitter;
    if (!job->pieces->space_prefix || text[0] == ' ') return wick__split(splitter, text, nbytes, encode_word, job);
    struct wick__buffer spaced = {0};
    enum wick_status status = wick__buffer_append(&spaced, " ", 1);
    if (status == WICK_OK) status = wick__buffer_append(&spaced, text, nbytes);
    if (status == WICK_OK) status = wick__split(splitter, spaced.data, spaced.nbytes, encode_word, job);
    wick__buffer_free(&spaced);
    return status;
}

enum wick_status wick__pieces_encode(const struct wick__pieces *pieces, const struct wick__vocab *vocab,
                                     const char *text, size_t nbytes, enum wick__place place,
                                     const struct wick__pieces_out *out) {
    struct job job = {.pieces = pieces, .vocab = vocab, .out = out};
    struct wick__buffer composed = {0};
    enum wick_status status = WICK_OK;
    if (nbytes == 0) return WICK_OK;
    if (pieces->compose) {
        status = wick__compose(text, nbytes, &composed);
        text = composed.data;
        nbytes = composed.nbytes;
    }
    if (status == WICK_OK && nbytes > 0)
        status =
            pieces->kind == WICK__PIECES_BPE ? encode_bytes(&job, text, nbytes) : encode_spm(&job, text, nbytes, place);
    wick__buffer_free(&composed);
    wick__buffer_free(&job.symbols);
    return status;
}
