/* What an op costs beside its arithmetic: the time of an add of two scalars, called, run and released, in ns.
 * Prints the median of 21 rounds of 100,000. */
#include <wick/wick.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 21, CALLS = 100000 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void) {
    double rounds[ROUNDS];
    struct wick_device *device = wick_device_open("cpu");
    struct wick_tensor *x = wick_full(device, WICK_F32, 0, NULL, 1.5);
    for (int r = 0; r < ROUNDS; r++) {
        double began = now();
        for (int i = 0; i < CALLS; i++) wick_release(wick_add(x, x));
        rounds[r] = (now() - began) / CALLS;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, ascending);
    bool ok = wick_error_status() == WICK_OK;
    if (ok)
        printf("%.0f\n", rounds[ROUNDS / 2]);
    else
        fprintf(stderr, "%s\n", wick_error());
    wick_release(x);
    wick_device_close(device);
    return ok ? 0 : 1;
}
