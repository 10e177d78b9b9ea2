/* Every op against results that PyTorch computed in float64 (make.py), kept in tests/golden/FAMILY.safetensors.
 *
 * Tensors OP.CASE.inN and OP.CASE.outN; the metadata of OP.CASE is "dtype n_in n_out i.. ; f..". Two things are
 * compared: the family's own float64 loops, so that they can't be wrong in the way a kernel is, and the op itself on
 * every dtype that holds the operands. Ops that have no golden cases must stand in the list of exceptions. */
#include "tests/test.h"

#include "verify/driver.h"

#include <dirent.h>

/* Ops that PyTorch and NumPy have no counterpart of, with the reason. */
static const struct {
    const char *op, *reason;
} exceptions[] = {
#define EXCEPTION(op, reason) {#op, reason},
#include "tests/golden/exceptions.def"
#undef EXCEPTION
    {NULL, NULL},
};

static struct wick_device *cpu;
static int seen[WICK_OP_COUNT];

/* A tensor of the file in float64. */
static bool load(struct wick_archive *archive, const char *name, struct verify_array *array) {
    struct wick_archive_entry entry;
    int64_t at = wick_archive_find(archive, name);
    *array = (struct verify_array){.data = NULL};
    if (at < 0 || wick_archive_describe(archive, at, &entry) != WICK_OK) return false;
    struct wick_tensor *x = wick_archive_load_at(archive, at, cpu);
    size_t size = (size_t)wick_dtype_block_bytes(entry.dtype);
    bool good = x && verify_array_new(array, entry.dtype, entry.rank, entry.shape, false);
    unsigned char *bytes = malloc((size_t)entry.nbytes + 1);
    good = good && bytes && wick_read(x, bytes, (size_t)entry.nbytes) == WICK_OK;
    for (int64_t i = 0; good && i < array->count; i++)
        array->data[i] = verify_decode(entry.dtype, bytes + (size_t)i * size);
    free(bytes);
    wick_release(x);
    return good;
}

struct golden {
    char name[64];
    struct verify_case c;
    struct verify_array in[VERIFY_MAX_INPUTS], out[VERIFY_MAX_OUTPUTS];
};

/* Reads the metadata of a case, and its tensors. */
static bool read_case(struct wick_archive *archive, int64_t i, struct golden *g) {
    struct wick_metadata metadata;
    char text[600], dtype[16], name[80];
    int used = 0, step = 0;
    *g = (struct golden){.name = ""};
    if (wick_archive_metadata(archive, i, &metadata) != WICK_OK) return false;
    if (wick_archive_metadata_text(archive, i, -1, text, sizeof text) >= (int64_t)sizeof text) return false;
    snprintf(g->name, sizeof g->name, "%s", metadata.key);
    char op_name[64];
    snprintf(op_name, sizeof op_name, "%s", g->name);
    *strrchr(op_name, '.') = '\0';
    *strrchr(op_name, '.') = '\0';
    if (!wick_op_from_name(op_name, &g->c.op)) return false;
    if (sscanf(text, "%15s %d %d%n", dtype, &g->c.n_in, &g->c.n_out, &used) != 3) return false;
    if (!wick_dtype_from_name(dtype, &g->c.dtype) || g->c.n_in > VERIFY_MAX_INPUTS || g->c.n_out > VERIFY_MAX_OUTPUTS)
        return false;
    for (int n = 0; n < 24 && sscanf(text + used, "%" SCNd64 "%n", &g->c.i[n], &step) == 1; n++) used += step;
    char *semicolon = strchr(text, ';');
    used = 1;
    for (int n = 0; n < 4 && semicolon && sscanf(semicolon + used, "%lf%n", &g->c.f[n], &step) == 1; n++) used += step;
    for (int n = 0; n < g->c.n_in; n++) {
        struct verify_operand *operand = &g->c.in[n];
        snprintf(name, sizeof name, "%s.in%d", g->name, n);
        if (wick_archive_find(archive, name) < 0) {
            operand->role = VERIFY_ABSENT;
            continue;
        }
        if (!load(archive, name, &g->in[n])) return false;
        operand->role = g->in[n].dtype == WICK_I64   ? VERIFY_INDEX
                        : g->in[n].dtype == WICK_U8  ? VERIFY_CONDITION
                        : g->in[n].dtype == WICK_F32 ? VERIFY_F32
                                                     : VERIFY_VALUE;
        if (operand->role == VERIFY_F32 && wick_op_takes(g->c.op, n, WICK_F64, WICK_F64))
            operand->role = VERIFY_STATISTIC;
        operand->rank = g->in[n].rank;
        memcpy(operand->shape, g->in[n].shape, sizeof operand->shape);
    }
    for (int n = 0; n < g->c.n_out; n++) {
        snprintf(name, sizeof name, "%s.out%d", g->name, n);
        if (!load(archive, name, &g->out[n])) return false;
    }
    return true;
}

