/* Folders of language models: the ways in which config.json says one thing, the files beside it, and folders that
 * contradict themselves or say what Wick does not know. Folders are links to those in hub/, but for one file. */
#include "tests/test.h"

#include <jansson.h>
#include <unistd.h>

enum { TOKENS = 24, VOCAB = 64 };

static struct wick_device *device;
static int32_t ids[TOKENS];
static char folder[] = "/tmp/wick-folder-XXXXXX";
static const char *const files[] = {"config.json",
                                    "generation_config.json",
                                    "tokenizer.json",
                                    "tokenizer_config.json",
                                    "chat_template.jinja",
                                    "model.safetensors",
                                    "model.safetensors.index.json",
                                    "model-00001-of-00004.safetensors",
                                    "model-00002-of-00004.safetensors",
                                    "model-00003-of-00004.safetensors",
                                    "model-00004-of-00004.safetensors"};
enum { FILES = sizeof files / sizeof *files };

static void path_of(char path[128], const char *file) { snprintf(path, 128, "%s/%s", folder, file); }

static void write_text(const char *file, const char *text) {
    char path[128];
    path_of(path, file);
    unlink(path);
    FILE *out = fopen(path, "w");
    CHECK(out && fputs(text, out) >= 0);
    if (out) fclose(out);
}

/* Makes the folder that of a family again. */
static void make_folder(const char *family) {
    char from[512], here[256], path[128];
    CHECK(getcwd(here, sizeof here));
    for (int i = 0; i < FILES; i++) {
        path_of(path, files[i]);
        unlink(path);
        snprintf(from, sizeof from, "%s/tests/model/hub/%s/%s", here, family, files[i]);
        if (access(from, R_OK) == 0) CHECK(symlink(from, path) == 0);
    }
}

/* Merges `changes`, a JSON object, into a file of the folder. "" takes a member away. */
static void change(const char *file, const char *changes) {
    char path[128];
    const char *name;
    json_t *value;
    path_of(path, file);
    json_t *json = json_load_file(path, 0, NULL), *with = json_loads(changes, 0, NULL);
    CHECK(json && with);
    json_object_foreach(with, name, value) {
        if (json_is_string(value) && json_string_length(value) == 0)
            json_object_del(json, name);
        else
            json_object_set(json, name, value);
    }
    char *text = json_dumps(json, 0);
    write_text(file, text);
    free(text);
    json_decref(json);
    json_decref(with);
}

/* ---- what is the same ---- */

static void check_same(struct wick_archive *archive, const char *family, const char *changes) {
    static float expected[TOKENS * VOCAB], values[TOKENS * VOCAB];
    double most = 0;
    make_folder(family);
    change("config.json", changes);
    struct wick_lm *lm = wick_lm_open(folder, device, NULL);
    struct wick_sequence *sequence = lm ? wick_sequence_open(lm, NULL) : NULL;
    struct wick_tensor *logits = sequence ? wick_sequence_append_all(sequence, TOKENS, ids) : NULL;
    struct wick_tensor *want = wick_archive_load(archive, family, device);
    CHECK(logits && want);
    if (logits) {
        CHECK_OK(wick_read(logits, values, sizeof values));
        CHECK_OK(wick_read(want, expected, sizeof expected));
        for (int i = 0; i < TOKENS * VOCAB; i++) most = fmax(most, fabs((double)values[i] - (double)expected[i]));
    }
    if (!(most <= 3e-5)) printf("%s with %s: off by %g\n", family, changes, most);
    CHECK(most <= 3e-5);
    wick_error_clear();
    wick_release(logits);
    wick_release(want);
    wick_sequence_close(sequence);
    wick_lm_close(lm);
}

