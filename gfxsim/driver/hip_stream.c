/* HIP's streams, events and graphs. */
#include "gfxsim/driver/hip.h"

#include <string.h>

static int stream_create(void **stream, unsigned flags) {
    int code = hip_refusal();
    return code ? code : driver_stream_create(hip_device(hip_current), !(flags & 1), (struct driver_stream **)stream);
}
API int hipStreamCreate(void **stream) {
    ENTER(hipStreamCreate);
    RETURN(stream_create(stream, 0));
}
API int hipStreamCreateWithFlags(void **stream, unsigned flags) {
    ENTER(hipStreamCreateWithFlags);
    RETURN(stream_create(stream, flags));
}
API int hipStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    (void)priority;
    ENTER(hipStreamCreateWithPriority);
    RETURN(stream_create(stream, flags));
}
API int hipStreamDestroy(void *stream) {
    ENTER(hipStreamDestroy);
    RETURN(driver_stream_destroy(stream));
}
API int hipStreamSynchronize(void *stream) {
    ENTER(hipStreamSynchronize);
    STREAM(on, stream);
    RETURN(driver_stream_synchronize(on));
}
API int hipStreamQuery(void *stream) {
    ENTER(hipStreamQuery);
    STREAM(on, stream);
    RETURN(driver_stream_query(on));
}
/* The stream of a handle on any device; NULL is the null stream of the current one. */
static struct driver_stream *find_stream(void *handle) {
    if (!handle) return hip_device(hip_current) ? driver_stream_of(hip_device(hip_current), NULL) : NULL;
    struct driver_stream *stream = NULL;
    for (int i = 0; i < driver_device_count && !stream; i++) stream = driver_stream_of(hip_device(i), handle);
    return stream;
}
/* The null stream has none to tell, as in HIP 6. */
API int hipStreamGetFlags(void *stream, unsigned *flags) {
    ENTER(hipStreamGetFlags);
    if (!stream || !flags) RETURN(DRIVER_VALUE);
    const struct driver_stream *of = find_stream(stream);
    if (!of) RETURN(DRIVER_HANDLE);
    *flags = of->blocking ? 0 : 1;
    RETURN(DRIVER_OK);
}
/* Returns the ordinal itself, -1 for what is no stream. */
API int hipGetStreamDeviceId(void *stream) {
    static struct driver_entry entry = {.name = "hipGetStreamDeviceId"};
    int code = driver_enter(&entry);
    const struct driver_stream *of = code ? NULL : find_stream(stream);
    return driver_leave(of ? of->device->ordinal : -1);
}

struct host_call {
    void (*function)(void *);
    void *data;
};
static int call_host(const void *arguments) {
    struct host_call call;
    memcpy(&call, arguments, sizeof call);
    driver_call_host(call.function, call.data);
    return DRIVER_OK;
}
API int hipLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    ENTER(hipLaunchHostFunc);
    STREAM(on, stream);
    if (!function) RETURN(DRIVER_VALUE);
    struct host_call call = {function, data};
    RETURN(driver_call(on, call_host, &call, sizeof call));
}
API int hipStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)flags;
    ENTER(hipStreamWaitEvent);
    STREAM(on, stream);
    RETURN(driver_stream_wait(on, event));
}
API int hipEventCreateWithFlags(void **event, unsigned flags) {
    ENTER(hipEventCreateWithFlags);
    if (!hip_device(hip_current)) RETURN(DRIVER_NO_DEVICE);
    RETURN(driver_event_create(hip_device(hip_current), !(flags & 2), (struct driver_event **)event));
}
API int hipEventCreate(void **event) {
    ENTER(hipEventCreate);
    if (!hip_device(hip_current)) RETURN(DRIVER_NO_DEVICE);
    RETURN(driver_event_create(hip_device(hip_current), true, (struct driver_event **)event));
}
API int hipEventDestroy(void *event) {
    ENTER(hipEventDestroy);
    RETURN(driver_event_destroy(event));
}
API int hipEventRecord(void *event, void *stream) {
    ENTER(hipEventRecord);
    STREAM(on, stream);
    RETURN(driver_event_record(event, on));
}
API int hipEventSynchronize(void *event) {
    ENTER(hipEventSynchronize);
    RETURN(driver_event_synchronize(event));
}
API int hipEventQuery(void *event) {
    ENTER(hipEventQuery);
    RETURN(driver_event_query(event));
}
API int hipEventElapsedTime(float *ms, void *from, void *to) {
    ENTER(hipEventElapsedTime);
    RETURN(driver_event_elapsed(ms, from, to));
}

/* ---- graphs ---- */

API int hipStreamBeginCapture(void *stream, int mode) {
    ENTER(hipStreamBeginCapture);
    STREAM(on, stream);
    RETURN(driver_capture_begin(on, mode));
}
API int hipStreamEndCapture(void *stream, void **graph) {
    ENTER(hipStreamEndCapture);
    STREAM(on, stream);
    RETURN(driver_capture_end(on, (struct driver_graph **)graph));
}
API int hipStreamIsCapturing(void *stream, int *status) {
    ENTER(hipStreamIsCapturing);
    STREAM(on, stream);
    *status = on->capture ? on->invalidated ? 2 : 1 : 0;
    RETURN(DRIVER_OK);
}
API int hipGraphInstantiate(void **executable, void *graph, void **node, char *log, size_t size) {
    (void)node, (void)log, (void)size;
    ENTER(hipGraphInstantiate);
    RETURN(driver_graph_instantiate((struct driver_graph **)executable, graph));
}
API int hipGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
    (void)flags;
    ENTER(hipGraphInstantiateWithFlags);
    RETURN(driver_graph_instantiate((struct driver_graph **)executable, graph));
}
API int hipGraphLaunch(void *executable, void *stream) {
    ENTER(hipGraphLaunch);
    STREAM(on, stream);
    RETURN(driver_graph_launch(executable, on));
}
API int hipGraphExecDestroy(void *executable) {
    ENTER(hipGraphExecDestroy);
    RETURN(driver_graph_destroy(executable, true));
}
API int hipGraphDestroy(void *graph) {
    ENTER(hipGraphDestroy);
    RETURN(driver_graph_destroy(graph, false));
}
