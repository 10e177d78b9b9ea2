/* cuDNN 9: convolutions in f16, bf16, f32 and f64 that add up in f32 (f64), by plans of its graphs of operations. */
#include "cuda/cuda.h"

#include "core/memory.h"

#include <stdio.h>

struct wick__cudnn wick__cudnn;

static const struct wick__symbol symbols[] = {
#define WICK__FN(need, result, name, parameters) WICK__SYMBOL(need, struct wick__cudnn, name),
#include "cuda/cudnn.def"
};

static const char *const versions[] = {".so.9", NULL};

struct wick__opener wick__cudnn_opener =
    WICK__OPENER("libcudnn", "WICK_CUDNN_PATH", versions, wick__cuda_roots, symbols);

static char version_text[32];

/* cuBLASLt and NVRTC first: some of its engines ask for them by their bare names. */
void wick__cudnn_open(void) {
    struct wick__opener *opener = &wick__cudnn_opener;
    wick__cublaslt_open();
    wick__nvrtc_open();
    pthread_mutex_lock(&opener->mutex);
    if (!opener->tried && wick__library_open(opener, &wick__cudnn)) {
        int version = (int)wick__cudnn.cudnnGetVersion();
        snprintf(version_text, sizeof version_text, "cuDNN %d.%d.%d", version / 10000, version / 100 % 100,
                 version % 100);
    }
    pthread_mutex_unlock(&opener->mutex);
}

const char *wick__cudnn_version(void) {
    wick__cudnn_open();
    return version_text;
}

const char *wick__cudnn_missing(const char *target) {
    (void)target;
    wick__cudnn_open();
    return wick__cudnn_opener.handle ? NULL : wick__cudnn_opener.fault;
}

const char *wick__cudnn_status_text(int status) {
    const char *text = wick__cudnn_opener.handle ? wick__cudnn.cudnnGetErrorString(status) : NULL;
    return text ? text : "cuDNN status";
}

/* ---- handles ---- */

int wick__cudnn_create(void **out, void *stream) {
    *out = NULL;
    wick__cudnn_open();
    if (!wick__cudnn_opener.handle) return 0;
    int code = wick__cudnn_code(wick__cudnn.cudnnCreate(out));
    if (code) {
        *out = NULL;
        return code;
    }
    code = wick__cudnn_set_stream(*out, stream);
    if (code) {
        wick__cudnn.cudnnDestroy(*out);
        *out = NULL;
    }
    return code;
}

int wick__cudnn_destroy(void *handle) { return wick__cudnn_code(wick__cudnn.cudnnDestroy(handle)); }

int wick__cudnn_set_stream(void *handle, void *stream) {
    return wick__cudnn_code(wick__cudnn.cudnnSetStream(handle, stream));
}

/* ---- descriptors ---- */

enum { MADE = 48, RESULTS = 16, DIMS = 5, KNOBS = (WICK__RECIPE_WORDS - 1) / 2 };
/* Numbers by which a plan's tensors are told from one another. */
enum { X = 1, W, Y, BIAS, SUM, BIASED };

/* What is made of descriptors, in the order in which it was made; and the first code that was not 0, after which
 * nothing more is done. */
struct made {
    void *all[MADE];
    int count, code;
};

static void release(struct made *made, int down_to) {
    while (made->count > down_to) wick__cudnn.cudnnBackendDestroyDescriptor(made->all[--made->count]);
}

static void *make(struct made *made, int type) {
    void *descriptor = NULL;
    if (made->code) return NULL;
    made->code = made->count == MADE ? WICK__CUDNN_CODE | CUDNN_STATUS_NOT_SUPPORTED
                                     : wick__cudnn_code(wick__cudnn.cudnnBackendCreateDescriptor(type, &descriptor));
    if (!made->code) made->all[made->count++] = descriptor;
    return descriptor;
}

static void set(struct made *made, void *descriptor, int name, int type, int64_t count, const void *values) {
    if (!made->code)
        made->code = wick__cudnn_code(wick__cudnn.cudnnBackendSetAttribute(descriptor, name, type, count, values));
}

static void set_int(struct made *made, void *descriptor, int name, int type, int value) {
    set(made, descriptor, name, type, 1, &value);
}

static void set_part(struct made *made, void *descriptor, int name, void *part) {
    set(made, descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &part);
}

