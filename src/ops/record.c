/* Lists of calls, and the record of a thread. */
#include "ops/record.h"

#include "core/memory.h"
#include "core/tensor.h"
#include "core/thread.h"
#include "ops/dispatch.h"

#include <string.h>

/* ---- lists ---- */

static enum wick_status make_room(struct wick__calls *list) {
    if (list->n < list->room) return WICK_OK;
    int64_t room = list->room ? 2 * list->room : 16, nbytes;
    if (!wick__mul(room, (int64_t)sizeof *list->calls, &nbytes))
        return wick__fail(WICK_OVERFLOW, "record: %lld calls", (long long)room);
    struct wick__call *calls = wick__alloc((size_t)nbytes);
    if (!calls) return WICK_MEMORY;
    if (list->n) memcpy(calls, list->calls, (size_t)list->n * sizeof *calls);
    wick__free(list->calls, (size_t)list->room * sizeof *calls);
    list->calls = calls;
    list->room = room;
    return WICK_OK;
}

static enum wick_status keep(struct wick__calls *list, const struct wick__call *call) {
    WICK__TRY(make_room(list));
    size_t nbytes = (size_t)call->n_list * sizeof *call->list;
    struct wick_tensor **operands = nbytes ? wick__alloc(nbytes) : NULL;
    if (nbytes && !operands) return WICK_MEMORY;
    struct wick__call *kept = &list->calls[list->n++];
    *kept = *call;
    for (int i = 0; i < call->n_list; i++) operands[i] = wick_retain(call->list[i]);
    kept->list = operands;
    for (int i = 0; i < call->n_in; i++) wick_retain(call->in[i]);
    for (int i = 0; i < call->n_out; i++) wick_retain(call->out[i]);
    return WICK_OK;
}

enum wick_status wick__calls_add(struct wick__calls *list, const struct wick__call *call) {
    enum wick_status status = keep(list, call);
    if (status != WICK_OK) list->failed = status;
    return status;
}

enum wick_status wick__calls_again(const struct wick__calls *list) {
    for (int64_t i = 0; i < list->n; i++)
        if (!list->calls[i].view) WICK__TRY(wick__call_again(&list->calls[i]));
    return WICK_OK;
}

void wick__calls_free(struct wick__calls *list) {
    for (int64_t i = 0; i < list->n; i++) {
        struct wick__call *call = &list->calls[i];
        for (int j = 0; j < call->n_list; j++) wick_release(call->list[j]);
        for (int j = 0; j < call->n_in; j++) wick_release((struct wick_tensor *)(uintptr_t)call->in[j]);
        for (int j = 0; j < call->n_out; j++) wick_release(call->out[j]);
        wick__free((void *)(uintptr_t)call->list, (size_t)call->n_list * sizeof *call->list);
    }
    wick__free(list->calls, (size_t)list->room * sizeof *list->calls);
    *list = (struct wick__calls){0};
}

/* ---- a thread's record ---- */

struct wick_record {
    struct wick__calls list;
};

atomic_int wick__recorders;
static _Thread_local struct wick_record *recording;

bool wick__thread_records(void) { return recording != NULL; }

struct wick_record *wick__record_pause(void) {
    struct wick_record *paused = recording;
    recording = NULL;
    return paused;
}

void wick__record_resume(struct wick_record *paused) { recording = paused; }

void wick__record_add(const struct wick__call *call) {
    struct wick__error error = {0};
    if (recording->list.failed != WICK_OK) return;
    wick__error_swap(&error); /* the call itself went well */
    (void)wick__calls_add(&recording->list, call);
    wick__error_swap(&error);
}

/* A thread that ends while it records gives the record back. */
static void end_record(void) {
    if (recording) wick_record_free(wick_record_end());
}

enum wick_status wick_record_begin(void) {
    if (recording) return wick__fail(WICK_INVALID, "record_begin: this thread records already");
    recording = wick__calloc(1, sizeof *recording);
    if (!recording) return WICK_MEMORY;
    atomic_fetch_add(&wick__recorders, 1);
    wick__thread_at_end(WICK__THREAD_RECORD, end_record);
    return WICK_OK;
}

struct wick_record *wick_record_end(void) {
    struct wick_record *record = recording;
    if (!record) {
        wick__fail(WICK_INVALID, "record_end: this thread records nothing");
        return NULL;
    }
    recording = NULL;
    atomic_fetch_sub(&wick__recorders, 1);
    if (record->list.failed == WICK_OK) return record;
    wick__fail(record->list.failed, "record_end: there was no memory for all calls");
    wick_record_free(record);
    return NULL;
}

int64_t wick_record_count(const struct wick_record *record) { return record ? record->list.n : 0; }

enum wick_status wick_record_call(const struct wick_record *record, int64_t i, struct wick_recorded *call) {
    if (!record || !call) return wick__fail(WICK_INVALID, "record_call: %s is NULL", record ? "call" : "record");
    if (i < 0 || i >= record->list.n)
        return wick__fail(WICK_RANGE, "record_call: there is no call %lld of %lld", (long long)i,
                          (long long)record->list.n);
    const struct wick__call *kept = &record->list.calls[i];
    *call = (struct wick_recorded){.op = kept->op,
                                   .view = kept->view,
                                   .inplace = kept->inplace,
                                   .n_in = kept->n_list ? kept->n_list : kept->n_in,
                                   .n_out = kept->n_out,
                                   .n_extra = kept->n_extra,
                                   /* the record's own references, which the caller may retain */
                                   .in = kept->n_list ? kept->list : (struct wick_tensor *const *)(uintptr_t)kept->in,
                                   .out = kept->out};
    return WICK_OK;
}

size_t wick_record_params(const struct wick_record *record, int64_t i, char *text, size_t nbytes) {
    if (nbytes && text) text[0] = '\0';
    if (!record || i < 0 || i >= record->list.n) return 0;
    return wick__params_text(&record->list.calls[i], text, text ? nbytes : 0);
}

enum wick_status wick_record_replay(const struct wick_record *record) {
    if (!record) return wick__fail(WICK_INVALID, "record_replay: record is NULL");
    struct wick_record *paused = wick__record_pause();
    enum wick_status status = wick__calls_again(&record->list);
    wick__record_resume(paused);
    return status;
}

void wick_record_free(struct wick_record *record) {
    if (!record) return;
    wick__calls_free(&record->list);
    wick__free(record, sizeof *record);
}
