/* Rotary positions of language models: angles by base, partial heads, and the ways to stretch them. */
#include "model/lm.h"

#include "core/checked.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

/* The pair at which a rotation turns `turns` times over the original context. */
static double pair_of(const struct wick__lm_config *config, double base, double turns) {
    const double pi = 3.14159265358979323846;
    return (double)config->rope_dims * log((double)config->original_context / (turns * 2 * pi)) / (2 * log(base));
}

/* Yarn leaves fast pairs as they are, stretches slow ones, and blends between. */
static double yarn(const struct wick__lm_config *config, double base, int64_t i, double angle) {
    double low = fmax(floor(pair_of(config, base, config->beta_fast)), 0);
    double high = fmin(ceil(pair_of(config, base, config->beta_slow)), (double)config->rope_dims - 1);
    double slow = fmin(fmax(((double)i - low) / fmax(high - low, 0.001), 0), 1);
    return angle / config->rope_factor * slow + angle * (1 - slow);
}

/* Llama 3 leaves short waves as they are, stretches long ones, and blends between. */
static double llama3(const struct wick__lm_config *config, double angle) {
    const double pi = 3.14159265358979323846;
    double turns = (double)config->original_context * angle / (2 * pi);
    double fast = (turns - config->low_frequency) / (config->high_frequency - config->low_frequency);
    fast = fmin(fmax(fast, 0), 1);
    return angle / config->rope_factor * (1 - fast) + angle * fast;
}

/* What cosines and sines are multiplied by. */
static double gain_of(const struct wick__lm_config *config, enum wick__scaling scaling) {
    double gain = config->attention_factor > 0 && scaling != WICK__SCALING_NONE ? config->attention_factor : 1;
    if (scaling != WICK__SCALING_NONE && config->rope_gain > 0) return config->rope_gain;
    if (scaling == WICK__SCALING_YARN && config->rope_factor > 1) gain *= 1 + 0.1 * log(config->rope_factor);
    if (scaling == WICK__SCALING_LONG && config->attention_factor == 0 && config->context > config->original_context)
        gain = sqrt(1 + log((double)config->context / (double)config->original_context) /
                            log((double)config->original_context));
    return gain;
}

/* `factors`, which may be NULL, divide the angles. */
static enum wick_status fill(const struct wick_lm *lm, struct wick__lm_rope *rope, double base, const float *factors,
                             enum wick__scaling scaling) {
    const struct wick__lm_config *config = &lm->config;
    int64_t n = config->rope_dims / 2;
    rope->angle = wick__alloc((size_t)n * sizeof(double));
    if (!rope->angle) return WICK_MEMORY;
    rope->gain = gain_of(config, scaling);
    for (int64_t i = 0; i < n; i++) {
        double angle = pow(base, -2.0 * (double)i / (double)config->rope_dims);
        if (factors) angle /= (double)factors[i];
        if (scaling == WICK__SCALING_LINEAR) angle /= config->rope_factor;
        if (scaling == WICK__SCALING_YARN) angle = yarn(config, base, i, angle);
        if (scaling == WICK__SCALING_LLAMA3) angle = llama3(config, angle);
        rope->angle[i] = angle;
    }
    return WICK_OK;
}

/* Reads a tensor of factors, if the file has it: *factors is then rope_dims / 2 numbers above 0. */
static enum wick_status read_factors(struct wick_lm *lm, struct wick_archive *archive, const char *name,
                                     float **factors) {
    int64_t n = lm->config.rope_dims / 2, i = wick_archive_find(archive, name);
    struct wick_archive_entry entry;
    *factors = NULL;
    if (i < 0) return WICK_OK;
    WICK__TRY(wick_archive_describe(archive, i, &entry));
    if (entry.rank != 1 || entry.shape[0] != n || !entry.loadable || entry.dtype != WICK_F32)
        return wick__fail(WICK_FORMAT, "tensor '%s' is not [%lld] f32", name, (long long)n);
    *factors = wick__alloc((size_t)n * sizeof(float));
    struct wick_tensor *x = *factors ? wick_archive_load_at(archive, i, lm->device) : NULL;
    if (!x) return wick__latest();
    WICK__TRY(wick_read(x, *factors, (size_t)n * sizeof(float)));
    for (int64_t j = 0; j < n; j++)
        if (!((*factors)[j] > 0 && isfinite((*factors)[j])))
            return wick__fail(WICK_FORMAT, "tensor '%s': factor %lld is %g", name, (long long)j, (double)(*factors)[j]);
    return WICK_OK;
}

