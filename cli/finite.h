/* Results that are not numbers: a model that computes NaN or an infinity has no answer to show. */
#ifndef WICK_CLI_FINITE_H
#define WICK_CLI_FINITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wick_record;
struct wick_tensor;

bool finite_all(const float *values, int64_t n);
/* "NaN" or "an infinity": what a tensor of floats holds; NULL when all its elements are finite, or it can't be read.
 * Leaves wick_error() as it was when that was empty. */
const char *finite_fault(const struct wick_tensor *x);
/* Describes the first tensor in a model's file or folder that holds NaN or an infinity, as "NAME holds NaN". False when
 * none does. */
bool finite_blame(const char *model, char *text, size_t size);
/* Describes the first result of recorded calls that holds NaN or an infinity, with the tensor of the model's file that
 * the call, or the nearest one before it, has as an operand. False when all are finite. */
bool finite_trace(const struct wick_record *record, const char *model, char *text, size_t size);

#endif
