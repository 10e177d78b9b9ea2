/* Slots lie in chunks. A chunk is filled from its start, and used again once nobody asks about its suspects any more:
 * clearing it is queued behind the kernels that still write to it. One word in host memory says that any slot was
 * taken at all, so that settling a suspect looks at no device memory as long as nothing fails.
 *
 * So that a program which never reads keeps little, an event is recorded behind the last call of each chunk. Once it
 * has passed, all suspects of the chunk are settled. A device that is FULL_CHUNKS chunks behind is waited for: by then
 * its driver has more calls queued than it takes. */
#include "gpu/runtime/slots.h"

#include "core/memory.h"

#include <string.h>

enum { SLOTS = 128, FULL_CHUNKS = 8 };

struct chunk {
    struct chunk *next;
    struct gpu_slot *slots;                /* device memory */
    struct gpu_slot seen[SLOTS];           /* as last looked at */
    struct wick__suspect *suspects[SLOTS]; /* not counted; NULL: nobody asks */
    int taken, live;
    atomic_int queued;
    void *event;       /* behind the last call */
    bool recorded;     /* the event was */
    const void *graph; /* whose slots they are; NULL: the device's */
    struct wick__gpu *gpu;
};

struct wick__gpu_slots {
    pthread_mutex_t mutex;      /* recursive: settling may end a suspect, which acquits itself */
    uint32_t *raised;           /* pinned: a slot was taken since the last look */
    const void *zeros;          /* pinned: a chunk of them */
    struct chunk *current;      /* being filled */
    struct chunk *full;         /* the oldest first */
    struct chunk *owned;        /* of graphs, that being recorded first */
    const void *graph;          /* being recorded */
    struct wick__suspect *once; /* ops in place that may have failed and that nobody was told of; counted */
};

static void lock(struct wick__gpu *gpu) { pthread_mutex_lock(&gpu->slots->mutex); }
static void unlock(struct wick__gpu *gpu) { pthread_mutex_unlock(&gpu->slots->mutex); }

/* ---- chunks ---- */

static void chunk_free(struct chunk *chunk) {
    if (chunk->event) chunk->gpu->vendor->event_destroy(chunk->event);
    if (chunk->slots) wick__gpu_release(chunk->gpu, chunk->slots, SLOTS * sizeof *chunk->slots);
    wick__free(chunk, sizeof *chunk);
}

static void chunks_free(struct chunk *chunk) {
    while (chunk) {
        struct chunk *next = chunk->next;
        chunk_free(chunk);
        chunk = next;
    }
}

static struct chunk *chunk_new(struct wick__gpu *gpu) {
    void *memory;
    struct chunk *chunk = wick__calloc(1, sizeof *chunk);
    if (!chunk) return NULL;
    chunk->gpu = gpu;
    if (wick__gpu_scratch(gpu, SLOTS * sizeof *chunk->slots, &memory) != WICK_OK) {
        wick__free(chunk, sizeof *chunk);
        return NULL;
    }
    chunk->slots = memory;
    return chunk;
}

/* Queues the clearing of all slots. */
static enum wick_status chunk_clear(struct chunk *chunk) {
    chunk->taken = chunk->live = 0;
    atomic_store(&chunk->queued, 0);
    chunk->recorded = false;
    memset(chunk->seen, 0, sizeof chunk->seen);
    WICK__TRY(wick__gpu_use(chunk->gpu));
    return wick__gpu_check(chunk->gpu,
                           chunk->gpu->vendor->copy_in(chunk->slots, chunk->gpu->slots->zeros,
                                                       SLOTS * sizeof *chunk->slots, wick__gpu_queue(chunk->gpu)),
                           "clear reports");
}

enum wick_status wick__gpu_slots_open(struct wick__gpu *gpu) {
    pthread_mutexattr_t recursive;
    void *raised;
    WICK__TRY(wick__gpu_check(gpu, gpu->vendor->host_malloc(&raised, 64 + SLOTS * sizeof(struct gpu_slot)),
                              "allocate pinned memory"));
    gpu->slots = wick__calloc(1, sizeof *gpu->slots);
    if (!gpu->slots) {
        gpu->vendor->host_free(raised);
        return WICK_MEMORY;
    }
    memset(raised, 0, 64 + SLOTS * sizeof(struct gpu_slot));
    gpu->slots->raised = raised;
    gpu->slots->zeros = (char *)raised + 64;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&gpu->slots->mutex, &recursive);
    pthread_mutexattr_destroy(&recursive);
    return WICK_OK;
}

