/* Sampling at the places of a grid, and its gradients. */
#include "ops/dispatch.h"

static const struct wick_grid_sample_options defaults;

/* How many elements of x a point takes. */
static int64_t taps_of(enum wick_grid_mode mode, int n) {
    return mode == WICK_GRID_NEAREST ? 1 : mode == WICK_GRID_BICUBIC ? 16 : INT64_C(1) << n;
}

/* Takes the options. */
static bool set_options(struct wick__call *call, const struct wick_grid_sample_options *options) {
    if (!wick__call_reserved(call, options->reserved) || !wick__call_check(call)) return false;
    if ((unsigned)options->mode >= WICK_GRID_MODE_COUNT)
        wick__call_fail(call, WICK_INVALID, "%d is not a mode of a grid", (int)options->mode);
    else if ((unsigned)options->padding >= WICK_GRID_PADDING_COUNT)
        wick__call_fail(call, WICK_INVALID, "%d is not a padding of a grid", (int)options->padding);
    else {
        call->p.grid.mode = (int)options->mode;
        call->p.grid.padding = (int)options->padding;
        call->p.grid.align_corners = options->align_corners;
        return true;
    }
    return false;
}

/* Checks sizes of x [images,C,size...], the grid [images,out...,n], and that what is sorted can be counted. */
static bool check_grid(const struct wick__call *call, int64_t images, int n, const int64_t *size,
                       const struct wick_tensor *grid) {
    const struct wick__layout *g = &grid->layout;
    int64_t plane = 1;
    if (n < 2 || n > 3 || (n == 3 && call->p.grid.mode == WICK_GRID_BICUBIC)) {
        wick__call_fail(call, WICK_SHAPE, "%d spatial dims are not %s", n, n == 3 ? "2, as bicubic" : "2 or 3");
        return false;
    }
    if (g->rank != n + 2 || g->shape[0] != images || g->shape[n + 1] != n) {
        wick__call_fail(call, WICK_SHAPE, "grid must be [%lld,out...,%d] of rank %d", (long long)images, n, n + 2);
        return false;
    }
    int64_t taps = taps_of((enum wick_grid_mode)call->p.grid.mode, n);
    for (int s = 0; s < n; s++) {
        if (size[s] < 1) {
            wick__call_fail(call, WICK_SHAPE, "spatial dim %d of x of size %lld is empty", s, (long long)size[s]);
            return false;
        }
        if (wick__mul(plane, size[s], &plane) && plane < UINT32_MAX && wick__mul(taps, g->shape[1 + s], &taps) &&
            taps < UINT32_MAX)
            continue;
        wick__call_fail(call, WICK_OVERFLOW,
                        "positions in planes of x, or all that points take, do not fit in 32 bits");
        return false;
    }
    return true;
}

/* Checks that the gradient is [images,channels,out...]. */
static bool check_gradient(const struct wick__call *call, int64_t images, int64_t channels,
                           const struct wick_tensor *grid) {
    const struct wick__layout *g = &call->in[0]->layout;
    int n = grid->layout.rank - 2;
    bool fits = g->rank == n + 2 && g->shape[0] == images && g->shape[1] == channels;
    for (int s = 0; s < n && fits; s++) fits = g->shape[2 + s] == grid->layout.shape[1 + s];
    if (!fits)
        wick__call_fail(call, WICK_SHAPE, "gradient must be [%lld,%lld,out...] for a grid [%lld,out...,%d]",
                        (long long)images, (long long)channels, (long long)images, n);
    return fits;
}

struct wick_tensor *wick_grid_sample(const struct wick_tensor *x, const struct wick_tensor *grid,
                                     const struct wick_grid_sample_options *options) {
    struct wick__call call = {.op = WICK_OP_grid_sample, .n_in = 2, .in = {x, grid}};
    int64_t shape[WICK_MAX_RANK];
    if (!set_options(&call, options ? options : &defaults)) return NULL;
    int n = x->layout.rank - 2;
    if (!check_grid(&call, n < 0 ? 0 : x->layout.shape[0], n, x->layout.shape + 2, grid)) return NULL;
    for (int d = 0; d < n + 2; d++) shape[d] = d < 2 ? x->layout.shape[d] : grid->layout.shape[d - 1];
    if (!wick__call_out(&call, x->dtype, n + 2, shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_grid_sample_backward_input(const struct wick_tensor *gradient, const struct wick_tensor *grid,
                                                    int n, const int64_t *size,
                                                    const struct wick_grid_sample_options *options) {
    struct wick__call call = {.op = WICK_OP_grid_sample_backward_input, .n_in = 2, .in = {gradient, grid}};
    int64_t shape[WICK_MAX_RANK];
    if (!set_options(&call, options ? options : &defaults)) return NULL;
    if (!size || gradient->layout.rank < 2) {
        wick__call_fail(&call, WICK_INVALID, "%d sizes%s for a gradient of rank %d", n, size ? "" : " at NULL",
                        gradient->layout.rank);
        return NULL;
    }
    const int64_t *outer = gradient->layout.shape;
    if (!check_grid(&call, outer[0], n, size, grid) || !check_gradient(&call, outer[0], outer[1], grid)) return NULL;
    for (int d = 0; d < n + 2; d++) shape[d] = d < 2 ? outer[d] : size[d - 2];
    if (!wick__call_out(&call, gradient->dtype, n + 2, shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_grid_sample_backward_grid(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                   const struct wick_tensor *grid,
                                                   const struct wick_grid_sample_options *options) {
    struct wick__call call = {.op = WICK_OP_grid_sample_backward_grid, .n_in = 3, .in = {gradient, x, grid}};
    if (!set_options(&call, options ? options : &defaults)) return NULL;
    int n = x->layout.rank - 2;
    if (!check_grid(&call, n < 0 ? 0 : x->layout.shape[0], n, x->layout.shape + 2, grid) ||
        !check_gradient(&call, x->layout.shape[0], x->layout.shape[1], grid) ||
        !wick__call_out(&call, grid->dtype, grid->layout.rank, grid->layout.shape))
        return NULL;
    return wick__call_run(&call);
}
