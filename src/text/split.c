/* Splitters by name. The patterns are those of the models' own tokenizer.json files. */
#include "text/split.h"

#include <string.h>

#define GPT_2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"
#define LLAMA_3(digits)                                                                                                \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits                                               \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define QWEN_35                                                                                                        \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|"  \
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
/* Ideographs, kana and what lies between, and Hangul. */
#define CJK "[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+"

static const struct {
    const char *name;
    bool whole_words;
    const char *patterns[WICK__SPLIT_MAX];
} splitters[] = {
    {"gpt-2", false, {GPT_2}},
    {"mpt", false, {GPT_2}},
    {"olmo", false, {GPT_2}},
    {"phi-2", false, {GPT_2}},
    {"smollm", false, {"\\p{N}", GPT_2}},
    {"starcoder", false, {"\\p{N}", GPT_2}},
    {"refact", false, {"\\p{N}", GPT_2}},
    {"command-r", false, {"\\p{N}", GPT_2}},
    {"codeshell", false, {"\\p{N}", GPT_2}},
    {"llama-bpe", true, {LLAMA_3("\\p{N}{1,3}")}},
    {"llama3", true, {LLAMA_3("\\p{N}{1,3}")}},
    {"llama-v3", true, {LLAMA_3("\\p{N}{1,3}")}},
    {"qwen2", false, {LLAMA_3("\\p{N}")}},
    {"deepseek-r1-qwen", false, {LLAMA_3("\\p{N}")}},
    {"qwen35", false, {QWEN_35}},
    {"falcon", false, {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT_2, "[0-9][0-9][0-9]"}},
    {"deepseek-llm",
     false,
     {"[\\r\\n]", "\\s?\\p{L&}+", "\\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+", "\\s+$", CJK,
      "\\p{N}+"}},
    {"deepseek-coder", false, {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", CJK, "\\p{N}"}},
};

enum wick_status wick__splitter_by_name(struct wick__splitter *splitter, const char *name) {
    for (size_t i = 0; i < sizeof splitters / sizeof *splitters; i++) {
        if (strcmp(splitters[i].name, name) != 0) continue;
        splitter->whole_words = splitters[i].whole_words;
        for (; splitter->n < WICK__SPLIT_MAX && splitters[i].patterns[splitter->n]; splitter->n++) {
            const char *pattern = splitters[i].patterns[splitter->n];
            splitter->patterns[splitter->n] = wick__regex_new(pattern, strlen(pattern));
            if (!splitter->patterns[splitter->n]) return wick__latest();
        }
        return WICK_OK;
    }
    return wick__fail(WICK_UNSUPPORTED, "the pre-tokenizer '%.60s' is not known", name);
}

void wick__splitter_free(struct wick__splitter *splitter) {
    for (int i = 0; i < splitter->n; i++) wick__regex_free(splitter->patterns[i]);
    splitter->n = 0;
}

struct cut {
    const struct wick__splitter *splitter;
    wick__piece_fn *piece;
    void *context;
};

/* Cuts by pattern `i` and those after it. */
static enum wick_status cut(const struct cut *how, int i, const char *text, size_t nbytes) {
    if (i == how->splitter->n) return how->piece(how->context, text, nbytes);
    size_t at = 0, span[2];
    bool failed = false;
    while (at < nbytes && wick__regex_find(how->splitter->patterns[i], text, nbytes, at, span, &failed)) {
        if (span[0] > at) WICK__TRY(cut(how, i + 1, text + at, span[0] - at));
        WICK__TRY(cut(how, i + 1, text + span[0], span[1] - span[0]));
        at = span[1];
    }
    if (failed) return wick__fail(WICK_RANGE, "a text of %zu bytes takes too long to split into words", nbytes);
    return at < nbytes ? cut(how, i + 1, text + at, nbytes - at) : WICK_OK;
}

enum wick_status wick__split(const struct wick__splitter *splitter, const char *text, size_t nbytes,
                             wick__piece_fn *piece, void *context) {
    struct cut how = {splitter, piece, context};
    return nbytes ? cut(&how, 0, text, nbytes) : WICK_OK;
}
