/* cuDNN 9: convolutions in f16, bf16, f32 and f64 that add up in f32 (f64), by plans of its graphs of operations. */
#include "cuda/graph.h"

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

/* ---- a convolution as a graph ---- */

cudnnDataType_t wick__cudnn_type(enum wick_dtype dtype) {
    return dtype == WICK_F64   ? CUDNN_DATA_DOUBLE
           : dtype == WICK_F32 ? CUDNN_DATA_FLOAT
           : dtype == WICK_F16 ? CUDNN_DATA_HALF
                               : CUDNN_DATA_BFLOAT16;
}

static int sum_type(enum wick_dtype dtype) { return dtype == WICK_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT; }

/* Numbers by which a plan's tensors are told from one another. */
enum { X = 1, W, Y, BIAS, SUM, BIASED };

/* A dense row-major tensor [a, b, spatial...]; virtual, of sums, where it never comes to memory. */
static void *tensor(struct wick__graph_made *made, const struct wick__dnn_conv *c, int id, int64_t a, int64_t b,
                    const int64_t *spatial) {
    int64_t dims[WICK__GRAPH_DIMS] = {a, b}, strides[WICK__GRAPH_DIMS];
    const bool is_virtual = id == SUM || id == BIASED;
    for (int s = 0; s < c->spatial; s++) dims[2 + s] = spatial ? spatial[s] : 1;
    for (int64_t d = 2 + c->spatial - 1, step = 1; d >= 0; step *= dims[d--]) strides[d] = step;
    return wick__graph_tensor(
        made, &(struct wick__graph_tensor){.number = id,
                                           .type = is_virtual ? sum_type(c->dtype) : wick__cudnn_type(c->dtype),
                                           .rank = 2 + c->spatial,
                                           .dims = dims,
                                           .strides = strides,
                                           .is_virtual = is_virtual});
}

/* x, y or what y is before it has its bias and is relu's. */
static void *image(struct wick__graph_made *made, const struct wick__dnn_conv *c, int id) {
    bool x = id == X || (id >= SUM && c->way == WICK__CONV_DATA);
    return tensor(made, c, id, c->n, c->groups * (x ? c->cin : c->cout), x ? c->in : c->out);
}

static void *windows(struct wick__graph_made *made, const struct wick__dnn_conv *c) {
    const int64_t spatial = c->spatial;
    void *d = wick__graph_make(made, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    wick__graph_set_int(made, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, sum_type(c->dtype));
    wick__graph_set_int(made, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                        CUDNN_CROSS_CORRELATION);
    wick__graph_set(made, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &spatial);
    wick__graph_set(made, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, spatial, c->dilation);
    wick__graph_set(made, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, spatial, c->stride);
    wick__graph_set(made, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, spatial, c->padding);
    wick__graph_set(made, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, spatial, c->padding);
    wick__graph_finalize(made, d);
    return d;
}

/* The convolution itself; `sum` takes its result's place, if something comes after it. */
static void *operation(struct wick__graph_made *made, const struct wick__dnn_conv *c, void *sum) {
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
    void *op = wick__graph_make(made, ways[c->way].type);
    wick__graph_set(made, op, ways[c->way].alpha, type, 1, wide ? (const void *)&one64 : &one);
    wick__graph_set(made, op, ways[c->way].beta, type, 1, wide ? (const void *)&zero64 : &zero);
    wick__graph_set_part(made, op, ways[c->way].windows, around);
    wick__graph_set_part(made, op, ways[c->way].w, w);
    wick__graph_set_part(made, op, ways[c->way].x, x);
    wick__graph_set_part(made, op, ways[c->way].y, y);
    wick__graph_finalize(made, op);
    return op;
}

/* y = mode(x) or, with a second operand, mode(x, b). */
static void *pointwise(struct wick__graph_made *made, const struct wick__dnn_conv *c, int mode, void *x, void *b,
                       void *y) {
    void *what = wick__graph_make(made, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    wick__graph_set_int(made, what, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
    wick__graph_set_int(made, what, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, sum_type(c->dtype));
    wick__graph_finalize(made, what);
    void *op = wick__graph_make(made, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    wick__graph_set_part(made, op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, what);
    wick__graph_set_part(made, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b) wick__graph_set_part(made, op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    wick__graph_set_part(made, op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    wick__graph_finalize(made, op);
    return op;
}

static void *graph_of(struct wick__graph_made *made, void *handle, const void *call) {
    const struct wick__dnn_conv *c = call;
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
    return wick__graph_of(made, handle, count, ops);
}

/* ---- plans ---- */

int wick__cudnn_plan(void *handle, const struct wick__dnn_conv *c, struct wick__planned *planned) {
    return wick__graph_plan(&(struct wick__graph_wanted){handle, graph_of, c, c->dtype, false}, planned);
}

int wick__cudnn_run(void *handle, void *plan, const struct wick__dnn_conv *c, void *workspace) {
    const int64_t numbers[] = {X, W, Y, BIAS};
    void *const data[] = {c->x, c->w, c->y, c->bias};
    const struct wick__graph_operands operands = {c->bias ? 4 : 3, numbers, data};
    return wick__graph_run(handle, plan, &operands, workspace);
}
