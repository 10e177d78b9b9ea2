/* Arithmetic on layouts. */
#include "tests/test.h"

#include "core/checked.h"
#include "core/layout.h"

static void check_new(void) {
    struct wick__layout layout;
    CHECK_OK(wick__layout_new(&layout, "t", WICK_SHAPE(2, 3, 4)));
    CHECK(layout.stride[0] == 12 && layout.stride[1] == 4 && layout.stride[2] == 1 && layout.offset == 0);
    CHECK_INT(wick__layout_count(&layout), 24);
    CHECK_OK(wick__layout_new(&layout, "t", 0, NULL));
    CHECK_INT(wick__layout_count(&layout), 1);
    CHECK_OK(wick__layout_new(&layout, "t", WICK_SHAPE(3, 0, 4)));
    CHECK_INT(wick__layout_count(&layout), 0);
    CHECK(wick__layout_is_contiguous(&layout));
    CHECK_OK(wick__layout_new(&layout, "t", WICK_SHAPE(1, 1, 1, 1, 1, 1, 1, 1)));
    CHECK_FAILS(wick__layout_new(&layout, "t", WICK_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1)), WICK_INVALID,
                "t: rank 9 is not in 0..8");
    CHECK_FAILS(wick__layout_new(&layout, "t", -1, NULL), WICK_INVALID, "t: rank -1 is not in 0..8");
    CHECK_FAILS(wick__layout_new(&layout, "t", 2, NULL), WICK_INVALID, "t: shape is NULL but rank is 2");
    CHECK_FAILS(wick__layout_new(&layout, "t", WICK_SHAPE(2, -3)), WICK_INVALID, "t: shape [2,-3] has a negative size");
    CHECK_FAILS(wick__layout_new(&layout, "t", WICK_SHAPE(INT64_C(1) << 32, INT64_C(1) << 32)), WICK_OVERFLOW,
                "t: shape [4294967296,4294967296] has more elements than 64 bits can address");
    CHECK_FAILS(wick__layout_new(&layout, "t", WICK_SHAPE(INT64_MAX)), WICK_OVERFLOW,
                "t: shape [9223372036854775807] has more elements than 64 bits can address");
    /* Also when another size is 0. */
    CHECK_FAILS(wick__layout_new(&layout, "t", WICK_SHAPE(INT64_C(1) << 40, INT64_C(1) << 40, 0)), WICK_OVERFLOW,
                "t: shape [1099511627776,1099511627776,0] has more elements than 64 bits can address");
}

static void check_broadcast(void) {
    struct wick__layout a, b, wide;
    int rank;
    int64_t shape[WICK_MAX_RANK];
    CHECK_OK(wick__layout_new(&a, "t", WICK_SHAPE(5, 1, 3)));
    CHECK_OK(wick__layout_new(&b, "t", WICK_SHAPE(4, 1)));
    CHECK(wick__shape_broadcast(&a, &b, &rank, shape));
    CHECK(rank == 3 && shape[0] == 5 && shape[1] == 4 && shape[2] == 3);
    CHECK(wick__layout_expand(&b, rank, shape, &wide));
    CHECK(wide.stride[0] == 0 && wide.stride[1] == 1 && wide.stride[2] == 0);
    CHECK_OK(wick__layout_new(&b, "t", WICK_SHAPE(2, 3)));
    CHECK(!wick__shape_broadcast(&a, &b, &rank, shape) || shape[1] == 2);
    CHECK_OK(wick__layout_new(&b, "t", WICK_SHAPE(2)));
    CHECK(!wick__shape_broadcast(&a, &b, &rank, shape));
    CHECK(!wick__layout_expand(&a, WICK_SHAPE(1, 3), &wide));
    CHECK(!wick__layout_expand(&a, WICK_SHAPE(5, 2, 4), &wide));
    /* A size of 0 broadcasts with 1, not with others. */
    CHECK_OK(wick__layout_new(&b, "t", WICK_SHAPE(0, 1)));
    CHECK(wick__shape_broadcast(&a, &b, &rank, shape) && shape[1] == 0);
    CHECK_OK(wick__layout_new(&b, "t", WICK_SHAPE(0)));
    CHECK(!wick__shape_broadcast(&a, &b, &rank, shape));
    /* More elements than can be counted. */
    CHECK_OK(wick__layout_new(&a, "t", WICK_SHAPE(1)));
    CHECK(!wick__layout_expand(&a, WICK_SHAPE(INT64_C(1) << 40, INT64_C(1) << 40), &wide));
}

static int64_t address(const struct wick__layout *layout, int64_t i) {
    int64_t at = layout->offset;
    for (int d = layout->rank - 1; d >= 0; d--) {
        at += i % layout->shape[d] * layout->stride[d];
        i /= layout->shape[d];
    }
    return at;
}

