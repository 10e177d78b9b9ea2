/* grid_sample and its gradients, image by image, in f64. That of x has one worker a plane, which walks the grid: points
 * add in their order, whatever the number of threads. */
#include "backend.h"
#include "core/checked.h"
#include "core/convert.h"
#include "core/memory.h"
#include "cpu/kernels/places.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include <wick/conv.h>

#include <string.h>

enum { GRAIN = 4096 };

struct tap {
    int64_t at; /* -1: none */
    double weight, slope[3];
};

struct grid {
    const struct wick_tensor *x, *grid, *gradient; /* x: of the input's gradient that, with its shape alone */
    struct wick_tensor *out;
    int n, taps;
    bool slopes; /* whether taps need them */
    enum wick_grid_mode mode;
    enum wick_grid_padding padding;
    bool corners;
    int64_t channels, points, plane, image;
    struct tap *tap;        /* [points, taps], of the image */
    double *values, *other; /* [channels, plane] and [channels, points] of the image, for the grid's gradient; else of
                             * each worker: a plane, and its points */
};

/* ---- one dim of a point ---- */

struct along {
    int n;
    int64_t at[4];
    double weight[4], slope[4];
};

static double reflected(double x, int64_t n, bool corners, double *slope) {
    double low = corners ? 0 : -0.5, span = corners ? (double)(n - 1) : (double)n;
    if (span == 0) return *slope = 0;
    if (x < low) *slope = -*slope;
    double from = fabs(x - low), rest = fmod(from, span);
    if (fmod(floor(from / span), 2) == 0) return rest + low;
    *slope = -*slope;
    return span - rest + low;
}

static double clipped(double x, int64_t n, double *slope) {
    double last = (double)(n - 1);
    if (x > 0 && x < last) return x;
    *slope = 0;
    return x <= 0 ? 0 : x >= last ? last : x;
}

/* Four elements around x, with the cubic's slopes. */
static struct along cubic_along(const struct grid *g, double x, int64_t n, double slope) {
    const double a = -0.75, low = floor(x), p = x - low, q = 1 - p;
    struct taps t = cubic_taps((struct place){(int64_t)low, p});
    const double by[4] = {(3 * a * (p + 1) - 10 * a) * (p + 1) + 8 * a, (3 * (a + 2) * p - 2 * (a + 3)) * p,
                          -(3 * (a + 2) * q - 2 * (a + 3)) * q, -((3 * a * (q + 1) - 10 * a) * (q + 1) + 8 * a)};
    struct along r = {.n = 4};
    for (int k = 0; k < 4; k++) {
        double none = 1;
        int64_t at = t.first + k;
        if (g->padding == WICK_GRID_REFLECTION) at = (int64_t)rint(reflected((double)at, n, g->corners, &none));
        if (g->padding != WICK_GRID_ZEROS) at = clamped(at, n);
        r.at[k] = at >= 0 && at < n ? at : -1;
        r.weight[k] = t.weight[k];
        r.slope[k] = by[k] * slope;
    }
    return r;
}

static struct along along_of(const struct grid *g, double at, int64_t n) {
    double slope = g->corners ? (double)(n - 1) / 2 : (double)n / 2;
    if (isnan(at)) at = -1;
    double x = g->corners ? (at + 1) / 2 * (double)(n - 1) : ((at + 1) * (double)n - 1) / 2;
    if (g->mode != WICK_GRID_BICUBIC) {
        if (g->padding == WICK_GRID_REFLECTION) x = reflected(x, n, g->corners, &slope);
        if (g->padding != WICK_GRID_ZEROS) x = clipped(x, n, &slope);
        if (!(x > -0x1p40)) x = -0x1p40; /* nothing lies there */
    }
    x = x > 0x1p40 ? 0x1p40 : x > -0x1p40 ? x : -0x1p40;
    if (g->mode == WICK_GRID_BICUBIC) return cubic_along(g, x, n, slope);
    bool nearest = g->mode == WICK_GRID_NEAREST;
    int64_t low = (int64_t)(nearest ? rint(x) : floor(x));
    double part = nearest ? 0 : x - (double)low;
    struct along r = {nearest ? 1 : 2, {low, low + 1}, {1 - part, part}, {-slope, slope}};
    for (int k = 0; k < r.n; k++)
        if (r.at[k] < 0 || r.at[k] >= n) r.at[k] = -1;
    if (nearest) r.slope[0] = 0;
    return r;
}

/* ---- points ---- */

static double number(const struct wick_tensor *x, int64_t i) {
    double value = 0;
    wick__row_to_f64(x->dtype, (const char *)wick__data(x) + i * (int64_t)wick__size(x->dtype), 1, &value, 1);
    return value;
}

static void find_taps(void *context, int worker, int64_t begin, int64_t end) {
    const struct grid *g = context;
    const int64_t *size = g->x->layout.shape + 2;
    (void)worker;
    for (int64_t point = begin; point < end; point++) {
        struct along along[3];
        for (int s = 0; s < g->n; s++)
            along[s] = along_of(g, number(g->grid, (g->image * g->points + point) * g->n + g->n - 1 - s), size[s]);
        for (int k = 0; k < g->taps; k++) {
            struct tap tap = {0, 1, {1, 1, 1}};
            int64_t step = 1;
            for (int s = g->n - 1, rest = k; s >= 0; s--) {
                int which = rest % along[s].n;
                rest /= along[s].n;
                if (along[s].at[which] < 0) tap.at = -1;
                if (tap.at >= 0) tap.at += along[s].at[which] * step;
                step *= size[s];
                tap.weight *= along[s].weight[which];
                for (int d = 0; d < g->n; d++) tap.slope[d] *= d == s ? along[s].slope[which] : along[s].weight[which];
            }
            if (tap.weight == 0 && !g->slopes) tap.at = -1; /* a weight of 0 drops its element */
            g->tap[point * g->taps + k] = tap;
        }
    }
}

