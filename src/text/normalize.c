/* BERT's clean-up of text: the steps of Hugging Face's BertNormalizer, in its order, a character at a time. */
#include "text/normalize.h"

#include "text/unicode.h"

#include <utf8proc.h>

/* Marks that survive (virama and the like) are held back until a character of combining class 0, sorted by class
 * without swapping equals. Runs longer than this, which no writing has, are sorted in stretches. */
enum { RUN_MAX = 128 };

struct state {
    const struct wick__normalizer *normalizer;
    struct wick__buffer *out;
    int n_run;
    uint32_t run[RUN_MAX];
    int class[RUN_MAX];
};

static enum wick_status put(struct state *state, uint32_t c) {
    uint32_t parts[WICK__LOWER_MAX] = {c};
    int n = state->normalizer->lowercase ? wick__lower(c, parts) : 1;
    struct wick__buffer *out = state->out;
    WICK__TRY(wick__buffer_reserve(out, (size_t)n * 4));
    for (int i = 0; i < n; i++) out->nbytes += wick__utf8_put(parts[i], out->data + out->nbytes);
    return WICK_OK;
}

static enum wick_status flush(struct state *state) {
    int n = state->n_run;
    state->n_run = 0;
    for (int i = 0; i < n; i++) WICK__TRY(put(state, state->run[i]));
    return WICK_OK;
}

static enum wick_status put_sorted(struct state *state, uint32_t c, int class) {
    if (state->n_run == RUN_MAX) WICK__TRY(flush(state));
    int i = state->n_run++;
    for (; i > 0 && state->class[i - 1] > class; i--) {
        state->class[i] = state->class[i - 1];
        state->run[i] = state->run[i - 1];
    }
    state->class[i] = class;
    state->run[i] = c;
    return WICK_OK;
}

static enum wick_status put_stripped(struct state *state, uint32_t c) {
    uint32_t parts[WICK__NFD_MAX];
    int n = wick__decompose(c, parts);
    for (int i = 0; i < n; i++) {
        int class = wick__combining_class(parts[i]);
        if (class == 0) WICK__TRY(flush(state));
        if (wick__is_mark(parts[i])) continue;
        WICK__TRY(class == 0 ? put(state, parts[i]) : put_sorted(state, parts[i], class));
    }
    return WICK_OK;
}

enum wick_status wick__normalize(const struct wick__normalizer *normalizer, const char *text, size_t nbytes,
                                 struct wick__buffer *out) {
    struct state state = {.normalizer = normalizer, .out = out, .n_run = 0};
    WICK__TRY(wick__buffer_reserve(out, nbytes));
    for (size_t at = 0; at < nbytes;) {
        uint32_t c;
        at += wick__utf8_get(text + at, nbytes - at, &c);
        if (normalizer->clean) {
            if (c == 0 || c == 0xFFFD || wick__is_control(c)) continue;
            if (wick__is_space(c)) c = ' ';
        }
        if (c < 0x80) { /* the same as the general way below, for most of most texts */
            WICK__TRY(flush(&state));
            WICK__TRY(put(&state, c));
            continue;
        }
        bool spaced = normalizer->ideographs && wick__is_ideograph(c);
        if (spaced) {
            WICK__TRY(flush(&state));
            WICK__TRY(put(&state, ' '));
        }
        WICK__TRY(normalizer->strip_accents ? put_stripped(&state, c) : put(&state, c));
        if (spaced) {
            WICK__TRY(flush(&state));
            WICK__TRY(put(&state, ' '));
        }
    }
    return flush(&state);
}

/* ---- composition ---- */

/* Sorts a run of n marks by their class and keeps equals in order; `scratch` has room for as many. */
static void sort_run(uint32_t *marks, size_t n, uint32_t *scratch) {
    size_t counts[257] = {0};
    if (n < 2) return;
    for (size_t i = 0; i < n; i++) counts[wick__combining_class(marks[i]) + 1]++;
    for (int class = 1; class <= 256; class ++) counts[class] += counts[class - 1];
    for (size_t i = 0; i < n; i++) scratch[counts[wick__combining_class(marks[i])]++] = marks[i];
    memcpy(marks, scratch, n * sizeof *marks);
}

/* The canonical decomposition of a text, its marks in order; returns how many characters. */
static size_t decompose(const char *text, size_t nbytes, uint32_t *out, uint32_t *scratch) {
    size_t n = 0, run = 0; /* the marks at the end are out[run .. n) */
    for (size_t at = 0; at < nbytes;) {
        uint32_t c, parts[WICK__NFD_MAX];
        at += wick__utf8_get(text + at, nbytes - at, &c);
        int n_parts = wick__decompose(c, parts);
        for (int i = 0; i < n_parts; i++) {
            if (wick__combining_class(parts[i]) == 0) {
                sort_run(out + run, n - run, scratch);
                run = n + 1;
            }
            out[n++] = parts[i];
        }
    }
    if (run < n) sort_run(out + run, n - run, scratch);
    return n;
}

enum wick_status wick__compose(const char *text, size_t nbytes, struct wick__buffer *out) {
    size_t ascii = 0;
    while (ascii < nbytes && (unsigned char)text[ascii] < 0x80) ascii++;
    if (ascii == nbytes) return wick__buffer_append(out, text, nbytes);
    if (nbytes > INT32_MAX / 16) return wick__fail(WICK_RANGE, "a text of %zu bytes is too long to normalize", nbytes);
    /* A character of two bytes or more becomes at most four others; one that is wrong becomes U+FFFD. */
    size_t capacity = nbytes * 4 * sizeof(uint32_t);
    uint32_t *characters = wick__alloc(capacity);
    if (!characters) return WICK_MEMORY;
    size_t n = decompose(text, nbytes, characters, characters + 2 * nbytes);
    utf8proc_ssize_t left = utf8proc_normalize_utf32((utf8proc_int32_t *)(void *)characters, (utf8proc_ssize_t)n,
                                                     (utf8proc_option_t)(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    enum wick_status status = wick__buffer_reserve(out, n * 4);
    for (utf8proc_ssize_t i = 0; i < left && status == WICK_OK; i++)
        out->nbytes += wick__utf8_put(characters[i], out->data + out->nbytes);
    wick__free(characters, capacity);
    return status;
}
