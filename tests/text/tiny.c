/* Tokenizers with a vocabulary of a few words: every setting against Hugging Face's results, truncation, text that is
 * no UTF-8, and what damaged files give. */
#include "tests/text/reference.h"

#include <sys/stat.h>
#include <unistd.h>

static void check_reference(void) {
    size_t nbytes, i;
    char *text = read_file("tests/text/tiny.json", &nbytes), path[256];
    json_t *root = json_loadb(text, nbytes, JSON_ALLOW_NUL, NULL), *list, *item;
    const char *name;
    CHECK_INT(json_object_size(root), 4);
    json_object_foreach(root, name, list) {
        snprintf(path, sizeof path, "tests/text/%s", name);
        struct wick_tokenizer *tokenizer = wick_tokenizer_open(path);
        CHECK(tokenizer);
        json_array_foreach(list, i, item) {
            if (tokenizer) check_case(tokenizer, name, item);
        }
        wick_tokenizer_close(tokenizer);
    }
    json_decref(root);
    free(text);
}

static void check_encode(void) {
    struct wick_tokenizer *tokenizer = wick_tokenizer_open("tests/text/tiny-vocab");
    int32_t ids[8] = {-7, -7, -7, -7, -7, -7, -7, -7};
    int64_t n = 0;
    CHECK_INT(wick_tokenizer_max_length(tokenizer), 12);
    CHECK_OK(wick_tokenizer_encode(tokenizer, "hello world hello world", 23, 4, ids, &n));
    CHECK_INT(n, 6);
    CHECK_BYTES(ids, ((int32_t[]){2, 5, 6, 3, -7}), 20);
    CHECK_OK(wick_tokenizer_encode(tokenizer, "hello", 5, 2, ids, &n));
    CHECK_BYTES(ids, ((int32_t[]){2, 3, 6, 3, -7}), 20);
    CHECK_INT(n, 3);
    CHECK_OK(wick_tokenizer_encode(tokenizer, "hello", 5, 0, NULL, &n));
    CHECK_INT(n, 3);
    CHECK_OK(wick_tokenizer_encode(tokenizer, NULL, 0, 8, ids, &n));
    CHECK_INT(n, 2);
    CHECK_FAILS(wick_tokenizer_encode(tokenizer, "hello", 5, 1, ids, &n), WICK_INVALID,
                "tokenizer_encode: max 1 leaves no room for the 2 special tokens");
    CHECK_FAILS(wick_tokenizer_encode(NULL, "hello", 5, 8, ids, &n), WICK_INVALID,
                "tokenizer_encode: NULL argument, or max 8 below 0");
    CHECK_FAILS(wick_tokenizer_encode(tokenizer, "hello", 5, -1, ids, &n), WICK_INVALID,
                "tokenizer_encode: NULL argument, or max -1 below 0");
    /* U+FFFD in each of these places goes away as a control character does. */
    static const char *const broken[] = {"hel\xFFlo",
                                         "hel\xC3lo",
                                         "hello\xE4\xBD",
                                         "hel\xED\xA0\x80lo",
                                         "hel\xF4\x90\x80\x80lo",
                                         "\xC0\x80hello",
                                         "\x80hel\x81l\xF0\x9Fo",
                                         "hello\xF0"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        CHECK_OK(wick_tokenizer_encode(tokenizer, broken[i], strlen(broken[i]), 8, ids, &n));
        CHECK_INT(n, 3);
        CHECK_INT(ids[1], 5);
    }
    CHECK_INT(wick_tokenizer_id(tokenizer, "world"), 6);
    CHECK_INT(wick_tokenizer_id(tokenizer, "worlds"), -1);
    CHECK_INT(wick_tokenizer_id(NULL, "world"), -1);
    CHECK(wick_tokenizer_token(tokenizer, -1) == NULL);
    CHECK(wick_tokenizer_token(tokenizer, 1000) == NULL);
    CHECK_TEXT(wick_tokenizer_token(tokenizer, 7), "##s");
    wick_tokenizer_close(tokenizer);
    wick_tokenizer_close(NULL);
}

