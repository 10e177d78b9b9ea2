/* Transposed convolutions of f32 as one product and sums of its results. Each position of x gives, for each tap, a
 * vector of all result channels (the columns of a window, as in im2col), which is added where the tap reaches. Where
 * images are small and windows large, that takes fewer products than conv.c's way, which goes through all taps for each
 * element of y and of the margin between its rows. */
#include "cpu/kernels/conv_columns.h"

#include "core/checked.h"
#include "core/memory.h"
#include "cpu/kernels/gemm.h"
#include "cpu/kernels/transpose.h"
#include "cpu/kernels/window.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

/* Of columns, in floats: images are taken together up to the first, and no image alone may have more than the second.
 * PERCENT of its products that conv.c's way must have to be left, where a column's way to memory and back counts as
 * many products as BESIDES. */
enum { TOGETHER = 4 << 20, MOST = 16 << 20, PERCENT = 140, BESIDES = 40, LEAST_PRODUCTS = 1 << 18, GRAIN = 16 * 1024 };

struct columns {
    const float *bias;
    float *y, *turned, *columns; /* [images,in..,Cin]; [Cout,taps..,images,in..] */
    int64_t images, channels;
    struct window window;
    bool relu;
};

/* Rounds up. */
static int64_t parts(int64_t n, int64_t by) { return n / by + (n % by != 0); }

/* Positions that conv.c's way goes through for each tap and channel of x: those of y of one pass, each row with its
 * margin. The passes share the taps. */
static double products_of_y(const struct window *w) {
    double positions = 1;
    for (int d = 0; d < 3; d++) {
        double row = (double)parts(w->out[d], w->step[d]);
        if (d == 2) row += (double)((w->taps[d] - 1) * w->apart[d] / w->step[d]);
        positions *= row;
    }
    return positions;
}

bool WICK__ISA(wick__conv_columns_suit)(const struct wick__call *call) {
    const struct wick__layout *x = &call->in[0]->layout;
    struct window w;
    int64_t each;
    if (call->op < WICK_OP_conv_transpose1d || call->p.window.groups != 1 || call->in[0]->dtype != WICK_F32 ||
        wick__count(call->in[0]) == 0 || wick__count(call->in[1]) == 0)
        return false;
    window_of(call, &w);
    if (!wick__mul(wick__count(call->in[1]) / x->shape[1], window_size(w.in), &each) || each > MOST) return false;
    return (double)x->shape[0] * (double)x->shape[1] * (double)each >= LEAST_PRODUCTS &&
           products_of_y(&w) * (double)x->shape[1] * 100 >
               (double)window_size(w.in) * ((double)x->shape[1] + BESIDES) * PERCENT;
}

/* Adds what a tap gives to a plane of y. */
static void add_tap(const struct window *w, const int64_t tap[3], const float *column, float *y) {
    int64_t shift[3], begin, end;
    for (int d = 0; d < 3; d++) shift[d] = tap[d] * w->apart[d] - w->before[d];
    begin = shift[2] < 0 ? parts(-shift[2], w->step[2]) : 0;
    end = wick__min(w->in[2], shift[2] < w->out[2] ? parts(w->out[2] - shift[2], w->step[2]) : 0);
    for (int64_t d = 0; d < w->in[0]; d++)
        for (int64_t h = 0; h < w->in[1]; h++) {
            int64_t deep = d * w->step[0] + shift[0], high = h * w->step[1] + shift[1];
            if (deep < 0 || deep >= w->out[0] || high < 0 || high >= w->out[1]) continue;
            const float *from = column + (d * w->in[1] + h) * w->in[2];
            float *to = y + (deep * w->out[1] + high) * w->out[2] + shift[2];
            if (w->step[2] == 1)
                for (int64_t i = begin; i < end; i++) to[i] += from[i];
            else
                for (int64_t i = begin; i < end; i++) to[i * w->step[2]] += from[i];
        }
}

static void add_planes(void *context, int worker, int64_t first, int64_t last) {
    const struct columns *c = context;
    const struct window *w = &c->window;
    int64_t plane = window_size(w->out), in_plane = window_size(w->in), taps = window_size(w->taps);
    (void)worker;
    for (int64_t i = first; i < last; i++) {
        int64_t image = i / c->channels, channel = i % c->channels;
        float *y = c->y + i * plane;
        const float *column = c->columns + (channel * taps * c->images + image) * in_plane;
        for (int64_t p = 0; p < plane; p++) y[p] = c->bias ? c->bias[channel] : 0;
        for (int64_t k = 0; k < taps; k++, column += c->images * in_plane)
            add_tap(w, (const int64_t[3]){k / w->taps[2] / w->taps[1], k / w->taps[2] % w->taps[1], k % w->taps[2]},
                    column, y);
        for (int64_t p = 0; c->relu && p < plane; p++) y[p] = y[p] < 0 ? 0 : y[p];
    }
}

/* All images of c, whose x is given. */
static enum wick_status run_images(struct columns *c, const float *x, int64_t in_channels, const float *weight) {
    int64_t in_plane = window_size(c->window.in), rows = c->channels * window_size(c->window.taps);
    struct wick__product g = {.dtype = WICK_F32,
                              .m = rows,
                              .n = c->images * in_plane,
                              .k = in_channels,
                              .a = weight,
                              .b = c->turned,
                              .c = c->columns,
                              .a_row = 1,
                              .a_k = rows,
                              .b_k = 1,
                              .b_column = in_channels,
                              .c_row = c->images * in_plane};
    for (int64_t i = 0; i < c->images; i++) WICK__ISA(wick__turn)
    (sizeof(float), x + i * in_channels * in_plane, in_plane, (const int64_t[2]){in_plane, in_channels},
     c->turned + i * in_plane * in_channels, in_channels);
    WICK__TRY(WICK__ISA(wick__gemm)(&g));
    int64_t work = in_plane * window_size(c->window.taps) + window_size(c->window.out);
    wick__parallel(c->images * c->channels, wick__max(1, GRAIN / wick__max(1, work)), add_planes, c);
    return WICK_OK;
}

enum wick_status WICK__ISA(wick__conv_columns)(const struct wick__call *call) {
    const struct wick__layout *in = &call->in[0]->layout;
    struct columns c = {.bias = call->in[2] ? wick__data(call->in[2]) : NULL,
                        .channels = call->out[0]->layout.shape[1],
                        .relu = call->p.window.relu};
    window_of(call, &c.window);
    int64_t in_plane = window_size(c.window.in), each = c.channels * window_size(c.window.taps) * in_plane;
    int64_t together = wick__max(1, wick__min(in->shape[0], TOGETHER / each));
    size_t turned = (size_t)(together * in->shape[1] * in_plane) * sizeof(float), bytes;
    if (!wick__add_size(turned, (size_t)(together * each) * sizeof(float), &bytes))
        return wick__fail(WICK_MEMORY, "out of memory: columns of %lld images", (long long)together);
    c.turned = wick__scratch(bytes);
    if (!c.turned) return WICK_MEMORY;
    c.columns = c.turned + together * in->shape[1] * in_plane;
    enum wick_status status = WICK_OK;
    for (int64_t i = 0; i < in->shape[0] && status == WICK_OK; i += together) {
        c.images = wick__min(together, in->shape[0] - i);
        c.y = (float *)wick__data(call->out[0]) + i * c.channels * window_size(c.window.out);
        status = run_images(&c, (const float *)wick__data(call->in[0]) + i * in->shape[1] * in_plane, in->shape[1],
                            wick__data(call->in[1]));
    }
    wick__scratch_free(c.turned, bytes);
    return status;
}
