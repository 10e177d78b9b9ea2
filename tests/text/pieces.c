/* Byte-level BPE and SentencePiece from GGUF, against Hugging Face's tokenizers and Google's sentencepiece
 * (pieces/make.py); decoding as ids come; what damaged files give. */
#include "tests/text/reference.h"

/* Whether the bytes are whole characters. */
static bool is_utf8(const char *text, size_t nbytes) {
    json_t *string = json_stringn(text, nbytes);
    json_decref(string);
    return string != NULL;
}

/* Pushed one by one, ids give whole characters each time, and together what decoding gives. */
static void check_decode(const struct wick_tokenizer *tokenizer, const char *want, size_t nbytes,
                         const struct wick_ids *ids) {
    struct wick_text text = {0};
    CHECK_OK(wick_tokenizer_decode(tokenizer, ids->n, ids->ids, &text));
    TEST_CHECK_(text.nbytes == nbytes && memcmp(text.data, want, nbytes) == 0, "'%s' comes back as '%s'", want,
                text.data);
    struct wick_decoder *decoder = wick_decoder_open(tokenizer);
    const char *part;
    size_t n, at = 0;
    for (int64_t i = 0; i < ids->n; i++) {
        CHECK_OK(wick_decoder_push(decoder, ids->ids[i], &part, &n));
        CHECK(is_utf8(part, n) && at + n <= text.nbytes && memcmp(text.data + at, part, n) == 0);
        at += n;
    }
    CHECK_OK(wick_decoder_end(decoder, &part, &n));
    CHECK_INT(at + n, text.nbytes);
    wick_decoder_close(decoder);
    wick_text_free(&text);
}

static void check_vocabulary(const char *name, size_t least) {
    static int32_t room[4096];
    char path[128];
    size_t nbytes, i;
    snprintf(path, sizeof path, "tests/text/pieces/%s.gguf", name);
    struct wick_tokenizer *tokenizer = wick_tokenizer_open(path);
    snprintf(path, sizeof path, "tests/text/pieces/%s.json.gz", name);
    char *file = read_file(path, &nbytes);
    json_t *cases = json_loadb(file, nbytes, JSON_ALLOW_NUL, NULL), *item;
    CHECK(tokenizer && json_array_size(cases) >= least);
    json_array_foreach(cases, i, item) {
        const json_t *text = json_object_get(item, "text"), *want = json_object_get(item, "ids");
        struct wick_ids ids = {.ids = room, .max = 4096};
        bool same = tokenizer &&
                    wick_tokenizer_encode_with(tokenizer, json_string_value(text), json_string_length(text),
                                               WICK_ENCODE_PLAIN, &ids) == WICK_OK &&
                    (size_t)ids.n == json_array_size(want);
        for (int64_t j = 0; same && j < ids.n; j++)
            same = ids.ids[j] == json_integer_value(json_array_get(want, (size_t)j));
        TEST_CHECK_(same, "%s: '%s' gives %d ids, should be %zu %s", name, json_string_value(text), (int)ids.n,
                    json_array_size(want), wick_error());
        if (same && !strstr(json_string_value(text), "<|") && strcmp(name, "spm") != 0)
            check_decode(tokenizer, json_string_value(text), json_string_length(text), &ids);
        if (same && strcmp(name, "spm") == 0 && json_string_value(text)[0] != ' ' && json_string_value(text)[0])
            check_decode(tokenizer, json_string_value(text), json_string_length(text), &ids);
    }
    json_decref(cases);
    free(file);
    wick_tokenizer_close(tokenizer);
}

/* A tokenizer.json, with the special tokens around the text (pieces/make-json.py). */
static void check_json(const char *name) {
    static int32_t room[4096];
    char path[128];
    size_t nbytes, i;
    snprintf(path, sizeof path, "tests/text/pieces/json-%s", name);
    struct wick_tokenizer *tokenizer = wick_tokenizer_open(path);
    snprintf(path, sizeof path, "tests/text/pieces/json-%s.json.gz", name);
    char *file = read_file(path, &nbytes);
    json_t *cases = json_loadb(file, nbytes, JSON_ALLOW_NUL, NULL), *item;
    CHECK(tokenizer && json_array_size(cases) == 400);
    json_array_foreach(cases, i, item) {
        const json_t *text = json_object_get(item, "text"), *want = json_object_get(item, "ids");
        int64_t n = 0;
        CHECK_OK(wick_tokenizer_encode(tokenizer, json_string_value(text), json_string_length(text), 4096, room, &n));
        bool same = (size_t)n == json_array_size(want);
        for (int64_t j = 0; same && j < n; j++) same = room[j] == json_integer_value(json_array_get(want, (size_t)j));
        TEST_CHECK_(same, "%s: '%s' has other ids", name, json_string_value(text));
    }
    json_decref(cases);
    free(file);
    wick_tokenizer_close(tokenizer);
}