/* Collapsing keeps the order of addresses, and finds the fewest dims. */
static void check_collapse(void) {
    static const struct {
        struct wick__layout layout;
        int rank;
    } cases[] = {
        {{.rank = 3, .shape = {2, 3, 4}, .stride = {12, 4, 1}}, 1},
        {{.rank = 3, .shape = {2, 3, 4}, .stride = {12, 4, 1}, .offset = 7}, 1},
        {{.rank = 3, .shape = {2, 3, 4}, .stride = {24, 8, 2}}, 1},
        {{.rank = 3, .shape = {2, 3, 4}, .stride = {1, 2, 6}}, 3},
        {{.rank = 3, .shape = {2, 3, 4}, .stride = {20, 4, 1}}, 2},
        {{.rank = 4, .shape = {2, 1, 3, 1}, .stride = {3, 99, 1, 77}}, 1},
        {{.rank = 2, .shape = {5, 6}, .stride = {0, 0}}, 1},
        {{.rank = 2, .shape = {5, 6}, .stride = {0, 1}}, 2},
        {{.rank = 2, .shape = {1, 1}, .stride = {0, 5}}, 1},
        {{.rank = 0}, 1},
        {{.rank = 3, .shape = {4, 0, 3}, .stride = {3, 3, 1}}, 0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct wick__layout both[2] = {cases[n].layout, cases[n].layout};
        wick__layout_collapse(both, 2);
        CHECK_INT(wick__layout_count(&both[0]), wick__layout_count(&cases[n].layout));
        CHECK(both[0].rank >= 1 && both[0].rank == both[1].rank);
        if (cases[n].rank) CHECK_INT(both[0].rank, cases[n].rank);
        for (int64_t i = 0; i < wick__layout_count(&both[0]); i++)
            CHECK_INT(address(&both[1], i), address(&cases[n].layout, i));
    }
    struct wick__layout two[2] = {{.rank = 2, .shape = {3, 4}, .stride = {4, 1}},
                                  {.rank = 2, .shape = {3, 4}, .stride = {1, 3}}};
    wick__layout_collapse(two, 2);
    CHECK_INT(two[0].rank, 2);
}

static void check_queries(void) {
    struct wick__layout x = {.rank = 2, .shape = {3, 4}, .stride = {8, 1}};
    CHECK(wick__layout_has_rows(&x) && !wick__layout_is_contiguous(&x));
    x.stride[1] = 2;
    CHECK(!wick__layout_has_rows(&x));
    x.shape[1] = 1;
    CHECK(wick__layout_has_rows(&x));
    x = (struct wick__layout){.rank = 3, .shape = {1, 3, 1}, .stride = {77, 1, 9}, .offset = 5};
    CHECK(wick__layout_is_contiguous(&x));
    int dim = -9;
    CHECK_OK(wick__dim("t", -1, 3, &dim));
    CHECK_INT(dim, 2);
    CHECK_OK(wick__dim("t", 0, 1, &dim));
    CHECK_FAILS(wick__dim("t", 3, 3, &dim), WICK_RANGE, "t: dim 3 is out of range for rank 3");
    CHECK_FAILS(wick__dim("t", -4, 3, &dim), WICK_RANGE, "t: dim -4 is out of range for rank 3");
    CHECK_FAILS(wick__dim("t", 0, 0, &dim), WICK_RANGE, "t: dim 0 is out of range for rank 0");
    CHECK_INT(dim, 0);
    char text[WICK__SHAPE_TEXT];
    CHECK_TEXT(wick__shape_text(text, 0, NULL), "[]");
    CHECK_TEXT(wick__shape_text(text, WICK_SHAPE(2, 3, 64)), "[2,3,64]");
    int64_t big[8] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    CHECK_INT(strlen(wick__shape_text(text, 8, big)), 8 * 20 + 7 + 2);
}

/* Whether two positions share an address, by a mark for each address. */
static bool marked_twice(const struct wick__layout *layout) {
    static unsigned char marks[16384];
    memset(marks, 0, sizeof marks);
    for (int64_t i = 0; i < wick__layout_count(layout); i++)
        if (marks[address(layout, i)]++) return true;
    return false;
}

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Random layouts of up to five dims; most strides are near those of layouts without gaps. */
static void check_overlaps(void) {
    uint64_t state = 12;
    int shared = 0;
    for (int n = 0; n < 50000; n++) {
        struct wick__layout x = {.offset = 0};
        int64_t stride = 1;
        x.rank = (int)(next(&state) % 6);
        for (int d = 0; d < x.rank; d++) {
            x.shape[d] = (int64_t)(next(&state) % 5 + (d < 2));
            x.stride[d] = wick__max(0, stride + (int64_t)(next(&state) % 5) - 2);
            if (next(&state) % 3) stride *= x.shape[d] > 0 ? x.shape[d] : 1;
        }
        bool want = marked_twice(&x);
        shared += want;
        if (wick__layout_overlaps(&x) != want) {
            char text[WICK__SHAPE_TEXT], more[WICK__SHAPE_TEXT];
            TEST_CHECK_(false, "overlaps: shape %s strides %s: %d", wick__shape_text(text, x.rank, x.shape),
                        wick__shape_text(more, x.rank, x.stride), want);
        }
    }
    CHECK(shared > 5000 && shared < 45000);
    /* The search ends where strides make it long, and says yes then. */
    struct wick__layout hard = {.rank = 8};
    for (int d = 0; d < 8; d++) {
        hard.shape[d] = 100 - d;
        hard.stride[d] = 1000003 + 7919 * d;
    }
    CHECK(wick__layout_overlaps(&hard));
}

int main(void) {
    check_overlaps();
    check_new();
    check_broadcast();
    check_collapse();
    check_queries();
    return test_end();
}
