/* cuDNN's graphs of operations: descriptors, and plans by the engines that it proposes for a graph. */
#include "cuda/graph.h"

#include "core/memory.h"

enum { RESULTS = 16, KNOBS = (WICK__RECIPE_WORDS - 1) / 2 };

/* ---- descriptors ---- */

void wick__graph_release(struct wick__graph_made *made, int down_to) {
    while (made->count > down_to) wick__cudnn.cudnnBackendDestroyDescriptor(made->all[--made->count]);
}

void *wick__graph_make(struct wick__graph_made *made, int type) {
    void *descriptor = NULL;
    if (made->code) return NULL;
    made->code = made->count == WICK__GRAPH_MADE
                     ? WICK__CUDNN_CODE | CUDNN_STATUS_NOT_SUPPORTED
                     : wick__cudnn_code(wick__cudnn.cudnnBackendCreateDescriptor(type, &descriptor));
    if (!made->code) made->all[made->count++] = descriptor;
    return descriptor;
}

void wick__graph_set(struct wick__graph_made *made, void *descriptor, int name, int type, int64_t count,
                     const void *values) {
    if (!made->code)
        made->code = wick__cudnn_code(wick__cudnn.cudnnBackendSetAttribute(descriptor, name, type, count, values));
}

void wick__graph_set_int(struct wick__graph_made *made, void *descriptor, int name, int type, int value) {
    wick__graph_set(made, descriptor, name, type, 1, &value);
}

void wick__graph_set_part(struct wick__graph_made *made, void *descriptor, int name, void *part) {
    wick__graph_set(made, descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &part);
}

void wick__graph_finalize(struct wick__graph_made *made, void *descriptor) {
    if (!made->code) made->code = wick__cudnn_code(wick__cudnn.cudnnBackendFinalize(descriptor));
}

