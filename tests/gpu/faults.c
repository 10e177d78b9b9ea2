/* Failures that a device finds after a call was queued belong to the data: what is computed from them fails to be read,
 * with the text of the op that failed, all else reads well. On the device named in argv[1]; argv[2] is another one, for
 * copies between two, or missing. */
#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>

static struct wick_device *device, *other;

static const float four[4] = {1, 2, 3, 4};

static struct wick_tensor *floats(void) { return wick_from_data(device, WICK_F32, WICK_SHAPE(4), four, sizeof four); }

static struct wick_tensor *ids(int32_t a, int32_t b, int32_t c, int32_t d) {
    const int32_t list[4] = {a, b, c, d};
    return wick_from_data(device, WICK_I32, WICK_SHAPE(4), list, sizeof list);
}

/* x reads as these floats. */
static void check_reads(const struct wick_tensor *x, const float *want, size_t n) {
    float got[64] = {0};
    CHECK_OK(wick_read(x, got, n * sizeof *got));
    for (size_t i = 0; i < n; i++) CHECK_NEAR(got[i], want[i], 0);
}

/* @ in a text is the device. */
static void text_for(char want[256], const char *text) {
    const char *at = strchr(text, '@');
    snprintf(want, 256, "%.*s%s%s", (int)(at - text), text, wick_device_name(device), at + 1);
}

/* Reading x fails so, and again. */
static void check_bad(const struct wick_tensor *x, enum wick_status status, const char *text) {
    char want[256], back[4096];
    text_for(want, text);
    CHECK(x);
    if (!x) return;
    size_t nbytes = (size_t)wick_tensor_count(x) * (wick_dtype_bits(wick_tensor_dtype(x)) / 8);
    for (int i = 0; i < 2; i++) CHECK_FAILS(wick_read(x, back, nbytes), status, want);
}

/* The device works, and has nothing to tell. */
static void check_good(void) {
    const float want[4] = {2, 4, 6, 8};
    wick_scope_begin();
    CHECK_OK(wick_device_sync(device));
    struct wick_tensor *x = floats();
    check_reads(wick_add(x, x), want, 4);
    wick_scope_end(NULL);
}

static void check_ids(void) {
    const char *high_text = ": id 9 at position 1 of ids [4] i32 on @ is out of range for size 4";
    const char *low_text = ": id -3 at position 2 of ids [4] i32 on @ is out of range for size 4";
    char text[128];
    wick_scope_begin();
    struct wick_tensor *x = floats(), *high = ids(0, 9, 1, 1), *low = ids(0, 1, -3, 1);
    struct {
        const char *name, *rest;
        struct wick_tensor *y;
    } rows[] = {{"gather", high_text, wick_gather(x, 0, high)},
                {"gather", low_text, wick_gather(x, 0, low)},
                {"index_select", high_text, wick_index_select(x, 0, high)},
                {"embedding", low_text, wick_embedding(wick_reshape(x, WICK_SHAPE(4, 1)), low)},
                {"scatter", low_text, wick_scatter(x, 0, low, x)},
                {"scatter_add", high_text, wick_scatter_add(x, 0, high, x)},
                {"index_add", low_text, wick_index_add(x, 0, low, x)},
                {"one_hot", high_text, wick_one_hot(high, 4, WICK_F32)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, "%s%s", rows[i].name, rows[i].rest);
        check_bad(rows[i].y, WICK_RANGE, text);
    }
    /* Views of ids: positions count the elements of the view, sizes are those of the dim. */
    const int64_t wide[6] = {0, 1, 2, 0, 1, 77};
    struct wick_tensor *m = wick_reshape(x, WICK_SHAPE(2, 2));
    struct wick_tensor *view = wick_t(wick_from_data(device, WICK_I64, WICK_SHAPE(2, 3), wide, sizeof wide));
    check_bad(wick_gather(wick_broadcast_to(x, WICK_SHAPE(3, 4)), 1, view), WICK_RANGE,
              "gather: id 77 at position 5 of ids [3,2] i64 on @ is out of range for size 4");
    check_bad(wick_index_select(m, 1, wick_slice(high, 0, 1, 4, 2)), WICK_RANGE,
              "index_select: id 9 at position 0 of ids [2] i32 on @ is out of range for size 2");
    wick_scope_end(NULL);
    check_good();
}