void wick__gpu_slots_close(struct wick__gpu *gpu) {
    struct wick__gpu_slots *slots = gpu->slots;
    if (!slots) return;
    chunks_free(slots->current);
    chunks_free(slots->full);
    chunks_free(slots->owned);
    gpu->vendor->host_free(slots->raised);
    pthread_mutex_destroy(&slots->mutex);
    wick__free(slots, sizeof *slots);
    gpu->slots = NULL;
}

/* ---- settling; with the mutex held ---- */

static enum wick_status look_at(struct chunk *chunk) {
    for (; chunk; chunk = chunk->next)
        if (chunk->live > 0)
            WICK__TRY(
                wick__gpu_download(chunk->gpu, chunk->seen, chunk->slots, (size_t)chunk->taken * sizeof *chunk->seen));
    return WICK_OK;
}

/* Looks at all slots if any was taken since the last time. */
static enum wick_status look(struct wick__gpu *gpu) {
    struct wick__gpu_slots *slots = gpu->slots;
    if (!__atomic_exchange_n(slots->raised, 0, __ATOMIC_ACQ_REL)) return WICK_OK;
    enum wick_status status = wick__graph_refuse(gpu->device, "looking for a failure");
    if (status == WICK_OK) status = look_at(slots->current);
    if (status == WICK_OK) status = look_at(slots->full);
    if (status == WICK_OK) status = look_at(slots->owned);
    if (status != WICK_OK) __atomic_store_n(slots->raised, 1, __ATOMIC_RELEASE);
    return status;
}

static void part(struct wick__suspect *suspect) {
    struct chunk *chunk = suspect->slot;
    if (!chunk) return;
    suspect->slot = NULL;
    if (suspect->recorded) return;
    chunk->suspects[suspect->place] = NULL;
    chunk->live--;
}

/* What the slot says, after look. */
static void judge(struct wick__suspect *suspect) {
    const struct chunk *chunk = suspect->slot;
    const struct gpu_slot *slot = &chunk->seen[suspect->place];
    suspect->where = slot->where;
    suspect->value = slot->value;
    atomic_store_explicit(&suspect->state, slot->taken ? WICK__FAILED : WICK__CLEAN, memory_order_release);
    part(suspect);
}

static enum wick_status chunk_settle(struct chunk *chunk) {
    WICK__TRY(look(chunk->gpu));
    for (int i = 0; i < chunk->taken; i++)
        if (chunk->suspects[i]) judge(chunk->suspects[i]);
    return WICK_OK;
}

/* Forgets the ops in place that did not fail, or of which somebody was told. */
static void once_prune(struct wick__gpu *gpu) {
    for (struct wick__suspect **at = &gpu->slots->once; *at;) {
        struct wick__suspect *suspect = *at;
        int state = atomic_load(&suspect->state);
        if (state == WICK__OPEN || (state == WICK__FAILED && !atomic_load(&suspect->told))) {
            at = &suspect->next;
            continue;
        }
        *at = suspect->next;
        wick__doubt_release(&suspect->doubt);
    }
}

/* ---- taking; with the mutex held ---- */

/* Settles full chunks that the device is through with, and takes one that can be used again out of the list. */
static enum wick_status reuse(struct wick__gpu *gpu, struct chunk **free) {
    struct wick__gpu_slots *slots = gpu->slots;
    int n = 0;
    for (struct chunk *chunk = slots->full; chunk; chunk = chunk->next) n++;
    for (struct chunk *chunk = slots->full; chunk; chunk = chunk->next) {
        bool done = false;
        if (chunk->live == 0 || !chunk->recorded) continue;
        if (n >= FULL_CHUNKS) {
            WICK__TRY(wick__gpu_check(gpu, gpu->vendor->event_synchronize(chunk->event), "wait for an event"));
            done = true;
        } else {
            WICK__TRY(wick__gpu_check(gpu, gpu->vendor->event_query(chunk->event, &done), "look at an event"));
        }
        if (!done) break;
        WICK__TRY(chunk_settle(chunk));
        n--;
    }
    once_prune(gpu);
    for (struct chunk **at = &slots->full; *at; at = &(*at)->next)
        if ((*at)->live == 0 && (*at)->queued == SLOTS) {
            *free = *at;
            *at = (*at)->next;
            break;
        }
    return WICK_OK;
}

