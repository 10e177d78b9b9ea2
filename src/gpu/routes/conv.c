/* cuDNN and MIOpen: convolutions of 1 to 3 spatial dims, transposed ones, and gradients by the weight. */
#include "gpu/routes/conv.h"

#include "core/checked.h"
#include "gpu/routes/plans.h"
#include "gpu/routes/products.h"
#include "gpu/runtime/target.h"

#include <stdio.h>
#include <string.h>

/* The most memory that a convolution gets besides its operands: copies of these in another order. */
#define WORKSPACE ((size_t)1 << 30)

static const enum wick_dtype dtypes[] = {WICK_BF16, WICK_F16, WICK_F32, WICK_F64};
enum { DTYPES = 4, WAYS = 3 };
static const char *const names[] = {"bf16",       "bf16 data",  "bf16 weight", "f16",        "f16 data",
                                    "f16 weight", "f32",        "f32 data",    "f32 weight", "f64",
                                    "f64 data",   "f64 weight", NULL};

static const struct wick__companion *library(const struct wick__vendor *vendor) { return &vendor->dnn; }

static int64_t volume(const struct wick__dnn_conv *c, const int64_t *sizes) {
    int64_t product = 1;
    for (int s = 0; s < c->spatial; s++) product *= sizes[s];
    return product;
}

/* The elements of a tensor of `a` times `b` such volumes, in f64: sizes beside a 0 may have any product. */
static double elements(const struct wick__dnn_conv *c, int64_t a, int64_t b, const int64_t *sizes) {
    double product = (double)a * (double)b;
    for (int s = 0; s < c->spatial; s++) product *= (double)sizes[s];
    return product;
}

/* Whether every tensor has elements, and none so many that 32 bits can't number them. */
static bool is_ordinary(const struct wick__dnn_conv *c) {
    const double limit = 1u << 31, x = elements(c, c->n, c->groups * c->cin, c->in);
    const double w = elements(c, c->groups * c->cout, c->cin, c->kernel);
    const double y = elements(c, c->n, c->groups * c->cout, c->out);
    return x > 0 && w > 0 && y > 0 && x < limit && w < limit && y < limit;
}

/* Whether y has all the windows that fit into x. A transposed convolution's output_padding may leave room for more, and
 * MIOpen computes them, wherever they lie. */
static bool has_all_windows(const struct wick__dnn_conv *c) {
    for (int s = 0; s < c->spatial; s++)
        if ((wick__conv_places(c, s) - 1) / c->stride[s] + 1 != c->out[s]) return false;
    return true;
}

/* Some kernels of cuDNN 9.19 fault at other addresses, whatever they are told of them. */
static bool is_aligned(const struct wick__dnn_conv *c) {
    return wick__aligned16(c->x) && wick__aligned16(c->w) && wick__aligned16(c->y) && wick__aligned16(c->bias);
}

/* Whether windows lie side by side and cover x, so that each element of it belongs to one. */
static bool has_patches(const struct wick__dnn_conv *c) {
    bool one = true, side_by_side = true;
    for (int s = 0; s < c->spatial; s++) {
        one = one && c->kernel[s] == 1;
        side_by_side = side_by_side && c->kernel[s] == c->stride[s] && c->padding[s] == 0 && c->dilation[s] == 1;
    }
    return side_by_side && !one;
}

static bool is_point(const struct wick__dnn_conv *c) { return volume(c, c->kernel) * volume(c, c->stride) == 1; }

/* Multiplications. */
static double work_of(const struct wick__dnn_conv *c) {
    return elements(c, c->n, c->groups * c->cout, c->out) * elements(c, c->cin, 1, c->kernel);
}

/* Whether channels, of a group, are multiples of a number. */
static bool has_multiples(const struct wick__dnn_conv *c, int64_t by) { return c->cin % by == 0 && c->cout % by == 0; }

/* Whether windows are such as ours takes by patches of planes (src/gpu/ops/conv_depth.c): in the last two dims of 3 x
 * 3, 5 x 5 or 7 x 7, side by side, or two apart with taps side by side. */
static bool has_patch_windows(const struct wick__dnn_conv *c) {
    const int h = c->spatial - 2, w = c->spatial - 1;
    if (c->spatial < 2) return false;
    const int64_t taps = c->kernel[h], stride = c->stride[h];
    return (taps == 3 || taps == 5 || taps == 7) && c->kernel[w] == taps && c->stride[w] == stride &&
           (stride == 1 || (stride == 2 && c->dilation[h] * c->dilation[w] == 1));
}