static void check_division(void) {
    wick_scope_begin();
    struct wick_tensor *x = ids(7, -7, 0, 1), *y = ids(2, 2, 0, 1);
    check_bad(wick_div(x, y), WICK_DIVIDE, "div: lhs [4] i32, rhs [4] i32 on @: integer division by zero");
    check_bad(wick_remainder(wick_reshape(x, WICK_SHAPE(4, 1)), y), WICK_DIVIDE,
              "remainder: lhs [4,1] i32, rhs [4] i32 on @: integer division by zero");
    struct wick_tensor *f = floats(), *zero = wick_zeros(device, WICK_F32, WICK_SHAPE(4));
    float got[4] = {0};
    CHECK_OK(wick_read(wick_div(f, zero), got, sizeof got)); /* of floats it is not a failure */
    CHECK(isinf(got[0]));
    wick_scope_end(NULL);
    check_good();
}

/* Starts of packed sequences, told in the words of the CPU. */
static void check_starts(void) {
    const uint32_t good[3] = {0, 2, 4}, rows[4][3] = {{1, 2, 4}, {0, 3, 2}, {0, 2, 9}, {0, 2, 3}};
    struct wick_device *cpu = wick_device_open("cpu");
    for (int bad = 0; bad < 8; bad++) {
        char text[256], back[64];
        for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
            struct wick_device *at = on_gpu ? device : cpu;
            wick_scope_begin();
            struct wick_tensor *q = wick_ones(at, WICK_F32, WICK_SHAPE(4, 1, 4));
            struct wick_tensor *fine = wick_from_data(at, WICK_U32, WICK_SHAPE(3), good, sizeof good);
            struct wick_tensor *wrong = wick_from_data(at, WICK_U32, WICK_SHAPE(3), rows[bad % 4], sizeof rows[0]);
            struct wick_tensor *out =
                wick_attention_packed(q, q, q, bad < 4 ? wrong : fine, bad < 4 ? fine : wrong, NULL);
            if (on_gpu) {
                CHECK_FAILS(wick_read(out, back, sizeof back), WICK_RANGE, text);
            } else {
                CHECK_INT(wick_error_status(), WICK_RANGE);
                snprintf(text, sizeof text, "%s", wick_error());
                wick_error_clear();
            }
            wick_scope_end(NULL);
        }
    }
    wick_device_close(cpu);
    check_good();
}

static const char *const bad_text = "index_select: id 9 at position 1 of ids [4] i32 on @ is out of range for size 4";
static const char *const other_text = "gather: id -3 at position 3 of ids [4] i32 on @ is out of range for size 4";

/* All that is computed from a failure fails with it, whatever lies between; what is not, reads well. */
static void check_spread(void) {
    wick_scope_begin();
    struct wick_tensor *x = floats(), *bad = wick_index_select(x, 0, ids(0, 9, 1, 1)), *y = bad;
    for (int i = 0; i < 1000; i++) y = wick_add_scalar(y, WICK_INT(1));
    check_bad(y, WICK_RANGE, bad_text);
    check_bad(wick_narrow(wick_reshape(bad, WICK_SHAPE(2, 2)), 0, 1, 1), WICK_RANGE, bad_text);
    struct wick_tensor *const both[2] = {x, bad};
    check_bad(wick_cat(2, both, 0), WICK_RANGE, bad_text);
    check_bad(wick_sum(wick_mul(x, wick_neg(bad)), 0, NULL, false), WICK_RANGE, bad_text);
    struct wick_tensor *second = wick_gather(x, 0, ids(0, 0, 0, -3));
    check_bad(second, WICK_RANGE, other_text); /* two failures are two */
    check_bad(bad, WICK_RANGE, bad_text);
    check_bad(wick_add(second, bad), WICK_RANGE, bad_text); /* the first of them */
    check_reads(x, four, 4);
    struct wick_tensor *right = wick_index_select(x, 0, ids(0, 1, 2, 3));
    check_reads(right, four, 4);
    /* Through copies in place; writing all of the target ends it. */
    struct wick_tensor *target = wick_zeros(device, WICK_F32, WICK_SHAPE(4)), *half = wick_narrow(target, 0, 0, 2);
    CHECK_OK(wick_copy_inplace(half, wick_narrow(bad, 0, 0, 2)));
    check_bad(wick_narrow(target, 0, 2, 2), WICK_RANGE, bad_text); /* of one buffer */
    CHECK_OK(wick_copy_inplace(half, wick_narrow(x, 0, 0, 2)));
    check_bad(target, WICK_RANGE, bad_text);
    CHECK_OK(wick_copy_inplace(target, x));
    check_reads(target, four, 4);
    wick_scope_end(NULL);
    check_good();
}

