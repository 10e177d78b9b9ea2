/* Gradients by the weight without columns that are copied: the large side as the small one's windows meet it.
 *
 * Each dim of the small side gets as many places more as its taps reach beyond one another, in which it has zeros, and
 * the large side is copied once in rows of that length, with its margin of zeros: once for each residue of its
 * positions by the stride that taps need. What a tap meets then is that copy, begun a fixed number of elements further
 * on, and tiles read it in place. The zeros take time for nothing, but a column of small images, whose rows are short,
 * takes more to copy. They meet elements that no window does, and an infinity or NaN among these would spread: where
 * the large side has any, columns are copied after all. Included by conv_backward.c. */
#include <stdatomic.h>

enum { STRIDE_MAX = 4, GRID_MAX = 1 << 24 }; /* floats of the copy */

struct grid_axis {
    int64_t low, size; /* place 0 meets `low` times the stride; places */
    int64_t phases, residue[STRIDE_MAX];
};

struct grid {
    struct grid_axis axis[3];
    int64_t image, run;     /* places of an image, and those up to its last window */
    int64_t length, phases; /* floats of a phase of a channel, and how many phases it has */
    int64_t reach;          /* of the last tap, beyond the first */
    float *planes;          /* [groups J][phases][length] */
    int64_t *offset;        /* [taps], from a channel's first phase on */
    atomic_bool wild;       /* the large side has an infinity or NaN */
};

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* The phase of tap k of a dim, and in *shift its place. */
static int64_t phase_of(const struct axis *a, const struct grid_axis *g, int64_t k, int64_t *shift) {
    int64_t at = k * a->dilation - a->padding, phase = 0;
    *shift = floor_div(at, a->stride);
    while (phase < g->phases && g->residue[phase] != at - *shift * a->stride) phase++;
    *shift -= g->low;
    return phase;
}

static bool set_grid_axis(const struct axis *a, struct grid_axis *g) {
    int64_t shift = 0;
    if (a->stride > STRIDE_MAX) return false;
    *g = (struct grid_axis){.low = floor_div(-a->padding, a->stride)};
    for (int64_t k = 0; k < a->kernel; k++)
        if (phase_of(a, g, k, &shift) == g->phases)
            g->residue[g->phases++] = k * a->dilation - a->padding - (shift + g->low) * a->stride;
    g->size = a->small + shift;
    return true;
}

/* Whether a grid is worth it: cycles for a column of a group. Copying one costs some for each row and vector, and each
 * tile of zeros its sums; the copy of the large side is shared by the taps. */
static bool plan_grid(const struct conv_backward *s, struct grid *g) {
    enum { ROW_COST = 24, VECTOR_COST = 3, LANES = BYTES / 4 };
    int64_t rows = s->batch * s->axis[0].small * s->axis[1].small, count;
    if (WICK_ISA_LEVEL < 1 || s->dtype == WICK_F64 || s->terms == 0 || s->taps == 1) return false;
    for (int a = 0; a < 3; a++)
        if (!set_grid_axis(&s->axis[a], &g->axis[a])) return false;
    const struct grid_axis *d = &g->axis[0], *h = &g->axis[1], *w = &g->axis[2];
    g->phases = d->phases * h->phases * w->phases;
    g->reach = ((d->size - s->axis[0].small) * h->size + h->size - s->axis[1].small) * w->size;
    g->reach += w->size - s->axis[2].small;
    if (!wick__mul(d->size, h->size, &g->image) || !wick__mul(g->image, w->size, &g->image) ||
        !wick__mul(g->image, s->batch, &count) || count > GRID_MAX)
        return false;
    g->run = ((s->axis[0].small - 1) * h->size + s->axis[1].small - 1) * w->size + s->axis[2].small;
    g->length = (count + g->reach) / LANES * LANES + 3 * LANES;
    if (!wick__mul(g->length * g->phases, s->groups * s->channels, &count) || count > GRID_MAX) return false;
    double copied = (double)rows * (ROW_COST + (double)s->axis[2].small / LANES * VECTOR_COST);
    double more = (double)s->batch * (double)g->run - (double)s->terms, ours = more * (double)s->rows / (2 * LANES);
    double filled = (double)s->batch * (double)(d->size * h->size) * (ROW_COST + (double)w->size / LANES * VECTOR_COST);
    return copied > ours + filled * (double)g->phases / (double)s->taps;
}

