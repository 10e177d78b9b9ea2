/* Planning a convolution: taps, images, bands and how the work is split. See conv_plan.h. */
#include "cpu/kernels/conv_plan.h"

enum {
    /* Of all images of a band: well inside a second level cache beside the weights, of 512 KiB or, with AVX-512, 1 MiB.
     */
    MAX_IMAGE_BYTES = (WICK_ISA_LEVEL >= 2 ? 512 : 384) << 10,
    MIN_BAND_VECTORS = 6,
    ITEMS_PER_WORKER = 4,
    TYPICAL_BAND = 256, /* positions */
    MAX_REACH = 1 << 20,
    PREFETCH = 512,         /* elements */
    MAX_THIN = 64,          /* terms */
    MIN_JOINT_CHANNELS = 4, /* of less, each result channel of an item of the batch is made by itself */
    PACK_COST = 40 /* copying a vector into an image takes as long as so many result channels' products with it */
};

/* Two columns make a tile, and one alone takes nearly as long; three are made of less as well. */
enum { BAND_STEP = WICK__CONV_LANES * (WICK__CONV_COLUMNS == 2 ? 2 : 1) };

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static int64_t round_up(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

/* Dim a of 3 is spatial dim a - (3 - spatial) of the tensors; leading ones that are missing have size 1. */
static int spatial_dim(const struct conv *conv, int a) { return a - (3 - conv->call->p.window.spatial); }

static int64_t passes_along(const struct conv *conv, int a) {
    int s = spatial_dim(conv, a);
    if (!conv->transposed || s < 0) return 1;
    return wick__min(conv->call->p.window.stride[s], conv->call->out[0]->layout.shape[2 + s]);
}

int64_t WICK__ISA(wick__conv_passes)(const struct conv *conv) {
    return passes_along(conv, 0) * passes_along(conv, 1) * passes_along(conv, 2);
}

/* Whether kernel element k reaches the results of a pass along spatial dim s of a transposed convolution. */
static bool reaches(const struct conv *conv, int s, int64_t pass, int64_t k) {
    const struct wick__call *call = conv->call;
    return (pass + call->p.window.padding[s] - k * call->p.window.dilation[s]) % call->p.window.stride[s] == 0;
}

bool WICK__ISA(wick__conv_gaps)(const struct conv *conv) {
    for (int s = 0; conv->transposed && s < conv->call->p.window.spatial; s++) {
        int64_t kernel = conv->call->in[1]->layout.shape[2 + s],
                passes = passes_along(conv, s + 3 - conv->call->p.window.spatial);
        for (int64_t pass = 0; pass < passes; pass++) {
            int64_t k = 0;
            while (k < kernel && !reaches(conv, s, pass, k)) k++;
            if (k == kernel) return true;
        }
    }
    return false;
}

/* Adds the tap of kernel element k that meets input element o step + at, and numbers its residue. */
static void add_tap(struct conv_dim *dim, int64_t k, int64_t at) {
    struct conv_tap tap = {.kernel = k, .shift = floor_div(at, dim->step)};
    tap.residue = at - tap.shift * dim->step;
    while (tap.phase < dim->phases && dim->residue[tap.phase] != tap.residue) tap.phase++;
    if (tap.phase == dim->phases) dim->residue[dim->phases++] = tap.residue;
    dim->tap[dim->taps++] = tap;
}

static void set_dim(const struct conv *conv, int a, int64_t pass, struct conv_dim *dim) {
    int s = spatial_dim(conv, a);
    *dim = (struct conv_dim){
        .in = 1, .out = 1, .step = 1, .pitch = 1, .full = 1, .tap = dim->tap, .residue = dim->residue};
    if (s < 0) {
        add_tap(dim, 0, 0);
        return;
    }
    const struct wick__call *call = conv->call;
    int64_t stride = call->p.window.stride[s], padding = call->p.window.padding[s];
    int64_t dilation = call->p.window.dilation[s], kernel = call->in[1]->layout.shape[2 + s];
    dim->in = call->in[0]->layout.shape[2 + s];
    dim->out = dim->full = call->out[0]->layout.shape[2 + s];
    if (conv->transposed) {
        dim->first = pass;
        dim->pitch = stride;
        dim->out = (dim->full - pass + stride - 1) / stride;
        for (int64_t k = 0; k < kernel; k++)
            if (reaches(conv, s, pass, k)) add_tap(dim, k, (pass + padding - k * dilation) / stride);
    } else {
        dim->step = stride;
        for (int64_t k = 0; k < kernel; k++) add_tap(dim, k, k * dilation - padding);
    }
    int64_t high = 0;
    for (int64_t t = 0; t < dim->taps; t++) {
        dim->low = t == 0 ? dim->tap[t].shift : wick__min(dim->low, dim->tap[t].shift);
        high = t == 0 ? dim->tap[t].shift : wick__max(high, dim->tap[t].shift);
    }
    dim->span = high - dim->low;
}

/* Whether a dim is mapped as it is, so that it can be merged with a neighbour that is. */
static bool is_identity(const struct conv_dim *dim) {
    return dim->taps == 1 && dim->step == 1 && dim->pitch == 1 && dim->tap[0].shift == 0 && dim->in == dim->out;
}

static void merge_dims(struct conv_dim dim[3]) {
    for (int a = 1; a >= 0; a--) {
        if (!is_identity(&dim[a]) || !is_identity(&dim[2])) return;
        dim[2].in *= dim[a].in;
        dim[2].out *= dim[a].out;
        dim[2].full *= dim[a].full;
        dim[a].in = dim[a].out = dim[a].full = 1;
    }
}

/* Vectors that one plane takes. */
static int64_t vectors(int64_t positions) { return (positions + WICK__CONV_LANES - 1) / WICK__CONV_LANES; }

/* Picks images shared by the taps, or one for each. */
static void choose_images(const struct conv *conv, struct conv_plan *plan) {
    const struct conv_dim *d = &plan->dim[0], *h = &plan->dim[1], *w = &plan->dim[2];
    int64_t exact = h->out * w->out, channels = conv->in_channels * d->taps, shared, reach, wide;
    int64_t joint = d->out == 1 && conv->out_channels >= MIN_JOINT_CHANNELS ? conv->batch : 1;
    plan->terms = channels * h->taps * w->taps;
    plan->gather = false;
    if (!wick__add(w->out, w->span, &plan->width) || !wick__mul(h->out - 1, plan->width, &wide) ||
        !wick__add(wide, w->out, &plan->plane) || !wick__mul(h->span, plan->width, &reach))
        plan->gather = true;
    else {
        reach += w->span;
        shared = h->phases * w->phases;
        plan->images = channels * shared;
        /* With a stride, shared images are several too, and filled element by element. */
        int64_t pack_cost = shared > 1 ? PACK_COST / 2 : PACK_COST;
        int64_t gather_cost = vectors(joint * exact) * (conv->out_channels + pack_cost);
        /* Taps that are far apart would fill the images with what few positions need. */
        bool small = reach <= MAX_REACH && shared * (TYPICAL_BAND + reach) <= 2 * h->taps * w->taps * TYPICAL_BAND;
        int64_t cost = vectors(plan->plane) * conv->out_channels;
        plan->gather = !small || cost > gather_cost / joint;
    }
    if (plan->gather) {
        plan->width = w->out;
        plan->plane = exact;
        plan->images = plan->terms;
        reach = 0;
    }
    plan->planes = reach == 0 ? joint : 1;
    plan->positions = plan->planes * plan->plane;
    /* Bands: of few enough elements for the cache, but not of less than a few vectors, and of equal sizes. */
    int64_t fit = MAX_IMAGE_BYTES / (int64_t)conv->value_size / wick__max(1, plan->images) - reach;
    fit = wick__max(MIN_BAND_VECTORS, fit / WICK__CONV_LANES) * WICK__CONV_LANES;
    plan->bands = wick__max(1, (plan->positions + fit - 1) / fit);
    plan->band = round_up((plan->positions + plan->bands - 1) / plan->bands, BAND_STEP);
    plan->bands = (plan->positions + plan->band - 1) / plan->band;
    plan->ahead = plan->bands == 1 ? PREFETCH : 2 * conv->in_plane;
    plan->length = plan->band + round_up(reach, WICK__CONV_LANES);
}

/* Splits the result channels too where bands are too few to keep all workers busy. */
static void choose_parts(const struct conv *conv, struct conv_plan *plan) {
    int64_t items = conv->batch / plan->planes * conv->groups * plan->dim[0].out * plan->bands;
    int64_t wanted = (int64_t)wick__workers() * ITEMS_PER_WORKER;
    plan->parts = wick__workers() == 1 || items >= wanted ? 1 : (wanted + items - 1) / items;
    plan->part = round_up((conv->out_channels + plan->parts - 1) / plan->parts, WICK__CONV_ROWS);
    plan->parts = (conv->out_channels + plan->part - 1) / plan->part;
}

static void set_offsets(const struct conv *conv, struct conv_plan *plan) {
    const struct conv_dim *d = &plan->dim[0], *h = &plan->dim[1], *w = &plan->dim[2];
    int64_t k = 0, channels = conv->in_channels * d->taps;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < h->taps; i++)
            for (int64_t j = 0; j < w->taps; j++, k++) {
                const struct conv_tap *y = &h->tap[i], *x = &w->tap[j];
                int64_t image = (c * h->phases + y->phase) * w->phases + x->phase;
                int64_t shift = (y->shift - h->low) * plan->width + x->shift - w->low;
                plan->offset[k] = plan->gather ? k * plan->length : image * plan->length + shift;
            }
}

