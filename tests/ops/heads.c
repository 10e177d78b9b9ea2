/* Attention of other ranks, what dropout and gradients of masks refuse, and multi-head attention's refusals. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { B = 6, H = 2, M = 4, N = 5, D = 3 };

static void refused(const struct wick_tensor *result, enum wick_status status, const char *part) {
    CHECK(result == NULL);
    CHECK_INT(wick_error_status(), status);
    CHECK(strstr(wick_error(), part) != NULL);
    wick_error_clear();
}

static bool same(const struct wick_tensor *a, const struct wick_tensor *b) {
    double x[512], y[512];
    size_t nbytes = (size_t)wick_tensor_count(a) * sizeof *x;
    if (!a || !b || nbytes > sizeof x || wick_tensor_count(a) != wick_tensor_count(b)) return false;
    return wick_read(a, x, nbytes) == WICK_OK && wick_read(b, y, nbytes) == WICK_OK && memcmp(x, y, nbytes) == 0;
}

/* Batches of [2,3] have the elements of a batch of 6, and a head alone those of a batch of one. */
static void ranks(struct wick_device *cpu) {
    wick_scope_begin();
    struct wick_tensor *q = wick_normal(cpu, WICK_F64, WICK_SHAPE(B, H, M, D), 0, 1);
    struct wick_tensor *k = wick_normal(cpu, WICK_F64, WICK_SHAPE(B, H, N, D), 0, 1);
    struct wick_tensor *v = wick_normal(cpu, WICK_F64, WICK_SHAPE(B, H, N, D), 0, 1);
    struct wick_tensor *mask = wick_normal(cpu, WICK_F64, WICK_SHAPE(3, 1, M, N), 0, 1);
    struct wick_tensor *wide = wick_reshape(wick_broadcast_to(mask, WICK_SHAPE(2, 3, 1, M, N)), WICK_SHAPE(B, 1, M, N));
    struct wick_tensor *sums[2] = {NULL, NULL}, *dk[2], *dv[2], *dm[2];
    struct wick_attention_options four = {.causal = true, .log_sums = &sums[0]}, five = four;
    five.log_sums = &sums[1];
    struct wick_tensor *y = wick_scaled_dot_product_attention(q, k, v, wide, &four);
    struct wick_tensor *q5 = wick_reshape(q, WICK_SHAPE(2, 3, H, M, D)),
                       *k5 = wick_reshape(k, WICK_SHAPE(2, 3, H, N, D));
    struct wick_tensor *v5 = wick_reshape(v, WICK_SHAPE(2, 3, H, N, D));
    struct wick_tensor *y5 = wick_scaled_dot_product_attention(q5, k5, v5, mask, &five);
    CHECK(same(y, y5) && same(sums[0], sums[1]) && wick_tensor_rank(y5) == 5 && wick_tensor_rank(sums[1]) == 4);
    const struct wick_attention_options plain = {.causal = true};
    struct wick_attention_backward back = {.result = y,
                                           .log_sums = sums[0],
                                           .mask = wide,
                                           .function = &plain,
                                           .k_gradient = &dk[0],
                                           .v_gradient = &dv[0],
                                           .mask_gradient = &dm[0]},
                                   back5 = {.result = y5,
                                            .log_sums = sums[1],
                                            .mask = mask,
                                            .function = &plain,
                                            .k_gradient = &dk[1],
                                            .v_gradient = &dv[1],
                                            .mask_gradient = &dm[1]};
    struct wick_tensor *dq = wick_scaled_dot_product_attention_backward(y, q, k, v, &back);
    struct wick_tensor *dq5 = wick_scaled_dot_product_attention_backward(y5, q5, k5, v5, &back5);
    CHECK(same(dq, dq5) && same(dk[0], dk[1]) && same(dv[0], dv[1]) && wick_tensor_rank(dq5) == 5);
    struct wick_tensor *sum = wick_sum(wick_reshape(dm[0], WICK_SHAPE(2, 3, 1, M, N)), WICK_DIMS(0), false);
    CHECK(same(sum, dm[1]));
    struct wick_tensor *one = wick_scaled_dot_product_attention(wick_select(q, 0, 0), wick_select(k, 0, 0),
                                                                wick_select(v, 0, 0), wick_select(wide, 0, 0), &plain);
    CHECK(same(one, wick_select(y, 0, 0)) && wick_tensor_rank(one) == 3);
    wick_scope_end(NULL);
}

static void refusals(struct wick_device *cpu) {
    wick_scope_begin();
    struct wick_tensor *x = wick_ones(cpu, WICK_F32, WICK_SHAPE(1, 2, 3, 4)), *m = NULL;
    struct wick_tensor *starts = wick_zeros(cpu, WICK_I32, WICK_SHAPE(2)),
                       *seen = wick_ones(cpu, WICK_U8, WICK_SHAPE(3, 3));
    const struct wick_attention_options all = {.dropout = 1}, half = {.dropout = 0.5}, none = {.dropout = NAN};
    struct wick_tensor *row = wick_ones(cpu, WICK_F32, WICK_SHAPE(1, 3, 4)),
                       *e = wick_ones(cpu, WICK_F32, WICK_SHAPE(4, 4));
    refused(wick_scaled_dot_product_attention(x, x, x, NULL, &all), WICK_INVALID, "dropout 1 is not in 0 .. 1");
    refused(wick_scaled_dot_product_attention(x, x, x, NULL, &none), WICK_INVALID, "dropout nan is not in 0 .. 1");
    refused(wick_attention_packed(row, row, row, starts, starts, &half), WICK_INVALID, "packed, which have none");
    const struct wick_attention_backward back = {.result = x, .log_sums = x, .mask = seen, .mask_gradient = &m};
    refused(wick_scaled_dot_product_attention_backward(x, x, x, x, &back), WICK_INVALID, "no mask is added");
    refused(wick_multi_head_attention(row, row, row, NULL), WICK_INVALID, "options are NULL");
    refused(wick_multi_head_attention(row, row, row, &(struct wick_multi_head_options){.heads = 3, .out_weight = e}),
            WICK_SHAPE, "heads do not divide the features");
    refused(wick_multi_head_attention(row, row, row, &(struct wick_multi_head_options){.heads = 2, .out_weight = e}),
            WICK_INVALID, "either in_weight or q_weight, k_weight and v_weight");
    refused(wick_multi_head_attention(row, row, row,
                                      &(struct wick_multi_head_options){.heads = 2, .in_weight = e, .out_weight = e}),
            WICK_SHAPE, "in_weight is not [3 E,E]");
    wick_scope_end(NULL);
}

int main(void) {
    struct wick_device *cpu = wick_device_open("cpu");
    ranks(cpu);
    refusals(cpu);
    wick_device_close(cpu);
    return test_end();
}
