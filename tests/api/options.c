/* Structs that may grow: room at their end that changes nothing when it is zero and is refused otherwise; facts that
 * the library fills end in zeros. */
#include "tests/test.h"

static struct wick_device *cpu;

/* An older program's struct is this library's with zeros in the room: it keeps its size. */
_Static_assert(sizeof(struct { WICK_RESERVED; }) == 64, "the room is eight words");
_Static_assert(offsetof(struct wick_conv_options, reserved) + 64 == sizeof(struct wick_conv_options), "at the end");

#define LATER(op) op ": the options are of a later version: word 7 of `reserved` is not 0"

static void check_ops(void) {
    wick_scope_begin();
    struct wick_tensor *x = wick_ones(cpu, WICK_F32, WICK_SHAPE(1, 2, 4, 4)), *w = wick_slice(x, 2, 0, 2, 1);
    struct wick_tensor *two = wick_ones(cpu, WICK_F32, WICK_SHAPE(2));
    CHECK(wick_conv2d(x, w, NULL, &(struct wick_conv_options){.groups = 0}) != NULL);
    CHECK_FAILS(wick_conv2d(x, w, NULL, &(struct wick_conv_options){.reserved = {[7] = 1}}), WICK_INVALID,
                LATER("conv2d"));
    CHECK_FAILS(wick_conv_transpose2d(x, w, NULL, &(struct wick_conv_options){.reserved = {[7] = 1}}), WICK_INVALID,
                LATER("conv_transpose2d"));
    CHECK_FAILS(wick_max_pool2d(x, WICK_SHAPE(2, 2), &(struct wick_pool_options){.reserved = {[7] = 1}}), WICK_INVALID,
                LATER("max_pool2d"));
    CHECK_FAILS(wick_upsample_nearest2d(x, WICK_SHAPE(2, 2), &(struct wick_upsample_options){.reserved = {[7] = 1}}),
                WICK_INVALID, LATER("upsample_nearest2d"));
    CHECK_FAILS(wick_batch_norm(x, two, two, &(struct wick_batch_norm_options){.reserved = {[7] = 1}}), WICK_INVALID,
                LATER("batch_norm"));
    const struct wick_norm_options later = {.reserved = {[7] = 1}};
    CHECK_FAILS(wick_layer_norm_with(x, 1, &later), WICK_INVALID, LATER("layer_norm"));
    CHECK_FAILS(wick_rms_norm_with(x, &later), WICK_INVALID, LATER("rms_norm"));
    CHECK_FAILS(wick_group_norm_with(x, 2, &later), WICK_INVALID, LATER("group_norm"));
    const struct wick_norm_backward_options beyond = {.reserved = {[7] = 1}};
    CHECK_FAILS(wick_layer_norm_backward(x, x, x, x, 1, &beyond), WICK_INVALID, LATER("layer_norm_backward"));
    CHECK_FAILS(wick_rms_norm_backward(x, x, x, &beyond), WICK_INVALID, LATER("rms_norm_backward"));
    CHECK_FAILS(wick_group_norm_backward(x, x, x, x, 2, &beyond), WICK_INVALID, LATER("group_norm_backward"));
    const int64_t sizes[2] = {2, 2};
    const struct wick_pool_options more = {.reserved = {[7] = 1}};
    CHECK_FAILS(wick_avg_pool2d_backward(x, 2, sizes, sizes, &more), WICK_INVALID, LATER("avg_pool2d_backward"));
    const struct wick_conv_options windows = {.reserved = {[7] = 1}};
    CHECK_FAILS(wick_conv2d_backward_input(x, x, 2, sizes, &windows), WICK_INVALID, LATER("conv2d_backward_input"));
    CHECK_FAILS(wick_conv2d_backward_weight(x, x, 2, sizes, &windows), WICK_INVALID, LATER("conv2d_backward_weight"));
    CHECK_FAILS(wick_batch_norm_train(x, &(struct wick_batch_norm_train_options){.reserved = {[7] = 1}}), WICK_INVALID,
                LATER("batch_norm_train"));
    CHECK_FAILS(wick_batch_norm_backward(x, x, x, x, true, &beyond), WICK_INVALID, LATER("batch_norm_backward"));
    CHECK_FAILS(wick_dropout_with(x, 0.5, &(struct wick_dropout_options){.reserved = {[7] = 1}}), WICK_INVALID,
                LATER("dropout"));
    CHECK_FAILS(
        wick_scaled_dot_product_attention(x, x, x, NULL, &(struct wick_attention_options){.reserved = {[7] = 1}}),
        WICK_INVALID, LATER("scaled_dot_product_attention"));
    struct wick_tensor *ids = wick_zeros(cpu, WICK_I64, WICK_SHAPE(2)),
                       *rows = wick_ones(cpu, WICK_F32, WICK_SHAPE(2, 3));
    CHECK_FAILS(wick_cross_entropy(rows, ids, &(struct wick_cross_entropy_options){.reserved = {[7] = 1}}),
                WICK_INVALID, LATER("cross_entropy"));
    CHECK_FAILS(
        wick_binary_cross_entropy(rows, rows, &(struct wick_binary_cross_entropy_options){.reserved = {[7] = 1}}),
        WICK_INVALID, LATER("binary_cross_entropy"));
    CHECK_FAILS(wick_cosine_embedding_loss(rows, rows, rows, &(struct wick_cosine_options){.reserved = {[7] = 1}}),
                WICK_INVALID, LATER("cosine_embedding_loss"));
    CHECK_FAILS(wick_triplet_margin_loss(rows, rows, rows, &(struct wick_triplet_options){.reserved = {[7] = 1}}),
                WICK_INVALID, LATER("triplet_margin_loss"));
    CHECK_FAILS(wick_ctc_loss(rows, ids, &(struct wick_ctc_options){.reserved = {[7] = 1}}), WICK_INVALID,
                LATER("ctc_loss"));
    CHECK_FAILS(wick_scaled_dot_product_attention_backward(x, x, x, x,
                                                           &(struct wick_attention_backward){.reserved = {[7] = 1}}),
                WICK_INVALID, LATER("scaled_dot_product_attention_backward"));
    const struct wick_cell_backward_options after = {.reserved = {[7] = 1}};
    struct wick_tensor *row = wick_reshape(x, WICK_SHAPE(1, 16)), *part = wick_narrow(row, 1, 0, 4), *y = NULL,
                       *z = NULL;
    CHECK_FAILS(wick_lstm_cell_backward(part, row, part, part, &after, &y), WICK_INVALID, LATER("lstm_cell_backward"));
    CHECK_FAILS(wick_gru_cell_backward(part, row, part, &after, &y, &z), WICK_INVALID, LATER("gru_cell_backward"));
    wick_scope_end(NULL);
}

