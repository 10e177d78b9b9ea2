/* Records of calls, on the device named in argv[1] ("cpu"): what is in them, in order, and that replaying them gives
 * what the ops gave. The texts are written by hand from the calls. */
#include "tests/test.h"

#include "ops/dispatch.h"
#include "ops/record.h"

#include <pthread.h>

static struct wick_device *device;
static struct wick_record *record;

/* Call i is `op` with these parameters, of so many operands and results. */
static void check_call(int64_t i, enum wick_op op, const char *params, int n_in, const char *kind) {
    struct wick_recorded call = {0};
    char text[256] = "?";
    CHECK_OK(wick_record_call(record, i, &call));
    CHECK_TEXT(wick_op_name(call.op), wick_op_name(op));
    CHECK_INT(wick_record_params(record, i, text, sizeof text), strlen(params));
    CHECK_TEXT(text, params);
    CHECK_INT(call.n_in, n_in);
    CHECK_TEXT(call.view ? "view" : call.inplace ? "inplace" : "new", kind);
    CHECK(call.n_out >= 1 && call.out[0]);
    for (int j = 0; j < call.n_in; j++) CHECK(call.in[j]);
}

static struct wick_tensor *ramp(int rank, const int64_t *shape) {
    float data[64];
    for (int i = 0; i < 64; i++) data[i] = (float)(i % 13) - 5;
    size_t nbytes = sizeof *data;
    for (int d = 0; d < rank; d++) nbytes *= (size_t)shape[d];
    return wick_from_data(device, WICK_F32, rank, shape, data, nbytes);
}

static void check_views(void) {
    wick_scope_begin();
    struct wick_tensor *x = ramp(WICK_SHAPE(2, 3, 4)), *parts[3];
    CHECK_OK(wick_record_begin());
    CHECK(wick_narrow(x, -1, 1, 2));
    CHECK(wick_permute(x, 3, (const int[]){2, 0, -2}));
    CHECK(wick_slice(x, 2, -3, 4, 2));
    CHECK(wick_select(x, 1, -1));
    CHECK(wick_transpose(x, 0, 2));
    CHECK(wick_diagonal(x, 1, 1, 2));
    CHECK(wick_unfold(x, 2, 3, 1));
    CHECK_OK(wick_split(x, 2, (const int64_t[]){1, 2}, 1, parts));
    CHECK(wick_flatten(x, 1, -1));
    CHECK(wick_reshape(wick_t(x), 1, (const int64_t[]){-1}));
    CHECK(wick_squeeze(wick_unsqueeze(x, 0), 0));
    CHECK(wick_broadcast_to(x, 4, (const int64_t[]){5, 2, 3, 4}));
    CHECK(wick_cast(x, WICK_F32));
    CHECK(wick_contiguous(x));
    record = wick_record_end();
    CHECK(record);
    int64_t i = 0;
    check_call(i++, WICK_OP_narrow, "dim=2 start=1 length=2", 1, "view");
    check_call(i++, WICK_OP_permute, "dims=[2,0,1]", 1, "view");
    check_call(i++, WICK_OP_slice, "dim=2 start=1 length=2 step=2", 1, "view");
    check_call(i++, WICK_OP_select, "dim=1 index=2", 1, "view");
    check_call(i++, WICK_OP_transpose, "dim=0 other=2", 1, "view");
    check_call(i++, WICK_OP_diagonal, "dim=1 other=2 offset=1", 1, "view");
    check_call(i++, WICK_OP_unfold, "dim=2 size=3 step=1", 1, "view");
    check_call(i++, WICK_OP_split, "dim=1 start=0 length=1", 1, "view");
    check_call(i++, WICK_OP_split, "dim=1 start=1 length=2", 1, "view");
    check_call(i++, WICK_OP_flatten, "dim=1 other=2", 1, "view");
    check_call(i++, WICK_OP_transpose, "dim=1 other=2", 1, "view");
    check_call(i++, WICK_OP_contiguous, "", 1, "new");
    check_call(i++, WICK_OP_reshape, "", 1, "view");
    check_call(i++, WICK_OP_unsqueeze, "dim=0", 1, "view");
    check_call(i++, WICK_OP_squeeze, "dim=0", 1, "view");
    check_call(i++, WICK_OP_broadcast_to, "", 1, "view");
    check_call(i++, WICK_OP_cast, "dtype=f32", 1, "view");
    check_call(i++, WICK_OP_contiguous, "", 1, "view");
    CHECK_INT(wick_record_count(record), i);
    wick_record_free(record);
    wick_scope_end(NULL);
}