/* Line `line` of `count` elements of a tensor. */
static void read_line(const struct wick_tensor *x, int64_t line, int64_t count, double *to) {
    if (count == 0) return;
    wick__row_to_f64(x->dtype, (const char *)wick__data(x) + line * count * (int64_t)wick__size(x->dtype), 1, to,
                     count);
}

static void write_line(const struct wick_tensor *x, int64_t line, int64_t count, const double *from) {
    if (count == 0) return;
    wick__row_from_f64(x->dtype, from, (char *)wick__data(x) + line * count * (int64_t)wick__size(x->dtype), count);
}

static void sample_planes(void *context, int worker, int64_t begin, int64_t end) {
    const struct grid *g = context;
    double *plane = g->values + worker * g->plane, *points = g->other + worker * g->points;
    for (int64_t c = begin; c < end; c++) {
        read_line(g->x, g->image * g->channels + c, g->plane, plane);
        for (int64_t point = 0; point < g->points; point++) {
            points[point] = 0;
            for (int k = 0; k < g->taps; k++) {
                const struct tap *tap = &g->tap[point * g->taps + k];
                if (tap->at >= 0) points[point] += tap->weight * plane[tap->at];
            }
        }
        write_line(g->out, g->image * g->channels + c, g->points, points);
    }
}

static void add_planes(void *context, int worker, int64_t begin, int64_t end) {
    const struct grid *g = context;
    double *plane = g->values + worker * g->plane, *points = g->other + worker * g->points;
    for (int64_t c = begin; c < end; c++) {
        read_line(g->gradient, g->image * g->channels + c, g->points, points);
        memset(plane, 0, sizeof *plane * (size_t)g->plane);
        for (int64_t i = 0; i < g->points * g->taps; i++)
            if (g->tap[i].at >= 0) plane[g->tap[i].at] += g->tap[i].weight * points[i / g->taps];
        write_line(g->out, g->image * g->channels + c, g->plane, plane);
    }
}

static void slope_points(void *context, int worker, int64_t begin, int64_t end) {
    const struct grid *g = context;
    (void)worker;
    for (int64_t point = begin; point < end; point++) {
        double slope[3] = {0}, reversed[3];
        for (int k = 0; k < g->taps; k++) {
            const struct tap *tap = &g->tap[point * g->taps + k];
            double sum = 0;
            if (tap->at < 0 || g->mode == WICK_GRID_NEAREST) continue;
            for (int64_t c = 0; c < g->channels; c++)
                sum += g->other[c * g->points + point] * g->values[c * g->plane + tap->at];
            for (int s = 0; s < g->n; s++) slope[s] += tap->slope[s] * sum;
        }
        for (int s = 0; s < g->n; s++) reversed[s] = slope[g->n - 1 - s];
        write_line(g->out, g->image * g->points + point, g->n, reversed);
    }
}

/* ---- images ---- */

static void run_image(struct grid *g, int workers) {
    wick__parallel_with(workers, g->points, wick__max(1, GRAIN / 64), find_taps, g);
    if (!g->slopes) {
        int64_t each = g->points * g->taps + g->plane;
        wick__parallel_with(workers, g->channels, wick__max(1, GRAIN / each), g->gradient ? add_planes : sample_planes,
                            g);
        return;
    }
    read_line(g->x, g->image, g->channels * g->plane, g->values);
    read_line(g->gradient, g->image, g->channels * g->points, g->other);
    wick__parallel_with(workers, g->points, wick__max(1, GRAIN / (g->taps * wick__max(1, g->channels))), slope_points,
                        g);
}

enum wick_status WICK__ISA(wick__cpu_grid_sample)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_grid_sample)(const struct wick__call *call) {
    bool input = call->op == WICK_OP_grid_sample_backward_input, back = call->op == WICK_OP_grid_sample_backward_grid;
    struct grid g = {.x = input ? call->out[0] : call->in[back],
                     .grid = call->in[input ? 1 : 1 + back],
                     .gradient = input || back ? call->in[0] : NULL,
                     .out = call->out[0],
                     .slopes = back,
                     .mode = (enum wick_grid_mode)call->p.grid.mode,
                     .padding = (enum wick_grid_padding)call->p.grid.padding,
                     .corners = call->p.grid.align_corners};
    if (wick__count(g.out) == 0) return WICK_OK;
    g.n = g.x->layout.rank - 2;
    g.channels = g.x->layout.shape[1];
    g.points = g.plane = g.taps = 1;
    for (int s = 0; s < g.n; s++) {
        g.plane *= g.x->layout.shape[2 + s];
        g.points *= g.grid->layout.shape[1 + s];
        g.taps *= g.mode == WICK_GRID_NEAREST ? 1 : g.mode == WICK_GRID_BICUBIC ? 4 : 2;
    }
    int workers = wick__workers();
    size_t lines = (size_t)(back ? g.channels : workers), table = sizeof *g.tap * (size_t)(g.points * g.taps);
    size_t values = sizeof *g.values * lines * (size_t)g.plane;
    size_t nbytes = table + values + sizeof *g.other * lines * (size_t)g.points;
    char *memory = wick__scratch(nbytes);
    if (!memory) return WICK_MEMORY;
    g.tap = (struct tap *)(void *)memory;
    g.values = (double *)(void *)(memory + table);
    g.other = (double *)(void *)(memory + table + values);
    for (g.image = 0; g.image < g.x->layout.shape[0]; g.image++) run_image(&g, workers);
    wick__scratch_free(memory, nbytes);
    return WICK_OK;
}
