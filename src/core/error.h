/* How the library's own code reports failures. */
#ifndef WICK_CORE_ERROR_H
#define WICK_CORE_ERROR_H

#include <wick/status.h>

/* Keeps the text as this thread's error unless one is kept already, and returns `status`. */
__attribute__((format(printf, 2, 3))) enum wick_status wick__fail(enum wick_status status, const char *format, ...);

/* The status of this thread's latest call of wick__fail, kept or not: what a function that got NULL from a maker
 * returns. Unlike wick_error_status(), it is not that of an older failure nobody has cleared. */
enum wick_status wick__latest(void);

/* A kept error, saved around work that must not disturb it. */
struct wick__error {
    enum wick_status status;
    char text[1024];
};
void wick__error_swap(struct wick__error *other);

/* Fails with WICK_INVALID when the room at the end of a struct of options is not zero: a later version put it there.
 * `reserved` may be NULL. */
enum wick_status wick__reserved(const char *op, const uint64_t *reserved);

/* Returns a failing status to the caller. */
#define WICK__TRY(call)                                                                                                \
    do {                                                                                                               \
        enum wick_status try_status = (call);                                                                          \
        if (try_status != WICK_OK) return try_status;                                                                  \
    } while (0)

/* Whether lines of this level go anywhere. */
bool wick__log_takes(enum wick_log_level level);
__attribute__((format(printf, 2, 3))) void wick__log(enum wick_log_level level, const char *format, ...);

#endif
