/* libcudnn.so.9 over the stand-in driver: descriptors, and plans of one convolution, to which a bias is added or relu
 * applied, or of attention. It proposes engines that must not be taken before the one that may: of attention that which
 * compiles. */
#include "cudnn.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
enum {
    POINTWISE = 0,
    WINDOWS = 1,
    ENGINE = 2,
    CONFIG = 3,
    HEURISTIC = 4,
    PLAN = 5,
    KNOB = 7,
    FORWARD = 10,
    FILTER = 11,
    DATA = 12,
    POINTWISE_OP = 13,
    GRAPH = 15,
    PACK = 16,
    TENSOR = STANDIN_TENSOR
};
enum { WORKSPACE = 4096, ENGINES = 7, COMPILES = 4, GOOD = 5 };

API size_t cudnnGetVersion(void) { return 91900; }
API const char *cudnnGetErrorString(int status) {
    return status == SUCCESS ? "no error" : "CUDNN_STATUS_OF_A_STAND_IN";
}

API int cudnnCreate(struct standin_blas **handle) {
    ENTER(cudnnCreate);
    *handle = calloc(1, sizeof **handle);
    if (!*handle) return d->leave(NO_MEMORY);
    d->count(1);
    return d->leave(SUCCESS);
}
API int cudnnDestroy(struct standin_blas *handle) { DESTROY(cudnnDestroy, handle); }
API int cudnnSetStream(struct standin_blas *handle, void *stream) {
    ENTER(cudnnSetStream);
    handle->stream = stream;
    return d->leave(SUCCESS);
}

/* ---- descriptors ---- */

API int cudnnBackendCreateDescriptor(int type, struct object **object) {
    ENTER(cudnnBackendCreateDescriptor);
#ifdef OLD
    if (type == STANDIN_SDPA) return d->leave(NOT_SUPPORTED);
#endif
    *object = calloc(1, sizeof **object);
    if (!*object) return d->leave(NO_MEMORY);
    (*object)->type = type;
    d->count(1);
    return d->leave(SUCCESS);
}
API int cudnnBackendDestroyDescriptor(struct object *object) { DESTROY(cudnnBackendDestroyDescriptor, object); }
static int finalize(const struct standin_blas_driver *d, struct object *object);
API int cudnnBackendFinalize(struct object *object) {
    if (object->type == HEURISTIC) { /* has a name, and so a count, of its own */
        ENTER(cudnnHeuristic);
        return d->leave(finalize(d, object));
    }
    ENTER(cudnnBackendFinalize);
    return d->leave(finalize(d, object));
}

/* Handles, 64-bit integers, doubles, pointers and descriptors have eight bytes, booleans one, the rest four. */
static size_t width(int type) {
    return type == 2 ? 1 : type == 0 || type == 3 || type == 5 || type == 6 || type == 15 ? 8 : 4;
}

API int cudnnBackendSetAttribute(struct object *object, int name, int type, int64_t count, const void *values) {
    ENTER(cudnnBackendSetAttribute);
    if (object->final || count < 1 || count > VALUES || object->count == ATTRIBUTES) return d->leave(BAD_PARAM);
    object->attribute[object->count].name = name;
    object->attribute[object->count].type = type;
    object->attribute[object->count].count = count;
    for (int64_t i = 0; i < count; i++)
        memcpy(&object->attribute[object->count].value[i], (const char *)values + (size_t)i * width(type), width(type));
    object->count++;
    return d->leave(SUCCESS);
}

const uint64_t *values_of(const struct object *object, int name, int type, int64_t count) {
    for (int i = 0; i < object->count; i++)
        if (object->attribute[i].name == name)
            return object->attribute[i].type == type && (count == 0 || object->attribute[i].count == count)
                       ? object->attribute[i].value
                       : NULL;
    return NULL;
}

int64_t count_of(const struct object *object, int name) {
    for (int i = 0; i < object->count; i++)
        if (object->attribute[i].name == name) return object->attribute[i].count;
    return 0;
}

struct object *part(const struct object *object, int name, int type) {
    const uint64_t *value = values_of(object, name, 15, 1);
    struct object *found = value ? (struct object *)(uintptr_t)*value : NULL;
    return found && found->type == type && found->final ? found : NULL;
}

/* ---- a graph as a convolution ---- */

static const uint64_t *dims(const struct object *tensor, int64_t *rank) {
    *rank = count_of(tensor, 902);
    return values_of(tensor, 902, 3, 0);
}

