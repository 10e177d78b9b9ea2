/* Settings from the environment, faults on demand, and the report of what is left at exit. */
#include "standin.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct standin_device standin_devices[STANDIN_DEVICES];
int standin_device_count;
struct standin_settings standin_settings;
long standin_live_of[STANDIN_KINDS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct standin_entry *entries;
static bool ready;
static int complaints;

static const char *env(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

/* Whether ordinal is in a list such as "0,2". */
static bool listed(const char *list, int ordinal) {
    while (*list) {
        char *end;
        long n = strtol(list, &end, 10);
        if (end == list) return false;
        if (n == ordinal) return true;
        list = *end == ',' ? end + 1 : end;
    }
    return false;
}

static void add_device(const char *target, size_t length) {
    struct standin_device *device = &standin_devices[standin_device_count];
    if (length == 0 || length >= sizeof device->target || standin_device_count == STANDIN_DEVICES) return;
    memcpy(device->target, target, length);
    device->target[length] = '\0';
    if (!standin_abi.takes(device->target)) {
        device->target[0] = '\0';
        return;
    }
    device->ordinal = standin_device_count++;
    device->wave = strncmp(device->target, "gfx9", 4) == 0 || strcmp(device->target, "host64") == 0 ? 64 : 32;
    device->sick = listed(env("STANDIN_SICK"), device->ordinal);
    device->integrated = listed(env("STANDIN_INTEGRATED"), device->ordinal);
}

static void read_settings(void) {
    ready = true;
    const char *list = getenv("STANDIN_DEVICES");
    if (!list) list = standin_abi.default_device;
    for (const char *p = list; *p;) {
        size_t length = strcspn(p, ",");
        add_device(p, length);
        p += length + (p[length] == ',');
    }
    standin_settings.memory = *env("STANDIN_MEMORY") ? strtoull(env("STANDIN_MEMORY"), NULL, 0) : (size_t)16 << 30;
    standin_settings.defer = strcmp(env("STANDIN_DEFER"), "1") == 0;
    standin_settings.protect = strcmp(env("STANDIN_PROTECT"), "1") == 0;
    standin_settings.page = strcmp(env("STANDIN_GUARD"), "page") == 0;
    standin_settings.seed = strtoul(env("STANDIN_SEED"), NULL, 0);
    standin_settings.blas = env("STANDIN_BLAS");
}

/* ---- faults ---- */

/* A code that the function could really give. */
static int plausible(const char *name) {
    static const struct {
        const char *part;
        int code;
    } table[] = {{"Malloc", STANDIN_MEMORY},
                 {"MemAlloc", STANDIN_MEMORY},
                 {"HostAlloc", STANDIN_MEMORY},
                 {"StreamCreate", STANDIN_MEMORY},
                 {"EventCreate", STANDIN_MEMORY},
                 {"Init", STANDIN_NOT_INITIALIZED},
                 {"Count", STANDIN_NO_DEVICE},
                 {"ModuleLoad", STANDIN_NO_BINARY},
                 {"GetFunction", STANDIN_NOT_FOUND},
                 {"Launch", STANDIN_LAUNCH},
                 {"Synchronize", STANDIN_LAUNCH},
                 {"Query", STANDIN_LAUNCH},
                 {"Capture", STANDIN_CAPTURE_UNSUPPORTED},
                 {"Peer", STANDIN_PEER_UNSUPPORTED},
                 {"Device", STANDIN_DEVICE},
                 {"Ctx", STANDIN_CONTEXT}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strstr(name, table[i].part)) return table[i].code;
    return STANDIN_UNKNOWN;
}

/* STANDIN_FAIL="hipMalloc:3,hipFree:1+=700": the third call of the one, all of the other, with code 700. */
static int fault(const struct standin_entry *entry) {
    for (const char *p = env("STANDIN_FAIL"); *p;) {
        size_t length = strcspn(p, ","), name = strcspn(p, ":,");
        if (name == strlen(entry->name) && strncmp(p, entry->name, name) == 0) {
            char *end = (char *)(p + name);
            long at = 1;
            int code = plausible(entry->name);
            if (*end == ':') at = strtol(end + 1, &end, 10);
            bool onwards = *end == '+';
            if (onwards) end++;
            if (*end == '=') code = (int)strtol(end + 1, &end, 10);
            if (entry->calls == at || (onwards && entry->calls > at)) return code;
        }
        p += length + (p[length] == ',');
    }
    return 0;
}

int standin_enter(struct standin_entry *entry) {
    pthread_mutex_lock(&lock);
    if (!ready) read_settings();
    if (entry->calls++ == 0) {
        entry->next = entries;
        entries = entry;
    }
    return fault(entry);
}

int standin_leave(int code) {
    pthread_mutex_unlock(&lock);
    return code;
}

/* ---- reports ---- */

static FILE *report_file(void) {
    const char *path = env("STANDIN_REPORT");
    return *path ? fopen(path, "a") : NULL;
}

void standin_complain(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "standin: %s\n", text);
    complaints++;
    FILE *file = report_file();
    if (!file) return;
    fprintf(file, "complaint %s\n", text);
    fclose(file);
}

/* Objects that the caller has not given back. */
__attribute__((visibility("default"))) long standin_live(void);
long standin_live(void) {
    long all = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < STANDIN_KINDS; i++) all += standin_live_of[i];
    for (int i = 0; i < standin_device_count; i++) all += standin_devices[i].contexts;
    pthread_mutex_unlock(&lock);
    return all;
}

