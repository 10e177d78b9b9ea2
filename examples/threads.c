/* Threads and streams: four threads, each with a handle of its own, which on a GPU is a stream of its own, and an event
 * that makes one stream wait for another without a thread waiting.
 *
 *     cc threads.c -o threads $(pkg-config --cflags --libs wick) -pthread */
#include <pthread.h>
#include <stdio.h>
#include <wick/wick.h>

enum { THREADS = 4, N = 1000 };

struct job {
    int first;
    double sum;
    char error[256];
};

/* The sum of N numbers from job->first on. Scopes and errors belong to the thread. */
static void *work(void *context) {
    struct job *job = context;
    struct wick_device *device = wick_device_open("auto");
    wick_scope_begin();
    struct wick_tensor *x = wick_arange(device, WICK_F64, WICK_INT(job->first), WICK_INT(job->first + N), WICK_INT(1));
    if (wick_read_scalar(wick_sum(x, WICK_ALL_DIMS, false), &job->sum) != WICK_OK)
        snprintf(job->error, sizeof job->error, "%s", wick_error());
    wick_scope_end(NULL);
    wick_device_close(device);
    return NULL;
}

/* One handle fills a tensor, another one uses it: the second one's stream waits for the first one's. */
static enum wick_status hand_over(double *result) {
    struct wick_device *maker = wick_device_open("auto"), *user = wick_device_open("auto");
    wick_scope_begin();
    struct wick_tensor *x = wick_full(maker, WICK_F32, WICK_SHAPE(N), WICK_REAL(0.5));
    struct wick_event *made = wick_event_record(maker);
    enum wick_status status = made ? wick_event_wait(user, made) : wick_error_status();
    if (status == WICK_OK) status = wick_read_scalar(wick_sum(wick_to_device(x, user), WICK_ALL_DIMS, false), result);
    wick_event_free(made);
    wick_scope_end(NULL);
    wick_device_close(maker);
    wick_device_close(user);
    return status;
}

int main(void) {
    pthread_t threads[THREADS];
    struct job jobs[THREADS] = {{0}};
    int started = 0, failed = 0;
    double total = 0, handed = 0;
    for (; started < THREADS; started++) {
        jobs[started].first = started * N;
        if (pthread_create(&threads[started], NULL, work, &jobs[started]) != 0) break;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        total += jobs[i].sum;
        if (*jobs[i].error) failed = fprintf(stderr, "thread %d: %s\n", i, jobs[i].error);
    }
    if (hand_over(&handed) != WICK_OK) failed = fprintf(stderr, "%s\n", wick_error());
    if (failed || started < THREADS) return 1;
    printf("the sum of 0 to 3999: %.0f\nhanded over: %g\n", total, handed);
    return 0;
}