/* Channels of a group that a result takes. */
static int64_t taken_channels(const struct wick__dnn_conv *c) { return c->way == WICK__CONV_DATA ? c->cout : c->cin; }

/* Whether ours takes one channel by patches of planes, in groups or not; with a depth by the weight alone. On an H200
 * it was faster than cuDNN 9.19 for 22 shapes in f16, and 12 of them in bf16 and f32, in each direction
 * (bench/NOTES.md). */
static bool is_by_patches(const struct wick__dnn_conv *c) {
    return (c->spatial == 2 || (c->spatial == 3 && c->way == WICK__CONV_WEIGHT)) && c->dtype != WICK_F64 &&
           taken_channels(c) == 1 && has_patch_windows(c);
}

/* Whether ours takes few channels of 16 bits so. On an H200 that took 18 shapes a seventeenth to three quarters of
 * cuDNN 9.19's time (bench/NOTES.md). Gradients by x of 54 channels to 4 in each of 4 groups took ours 102 us and
 * cuDNN 63. */
static bool is_by_patches_of_few(const struct wick__dnn_conv *c) {
    const int64_t in = taken_channels(c), out = c->cin + c->cout - in, most = 16;
    return c->way != WICK__CONV_WEIGHT && wick_dtype_bits(c->dtype) == 16 && wick__max(in, out) <= most &&
           wick__conv_has_few(in, out) && has_patch_windows(c);
}

/* Whether ours is faster where there are groups, by rows drawn at random on an H100 and by layers of networks on an
 * H200. cuDNN's heuristics choose badly where there is little work, or channels are no multiples of 8. By x in f16, 7
 * channels to 4 in each of 8 groups, 3x3x3 with strides of 2, 8 images of 14x14x14 take ours 745 us and cuDNN 105. */
static bool is_faster_in_groups(const struct wick__dnn_conv *c) {
    const double much = 1e8, some = 25e6, many = 200; /* work; terms of a result that no tile takes */
    const bool narrow = wick_dtype_bits(c->dtype) == 16, depthwise = c->cin == 1 && c->cout == 1;
    const bool strides = volume(c, c->stride) > 1, large = volume(c, c->kernel) > 9;
    if (c->dtype == WICK_F64) return false;
    if (c->last) return true; /* of whole pieces of channels */
    if (!depthwise && narrow && c->way == WICK__CONV_FORWARD && c->cout < 8 && elements(c, c->cin, 1, c->kernel) > many)
        return false;
    if (!depthwise && narrow && c->way == WICK__CONV_DATA && c->cin < 8 &&
        (elements(c, c->cout, 1, c->kernel) > many || (c->spatial == 3 && strides && work_of(c) > much)))
        return false;
    if (!depthwise && narrow && has_multiples(c, 8) && wick__min(c->cin, c->cout) <= 16) return true; /* merged */
    if (!depthwise) return work_of(c) < much || !has_multiples(c, 8) || (!narrow && c->way != WICK__CONV_FORWARD);
    if (c->spatial == 3 && c->way != WICK__CONV_WEIGHT) return true;
    if (c->dtype == WICK_F16) return work_of(c) < some || (c->way == WICK__CONV_DATA && strides);
    if (c->way != WICK__CONV_FORWARD) return true;
    return work_of(c) < 5e6 || (!strides && (large || work_of(c) < 2 * some));
}

/* Whether a plane is no multiple of 8 elements, so that cuDNN's 1x1 kernels read it by parts. */
static bool is_broken(const struct wick__dnn_conv *c) { return volume(c, c->out) % 8 != 0; }

/* Whether the last tile of so many channels is at least so full. */
static bool fills(int64_t channels, int64_t least) {
    enum { EDGE = 128 };
    return channels <= EDGE || (channels - 1) % EDGE >= least;
}

/* Whether ours is faster in 16 bits for windows of several elements, with results of so many channels. For 44 shapes
 * drawn at random on an H200 ours took 0.04 to 1.15 of cuDNN 9.19's time with channels first, 0.78 in geometric mean,
 * and 0.37 to 1.18 by x. It lost where the last tile is at most half full (192 to 192 of 32 images of 64x64 255 us and
 * 223) and where there is much work (768 to 640 of 64 of 20x20 430 and 397). With channels last cuDNN gets copies, and
 * ours lost where the last tile is nearly empty: 200 to 136 of 16 images of 60x60 156 and 135 (bench/NOTES.md). */