/* Whether the values are all exact in the dtype. */
static bool holds(const struct verify_array *array, enum wick_dtype dtype) {
    for (int64_t i = 0; i < array->count; i++)
        if (verify_round(dtype, array->data[i]) != array->data[i]) return false;
    return true;
}

/* The golden results stand in for the reference's, which says what dtype they have and how they were summed. */
static void check_reference(const struct golden *g, enum wick_dtype dtype, struct verify_array *want) {
    for (int n = 0; n < g->c.n_out; n++) {
        const struct verify_array *gold = &g->out[n];
        int64_t bad = -1;
        bool shape = want[n].rank == gold->rank &&
                     memcmp(want[n].shape, gold->shape, sizeof *gold->shape * (size_t)gold->rank) == 0;
        TEST_CHECK_(shape, "%s %s: result %d of our reference has another shape", g->name, wick_dtype_name(dtype), n);
        for (int64_t i = 0; shape && i < gold->count; i++) {
            double size = fmax(fabs(gold->data[i]), want[n].scale ? want[n].scale[i] : 0);
            double error = fabs(want[n].data[i] - gold->data[i]);
            bool same = want[n].data[i] == gold->data[i] ||
                        want[n].data[i] == verify_round(want[n].dtype, gold->data[i]) ||
                        (isnan(want[n].data[i]) && isnan(gold->data[i]));
            if (!same && !(error <= 1e-12 * size + 1e-300) && bad < 0) bad = i;
            want[n].data[i] = gold->data[i];
        }
        TEST_CHECK_(bad < 0, "%s %s: result %d of our reference differs at %" PRId64 " from %.17g", g->name,
                    wick_dtype_name(dtype), n, bad, bad < 0 ? 0 : gold->data[bad]);
    }
}

static bool make_operands(struct golden *g, enum wick_dtype dtype, enum verify_variant layout,
                          struct verify_operands *operands) {
    struct verify_random random = {1};
    *operands = (struct verify_operands){.n = g->c.n_in, .id = WICK_I64};
    for (int n = 0; n < g->c.n_in; n++) {
        struct verify_operand *operand = &g->c.in[n];
        if (operand->role == VERIFY_ABSENT) continue;
        operands->in[n] = g->in[n];
        if (operand->role == VERIFY_VALUE) operands->in[n].dtype = dtype;
        if (operand->role == VERIFY_STATISTIC) operands->in[n].dtype = dtype == WICK_F64 ? WICK_F64 : WICK_F32;
        if (!verify_upload(cpu, &operands->in[n], verify_placing_for(operand, layout, 0, &random),
                           &operands->buffer[n]))
            return false;
        operands->tensor[n] = operands->buffer[n].view;
    }
    return true;
}

