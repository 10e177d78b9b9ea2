/* The driver of the elementwise kernels: see cpu/kernels/elementwise.h. */
#include "cpu/kernels/elementwise.h"

#include "core/convert.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"
#include "cpu/kernels/stream.h"
#include "cpu/kernels/transpose.h"

#include "core/checked.h"

/* The least that is worth waking a thread for: 128 and 64 KiB of f32. */
enum { LIGHT_BLOCKS = 32, HEAVY_BLOCKS = 16 };

/* From this many bytes on, a transposed operand is turned by a copy of its own first: read row by row, it would load
 * a cache line for each element. */
enum { TURN_FROM = 256 * 1024 };

struct operand {
    struct wick__layout layout; /* broadcast to the result's shape, then collapsed */
    const char *data;
    size_t size;
    enum wick_dtype dtype;
    bool convert;
};

struct job {
    struct operand in[WICK__ROW_INPUTS];
    int n_in;
    char *out;
    size_t out_size;
    enum wick_dtype out_dtype;
    bool out_convert, stream;
    int64_t count;
    struct wick__elementwise *e;
};

/* Room for a block of one operand: f64 at most, or f32 with the 16-bit elements it was made from behind it. */
union buffer {
    char bytes[WICK__BLOCK * 8];
    float f32[WICK__BLOCK];
    uint64_t align;
};

/* n elements of a size, `stride` elements apart, next to one another. */
static void pick(char *to, const char *from, size_t size, int64_t stride, int64_t n) {
#define PICK(type)                                                                                                     \
    {                                                                                                                  \
        const type *in = (const void *)from;                                                                           \
        type *out = (void *)to;                                                                                        \
        if (stride == 0)                                                                                               \
            for (int64_t i = 0; i < n; i++) out[i] = in[0];                                                            \
        else if (stride == 2)                                                                                          \
            for (int64_t i = 0; i < n; i++) out[i] = in[2 * i];                                                        \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++) out[i] = in[i * stride];                                                   \
        return;                                                                                                        \
    }
    if (stride == 1) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    switch (size) {
    case 1: PICK(uint8_t)
    case 2: PICK(uint16_t)
    case 4: PICK(uint32_t)
    default: PICK(uint64_t)
    }
#undef PICK
}

/* Elements begin .. begin+n-1 in row-major order: where they lie if they are next to one another, else in `to`. */
static const char *gather(const struct operand *op, int64_t begin, int64_t n, char *to) {
    const struct wick__layout *layout = &op->layout;
    int last = layout->rank - 1;
    int64_t index[WICK_MAX_RANK], rest = begin, at = 0;
    for (int d = last; d > 0; d--) {
        index[d] = rest % layout->shape[d];
        rest /= layout->shape[d];
        at += index[d] * layout->stride[d];
    }
    index[0] = rest;
    at += rest * layout->stride[0];
    if (layout->stride[last] == 1 && index[last] + n <= layout->shape[last]) return op->data + (size_t)at * op->size;
    for (;;) {
        int64_t piece = wick__min(n, layout->shape[last] - index[last]);
        pick(to, op->data + (size_t)at * op->size, op->size, layout->stride[last], piece);
        n -= piece;
        if (n == 0) break;
        to += (size_t)piece * op->size;
        at -= index[last] * layout->stride[last];
        index[last] = 0;
        for (int d = last - 1; d >= 0; d--) {
            at += layout->stride[d];
            if (++index[d] < layout->shape[d]) break;
            at -= index[d] * layout->stride[d];
            index[d] = 0;
        }
    }
    return NULL;
}

static void to_f32(enum wick_dtype dtype, const void *in, float *out, int64_t n) {
    const uint16_t *wide = in;
    const uint8_t *narrow = in;
    if (dtype == WICK_DTYPE_bf16)
        for (int64_t i = 0; i < n; i++) out[i] = wick__bf16_to_f32(wide[i]);
    else if (dtype == WICK_DTYPE_f16)
        wick__row_f16_to_f32(wide, out, n);
    else
        for (int64_t i = 0; i < n; i++) out[i] = wick__f8e4m3_to_f32(narrow[i]);
}

static void from_f32(enum wick_dtype dtype, const float *in, void *out, int64_t n) {
    uint16_t *wide = out;
    uint8_t *narrow = out;
    if (dtype == WICK_DTYPE_bf16)
        for (int64_t i = 0; i < n; i++) wide[i] = wick__f32_to_bf16(in[i]);
    else if (dtype == WICK_DTYPE_f16)
        wick__row_f32_to_f16(in, wide, n);
    else
        for (int64_t i = 0; i < n; i++) narrow[i] = wick__f32_to_f8e4m3(in[i]);
}

/* A block of an operand as the row function takes it. */
static const void *load(const struct operand *op, int64_t begin, int64_t n, union buffer *buffer) {
    char *raw = op->convert ? buffer->bytes + sizeof buffer->f32 : buffer->bytes;
    const char *from = gather(op, begin, n, raw);
    if (!op->convert) return from ? from : raw;
    to_f32(op->dtype, from ? from : raw, buffer->f32, n);
    return buffer->f32;
}