static void finalize(struct made *made, void *descriptor) {
    if (!made->code) made->code = wick__cudnn_code(wick__cudnn.cudnnBackendFinalize(descriptor));
}

/* ---- a convolution as a graph ---- */

cudnnDataType_t wick__cudnn_type(enum wick_dtype dtype) {
    return dtype == WICK_F64   ? CUDNN_DATA_DOUBLE
           : dtype == WICK_F32 ? CUDNN_DATA_FLOAT
           : dtype == WICK_F16 ? CUDNN_DATA_HALF
                               : CUDNN_DATA_BFLOAT16;
}

static int sum_type(enum wick_dtype dtype) { return dtype == WICK_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT; }

/* A dense row-major tensor [a, b, spatial...]; virtual, of sums, where it never comes to memory. */
static void *tensor(struct made *made, const struct wick__dnn_conv *c, int id, int64_t a, int64_t b,
                    const int64_t *spatial) {
    int64_t dims[DIMS] = {a, b}, strides[DIMS], number = id;
    const int64_t align = 16;
    const bool is_virtual = id == SUM || id == BIASED;
    for (int s = 0; s < c->spatial; s++) dims[2 + s] = spatial ? spatial[s] : 1;
    for (int64_t d = 2 + c->spatial - 1, step = 1; d >= 0; step *= dims[d--]) strides[d] = step;
    void *t = make(made, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set_int(made, t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE,
            is_virtual ? sum_type(c->dtype) : wick__cudnn_type(c->dtype));
    set(made, t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 2 + c->spatial, dims);
    set(made, t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 2 + c->spatial, strides);
    set(made, t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &number);
    set(made, t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &align);
    if (is_virtual) set(made, t, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    finalize(made, t);
    return t;
}

/* x, y or what y is before it has its bias and is relu's. */
static void *image(struct made *made, const struct wick__dnn_conv *c, int id) {
    bool x = id == X || (id >= SUM && c->way == WICK__CONV_DATA);
    return tensor(made, c, id, c->n, c->groups * (x ? c->cin : c->cout), x ? c->in : c->out);
}

static void *windows(struct made *made, const struct wick__dnn_conv *c) {
    const int64_t spatial = c->spatial;
    void *d = make(made, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set_int(made, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, sum_type(c->dtype));
    set_int(made, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
    set(made, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &spatial);
    set(made, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, spatial, c->dilation);
    set(made, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, spatial, c->stride);
    set(made, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, spatial, c->padding);
    set(made, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, spatial, c->padding);
    finalize(made, d);
    return d;
}

/* The convolution itself; `sum` takes its result's place, if something comes after it. */
static void *operation(struct made *made, const struct wick__dnn_conv *c, void *sum) {
    static const struct {
        int type, alpha, beta, windows, w, x, y;
    } ways[] = {
        [WICK__CONV_FORWARD] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
        [WICK__CONV_DATA] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
        [WICK__CONV_WEIGHT] = {
            CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY}};
    const float one = 1, zero = 0;
    const double one64 = 1, zero64 = 0;
    const bool wide = c->dtype == WICK_F64, data = c->way == WICK__CONV_DATA;
    const int type = wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
    void *around = windows(made, c), *w = tensor(made, c, W, c->groups * c->cout, c->cin, c->kernel);
    void *x = sum && data ? sum : image(made, c, X), *y = sum && !data ? sum : image(made, c, Y);
    void *op = make(made, ways[c->way].type);
    set(made, op, ways[c->way].alpha, type, 1, wide ? (const void *)&one64 : &one);
    set(made, op, ways[c->way].beta, type, 1, wide ? (const void *)&zero64 : &zero);
    set_part(made, op, ways[c->way].windows, around);
    set_part(made, op, ways[c->way].w, w);
    set_part(made, op, ways[c->way].x, x);
    set_part(made, op, ways[c->way].y, y);
    finalize(made, op);
    return op;
}

/* y = mode(x) or, with a second operand, mode(x, b). */
static void *pointwise(struct made *made, const struct wick__dnn_conv *c, int mode, void *x, void *b, void *y) {
    void *what = make(made, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    set_int(made, what, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
    set_int(made, what, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, sum_type(c->dtype));
    finalize(made, what);
    void *op = make(made, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    set_part(made, op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, what);
    set_part(made, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b) set_part(made, op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    set_part(made, op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    finalize(made, op);
    return op;
}

static void *graph_of(struct made *made, void *handle, const struct wick__dnn_conv *c) {
    void *ops[3], *at = NULL;
    int64_t count = 1;
    const int result = c->way == WICK__CONV_DATA ? X : Y;
    const int64_t channels = c->groups * (c->way == WICK__CONV_DATA ? c->cin : c->cout);
    if (c->bias || c->relu) at = image(made, c, SUM);
    ops[0] = operation(made, c, at);
    if (c->bias) {
        void *next = image(made, c, c->relu ? BIASED : result), *bias = tensor(made, c, BIAS, 1, channels, NULL);
        ops[count++] = pointwise(made, c, CUDNN_POINTWISE_ADD, at, bias, next);
        at = next;
    }
    if (c->relu) ops[count++] = pointwise(made, c, CUDNN_POINTWISE_RELU_FWD, at, NULL, image(made, c, result));
    void *graph = make(made, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(made, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set(made, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, ops);
    finalize(made, graph);
    return graph;
}

/* ---- plans ---- */

struct plan {
    struct made made;
    void *plan;
    size_t workspace; /* bytes */
};
struct search {
    void *handle, *graph;
    const struct wick__dnn_conv *c;
    struct wick__planned *planned;
    int64_t place; /* of those met that will do */
};

/* Whether an engine keeps to what numerics.md promises: no operands or sums of fewer bits (tensor cores take f32 as
 * tf32), no transforms that carry one element's error into its neighbours, the same bits each time; and whether it is
 * there to be used, without a compiler. */
static bool keeps(struct made *made, void *config, enum wick_dtype dtype) {
    int notes[16], behavior[16];
    int64_t n = 0, m = 0, one = 0;
    int from = made->count;
    void *engine = make(made, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
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
               (notes[i] != CUDNN_NUMERICAL_NOTE_TENSOR_CORE || dtype != WICK_F32);
    for (int64_t i = 0; i < m && good; i++) good = behavior[i] != CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
    release(made, from);
    return good;
}

/* A configuration in words: its engine's number, and type and choice of each of its knobs. Of no words where there are
 * too many. */
static struct wick__recipe recipe_of(void *config) {
    struct made made = {.code = 0};
    struct wick__recipe recipe = {.count = 0};
    void *knobs[KNOBS + 1], *engine = make(&made, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t count = 0, one = 0, *word = recipe.words;
    for (int i = 0; i <= KNOBS; i++) knobs[i] = make(&made, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
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
    release(&made, 0);
    return recipe;
}

static uint64_t name_of(const struct wick__recipe *recipe) { return wick__fnv(0, recipe->words, sizeof recipe->words); }

/* Makes the plan of a configuration, unless it wants too much memory. */
static bool plan_of(const struct search *search, void *config, struct plan *plan) {
    struct made *made = &plan->made;
    int64_t nbytes = 0, one = 0;
    plan->plan = make(made, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(made, plan->plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &search->handle);
    set_part(made, plan->plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    finalize(made, plan->plan);
    if (!made->code)
        made->code = wick__cudnn_code(wick__cudnn.cudnnBackendGetAttribute(
            plan->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &one, &nbytes));
    plan->workspace = (size_t)nbytes;
    return !made->code && nbytes >= 0 && (uint64_t)nbytes <= search->planned->most;
}

/* Takes a configuration, which belongs to the plan then, if it will do and is the way that is wanted. */
static bool take(struct search *search, struct made *found, void *config, struct plan *plan) {
    struct made *made = &plan->made;
    struct wick__way *way = &search->planned->way;
    int before = made->count;
    bool taken = made->count < MADE - 2 && keeps(made, config, search->c->dtype);
    const struct wick__recipe recipe = taken ? recipe_of(config) : (struct wick__recipe){.count = 0};
    taken = taken && (!way->name || way->name == name_of(&recipe)) && plan_of(search, config, plan);
    if (taken && !way->name) taken = ++search->place >= way->place;
    if (taken && way->place) way->name = name_of(&recipe);
    made->code = 0;
    if (!taken) release(made, before);
    if (taken) search->planned->recipe = recipe;
    for (int i = 0; i < found->count && taken; i++)
        if (found->all[i] == config) {
            found->all[i] = found->all[--found->count];
            made->all[made->count++] = config;
        }
    return taken;
}

/* The configuration of a recipe, for this very graph. */
static void *config_of(struct made *made, void *graph, const struct wick__recipe *recipe) {
    void *knobs[KNOBS];
    const int64_t *word = recipe->words, count = (recipe->count - 1) / 2;
    void *engine = make(made, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    set_part(made, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    set(made, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, word++);
    finalize(made, engine);
    for (int64_t i = 0; i < count; i++, word += 2) {
        knobs[i] = make(made, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        set_int(made, knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, (int)word[0]);
        set(made, knobs[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &word[1]);
        finalize(made, knobs[i]);
    }
    void *config = make(made, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set_part(made, config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (count > 0) set(made, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, knobs);
    finalize(made, config);
    return config;
}

/* Takes what a recipe says, if it will do as one that the library proposes, and is the way that is wanted. */
static bool follow(struct search *search, struct plan *plan) {
    const struct wick__recipe *recipe = &search->planned->recipe;
    const struct wick__way *way = &search->planned->way;
    struct made *made = &plan->made;
    const int before = made->count;
    if (way->place || recipe->count < 1 || recipe->count > WICK__RECIPE_WORDS || recipe->count % 2 == 0 ||
        (way->name && way->name != name_of(recipe)))
        return false;
    void *config = config_of(made, search->graph, recipe);
    const bool taken = !made->code && keeps(made, config, search->c->dtype) && plan_of(search, config, plan);
    made->code = 0;
    if (!taken) release(made, before);
    return taken;
}

/* Takes the first of the configurations that the library proposes in this mode, best first, that will do. */
static bool propose(struct search *search, int mode, struct plan *plan) {
    struct made found = {.code = 0}, *made = &plan->made;
    void *list[RESULTS];
    int64_t count = 0;
    int from = made->count;
    bool taken = false;
    void *heuristic = make(made, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set_part(made, heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, search->graph);
    set_int(made, heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    finalize(made, heuristic);
    for (int i = 0; i < RESULTS; i++) list[i] = make(&found, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (!made->code) made->code = found.code;
    if (!made->code)
        made->code = wick__cudnn_code(wick__cudnn.cudnnBackendGetAttribute(
            heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, RESULTS, &count, list));
    if (made->code) count = 0;
    for (int64_t i = 0; i < count && i < RESULTS && !taken; i++) taken = take(search, &found, list[i], plan);
    release(&found, 0);
    if (!taken) release(made, from);
    made->code = 0;
    return taken;
}

void wick__cudnn_forget(void *memory) {
    struct plan *plan = memory;
    release(&plan->made, 0);
    wick__free(plan, sizeof *plan);
}

int wick__cudnn_plan(void *handle, const struct wick__dnn_conv *c, struct wick__planned *planned) {
    struct plan *plan = wick__alloc_quiet(sizeof *plan);
    planned->plan = NULL;
    if (!plan) return CUDA_ERROR_OUT_OF_MEMORY;
    *plan = (struct plan){.plan = NULL};
    struct search search = {handle, graph_of(&plan->made, handle, c), c, planned, 0};
    int code = plan->made.code;
    if (!code && !follow(&search, plan) && !propose(&search, CUDNN_HEUR_MODE_A, plan) &&
        !propose(&search, CUDNN_HEUR_MODE_FALLBACK, plan))
        code = WICK__CUDNN_CODE | CUDNN_STATUS_NOT_SUPPORTED;
    planned->workspace = plan->workspace;
    if (code) {
        planned->recipe.count = 0;
        wick__cudnn_forget(plan);
    } else {
        planned->plan = plan;
    }
    return code;
}

int wick__cudnn_run(void *handle, void *memory, const struct wick__dnn_conv *c, void *workspace) {
    const struct plan *plan = memory;
    struct made made = {.code = 0};
    const int64_t ids[] = {X, W, Y, BIAS};
    void *const data[] = {c->x, c->w, c->y, c->bias};
    void *pack = make(&made, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    const int64_t count = c->bias ? 4 : 3;
    set(&made, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids);
    set(&made, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, data);
    set(&made, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    finalize(&made, pack);
    if (!made.code) made.code = wick__cudnn_code(wick__cudnn.cudnnBackendExecute(handle, plan->plan, pack));
    release(&made, 0);
    return made.code;
}
