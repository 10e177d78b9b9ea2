/* Devices as tensors see them: a counted handle, and memory. What else a family can do is backend.h's. */
#ifndef WICK_CORE_DEVICE_H
#define WICK_CORE_DEVICE_H

#include "core/error.h"
#include "core/thread.h"

#include <wick/device.h>

#include <stdatomic.h>

struct wick__calls;
struct wick__backend;
struct wick__late;

/* A family's memory: what tensors need of their device. */
struct wick__heap {
    /* Whether buffers are host memory, which the caller may read, write and hand in. */
    bool host_visible;
    /* A buffer of nbytes > 0, aligned to 64 bytes, contents undefined. On failure *data stays as it was. */
    enum wick_status (*alloc)(struct wick_device *device, size_t nbytes, void **data);
    /* Gives a buffer back; work already queued may still use it. Can't fail. */
    void (*free)(struct wick_device *device, void *data, size_t nbytes);
    /* Waits for the work queued so far, whatever it comes to, unless the device records a graph. NULL for families that
     * queue nothing. */
    void (*settle)(struct wick_device *device);
    /* How failures are found after a call was queued; NULL for families that find them at once. */
    const struct wick__late *late;
    /* Undoes the family's open, after the last tensor is gone. Can't fail. */
    void (*close)(struct wick_device *device);
};

struct wick_device {
    const struct wick__heap *heap; /* the backend's */
    const struct wick__backend *backend;
    atomic_int refs;    /* the handle, and one for each storage */
    atomic_bool closed; /* the handle was given back */
    int ordinal;
    unsigned forks; /* wick__forks when it was opened */
    char name[24];
    void *state;                             /* the family's */
    _Atomic(struct wick__calls *) recording; /* of the graph that is recorded; NULL: none is */
    _Atomic(const void *) recorder;          /* the thread whose calls are recorded; those of others are run */
    atomic_bool row_major;                   /* results of ops of elements are, whatever the operands */
    _Atomic uint64_t seed;
    _Atomic uint64_t random_offset; /* the next Philox block that has not been handed out */
};

/* Whether the device is a parent process's, and no memory of the host. Nothing may be asked of its driver then, nor
 * waited for: what other threads of the parent had in hand is never finished here. */
bool wick__device_forked(const struct wick_device *device);

/* Checks a device argument: WICK_INVALID for NULL, WICK_CLOSED, WICK_DEVICE for one that a parent process opened. */
enum wick_status wick__device_check(const char *op, const struct wick_device *device);
/* Gives a reference back; the last one closes the device. */
void wick__device_unref(struct wick_device *device);

/* The graph that this thread records on the device; NULL: its calls are run. */
static inline struct wick__calls *wick__device_recording(const struct wick_device *device) {
    struct wick__calls *recording = atomic_load_explicit(&device->recording, memory_order_relaxed);
    if (!recording) return NULL;
    return atomic_load(&device->recorder) == wick__thread_self() ? recording : NULL;
}

/* WICK_UNSUPPORTED, with `what` in front of the text, while this thread records a graph on the device. */
enum wick_status wick__graph_refuse(const struct wick_device *device, const char *what);

#endif
