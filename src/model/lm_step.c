/* Steps of one token that GPUs repeat from a graph: some hundred launches by the host become one.
 *
 * The first step of some sequences is as any batch, the second one takes its numbers from the device, as the graph
 * will, and loads the kernels for it, the third one is recorded. The graph stays as long as the same sequences take
 * steps together and their caches stay where they are. What can't be recorded, or has no memory for it, goes the plain
 * way.
 *
 * Sequences that share a step may come to different threads later. So who they are is looked at, and changed, with the
 * mutex held; a step is run by a thread that has all of them. */
#include "backend.h"
#include "model/lm.h"
#include "ops/record.h"

#include "core/checked.h"
#include "core/memory.h"
#include "core/tensor.h"

#include <wick/graph.h>

#include <pthread.h>
#include <string.h>

enum { FIRST, REHEARSAL, RECORDED };

struct wick__lm_step {
    int n, turn;
    bool failed;
    struct wick_sequence **sequences;
    struct wick_tensor *input; /* f32: ids and lengths, which are i32, then tables; all begin at 16 bytes */
    float *values;             /* the same on the host */
    int64_t words;
    struct wick_graph *graph;
    struct wick_tensor *logits; /* the graph's */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* ---- who takes steps together ---- */

static void step_free(struct wick__lm_step *step) {
    if (!step) return;
    wick_graph_free(step->graph);
    wick_release(step->logits);
    wick_release(step->input);
    wick__free(step->values, (size_t)step->words * sizeof *step->values);
    wick__free(step->sequences, (size_t)step->n * sizeof *step->sequences);
    wick__free(step, sizeof *step);
}

void wick__lm_step_drop(struct wick_sequence *sequence) {
    if (sequence->lm->device->heap->host_visible) return; /* there is none */
    pthread_mutex_lock(&mutex);
    struct wick__lm_step *step = sequence->step;
    for (int i = 0; step && i < step->n; i++) step->sequences[i]->step = NULL;
    pthread_mutex_unlock(&mutex);
    step_free(step);
}

static bool is_of(const struct wick__lm_step *step, const struct wick__lm_batch *batch) {
    if (!step || step->n != batch->n_spans) return false;
    for (int i = 0; i < step->n; i++)
        if (step->sequences[i] != batch->spans[i].sequence) return false;
    return true;
}

/* The step of these sequences; NULL without memory. */
static struct wick__lm_step *step_of(const struct wick__lm_batch *batch) {
    pthread_mutex_lock(&mutex);
    struct wick__lm_step *step = batch->spans[0].sequence->step;
    bool same = is_of(step, batch);
    pthread_mutex_unlock(&mutex);
    if (same) return step;
    for (int i = 0; i < batch->n_spans; i++) wick__lm_step_drop(batch->spans[i].sequence);
    step = wick__calloc(1, sizeof *step);
    if (!step) return NULL;
    step->n = batch->n_spans;
    step->sequences = wick__alloc((size_t)step->n * sizeof *step->sequences);
    if (!step->sequences) {
        wick__free(step, sizeof *step);
        return NULL;
    }
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < step->n; i++) {
        step->sequences[i] = batch->spans[i].sequence;
        step->sequences[i]->step = step;
    }
    pthread_mutex_unlock(&mutex);
    return step;
}

/* ---- what is uploaded ---- */

static int64_t even(int64_t words) { return (words + 3) / 4 * 4; }

/* Where a table begins; all of them: where the last one ends. */
static int64_t table_at(const struct wick__lm_step *step, const struct wick__lm_tables *tables, int number) {
    return 2 * even(step->n) + number * even(tables->count);
}

static enum wick_status make_input(const struct wick_lm *lm, struct wick__lm_step *step,
                                   const struct wick__lm_tables *tables) {
    if (!step->values) {
        int64_t words = table_at(step, tables, 2 * tables->n);
        step->values = wick__calloc((size_t)words, sizeof *step->values);
        if (!step->values) return WICK_MEMORY;
        step->words = words;
    }
    if (step->input) return WICK_OK;
    struct wick_tensor *input = wick_empty(lm->device, WICK_F32, WICK_SHAPE(step->words));
    step->input = input ? wick_retain(input) : NULL;
    if (input) input->storage->constant = true; /* for kernels: an upload waits for them, and they for it */
    return input ? WICK_OK : wick__latest();
}

