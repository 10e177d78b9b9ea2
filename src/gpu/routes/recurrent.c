/* cuDNN and MIOpen: RNN, LSTM and GRU in inference; and their gradients by MIOpen, which makes the forward pass again,
 * as its reserve is its own. The library's weights lie in one space, where a call puts them, and their gradients in
 * another, from where a call takes them. */
#include "gpu/routes/recurrent.h"

#include "core/memory.h"
#include "gpu/routes/plans.h"
#include "gpu/runtime/target.h"

#include <stdio.h>
#include <string.h>

/* The most memory that a call gets besides its operands, and pieces of a weight. */
#define WORKSPACE ((size_t)1 << 30)
enum { PIECES = 6 };

/* What is checked by itself: each kind of layer in each dtype. */
static const enum wick_dtype dtypes[] = {WICK_BF16, WICK_F16, WICK_F32, WICK_F64};
enum { DTYPES = 4, KINDS = 3 };
static const char *const names[] = {"bf16 rnn", "f16 rnn",  "f32 rnn", "f64 rnn", "bf16 lstm", "f16 lstm", "f32 lstm",
                                    "f64 lstm", "bf16 gru", "f16 gru", "f32 gru", "f64 gru",   NULL};

static const struct wick__companion *library(const struct wick__vendor *vendor) {
    static const struct wick__companion none;
    return vendor->recurrent_plan ? &vendor->dnn : &none;
}
static const struct wick__companion *library_backward(const struct wick__vendor *vendor) {
    static const struct wick__companion none;
    return vendor->recurrent_backward ? &vendor->dnn : &none;
}

static int kind_of(enum wick_recurrent_mode mode) { return mode == WICK_LSTM ? 1 : mode == WICK_GRU ? 2 : 0; }

/* Whether every tensor has elements, and none so many that 32 bits can't number them. */
static bool is_ordinary(const struct wick__dnn_recurrent *l) {
    const double limit = 1u << 31, rows = (double)l->steps * (double)l->batch, columns = 2.0 * (double)l->hidden;
    const double x = rows * (double)l->inputs, y = rows * columns,
                 states = (double)l->layers * (double)l->batch * columns;
    const double wide = l->layers > 1 && columns > (double)l->inputs ? columns : (double)l->inputs;
    return x > 0 && y > 0 && x < limit && y < limit && states < limit && 4 * (double)l->hidden * wide < limit &&
           2 * columns * (double)l->hidden < limit;
}

static bool is_aligned(const struct wick__dnn_recurrent *l) {
    const struct wick__dnn_slopes *s = &l->slopes;
    const void *const operands[] = {l->x, l->h,      l->c,      l->y, l->last_h, l->last_c,
                                    s->y, s->last_h, s->last_c, s->x, s->h,      s->c};
    bool aligned = true;
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) aligned = aligned && wick__aligned16(operands[i]);
    return aligned;
}

static bool has_c(const struct wick__dnn_recurrent *l) { return l->c || l->last_c || l->slopes.last_c || l->slopes.c; }

static bool has_empty(const struct wick__dnn_recurrent *l) {
    for (int64_t b = 0; l->lengths && b < l->batch; b++)
        if (l->lengths[b] == 0) return true;
    return false;
}

/* Whether ours is faster, or within a tenth, as measured on an H200 with cuDNN 9.19 (bench/NOTES.md): always in f32 and
 * 16 bits, in f64 up to so many multiplications of a step. */
static bool is_faster(const struct wick__gpu *gpu, const struct wick__dnn_recurrent *l) {
    const double each = (double)l->batch * (double)l->hidden * (double)l->state * wick__recurrent_gates(l->mode);
    return wick__capability(gpu) == 90 && (l->dtype != WICK_F64 || each < 5e7);
}

