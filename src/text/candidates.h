/* Tokens that may come next, and picking the best of them. */
#ifndef WICK_TEXT_CANDIDATES_H
#define WICK_TEXT_CANDIDATES_H

#include "core/error.h"

/* A token that may come next. */
struct wick__candidate {
    double logit;
    double key; /* candidates rank by it, the highest first, and of equal ones the lower id */
    double p;
    int32_t id;
};

/* Makes candidates of n logits, those of -infinity too. WICK_RANGE "OP: logit ..." for NaN and infinity. */
enum wick_status wick__candidates_fill(struct wick__candidate *candidates, int64_t n, const float *logits,
                                       const char *op);

/* Sets p to the softmax of logit / temperature, temperature > 0, and returns ln of the sum below it for temperature 1.
 * One logit at least is above -infinity. */
double wick__candidates_softmax(struct wick__candidate *candidates, int64_t n, double temperature);

/* Moves the best to the front, in their order, until there are `most` of them or the sum of their p is `mass`; when
 * `beyond`, until it is more. Returns how many they are. 1 <= most <= n. */
int64_t wick__candidates_best(struct wick__candidate *candidates, int64_t n, int64_t most, double mass, bool beyond);

#endif
