/* Depthwise convolutions of f32 images with channels last. Sixteen channels at a time, a slab of rows of the result is
 * made of a copy of the rows that it takes, with zeros around them, in which the channels of a position lie side by
 * side and positions one behind the other. Then the slab is turned to planes. */
#include "cpu/kernels/conv_last.h"

#include "core/checked.h"
#include "core/memory.h"
#include "cpu/kernels/transpose.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"
#include "cpu/kernels/window.h"

#include <string.h>

/* CHANNELS of a block, COLUMNS of the result that are made at once; POSITIONS that a slab's copy may have, if it has
 * more than one row, and those of its results. */
enum { CHANNELS = 16, COLUMNS = 8, VECTORS = CHANNELS / WICK__VF, POSITIONS = 2048, SLAB = 1024 };

struct depthwise {
    const float *x, *weight, *bias;
    float *y;
    int64_t images, channels;
    struct window window;
    bool relu;
    int64_t high, tall, wide; /* rows of a slab; of its copy; and positions of such a row */
    int64_t blocks, slabs;    /* of channels; of a plane */
    int64_t each;             /* floats of a worker */
    float *memory;
};

/* What a worker has: weights [taps,CHANNELS], the copy [taps of dim 0,tall,wide,CHANNELS], and results. */
struct room {
    float *weight, *copy, *made;
    float bias[CHANNELS];
};

static int64_t n_taps(const struct depthwise *c) { return window_size(c->window.taps); }

static void take_weight(const struct depthwise *c, int64_t first, struct room *room) {
    int64_t n = n_taps(c);
    for (int64_t k = 0; k < n; k++)
        for (int64_t l = 0; l < CHANNELS; l++) room->weight[k * CHANNELS + l] = c->weight[(first + l) * n + k];
    for (int64_t l = 0; l < CHANNELS; l++) room->bias[l] = c->bias ? c->bias[first + l] : 0;
}

/* Copies row `h` of plane `d` of the images from x on, whose first channels are the block's, or zeros where there is
 * none. */
static void copy_row(const struct depthwise *c, const float *x, int64_t d, int64_t h, float *to) {
    int64_t begin = wick__min(c->window.before[2], c->wide), end = wick__min(begin + c->window.in[2], c->wide);
    if (d < 0 || d >= c->window.in[0] || h < 0 || h >= c->window.in[1]) begin = end = c->wide;
    const float *from = x + ((d * c->window.in[1] + h) * c->window.in[2] - begin) * c->channels;
    memset(to, 0, (size_t)(begin * CHANNELS) * sizeof *to);
    for (int64_t w = begin; w < end; w++)
        for (int v = 0; v < VECTORS; v++)
            wick__vf_store(to + w * CHANNELS + v * WICK__VF, wick__vf_load(from + w * c->channels + v * WICK__VF));
    memset(to + end * CHANNELS, 0, (size_t)((c->wide - end) * CHANNELS) * sizeof *to);
}

/* COLUMNS results of a row, vector v of their channels, of which the first n are kept. What their first taps take
 * begins at x. */
static inline __attribute__((always_inline)) void make_columns(const struct depthwise *c, const struct room *room,
                                                               int v, const float *x, int64_t n, float *to) {
    wick__vf sum[COLUMNS];
    const float *weight = room->weight + v * WICK__VF;
    int64_t step = c->window.step[2] * CHANNELS, row = c->wide * CHANNELS;
    for (int i = 0; i < COLUMNS; i++) sum[i] = wick__vf_load(room->bias + v * WICK__VF);
    for (int64_t d = 0; d < c->window.taps[0]; d++)
        for (int64_t h = 0; h < c->window.taps[1]; h++) {
            const float *from = x + (d * c->tall + h * c->window.apart[1]) * row + v * WICK__VF;
            for (int64_t w = 0; w < c->window.taps[2]; w++, weight += CHANNELS, from += c->window.apart[2] * CHANNELS) {
                wick__vf by = wick__vf_load(weight);
                for (int i = 0; i < COLUMNS; i++) sum[i] = wick__vf_fma(wick__vf_load(from + i * step), by, sum[i]);
            }
        }
    for (int i = 0; i < n; i++) {
        wick__vf zero = wick__vf_all(0);
        if (c->relu) sum[i] = wick__vf_below(sum[i], zero, zero, sum[i]);
        wick__vf_store(to + i * CHANNELS + v * WICK__VF, sum[i]);
    }
}