/* What comes in front of and behind the vocabulary in a tokenizer.json. */
#define HEAD "{\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"type\":\"WordPiece\",\"vocab\":"
#define UNK "{\"[UNK]\":0,\"a\":1}"
#define UNIGRAM "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",0]]}"
#define METASPACE "\"type\":\"Metaspace\",\"replacement\":\"\u2581\""
#define SIXTY "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct {
    enum wick_status status;
    const char *json, *text; /* what stands after "FOLDER" in the error */
} broken_files[] = {
    {WICK_FORMAT, "", "/tokenizer.json: line 1, column 0: '[' or '{' expected near end of file"},
    {WICK_FORMAT, "[]", "/tokenizer.json: is not a JSON object"},
    {WICK_FORMAT, "{\"a\":\"\\ud800\"}",
     "/tokenizer.json: line 1, column 13: invalid Unicode '\\uD800' near '\"\\ud800\"'"},
    {WICK_UNSUPPORTED, "{}", ": tokenizer: pre-tokenizer of type '': only BertPreTokenizer is known"},
    {WICK_UNSUPPORTED, "{\"pre_tokenizer\":{\"type\":\"ByteLevel\"}}",
     ": tokenizer: pre-tokenizer of type 'ByteLevel': only BertPreTokenizer is known"},
    {WICK_FORMAT, "{\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{}}",
     ": tokenizer: the model has no vocabulary"},
    {WICK_UNSUPPORTED, "{\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"type\":\"BPE\"}}",
     ": tokenizer: pre-tokenizer of type 'BertPreTokenizer' is not known for BPE"},
    {WICK_UNSUPPORTED, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]}}",
     ": tokenizer: BPE of neither ByteLevel nor byte_fallback nor unk_token is not known"},
    {WICK_UNSUPPORTED, "{\"pre_tokenizer\":{\"type\":\"Digits\"},\"model\":{\"type\":\"BPE\"}}",
     ": tokenizer: pre-tokenizer of type 'Digits' is not known for BPE"},
    {WICK_UNSUPPORTED, UNIGRAM ",\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\"}}",
     ": tokenizer: pre-tokenizer Metaspace with replacement '_' is not known"},
    {WICK_UNSUPPORTED, UNIGRAM ",\"pre_tokenizer\":{" METASPACE ",\"prepend_scheme\":\"last\"}}",
     ": tokenizer: pre-tokenizer Metaspace with prepend_scheme 'last' is not known"},
    {WICK_UNSUPPORTED,
     UNIGRAM ",\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{" METASPACE "},{" METASPACE "}]}}",
     ": tokenizer: pre-tokenizer Metaspace after another blank before the text"},
    {WICK_UNSUPPORTED, UNIGRAM ",\"normalizer\":{\"type\":\"Precompiled\"}}",
     ": tokenizer: normalizer of type 'Precompiled' is not known for Unigram"},
    {WICK_UNSUPPORTED, UNIGRAM ",\"pre_tokenizer\":{\"type\":\"ByteLevel\"}}",
     ": tokenizer: pre-tokenizer of type 'ByteLevel' is not known for Unigram"},
    {WICK_FORMAT, "{\"model\":{\"type\":\"Unigram\",\"vocab\":{}}}",
     ": tokenizer: the model has no vocabulary, or one of more than 4194304 tokens"},
    {WICK_FORMAT, "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",\"b\"]]}}",
     ": tokenizer: token 0 of the vocabulary is no text with a score"},
    {WICK_FORMAT, "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",0],7]}}",
     ": tokenizer: token 1 of the vocabulary is no text with a score"},
    {WICK_FORMAT, "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",0]],\"unk_id\":1}}",
     ": tokenizer: 'unk_id' is not an integer in 0..0"},
    {WICK_UNSUPPORTED, "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"" SIXTY SIXTY SIXTY SIXTY SIXTY "\",0]]}}",
     ": tokenizer: token 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' has more than 256 bytes"},
    {WICK_UNSUPPORTED, "{\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"normalizer\":{\"type\":\"NFKC\"}}",
     ": tokenizer: normalizer of type 'NFKC': only BertNormalizer is known"},
    {WICK_FORMAT,
     "{\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"normalizer\":{\"type\":\"BertNormalizer\",\"lowercase\":1}}",
     ": tokenizer: 'lowercase' is neither true nor false"},
    {WICK_FORMAT, HEAD "{}}}", ": tokenizer: the unknown token '[UNK]' is not in the vocabulary"},
    {WICK_FORMAT, HEAD "{\"a\":\"b\"}}}", ": tokenizer: token 'a' has no integer for an id"},
    {WICK_FORMAT, HEAD "{\"a\":-1}}}", ": tokenizer: id -1 of a token is not in 0..4194303"},
    {WICK_FORMAT, HEAD "{\"a\":4194304}}}", ": tokenizer: id 4194304 of a token is not in 0..4194303"},
    {WICK_FORMAT, HEAD UNK ",\"max_input_chars_per_word\":-5}}",
     ": tokenizer: 'max_input_chars_per_word' is not an integer in 0..1048576"},
    {WICK_FORMAT, HEAD UNK "},\"added_tokens\":7}", ": tokenizer: 'added_tokens' is not a list"},
    {WICK_FORMAT, HEAD UNK "},\"added_tokens\":[{\"id\":1}]}", ": tokenizer: added token 0 has no content"},
    {WICK_FORMAT, HEAD UNK "},\"added_tokens\":[{\"id\":99999999,\"content\":\"x\"}]}",
     ": tokenizer: 'id' is not an integer in 0..4194303"},
    {WICK_UNSUPPORTED, HEAD UNK "},\"post_processor\":{\"type\":\"OtherProcessing\"}}",
     ": tokenizer: post-processor of type 'OtherProcessing': only TemplateProcessing is known"},
    {WICK_FORMAT, HEAD UNK "},\"post_processor\":{\"type\":\"TemplateProcessing\"}}",
     ": tokenizer: the template of special tokens has no 'single'"},
    {WICK_FORMAT, HEAD UNK "},\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[]}}",
     ": tokenizer: the template of special tokens has no place for the text"},
    {WICK_FORMAT, HEAD UNK "},\"post_processor\":{\"type\":\"BertProcessing\",\"cls\":[\"x\",5],\"sep\":[]}}",
     ": tokenizer: a special token has no valid id"},
};

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    CHECK(file);
    if (!file) return;
    fputs(text, file);
    fclose(file);
}

