/* Several threads at once: shared devices and tensors, a scope and an error each, the pool of kernel threads used by
 * all, the number of threads changed, and a fork. What the thread sanitizer runs. */
#include "tests/test.h"

#include "cpu/runtime/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 60, N = 300 };

static struct wick_device *cpu;
static struct wick_tensor *shared;
static atomic_int faults;

static void expect(bool good) {
    if (!good) atomic_fetch_add(&faults, 1);
}

/* Counts how often each index is worked on. */
struct tally {
    atomic_int seen[1000];
    atomic_int worker_busy[256];
};

static void tally_range(void *context, int worker, int64_t begin, int64_t end) {
    struct tally *tally = context;
    expect(worker >= 0 && worker < wick__workers() && atomic_fetch_add(&tally->worker_busy[worker], 1) == 0);
    for (int64_t i = begin; i < end; i++) atomic_fetch_add(&tally->seen[i], 1);
    atomic_fetch_sub(&tally->worker_busy[worker], 1);
}

static void check_parallel(int64_t n, int64_t grain) {
    struct tally *tally = calloc(1, sizeof *tally);
    wick__parallel(n, grain, tally_range, tally);
    for (int64_t i = 0; i < n; i++) expect(atomic_load(&tally->seen[i]) == 1);
    free(tally);
}

static void *work(void *argument) {
    int me = (int)(intptr_t)argument;
    static float back[THREADS][N * N];
    for (int round = 0; round < ROUNDS; round++) {
        wick_scope_begin();
        struct wick_tensor *turned = wick_transpose(shared, 0, 1);
        struct wick_tensor *packed = wick_contiguous(turned);
        expect(packed != NULL);
        struct wick_tensor *kept = wick_scope_end(wick_contiguous(packed));
        expect(wick_read(kept, back[me], sizeof back[me]) == WICK_OK);
        expect(back[me][1] == N && back[me][N] == 1 && back[me][N * N - 1] == N * N - 1);
        wick_release(kept);
        wick_retain(shared);
        wick_release(shared);
        check_parallel(1000, 1 + me);
        expect(wick_select(shared, 5, 0) == NULL && wick_error_status() == WICK_RANGE);
        wick_error_clear();
        struct wick_device *mine = wick_device_open("cpu");
        struct wick_memory memory;
        expect(wick_memory_stats(mine, &memory) == WICK_OK && memory.used > 0);
        wick_device_close(mine);
    }
    return NULL;
}

static void run_threads(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK_INT(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&faults), 0);
}

/* Only as many workers as there is scratch space for. */
static void limited_range(void *context, int worker, int64_t begin, int64_t end) {
    (void)begin;
    (void)end;
    expect(worker < *(const int *)context);
}
static void check_limits(void) {
    for (int limit = 1; limit < 6; limit++)
        for (int round = 0; round < 100; round++) wick__parallel_with(limit, 200, 1, limited_range, &limit);
}

/* Scratch space is made for the threads there are when an op begins; their number changes meanwhile. Sorting two lines
 * has scratch space for two. */
static atomic_bool done;
static void *change_threads(void *context) {
    (void)context;
    for (int i = 0; !atomic_load(&done); i++) expect(wick_threads_set(1 + i % 7) == WICK_OK);
    return NULL;
}
static void check_changes(void) {
    pthread_t changer;
    struct wick_tensor *lines = wick_normal(cpu, WICK_F32, WICK_SHAPE(2, 9000), 0, 1);
    struct wick_tensor *image = wick_normal(cpu, WICK_F32, WICK_SHAPE(1, 8, 20, 20), 0, 1);
    struct wick_tensor *weight = wick_normal(cpu, WICK_F32, WICK_SHAPE(16, 8, 3, 3), 0, 1);
    CHECK_INT(pthread_create(&changer, NULL, change_threads, NULL), 0);
    for (int round = 0; round < ROUNDS; round++) {
        wick_scope_begin();
        expect(wick_sort(lines, 1, false, NULL) != NULL);
        expect(wick_matmul(shared, shared) != NULL);
        expect(wick_conv2d(image, weight, NULL, NULL) != NULL);
        wick_scope_end(NULL);
    }
    atomic_store(&done, true);
    pthread_join(changer, NULL);
    wick_release(weight);
    wick_release(image);
    wick_release(lines);
    CHECK_INT(atomic_load(&faults), 0);
}

/* A child has none of the parent's threads, and still gets its work done. */
static void check_fork(void) {
    check_parallel(1000, 1);
    pid_t child = fork();
    if (child == 0) {
        atomic_store(&faults, 0);
        check_parallel(1000, 1);
        check_parallel(1000, 7);
        _exit(atomic_load(&faults) > 0);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
}

int main(void) {
    static float data[N * N];
    cpu = wick_device_open("cpu");
    for (int i = 0; i < N * N; i++) data[i] = (float)i;
    shared = wick_from_data(cpu, WICK_F32, WICK_SHAPE(N, N), data, sizeof data);
    static const int counts[] = {2, 4, 1, 3};
    for (int i = 0; i < 4; i++) {
        CHECK_OK(wick_threads_set(counts[i]));
        for (int64_t n = 0; n <= 1000; n += 37)
            for (int64_t grain = 0; grain < 400; grain = grain * 3 + 1) check_parallel(n, grain);
        run_threads();
    }
    CHECK_OK(wick_threads_set(6));
    check_limits();
    check_changes();
    CHECK_OK(wick_threads_set(3));
    check_fork();
    wick_release(shared);
    wick_device_close(cpu);
    return test_end();
}