static int takes(const struct wick__gpu *gpu, enum wick__choice choice, const struct wick__offer *offer,
                 const char **reason) {
    const struct wick__dnn_recurrent *l = ((const struct wick__recurrent_offer *)offer)->layer;
    const bool narrow = l->dtype == WICK_F16 || l->dtype == WICK_BF16;
    int dtype = 0;
    while (dtype < DTYPES && dtypes[dtype] != l->dtype) dtype++;
    if (dtype == DTYPES)
        *reason = "it has no such layers of the dtype";
    else if (!is_ordinary(l))
        *reason = "an operand is empty or has 2^31 elements or more";
    else if (!is_aligned(l))
        *reason = "an operand doesn't start at a multiple of 16 bytes";
    else if (narrow && has_c(l))
        *reason = "its c has 16 bits";
    else if (l->lengths && (l->backward || !gpu->vendor->recurrent_by_lengths))
        *reason = "the sequences' lengths differ";
    else if (has_empty(l))
        *reason = "a sequence is empty";
    else if (l->state != l->hidden && (l->backward || !gpu->vendor->recurrent_projected))
        *reason = "it has no projections";
    else if (choice == WICK__AUTO && is_faster(gpu, l))
        *reason = "ours is faster";
    else
        return kind_of(l->mode) * DTYPES + dtype;
    return -1;
}

static void say(const struct wick__offer *offer, char *text, size_t size) {
    const struct wick__dnn_recurrent *l = ((const struct wick__recurrent_offer *)offer)->layer;
    const char *name = strchr(names[kind_of(l->mode) * DTYPES], ' ') + 1;
    snprintf(text, size, "%s of %lld steps, %lld sequences, %lld inputs, %lld hidden, %d layers, %d directions", name,
             (long long)l->steps, (long long)l->batch, (long long)l->inputs, (long long)l->hidden, l->layers,
             l->directions);
}

/* ---- plans ---- */

struct plan {
    struct wick__recurrent_plan of;
    size_t nbytes; /* of this */
    struct wick__weight_piece pieces[];
};

static void key_of(const struct wick__dnn_recurrent *l, int64_t key[WICK__PLAN_KEY]) {
    const int64_t flags = l->biased + 2 * l->batch_first + 4 * l->backward;
    const int64_t values[] = {l->mode,  l->dtype, l->layers, l->directions, flags,
                              l->steps, l->batch, l->inputs, l->hidden,     l->state};
    memset(key, 0, sizeof *key * WICK__PLAN_KEY);
    memcpy(key, values, sizeof values);
}

/* Makes one of pieces that lie side by side in both places. */
static void join(struct wick__recurrent_plan *plan) {
    int n = 0;
    for (int i = 0; i < plan->n_pieces; i++) {
        const struct wick__weight_piece *piece = &plan->pieces[i];
        bool joined = false;
        for (int k = 0; k < n && !joined; k++) {
            struct wick__weight_piece *before = &plan->pieces[k];
            joined = before->weight == piece->weight && before->from + before->nbytes == piece->from &&
                     before->to + before->nbytes == piece->to;
            if (joined) before->nbytes += piece->nbytes;
        }
        if (!joined) plan->pieces[n++] = *piece;
    }
    plan->n_pieces = n;
}

static size_t space_of(const struct wick__recurrent_plan *plan) { return (plan->space + 255) / 256 * 256; }

/* Before the library's memory: its weights, and their gradients. */
static size_t spaces_of(const struct wick__recurrent_plan *plan, const struct wick__dnn_recurrent *l) {
    return space_of(plan) * (l->backward ? 2 : 1);
}

static void forget_plan(const struct wick__gpu *gpu, void *memory) {
    struct plan *plan = memory;
    if (plan->of.made) gpu->vendor->recurrent_forget(plan->of.made);
    wick__free(plan, plan->nbytes);
}

static int make_plan(struct wick__gpu *gpu, void *handle, const void *call, struct wick__planned *planned) {
    const struct wick__dnn_recurrent *l = call;
    const size_t n = (size_t)l->layers * (size_t)l->directions * (size_t)wick__recurrent_per(l) * PIECES;
    const size_t nbytes = sizeof(struct plan) + n * sizeof(struct wick__weight_piece);
    struct plan *plan = wick__alloc_quiet(nbytes);
    planned->plan = NULL;
    planned->recipe.count = 0;
    if (!plan) return 0; /* and no plan */
    *plan = (struct plan){.nbytes = nbytes};
    plan->of.pieces = plan->pieces;
    int code = gpu->vendor->recurrent_plan(handle, l, &plan->of);
    planned->workspace = spaces_of(&plan->of, l) + plan->of.workspace;
    if (code || planned->workspace > WORKSPACE) {
        forget_plan(gpu, plan);
        return code;
    }
    join(&plan->of);
    planned->plan = plan;
    return 0;
}