/* Whether the tensor is dense, of floats that there are, and says where it lies or that it never does. */
static bool is_tensor(const struct object *tensor, enum standin_dtype *dtype) {
    static const enum standin_dtype dtypes[] = {STANDIN_F32, STANDIN_F64, STANDIN_F16};
    int64_t rank = 0;
    if (!tensor) return false;
    const uint64_t *size = dims(tensor, &rank), *stride = values_of(tensor, 903, 3, rank);
    const uint64_t *type = values_of(tensor, 901, 1, 1), *align = values_of(tensor, 900, 3, 1);
    if (!size || !stride || !type || !align || *align != 16 || !values_of(tensor, 906, 3, 1)) return false;
    uint64_t step = 1;
    for (int64_t i = rank - 1; i >= 0; step *= size[i--])
        if (stride[i] != step) return false;
    *dtype = *type < 3 ? dtypes[*type] : *type == 9 ? STANDIN_BF16 : STANDIN_NO_DTYPE;
    return *dtype != STANDIN_NO_DTYPE;
}

static bool is_virtual(const struct object *tensor) {
    const uint64_t *value = values_of(tensor, 907, 2, 1);
    return value && (*value & 255);
}

static bool put_windows(const struct object *op, int name, struct standin_conv *c) {
    const struct object *w = part(op, name, WINDOWS);
    const uint64_t *spatial = w ? values_of(w, 106, 3, 1) : NULL;
    if (!spatial || *spatial < 2 || *spatial > 3) return false;
    c->spatial = (int)*spatial;
    const uint64_t *mode = values_of(w, 101, 7, 1), *type = values_of(w, 100, 1, 1);
    const uint64_t *dilation = values_of(w, 102, 3, c->spatial), *stride = values_of(w, 103, 3, c->spatial);
    const uint64_t *after = values_of(w, 104, 3, c->spatial), *before = values_of(w, 105, 3, c->spatial);
    if (!mode || *mode != 1 || !type || *type > 1 || !dilation || !stride || !after || !before) return false;
    for (int s = 0; s < c->spatial; s++) {
        if (after[s] != before[s]) return false;
        c->dilation[s] = (long)dilation[s];
        c->stride[s] = (long)stride[s];
        c->padding[s] = (long)before[s];
    }
    return true;
}

/* The tensors of the graph by what they are; y and x are those behind bias and relu, if there are such. */
struct graph {
    const struct object *x, *w, *y, *bias;
};

/* Follows bias and relu from the convolution's result. */
static bool follow(const struct object *graph, struct standin_conv *c, struct graph *g) {
    const struct object **last = c->result == 'x' ? &g->x : &g->y;
    const uint64_t *ops = values_of(graph, 801, 15, 0);
    for (int64_t i = 1; i < count_of(graph, 801); i++) {
        const struct object *op = (struct object *)(uintptr_t)ops[i], *what = part(op, 750, POINTWISE);
        const uint64_t *mode = what ? values_of(what, 0, 14, 1) : NULL;
        if (op->type != POINTWISE_OP || !mode || !is_virtual(*last) || part(op, 751, TENSOR) != *last || c->relu)
            return false;
        if (*mode == 0 && !g->bias)
            g->bias = part(op, 752, TENSOR);
        else if (*mode == 100)
            c->relu = true;
        else
            return false;
        *last = part(op, 753, TENSOR);
        if (!*last) return false;
    }
    return !is_virtual(*last);
}

