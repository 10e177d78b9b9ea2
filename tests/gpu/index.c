/* Indexing, sorting, running sums and random numbers on the device named in argv[1], at sizes that each of their
 * kernels takes: the same bits as on the CPU. */
#include "tests/test.h"

#include <stdlib.h>

static struct wick_device *cpu, *gpu;
static char what[128]; /* the case at hand */

static struct wick_tensor *there(const struct wick_tensor *x) { return wick_to_device(x, gpu); }

static void check_same(const char *op, const struct wick_tensor *want, const struct wick_tensor *got) {
    TEST_CHECK_(want && got, "%s of %s: %s", op, what, wick_error());
    if (!want || !got) return;
    size_t size = (size_t)wick_dtype_block_bytes(wick_tensor_dtype(want));
    size_t nbytes = (size_t)wick_tensor_count(want) * size, at = 0;
    unsigned char *p = malloc(nbytes + 1), *q = malloc(nbytes + 1);
    CHECK(p && q);
    CHECK_OK(wick_read(want, p, nbytes));
    CHECK_OK(wick_read(got, q, nbytes));
    while (at < nbytes && p[at] == q[at]) at++;
    TEST_CHECK_(at == nbytes, "%s of %s: element %zu of %zu differs", op, what, at / size, nbytes / size);
    free(p);
    free(q);
}

static struct wick_tensor *random_values(enum wick_dtype dtype, int rank, const int64_t *shape) {
    return wick_dtype_is_float(dtype) ? wick_normal(cpu, dtype, rank, shape, 0, 3)
                                      : wick_randint(cpu, dtype, rank, shape, 0, 100);
}

/* x is [n[0],n[1]]; ids, below `limit`, and the source are [k[0],k[1]]. */
static void check_scatter(enum wick_dtype dtype, enum wick_dtype ids_dtype, int dim, const int64_t n[2],
                          const int64_t k[2], int64_t limit) {
    snprintf(what, sizeof what, "%s [%" PRId64 ",%" PRId64 "] along %d, %" PRId64 " ids below %" PRId64,
             wick_dtype_name(dtype), n[0], n[1], dim, k[dim], limit);
    wick_scope_begin();
    struct wick_tensor *x = random_values(dtype, 2, n), *ids = wick_randint(cpu, ids_dtype, 2, k, 0, limit);
    struct wick_tensor *source = random_values(dtype, 2, k);
    struct wick_tensor *gx = there(x), *gids = there(ids), *gsource = there(source);
    check_same("scatter", wick_scatter(x, dim, ids, source), wick_scatter(gx, dim, gids, gsource));
    check_same("scatter_add", wick_scatter_add(x, dim, ids, source), wick_scatter_add(gx, dim, gids, gsource));
    check_same("gather", wick_gather(x, dim, ids), wick_gather(gx, dim, gids));
    if (n[1 - dim] == k[1 - dim]) {
        struct wick_tensor *list = wick_reshape(wick_contiguous(wick_narrow(ids, 1 - dim, 0, 1)), 1, &k[dim]);
        struct wick_tensor *glist = there(list);
        check_same("index_add", wick_index_add(x, dim, list, source), wick_index_add(gx, dim, glist, gsource));
        check_same("index_select", wick_index_select(x, dim, list), wick_index_select(gx, dim, glist));
    }
    wick_scope_end(NULL);
}

#define PAIR(a, b) ((const int64_t[2]){a, b})

static void check_scatters(void) {
    static const enum wick_dtype dtypes[] = {WICK_F32, WICK_BF16, WICK_U8, WICK_I64, WICK_F8E4M3, WICK_F64};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        enum wick_dtype dtype = dtypes[i];
        check_scatter(dtype, WICK_I64, 0, PAIR(20000, 5), PAIR(4000, 5), 20000); /* long lines, few ids */
        check_scatter(dtype, WICK_U32, 0, PAIR(20000, 5), PAIR(4000, 4), 7);     /* many that are equal */
        check_scatter(dtype, WICK_I32, 1, PAIR(3, 2500), PAIR(3, 3000), 2500);   /* lines in tiles */
        check_scatter(dtype, WICK_I32, 1, PAIR(3, 2500), PAIR(3, 3000), 5);
        check_scatter(dtype, WICK_I64, 1, PAIR(700, 24), PAIR(700, 40), 24); /* many short lines */
        check_scatter(dtype, WICK_I64, 0, PAIR(24, 700), PAIR(40, 700), 24);
        check_scatter(dtype, WICK_U8, 0, PAIR(300, 130), PAIR(1000, 130), 255);
    }
    check_scatter(WICK_F16, WICK_I32, 0, PAIR(70000, 2), PAIR(6000, 2), 70000);
    check_scatter(WICK_I64, WICK_I32, 0, PAIR(70000, 2), PAIR(6000, 1), 9);
    check_scatter(WICK_F32, WICK_I64, 0, PAIR(300, 64), PAIR(9000, 64), 300);
}

