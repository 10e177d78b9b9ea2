/* Streams, events and graphs: what is queued, in which order it is done, and what a capture keeps. */
#include "gfxsim/driver/driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STREAM = 0x737472, EVENT = 0x657674, GRAPH = 0x677261 };

/* Objects are never freed, only marked, so that a handle used after its end is told from a new one. */
static struct driver_stream *streams;
static struct driver_event *events;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- running ---- */

static bool is_event(const struct driver_event *event) {
    for (const struct driver_event *e = events; e; e = e->next)
        if (e == event) return e->magic == EVENT;
    return false;
}

static void run_first(struct driver_stream *stream);

/* Bytes from the first to behind the last of so many rows. */
static size_t extent(size_t n, size_t rows, size_t pitch) { return (rows - 1) * pitch + n; }

/* Whether memory that a queued copy uses is still there. */
static bool reachable(const struct driver_copy *copy) {
    return (copy->kinds[0] != 'd' || driver_find(copy->to, extent(copy->n, copy->rows, copy->to_pitch))) &&
           (copy->kinds[1] != 'd' || driver_find(copy->from, extent(copy->n, copy->rows, copy->from_pitch)));
}

static void run_copy(struct driver_device *device, const struct driver_op *op) {
    const struct driver_copy *copy = &op->copy;
    if (!reachable(copy)) {
        driver_complain("a queued copy of %zu bytes meets memory that was freed", copy->n * copy->rows);
        device->error = DRIVER_ILLEGAL_ADDRESS;
        return;
    }
    const char *from = op->nbytes ? op->data : copy->from;
    for (size_t row = 0; row < copy->rows; row++) {
        char *to = (char *)copy->to + row * copy->to_pitch;
        memmove(to, from + row * copy->from_pitch, copy->n);
        if (copy->kinds[0] != 'h') engine_copied(to, from + row * copy->from_pitch, copy->n);
    }
}

static void run_set(struct driver_device *device, const struct driver_op *op) {
    if (!driver_find(op->to, op->n * op->width)) {
        device->error = DRIVER_ILLEGAL_ADDRESS;
        return;
    }
    for (size_t i = 0; i < op->n; i++) memcpy((char *)op->to + i * op->width, &op->value, op->width);
    engine_set(op->to, op->n * op->width);
}

/* A code. */
static int run_launch(struct driver_device *device, const struct driver_op *op) {
    if (++device->launches >= device->lost_at && device->lost_at) return DRIVER_LAUNCH;
    if (device->error) return device->error;
    if (!driver_is_function(op->function)) return DRIVER_LAUNCH;
    return engine_run(op->function, &op->shape, op->data, op->nbytes);
}

/* An event that was destroyed meanwhile still orders what was queued before. */
static void run_wait(const struct driver_op *op) {
    while (op->event->done < op->ticket && op->stream->first) run_first(op->stream);
}

static void run(struct driver_stream *stream, const struct driver_op *op) {
    struct driver_device *device = stream->device;
    int code = DRIVER_OK;
    engine_access(true);
    switch (op->kind) {
    case DRIVER_LAUNCH_OP: code = run_launch(device, op); break;
    case DRIVER_COPY_OP: run_copy(device, op); break;
    case DRIVER_SET_OP: run_set(device, op); break;
    case DRIVER_RECORD_OP:
        op->event->done = op->ticket;
        op->event->time = now();
        break;
    case DRIVER_WAIT_OP: run_wait(op); break;
    case DRIVER_CALL_OP: code = op->call(op->data); break;
    case DRIVER_FREE_OP: driver_free(op->to, false); break;
    }
    engine_access(false);
    if (code && !device->error) device->error = code;
}

static void run_first(struct driver_stream *stream) {
    struct driver_op *op = stream->first;
    stream->first = op->next;
    if (!stream->first) stream->last = &stream->first;
    run(stream, op);
    free(op);
}

static void flush(struct driver_stream *stream) {
    while (stream->first) run_first(stream);
}

