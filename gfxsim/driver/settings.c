/* Settings from the environment, faults on demand, and the report of what is left at exit. */
#include "gfxsim/driver/driver.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct driver_device driver_devices[DRIVER_DEVICES];
int driver_device_count;
bool driver_defer;
long driver_live_of[DRIVER_KINDS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct driver_entry *entries;
static bool ready;
static int complaints;
static _Thread_local int host_calls; /* 1 in a function that the driver calls, more in what that calls of the ABI */

/* NULL when it is not set. */
static const char *find_setting(const char *name) {
    char variable[64];
    size_t at = 0;
    for (const char *p = engine_name; *p; p++) variable[at++] = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
    snprintf(variable + at, sizeof variable - at, "_%s", name);
    return getenv(variable);
}

const char *driver_setting(const char *name) {
    const char *value = find_setting(name);
    return value ? value : "";
}

/* Whether ordinal is in a list such as "0,2:7": the number behind it, 1 when there is none, else 0. */
static long listed(const char *list, int ordinal) {
    while (*list) {
        char *end;
        long n = strtol(list, &end, 10), at = 1;
        if (end == list) return 0;
        if (*end == ':') at = strtol(end + 1, &end, 10);
        if (n == ordinal) return at;
        list = *end == ',' ? end + 1 : end;
    }
    return 0;
}

static void add_device(const char *target, size_t length) {
    struct driver_device *device = &driver_devices[driver_device_count];
    if (length == 0 || length >= sizeof device->target || driver_device_count == DRIVER_DEVICES) return;
    memset(device, 0, sizeof *device);
    memcpy(device->target, target, length);
    if (!driver_abi.takes(device->target)) return;
    if (!engine_device(device)) {
        driver_complain("there is no device %s", device->target);
        return;
    }
    device->ordinal = driver_device_count++;
    device->lost_at = listed(driver_setting("SICK"), device->ordinal);
    if (listed(driver_setting("INTEGRATED"), device->ordinal)) device->integrated = true;
    if (*driver_setting("MEMORY")) device->memory = strtoull(driver_setting("MEMORY"), NULL, 0);
}

static void read_settings(void) {
    ready = true;
    engine_settings();
    driver_defer = strcmp(driver_setting("DEFER"), "1") == 0;
    const char *list = find_setting("DEVICES");
    if (!list) list = engine_default_devices;
    for (const char *p = list; *p;) {
        size_t length = strcspn(p, ",");
        add_device(p, length);
        p += length + (p[length] == ',');
    }
}

int driver_count(void) { return *driver_setting("COUNT") ? atoi(driver_setting("COUNT")) : driver_device_count; }

/* ---- faults ---- */

/* A code that the function could really give. */
static int plausible(const char *name) {
    static const struct {
        const char *part;
        int code;
    } table[] = {{"Malloc", DRIVER_MEMORY},
                 {"MemAlloc", DRIVER_MEMORY},
                 {"HostAlloc", DRIVER_MEMORY},
                 {"StreamCreate", DRIVER_MEMORY},
                 {"EventCreate", DRIVER_MEMORY},
                 {"Init", DRIVER_NOT_INITIALIZED},
                 {"Count", DRIVER_NO_DEVICE},
                 {"ModuleLoad", DRIVER_NO_BINARY},
                 {"GetFunction", DRIVER_NOT_FOUND},
                 {"Launch", DRIVER_LAUNCH},
                 {"Synchronize", DRIVER_LAUNCH},
                 {"Query", DRIVER_LAUNCH},
                 {"Capture", DRIVER_CAPTURE_UNSUPPORTED},
                 {"Peer", DRIVER_PEER_UNSUPPORTED},
                 {"Device", DRIVER_DEVICE},
                 {"Ctx", DRIVER_CONTEXT}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strstr(name, table[i].part)) return table[i].code;
    return DRIVER_UNKNOWN;
}

/* FAIL="hipMalloc:3,hipFree:1+=700": the third call of the one, all of the other, with code 700. */
static int fault(const struct driver_entry *entry) {
    for (const char *p = driver_setting("FAIL"); *p;) {
        size_t length = strcspn(p, ","), name = strcspn(p, ":,");
        if (name == strlen(entry->name) && strncmp(p, entry->name, name) == 0) {
            const char *rest = p + name;
            char *end;
            long at = 1;
            int code = plausible(entry->name);
            if (*rest == ':') {
                at = strtol(rest + 1, &end, 10);
                rest = end;
            }
            bool onwards = *rest == '+';
            if (onwards) rest++;
            if (*rest == '=') code = (int)strtol(rest + 1, NULL, 10);
            if (entry->calls == at || (onwards && entry->calls > at)) return code;
        }
        p += length + (p[length] == ',');
    }
    return 0;
}

int driver_enter(struct driver_entry *entry) {
    if (host_calls) {
        host_calls++;
        return DRIVER_NOT_PERMITTED;
    }
    pthread_mutex_lock(&lock);
    if (!ready) read_settings();
    if (entry->calls++ == 0) {
        entry->next = entries;
        entries = entry;
    }
    return fault(entry);
}

int driver_leave(int code) {
    if (host_calls)
        host_calls--;
    else
        pthread_mutex_unlock(&lock);
    return code;
}

void driver_call_host(void (*function)(void *), void *data) {
    host_calls = 1;
    function(data);
    host_calls = 0;
}

/* ---- reports ---- */

static FILE *report_file(void) {
    const char *path = driver_setting("REPORT");
    return *path ? fopen(path, "a") : NULL;
}

void driver_complain(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", engine_name, text);
    complaints++;
    FILE *file = report_file();
    if (!file) return;
    fprintf(file, "complaint %s\n", text);
    fclose(file);
}

long driver_live(void) {
    long all = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < DRIVER_KINDS; i++) all += driver_live_of[i];
    for (int i = 0; i < driver_device_count; i++) all += driver_devices[i].contexts;
    pthread_mutex_unlock(&lock);
    return all;
}

