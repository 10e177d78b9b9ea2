/* Cases of linear_experts: x, weight, ids, and bias or none; i[0] is the activation. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>

/* T, U, S (1 or U), E, N, K. */
static const int64_t shapes[][6] = {
    {1, 1, 1, 1, 4, 8}, {3, 2, 1, 4, 5, 16}, {7, 3, 3, 5, 33, 20}, {0, 2, 1, 3, 4, 5}, {20, 2, 1, 9, 16, 32}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int experts_cases(enum wick_op op) {
    (void)op;
    return 2 * SHAPES;
}

static void experts_make(enum wick_op op, int k, struct verify_case *c) {
    const int64_t *s = shapes[k % SHAPES];
    (void)op;
    c->n_in = 4;
    c->n_out = 1;
    c->in[0] =
        (struct verify_operand){.role = VERIFY_VALUE, .rank = 3, .shape = {s[0], s[2], s[5]}, .low = -2, .high = 2};
    c->in[1] =
        (struct verify_operand){.role = VERIFY_VALUE, .rank = 3, .shape = {s[3], s[4], s[5]}, .low = -2, .high = 2};
    c->in[2] = (struct verify_operand){
        .role = VERIFY_INDEX, .rank = 2, .shape = {s[0], s[1]}, .low = 0, .high = (double)(s[3] - 1)};
    c->in[3] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2, .shape = {s[3], s[4]}, .low = -2, .high = 2};
    if (k >= SHAPES) c->in[3].role = VERIFY_ABSENT;
    c->i[0] = k % 2 ? WICK_ACTIVATION_RELU : WICK_ACTIVATION_NONE;
}

static bool experts_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_linear_options options = {.activation = (enum wick_activation)c->i[0]};
    out[0] = wick_linear_experts(in[0], in[1], in[2], in[3], &options);
    return out[0] != NULL;
}

static bool experts_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t used = in[2].shape[1], n = in[1].shape[1], width = in[0].shape[2];
    if (!verify_array_new(out, c->dtype, 3, (const int64_t[]){in[2].shape[0], used, n}, true)) return false;
    for (int64_t p = 0; p < out->count; p++) {
        int64_t row = p / n, expert = (int64_t)in[2].data[row], j = p % n;
        const double *x = in[0].data + (in[0].shape[1] == 1 ? row / used : row) * width;
        const double *w = in[1].data + (expert * n + j) * width;
        double sum = c->in[3].role == VERIFY_ABSENT ? 0 : in[3].data[expert * n + j], scale = fabs(sum);
        for (int64_t k = 0; k < width; k++) {
            sum += x[k] * w[k];
            scale += fabs(x[k] * w[k]);
        }
        out->data[p] = c->i[0] == WICK_ACTIVATION_RELU && sum < 0 ? 0 : sum;
        out->scale[p] = verify_scale_products(scale, (double)width);
    }
    return true;
}

const struct verify_family verify_experts = {.name = "experts",
                                             .cases = experts_cases,
                                             .make = experts_make,
                                             .call = experts_call,
                                             .reference = experts_reference};