/* The null stream waits for the streams that wait for it, and they for it. */
static void settle(struct driver_stream *stream) {
    struct driver_stream *null = stream->device->null_stream;
    if (stream == null) {
        for (struct driver_stream *s = streams; s; s = s->next)
            if (s != null && s->device == stream->device && s->magic == STREAM && s->blocking) flush(s);
    } else if (null && stream->blocking) {
        flush(null);
    }
}

static struct driver_op *make_op(enum driver_op_kind kind, const void *data, size_t nbytes) {
    struct driver_op *op = calloc(1, sizeof *op + nbytes);
    if (!op) return NULL;
    op->kind = kind;
    op->nbytes = nbytes;
    if (nbytes) memcpy(op->data, data, nbytes);
    return op;
}

static int queue(struct driver_stream *stream, struct driver_op *op) {
    if (stream->capture) {
        *stream->capture->last = op;
        stream->capture->last = &op->next;
        return DRIVER_OK;
    }
    settle(stream);
    if (driver_defer) {
        *stream->last = op;
        stream->last = &op->next;
    } else {
        run(stream, op);
        free(op);
    }
    return DRIVER_OK;
}

/* ---- streams ---- */

static bool is_stream(const struct driver_stream *stream) {
    for (const struct driver_stream *s = streams; s; s = s->next)
        if (s == stream) return s->magic == STREAM;
    return false;
}

static struct driver_stream *make_stream(struct driver_device *device, bool blocking) {
    struct driver_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->magic = STREAM;
    stream->device = device;
    stream->blocking = blocking;
    stream->last = &stream->first;
    stream->next = streams;
    streams = stream;
    return stream;
}

struct driver_stream *driver_stream_of(struct driver_device *device, void *handle) {
    if (!handle) {
        if (!device->null_stream) device->null_stream = make_stream(device, true);
        return device->null_stream;
    }
    struct driver_stream *stream = handle;
    return is_stream(stream) && stream->device == device ? stream : NULL;
}

int driver_stream_create(struct driver_device *device, bool blocking, struct driver_stream **stream) {
    *stream = make_stream(device, blocking);
    if (!*stream) return DRIVER_MEMORY;
    driver_live_of[DRIVER_STREAM]++;
    return DRIVER_OK;
}

int driver_stream_destroy(struct driver_stream *stream) {
    if (!is_stream(stream) || stream == stream->device->null_stream) return DRIVER_HANDLE;
    flush(stream);
    stream->magic = DRIVER_DEAD;
    driver_live_of[DRIVER_STREAM]--;
    return DRIVER_OK;
}

int driver_refuse_capture(struct driver_stream *stream) {
    if (!stream->capture) return DRIVER_OK;
    stream->invalidated = true;
    return DRIVER_CAPTURE_UNSUPPORTED;
}

int driver_not_capturing(void) {
    for (struct driver_stream *s = streams; s; s = s->next)
        if (s->capture && s->capture_mode != 2) return driver_refuse_capture(s);
    return DRIVER_OK;
}

int driver_stream_synchronize(struct driver_stream *stream) {
    int code = driver_refuse_capture(stream);
    if (code) return code;
    settle(stream);
    flush(stream);
    return stream->device->error;
}

/* Each question gets one thing done, so that a program that waits by asking makes way. */
int driver_stream_query(struct driver_stream *stream) {
    int code = driver_refuse_capture(stream);
    if (code) return code;
    if (!stream->first) return stream->device->error;
    run_first(stream);
    return DRIVER_NOT_READY;
}

int driver_device_synchronize(struct driver_device *device) {
    for (struct driver_stream *s = streams; s; s = s->next)
        if (s->device == device) flush(s);
    return device->error;
}

/* ---- events ---- */

