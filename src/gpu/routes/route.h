/* Routes: ways of running an op that lead through a vendor's library. An op has an ordered list of them, our own kernel
 * is behind the last. A call is offered to each in turn, until one has run it; what a route passes over or refuses goes
 * on to the next, and only the log says so. A route tells which calls it takes, checks its library and runs a call;
 * what all have in common is here: whether libraries are wanted at all, handles, trust, counts and locks. */
#ifndef WICK_GPU_ROUTES_ROUTE_H
#define WICK_GPU_ROUTES_ROUTE_H

#include "gpu/runtime/gpu.h"

/* The most things that a library is checked for by themselves, a dtype each for example; and the numbers that tell
 * calls of an op from one another, as far as speed goes: dtype, sizes, strides, alignments; bytes of a text of
 * verdicts. */
enum { WICK__ROUTE_CHECKS = 42, WICK__PLAN_KEY = 26, WICK__ROUTE_TEXT = 1024 };

/* What routes know of a call without knowing the op; an op's own struct begins with it. */
struct wick__offer {
    enum wick_dtype dtype;
    /* Makes the whole call again, by whatever way; its result is the same. */
    enum wick_status (*again)(struct wick__gpu *gpu, const struct wick__offer *offer);
};

/* Whose kernels are wanted: enum wick_blas and enum wick_dnn, which have the same values. */
enum wick__choice { WICK__AUTO = WICK_BLAS_AUTO, WICK__OWN = WICK_BLAS_OWN, WICK__VENDOR = WICK_BLAS_VENDOR };
/* The kinds of ops that this is chosen for by itself. */
enum wick__chooser { WICK__CHOOSE_BLAS, WICK__CHOOSE_DNN, WICK__CHOOSERS };

/* What is known of a library's way with one of its checks: WICK_BLAS_* and, of activations and layers, that they are
 * right but less exact than Wick's are held to be. */
enum wick__verdict {
    WICK__UNCHECKED = WICK_BLAS_UNCHECKED,
    WICK__GOOD = WICK_BLAS_GOOD,
    WICK__ABSENT = WICK_BLAS_ABSENT,
    WICK__WRONG = WICK_BLAS_WRONG,
    WICK__FLUSHES = WICK_BLAS_FLUSHES,
    WICK__ROUGH
};

/* What a route has on a device. */
struct wick__held {
    void *handle;         /* the library's */
    void *kept;           /* the route's own: plans for example; NULL at first */
    struct wick__way way; /* of its library that a call is to run by; `run` sets its name, where ways have names */
    bool checks;          /* a check runs, of what the library says now: nothing is taken from disk or kept there */
};

/* What became of a call. NOT_NOW: running it would need what can't be done while a graph is recorded. */
enum wick__ran { WICK__RAN, WICK__REFUSED, WICK__NOT_NOW };

struct wick__vendor_route {
    const char *name; /* "BLAS" */
    const char *op;   /* "product": what it is for, in the words of a user */
    enum wick__chooser chooser;
    const char *const *checks; /* "bf16", ...: what is checked by itself; NULL at the end */
    /* Whether the vendor's library is ever taken for a check's calls; NULL: for all. */
    bool (*has)(const struct wick__vendor *vendor, int check);
    enum wick_log_level wrong; /* how grave a wrong result in a check is: the log's line about it */
    const struct wick__companion *(*library)(const struct wick__vendor *vendor);
    enum wick__library_kind kind; /* of the library, for vendor->library */
    /* The place in `checks` of what a call needs; -1, with the reason, when the route does not take the call. `choice`
     * is auto or vendor. */
    int (*takes)(const struct wick__gpu *gpu, enum wick__choice choice, const struct wick__offer *offer,
                 const char **reason);
    /* Runs the library on operands whose results are known. UNCHECKED: there was no memory for it, nothing is known. */
    enum wick__verdict (*check)(struct wick__gpu *gpu, struct wick__held *held, int check);
    /* An error that it sets is dropped. */
    enum wick__ran (*run)(struct wick__gpu *gpu, struct wick__held *held, struct wick__offer *offer);
    void (*say)(const struct wick__offer *offer, char *text, size_t size); /* a call's sizes, for the log */
    /* The key of a call, the same for all routes of an op; false when no library can have its operands. NULL for ops
     * whose ways are not measured. */
    bool (*key)(const struct wick__offer *offer, int64_t key[WICK__PLAN_KEY]);
    void (*forget)(struct wick__gpu *gpu,
                   struct wick__held *held); /* frees `kept`; NULL for a route that keeps nothing */
};

/* The routes of products, in their order, and those of convolutions, layers, recurrent layers and their gradients, and
 * attention; behind them our own kernels. */
enum {
    WICK__LT_ROUTE,
    WICK__BLAS_ROUTE,
    WICK__CONV_ROUTE,
    WICK__LAYER_ROUTE,
    WICK__RECURRENT_ROUTE,
    WICK__RECURRENT_BACKWARD_ROUTE,
    WICK__ATTENTION_ROUTE,
    WICK__VENDOR_ROUTES,
    WICK__OWN_ROUTE = WICK__VENDOR_ROUTES
};
extern const struct wick__vendor_route wick__lt_route, wick__blas_route, wick__conv_route, wick__layer_route,
    wick__recurrent_route, wick__recurrent_backward_route, wick__attention_route;
extern const struct wick__vendor_route *const wick__routes[WICK__VENDOR_ROUTES];

/* Offers a call to the routes from `first` to `last`; *done tells whether one ran it. */
enum wick_status wick__routes_run(struct wick__gpu *gpu, int first, int last, struct wick__offer *offer, bool *done);

/* Whether a route would be offered a call at all, by what is chosen and by what it takes: before operands are packed
 * for it and results made. The log says why not. */
bool wick__routes_ask(struct wick__gpu *gpu, int route, const struct wick__offer *offer);

/* What a check found, in a word or a few. */
static inline const char *wick__verdict_text(enum wick__verdict verdict) {
    switch (verdict) {
    case WICK__GOOD: return "good";
    case WICK__WRONG: return "wrong";
    case WICK__FLUSHES: return "subnormal numbers are taken as 0";
    case WICK__ROUGH: return "rough";
    default: return "not made";
    }
}

/* Frees what the above made. */
void wick__routes_close(struct wick__gpu *gpu);

/* wick_blas_set, wick_dnn_set, wick_blas_describe and wick_route_describe of a GPU. */
enum wick_status wick__routes_set(struct wick__gpu *gpu, enum wick__chooser chooser, enum wick__choice choice);
enum wick_status wick__routes_blas(struct wick__gpu *gpu, bool check_all, struct wick_blas_info *info);
enum wick_status wick__routes_describe(struct wick__gpu *gpu, int route, bool check_all, struct wick_route_info *info);
/* wick_tune_set, wick_tune_count and wick_tune_describe of a GPU; the last gives false for a row that is none. */
enum wick_status wick__routes_tune(struct wick__gpu *gpu, enum wick_tune tune);
int wick__routes_tuned(struct wick__gpu *gpu);
bool wick__routes_describe_tuned(struct wick__gpu *gpu, int row, struct wick_tune_info *info);
/* The number of the device's routes: those whose libraries the vendor has at all. */
int wick__routes_count(const struct wick__gpu *gpu);

#endif
