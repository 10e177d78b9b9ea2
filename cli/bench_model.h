/* wick bench --model: the speed of a language model, as llama-bench measures it. */
#ifndef WICK_CLI_BENCH_MODEL_H
#define WICK_CLI_BENCH_MODEL_H

#include "cli/lm.h"

/* The most tokens that a sequence computes at once. */
enum { BENCH_MODEL_BATCH = 512 };

struct bench_model_wishes {
    const char *path, *prompts, *answers, *depths; /* lists of numbers of tokens: "512,1024"; NULL: as llama-bench */
    int64_t batch, repeats;                        /* 0: 512; 5 */
    bool json;
    struct lm_wishes lm;
};

/* Runs all tests. Returns the exit status. */
int bench_model(const struct bench_model_wishes *wishes);

#endif
