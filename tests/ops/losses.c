/* Losses: gradients against differences of the losses themselves, in f64; what they give for nothing, for extremes and
 * for ids out of range; and their rules. On the device named in argv[1], the CPU without one. */
#include "tests/test.h"

#include <string.h>

static struct wick_device *device;

/* ---- gradients against differences ---- */

typedef const struct wick_tensor *tensor;

/* A loss of x and what else it needs, and its gradients by x and by others; by[i] is NULL where there is none. */
struct loss {
    const char *name;
    tensor (*of)(tensor *x);
    void (*gradients)(tensor g, tensor *x, struct wick_tensor **by);
    int n;              /* operands that it has gradients of, x[0] .. */
    int64_t shape[2];   /* of these */
    double low, spread; /* their values */
};

static const double weights[4] = {0.5, 1, 2, 0.25};
static tensor weight_of(void) { return wick_from_data(device, WICK_F64, WICK_SHAPE(4), weights, sizeof weights); }
static tensor ids_of(void) {
    const int64_t ids[3] = {2, 1, 3};
    return wick_from_data(device, WICK_I64, WICK_SHAPE(3), ids, sizeof ids);
}

static tensor mse(tensor *x) { return wick_mse_loss(x[0], x[1], WICK_LOSS_MEAN); }
static void mse_by(tensor g, tensor *x, struct wick_tensor **by) {
    by[0] = wick_mse_loss_backward(g, x[0], x[1], WICK_LOSS_MEAN, &by[1]);
}
static tensor l1(tensor *x) { return wick_l1_loss(x[0], x[1], WICK_LOSS_SUM); }
static void l1_by(tensor g, tensor *x, struct wick_tensor **by) {
    by[0] = wick_l1_loss_backward(g, x[0], x[1], WICK_LOSS_SUM, &by[1]);
}
static tensor smooth_l1(tensor *x) { return wick_smooth_l1_loss(x[0], x[1], 0.5, WICK_LOSS_SUM); }
static void smooth_l1_by(tensor g, tensor *x, struct wick_tensor **by) {
    by[0] = wick_smooth_l1_loss_backward(g, x[0], x[1], 0.5, WICK_LOSS_SUM, &by[1]);
}
static tensor huber(tensor *x) { return wick_huber_loss(x[0], x[1], 0.5, WICK_LOSS_MEAN); }
static void huber_by(tensor g, tensor *x, struct wick_tensor **by) {
    by[0] = wick_huber_loss_backward(g, x[0], x[1], 0.5, WICK_LOSS_MEAN, &by[1]);
}
static tensor kl_div(tensor *x) { return wick_kl_div_loss(x[0], x[1], false, WICK_LOSS_BATCH_MEAN); }
static void kl_div_by(tensor g, tensor *x, struct wick_tensor **by) {
    by[0] = wick_kl_div_loss_backward(g, x[0], x[1], false, WICK_LOSS_BATCH_MEAN, &by[1]);
}
static tensor kl_div_log(tensor *x) { return wick_kl_div_loss(x[0], x[1], true, WICK_LOSS_MEAN); }
static void kl_div_log_by(tensor g, tensor *x, struct wick_tensor **by) {
    by[0] = wick_kl_div_loss_backward(g, x[0], x[1], true, WICK_LOSS_MEAN, &by[1]);
}
static struct wick_binary_cross_entropy_options weighted(bool positive) {
    return (struct wick_binary_cross_entropy_options){.weight = positive ? NULL : weight_of(),
                                                      .pos_weight = positive ? weight_of() : NULL};
}
static tensor binary(tensor *x) {
    struct wick_binary_cross_entropy_options options = weighted(false);
    return wick_binary_cross_entropy(x[0], x[1], &options);
}
static void binary_by(tensor g, tensor *x, struct wick_tensor **by) {
    struct wick_binary_cross_entropy_options options = weighted(false);
    by[0] = wick_binary_cross_entropy_backward(g, x[0], x[1], &options, &by[1]);
}
static tensor logits(tensor *x) {
    struct wick_binary_cross_entropy_options options = weighted(true);
    return wick_binary_cross_entropy_with_logits(x[0], x[1], &options);
}
static void logits_by(tensor g, tensor *x, struct wick_tensor **by) {
    struct wick_binary_cross_entropy_options options = weighted(true);
    by[0] = wick_binary_cross_entropy_with_logits_backward(g, x[0], x[1], &options, &by[1]);
}