static struct wick_tensor *results[16];

/* Calls of all kinds; fills results. */
static void compute(const struct wick_tensor *x, struct wick_tensor *target, struct wick_device *other) {
    struct wick_tensor *const both[2] = {(struct wick_tensor *)(uintptr_t)x, wick_add_scalar(x, WICK_INT(2))};
    int n = 0;
    results[n++] = wick_cat(2, both, 1);
    results[n++] = wick_stack(2, both, -1);
    results[n++] = wick_roll(x, 5, 1);
    results[n++] = wick_slice_scatter(x, wick_narrow(both[1], 1, 0, 2), 1, 1);
    results[n++] = wick_swiglu(x);
    results[n++] = wick_softmax(wick_t(x), -1);
    results[n++] = wick_dropout(x, 0.25);
    results[n++] = wick_to_device(wick_to_device(wick_t(x), other), device);
    results[n++] = wick_sum(x, 1, (const int[]){-1}, false);
    CHECK_OK(wick_slice_set_inplace(target, wick_narrow(x, 1, 1, 2), 1, 0));
    CHECK_OK(wick_copy_inplace(wick_select(target, 0, 1), wick_select(x, 0, 0)));
    CHECK_OK(wick_fill_inplace(wick_narrow(target, 1, 3, 1), WICK_REAL(7.5)));
    results[n++] = target;
}
enum { RESULTS = 10 };

static void check_calls(void) {
    const float fresh[12] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
    float want[64], got[64];
    double sum;
    wick_scope_begin();
    struct wick_device *other = wick_device_open("cpu");
    struct wick_tensor *x = ramp(WICK_SHAPE(3, 4)), *target = wick_zeros(device, WICK_F32, WICK_SHAPE(3, 4));
    CHECK_OK(wick_seed_set(device, 7));
    CHECK_OK(wick_record_begin());
    compute(x, target, other);
    CHECK_OK(wick_read_scalar(wick_sum(x, WICK_ALL_DIMS, false), &sum)); /* reading is not a call */
    CHECK_OK(wick_read(wick_t(x), got, 12 * sizeof *got));
    record = wick_record_end();
    int64_t i = 0;
    check_call(i++, WICK_OP_add_scalar, "value=2", 1, "new");
    check_call(i++, WICK_OP_cat, "dim=1", 2, "new");
    check_call(i++, WICK_OP_stack, "dim=2", 2, "new");
    check_call(i++, WICK_OP_roll, "dim=1 shift=5", 1, "new");
    check_call(i++, WICK_OP_narrow, "dim=1 start=0 length=2", 1, "view");
    check_call(i++, WICK_OP_slice_scatter, "dim=1 start=1", 2, "new");
    check_call(i++, WICK_OP_narrow, "dim=1 start=0 length=2", 1, "view");
    check_call(i++, WICK_OP_narrow, "dim=1 start=2 length=2", 1, "view");
    check_call(i++, WICK_OP_swiglu, "", 2, "new");
    check_call(i++, WICK_OP_transpose, "dim=0 other=1", 1, "view");
    check_call(i++, WICK_OP_softmax, "dim=1", 1, "new");
    check_call(i++, WICK_OP_dropout, "seed=7 offset=0 a=0.25 b=0", 1, "new");
    check_call(i++, WICK_OP_transpose, "dim=0 other=1", 1, "view");
    check_call(i++, WICK_OP_to_device, "device=cpu", 1, "new");
    i++; /* the name of the device follows argv[1] */
    check_call(i++, WICK_OP_sum, "dims=[1]", 1, "new");
    check_call(i++, WICK_OP_narrow, "dim=1 start=1 length=2", 1, "view");
    check_call(i++, WICK_OP_slice_set_inplace, "dim=1 start=0", 2, "inplace");
    i += 2; /* two selects */
    check_call(i++, WICK_OP_copy_inplace, "", 1, "inplace");
    i++; /* narrow */
    check_call(i++, WICK_OP_fill_inplace, "value=7.5", 0, "inplace");
    check_call(i++, WICK_OP_sum, "dims=[0,1]", 1, "new");
    check_call(i++, WICK_OP_transpose, "dim=0 other=1", 1, "view");
    CHECK_INT(wick_record_count(record), i);

    /* Replayed on other values, each result is what the ops give for them. */
    struct wick_tensor *replayed[RESULTS];
    memcpy(replayed, results, sizeof replayed);
    CHECK_OK(wick_copy_inplace(x, wick_from_data(device, WICK_F32, WICK_SHAPE(3, 4), fresh, sizeof fresh)));
    CHECK_OK(wick_record_replay(record));
    CHECK_OK(wick_seed_set(device, 7));
    compute(x, wick_zeros(device, WICK_F32, WICK_SHAPE(3, 4)), other);
    for (int r = 0; r < RESULTS; r++) {
        size_t nbytes = (size_t)wick_tensor_count(results[r]) * sizeof(float);
        CHECK_OK(wick_read(results[r], want, nbytes));
        CHECK_OK(wick_read(replayed[r], got, nbytes));
        CHECK_BYTES(got, want, nbytes);
    }
    wick_record_free(record);
    wick_scope_end(NULL);
    wick_device_close(other);
}

