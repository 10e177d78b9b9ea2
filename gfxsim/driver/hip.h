/* What the files of HIP's ABI share. One source is the libraries .so.5, .6 and .7 (HIP_GENERATION). Prototypes are
 * written out: the numbers of HIP's enums are the same in all three unless a comment says otherwise. */
#ifndef DRIVER_HIP_H
#define DRIVER_HIP_H

#include "gfxsim/driver/driver.h"

#ifndef HIP_GENERATION
#define HIP_GENERATION 6
#endif
#define API __attribute__((visibility("default")))
#define RETURN(expression) return hip_last(driver_leave(expression))
#define ENTER(function)                                                                                                \
    static struct driver_entry entry_ = {.name = #function};                                                           \
    {                                                                                                                  \
        int failed_ = driver_enter(&entry_);                                                                           \
        if (failed_) RETURN(failed_);                                                                                  \
    }
#define STREAM(name, handle)                                                                                           \
    struct driver_stream *name = hip_device(hip_current) ? driver_stream_of(hip_device(hip_current), handle) : NULL;   \
    if (!name) RETURN(DRIVER_HANDLE)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

extern _Thread_local int hip_current; /* the thread's device */
/* Remembers a failure for hipGetLastError; returns it. */
int hip_last(int code);
/* NULL when there is none of that number. */
struct driver_device *hip_device(int ordinal);
/* What allocations and loading may not happen in: a capture, or on a device that has failed. */
int hip_refusal(void);
API const char *hipGetErrorName(int code);

#endif
