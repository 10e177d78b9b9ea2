/* GGUF files that contradict themselves, or say what Wick does not know: each is refused with a text that names it.
 * Prompts, weights and templates made to hurt. */
#include "tests/test.h"

#include <unistd.h>

enum { TENSORS = 64 };

static struct wick_device *device;
static struct wick_archive *good;
static char path[] = "/tmp/wick-hostile-XXXXXX";

/* A copy of llama.gguf with some keys replaced, and one tensor left out (replacement NULL) or replaced. */
struct change {
    const char *key, *type, *value; /* NULL: none */
    const char *tensor;             /* NULL: none */
    const char *renamed;            /* of the tensor; NULL: left out unless it has a shape */
    int64_t rows, columns;          /* of its replacement, of ones; 0: none */
    enum wick_status status;
    const char *text; /* in the error */
};

static void write_changed(const struct change *change) {
    struct wick_tensor *tensors[TENSORS];
    const char *names[TENSORS];
    const char *const metadata[] = {change->key, change->type, change->value, NULL};
    int64_t n = 0;
    wick_scope_begin();
    for (int64_t i = 0; i < wick_archive_count(good); i++) {
        const char *name = wick_archive_name(good, i);
        bool it = change->tensor && strcmp(name, change->tensor) == 0;
        if (it && !change->renamed && !change->rows) continue;
        names[n] = it && change->renamed ? change->renamed : name;
        tensors[n++] = it && change->rows ? wick_ones(device, WICK_F32, WICK_SHAPE(change->rows, change->columns))
                                          : wick_archive_load_at(good, i, device);
    }
    CHECK_OK(wick_gguf_save(path, n, names, (const struct wick_tensor *const *)tensors, good,
                            change->key ? metadata : NULL));
    wick_scope_end(NULL);
}

static void check(const struct change *change) {
    write_changed(change);
    struct wick_lm *lm = wick_lm_open(path, device, NULL);
    if (lm || wick_error_status() != change->status || !strstr(wick_error(), change->text))
        printf("%s %s: %s\n", change->key ? change->key : "", change->tensor ? change->tensor : "", wick_error());
    CHECK(!lm);
    CHECK(wick_error_status() == change->status);
    CHECK(strstr(wick_error(), change->text));
    wick_error_clear();
    wick_lm_close(lm);
}

static const struct change changes[] = {
    {.key = "llama.secret", .type = "u32", .value = "1", .status = WICK_UNSUPPORTED, .text = "'llama.secret'"},
    {.key = "general.architecture", .type = "string", .value = "rwkv", .status = WICK_UNSUPPORTED, .text = "'rwkv'"},
    {.key = "llama.block_count",
     .type = "u32",
     .value = "3",
     .status = WICK_FORMAT,
     .text = "'blk.2.attn_norm.weight'"},
    {.key = "llama.block_count",
     .type = "u32",
     .value = "1",
     .status = WICK_UNSUPPORTED,
     .text = "beyond the 1 layers"},
    {.key = "llama.block_count", .type = "u32", .value = "0", .status = WICK_FORMAT, .text = "llama.block_count"},
    {.key = "llama.block_count", .type = "u32", .value = "4294967295", .status = WICK_FORMAT, .text = "block_count"},
    {.key = "llama.block_count", .type = "string", .value = "2", .status = WICK_FORMAT, .text = "not a number"},
    {.key = "llama.attention.head_count", .type = "u32", .value = "3", .status = WICK_UNSUPPORTED, .text = "3 heads"},
    {.key = "llama.attention.head_count", .type = "u32", .value = "8", .status = WICK_FORMAT, .text = "attn_k"},
    {.key = "llama.attention.key_length", .type = "u32", .value = "65536", .status = WICK_FORMAT, .text = "attn_q"},
    {.key = "llama.embedding_length", .type = "u32", .value = "1048576", .status = WICK_FORMAT, .text = "token_embd"},
    {.key = "llama.feed_forward_length", .type = "u32", .value = "47", .status = WICK_FORMAT, .text = "ffn_gate"},
    {.key = "llama.feed_forward_length", .type = "f32", .value = "47.5", .status = WICK_FORMAT, .text = "whole"},
    {.key = "llama.rope.freq_base", .type = "f32", .value = "nan", .status = WICK_FORMAT, .text = "freq_base"},
    {.key = "llama.rope.freq_base", .type = "f32", .value = "0", .status = WICK_FORMAT, .text = "rope's base"},
    {.key = "llama.rope.dimension_count",
     .type = "u32",
     .value = "7",
     .status = WICK_UNSUPPORTED,
     .text = "rope over 7"},
    {.key = "llama.rope.scaling.type", .type = "string", .value = "warp", .status = WICK_UNSUPPORTED, .text = "'warp'"},
    {.key = "llama.attention.layer_norm_rms_epsilon",
     .type = "f32",
     .value = "-1",
     .status = WICK_FORMAT,
     .text = "epsilon"},
    {.key = "llama.vocab_size", .type = "u32", .value = "4000000", .status = WICK_FORMAT, .text = "token_embd"},
    {.key = "llama.expert_count", .type = "u32", .value = "4", .status = WICK_FORMAT, .text = "experts"},
    {.key = "tokenizer.ggml.eos_token_id", .type = "u32", .value = "4000000000", .status = WICK_FORMAT, .text = "eos"},
    {.key = "tokenizer.ggml.bos_token_id", .type = "u32", .value = "64", .status = WICK_FORMAT, .text = "bos"},
    {.key = "tokenizer.ggml.unknown_token_id", .type = "u32", .value = "64", .status = WICK_FORMAT, .text = "unknown"},
    {.tensor = "output_norm.weight", .status = WICK_FORMAT, .text = "'output_norm.weight' is missing"},
    {.tensor = "token_embd.weight", .status = WICK_FORMAT, .text = "'token_embd.weight' is missing"},
    {.tensor = "blk.1.ffn_down.weight", .status = WICK_FORMAT, .text = "'blk.1.ffn_down.weight' is missing"},
    {.tensor = "blk.1.ffn_down.weight", .rows = 32, .columns = 49, .status = WICK_FORMAT, .text = "[32,48]"},
    {.tensor = "token_embd.weight", .rows = 1, .columns = 32, .status = WICK_FORMAT, .text = "has 1 tokens"},
    {.tensor = "output.weight",
     .renamed = "blk.0.extra.weight",
     .status = WICK_UNSUPPORTED,
     .text = "'blk.0.extra.weight'"},
    {.tensor = "output.weight", .renamed = "extra", .status = WICK_UNSUPPORTED, .text = "'extra'"},
    {.tensor = "output.weight", .renamed = "rope_freqs.weight", .status = WICK_FORMAT, .text = "is not [4] f32"},
};

