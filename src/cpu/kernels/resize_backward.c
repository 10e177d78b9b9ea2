/* Gradients of resizing and of adaptive pooling. */
#include "cpu/kernels/places.h"
#include "cpu/kernels/planes.h"
#include "cpu/kernels/pointed.h"
#include "cpu/kernels/transposed.h"
#include "cpu/runtime/isa.h"

/* How the results of a dim come from x. */
struct source {
    enum wick__resize kind;
    struct wick__position at;
};

static struct taps taps_of(const struct source *s, struct placer *placer, int64_t o, int64_t in, int64_t out) {
    if (s->kind == WICK__AREA) return area_taps(o, in, out);
    struct place place = next_place(placer);
    return s->kind == WICK__CUBIC    ? cubic_taps(place)
           : s->kind == WICK__LINEAR ? linear_taps(place, in)
                                     : nearest_taps(place);
}

static void list_taps(struct readers *r, const void *context) {
    const struct source *s = context;
    struct placer placer = placer_of(s->at);
    for (int64_t o = 0; o < r->out; o++) {
        struct taps t = taps_of(s, &placer, o, r->in, r->out);
        for (int64_t k = 0; k < t.n; k++)
            add_reader(r, clamped(t.first + k, r->in), o, t.weight[s->kind == WICK__AREA ? 0 : k]);
    }
}

/* Of dim `d` of three, of which leading ones may be missing. */
static struct source source_of(const struct wick__call *call, int d) {
    int s = d - (3 - call->p.resize.spatial);
    bool given = s >= 0 && call->p.resize.kind != WICK__AREA;
    return (struct source){call->p.resize.kind, given ? call->p.resize.at[s] : (struct wick__position){.by = 1}};
}

/* By 16 planes at a time. False where planes are f64 or their tiles would be too large, and nothing is done. */
static bool by_planes(const struct wick__call *call, enum wick_status *status) {
    const struct wick_tensor *gradient = call->in[0], *x = call->out[0];
    struct wick__planes p = {.kind = WICK__PLANES_SUM_WIDE,
                             .dtype = x->dtype,
                             .x = wick__data(gradient),
                             .y = wick__data(x),
                             .channels_last = !wick__layout_is_contiguous(&gradient->layout),
                             .images = gradient->layout.shape[0],
                             .channels = gradient->layout.shape[1],
                             .divisor = 1};
    struct source source[3];
    if (x->dtype == WICK_F64) return false;
    for (int d = 0; d < 3; d++) {
        int s = d - (3 - call->p.resize.spatial);
        source[d] = source_of(call, d);
        p.from[d] = s < 0 ? 1 : gradient->layout.shape[2 + s];
        p.to[d] = s < 0 ? 1 : x->layout.shape[2 + s];
    }
    const void *const sources[3] = {&source[0], &source[1], &source[2]};
    return WICK__ISA(wick__planes_try)(&p, list_taps, sources, status);
}

/* Of the largest elements of windows that cover x. */
static enum wick_status to_largest(const struct wick__call *call) {
    const struct wick_tensor *gradient = call->in[0];
    struct wick_tensor *x = call->out[0];
    struct wick__pointed p = {.dtype = x->dtype,
                              .x = wick__data(gradient),
                              .indices = wick__data(call->in[1]),
                              .y = wick__data(x),
                              .planes = x->layout.shape[0] * x->layout.shape[1]};
    int64_t windows = 0;
    for (int d = 0; d < 3; d++) {
        int s = d - (3 - call->p.resize.spatial);
        p.from[d] = s < 0 ? 1 : gradient->layout.shape[2 + s];
        p.to[d] = s < 0 ? 1 : x->layout.shape[2 + s];
        windows += p.from[d];
    }
    size_t nbytes = sizeof(struct wick__reach) * (size_t)windows;
    struct wick__reach *reach = wick__scratch(nbytes), *next = reach;
    if (!reach) return WICK_MEMORY;
    for (int d = 0; d < 3; d++) {
        p.reach[d] = next;
        for (int64_t o = 0; o < p.from[d]; o++) {
            struct taps taps = area_taps(o, p.to[d], p.from[d]);
            *next++ = (struct wick__reach){taps.first, taps.first + taps.n};
        }
    }
    enum wick_status status = WICK__ISA(wick__pointed_run)(&p);
    wick__scratch_free(reach, nbytes);
    return status;
}

enum wick_status WICK__ISA(wick__cpu_resize_backward)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_resize_backward)(const struct wick__call *call) {
    const struct wick_tensor *gradient = call->in[0];
    struct wick_tensor *x = call->out[0];
    int64_t count = wick__count(x);
    if (count == 0) return WICK_OK;
    if (call->n_in > 1) return to_largest(call);
    struct transposed t = {.dtype = x->dtype,
                           .size = wick__size(x->dtype),
                           .gradient = wick__data(gradient),
                           .out = wick__data(x),
                           .n = call->p.resize.spatial};
    bool made = true;
    enum wick_status status;
    if (by_planes(call, &status)) return status;
    for (int s = 0; s < t.n && made; s++) {
        struct source source = source_of(call, 3 - t.n + s);
        made = readers_make(&t.dim[s], x->layout.shape[2 + s], gradient->layout.shape[2 + s], list_taps, &source);
    }
    status = made ? transposed_run(&t, count) : WICK_MEMORY;
    transposed_free(&t);
    return status;
}
