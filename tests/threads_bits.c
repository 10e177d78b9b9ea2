/* Every op gives the same bits with one thread and with several. */
#include "tests/test.h"

#include "core/tensor.h"
#include "verify/driver.h"

struct result {
    size_t nbytes[VERIFY_MAX_OUTPUTS];
    unsigned char *bytes[VERIFY_MAX_OUTPUTS];
};

static bool run(const struct verify_family *family, const struct verify_case *c, struct verify_operands *operands,
                int threads, struct result *result) {
    struct wick_tensor *out[VERIFY_MAX_OUTPUTS] = {NULL};
    *result = (struct result){{0}, {NULL}};
    CHECK_OK(wick_threads_set(threads));
    bool done = family->call(c, operands->tensor, out);
    for (int i = 0; done && i < c->n_out; i++) {
        result->nbytes[i] =
            (size_t)wick_tensor_count(out[i]) * (size_t)wick_dtype_block_bytes(wick_tensor_dtype(out[i]));
        result->bytes[i] = malloc(result->nbytes[i] + 1);
        CHECK_OK(wick_read(out[i], result->bytes[i], result->nbytes[i]));
    }
    for (int i = 0; i < VERIFY_MAX_OUTPUTS; i++) wick_release(out[i]);
    verify_targets_free();
    return done;
}

static void discard(struct result *result) {
    for (int i = 0; i < VERIFY_MAX_OUTPUTS; i++) free(result->bytes[i]);
}

static void check_case(struct wick_device *cpu, const struct verify_family *family, const struct verify_case *c, int k,
                       enum verify_variant variant) {
    static const int threads[] = {2, 3, 4};
    struct verify_operands operands;
    struct result one, many;
    char text[64];
    snprintf(text, sizeof text, "%s %s case %d %s", wick_op_name(c->op), wick_dtype_name(c->dtype), k,
             verify_variant_name((int)variant));
    const struct verify_making how = {k, variant, verify_id_dtype(c, k), 1};
    if (verify_operands_make(cpu, c, &how, &operands) == VERIFY_GOOD) {
        TEST_CHECK_(run(family, c, &operands, 1, &one), "%s with 1 thread: %s", text, wick_error());
        for (int n = 0; n < 3; n++) {
            TEST_CHECK_(run(family, c, &operands, threads[n], &many), "%s with %d threads: %s", text, threads[n],
                        wick_error());
            for (int i = 0; i < c->n_out; i++)
                TEST_CHECK_(one.bytes[i] && many.bytes[i] && one.nbytes[i] == many.nbytes[i] &&
                                memcmp(one.bytes[i], many.bytes[i], one.nbytes[i]) == 0,
                            "%s: result %d differs between 1 and %d threads", text, i, threads[n]);
            discard(&many);
        }
        discard(&one);
    }
    verify_operands_free(&operands);
    wick_error_clear();
}

static int64_t elements(const struct verify_case *c) {
    int64_t total = 0;
    for (int i = 0; i < c->n_in; i++) {
        int64_t count = 1;
        for (int d = 0; d < c->in[i].rank; d++) count *= c->in[i].shape[d];
        total += c->in[i].role == VERIFY_ABSENT ? 0 : count;
    }
    return total;
}

/* The two largest cases of an op. */
static void check_op(struct wick_device *cpu, const struct verify_family *family, enum wick_op op,
                     enum wick_dtype dtype) {
    int largest = 0, second = 0;
    int64_t most = -1, next = -1;
    struct verify_case c;
    for (int k = 0; k < family->cases(op); k++) {
        verify_case_make(family, op, dtype, k, &c);
        int64_t count = elements(&c);
        if (count > most) {
            second = largest;
            next = most;
            largest = k;
            most = count;
        } else if (count > next) {
            second = k;
            next = count;
        }
    }
    verify_case_make(family, op, dtype, largest, &c);
    check_case(cpu, family, &c, largest, VERIFY_CONTIGUOUS);
    check_case(cpu, family, &c, largest, VERIFY_TRANSPOSED);
    verify_case_make(family, op, dtype, second, &c);
    check_case(cpu, family, &c, second, VERIFY_CONTIGUOUS);
}

int main(void) {
    static const enum wick_dtype dtypes[] = {WICK_F32, WICK_BF16, WICK_F64, WICK_I64};
    struct wick_device *cpu = wick_device_open("cpu");
    verify_device_set(cpu);
    for (int op = 0; op < WICK_OP_COUNT; op++) {
        const struct verify_family *family = verify_family((enum wick_op)op);
        for (int n = 0; family && n < 4; n++)
            if (wick_supports(cpu, (enum wick_op)op, dtypes[n]) && family->cases((enum wick_op)op) > 0)
                check_op(cpu, family, (enum wick_op)op, dtypes[n]);
    }
    verify_device_set(NULL);
    wick_device_close(cpu);
    return test_end();
}
