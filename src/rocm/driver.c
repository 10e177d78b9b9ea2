/* libamdhip64, opened: what the other files of this folder stand on. */
#include "rocm/rocm.h"

#include <stdio.h>
#include <string.h>

struct wick__hip wick__hip;

static const struct wick__symbol symbols[] = {
#define WICK__FN(need, result, name, parameters) WICK__SYMBOL(need, struct wick__hip, name),
#include "rocm/hip.def"
};

static const char *const versions[] = {".so.7", ".so.6", ".so.5", ".so", NULL};
const char *const wick__rocm_roots[] = {"ROCM_PATH",       "HIP_PATH",        "/opt/rocm/lib",
                                        "/opt/rocm-*/lib", "/opt/rocm/lib64", NULL};

struct wick__opener wick__hip_opener =
    WICK__OPENER("libamdhip64", "WICK_HIP_PATH", versions, wick__rocm_roots, symbols);

/* Where AMD's driver shows a GPU: on Linux, and under Windows. HIP is not loaded without: it takes 17 ms to find that
 * there is none, and ends the process by a C++ exception when it runs out of memory meanwhile. */
static const char *const nodes[] = {"/dev/kfd", "/dev/dxg", NULL};

/* hipGetDeviceProperties writes one of two layouts of hipDeviceProp_t: HIP 6 made the struct longer and moved its
 * fields, under a symbol of its own; the plain symbol went on to write the old one. Of both, the name (at 0) and
 * gcnArchName are wanted; everything else is asked as attributes. Compared with the headers by tests/headers. */
enum { PROPERTIES_ROOM = 8192, NAME_SIZE = 256 };
static hipError_t (*get_properties)(void *properties, int ordinal);
static bool new_layout;

int wick__rocm_init_code, wick__rocm_version;

int wick__rocm_code(hipError_t error) {
    if (error != hipSuccess) wick__hip.hipGetLastError();
    return error;
}

/* On a machine without a GPU of its kind, hipInit answers one code or another, but counting says so. */
static hipError_t initialise(void) {
    int code = wick__rocm_code(wick__hip.hipInit(0)), count = 0;
    if (code != hipSuccess && wick__rocm_code(wick__hip.hipGetDeviceCount(&count)) == hipErrorNoDevice)
        code = hipErrorNoDevice;
    return code;
}

void wick__rocm_load(void) {
    struct wick__opener *opener = &wick__hip_opener;
    pthread_mutex_lock(&opener->mutex);
    opener->nodes = nodes;
    if (!opener->tried && wick__library_open(opener, &wick__hip)) {
        void *function = wick__library_symbol(opener, "hipGetDevicePropertiesR0600");
        new_layout = function != NULL;
        if (!function) function = wick__library_symbol(opener, "hipGetDeviceProperties");
        memcpy(&get_properties, &function, sizeof function);
        wick__rocm_init_code = initialise();
        if (wick__hip.hipRuntimeGetVersion(&wick__rocm_version) != hipSuccess) wick__rocm_version = 0;
        if (!function) wick__library_refuse(opener, "has no hipGetDeviceProperties");
    }
    pthread_mutex_unlock(&opener->mutex);
}

int wick__rocm_major(void) {
    wick__rocm_load();
    return wick__hip_opener.handle ? wick__rocm_version / 10000000 : 0;
}

int wick__rocm_target(int ordinal, char *name, size_t name_size, char *target, size_t target_size) {
    union {
        max_align_t aligned;
        char bytes[PROPERTIES_ROOM];
    } room;
    memset(&room, 0, sizeof room);
    int code = wick__rocm_code(get_properties(&room, ordinal));
    if (code != hipSuccess) return code;
    int length = NAME_SIZE - 1;
    snprintf(name, name_size, "%.*s", length, room.bytes);
    const char *arch = room.bytes + (new_layout ? WICK__R0600_gcnArchName : WICK__R0000_gcnArchName);
    if (strncmp(arch, "gfx", 3) != 0) return hipErrorUnknown;
    snprintf(target, target_size, "%.*s", length, arch);
    return 0;
}
