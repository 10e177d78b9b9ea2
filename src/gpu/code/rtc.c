/* The steps of a run-time compilation. */
#include "gpu/code/rtc.h"

#include "core/memory.h"

#include <stdio.h>
#include <string.h>

enum { MAX_OPTIONS = 32, LOG_SHOWN = 700 };

static enum wick_status fail(const struct wick__rtc *rtc, const struct wick__source_job *job, const char *step,
                             int code) {
    const char *text = rtc->error_text(code);
    return wick__fail(WICK_DEVICE, "%s: %s for %s: %s: %s (%d)", rtc->name, job->name, job->target, step,
                      text ? text : "failed", code);
}

/* Fails with the beginning of the log, where the first error stands. */
static enum wick_status fail_log(const struct wick__rtc *rtc, const struct wick__source_job *job, void *program,
                                 int code) {
    size_t size = 0;
    if (rtc->log_size(program, &size) != 0 || size < 2) return fail(rtc, job, "compile", code);
    char *log = wick__alloc_quiet(size + 1);
    if (!log) return fail(rtc, job, "compile", code);
    memset(log, 0, size + 1);
    enum wick_status status;
    if (rtc->log(program, log) == 0)
        status = wick__fail(WICK_DEVICE, "%s: %s for %s: %.*s", rtc->name, job->name, job->target, LOG_SHOWN, log);
    else
        status = fail(rtc, job, "compile", code);
    wick__free(log, size + 1);
    return status;
}

static enum wick_status take_code(const struct wick__rtc *rtc, const struct wick__source_job *job, void *program,
                                  void **image, size_t *nbytes) {
    size_t size = 0;
    int code = rtc->code_size(program, &size);
    if (code) return fail(rtc, job, "code size", code);
    if (size == 0) return wick__fail(WICK_DEVICE, "%s: %s for %s gave no code", rtc->name, job->name, job->target);
    void *memory = wick__alloc(size);
    if (!memory) return WICK_MEMORY;
    code = rtc->code(program, memory);
    if (code) {
        wick__free(memory, size);
        return fail(rtc, job, "code", code);
    }
    *image = memory;
    *nbytes = size;
    return WICK_OK;
}

enum wick_status wick__rtc_compile(const struct wick__rtc *rtc, const struct wick__source_job *job,
                                   const char *target_option, void **image, size_t *nbytes) {
    const char *options[MAX_OPTIONS];
    if (job->n_options >= MAX_OPTIONS)
        return wick__fail(WICK_INVALID, "%s: %s: %d options", rtc->name, job->name, job->n_options);
    memcpy(options, job->options, (size_t)job->n_options * sizeof *options);
    options[job->n_options] = target_option;
    void *program = NULL;
    int code = rtc->create(&program, job->source, job->name, job->n_headers, job->headers, job->header_names);
    if (code) return fail(rtc, job, "create", code);
    code = rtc->compile(program, job->n_options + 1, options);
    enum wick_status status = code ? fail_log(rtc, job, program, code) : take_code(rtc, job, program, image, nbytes);
    rtc->destroy(&program);
    return status;
}
