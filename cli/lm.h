/* What the commands with language models share: the device, the model, seconds. */
#ifndef WICK_CLI_LM_H
#define WICK_CLI_LM_H

#include "cli/text.h"

#include <stdbool.h>

/* What the user asked for. */
struct lm_wishes {
    const char *device, *cache; /* "auto", "f32" */
    int64_t threads;            /* 0: as many as there are */
    bool exact;
    bool copy;     /* read the file instead of mapping it */
    bool any_size; /* go on where memory is too small */
};

/* What a command will do with the model, in tokens; 0: not known. */
struct lm_need {
    int64_t context, prompt, tokens; /* the context asked for; a bound of the prompt's; the most of the answer's */
    bool all;                        /* wants the logits of all tokens */
    void (*on_product)(void *context, const struct wick_lm_product *product); /* as in struct wick_lm_options */
    void *product_context;
};

/* Rows of struct option (options.h) that fill it. wick bench has a --device of its own. */
#define LM_DEVICE(lm) OPTIONS_TEXT("--device", "D", &(lm).device, "cpu, cuda:0, rocm:0 ...; the best one by default")
#define LM_OPTIONS(lm)                                                                                                 \
    OPTIONS_NUMBER("-t", "N", &(lm).threads, 1, 256, "threads of the CPU"),                                            \
        OPTIONS_TEXT("--cache", "TYPE", &(lm).cache, "f32, f16, bf16 or q8_0: of keys and values"),                    \
        OPTIONS_FLAG("--exact", &(lm).exact, "multiplies quantised weights by activations of full precision"),         \
        OPTIONS_FLAG("--no-mmap", &(lm).copy, "reads the file instead of mapping it"),                                 \
        OPTIONS_FLAG("--any-size", &(lm).any_size, "goes on where memory seems too small")
/* Those that fill a struct wick_sampling but for its seed, which they put into `number`. */
#define LM_SAMPLING(sampling, number)                                                                                  \
    OPTIONS_REAL("--temp", "T", &(sampling).temperature, 0, 1000, "temperature, 0.8; 0 takes the likeliest token"),    \
        OPTIONS_NUMBER("--top-k", "K", &(sampling).top_k, 0, INT32_MAX, "of the K likeliest tokens, 40; 0: of all"),   \
        OPTIONS_REAL("--top-p", "P", &(sampling).top_p, 0, 1, "of tokens of this probability together, 0.95"),         \
        OPTIONS_REAL("--min-p", "P", &(sampling).min_p, 0, 1, "of tokens of this share of the highest, 0.05"),         \
        OPTIONS_REAL("--repeat-penalty", "R", &(sampling).repeat, 0, 1000, "against the last 64 tokens, 1: none"),     \
        OPTIONS_NUMBER("-s", "SEED", &(number), 0, INT64_MAX, "seed of the random numbers, 0")

/* What it became. */
struct lm_place {
    struct wick_device *device;
    enum wick_dtype cache;
};

/* Sets the threads and opens the device. Returns 0, or the exit status after a failure was reported. Close with
 * wick_device_close. */
int lm_place_open(const char *command, const struct lm_wishes *wishes, struct lm_place *place);
/* Opens a model there, if it fits. NULL after a failure was reported. */
struct wick_lm *lm_open(const char *command, const char *path, const struct lm_wishes *wishes,
                        const struct lm_place *place, const struct lm_need *need);
/* The ids of a text, with the tokens that the model wants around it unless it is `plain`; names of control tokens are
 * ordinary text. The caller frees ids->ids. False after a failure was reported. */
bool lm_encode(const char *command, const struct wick_lm *lm, const struct text *text, bool plain,
               struct wick_ids *ids);
/* The id that the model puts before each text; -1: none. False after a failure was reported. */
bool lm_begin_id(const char *command, const struct wick_lm *lm, int32_t *id);
/* A clock. */
double lm_seconds(void);

#endif
