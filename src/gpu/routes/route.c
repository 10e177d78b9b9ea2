/* What all routes have in common: the choice, a handle a device, which follows its stream, what libraries are trusted
 * with, and counts. It is kept in memory, for as long as the device is open; what libraries are trusted with on disk
 * too. */
#include "gpu/routes/route.h"
#include "gpu/routes/tune.h"
#include "gpu/routes/verdicts.h"

#include "core/memory.h"
#include "core/setting.h"

#include <stdio.h>
#include <string.h>

const struct wick__vendor_route *const wick__routes[WICK__VENDOR_ROUTES] = {
    [WICK__LT_ROUTE] = &wick__lt_route,
    [WICK__BLAS_ROUTE] = &wick__blas_route,
    [WICK__CONV_ROUTE] = &wick__conv_route,
    [WICK__LAYER_ROUTE] = &wick__layer_route,
    [WICK__RECURRENT_ROUTE] = &wick__recurrent_route,
    [WICK__RECURRENT_BACKWARD_ROUTE] = &wick__recurrent_backward_route,
    [WICK__ATTENTION_ROUTE] = &wick__attention_route};

struct state {
    bool tried;
    struct wick__held held;
    void *stream;
    enum wick__verdict verdict[WICK__ROUTE_CHECKS];
    int64_t used, refused;
    char text[WICK__ROUTE_TEXT]; /* of the verdicts */
};

struct wick__routes {
    pthread_mutex_t mutex; /* of all below: a handle serves one thread at a time */
    enum wick__choice choice[WICK__CHOOSERS];
    struct state state[WICK__VENDOR_ROUTES];
    enum wick_tune tune;
    struct winners {
        bool looked; /* for those on disk */
        struct wick__records *list;
    } winners[WICK__CHOOSERS];
    struct wick__timings *timings; /* NULL: none */
};

static enum wick__choice choice_from_environment(enum wick__chooser chooser) {
    static const char *const words[] = {[WICK__AUTO] = "auto", [WICK__OWN] = "own", [WICK__VENDOR] = "vendor", NULL};
    static const char *const variables[] = {[WICK__CHOOSE_BLAS] = "WICK_BLAS", [WICK__CHOOSE_DNN] = "WICK_DNN"};
    return (enum wick__choice)wick__setting_word(variables[chooser], words, WICK__AUTO);
}

static enum wick_tune tune_from_environment(void) {
    static const char *const words[] = {
        [WICK_TUNE_OFF] = "off", [WICK_TUNE_NEW] = "new", [WICK_TUNE_ALL] = "all", NULL};
    return (enum wick_tune)wick__setting_word("WICK_TUNE", words, WICK_TUNE_OFF);
}

/* The device's state, made when first asked for, locked. NULL when out of memory. */
static struct wick__routes *routes_lock(struct wick__gpu *gpu) {
    pthread_mutex_lock(&gpu->mutex);
    if (!gpu->routes) {
        struct wick__routes *made = wick__calloc(1, sizeof *made);
        if (made) {
            for (int i = 0; i < WICK__CHOOSERS; i++) made->choice[i] = choice_from_environment((enum wick__chooser)i);
            made->tune = tune_from_environment();
            pthread_mutex_init(&made->mutex, NULL);
            gpu->routes = made;
        }
    }
    struct wick__routes *all = gpu->routes;
    pthread_mutex_unlock(&gpu->mutex);
    if (all) pthread_mutex_lock(&all->mutex);
    return all;
}

void wick__routes_close(struct wick__gpu *gpu) {
    struct wick__routes *all = gpu->routes;
    if (!all) return;
    for (int i = WICK__VENDOR_ROUTES - 1; i >= 0; i--) {
        struct wick__held *held = &all->state[i].held;
        if (wick__routes[i]->forget) wick__routes[i]->forget(gpu, held);
        if (held->handle) wick__routes[i]->library(gpu->vendor)->destroy(held->handle);
    }
    for (int i = 0; i < WICK__CHOOSERS; i++) wick__records_free(all->winners[i].list);
    wick__timings_free(all->timings);
    pthread_mutex_destroy(&all->mutex);
    wick__free(all, sizeof *all);
    gpu->routes = NULL;
}

static bool exists(const struct wick__gpu *gpu, int route) { return wick__routes[route]->library(gpu->vendor)->create; }

