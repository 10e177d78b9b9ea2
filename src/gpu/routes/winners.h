/* Ways of running calls that were measured to be the fastest, by the calls' keys: in memory, and on disk, so that what
 * one process has measured the next one knows. */
#ifndef WICK_GPU_ROUTES_WINNERS_H
#define WICK_GPU_ROUTES_WINNERS_H

#include "gpu/routes/records.h"
#include "gpu/routes/route.h"

/* Instead of a route: nothing was measured to be the fastest, so that rules decide. */
enum { WICK__BY_RULES = -1 };

/* All of 64 bits, as it lies on disk. */
struct wick__winner {
    int64_t key[WICK__PLAN_KEY];
    int64_t route;        /* or WICK__OWN_ROUTE */
    struct wick__way way; /* of its library, by name */
};

/* Those on disk for an op, this device, these very libraries and these kernels of ours; NULL when there are none.
 * Opens libraries only where others are on disk for the device. */
struct wick__records *wick__winners_read(const struct wick__gpu *gpu, enum wick__chooser chooser);
/* Adds one to those on disk. */
void wick__winners_keep(const struct wick__gpu *gpu, enum wick__chooser chooser, const struct wick__winner *winner);
/* Adds one to a list, which wick__records_find searches. */
void wick__winners_put(struct wick__records **winners, const struct wick__winner *winner);

#endif
