/* What the stand-in BLAS and DNN libraries ask of the stand-in driver, whose memory and streams they work on. */
#ifndef STANDIN_BLAS_H
#define STANDIN_BLAS_H

#include "standin.h"

enum standin_dtype { STANDIN_F16, STANDIN_BF16, STANDIN_F32, STANDIN_F64, STANDIN_NO_DTYPE };

enum standin_activation { STANDIN_NONE, STANDIN_RELU, STANDIN_GELU };

/* C = activation(alpha op(A) op(B) + beta C + bias) for each problem of the batch; matrices by columns, as BLAS has
 * them, one bias a row of C or NULL. */
struct standin_gemm {
    enum standin_dtype dtype, c_dtype; /* of A and B; of C and the bias */
    long m, n, k, batch, lda, ldb, ldc, stride_a, stride_b, stride_c;
    bool transpose_a, transpose_b;
    double alpha, beta;
    const void *a, *b;
    void *c;
    const void *bias;
    enum standin_activation activation;
};

/* y[n,o,p] = sum of w[o,i,k] x[n,i,p stride + k dilation - padding] in each group, or one of its two gradients: what
 * `result` names, 'x', 'w' or 'y', from the others. Dense; relu(result + bias) where those are asked for. */
struct standin_conv {
    enum standin_dtype dtype;
    char result;
    int spatial;
    long n, groups, cin, cout; /* channels of a group */
    long in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    void *x, *w, *y;
    const void *bias;
    bool relu;
};

/* Attention, as cuDNN has it: q, k, v and the result, by strides of batches, heads and positions; log_sums dense, in
 * f32, or NULL. */
struct standin_attention {
    enum standin_dtype dtype;
    long batches, heads, key_heads, queries, keys, depth, width, stride[4][3];
    double scale;
    void *operand[4], *log_sums;
};

/* What MIOpen has besides, and cuDNN of batch norm, of x [n,channels,height,width]; by[] are in f32 but those of
 * pooling, one a channel, of local response norm one an element. Epsilon is of batch norm. */
enum standin_layer_kind {
    STANDIN_SOFTMAX,          /* by channels, or its logarithm: out[0] from in[0] */
    STANDIN_SOFTMAX_BACKWARD, /* of in[0], the result, and in[1], its gradient */
    STANDIN_NORM,             /* of in[0], by[0] weight, by[1] bias, by[2] mean, by[3] variance */
    STANDIN_NORM_TRAIN,       /* by[2] and by[3] become mean and 1 / deviation */
    STANDIN_NORM_BACKWARD,    /* of in[0] x, in[1] gradient, by[0] weight, by[2] mean, by[3] 1 / deviation; by[4], by[5]
                                 become    the gradients of weight and bias */
    STANDIN_RESPONSE,         /* local response norm by kernel[0] channels; by[0], unless NULL, becomes the divisors */
    STANDIN_RESPONSE_BACKWARD, /* of in[0] x, in[1] gradient, by[0] divisors; by[1] has the result */
    STANDIN_POOL,              /* averages */
    STANDIN_POOL_BACKWARD,
    STANDIN_MAX_POOL,         /* with by[0], unless NULL, the places in planes, in u32 */
    STANDIN_MAX_POOL_BACKWARD /* of by[0], the places, and in[0] */
};
struct standin_layer {
    enum standin_layer_kind kind;
    enum standin_dtype dtype;
    bool log, counts_padding;
    long size[4], to[2], kernel[2], padding[2], stride[2];
    double epsilon, response[3]; /* alpha, beta and k */
    const void *in[2];
    void *out, *by[6];
};

/* Recurrent layers, as cuDNN and MIOpen have them; the parts of a direction are the gates of the input, those of the
 * state, and a projection. Their gradients, as MIOpen has them: a forward pass leaves a note of itself in the reserve,
 * which the gradients by data read and leave one in the workspace, for those by weights. Without lengths and
 * projection.
 */
