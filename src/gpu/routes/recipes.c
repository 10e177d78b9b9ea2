/* The recipes of a route are records (gpu/routes/records.h) under a key of the library's files and version, the card
 * and its driver: no library is given another one's words. */
#include "gpu/routes/recipes.h"

#include "gpu/routes/records.h"
#include "gpu/routes/verdicts.h"

#include <string.h>
#include <time.h>

/* To be raised when keys or recipes change. */
static const char what[] = "recipes=1\n";

struct record {
    int64_t key[WICK__PLAN_KEY];
    uint64_t name;
    struct wick__recipe recipe;
};
static const struct wick__record_kind kind = {sizeof(struct record), offsetof(struct record, recipe)};

static struct record record_of(const int64_t key[WICK__PLAN_KEY], uint64_t name) {
    struct record record = {.name = name};
    memcpy(record.key, key, sizeof record.key);
    return record;
}

const struct wick__recipe *wick__recipes_find(const struct wick__gpu *gpu, const struct wick__vendor_route *route,
                                              struct wick__recipes *recipes, const int64_t key[WICK__PLAN_KEY],
                                              uint64_t name) {
    struct wick__cache_key at;
    const struct record wanted = record_of(key, name);
    if (!recipes->looked && wick__verdict_key(gpu, route, "recipes", what, &at))
        recipes->known = wick__records_read(&at, &kind);
    recipes->looked = true;
    const struct record *found = wick__records_find(recipes->fresh, &wanted);
    if (!found) found = wick__records_find(recipes->known, &wanted);
    return found ? &found->recipe : NULL;
}

void wick__recipes_put(struct wick__recipes *recipes, const int64_t key[WICK__PLAN_KEY], uint64_t name,
                       const struct wick__recipe *recipe) {
    struct record record = record_of(key, name);
    record.recipe = *recipe;
    wick__records_put(&recipes->fresh, &kind, &record);
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1 + (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void wick__recipes_write(const struct wick__gpu *gpu, const struct wick__vendor_route *route,
                         struct wick__recipes *recipes, bool now) {
    struct wick__cache_key at;
    if (!recipes->fresh || (!now && recipes->written > 0 && seconds() < recipes->written + 1)) return;
    if (wick__verdict_key(gpu, route, "recipes", what, &at)) wick__records_keep(&at, recipes->fresh);
    wick__records_free(recipes->fresh);
    recipes->fresh = NULL;
    recipes->written = seconds();
}

void wick__recipes_free(struct wick__recipes *recipes) {
    wick__records_free(recipes->known);
    wick__records_free(recipes->fresh);
    *recipes = (struct wick__recipes){0};
}