/* The factors of long texts, or of short ones and all; NULL: there are none. */
static enum wick_status find_factors(struct wick_lm *lm, const struct wick__lm_source *source, bool stretched,
                                     float **factors) {
    static const char *const names[2][2] = {{"rope_freqs.weight", "rope_factors_short.weight"},
                                            {"rope_factors_long.weight", NULL}};
    if (source->config) {
        *factors = NULL;
        if (lm->config.scaling != WICK__SCALING_LONG) return WICK_OK;
        return wick__hub_factors(source->config, stretched, lm->config.rope_dims / 2, factors);
    }
    WICK__TRY(read_factors(lm, source->archive, names[stretched][0], factors));
    if (*factors || !names[stretched][1]) return WICK_OK;
    return read_factors(lm, source->archive, names[stretched][1], factors);
}

enum wick_status wick__lm_make_ropes(struct wick_lm *lm, const struct wick__lm_source *source) {
    const struct wick__lm_config *config = &lm->config;
    size_t nbytes = (size_t)(config->rope_dims / 2) * sizeof(float);
    float *factors = NULL;
    enum wick_status status = WICK_OK;
    for (int which = 0; which < 2 && status == WICK_OK; which++) {
        status = find_factors(lm, source, which, &factors);
        if (status == WICK_OK && (which == 0 || factors))
            status = fill(lm, &lm->ropes[which], config->rope_base, factors, config->scaling);
        wick__free(factors, nbytes);
        factors = NULL;
    }
    if (status == WICK_OK && config->local_base > 0)
        status = fill(lm, &lm->ropes[WICK__LM_ROPE_LOCAL], config->local_base, NULL, WICK__SCALING_NONE);
    return status;
}

/* ---- tables ---- */

struct wick__lm_tables wick__lm_tables_of(const struct wick_lm *lm, const struct wick__lm_batch *batch) {
    const struct wick__lm_config *config = &lm->config;
    struct wick__lm_tables tables = {.heads = {1, 0}, .n = 1};
    int64_t context = 0;
    for (int i = 0; i < batch->n_spans; i++) context = wick__max(context, batch->spans[i].sequence->context);
    bool by_head = batch->n_tokens <= WICK__LM_FEW && !wick__lm_steps_whole(lm, batch);
    for (int64_t i = 0; by_head && tables.heads[1] == 0 && i < config->n_layers; i++) {
        if (!wick__lm_is_joint(lm, &lm->layers[i])) continue;
        tables.heads[0] = config->heads + config->kv_heads;
        tables.heads[1] = config->kv_heads;
    }
    bool stretched = lm->ropes[WICK__LM_ROPE_LONG].angle && context > config->original_context;
    tables.which[0] = stretched ? WICK__LM_ROPE_LONG : WICK__LM_ROPE;
    if (lm->ropes[WICK__LM_ROPE_LOCAL].angle) tables.which[tables.n++] = WICK__LM_ROPE_LOCAL;
    tables.shape[0] = tables.heads[0] + tables.heads[1];
    tables.shape[1] = batch->n_tokens;
    tables.shape[2] = config->rope_dims / 2;
    tables.count = tables.shape[0] * tables.shape[1] * tables.shape[2];
    return tables;
}

void wick__lm_fill_tables(const struct wick_lm *lm, const struct wick__lm_batch *batch,
                          const struct wick__lm_tables *tables, int number, float *const values[2]) {
    const struct wick__lm_rope *rope = &lm->ropes[tables->which[number]];
    const int64_t pairs = tables->shape[2], one = tables->shape[1] * pairs, turned = tables->heads[0] * one;
    int64_t at = 0;
    for (int s = 0; s < batch->n_spans; s++)
        for (int64_t i = 0; i < batch->spans[s].n; i++)
            for (int64_t p = 0; p < pairs; p++, at++) {
                double angle = (double)(batch->spans[s].sequence->length + i) * rope->angle[p];
                values[0][at] = (float)(cos(angle) * rope->gain);
                values[1][at] = (float)(sin(angle) * rope->gain);
            }
    for (; at < tables->count; at++) {
        values[0][at] = at < turned ? values[0][at - one] : 1;
        values[1][at] = at < turned ? values[1][at - one] : 0;
    }
}