static bool is_faster_by_windows(const struct wick__dnn_conv *c, int64_t channels) {
    const double much = fills(channels, 64) ? 4e10 : 5e9;
    return c->last ? fills(channels, 32) : work_of(c) < much;
}

/* Gradients by the weight: cuDNN's are faster where tiles fit the channels of f32, or 16 bits have much work: 256 to
 * 256 of 8 images of 64x64, 3x3, take ours 140 us and cuDNN 109. Of broken planes 64 channels to 384, of 128 images of
 * 14x14, take ours 34 us and cuDNN 25, 192 to 64 of 256 images 47 and 29; 96 to 576 49 and 61. */
static bool is_faster_by_weight(const struct wick__dnn_conv *c) {
    if (c->dtype == WICK_F64) return !is_point(c) && c->n * volume(c, c->out) > 65536;
    if (c->dtype == WICK_F32) return !has_multiples(c, 32) || volume(c, c->kernel) == 1;
    if (c->cout < 8) return work_of(c) < 5e7 || (c->cout >= 4 && c->cin >= 8);
    const bool strides = volume(c, c->stride) > 1, one = volume(c, c->kernel) == 1;
    const double much = one ? 1.5e8 : 1.2e10;
    return c->last || work_of(c) < much || !has_multiples(c, 8) || c->in[0] == 1 || has_patches(c) ||
           (one && (strides || (is_broken(c) && !(has_multiples(c, 64) && wick__min(c->cin, c->cout) == 64))));
}

/* Of 16 bits: ours cuts sums of few tiles into parts, and has tiles for 64 channels. To more channels, of broken
 * planes, 80 channels of 32 images of 14x14 take ours 12 us and cuDNN 31, of 256 images 53 and 57, 96 of 128 images 34
 * and 36; 64 of 128 images 21 and 19 to 21. With a bias cuDNN fuses it, and is slow where its plain kernels are not: on
 * an H200 1x1 in f16, 64 channels to 256 of 32 images of 56x56, take ours 34 us and cuDNN 133 (20 without the bias),
 * 1024 to 1024 of 4 of 64x64 59 and 149; 5x5, 128 to 128 of 16 of 64x64, 118 and 198, 3x3, 640 to 640 of 2 of 32x32, 53
 * and 65. Where the last tile of channels is at most half full, 3x3 to 136 of 16 images of 60x60 takes ours 165 and
 * cuDNN 140. */
static bool is_faster_forward(const struct wick__dnn_conv *c) {
    const int64_t few = 66, edge = 128, results = c->n * volume(c, c->out);
    const bool strides = volume(c, c->stride) > 1, one = volume(c, c->kernel) == 1;
    if (c->cin < 8) return volume(c, c->kernel) > 9 || !strides;
    if (c->in[0] == 1 || work_of(c) < 2e8 || (c->bias && (one || fills(c->cout, 64)))) return true;
    if (one && wick__product_is_short(c->dtype, c->cout, c->cin, work_of(c))) return true;
    return one ? strides || !has_multiples(c, 8) || (is_broken(c) && c->cin > 64 && c->cin <= 96 && c->cout > c->cin)
               : c->cout <= 64 || wick__div_up(results, edge) * wick__div_up(c->cout, edge) <= few ||
                     is_faster_by_windows(c, c->cout);
}

/* Of 16 bits: large patches are ours as products, and so are few results; we have tiles for 64 channels. */
static bool is_faster_by_x(const struct wick__dnn_conv *c) {
    const bool one = volume(c, c->kernel) == 1, large = has_patches(c) && volume(c, c->kernel) > 8;
    if (large || c->cout < 8 || (is_point(c) && !has_multiples(c, 8) && !is_broken(c))) return true;
    if (c->cin < 8) return work_of(c) < 3e8;
    return (!one && (c->cin <= 64 || is_faster_by_windows(c, c->cin))) || c->in[0] == 1 || work_of(c) < 2e8;
}

/* Whether ours takes f32 by matrix instructions (src/gpu/ops/conv_mma.c). */
static bool has_tiles(const struct wick__dnn_conv *c) {
    return c->cin >= WICK__TF32_CHANNELS && c->cout >= WICK__TF32_RESULTS &&
           elements(c, c->cin, 1, c->kernel) >= WICK__TF32_TERMS;
}