/* The keys of transformers 4, and others that say what the files say already. */
static const struct {
    const char *family, *changes;
} same[] = {
    {"llama", "{\"rope_parameters\": \"\", \"head_dim\": null, \"num_experts\": null, \"news\": false, \"more\": {}}"},
    {"llama3",
     "{\"rope_parameters\": \"\", \"rope_theta\": 500, \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": "
     "8, \"low_freq_factor\": 1, \"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 16}}"},
    {"linear", "{\"rope_parameters\": \"\", \"rope_scaling\": {\"type\": \"linear\", \"factor\": 4.0}}"},
    {"yarn", "{\"rope_parameters\": \"\", \"layer_types\": \"\", \"rope_theta\": 10000.0, \"rope_scaling\": {\"type\": "
             "\"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 16}}"},
    {"mistral", "{\"layer_types\": [\"sliding_attention\", \"sliding_attention\"]}"},
    {"qwen2", "{\"layer_types\": \"\", \"sliding_window\": 3, \"use_sliding_window\": true, \"max_window_layers\": 2}"},
    {"qwen3moe", "{\"num_local_experts\": \"\", \"num_experts\": 4}"},
    {"gemma", "{\"tie_word_embeddings\": \"\", \"hidden_activation\": null, \"hidden_act\": \"gelu\"}"},
    {"gemma2", "{\"layer_types\": \"\", \"rope_parameters\": \"\", \"rope_theta\": 10000.0}"},
    {"gemma3", "{\"layer_types\": \"\", \"rope_parameters\": \"\", \"_sliding_window_pattern\": \"\", "
               "\"sliding_window_pattern\": 2, \"rope_local_base_freq\": 10000.0, \"rope_theta\": 1000000.0, "
               "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 8.0}}"},
    {"phi3", "{\"rope_parameters\": \"\", \"rope_theta\": 10000.0, \"partial_rotary_factor\": 0.5}"},
    {"longrope",
     "{\"rope_parameters\": \"\", \"rope_theta\": 10000.0, \"rope_scaling\": {\"type\": \"su\", \"short_factor\": "
     "[1.0, 1.1, 1.2, 1.3], \"long_factor\": [1.5, 2.0, 3.0, 4.0]}}"},
};

/* ---- what is refused ---- */

static void check_refused(const char *what, enum wick_status status, const char *text) {
    struct wick_lm *lm = wick_lm_open(folder, device, NULL);
    if (lm || wick_error_status() != status || !strstr(wick_error(), text)) printf("%s: %s\n", what, wick_error());
    CHECK(!lm);
    CHECK(wick_error_status() == status);
    CHECK(strstr(wick_error(), text));
    wick_error_clear();
    wick_lm_close(lm);
}

