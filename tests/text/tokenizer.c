/* Tokens of the real model agree with Hugging Face's on real text and on constructed texts. */
#include "tests/fetched.h"
#include "tests/text/reference.h"

static void check_lines(const struct wick_tokenizer *tokenizer) {
    size_t n_lines, n_ids, at = 0;
    char *lines = read_file("tests/text/lines.gz", &n_lines), *line = lines;
    unsigned char *ids = (unsigned char *)read_file("tests/text/lines.ids.gz", &n_ids);
    int count = 0;
    for (char *end; (end = strchr(line, '\n')); line = end + 1, count++) {
        int32_t got[1024];
        int64_t n = 0, n_want = ids[at] | ids[at + 1] << 8;
        CHECK_OK(wick_tokenizer_encode(tokenizer, line, (size_t)(end - line), 1024, got, &n));
        bool same = n == n_want;
        for (int64_t i = 0; i < n_want && same; i++) {
            const unsigned char *id = ids + at + 2 + 2 * i;
            same = got[i] == (id[0] | id[1] << 8);
        }
        if (!test_result(same, __FILE__, __LINE__, "line differs"))
            printf(": %d: '%.*s'\n", count + 1, (int)(end - line), line);
        at += 2 + 2 * (size_t)n_want;
    }
    CHECK_INT(at, n_ids);
    CHECK(count >= 5000);
    free(lines);
    free(ids);
}

static void check_edges(const struct wick_tokenizer *tokenizer) {
    size_t nbytes, i;
    char *text = read_file("tests/text/edges.json.gz", &nbytes);
    json_t *list = json_loadb(text, nbytes, JSON_ALLOW_NUL, NULL), *item;
    CHECK(json_array_size(list) > 300);
    json_array_foreach(list, i, item) { check_case(tokenizer, "edge", item); }
    json_decref(list);
    free(text);
}

int main(void) {
    struct wick_tokenizer *tokenizer = wick_tokenizer_open(test_minilm());
    CHECK(tokenizer);
    if (!tokenizer) return test_end();
    CHECK_INT(wick_tokenizer_vocab_size(tokenizer), 30522);
    CHECK_INT(wick_tokenizer_id(tokenizer, "[PAD]"), 0);
    CHECK_INT(wick_tokenizer_max_length(tokenizer), 512);
    CHECK_TEXT(wick_tokenizer_token(tokenizer, 7592), "hello");
    check_lines(tokenizer);
    check_edges(tokenizer);
    wick_tokenizer_close(tokenizer);
    return test_end();
}
