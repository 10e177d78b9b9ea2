/* What `wick verify`, the tests and the benchmarks share: for every op of the table, cases to run it on, how to call
 * it, what the right answer is in plain float64, and how large an error may be.
 *
 * One file a family, verify/NAME.c, gives a struct verify_family; verify/families.def lists them. The driver
 * (verify/run.c) does the rest: dtypes, layouts, guard zones, comparison. So an op that is in the table is tested on
 * every dtype and layout without a line written by hand. */
#ifndef WICK_VERIFY_VERIFY_H
#define WICK_VERIFY_VERIFY_H

#include <wick/wick.h>

/* The dtypes the driver runs: those that take part in arithmetic, and those that are stored in whole bytes. */
enum { VERIFY_MAX_INPUTS = 7, VERIFY_MAX_OUTPUTS = 4, VERIFY_DTYPES = WICK_DTYPE_f8e8m0 + 1 };

/* What an operand is made of. */
enum verify_role {
    VERIFY_VALUE,     /* random values of the dtype under test, from `low` to `high`, exact in that dtype */
    VERIFY_INDEX,     /* integers from `low` to `high`; the driver runs every id dtype that can hold them */
    VERIFY_CONDITION, /* u8, about half of them 0 */
    VERIFY_F32,       /* f32 values whatever the dtype under test */
    VERIFY_STATISTIC, /* f64 values for f64, f32 values for all other dtypes */
    VERIFY_BLOCKS,    /* blocks of the quantised dtype `blocks`, of any bits but scales that are not finite */
    VERIFY_HALVES,    /* values of the dtype `blocks`, of 16 bits, beside f32; else of the dtype under test */
    VERIFY_ABSENT     /* an optional operand left out: NULL */
};

struct verify_operand {
    enum verify_role role;
    int rank;
    int64_t shape[WICK_MAX_RANK];
    double low, high;
    bool distinct;          /* no two equal values, for ops whose answer depends on ties */
    bool repeated;          /* one value again and again, with stride 0, in every layout; of rank 1 */
    int zero_every;         /* of extreme exponents one in so many is 0; 0: none */
    int nan_every;          /* of floats one in so many is NaN; 0: none */
    bool tame;              /* never of extreme exponents: what others are multiplied with */
    enum wick_dtype blocks; /* of VERIFY_BLOCKS and VERIFY_HALVES */
    bool normal;            /* set by the driver: what would be subnormal is the least normal value instead */
};

/* One op on operands of given shapes. `i` and `f` are the op's own arguments, as its family's file lays down. */
struct verify_case {
    enum wick_op op;
    enum wick_dtype dtype; /* set by the driver: the dtype under test */
    int n_in, n_out;
    struct verify_operand in[VERIFY_MAX_INPUTS];
    int64_t i[24];
    double f[4];
};

/* A tensor on the host in float64 (integers up to 2^53 exactly), row-major. The driver owns `data` of inputs; the
 * reference sets rank and shape of outputs and allocates their data with malloc, the driver frees it. */
struct verify_array {
    enum wick_dtype dtype; /* of the tensor it stands for */
    int rank;
    int64_t shape[WICK_MAX_RANK];
    int64_t count;
    double *data;
    unsigned char *blocks; /* inputs of quantised dtypes: the bytes that data was made of. The driver frees them */
    /* Outputs only: for each element what its error bound is proportional to, by a formula of scales.def; NULL, and
     * less than the magnitude of the element itself, mean that magnitude. */
    double *scale;
};

/* A case's number for an op: positive whole ones as integers, the others as reals, so that both kinds are met. */
struct wick_number verify_number(double x);
/* What an element of the dtype is that verify_number(x) was cast to. */
double verify_held(enum wick_dtype dtype, double x);

struct verify_family {
    const char *name; /* the family column of ops.def */
    /* How many cases there are for an op, edge sizes included: empty, 1, odd sizes, more than one tile, rank 0 .. 5. */
    int (*cases)(enum wick_op op);
    /* Fills case number k, all but dtype. */
    void (*make)(enum wick_op op, int k, struct verify_case *c);
    /* Calls the op through the public API. out[0 .. n_out-1] are results the caller releases; false after a failure,
     * with wick_error() set. For ops that write in place, it copies the target (in[0]) first, into a contiguous one
     * with wick_contiguous or by reading and making it anew, and returns that as out[0]. */
    bool (*call)(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out);
    /* The right answer, and its scale, in plain float64 loops that share no code with the library. False when out of
     * memory. */
    bool (*reference)(const struct verify_case *c, const struct verify_array *in, struct verify_array *out);
    /* True when the reference is right for NaN, infinities, -0, the largest values and denormals, and for the sentinel
     * (the largest value of the id type) among the ids: the driver then also runs the op on operands that have them.
     * NULL: never. */
    bool (*specials)(enum wick_op op);
    /* True when the reference is right for every exponent of the dtype, infinite results included: the driver then also
     * runs the op on such operands. NULL: never. */
    bool (*wide)(enum wick_op op);
    /* True when the op only adds and multiplies, so that on small integers the answer must be equal. NULL: never. */
    bool (*exact)(enum wick_op op);
    /* True when results keep the order in memory of an operand's dims unless the device is told otherwise: the driver
     * then also checks row-major ones of transposed operands. */
    bool ordered;
    /* True when the op is also run on quantised dtypes, wherever its row has them. NULL: never. */
    bool (*blocks)(enum wick_op op);
    /* Fills a case of the size that `wick bench` times, about 4 Mi elements, or 2^28 multiplications; op and dtype are
     * set. NULL, or false: the largest of `cases` is timed. */
    bool (*bench)(enum wick_op op, struct verify_case *c);
};

