/* A call is timed by making it again and again, each time the whole of it, second passes included: a batch that takes a
 * while without waiting in between, by the host's clock, as a program would see it. The least of some batches counts.
 */
#include "gpu/routes/tune.h"

#include "core/memory.h"

#include <string.h>
#include <time.h>

enum { PLACES = 8, BATCHES = 5, MOST_RUNS = 100, CALLS = 1024 };
static const double batch_us = 2000;

static _Thread_local struct wick__timed *now;

struct wick__timed *wick__tune_now(const int64_t key[WICK__PLAN_KEY]) {
    for (struct wick__timed *timed = now; timed; timed = timed->outer)
        if (!key || memcmp(timed->winner.key, key, sizeof timed->winner.key) == 0) return timed;
    return NULL;
}

static double clock_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* Microseconds a run of `runs`; below 0 when one fails. */
static double batch(struct wick__gpu *gpu, const struct wick__offer *offer, int runs) {
    const double began = clock_us();
    for (int i = 0; i < runs; i++)
        if (offer->again(gpu, offer) != WICK_OK) return -1;
    return wick__gpu_wait(gpu) == WICK_OK ? (clock_us() - began) / runs : -1;
}

/* The least time of a way; below 0 when it does not take the call. The first run, which makes plans and loads kernels,
 * does not count. A way that is far behind the best is soon given up. */
static double measure(struct wick__gpu *gpu, const struct wick__offer *offer, struct wick__timed *timed, double best) {
    const bool own = timed->winner.route == WICK__OWN_ROUTE;
    if (batch(gpu, offer, 1) < 0 || timed->ran == own) return -1;
    double least = batch(gpu, offer, 1);
    const double wanted = least > 0 ? batch_us / least : 1;
    const int runs = wanted < 1 ? 1 : wanted > MOST_RUNS ? MOST_RUNS : (int)wanted;
    for (int i = 0; i < BATCHES && least >= 0; i++) {
        const double us = batch(gpu, offer, runs);
        if (us < least) least = us;
        if (best > 0 && least > 2 * best) break;
    }
    return timed->ran == own ? -1 : least;
}

static const char *name_of(int route) { return route == WICK__OWN_ROUTE ? "own" : wick__routes[route]->name; }

/* Times a route by each of its library's ways; the row gets the best, and so does the winner where that is the best of
 * all. */
static void time_route(struct wick__gpu *gpu, int route, const struct wick__offer *offer, struct wick__timing *timing,
                       double *best) {
    const bool own = route == WICK__OWN_ROUTE;
    struct wick_tune_info row = {.route = name_of(route)};
    for (int64_t place = own ? 0 : 1; place <= PLACES; place++) {
        struct wick__timed timed = {.outer = now, .winner = timing->winner};
        timed.winner.route = route;
        timed.winner.way = (struct wick__way){.place = place};
        now = &timed;
        const double us = measure(gpu, offer, &timed, *best);
        now = timed.outer;
        if (us < 0) break;
        if (row.ways++ == 0 || us < row.us) row.us = us;
        if (*best <= 0 || us < *best) {
            *best = us;
            timing->winner.route = route;
            timing->winner.way.name = timed.winner.way.name;
        }
        if (timed.winner.way.name == 0) break; /* there is but one */
    }
    if (row.ways > 0) timing->rows[timing->n++] = row;
}

void wick__tune(struct wick__gpu *gpu, int first, int last, const struct wick__offer *offer,
                const int64_t key[WICK__PLAN_KEY], struct wick__timing *timing) {
    double best = 0;
    struct wick__error quiet = {0};
    *timing = (struct wick__timing){.winner = {.route = WICK__BY_RULES}};
    memcpy(timing->winner.key, key, sizeof timing->winner.key);
    wick__routes[first]->say(offer, timing->sizes, sizeof timing->sizes);
    wick__error_swap(&quiet); /* a way that fails is none */
    for (int route = first; route <= last; route++)
        if (wick__routes[route]->library(gpu->vendor)->create) time_route(gpu, route, offer, timing, &best);
    if (timing->n > 0) time_route(gpu, WICK__OWN_ROUTE, offer, timing, &best);
    wick__error_swap(&quiet);
    for (int i = 0; i < timing->n; i++) {
        struct wick_tune_info *row = &timing->rows[i];
        row->op = wick__routes[first]->op;
        row->dtype = offer->dtype;
        row->chosen = strcmp(row->route, name_of((int)timing->winner.route)) == 0;
    }
}

/* ---- the list ---- */

struct wick__timings {
    int count;
    struct wick__timing all[CALLS];
};

void wick__timings_add(struct wick__timings **timings, const struct wick__timing *timing) {
    if (timing->n < 2) return;
    if (!*timings) *timings = wick__calloc(1, sizeof **timings);
    struct wick__timings *list = *timings;
    if (list && list->count < CALLS) list->all[list->count++] = *timing;
}

int wick__timings_count(const struct wick__timings *timings) {
    int count = 0;
    for (int i = 0; timings && i < timings->count; i++) count += timings->all[i].n;
    return count;
}

bool wick__timings_describe(const struct wick__timings *timings, int row, struct wick_tune_info *info) {
    for (int call = 0; timings && call < timings->count; row -= timings->all[call++].n) {
        if (row >= timings->all[call].n) continue;
        *info = timings->all[call].rows[row];
        info->call = call;
        info->sizes = timings->all[call].sizes;
        return true;
    }
    return false;
}

void wick__timings_free(struct wick__timings *timings) { wick__free(timings, sizeof *timings); }
