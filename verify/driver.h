/* What the files of the driver share: number formats, operands with layouts, comparison. */
#ifndef WICK_VERIFY_DRIVER_H
#define WICK_VERIFY_DRIVER_H

#include "verify/verify.h"

/* ---- number formats (round.c), written without the library's own conversions ---- */

/* One element of a whole-byte dtype to and from memory; `value` must be exact in the dtype. */
void verify_encode(enum wick_dtype dtype, double value, void *to);
double verify_decode(enum wick_dtype dtype, const void *from);
/* The distance between neighbours of the dtype at a magnitude; 1 for integers. */
double verify_spacing(enum wick_dtype dtype, double magnitude);
/* The largest and the smallest finite value. */
double verify_highest(enum wick_dtype dtype);
double verify_lowest(enum wick_dtype dtype);
/* The smallest positive normal and denormal value; 1 for integers. */
double verify_least_normal(enum wick_dtype dtype);
double verify_least(enum wick_dtype dtype);

/* ---- values and layouts ---- */

enum verify_variant {
    VERIFY_CONTIGUOUS,
    VERIFY_OFFSET,      /* contiguous, not at the start of its buffer, and not aligned */
    VERIFY_TRANSPOSED,  /* dims in reverse order in memory */
    VERIFY_NARROWED,    /* a window of a larger buffer, in every dim */
    VERIFY_BROADCAST,   /* stride 0 along one dim: the same values again and again */
    VERIFY_EVERY_OTHER, /* stride 2 along the last dim */
    VERIFY_LAST,        /* dim 1 last in memory, as images with channels last have it */
    VERIFY_LAYOUTS,     /* the ones above are layouts of an operand; below, each operand draws one of them */
    VERIFY_MIXED = VERIFY_LAYOUTS,
    VERIFY_MIXED_2,
    VERIFY_INTEGERS, /* small integers, contiguous */
    VERIFY_INTEGERS_MIXED,
    VERIFY_SPECIALS, /* NaN, infinities and the like among the values, contiguous */
    VERIFY_SPECIALS_MIXED,
    VERIFY_EXPONENTS, /* every exponent of the dtype, of both signs, contiguous */
    VERIFY_EXPONENTS_MIXED,
    VERIFY_ROW_MAJOR, /* transposed, with results that are row-major (wick_row_major_set) */
    VERIFY_VARIANTS
};

/* A reproducible stream of random numbers. */
struct verify_random {
    uint64_t state;
};
void verify_random_mix(struct verify_random *random, uint64_t more);
uint64_t verify_random_bits(struct verify_random *random);
double verify_random_unit(struct verify_random *random); /* 0 <= x < 1 */

/* An operand on the device between guard zones. */
struct verify_buffer {
    unsigned char *bytes; /* what the whole buffer held at the start */
    size_t nbytes;
    struct wick_tensor *base, *view;
};

/* How an operand lies: one of the layouts, and the dim that VERIFY_BROADCAST repeats. */
struct verify_placing {
    enum verify_variant layout;
    int dim;
};

/* What operand `i` of a variant of case k is like. A layout that makes no sense for it becomes VERIFY_CONTIGUOUS. */
struct verify_placing verify_placing_for(const struct verify_operand *operand, enum verify_variant variant, int k,
                                         struct verify_random *random);

enum verify_outcome { VERIFY_GOOD, VERIFY_SKIPPED, VERIFY_BAD };

/* Allocates and fills an operand's values. VERIFY_SKIPPED when the dtype has no such values. */
enum verify_outcome verify_values(const struct verify_operand *operand, enum wick_dtype dtype,
                                  enum verify_variant variant, struct verify_placing placing,
                                  struct verify_random *random, struct verify_array *array);

/* Fills array->blocks with blocks and array->data with what they stand for, which the CPU's dequantisation says: it is
 * held against the package gguf by tests/quantised. False after a failure. (blocks.c) */
bool verify_blocks(struct verify_random *random, struct verify_array *array);

/* Puts values on the device. False after a failure. */
bool verify_upload(struct wick_device *device, const struct verify_array *array, struct verify_placing placing,
                   struct verify_buffer *buffer);
/* False when the buffer differs from what was put there. */
bool verify_unchanged(const struct verify_buffer *buffer);
void verify_buffer_free(struct verify_buffer *buffer);

