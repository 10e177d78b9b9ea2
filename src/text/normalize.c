/* BERT's clean-up of text: the steps of Hugging Face's BertNormalizer, in its order, a character at a time. */
#include "text/normalize.h"

#include "text/unicode.h"

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
