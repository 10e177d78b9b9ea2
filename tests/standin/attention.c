/* Attention on the stand-in's memory, for its cuDNN: plain loops in f64. A library that is wrong forgets the last key.
 */
#include "blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { Q, K, V, OUT, OPERANDS };

static double get(const struct standin_attention *a, int which, long b, long h, long p, long e) {
    const long *stride = a->stride[which], head = which == K || which == V ? h / (a->heads / a->key_heads) : h;
    const double value = standin_get(a->dtype, a->operand[which], b * stride[0] + head * stride[1] + p * stride[2] + e);
    const bool flushes = a->dtype == STANDIN_F16 && strcmp(standin_settings.blas, "flush") == 0;
    return flushes && fabs(value) < 0x1p-14 ? 0 : value;
}

static void query(const struct standin_attention *a, long b, long h, long p, double *weight) {
    const long keys = a->keys - (strcmp(standin_settings.blas, "wrong") == 0);
    double most = -INFINITY, total = 0;
    for (long j = 0; j < keys; j++) {
        weight[j] = 0;
        for (long e = 0; e < a->depth; e++) weight[j] += get(a, Q, b, h, p, e) * get(a, K, b, h, j, e);
        weight[j] *= a->scale;
        most = isnan(weight[j]) || isnan(most) ? (double)NAN : fmax(most, weight[j]);
    }
    for (long j = 0; j < keys; j++) total += weight[j] = exp(weight[j] - most);
    for (long e = 0; e < a->width; e++) {
        double sum = 0;
        for (long j = 0; j < keys; j++) sum += weight[j] / total * get(a, V, b, h, j, e);
        standin_put(a->dtype, a->operand[OUT],
                    b * a->stride[OUT][0] + h * a->stride[OUT][1] + p * a->stride[OUT][2] + e, sum);
    }
    if (a->log_sums) standin_put(STANDIN_F32, a->log_sums, (b * a->heads + h) * a->queries + p, most + log(total));
}

static int run(const void *arguments) {
    struct standin_attention a;
    memcpy(&a, arguments, sizeof a);
    double *weight = calloc((size_t)a.keys, sizeof *weight);
    if (!weight) return DRIVER_MEMORY;
    for (long b = 0; b < a.batches; b++)
        for (long h = 0; h < a.heads; h++)
            for (long p = 0; p < a.queries; p++) query(&a, b, h, p, weight);
    free(weight);
    return DRIVER_OK;
}

static bool lies(const void *p, long last, size_t size) {
    const struct driver_allocation *found = driver_find(p, (size_t)(last + 1) * size);
    return found && !found->pinned;
}

int standin_attend(const struct standin_attention *a, void *stream) {
    struct driver_stream *on = stream ? stream : driver_stream_of(&driver_devices[0], NULL);
    if (!driver_stream_of(on->device, on)) return DRIVER_HANDLE;
    if (strcmp(standin_settings.blas, "refuse") == 0) return DRIVER_NOT_FOUND;
    const long heads[] = {a->heads, a->key_heads, a->key_heads, a->heads};
    for (int i = 0; i < OPERANDS; i++) {
        const long positions = i == K || i == V ? a->keys : a->queries, elements = i < V ? a->depth : a->width;
        const long *stride = a->stride[i];
        if (!lies(a->operand[i],
                  (a->batches - 1) * stride[0] + (heads[i] - 1) * stride[1] + (positions - 1) * stride[2] + elements -
                      1,
                  2))
            return DRIVER_VALUE;
    }
    if (a->log_sums && !lies(a->log_sums, a->batches * a->heads * a->queries - 1, 4)) return DRIVER_VALUE;
    return driver_call(on, run, a, sizeof *a);
}