/* Whether there is anything that a check could find out. */
static bool is_meant(const struct wick__gpu *gpu, int route, int which) {
    return !wick__routes[route]->has || wick__routes[route]->has(gpu->vendor, which);
}

/* ---- handles ---- */

/* Makes the handle, once, and keeps it on the stream of this thread's work. Not for the first time while a graph is
 * recorded. */
static bool have_handle(struct wick__gpu *gpu, int route, struct state *state) {
    const struct wick__companion *library = wick__routes[route]->library(gpu->vendor);
    char reason[256];
    if (!state->tried) {
        if (wick__gpu_records(gpu) || wick__gpu_use(gpu) != WICK_OK) return false;
        state->tried = true;
        int code = library->create(&state->held.handle, gpu->stream);
        state->stream = gpu->stream;
        if (code != 0) {
            state->held.handle = NULL;
            gpu->vendor->error_text(code, reason, sizeof reason);
            wick__log(WICK_LOG_WARNING, "%s: no %s handle: %s", gpu->device->name, wick__routes[route]->name, reason);
        }
    }
    if (!state->held.handle) return false;
    void *stream = wick__gpu_queue(gpu);
    if (state->stream != stream) {
        if (wick__gpu_use(gpu) != WICK_OK || library->set_stream(state->held.handle, stream) != 0) return false;
        state->stream = stream;
    }
    return true;
}

/* Why there is no handle. */
static const char *missing(struct wick__gpu *gpu, int route, const struct state *state) {
    if (!state->tried && wick__gpu_records(gpu)) return "it can't be opened while a graph is recorded";
    const char *fault = wick__routes[route]->library(gpu->vendor)->missing(gpu->properties.target);
    return fault ? fault : "it gave no handle";
}

static bool is_left_out(struct wick__gpu *gpu, const struct wick__routes *all, int route) {
    return wick__routes[route]->library(gpu->vendor)->only_chosen &&
           all->choice[wick__routes[route]->chooser] == WICK__AUTO;
}
static const char left_out[] = "it compiles each kernel when it first needs it, so it is only used where it is chosen";

/* ---- trust ---- */

/* A verdict: one that another process has found or, if a fresh one is wanted or there is none, that of a check, which
 * waits for the device, so not while a graph is recorded. */
static enum wick__verdict check(struct wick__gpu *gpu, int route, struct state *state, int which, bool fresh) {
    struct wick__error quiet = {0};
    const struct wick__vendor_route *r = wick__routes[route];
    if (state->verdict[which] != WICK__UNCHECKED || wick__gpu_records(gpu)) return state->verdict[which];
    wick__error_swap(&quiet); /* a check that fails is not a failure of the op */
    enum wick__verdict verdict = fresh ? WICK__UNCHECKED : wick__verdict_find(gpu, r, which);
    if (verdict == WICK__UNCHECKED) {
        state->held.checks = true;
        verdict = r->check(gpu, &state->held, which);
        state->held.checks = false;
        wick__verdict_keep(gpu, r, which, verdict);
    }
    wick__error_swap(&quiet);
    state->verdict[which] = verdict;
    if (verdict == WICK__WRONG)
        wick__log(r->wrong, "%s: %s gave a wrong %s of %s and is not used for it", gpu->device->name,
                  r->library(gpu->vendor)->version(), r->op, r->checks[which]);
    return verdict;
}

static bool is_trusted(enum wick__verdict verdict, enum wick__choice choice) {
    return verdict == WICK__GOOD || (verdict == WICK__FLUSHES && choice == WICK__VENDOR);
}

static const char *distrust(enum wick__verdict verdict) {
    switch (verdict) {
    case WICK__ABSENT: return "it refused its check";
    case WICK__WRONG: return "it failed its check";
    case WICK__ROUGH: return "it is less exact than ours";
    case WICK__FLUSHES: return "it treats subnormal operands as 0";
    default: return "it is not checked yet";
    }
}

/* ---- calls ---- */

/* The check of a route that the call needs; -1, with the reason, where it is not offered the call. */
static int wanted(struct wick__gpu *gpu, struct wick__routes *all, int route, const struct wick__offer *offer,
                  const struct wick__winner *winner, const char **reason) {
    const enum wick__choice choice = all->choice[wick__routes[route]->chooser];
    *reason = choice == WICK__OWN ? "own kernels are chosen" : left_out;
    if (choice == WICK__OWN || (!winner && is_left_out(gpu, all, route))) return -1;
    return wick__routes[route]->takes(gpu, winner ? WICK__VENDOR : choice, offer, reason);
}

