/* What GPUs this machine has, whether they can be used, and if not, why and what to do about it. */
#ifndef WICK_DOCTOR_H
#define WICK_DOCTOR_H

#include <wick/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum wick_doctor_format { WICK_DOCTOR_TEXT, WICK_DOCTOR_JSON };

/* Examines the machine and returns a report, as text or as one JSON object: driver nodes and who may open them, each
 * file that was tried for a vendor's library and how that failed, environment variables that matter, every GPU with its
 * memory and where its kernels come from, and findings, each with the command or setting that mends it. Opens every
 * GPU once, with a small allocation, a small kernel and the self-check of its BLAS, which may take seconds. `faults`,
 * unless it is NULL, gets the number of findings that keep a GPU or a library from being used: 0 on a machine without
 * GPUs. NULL with WICK_MEMORY, or with WICK_INVALID for any other format. Give back with wick_doctor_free. */
WICK_API char *wick_doctor(enum wick_doctor_format format, int *faults);

/* NULL is fine. */
WICK_API void wick_doctor_free(char *report);

#ifdef __cplusplus
}
#endif
#endif
