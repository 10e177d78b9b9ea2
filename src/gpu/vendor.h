/* What a GPU vendor supplies. A vendor is one `static const struct wick__vendor` in src/cuda/ or src/rocm/: bindings to
 * libraries that are opened at run time, and nothing else. Everything that would look alike in both is in src/gpu/.
 *
 * Functions that return int give the vendor's own code, 0 for success; src/gpu/ makes errors of them with error_text.
 * Streams, events, modules, functions and graphs are the vendor's handles. Every call that touches a device is made
 * with its context current on the calling thread (`use`). */
#ifndef WICK_GPU_VENDOR_H
#define WICK_GPU_VENDOR_H

#include "core/error.h"

#include <wick/linalg.h>
#include <wick/recurrent.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* FNV-1a, which starts from 0: for names of ways. */
static inline uint64_t wick__fnv(uint64_t hash, const void *data, size_t nbytes) {
    if (hash == 0) hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < nbytes; i++) hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3;
    return hash;
}

/* The same by words of 8 bytes, for keys. */
static inline uint64_t wick__fnv_words(const void *data, size_t nbytes) {
    uint64_t hash = 0xcbf29ce484222325, word;
    for (size_t i = 0; i < nbytes; i += sizeof word) {
        memcpy(&word, (const char *)data + i, sizeof word);
        hash = (hash ^ word) * 0x100000001b3;
    }
    return hash;
}

struct wick__properties {
    char name[128];      /* "AMD Instinct MI300X", "NVIDIA H200" */
    char target[64];     /* what its code is compiled for: "gfx942:sramecc+:xnack-", "sm_90" */
    char bus[32];        /* "0000:c1:00.0" */
    int wave;            /* lanes that run in step, 32 or 64 */
    int units;           /* multiprocessors, compute units */
    int threads;         /* the most that are resident on a unit */
    size_t shared;       /* LDS bytes a block can have without asking for more */
    size_t memory;       /* bytes of device memory; on an integrated GPU the carve-out */
    bool integrated;     /* an APU: shares the host's memory */
    bool follows;        /* a kernel may begin before those ahead of it have ended (gpu_follow in kernels/gpu.h) */
    bool maps;           /* tensor_map is there */
    bool together;       /* a launch whose blocks all run at once */
    int driver, runtime; /* versions as the vendor numbers them */
};

/* One attempt to open a library, for `wick doctor`. */
struct wick__attempt {
    const char *path;
    const char *error; /* NULL: this one was taken */
};
/* How the search for a library went. */
struct wick__library {
    const char *name;  /* "libamdhip64" */
    const char *path;  /* the one in use, NULL when none */
    const char *fault; /* why none is: "libamdhip64.so.6 has no hipModuleLoadData", the last error, ... */
    const struct wick__attempt *attempts;
    int count;
};
enum wick__library_kind { WICK__DRIVER, WICK__COMPILER, WICK__BLAS, WICK__BLAS_LT, WICK__DNN, WICK__LIBRARIES };

/* A library beside the driver, for routes (gpu/routes/route.h). All NULL where the vendor has none. */
struct wick__companion {
    /* A handle on the current device and this stream; NULL in *handle when the library is not there. */
    int (*create)(void **handle, void *stream);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, void *stream);
    const char *(*version)(void); /* "rocBLAS 4.4.0"; "" when there is none */
    /* Why the library can't be used for a target, "librocblas.so.4 has no kernels for gfx1103"; NULL when it can. */
    const char *(*missing)(const char *target);
    /* Files that results depend on besides the library's own: a compiler that it starts, another library; NULL after
     * the last. NULL where there are none. */
    const char *(*beside)(int number);
    bool only_chosen; /* it compiles for seconds at each new shape, so none but a user's choice takes it */
};