static const struct {
    const char *family, *changes;
    enum wick_status status;
    const char *text;
} refused[] = {
    {"llama", "{\"model_type\": \"rwkv\"}", WICK_UNSUPPORTED, "model_type 'rwkv'"},
    {"llama", "{\"model_type\": \"\"}", WICK_UNSUPPORTED, "model_type ''"},
    {"llama", "{\"model_type\": 3}", WICK_FORMAT, "'model_type' is not a string"},
    {"llama", "{\"quantization_config\": {\"bits\": 4}}", WICK_UNSUPPORTED, "'quantization_config' is not known"},
    {"llama", "{\"is_causal\": false}", WICK_UNSUPPORTED, "'is_causal' is not true"},
    {"yarn", "{\"rope_parameters\": {\"rope_type\": \"yarn\", \"factor\": 4, \"truncate\": false}}", WICK_UNSUPPORTED,
     "'truncate' is not true"},
    {"llama", "{\"secret\": 1}", WICK_UNSUPPORTED, "'secret' is not known"},
    {"llama", "{\"hidden_size\": \"\"}", WICK_FORMAT, "'hidden_size' is missing"},
    {"llama", "{\"hidden_size\": 0}", WICK_FORMAT, "'hidden_size' is 0"},
    {"llama", "{\"hidden_size\": 1e300}", WICK_FORMAT, "'hidden_size' is 1e+300"},
    {"llama", "{\"hidden_size\": -32}", WICK_FORMAT, "'hidden_size' is -32"},
    {"llama", "{\"hidden_size\": 32.5}", WICK_FORMAT, "no whole number"},
    {"llama", "{\"hidden_size\": \"32\"}", WICK_FORMAT, "'hidden_size' is missing"},
    {"llama", "{\"head_dim\": [8]}", WICK_FORMAT, "'head_dim' is not a number"},
    {"llama", "{\"hidden_size\": 64}", WICK_FORMAT, "'model.embed_tokens.weight' is not of the shape [64,64]"},
    {"llama", "{\"num_attention_heads\": 3}", WICK_UNSUPPORTED, "3 heads for 2"},
    {"llama", "{\"num_attention_heads\": 64, \"head_dim\": null}", WICK_UNSUPPORTED, "64 heads"},
    {"llama", "{\"num_hidden_layers\": 3}", WICK_FORMAT, "'model.layers.2.input_layernorm.weight' is missing"},
    {"llama", "{\"num_hidden_layers\": 1}", WICK_UNSUPPORTED, "beyond the 1 layers"},
    {"llama", "{\"vocab_size\": 4000000}", WICK_FORMAT, "embed_tokens"},
    {"llama", "{\"rms_norm_eps\": 0}", WICK_FORMAT, "rms_norm_eps"},
    {"llama", "{\"hidden_act\": \"gelu\"}", WICK_UNSUPPORTED, "activation 'gelu'"},
    {"llama", "{\"sliding_window\": 8}", WICK_UNSUPPORTED, "sliding_window"},
    {"llama", "{\"num_experts\": 4, \"num_experts_per_tok\": 2}", WICK_UNSUPPORTED, "experts are not known of llama"},
    {"llama", "{\"tie_word_embeddings\": 1}", WICK_FORMAT, "'tie_word_embeddings'"},
    {"llama", "{\"eos_token_id\": 64}", WICK_FORMAT, "'eos_token_id'"},
    {"llama", "{\"eos_token_id\": [2, \"x\"]}", WICK_FORMAT, "'eos_token_id'"},
    {"llama", "{\"eos_token_id\": [[2]]}", WICK_FORMAT, "list of lists"},
    {"llama", "{\"bos_token_id\": -1}", WICK_FORMAT, "'bos_token_id'"},
    {"llama", "{\"rope_parameters\": {\"rope_type\": \"warp\"}}", WICK_UNSUPPORTED, "'warp'"},
    {"llama", "{\"rope_parameters\": {\"rope_type\": \"dynamic\", \"factor\": 2}}", WICK_UNSUPPORTED, "'dynamic'"},
    {"llama", "{\"rope_parameters\": {\"mrope_section\": [1, 2]}}", WICK_UNSUPPORTED, "'mrope_section'"},
    {"llama", "{\"rope_parameters\": {\"rope_type\": \"linear\"}}", WICK_FORMAT, "'factor' of rope is missing"},
    {"llama", "{\"rope_parameters\": {\"rope_type\": \"linear\", \"factor\": 0}}", WICK_FORMAT, "rope's base"},
    {"llama", "{\"rope_parameters\": {\"rope_theta\": 0}}", WICK_FORMAT, "rope's base"},
    {"llama", "{\"rope_parameters\": {\"rope_type\": \"llama3\", \"factor\": 8}}", WICK_FORMAT, "low_freq_factor"},
    {"llama", "{\"rope_parameters\": [1]}", WICK_FORMAT, "rope is not an object"},
    {"llama", "{\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2}}", WICK_UNSUPPORTED, "both"},
    {"llama", "{\"partial_rotary_factor\": 2}", WICK_FORMAT, "'partial_rotary_factor'"},
    {"llama", "{\"partial_rotary_factor\": 0.4}", WICK_UNSUPPORTED, "rope over 3"},
    {"llama3", "{\"tie_word_embeddings\": false}", WICK_FORMAT, "'lm_head.weight' is missing"},
    {"yarn", "{\"rope_parameters\": {\"rope_type\": \"yarn\", \"factor\": 4, \"beta_fast\": 1, \"beta_slow\": 2}}",
     WICK_FORMAT, "beta_slow"},
    {"yarn", "{\"rope_parameters\": {\"rope_type\": \"yarn\", \"factor\": 4, \"mscale\": 2}}", WICK_UNSUPPORTED,
     "'mscale'"},
    {"mistral", "{\"sliding_window\": \"\"}", WICK_FORMAT, "'sliding_window' is missing"},
    {"mixtral", "{\"num_local_experts\": 5}", WICK_FORMAT, "gate.weight' is not of the shape [5,32]"},
    {"mixtral", "{\"num_local_experts\": 3}", WICK_FORMAT, "gate.weight' is not of the shape [3,32]"},
    {"mixtral", "{\"num_experts_per_tok\": 5}", WICK_FORMAT, "5 of 4 experts"},
    {"mixtral", "{\"num_local_experts\": null}", WICK_FORMAT, "number of experts is missing"},
    {"mixtral", "{\"intermediate_size\": 47}", WICK_FORMAT, "experts.0.w1.weight' is not of the shape [47,32]"},
    {"qwen3moe", "{\"norm_topk_prob\": false}", WICK_UNSUPPORTED, "norm_topk_prob"},
    {"qwen3moe", "{\"norm_topk_prob\": \"\"}", WICK_FORMAT, "'norm_topk_prob' is missing"},
    {"qwen3moe", "{\"mlp_only_layers\": [0]}", WICK_UNSUPPORTED, "'mlp_only_layers'"},
    {"qwen3moe", "{\"decoder_sparse_step\": 2}", WICK_UNSUPPORTED, "'decoder_sparse_step'"},
    {"qwen2", "{\"layer_types\": [\"full_attention\"]}", WICK_FORMAT, "'layer_types'"},
    {"qwen2", "{\"layer_types\": [\"full_attention\", \"linear_attention\"]}", WICK_UNSUPPORTED, "'linear_attention'"},
    {"qwen2",
     "{\"layer_types\": [\"full_attention\", \"sliding_attention\"], \"sliding_window\": 4, "
     "\"use_sliding_window\": true}",
     WICK_UNSUPPORTED, "irregularly"},
    {"qwen2", "{\"layer_types\": \"\", \"sliding_window\": 4, \"use_sliding_window\": true, \"max_window_layers\": 1}",
     WICK_UNSUPPORTED, "max_window_layers 1"},
    {"gemma2", "{\"final_logit_softcapping\": \"\"}", WICK_FORMAT, "'final_logit_softcapping' is missing"},
    {"gemma3", "{\"model_type\": \"gemma3\"}", WICK_UNSUPPORTED, "'gemma3'"},
    {"gemma3", "{\"query_pre_attn_scalar\": 0}", WICK_FORMAT, "'query_pre_attn_scalar'"},
    {"gemma3", "{\"use_bidirectional_attention\": true}", WICK_UNSUPPORTED, "'use_bidirectional_attention'"},
    {"gemma3",
     "{\"rope_parameters\": {\"full_attention\": {\"rope_theta\": 1e6}, \"sliding_attention\": {\"rope_type\": "
     "\"linear\", \"factor\": 2}}}",
     WICK_UNSUPPORTED, "sliding_attention"},
    {"longrope", "{\"rope_parameters\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 1, 1, 1]}}", WICK_FORMAT,
     "'long_factor' is missing"},
    {"longrope", "{\"rope_parameters\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 1]}}", WICK_FORMAT,
     "list of 4"},
    {"longrope", "{\"rope_parameters\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 1, 0, 1]}}", WICK_FORMAT,
     "item 2"},
    {"phi3", "{\"num_key_value_heads\": 1}", WICK_FORMAT, "qkv_proj"},
};

