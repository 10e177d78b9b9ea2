/* How likely models find the tokens of a text, as llama-perplexity states it. Computed in f64. */
#ifndef WICK_CLI_LIKELIHOOD_H
#define WICK_CLI_LIKELIHOOD_H

#include <stdbool.h>
#include <stdint.h>

/* One token that a model foretells, and how another one does, the base. */
struct likelihood_token {
    double nll, base;  /* -ln of its probability */
    double divergence; /* sum over all tokens of p_base (ln p_base - ln p) */
    double change;     /* of the token's probability: p - p_base */
    bool same_top;     /* both find the same token the likeliest */
};

/* Fills a token from the logits [n] of the model and of the base, which is NULL if there is none. False when a logit is
 * NaN or infinite. */
bool likelihood_of(int64_t n, const float *logits, const float *base, int32_t id, struct likelihood_token *token);

/* A mean and its standard error: the root of variance / (n - 1). */
struct likelihood_mean {
    double mean, error;
};

struct likelihood {
    struct likelihood_mean perplexity;
    /* The rest is with a base only. The ratio is exp of the mean of nll - base. */
    struct likelihood_mean base, ratio, divergence, change, same_top;
    double root_mean_square;          /* of the change */
    double correlation;               /* of nll and base */
    double median, p90, p99, largest; /* of the divergence */
};

/* Sums up n >= 1 tokens. False when memory runs out. */
bool likelihood_sum(int64_t n, const struct likelihood_token *tokens, struct likelihood *sum);

#endif
