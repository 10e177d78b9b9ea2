/* Streams, events and graphs: what is queued, in which order it is done, and what a capture keeps. */
#include "standin.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STREAM = 0x737472, EVENT = 0x657674, GRAPH = 0x677261 };

/* Objects are never freed, only marked, so that a handle used after its end is told from a new one. */
static struct standin_stream *streams;
static struct standin_event *events;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- running ---- */

static bool is_event(const struct standin_event *event) {
    for (const struct standin_event *e = events; e; e = e->next)
        if (e == event) return e->magic == EVENT;
    return false;
}

static void run_first(struct standin_stream *stream);

/* Whether memory that a queued copy uses is still there. */
static bool reachable(const struct standin_op *op) {
    return (op->value != 'd' || standin_find(op->to, op->n)) && (op->width != 'd' || standin_find(op->from, op->n));
}

static void run_copy(struct standin_device *device, const struct standin_op *op) {
    if (!reachable(op)) {
        standin_complain("a queued copy of %zu bytes meets memory that was freed", op->n);
        device->error = STANDIN_ILLEGAL_ADDRESS;
        return;
    }
    memmove(op->to, op->nbytes ? op->data : op->from, op->n);
}

static void run_set(struct standin_device *device, const struct standin_op *op) {
    if (!standin_find(op->to, op->n * op->width)) {
        device->error = STANDIN_ILLEGAL_ADDRESS;
        return;
    }
    for (size_t i = 0; i < op->n; i++) memcpy((char *)op->to + i * op->width, &op->value, op->width);
}

/* An event that was destroyed meanwhile still orders what was queued before. */
static void run_wait(const struct standin_op *op) {
    while (op->event->done < op->ticket && op->stream->first) run_first(op->stream);
}

static void run(struct standin_stream *stream, const struct standin_op *op) {
    struct standin_device *device = stream->device;
    int code = STANDIN_OK;
    standin_access(true);
    switch (op->kind) {
    case STANDIN_LAUNCH_OP:
        code = device->sick ? STANDIN_LAUNCH : device->error;
        if (!standin_is_function(op->function)) code = STANDIN_LAUNCH;
        if (!code) code = standin_run(op->function, op->grid, op->threads, op->data);
        break;
    case STANDIN_COPY_OP: run_copy(device, op); break;
    case STANDIN_SET_OP: run_set(device, op); break;
    case STANDIN_RECORD_OP:
        op->event->done = op->ticket;
        op->event->time = now();
        break;
    case STANDIN_WAIT_OP: run_wait(op); break;
    case STANDIN_CALL_OP: code = op->call(op->data); break;
    }
    standin_access(false);
    if (code && !device->error) device->error = code;
}

static void run_first(struct standin_stream *stream) {
    struct standin_op *op = stream->first;
    stream->first = op->next;
    if (!stream->first) stream->last = &stream->first;
    run(stream, op);
    free(op);
}

static void flush(struct standin_stream *stream) {
    while (stream->first) run_first(stream);
}

/* The null stream waits for the streams that wait for it, and they for it. */
static void settle(struct standin_stream *stream) {
    struct standin_stream *null = stream->device->null_stream;
    if (stream == null) {
        for (struct standin_stream *s = streams; s; s = s->next)
            if (s != null && s->device == stream->device && s->magic == STREAM && s->blocking) flush(s);
    } else if (null && stream->blocking) {
        flush(null);
    }
}

static struct standin_op *make_op(enum standin_op_kind kind, const void *data, size_t nbytes) {
    struct standin_op *op = calloc(1, sizeof *op + nbytes);
    if (!op) abort();
    op->kind = kind;
    op->nbytes = nbytes;
    if (nbytes) memcpy(op->data, data, nbytes);
    return op;
}

static int queue(struct standin_stream *stream, struct standin_op *op) {
    if (stream->capture) {
        *stream->capture->last = op;
        stream->capture->last = &op->next;
        return STANDIN_OK;
    }
    settle(stream);
    if (standin_settings.defer) {
        *stream->last = op;
        stream->last = &op->next;
    } else {
        run(stream, op);
        free(op);
    }
    return STANDIN_OK;
}

/* ---- streams ---- */