/* What went wrong so far: guards written over, handles misused, threads stuck. */
__attribute__((visibility("default"))) int standin_complaints(void);
int standin_complaints(void) {
    pthread_mutex_lock(&lock);
    standin_check_guards();
    int n = complaints;
    pthread_mutex_unlock(&lock);
    return n;
}

__attribute__((destructor)) static void report(void) {
    static const char *const names[STANDIN_KINDS] = {"allocations", "pinned", "streams", "events",
                                                     "modules",     "graphs", "blas"};
    standin_check_guards();
    FILE *file = report_file();
    if (!file) return;
    fprintf(file, "%s", standin_abi.name);
    for (int i = 0; i < STANDIN_KINDS; i++) fprintf(file, " %s %ld", names[i], standin_live_of[i]);
    int contexts = 0;
    for (int i = 0; i < standin_device_count; i++) contexts += standin_devices[i].contexts;
    fprintf(file, " contexts %d\n", contexts);
    for (const struct standin_entry *entry = entries; entry; entry = entry->next)
        fprintf(file, "calls %s %ld\n", entry->name, entry->calls);
    fclose(file);
}

/* ---- names of codes ---- */

static const struct {
    int code;
    const char *name, *text;
} codes[] = {
    {STANDIN_OK, "Success", "no error"},
    {STANDIN_VALUE, "InvalidValue", "invalid argument"},
    {STANDIN_MEMORY, "OutOfMemory", "out of memory"},
    {STANDIN_NOT_INITIALIZED, "NotInitialized", "initialization error"},
    {STANDIN_NO_DEVICE, "NoDevice", "no GPU is detected"},
    {STANDIN_DEVICE, "InvalidDevice", "invalid device ordinal"},
    {STANDIN_IMAGE, "InvalidImage", "device kernel image is invalid"},
    {STANDIN_CONTEXT, "InvalidContext", "invalid device context"},
    {STANDIN_NO_BINARY, "NoBinaryForGpu", "no kernel image is available for execution on the device"},
    {STANDIN_PEER_UNSUPPORTED, "PeerAccessUnsupported", "peer access is not supported between these devices"},
    {STANDIN_HANDLE, "InvalidHandle", "invalid resource handle"},
    {STANDIN_NOT_FOUND, "NotFound", "named symbol not found"},
    {STANDIN_NOT_READY, "NotReady", "device not ready"},
    {STANDIN_ILLEGAL_ADDRESS, "IllegalAddress", "an illegal memory access was encountered"},
    {STANDIN_PEER_ENABLED, "PeerAccessAlreadyEnabled", "peer access is already enabled"},
    {STANDIN_PEER_DISABLED, "PeerAccessNotEnabled", "peer access has not been enabled"},
    {STANDIN_LAUNCH, "LaunchFailure", "unspecified launch failure"},
    {STANDIN_CAPTURE_UNSUPPORTED, "StreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {STANDIN_CAPTURE_INVALIDATED, "StreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {STANDIN_CAPTURE_ISOLATION, "StreamCaptureIsolation", "dependency created on uncaptured work in another stream"}};

const char *standin_code_name(int code) {
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code) return codes[i].name;
    return "Unknown";
}

const char *standin_code_text(int code) {
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code) return codes[i].text;
    return "unknown error";
}
