/* Transposed convolutions of f32 as one product and sums of its results. Each position of x gives, for each tap, a
 * vector of all result channels (the columns of a window, as in im2col), which is added where the tap reaches. Where
 * images are small and windows large, that takes fewer products than conv.c's way, which goes through all taps for each
 * element of y and of the margin between its rows. */
#include "cpu/kernels/conv_columns.h"

#include "core/checked.h"
#include "core/memory.h"
#include "cpu/kernels/gemm.h"
#include "cpu/kernels/transpose.h"
#include "cpu/kernels/vmath.h"
#include "cpu/kernels/window.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include <math.h>

/* Of columns, in floats: images are taken together up to the first, and no image alone may have more than the second.
 * PERCENT of its products that conv.c's way must have to be left, where a column's way to memory and back counts as
 * many products as BESIDES. */
enum {
    TOGETHER = 4 << 20,
    MOST = 16 << 20,
    PERCENT = WICK_ISA_LEVEL >= 2 ? 105 : 140,
    BESIDES = 40,
    LEAST_PRODUCTS = 1 << 18,
    GRAIN = 16 * 1024,
    TAPS = 16,
    TILE = 6
};

struct columns {
    const float *bias;
    float *y, *turned, *columns; /* [images,in..,Cin]; [Cout,taps..,images,in..] */
    int64_t images, channels;
    struct window window;
    bool relu;
};

/* Products that conv.c's way makes for each tap, channel of x and of y: at the positions of y of one pass, each row
 * with its margin, in whole vectors, and for no fewer than TILE channels of y. The passes share the taps. */
static double products_of_y(const struct window *w, int64_t channels) {
    double positions = 1;
    for (int d = 0; d < 3; d++) {
        double row = (double)wick__div_up(w->out[d], w->step[d]);
        if (d == 2) row += (double)((w->taps[d] - 1) * w->apart[d] / w->step[d]);
        positions *= row;
    }
    return ceil(positions / WICK__VF) * WICK__VF * (double)wick__max(channels, TILE) / (double)channels;
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
           products_of_y(&w, call->out[0]->layout.shape[1]) * (double)x->shape[1] * 100 >
               (double)window_size(w.in) * ((double)x->shape[1] + BESIDES) * PERCENT;
}