static struct wick_cross_entropy_options smoothed(void) {
    return (struct wick_cross_entropy_options){.weight = weight_of(), .smoothing = 0.25, .ignore = true, .ignored = 1};
}
static tensor classes(tensor *x) {
    struct wick_cross_entropy_options options = smoothed();
    return wick_cross_entropy(x[0], ids_of(), &options);
}
static void classes_by(tensor g, tensor *x, struct wick_tensor **by) {
    struct wick_tensor *log_sums = NULL, *total = NULL;
    struct wick_cross_entropy_options options = smoothed(), places = smoothed();
    places.log_sums = &log_sums;
    places.total_weight = &total;
    wick_cross_entropy(x[0], ids_of(), &places);
    by[0] = wick_cross_entropy_backward(g, x[0], ids_of(), log_sums, total, &options);
}
static tensor soft(tensor *x) {
    const struct wick_cross_entropy_options options = {.weight = weight_of(), .smoothing = 0.25};
    return wick_cross_entropy_soft(x[0], x[1], &options);
}
static void soft_by(tensor g, tensor *x, struct wick_tensor **by) {
    struct wick_tensor *log_sums = NULL;
    const struct wick_cross_entropy_options options = {.weight = weight_of(), .smoothing = 0.25};
    const struct wick_cross_entropy_options places = {.weight = weight_of(), .smoothing = 0.25, .log_sums = &log_sums};
    wick_cross_entropy_soft(x[0], x[1], &places);
    by[0] = wick_cross_entropy_soft_backward(g, x[0], x[1], log_sums, &options, &by[1]);
}
static tensor nll(tensor *x) {
    const struct wick_cross_entropy_options options = {.weight = weight_of()};
    return wick_nll_loss(x[0], ids_of(), &options);
}
static void nll_by(tensor g, tensor *x, struct wick_tensor **by) {
    struct wick_tensor *total = NULL;
    const struct wick_cross_entropy_options options = {.weight = weight_of()};
    const struct wick_cross_entropy_options places = {.weight = weight_of(), .total_weight = &total};
    wick_nll_loss(x[0], ids_of(), &places);
    by[0] = wick_nll_loss_backward(g, x[0], ids_of(), total, &options);
}

static tensor signs(void) {
    const double y[3] = {1, -1, 1};
    return wick_from_data(device, WICK_F64, WICK_SHAPE(3), y, sizeof y);
}
static const struct wick_cosine_options near = {.margin = -0.9};
static tensor cosine(tensor *x) { return wick_cosine_embedding_loss(x[0], x[1], signs(), &near); }
static void cosine_by(tensor g, tensor *x, struct wick_tensor **by) {
    by[0] = wick_cosine_embedding_loss_backward(g, x[0], x[1], signs(), &near, &by[1]);
}
static tensor triplet(tensor *x) { return wick_triplet_margin_loss(x[0], x[1], x[2], NULL); }
static void triplet_by(tensor g, tensor *x, struct wick_tensor **by) {
    const struct wick_triplet_options places = {
        .margin = 1, .epsilon = 1e-6, .positive_gradient = &by[1], .negative_gradient = &by[2]};
    by[0] = wick_triplet_margin_loss_backward(g, x[0], x[1], x[2], &places);
}
static const struct wick_triplet_options swapping = {.margin = 3, .p = 3, .swap = true, .reduction = WICK_LOSS_SUM};
static tensor triplet_swap(tensor *x) { return wick_triplet_margin_loss(x[0], x[1], x[2], &swapping); }
static void triplet_swap_by(tensor g, tensor *x, struct wick_tensor **by) {
    struct wick_triplet_options places = swapping;
    places.positive_gradient = &by[1];
    places.negative_gradient = &by[2];
    by[0] = wick_triplet_margin_loss_backward(g, x[0], x[1], x[2], &places);
}

/* Through a log_softmax, which makes the gradient the true one. [9,4] is [T,C]. */
static tensor ctc(tensor *x) { return wick_ctc_loss(wick_log_softmax(x[0], -1), ids_of(), NULL); }
static void ctc_by(tensor g, tensor *x, struct wick_tensor **by) {
    tensor y = wick_log_softmax(x[0], -1);
    by[0] = wick_log_softmax_backward(wick_ctc_loss_backward(g, y, ids_of(), NULL), y, -1);
}

