/* Hostile folders of language models: the first byte picks a folder of tests/model/hub and one of its files, the others
 * are that file. What opens must also run. */
#include "tests/fuzz/fuzz.h"

#include <wick/wick.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/wick-fuzz-XXXXXX";
static const char *const families[] = {"llama", "mixtral", "gemma3", "longrope", "yarn", "qwen3moe"};
static const char *const changed[] = {"config.json", "tokenizer.json", "generation_config.json",
                                      "tokenizer_config.json"};
static const char *const files[] = {"config.json",
                                    "tokenizer.json",
                                    "generation_config.json",
                                    "tokenizer_config.json",
                                    "model.safetensors",
                                    "model.safetensors.index.json",
                                    "model-00001-of-00004.safetensors",
                                    "model-00002-of-00004.safetensors",
                                    "model-00003-of-00004.safetensors",
                                    "model-00004-of-00004.safetensors"};
enum {
    FAMILIES = sizeof families / sizeof *families,
    CHANGED = sizeof changed / sizeof *changed,
    FILES = sizeof files / sizeof *files
};
static struct wick_device *cpu;

static void path_of(char path[256], const char *file) { snprintf(path, 256, "%s/%s", folder, file); }

static void remove_files(void) {
    for (int i = 0; i < FILES; i++) {
        char path[256];
        path_of(path, files[i]);
        unlink(path);
    }
}

static void remove_folder(void) {
    remove_files();
    rmdir(folder);
}

static void prepare(void) {
    cpu = wick_device_open("cpu");
    if (!cpu || !mkdtemp(folder) || wick_memory_set_limit(cpu, (size_t)256 << 20) != WICK_OK) abort();
    atexit(remove_folder);
}

/* Links to the family's files, but for one, which the input is. */
static void make_folder(const char *family, const char *file, const uint8_t *data, size_t nbytes) {
    char path[256], from[512];
    remove_files();
    for (int i = 0; i < FILES; i++) {
        path_of(path, files[i]);
        snprintf(from, sizeof from, "%s/hub/%s/%s", WICK_MODELS, family, files[i]);
        if (files[i] != file && access(from, R_OK) == 0 && symlink(from, path) != 0) abort();
    }
    path_of(path, file);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, nbytes, out) != nbytes || fclose(out) != 0) abort();
}

static void run(void) {
    static const int32_t ids[3] = {3, 4, 5};
    static const char messages[] = "[{\"role\": \"user\", \"content\": \"Hi\"}]";
    const struct wick_sequence_options options = {.context = 16};
    struct wick_lm_info info;
    struct wick_text text = {0};
    if (wick_lm_inspect(folder, NULL, &info) != WICK_OK) wick_error_clear();
    struct wick_lm *lm = wick_lm_open(folder, cpu, NULL);
    struct wick_sequence *sequence = lm ? wick_sequence_open(lm, &options) : NULL;
    if (sequence && wick_sequence_prompt(sequence, "a b<s>\xe6", 7, 0) != WICK_OK) wick_error_clear();
    if (sequence && wick_sequence_truncate(sequence, 0) != WICK_OK) abort();
    struct wick_tensor *logits = sequence ? wick_sequence_append(sequence, 3, ids) : NULL;
    if (!logits && !*wick_error()) abort(); /* each failure has a text */
    if (logits && wick_lm_chat(lm, messages, sizeof messages - 1, true, &text) != WICK_OK) wick_error_clear();
    wick_text_free(&text);
    wick_release(logits);
    wick_sequence_close(sequence);
    wick_lm_close(lm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    if (!cpu) prepare();
    if (nbytes < 1 || nbytes > 16384) return 0;
    wick_error_clear();
    make_folder(families[data[0] % FAMILIES], changed[data[0] / FAMILIES % CHANGED], data + 1, nbytes - 1);
    run();
    wick_error_clear();
    return 0;
}