/* Stop texts, against a search of the whole text, for random texts and stops of few letters; whole characters; what
 * wrong arguments give. */
static void check_stops(void) {
    static const char *const letters[] = {"a", "b", "\u00e9", "\u65e5"};
    struct wick_tokenizer *tokenizer = wick_tokenizer_open("tests/text/pieces/bpe-gpt-2.gguf");
    uint32_t seed = 1;
    int stopped = 0;
    for (int round = 0; round < 2000; round++) {
        char text[128] = "", stops[3][32] = {"", "", ""}, got[256] = "";
        const char *const list[] = {stops[0], stops[1], stops[2]};
        const char *end = NULL, *start = NULL, *part;
        int32_t room[128];
        struct wick_ids ids = {.ids = room, .max = 128};
        int64_t which = -1;
        for (int i = 0; i < 30; i++) strcat(text, letters[(seed = seed * 1664525 + 1013904223) >> 30]);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j <= (int)(seed >> 16) % 5; j++)
                strcat(stops[i], letters[(seed = seed * 1664525 + 1013904223) >> 30]);
        for (int i = 0; i < 3; i++) { /* the first to end, the longest of those that end there */
            const char *found = strstr(text, stops[i]), *after = found ? found + strlen(stops[i]) : NULL;
            if (!found || (end && (after > end || (after == end && found >= start)))) continue;
            start = found;
            end = after;
            which = i;
        }
        struct wick_decoder *decoder = wick_decoder_open_with(tokenizer, 3, list);
        for (int again = 0; again < 2; again++) {
            size_t n;
            *got = 0;
            CHECK_OK(wick_tokenizer_encode_with(tokenizer, text, strlen(text), WICK_ENCODE_PLAIN, &ids));
            for (int64_t i = 0; i < ids.n; i++) {
                CHECK_OK(wick_decoder_push(decoder, room[i], &part, &n));
                CHECK(is_utf8(part, n));
                strncat(got, part, n);
            }
            CHECK_OK(wick_decoder_end(decoder, &part, &n));
            strncat(got, part, n);
            if (start) text[start - text] = 0;
            CHECK_TEXT(got, text);
            CHECK_INT(wick_decoder_stopped(decoder), again && start ? -1 : which);
            stopped += which >= 0;
        }
        wick_decoder_close(decoder);
    }
    CHECK(stopped > 1000 && stopped < 4000); /* of 4000 */
    const char *const bad[] = {"ok", "\xE6"};
    CHECK(!wick_decoder_open_with(tokenizer, 2, bad));
    CHECK_TEXT(wick_error(), "decoder_open: stops[1] is NULL, empty or no UTF-8");
    wick_error_clear();
    wick_tokenizer_close(tokenizer);
    CHECK_INT(wick_decoder_stopped(NULL), -1);
    CHECK_INT(wick_host_memory_used(), 0);
}

/* Control tokens in a text are tokens, unless the text is meant as it stands. */
static void check_flags(void) {
    int32_t room[64];
    struct wick_ids ids = {.ids = room, .max = 64};
    struct wick_tokenizer *tokenizer = wick_tokenizer_open("tests/text/pieces/bpe-gpt-2.gguf");
    CHECK_OK(wick_tokenizer_encode_with(tokenizer, "<|end|><|user|>", 15, 0, &ids));
    CHECK_INT(ids.n, 2);
    CHECK_OK(wick_tokenizer_encode_with(tokenizer, "<|end|><|user|>", 15, WICK_ENCODE_LITERAL, &ids));
    CHECK(ids.n > 4);
    for (int64_t i = 0; i < ids.n; i++) CHECK(ids.ids[i] > 1);
    CHECK_TEXT(wick_tokenizer_token(tokenizer, 1), "<|user|>");
    CHECK_INT(wick_tokenizer_id(tokenizer, "<|user|>"), 1);
    struct wick_text text;
    CHECK_FAILS(wick_tokenizer_decode(tokenizer, 1, (int32_t[]){500}, &text), WICK_RANGE,
                "tokenizer_decode: id 500 stands for no token");
    CHECK_FAILS(wick_tokenizer_decode(tokenizer, -1, room, &text), WICK_INVALID,
                "tokenizer_decode: NULL argument, or n -1 below 0");
    wick_tokenizer_close(tokenizer);
    tokenizer = wick_tokenizer_open("tests/text/pieces/spm.gguf");
    CHECK_OK(wick_tokenizer_encode(tokenizer, "Wick", 4, 64, room, &ids.n));
    CHECK_INT(room[0], 1); /* <s> */
    wick_tokenizer_close(tokenizer);
    tokenizer = wick_tokenizer_open("tests/text/tiny-vocab");
    CHECK(!wick_decoder_open(tokenizer));
    CHECK_TEXT(wick_error(), "tokenizer_decode: WordPiece does not keep the text");
    wick_error_clear();
    wick_tokenizer_close(tokenizer);
}

