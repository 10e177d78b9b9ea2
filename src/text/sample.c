/* The steps of sampling, in the order of wick/sample.h. */
#include "core/memory.h"
#include "core/philox.h"
#include "text/candidates.h"

#include <wick/sample.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VOCAB_MAX = 1 << 24, WINDOW_MAX = 1 << 28, WINDOW = 64 };

struct wick_sampler {
    struct wick_sampling sampling; /* without the pointers of the biases, which are in `bias` */
    int64_t vocab_size;
    struct wick__candidate *candidates; /* room for all tokens */
    double *bias;                       /* a token's, NULL without biases */
    uint32_t *counts;                   /* how often a token is among the last ones; NULL without penalties */
    int32_t *window;                    /* the last tokens, in a ring; NULL without penalties and for all tokens */
    int64_t n_window;                   /* its size */
    uint64_t n_tokens;                  /* in the text */
    uint64_t n_draws;
};

struct wick_sampling wick_sampling_default(void) {
    return (struct wick_sampling){.temperature = 0.8, .top_k = 40, .top_p = 0.95, .min_p = 0.05};
}

/* ---- opening ---- */

static enum wick_status check(const struct wick_sampling *sampling, int64_t vocab_size) {
    const struct {
        const char *name;
        double value, least, most;
    } rules[] = {{"temperature", sampling->temperature, 0, HUGE_VAL},
                 {"top_k", (double)sampling->top_k, 0, HUGE_VAL},
                 {"typical", sampling->typical, 0, 1},
                 {"top_p", sampling->top_p, 0, 1},
                 {"min_p", sampling->min_p, 0, 1},
                 {"repeat", sampling->repeat, sampling->repeat == 0 ? 0 : 1e-6, 1e6},
                 {"frequency", sampling->frequency, -1e6, 1e6},
                 {"presence", sampling->presence, -1e6, 1e6},
                 {"window", (double)sampling->window, -1, WINDOW_MAX},
                 {"n_bias", (double)sampling->n_bias, 0, HUGE_VAL}};
    WICK__TRY(wick__reserved("sampler_open", sampling->reserved));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!isfinite(rules[i].value) || rules[i].value < rules[i].least || rules[i].value > rules[i].most)
            return wick__fail(WICK_INVALID, "sampler_open: %s is %g, which is not in %g..%g", rules[i].name,
                              rules[i].value, rules[i].least, rules[i].most);
    if (vocab_size < 1 || vocab_size > VOCAB_MAX)
        return wick__fail(WICK_RANGE, "sampler_open: vocab_size %lld is not in 1..%d", (long long)vocab_size,
                          VOCAB_MAX);
    if (sampling->n_bias > 0 && (!sampling->bias_ids || !sampling->bias))
        return wick__fail(WICK_INVALID, "sampler_open: n_bias is %lld, but bias or bias_ids is NULL",
                          (long long)sampling->n_bias);
    for (int64_t i = 0; i < sampling->n_bias; i++) {
        if (sampling->bias_ids[i] < 0 || sampling->bias_ids[i] >= vocab_size)
            return wick__fail(WICK_RANGE, "sampler_open: bias_ids[%lld] is %d, not in 0..%lld", (long long)i,
                              (int)sampling->bias_ids[i], (long long)vocab_size - 1);
        if (!(sampling->bias[i] < INFINITY))
            return wick__fail(WICK_INVALID, "sampler_open: bias[%lld] is NaN or infinity", (long long)i);
    }
    return WICK_OK;
}

static bool penalizes(const struct wick_sampling *sampling) {
    return (sampling->repeat != 0 && sampling->repeat != 1) || sampling->frequency != 0 || sampling->presence != 0;
}

static enum wick_status prepare(struct wick_sampler *sampler, const struct wick_sampling *sampling) {
    size_t vocab_size = (size_t)sampler->vocab_size;
    sampler->candidates = wick__alloc(vocab_size * sizeof *sampler->candidates);
    if (!sampler->candidates) return WICK_MEMORY;
    if (sampling->n_bias > 0) {
        sampler->bias = wick__calloc(vocab_size, sizeof *sampler->bias);
        if (!sampler->bias) return WICK_MEMORY;
        for (int64_t i = 0; i < sampling->n_bias; i++)
            sampler->bias[sampling->bias_ids[i]] += (double)sampling->bias[i];
    }
    if (!penalizes(sampling)) return WICK_OK;
    sampler->counts = wick__calloc(vocab_size, sizeof *sampler->counts);
    if (!sampler->counts) return WICK_MEMORY;
    if (sampling->window < 0) return WICK_OK;
    sampler->n_window = sampling->window ? sampling->window : WINDOW;
    sampler->window = wick__calloc((size_t)sampler->n_window, sizeof *sampler->window);
    return sampler->window ? WICK_OK : WICK_MEMORY;
}

