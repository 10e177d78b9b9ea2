/* A driver of simulated GPUs: what the two ABIs over it (hip*.c, and CUDA's in tests/standin) and the two engines under
 * it share. An engine is what runs code: gfxsim's runs machine code of AMD's GPUs (engine.c), that of tests/standin
 * kernels compiled for the processor. A library has one of each.
 *
 * Everything is under one lock, from driver_enter to driver_leave. Functions return the codes below. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* HIP's and CUDA's numbers, where the two agree. */
enum driver_code {
    DRIVER_OK = 0,
    DRIVER_VALUE = 1,
    DRIVER_MEMORY = 2,
    DRIVER_NOT_INITIALIZED = 3,
    DRIVER_CONFIGURATION = 9,
    DRIVER_PITCH = 12,
    DRIVER_NO_CONFIGURATION = 52,
    DRIVER_DEVICE_FUNCTION = 98,
    DRIVER_NO_DEVICE = 100,
    DRIVER_DEVICE = 101,
    DRIVER_IMAGE = 200,
    DRIVER_CONTEXT = 201,
    DRIVER_NO_BINARY = 209,
    DRIVER_PEER_UNSUPPORTED = 217,
    DRIVER_FILE = 301,
    DRIVER_HANDLE = 400,
    DRIVER_NOT_FOUND = 500,
    DRIVER_NOT_READY = 600,
    DRIVER_ILLEGAL_ADDRESS = 700,
    DRIVER_PEER_ENABLED = 704,
    DRIVER_PEER_DISABLED = 705,
    DRIVER_LAUNCH = 719,
    DRIVER_COOPERATIVE_TOO_LARGE = 720,
    DRIVER_NOT_PERMITTED = 800,
    DRIVER_CAPTURE_UNSUPPORTED = 900,
    DRIVER_CAPTURE_INVALIDATED = 901,
    DRIVER_CAPTURE_ISOLATION = 905,
    DRIVER_UNKNOWN = 999
};
const char *driver_code_name(int code); /* "OutOfMemory"; "Unknown" for others */
const char *driver_code_text(int code);

/* ---- what an ABI says of itself ---- */
struct driver_abi {
    const char *name;                  /* "libamdhip64" */
    bool (*takes)(const char *target); /* whether a device of the list is this vendor's */
};
extern const struct driver_abi driver_abi;

/* ---- settings, faults on demand, reports (settings.c) ---- */
enum { DRIVER_DEVICES = 8 };
struct driver_device {
    int ordinal;
    /* What engine_device says. */
    char target[64]; /* "gfx90a:sramecc+:xnack-" */
    char name[128];
    int wave, units, unit_threads, major, minor, clock, memory_clock, memory_bus, l2; /* kHz, bits, bytes */
    size_t memory, shared; /* bytes of the device, of a block */
    bool integrated;
    /* What became of it. */
    long launches, lost_at; /* it is lost with its launch of this number; 0: never */
    int error;              /* sticky: what a launch or a copy met */
    size_t used;
    int contexts;   /* times its primary context is held */
    unsigned peers; /* bits of the devices it may reach */
    struct driver_stream *null_stream;
};
extern struct driver_device driver_devices[DRIVER_DEVICES];
extern int driver_device_count;
/* What the driver says of it: the same, or the setting COUNT, for drivers that lie. */
int driver_count(void);
extern bool driver_defer; /* work waits in its stream until something waits for it */
/* The value of a setting, NAME with the engine's prefix; "" when it is not there. */
const char *driver_setting(const char *name);

/* A function of the ABI. */
struct driver_entry {
    const char *name;
    long calls;
    struct driver_entry *next;
};
/* Takes the lock and counts the call; the code to fail with when the setting FAIL says so, else 0. */
int driver_enter(struct driver_entry *entry);
/* Gives the lock back; returns code. */
int driver_leave(int code);
/* Calls a function of the program. The lock stays taken: what the function calls of the ABI fails, as drivers have it,
 * with DRIVER_NOT_PERMITTED. */
