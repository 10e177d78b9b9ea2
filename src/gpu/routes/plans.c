/* A set of plans by their keys. */
#include "gpu/routes/plans.h"

#include <string.h>

static unsigned set_of(const int64_t key[WICK__PLAN_KEY]) {
    uint64_t hash = 0xcbf29ce484222325;
    for (int i = 0; i < WICK__PLAN_KEY; i++) hash = (hash ^ (uint64_t)key[i]) * 0x100000001b3;
    return (unsigned)(hash >> 40) % WICK__PLAN_SETS;
}

struct wick__plan *wick__plans_find(struct wick__plans *plans, const int64_t key[WICK__PLAN_KEY]) {
    struct wick__plan *set = plans->all[set_of(key)];
    for (int i = 0; i < WICK__PLAN_WAYS; i++)
        if (set[i].known && memcmp(set[i].key, key, sizeof set[i].key) == 0) return &set[i];
    return NULL;
}

static void clear(struct wick__plan *plan, void (*forget)(void *)) {
    if (plan->known && plan->plan) forget(plan->plan);
    *plan = (struct wick__plan){0};
}

struct wick__plan *wick__plans_add(struct wick__plans *plans, const int64_t key[WICK__PLAN_KEY],
                                   void (*forget)(void *)) {
    unsigned set = set_of(key);
    struct wick__plan *plan = &plans->all[set][plans->next[set]++ % WICK__PLAN_WAYS];
    clear(plan, forget);
    plan->known = true;
    memcpy(plan->key, key, sizeof plan->key);
    return plan;
}

void wick__plans_clear(struct wick__plans *plans, void (*forget)(void *)) {
    for (int set = 0; set < WICK__PLAN_SETS; set++)
        for (int i = 0; i < WICK__PLAN_WAYS; i++) clear(&plans->all[set][i], forget);
}
