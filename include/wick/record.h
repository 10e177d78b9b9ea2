/* Records: the calls of a thread as a list, in order, with their operands, results and parameters.
 *
 *     wick_record_begin();
 *     struct wick_tensor *y = wick_softmax(wick_narrow(x, 0, 2, 4), -1);
 *     struct wick_record *record = wick_record_end();
 *     for (int64_t i = 0; i < wick_record_count(record); i++) {
 *         struct wick_recorded call;
 *         char text[128];
 *         if (wick_record_call(record, i, &call) != WICK_OK) break;
 *         wick_record_params(record, i, text, sizeof text);
 *         printf("%s %s\n", wick_op_name(call.op), text);      // narrow dim=0 start=2 length=4, then softmax dim=1
 *     }
 *     wick_record_free(record);
 *
 * Every call of the op table that succeeds is one entry, on every device: kernels, views, writes in place, copies
 * between devices. Functions made of several ops give an entry for each. What has no op gives none: tensors made from
 * host data or without contents come in as operands, and reading is no call. Calls run as always while they are
 * recorded; a call that nobody records costs nothing to speak of. A record holds its tensors until it is freed. Calls
 * that a graph (graph.h) records appear too. */
#ifndef WICK_RECORD_H
#define WICK_RECORD_H

#include <wick/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_record;

/* From now on, calls of this thread are recorded. WICK_INVALID when it records already, WICK_MEMORY. */
WICK_API WICK_CHECKED enum wick_status wick_record_begin(void);

/* Ends this thread's recording. NULL when none was begun, or a call could not be kept (WICK_MEMORY); nothing is
 * recorded any more either way. Give back with wick_record_free, on any thread. */
WICK_API struct wick_record *wick_record_end(void);

/* The number of calls; 0 for NULL. */
WICK_API int64_t wick_record_count(const struct wick_record *record);

/* A call. The tensors and the lists belong to the record: retain what must outlive it. */
struct wick_recorded {
    enum wick_op op;
    bool view;    /* out[0] shares the elements of in[0] */
    bool inplace; /* out[0] was there before and was written, wholly or partly */
    int n_in;     /* operands, in the order of the op's parameters; NULL stands for one that was left out */
    int n_out;    /* results; from n_out - n_extra on those that only records get */
    int n_extra;
    struct wick_tensor *const *in;
    struct wick_tensor *const *out;
    WICK_RESERVED;
};

/* Call i, counted from 0. WICK_RANGE, WICK_INVALID for NULL. */
WICK_API WICK_CHECKED enum wick_status wick_record_call(const struct wick_record *record, int64_t i,
                                                        struct wick_recorded *call);

/* The parameters of call i that are no tensors, "dim=1 start=2 length=3", "" when it has none, cut to nbytes with the
 * final 0. Shapes and dtypes are those of the results and are not repeated. Returns the length of the whole text in
 * bytes, without the final 0; 0 when there is no such call. */
WICK_API size_t wick_record_params(const struct wick_record *record, int64_t i, char *text, size_t nbytes);

/* Runs the calls again, in order: the same results are written anew from what the operands hold now. Views are not
 * made again, random numbers are the same. WICK_CLOSED after a device was closed, WICK_UNSUPPORTED for copies between
 * devices while one of them records a graph; what a call fails with. */
WICK_API WICK_CHECKED enum wick_status wick_record_replay(const struct wick_record *record);

/* Gives the record and its references back. NULL is fine. */
WICK_API void wick_record_free(struct wick_record *record);

#ifdef __cplusplus
}
#endif
#endif