static int run_plan(struct wick__gpu *gpu, void *handle, void *memory, const void *call, void *workspace,
                    size_t nbytes) {
    const struct wick__recurrent_plan *plan = &((struct plan *)memory)->of;
    const struct wick__dnn_recurrent *l = call;
    char *const space = workspace;
    char *const own = space + spaces_of(plan, l), *const slopes = l->slopes.weights ? space + space_of(plan) : NULL;
    int code = 0;
    (void)nbytes;
    for (int i = 0; i < plan->n_pieces && !code; i++) {
        const struct wick__weight_piece *piece = &plan->pieces[i];
        code = gpu->vendor->copy(space + piece->to, (const char *)l->weights[piece->weight] + piece->from,
                                 piece->nbytes, wick__gpu_queue(gpu));
    }
    if (code) return code;
    if (!l->backward) return gpu->vendor->recurrent_run(handle, plan, l, space, own);
    code = gpu->vendor->recurrent_backward(handle, plan, l, space, slopes, own);
    for (int i = 0; i < plan->n_pieces && !code && slopes; i++) {
        const struct wick__weight_piece *piece = &plan->pieces[i];
        code = gpu->vendor->copy((char *)l->slopes.weights[piece->weight] + piece->from, slopes + piece->to,
                                 piece->nbytes, wick__gpu_queue(gpu));
    }
    return code;
}

static const struct wick__planner planner = {NULL, make_plan, run_plan, forget_plan};

static enum wick__ran run_layer(struct wick__gpu *gpu, struct wick__held *held,
                                const struct wick__dnn_recurrent *layer) {
    int64_t key[WICK__PLAN_KEY];
    key_of(layer, key);
    return wick__plans_run(gpu, held, &planner, key, layer);
}

static enum wick__verdict try_kind(struct wick__gpu *gpu, struct wick__held *held, int which, bool backward) {
    static const enum wick_recurrent_mode modes[KINDS][2] = {
        {WICK_RNN_TANH, WICK_RNN_RELU}, {WICK_LSTM, WICK_LSTM}, {WICK_GRU, WICK_GRU}};
    const struct wick__recurrent_kind kind = {modes[which / DTYPES][0], modes[which / DTYPES][1],
                                              dtypes[which % DTYPES], backward};
    return wick__recurrent_trials(gpu, held, &kind, run_layer);
}
static enum wick__verdict check(struct wick__gpu *gpu, struct wick__held *held, int which) {
    return try_kind(gpu, held, which, false);
}
static enum wick__verdict check_backward(struct wick__gpu *gpu, struct wick__held *held, int which) {
    return try_kind(gpu, held, which, true);
}

static enum wick__ran run(struct wick__gpu *gpu, struct wick__held *held, struct wick__offer *offer) {
    return run_layer(gpu, held, ((const struct wick__recurrent_offer *)offer)->layer);
}

static void forget(struct wick__gpu *gpu, struct wick__held *held) { wick__plans_forget(gpu, held, &planner); }

#define ROUTE(what, of, by)                                                                                            \
    {                                                                                                                  \
        .name = "DNN", .op = (what), .chooser = WICK__CHOOSE_DNN, .checks = names, .wrong = WICK_LOG_INFO,             \
        .library = (of), .kind = WICK__DNN, .takes = takes, .check = (by), .run = run, .say = say, .forget = forget    \
    }
const struct wick__vendor_route wick__recurrent_route = ROUTE("recurrent layer", library, check);
const struct wick__vendor_route wick__recurrent_backward_route =
    ROUTE("recurrent gradient", library_backward, check_backward);