static bool read_graph(const struct object *graph, struct standin_conv *c, struct graph *g) {
    const uint64_t *ops = values_of(graph, 801, 15, 0);
    if (!ops || !values_of(graph, 800, 0, 1)) return false;
    const struct object *op = (struct object *)(uintptr_t)ops[0];
    const int first = op->type == FORWARD ? 700 : op->type == DATA ? 706 : op->type == FILTER ? 712 : 0;
    enum standin_dtype dtype[3];
    int64_t rank[3];
    *c = (struct standin_conv){.result = op->type == FORWARD ? 'y' : op->type == DATA ? 'x' : 'w'};
    if (!first || !put_windows(op, first + 2, c)) return false;
    *g = (struct graph){part(op, first + 4, TENSOR), part(op, first + 3, TENSOR), part(op, first + 5, TENSOR), NULL};
    if (!g->x || !g->w || !g->y || !follow(graph, c, g)) return false;
    if (!is_tensor(g->x, &dtype[0]) || !is_tensor(g->w, &dtype[1]) || !is_tensor(g->y, &dtype[2])) return false;
    const int scalar = dtype[0] == STANDIN_F64 ? 5 : 4;
    if (!values_of(op, first, scalar, 1) || !values_of(op, first + 1, scalar, 1)) return false;
    const uint64_t *x = dims(g->x, &rank[0]), *w = dims(g->w, &rank[1]), *y = dims(g->y, &rank[2]);
    for (int i = 0; i < 3; i++)
        if (rank[i] != 2 + c->spatial || dtype[i] != dtype[0]) return false;
    c->dtype = dtype[0];
    c->n = (long)x[0];
    c->cin = (long)w[1];
    c->groups = (long)(x[1] / w[1]);
    c->cout = (long)w[0] / c->groups;
    for (int s = 0; s < c->spatial; s++) {
        c->in[s] = (long)x[2 + s];
        c->kernel[s] = (long)w[2 + s];
        c->out[s] = (long)y[2 + s];
        if ((c->in[s] + 2 * c->padding[s] - c->dilation[s] * (c->kernel[s] - 1) - 1) / c->stride[s] + 1 != c->out[s])
            return false;
    }
    return y[0] == x[0] && (long)y[1] == c->groups * c->cout && (long)x[1] == c->groups * c->cin;
}

/* ---- plans ---- */

/* Numerical notes of configuration number i, and behavior notes: what each before GOOD has must keep it from being
 * taken. Two are of the engine GOOD, which has a knob. */
static const int notes[ENGINES] = {1, 2, 4, 5, -1, -1, -1}, behavior[ENGINES] = {-1, -1, -1, -1, 0, -1, -1};
static const char *const ways[ENGINES] = {"", "", "", "", "", "dnn-1", "dnn-2"};

static int notes_of(const struct object *engine, const int *list, int64_t wanted, int64_t *count, void *values) {
    int note = list[engine->engine];
    *count = note >= 0 && wanted > 0;
    if (*count) memcpy(values, &note, sizeof note);
    return SUCCESS;
}

/* What its caller has put together: an engine of a graph, a choice at its knob, a configuration of both. */
static bool assemble(const struct standin_blas_driver *d, struct object *object) {
    const struct object *engine = part(object, 300, ENGINE), *knob = part(object, 302, KNOB);
    const uint64_t *index = values_of(object, 1301, 3, 1), *type = values_of(object, 600, 9, 1);
    const uint64_t *value = values_of(object, 601, 3, 1);
    switch (object->type) {
    case ENGINE:
        object->graph = part(object, 1300, GRAPH);
        if (!object->graph || !index || *index > GOOD) return false;
        object->engine = (int)*index;
        return true;
    case KNOB:
        if (!type || *type != 3 || !value || *value > 1) return false;
        object->engine = (int)*value;
        return true;
    case CONFIG:
        if (!engine || (engine->engine == GOOD) != (knob != NULL)) return false;
        object->engine = engine->engine + (knob ? knob->engine : 0);
        object->graph = engine->graph;
        return !knob || d->has(ways[object->engine]);
    default: return true;
    }
}

static int finalize(const struct standin_blas_driver *d, struct object *object) {
    if (object->final || !assemble(d, object)) return BAD_PARAM;
    object->final = true;
    return SUCCESS;
}

static int propose(const struct standin_blas_driver *d, const struct object *heuristic, int64_t wanted, int64_t *count,
                   void *values) {
    struct object *graph = part(heuristic, 201, GRAPH), *config;
    const uint64_t *mode = values_of(heuristic, 200, 8, 1);
    struct standin_attention a;
    struct standin_conv c = {.result = 0};
    struct graph g = {NULL, NULL, NULL, NULL};
    *count = 0;
    if (!graph || !mode || !(read_attention(graph, NULL, &a) || read_graph(graph, &c, &g))) return BAD_PARAM;
    /* It adds a bias in the same pass, but not to a gradient by x in f32: that is left to its caller. */
    if (*mode != 3 || (c.result == 'x' && g.bias && c.dtype == STANDIN_F32)) return SUCCESS;
    for (int number = 0; number < ENGINES && *count < wanted; number++) {
        if (number >= GOOD && !d->has(ways[number])) continue;
        memcpy(&config, (char *)values + (size_t)(*count)++ * sizeof config, sizeof config);
        if (!config || config->type != CONFIG) return BAD_PARAM;
        config->engine = number;
        config->graph = graph;
        config->final = true;
    }
    return SUCCESS;
}