/* Texts of config.json that are none. */
static void check_texts(void) {
    static const char *const bad[] = {"",
                                      "[]",
                                      "{",
                                      "{\"hidden_size\": NaN}",
                                      "{\"hidden_size\": 1e400}",
                                      "{\"model_type\": \"llama\", \"model_type\": \"llama\"}"};
    enum { DEEP = 200000 };
    char *deep = malloc(DEEP + 16);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        make_folder("llama");
        write_text("config.json", bad[i]);
        check_refused(bad[i], WICK_FORMAT, "config.json");
    }
    memset(deep, '[', DEEP);
    memcpy(deep, "{\"a\": ", 6);
    deep[DEEP] = 0;
    write_text("config.json", deep);
    check_refused("deep", WICK_FORMAT, "config.json");
    free(deep);
}

static void check_missing(void) {
    static const struct {
        const char *family, *file;
        const char *text;
    } missing[] = {{"llama", "config.json", "config.json"},
                   {"llama", "tokenizer.json", "no tokenizer.json"},
                   {"llama", "model.safetensors", "model.safetensors"},
                   {"mixtral", "model-00002-of-00004.safetensors", "model-00002-of-00004.safetensors"}};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        char path[128];
        make_folder(missing[i].family);
        path_of(path, missing[i].file);
        CHECK(unlink(path) == 0);
        check_refused(missing[i].file, WICK_IO, missing[i].text);
    }
    struct wick_lm *lm = wick_lm_open("tests/model/hub/llama/model.safetensors", device, NULL);
    CHECK(!lm && wick_error_status() == WICK_UNSUPPORTED && strstr(wick_error(), "config.json"));
    wick_error_clear();
}

