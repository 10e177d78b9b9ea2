/* Prints small cases of every op, one line of JSON each, for make.py to compute the expected results of.
 *
 * {"op", "family", "case", "dtype", "n_out", "i": [..], "f": [..], "in": [{"dtype", "shape", "data"} or null, ..]}.
 * Float values are exact in every float dtype. Ops that take integers get a second set of cases with dtype i32. */
#include "core/tensor.h"
#include "verify/driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ELEMENTS = 150, FLOAT_CASES = 5, INTEGER_CASES = 2 };

static void print_numbers(const char *name, const double *data, int64_t n) {
    printf("\"%s\": [", name);
    for (int64_t i = 0; i < n; i++) printf(i ? ", %.17g" : "%.17g", data[i]);
    printf("]");
}

static int64_t elements(const struct verify_case *c, int64_t *least) {
    int64_t total = 0;
    *least = INT64_MAX;
    for (int i = 0; i < c->n_in; i++) {
        int64_t count = 1;
        if (c->in[i].role == VERIFY_ABSENT) continue;
        for (int d = 0; d < c->in[i].rank; d++) count *= c->in[i].shape[d];
        if (count < *least) *least = count;
        total += count;
    }
    return total;
}

static const char *stored_as(const struct verify_case *c, int i) {
    switch (c->in[i].role) {
    case VERIFY_INDEX: return "id";
    case VERIFY_CONDITION: return "u8";
    case VERIFY_F32:
    case VERIFY_STATISTIC: return "f32";
    case VERIFY_BLOCKS:
    case VERIFY_HALVES: return wick_dtype_name(c->in[i].blocks);
    case VERIFY_VALUE:
    case VERIFY_ABSENT: break;
    }
    return "value";
}

static void print_operand(const struct verify_case *c, int i, const struct verify_array *array) {
    double shape[WICK_MAX_RANK];
    for (int d = 0; d < array->rank; d++) shape[d] = (double)array->shape[d];
    printf("%s{\"dtype\": \"%s\", ", i ? ", " : "", stored_as(c, i));
    print_numbers("shape", shape, array->rank);
    printf(", ");
    print_numbers("data", array->data, array->count);
    printf("}");
}

/* Prints case k with values drawn for the dtype; false when there are none. */
static bool print_case(const struct verify_family *family, enum wick_op op, enum wick_dtype dtype, int k) {
    struct verify_case c;
    struct verify_array in[VERIFY_MAX_INPUTS] = {{.data = NULL}};
    struct verify_random random = {(uint64_t)op << 20 | (uint64_t)k};
    struct verify_placing placing = {VERIFY_CONTIGUOUS, 0};
    bool is_float = wick_dtype_is_float(dtype), good = true;
    double i_args[24];
    verify_case_make(family, op, dtype, k, &c);
    for (int i = 0; i < 24; i++) i_args[i] = (double)c.i[i];
    for (int i = 0; i < c.n_in && good; i++) {
        enum wick_dtype drawn = c.in[i].role == VERIFY_INDEX             ? WICK_I64
                                : c.in[i].role == VERIFY_CONDITION       ? WICK_U8
                                : is_float || c.in[i].role == VERIFY_F32 ? WICK_F8E4M3
                                                                         : dtype;
        if (c.in[i].role != VERIFY_ABSENT)
            good = verify_values(&c.in[i], drawn, VERIFY_CONTIGUOUS, placing, &random, &in[i]) == VERIFY_GOOD;
    }
    if (good) {
        printf("{\"op\": \"%s\", \"family\": \"%s\", \"case\": %d, \"dtype\": \"%s\", \"n_out\": %d, ",
               wick_op_name(op), family->name, k, wick_dtype_name(dtype), c.n_out);
        print_numbers("i", i_args, 24);
        printf(", ");
        print_numbers("f", c.f, 4);
        printf(", \"in\": [");
        for (int i = 0; i < c.n_in; i++)
            if (c.in[i].role == VERIFY_ABSENT)
                printf("%snull", i ? ", " : "");
            else
                print_operand(&c, i, &in[i]);
        printf("]}\n");
    }
    for (int i = 0; i < VERIFY_MAX_INPUTS; i++) free(in[i].data);
    return good;
}

/* Of the cases that are small and not empty, `wanted` ones at even distances. */
static void print_some(const struct verify_family *family, enum wick_op op, enum wick_dtype dtype, int wanted) {
    int small[4096], count = 0, cases = family->cases(op);
    for (int64_t most = MAX_ELEMENTS; count < 3 && most <= 8 * MAX_ELEMENTS; most *= 2) {
        count = 0;
        for (int k = 0; k < cases && count < 4096; k++) {
            struct verify_case c;
            int64_t least;
            verify_case_make(family, op, dtype, k, &c);
            if (elements(&c, &least) <= most && least > 0) small[count++] = k;
        }
    }
    if (wanted > count) wanted = count;
    for (int n = 0; n < wanted; n++) print_case(family, op, dtype, small[(n * count + count / 2) / wanted % count]);
}

int main(int argc, char **argv) {
    struct wick_device *cpu = wick_device_open("cpu");
    verify_device_set(cpu);
    for (int op = 0; op < WICK_OP_COUNT; op++) {
        const struct verify_family *family = verify_family((enum wick_op)op);
        if (!family || (argc > 1 && strcmp(argv[1], family->name) != 0)) continue;
        if (wick_supports(cpu, (enum wick_op)op, WICK_F32)) print_some(family, (enum wick_op)op, WICK_F32, FLOAT_CASES);
        if (wick_supports(cpu, (enum wick_op)op, WICK_I32))
            print_some(family, (enum wick_op)op, WICK_I32, INTEGER_CASES);
    }
    wick_device_close(cpu);
    return 0;
}
