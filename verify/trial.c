/* One check: operands, the call, its results against the reference, and what must be as it was. */
#include "verify/driver.h"

#include "core/tensor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static enum verify_outcome bad(struct verify_trial *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(t->why, sizeof t->why, format, args);
    va_end(args);
    return VERIFY_BAD;
}

/* A result may be a view of an operand; all others fill their buffer from its start. */
static bool well_laid(const struct verify_trial *t, const struct wick_tensor *out) {
    for (int i = 0; i < t->c.n_in; i++)
        if (t->operands.tensor[i] && t->operands.tensor[i]->storage == out->storage) return true;
    return verify_is_target(out) || (verify_is_dense(out) && wick_tensor_offset(out) == 0);
}

static enum verify_outcome check_results(struct verify_trial *t) {
    struct verify_bound bound = verify_bound_of(t->c.op);
    bound.exact = (t->variant == VERIFY_INTEGERS || t->variant == VERIFY_INTEGERS_MIXED) && t->family->exact &&
                  t->family->exact(t->c.op);
    for (int i = 0; i < t->c.n_out; i++) {
        char why[VERIFY_WHY / 2];
        if (!t->out[i]) return bad(t, "result %d is NULL although the call succeeded", i);
        if (!verify_scale_listed(t->c.op, &t->want[i])) return bad(t, "verify/scales.def lists no scale of the op");
        if (wick_tensor_device(t->out[i]) != verify_device()) return bad(t, "result %d is on another device", i);
        if (!well_laid(t, t->out[i])) return bad(t, "result %d does not fill its buffer from the start", i);
        if (!verify_compare(t->out[i], &t->want[i], bound, &t->worst, why, sizeof why))
            return bad(t, "result %d: %s", i, why);
    }
    int changed = verify_operands_changed(&t->operands);
    if (changed >= 0) return bad(t, "operand %d, or memory around it, was changed", changed);
    if (!verify_targets_intact()) return bad(t, "memory around the target was changed");
    return VERIFY_GOOD;
}

static void release_results(struct verify_trial *t) {
    for (int i = 0; i < VERIFY_MAX_OUTPUTS; i++) {
        wick_release(t->out[i]);
        t->out[i] = NULL;
    }
    verify_targets_free();
}

/* Bytes on the device and on the host that are in use, not counting blocks kept for reuse. */
static size_t in_use(void) {
    struct wick_memory memory = {0};
    return wick_memory_stats(verify_device(), &memory) == WICK_OK ? wick_host_memory_used() - memory.cached : 0;
}

/* The bytes of a result, to be freed; NULL for none, and after a failure. */
static void *bytes_of(const struct wick_tensor *x, size_t *nbytes) {
    enum wick_dtype dtype = wick_tensor_dtype(x);
    *nbytes = x ? (size_t)(wick_tensor_count(x) / wick_dtype_block(dtype)) * (size_t)wick_dtype_block_bytes(dtype) : 0;
    void *bytes = *nbytes ? malloc(*nbytes) : NULL;
    if (bytes && wick_read(x, bytes, *nbytes) == WICK_OK) return bytes;
    free(bytes);
    return NULL;
}

/* Calls the op again and again: each result must have the very bits of the first. Results are released. */
static enum verify_outcome check_repeats(struct verify_trial *t) {
    void *first[VERIFY_MAX_OUTPUTS] = {NULL};
    enum verify_outcome outcome = VERIFY_GOOD;
    for (int run = 0; run < t->options->repeat && outcome == VERIFY_GOOD; run++) {
        release_results(t);
        if (wick_seed_set(verify_device(), 7) != WICK_OK || !t->family->call(&t->c, t->operands.tensor, t->out))
            outcome = bad(t, "failed in run %d: %s", run, wick_error());
        for (int i = 0; i < t->c.n_out && outcome == VERIFY_GOOD; i++) {
            size_t nbytes;
            void *bytes = bytes_of(t->out[i], &nbytes);
            if (run > 0 && bytes && first[i] && memcmp(bytes, first[i], nbytes) != 0)
                outcome = bad(t, "result %d of run %d has other bits than that of run 0", i, run);
            if (nbytes > 0 && !bytes) outcome = bad(t, "result %d of run %d can't be read: %s", i, run, wick_error());
            if (run == 0)
                first[i] = bytes;
            else
                free(bytes);
        }
    }
    for (int i = 0; i < VERIFY_MAX_OUTPUTS; i++) free(first[i]);
    release_results(t);
    return outcome;
}