int driver_complaints(void) {
    pthread_mutex_lock(&lock);
    long found = engine_check(false);
    int n = complaints + (int)found;
    pthread_mutex_unlock(&lock);
    return n;
}

long driver_calls(const char *name) {
    long calls = 0;
    pthread_mutex_lock(&lock);
    for (const struct driver_entry *entry = entries; entry; entry = entry->next)
        if (strcmp(entry->name, name) == 0) calls += entry->calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

__attribute__((destructor)) static void report(void) {
    static const char *const names[DRIVER_KINDS] = {"allocations", "pinned", "streams", "events",
                                                    "modules",     "graphs", "blas"};
    long found = engine_check(true);
    FILE *file = report_file();
    if (!file) return;
    fprintf(file, "%s", driver_abi.name);
    for (int i = 0; i < DRIVER_KINDS; i++) fprintf(file, " %s %ld", names[i], driver_live_of[i]);
    int contexts = 0;
    for (int i = 0; i < driver_device_count; i++) contexts += driver_devices[i].contexts;
    fprintf(file, " contexts %d\n", contexts);
    if (found) fprintf(file, "findings %ld\n", found);
    for (const struct driver_entry *entry = entries; entry; entry = entry->next)
        fprintf(file, "calls %s %ld\n", entry->name, entry->calls);
    fclose(file);
}

/* ---- names of codes ---- */

static const struct {
    int code;
    const char *name, *text;
} codes[] = {
    {DRIVER_OK, "Success", "no error"},
    {DRIVER_VALUE, "InvalidValue", "invalid argument"},
    {DRIVER_MEMORY, "OutOfMemory", "out of memory"},
    {DRIVER_NOT_INITIALIZED, "NotInitialized", "initialization error"},
    {DRIVER_CONFIGURATION, "InvalidConfiguration", "invalid configuration argument"},
    {DRIVER_PITCH, "InvalidPitchValue", "invalid pitch argument"},
    {DRIVER_NO_CONFIGURATION, "MissingConfiguration", "missing configuration"},
    {DRIVER_DEVICE_FUNCTION, "InvalidDeviceFunction", "invalid device function"},
    {DRIVER_NO_DEVICE, "NoDevice", "no GPU is detected"},
    {DRIVER_DEVICE, "InvalidDevice", "invalid device ordinal"},
    {DRIVER_IMAGE, "InvalidImage", "device kernel image is invalid"},
    {DRIVER_CONTEXT, "InvalidContext", "invalid device context"},
    {DRIVER_NO_BINARY, "NoBinaryForGpu", "no kernel image is available for execution on the device"},
    {DRIVER_PEER_UNSUPPORTED, "PeerAccessUnsupported", "peer access is not supported between these devices"},
    {DRIVER_FILE, "FileNotFound", "file not found"},
    {DRIVER_HANDLE, "InvalidHandle", "invalid resource handle"},
    {DRIVER_NOT_FOUND, "NotFound", "named symbol not found"},
    {DRIVER_NOT_READY, "NotReady", "device not ready"},
    {DRIVER_ILLEGAL_ADDRESS, "IllegalAddress", "an illegal memory access was encountered"},
    {DRIVER_PEER_ENABLED, "PeerAccessAlreadyEnabled", "peer access is already enabled"},
    {DRIVER_PEER_DISABLED, "PeerAccessNotEnabled", "peer access has not been enabled"},
    {DRIVER_LAUNCH, "LaunchFailure", "unspecified launch failure"},
    {DRIVER_COOPERATIVE_TOO_LARGE, "CooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {DRIVER_NOT_PERMITTED, "NotPermitted", "operation not permitted"},
    {DRIVER_CAPTURE_UNSUPPORTED, "StreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {DRIVER_CAPTURE_INVALIDATED, "StreamCaptureInvalidated", "operation failed due to a previous error during capture"},
    {DRIVER_CAPTURE_ISOLATION, "StreamCaptureIsolation", "dependency created on uncaptured work in another stream"}};

const char *driver_code_name(int code) {
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code) return codes[i].name;
    return "Unknown";
}

const char *driver_code_text(int code) {
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code) return codes[i].text;
    return "unknown error";
}
