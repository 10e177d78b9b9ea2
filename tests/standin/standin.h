/* The stand-in driver: a GPU made of the processor, for tests. This is its engine, under the two ABIs of hip.c and
 * cuda.c. It runs kernel modules that were compiled for the processor (kernels/host.h), one thread of a block at a
 * time, and watches what is done to it: live objects, misuse of handles, memory written past its end. See README.md.
 *
 * Everything is under one lock, from standin_enter to standin_leave. Functions return the codes below. */
#ifndef STANDIN_H
#define STANDIN_H

#include "kernels/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* HIP's and CUDA's numbers, where the two agree. */
enum standin_code {
    STANDIN_OK = 0,
    STANDIN_VALUE = 1,
    STANDIN_MEMORY = 2,
    STANDIN_NOT_INITIALIZED = 3,
    STANDIN_NO_DEVICE = 100,
    STANDIN_DEVICE = 101,
    STANDIN_IMAGE = 200,
    STANDIN_CONTEXT = 201,
    STANDIN_NO_BINARY = 209,
    STANDIN_PEER_UNSUPPORTED = 217,
    STANDIN_HANDLE = 400,
    STANDIN_NOT_FOUND = 500,
    STANDIN_NOT_READY = 600,
    STANDIN_ILLEGAL_ADDRESS = 700,
    STANDIN_PEER_ENABLED = 704,
    STANDIN_PEER_DISABLED = 705,
    STANDIN_LAUNCH = 719,
    STANDIN_CAPTURE_UNSUPPORTED = 900,
    STANDIN_CAPTURE_INVALIDATED = 901,
    STANDIN_CAPTURE_ISOLATION = 905,
    STANDIN_UNKNOWN = 999
};
const char *standin_code_name(int code); /* "OutOfMemory"; "Unknown" for others */
const char *standin_code_text(int code);

/* ---- what an ABI says of itself ---- */
struct standin_abi {
    const char *name;                  /* "libamdhip64" */
    const char *default_device;        /* its target */
    bool (*takes)(const char *target); /* whether a device of STANDIN_DEVICES is this vendor's */
};
extern const struct standin_abi standin_abi;

/* ---- settings, faults on demand, reports (config.c) ---- */
enum { STANDIN_DEVICES = 8 };
struct standin_device {
    int ordinal;
    char target[64];
    int wave;
    bool sick; /* its launches fail */
    bool integrated;
    int error; /* sticky: what a launch or a copy met */
    size_t used;
    int contexts;   /* times its primary context is held */
    unsigned peers; /* bits of the devices it may reach */
    struct standin_stream *null_stream;
};
extern struct standin_device standin_devices[STANDIN_DEVICES];
extern int standin_device_count;
struct standin_settings {
    size_t memory;
    bool defer, protect, page;
    unsigned long seed;
    const char *blas; /* "", "wrong", "refuse" */
};
extern struct standin_settings standin_settings;

