/* Ways of running calls that a vendor's library has chosen, kept by what the choice depends on. */
#ifndef WICK_GPU_ROUTES_PLANS_H
#define WICK_GPU_ROUTES_PLANS_H

#include "gpu/routes/route.h"

/* What a route does with its library's plans. Functions that return int give the vendor's code. */
struct wick__planner {
    const struct wick__vendor_route *route; /* NULL where nothing of its plans is kept on disk */
    int (*make)(struct wick__gpu *gpu, void *handle, const void *call, struct wick__planned *planned);
    int (*run)(struct wick__gpu *gpu, void *handle, void *plan, const void *call, void *workspace, size_t nbytes);
    void (*forget)(const struct wick__gpu *gpu, void *plan);
};

/* Runs a call by the plan of its key and of held->way, whose name is set where it has one. A plan that is not known is
 * made, though not while a graph is recorded, and kept; so is the fact that the library has none. How the library makes
 * it is kept on disk too, but for ways that are asked for by their places, or in checks. */
enum wick__ran wick__plans_run(struct wick__gpu *gpu, struct wick__held *held, const struct wick__planner *planner,
                               const int64_t key[WICK__PLAN_KEY], const void *call);
/* Forgets all plans; frees what wick__plans_run made in held->kept. */
void wick__plans_forget(struct wick__gpu *gpu, struct wick__held *held, const struct wick__planner *planner);

#endif