/* What comes back: all but the blank before the text, or blanks in the first token. */
static void check_metaspace(void) {
    static const char *const cases[][3] = {{"metaspace", "the  model reads é\U0001F600", NULL},
                                           {"metaspace", " the", "the"},
                                           {"metaspace-never", " the model", NULL},
                                           {"metaspace-whole", "  the model", "the model"},
                                           {"unigram", "the model reads", NULL},
                                           {"unigram", " the", "the"},
                                           {"unigram-bytes", "the  model\n\U0001F600", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[128];
        int32_t room[64];
        struct wick_ids ids = {.ids = room, .max = 64};
        snprintf(path, sizeof path, "tests/text/pieces/json-%s", cases[i][0]);
        struct wick_tokenizer *tokenizer = wick_tokenizer_open(path);
        const char *text = cases[i][1], *want = cases[i][2] ? cases[i][2] : text;
        CHECK_OK(wick_tokenizer_encode_with(tokenizer, text, strlen(text), 0, &ids));
        check_decode(tokenizer, want, strlen(want), &ids);
        wick_tokenizer_close(tokenizer);
    }
}

/* Two million characters of one kind, of Unigram fewer, take time in proportion. */
static void check_long(void) {
    enum { N = 2 << 20 };
    static const char *const names[] = {"bpe-gpt-2.gguf", "bpe-llama-bpe.gguf", "spm.gguf", "json-unigram",
                                        "json-unigram-bytes"};
    char *text = malloc(N), path[128];
    for (size_t i = 0; i < 5; i++) {
        for (const char *c = i < 3 ? "x \n!" : "x"; *c; c++) {
            struct wick_ids ids = {0};
            snprintf(path, sizeof path, "tests/text/pieces/%s", names[i]);
            struct wick_tokenizer *tokenizer = wick_tokenizer_open(path);
            size_t n = i < 3 ? N : N / 8;
            memset(text, *c, n);
            CHECK_OK(wick_tokenizer_encode_with(tokenizer, text, n, WICK_ENCODE_PLAIN, &ids));
            CHECK(ids.n > 0);
            wick_tokenizer_close(tokenizer);
        }
    }
    free(text);
}

/* Each file but for its last bytes, and with a byte changed: refused, or taken for another vocabulary. */
static void check_damage(void) {
    size_t nbytes;
    char *data = read_file("tests/text/pieces/bpe-gpt-2.gguf", &nbytes);
    const char *path = "test-pieces-damaged.gguf";
    for (size_t i = 0; i < 400; i++) {
        size_t at = i < 200 ? i : (i * 7919) % nbytes;
        char saved = data[at];
        data[at] = (char)(saved ^ (1 << i % 8));
        FILE *file = fopen(path, "wb");
        CHECK(file && fwrite(data, 1, i % 5 ? nbytes : nbytes - i, file) == (i % 5 ? nbytes : nbytes - i) &&
              fclose(file) == 0);
        data[at] = saved;
        struct wick_tokenizer *tokenizer = wick_tokenizer_open(path);
        struct wick_ids ids = {0};
        if (tokenizer)
            (void)!wick_tokenizer_encode_with(tokenizer, "Hello <|end|> 12", 16, 0, &ids);
        else
            CHECK(*wick_error());
        wick_tokenizer_close(tokenizer);
        wick_error_clear();
        CHECK_INT(wick_host_memory_used(), 0);
    }
    remove(path);
    free(data);
}

int main(void) {
    static const char *const names[] = {"bpe-gpt-2", "bpe-smollm", "bpe-llama-bpe", "bpe-qwen2", "spm"};
    for (size_t i = 0; i < 5; i++) check_vocabulary(names[i], 340);
    static const char *const files[] = {"gpt2",    "roberta",      "smollm",    "llama3",          "qwen2",
                                        "llama2",  "gemma",        "metaspace", "metaspace-whole", "metaspace-never",
                                        "unigram", "unigram-bytes"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) check_json(files[i]);
    check_flags();
    check_metaspace();
    check_stops();
    check_damage();
    check_long();
    return test_end();
}