int driver_event_create(struct driver_device *device, bool timing, struct driver_event **out) {
    struct driver_event *event = calloc(1, sizeof *event);
    *out = event;
    if (!event) return DRIVER_MEMORY;
    event->magic = EVENT;
    event->device = device;
    event->timing = timing;
    event->next = events;
    events = event;
    driver_live_of[DRIVER_EVENT]++;
    return DRIVER_OK;
}

int driver_event_destroy(struct driver_event *event) {
    if (!is_event(event)) return DRIVER_HANDLE;
    event->magic = DRIVER_DEAD;
    driver_live_of[DRIVER_EVENT]--;
    return DRIVER_OK;
}

int driver_event_record(struct driver_event *event, struct driver_stream *stream) {
    if (!is_event(event)) return DRIVER_HANDLE;
    if (event->device != stream->device) return DRIVER_HANDLE;
    struct driver_op *op = make_op(DRIVER_RECORD_OP, NULL, 0);
    if (!op) return DRIVER_MEMORY;
    op->event = event;
    op->ticket = ++event->recorded;
    event->stream = stream;
    return queue(stream, op);
}

int driver_stream_wait(struct driver_stream *stream, struct driver_event *event) {
    if (!is_event(event)) return DRIVER_HANDLE;
    if (event->recorded == 0) return DRIVER_OK;
    if ((event->stream->capture != NULL) != (stream->capture != NULL)) {
        driver_refuse_capture(stream);
        driver_refuse_capture(event->stream);
        return DRIVER_CAPTURE_ISOLATION;
    }
    struct driver_op *op = make_op(DRIVER_WAIT_OP, NULL, 0);
    if (!op) return DRIVER_MEMORY;
    op->event = event;
    op->ticket = event->recorded;
    op->stream = event->stream;
    return queue(stream, op);
}

static bool done(const struct driver_event *event) { return event->done == event->recorded; }

int driver_event_synchronize(struct driver_event *event) {
    if (!is_event(event)) return DRIVER_HANDLE;
    while (!done(event) && event->stream->first) run_first(event->stream);
    return event->device->error;
}

int driver_event_query(struct driver_event *event) {
    if (!is_event(event)) return DRIVER_HANDLE;
    if (done(event)) return event->device->error;
    if (event->stream->first) run_first(event->stream);
    return DRIVER_NOT_READY;
}

int driver_event_elapsed(float *ms, struct driver_event *from, struct driver_event *to) {
    if (!is_event(from) || !is_event(to) || !from->timing || !to->timing) return DRIVER_HANDLE;
    if (from->recorded == 0 || to->recorded == 0) return DRIVER_HANDLE;
    if (!done(from) || !done(to)) return DRIVER_NOT_READY;
    *ms = (float)(to->time - from->time);
    return DRIVER_OK;
}

/* ---- graphs ---- */

static struct driver_graph *graphs;

static struct driver_graph *make_graph(int device) {
    struct driver_graph *graph = calloc(1, sizeof *graph);
    if (!graph) return NULL;
    graph->magic = GRAPH;
    graph->last = &graph->first;
    graph->device = device;
    graph->next = graphs;
    graphs = graph;
    return graph;
}

static struct driver_op *copy_op(const struct driver_op *op) {
    struct driver_op *copy = malloc(sizeof *copy + op->nbytes);
    if (!copy) return NULL;
    memcpy(copy, op, sizeof *op + op->nbytes);
    copy->next = NULL;
    return copy;
}

static void free_graph(struct driver_graph *graph) {
    while (graph->first) {
        struct driver_op *op = graph->first;
        graph->first = op->next;
        free(op);
    }
    struct driver_graph **link = &graphs;
    while (*link != graph) link = &(*link)->next;
    *link = graph->next;
    graph->magic = DRIVER_DEAD;
    free(graph);
}

int driver_capture_begin(struct driver_stream *stream, int mode) {
    if (stream->capture || stream == stream->device->null_stream) return DRIVER_CAPTURE_UNSUPPORTED;
    stream->capture = make_graph(stream->device->ordinal);
    if (!stream->capture) return DRIVER_MEMORY;
    stream->capture_mode = mode;
    stream->invalidated = false;
    return DRIVER_OK;
}

