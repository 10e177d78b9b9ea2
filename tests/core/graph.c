/* Graphs, events and streams, on the device named in argv[1] ("cpu"). */
#include "tests/test.h"

#include <pthread.h>

static struct wick_device *device;

static void check_values(const struct wick_tensor *x, float first, float second) {
    float values[2] = {NAN, NAN};
    CHECK(wick_read(x, values, sizeof values) == WICK_OK);
    CHECK_NEAR(values[0], first, 0);
    CHECK_NEAR(values[1], second, 0);
}

/* (x + 1) * y, through an operand that must be copied first. */
static struct wick_tensor *forward(const struct wick_tensor *x, const struct wick_tensor *y) {
    wick_scope_begin();
    struct wick_tensor *sum = wick_add_scalar(x, WICK_INT(1));
    return wick_scope_end(wick_mul(sum, y));
}

static void check_launches(void) {
    const float a[2] = {1, 2}, b[2] = {10, 20}, c[2] = {5, 7};
    struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(2), a, sizeof a);
    struct wick_tensor *y = wick_from_data(device, WICK_F32, WICK_SHAPE(2), b, sizeof b);
    struct wick_tensor *next = wick_from_data(device, WICK_F32, WICK_SHAPE(2), c, sizeof c);
    wick_release(forward(x, y)); /* kernels are loaded */
    CHECK(wick_graph_begin(device) == WICK_OK);
    struct wick_tensor *out = forward(x, y);
    struct wick_graph *graph = wick_graph_end(device);
    CHECK(out && graph);
    CHECK(wick_graph_launch(graph) == WICK_OK);
    check_values(out, 20, 60);
    CHECK(wick_copy_inplace(x, next) == WICK_OK);
    CHECK(wick_graph_launch(graph) == WICK_OK);
    check_values(out, 60, 160);
    /* What the graph computed in between is its own: work outside must not get the same memory. */
    struct wick_tensor *other = forward(y, y);
    CHECK(wick_graph_launch(graph) == WICK_OK);
    check_values(other, 110, 420);
    check_values(out, 60, 160);
    wick_graph_free(graph);
    check_values(out, 60, 160);
    wick_release(other);
    wick_release(out);
    wick_release(next);
    wick_release(y);
    wick_release(x);
}

static void check_refusals(void) {
    const float a[2] = {1, 2};
    float back[2];
    char text[160];
    struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(2), a, sizeof a);
    snprintf(text, sizeof text, "graph_end: %s records no graph", wick_device_name(device));
    CHECK_FAILS(wick_graph_end(device), WICK_INVALID, text);
    CHECK(wick_graph_begin(device) == WICK_OK);
    snprintf(text, sizeof text, "graph_begin: %s records a graph already", wick_device_name(device));
    CHECK_FAILS(wick_graph_begin(device), WICK_INVALID, text);
    snprintf(text, sizeof text, "read: %s records a graph, which can't hold it", wick_device_name(device));
    CHECK_FAILS(wick_read(x, back, sizeof back), WICK_UNSUPPORTED, text);
    snprintf(text, sizeof text, "from_data: %s records a graph, which can't hold it", wick_device_name(device));
    CHECK_FAILS(wick_from_data(device, WICK_F32, WICK_SHAPE(2), a, sizeof a), WICK_UNSUPPORTED, text);
    snprintf(text, sizeof text, "device_sync: %s records a graph, which can't hold it", wick_device_name(device));
    CHECK_FAILS(wick_device_sync(device), WICK_UNSUPPORTED, text);
    struct wick_graph *graph = wick_graph_end(device);
    CHECK(graph);
    CHECK(wick_graph_launch(graph) == WICK_OK); /* of nothing */
    wick_graph_free(graph);
    wick_graph_free(NULL);
    CHECK_FAILS(wick_graph_launch(NULL), WICK_INVALID, "graph_launch: graph is NULL");
    CHECK_FAILS(wick_graph_begin(NULL), WICK_INVALID, "graph_begin: device is NULL");
    check_values(x, 1, 2);
    wick_release(x);
}