static const struct loss losses[] = {
    {"mse", mse, mse_by, 2, {3, 4}, -2, 4},
    {"l1", l1, l1_by, 2, {3, 4}, -2, 4},
    {"smooth_l1", smooth_l1, smooth_l1_by, 2, {3, 4}, -1, 2},
    {"huber", huber, huber_by, 2, {3, 4}, -1, 2},
    {"kl_div", kl_div, kl_div_by, 2, {3, 4}, 0.125, 0.75},
    {"kl_div_log", kl_div_log, kl_div_log_by, 2, {3, 4}, -2, 2},
    {"binary", binary, binary_by, 2, {3, 4}, 0.125, 0.75},
    {"logits", logits, logits_by, 2, {3, 4}, -2, 4},
    {"cross_entropy", classes, classes_by, 1, {3, 4}, -2, 4},
    {"cross_entropy_soft", soft, soft_by, 2, {3, 4}, 0, 1},
    {"nll", nll, nll_by, 1, {3, 4}, -2, 2},
    {"cosine", cosine, cosine_by, 2, {3, 4}, -2, 4},
    {"triplet", triplet, triplet_by, 3, {3, 4}, -2, 4},
    {"triplet_swap", triplet_swap, triplet_swap_by, 3, {3, 4}, -2, 4},
    {"ctc", ctc, ctc_by, 1, {9, 4}, -2, 4},
};

static double value(const struct loss *l, double (*x)[36]) {
    tensor in[3];
    double y = 0;
    wick_scope_begin();
    for (int i = 0; i < l->n; i++)
        in[i] =
            wick_from_data(device, WICK_F64, 2, l->shape, x[i], sizeof(double) * (size_t)(l->shape[0] * l->shape[1]));
    CHECK_OK(wick_read(l->of(in), &y, sizeof y));
    wick_scope_end(NULL);
    return y;
}

static void check_gradients(const struct loss *l) {
    double x[3][36], got[36], step = 1e-5;
    int64_t count = l->shape[0] * l->shape[1];
    tensor in[3], g;
    struct wick_tensor *by[3] = {NULL};
    wick_scope_begin();
    for (int i = 0; i < l->n; i++) {
        in[i] = wick_uniform(device, WICK_F64, 2, l->shape, l->low, l->low + l->spread);
        CHECK_OK(wick_read(in[i], x[i], sizeof(double) * (size_t)count));
    }
    g = wick_full(device, WICK_F64, 0, NULL, WICK_REAL(1.5));
    l->gradients(g, in, by);
    for (int i = 0; i < l->n; i++) {
        CHECK_OK(wick_read(by[i], got, sizeof(double) * (size_t)count));
        for (int64_t k = 0; k < count; k++) {
            double at = x[i][k], side[2];
            for (int s = 0; s < 2; s++) {
                x[i][k] = at + (s ? step : -step);
                side[s] = value(l, x);
            }
            x[i][k] = at;
            CHECK_NEAR(got[k], 1.5 * (side[1] - side[0]) / (2 * step), 1e-7);
        }
    }
    wick_scope_end(NULL);
}

/* ---- extremes ---- */

static double scalar(tensor x) {
    double y = 0;
    CHECK_OK(wick_read(x ? wick_cast(x, WICK_F64) : NULL, &y, sizeof y));
    return y;
}

static tensor row(int n, const double *x) {
    const int64_t shape[2] = {1, n};
    return wick_cast(wick_from_data(device, WICK_F64, 2, shape, x, sizeof *x * (size_t)n), WICK_F32);
}