enum wick_status WICK__ISA(wick__conv_plan)(const struct conv *conv, int64_t pass, struct conv_plan *plan) {
    const struct wick__layout *weight = &conv->call->in[1]->layout;
    int64_t kernel[3] = {1, 1, 1}, taps = 0, terms = conv->in_channels;
    for (int a = 0; a < 3; a++) {
        int s = spatial_dim(conv, a);
        if (s >= 0) kernel[a] = weight->shape[2 + s];
        taps += kernel[a];
        terms *= kernel[a];
    }
    plan->nbytes = (size_t)taps * (sizeof(struct conv_tap) + sizeof(int64_t)) + (size_t)terms * sizeof(int64_t);
    plan->memory = wick__scratch(plan->nbytes);
    if (!plan->memory) return WICK_MEMORY;
    struct conv_tap *tap = plan->memory;
    int64_t *residue = (int64_t *)(tap + taps);
    plan->offset = residue + taps;
    for (int a = 2; a >= 0; a--) {
        int64_t n = passes_along(conv, a);
        plan->dim[a].tap = tap;
        plan->dim[a].residue = residue;
        set_dim(conv, a, pass % n, &plan->dim[a]);
        pass /= n;
        tap += kernel[a];
        residue += kernel[a];
    }
    merge_dims(plan->dim);
    choose_images(conv, plan);
    choose_parts(conv, plan);
    set_offsets(conv, plan);
    const struct conv_dim *h = &plan->dim[1], *w = &plan->dim[2];
    plan->linear = w->pitch == 1 && h->pitch == 1 && w->out == w->full;
    plan->exact = plan->linear && plan->width == w->out;
    plan->thin = plan->linear && !plan->gather && plan->bands == 1 && conv->out_channels < MIN_JOINT_CHANNELS &&
                 plan->terms <= MAX_THIN;
    plan->direct = WICK_ISA_LEVEL >= 2 && plan->thin && conv->in_channels == 1 && conv->dtype == WICK_DTYPE_f32 &&
                   h->step == 1 && w->step == 1 && h->out >= 4 && w->taps <= 16 && plan->dim[0].taps == 1 &&
                   plan->dim[0].in == 1 && plan->dim[0].tap[0].shift == 0;
    return WICK_OK;
}

void WICK__ISA(wick__conv_plan_free)(struct conv_plan *plan) { wick__scratch_free(plan->memory, plan->nbytes); }