/* A function of the ABI. */
struct standin_entry {
    const char *name;
    long calls;
    struct standin_entry *next;
};
/* Takes the lock and counts the call; the code to fail with when STANDIN_FAIL says so, else 0. */
int standin_enter(struct standin_entry *entry);
/* Gives the lock back; returns code. */
int standin_leave(int code);
#define STANDIN_ENTER(function)                                                                                        \
    static struct standin_entry entry_ = {.name = #function};                                                          \
    {                                                                                                                  \
        int failed_ = standin_enter(&entry_);                                                                          \
        if (failed_) return standin_leave(failed_);                                                                    \
    }
/* What the tests must not overlook: to stderr and the report file. */
__attribute__((format(printf, 1, 2))) void standin_complain(const char *format, ...);

/* Live objects by kind. */
enum standin_kind {
    STANDIN_ALLOCATION,
    STANDIN_PINNED,
    STANDIN_STREAM,
    STANDIN_EVENT,
    STANDIN_MODULE,
    STANDIN_GRAPH,
    STANDIN_BLAS,
    STANDIN_KINDS
};
extern long standin_live_of[STANDIN_KINDS];

/* ---- memory (memory.c) ---- */
struct standin_allocation {
    char *base;
    size_t size;
    struct standin_device *device; /* that it was allocated for */
    bool pinned;                   /* host memory */
    char *map;
    size_t mapped;
};
int standin_malloc(struct standin_device *device, size_t size, bool pinned, void **memory);
int standin_free(void *memory, bool pinned);
/* The live allocation that holds the n bytes at p; NULL when there is none. */
const struct standin_allocation *standin_find(const void *p, size_t n);
/* Opens device memory to the processor, or closes it, when STANDIN_PROTECT is set. Calls nest. */
void standin_access(bool open);
/* Looks at the guards of all allocations. */
void standin_check_guards(void);

/* ---- work (stream.c): queued when STANDIN_DEFER is set, done at once otherwise ---- */
struct standin_function;
enum standin_op_kind {
    STANDIN_LAUNCH_OP,
    STANDIN_COPY_OP,
    STANDIN_SET_OP,
    STANDIN_RECORD_OP,
    STANDIN_WAIT_OP,
    STANDIN_CALL_OP
};
struct standin_op {
    struct standin_op *next;
    enum standin_op_kind kind;
    struct standin_function *function;
    unsigned grid[3], threads;
    void *to;
    const void *from;
    size_t n;
    unsigned value, width; /* of a set */
    struct standin_event *event;
    struct standin_stream *stream; /* of a wait: the one the event was recorded on */
    long ticket;
    int (*call)(const void *arguments); /* a code */
    size_t nbytes;                      /* of data */
    char data[]; /* of a launch: the parameters, of a call: its arguments, of a copy: bytes of pageable memory */
};
struct standin_graph {
    struct standin_graph *next; /* of all that there are: what could not be given back is no leak of the stand-in's */
    struct standin_op *first, **last;
    int device;
    bool executable;
    unsigned magic;
};
struct standin_stream {
    unsigned magic;
    struct standin_device *device;
    bool blocking; /* waits for the null stream and it for this */
    struct standin_op *first, **last;
    struct standin_graph *capture;
    int capture_mode; /* 0 global, 1 thread, 2 relaxed */
    bool invalidated;
    struct standin_stream *next;
};
struct standin_event {
    unsigned magic;
    struct standin_device *device;
    bool timing;
    long recorded, done;           /* how often */
    struct standin_stream *stream; /* of the latest record */
    double time;                   /* ms */
    struct standin_event *next;
};
int standin_stream_create(struct standin_device *device, bool blocking, struct standin_stream **stream);
int standin_stream_destroy(struct standin_stream *stream);
/* The stream of a handle, NULL being the device's null stream; NULL when it is none. */
struct standin_stream *standin_stream_of(struct standin_device *device, void *handle);
int standin_stream_synchronize(struct standin_stream *stream);
int standin_stream_query(struct standin_stream *stream);
int standin_stream_wait(struct standin_stream *stream, struct standin_event *event);
int standin_device_synchronize(struct standin_device *device);
/* Refuses what can't be done while a stream of this thread captures. */
int standin_not_capturing(void);
int standin_event_create(struct standin_device *device, bool timing, struct standin_event **event);
int standin_event_destroy(struct standin_event *event);
int standin_event_record(struct standin_event *event, struct standin_stream *stream);
int standin_event_synchronize(struct standin_event *event);
int standin_event_query(struct standin_event *event);
int standin_event_elapsed(float *ms, struct standin_event *from, struct standin_event *to);
int standin_capture_begin(struct standin_stream *stream, int mode);
int standin_capture_end(struct standin_stream *stream, struct standin_graph **graph);
int standin_graph_instantiate(struct standin_graph **executable, const struct standin_graph *graph);
int standin_graph_launch(struct standin_graph *executable, struct standin_stream *stream);
int standin_graph_destroy(struct standin_graph *graph, bool executable);
/* Copies: `kinds` says what `to` and `from` are: 'h' host, 'd' device, '?' to be found out. */
int standin_copy(void *to, const void *from, size_t n, const char *kinds, struct standin_stream *stream, bool wait);
int standin_set(void *to, unsigned value, unsigned width, size_t count, struct standin_stream *stream, bool wait);
int standin_call(struct standin_stream *stream, int (*call)(const void *), const void *arguments, size_t nbytes);
int standin_launch(struct standin_function *function, const unsigned grid[3], const unsigned block[3], void **args,
                   const void *packed, size_t packed_size, struct standin_stream *stream);

/* ---- code (module.c, exec.c) ---- */
struct standin_module {
    unsigned magic;
    struct standin_device *device;
    struct gpu_host *host;
    void *library;
    int file;
    struct standin_function *functions;
    struct standin_module *next;
};
struct standin_function {
    unsigned magic;
    char name[128];
    struct standin_module *module;
    const struct gpu_host_kernel *kernel;
    struct standin_function *next;
};
int standin_module_load(struct standin_device *device, const void *image, struct standin_module **module);
int standin_module_unload(struct standin_module *module);
int standin_module_function(struct standin_module *module, const char *name, struct standin_function **function);
bool standin_is_function(const void *handle);
/* Runs a kernel over a grid; STANDIN_LAUNCH when threads of a block wait for ever. */
int standin_run(const struct standin_function *function, const unsigned grid[3], unsigned threads, const void *params);

enum { STANDIN_DEAD = 0xdead };

#endif