/* Whether ours is faster, as measured on an H100 and an H200 with cuDNN 9.19 (docs/results/convolutions.md). */
static bool is_faster(const struct wick__gpu *gpu, const struct wick__dnn_conv *c) {
    const bool narrow = wick_dtype_bits(c->dtype) == 16, wide = c->dtype == WICK_F64;
    if (wick__capability(gpu) != 90) return false;
    if (is_by_patches(c) || is_by_patches_of_few(c)) return true;
    if (c->groups > 1) return is_faster_in_groups(c);
    if (c->way == WICK__CONV_WEIGHT) return is_faster_by_weight(c);
    if (c->way == WICK__CONV_DATA && narrow) return is_faster_by_x(c);
    if (c->way == WICK__CONV_DATA) return !(wide && is_point(c));
    if (has_patches(c)) return true;
    if (wide) return is_point(c);
    if (!narrow) return is_point(c) || volume(c, c->kernel) == 1 || c->spatial != 2 || c->cin >= 64 || has_tiles(c);
    return is_faster_forward(c);
}

/* Whether ours is more exact: a gradient by the weight in f32 adds up the products of at most some thousand windows in
 * f32, and cuDNN 9.19 adds up in f16 what is a gradient by x of f16 with some numbers of channels. */
static bool is_better(const struct wick__dnn_conv *c) {
    if (c->dtype == WICK_F16 && c->way == WICK__CONV_DATA)
        return c->groups == 1 && (c->cin % 8 != 0 || c->cout % 8 != 0);
    return c->dtype == WICK_F32 && c->way == WICK__CONV_WEIGHT && c->n * volume(c, c->out) > 8192;
}

static int takes(const struct wick__gpu *gpu, enum wick__choice choice, const struct wick__offer *offer,
                 const char **reason) {
    const struct wick__dnn_conv *c = &((const struct wick__conv_offer *)offer)->c;
    int dtype = 0;
    while (dtype < DTYPES && dtypes[dtype] != c->dtype) dtype++;
    if (dtype == DTYPES)
        *reason = "it has no convolutions of the dtype";
    else if (!is_ordinary(c))
        *reason = "an operand is empty, or has 2^31 elements or more";
    else if (!has_all_windows(c))
        *reason = "there is room for more windows";
    else if (!is_aligned(c))
        *reason = "an operand doesn't start at a multiple of 16 bytes";
    else if (is_better(c))
        *reason = "our own kernel is more exact";
    else if (choice == WICK__AUTO && is_faster(gpu, c))
        *reason = "our own kernel is faster";
    else
        return dtype * WAYS + (int)c->way;
    return -1;
}

static void say(const struct wick__offer *offer, char *text, size_t size) {
    static const char *const ways[] = {"", ", gradient of x or transposed", ", gradient of weight"};
    const struct wick__dnn_conv *c = &((const struct wick__conv_offer *)offer)->c;
    int at = snprintf(text, size, "x [%lld,%lld", (long long)c->n, (long long)(c->groups * c->cin));
    for (int s = 0; s < c->spatial; s++) at += snprintf(text + at, size - (size_t)at, ",%lld", (long long)c->in[s]);
    at += snprintf(text + at, size - (size_t)at, "], weight [%lld,%lld", (long long)(c->groups * c->cout),
                   (long long)c->cin);
    for (int s = 0; s < c->spatial; s++) at += snprintf(text + at, size - (size_t)at, ",%lld", (long long)c->kernel[s]);
    at += snprintf(text + at, size - (size_t)at, "]%s", ways[c->way]);
    const int64_t stride = c->stride[c->spatial - 1];
    if (stride > 1) at += snprintf(text + at, size - (size_t)at, ", stride %lld", (long long)stride);
    snprintf(text + at, size - (size_t)at, "%s%s", c->bias ? ", bias" : "", c->relu ? ", relu" : "");
}

/* ---- plans ---- */

static int64_t *put(int64_t *key, const struct wick__dnn_conv *c, const int64_t *sizes) {
    for (int s = 0; s < 3; s++) *key++ = s < c->spatial ? sizes[s] : 0;
    return key;
}