int driver_capture_end(struct driver_stream *stream, struct driver_graph **graph) {
    *graph = NULL;
    if (!stream->capture) return DRIVER_VALUE;
    struct driver_graph *captured = stream->capture;
    stream->capture = NULL;
    if (stream->invalidated) {
        free_graph(captured);
        return DRIVER_CAPTURE_INVALIDATED;
    }
    *graph = captured;
    driver_live_of[DRIVER_GRAPH]++;
    return DRIVER_OK;
}

int driver_graph_instantiate(struct driver_graph **executable, const struct driver_graph *graph) {
    *executable = NULL;
    if (!graph || graph->magic != GRAPH || graph->executable) return DRIVER_VALUE;
    struct driver_graph *made = make_graph(graph->device);
    if (!made) return DRIVER_MEMORY;
    made->executable = true;
    for (const struct driver_op *op = graph->first; op; op = op->next) {
        struct driver_op *copy = copy_op(op);
        if (!copy) {
            free_graph(made);
            return DRIVER_MEMORY;
        }
        *made->last = copy;
        made->last = &copy->next;
    }
    *executable = made;
    driver_live_of[DRIVER_GRAPH]++;
    return DRIVER_OK;
}

int driver_graph_launch(struct driver_graph *executable, struct driver_stream *stream) {
    if (!executable || executable->magic != GRAPH || !executable->executable) return DRIVER_VALUE;
    if (executable->device != stream->device->ordinal) return DRIVER_HANDLE;
    if (stream->device->error) return stream->device->error;
    for (const struct driver_op *op = executable->first; op; op = op->next) {
        struct driver_op *copy = copy_op(op);
        if (!copy) return DRIVER_MEMORY;
        if (copy->kind == DRIVER_RECORD_OP) {
            copy->ticket = ++copy->event->recorded;
            copy->event->stream = stream;
        }
        queue(stream, copy);
    }
    return DRIVER_OK;
}

int driver_graph_destroy(struct driver_graph *graph, bool executable) {
    if (!graph || graph->magic != GRAPH || graph->executable != executable) return DRIVER_VALUE;
    free_graph(graph);
    driver_live_of[DRIVER_GRAPH]--;
    return DRIVER_OK;
}

/* ---- copies, sets, launches ---- */

/* 'd' for device memory, 'p' for pinned, 'h' for any other of the host, 0 when it is not what was said. */
static char memory_kind(const void *p, size_t n, char said) {
    const struct driver_allocation *a = driver_find(p, n), *begins = driver_find(p, 0);
    if (begins && !begins->pinned && !a) return 0; /* runs over the end */
    if (said == 'd' && !(a && !a->pinned)) return a && a->pinned ? 'p' : 0;
    if (said == 'h' && a && !a->pinned) return 0;
    return a ? a->pinned ? 'p' : 'd' : 'h';
}

int driver_copy_rows(const struct driver_copy *asked, struct driver_stream *stream, bool wait) {
    struct driver_copy copy = *asked;
    if (copy.n == 0 || copy.rows == 0) return DRIVER_OK;
    if (!copy.to || !copy.from) return DRIVER_VALUE;
    copy.kinds[0] = memory_kind(copy.to, extent(copy.n, copy.rows, copy.to_pitch), copy.kinds[0]);
    copy.kinds[1] = memory_kind(copy.from, extent(copy.n, copy.rows, copy.from_pitch), copy.kinds[1]);
    if (!copy.kinds[0] || !copy.kinds[1]) return DRIVER_VALUE;
    if (stream->device->error) return stream->device->error;
    wait = wait || copy.kinds[0] == 'h';
    if (stream->capture && (wait || copy.kinds[1] == 'h')) return driver_refuse_capture(stream);
    bool keep = copy.kinds[1] == 'h' && driver_defer;
    struct driver_op *op = make_op(DRIVER_COPY_OP, copy.from, keep ? extent(copy.n, copy.rows, copy.from_pitch) : 0);
    if (!op) return DRIVER_MEMORY;
    op->copy = copy;
    int code = queue(stream, op);
    if (!code && wait) code = driver_stream_synchronize(stream);
    return code;
}

