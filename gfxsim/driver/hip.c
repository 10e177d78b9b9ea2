/* The HIP runtime's ABI, over a driver of simulated GPUs: the library, its errors, the devices' contexts. */
#include "gfxsim/driver/hip.h"

#include <string.h>

static bool takes(const char *target) { return strncmp(target, "sm_", 3) != 0; }
const struct driver_abi driver_abi = {"libamdhip64", takes};

_Thread_local int hip_current;
static _Thread_local int last_error;

int hip_last(int code) {
    if (code && code != DRIVER_NOT_READY) last_error = code;
    return code;
}

struct driver_device *hip_device(int ordinal) {
    return ordinal >= 0 && ordinal < driver_device_count ? &driver_devices[ordinal] : NULL;
}

int hip_refusal(void) {
    if (!hip_device(hip_current)) return DRIVER_NO_DEVICE;
    int code = driver_not_capturing();
    return code ? code : hip_device(hip_current)->error;
}

/* ---- the library ---- */

API int hipInit(unsigned flags) {
    ENTER(hipInit);
    RETURN(flags ? DRIVER_VALUE : driver_device_count ? DRIVER_OK : DRIVER_NO_DEVICE);
}
static const int version = HIP_GENERATION == 5 ? 50221153 : HIP_GENERATION == 6 ? 60443484 : 70051831;
API int hipDriverGetVersion(int *out) {
    ENTER(hipDriverGetVersion);
    *out = version;
    RETURN(DRIVER_OK);
}
API int hipRuntimeGetVersion(int *out) {
    ENTER(hipRuntimeGetVersion);
    *out = version;
    RETURN(DRIVER_OK);
}
API const char *hipGetErrorName(int code) {
    static _Thread_local char text[64];
    snprintf(text, sizeof text, code ? "hipError%s" : "hip%s", driver_code_name(code));
    return text;
}
API const char *hipGetErrorString(int code) { return driver_code_text(code); }
API int hipDrvGetErrorName(int code, const char **text) {
    *text = hipGetErrorName(code);
    return DRIVER_OK;
}
API int hipDrvGetErrorString(int code, const char **text) {
    *text = driver_code_text(code);
    return DRIVER_OK;
}
API int hipGetLastError(void) {
    int code = last_error;
    last_error = 0;
    return code;
}
API int hipPeekAtLastError(void) { return last_error; }

/* ---- devices ---- */

API int hipGetDeviceCount(int *count) {
    ENTER(hipGetDeviceCount);
    *count = driver_count();
    RETURN(*count ? DRIVER_OK : DRIVER_NO_DEVICE);
}
API int hipGetDevice(int *ordinal) {
    ENTER(hipGetDevice);
    *ordinal = hip_current;
    RETURN(driver_device_count ? DRIVER_OK : DRIVER_NO_DEVICE);
}
API int hipSetDevice(int ordinal) {
    ENTER(hipSetDevice);
    if (!hip_device(ordinal)) RETURN(DRIVER_DEVICE);
    hip_current = ordinal;
    RETURN(DRIVER_OK);
}
API int hipDeviceGet(int *device, int ordinal) {
    ENTER(hipDeviceGet);
    *device = ordinal;
    RETURN(hip_device(ordinal) ? DRIVER_OK : DRIVER_DEVICE);
}
API int hipDeviceSynchronize(void) {
    ENTER(hipDeviceSynchronize);
    int code = driver_not_capturing();
    RETURN(code ? code : driver_device_synchronize(hip_device(hip_current)));
}
API int hipDevicePrimaryCtxRetain(void **context, int ordinal) {
    ENTER(hipDevicePrimaryCtxRetain);
    if (!hip_device(ordinal)) RETURN(DRIVER_DEVICE);
    hip_device(ordinal)->contexts++;
    *context = hip_device(ordinal);
    RETURN(DRIVER_OK);
}
API int hipDevicePrimaryCtxRelease(int ordinal) {
    ENTER(hipDevicePrimaryCtxRelease);
    if (!hip_device(ordinal)) RETURN(DRIVER_DEVICE);
    if (hip_device(ordinal)->contexts == 0) RETURN(DRIVER_CONTEXT);
    hip_device(ordinal)->contexts--;
    RETURN(DRIVER_OK);
}
API int hipCtxSetCurrent(void *context) {
    ENTER(hipCtxSetCurrent);
    if (context) hip_current = ((struct driver_device *)context)->ordinal;
    RETURN(DRIVER_OK);
}
API int hipCtxGetCurrent(void **context) {
    ENTER(hipCtxGetCurrent);
    *context = hip_device(hip_current);
    RETURN(DRIVER_OK);
}
API int hipDeviceCanAccessPeer(int *possible, int ordinal, int other) {
    ENTER(hipDeviceCanAccessPeer);
    *possible = ordinal != other;
    RETURN(hip_device(ordinal) && hip_device(other) ? DRIVER_OK : DRIVER_DEVICE);
}
API int hipDeviceEnablePeerAccess(int other, unsigned flags) {
    ENTER(hipDeviceEnablePeerAccess);
    if (!hip_device(other) || other == hip_current) RETURN(DRIVER_DEVICE);
    if (flags) RETURN(DRIVER_VALUE);
    unsigned *peers = &hip_device(hip_current)->peers, bit = 1u << other;
    int code = *peers & bit ? DRIVER_PEER_ENABLED : DRIVER_OK;
    *peers |= bit;
    RETURN(code);
}
API int hipDeviceDisablePeerAccess(int other) {
    ENTER(hipDeviceDisablePeerAccess);
    if (!hip_device(other)) RETURN(DRIVER_DEVICE);
    unsigned *peers = &hip_device(hip_current)->peers, bit = 1u << other;
    int code = *peers & bit ? DRIVER_OK : DRIVER_PEER_DISABLED;
    *peers &= ~bit;
    RETURN(code);
}