static void check_extremes(void) {
    wick_scope_begin();
    tensor none = wick_zeros(device, WICK_F32, WICK_SHAPE(0, 3)), no = wick_zeros(device, WICK_I64, WICK_SHAPE(0));
    struct wick_cross_entropy_options sum = {.reduction = WICK_LOSS_SUM};
    CHECK(isnan(scalar(wick_mse_loss(none, none, WICK_LOSS_MEAN))));
    CHECK(scalar(wick_mse_loss(none, none, WICK_LOSS_SUM)) == 0);
    CHECK(isnan(scalar(wick_cross_entropy(none, no, NULL))) && scalar(wick_cross_entropy(none, no, &sum)) == 0);
    /* The logarithm of a sum keeps the digits of a small loss, and of one of large elements. */
    tensor zero = wick_zeros(device, WICK_I64, WICK_SHAPE(1));
    CHECK_NEAR(scalar(wick_cross_entropy(row(2, (const double[]){20, 0}), zero, NULL)) / 2.0611536203e-9, 1, 1e-5);
    CHECK_NEAR(scalar(wick_cross_entropy(row(2, (const double[]){3e38, 3e38}), zero, NULL)), log(2), 1e-6);
    CHECK_NEAR(scalar(wick_cross_entropy(row(3, (const double[]){-(double)INFINITY, 0, -2}),
                                         wick_ones(device, WICK_I64, WICK_SHAPE(1)), NULL)),
               log1p(exp(-2)), 1e-6);
    CHECK(isnan(scalar(wick_cross_entropy(row(2, (const double[]){0, (double)INFINITY}), zero, NULL))));
    /* All rows ignored, by the number and by the sentinel. */
    const struct wick_cross_entropy_options ignored = {.ignore = true, .ignored = 0};
    CHECK(isnan(scalar(wick_cross_entropy(row(2, (const double[]){1, 2}), zero, &ignored))));
    const int64_t sentinel = INT64_MAX;
    sum.reduction = WICK_LOSS_SUM;
    tensor last = wick_from_data(device, WICK_I64, WICK_SHAPE(1), &sentinel, sizeof sentinel);
    CHECK(scalar(wick_cross_entropy(row(2, (const double[]){1, 2}), last, &sum)) == 0);
    /* Logits far from 0, and probabilities 0 and 1. */
    tensor far = row(2, (const double[]){80, -80}), target = row(2, (const double[]){1, 0});
    const struct wick_binary_cross_entropy_options total = {.reduction = WICK_LOSS_SUM};
    double y = scalar(wick_binary_cross_entropy_with_logits(far, target, &total));
    CHECK_NEAR(y / (2 * exp(-80)), 1, 1e-5);
    CHECK(scalar(wick_binary_cross_entropy(target, row(2, (const double[]){0, 1}), NULL)) == 100);
    CHECK(scalar(wick_kl_div_loss(row(1, (const double[]){-(double)INFINITY}), row(1, (const double[]){0}), false,
                                  WICK_LOSS_SUM)) == 0);
    wick_scope_end(NULL);
}

/* Of a long sequence, whose probability has no place in f64: all alignments of one label to T uniform steps. */
static void check_long_ctc(void) {
    double half = log(0.5), ways = log(3000.0 * 3001 / 2);
    wick_scope_begin();
    tensor x = wick_full(device, WICK_F64, WICK_SHAPE(3000, 2), WICK_REAL(half));
    tensor label = wick_ones(device, WICK_U8, WICK_SHAPE(1));
    CHECK_NEAR(scalar(wick_ctc_loss(x, label, NULL)), -3000 * half - ways, 1e-8);
    tensor g = wick_full(device, WICK_F64, 0, NULL, WICK_REAL(1));
    tensor by = wick_sum(wick_ctc_loss_backward(g, x, label, NULL), WICK_DIMS(-1), false);
    CHECK(scalar(wick_max(wick_abs(by), WICK_ALL_DIMS, false)) < 1e-9);
    wick_scope_end(NULL);
}

/* ---- rules ---- */

static void refuses(tensor result, enum wick_status status, const char *rule) {
    CHECK(!result && wick_error_status() == status);
    if (!strstr(wick_error(), rule)) CHECK_TEXT(wick_error(), rule);
    wick_error_clear();
}

/* A failure that is told when the result is read, if not before. */
static void fails_late(tensor result, const char *rule) {
    double y[64];
    enum wick_status status =
        result ? wick_read(wick_cast(wick_sum(result, WICK_ALL_DIMS, false), WICK_F64), y, 8) : wick_error_status();
    CHECK_INT(status, WICK_RANGE);
    if (!strstr(wick_error(), rule)) CHECK_TEXT(wick_error(), rule);
    wick_error_clear();
}

static void check_ids(void) {
    const int32_t wrong[3] = {2, -100, 4};
    wick_scope_begin();
    tensor x = wick_zeros(device, WICK_F32, WICK_SHAPE(3, 4)), g = wick_full(device, WICK_F32, 0, NULL, WICK_INT(1));
    tensor ids = wick_from_data(device, WICK_I32, WICK_SHAPE(3), wrong, sizeof wrong);
    const struct wick_cross_entropy_options ignore = {.ignore = true, .ignored = -100, .reduction = WICK_LOSS_SUM};
    fails_late(wick_cross_entropy(x, ids, NULL), "id -100 at position 1");
    fails_late(wick_cross_entropy(x, ids, &ignore), "id 4 at position 2");
    fails_late(wick_nll_loss(x, ids, &ignore), "id 4 at position 2");
    fails_late(wick_nll_loss_backward(g, x, ids, NULL, &ignore), "id 4 at position 2");
    fails_late(wick_ctc_loss(x, ids, NULL), "out of range for size 4");
    wick_scope_end(NULL);
}

