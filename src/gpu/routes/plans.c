/* A set of plans by their keys, and calls by them. */
#include "gpu/routes/plans.h"

#include "core/memory.h"

#include <string.h>

enum { SETS = 64, WAYS = 4 };

struct plan {
    bool known;
    int64_t key[WICK__PLAN_KEY];
    struct wick__way asked;
    uint64_t name; /* of the way that it is; 0: was not asked for */
    void *plan;    /* NULL: the library has none */
    size_t workspace;
};

/* At most 256 of them: each key has four places, in which a new plan takes the place of the oldest. */
struct plans {
    struct plan all[SETS][WAYS];
    unsigned char next[SETS];
};

static unsigned set_of(const int64_t key[WICK__PLAN_KEY]) { return (unsigned)(wick__plan_hash(key) >> 40) % SETS; }

static const struct plan *find(const struct plans *plans, const int64_t key[WICK__PLAN_KEY],
                               const struct wick__way *way) {
    const struct plan *set = plans->all[set_of(key)];
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

/* Finds the plan of a call, or makes it; NULL, with what became of that. */
static const struct plan *plan_of(struct wick__gpu *gpu, struct wick__held *held, const struct wick__planner *planner,
                                  const int64_t key[WICK__PLAN_KEY], const void *call, enum wick__ran *ran) {
    struct plan made = {.known = true};
    *ran = WICK__REFUSED;
    if (!held->kept) held->kept = wick__calloc(1, sizeof(struct plans));
    struct plans *plans = held->kept;
    if (!plans) return NULL;
    const struct plan *found = find(plans, key, &held->way);
    if (!found) {
        *ran = WICK__NOT_NOW;
        if (wick__gpu_records(gpu)) return NULL;
        *ran = WICK__REFUSED;
        struct wick__way way = made.asked = held->way;
        int code = planner->make(gpu, held->handle, call, &way, &made.plan, &made.workspace);
        made.name = way.name;
        if (code != 0 && wick__log_takes(WICK_LOG_DEBUG)) {
            char text[256];
            gpu->vendor->error_text(code, text, sizeof text);
            wick__log(WICK_LOG_DEBUG, "%s: no plan: %s", gpu->device->name, text);
        }
        if (code != 0 && gpu->vendor->out_of_memory(code)) return NULL; /* there may be more later */
        memcpy(made.key, key, sizeof made.key);
        unsigned set = set_of(key);
        struct plan *place = &plans->all[set][plans->next[set]++ % WAYS];
        clear(gpu, planner, place);
        *place = made;
        found = place;
    }
    return found->plan ? found : NULL;
}

enum wick__ran wick__plans_run(struct wick__gpu *gpu, struct wick__held *held, const struct wick__planner *planner,
                               const int64_t key[WICK__PLAN_KEY], const void *call) {
    enum wick__ran ran;
    void *workspace = NULL;
    const struct plan *plan = plan_of(gpu, held, planner, key, call, &ran);
    if (!plan) return ran;
    if (plan->workspace && wick__gpu_scratch(gpu, plan->workspace, &workspace) != WICK_OK) return WICK__REFUSED;
    held->way.name = plan->name;
    int code = planner->run(gpu, held->handle, plan->plan, call, workspace, plan->workspace);
    if (plan->workspace) wick__gpu_release(gpu, workspace, plan->workspace);
    return code == 0 ? WICK__RAN : WICK__REFUSED;
}

void wick__plans_forget(struct wick__gpu *gpu, struct wick__held *held, const struct wick__planner *planner) {
    struct plans *plans = held->kept;
    if (!plans) return;
    for (int set = 0; set < SETS; set++)
        for (int i = 0; i < WAYS; i++) clear(gpu, planner, &plans->all[set][i]);
    wick__free(plans, sizeof *plans);
    held->kept = NULL;
}