/* Leaves no error: without memory for what a route needs, others have their turn. */
static enum wick__ran run_quietly(struct wick__gpu *gpu, int route, struct wick__held *held,
                                  struct wick__offer *offer) {
    struct wick__error quiet = {0};
    wick__error_swap(&quiet);
    enum wick__ran ran = wick__routes[route]->run(gpu, held, offer);
    wick__error_swap(&quiet);
    return ran;
}

/* Whether the route ran the call; or why not. `winner` is the way to run it, NULL where rules decide: what is slow by
 * their account, and what only a user's choice takes, a winner may be. */
static bool try(struct wick__gpu *gpu, struct wick__routes *all, int route, struct wick__offer *offer,
                struct wick__winner *winner, const char **reason) {
    struct state *state = &all->state[route];
    int which = wanted(gpu, all, route, offer, winner, reason);
    if (which < 0) return false;
    if (!have_handle(gpu, route, state)) {
        *reason = missing(gpu, route, state);
        return false;
    }
    enum wick__verdict verdict = check(gpu, route, state, which, false);
    enum wick__ran ran = WICK__NOT_NOW;
    *reason = "the graph that is recorded leaves no time to search";
    const bool counts = !winner || winner->way.place == 0; /* those that are timed do not */
    if (!is_trusted(verdict, all->choice[wick__routes[route]->chooser])) {
        *reason = distrust(verdict);
        state->refused += counts && verdict == WICK__ABSENT;
        return false;
    }
    if (winner) state->held.way = winner->way;
    if (wick__gpu_use(gpu) == WICK_OK) ran = run_quietly(gpu, route, &state->held, offer);
    if (winner && ran == WICK__RAN) winner->way.name = state->held.way.name;
    state->held.way = (struct wick__way){0};
    state->used += counts && ran == WICK__RAN;
    if (ran == WICK__REFUSED) {
        state->refused += counts;
        *reason = "it refused the call";
    }
    return ran == WICK__RAN;
}

static void tell(const struct wick__gpu *gpu, int route, const struct wick__offer *offer, const char *reason) {
    char sizes[256];
    if (!wick__log_takes(WICK_LOG_DEBUG)) return;
    wick__routes[route]->say(offer, sizes, sizeof sizes);
    wick__log(WICK_LOG_DEBUG, "%s: %s of %s, %s: not by %s: %s", gpu->device->name, wick__routes[route]->op,
              wick_dtype_name(offer->dtype), sizes, wick__routes[route]->name, reason);
}

/* Offers the call to each route, or to the winner's alone; whether one ran it. */
static bool offer_to(struct wick__gpu *gpu, struct wick__routes *all, int first, int last, struct wick__offer *offer,
                     struct wick__winner *winner) {
    for (int route = first; route <= last; route++) {
        const char *reason = "another way was measured to be faster";
        if (!exists(gpu, route) || (winner && winner->route != route && wick__tune_now(NULL))) continue;
        if ((!winner || winner->route == route) && try(gpu, all, route, offer, winner, &reason)) return true;
        tell(gpu, route, offer, reason);
    }
    return false;
}

bool wick__routes_ask(struct wick__gpu *gpu, int route, const struct wick__offer *offer) {
    const char *reason;
    struct wick__routes *all = exists(gpu, route) ? routes_lock(gpu) : NULL;
    if (!all) return false;
    const bool asked = wanted(gpu, all, route, offer, NULL, &reason) >= 0;
    if (!asked) tell(gpu, route, offer, reason);
    pthread_mutex_unlock(&all->mutex);
    return asked;
}

/* Times the call's ways, without the lock: they are calls, too. What comes of it is kept. */
static struct wick__winner *tune(struct wick__gpu *gpu, struct wick__routes *all, int first, int last,
                                 const struct wick__offer *offer, const int64_t key[WICK__PLAN_KEY]) {
    const enum wick__chooser chooser = wick__routes[first]->chooser;
    struct wick__timing timing;
    pthread_mutex_unlock(&all->mutex);
    wick__tune(gpu, first, last, offer, key, &timing);
    if (timing.n > 1) wick__winners_keep(gpu, chooser, &timing.winner);
    pthread_mutex_lock(&all->mutex);
    wick__timings_add(&all->timings, &timing);
    wick__winners_put(&all->winners[chooser].list, &timing.winner);
    return wick__records_find(all->winners[chooser].list, key);
}

