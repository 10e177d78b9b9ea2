/* Out of memory: every op, with each of its allocations failing in turn, gives NULL and MEMORY, leaves its operands as
 * they were and leaks nothing. */
#include "tests/test.h"

#include "core/tensor.h"
#include "verify/driver.h"

static struct {
    long countdown; /* the allocation that fails; 0: none */
    bool failed;
    size_t held;
} hook;

static void *failing_alloc(void *context, size_t nbytes, size_t alignment) {
    (void)context;
    if (hook.countdown > 0 && --hook.countdown == 0) {
        hook.failed = true;
        return NULL;
    }
    void *memory = verify_allocator.alloc(NULL, nbytes, alignment);
    if (memory) hook.held += nbytes;
    return memory;
}

static void failing_free(void *context, void *memory, size_t nbytes) {
    (void)context;
    hook.held -= nbytes;
    verify_allocator.free(NULL, memory, nbytes);
}

static bool call(const struct verify_family *family, const struct verify_case *c, struct verify_operands *operands,
                 struct wick_tensor **out) {
    wick_error_clear();
    bool done = family->call(c, operands->tensor, out);
    hook.countdown = 0;
    return done;
}

static void release(struct wick_tensor **out) {
    for (int i = 0; i < VERIFY_MAX_OUTPUTS; i++) wick_release(out[i]);
    verify_targets_free();
}

/* Fails allocation after allocation until there is none left to fail. */
static void fail_each(struct wick_device *cpu, const struct verify_family *family, const struct verify_case *c, int k,
                      enum verify_variant variant) {
    struct verify_operands operands;
    char text[64];
    snprintf(text, sizeof text, "%s %s case %d %s", wick_op_name(c->op), wick_dtype_name(c->dtype), k,
             verify_variant_name((int)variant));
    const struct verify_making how = {k, variant, verify_id_dtype(c, 0), 1};
    if (verify_operands_make(cpu, c, &how, &operands) == VERIFY_GOOD) {
        struct wick_tensor *out[VERIFY_MAX_OUTPUTS] = {NULL};
        TEST_CHECK_(call(family, c, &operands, out), "%s: %s", text, wick_error()); /* makes what is kept for good */
        release(out);
        size_t held = hook.held;
        for (long n = 1; n < 1000; n++) {
            struct wick_tensor *again[VERIFY_MAX_OUTPUTS] = {NULL};
            hook.countdown = n;
            hook.failed = false;
            bool done = call(family, c, &operands, again);
            if (!done) {
                TEST_CHECK_(hook.failed, "%s: failed by itself: %s", text, wick_error());
                TEST_CHECK_(wick_error_status() == WICK_MEMORY, "%s, allocation %ld: %s instead of MEMORY", text, n,
                            wick_error());
            }
            release(again); /* of an op that writes in place, the target stays */
            TEST_CHECK_(hook.held == held, "%s, allocation %ld: %zd bytes leaked", text, n,
                        (ssize_t)(hook.held - held));
            TEST_CHECK_(verify_operands_changed(&operands) < 0, "%s, allocation %ld: an operand changed", text, n);
            if (hook.held != held) break;
            if (!hook.failed) break;
        }
    }
    verify_operands_free(&operands);
    wick_error_clear();
}

/* The case with the fewest elements of which no operand has fewer than two; the first when there is none. */
static int small_case(const struct verify_family *family, enum wick_op op, enum wick_dtype dtype) {
    int best = 0;
    int64_t fewest = INT64_MAX;
    for (int k = 0; k < family->cases(op); k++) {
        struct verify_case c;
        int64_t total = 0;
        bool fits = true;
        verify_case_make(family, op, dtype, k, &c);
        for (int i = 0; i < c.n_in; i++) {
            int64_t count = 1;
            if (c.in[i].role == VERIFY_ABSENT) continue;
            for (int d = 0; d < c.in[i].rank; d++) count *= c.in[i].shape[d];
            fits = fits && count >= 2;
            total += count;
        }
        if (fits && total < fewest) {
            fewest = total;
            best = k;
        }
    }
    return best;
}

int main(void) {
    struct wick_allocator allocator = {NULL, failing_alloc, failing_free};
    CHECK_OK(wick_allocator_set(&allocator));
    struct wick_device *cpu = wick_device_open("cpu");
    CHECK(cpu != NULL);
    CHECK_OK(wick_memory_set_cache(cpu, 0));
    verify_device_set(cpu);
    for (int op = 0; op < WICK_OP_COUNT; op++) {
        const struct verify_family *family = verify_family((enum wick_op)op);
        static const enum wick_dtype dtypes[] = {WICK_F32, WICK_BF16, WICK_I32};
        for (int n = 0; family && n < 3; n++) {
            struct verify_case c;
            if (!wick_supports(cpu, (enum wick_op)op, dtypes[n]) || family->cases((enum wick_op)op) <= 0) continue;
            int k = small_case(family, (enum wick_op)op, dtypes[n]);
            verify_case_make(family, (enum wick_op)op, dtypes[n], k, &c);
            fail_each(cpu, family, &c, k, VERIFY_CONTIGUOUS);
            fail_each(cpu, family, &c, k, VERIFY_TRANSPOSED);
        }
    }
    verify_device_set(NULL);
    wick_device_close(cpu);
    CHECK_INT(verify_allocator_damage(), 0);
    return test_end();
}