static enum wick_status upload(const struct wick_lm *lm, const struct wick__lm_batch *batch,
                               struct wick__lm_step *step) {
    const struct wick__lm_tables tables = wick__lm_tables_of(lm, batch);
    WICK__TRY(make_input(lm, step, &tables));
    for (int i = 0; i < step->n; i++) {
        const int32_t length = (int32_t)batch->spans[i].sequence->length;
        memcpy(step->values + i, batch->ids + i, sizeof(int32_t));
        memcpy(step->values + even(step->n) + i, &length, sizeof(int32_t));
    }
    for (int r = 0; r < tables.n; r++) {
        float *const values[2] = {step->values + table_at(step, &tables, 2 * r),
                                  step->values + table_at(step, &tables, 2 * r + 1)};
        wick__lm_fill_tables(lm, batch, &tables, r, values);
    }
    return lm->device->backend->upload(lm->device, wick__data(step->input), step->values,
                                       (size_t)step->words * sizeof *step->values);
}

/* A part of the input. */
static struct wick_tensor *view_of(const struct wick__lm_step *step, enum wick_dtype dtype, int64_t at, int rank,
                                   const int64_t *shape) {
    struct wick__layout layout;
    if (wick__layout_new(&layout, "step", rank, shape) != WICK_OK) return NULL;
    layout.offset = step->input->layout.offset + at;
    struct wick_tensor *part = wick__tensor_view(step->input, &layout);
    if (part) part->dtype = dtype;
    return wick__scope_add(part);
}

/* ---- running ---- */

static struct wick_tensor *run(const struct wick_lm *lm, const struct wick__lm_batch *batch,
                               const struct wick__lm_step *step) {
    const struct wick__lm_tables tables = wick__lm_tables_of(lm, batch);
    struct wick__lm_inputs inputs = {.ids = view_of(step, WICK_I32, 0, WICK_SHAPE(step->n)),
                                     .lengths = view_of(step, WICK_I32, even(step->n), WICK_SHAPE(step->n))};
    bool good = inputs.ids && inputs.lengths;
    for (int i = 0; i < 2 * tables.n; i++) {
        struct wick_tensor *table = view_of(step, WICK_F32, table_at(step, &tables, i), 3, tables.shape);
        inputs.tables[i / 2][i % 2] = table;
        good = good && table;
    }
    return good ? wick__lm_forward(lm, batch, &inputs) : NULL;
}

/* Records the graph, unless another thread records on the device now. */
static void record(const struct wick_lm *lm, const struct wick__lm_batch *batch, struct wick__lm_step *step) {
    wick_scope_begin();
    if (wick_graph_begin(lm->device) == WICK_OK) {
        struct wick_tensor *logits = run(lm, batch, step);
        if (logits) step->logits = wick_retain(logits);
        step->graph = wick_graph_end(lm->device);
        step->failed = !step->logits || !step->graph;
    }
    wick_scope_end(NULL);
    if (!step->failed) return;
    wick_graph_free(step->graph);
    wick_release(step->logits);
    step->graph = NULL;
    step->logits = NULL;
}

/* NULL: the plain way is to be taken. */
static struct wick_tensor *take_step(const struct wick_lm *lm, const struct wick__lm_batch *batch) {
    struct wick_tensor *logits = NULL;
    struct wick__lm_step *step = step_of(batch);
    if (!step || step->failed) return NULL;
    if (step->turn == FIRST) {
        step->turn = REHEARSAL;
        return NULL;
    }
    wick_scope_begin();
    step->failed = upload(lm, batch, step) != WICK_OK;
    if (!step->failed && step->turn == REHEARSAL) {
        step->turn = RECORDED;
        logits = run(lm, batch, step);
        step->failed = !logits;
    } else if (!step->failed) {
        if (!step->graph) record(lm, batch, step);
        if (step->graph) {
            logits = wick_graph_launch(step->graph) == WICK_OK ? wick_clone(step->logits) : NULL;
            step->failed = !logits;
        }
    }
    return wick_scope_end(logits);
}

bool wick__lm_records(const struct wick_lm *lm) {
    const struct wick_device *device = lm->device;
    return lm->graphs && device->backend->graph_begin && !device->heap->host_visible && !lm->on_product &&
           lm->config.experts == 0 && !wick__records() && !wick__device_recording(device);
}

struct wick_tensor *wick__lm_step(const struct wick_lm *lm, const struct wick__lm_batch *batch) {
    struct wick__error kept = {0};
    struct wick_tensor *logits = NULL;
    if (wick__lm_records(lm) && wick__lm_is_step(batch)) {
        wick__error_swap(&kept); /* what fails here is tried again */
        logits = take_step(lm, batch);
        wick__error_swap(&kept);
    }
    return logits ? logits : wick__lm_forward(lm, batch, NULL);
}
