/* What an op costs beside its arithmetic: the time of an add of two scalars, called, run and released, in ns, on the
 * device named in argv[1], "cpu" without one. Prints the median of 21 rounds: of 100,000 calls on the CPU, and of 500
 * on a GPU, fewer than its queue holds, without the wait for them. On a GPU a second line says how long the first op
 * took, from the start of main to its result on the host, in ms. */
#include <wick/wick.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 21, CPU_CALLS = 100000, GPU_CALLS = 500 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    double rounds[ROUNDS], started = now();
    float value;
    const char *name = argc > 1 ? argv[1] : "cpu";
    int calls = strcmp(name, "cpu") == 0 ? CPU_CALLS : GPU_CALLS;
    struct wick_device *device = wick_device_open(name);
    struct wick_tensor *x = wick_full(device, WICK_F32, 0, NULL, WICK_REAL(1.5)), *y = wick_add(x, x);
    bool ok = wick_read(y, &value, sizeof value) == WICK_OK && value == 3;
    double first = now() - started;
    for (int r = 0; ok && r < ROUNDS; r++) {
        double began = now();
        for (int i = 0; i < calls; i++) wick_release(wick_add(x, x));
        rounds[r] = (now() - began) / calls;
        ok = wick_device_sync(device) == WICK_OK && wick_error_status() == WICK_OK;
    }
    if (ok) {
        qsort(rounds, ROUNDS, sizeof *rounds, ascending);
        printf("%.0f\n", rounds[ROUNDS / 2]);
        if (calls == GPU_CALLS) printf("%.1f\n", first / 1e6);
    } else {
        fprintf(stderr, "%s\n", wick_error());
    }
    wick_release(y);
    wick_release(x);
    wick_device_close(device);
    return ok ? 0 : 1;
}
