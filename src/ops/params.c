/* The parameters of a call as text. A row for each family of ops says which member of union wick__params it uses. */
#include "ops/record.h"

#include "core/tensor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text that is cut where there is no more room, and counted on. */
struct text {
    char *to;
    size_t nbytes, length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...) {
    size_t left = text->length < text->nbytes ? text->nbytes - text->length : 0;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(left ? text->to + text->length : NULL, left, format, args);
    va_end(args);
    if (n > 0) text->length += (size_t)n;
}

static void put_name(struct text *text, const char *name) { put(text, "%s%s=", text->length ? " " : "", name); }

static void put_int(struct text *text, const char *name, int64_t value) {
    put_name(text, name);
    put(text, "%" PRId64, value);
}

/* So that reading the text gives the same number. */
static void put_number(struct text *text, const char *name, double value) {
    put_name(text, name);
    put(text, "%.17g", value);
}

static void put_given(struct text *text, const char *name, struct wick_number value) {
    if (value.is_real)
        put_number(text, name, value.real);
    else
        put_int(text, name, value.integer);
}

static void put_list(struct text *text, const char *name, int n, const int64_t *values) {
    put_name(text, name);
    for (int i = 0; i < n; i++) put(text, "%s%" PRId64, i ? "," : "[", values[i]);
    put(text, n ? "]" : "[]");
}

static void put_dims(struct text *text, uint32_t mask) {
    int64_t dims[32];
    int n = 0;
    for (int d = 0; d < 32; d++)
        if (mask >> d & 1) dims[n++] = d;
    put_list(text, "dims", n, dims);
}

/* ---- families ---- */

static void view_params(const struct wick__call *call, struct text *text) {
    int64_t order[WICK_MAX_RANK];
    switch (call->op) {
    case WICK_OP_permute:
        for (int d = 0; d < WICK_MAX_RANK; d++) order[d] = call->p.view.order[d];
        put_list(text, "dims", call->in[0]->layout.rank, order);
        return;
    case WICK_OP_transpose:
    case WICK_OP_flatten:
    case WICK_OP_diagonal:
        put_int(text, "dim", call->p.view.dim);
        put_int(text, "other", call->p.view.other);
        if (call->op == WICK_OP_diagonal) put_int(text, "offset", call->p.view.start);
        return;
    case WICK_OP_squeeze:
    case WICK_OP_unsqueeze:
    case WICK_OP_meshgrid: put_int(text, "dim", call->p.view.dim); return;
    case WICK_OP_select:
        put_int(text, "dim", call->p.view.dim);
        put_int(text, "index", call->p.view.start);
        return;
    case WICK_OP_narrow:
    case WICK_OP_chunk:
    case WICK_OP_split:
    case WICK_OP_slice:
        put_int(text, "dim", call->p.view.dim);
        put_int(text, "start", call->p.view.start);
        put_int(text, "length", call->p.view.length);
        if (call->op == WICK_OP_slice) put_int(text, "step", call->p.view.step);
        return;
    case WICK_OP_unfold:
        put_int(text, "dim", call->p.view.dim);
        put_int(text, "size", call->p.view.length);
        put_int(text, "step", call->p.view.step);
        return;
    case WICK_OP_as_strided:
        put_list(text, "strides", call->out[0]->layout.rank, call->out[0]->layout.stride);
        put_int(text, "offset", call->out[0]->layout.offset);
        return;
    case WICK_OP_to_device: put_name(text, "device"), put(text, "%s", wick__device(call->out[0])->name); return;
    default: return; /* the result's shape says all */
    }
}

static void place_params(const struct wick__call *call, struct text *text) {
    if (call->op == WICK_OP_flip) {
        put_dims(text, call->p.flip.dims);
        return;
    }
    put_int(text, "dim", call->p.along.dim);
    if (call->op == WICK_OP_roll) put_int(text, "shift", call->p.along.start);
    if (call->op == WICK_OP_slice_set_inplace || call->op == WICK_OP_slice_scatter)
        put_int(text, "start", call->p.along.start);
}

static void triangle_params(const struct wick__call *call, struct text *text) {
    put_int(text, "k", call->p.along.start);
}

static void dim_params(const struct wick__call *call, struct text *text) { put_int(text, "dim", call->p.along.dim); }

static void sort_params(const struct wick__call *call, struct text *text) {
    dim_params(call, text);
    put_int(text, "descending", call->p.along.descending);
}

static void search_params(const struct wick__call *call, struct text *text) {
    put_int(text, "right", call->p.along.start);
}