static void check_copies(void) {
    char want[256];
    wick_scope_begin();
    struct wick_device *cpu = wick_device_open("cpu");
    struct wick_tensor *x = floats(), *bad = wick_index_select(x, 0, ids(0, 9, 1, 1));
    text_for(want, bad_text);
    CHECK_FAILS(wick_to_device(bad, cpu), WICK_RANGE, want);
    check_reads(wick_to_device(x, cpu), four, 4);
    if (other) {
        struct wick_tensor *there = wick_to_device(bad, other), *fine = wick_to_device(x, other);
        check_bad(wick_to_device(wick_neg(there), device), WICK_RANGE, bad_text);
        check_bad(wick_mul(fine, there), WICK_RANGE, bad_text);
        check_reads(fine, four, 4);
    }
    wick_device_close(cpu);
    wick_scope_end(NULL);
    check_good();
}

/* A list of ids with one that is out of range changes nothing, and is told once, by what comes first. */
static void check_in_place(void) {
    char want[256];
    for (int by = 0; by < 3; by++)
        for (int add = 0; add < 2; add++) {
            wick_scope_begin();
            char text[128];
            float got[4];
            snprintf(text, sizeof text, "%s: id 4 at position 2 of ids [4] i32 on @ is out of range for size 4",
                     add ? "scatter_add_inplace" : "scatter_inplace");
            text_for(want, text);
            struct wick_tensor *x = floats(), *bad = ids(3, 2, 4, 0),
                               *ones = wick_ones(device, WICK_F32, WICK_SHAPE(4));
            CHECK_OK(add ? wick_scatter_add_inplace(x, 0, bad, ones) : wick_scatter_inplace(x, 0, bad, ones));
            check_reads(ones, (const float[]){1, 1, 1, 1}, 4);
            if (by == 0) CHECK_FAILS(wick_read(x, got, sizeof got), WICK_RANGE, want);
            if (by == 1) CHECK_FAILS(wick_device_sync(device), WICK_RANGE, want);
            if (by == 2) CHECK_FAILS(wick_read(wick_abs(x), got, sizeof got), WICK_RANGE, want);
            CHECK_OK(wick_device_sync(device));
            check_reads(x, four, 4);
            wick_scope_end(NULL);
        }
    /* Two of them are told by two calls. */
    wick_scope_begin();
    struct wick_tensor *x = floats(), *ones = wick_ones(device, WICK_F32, WICK_SHAPE(4)), *bad = ids(3, 2, 4, 0);
    CHECK_OK(wick_scatter_inplace(x, 0, bad, ones));
    CHECK_OK(wick_scatter_inplace(x, 0, bad, ones));
    CHECK_INT(wick_device_sync(device), WICK_RANGE);
    CHECK_INT(wick_device_sync(device), WICK_RANGE);
    wick_error_clear();
    CHECK_OK(wick_device_sync(device));
    check_reads(x, four, 4);
    wick_scope_end(NULL);
    check_good();
}