/* What is known of the call from measurements, in this process or before; it may be measured now, though not while a
 * graph is recorded. NULL: nothing is, rules decide. */
static struct wick__winner *winner_of(struct wick__gpu *gpu, struct wick__routes *all, int first, int last,
                                      const struct wick__offer *offer, const int64_t key[WICK__PLAN_KEY]) {
    const enum wick__chooser chooser = wick__routes[first]->chooser;
    struct winners *winners = &all->winners[chooser];
    if (!winners->looked && !wick__gpu_records(gpu)) {
        winners->looked = true;
        if (all->tune != WICK_TUNE_ALL) winners->list = wick__winners_read(gpu, chooser);
    }
    struct wick__winner *winner = wick__records_find(winners->list, key);
    if (winner) winner->way.place = 0; /* whatever the disk says */
    if (!winner && all->tune != WICK_TUNE_OFF && !wick__gpu_records(gpu))
        winner = tune(gpu, all, first, last, offer, key);
    return winner && winner->route != WICK__BY_RULES ? winner : NULL;
}

enum wick_status wick__routes_run(struct wick__gpu *gpu, int first, int last, struct wick__offer *offer, bool *done) {
    int64_t key[WICK__PLAN_KEY];
    struct wick__winner *winner = NULL;
    *done = false;
    while (first <= last && !exists(gpu, first)) first++;
    if (first > last) return WICK_OK;
    struct wick__routes *all = routes_lock(gpu);
    if (!all) return WICK_MEMORY;
    const struct wick__vendor_route *route = wick__routes[first];
    bool measured = all->choice[route->chooser] == WICK__AUTO && route->key && route->key(offer, key);
    struct wick__timed *timed = measured ? wick__tune_now(key) : NULL;
    if (timed)
        winner = &timed->winner;
    else if (measured)
        winner = winner_of(gpu, all, first, last, offer, key);
    *done = offer_to(gpu, all, first, last, offer, winner);
    if (timed) {
        timed->ran = *done;
    } else if (winner && winner->route != WICK__OWN_ROUTE && !*done) {
        if (!wick__gpu_records(gpu)) winner->route = WICK__BY_RULES; /* the library refuses it now */
        *done = offer_to(gpu, all, first, last, offer, NULL);
    }
    pthread_mutex_unlock(&all->mutex);
    return WICK_OK;
}

/* ---- what is asked from outside ---- */

enum wick_status wick__routes_set(struct wick__gpu *gpu, enum wick__chooser chooser, enum wick__choice choice) {
    struct wick__routes *all = routes_lock(gpu);
    if (!all) return WICK_MEMORY;
    all->choice[chooser] = choice;
    pthread_mutex_unlock(&all->mutex);
    return WICK_OK;
}

static bool is_off(const struct wick__routes *all, int route) {
    return all->choice[wick__routes[route]->chooser] == WICK__OWN;
}

/* Whether the library is there; with its verdicts, if all are wanted. */
static bool look(struct wick__gpu *gpu, struct wick__routes *all, int route, bool check_all) {
    struct state *state = &all->state[route];
    if (!exists(gpu, route) || is_left_out(gpu, all, route) ||
        (wick__gpu_records(gpu) ? !state->held.handle : !have_handle(gpu, route, state)))
        return false;
    for (int i = 0; check_all && wick__routes[route]->checks[i]; i++)
        if (is_meant(gpu, route, i)) check(gpu, route, state, i, true);
    return true;
}

static const char *fault_of(struct wick__gpu *gpu, const struct wick__routes *all, int route) {
    if (!exists(gpu, route)) return "not supported";
    if (!is_left_out(gpu, all, route)) return missing(gpu, route, &all->state[route]);
    const char *fault = wick__routes[route]->library(gpu->vendor)->missing(gpu->properties.target);
    return fault ? fault : left_out;
}

