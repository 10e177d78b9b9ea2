/* A heap of candidates: the best few of many take little more than one look at each. */
#include "text/candidates.h"

#include <math.h>
#include <string.h>

enum wick_status wick__candidates_fill(struct wick__candidate *candidates, int64_t n, const float *logits,
                                       const char *op) {
    for (int64_t i = 0; i < n; i++) {
        if (!(logits[i] < INFINITY))
            return wick__fail(WICK_RANGE, "%s: logit %lld is %s", op, (long long)i, isnan(logits[i]) ? "NaN" : "inf");
        candidates[i] = (struct wick__candidate){.logit = logits[i], .key = logits[i], .id = (int32_t)i};
    }
    return WICK_OK;
}

double wick__candidates_softmax(struct wick__candidate *candidates, int64_t n, double temperature) {
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, candidates[i].logit);
    for (int64_t i = 0; i < n; i++) sum += candidates[i].p = exp((candidates[i].logit - most) / temperature);
    for (int64_t i = 0; i < n; i++) candidates[i].p /= sum;
    return most + log(sum);
}

static bool better(const struct wick__candidate *a, const struct wick__candidate *b) {
    return a->key != b->key ? a->key > b->key : a->id < b->id;
}

/* Puts `item` into a heap of n candidates, at `at` or below. */
static void sift(struct wick__candidate *heap, int64_t n, int64_t at, struct wick__candidate item) {
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && better(&heap[child + 1], &heap[child])) child++;
        if (!better(&heap[child], &item)) break;
        heap[at] = heap[child];
    }
    heap[at] = item;
}

int64_t wick__candidates_best(struct wick__candidate *candidates, int64_t n, int64_t most, double mass, bool beyond) {
    double sum = 0;
    int64_t left = n;
    for (int64_t i = n / 2; i-- > 0;) sift(candidates, n, i, candidates[i]);
    while (n - left < most && (beyond ? sum <= mass : sum < mass)) {
        struct wick__candidate best = candidates[0];
        left--;
        sift(candidates, left, 0, candidates[left]);
        candidates[left] = best;
        sum += best.p;
    }
    /* The best stand at the end, backwards. */
    for (int64_t i = left, j = n - 1; i < j; i++, j--) {
        struct wick__candidate swapped = candidates[i];
        candidates[i] = candidates[j];
        candidates[j] = swapped;
    }
    memmove(candidates, candidates + left, (size_t)(n - left) * sizeof *candidates);
    return n - left;
}