/* A matrix product as BLAS sees it, for each of `batch` problems: C = A B, all row-major, C [m,n], A [m,k], B [k,n];
 * transpose_a means that A is stored [k,m], likewise b. Leading dims and strides between problems in elements; stride 0
 * repeats one matrix. Accumulates in f32 (f64 for f64). */
struct wick__blas_product {
    enum wick_dtype dtype, c_dtype; /* of A and B, and of C: the same, or f32 for operands of 16 bits */
    int64_t m, n, k, batch;
    bool transpose_a, transpose_b;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc, stride_a, stride_b, stride_c;
    /* Of products with more to them alone: C = activation(A B + bias), one of bias a column of C, or NULL; in C's
     * dtype. */
    const void *bias;
    enum wick_activation activation;
};

/* A convolution as DNN libraries see it: y[n,o,p] = sum over c, k of w[o,c,k] x[n,c,p stride + k dilation - padding] in
 * each group, zeros around x, and its two gradients; all dense and row-major, of 2 or 3 spatial dims, at multiples of
 * 16 bytes. Accumulates in f32 (f64 for f64). */
enum wick__conv_way {
    WICK__CONV_FORWARD, /* y from x and w; y = relu(y + bias) where those are asked for, rounded once */
    WICK__CONV_DATA,    /* x from y and w: its gradient, or a transposed convolution; bias and relu are x's */
    WICK__CONV_WEIGHT   /* w from x and y */
};
struct wick__dnn_conv {
    enum wick__conv_way way;
    enum wick_dtype dtype;
    int spatial;
    int64_t n, groups, cin, cout; /* channels of a group */
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    void *x;    /* [n, groups cin, in...] */
    void *w;    /* [groups cout, cin, kernel...] */
    void *y;    /* [n, groups cout, out...] */
    void *bias; /* one a channel of the result, or NULL */
    bool relu;
    bool last; /* x or y has channels last, and becomes a copy when it is run */
};

/* Attention as DNN libraries see it: softmax(scale q k^T) v by head; every query sees every key. Operands of 16 bits at
 * multiples of 16 bytes, accumulates in f32, and rounds the weights of v to the dtype. */
struct wick__dnn_attention {
    enum wick_dtype dtype;
    int64_t batches, heads, key_heads, queries, keys, depth, width;
    int64_t q_stride[3], k_stride[3], v_stride[3]; /* of batches, heads and positions; elements are side by side */
    float scale;
    const void *q;  /* [batches, heads, queries, depth] */
    const void *k;  /* [batches, key_heads, keys, depth] */
    const void *v;  /* [batches, key_heads, keys, width] */
    void *out;      /* [batches, heads, queries, width], dense */
    void *log_sums; /* [batches, heads, queries], dense, f32; NULL: not wanted */
};

/* Another layer that DNN libraries have; tensors are dense, at multiples of 16 bytes, and what is one a channel is f32.
 * Accumulates in f32, and rounds results once. */
enum wick__layer {
    WICK__LAYER_SOFTMAX,              /* y from x, over the channels */
    WICK__LAYER_LOG_SOFTMAX,          /* the same */
    WICK__LAYER_SOFTMAX_BACKWARD,     /* the gradient of x from those of y, and y */
    WICK__LAYER_LOG_SOFTMAX_BACKWARD, /* the same */
    WICK__LAYER_NORM,                 /* batch norm: y from x, mean, variance, weight and bias */
    WICK__LAYER_NORM_TRAIN,           /* y, 1 / deviation and mean from x, weight and bias */
    WICK__LAYER_NORM_BACKWARD,        /* gradients of x, weight, bias from those of y, x, mean, 1 / deviation, weight */
    WICK__LAYER_RESPONSE,             /* local response norm by channels: y from x */
    WICK__LAYER_RESPONSE_BACKWARD,    /* the gradient of x from those of y, and x */
    WICK__LAYER_AVERAGE_POOL,         /* y from x */
    WICK__LAYER_AVERAGE_POOL_BACKWARD, /* the gradient of x from those of y */
    WICK__LAYER_MAX_POOL,              /* y from x */
    WICK__LAYER_MAX_POOL_INDICES,      /* y and, in u32, the places in planes of x, from x */
    WICK__LAYER_MAX_POOL_BACKWARD,     /* the gradient of x from those of y, and the places */
    WICK__LAYERS
};
struct wick__dnn_layer {
    enum wick__layer kind;
    enum wick_dtype dtype;
    int64_t size[4];                                 /* of x: images, channels, height, width */
    int64_t to[2], kernel[2], stride[2], padding[2]; /* of windows: height and width of y, ... */
    bool counts_padding;
    double response[3]; /* alpha, beta, k; of kernel[0] channels */
    double epsilon;
    const void *in[5]; /* in the order above */
    void *out[3];
};

