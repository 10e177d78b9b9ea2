/* How libraries run calls, in their own words, kept on disk for later processes, which need not ask for it again. */
#ifndef WICK_GPU_ROUTES_RECIPES_H
#define WICK_GPU_ROUTES_RECIPES_H

#include "gpu/routes/route.h"

struct wick__records;

/* Of a route on a device: those that were on disk when it first needed one, and those that are not yet there. */
struct wick__recipes {
    bool looked;
    struct wick__records *known, *fresh;
    double written; /* when: seconds of some clock; 0: never */
};

/* The recipe of a call's key and a way's name, 0 for the library's first choice; NULL when there is none. Not while a
 * graph is recorded. */
const struct wick__recipe *wick__recipes_find(const struct wick__gpu *gpu, const struct wick__vendor_route *route,
                                              struct wick__recipes *recipes, const int64_t key[WICK__PLAN_KEY],
                                              uint64_t name);
/* Adds one, in memory alone. */
void wick__recipes_put(struct wick__recipes *recipes, const int64_t key[WICK__PLAN_KEY], uint64_t name,
                       const struct wick__recipe *recipe);
/* Writes what is not on disk yet, but no more than once a second unless it must be `now`. Cheap where there is nothing
 * to write. Not while a graph is recorded. */
void wick__recipes_write(const struct wick__gpu *gpu, const struct wick__vendor_route *route,
                         struct wick__recipes *recipes, bool now);
void wick__recipes_free(struct wick__recipes *recipes);

#endif