static void check_dtype(struct golden *g, const struct verify_family *family, enum wick_dtype dtype,
                        enum verify_variant layout) {
    struct verify_operands operands;
    struct verify_array want[VERIFY_MAX_OUTPUTS] = {{.data = NULL}};
    struct wick_tensor *out[VERIFY_MAX_OUTPUTS] = {NULL};
    struct verify_bound bound = verify_bound_of(g->c.op);
    char why[256];
    double worst = 0;
    g->c.dtype = dtype;
    wick_error_clear();
    CHECK(make_operands(g, dtype, layout, &operands));
    CHECK(family->reference(&g->c, operands.in, want));
    check_reference(g, dtype, want);
    bool done = family->call(&g->c, operands.tensor, out);
    TEST_CHECK_(done, "%s %s: %s", g->name, wick_dtype_name(dtype), wick_error());
    for (int n = 0; done && n < g->c.n_out; n++)
        TEST_CHECK_(verify_compare(out[n], &want[n], bound, &worst, why, sizeof why), "%s %s: result %d: %s", g->name,
                    wick_dtype_name(dtype), n, why);
    for (int n = 0; n < VERIFY_MAX_OUTPUTS; n++) {
        wick_release(out[n]);
        free(want[n].data);
        free(want[n].scale);
    }
    verify_targets_free();
    for (int n = 0; n < g->c.n_in; n++) verify_buffer_free(&operands.buffer[n]);
}

static void check_case(struct golden *g) {
    const struct verify_family *family = verify_family(g->c.op);
    bool is_float = wick_dtype_is_float(g->c.dtype);
    CHECK(family != NULL);
    for (int dtype = 0; family && dtype < WICK_DTYPE_COMPUTE_COUNT; dtype++) {
        bool fits = wick_supports(cpu, g->c.op, (enum wick_dtype)dtype) &&
                    wick_dtype_is_float((enum wick_dtype)dtype) == is_float;
        for (int n = 0; n < g->c.n_in; n++)
            if (g->c.in[n].role == VERIFY_VALUE) fits = fits && holds(&g->in[n], (enum wick_dtype)dtype);
        for (int n = 0; n < g->c.n_out && !is_float; n++) fits = fits && holds(&g->out[n], (enum wick_dtype)dtype);
        if (!fits) continue;
        check_dtype(g, family, (enum wick_dtype)dtype, VERIFY_CONTIGUOUS);
        check_dtype(g, family, (enum wick_dtype)dtype, VERIFY_TRANSPOSED);
        seen[g->c.op]++;
    }
}

static void check_file(const char *path) {
    struct wick_archive *archive = wick_archive_open(path, NULL);
    TEST_CHECK_(archive != NULL, "%s: %s", path, wick_error());
    for (int64_t i = 0; i < wick_archive_metadata_count(archive); i++) {
        struct golden g;
        bool read = read_case(archive, i, &g);
        TEST_CHECK_(read, "%s: case %" PRId64 " (%s) can't be read: %s", path, i, g.name, wick_error());
        if (read) check_case(&g);
        for (int n = 0; n < VERIFY_MAX_INPUTS; n++) free(g.in[n].data);
        for (int n = 0; n < VERIFY_MAX_OUTPUTS; n++) free(g.out[n].data);
    }
    wick_archive_close(archive);
}

static bool excepted(const char *op) {
    for (int i = 0; exceptions[i].op; i++)
        if (strcmp(exceptions[i].op, op) == 0) return true;
    return false;
}

int main(void) {
    const char *folder = "tests/golden";
    struct dirent *entry;
    cpu = wick_device_open("cpu");
    verify_device_set(cpu);
    DIR *directory = opendir(folder);
    CHECK(directory != NULL);
    while (directory && (entry = readdir(directory))) {
        char path[400];
        if (!strstr(entry->d_name, ".safetensors")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        check_file(path);
    }
    if (directory) closedir(directory);
    for (int op = 0; op < WICK_OP_COUNT; op++) {
        const char *name = wick_op_name((enum wick_op)op);
        TEST_CHECK_((seen[op] > 0) != excepted(name), "%s: %s", name,
                    seen[op] ? "has golden cases and stands among the exceptions" : "has no golden cases");
    }
    for (int i = 0; exceptions[i].op; i++)
        printf("without golden cases: %s, %s\n", exceptions[i].op, exceptions[i].reason);
    verify_device_set(NULL);
    wick_device_close(cpu);
    return test_end();
}