/* Recurrent layers in inference, or their gradients, as include/wick/recurrent.h has them, all of one dtype, c too, and
 * dense. */
struct wick__dnn_recurrent {
    enum wick_recurrent_mode mode;
    enum wick_dtype dtype;
    int layers, directions;
    bool biased, batch_first;
    int64_t steps, batch, inputs, hidden, state; /* state: the projection, or hidden */
    const int64_t *lengths;                      /* 1 .. steps, in any order; NULL: steps each */
    const void *const *weights;                  /* in wick_recurrent's order */
    const void *x, *h, *c;                       /* h and c: NULL for 0 */
    void *y, *last_h, *last_c;                   /* of those NULL is not wanted */
    bool backward;                               /* the gradients by x, h, c and weights, of those by y and the last */
    struct wick__dnn_slopes {
        const void *y, *last_h, *last_c; /* the last two: NULL for 0 */
        void *x, *h, *c;                 /* of h and c, NULL is not wanted */
        void *const *weights;            /* in their order; NULL: none is wanted */
    } slopes;
};
static inline int wick__recurrent_gates(enum wick_recurrent_mode mode) {
    return mode == WICK_LSTM ? 4 : mode == WICK_GRU ? 3 : 1;
}
/* Weights of a direction of a layer, in wick_recurrent's order. */
static inline int wick__recurrent_per(const struct wick__dnn_recurrent *l) {
    return 2 + (l->biased ? 2 : 0) + (l->state != l->hidden);
}
/* What a library takes of them: a space for all weights, into which these pieces are to be copied, and memory. */
struct wick__weight_piece {
    int weight;
    size_t from, to, nbytes; /* bytes */
};
struct wick__recurrent_plan {
    void *made;              /* the library's descriptors */
    size_t space, workspace; /* bytes */
    int n_pieces;            /* room for 6 a weight is given */
    struct wick__weight_piece *pieces;
};

/* One of the ways that a library proposes for a call and that will do: the one of this name or, where that is 0, the
 * one at this place, from 1. With neither it is the first, and its name is not asked for; else making a plan sets it.
 */
struct wick__way {
    int64_t place;
    uint64_t name;
};

/* A way in its library's own words, as they lie on disk; of no words where it has none that it could check again. */
enum { WICK__RECIPE_WORDS = 33 };
struct wick__recipe {
    int64_t count, words[WICK__RECIPE_WORDS];
};

/* What a library is asked for, and what it has made of that. */
struct wick__planned {
    size_t most;                /* bytes of workspace that a plan may want */
    struct wick__way way;       /* that is wanted */
    struct wick__recipe recipe; /* to be tried first, whatever it says; then the plan's own */
    void *plan;                 /* NULL: none */
    size_t workspace;
};

/* Source to be compiled, which includes `headers` by their names. */
struct wick__source_job {
    const char *target, *name, *source;
    int n_headers;
    const char *const *header_names, *const *headers;
    int n_options;
    const char *const *options;
};

