/* A sentence embedder: BERT, and what the folder's modules.json puts behind it. */
#ifndef WICK_MODEL_EMBEDDER_H
#define WICK_MODEL_EMBEDDER_H

#include "model/bert.h"

#include <wick/model.h>

/* What a vector is made of; several are put one after the other, in this order. */
enum { WICK__POOL_CLS = 1, WICK__POOL_MAX = 2, WICK__POOL_MEAN = 4, WICK__POOL_MEAN_SQRT = 8 };

struct wick_embedder {
    struct wick__bert bert;
    struct wick_tokenizer *tokenizer;
    unsigned pooling;
    bool normalize; /* to length 1 */
    int64_t max_length, dim;
};

/* Fills in pooling, normalize and max_length from the folder's files; bert and tokenizer are loaded already. */
enum wick_status wick__embedder_configure(struct wick_embedder *embedder, const char *folder);

#endif
