/* Lists of calls, kept with their tensors: what a record holds, and a graph of a family that has none of its own. */
#ifndef WICK_OPS_RECORD_H
#define WICK_OPS_RECORD_H

#include "backend.h"

#include <wick/record.h>

#include <stdatomic.h>

struct wick__calls {
    struct wick__call *calls;
    int64_t n, room;
    enum wick_status failed;   /* what adding a call came to */
    struct wick__trail *trail; /* of a graph, for families that record it and find failures late */
};

/* Appends a copy of the call that holds its operands and results. */
enum wick_status wick__calls_add(struct wick__calls *list, const struct wick__call *call);

/* Whether calls of this thread on the device are added to its list instead of run. Families with graphs of their own
 * record below. */
static inline bool wick__device_records(const struct wick_device *device) {
    return !device->backend->graph_begin && wick__device_recording(device);
}

/* Whether the family itself records the calls of this thread on the device now. */
static inline bool wick__device_captures(const struct wick_device *device) {
    return device->backend->graph_begin && wick__device_recording(device);
}

/* Does again what the calls did, in order, up to the first failure. */
enum wick_status wick__calls_again(const struct wick__calls *list);

/* Releases the tensors and the list. */
void wick__calls_free(struct wick__calls *list);

/* How many threads record: as a rule none, which costs a call one look. */
extern atomic_int wick__recorders;

/* Whether this thread records. */
bool wick__thread_records(void);

static inline bool wick__records(void) {
    return atomic_load_explicit(&wick__recorders, memory_order_relaxed) != 0 && wick__thread_records();
}

/* Appends a call to this thread's record. What fails is told by wick_record_end. */
void wick__record_add(const struct wick__call *call);

/* Hides what is called in between from this thread's record: wick__record_resume(wick__record_pause()). */
struct wick_record *wick__record_pause(void);
void wick__record_resume(struct wick_record *paused);

/* The parameters of a call, "dim=1 start=2", into text; returns the length it wants, as snprintf does. */
size_t wick__params_text(const struct wick__call *call, char *text, size_t nbytes);

/* Whether the family of ops is known there, with parameters or without. */
bool wick__params_known(const char *family);

#endif