/* What is made once and kept, as tables are, may stay, though a second call made it: a leak is what each call adds. */
static enum verify_outcome check_memory_kept(struct verify_trial *t) {
    size_t added = 0;
    for (int i = 0; i < 3; i++) {
        size_t before = in_use();
        if (!t->family->call(&t->c, t->operands.tensor, t->out))
            return bad(t, "failed when called again: %s", wick_error());
        release_results(t);
        /* What a device keeps of calls that may still fail goes when it is waited for. */
        if (wick_device_sync(verify_device()) != WICK_OK) return bad(t, "failed when called again: %s", wick_error());
        added = in_use() - before;
        if (added == 0) return VERIFY_GOOD;
    }
    return bad(t, "leaks %zu bytes", added);
}

static enum verify_outcome call_and_check(struct verify_trial *t) {
    if (!t->family->reference(&t->c, t->operands.in, t->want)) return bad(t, "the reference ran out of memory");
    size_t before = in_use();
    int64_t damage = verify_allocator_damage();
    wick_error_clear();
    if (!t->family->call(&t->c, t->operands.tensor, t->out)) return bad(t, "failed: %s", wick_error());
    if (wick_error_status() != WICK_OK) return bad(t, "succeeded, but left the error %s", wick_error());
    enum verify_outcome outcome = check_results(t);
    release_results(t);
    if (outcome == VERIFY_GOOD && t->options->repeat > 1) outcome = check_repeats(t);
    if (outcome != VERIFY_GOOD) return outcome;
    if (verify_allocator_damage() != damage) return bad(t, "wrote beside a block of memory");
    if (in_use() == before) return VERIFY_GOOD;
    return check_memory_kept(t);
}

static enum verify_outcome call_refused(struct verify_trial *t) {
    const char *op = wick_op_name(t->c.op), *dtype = wick_dtype_name(t->c.dtype);
    size_t before = in_use();
    wick_error_clear();
    bool done = t->family->call(&t->c, t->operands.tensor, t->out);
    enum wick_status status = wick_error_status();
    release_results(t);
    if (done) return bad(t, "not in the table, yet runs");
    if (status != WICK_UNSUPPORTED)
        return bad(t, "must refuse with UNSUPPORTED, gave %s: %s", wick_status_name(status), wick_error());
    if (!strstr(wick_error(), op) || !strstr(wick_error(), dtype))
        return bad(t, "the refusal does not name %s and %s: %s", op, dtype, wick_error());
    if (in_use() == before) return VERIFY_GOOD;
    before = in_use(); /* as above, what is made once may stay */
    if (t->family->call(&t->c, t->operands.tensor, t->out)) return bad(t, "not in the table, yet runs");
    release_results(t);
    return in_use() == before ? VERIFY_GOOD : bad(t, "leaks %zu bytes when it refuses", in_use() - before);
}

enum verify_outcome verify_trial_run(struct verify_trial *t, bool supported) {
    const struct verify_making how = {t->k, t->variant, t->id, t->options->seed};
    enum verify_outcome outcome = verify_operands_make(verify_device(), &t->c, &how, &t->operands);
    if (outcome == VERIFY_BAD) bad(t, "the operands can't be made: %s", wick_error());
    if (outcome == VERIFY_GOOD && wick_row_major_set(verify_device(), t->variant == VERIFY_ROW_MAJOR) != WICK_OK)
        outcome = bad(t, "the order of results can't be set: %s", wick_error());
    if (outcome == VERIFY_GOOD) outcome = supported ? call_and_check(t) : call_refused(t);
    if (wick_row_major_set(verify_device(), false) != WICK_OK) outcome = VERIFY_BAD;
    release_results(t);
    verify_operands_free(&t->operands);
    for (int i = 0; i < VERIFY_MAX_OUTPUTS; i++) {
        free(t->want[i].data);
        free(t->want[i].scale);
    }
    wick_error_clear();
    return outcome;
}