static void check_resampling(void) {
    wick_scope_begin();
    struct wick_tensor *x = wick_ones(cpu, WICK_F32, WICK_SHAPE(1, 2, 4, 4));
    const int64_t sizes[2] = {2, 2};
    const struct wick_pool_options more = {.reserved = {[7] = 1}};
    const struct wick_conv_options windows = {.reserved = {[7] = 1}};
    const struct wick_upsample_options resized = {.reserved = {[7] = 1}};
    CHECK_FAILS(wick_upsample_nearest_exact(x, 2, sizes, &resized), WICK_INVALID, LATER("upsample_nearest_exact"));
    CHECK_FAILS(wick_upsample_bicubic2d(x, 2, sizes, &resized), WICK_INVALID, LATER("upsample_bicubic2d"));
    CHECK_FAILS(wick_upsample_linear_backward(x, 2, sizes, &resized), WICK_INVALID, LATER("upsample_linear_backward"));
    CHECK_FAILS(wick_lp_pool(x, 2, 2, sizes, &more), WICK_INVALID, LATER("lp_pool"));
    CHECK_FAILS(wick_lp_pool_backward(x, x, 2, 2, sizes, &more), WICK_INVALID, LATER("lp_pool_backward"));
    CHECK_FAILS(wick_im2col(x, 2, sizes, &windows), WICK_INVALID, LATER("im2col"));
    CHECK_FAILS(wick_col2im(x, 2, sizes, sizes, &windows), WICK_INVALID, LATER("col2im"));
    const struct wick_grid_sample_options sampled = {.reserved = {[7] = 1}};
    struct wick_tensor *grid = wick_zeros(cpu, WICK_F32, WICK_SHAPE(1, 4, 4, 2));
    CHECK_FAILS(wick_grid_sample(x, grid, &sampled), WICK_INVALID, LATER("grid_sample"));
    CHECK_FAILS(wick_grid_sample_backward_input(x, grid, 2, sizes, &sampled), WICK_INVALID,
                LATER("grid_sample_backward_input"));
    CHECK_FAILS(wick_grid_sample_backward_grid(x, x, grid, &sampled), WICK_INVALID, LATER("grid_sample_backward_grid"));
    const struct wick_response_options response = {.reserved = {[7] = 1}};
    CHECK_FAILS(wick_local_response_norm(x, &response), WICK_INVALID, LATER("local_response_norm"));
    CHECK_FAILS(wick_local_response_norm_backward(x, x, &response), WICK_INVALID,
                LATER("local_response_norm_backward"));
    wick_scope_end(NULL);
}

