/* Children of a process whose other threads compute: they compute too, and right, as do theirs. A lock that a thread of
 * the parent held at the fork would hang some of them; each has a time limit. */
#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 6, CHILDREN = 200, N = 128, LIMIT = 60 };

static struct wick_device *cpu;
static struct wick_tensor *a, *b;
static float product[N * N];
static atomic_bool done;
static atomic_int faults;

/* Blocks from the pool, work shared out to the threads, and the pool emptied. */
static bool compute(int round) {
    static _Thread_local float back[N * N];
    wick_scope_begin();
    struct wick_tensor *c = wick_matmul(wick_add(a, b), wick_exp(b));
    bool good = wick_read(c, back, sizeof back) == WICK_OK && memcmp(back, product, sizeof back) == 0;
    wick_scope_end(NULL);
    if (round % 8 == 0) good &= wick_memory_trim(cpu) == WICK_OK;
    return good;
}

static void *work(void *argument) {
    for (int round = (int)(intptr_t)argument; !atomic_load(&done); round++)
        if (!compute(round)) atomic_fetch_add(&faults, 1);
    return NULL;
}

static void *compute_once(void *argument) {
    if (!compute(1)) atomic_fetch_add(&faults, 1);
    return argument;
}

/* What a child does: everything that takes a lock, a fork of its own among it. */
static int child(int depth) {
    pthread_t helpers[2];
    alarm(LIMIT);
    atomic_store(&faults, 0);
    bool good = wick_threads_set(3) == WICK_OK;
    for (int round = 0; round < 3; round++) good &= compute(round);
    for (int i = 0; i < 2; i++) good &= pthread_create(&helpers[i], NULL, compute_once, NULL) == 0;
    for (int i = 0; i < 2; i++) pthread_join(helpers[i], NULL);
    struct wick_device *mine = wick_device_open("cpu");
    struct wick_memory memory;
    good &= mine && wick_memory_stats(mine, &memory) == WICK_OK;
    wick_device_close(mine);
    if (depth > 0) {
        int status = -1;
        pid_t grandchild = fork();
        if (grandchild == 0) _exit(child(depth - 1));
        good &= grandchild > 0 && waitpid(grandchild, &status, 0) == grandchild && status == 0;
    }
    return good && atomic_load(&faults) == 0 ? 0 : 1;
}

int main(void) {
    static float data[N * N];
    pthread_t threads[THREADS];
    cpu = wick_device_open("cpu");
    for (int i = 0; i < N * N; i++) data[i] = (float)(i % 17) / 16;
    CHECK_OK(wick_threads_set(4));
    a = wick_from_data(cpu, WICK_F32, WICK_SHAPE(N, N), data, sizeof data);
    b = wick_from_data(cpu, WICK_F32, WICK_SHAPE(N, N), data, sizeof data);
    wick_scope_begin();
    CHECK_OK(wick_read(wick_matmul(wick_add(a, b), wick_exp(b)), product, sizeof product));
    wick_scope_end(NULL);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
    int hung = 0;
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        pid_t one = fork();
        if (one == 0) _exit(child(i % 10 == 0));
        CHECK(one > 0 && waitpid(one, &status, 0) == one);
        hung += WIFSIGNALED(status);
        CHECK(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
        if (hung > 2) break;
    }
    CHECK_INT(hung, 0);
    atomic_store(&done, true);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&faults), 0);
    wick_release(a);
    wick_release(b);
    wick_device_close(cpu);
    return test_end();
}
