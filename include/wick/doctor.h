/* Which GPUs this machine has, whether Wick can use them, and if not, why and what to do about it. */
#ifndef WICK_DOCTOR_H
#define WICK_DOCTOR_H

#include <wick/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum wick_doctor_format { WICK_DOCTOR_TEXT, WICK_DOCTOR_JSON };

/* Examines the machine and returns a report, as text or as one JSON object: driver nodes and who may open them, each
 * file tried for a vendor's library and how it failed, relevant environment variables, every GPU with its memory and
 * the source of its kernels, and findings, each with the command or setting that fixes it. Opens every GPU once, with a
 * small allocation, a small kernel and the self-check of its BLAS, which may take seconds. Unless `faults` is NULL,
 * *faults receives the number of findings that make a GPU or a library unusable: 0 on a machine without GPUs. NULL with
 * WICK_MEMORY, or with WICK_INVALID for any other format. Give back with wick_doctor_free. */
WICK_API char *wick_doctor(enum wick_doctor_format format, int *faults);

/* Frees a report. NULL is fine. */
WICK_API void wick_doctor_free(char *report);

#ifdef __cplusplus
}
#endif
#endif
