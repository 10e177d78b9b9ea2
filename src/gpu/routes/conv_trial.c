/* Convolutions with known results: operands, what comes of them in f64 by the definition, and the comparison. */
#include "gpu/routes/conv.h"

#include "core/convert.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

/* What the operands are: small integers, whose sums are exact; terms that need all bits of the dtype, of which each sum
 * leaves the last ones; or the integers times a power of two, so that one operand is subnormal. */
enum kind { PLAIN, LONG, SUBNORMAL };

struct trial {
    int spatial;
    enum kind kind;
    bool bias, relu; /* not of gradients by the weight */
    int64_t n, groups, cin, cout, in[3], kernel[3], stride[3], padding[3], dilation[3];
};
static const struct trial trials[] = {
    {2, PLAIN, false, false, 2, 1, 5, 7, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, PLAIN, true, true, 2, 1, 16, 24, {12, 10}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {2, PLAIN, true, false, 1, 3, 4, 8, {10, 9}, {3, 2}, {1, 2}, {2, 0}, {2, 1}},
    {2, PLAIN, false, true, 2, 8, 1, 1, {13, 8}, {5, 3}, {1, 1}, {2, 1}, {1, 1}},
    {2, PLAIN, true, false, 3, 1, 8, 16, {1, 40}, {1, 5}, {1, 3}, {0, 2}, {1, 1}},
    {3, PLAIN, false, false, 1, 1, 4, 8, {5, 6, 7}, {2, 3, 3}, {1, 2, 1}, {1, 1, 0}, {1, 1, 2}},
    {2, PLAIN, false, false, 1, 1, 64, 32, {8, 8}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {2, LONG, false, false, 1, 1, 64, 16, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, LONG, true, false, 4, 1, 8, 16, {12, 12}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, SUBNORMAL, false, false, 1, 1, 16, 16, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
};

struct run {
    const struct trial *t;
    enum wick_dtype dtype;
    struct wick__dnn_conv c;   /* its pointers lie in the host's memory */
    int64_t x, w, y, channels; /* elements; of the bias */
};

/* Half a unit in the last place of 1, or a little more: what a long sum's terms carry beyond 1. */
static double unit_of(enum wick_dtype dtype) {
    return dtype == WICK_BF16 ? 0x1p-7 : dtype == WICK_F16 ? 0x1p-10 : dtype == WICK_F32 ? 0x1p-14 : 0x1p-30;
}

/* Element i of the operand that the library reads as x or y, or of the other one, whose signs alternate. */
static double term(const struct run *r, bool image, int64_t i) {
    const int64_t small = image ? (i * 5 + i / 7) % 5 - 2 : (i * 3 + i / 5) % 7 - 3;
    switch (r->t->kind) {
    case LONG: return image ? 1 + unit_of(r->dtype) * (double)(i % 3) : i % 2 ? -1 : 1;
    case SUBNORMAL:
        if (r->dtype == WICK_F16) return (double)small * (image ? 0x1p-20 : 1);
        return (double)small *
               (image ? (r->dtype == WICK_F64 ? 0x1p-1040 : 0x1p-131) : (r->dtype == WICK_F64 ? 0x1p40 : 0x1p20));
    default: return (double)small;
    }
}

static double bias_at(int64_t channel) { return (double)(channel * 3 % 7 - 3); }

static size_t bytes_of(const struct run *r, int64_t count) {
    return ((size_t)count * wick__size(r->dtype) + 255) / 256 * 256;
}

static int64_t volume(const struct run *r, const int64_t *sizes) {
    int64_t product = 1;
    for (int s = 0; s < r->c.spatial; s++) product *= sizes[s];
    return product;
}

static struct run run_of(const struct trial *t, enum wick_dtype dtype, enum wick__conv_way way) {
    struct run r = {.t = t, .dtype = dtype};
    bool weight = way == WICK__CONV_WEIGHT;
    r.c = (struct wick__dnn_conv){.way = way,
                                  .dtype = dtype,
                                  .spatial = t->spatial,
                                  .n = t->n,
                                  .groups = t->groups,
                                  .cin = t->cin,
                                  .cout = t->cout,
                                  .relu = t->relu && !weight};
    for (int s = 0; s < t->spatial; s++) {
        r.c.in[s] = t->in[s];
        r.c.kernel[s] = t->kernel[s];
        r.c.stride[s] = t->stride[s];
        r.c.padding[s] = t->padding[s];
        r.c.dilation[s] = t->dilation[s];
        r.c.out[s] = (t->in[s] + 2 * t->padding[s] - t->dilation[s] * (t->kernel[s] - 1) - 1) / t->stride[s] + 1;
    }
    r.x = t->n * t->groups * t->cin * volume(&r, r.c.in);
    r.w = t->groups * t->cout * t->cin * volume(&r, r.c.kernel);
    r.y = t->n * t->groups * t->cout * volume(&r, r.c.out);
    r.channels = t->groups * (way == WICK__CONV_DATA ? t->cin : t->cout);
    return r;
}

/* ---- by the definition ---- */

struct place {
    int64_t n, g, o, c;
};

/* Row-major numbers of the elements of x and w that window position p and tap k meet; false outside x. */
static bool meet(const struct run *r, const struct place *at, int64_t p, int64_t k, int64_t *x, int64_t *w) {
    const struct wick__dnn_conv *c = &r->c;
    const int64_t volume_in = volume(r, c->in), volume_k = volume(r, c->kernel);
    int64_t inside = 0, step = 1;
    *w = ((at->g * c->cout + at->o) * c->cin + at->c) * volume_k + k;
    for (int s = c->spatial - 1; s >= 0; s--) {
        int64_t i = p % c->out[s] * c->stride[s] + k % c->kernel[s] * c->dilation[s] - c->padding[s];
        if (i < 0 || i >= c->in[s]) return false;
        inside += i * step;
        step *= c->in[s];
        p /= c->out[s];
        k /= c->kernel[s];
    }
    *x = ((at->n * c->groups + at->g) * c->cin + at->c) * volume_in + inside;
    return true;
}

/* Adds what one place has to the result: y from x w, x from y w, or w from x y. */
static void add_place(const struct run *r, const struct place *at, double *sums) {
    const int64_t out = volume(r, r->c.out), taps = volume(r, r->c.kernel);
    int64_t x, w;
    for (int64_t p = 0; p < out; p++)
        for (int64_t k = 0; k < taps; k++) {
            int64_t y = ((at->n * r->c.groups + at->g) * r->c.cout + at->o) * out + p;
            if (!meet(r, at, p, k, &x, &w)) continue;
            if (r->c.way == WICK__CONV_FORWARD)
                sums[y] += term(r, true, x) * term(r, false, w);
            else if (r->c.way == WICK__CONV_DATA)
                sums[x] += term(r, true, y) * term(r, false, w);
            else
                sums[w] += term(r, true, x) * term(r, false, y);
        }
}

static void add_all(const struct run *r, double *sums) {
    const struct wick__dnn_conv *c = &r->c;
    struct place at;
    for (at.n = 0; at.n < c->n; at.n++)
        for (at.g = 0; at.g < c->groups; at.g++)
            for (at.o = 0; at.o < c->cout; at.o++)
                for (at.c = 0; at.c < c->cin; at.c++) add_place(r, &at, sums);
}

/* ---- a run ---- */

static int64_t results(const struct run *r) {
    return r->c.way == WICK__CONV_FORWARD ? r->y : r->c.way == WICK__CONV_DATA ? r->x : r->w;
}

static void *result(const struct run *r) {
    return r->c.way == WICK__CONV_FORWARD ? r->c.y : r->c.way == WICK__CONV_DATA ? r->c.x : r->c.w;
}

static char *put_all(const struct run *r, char *at, int64_t count, bool image, bool is_result) {
    const size_t size = wick__size(r->dtype), total = bytes_of(r, count + 1) / size;
    for (size_t i = 0; i < total; i++) /* beyond the elements, and where results go, a sentinel */
        wick__store_f64(r->dtype, is_result || i >= (size_t)count ? -5 : term(r, image, (int64_t)i), at + i * size);
    return at + total * size;
}

static void lay_out(struct run *r, char *host) {
    r->c.x = host;
    r->c.w = put_all(r, r->c.x, r->x, r->c.way != WICK__CONV_DATA, r->c.way == WICK__CONV_DATA);
    r->c.y = put_all(r, r->c.w, r->w, false, r->c.way == WICK__CONV_WEIGHT);
    char *end = put_all(r, r->c.y, r->y, r->c.way == WICK__CONV_DATA, r->c.way == WICK__CONV_FORWARD);
    if (!r->t->bias || r->c.way == WICK__CONV_WEIGHT) return;
    r->c.bias = end;
    for (int64_t i = 0; i < r->channels; i++)
        wick__store_f64(r->dtype, bias_at(i), end + i * (int64_t)wick__size(r->dtype));
}

/* Results are exact sums rounded once, or long ones, which round on the way by far less than what a term carries. */
static enum wick__verdict compare(const struct run *r, const double *sums) {
    const double bound = r->dtype == WICK_BF16 ? 0x1p-8 : r->dtype == WICK_F16 ? 0x1p-11 : 0;
    const double floor = r->t->kind == LONG ? unit_of(r->dtype) / 8 : 0;
    const int64_t count = results(r), size = (int64_t)wick__size(r->dtype), part = count / r->c.n / r->channels;
    const char *got = result(r);
    for (int64_t i = 0; i < count; i++) {
        double want = sums[i];
        if (r->c.bias) want += bias_at(i / part % r->channels);
        if (r->c.relu && want < 0) want = 0;
        double have = wick__load_f64(r->dtype, got + i * size);
        if (!(fabs(have - want) <= bound * fabs(want) + floor)) return WICK__WRONG;
    }
    return wick__load_f64(r->dtype, got + count * size) == -5 ? WICK__GOOD : WICK__WRONG;
}

/* Runs it on copies on the device, and brings these back. */
static enum wick__verdict go(struct wick__gpu *gpu, struct wick__held *held, const struct run *r, char *host,
                             size_t nbytes, wick__convolve_fn *convolve) {
    char *device = NULL;
    enum wick__verdict verdict = WICK__UNCHECKED;
    struct wick__dnn_conv there = r->c;
    if (wick__gpu_scratch(gpu, nbytes, (void **)&device) != WICK_OK) return verdict;
    there.x = device + ((char *)r->c.x - host);
    there.w = device + ((char *)r->c.w - host);
    there.y = device + ((char *)r->c.y - host);
    if (r->c.bias) there.bias = device + ((char *)r->c.bias - host);
    if (wick__gpu_upload(gpu, device, host, nbytes) == WICK_OK && wick__gpu_use(gpu) == WICK_OK) {
        if (convolve(gpu, held, &there) != WICK__RAN)
            verdict = WICK__ABSENT;
        else if (wick__gpu_download(gpu, host, device, nbytes) == WICK_OK)
            verdict = WICK__GOOD;
    }
    wick__gpu_release(gpu, device, nbytes);
    return verdict;
}

static enum wick__verdict try(struct wick__gpu *gpu, struct wick__held *held, struct run *r,
                              wick__convolve_fn *convolve) {
    size_t nbytes = bytes_of(r, r->x + 1) + bytes_of(r, r->w + 1) + bytes_of(r, r->y + 1) + bytes_of(r, r->channels);
    size_t summed = (size_t)results(r) * sizeof(double);
    enum wick__verdict verdict = WICK__UNCHECKED;
    char *host = wick__alloc(nbytes);
    double *sums = wick__calloc((size_t)results(r), sizeof *sums);
    if (host && sums) {
        memset(host, 0, nbytes);
        lay_out(r, host);
        verdict = go(gpu, held, r, host, nbytes, convolve);
        if (verdict == WICK__ABSENT && (r->c.bias || r->c.relu)) {
            r->c.bias = NULL; /* which it may leave to its caller */
            r->c.relu = false;
            verdict = go(gpu, held, r, host, nbytes, convolve);
        }
        if (verdict == WICK__GOOD) {
            add_all(r, sums);
            verdict = compare(r, sums);
        }
    }
    if (sums) wick__free(sums, summed);
    if (host) wick__free(host, nbytes);
    return verdict;
}

enum wick__verdict wick__conv_trials(struct wick__gpu *gpu, struct wick__held *held, enum wick_dtype dtype,
                                     enum wick__conv_way way, wick__convolve_fn *convolve) {
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        struct run r = run_of(&trials[i], dtype, way);
        enum wick__verdict here = try(gpu, held, &r, convolve);
        if (here == WICK__WRONG && r.t->kind == SUBNORMAL) here = WICK__FLUSHES;
        if (here == WICK__GOOD) continue;
        wick__log(WICK_LOG_DEBUG, "%s: check %d of convolutions of %s, way %d: %s", gpu->device->name, (int)i,
                  wick_dtype_name(dtype), (int)way,
                  here == WICK__FLUSHES ? "subnormal operands are taken as 0"
                  : here == WICK__WRONG ? "wrong"
                                        : "not made");
        return here;
    }
    return WICK__GOOD;
}