/* Sums of 16-bit floats are rounded once: 1000 ones are 1000, which bf16 does not reach one by one. */
static void check_sum_rounds_once(void) {
    uint16_t sums[3] = {0}, want[3] = {0, 0x447a, 0};
    wick_scope_begin();
    struct wick_tensor *x = wick_zeros(gpu, WICK_BF16, WICK_SHAPE(3));
    struct wick_tensor *ids = wick_full(gpu, WICK_I64, WICK_SHAPE(1000), WICK_INT(1));
    struct wick_tensor *ones = wick_ones(gpu, WICK_BF16, WICK_SHAPE(1000));
    CHECK_OK(wick_read(wick_scatter_add(x, 0, ids, ones), sums, sizeof sums));
    CHECK_BYTES(sums, want, sizeof want);
    CHECK_OK(wick_read(wick_index_add(x, 0, ids, ones), sums, sizeof sums));
    CHECK_BYTES(sums, want, sizeof want);
    wick_scope_end(NULL);
}

static void check_sort(enum wick_dtype dtype, int dim, const int64_t n[2], int64_t k, bool descending) {
    snprintf(what, sizeof what, "%s [%" PRId64 ",%" PRId64 "] along %d, first %" PRId64, wick_dtype_name(dtype), n[0],
             n[1], dim, k);
    wick_scope_begin();
    struct wick_tensor *x = random_values(dtype, 2, n), *ids = NULL, *gids = NULL;
    if (dtype == WICK_F32) x = wick_div(x, wick_round(x)); /* NaN, infinities, both zeros */
    struct wick_tensor *gx = there(x);
    struct wick_tensor *first = wick_topk(x, k, dim, descending, &ids),
                       *gfirst = wick_topk(gx, k, dim, descending, &gids);
    check_same("topk", first, gfirst);
    check_same("topk's indices", ids, gids);
    check_same("argsort", wick_argsort(x, dim, descending), wick_argsort(gx, dim, descending));
    wick_scope_end(NULL);
}

static void check_sorts(void) {
    static const enum wick_dtype dtypes[] = {WICK_F32, WICK_U8, WICK_I64};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        check_sort(dtypes[i], 0, PAIR(9000, 2), 9000, false);
        check_sort(dtypes[i], 1, PAIR(2, 9000), 9000, true);
        check_sort(dtypes[i], 1, PAIR(3, 5000), 70, i & 1);
        check_sort(dtypes[i], 1, PAIR(3, 100), 9, true);
        check_sort(dtypes[i], 0, PAIR(100, 7), 100, false);
        check_sort(dtypes[i], 1, PAIR(2, 2048), 2048, true);
        check_sort(dtypes[i], 0, PAIR(1025, 2), 1025, false);
    }
}

static void check_random(void) {
    enum { N = 20001 };
    static const enum wick_dtype floats[] = {WICK_F32, WICK_F64}, integers[] = {WICK_U32, WICK_I64};
    for (int i = 0; i < 2; i++) {
        wick_scope_begin();
        CHECK_OK(wick_seed_set(cpu, 7));
        CHECK_OK(wick_seed_set(gpu, 7));
        snprintf(what, sizeof what, "%s, %d of them", wick_dtype_name(floats[i]), N);
        check_same("uniform", wick_uniform(cpu, floats[i], WICK_SHAPE(N), -1, 3),
                   wick_uniform(gpu, floats[i], WICK_SHAPE(N), -1, 3));
        snprintf(what, sizeof what, "%s, %d of them", wick_dtype_name(integers[i]), N);
        check_same("permutation", wick_permutation(cpu, integers[i], N), wick_permutation(gpu, integers[i], N));
        check_same("randint", wick_randint(cpu, WICK_I64, WICK_SHAPE(N), -5000000000000, INT64_MAX / 2),
                   wick_randint(gpu, WICK_I64, WICK_SHAPE(N), -5000000000000, INT64_MAX / 2));
        wick_scope_end(NULL);
    }
}

/* Short lines across memory, of which there are many: whole numbers, whose sums are exact. */
static void check_running_sums(void) {
    static const enum wick_dtype dtypes[] = {WICK_U8, WICK_I16, WICK_F32, WICK_I64};
    static const int64_t shapes[][3] = {{3, 20, 22001}, {1, 32, 65601}, {700, 3, 101}, {2, 17, 33001}};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        const int64_t *shape = shapes[i];
        wick_scope_begin();
        struct wick_tensor *x = wick_cast(wick_randint(cpu, WICK_I32, 3, shape, 0, 100), dtypes[i]);
        snprintf(what, sizeof what, "%s [%" PRId64 ",%" PRId64 ",%" PRId64 "]", wick_dtype_name(dtypes[i]), shape[0],
                 shape[1], shape[2]);
        check_same("cumsum", wick_cumsum(x, 1), wick_cumsum(there(x), 1));
        wick_scope_end(NULL);
    }
}

int main(int argc, char **argv) {
    cpu = wick_device_open("cpu");
    gpu = wick_device_open(argc > 1 ? argv[1] : "auto");
    if (!gpu) test_skip(wick_error());
    check_scatters();
    check_sum_rounds_once();
    check_sorts();
    check_running_sums();
    check_random();
    wick_device_close(gpu);
    wick_device_close(cpu);
    return test_end();
}