/* What tensor maps count in, and the first stride that is too long, in elements. */
#define WICK__MAP_MOST INT32_MAX
#define WICK__MAP_STRIDE (1LL << 39)

/* A tensor of 16-bit elements whose boxes a kernel copies to LDS (kernels/mma_bulk.h), innermost dim first. */
struct wick__tensor_map {
    enum wick_dtype dtype;
    const void *from;
    unsigned rank;              /* 3 or 4 */
    int64_t size[4], stride[3]; /* elements; of the outer dims, in elements, at multiples of 16 bytes */
    int box[2];                 /* of the inner two; 1 of the others */
};

/* How many blocks of a kernel, of how many threads and bytes of dynamic LDS. `follows`: the kernel waits for what is
 * ahead of it in the stream, so that it may begin early. `together`: all blocks run at once, so that they may wait for
 * each other. Both only where the properties say so. */
struct wick__blocks {
    unsigned grid[3], threads, shared;
    bool follows, together;
};
enum { WICK__TOO_LARGE = 720 }; /* both vendors' code for blocks that can't all run at once */

struct wick__vendor {
    const char *family; /* "cuda", "rocm" */
    const char *pack;   /* prefix of its targets: "sm_", "gfx" */

    /* ---- libraries ---- */
    /* Opens the driver library, once; safe from several threads. WICK_DEVICE, with the reason, when it can't. */
    enum wick_status (*load)(void);
    /* How the search for a library went; opens it first if nobody has tried. */
    void (*library)(enum wick__library_kind kind, struct wick__library *library);
    /* "hipErrorOutOfMemory (2): out of memory" into text; any code. */
    void (*error_text)(int code, char *text, size_t size);
    bool (*out_of_memory)(int code);

    /* ---- devices; only after load ---- */
    int (*count)(int *count); /* 0 devices is success */
    int (*properties)(int ordinal, struct wick__properties *properties);
    int (*context_open)(int ordinal, void **context); /* counted: the vendor's primary context */
    int (*context_close)(int ordinal, void *context);
    int (*use)(int ordinal, void *context); /* makes it current on this thread */
    int (*memory_info)(size_t *free, size_t *total);

    /* ---- memory ---- */
    int (*malloc)(void **memory, size_t nbytes);
    int (*free)(void *memory);
    int (*host_malloc)(void **memory, size_t nbytes); /* pinned, and addressable by the device under the same address */
    int (*host_free)(void *memory);
    int (*copy_in)(void *to, const void *from, size_t nbytes, void *stream);  /* host to device, in stream order */
    int (*copy_out)(void *to, const void *from, size_t nbytes, void *stream); /* device to host */
    int (*copy)(void *to, const void *from, size_t nbytes, void *stream);     /* within the device */
    int (*copy_peer)(void *to, int to_ordinal, const void *from, int from_ordinal, size_t nbytes, void *stream);
    int (*peer_access)(int ordinal, int other, bool *possible); /* and switches it on where possible */

