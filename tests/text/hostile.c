/* Vocabularies and texts made to hurt a tokenizer: each call ends soon, with an error or the right ids. */
#include "tests/format/bytes.h"

#include <time.h>
#include <unistd.h>

enum { U32 = 4, I32 = 5, F32 = 6, STRING = 8, ARRAY = 9 }; /* types of GGUF's values */
enum { NORMAL = 1, CONTROL = 3 };

static char path[] = "/tmp/wick-hostile-text-XXXXXX";

/* What a vocabulary is made of. */
struct vocabulary {
    const char *model; /* "gpt2", "llama" */
    int n_tokens, n_merges;
    void (*token)(int i, char text[64]);
    void (*merge)(int i, char text[64]);
    int type;    /* of all tokens but the single letters, which come first */
    float score; /* of all of them */
    int64_t begin;
};

/* Processor time in seconds, which does not depend on what else the machine does. */
static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Far above what a sanitizer needs, far below minutes: the time of quadratic ways. */
static const double limit = 20;

static void put_string(struct bytes *file, const char *text) {
    put64(file, strlen(text));
    put_text(file, text);
}

static void put_key(struct bytes *file, const char *key, unsigned type) {
    put_string(file, key);
    put32(file, type);
}

static void put_array(struct bytes *file, const char *key, unsigned type, int n) {
    put_key(file, key, ARRAY);
    put32(file, type);
    put64(file, (uint64_t)n);
}

static void put_strings(struct bytes *file, const char *key, int n, void (*item)(int, char[64])) {
    char text[64];
    put_array(file, key, STRING, n);
    for (int i = 0; i < n; i++) {
        item(i, text);
        put_string(file, text);
    }
}

static struct wick_tokenizer *make(const struct vocabulary *v) {
    struct bytes file = {0};
    put_text(&file, "GGUF");
    put32(&file, 3);
    put64(&file, 0);
    put64(&file, 7);
    put_key(&file, "tokenizer.ggml.model", STRING);
    put_string(&file, v->model);
    put_key(&file, "tokenizer.ggml.pre", STRING);
    put_string(&file, "gpt-2");
    put_strings(&file, "tokenizer.ggml.tokens", v->n_tokens, v->token);
    put_array(&file, "tokenizer.ggml.token_type", I32, v->n_tokens);
    for (int i = 0; i < v->n_tokens; i++) put32(&file, i < 3 ? NORMAL : (uint32_t)v->type);
    put_array(&file, "tokenizer.ggml.scores", F32, v->n_tokens);
    for (int i = 0; i < v->n_tokens; i++) put(&file, &v->score, sizeof v->score);
    put_strings(&file, "tokenizer.ggml.merges", v->n_merges, v->merge);
    put_key(&file, "tokenizer.ggml.bos_token_id", U32);
    put32(&file, (uint32_t)v->begin);
    FILE *to = fopen(path, "wb");
    CHECK(to && fwrite(file.data, 1, file.n, to) == file.n && fclose(to) == 0);
    free(file.data);
    return wick_tokenizer_open(path);
}

/* Encodes so many repetitions of a text within the limit; keeps only the first ids. */
static int64_t encode(const struct wick_tokenizer *tokenizer, const char *unit, int times, int32_t first[8]) {
    size_t length = strlen(unit);
    char *text = malloc(length * (size_t)times);
    for (int i = 0; i < times; i++) memcpy(text + (size_t)i * length, unit, length);
    struct wick_ids ids = {.ids = first, .max = 8};
    double began = now();
    CHECK_OK(wick_tokenizer_encode_with(tokenizer, text, length * (size_t)times, WICK_ENCODE_PLAIN, &ids));
    double took = now() - began;
    if (took >= limit) printf("%d times '%s': %.2f s\n", times, unit, took);
    CHECK(took < limit);
    free(text);
    return ids.n;
}

static void letters(int i, char text[64]) { snprintf(text, 64, "%c", 'a' + i % 3); }
static void no_merge(int i, char text[64]) { snprintf(text, 64, "%c a", 'x' + i); }

/* a, b, c; then b, ba, baa, ... */
static void chain(int i, char text[64]) {
    text[0] = i < 3 ? (char)('a' + i) : 'b';
    text[1] = 0;
    for (int at = 1; i >= 4 && at <= (i - 3) % 60; at++) text[at] = 'a', text[at + 1] = 0;
    if (i >= 60) snprintf(text + strlen(text) - 8 * (strlen(text) > 40), 12, "%07d", i);
}