static bool is_stream(const struct standin_stream *stream) {
    for (const struct standin_stream *s = streams; s; s = s->next)
        if (s == stream) return s->magic == STREAM;
    return false;
}

static struct standin_stream *make_stream(struct standin_device *device, bool blocking) {
    struct standin_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->magic = STREAM;
    stream->device = device;
    stream->blocking = blocking;
    stream->last = &stream->first;
    stream->next = streams;
    streams = stream;
    return stream;
}

struct standin_stream *standin_stream_of(struct standin_device *device, void *handle) {
    if (!handle) {
        if (!device->null_stream) device->null_stream = make_stream(device, true);
        return device->null_stream;
    }
    struct standin_stream *stream = handle;
    return is_stream(stream) && stream->device == device ? stream : NULL;
}

int standin_stream_create(struct standin_device *device, bool blocking, struct standin_stream **stream) {
    *stream = make_stream(device, blocking);
    if (!*stream) return STANDIN_MEMORY;
    standin_live_of[STANDIN_STREAM]++;
    return STANDIN_OK;
}

int standin_stream_destroy(struct standin_stream *stream) {
    if (!is_stream(stream) || stream == stream->device->null_stream) return STANDIN_HANDLE;
    flush(stream);
    stream->magic = STANDIN_DEAD;
    standin_live_of[STANDIN_STREAM]--;
    return STANDIN_OK;
}

/* What can't be done to a stream that captures ends the capture. */
static int refuse_capture(struct standin_stream *stream) {
    if (!stream->capture) return STANDIN_OK;
    stream->invalidated = true;
    return STANDIN_CAPTURE_UNSUPPORTED;
}

int standin_not_capturing(void) {
    for (struct standin_stream *s = streams; s; s = s->next)
        if (s->capture && s->capture_mode != 2) return refuse_capture(s);
    return STANDIN_OK;
}

int standin_stream_synchronize(struct standin_stream *stream) {
    int code = refuse_capture(stream);
    if (code) return code;
    settle(stream);
    flush(stream);
    return stream->device->error;
}

/* Each question gets one thing done, so that a program that waits by asking makes way. */
int standin_stream_query(struct standin_stream *stream) {
    int code = refuse_capture(stream);
    if (code) return code;
    if (!stream->first) return stream->device->error;
    run_first(stream);
    return STANDIN_NOT_READY;
}

int standin_device_synchronize(struct standin_device *device) {
    for (struct standin_stream *s = streams; s; s = s->next)
        if (s->device == device) flush(s);
    return device->error;
}

/* ---- events ---- */

int standin_event_create(struct standin_device *device, bool timing, struct standin_event **out) {
    struct standin_event *event = calloc(1, sizeof *event);
    *out = event;
    if (!event) return STANDIN_MEMORY;
    event->magic = EVENT;
    event->device = device;
    event->timing = timing;
    event->next = events;
    events = event;
    standin_live_of[STANDIN_EVENT]++;
    return STANDIN_OK;
}

int standin_event_destroy(struct standin_event *event) {
    if (!is_event(event)) return STANDIN_HANDLE;
    event->magic = STANDIN_DEAD;
    standin_live_of[STANDIN_EVENT]--;
    return STANDIN_OK;
}

int standin_event_record(struct standin_event *event, struct standin_stream *stream) {
    if (!is_event(event)) return STANDIN_HANDLE;
    if (event->device != stream->device) return STANDIN_HANDLE;
    struct standin_op *op = make_op(STANDIN_RECORD_OP, NULL, 0);
    op->event = event;
    op->ticket = ++event->recorded;
    event->stream = stream;
    return queue(stream, op);
}

int standin_stream_wait(struct standin_stream *stream, struct standin_event *event) {
    if (!is_event(event)) return STANDIN_HANDLE;
    if (event->recorded == 0) return STANDIN_OK;
    if ((event->stream->capture != NULL) != (stream->capture != NULL)) {
        refuse_capture(stream);
        refuse_capture(event->stream);
        return STANDIN_CAPTURE_ISOLATION;
    }
    struct standin_op *op = make_op(STANDIN_WAIT_OP, NULL, 0);
    op->event = event;
    op->ticket = event->recorded;
    op->stream = event->stream;
    return queue(stream, op);
}

