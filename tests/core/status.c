/* Statuses, this thread's error, the log callback, the version. */
#include "tests/test.h"

#include "core/error.h"

#include <pthread.h>

static void check_names(void) {
    CHECK_TEXT(wick_status_name(WICK_OK), "OK");
    CHECK_TEXT(wick_status_name(WICK_SHAPE), "SHAPE");
    CHECK_TEXT(wick_status_name(WICK_INTERNAL), "INTERNAL");
    CHECK_TEXT(wick_status_name((enum wick_status)999), "?");
    CHECK_TEXT(wick_status_text((enum wick_status) - 1), "?");
    CHECK_TEXT(wick_status_text(WICK_MEMORY), "out of memory");
    CHECK_TEXT(wick_version(), WICK_VERSION);
}

static void *other_thread(void *argument) {
    (void)argument;
    CHECK_INT(wick_error_status(), WICK_OK);
    CHECK_TEXT(wick_error(), "");
    wick__fail(WICK_RANGE, "the other thread's");
    return NULL;
}

static void check_first_error(void) {
    pthread_t thread;
    CHECK_INT(wick_error_status(), WICK_OK);
    CHECK_INT(wick__fail(WICK_SHAPE, "first %d", 1), WICK_SHAPE);
    CHECK_INT(wick__fail(WICK_DTYPE, "second"), WICK_DTYPE);
    CHECK_INT(wick_error_status(), WICK_SHAPE);
    CHECK_TEXT(wick_error(), "first 1");
    CHECK_INT(pthread_create(&thread, NULL, other_thread, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_TEXT(wick_error(), "first 1");
    wick_error_clear();
    CHECK_INT(wick_error_status(), WICK_OK);
    CHECK_TEXT(wick_error(), "");
    char text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    wick__fail(WICK_IO, "%s", text);
    CHECK(strlen(wick_error()) > 500 && strlen(wick_error()) < 2000);
    wick_error_clear();
}

static void check_swap(void) {
    struct wick__error aside = {WICK_OK, ""};
    wick__fail(WICK_IO, "kept");
    wick__error_swap(&aside);
    CHECK_INT(wick_error_status(), WICK_OK);
    wick__fail(WICK_RANGE, "in between");
    wick__error_swap(&aside);
    CHECK_TEXT(wick_error(), "kept");
    CHECK_TEXT(aside.text, "in between");
    wick_error_clear();
}

static int heard;
static char last_line[64];

static void hear(void *context, enum wick_log_level level, const char *line) {
    (void)level;
    CHECK(context == &heard);
    heard++;
    snprintf(last_line, sizeof last_line, "%s", line);
}

static void check_log(void) {
    wick__log(WICK_LOG_ERROR, "nobody listens");
    wick_log_set(hear, &heard, WICK_LOG_WARNING);
    wick__log(WICK_LOG_INFO, "too light");
    CHECK_INT(heard, 0);
    wick__log(WICK_LOG_WARNING, "a %s", "line");
    CHECK_INT(heard, 1);
    CHECK_TEXT(last_line, "a line");
    wick_log_set(NULL, NULL, WICK_LOG_ERROR);
    wick__log(WICK_LOG_ERROR, "nobody again");
    CHECK_INT(heard, 1);
}

int main(void) {
    check_names();
    check_first_error();
    check_swap();
    check_log();
    return test_end();
}