static void check_broken_files(void) {
    char folder[] = "/tmp/wick-tokenizer-XXXXXX", path[64], other[64], text[512];
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/tokenizer.json", folder);
    snprintf(other, sizeof other, "%s/vocab.txt", folder);
    snprintf(text, sizeof text, "%s: can't be opened: No such file or directory", other);
    CHECK_FAILS(wick_tokenizer_open(folder), WICK_IO, text);
    write_file(other, "a\nb\n[UNK]\n[SEP]\n");
    snprintf(text, sizeof text, "%s: tokenizer: vocab.txt: the cls_token '[CLS]' is missing", folder);
    CHECK_FAILS(wick_tokenizer_open(folder), WICK_FORMAT, text);
    for (size_t i = 0; i < sizeof broken_files / sizeof *broken_files; i++) {
        write_file(path, broken_files[i].json);
        snprintf(text, sizeof text, "%s%s", folder, broken_files[i].text);
        CHECK_FAILS(wick_tokenizer_open(folder), broken_files[i].status, text);
    }
    unlink(path);
    CHECK(mkfifo(path, 0600) == 0);
    snprintf(text, sizeof text, "%s: is not a regular file", path);
    CHECK_FAILS(wick_tokenizer_open(folder), WICK_IO, text);
    unlink(path);
    FILE *file = fopen(path, "wb"); /* a hole: no disk is used */
    CHECK(file && ftruncate(fileno(file), (64 << 20) + 1) == 0);
    if (file) fclose(file);
    snprintf(text, sizeof text, "%s: 67108865 bytes are more than the 67108864 that are allowed", path);
    CHECK_FAILS(wick_tokenizer_open(folder), WICK_FORMAT, text);
    unlink(path);
    unlink(other);
    rmdir(folder);
    CHECK_FAILS(wick_tokenizer_open(NULL), WICK_INVALID, "tokenizer_open: folder is NULL");
}

static const struct {
    const char *value;
    int64_t length; /* -1: refused */
} max_lengths[] = {{"512", 512},
                   {"512.0", 512},
                   {"null", 0},
                   {"1073741824", 1 << 30},
                   {"1073741825", 0},
                   {"9223372036854775807", 0},
                   {"1000000000000000019884624838656", 0}, /* as Transformers writes int(1e30) */
                   {"1e30", 0},
                   {"0", -1},
                   {"-1", -1},
                   {"-1000000000000000019884624838656", -1},
                   {"12.5", -1},
                   {"\"512\"", -1},
                   {"true", -1}};

static void check_max_length(void) {
    char folder[] = "/tmp/wick-tokenizer-XXXXXX", vocab[64], config[64], text[160];
    CHECK(mkdtemp(folder));
    snprintf(vocab, sizeof vocab, "%s/vocab.txt", folder);
    snprintf(config, sizeof config, "%s/tokenizer_config.json", folder);
    write_file(vocab, "[UNK]\n[CLS]\n[SEP]\n");
    for (size_t i = 0; i < sizeof max_lengths / sizeof *max_lengths; i++) {
        snprintf(text, sizeof text, "{\"do_lower_case\":true,\"model_max_length\":%s}", max_lengths[i].value);
        write_file(config, text);
        snprintf(text, sizeof text, "%s: tokenizer: 'model_max_length' is not an integer in 1..1073741824", folder);
        if (max_lengths[i].length < 0) {
            CHECK_FAILS(wick_tokenizer_open(folder), WICK_FORMAT, text);
            continue;
        }
        struct wick_tokenizer *tokenizer = wick_tokenizer_open(folder);
        CHECK(tokenizer);
        CHECK_INT(wick_tokenizer_max_length(tokenizer), max_lengths[i].length);
        wick_tokenizer_close(tokenizer);
    }
    unlink(vocab);
    unlink(config);
    rmdir(folder);
}

int main(void) {
    size_t before = wick_host_memory_used();
    check_reference();
    check_encode();
    check_broken_files();
    check_max_length();
    CHECK_INT(wick_host_memory_used(), before);
    return test_end();
}