/* Adds what a tap gives to a plane of y. */
static void add_tap(const struct window *w, const int64_t tap[3], const float *column, float *y) {
    int64_t shift[3], begin, end;
    for (int d = 0; d < 3; d++) shift[d] = tap[d] * w->apart[d] - w->before[d];
    begin = shift[2] < 0 ? wick__div_up(-shift[2], w->step[2]) : 0;
    end = wick__min(w->in[2], shift[2] < w->out[2] ? wick__div_up(w->out[2] - shift[2], w->step[2]) : 0);
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

/* A plane of y, tap after tap. */
static void add_taps(const struct columns *c, const float *column, float bias, float *y) {
    const struct window *w = &c->window;
    int64_t plane = window_size(w->out), taps = window_size(w->taps), step = c->images * window_size(w->in);
    for (int64_t p = 0; p < plane; p++) y[p] = bias;
    for (int64_t k = 0; k < taps; k++, column += step)
        add_tap(w, (const int64_t[3]){k / w->taps[2] / w->taps[1], k / w->taps[2] % w->taps[1], k % w->taps[2]}, column,
                y);
    for (int64_t p = 0; c->relu && p < plane; p++) y[p] = y[p] < 0 ? 0 : y[p];
}

#if WICK_ISA_LEVEL >= 2
/* Where 16 neighbours of y meet a tap of the last dim: elements from + i of x, those of `there`, go to lanes `to`. */
struct meeting {
    int64_t from;
    __mmask16 there, to;
};

static struct meeting meeting_of(const struct window *w, int64_t k, int64_t column) {
    int64_t before = column - (k * w->apart[2] - w->before[2]), step = w->step[2];
    struct meeting m = {.from = before >> (step - 1)}; /* steps of 1 and 2 alone, rounded down */
    bool odd = before & (step - 1);
    m.from += odd;
    m.to = (__mmask16)(step == 1 ? 0xffff : odd ? 0xaaaa : 0x5555);
    uint32_t below = _bzhi_u32(0xffff, (unsigned)wick__max(0, wick__min(16, -m.from)));
    m.there =
        (__mmask16)(_bzhi_u32(0xffff >> 8 * (step - 1), (unsigned)wick__max(0, wick__min(16, w->in[2] - m.from))) &
                    ~below);
    return m;
}

/* The position of x along dim d that tap k gives to position `at` of y; -1 for none. */
static inline int64_t position_of(const struct window *w, int d, int64_t at, int64_t k) {
    int64_t i = at - (k * w->apart[d] - w->before[d]);
    if (i < 0 || (w->step[d] > 1 && i % w->step[d] != 0)) return -1;
    return i / w->step[d] < w->in[d] ? i / w->step[d] : -1;
}

/* The sum of all taps for 16 elements of a row of y. */
static inline __m512 sum_taps(const struct columns *c, const float *column, float bias, const int64_t at[2],
                              const struct meeting *meeting) {
    const struct window *w = &c->window;
    const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    int64_t step = c->images * window_size(w->in);
    __m512 sum = _mm512_set1_ps(bias);
    for (int64_t i = 0; i < w->taps[0]; i++) {
        int64_t d = position_of(w, 0, at[0], i);
        for (int64_t j = 0; d >= 0 && j < w->taps[1]; j++) {
            int64_t h = position_of(w, 1, at[1], j);
            if (h < 0) continue;
            const float *row = column + (i * w->taps[1] + j) * w->taps[2] * step + (d * w->in[1] + h) * w->in[2];
            for (int64_t k = 0; k < w->taps[2]; k++, row += step) {
                const struct meeting *m = &meeting[k];
                if (!m->there) continue;
                __m512 x =
                    _mm512_maskz_loadu_ps(m->there, (const void *)((uintptr_t)row + (uintptr_t)m->from * sizeof *row));
                if (w->step[2] == 2) x = _mm512_permutexvar_ps(twice, x);
                sum = _mm512_mask_add_ps(sum, m->to, sum, x);
            }
        }
    }
    return sum;
}

/* A plane of y, row after row: a sum is written once. */
static void add_rows(const struct columns *c, const float *column, float bias, float *y) {
    const struct window *w = &c->window;
    struct meeting meeting[TAPS];
    for (int64_t x = 0; x < w->out[2]; x += 16) {
        __mmask16 kept = (__mmask16)_bzhi_u32(0xffff, (unsigned)wick__min(16, w->out[2] - x));
        for (int64_t k = 0; k < w->taps[2]; k++) meeting[k] = meeting_of(w, k, x);
        for (int64_t i = 0; i < w->out[0] * w->out[1]; i++) {
            __m512 sum = sum_taps(c, column, bias, (const int64_t[2]){i / w->out[1], i % w->out[1]}, meeting);
            __m512 zero = _mm512_setzero_ps();
            if (c->relu) sum = _mm512_mask_mov_ps(sum, _mm512_cmp_ps_mask(sum, zero, _CMP_LT_OQ), zero);
            _mm512_mask_storeu_ps(y + i * w->out[2] + x, kept, sum);
        }
    }
}
#endif

static void add_planes(void *context, int worker, int64_t first, int64_t last) {
    const struct columns *c = context;
    const struct window *w = &c->window;
    int64_t plane = window_size(w->out), in_plane = window_size(w->in), taps = window_size(w->taps);
    (void)worker;
    for (int64_t i = first; i < last; i++) {
        int64_t image = i / c->channels, channel = i % c->channels;
        float *y = c->y + i * plane, bias = c->bias ? c->bias[channel] : 0;
        const float *column = c->columns + (channel * taps * c->images + image) * in_plane;
#if WICK_ISA_LEVEL >= 2
        if (w->step[2] <= 2 && w->taps[2] <= TAPS) {
            add_rows(c, column, bias, y);
            continue;
        }
#endif
        add_taps(c, column, bias, y);
    }
}

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