/* Operands outlive their owners' references; a record may end on another thread than it is freed on. */
static void *freed_elsewhere(void *given) {
    wick_record_free(given);
    return NULL;
}

static void check_lifetime(void) {
    struct wick_memory memory;
    CHECK_OK(wick_device_sync(device));
    CHECK_OK(wick_memory_stats(device, &memory));
    size_t before = memory.used;
    float got[4];
    CHECK_OK(wick_record_begin());
    struct wick_tensor *x = ramp(WICK_SHAPE(4)), *y = wick_neg(x);
    wick_release(x);
    wick_release(y);
    record = wick_record_end();
    struct wick_recorded call;
    CHECK_OK(wick_record_call(record, 0, &call));
    CHECK_OK(wick_read(call.out[0], got, sizeof got));
    CHECK_NEAR(got[1], 4, 0);
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, freed_elsewhere, record), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_OK(wick_memory_stats(device, &memory));
    CHECK_INT(memory.used, before);
}

/* A copy that reshaping makes on its way, which it gives up inside a scope, stays with the record. */
static void check_copy_in_scope(void) {
    const float want[6] = {-5, -2, -4, -1, -3, 0};
    float got[6] = {0};
    struct wick_recorded call;
    CHECK_OK(wick_record_begin());
    wick_scope_begin();
    CHECK(wick_reshape(wick_t(ramp(WICK_SHAPE(2, 3))), WICK_SHAPE(6)));
    wick_scope_end(NULL);
    record = wick_record_end();
    CHECK_INT(wick_record_count(record), 3);
    for (int i = 1; i < 3; i++) {
        CHECK_OK(wick_record_call(record, i, &call));
        CHECK_OK(wick_read(call.out[0], got, sizeof got));
        CHECK_BYTES(got, want, sizeof got);
    }
    CHECK_OK(wick_read(call.in[0], got, sizeof got));
    wick_record_free(record);
}

