/* Timing the ways of running a call. */
#ifndef WICK_GPU_ROUTES_TUNE_H
#define WICK_GPU_ROUTES_TUNE_H

#include "gpu/routes/winners.h"

/* A way that this thread times a call by: the call goes that way, and says whether a library ran it. */
struct wick__timed {
    struct wick__timed *outer; /* our own kernels for an op may be calls of another */
    struct wick__winner winner;
    bool ran;
};
/* The one whose call has this key, or with NULL any; NULL: none is timed. */
struct wick__timed *wick__tune_now(const int64_t key[WICK__PLAN_KEY]);

/* What was measured of a call: a row a route that took it, our own kernels' last. */
struct wick__timing {
    struct wick__winner winner; /* by rules when no library took the call */
    char sizes[256];
    int n;
    struct wick_tune_info rows[WICK__VENDOR_ROUTES + 1];
};
/* Runs the call by every way of the routes from `first` to `last`, and by our own kernels. */
void wick__tune(struct wick__gpu *gpu, int first, int last, const struct wick__offer *offer,
                const int64_t key[WICK__PLAN_KEY], struct wick__timing *timing);

/* A list of the first thousand that had more ways than one. */
struct wick__timings;
void wick__timings_add(struct wick__timings **timings, const struct wick__timing *timing);
int wick__timings_count(const struct wick__timings *timings); /* of rows */
bool wick__timings_describe(const struct wick__timings *timings, int row, struct wick_tune_info *info);
void wick__timings_free(struct wick__timings *timings);

#endif
