/* Status codes, this thread's error, and the log callback.
 *
 * Functions that return an object return NULL on failure. Every other function that can fail returns an enum
 * wick_status. Either way the calling thread keeps its first failure since wick_error_clear(), with a text that names
 * the op, the argument, the shapes, the dtypes, the device and the broken rule:
 *
 *     matmul: lhs [2,3,64] f16, rhs [2,32,8] f16 on cpu: inner 64 != 32
 *
 * A call whose tensor argument is NULL returns NULL, and adds no failure of its own if the thread has one already. So
 * you check a chain of calls once, at its end. A failed call leaves its arguments as they were. The library never ends
 * the process and prints nothing.
 *
 * A GPU finds some failures after the call has returned: an id out of range (WICK_RANGE), an integer divided by zero
 * (WICK_DIVIDE). Such a failure belongs to the result. wick_read of the result, or of anything computed or copied from
 * it, on any device, returns the status with the failed op's text, each time; other tensors read well. An op in place
 * that fails late leaves its target as it was. One call reports it: the next read of the target or of anything computed
 * from it since, or wick_device_sync, whichever comes first. The CPU finds all failures at once, with the same
 * texts. */
#ifndef WICK_STATUS_H
#define WICK_STATUS_H

#include <wick/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, text): every status a call can return. Values are stable; new ones are added at the end. */
#define WICK_STATUS_MAP(X)                                                                                             \
    X(OK, "success")                                                                                                   \
    X(INVALID, "an argument is NULL or has a value outside its documented set")                                        \
    X(SHAPE, "shapes do not fit the op or one another")                                                                \
    X(DTYPE, "dtypes do not fit the op or one another")                                                                \
    X(DEVICE, "operands live on different devices, or there is no such device")                                        \
    X(CLOSED, "the device was closed")                                                                                 \
    X(UNSUPPORTED, "no kernel of this device takes this op, dtype or layout")                                          \
    X(RANGE, "an index or a dim is out of range")                                                                      \
    X(OVERFLOW, "a size or an offset does not fit in 64 bits")                                                         \
    X(MEMORY, "out of memory")                                                                                         \
    X(IO, "a file could not be read or written")                                                                       \
    X(FORMAT, "a file or a text is not in its documented format")                                                      \
    X(DIVIDE, "integer division by zero")                                                                              \
    X(INTERNAL, "a fault in the library itself: please report it")

enum wick_status {
#define WICK__STATUS(name, text) WICK_##name,
    WICK_STATUS_MAP(WICK__STATUS)
#undef WICK__STATUS
};

/* The status as a word, "SHAPE", and as a sentence. Static strings; "?" for a value that is not a status. */
WICK_API const char *wick_status_name(enum wick_status status);
WICK_API const char *wick_status_text(enum wick_status status);

/* The text of this thread's first failure since wick_error_clear(), "" when there is none. The text belongs to the
 * library and stays until this thread calls wick_error_clear(). */
WICK_API const char *wick_error(void);

/* The status that goes with wick_error(), WICK_OK when there is none. */
WICK_API enum wick_status wick_error_status(void);

/* Forgets this thread's failure. */
WICK_API void wick_error_clear(void);

enum wick_log_level { WICK_LOG_ERROR, WICK_LOG_WARNING, WICK_LOG_INFO, WICK_LOG_DEBUG };

/* Receives one line, without a newline. The library calls it from any thread, possibly from several at once. */
typedef void wick_log_fn(void *context, enum wick_log_level level, const char *line);

/* Passes every line that is at least as severe as `level` to `log`. NULL, the default, discards them. Do not call this
 * while other threads use the library. */
WICK_API void wick_log_set(wick_log_fn *log, void *context, enum wick_log_level level);

#ifdef __cplusplus
}
#endif
#endif