/* The graph that this thread records. */
static const void *graph_of(const struct wick__gpu *gpu) { return wick__gpu_records(gpu) ? gpu->slots->graph : NULL; }

/* Makes room in the list that calls take from now. */
static enum wick_status chunk_next(struct wick__gpu *gpu, struct chunk **list) {
    struct wick__gpu_slots *slots = gpu->slots;
    struct chunk *chunk = NULL;
    if (list == &slots->current) {
        if (slots->current) {
            struct chunk **end = &slots->full;
            while (*end) end = &(*end)->next;
            *end = slots->current;
            slots->current = NULL;
        }
        WICK__TRY(reuse(gpu, &chunk));
    }
    if (!chunk) chunk = chunk_new(gpu);
    if (!chunk) return WICK_MEMORY;
    chunk->graph = graph_of(gpu);
    chunk->next = *list;
    *list = chunk;
    return chunk_clear(chunk);
}

static enum wick_status take(struct wick__gpu *gpu, struct wick__suspect *suspect) {
    struct wick__gpu_slots *slots = gpu->slots;
    const void *graph = graph_of(gpu);
    struct chunk **list = graph ? &slots->owned : &slots->current;
    if (!*list || (*list)->taken == SLOTS || (*list)->graph != graph) WICK__TRY(chunk_next(gpu, list));
    suspect->place = (*list)->taken++;
    suspect->slot = *list;
    suspect->recorded = graph != NULL;
    if (suspect->recorded) return WICK_OK;
    (*list)->suspects[suspect->place] = suspect;
    (*list)->live++;
    return WICK_OK;
}

enum wick_status wick__gpu_report(const struct wick__call *call, enum wick__evidence finding,
                                  struct wick__suspect **suspect, struct gpu_report *report) {
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    enum wick_status taken = WICK_OK;
    if (!*call->suspect) *call->suspect = wick__suspect_new(gpu->device, call->op, call->inplace);
    *suspect = *call->suspect;
    if (!*suspect) return WICK_MEMORY;
    (*suspect)->finding = finding;
    lock(gpu);
    if (!(*suspect)->slot) taken = take(gpu, *suspect);
    const struct chunk *chunk = (*suspect)->slot;
    if (taken == WICK_OK) *report = (struct gpu_report){chunk->slots + (*suspect)->place, gpu->slots->raised};
    unlock(gpu);
    return taken;
}

/* ---- for core/doubt.c ---- */

/* Puts an op in place on the list for wick_device_sync, with the list's reference. */
static void once_add(struct wick__gpu *gpu, struct wick__suspect *suspect) {
    lock(gpu);
    suspect->next = gpu->slots->once;
    gpu->slots->once = suspect;
    unlock(gpu);
}

/* Records the event of a chunk whose calls are all queued. */
static void chunk_record(struct chunk *chunk) {
    const struct wick__vendor *vendor = chunk->gpu->vendor;
    if (wick__gpu_use(chunk->gpu) != WICK_OK) return;
    lock(chunk->gpu);
    if (!chunk->event && vendor->event_create(&chunk->event, false) != 0) chunk->event = NULL;
    chunk->recorded = chunk->event && vendor->event_record(chunk->event, wick__gpu_queue(chunk->gpu)) == 0;
    unlock(chunk->gpu);
}

static void late_queued(struct wick__suspect *suspect) {
    struct chunk *chunk = suspect->slot; /* stays while a call of the chunk is not queued */
    if (!chunk || suspect->recorded) return;
    if (suspect->once) {
        wick__doubt_retain(&suspect->doubt);
        once_add(chunk->gpu, suspect);
    }
    if (!chunk->graph && atomic_fetch_add(&chunk->queued, 1) + 1 == SLOTS) chunk_record(chunk);
}

static enum wick_status late_settle(struct wick__suspect *suspect) {
    struct wick__gpu *gpu = suspect->device->state;
    lock(gpu);
    enum wick_status status = WICK_OK;
    if (suspect->slot) {
        status = look(gpu);
        if (status == WICK_OK) judge(suspect);
        if (suspect->once) once_prune(gpu);
    }
    unlock(gpu);
    return status;
}

static void late_acquit(struct wick__suspect *suspect) {
    struct wick__gpu *gpu = suspect->device->state;
    lock(gpu);
    part(suspect);
    unlock(gpu);
}

