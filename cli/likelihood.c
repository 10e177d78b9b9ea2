/* How likely models find the tokens of a text. */
#include "cli/likelihood.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* ln of the sum of exp; the place of the first of the largest. False when one is not finite. */
static bool log_sum(int64_t n, const float *logits, double *log_total, int64_t *top) {
    double sum = 0;
    bool finite = true;
    *top = 0;
    for (int64_t i = 0; i < n; i++) {
        finite = finite && isfinite(logits[i]);
        if (logits[i] > logits[*top]) *top = i;
    }
    if (!finite) return false;
    double most = (double)logits[*top];
    for (int64_t i = 0; i < n; i++) sum += exp((double)logits[i] - most);
    *log_total = most + log(sum);
    return true;
}

bool likelihood_of(int64_t n, const float *logits, const float *base, int32_t id, struct likelihood_token *token) {
    double total, base_total;
    int64_t top, base_top;
    *token = (struct likelihood_token){.nll = 0};
    if (!log_sum(n, logits, &total, &top)) return false;
    token->nll = total - (double)logits[id];
    if (!base) return true;
    if (!log_sum(n, base, &base_total, &base_top)) return false;
    token->base = base_total - (double)base[id];
    for (int64_t i = 0; i < n; i++) {
        double log_base = (double)base[i] - base_total, log_p = (double)logits[i] - total;
        token->divergence += exp(log_base) * (log_base - log_p);
    }
    token->change = exp(-token->nll) - exp(-token->base);
    token->same_top = top == base_top;
    return true;
}

/* ---- sums ---- */

/* The mean of n values. */
static struct likelihood_mean mean_of(int64_t n, const double *values) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) sum += values[i];
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) squares += (values[i] - mean) * (values[i] - mean);
    return (struct likelihood_mean){mean, n > 1 ? sqrt(squares / (double)n / (double)(n - 1)) : 0};
}

/* exp of a mean, with the error that follows. */
static struct likelihood_mean exp_of(struct likelihood_mean x) {
    return (struct likelihood_mean){exp(x.mean), exp(x.mean) * x.error};
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Between the two values around it. */
static double quantile(int64_t n, const double *sorted, double q) {
    double at = q * (double)(n - 1);
    int64_t low = (int64_t)at, high = low + 1 < n ? low + 1 : low;
    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

static double correlate(int64_t n, const struct likelihood_token *tokens, double mean, double base_mean) {
    double both = 0, squares = 0, base_squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = tokens[i].nll - mean, y = tokens[i].base - base_mean;
        both += x * y;
        squares += x * x;
        base_squares += y * y;
    }
    return both / sqrt(squares * base_squares);
}

bool likelihood_sum(int64_t n, const struct likelihood_token *tokens, struct likelihood *sum) {
    double *values = calloc((size_t)n, sizeof *values);
    if (!values) return false;
    for (int64_t i = 0; i < n; i++) values[i] = tokens[i].nll;
    struct likelihood_mean nll = mean_of(n, values);
    for (int64_t i = 0; i < n; i++) values[i] = tokens[i].base;
    struct likelihood_mean base = mean_of(n, values);
    sum->perplexity = exp_of(nll);
    sum->base = exp_of(base);
    sum->correlation = correlate(n, tokens, nll.mean, base.mean);
    for (int64_t i = 0; i < n; i++) values[i] = tokens[i].nll - tokens[i].base;
    sum->ratio = exp_of(mean_of(n, values));
    for (int64_t i = 0; i < n; i++) values[i] = tokens[i].same_top;
    sum->same_top = mean_of(n, values);
    for (int64_t i = 0; i < n; i++) values[i] = tokens[i].change;
    sum->change = mean_of(n, values);
    for (int64_t i = 0; i < n; i++) values[i] *= values[i];
    sum->root_mean_square = sqrt(mean_of(n, values).mean);
    for (int64_t i = 0; i < n; i++) values[i] = tokens[i].divergence;
    sum->divergence = mean_of(n, values);
    qsort(values, (size_t)n, sizeof *values, compare);
    sum->median = quantile(n, values, 0.5);
    sum->p90 = quantile(n, values, 0.9);
    sum->p99 = quantile(n, values, 0.99);
    sum->largest = values[n - 1];
    free(values);
    return true;
}