/* Computes, uploads and reads on the device while another thread records there. */
static void *compute_beside(void *context) {
    const float a[2] = {3, 4}, b[2] = {2, 5};
    (void)context;
    for (int i = 0; i < 3; i++) {
        struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(2), a, sizeof a);
        struct wick_tensor *y = wick_from_data(device, WICK_F32, WICK_SHAPE(2), b, sizeof b);
        struct wick_tensor *out = forward(x, y);
        check_values(out, 8, 25);
        wick_release(out);
        wick_release(y);
        wick_release(x);
    }
    CHECK_OK(wick_device_sync(device));
    CHECK(!wick_graph_end(device) && wick_error_status() == WICK_INVALID);
    wick_error_clear();
    CHECK(wick_graph_begin(device) == WICK_INVALID); /* one at a time */
    wick_error_clear();
    return NULL;
}

static void check_threads(void) {
    const float a[2] = {1, 2};
    pthread_t thread;
    struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(2), a, sizeof a);
    wick_release(forward(x, x));
    CHECK_OK(wick_graph_begin(device));
    struct wick_tensor *first = forward(x, x);
    CHECK(pthread_create(&thread, NULL, compute_beside, NULL) == 0);
    pthread_join(thread, NULL);
    struct wick_tensor *second = forward(first, x);
    struct wick_graph *graph = wick_graph_end(device);
    CHECK(first && second && graph);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(wick_graph_launch(graph));
        check_values(first, 2, 6);
        check_values(second, 3, 14);
        wick_release(forward(x, x)); /* what it makes is none of the graph's */
    }
    wick_graph_free(graph);
    wick_release(second);
    wick_release(first);
    wick_release(x);
}

static void check_events(void) {
    double ms = -1;
    bool done = false;
    struct wick_event *from = wick_event_record(device);
    struct wick_tensor *x = wick_ones(device, WICK_F32, WICK_SHAPE(1 << 16));
    struct wick_event *to = wick_event_record(device);
    CHECK(from && to);
    CHECK(wick_event_wait(device, to) == WICK_OK);
    CHECK(wick_event_sync(to) == WICK_OK);
    CHECK(wick_event_done(to, &done) == WICK_OK && done);
    CHECK(wick_event_elapsed(from, to, &ms) == WICK_OK && ms >= 0);
    CHECK_FAILS(wick_event_record(NULL), WICK_INVALID, "event_record: device is NULL");
    CHECK_FAILS(wick_event_sync(NULL), WICK_INVALID, "event_sync: event is NULL");
    CHECK_FAILS(wick_event_elapsed(from, to, NULL), WICK_INVALID, "event_elapsed: ms is NULL");
    CHECK_FAILS(wick_event_done(from, NULL), WICK_INVALID, "event_done: done is NULL");
    wick_event_free(NULL);
    wick_event_free(from);
    wick_event_free(to);
    wick_release(x);
    if (strcmp(wick_device_name(device), "cpu") != 0) {
        CHECK(wick_stream(device) != NULL);
        CHECK(wick_stream_set(device, NULL) == WICK_OK);
    } else {
        CHECK(wick_stream(device) == NULL);
        CHECK_FAILS(wick_stream_set(device, NULL), WICK_UNSUPPORTED, "stream_set: cpu has no streams");
    }
}

/* The device outlives its handle while a graph or an event needs it. */
static void check_closed(const char *name) {
    struct wick_device *other = wick_device_open(name);
    struct wick_event *event = wick_event_record(other);
    CHECK(wick_graph_begin(other) == WICK_OK);
    struct wick_graph *graph = wick_graph_end(other);
    CHECK(event && graph);
    wick_device_close(other);
    wick_error_clear();
    CHECK(wick_event_sync(event) == WICK_CLOSED);
    CHECK(wick_graph_launch(graph) == WICK_CLOSED);
    wick_error_clear();
    wick_event_free(event);
    wick_graph_free(graph);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cpu";
    device = wick_device_open(name);
    if (!device) {
        printf("%s\n", wick_error());
        return 77;
    }
    check_launches();
    check_refusals();
    check_threads();
    check_events();
    check_closed(name);
    wick_device_close(device);
    return test_end();
}