static void check_files(void) {
    struct wick_archive_options options = {.reserved = {[7] = 1}}, limits = {.limits = {.reserved = {[7] = 1}}};
    CHECK_FAILS(wick_archive_open_memory("x", 1, &options), WICK_INVALID, LATER("archive_open"));
    CHECK_FAILS(wick_archive_open_memory("x", 1, &limits), WICK_INVALID, LATER("archive_open"));
    CHECK_FAILS(wick_embedder_open_with("none", cpu, &(struct wick_embedder_options){.reserved = {[7] = 1}}),
                WICK_INVALID, LATER("embedder_open"));
}

/* The same numbers. Tensors are the scope's. */
static void check_same(const struct wick_tensor *a, const struct wick_tensor *b) {
    float x[64] = {0}, y[64] = {0};
    bool fit = a && b && wick_tensor_count(a) == wick_tensor_count(b) && wick_tensor_count(a) <= 64;
    CHECK(fit);
    if (!fit) return;
    CHECK_OK(wick_read(a, x, (size_t)wick_tensor_count(a) * sizeof *x));
    CHECK_OK(wick_read(b, y, (size_t)wick_tensor_count(b) * sizeof *y));
    CHECK_BYTES(x, y, sizeof x);
}

/* What 0 stands for, as conv.h has it: stride, dilation and groups 1, in pooling the kernel as stride. */
static void check_zeros(void) {
    const struct wick_conv_options ones = {.stride = {1, 1}, .dilation = {1, 1}, .groups = 1}, zeros = {.groups = 0};
    const struct wick_pool_options windows = {.stride = {2, 2}, .dilation = {1, 1}}, none = {.stride = {0}};
    wick_scope_begin();
    struct wick_tensor *x =
        wick_reshape(wick_arange(cpu, WICK_F32, WICK_INT(0), WICK_INT(32), WICK_INT(1)), WICK_SHAPE(1, 2, 4, 4));
    struct wick_tensor *w = wick_slice(x, 2, 0, 2, 1);
    check_same(wick_conv2d(x, w, NULL, &zeros), wick_conv2d(x, w, NULL, &ones));
    check_same(wick_conv2d(x, w, NULL, NULL), wick_conv2d(x, w, NULL, &ones));
    struct wick_tensor *across = wick_reshape(w, WICK_SHAPE(2, 1, 2, 4));
    check_same(wick_conv_transpose2d(x, across, NULL, &zeros), wick_conv_transpose2d(x, across, NULL, &ones));
    check_same(wick_max_pool2d(x, WICK_SHAPE(2, 2), &none), wick_max_pool2d(x, WICK_SHAPE(2, 2), &windows));
    check_same(wick_avg_pool2d(x, WICK_SHAPE(2, 2), NULL), wick_avg_pool2d(x, WICK_SHAPE(2, 2), &windows));
    wick_scope_end(NULL);
}

static bool zero(const uint64_t *reserved) {
    for (int i = 0; i < 8; i++)
        if (reserved[i]) return false;
    return true;
}

static void check_facts(void) {
    struct wick_device_info info;
    struct wick_memory memory;
    memset(&info, 0xff, sizeof info);
    memset(&memory, 0xff, sizeof memory);
    CHECK_OK(wick_device_describe(cpu, &info));
    CHECK_OK(wick_memory_stats(cpu, &memory));
    CHECK(zero(info.reserved) && zero(memory.reserved));
}

int main(void) {
    cpu = wick_device_open("cpu");
    check_ops();
    check_resampling();
    check_zeros();
    check_files();
    check_facts();
    wick_device_close(cpu);
    return test_end();
}
