/* Sampling: which token comes next, by the logits of a language model.
 *
 *     struct wick_sampling sampling = wick_sampling_default();
 *     sampling.seed = 42;
 *     struct wick_sampler *sampler = wick_sampler_open(&sampling, vocab_size);
 *     struct wick_sampled next;
 *     wick_sampler_add(sampler, n, prompt);
 *     if (wick_sampler_pick(sampler, vocab_size, logits, &next) == WICK_OK) printf("%d\n", next.id);
 *     wick_sampler_close(sampler);
 *
 * The steps, in llama.cpp's order. Each takes the tokens that the one before left; l is a token's logit, and p its
 * probability, the softmax of l over these tokens. All of it is computed in f64.
 *
 *   bias         l + the bias of the token; -infinity excludes it
 *   penalties    for a token that occurs c > 0 times among the last tokens:
 *                l / repeat where l > 0 and l * repeat elsewhere, then - c * frequency - presence
 *   top_k        the top_k tokens of the highest l
 *   typical      the tokens whose -ln p is nearest to the entropy, as many as it takes for their p to exceed `typical`
 *   top_p        the tokens of the highest p, as many as it takes for their p to reach top_p
 *   min_p        the tokens with p >= min_p * the highest p
 *   temperature  l / temperature
 *   draw         the first token, in the order of the ids, at which the sum of p exceeds u; without temperature, the
 *                token of the highest l
 *
 * Equal values rank by their id, the lower first. u is a random number in [0, 1): the draw number i (from 0) of a
 * sampler uses the f64 that wick_uniform gives a device with the same seed in its call number i for one element of f64
 * in [0, 1). So equal logits and equal seeds give equal tokens on every machine, apart from differences in the last
 * place of the C library's exp. A draw without temperature uses up no number. */
#ifndef WICK_SAMPLE_H
#define WICK_SAMPLE_H

#include <wick/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to sample by. Zero switches a step off; all zero takes the likeliest token. */
struct wick_sampling {
    double temperature; /* >= 0 */
    int64_t top_k;      /* >= 0 */
    double typical;     /* 0..1; 1 is off too */
    double top_p;       /* 0..1; 1 is off too */
    double min_p;       /* 0..1 */
    double repeat;      /* 1e-6..1e6; 1 is off too */
    double frequency;   /* -1e6..1e6, as the next */
    double presence;
    int64_t window; /* how many of the last tokens the penalties look at; 0: 64, -1: all */
    uint64_t seed;
    int64_t n_bias;          /* biases: bias[i] for the token bias_ids[i]; those of one token add up */
    const int32_t *bias_ids; /* needed by wick_sampler_open alone, as is the next */
    const float *bias;       /* finite, or -infinity */
    bool log_probabilities;  /* asks for wick_sampled's log_probability, which takes an exp a token */
    WICK_RESERVED;
};

/* llama.cpp's values: temperature 0.8, top_k 40, top_p 0.95, min_p 0.05, seed 0, and the rest off. */
WICK_API struct wick_sampling wick_sampling_default(void);

/* A sampled token. */
struct wick_sampled {
    int32_t id;
    int64_t n_left;         /* how many tokens the draw had to choose from; 1 without temperature */
    double probability;     /* of this token among them */
    double log_probability; /* ln of the model's own probability, before all steps; 0 unless asked for */
    WICK_RESERVED;
};

struct wick_sampler;

/* Opens a sampler of one text; NULL for sampling means all zero. It belongs to one thread at a time. NULL on failure:
 * WICK_INVALID (a value outside its range), WICK_RANGE (vocab_size not in 1..2^24, the id of a bias not below it),
 * WICK_MEMORY. Close with wick_sampler_close. */
WICK_API struct wick_sampler *wick_sampler_open(const struct wick_sampling *sampling, int64_t vocab_size);

/* Closes and frees a sampler. NULL is fine. */
WICK_API void wick_sampler_close(struct wick_sampler *sampler);

/* Tells of n tokens that stand in the text, such as the prompt's: penalties look at them. WICK_INVALID (NULL, n below
 * 0), WICK_RANGE (an id outside the vocabulary; then none is added). */
WICK_API WICK_CHECKED enum wick_status wick_sampler_add(struct wick_sampler *sampler, int64_t n, const int32_t *ids);

/* Samples a token by `n` logits, one a token of the vocabulary, adds it to the text, and describes it in *sampled. A
 * logit of -infinity excludes a token. WICK_INVALID (NULL, or n other than the size of the vocabulary), WICK_RANGE (a
 * logit that is NaN or infinity, or no token that is not excluded); then the sampler stays as it was. */
WICK_API WICK_CHECKED enum wick_status wick_sampler_pick(struct wick_sampler *sampler, int64_t n, const float *logits,
                                                         struct wick_sampled *sampled);

/* Begins another text: no tokens, and the first random number of the seed. NULL is fine. */
WICK_API void wick_sampler_reset(struct wick_sampler *sampler, uint64_t seed);

/* The `max` likeliest of n tokens by the model's own probability, the likeliest first, and of equal ones the lower id:
 * ids[i] and ln of their probability. WICK_INVALID (NULL, or max not in 1..n), WICK_RANGE (a logit that is NaN or
 * infinity, or all of them -infinity), WICK_MEMORY. */
WICK_API WICK_CHECKED enum wick_status wick_log_probabilities(int64_t n, const float *logits, int64_t max, int32_t *ids,
                                                              double *log_probabilities);

#ifdef __cplusplus
}
#endif
#endif