static void scalar_params(const struct wick__call *call, struct text *text) {
    switch (call->op) {
    case WICK_OP_affine:
        put_given(text, "mul", call->p.number[0]);
        put_given(text, "add", call->p.number[1]);
        return;
    case WICK_OP_clamp:
        put_given(text, "low", call->p.number[0]);
        put_given(text, "high", call->p.number[1]);
        return;
    case WICK_OP_arange:
        put_given(text, "start", call->p.number[0]);
        put_given(text, "step", call->p.number[1]);
        return;
    default: put_given(text, "value", call->p.number[0]);
    }
}

static void reduce_params(const struct wick__call *call, struct text *text) {
    put_dims(text, call->p.reduce.dims);
    if (call->op == WICK_OP_var || call->op == WICK_OP_std) put_number(text, "correction", call->p.reduce.correction);
    if (call->op == WICK_OP_norm) put_number(text, "order", call->p.reduce.order);
}

static void matmul_params(const struct wick__call *call, struct text *text) {
    if (call->op == WICK_OP_linear) put_int(text, "activation", call->p.linear.activation);
}

static void linear_quantised_params(const struct wick__call *call, struct text *text) {
    put_int(text, "activation", call->p.linear.activation);
    put_int(text, "products", call->p.linear.products);
    if (call->in[3]) put_number(text, "epsilon", call->p.linear.epsilon);
    if (call->p.linear.swiglu) put_int(text, "swiglu", 1);
}

static void window_params(const struct wick__call *call, struct text *text) {
    int n = call->p.window.spatial;
    put_list(text, "stride", n, call->p.window.stride);
    put_list(text, "padding", n, call->p.window.padding);
    put_list(text, "dilation", n, call->p.window.dilation);
}

static void conv_params(const struct wick__call *call, struct text *text) {
    window_params(call, text);
    put_int(text, "groups", call->p.window.groups);
    put_int(text, "relu", call->p.window.relu);
}

static void conv_backward_params(const struct wick__call *call, struct text *text) {
    if (call->op == WICK_OP_conv_backward_bias) return;
    window_params(call, text);
    put_int(text, "groups", call->p.window.groups);
}

static void pool_params(const struct wick__call *call, struct text *text) {
    put_list(text, "kernel", call->p.window.spatial, call->p.window.kernel);
    window_params(call, text);
    put_int(text, "count_include_pad", call->p.window.count_include_pad);
    put_int(text, "divisor", call->p.window.divisor);
}

static void resize_params(const struct wick__call *call, struct text *text) {
    static const char *const names[WICK__MAX_SPATIAL] = {"scale0", "scale1", "scale2"};
    for (int d = 0; d < call->p.resize.spatial; d++) put_number(text, names[d], call->p.resize.given[d]);
    put_int(text, "align_corners", call->p.resize.align_corners);
}

static void grid_params(const struct wick__call *call, struct text *text) {
    put_int(text, "mode", call->p.grid.mode);
    put_int(text, "padding", call->p.grid.padding);
    put_int(text, "align_corners", call->p.grid.align_corners);
}

static void pad_params(const struct wick__call *call, struct text *text) {
    int rank = call->in[0]->layout.rank;
    put_int(text, "mode", call->p.pad.mode);
    put_list(text, "before", rank, call->p.pad.before);
    put_list(text, "after", rank, call->p.pad.after);
    put_given(text, "value", call->p.pad.value);
}

static void normalize_params(const struct wick__call *call, struct text *text) {
    put_number(text, "epsilon", call->p.norm.epsilon);
    if (call->op == WICK_OP_group_norm) put_int(text, "groups", call->p.norm.groups);
    if (call->op == WICK_OP_layer_norm || call->op == WICK_OP_rms_norm) put_int(text, "axes", call->p.norm.axes);
    if (call->p.norm.batch) put_int(text, "batch", 1);
}

static void normalize_backward_params(const struct wick__call *call, struct text *text) {
    if (call->op == WICK_OP_group_norm_backward)
        put_int(text, "groups", call->p.norm.groups);
    else
        put_int(text, "axes", call->p.norm.axes);
    if (call->p.norm.batch) put_int(text, "batch", 1);
}

static void attention_params(const struct wick__call *call, struct text *text) {
    put_number(text, "scale", call->p.attention.scale);
    put_number(text, "soft_cap", call->p.attention.soft_cap);
    put_int(text, "align_last", call->p.attention.align_last);
    put_int(text, "left", call->p.attention.left == WICK__FAR ? -1 : call->p.attention.left);
    put_int(text, "right", call->p.attention.right == WICK__FAR ? -1 : call->p.attention.right);
}

