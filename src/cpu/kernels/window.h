/* The windows of a convolution in three dims. */
#ifndef WICK_CPU_KERNELS_WINDOW_H
#define WICK_CPU_KERNELS_WINDOW_H

#include "backend.h"

/* Sizes of x, y and a window along each dim, 1 for leading dims that are missing; steps between windows, distances of
 * taps, and zeros in front of x (of a transposed convolution: of y). */
struct window {
    int64_t in[3], out[3], taps[3], step[3], apart[3], before[3];
};

static inline void window_of(const struct wick__call *call, struct window *window) {
    const int64_t *x = call->in[0]->layout.shape, *w = call->in[1]->layout.shape, *y = call->out[0]->layout.shape;
    int spatial = call->p.window.spatial;
    for (int d = 0; d < 3; d++) {
        int s = d - (3 - spatial);
        window->in[d] = s < 0 ? 1 : x[2 + s];
        window->out[d] = s < 0 ? 1 : y[2 + s];
        window->taps[d] = s < 0 ? 1 : w[2 + s];
        window->step[d] = s < 0 ? 1 : call->p.window.stride[s];
        window->apart[d] = s < 0 ? 1 : call->p.window.dilation[s];
        window->before[d] = s < 0 ? 0 : call->p.window.padding[s];
    }
}

static inline int64_t window_size(const int64_t size[3]) { return size[0] * size[1] * size[2]; }

#endif