enum wick_status wick__routes_blas(struct wick__gpu *gpu, bool check_all, struct wick_blas_info *info) {
    struct wick__routes *all = routes_lock(gpu);
    if (!all) return WICK_MEMORY;
    struct state *state = &all->state[WICK__BLAS_ROUTE];
    bool there = look(gpu, all, WICK__BLAS_ROUTE, check_all);
    *info = (struct wick_blas_info){.blas = (enum wick_blas)all->choice[WICK__CHOOSE_BLAS],
                                    .library = there ? gpu->vendor->blas.version() : NULL,
                                    .fault = there ? NULL : fault_of(gpu, all, WICK__BLAS_ROUTE),
                                    .bf16 = (enum wick_blas_verdict)state->verdict[0],
                                    .f16 = (enum wick_blas_verdict)state->verdict[1],
                                    .f32 = (enum wick_blas_verdict)state->verdict[2],
                                    .f64 = (enum wick_blas_verdict)state->verdict[3]};
    for (int i = 0; i < WICK__VENDOR_ROUTES; i++) {
        if (wick__routes[i]->chooser != WICK__CHOOSE_BLAS) continue;
        info->used += all->state[i].used;
        info->refused += all->state[i].refused;
    }
    pthread_mutex_unlock(&all->mutex);
    return WICK_OK;
}

/* "right for f16, f32; WRONG for bf16", into the state's text. */
static void put_verdicts(const struct wick__gpu *gpu, int route, struct state *state) {
    static const struct {
        enum wick__verdict verdict;
        const char *text;
    } kinds[] = {{WICK__GOOD, "right for "},
                 {WICK__WRONG, "WRONG for "},
                 {WICK__FLUSHES, "takes subnormal operands as 0 in "},
                 {WICK__ROUGH, "less exact than ours in "},
                 {WICK__ABSENT, "refuses "},
                 {WICK__UNCHECKED, "not checked: "}};
    const char *const *checks = wick__routes[route]->checks;
    size_t at = 0, size = sizeof state->text;
    *state->text = 0;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        int n = 0;
        for (int i = 0; checks[i]; i++) {
            if (state->verdict[i] != kinds[kind].verdict || !is_meant(gpu, route, i)) continue;
            int length = snprintf(state->text + at, size - at, "%s%s", n++ ? ", " : at ? "; " : "", "");
            at += length > 0 ? (size_t)length : 0;
            length = snprintf(state->text + at, size - at, "%s%s", n == 1 ? kinds[kind].text : "", checks[i]);
            at += length > 0 ? (size_t)length : 0;
            if (at >= size) return;
        }
    }
}

int wick__routes_count(const struct wick__gpu *gpu) {
    int count = 0;
    for (int i = 0; i < WICK__VENDOR_ROUTES; i++) count += exists(gpu, i);
    return count;
}

enum wick_status wick__routes_describe(struct wick__gpu *gpu, int route, bool check_all, struct wick_route_info *info) {
    int at = 0;
    struct wick__routes *all = routes_lock(gpu);
    if (!all) return WICK_MEMORY;
    for (; at < WICK__VENDOR_ROUTES; at++)
        if (exists(gpu, at) && route-- == 0) break;
    struct state *state = &all->state[at];
    bool there = !is_off(all, at) && look(gpu, all, at, check_all);
    put_verdicts(gpu, at, state);
    *info = (struct wick_route_info){.name = wick__routes[at]->name,
                                     .op = wick__routes[at]->op,
                                     .library = there ? wick__routes[at]->library(gpu->vendor)->version() : NULL,
                                     .fault = there             ? NULL
                                              : is_off(all, at) ? "own kernels are chosen"
                                                                : fault_of(gpu, all, at),
                                     .verdict = state->text,
                                     .used = state->used,
                                     .refused = state->refused};
    pthread_mutex_unlock(&all->mutex);
    return WICK_OK;
}

/* ---- tuning ---- */

enum wick_status wick__routes_tune(struct wick__gpu *gpu, enum wick_tune tune) {
    struct wick__routes *all = routes_lock(gpu);
    if (!all) return WICK_MEMORY;
    all->tune = tune;
    for (int i = 0; i < WICK__CHOOSERS && tune == WICK_TUNE_ALL; i++) {
        wick__records_free(all->winners[i].list);
        all->winners[i] = (struct winners){.looked = true};
    }
    pthread_mutex_unlock(&all->mutex);
    return WICK_OK;
}

int wick__routes_tuned(struct wick__gpu *gpu) {
    struct wick__routes *all = routes_lock(gpu);
    if (!all) return 0;
    int count = wick__timings_count(all->timings);
    pthread_mutex_unlock(&all->mutex);
    return count;
}

bool wick__routes_describe_tuned(struct wick__gpu *gpu, int row, struct wick_tune_info *info) {
    struct wick__routes *all = routes_lock(gpu);
    if (!all) return false;
    bool found = wick__timings_describe(all->timings, row, info);
    pthread_mutex_unlock(&all->mutex);
    return found;
}
