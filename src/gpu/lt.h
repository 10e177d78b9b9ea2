/* Products with bias and activation by a library of cuBLASLt's interface: cuBLASLt itself and hipBLASLt, which differ
 * in names and numbers. The file that binds one includes this once, and defines before it: LT(name) and LT_(NAME), the
 * library's name for a function or type and for a constant; lt, its functions; the numbers LT_NO, LT_TRANSPOSED,
 * LT_SUMS, LT_TYPE(dtype), LT_F32, LT_CODE, LT_NOT_SUPPORTED and LT_NO_MEMORY; LT_WORDS, those of an algorithm's
 * recipe, 0 where there are no recipes; lt_wish(preference, g), which asks for what else a plan must have; and
 * lt_check(handle, g, plan, workspace), which looks whether an algorithm from disk will do, and tells its workspace.
 * Both return a code, or 0. */
#include "core/memory.h"

#include <string.h>

struct handle {
    LT(Handle_t) handle;
    void *stream;
};

struct plan {
    LT(MatmulDesc_t) desc;
    LT(MatrixLayout_t) a, b, c;
    LT(MatmulAlgo_t) algo;
};

static int lt_wish(LT(MatmulPreference_t) preference, const struct wick__blas_product *g);
static int lt_check(void *handle, const struct wick__blas_product *g, struct plan *plan, size_t *workspace);

static int code_of(int status) { return status == 0 ? 0 : LT_CODE | status; }

/* ---- handles ---- */

static int handle_create(void **out, void *stream) {
    struct handle *handle = wick__alloc_quiet(sizeof *handle);
    if (!handle) return LT_NO_MEMORY;
    *handle = (struct handle){.stream = stream};
    int code = code_of(lt.LT(Create)(&handle->handle));
    if (code)
        wick__free(handle, sizeof *handle);
    else
        *out = handle;
    return code;
}

static int handle_destroy(void *handle) {
    int code = code_of(lt.LT(Destroy)(((struct handle *)handle)->handle));
    wick__free(handle, sizeof(struct handle));
    return code;
}

static int handle_set_stream(void *handle, void *stream) {
    ((struct handle *)handle)->stream = stream;
    return 0;
}

/* ---- plans ---- */

static int set(LT(MatmulDesc_t) desc, int attribute, const void *value, size_t nbytes) {
    return code_of(lt.LT(MatmulDescSetAttribute)(desc, attribute, value, nbytes));
}

/* What it does, and to which matrices: it is column-major, so C^T = B^T A^T is what it is asked for. */
static int describe(const struct wick__blas_product *g, struct plan *plan) {
    const int32_t a_transposed = g->transpose_b ? LT_TRANSPOSED : LT_NO;
    const int32_t b_transposed = g->transpose_a ? LT_TRANSPOSED : LT_NO;
    const uint64_t m = (uint64_t)g->m, n = (uint64_t)g->n, k = (uint64_t)g->k;
    uint32_t epilogue = g->activation == WICK_ACTIVATION_RELU        ? LT_(EPILOGUE_RELU)
                        : g->activation == WICK_ACTIVATION_GELU_TANH ? LT_(EPILOGUE_GELU)
                                                                     : 0;
    if (g->bias) epilogue |= LT_(EPILOGUE_BIAS);
    if (!epilogue) epilogue = LT_(EPILOGUE_DEFAULT);
    const int type = LT_TYPE(g->dtype), c_type = LT_TYPE(g->c_dtype);
    int code = code_of(lt.LT(MatmulDescCreate)(&plan->desc, LT_SUMS, LT_F32));
    if (!code) code = set(plan->desc, LT_(MATMUL_DESC_TRANSA), &a_transposed, sizeof a_transposed);
    if (!code) code = set(plan->desc, LT_(MATMUL_DESC_TRANSB), &b_transposed, sizeof b_transposed);
    if (!code) code = set(plan->desc, LT_(MATMUL_DESC_EPILOGUE), &epilogue, sizeof epilogue);
    if (!code && g->bias) code = set(plan->desc, LT_(MATMUL_DESC_BIAS_POINTER), &g->bias, sizeof g->bias);
    if (!code)
        code =
            code_of(lt.LT(MatrixLayoutCreate)(&plan->a, type, g->transpose_b ? k : n, g->transpose_b ? n : k, g->ldb));
    if (!code)
        code =
            code_of(lt.LT(MatrixLayoutCreate)(&plan->b, type, g->transpose_a ? m : k, g->transpose_a ? k : m, g->lda));
    if (!code) code = code_of(lt.LT(MatrixLayoutCreate)(&plan->c, c_type, n, m, g->ldc));
    return code;
}

