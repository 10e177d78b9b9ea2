/* Bags of ids, draws by weight, sources by id: what is refused, sentinels, and how often an index comes. */
#include "tests/test.h"

#include <math.h>

static void refusals(struct wick_device *cpu) {
    wick_scope_begin();
    struct wick_tensor *x = wick_ones(cpu, WICK_F32, WICK_SHAPE(2, 3)), *y = x;
    struct wick_tensor *ids = wick_zeros(cpu, WICK_I64, WICK_SHAPE(2, 2)),
                       *list = wick_zeros(cpu, WICK_U8, WICK_SHAPE(4));
    struct wick_tensor *weights = wick_ones(cpu, WICK_F32, WICK_SHAPE(2, 2));
    CHECK_FAILS(
        wick_embedding_bag(x, list, NULL), WICK_SHAPE,
        "embedding_bag: weight [2,3] f32, ids [4] u8 on cpu: ids must be [N] with offsets [B], or [B,L] without");
    CHECK_FAILS(wick_embedding_bag(x, ids, &(struct wick_bag_options){.padded = true, .padding = 2}), WICK_RANGE,
                "embedding_bag: weight [2,3] f32, ids [2,2] i64 on cpu: padding is no row of weight");
    CHECK_FAILS(wick_embedding_bag(x, ids, &(struct wick_bag_options){.mode = WICK_BAG_MAX, .weights = weights}),
                WICK_INVALID,
                "embedding_bag: weight [2,3] f32, ids [2,2] i64, weights [2,2] f32 on cpu: weights are for sums");
    CHECK_FAILS(wick_embedding_bag_backward(x, x, ids, NULL, &y), WICK_INVALID,
                "embedding_bag_backward: gradient [2,3] f32, weight [2,3] f32, ids [2,2] i64 on cpu: the gradient of "
                "weights is wanted, and there are none");
    CHECK(y == x);
    CHECK_FAILS(
        wick_embedding_backward(x, ids, 3, -1), WICK_SHAPE,
        "embedding_backward: gradient [2,3] f32, ids [2,2] i64 on cpu: gradient must have the shape of ids and one "
        "more dim, and rows, 3, not be negative");
    CHECK_FAILS(
        wick_multinomial(x, 4, false), WICK_INVALID,
        "multinomial: weights [2,3] f32 on cpu: 4 draws without replacement of 3 weights, of which there may be "
        "16777216");
    CHECK_FAILS(wick_scatter_reduce(x, 0, ids, x, (enum wick_scatter_kind)9, true), WICK_INVALID,
                "scatter_reduce: x [2,3] f32, ids [2,2] i64, source [2,3] f32 on cpu: kind 9 is none of enum "
                "wick_scatter_kind");
    CHECK_FAILS(
        wick_index_reduce(x, 1, ids, x, WICK_SCATTER_SUM, true), WICK_SHAPE,
        "index_reduce: x [2,3] f32, ids [2,2] i64, source [2,3] f32 on cpu: ids must have rank 1, and source the "
        "shape of x with their count along dim 1");
    CHECK_FAILS(
        wick_glu_backward(x, x, 0), WICK_SHAPE,
        "glu_backward: gradient [2,3] f32, x [2,3] f32 on cpu: the halves of x along dim 0 do not have the shape "
        "of gradient");
    CHECK_FAILS(
        wick_einsum("...i,...i", 2, (struct wick_tensor *[]){x, wick_ones(cpu, WICK_F32, WICK_SHAPE(3, 3))}),
        WICK_SHAPE,
        "einsum: operands[0] [2,3] f32, operands[i] [3,3] f32 on cpu: the dims of ... do not broadcast: 2, and 3 "
        "in operand 1");
    wick_scope_end(NULL);
}

/* Sentinels count for nothing, in either direction. */
static void sentinels(struct wick_device *cpu) {
    const uint8_t values[] = {1, 255, 0, 255, 255, 1};
    double mean[6], back[6];
    wick_scope_begin();
    struct wick_tensor *weight = wick_arange(cpu, WICK_F64, WICK_INT(1), WICK_INT(5), WICK_INT(1));
    struct wick_tensor *ids = wick_from_data(cpu, WICK_U8, WICK_SHAPE(3, 2), values, sizeof values);
    const struct wick_bag_options options = {.mode = WICK_BAG_MEAN};
    weight = wick_reshape(weight, WICK_SHAPE(2, 2)); /* 1 2, 3 4 */
    struct wick_tensor *y = wick_embedding_bag(weight, ids, &options);
    CHECK_OK(wick_read(y, mean, sizeof mean));
    CHECK(mean[0] == 3 && mean[1] == 4 && mean[2] == 1 && mean[3] == 2 && mean[4] == 3 && mean[5] == 4);
    struct wick_tensor *g = wick_embedding_backward(wick_ones(cpu, WICK_F64, WICK_SHAPE(3, 2, 2)), ids, 3, 0);
    CHECK_OK(wick_read(g, back, sizeof back));
    CHECK(back[0] == 0 && back[1] == 0 && back[2] == 2 && back[3] == 2 && back[4] == 0 && back[5] == 0);
    wick_scope_end(NULL);
}

/* Of 30000 draws by weights 1 2 0 5, each index comes as often as its weight says, within five deviations. */
static void often(struct wick_device *cpu, bool replacement) {
    const double weights[] = {1, 2, 0, 5};
    enum { DRAWS = 30000 };
    static int64_t drawn[DRAWS];
    int64_t count[4] = {0};
    wick_scope_begin();
    CHECK_OK(wick_seed_set(cpu, 7));
    struct wick_tensor *row = wick_from_data(cpu, WICK_F64, WICK_SHAPE(1, 4), weights, sizeof weights);
    struct wick_tensor *y = wick_multinomial(wick_broadcast_to(row, WICK_SHAPE(DRAWS, 4)), 1, replacement);
    CHECK_OK(wick_read(y, drawn, sizeof drawn));
    for (int i = 0; i < DRAWS; i++)
        if (drawn[i] >= 0 && drawn[i] < 4) count[drawn[i]]++;
    for (int i = 0; i < 4; i++) {
        double p = weights[i] / 8, expected = DRAWS * p;
        CHECK(fabs((double)count[i] - expected) <= 5 * sqrt(expected * (1 - p)));
    }
    wick_scope_end(NULL);
}

int main(void) {
    struct wick_device *cpu = wick_device_open("cpu");
    refusals(cpu);
    sentinels(cpu);
    often(cpu, true);
    often(cpu, false);
    wick_device_close(cpu);
    return test_end();
}