void *wick__graph_tensor(struct wick__graph_made *made, const struct wick__graph_tensor *tensor) {
    const int64_t align = 16;
    const bool yes = true;
    void *t = wick__graph_make(made, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    wick__graph_set_int(made, t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, tensor->type);
    wick__graph_set(made, t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, tensor->rank, tensor->dims);
    wick__graph_set(made, t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, tensor->rank, tensor->strides);
    wick__graph_set(made, t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &tensor->number);
    wick__graph_set(made, t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &align);
    if (tensor->is_virtual) wick__graph_set(made, t, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
    if (tensor->is_value) wick__graph_set(made, t, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
    wick__graph_finalize(made, t);
    return t;
}

void *wick__graph_of(struct wick__graph_made *made, void *handle, int64_t count, void *const *ops) {
    void *graph = wick__graph_make(made, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    wick__graph_set(made, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    wick__graph_set(made, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, ops);
    wick__graph_finalize(made, graph);
    return graph;
}

/* ---- plans ---- */

struct plan {
    struct wick__graph_made made;
    void *plan;
    size_t workspace; /* bytes */
};
struct search {
    const struct wick__graph_wanted *wanted;
    void *graph;
    struct wick__planned *planned;
    int64_t place; /* of those met that will do */
};

/* Whether an engine keeps to what numerics.md promises: no operands or sums of fewer bits (tensor cores take f32 as
 * tf32), no transforms that carry one element's error into its neighbours, the same bits each time; and whether it is
 * there to be used, without a compiler where none is wanted. */
static bool keeps(struct wick__graph_made *made, void *config, const struct wick__graph_wanted *wanted) {
    int notes[16], behavior[16];
    int64_t n = 0, m = 0, one = 0;
    int from = made->count;
    void *engine = wick__graph_make(made, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    bool good = !made->code &&
                !wick__cudnn.cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &one, &engine) &&
                !wick__cudnn.cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                      CUDNN_TYPE_NUMERICAL_NOTE, 16, &n, notes) &&
                !wick__cudnn.cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                                                      16, &m, behavior);
    for (int64_t i = 0; i < n && good; i++)
        good = notes[i] != CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS &&
               notes[i] != CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION && notes[i] != CUDNN_NUMERICAL_NOTE_FFT &&
               notes[i] != CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC && notes[i] != CUDNN_NUMERICAL_NOTE_WINOGRAD &&
               (notes[i] != CUDNN_NUMERICAL_NOTE_TENSOR_CORE || wanted->dtype != WICK_F32);
    for (int64_t i = 0; i < m && good && !wanted->compiles; i++)
        good = behavior[i] != CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
    wick__graph_release(made, from);
    return good;
}

/* A configuration in words: its engine's number, and type and choice of each of its knobs. Of no words where there are
 * too many. */
static struct wick__recipe recipe_of(void *config) {
    struct wick__graph_made made = {.code = 0};
    struct wick__recipe recipe = {.count = 0};
    void *knobs[KNOBS + 1], *engine = wick__graph_make(&made, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t count = 0, one = 0, *word = recipe.words;
    for (int i = 0; i <= KNOBS; i++) knobs[i] = wick__graph_make(&made, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    if (!made.code && !wick__cudnn.cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                                            CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &one, &engine))
        wick__cudnn.cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &one, word);
    if (made.code || wick__cudnn.cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                                          CUDNN_TYPE_BACKEND_DESCRIPTOR, KNOBS + 1, &count, knobs))
        count = 0;
    for (int64_t i = 0; i < count && i < KNOBS; i++) {
        int type = -1;
        int64_t value = -1;
        wick__cudnn.cudnnBackendGetAttribute(knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &one,
                                             &type);
        wick__cudnn.cudnnBackendGetAttribute(knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &one,
                                             &value);
        *++word = type;
        *++word = value;
    }
    if (!made.code && count <= KNOBS) recipe.count = 1 + 2 * count;
    wick__graph_release(&made, 0);
    return recipe;
}

static uint64_t name_of(const struct wick__recipe *recipe) { return wick__fnv(0, recipe->words, sizeof recipe->words); }

/* Makes the plan of a configuration, unless it wants too much memory. */
static bool plan_of(const struct search *search, void *config, struct plan *plan) {
    struct wick__graph_made *made = &plan->made;
    int64_t nbytes = 0, one = 0;
    plan->plan = wick__graph_make(made, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    wick__graph_set(made, plan->plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &search->wanted->handle);
    wick__graph_set_part(made, plan->plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    wick__graph_finalize(made, plan->plan);
    if (!made->code)
        made->code = wick__cudnn_code(wick__cudnn.cudnnBackendGetAttribute(
            plan->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &one, &nbytes));
    plan->workspace = (size_t)nbytes;
    return !made->code && nbytes >= 0 && (uint64_t)nbytes <= search->planned->most;
}

/* Takes a configuration, which belongs to the plan then, if it will do and is the way that is wanted. */
static bool take(struct search *search, struct wick__graph_made *found, void *config, struct plan *plan) {
    struct wick__graph_made *made = &plan->made;
    struct wick__way *way = &search->planned->way;
    int before = made->count;
    bool taken = made->count < WICK__GRAPH_MADE - 2 && keeps(made, config, search->wanted);
    const struct wick__recipe recipe = taken ? recipe_of(config) : (struct wick__recipe){.count = 0};
    taken = taken && (!way->name || way->name == name_of(&recipe)) && plan_of(search, config, plan);
    if (taken && !way->name) taken = ++search->place >= way->place;
    if (taken && way->place) way->name = name_of(&recipe);
    made->code = 0;
    if (!taken) wick__graph_release(made, before);
    if (taken) search->planned->recipe = recipe;
    for (int i = 0; i < found->count && taken; i++)
        if (found->all[i] == config) {
            found->all[i] = found->all[--found->count];
            made->all[made->count++] = config;
        }
    return taken;
}

/* The configuration of a recipe, for this very graph. */
static void *config_of(struct wick__graph_made *made, void *graph, const struct wick__recipe *recipe) {
    void *knobs[KNOBS];
    const int64_t *word = recipe->words, count = (recipe->count - 1) / 2;
    void *engine = wick__graph_make(made, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    wick__graph_set_part(made, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    wick__graph_set(made, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, word++);
    wick__graph_finalize(made, engine);
    for (int64_t i = 0; i < count; i++, word += 2) {
        knobs[i] = wick__graph_make(made, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        wick__graph_set_int(made, knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, (int)word[0]);
        wick__graph_set(made, knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &word[1]);
        wick__graph_finalize(made, knobs[i]);
    }
    void *config = wick__graph_make(made, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    wick__graph_set_part(made, config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (count > 0)
        wick__graph_set(made, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, knobs);
    wick__graph_finalize(made, config);
    return config;
}

/* Takes what a recipe says, if it will do as one that the library proposes, and is the way that is wanted. */
static bool follow(struct search *search, struct plan *plan) {
    const struct wick__recipe *recipe = &search->planned->recipe;
    const struct wick__way *way = &search->planned->way;
    struct wick__graph_made *made = &plan->made;
    const int before = made->count;
    if (way->place || recipe->count < 1 || recipe->count > WICK__RECIPE_WORDS || recipe->count % 2 == 0 ||
        (way->name && way->name != name_of(recipe)))
        return false;
    void *config = config_of(made, search->graph, recipe);
    const bool taken = !made->code && keeps(made, config, search->wanted) && plan_of(search, config, plan);
    made->code = 0;
    if (!taken) wick__graph_release(made, before);
    return taken;
}

/* Takes the first of the configurations that the library proposes in this mode, best first, that will do. */
static bool propose(struct search *search, int mode, struct plan *plan) {
    struct wick__graph_made found = {.code = 0}, *made = &plan->made;
    void *list[RESULTS];
    int64_t count = 0;
    int from = made->count;
    bool taken = false;
    void *heuristic = wick__graph_make(made, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    wick__graph_set_part(made, heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, search->graph);
    wick__graph_set_int(made, heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    wick__graph_finalize(made, heuristic);
    for (int i = 0; i < RESULTS; i++) list[i] = wick__graph_make(&found, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (!made->code) made->code = found.code;
    if (!made->code)
        made->code = wick__cudnn_code(wick__cudnn.cudnnBackendGetAttribute(
            heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, RESULTS, &count, list));
    if (made->code) count = 0;
    for (int64_t i = 0; i < count && i < RESULTS && !taken; i++) taken = take(search, &found, list[i], plan);
    wick__graph_release(&found, 0);
    if (!taken) wick__graph_release(made, from);
    made->code = 0;
    return taken;
}

void wick__graph_forget(void *memory) {
    struct plan *plan = memory;
    wick__graph_release(&plan->made, 0);
    wick__free(plan, sizeof *plan);
}

int wick__graph_plan(const struct wick__graph_wanted *wanted, struct wick__planned *planned) {
    struct plan *plan = wick__alloc_quiet(sizeof *plan);
    planned->plan = NULL;
    if (!plan) return CUDA_ERROR_OUT_OF_MEMORY;
    *plan = (struct plan){.plan = NULL};
    struct search search = {wanted, wanted->graph(&plan->made, wanted->handle, wanted->call), planned, 0};
    int code = plan->made.code;
    if (!code && !follow(&search, plan) && !propose(&search, CUDNN_HEUR_MODE_A, plan) &&
        !propose(&search, CUDNN_HEUR_MODE_FALLBACK, plan))
        code = WICK__CUDNN_CODE | CUDNN_STATUS_NOT_SUPPORTED;
    planned->workspace = plan->workspace;
    if (code) {
        planned->recipe.count = 0;
        wick__graph_forget(plan);
    } else {
        planned->plan = plan;
    }
    return code;
}

int wick__graph_run(void *handle, void *memory, const struct wick__graph_operands *operands, void *workspace) {
    const struct plan *plan = memory;
    struct wick__graph_made made = {.code = 0};
    const int64_t count = operands->count;
    void *pack = wick__graph_make(&made, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    wick__graph_set(&made, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, operands->numbers);
    wick__graph_set(&made, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, operands->data);
    wick__graph_set(&made, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    wick__graph_finalize(&made, pack);
    if (!made.code) made.code = wick__cudnn_code(wick__cudnn.cudnnBackendExecute(handle, plan->plan, pack));
    wick__graph_release(&made, 0);
    return made.code;
}
