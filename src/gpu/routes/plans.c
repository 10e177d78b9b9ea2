/* A set of plans by their keys, and calls by them. */
#include "gpu/routes/plans.h"

#include "core/memory.h"
#include "gpu/routes/recipes.h"

#include <string.h>

enum { SETS = 64, WAYS = 4, NO_MEMORY = -1 };

struct plan {
    bool known;
    int64_t key[WICK__PLAN_KEY];
    struct wick__way asked;
    uint64_t name; /* of the way that it is; 0: was not asked for */
    void *plan;    /* NULL: the library has none */
    size_t workspace;
    bool from_disk, kept; /* made by a recipe of the disk; its recipe is there, or it has none */
    struct wick__recipe recipe;
};

/* At most 256 of them: each key has four places, in which a new plan takes the place of the oldest. */
struct plans {
    struct plan all[SETS][WAYS];
    unsigned char next[SETS];
    struct wick__recipes recipes;
};

static unsigned set_of(const int64_t key[WICK__PLAN_KEY]) {
    return (unsigned)(wick__fnv_words(key, WICK__PLAN_KEY * sizeof *key) >> 40) % SETS;
}

static struct plan *find(struct plans *plans, const int64_t key[WICK__PLAN_KEY], const struct wick__way *way) {
    struct plan *set = plans->all[set_of(key)];
    for (int i = 0; i < WAYS; i++)
        if (set[i].known && memcmp(set[i].key, key, sizeof set[i].key) == 0 &&
            (way->name ? set[i].name == way->name || set[i].asked.name == way->name
                       : !set[i].asked.name && set[i].asked.place == way->place))
            return &set[i];
    return NULL;
}

static void clear(const struct wick__gpu *gpu, const struct wick__planner *planner, struct plan *plan) {
    if (plan->known && plan->plan) planner->forget(gpu, plan->plan);
    *plan = (struct plan){0};
}

/* Makes a plan, by what is on disk unless that was tried; gives the vendor's code. */
static int make(struct wick__gpu *gpu, struct wick__held *held, const struct wick__planner *planner, const void *call,
                struct plan *made) {
    struct wick__planned planned = {.way = made->asked};
    struct wick__recipes *recipes = &((struct plans *)held->kept)->recipes;
    const bool looks = planner->route && !made->asked.place && !made->from_disk && !held->checks;
    const struct wick__recipe *known =
        looks ? wick__recipes_find(gpu, planner->route, recipes, made->key, made->asked.name) : NULL;
    if (known) planned.recipe = *known;
    int code = planner->make(gpu, held->handle, call, &planned);
    if (code != 0 && wick__log_takes(WICK_LOG_DEBUG)) {
        char text[256];
        gpu->vendor->error_text(code, text, sizeof text);
        wick__log(WICK_LOG_DEBUG, "%s: no plan: %s", gpu->device->name, text);
    }
    made->plan = code == 0 ? planned.plan : NULL;
    made->name = planned.way.name;
    made->workspace = planned.workspace;
    made->recipe = planned.recipe;
    made->from_disk = known && memcmp(known, &planned.recipe, sizeof *known) == 0;
    made->kept = made->from_disk || !made->plan || made->recipe.count == 0;
    return code;
}

/* Finds the plan of a call, or makes it; NULL, with what became of that. */
static struct plan *plan_of(struct wick__gpu *gpu, struct wick__held *held, const struct wick__planner *planner,
                            const int64_t key[WICK__PLAN_KEY], const void *call, enum wick__ran *ran) {
    struct plan made = {.known = true, .asked = held->way};
    *ran = WICK__REFUSED;
    if (!held->kept) held->kept = wick__calloc(1, sizeof(struct plans));
    struct plans *plans = held->kept;
    if (!plans) return NULL;
    struct plan *found = find(plans, key, &held->way);
    if (!found) {
        *ran = WICK__NOT_NOW;
        if (wick__gpu_records(gpu)) return NULL;
        *ran = WICK__REFUSED;
        memcpy(made.key, key, sizeof made.key);
        int code = make(gpu, held, planner, call, &made);
        if (code != 0 && gpu->vendor->out_of_memory(code)) return NULL; /* there may be more later */
        unsigned set = set_of(key);
        struct plan *place = &plans->all[set][plans->next[set]++ % WAYS];
        clear(gpu, planner, place);
        *place = made;
        found = place;
    }
    return found->plan ? found : NULL;
}

/* The vendor's code, or NO_MEMORY. */
static int run(struct wick__gpu *gpu, struct wick__held *held, const struct wick__planner *planner,
               const struct plan *plan, const void *call) {
    void *workspace = NULL;
    if (plan->workspace && wick__gpu_scratch(gpu, plan->workspace, &workspace) != WICK_OK) return NO_MEMORY;
    int code = planner->run(gpu, held->handle, plan->plan, call, workspace, plan->workspace);
    if (plan->workspace) wick__gpu_release(gpu, workspace, plan->workspace);
    return code;
}

enum wick__ran wick__plans_run(struct wick__gpu *gpu, struct wick__held *held, const struct wick__planner *planner,
                               const int64_t key[WICK__PLAN_KEY], const void *call) {
    enum wick__ran ran;
    const bool records = wick__gpu_records(gpu), trial = held->way.place != 0 || held->checks;
    struct plan *plan = plan_of(gpu, held, planner, key, call, &ran);
    if (!plan) return ran;
    struct wick__recipes *recipes = &((struct plans *)held->kept)->recipes;
    int code = run(gpu, held, planner, plan, call);
    if (code != 0 && code != NO_MEMORY && plan->from_disk && !records) { /* it is not what this call needs */
        planner->forget(gpu, plan->plan);
        code = make(gpu, held, planner, call, plan);
        if (code == 0) code = run(gpu, held, planner, plan, call);
    }
    held->way.name = plan->name;
    if (code == 0 && !plan->kept && !trial) {
        wick__recipes_put(recipes, plan->key, plan->asked.place ? plan->name : plan->asked.name, &plan->recipe);
        plan->kept = true;
    }
    if (!records && !trial) wick__recipes_write(gpu, planner->route, recipes, false);
    return code == 0 ? WICK__RAN : WICK__REFUSED;
}

void wick__plans_forget(struct wick__gpu *gpu, struct wick__held *held, const struct wick__planner *planner) {
    struct plans *plans = held->kept;
    if (!plans) return;
    wick__recipes_write(gpu, planner->route, &plans->recipes, true);
    wick__recipes_free(&plans->recipes);
    for (int set = 0; set < SETS; set++)
        for (int i = 0; i < WAYS; i++) clear(gpu, planner, &plans->all[set][i]);
    wick__free(plans, sizeof *plans);
    held->kept = NULL;
}