/* Gives the open suspect of an earlier launch a slot of its own, and copies there what the launch reported. */
static enum wick_status move_away(struct wick__gpu *gpu, struct wick__suspect *earlier) {
    struct chunk *from = earlier->slot;
    const struct gpu_slot *old = from->slots + earlier->place;
    int place = earlier->place;
    from->suspects[place] = NULL;
    from->live--;
    enum wick_status status = take(gpu, earlier);
    if (status != WICK_OK) {
        earlier->slot = from;
        earlier->place = place;
        from->suspects[place] = earlier;
        from->live++;
        return status;
    }
    struct chunk *to = earlier->slot;
    *gpu->slots->raised = 1;
    status = wick__gpu_check(gpu, gpu->vendor->copy(to->slots + earlier->place, old, sizeof *old, wick__gpu_queue(gpu)),
                             "copy a report");
    if (atomic_fetch_add(&to->queued, 1) + 1 == SLOTS) chunk_record(to);
    return status;
}

static enum wick_status late_again(const struct wick__suspect *recorded, struct wick__suspect *suspect) {
    struct wick__gpu *gpu = suspect->device->state;
    struct chunk *chunk = recorded->slot;
    enum wick_status status = WICK_OK;
    lock(gpu);
    if (chunk->suspects[recorded->place]) status = move_away(gpu, chunk->suspects[recorded->place]);
    if (status == WICK_OK) {
        chunk->suspects[recorded->place] = suspect;
        chunk->live++;
        suspect->slot = chunk;
        suspect->place = recorded->place;
    }
    unlock(gpu);
    return status;
}

int wick__gpu_slots_launch(struct wick__gpu *gpu, const void *graph, void *handle) {
    lock(gpu); /* nobody may look between the two */
    for (struct chunk *chunk = gpu->slots->owned; chunk; chunk = chunk->next)
        if (chunk->graph == graph) memset(chunk->seen, 0, sizeof chunk->seen);
    int code = gpu->vendor->graph_launch(handle, gpu->stream);
    unlock(gpu);
    return code;
}

/* Takes the whole list. */
static struct wick__suspect *once_take(struct wick__gpu *gpu) {
    lock(gpu);
    struct wick__suspect *list = gpu->slots->once;
    gpu->slots->once = NULL;
    unlock(gpu);
    return list;
}

static enum wick_status late_tell(struct wick_device *device) {
    struct wick__gpu *gpu = device->state;
    struct wick__suspect *next, *list = NULL; /* those queued before the wait, the oldest first */
    for (struct wick__suspect *suspect = once_take(gpu); suspect; suspect = next) {
        next = suspect->next;
        suspect->next = list;
        list = suspect;
    }
    enum wick_status status = wick__gpu_wait(gpu), told = WICK_OK;
    for (struct wick__suspect *suspect = list; suspect; suspect = next) {
        next = suspect->next;
        if (status == WICK_OK) status = late_settle(suspect);
        if (status == WICK_OK && told == WICK_OK && wick__suspect_tell(suspect)) told = wick__suspect_fail(suspect);
        once_add(gpu, suspect);
    }
    lock(gpu);
    once_prune(gpu);
    unlock(gpu);
    return status == WICK_OK ? told : status;
}

static void late_forget(struct wick_device *device) {
    struct wick__gpu *gpu = device->state;
    for (struct wick__suspect *next, *suspect = once_take(gpu); suspect; suspect = next) {
        next = suspect->next;
        wick__doubt_release(&suspect->doubt);
    }
}

const struct wick__late wick__gpu_late = {.queued = late_queued,
                                          .settle = late_settle,
                                          .acquit = late_acquit,
                                          .again = late_again,
                                          .tell = late_tell,
                                          .forget = late_forget};

/* ---- graphs ---- */

void wick__gpu_slots_own(struct wick__gpu *gpu, const void *graph) {
    lock(gpu);
    gpu->slots->graph = graph;
    unlock(gpu);
}

void wick__gpu_slots_disown(struct wick__gpu *gpu, const void *graph) {
    lock(gpu);
    for (struct chunk **at = &gpu->slots->owned; *at;) {
        struct chunk *chunk = *at;
        if (chunk->graph != graph) {
            at = &chunk->next;
            continue;
        }
        if (chunk_settle(chunk) != WICK_OK) /* the device is lost: nothing will be read either */
            for (int i = 0; i < chunk->taken; i++)
                if (chunk->suspects[i]) part(chunk->suspects[i]);
        *at = chunk->next;
        chunk_free(chunk);
    }
    unlock(gpu);
}