int driver_copy(void *to, const void *from, size_t n, const char *kinds, struct driver_stream *stream, bool wait) {
    struct driver_copy copy = {to, from, n, 1, n, n, {kinds[0], kinds[1]}};
    return driver_copy_rows(&copy, stream, wait);
}

int driver_set(void *to, unsigned value, unsigned width, size_t count, struct driver_stream *stream, bool wait) {
    if (count == 0) return DRIVER_OK;
    if (!driver_find(to, count * width)) return DRIVER_VALUE;
    if (stream->device->error) return stream->device->error;
    if (stream->capture && wait) return driver_refuse_capture(stream);
    struct driver_op *op = make_op(DRIVER_SET_OP, NULL, 0);
    if (!op) return DRIVER_MEMORY;
    op->to = to;
    op->n = count;
    op->value = value;
    op->width = width;
    int code = queue(stream, op);
    if (!code && wait) code = driver_stream_synchronize(stream);
    return code;
}

int driver_call(struct driver_stream *stream, int (*call)(const void *), const void *arguments, size_t nbytes) {
    if (stream->device->error) return stream->device->error;
    struct driver_op *op = make_op(DRIVER_CALL_OP, arguments, nbytes);
    if (!op) return DRIVER_MEMORY;
    op->call = call;
    return queue(stream, op);
}

int driver_free_later(struct driver_stream *stream, void *memory) {
    const struct driver_allocation *a = driver_find(memory, 0);
    if (!a || a->base != memory || a->pinned) return DRIVER_VALUE;
    if (stream->capture) return driver_refuse_capture(stream);
    struct driver_op *op = make_op(DRIVER_FREE_OP, NULL, 0);
    if (!op) return DRIVER_MEMORY;
    op->to = memory;
    return queue(stream, op);
}

/* All parameters in one piece: of `packed` there may be more than the kernel has. */
static struct driver_op *make_launch(const struct driver_function *function,
                                     const struct driver_parameters *parameters) {
    if (parameters->packed) return make_op(DRIVER_LAUNCH_OP, parameters->packed, parameters->size);
    struct driver_op *op = calloc(1, sizeof *op + function->nbytes);
    if (!op) return NULL;
    op->kind = DRIVER_LAUNCH_OP;
    op->nbytes = function->nbytes;
    for (unsigned i = 0; i < function->n_args; i++)
        memcpy(op->data + function->args[i].offset, parameters->each[i], function->args[i].size);
    return op;
}

int driver_launch(struct driver_function *function, const struct driver_shape *shape,
                  const struct driver_parameters *parameters, struct driver_stream *stream) {
    if (!driver_is_function(function)) return DRIVER_HANDLE;
    if (function->module->device != stream->device) return DRIVER_HANDLE;
    for (int i = 0; i < 3; i++)
        if (shape->grid[i] == 0 || shape->grid[i] > (i ? 65535 : 0x7fffffff) || shape->block[i] == 0)
            return DRIVER_VALUE;
    int code = engine_accepts(function, shape);
    if (code) return code;
    if (parameters->packed && parameters->size < function->nbytes) return DRIVER_VALUE;
    if (!parameters->packed && function->n_args > 0 && !parameters->each) return DRIVER_VALUE;
    for (unsigned i = 0; !parameters->packed && i < function->n_args; i++)
        if (!parameters->each[i]) return DRIVER_VALUE;
    if (stream->device->error) return stream->device->error;
    struct driver_op *op = make_launch(function, parameters);
    if (!op) return DRIVER_MEMORY;
    op->function = function;
    op->shape = *shape;
    return queue(stream, op);
}