static uint64_t name_of(const LT(MatmulAlgo_t) * algo) { return wick__fnv(0, algo, sizeof *algo); }

/* Takes a result if it is the way that is wanted; `place` counts those that will do. */
static bool takes_way(const LT(MatmulHeuristicResult_t) * result, size_t most, struct wick__way *way, int64_t *place) {
    const uint64_t name = name_of(&result->algo);
    if (result->state != 0 || result->workspaceSize > most) return false;
    if (way->name ? way->name != name : ++*place < way->place) return false;
    if (way->place) way->name = name;
    return true;
}

/* Takes the way of a recipe, if it is one that is wanted, and the library has it for this very product. */
static bool takes_recipe(const struct handle *handle, const struct wick__blas_product *g, struct wick__planned *planned,
                         struct plan *plan) {
    const struct wick__way *way = &planned->way;
    if (LT_WORDS == 0 || planned->recipe.count != LT_WORDS || way->place) return false;
    memcpy(&plan->algo, planned->recipe.words, sizeof plan->algo);
    return (!way->name || way->name == name_of(&plan->algo)) &&
           lt_check(handle->handle, g, plan, &planned->workspace) == 0 && planned->workspace <= planned->most;
}

/* The way that is wanted, of those that the library proposes. */
static int search(const struct handle *handle, const struct wick__blas_product *g, struct wick__planned *planned,
                  struct plan *plan) {
    enum { PROPOSALS = 8 };
    LT(MatmulPreference_t) preference = NULL;
    LT(MatmulHeuristicResult_t) results[PROPOSALS] = {{.state = 0}};
    struct wick__way *way = &planned->way;
    int64_t place = 0;
    int wanted = way->place || way->name ? PROPOSALS : 1;
    const uint64_t bytes = planned->most;
    int found = 0, code = code_of(lt.LT(MatmulPreferenceCreate)(&preference));
    if (code) return code;
    code = code_of(
        lt.LT(MatmulPreferenceSetAttribute)(preference, LT_(MATMUL_PREF_MAX_WORKSPACE_BYTES), &bytes, sizeof bytes));
    if (!code) code = lt_wish(preference, g);
    if (!code)
        code = code_of(lt.LT(MatmulAlgoGetHeuristic)(handle->handle, plan->desc, plan->a, plan->b, plan->c, plan->c,
                                                     preference, wanted, results, &found));
    lt.LT(MatmulPreferenceDestroy)(preference);
    if (code) return code;
    for (int i = 0; i < found && i < wanted; i++) {
        if (!takes_way(&results[i], planned->most, way, &place)) continue;
        plan->algo = results[i].algo;
        planned->workspace = results[i].workspaceSize;
        return 0;
    }
    return LT_CODE | LT_NOT_SUPPORTED;
}

static void plan_forget(void *memory) {
    struct plan *plan = memory;
    if (plan->a) lt.LT(MatrixLayoutDestroy)(plan->a);
    if (plan->b) lt.LT(MatrixLayoutDestroy)(plan->b);
    if (plan->c) lt.LT(MatrixLayoutDestroy)(plan->c);
    if (plan->desc) lt.LT(MatmulDescDestroy)(plan->desc);
    wick__free(plan, sizeof *plan);
}

static int plan_make(void *handle, const struct wick__blas_product *g, struct wick__planned *planned) {
    struct plan *plan = wick__alloc_quiet(sizeof *plan);
    planned->plan = NULL;
    if (!plan) return LT_NO_MEMORY;
    *plan = (struct plan){.desc = NULL};
    int code = describe(g, plan);
    if (!code && !takes_recipe(handle, g, planned, plan)) code = search(handle, g, planned, plan);
    planned->recipe = (struct wick__recipe){.count = code ? 0 : LT_WORDS};
    if (code) {
        plan_forget(plan);
        return code;
    }
    if (LT_WORDS > 0) memcpy(planned->recipe.words, &plan->algo, sizeof plan->algo);
    planned->plan = plan;
    return 0;
}

static int plan_run(void *memory, const struct wick__blas_product *g, void *workspace, size_t nbytes, void *handle) {
    const struct plan *plan = memory;
    const struct handle *on = handle;
    const float one = 1, zero = 0;
    int code = g->bias ? set(plan->desc, LT_(MATMUL_DESC_BIAS_POINTER), &g->bias, sizeof g->bias) : 0;
    if (code) return code;
    return code_of(lt.LT(Matmul)(on->handle, plan->desc, &one, g->b, plan->a, g->a, plan->b, &zero, g->c, plan->c, g->c,
                                 plan->c, &plan->algo, workspace, nbytes, on->stream));
}