/* a, b, c; then texts of a's and b's: the bits of their number behind a letter. */
static void pairs(int i, char text[64]) {
    int n = 0, bits = 0;
    if (i < 3) {
        letters(i, text);
        return;
    }
    for (int rest = i - 1; rest > 1; rest /= 2) bits++;
    for (int bit = bits - 1; bit >= 0; bit--) text[n++] = (i - 1) >> bit & 1 ? 'b' : 'a';
    text[n] = 0;
}

/* Every way to cut such a text, the same way many times, and what is no token. */
static void cuts(int i, char text[64]) {
    char whole[64];
    pairs(5 + i % 500, whole);
    size_t at = 1 + (size_t)i / 500 % (strlen(whole) - 1);
    snprintf(text, 64, "%.*s %s", (int)at, whole, whole + at);
}

/* Names that begin alike cost no more than others: 60,000 tokens that a text is searched for. */
static void check_many_special(void) {
    const struct vocabulary v = {"gpt2", 60000, 1, chain, no_merge, CONTROL, 0, 0};
    double began = now();
    struct wick_tokenizer *tokenizer = make(&v);
    CHECK(tokenizer && now() - began < limit);
    int32_t first[8];
    CHECK_INT(encode(tokenizer, "b", 1000000, first), 1000000);
    CHECK_INT(first[0], 3); /* the special token b, not the letter */
    CHECK_INT(encode(tokenizer, "ba", 500000, first), 500000);
    CHECK_INT(first[0], 4);
    wick_tokenizer_close(tokenizer);
}

/* The first token with a text is the one that is found by it, but all can be told apart. */
static void check_duplicates(void) {
    const struct vocabulary v = {"gpt2", 100000, 1, letters, no_merge, NORMAL, 0, 0};
    int32_t first[8];
    struct wick_tokenizer *tokenizer = make(&v);
    CHECK(tokenizer);
    CHECK_INT(wick_tokenizer_vocab_size(tokenizer), 100000);
    CHECK_INT(encode(tokenizer, "cab", 100000, first), 300000);
    CHECK(first[0] == 2 && first[1] == 0 && first[2] == 1);
    CHECK(strcmp(wick_tokenizer_token(tokenizer, 99999), wick_tokenizer_token(tokenizer, 0)) != 0);
    wick_tokenizer_close(tokenizer);
}

/* Merges in circles and of all lengths end, since each makes a text shorter; the ids spell the text. */
static void check_merges(void) {
    const struct vocabulary v = {"gpt2", 2000, 8000, pairs, cuts, NORMAL, 0, 0};
    int32_t ids[64], first[8];
    struct wick_tokenizer *tokenizer = make(&v);
    CHECK(tokenizer);
    static const char text[] = "abbabaaabbbbabababbaabbabaababbbabaabb";
    struct wick_ids found = {.ids = ids, .max = 64};
    struct wick_text back = {0};
    CHECK_OK(wick_tokenizer_encode_with(tokenizer, text, sizeof text - 1, WICK_ENCODE_PLAIN, &found));
    CHECK(found.n > 0 && found.n < 30);
    CHECK_OK(wick_tokenizer_decode(tokenizer, found.n, ids, &back));
    CHECK_TEXT(back.data, text);
    wick_text_free(&back);
    CHECK(encode(tokenizer, "a", 1000000, first) < 1000000);
    CHECK(encode(tokenizer, "ab", 500000, first) < 1000000);
    wick_tokenizer_close(tokenizer);
}

static void check_refused(const struct vocabulary *v, const char *text) {
    struct wick_tokenizer *tokenizer = make(v);
    CHECK(!tokenizer && wick_error_status() == WICK_FORMAT && strstr(wick_error(), text));
    wick_error_clear();
    wick_tokenizer_close(tokenizer);
}

int main(void) {
    int file = mkstemp(path);
    CHECK(file >= 0);
    check_many_special();
    check_duplicates();
    check_merges();
    check_refused(&(struct vocabulary){"llama", 10, 1, letters, no_merge, NORMAL, NAN, 0}, "score 0 is not a number");
    check_refused(&(struct vocabulary){"llama", 10, 1, letters, no_merge, NORMAL, -INFINITY, 0}, "score 0");
    check_refused(&(struct vocabulary){"gpt2", 10, 1, letters, no_merge, NORMAL, 0, 10}, "bos_token_id is 10");
    check_refused(&(struct vocabulary){"gpt2", 10, 1, letters, no_merge, NORMAL, 0, UINT32_MAX}, "not a token");
    check_refused(&(struct vocabulary){"gpt2", 10, 0, letters, no_merge, NORMAL, 0, 0}, "0 merges");
    close(file);
    unlink(path);
    return test_end();
}