static bool done(const struct standin_event *event) { return event->done == event->recorded; }

int standin_event_synchronize(struct standin_event *event) {
    if (!is_event(event)) return STANDIN_HANDLE;
    while (!done(event) && event->stream->first) run_first(event->stream);
    return event->device->error;
}

int standin_event_query(struct standin_event *event) {
    if (!is_event(event)) return STANDIN_HANDLE;
    if (done(event)) return event->device->error;
    if (event->stream->first) run_first(event->stream);
    return STANDIN_NOT_READY;
}

int standin_event_elapsed(float *ms, struct standin_event *from, struct standin_event *to) {
    if (!is_event(from) || !is_event(to) || !from->timing || !to->timing) return STANDIN_HANDLE;
    if (from->recorded == 0 || to->recorded == 0) return STANDIN_HANDLE;
    if (!done(from) || !done(to)) return STANDIN_NOT_READY;
    *ms = (float)(to->time - from->time);
    return STANDIN_OK;
}

/* ---- graphs ---- */

static struct standin_graph *graphs;

static struct standin_graph *make_graph(int device) {
    struct standin_graph *graph = calloc(1, sizeof *graph);
    if (!graph) abort();
    graph->magic = GRAPH;
    graph->last = &graph->first;
    graph->device = device;
    graph->next = graphs;
    graphs = graph;
    return graph;
}

static struct standin_op *copy_op(const struct standin_op *op) {
    struct standin_op *copy = malloc(sizeof *copy + op->nbytes);
    if (!copy) abort();
    memcpy(copy, op, sizeof *op + op->nbytes);
    copy->next = NULL;
    return copy;
}

static void free_graph(struct standin_graph *graph) {
    while (graph->first) {
        struct standin_op *op = graph->first;
        graph->first = op->next;
        free(op);
    }
    struct standin_graph **link = &graphs;
    while (*link != graph) link = &(*link)->next;
    *link = graph->next;
    graph->magic = STANDIN_DEAD;
    free(graph);
}

int standin_capture_begin(struct standin_stream *stream, int mode) {
    if (stream->capture || stream == stream->device->null_stream) return STANDIN_CAPTURE_UNSUPPORTED;
    stream->capture = make_graph(stream->device->ordinal);
    stream->capture_mode = mode;
    stream->invalidated = false;
    return STANDIN_OK;
}

int standin_capture_end(struct standin_stream *stream, struct standin_graph **graph) {
    *graph = NULL;
    if (!stream->capture) return STANDIN_VALUE;
    struct standin_graph *captured = stream->capture;
    stream->capture = NULL;
    if (stream->invalidated) {
        free_graph(captured);
        return STANDIN_CAPTURE_INVALIDATED;
    }
    *graph = captured;
    standin_live_of[STANDIN_GRAPH]++;
    return STANDIN_OK;
}

int standin_graph_instantiate(struct standin_graph **executable, const struct standin_graph *graph) {
    *executable = NULL;
    if (!graph || graph->magic != GRAPH || graph->executable) return STANDIN_VALUE;
    *executable = make_graph(graph->device);
    (*executable)->executable = true;
    for (const struct standin_op *op = graph->first; op; op = op->next) {
        struct standin_op *copy = copy_op(op);
        *(*executable)->last = copy;
        (*executable)->last = &copy->next;
    }
    standin_live_of[STANDIN_GRAPH]++;
    return STANDIN_OK;
}

int standin_graph_launch(struct standin_graph *executable, struct standin_stream *stream) {
    if (!executable || executable->magic != GRAPH || !executable->executable) return STANDIN_VALUE;
    if (executable->device != stream->device->ordinal) return STANDIN_HANDLE;
    if (stream->device->error) return stream->device->error;
    for (const struct standin_op *op = executable->first; op; op = op->next) {
        struct standin_op *copy = copy_op(op);
        if (copy->kind == STANDIN_RECORD_OP) {
            copy->ticket = ++copy->event->recorded;
            copy->event->stream = stream;
        }
        queue(stream, copy);
    }
    return STANDIN_OK;
}

