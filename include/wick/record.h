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
 * Every successful call of an op is one entry, on every device: kernels, views, writes in place, copies between
 * devices. A function made of several ops gives an entry for each. Functions that are not ops give none: tensors made
 * from host data, or without contents, appear as operands only, and reading does not appear. Calls run as usual while
 * they are recorded. A thread that records nothing pays next to nothing. A record holds its tensors until it is freed.
 * Calls that a graph (graph.h) records appear too. */
#ifndef WICK_RECORD_H
#define WICK_RECORD_H

#include <wick/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_record;

/* Begins recording this thread's calls. WICK_INVALID if it records already, WICK_MEMORY. */
WICK_API WICK_CHECKED enum wick_status wick_record_begin(void);

/* Ends this thread's recording. NULL if none was begun, or if memory ran out for a call (WICK_MEMORY); the recording
 * ends either way. Give back with wick_record_free, on any thread. */
WICK_API struct wick_record *wick_record_end(void);

/* The number of calls; 0 for NULL. */
WICK_API int64_t wick_record_count(const struct wick_record *record);

/* A call. The tensors and the arrays belong to the record; retain tensors that must outlive it. Results that appear
 * only in records are those that a gradient needs and the caller did not ask for: of layer, group and RMS norm the
 * inverse deviation, then, but for RMS norm, the mean; of attention the sums of exponentials as logarithms; of max
 * pooling the positions; of dropout the mask. */
struct wick_recorded {
    enum wick_op op;
    bool view;    /* out[0] shares the elements of in[0] */
    bool inplace; /* the call wrote to out[0], which existed before, wholly or partly */
    int n_in;     /* operands, in the order of the op's parameters; NULL for an optional one left out */
    int n_out;    /* results; the last n_extra of them appear only in records */
    int n_extra;
    struct wick_tensor *const *in;
    struct wick_tensor *const *out;
    WICK_RESERVED;
};

/* Call i, counted from 0. WICK_RANGE, WICK_INVALID for NULL. */
WICK_API WICK_CHECKED enum wick_status wick_record_call(const struct wick_record *record, int64_t i,
                                                        struct wick_recorded *call);

/* Writes the parameters of call i that are not tensors, "dim=1 start=2 length=3", or "" if there are none, cut to
 * nbytes with the final 0. Shapes and dtypes are left out; the results have them. Returns the length of the whole text
 * in bytes, without the final 0; 0 if there is no such call. */
WICK_API size_t wick_record_params(const struct wick_record *record, int64_t i, char *text, size_t nbytes);

/* Runs the calls again, in order. They write the same result tensors anew, from the current contents of the operands.
 * Views stay as they are, and random numbers are the same. WICK_CLOSED if a device was closed, WICK_UNSUPPORTED for
 * copies between devices while one of them records a graph, and any failure of a call. */
WICK_API WICK_CHECKED enum wick_status wick_record_replay(const struct wick_record *record);

/* Frees the record and releases its tensors. NULL is fine. */
WICK_API void wick_record_free(struct wick_record *record);

#ifdef __cplusplus
}
#endif
#endif
