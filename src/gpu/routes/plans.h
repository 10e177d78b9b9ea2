/* Ways of running calls that a vendor's library has chosen, kept by what the choice depends on. */
#ifndef WICK_GPU_ROUTES_PLANS_H
#define WICK_GPU_ROUTES_PLANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WICK__PLAN_KEY = 12, WICK__PLAN_SETS = 64, WICK__PLAN_WAYS = 4 };

struct wick__plan {
    bool known;
    int64_t key[WICK__PLAN_KEY];
    void *plan; /* NULL: the library has none */
    size_t workspace;
};

/* At most 256 of them: each key has four places, in which a new plan takes the place of the oldest. */
struct wick__plans {
    struct wick__plan all[WICK__PLAN_SETS][WICK__PLAN_WAYS];
    unsigned char next[WICK__PLAN_SETS];
};

/* The plan of this key; NULL when it is not known. */
struct wick__plan *wick__plans_find(struct wick__plans *plans, const int64_t key[WICK__PLAN_KEY]);
/* Room for a plan of this key, with all but `known` to be filled in; forgets the plan that was there. */
struct wick__plan *wick__plans_add(struct wick__plans *plans, const int64_t key[WICK__PLAN_KEY],
                                   void (*forget)(void *));
/* Forgets all. */
void wick__plans_clear(struct wick__plans *plans, void (*forget)(void *));

#endif
