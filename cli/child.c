/* A command of this program in a process of its own. */
#define _GNU_SOURCE /* pipe2, strsignal */

#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 15, MOST_OUTPUT = 1 << 20, GRACE_MS = 3000 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In the child. */
static void become(const char *const *arguments, const char *hidden, int output) {
    const char *argv[MOST_ARGUMENTS + 2] = {"wick"};
    const struct rlimit none = {0, 0};
    for (int i = 0; i < MOST_ARGUMENTS && arguments[i]; i++) argv[i + 1] = arguments[i];
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none);
    if (hidden) setenv(hidden, "none", 1);
    int input = open("/dev/null", O_RDONLY);
    if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0) _exit(127);
    execv("/proc/self/exe", (char *const *)(void *)argv);
    _exit(127);
}

/* How collecting a child's output ended. */
enum collected { ALL, LATE, UNREADABLE };

/* Collects what comes until the end, until the time is up, or until a read fails, which sets errno. */
static enum collected collect(int input, double deadline, struct child_result *result) {
    char piece[4096];
    size_t nbytes = 0;
    for (;;) {
        double left = deadline - now();
        struct pollfd wait = {.fd = input, .events = POLLIN};
        if (left <= 0) return LATE;
        int ready = poll(&wait, 1, (int)(left * 1000) + 1);
        if (ready < 0 && errno != EINTR) return UNREADABLE;
        if (ready <= 0) continue;
        ssize_t got = read(input, piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return UNREADABLE;
        if (got == 0) return ALL;
        size_t room = MOST_OUTPUT - nbytes, keep = (size_t)got < room ? (size_t)got : room;
        for (size_t i = 0; i < keep && result->output; i++) result->output[nbytes++] = piece[i] ? piece[i] : '?';
        if (result->output) result->output[nbytes] = '\0';
    }
}

/* Waits for the end; a process that hangs in its driver can't always be ended. */
static bool reap(pid_t pid, int milliseconds, int *status) {
    const struct timespec pause = {0, 10000000};
    for (int waited = 0;; waited += 10) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid) return true;
        if ((got < 0 && errno != EINTR) || waited >= milliseconds) return false;
        nanosleep(&pause, NULL);
    }
}

static void explain(struct child_result *result, bool in_time, bool gone, int status) {
    result->ended = in_time && gone && WIFEXITED(status);
    result->status = result->ended ? WEXITSTATUS(status) : -1;
    if (!gone)
        snprintf(result->how, sizeof result->how, "hangs, and can't be ended");
    else if (!in_time)
        snprintf(result->how, sizeof result->how, "took too long, and was ended after %.0f s", result->seconds);
    else if (WIFSIGNALED(status))
        snprintf(result->how, sizeof result->how, "crashed: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(result->how, sizeof result->how, "exit status %d", result->status);
}

void child_run(const char *const *arguments, const char *hidden, double seconds, struct child_result *result) {
    int ends[2], status = 0;
    double began = now();
    *result = (struct child_result){.output = calloc(1, MOST_OUTPUT + 1), .status = -1};
    pid_t pid = pipe2(ends, O_CLOEXEC) == 0 ? fork() : -2;
    if (pid == 0) become(arguments, hidden, ends[1]);
    if (pid < 0) {
        snprintf(result->how, sizeof result->how, "can't be started: %s", strerror(errno));
        if (pid == -1) close(ends[0]);
        if (pid == -1) close(ends[1]);
        return;
    }
    close(ends[1]);
    enum collected collected = collect(ends[0], began + seconds, result);
    int fault = collected == UNREADABLE ? errno : 0;
    bool in_time = collected == ALL && reap(pid, (int)((began + seconds - now()) * 1000), &status);
    bool gone = in_time;
    result->seconds = now() - began;
    if (!in_time) {
        kill(-pid, SIGKILL);
        kill(pid, SIGKILL);
        gone = reap(pid, GRACE_MS, &status);
    }
    close(ends[0]);
    explain(result, in_time, gone, status);
    if (fault && gone)
        snprintf(result->how, sizeof result->how, "was ended: its output can't be read: %s", strerror(fault));
}
