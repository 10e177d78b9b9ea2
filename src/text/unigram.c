/* Unigram: of all ways to cut a text into tokens, the one whose scores have the largest sum (Viterbi's algorithm), as
 * Hugging Face's tokenizers finds it, ties and all. */
#include "text/unigram.h"

#include "text/unicode.h"

/* The best way to the place in the text that stands for the node. */
struct node {
    double score;
    int32_t id;    /* of the last token */
    int32_t start; /* where that begins; -1: no way leads here yet */
    int32_t end;   /* where the next token of the best way ends */
};

static void reach(struct node *node, double score, int32_t id, size_t start) {
    if (node->start >= 0 && !(score > node->score)) return;
    *node = (struct node){score, id, (int32_t)start, 0};
}

/* Goes on from a place by every token that the text has there, or by one unknown character. */
static void go_on(const struct wick__cutter *cutter, const char *text, size_t nbytes, size_t at, size_t character,
                  struct node *nodes) {
    const struct wick__unigram *unigram = cutter->unigram;
    const double score = nodes[at].score;
    uint64_t hash = wick__hash_start();
    bool known = false;
    for (size_t n = 1; at + n <= nbytes && n <= unigram->longest; n++) {
        hash = wick__hash_byte(hash, text[at + n - 1]);
        if (at + n < nbytes && ((unsigned char)text[at + n] & 0xC0) == 0x80) continue; /* inside a character */
        int32_t id = wick__vocab_find(cutter->vocab, hash, NULL, text + at, n);
        if (id < 0 || id >= unigram->n_scores) continue;
        reach(&nodes[at + n], score + unigram->scores[id], id, at);
        known = known || n == character;
    }
    if (!known) reach(&nodes[at + character], score + unigram->unknown_score, unigram->unknown, at);
}

enum wick_status wick__unigram_cut(const struct wick__cutter *cutter, const char *text, size_t nbytes) {
    const int32_t unknown = cutter->unigram->unknown;
    uint32_t c;
    if (nbytes >= INT32_MAX / sizeof(struct node))
        return wick__fail(WICK_RANGE, "a text of %zu bytes without a break", nbytes);
    cutter->room->nbytes = 0;
    WICK__TRY(wick__buffer_reserve(cutter->room, (nbytes + 1) * sizeof(struct node)));
    struct node *nodes = (struct node *)(void *)cutter->room->data;
    for (size_t i = 0; i <= nbytes; i++) nodes[i] = (struct node){.start = -1};
    for (size_t at = 0, character; at < nbytes; at += character) {
        character = wick__utf8_get(text + at, nbytes - at, &c);
        go_on(cutter, text, nbytes, at, character, nodes);
    }
    for (int32_t end = (int32_t)nbytes; end > 0; end = nodes[end].start) nodes[nodes[end].start].end = end;
    for (size_t at = 0; at < nbytes;) {
        size_t end = (size_t)nodes[at].end;
        int32_t id = nodes[end].id;
        /* Unknown characters that follow one another are one. */
        while (id == unknown && end < nbytes && nodes[nodes[end].end].id == id) end = (size_t)nodes[end].end;
        WICK__TRY(cutter->take(cutter->context, id, text + at, end - at));
        at = end;
    }
    return WICK_OK;
}