static void check_rules(void) {
    const int64_t five[1] = {5}, two[3] = {2, 2, 1};
    wick_scope_begin();
    tensor x = wick_ones(device, WICK_F32, WICK_SHAPE(2, 3)), ids = wick_zeros(device, WICK_I64, WICK_SHAPE(2));
    tensor other = wick_ones(device, WICK_F32, WICK_SHAPE(3, 2)), g = wick_full(device, WICK_F32, 0, NULL, WICK_INT(1));
    const enum wick_reduction mean = WICK_LOSS_MEAN;
    const struct wick_binary_cross_entropy_options misfit = {.weight = other}, positive = {.pos_weight = x};
    refuses(wick_binary_cross_entropy(x, x, &positive), WICK_INVALID, "pos_weight is for logits");
    refuses(wick_mse_loss(x, other, mean), WICK_SHAPE, "x and target must have one shape");
    refuses(wick_mse_loss(x, x, WICK_LOSS_BATCH_MEAN), WICK_INVALID, "reduction 3 is not one of this op's");
    refuses(wick_huber_loss(x, x, 0, mean), WICK_INVALID, "delta 0 is not > 0");
    refuses(wick_smooth_l1_loss(x, x, -1, mean), WICK_INVALID, "beta -1 is not >= 0");
    refuses(wick_binary_cross_entropy(x, x, &misfit), WICK_SHAPE, "weight does not broadcast to x");
    refuses(wick_mse_loss_backward(x, x, x, mean, NULL), WICK_SHAPE, "gradient must be []");
    refuses(wick_mse_loss_backward(NULL, x, x, mean, NULL), WICK_INVALID, "gradient");
    const struct wick_cross_entropy_options much = {.smoothing = 1.5}, some = {.smoothing = 0.5};
    const struct wick_cross_entropy_options ignore = {.ignore = true}, weighted = {.weight = ids};
    refuses(wick_cross_entropy(x, other, NULL), WICK_DTYPE, "ids");
    refuses(wick_cross_entropy(other, ids, NULL), WICK_SHAPE, "ids must be [3]");
    refuses(wick_cross_entropy(x, ids, &much), WICK_INVALID, "smoothing 1.5 is not in 0..1");
    refuses(wick_cross_entropy(x, ids, &weighted), WICK_DTYPE, "weight");
    refuses(wick_nll_loss(x, ids, &some), WICK_INVALID, "there is no smoothing");
    refuses(wick_cross_entropy_soft(x, x, &ignore), WICK_INVALID, "probabilities have no ignored id");
    refuses(wick_nll_loss_backward(g, x, ids, NULL, NULL), WICK_INVALID, "the mean needs total_weight");
    refuses(wick_cosine_embedding_loss(x, x, x, NULL), WICK_SHAPE, "y must be [N]");
    refuses(wick_triplet_margin_loss(x, x, other, NULL), WICK_SHAPE, "of one shape");
    const struct wick_ctc_options blank = {.blank = 3}, many = {.input_lengths = two, .n_input_lengths = 2};
    const struct wick_ctc_options tall = {.input_lengths = five, .n_input_lengths = 1};
    const struct wick_ctc_options wide = {.target_lengths = five, .n_target_lengths = 1};
    const struct wick_ctc_options few = {.target_lengths = two + 2, .n_target_lengths = 1};
    refuses(wick_ctc_loss(x, ids, &many), WICK_SHAPE, "there are 2 input_lengths for 1 sequences");
    refuses(wick_ctc_loss(x, ids, &tall), WICK_RANGE, "input_lengths[0] is 5, not in 0..2");
    refuses(wick_ctc_loss(x, ids, &wide), WICK_RANGE, "target_lengths[0] is 5, not in 0..2");
    refuses(wick_ctc_loss(x, ids, &few), WICK_SHAPE, "target_lengths add up to 1");
    refuses(wick_ctc_loss(x, ids, &blank), WICK_RANGE, "blank 3 is not in 0..2");
    refuses(wick_ctc_loss(NULL, ids, NULL), WICK_INVALID, "log_probs");
    refuses(wick_ctc_loss_backward(x, x, ids, NULL), WICK_SHAPE, "gradient must be []");
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) test_skip(wick_error());
    CHECK_OK(wick_seed_set(device, 7));
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) check_gradients(&losses[i]);
    check_extremes();
    check_long_ctc();
    check_ids();
    check_rules();
    wick_device_close(device);
    return test_end();
}