/* An extra result is made while a thread records, and belongs to the record alone. */
static void check_extras(void) {
    for (int records = 0; records < 2; records++) {
        struct wick_tensor *x = ramp(WICK_SHAPE(3, 4));
        struct wick__call call = {.op = WICK_OP_sort, .n_in = 1, .in = {x}, .p.along.dim = 1};
        if (records) CHECK_OK(wick_record_begin());
        CHECK(wick__call_check(&call) && wick__call_out(&call, WICK_F32, 2, x->layout.shape));
        CHECK(wick__call_extra(&call, WICK_U32, 2, x->layout.shape));
        CHECK_INT(call.n_out, 1 + records);
        struct wick_tensor *values = wick__call_run(&call);
        CHECK(values && call.n_out == 1 && call.n_extra == 0);
        if (records) {
            struct wick_recorded kept;
            uint32_t indices[12];
            record = wick_record_end();
            CHECK_OK(wick_record_call(record, 0, &kept));
            CHECK_INT(kept.n_out, 2);
            CHECK_INT(kept.n_extra, 1);
            CHECK_OK(wick_read(kept.out[1], indices, sizeof indices));
            for (uint32_t j = 0; j < 4; j++) CHECK_INT(indices[j], j); /* -5, -4, -3, -2 are in order */
            wick_record_free(record);
        }
        wick_release(values);
        wick_release(x);
    }
}

/* Each thread has its own record, and only its own calls are in it. */
static void *quiet(void *given) {
    wick_scope_begin();
    for (int i = 0; i < 100; i++) wick_neg(given);
    wick_scope_end(NULL);
    return NULL;
}

static void check_threads(void) {
    pthread_t thread;
    struct wick_tensor *x = ramp(WICK_SHAPE(4));
    CHECK_OK(wick_record_begin());
    CHECK_INT(pthread_create(&thread, NULL, quiet, x), 0);
    wick_release(wick_neg(x));
    pthread_join(thread, NULL);
    record = wick_record_end();
    CHECK_INT(wick_record_count(record), 1);
    wick_record_free(record);
    wick_release(x);
}

static void check_refusals(void) {
    struct wick_recorded call;
    char text[4];
    CHECK_FAILS(wick_record_end(), WICK_INVALID, "record_end: this thread records nothing");
    CHECK_OK(wick_record_begin());
    CHECK_FAILS(wick_record_begin(), WICK_INVALID, "record_begin: this thread records already");
    wick_release(wick_full(device, WICK_F32, WICK_SHAPE(2), WICK_INT(12345)));
    CHECK(!wick_neg(NULL)); /* what fails is not an entry */
    wick_error_clear();
    record = wick_record_end();
    CHECK_INT(wick_record_count(record), 1);
    CHECK_INT(wick_record_params(record, 0, text, sizeof text), strlen("value=12345"));
    CHECK_TEXT(text, "val");
    CHECK_FAILS(wick_record_call(record, 1, &call), WICK_RANGE, "record_call: there is no call 1 of 1");
    CHECK_FAILS(wick_record_call(NULL, 0, &call), WICK_INVALID, "record_call: record is NULL");
    CHECK_FAILS(wick_record_call(record, 0, NULL), WICK_INVALID, "record_call: call is NULL");
    CHECK_FAILS(wick_record_replay(NULL), WICK_INVALID, "record_replay: record is NULL");
    CHECK_INT(wick_record_count(NULL), 0);
    wick_record_free(record);
    wick_record_free(NULL);
    for (int op = 0; op < WICK_OP_COUNT; op++) {
        const char *family = wick_op_family((enum wick_op)op);
        TEST_CHECK_(wick__params_known(family), "src/ops/params.c does not know the family %s", family);
    }
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cpu";
    device = wick_device_open(name);
    if (!device) return printf("%s\n", wick_error()), 1;
    check_views();
    check_calls();
    check_lifetime();
    check_copy_in_scope();
    check_extras();
    check_threads();
    check_refusals();
    wick_device_close(device);
    CHECK_INT(wick_host_memory_used(), 0);
    return test_end();
}