struct wick_sampler *wick_sampler_open(const struct wick_sampling *sampling, int64_t vocab_size) {
    const struct wick_sampling none = {0};
    if (!sampling) sampling = &none;
    if (check(sampling, vocab_size) != WICK_OK) return NULL;
    struct wick_sampler *sampler = wick__calloc(1, sizeof *sampler);
    if (!sampler) return NULL;
    sampler->sampling = *sampling;
    if (sampling->repeat == 0) sampler->sampling.repeat = 1;
    sampler->sampling.bias_ids = NULL;
    sampler->sampling.bias = NULL;
    sampler->vocab_size = vocab_size;
    if (prepare(sampler, sampling) == WICK_OK) return sampler;
    wick_sampler_close(sampler);
    return NULL;
}

void wick_sampler_close(struct wick_sampler *sampler) {
    if (!sampler) return;
    size_t vocab_size = (size_t)sampler->vocab_size;
    wick__free(sampler->candidates, vocab_size * sizeof *sampler->candidates);
    wick__free(sampler->bias, vocab_size * sizeof *sampler->bias);
    wick__free(sampler->counts, vocab_size * sizeof *sampler->counts);
    wick__free(sampler->window, (size_t)sampler->n_window * sizeof *sampler->window);
    wick__free(sampler, sizeof *sampler);
}

/* ---- the text so far ---- */

static void add(struct wick_sampler *sampler, int32_t id) {
    uint64_t n = sampler->n_tokens++;
    if (!sampler->counts) return;
    if (sampler->window) {
        int32_t *place = &sampler->window[n % (uint64_t)sampler->n_window];
        if (n >= (uint64_t)sampler->n_window) sampler->counts[*place]--;
        *place = id;
    }
    sampler->counts[id] += sampler->counts[id] < UINT32_MAX;
}

enum wick_status wick_sampler_add(struct wick_sampler *sampler, int64_t n, const int32_t *ids) {
    if (!sampler || n < 0 || (n > 0 && !ids))
        return wick__fail(WICK_INVALID, "sampler_add: NULL argument, or n %lld below 0", (long long)n);
    for (int64_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= sampler->vocab_size)
            return wick__fail(WICK_RANGE, "sampler_add: ids[%lld] is %d, not in 0..%lld", (long long)i, (int)ids[i],
                              (long long)sampler->vocab_size - 1);
    for (int64_t i = 0; i < n; i++) add(sampler, ids[i]);
    return WICK_OK;
}

void wick_sampler_reset(struct wick_sampler *sampler, uint64_t seed) {
    if (!sampler) return;
    sampler->sampling.seed = seed;
    sampler->n_tokens = sampler->n_draws = 0;
    if (sampler->counts) memset(sampler->counts, 0, (size_t)sampler->vocab_size * sizeof *sampler->counts);
}

/* ---- the steps ---- */

/* Biases and penalties, and without the tokens that are excluded; returns how many are left. */
static int64_t adjust(struct wick_sampler *sampler) {
    const struct wick_sampling *sampling = &sampler->sampling;
    int64_t n = 0;
    for (int64_t i = 0; i < sampler->vocab_size; i++) {
        struct wick__candidate *candidate = &sampler->candidates[i];
        double logit = candidate->logit, count = sampler->counts ? sampler->counts[i] : 0;
        if (sampler->bias) logit += sampler->bias[i];
        if (count > 0) {
            logit = logit > 0 ? logit / sampling->repeat : logit * sampling->repeat;
            logit -= count * sampling->frequency + sampling->presence;
        }
        if (logit == -HUGE_VAL) continue;
        sampler->candidates[n++] = (struct wick__candidate){.logit = logit, .key = logit, .id = candidate->id};
    }
    return n;
}

static int64_t keep_typical(struct wick__candidate *candidates, int64_t n, double typical) {
    double entropy = 0, total = wick__candidates_softmax(candidates, n, 1);
    for (int64_t i = 0; i < n; i++) entropy += candidates[i].p * (total - candidates[i].logit);
    for (int64_t i = 0; i < n; i++) candidates[i].key = -fabs(total - candidates[i].logit - entropy);
    n = wick__candidates_best(candidates, n, n, typical, true);
    for (int64_t i = 0; i < n; i++) candidates[i].key = candidates[i].logit;
    return n;
}

static int64_t keep_min_p(struct wick__candidate *candidates, int64_t n, double min_p) {
    double least = -HUGE_VAL;
    int64_t left = 0;
    for (int64_t i = 0; i < n; i++) least = fmax(least, candidates[i].logit);
    least += log(min_p);
    for (int64_t i = 0; i < n; i++)
        if (candidates[i].logit >= least) candidates[left++] = candidates[i];
    return left;
}

static int by_id(const void *a, const void *b) {
    int32_t left = ((const struct wick__candidate *)a)->id, right = ((const struct wick__candidate *)b)->id;
    return (left > right) - (left < right);
}