/* Recorded once, each launch fails or not by what its ids are then. */
static void check_graph(void) {
    const int32_t good_ids[4] = {3, 2, 1, 0}, bad_ids[4] = {0, 9, 1, 1};
    wick_scope_begin();
    struct wick_tensor *x = floats(), *list = ids(0, 0, 0, 0), *state = floats(), *kept[3],
                       *count = wick_zeros(device, WICK_F32, WICK_SHAPE(4));
    struct wick_tensor *good = wick_from_data(device, WICK_I32, WICK_SHAPE(4), good_ids, sizeof good_ids);
    struct wick_tensor *bad = wick_from_data(device, WICK_I32, WICK_SHAPE(4), bad_ids, sizeof bad_ids);
    wick_neg(wick_index_select(state, 0, list)), wick_add_scalar(x, WICK_INT(1)); /* kernels are loaded */
    CHECK_OK(wick_copy_inplace(state, x));
    CHECK_OK(wick_device_sync(device));
    CHECK_OK(wick_graph_begin(device));
    struct wick_tensor *y = wick_neg(wick_index_select(state, 0, list)), *z = wick_add_scalar(x, WICK_INT(1));
    CHECK_OK(wick_copy_inplace(count, z));
    struct wick_graph *graph = wick_graph_end(device);
    CHECK(graph && y && z);
    for (int launch = 0; launch < 6; launch++) {
        bool fails = launch % 3 == 1;
        CHECK_OK(wick_copy_inplace(list, fails ? bad : good));
        CHECK_OK(wick_graph_launch(graph));
        if (launch < 3) kept[launch] = wick_add_scalar(y, WICK_INT(1)); /* of this launch, read later */
        if (launch < 2) continue;
        if (fails)
            check_bad(y, WICK_RANGE, bad_text);
        else
            check_reads(y, (const float[]){-4, -3, -2, -1}, 4);
        check_reads(z, (const float[]){2, 3, 4, 5}, 4);
        check_reads(count, (const float[]){2, 3, 4, 5}, 4);
    }
    check_reads(kept[0], (const float[]){-3, -2, -1, 0}, 4);
    check_bad(kept[1], WICK_RANGE, bad_text);
    check_reads(kept[2], (const float[]){-3, -2, -1, 0}, 4);
    /* A doubt from outside goes through a launch. */
    CHECK_OK(wick_copy_inplace(state, wick_gather(x, 0, ids(0, 0, 0, -3))));
    CHECK_OK(wick_copy_inplace(list, good));
    CHECK_OK(wick_graph_launch(graph));
    check_bad(y, WICK_RANGE, other_text);
    check_reads(z, (const float[]){2, 3, 4, 5}, 4);
    CHECK_OK(wick_copy_inplace(list, bad));
    CHECK_OK(wick_copy_inplace(state, x));
    CHECK_OK(wick_graph_launch(graph));
    wick_graph_free(graph); /* its results tell all the same */
    check_bad(y, WICK_RANGE, bad_text);
    wick_scope_end(NULL);
    check_good();
}

/* Thread A's failures are told to A alone. Checks count in one thread only: these leave a mark. */
static atomic_int surprises;

static void *work(void *given) {
    char want[256];
    text_for(want, bad_text);
    for (int i = 0; i < 50; i++) {
        float got[4] = {0};
        wick_scope_begin();
        struct wick_tensor *x = floats(), *y = wick_index_select(x, 0, given ? ids(0, 9, 1, 1) : ids(0, 1, 2, 3));
        enum wick_status status = wick_read(wick_abs(y), got, sizeof got);
        bool right = given ? status == WICK_RANGE && strcmp(wick_error(), want) == 0
                           : status == WICK_OK && memcmp(got, four, sizeof got) == 0;
        if (!right) atomic_fetch_add(&surprises, 1);
        wick_error_clear();
        wick_scope_end(NULL);
    }
    return NULL;
}

static void check_threads(void) {
    pthread_t a, b;
    CHECK_INT(pthread_create(&a, NULL, work, device), 0);
    CHECK_INT(pthread_create(&b, NULL, work, NULL), 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    CHECK_INT(surprises, 0);
    check_good();
}

/* Calls that nobody reads keep little, whether their results are dropped, kept, or fed back. */
static void check_memory(int64_t calls) {
    wick_scope_begin();
    struct wick_tensor *x = floats(), *list = ids(0, 1, 2, 3), *bad = ids(0, 9, 1, 1);
    struct wick_tensor *state = wick_neg(x), *first = wick_index_select(x, 0, bad);
    size_t before = wick_host_memory_used(), most = 0;
    for (int64_t i = 0; i < calls; i++) {
        wick_scope_begin();
        struct wick_tensor *next = wick_index_select(i % 2 ? state : x, 0, list);
        if (i % 4 == 1) CHECK_OK(wick_copy_inplace(state, next));
        if (i % 64 == 2) CHECK_OK(wick_scatter_inplace(state, 0, list, x));
        wick_scope_end(NULL);
        size_t used = wick_host_memory_used() - before;
        if (used > most) most = used;
    }
    TEST_CHECK_(most < 4 << 20, "%zu bytes are kept for %lld calls", most, (long long)calls);
    check_bad(first, WICK_RANGE, bad_text);
    check_reads(state, four, 4);
    wick_scope_end(NULL);
    check_good();
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "auto");
    if (!device) test_skip(wick_error());
    if (strcmp(wick_device_name(device), "cpu") == 0) test_skip("there is no GPU");
    if (argc > 2) other = wick_device_open(argv[2]);
    CHECK(argc <= 2 || other);
    check_ids();
    check_division();
    check_starts();
    check_spread();
    check_copies();
    check_in_place();
    check_graph();
    check_threads();
    check_memory(argc > 3 ? atoll(argv[3]) : 3000);
    wick_device_close(other);
    wick_device_close(device);
    CHECK_INT(wick_host_memory_used(), 0);
    return test_end();
}