/* ---- files beside config.json ---- */

static void check_chat(const char *want) {
    static const char messages[] = "[{\"role\": \"user\", \"content\": \"Hi\"}]";
    struct wick_lm *lm = wick_lm_open(folder, device, NULL);
    struct wick_text text = {0};
    CHECK(lm);
    CHECK_OK(wick_lm_chat(lm, messages, sizeof messages - 1, true, &text));
    CHECK_TEXT(text.data, want);
    wick_text_free(&text);
    wick_lm_close(lm);
}

static void check_beside(void) {
    make_folder("llama");
    write_text("tokenizer_config.json",
               "{\"chat_template\": \"{{ bos_token }}A{{ messages[0].content }}{{ eos_token }}\"}");
    check_chat("<s>AHi</s>");
    write_text("tokenizer_config.json", "{\"chat_template\": [{\"name\": \"tool\", \"template\": \"no\"}, {\"name\": "
                                        "\"default\", \"template\": \"B{{ messages[0].content }}\"}]}");
    check_chat("BHi");
    write_text("tokenizer_config.json",
               "{\"bos_token\": \"a\", \"eos_token\": {\"content\": \"ab\"}, \"chat_template\": "
               "\"{{ bos_token }}{{ eos_token }}\"}");
    check_chat("aab");
    write_text("chat_template.jinja", "C{{ messages[0].role }}");
    check_chat("Cuser");
    change("generation_config.json", "{\"eos_token_id\": [7, 5]}");
    struct wick_lm *lm = wick_lm_open(folder, device, NULL);
    CHECK(wick_lm_is_end(lm, 7) && wick_lm_is_end(lm, 5) && wick_lm_is_end(lm, 2) && wick_lm_is_end(lm, 63) &&
          !wick_lm_is_end(lm, 6));
    wick_lm_close(lm);
    change("generation_config.json", "{\"eos_token_id\": 64}");
    check_refused("ends", WICK_FORMAT, "generation_config.json: 'eos_token_id'");
    write_text("tokenizer_config.json", "{\"eos_token\": 7}");
    check_refused("eos_token", WICK_FORMAT, "'eos_token' is not a string");
}