static void step_params(const struct wick__call *call, struct text *text) {
    attention_params(call, text);
    put_int(text, "interleaved", call->p.attention.interleaved);
}

static void rope_params(const struct wick__call *call, struct text *text) {
    put_int(text, "interleaved", call->p.rope.interleaved);
}

static void random_params(const struct wick__call *call, struct text *text) {
    put_name(text, "seed"), put(text, "%" PRIu64, call->p.random.seed);
    put_name(text, "offset"), put(text, "%" PRIu64, call->p.random.offset);
    if (call->op == WICK_OP_randint) {
        put_int(text, "low", call->p.random.low);
        put_int(text, "high", call->p.random.high);
    } else if (call->op != WICK_OP_permutation) {
        put_number(text, "a", call->p.random.a);
        put_number(text, "b", call->p.random.b);
    }
}

static void cell_params(const struct wick__call *call, struct text *text) {
    if (call->op == WICK_OP_rnn_cell || call->op == WICK_OP_rnn_cell_backward) put_int(text, "relu", call->p.cell.relu);
}

static void loss_params(const struct wick__call *call, struct text *text) {
    put_number(text, "a", call->p.loss.a);
    put_number(text, "scale", call->p.loss.scale);
    put_int(text, "log", call->p.loss.log);
}

static void classes_params(const struct wick__call *call, struct text *text) {
    put_number(text, "smoothing", call->p.classes.smoothing);
    if (call->p.classes.ignore) put_int(text, "ignored", call->p.classes.ignored);
    if (call->p.classes.mean) put_int(text, "mean", 1);
}

static void ctc_params(const struct wick__call *call, struct text *text) {
    put_int(text, "blank", call->p.ctc.blank);
    put_int(text, "padded", call->p.ctc.padded);
    put_int(text, "by_length", call->p.ctc.by_length);
    put_int(text, "zero_infinity", call->p.ctc.zero_infinity);
    put_number(text, "scale", call->p.ctc.scale);
}

static void cast_params(const struct wick__call *call, struct text *text) {
    put_name(text, "dtype"), put(text, "%s", wick_dtype_name(call->out[0]->dtype));
}

/* NULL: no parameters. */
static const struct row {
    const char *family;
    void (*put)(const struct wick__call *call, struct text *text);
} rows[] = {
    {"view", view_params},
    {"copy", NULL},
    {"place", place_params},
    {"triangle", triangle_params},
    {"eye", NULL},
    {"unary", NULL},
    {"scalar", scalar_params},
    {"limit", scalar_params},
    {"binary", NULL},
    {"comparison", NULL},
    {"gradient", scalar_params},
    {"where", NULL},
    {"cast", cast_params},
    {"dequantise", cast_params},
    {"quantise", cast_params},
    {"experts", NULL},
    {"linear_quantised", linear_quantised_params},
    {"fill", scalar_params},
    {"reduce", reduce_params},
    {"argreduce", reduce_params},
    {"sort", sort_params},
    {"scan", dim_params},
    {"matmul", matmul_params},
    {"conv", conv_params},
    {"conv_backward", conv_backward_params},
    {"pool", pool_params},
    {"pool_backward", pool_params},
    {"resize", resize_params},
    {"resize_cubic", resize_params},
    {"resize_backward", resize_params},
    {"pad", pad_params},
    {"pad_backward", pad_params},
    {"fold", pool_params},
    {"grid_sample", grid_params},
    {"gather", dim_params},
    {"scatter", dim_params},
    {"index_add", dim_params},
    {"masked_fill", scalar_params},
    {"one_hot", NULL},
    {"search", search_params},
    {"running", dim_params},
    {"softmax", dim_params},
    {"softmax_backward", dim_params},
    {"normalize", normalize_params},
    {"normalize_backward", normalize_backward_params},
    {"batch_norm", NULL},
    {"rope", rope_params},
    {"attention", attention_params},
    {"attention_step", step_params},
    {"attention_backward", attention_params},
    {"recurrent_cell", cell_params},
    {"loss", loss_params},
    {"cross_entropy", classes_params},
    {"ctc", ctc_params},
    {"random", random_params},
    {"permutation", random_params},
};

static const struct row *row_of(const char *family) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].family, family) == 0) return &rows[i];
    return NULL;
}

bool wick__params_known(const char *family) { return row_of(family) || strncmp(family, "composed", 8) == 0; }

size_t wick__params_text(const struct wick__call *call, char *text, size_t nbytes) {
    const struct row *row = row_of(wick_op_family(call->op));
    struct text out = {text, nbytes, 0};
    if (row && row->put) row->put(call, &out);
    return out.length;
}