void driver_call_host(void (*function)(void *), void *data);
#define DRIVER_ENTER(function)                                                                                         \
    static struct driver_entry entry_ = {.name = #function};                                                           \
    {                                                                                                                  \
        int failed_ = driver_enter(&entry_);                                                                           \
        if (failed_) return driver_leave(failed_);                                                                     \
    }
/* What tests must not overlook: to stderr and the report file. */
__attribute__((format(printf, 1, 2))) void driver_complain(const char *format, ...);
/* Objects that the caller has not given back, and complaints so far, with what the engine finds when it looks. Both
 * take the lock. */
long driver_live(void);
int driver_complaints(void);
/* How often a function of the interface was called. */
long driver_calls(const char *name);

/* Live objects by kind. */
enum driver_kind {
    DRIVER_ALLOCATION,
    DRIVER_PINNED,
    DRIVER_STREAM,
    DRIVER_EVENT,
    DRIVER_MODULE,
    DRIVER_GRAPH,
    DRIVER_BLAS,
    DRIVER_KINDS
};
extern long driver_live_of[DRIVER_KINDS];

/* ---- memory (memory.c) ---- */
struct driver_allocation {
    char *base;
    size_t size;
    struct driver_device *device; /* that it was allocated for */
    bool pinned;                  /* host memory */
    unsigned flags;               /* of the call that made it */
};
int driver_malloc(struct driver_device *device, size_t size, bool pinned, unsigned flags, void **memory);
int driver_free(void *memory, bool pinned);
/* The live allocation that holds the n bytes at p; NULL when there is none. */
const struct driver_allocation *driver_find(const void *p, size_t n);
/* All live allocations, by address. */
const struct driver_allocation *driver_allocations(size_t *n);

/* How a kernel is launched. */
struct driver_shape {
    unsigned grid[3], block[3]; /* blocks, threads */
    unsigned rest[3];           /* threads of the last block where it is smaller, else 0 */
    unsigned shared;            /* bytes of a block besides what the kernel has */
    bool cooperative;           /* all blocks run at once, so that they may wait for each other */
};

/* ---- work (stream.c): queued when driver_defer is set, done at once otherwise ---- */
struct driver_function;
enum driver_op_kind {
    DRIVER_LAUNCH_OP,
    DRIVER_COPY_OP,
    DRIVER_SET_OP,
    DRIVER_RECORD_OP,
    DRIVER_WAIT_OP,
    DRIVER_CALL_OP,
    DRIVER_FREE_OP
};
/* n bytes, or `rows` times n of them at distances. `kinds` says what `to` and `from` are: 'h' host, 'd' device, '?' to
 * be found out. */
struct driver_copy {
    void *to;
    const void *from;
    size_t n, rows, to_pitch, from_pitch;
    char kinds[2];
};
struct driver_op {
    struct driver_op *next;
    enum driver_op_kind kind;
    struct driver_function *function;
    struct driver_shape shape;
    struct driver_copy copy;
    void *to; /* of a set or a free */
    size_t n;
    unsigned value, width; /* of a set */
    struct driver_event *event;
    struct driver_stream *stream; /* of a wait: the one the event was recorded on */
    long ticket;
    int (*call)(const void *arguments); /* a code */
    size_t nbytes;                      /* of data */
    char data[]; /* of a launch: the parameters, of a call: its arguments, of a copy: bytes of pageable memory */
};
struct driver_graph {
    struct driver_graph *next; /* of all that there are: what could not be given back is not a leak of the driver's */
    struct driver_op *first, **last;
    int device;
    bool executable;
    unsigned magic;
};
struct driver_stream {
    unsigned magic;
    struct driver_device *device;
    bool blocking; /* waits for the null stream and it for this */
    struct driver_op *first, **last;
    struct driver_graph *capture;
    int capture_mode; /* 0 global, 1 thread, 2 relaxed */
    bool invalidated;
    struct driver_stream *next;
};
struct driver_event {
    unsigned magic;
    struct driver_device *device;
    bool timing;
    long recorded, done;          /* how often */
    struct driver_stream *stream; /* of the latest record */
    double time;                  /* ms */
    struct driver_event *next;
};
int driver_stream_create(struct driver_device *device, bool blocking, struct driver_stream **stream);
int driver_stream_destroy(struct driver_stream *stream);
/* The stream of a handle, NULL being the device's null stream; NULL when it is none. */
struct driver_stream *driver_stream_of(struct driver_device *device, void *handle);
int driver_stream_synchronize(struct driver_stream *stream);
int driver_stream_query(struct driver_stream *stream);
int driver_stream_wait(struct driver_stream *stream, struct driver_event *event);
int driver_device_synchronize(struct driver_device *device);
/* Refuses what can't be done while a stream of this thread captures. */
int driver_not_capturing(void);
/* What can't be done to a stream that captures ends the capture. */
int driver_refuse_capture(struct driver_stream *stream);
int driver_event_create(struct driver_device *device, bool timing, struct driver_event **event);
int driver_event_destroy(struct driver_event *event);
int driver_event_record(struct driver_event *event, struct driver_stream *stream);
int driver_event_synchronize(struct driver_event *event);
int driver_event_query(struct driver_event *event);
int driver_event_elapsed(float *ms, struct driver_event *from, struct driver_event *to);
int driver_capture_begin(struct driver_stream *stream, int mode);
int driver_capture_end(struct driver_stream *stream, struct driver_graph **graph);
int driver_graph_instantiate(struct driver_graph **executable, const struct driver_graph *graph);
int driver_graph_launch(struct driver_graph *executable, struct driver_stream *stream);
int driver_graph_destroy(struct driver_graph *graph, bool executable);
/* A copy of n bytes, or of rows. Bytes of pageable memory are read before the call returns, and written before it does,
 * as drivers do; `wait` asks for the latter whatever the memory. */
int driver_copy(void *to, const void *from, size_t n, const char *kinds, struct driver_stream *stream, bool wait);
int driver_copy_rows(const struct driver_copy *copy, struct driver_stream *stream, bool wait);
int driver_set(void *to, unsigned value, unsigned width, size_t count, struct driver_stream *stream, bool wait);
int driver_call(struct driver_stream *stream, int (*call)(const void *), const void *arguments, size_t nbytes);
/* Gives device memory back when the stream comes to it. */
int driver_free_later(struct driver_stream *stream, void *memory);
/* The parameters of a kernel: a pointer to each, or all of them in `packed`, of `size` bytes. */
struct driver_parameters {
    void **each;
    const void *packed;
    size_t size;
};
int driver_launch(struct driver_function *function, const struct driver_shape *shape,
                  const struct driver_parameters *parameters, struct driver_stream *stream);

/* ---- code (module.c) ---- */
struct driver_argument {
    uint32_t offset, size;
};
struct driver_function {
    struct driver_module *module;
    const void *kernel; /* the engine's */
    size_t nbytes;      /* of its parameters */
    const struct driver_argument *args;
    unsigned n_args;
    struct driver_function *next;
    char name[];
};
struct driver_module {
    unsigned magic;
    struct driver_device *device;
    void *code; /* the engine's */
    struct driver_function *functions;
    struct driver_module *next;
};
/* SIZE_MAX bytes where only the image's own headers tell. */
int driver_module_load(struct driver_device *device, const void *image, size_t nbytes, struct driver_module **module);
int driver_module_unload(struct driver_module *module);
bool driver_is_module(const void *handle);
int driver_module_function(struct driver_module *module, const char *name, struct driver_function **function);
bool driver_is_function(const void *handle);

/* ---- the engine ---- */
extern const char engine_name[];            /* of messages; in capitals, with _, the prefix of settings */
extern const char engine_default_devices[]; /* a list, of all vendors */
/* Reads the settings that are the engine's own; once, before all else. */
void engine_settings(void);
/* Fills in what a device is, its target being what the list says; false when there is no such target. */
bool engine_device(struct driver_device *device);
/* Memory a kernel can reach, at a multiple of 256; NULL. */
void *engine_allocate(size_t size, bool pinned);
void engine_free(const struct driver_allocation *allocation);
/* Opens device memory to the processor, or closes it. Calls nest. */
void engine_access(bool open);
/* After n bytes were copied within reach of kernels, or set. */
void engine_copied(void *to, const void *from, size_t n);
void engine_set(void *to, size_t n);
/* Complains of what is only found by looking; `end` at the end of the process. How much it has found wrong itself. */
long engine_check(bool end);
/* Loads an image, with nbytes as above. A code, DRIVER_IMAGE or DRIVER_NO_BINARY among them. */
int engine_load(struct driver_device *device, const void *image, size_t nbytes, void **code);
void engine_unload(void *code);
/* Fills kernel and parameters of a function; false when the code has none of that name. */
bool engine_function(void *code, struct driver_function *function);
/* A global of the code and its bytes; NULL. */
void *engine_global(void *code, const char *name, size_t *size);
/* The code of a launch that can't be. Neither grid nor block has a 0. */
int engine_accepts(const struct driver_function *function, const struct driver_shape *shape);
/* Runs it to its end. */
int engine_run(const struct driver_function *function, const struct driver_shape *shape, const void *params,
               size_t nbytes);
/* Blocks of so many threads, with so much LDS besides what the function has, that a unit holds. */
int engine_occupancy(const struct driver_function *function, unsigned threads, size_t shared);

enum { DRIVER_DEAD = 0xdead };

#endif