    /* ---- streams, events, graphs ---- */
    int (*stream_create)(void **stream);
    int (*stream_destroy)(void *stream);
    int (*stream_synchronize)(void *stream);
    int (*stream_wait)(void *stream, void *event);
    int (*event_create)(void **event, bool timing);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_synchronize)(void *event);
    int (*event_query)(void *event, bool *done);
    int (*event_elapsed)(float *ms, void *from, void *to);
    int (*capture_begin)(void *stream);
    int (*capture_end)(void *stream, void **graph); /* a graph that can be launched */
    int (*graph_launch)(void *graph, void *stream);
    int (*graph_destroy)(void *graph);

    /* ---- code ---- */
    int (*module_load)(void **module, const void *image);
    int (*module_unload)(void *module);
    int (*module_function)(void **function, void *module, const char *name);
    /* Room for `nbytes` of dynamic LDS, where more than the default is wanted. */
    int (*function_shared)(void *function, size_t nbytes);
    int (*launch)(void *function, const struct wick__blocks *blocks, void *stream, void **args);
    /* Encodes `of` to 128 bytes at a multiple of 64 (struct gpu_tensor_map), for lines of 128 bytes; NULL where there
     * are no such maps. */
    int (*tensor_map)(void *map, const struct wick__tensor_map *of);

    /* ---- run-time compiler: opened only when a kernel is really missing ---- */
    /* Compiles; *image is of *nbytes, given back with wick__free. On failure the compiler's log is in wick_error(). */
    enum wick_status (*compile)(const struct wick__source_job *job, void **image, size_t *nbytes);
    /* "nvrtc 13.0", part of a cache entry's key; "" when there is no compiler. */
    const char *(*compiler_version)(void);

    /* ---- BLAS ---- */
    struct wick__companion blas; /* its handles have their own workspace */
    /* Runs a product, or answers a code that is not 0 when the library has none for the dtypes. */
    int (*blas_gemm)(void *blas, const struct wick__blas_product *gemm);

    /* ---- products with bias and activation, of one batch, rounded once ---- */
    struct wick__companion lt;
    /* Looks for a way to make products of these dtypes, sizes, strides and alignments, or answers a code that is not 0;
     * and makes one that way. */
    int (*lt_plan)(void *lt, const struct wick__blas_product *product, struct wick__planned *planned);
    int (*lt_run)(void *plan, const struct wick__blas_product *product, void *workspace, size_t nbytes, void *lt);
    void (*lt_forget)(void *plan);

    /* ---- convolutions ---- */
    struct wick__companion dnn;
    /* As lt_plan, lt_run and lt_forget. The plan depends on all but the addresses. */
    int (*conv_plan)(void *dnn, const struct wick__dnn_conv *conv, struct wick__planned *planned);
    int (*conv_run)(void *dnn, void *plan, const struct wick__dnn_conv *conv, void *workspace);
    void (*conv_forget)(void *plan);

    /* ---- attention, by the library of convolutions; NULL where it has none ---- */
    /* The plan depends on all but the addresses and the scale. */
    int (*attention_plan)(void *dnn, const struct wick__dnn_attention *attention, struct wick__planned *planned);
    int (*attention_run)(void *dnn, void *plan, const struct wick__dnn_attention *attention, void *workspace);
    void (*attention_forget)(void *plan);

    /* ---- layers, by the library of convolutions; NULL where it has none ---- */
    bool (*layer_has)(enum wick__layer kind, enum wick_dtype dtype); /* whether such are ever taken */
    /* The plan depends on all but the addresses and epsilon. */
    int (*layer_plan)(const struct wick__dnn_layer *layer, void **plan, size_t *workspace);
    int (*layer_run)(void *dnn, void *plan, const struct wick__dnn_layer *layer, void *workspace);
    void (*layer_forget)(void *plan);

    /* ---- recurrent layers, by the same library; NULL where it has none ---- */
    bool recurrent_by_lengths, recurrent_projected; /* whether it has sequences of unequal lengths, and projections */
    /* Fills a plan, which depends on all but addresses and lengths. */
    int (*recurrent_plan)(void *dnn, const struct wick__dnn_recurrent *layer, struct wick__recurrent_plan *plan);
    int (*recurrent_run)(void *dnn, const struct wick__recurrent_plan *plan, const struct wick__dnn_recurrent *layer,
                         const void *space, void *workspace);
    void (*recurrent_forget)(void *made);
    /* The gradients of a layer, whose forward pass it makes again, by a plan of such a call; those of the weights go to
     * another space, unless that is NULL. NULL where the library has none. */
    int (*recurrent_backward)(void *dnn, const struct wick__recurrent_plan *plan,
                              const struct wick__dnn_recurrent *layer, const void *space, void *slopes,
                              void *workspace);
};

extern const struct wick__vendor wick__cuda_vendor, wick__rocm_vendor;

#endif