/* The candidates among which the draw chooses, in the order of their ids; returns how many. */
static int64_t narrow(struct wick_sampler *sampler, int64_t n) {
    const struct wick_sampling *sampling = &sampler->sampling;
    struct wick__candidate *candidates = sampler->candidates;
    if (sampling->temperature == 0 && (sampling->typical == 0 || sampling->typical == 1)) return n;
    bool top_k = sampling->top_k > 0 && sampling->top_k < n;
    bool typical = sampling->typical > 0 && sampling->typical<1, top_p = sampling->top_p> 0 && sampling->top_p < 1;
    if (top_k) n = wick__candidates_best(candidates, n, sampling->top_k, HUGE_VAL, false);
    if (typical) n = keep_typical(candidates, n, sampling->typical);
    if (top_p) {
        wick__candidates_softmax(candidates, n, 1);
        n = wick__candidates_best(candidates, n, n, sampling->top_p, false);
    }
    if (sampling->min_p > 0) n = keep_min_p(candidates, n, sampling->min_p);
    if (top_k || typical || top_p) qsort(candidates, (size_t)n, sizeof *candidates, by_id);
    return n;
}

/* The random number of draw `number`: what wick_uniform gives for one element of f64. */
static double uniform(uint64_t seed, uint64_t number) {
    uint32_t words[4 * WICK__PHILOX_LANES];
    wick__philox(seed, number, 1, words);
    return (double)(((uint64_t)words[1] << 32 | words[0]) >> 11) * 0x1p-53;
}

/* The one that the draw lands on, by its place among the candidates. */
static int64_t draw(struct wick_sampler *sampler, int64_t n) {
    const struct wick__candidate *candidates = sampler->candidates;
    double sum = 0, u = uniform(sampler->sampling.seed, sampler->n_draws++);
    int64_t last = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += candidates[i].p;
        if (candidates[i].p > 0) last = i; /* the sum may end below u by its rounding */
        if (sum > u) break;
    }
    return last;
}

static const struct wick__candidate *highest(const struct wick__candidate *candidates, int64_t n) {
    const struct wick__candidate *best = candidates;
    for (int64_t i = 1; i < n; i++)
        if (candidates[i].logit > best->logit) best = &candidates[i];
    return best;
}

enum wick_status wick_sampler_pick(struct wick_sampler *sampler, int64_t n, const float *logits,
                                   struct wick_sampled *sampled) {
    if (!sampler || !logits || !sampled) return wick__fail(WICK_INVALID, "sampler_pick: NULL argument");
    if (n != sampler->vocab_size)
        return wick__fail(WICK_INVALID, "sampler_pick: %lld logits for a vocabulary of %lld tokens", (long long)n,
                          (long long)sampler->vocab_size);
    struct wick__candidate *candidates = sampler->candidates;
    struct wick_sampled result = {.n_left = 1, .probability = 1};
    double total = 0;
    WICK__TRY(wick__candidates_fill(candidates, n, logits, "sampler_pick"));
    if (sampler->sampling.log_probabilities) total = wick__candidates_softmax(candidates, n, 1);
    int64_t left = adjust(sampler);
    if (left == 0) return wick__fail(WICK_RANGE, "sampler_pick: all %lld tokens are excluded", (long long)n);
    left = narrow(sampler, left);
    if (sampler->sampling.temperature == 0) {
        result.id = highest(candidates, left)->id;
    } else {
        wick__candidates_softmax(candidates, left, sampler->sampling.temperature);
        int64_t drawn = draw(sampler, left);
        result.id = candidates[drawn].id;
        result.probability = candidates[drawn].p;
        result.n_left = left;
    }
    if (sampler->sampling.log_probabilities) result.log_probability = (double)logits[result.id] - total;
    add(sampler, result.id);
    *sampled = result;
    return WICK_OK;
}

enum wick_status wick_log_probabilities(int64_t n, const float *logits, int64_t max, int32_t *ids,
                                        double *log_probabilities) {
    if (!logits || !ids || !log_probabilities) return wick__fail(WICK_INVALID, "log_probabilities: NULL argument");
    if (n < 1 || n > VOCAB_MAX || max < 1 || max > n)
        return wick__fail(WICK_INVALID, "log_probabilities: max %lld of n %lld", (long long)max, (long long)n);
    struct wick__candidate *candidates = wick__alloc((size_t)n * sizeof *candidates);
    if (!candidates) return WICK_MEMORY;
    enum wick_status status = wick__candidates_fill(candidates, n, logits, "log_probabilities");
    if (status == WICK_OK && highest(candidates, n)->logit == -HUGE_VAL)
        status = wick__fail(WICK_RANGE, "log_probabilities: all %lld logits are -inf", (long long)n);
    if (status == WICK_OK) {
        double total = wick__candidates_softmax(candidates, n, 1);
        wick__candidates_best(candidates, n, max, HUGE_VAL, false);
        for (int64_t i = 0; i < max; i++) {
            ids[i] = candidates[i].id;
            log_probabilities[i] = candidates[i].logit - total;
        }
    }
    wick__free(candidates, (size_t)n * sizeof *candidates);
    return status;
}