static void set_offsets(const struct conv_backward *s, struct grid *g) {
    const struct axis *a = s->axis;
    int64_t at = 0, shift[3];
    for (int64_t i = 0; i < a[0].kernel; i++)
        for (int64_t j = 0; j < a[1].kernel; j++)
            for (int64_t k = 0; k < a[2].kernel; k++) {
                int64_t phase = phase_of(&a[0], &g->axis[0], i, &shift[0]);
                phase = phase * g->axis[1].phases + phase_of(&a[1], &g->axis[1], j, &shift[1]);
                phase = phase * g->axis[2].phases + phase_of(&a[2], &g->axis[2], k, &shift[2]);
                g->offset[at++] =
                    phase * g->length + (shift[0] * g->axis[1].size + shift[1]) * g->axis[2].size + shift[2];
            }
}

/* Whether n floats, whole vectors, are. */
static bool are_finite(const float *x, int64_t n) {
    vector_f32 sum = {0};
    for (int64_t i = 0; i < n; i += WICK__VF) sum += wick__vf_load(x + i) * 0;
    return wick__vf_total(sum) == 0;
}

/* Fills phases of channels. */
static void fill_grid(void *context, int worker, int64_t begin, int64_t end) {
    const struct conv_backward *s = context;
    struct grid *g = s->grid;
    const struct axis *a = s->axis;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t channel = i / g->phases, phase = i % g->phases;
        int64_t residue[3] = {
            g->axis[0].residue[phase / g->axis[2].phases / g->axis[1].phases],
            g->axis[1].residue[phase / g->axis[2].phases % g->axis[1].phases],
            g->axis[2].residue[phase % g->axis[2].phases],
        };
        float *to = g->planes + i * g->length, *first = to;
        struct windows w = {.low = g->axis[2].low * a[2].stride + residue[2],
                            .stride = a[2].stride,
                            .large = a[2].large,
                            .n = g->axis[2].size};
        for (int64_t n = 0; n < s->batch; n++)
            for (int64_t z = 0; z < g->axis[0].size; z++)
                for (int64_t y = 0; y < g->axis[1].size; y++, to += w.n) {
                    int64_t at[2] = {(z + g->axis[0].low) * a[0].stride + residue[0],
                                     (y + g->axis[1].low) * a[1].stride + residue[1]};
                    copy_windows_f32(s, large_row(s, n, channel, at), &w, to);
                }
        memset(to, 0, sizeof *to * (size_t)(first + g->length - to));
        if (!are_finite(first, g->length)) atomic_store_explicit(&g->wild, true, memory_order_relaxed);
    }
}

/* Rows of the small side, with zeros in the places beyond it. */
static void fill_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct conv_backward *s = context;
    const struct grid *g = s->grid;
    const struct axis *a = s->axis;
    const struct windows w = {.stride = 1, .large = a[2].small, .n = g->axis[2].size};
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        float *to = (float *)(void *)s->packed + row * s->pitch, *first = to;
        for (int64_t n = 0; n < s->batch; n++)
            for (int64_t z = 0; z < g->axis[0].size; z++)
                for (int64_t y = 0; y < g->axis[1].size; y++, to += w.n) {
                    int64_t line = (z * a[1].small + y) * a[2].small;
                    const char *from =
                        s->small + ((n * s->groups * s->rows + row) * s->small_plane + line) * (int64_t)s->size;
                    copy_windows_f32(s, z < a[0].small && y < a[1].small ? from : NULL, &w, to);
                }
        memset(to, 0, sizeof *to * (size_t)(first + s->pitch - to));
    }
}