/* All that the library's choice depends on; the first number is none of a product's key. */
static void key_of(const struct wick__dnn_conv *c, int64_t key[WICK__PLAN_KEY]) {
    int64_t *at = key;
    memset(key, 0, sizeof *key * WICK__PLAN_KEY);
    *at++ = 1024 + (int64_t)c->way * 256 + (int64_t)c->dtype * 4 + (c->bias ? 2 : 0) + (c->relu ? 1 : 0);
    *at++ = c->n;
    *at++ = c->groups;
    *at++ = c->cin;
    *at++ = c->cout;
    at = put(at, c, c->in);
    at = put(at, c, c->out);
    at = put(at, c, c->kernel);
    at = put(at, c, c->stride);
    at = put(at, c, c->padding);
    put(at, c, c->dilation);
}

static int make_plan(struct wick__gpu *gpu, void *handle, const void *call, struct wick__planned *planned) {
    planned->most = WORKSPACE;
    return gpu->vendor->conv_plan(handle, call, planned);
}

static int run_plan(struct wick__gpu *gpu, void *handle, void *plan, const void *call, void *workspace, size_t nbytes) {
    (void)nbytes;
    return gpu->vendor->conv_run(handle, plan, call, workspace);
}

static void forget_plan(const struct wick__gpu *gpu, void *plan) { gpu->vendor->conv_forget(plan); }

static const struct wick__planner planner = {&wick__conv_route, make_plan, run_plan, forget_plan};

static enum wick__ran convolve(struct wick__gpu *gpu, struct wick__held *held, const struct wick__dnn_conv *c) {
    int64_t key[WICK__PLAN_KEY];
    key_of(c, key);
    return wick__plans_run(gpu, held, &planner, key, c);
}

static bool offer_key(const struct wick__offer *offer, int64_t key[WICK__PLAN_KEY]) {
    key_of(&((const struct wick__conv_offer *)offer)->c, key);
    return true;
}

static enum wick__verdict check(struct wick__gpu *gpu, struct wick__held *held, int which) {
    return wick__conv_trials(gpu, held, dtypes[which / WAYS], (enum wick__conv_way)(which % WAYS), convolve);
}

/* With bias and relu or, where the library has that not at once and nothing is lost by a second pass, without. */
static enum wick__ran run_dense(struct wick__gpu *gpu, struct wick__held *held, struct wick__conv_offer *o) {
    const struct wick__way way = held->way;
    enum wick__ran ran = convolve(gpu, held, &o->c);
    bool exact = wick_dtype_bits(o->c.dtype) > 16;
    if (ran == WICK__REFUSED && (o->c.bias || o->c.relu) && exact) {
        struct wick__dnn_conv plain = o->c;
        plain.bias = NULL;
        plain.relu = false;
        held->way = way;
        ran = convolve(gpu, held, &plain);
        o->rest = ran == WICK__RAN;
    }
    return ran;
}

/* Images with channels last become copies with channels first, which are to be released; false without memory. */
static bool pack(struct wick__conv_offer *o, struct wick_tensor *copies[2]) {
    void **const addresses[2] = {&o->c.x, &o->c.y};
    struct wick__error quiet = {0};
    bool done = true;
    wick__error_swap(&quiet);
    for (int i = 0; i < 2 && done; i++) {
        if (!o->images[i]) continue;
        copies[i] = o->pack(o->call, o->images[i]);
        done = copies[i] != NULL;
        if (done) *addresses[i] = wick__data(copies[i]);
    }
    wick__error_swap(&quiet);
    return done;
}

static enum wick__ran run(struct wick__gpu *gpu, struct wick__held *held, struct wick__offer *offer) {
    struct wick__conv_offer *o = (struct wick__conv_offer *)offer;
    struct wick_tensor *copies[2] = {NULL};
    if (!o->c.last) return run_dense(gpu, held, o);
    const enum wick__ran ran = pack(o, copies) ? run_dense(gpu, held, o) : WICK__NOT_NOW;
    for (int i = 0; i < 2; i++) wick_release(copies[i]);
    return ran;
}

static void forget(struct wick__gpu *gpu, struct wick__held *held) { wick__plans_forget(gpu, held, &planner); }

const struct wick__vendor_route wick__conv_route = {.name = "DNN",
                                                    .op = "convolution",
                                                    .chooser = WICK__CHOOSE_DNN,
                                                    .checks = names,
                                                    .wrong = WICK_LOG_ERROR,
                                                    .library = library,
                                                    .kind = WICK__DNN,
                                                    .takes = takes,
                                                    .check = check,
                                                    .run = run,
                                                    .key = offer_key,
                                                    .say = say,
                                                    .forget = forget};