API int cudnnBackendGetAttribute(struct object *object, int name, int type, int64_t wanted, int64_t *count,
                                 void *values) {
    ENTER(cudnnBackendGetAttribute);
    const int64_t workspace = WORKSPACE, index = object->engine < GOOD ? object->engine : GOOD, knob = object->engine;
    const int knob_type = 3;
    struct object *engine;
    int status = BAD_PARAM;
    *count = 1;
    if (!object->final && object->type != ENGINE) return d->leave(BAD_PARAM);
    if (object->type == HEURISTIC && name == 202 && type == 15) {
        status = propose(d, object, wanted, count, values);
    } else if (object->type == CONFIG && name == 300 && type == 15 && wanted == 1) {
        memcpy(&engine, values, sizeof engine);
        engine->engine = object->engine;
        status = engine->type == ENGINE ? SUCCESS : BAD_PARAM;
    } else if (object->type == ENGINE && name == 1303 && type == 11) {
        status = notes_of(object, notes, wanted, count, values);
    } else if (object->type == ENGINE && name == 1305 && type == 19) {
        status = notes_of(object, behavior, wanted, count, values);
    } else if (object->type == CONFIG && name == 302 && type == 15 && object->engine >= GOOD && wanted > 0) {
        memcpy(&engine, values, sizeof engine);
        status = engine->type == KNOB ? SUCCESS : BAD_PARAM;
        engine->engine = object->engine - GOOD;
        engine->final = true;
    } else if (object->type == ENGINE && name == 1301 && type == 3 && wanted == 1) {
        memcpy(values, &index, sizeof index);
        status = SUCCESS;
    } else if (object->type == KNOB && name == 600 && type == 9 && wanted == 1) {
        memcpy(values, &knob_type, sizeof knob_type);
        status = SUCCESS;
    } else if (object->type == KNOB && name == 601 && type == 3 && wanted == 1) {
        memcpy(values, &knob, sizeof knob);
        status = SUCCESS;
    } else if (object->type == PLAN && name == 402 && type == 3 && wanted == 1) {
        memcpy(values, &workspace, sizeof workspace);
        status = SUCCESS;
    }
    return d->leave(status);
}

void *address(const struct object *pack, const struct object *tensor) {
    const uint64_t *ids = values_of(pack, 1000, 3, 0), *data = values_of(pack, 1001, 6, count_of(pack, 1000));
    const uint64_t *id = tensor ? values_of(tensor, 906, 3, 1) : NULL;
    for (int64_t i = 0; ids && data && id && i < count_of(pack, 1000); i++)
        if (ids[i] == *id) return (void *)(uintptr_t)data[i];
    return NULL;
}

static int status_of(int code) {
    return code == DRIVER_OK          ? SUCCESS
           : code == DRIVER_NOT_FOUND ? NOT_SUPPORTED
           : code == DRIVER_VALUE     ? BAD_PARAM
                                      : FAILED;
}

API int cudnnBackendExecute(struct standin_blas *handle, struct object *plan, struct object *pack) {
    ENTER(cudnnBackendExecute);
    const struct object *config = part(plan, 401, CONFIG);
    const uint64_t *workspace = values_of(pack, 1003, 6, 1);
    struct standin_attention a;
    struct standin_conv c;
    struct graph g;
    if (!handle || plan->type != PLAN || pack->type != PACK || !plan->final || !pack->final || !config || !workspace ||
        !d->is_memory((void *)(uintptr_t)*workspace, WORKSPACE))
        return d->leave(BAD_PARAM);
    if (config->engine >= COMPILES && read_attention(config->graph, pack, &a)) {
        d->ran(ways[config->engine]);
        return d->leave(status_of(d->attend(&a, handle->stream)));
    }
    if (config->engine < GOOD || !read_graph(config->graph, &c, &g)) return d->leave(BAD_PARAM);
    c.x = address(pack, g.x);
    c.w = address(pack, g.w);
    c.y = address(pack, g.y);
    c.bias = address(pack, g.bias);
    if (((uintptr_t)c.x | (uintptr_t)c.w | (uintptr_t)c.y | (uintptr_t)c.bias) % 16 != 0 || (g.bias && !c.bias))
        return d->leave(BAD_PARAM);
    d->ran(ways[config->engine]);
    return d->leave(status_of(d->convolve(&c, handle->stream)));
}