/* All operands of one call. */
struct verify_operands {
    int n;
    enum wick_dtype id; /* of index operands */
    struct verify_array in[VERIFY_MAX_INPUTS];
    struct verify_buffer buffer[VERIFY_MAX_INPUTS];
    struct wick_tensor *tensor[VERIFY_MAX_INPUTS]; /* NULL for one that is absent */
};

/* Fills case k of an op for a dtype. */
void verify_case_make(const struct verify_family *family, enum wick_op op, enum wick_dtype dtype, int k,
                      struct verify_case *c);
/* Whether a case has index operands, and the n-th dtype, counted round and round, that can hold them. */
bool verify_has_index(const struct verify_case *c);
enum wick_dtype verify_id_dtype(const struct verify_case *c, int n);
/* How many dtypes can. */
int verify_id_dtypes(const struct verify_case *c);

/* What verify_device returns; for tests that call families without verify_run. */
void verify_device_set(struct wick_device *device);

/* Which operands of a case: its number, their variant, the dtype of its ids. The same seed gives the same. */
struct verify_making {
    int k;
    enum verify_variant variant;
    enum wick_dtype id;
    uint64_t seed;
};
/* Makes the operands of a case. On VERIFY_BAD and VERIFY_SKIPPED too, `operands` is to be freed. */
enum verify_outcome verify_operands_make(struct wick_device *device, const struct verify_case *c,
                                         const struct verify_making *how, struct verify_operands *operands);
void verify_operands_free(struct verify_operands *operands);
/* The number of the first operand that, or around which memory, has changed; -1 when none has. */
int verify_operands_changed(const struct verify_operands *operands);

/* The targets verify_target made since the last verify_targets_free. */
bool verify_is_target(const struct wick_tensor *x);

/* Whether elements lie next to one another, in any order of the dims. */
bool verify_is_dense(const struct wick_tensor *x);
/* Whether verify_target gives x itself, so that only the op is timed. */
void verify_targets_reuse(bool reuse);
/* False when something beside the elements of a target changed. */
bool verify_targets_intact(void);
void verify_targets_free(void);

/* ---- lists of checks (list.c) ---- */

struct verify_listed {
    enum wick_op op;
    enum wick_dtype dtype;
    int k, variant;
};
struct verify_list {
    int n;
    struct verify_listed *entry;
};
/* Sorted by op, dtype, case and variant, each check once. WICK_IO, WICK_MEMORY; WICK_INVALID for a line that names no
 * check. To be freed after a failure too. */
enum wick_status verify_list_read(const char *path, struct verify_list *list);
void verify_list_free(struct verify_list *list);

/* ---- comparison (compare.c) ---- */

/* What results of an op are allowed. */
struct verify_bound {
    double ulp;    /* the row's */
    bool composed; /* rounds to its dtype in between: errors count in units of that dtype */
    bool exact;    /* small integers through additions and multiplications: equal */
};

/* The bound of an op's row; not exact. */
struct verify_bound verify_bound_of(enum wick_op op);

/* Compares a result with the reference; on a difference writes what it is into `why`. Raises *worst to the largest
 * error as a part of its bound. */
bool verify_compare(const struct wick_tensor *got, const struct verify_array *want, struct verify_bound bound,
                    double *worst, char *why, size_t why_size);

/* Whether no element has a scale above its magnitude, or scales.def lists the op. */
bool verify_scale_listed(enum wick_op op, const struct verify_array *out);

/* Whether `got` is within its bound of `want`; `scale` as in struct verify_array. Exposed for tests. */
bool verify_element_good(enum wick_dtype dtype, double got, double want, double scale, struct verify_bound bound,
                         double *worst);

/* ---- one check (trial.c) ---- */

enum { VERIFY_WHY = 512 };

/* Case k of a family in a variant, with ids of a dtype; `worst` and `why` are what came out. */
struct verify_trial {
    const struct verify_options *options;
    const struct verify_family *family;
    struct verify_case c;
    int k;
    enum verify_variant variant;
    enum wick_dtype id;
    /* what follows is the run's own */
    struct verify_operands operands;
    struct verify_array want[VERIFY_MAX_OUTPUTS];
    struct wick_tensor *out[VERIFY_MAX_OUTPUTS];
    double worst;
    char why[VERIFY_WHY];
};

/* Calls the op and checks all that verify/run.c says, or, of a cell that does not support it, that it refuses. */
enum verify_outcome verify_trial_run(struct verify_trial *trial, bool supported);

#endif