static void run_blocks(void *context, int worker, int64_t begin, int64_t end) {
    struct job *job = context;
    union buffer in[WICK__ROW_INPUTS], out, narrow;
    bool fixed[WICK__ROW_INPUTS];
    struct wick__row row = {.params = job->e->params, .failed = &job->e->failed};
    (void)worker;
    for (int i = 0; i < job->n_in; i++) {
        fixed[i] = job->in[i].layout.rank == 1 && job->in[i].layout.stride[0] == 0;
        if (fixed[i]) row.in[i] = load(&job->in[i], 0, wick__min(WICK__BLOCK, job->count), &in[i]);
    }
    for (int64_t block = begin; block < end; block++) {
        int64_t first = block * WICK__BLOCK;
        row.n = wick__min(WICK__BLOCK, job->count - first);
        char *to = job->out + (size_t)first * job->out_size;
        if (job->e->copies && !job->stream) {
            const char *from = gather(&job->in[0], first, row.n, to);
            if (from) memcpy(to, from, (size_t)row.n * job->out_size);
            continue;
        }
        for (int i = 0; i < job->n_in; i++)
            if (!fixed[i]) row.in[i] = load(&job->in[i], first, row.n, &in[i]);
        const void *result = row.in[0];
        if (!job->e->copies) {
            row.out = job->out_convert || job->stream ? out.bytes : to;
            job->e->row(&row);
            result = row.out;
        }
        if (job->out_convert) {
            row.out = job->stream ? narrow.bytes : to;
            from_f32(job->out_dtype, result, row.out, row.n);
            result = row.out;
        }
        if (job->stream)
            wick__stream_copy(to, result, (size_t)row.n * job->out_size);
        else if (result != to)
            memcpy(to, result, (size_t)row.n * job->out_size);
    }
    if (job->stream) wick__stream_end();
}

/* The bytes of an operand that is large and not broadcast, else 0. */
static size_t turn_size(const struct operand *op) {
    const struct wick__layout *layout = &op->layout;
    if (layout->rank < 2 || layout->stride[layout->rank - 1] < 8) return 0;
    size_t nbytes = (size_t)wick__layout_count(layout) * op->size;
    if (nbytes < TURN_FROM) return 0;
    for (int d = 0; d < layout->rank; d++)
        if (layout->stride[d] == 0) return 0;
    return nbytes;
}

/* Puts a turned copy in the place of a large transposed operand. Returns the copy and its size in *nbytes; NULL when
 * there is no need, or no memory: the operand is then read as it is. */
static void *turn(struct operand *op, size_t *nbytes) {
    *nbytes = turn_size(op);
    if (*nbytes == 0) return NULL;
    struct wick__error none = {.status = WICK_OK};
    struct wick__layout to;
    void *copy = NULL;
    wick__error_swap(&none);
    bool made = wick__layout_new(&to, "turn", op->layout.rank, op->layout.shape) == WICK_OK &&
                wick__pool_alloc(*nbytes, &copy) == WICK_OK;
    wick__error_swap(&none);
    if (!made) return NULL;
    if (!WICK__ISA(wick__transpose)(&op->layout, &to, op->data, copy, op->size)) {
        wick__pool_free(copy, *nbytes);
        return NULL;
    }
    op->data = copy;
    op->layout = to;
    wick__layout_collapse(&op->layout, 1);
    return copy;
}

void WICK__ISA(wick__elementwise)(struct wick__elementwise *e) {
    const struct wick__layout *shape = &e->out->layout;
    struct job job;
    void *turned[WICK__ROW_INPUTS];
    size_t turned_size[WICK__ROW_INPUTS];
    job.n_in = e->n_in;
    job.out = wick__data(e->out);
    job.out_size = wick__size(e->out->dtype);
    job.out_dtype = e->out->dtype;
    job.out_convert = !e->raw && wick__row_dtype(e->out->dtype) != e->out->dtype;
    job.count = wick__count(e->out);
    job.stream = (size_t)job.count * job.out_size >= (size_t)WICK__STREAM_FROM;
    job.e = e;
    atomic_init(&e->failed, false);
    if (job.count == 0) return;
    for (int i = 0; i < e->n_in; i++) {
        const struct wick_tensor *x = e->in[i];
        struct operand *op = &job.in[i];
        wick__layout_expand(&x->layout, shape->rank, shape->shape, &op->layout);
        wick__layout_collapse(&op->layout, 1);
        op->data = wick__data(x);
        op->size = wick__size(x->dtype);
        op->dtype = x->dtype;
        op->convert = !e->raw && wick__row_dtype(x->dtype) != x->dtype;
        turned[i] = turn(op, &turned_size[i]);
    }
    wick__parallel((job.count + WICK__BLOCK - 1) / WICK__BLOCK, e->heavy ? HEAVY_BLOCKS : LIGHT_BLOCKS, run_blocks,
                   &job);
    for (int i = 0; i < e->n_in; i++)
        if (turned[i]) wick__pool_free(turned[i], turned_size[i]);
}