/* ---- what a good model is asked ---- */

/* A prompt that can't fit is refused without being read: 10 MB in no time. One that could fit is counted. */
static void check_prompts(void) {
    enum { BYTES = 10000000 };
    struct wick_lm *lm = wick_lm_open("tests/model/llama.gguf", device, NULL);
    struct wick_sequence *sequence = wick_sequence_open(lm, NULL);
    char *text = malloc(BYTES);
    memset(text, 'b', BYTES);
    CHECK(wick_sequence_prompt(sequence, text, BYTES, 0) == WICK_RANGE);
    CHECK(strstr(wick_error(), "10000000 bytes") && strstr(wick_error(), "context of 64"));
    wick_error_clear();
    CHECK(wick_sequence_prompt(sequence, text, 65, 0) == WICK_RANGE);
    CHECK(strstr(wick_error(), "65 tokens"));
    wick_error_clear();
    CHECK_OK(wick_sequence_prompt(sequence, text, 64, 0));
    CHECK(wick_sequence_length(sequence) == 64);
    free(text);
    wick_sequence_close(sequence);
    wick_lm_close(lm);
}

/* Weights whose blocks have a scale of NaN: logits that are NaN, which no token is drawn from. */
static void check_nan(void) {
    static const uint16_t nan = 0x7e00;
    unsigned char blocks[32 * 34];
    struct wick_tensor *tensors[TENSORS];
    const char *names[TENSORS];
    int64_t n = wick_archive_count(good);
    memset(blocks, 1, sizeof blocks);
    for (size_t i = 0; i < sizeof blocks; i += 34) memcpy(blocks + i, &nan, sizeof nan);
    wick_scope_begin();
    for (int64_t i = 0; i < n; i++) {
        names[i] = wick_archive_name(good, i);
        tensors[i] = strcmp(names[i], "blk.1.attn_q.weight") == 0
                         ? wick_from_data(device, WICK_DTYPE_q8_0, WICK_SHAPE(32, 32), blocks, sizeof blocks)
                         : wick_archive_load_at(good, i, device);
    }
    CHECK_OK(wick_gguf_save(path, n, names, (const struct wick_tensor *const *)tensors, good, NULL));
    wick_scope_end(NULL);
    struct wick_lm *lm = wick_lm_open(path, device, NULL);
    struct wick_sequence *sequence = wick_sequence_open(lm, NULL);
    const struct wick_generate_options options = {.max_tokens = 4, .ignore_end = true};
    CHECK_OK(wick_sequence_prompt(sequence, "bca", 3, 0));
    CHECK(wick_generate(sequence, &options, NULL) == WICK_RANGE);
    CHECK(strstr(wick_error(), "NaN"));
    wick_error_clear();
    wick_sequence_close(sequence);
    wick_lm_close(lm);
}

/* A template without an end in sight is stopped. */
static void check_template(void) {
    static const char *const sources[] = {
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        "{% for i in range(100000) %}{{ messages | tojson }}{% for j in range(9999) %}xxxx{% endfor %}{% endfor %}",
        "{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}"};
    static const char messages[] = "[{\"role\": \"user\", \"content\": \"Hi\"}]";
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        write_changed(&(struct change){.key = "tokenizer.chat_template", .type = "string", .value = sources[i]});
        struct wick_lm *lm = wick_lm_open(path, device, NULL);
        struct wick_text text = {0};
        CHECK(lm);
        enum wick_status status = wick_lm_chat(lm, messages, sizeof messages - 1, true, &text);
        printf("template %zu: %s\n", i, wick_error());
        CHECK(status == WICK_RANGE || status == WICK_UNSUPPORTED || status == WICK_MEMORY);
        wick_error_clear();
        wick_text_free(&text);
        wick_lm_close(lm);
    }
}

int main(void) {
    device = wick_device_open("cpu");
    good = wick_archive_open("tests/model/llama.gguf", NULL);
    int file = mkstemp(path);
    CHECK(device && good && file >= 0);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) check(&changes[i]);
    check_prompts();
    check_nan();
    check_template();
    wick_archive_close(good);
    wick_device_close(device);
    close(file);
    unlink(path);
    return test_end();
}