/* The shape most benchmarks have: 4 Mi elements. */
enum { VERIFY_ROWS = 4096, VERIFY_COLUMNS = 1024 };

/* Word w of block n, for the key `seed`: Philox4x32-10 as its paper states it. */
uint32_t verify_philox(uint64_t seed, uint64_t n, int64_t w);

/* Gives an operand another shape. */
void verify_operand_resize(struct verify_operand *operand, int rank, const int64_t *shape);
/* Makes case k of a family's make, with all its operands of VERIFY_ROWS x VERIFY_COLUMNS. True. */
bool verify_make_large(void (*make)(enum wick_op op, int k, struct verify_case *c), int k, struct verify_case *c);

/* What timing an op found. */
struct verify_timing {
    enum wick_dtype dtype;
    struct verify_case c;
    int out_rank;
    int64_t out_shape[WICK_MAX_RANK]; /* of the first result */
    double us;                        /* the median time of a run */
    int runs;
    double bytes; /* of operands read and results written */
    double flops; /* multiplications and additions of products, convolutions and attention; 0 for other ops */
    double worst; /* the largest error in all the op's contiguous cases, as a part of its bound */
    bool good;    /* no case was wrong */
};

enum verify_timed { VERIFY_TIMED, VERIFY_NOT_TIMED, VERIFY_FAILED };

/* How long verify_time goes on: `least` runs and up to 4 times as many while they take less than `seconds`, but only 5
 * when those took 4 times that. */
struct verify_effort {
    int least;
    double seconds;
    void (*watch)(void *context, bool begins); /* called before and after each run, but the first; may be NULL */
    void *context;
};
/* Times an op on an open device and dtype. VERIFY_NOT_TIMED for views, which do no work, and ops that the dtype or
 * verify/ has no cases for; VERIFY_FAILED with wick_error() set. */
enum verify_timed verify_time(struct wick_device *device, enum wick_op op, enum wick_dtype dtype,
                              const struct verify_effort *effort, struct verify_timing *timing);
/* This machine's measured peaks, the best of some runs: bytes read and written a second by a copy of 64 MiB, operations
 * a second of a product of two f32 matrices of 1024 x 1024. False after a failure. */
bool verify_peaks(struct wick_device *device, double *bytes, double *flops);

/* The device under test, for ops without operands. */
struct wick_device *verify_device(void);

/* The family of an op; NULL when verify/families.def has none. */
const struct verify_family *verify_family(enum wick_op op);

/* Allocates out->data (and out->scale when `scaled`) for a shape; helps references. */
bool verify_array_new(struct verify_array *out, enum wick_dtype dtype, int rank, const int64_t *shape, bool scaled);

/* `value` as it would be after a cast to the dtype. Floats: rounded to nearest even; f8e4m3 saturates at +-448, the
 * others go to infinity. Integers: towards zero and saturated, NaN is 0; bool is value != 0. */
double verify_round(enum wick_dtype dtype, double value);

/* For ops that write in place: a copy of x between guard zones, contiguous when x is, or else transposed or a window.
 * Return it as out[0]: the driver then checks that nothing but its elements changed. NULL after a failure. */
struct wick_tensor *verify_target(const struct wick_tensor *x);

/* How a run went. */
struct verify_totals {
    int64_t cells;     /* op x dtype cells run, refusals included */
    int64_t checks;    /* calls whose results were compared, or whose refusal was looked at */
    int64_t bad;       /* checks that failed, and ops that are not covered */
    int64_t uncovered; /* ops of the table that have no cases */
};

/* How one cell of the parity table went. */
struct verify_cell {
    enum wick_op op;
    enum wick_dtype dtype;
    bool supported; /* false: it had to refuse */
    int64_t checks, bad;
    double worst; /* the largest error seen, as a part of its bound: at most 1 unless bad */
};

struct verify_options {
    const char *device;  /* "cpu" */
    const char *pattern; /* fnmatch(3) pattern of op names, NULL for all */
    const char *family;  /* only ops of this family, NULL for all */
    const char *dtype;   /* one dtype's name, NULL for all */
    const char *layout;  /* one variant's name, see verify_variant_name, NULL for all */
    int case_plus_one;   /* one case's number + 1, 0 for all */
    uint64_t seed;
    bool quick;       /* each case in two layouts instead of all */
    bool cut;         /* one small case in each layout, not the same for all layouts and dtypes */
    bool normal;      /* no operand has subnormal values, for what takes those as 0 */
    const char *list; /* a file of checks, a line OP DTYPE CASE LAYOUT each: these, and no other choice */
    const char *log;  /* a file that gets such a line and the seconds it took after each check, or NULL */
    int repeat;       /* > 1: also runs every check so often, and the results must have the same bits each time */
    /* Called with one line for each bad check, which ends in the command that repeats it. */
    void (*print)(void *context, const char *line);
    /* Called after each op x dtype cell; may be NULL. */
    void (*cell)(void *context, const struct verify_cell *cell);
    void *context;
};

/* Runs every op that matches, on every dtype its row claims and every layout, and on every dtype it does not claim,
 * where it must refuse with WICK_UNSUPPORTED. WICK_INVALID for an unknown device, family, dtype, layout, or a pattern
 * that no op matches. */
enum wick_status verify_run(const struct verify_options *options, struct verify_totals *totals);

/* The variants each case is run in: layouts of its operands, and kinds of values. NULL past the last. */
const char *verify_variant_name(int variant);

/* An allocator for wick_allocator_set that fills fresh and freed memory with 0xFF (NaN in every float dtype) and keeps
 * guard zones around each block; set it before the first device is opened, with the pool's cache at 0. */
extern const struct wick_allocator verify_allocator;
/* How many blocks came back with touched guard zones. */
int64_t verify_allocator_damage(void);

#endif
