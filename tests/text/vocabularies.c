/* Vocabularies of models with texts and their ids beside them, NAME.gguf, NAME.gguf.inp and NAME.gguf.out, as llama.cpp
 * keeps them. Usage: vocabularies FILE.gguf...; ends with a line of counts. tools/check-text fetches them. */
#include "tests/text/reference.h"

static const char separator[] = "\n__ggml_vocab_test__\n";

/* The ids of a line; returns how many. */
static int64_t read_ids(const char *line, const char *end, int32_t *ids, int64_t max) {
    int64_t n = 0;
    while (line < end && n < max) {
        char *after;
        long id = strtol(line, &after, 10);
        if (after == line || after > end) break;
        ids[n++] = (int32_t)id;
        line = after;
    }
    return n;
}

static void check_file(const char *path) {
    static int32_t got[1 << 14], want[1 << 14];
    char name[1024];
    size_t nbytes;
    struct wick_tokenizer *tokenizer = wick_tokenizer_open(path);
    snprintf(name, sizeof name, "%s.inp", path);
    char *texts = read_file(name, &nbytes);
    snprintf(name, sizeof name, "%s.out", path);
    char *lines = read_file(name, &nbytes), *text = texts, *line = lines;
    if (!tokenizer) test_result(false, __FILE__, __LINE__, wick_error());
    wick_error_clear();
    for (int i = 0; tokenizer && text && *line; i++) {
        char *end = strstr(text, separator), *line_end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - text) : strlen(text);
        struct wick_ids ids = {.ids = got, .max = 1 << 14};
        int64_t n = read_ids(line, line_end, want, 1 << 14);
        if (!end && length == 0) break;
        CHECK_OK(wick_tokenizer_encode_with(tokenizer, text, length, WICK_ENCODE_PLAIN | WICK_ENCODE_LITERAL, &ids));
        TEST_CHECK_(ids.n == n && memcmp(got, want, (size_t)n * 4) == 0, "%s: text %d has other ids", path, i);
        line = line_end + 1;
        text = end ? end + sizeof separator - 1 : NULL;
    }
    wick_tokenizer_close(tokenizer);
    free(texts);
    free(lines);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) check_file(argv[i]);
    return test_end();
}