int standin_graph_destroy(struct standin_graph *graph, bool executable) {
    if (!graph || graph->magic != GRAPH || graph->executable != executable) return STANDIN_VALUE;
    free_graph(graph);
    standin_live_of[STANDIN_GRAPH]--;
    return STANDIN_OK;
}

/* ---- copies, sets, launches ---- */

/* 'd' for device memory, 'p' for pinned, 'h' for any other of the host, 0 when it is not what was said. */
static char memory_kind(const void *p, size_t n, char said) {
    const struct standin_allocation *a = standin_find(p, n), *begins = standin_find(p, 0);
    if (begins && !begins->pinned && !a) return 0; /* runs over the end */
    if (said == 'd' && !(a && !a->pinned)) return a && a->pinned ? 'p' : 0;
    if (said == 'h' && a && !a->pinned) return 0;
    return a ? a->pinned ? 'p' : 'd' : 'h';
}

/* Bytes of pageable memory are read before the call returns, and written before it does, as drivers do; `wait` asks for
 * the latter whatever the memory. */
int standin_copy(void *to, const void *from, size_t n, const char *kinds, struct standin_stream *stream, bool wait) {
    if (n == 0) return STANDIN_OK;
    if (!to || !from) return STANDIN_VALUE;
    char to_kind = memory_kind(to, n, kinds[0]), from_kind = memory_kind(from, n, kinds[1]);
    if (!to_kind || !from_kind) return STANDIN_VALUE;
    if (stream->device->error) return stream->device->error;
    wait = wait || to_kind == 'h';
    if (stream->capture && (wait || from_kind == 'h')) return refuse_capture(stream);
    bool keep = from_kind == 'h' && standin_settings.defer;
    struct standin_op *op = make_op(STANDIN_COPY_OP, from, keep ? n : 0);
    op->to = to;
    op->from = from;
    op->n = n;
    op->value = (unsigned char)to_kind;
    op->width = (unsigned char)from_kind;
    if (keep) op->width = 'h';
    int code = queue(stream, op);
    if (!code && wait) code = standin_stream_synchronize(stream);
    return code;
}

int standin_set(void *to, unsigned value, unsigned width, size_t count, struct standin_stream *stream, bool wait) {
    if (count == 0) return STANDIN_OK;
    if (!standin_find(to, count * width)) return STANDIN_VALUE;
    if (stream->device->error) return stream->device->error;
    if (stream->capture && wait) return refuse_capture(stream);
    struct standin_op *op = make_op(STANDIN_SET_OP, NULL, 0);
    op->to = to;
    op->n = count;
    op->value = value;
    op->width = width;
    int code = queue(stream, op);
    if (!code && wait) code = standin_stream_synchronize(stream);
    return code;
}

int standin_call(struct standin_stream *stream, int (*call)(const void *), const void *arguments, size_t nbytes) {
    if (stream->device->error) return stream->device->error;
    struct standin_op *op = make_op(STANDIN_CALL_OP, arguments, nbytes);
    op->call = call;
    return queue(stream, op);
}

/* A kernel of ours has one parameter: args[0], or `packed` with its size. */
int standin_launch(struct standin_function *function, const unsigned grid[3], const unsigned block[3], void **args,
                   const void *packed, size_t packed_size, struct standin_stream *stream) {
    if (!standin_is_function(function)) return STANDIN_HANDLE;
    if (function->module->device != stream->device) return STANDIN_HANDLE;
    const struct gpu_host_kernel *kernel = function->kernel;
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || grid[0] > 0x7fffffff || grid[1] > 65535 || grid[2] > 65535)
        return STANDIN_VALUE;
    if (block[0] == 0 || block[1] != 1 || block[2] != 1 || block[0] > kernel->threads) return STANDIN_VALUE;
    if (packed ? packed_size < kernel->size : !args || !args[0]) return STANDIN_VALUE;
    if (stream->device->error) return stream->device->error;
    struct standin_op *op = make_op(STANDIN_LAUNCH_OP, packed ? packed : args[0], kernel->size);
    op->function = function;
    memcpy(op->grid, grid, sizeof op->grid);
    op->threads = block[0];
    return queue(stream, op);
}