static void make_row(const struct depthwise *c, const struct room *room, int64_t row, float *to) {
    const float *x = room->copy + row * c->window.step[1] * c->wide * CHANNELS;
    for (int64_t w = 0; w < c->window.out[2]; w += COLUMNS)
        for (int v = 0; v < VECTORS; v++) {
            const float *from = x + w * c->window.step[2] * CHANNELS;
            if (c->window.out[2] - w >= COLUMNS)
                make_columns(c, room, v, from, COLUMNS, to + w * CHANNELS);
            else
                make_columns(c, room, v, from, c->window.out[2] - w, to + w * CHANNELS);
        }
}

static void run_slabs(void *context, int worker, int64_t begin, int64_t end) {
    const struct depthwise *c = context;
    struct room room = {.weight = c->memory + worker * c->each};
    room.copy = room.weight + n_taps(c) * CHANNELS;
    room.made = room.copy + c->window.taps[0] * c->tall * c->wide * CHANNELS;
    int64_t plane = window_size(c->window.out), in_plane = window_size(c->window.in);
    for (int64_t i = begin; i < end; i++) {
        int64_t block = i % c->blocks, slab = i / c->blocks % c->slabs, image = i / c->blocks / c->slabs;
        int64_t each = c->slabs / c->window.out[0], d = slab / each, h = slab % each * c->high;
        int64_t rows = wick__min(c->high, c->window.out[1] - h);
        /* The last block ends with the last channel, and only what no block before it has is kept of it. */
        int64_t first = wick__min(block * CHANNELS, c->channels - CHANNELS), known = block * CHANNELS - first;
        const float *x = c->x + image * in_plane * c->channels + first;
        take_weight(c, first, &room);
        for (int64_t k = 0; k < c->window.taps[0]; k++)
            for (int64_t r = 0; r < (rows - 1) * c->window.step[1] + (c->window.taps[1] - 1) * c->window.apart[1] + 1;
                 r++)
                copy_row(c, x, d * c->window.step[0] + k * c->window.apart[0] - c->window.before[0],
                         h * c->window.step[1] + r - c->window.before[1],
                         room.copy + (k * c->tall + r) * c->wide * CHANNELS);
        for (int64_t r = 0; r < rows; r++) make_row(c, &room, r, room.made + r * c->window.out[2] * CHANNELS);
        float *y = c->y + (image * c->channels + first + known) * plane + (d * c->window.out[1] + h) * c->window.out[2];
        const int64_t turned[2] = {CHANNELS - known, rows * c->window.out[2]};
        WICK__ISA(wick__turn)(sizeof(float), room.made + known, CHANNELS, turned, y, plane);
    }
}

static void plan(const struct wick__call *call, struct depthwise *c) {
    const struct window *window = &c->window;
    window_of(call, &c->window);
    int64_t reach = (window->taps[1] - 1) * window->apart[1] + 1,
            columns = (window->out[2] + COLUMNS - 1) / COLUMNS * COLUMNS;
    c->wide = (columns - 1) * window->step[2] + (window->taps[2] - 1) * window->apart[2] + 1;
    c->high = 1 + (POSITIONS / (window->taps[0] * c->wide) - reach) / window->step[1];
    c->high = wick__max(1, wick__min(c->high, wick__min(window->out[1], SLAB / window->out[2])));
    c->tall = (c->high - 1) * window->step[1] + reach;
    c->blocks = (c->channels + CHANNELS - 1) / CHANNELS;
    c->slabs = window->out[0] * ((window->out[1] + c->high - 1) / c->high);
    c->each = (n_taps(c) + window->taps[0] * c->tall * c->wide + c->high * window->out[2]) * CHANNELS;
}

enum wick_status WICK__ISA(wick__conv_last)(const struct wick__call *call) {
    struct depthwise c = {.x = wick__data(call->in[0]),
                          .weight = wick__data(call->in[1]),
                          .bias = call->in[2] ? wick__data(call->in[2]) : NULL,
                          .y = wick__data(call->out[0]),
                          .images = call->in[0]->layout.shape[0],
                          .channels = call->in[0]->layout.shape[1],
                          .relu = call->p.window.relu};
    plan(call, &c);
    int workers = wick__workers();
    size_t bytes = (size_t)c.each * sizeof(float) * (size_t)workers;
    c.memory = wick__scratch(bytes);
    if (!c.memory) return WICK_MEMORY;
    int64_t work = c.high * c.window.out[2] * (n_taps(&c) + 4) * VECTORS;
    wick__parallel_with(workers, c.images * c.slabs * c.blocks, wick__max(1, 8192 / wick__max(1, work)), run_slabs, &c);
    wick__scratch_free(c.memory, bytes);
    return WICK_OK;
}
