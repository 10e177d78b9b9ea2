/* A command of this program in a process of its own, with a time limit: whatever a driver does there stays there. */
#ifndef WICK_CLI_CHILD_H
#define WICK_CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>

struct child_result {
    char *output; /* what it wrote to stdout and stderr, up to 1 MiB; a string that the caller frees, NULL when out of
                   * memory */
    double seconds;
    bool ended; /* by itself: `status` is its exit status. Otherwise `how` says what happened */
    int status;
    char how[128];
};

/* Runs this program with `arguments` (a NULL ends them; the program's name is not among them), with the environment
 * variable `hidden` set to a file that is not there unless it is NULL. Ends it after `seconds`. */
void child_run(const char *const *arguments, const char *hidden, double seconds, struct child_result *result);

#endif