enum { STANDIN_SEQUENCES = 64 };
struct standin_recurrent {
    enum standin_dtype dtype;
    char result; /* 'y'; gradients by data: 'x'; by weights: 'w' */
    bool relu, biased, batch_first;
    int layers, directions, gates; /* 1; 4: LSTM; 3: GRU */
    int order[4];                  /* the parts that are i f g o, or r z n */
    int gap;                       /* elements before each part in the space */
    long steps, batch, inputs, hidden, state, lengths[STANDIN_SEQUENCES];
    const void *x, *h, *c, *weights;          /* h and c may be NULL */
    void *y, *last_h, *last_c;                /* the last two, too */
    const void *of_y, *of_last_h, *of_last_c; /* gradients; the last two, and the next two, may be NULL */
    void *of_h, *of_c, *of_x, *of_weights;
    void *reserve, *workspace; /* each of STANDIN_NOTE bytes; of inference NULL */
};
enum { STANDIN_NOTE = 1000 };

/* Elements of device memory. */
double standin_get(enum standin_dtype dtype, const void *p, long i);
void standin_put(enum standin_dtype dtype, void *p, long i, double value);

/* The driver's side, exported by it under these names. */
struct standin_blas_driver {
    /* As driver_enter and driver_leave. */
    int (*enter)(struct driver_entry *entry);
    int (*leave)(int code);
    void (*count)(int change); /* of handles; between enter and leave, as the next */
    /* Queues a product on the stream: DRIVER_NOT_FOUND when DRIVER_BLAS says to refuse. */
    int (*gemm)(const struct standin_gemm *gemm, void *stream);
    int (*convolve)(const struct standin_conv *conv, void *stream); /* the same for a convolution */
    int (*attend)(const struct standin_attention *attention, void *stream);
    int (*layer)(const struct standin_layer *layer, void *stream);
    int (*recur)(const struct standin_recurrent *recurrent, void *stream);
    /* Where a matrix or a bias begins in the space of weights, in elements, -1: nowhere; and the elements of that. */
    long (*recurrent_at)(const struct standin_recurrent *recurrent, int ld, int part, bool bias);
    long (*recurrent_space)(const struct standin_recurrent *recurrent);
    bool (*is_memory)(const void *p, size_t nbytes); /* of the device, and live */
    /* Whether a library's way, "dnn-2", is there at all; and that it runs, which may take long. */
    bool (*has)(const char *way);
    void (*ran)(const char *way);
};
const struct standin_blas_driver *standin_blas_driver(void);
int standin_convolve(const struct standin_conv *conv, void *stream);
int standin_attend(const struct standin_attention *attention, void *stream);
int standin_run_layer(const struct standin_layer *layer, void *stream);
int standin_recur(const struct standin_recurrent *recurrent, void *stream);
long standin_recurrent_at(const struct standin_recurrent *recurrent, int ld, int part, bool bias);
long standin_recurrent_space(const struct standin_recurrent *recurrent);
/* The way that ran last, since this was asked before; "" for none. For tests. */
const char *standin_ran(void);

/* A handle of either library. */
struct standin_blas {
    void *stream;
};
/* The driver of the process: the first library of `names`, ended by NULL, that is open and is a stand-in. */
const struct standin_blas_driver *standin_blas_find(const char *const *names);

/* ---- what a function of such a library begins with ---- */

#define API __attribute__((visibility("default")))
/* Declares entry_, which counts the calls, and d, the driver; returns `missing` without one. */
#define STANDIN_FIND(function, missing, ...)                                                                           \
    static struct driver_entry entry_ = {.name = #function};                                                           \
    const struct standin_blas_driver *d = standin_blas_find((const char *const[]){__VA_ARGS__, NULL});                 \
    if (!d) return missing
/* The same, and enters the driver; a fault on demand is the status `fault`. */
#define STANDIN_ENTER(function, missing, fault, ...)                                                                   \
    STANDIN_FIND(function, missing, __VA_ARGS__);                                                                      \
    if (d->enter(&entry_)) return d->leave(fault)

#endif