/* Experts are copied into one tensor: twice the bytes where the files were read into memory as well. */
static void check_memory(void) {
    const char *mixtral = "tests/model/hub/mixtral";
    const int64_t experts = 2 * 3 * 4 * 32 * 48 * 4;
    struct wick_lm_info info;
    struct wick_lm_memory mapped, copied, plain;
    const struct wick_lm_options copy = {.files = {.copy = true}};
    CHECK_OK(wick_lm_inspect(mixtral, NULL, &info));
    CHECK_TEXT(info.family, "llama");
    CHECK(info.layers == 2 && info.vocab == VOCAB && info.context == 64);
    CHECK_OK(wick_lm_estimate(mixtral, device, NULL, NULL, &mapped));
    CHECK_OK(wick_lm_estimate(mixtral, device, &copy, NULL, &copied));
    CHECK_INT(mapped.weights, info.weight_bytes);
    CHECK_INT(copied.weights, info.weight_bytes + experts);
    CHECK_OK(wick_lm_estimate("tests/model/mixtral.gguf", device, NULL, NULL, &plain));
    CHECK_INT(mapped.weights, plain.weights);
    CHECK_INT(mapped.work, plain.work);
    struct wick_memory before;
    CHECK_OK(wick_memory_trim(device));
    CHECK_OK(wick_memory_stats(device, &before));
    CHECK_OK(wick_memory_set_limit(device, before.used + experts / 2));
    struct wick_lm *lm = wick_lm_open(mixtral, device, NULL);
    CHECK(!lm && wick_error_status() == WICK_MEMORY && strstr(wick_error(), "MB for weights"));
    wick_error_clear();
    CHECK_OK(wick_memory_set_limit(device, SIZE_MAX));
}

/* A model may write ids that its tokenizer does not have: they are without text. */
static void check_spare(void) {
    const struct wick_generate_options options = {.max_tokens = 40, .ignore_end = true};
    struct wick_generate_result result;
    make_folder("llama");
    write_text("tokenizer.json",
               "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false}, \"model\": "
               "{\"type\": \"BPE\", \"vocab\": {\"a\": 3, \"b\": 4}, \"merges\": []}}");
    struct wick_lm *lm = wick_lm_open(folder, device, NULL);
    struct wick_sequence *sequence = wick_sequence_open(lm, NULL);
    CHECK_OK(wick_sequence_prompt(sequence, "ab", 2, 0));
    CHECK_OK(wick_generate(sequence, &options, &result));
    CHECK_INT(result.n_tokens, 40);
    wick_sequence_close(sequence);
    wick_lm_close(lm);
}

/* A sequence of a folder has its keys in another order than one of the GGUF file with the same weights. */
static void check_sequence(void) {
    char path[128];
    path_of(path, "sequence");
    struct wick_lm *lm = wick_lm_open("tests/model/hub/llama", device, NULL),
                   *other = wick_lm_open("tests/model/llama.gguf", device, NULL);
    struct wick_sequence *sequence = wick_sequence_open(lm, NULL), *foreign = wick_sequence_open(other, NULL);
    CHECK_OK(wick_sequence_prompt(sequence, "bca", 3, 0));
    CHECK_OK(wick_sequence_save(sequence, path));
    CHECK_OK(wick_sequence_load(sequence, path));
    CHECK(wick_sequence_load(foreign, path) == WICK_FORMAT && strstr(wick_error(), "another model"));
    wick_error_clear();
    wick_sequence_close(foreign);
    wick_sequence_close(sequence);
    wick_lm_close(other);
    wick_lm_close(lm);
    unlink(path);
}

int main(void) {
    device = wick_device_open("cpu");
    struct wick_archive *archive = wick_archive_open("tests/model/logits.safetensors", NULL);
    struct wick_tensor *x = wick_archive_load(archive, "ids", device);
    CHECK(x && mkdtemp(folder));
    CHECK_OK(wick_read(x, ids, sizeof ids));
    wick_release(x);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) check_same(archive, same[i].family, same[i].changes);
    wick_archive_close(archive);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        make_folder(refused[i].family);
        change("config.json", refused[i].changes);
        check_refused(refused[i].changes, refused[i].status, refused[i].text);
    }
    check_texts();
    check_missing();
    check_beside();
    check_memory();
    check_spare();
    check_sequence();
    make_folder("none");
    CHECK(rmdir(folder) == 0);
    wick_device_close(device);
    return test_end();
}
