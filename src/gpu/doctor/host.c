/* What wick_doctor reads from the system: nodes, permissions, kernel modules, the PCI bus, the container, variables. */
#define _GNU_SOURCE
#include "core/folder.h"
#include "core/names.h"
#include "gpu/doctor/doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 512 };

static const char *root(void) {
    const char *value = secure_getenv("WICK_DOCTOR_ROOT");
    return value ? value : "";
}

static bool exists(const char *path) {
    char full[PATH_MAX];
    int length = snprintf(full, sizeof full, "%s%s", root(), path);
    return length > 0 && (size_t)length < sizeof full && access(full, F_OK) == 0;
}

bool wick__doctor_line(const char *path, char *line, size_t size) {
    char full[PATH_MAX];
    int length = snprintf(full, sizeof full, "%s%s", root(), path);
    if (length < 0 || (size_t)length >= sizeof full) return false;
    FILE *file = fopen(full, "re");
    if (!file) return false;
    bool read = fgets(line, (int)size, file) != NULL;
    fclose(file);
    if (read) line[strcspn(line, "\n")] = 0;
    return read;
}

/* The value of NAME=value in a file, without quotes. */
static bool setting(const char *path, const char *name, char *value, size_t size) {
    char full[PATH_MAX], line[LINE];
    size_t length = strlen(name);
    snprintf(full, sizeof full, "%s%s", root(), path);
    FILE *file = fopen(full, "re");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, length) != 0 || line[length] != '=') continue;
        const char *from = line + length + 1 + (line[length + 1] == '"');
        snprintf(value, size, "%.*s", (int)strcspn(from, "\"\n"), from);
        found = true;
    }
    if (file) fclose(file);
    return found;
}

/* ---- the user and the nodes ---- */

static void add_group(struct wick__doctor *doctor, const char *name) {
    size_t at = strlen(doctor->groups);
    snprintf(doctor->groups + at, sizeof doctor->groups - at, "%s%s", at ? " " : "", name);
}

static void real_user(struct wick__doctor *doctor) {
    enum { GROUPS = 64 };
    gid_t groups[GROUPS];
    char name[32];
    wick__user_name(geteuid(), doctor->user, sizeof doctor->user);
    int count = getgroups(GROUPS, groups);
    for (int i = 0; i < count; i++) {
        wick__group_name(groups[i], name, sizeof name, NULL, NULL);
        add_group(doctor, name);
    }
}

static void real_node(struct wick__doctor *doctor, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || doctor->nodes == WICK__DOCTOR_NODES) return;
    struct wick__node *node = &doctor->node[doctor->nodes++];
    *node = (struct wick__node){.mode = info.st_mode & 0777, .gid = info.st_gid};
    snprintf(node->path, sizeof node->path, "%.63s", path);
    node->usable = access(path, R_OK | W_OK) == 0;
    wick__user_name(info.st_uid, node->owner, sizeof node->owner);
    wick__group_name(info.st_gid, node->group, sizeof node->group, doctor->user, &node->member);
}

static bool add_node(void *context, const char *path) {
    real_node(context, path);
    return false;
}
static void real_nodes(struct wick__doctor *doctor) {
    static const char *const patterns[] = {"/dev/kfd", "/dev/dri/renderD*", "/dev/nvidiactl", "/dev/nvidia-uvm",
                                           "/dev/nvidia[0-9]*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        wick__folder_match(patterns[i], false, add_node, doctor);
}

/* Whether a word is in a list that is split by blanks. */
static bool in_list(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
    return false;
}

/* Lines of the file `nodes` of a simulated machine: "user NAME GROUP...", "member GROUP" for a group that was
 * joined after the login, and "PATH MODE OWNER GROUP GID". */
static void simulated_line(struct wick__doctor *doctor, char *line, char members[LINE]) {
    struct wick__node node = {0};
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "user ", 5) == 0) {
        int length = (int)strcspn(line + 5, " ");
        snprintf(doctor->user, sizeof doctor->user, "%.*s", length < 31 ? length : 31, line + 5);
        if (line[5 + length]) snprintf(doctor->groups, sizeof doctor->groups, "%.255s", line + 6 + length);
    } else if (strncmp(line, "member ", 7) == 0) {
        snprintf(members, LINE, "%.*s", LINE - 1, line + 7);
    } else if (doctor->nodes < WICK__DOCTOR_NODES &&
               sscanf(line, "%63s %o %31s %31s %u", node.path, &node.mode, node.owner, node.group, &node.gid) == 5) {
        node.member = in_list(members, node.group);
        node.usable = strcmp(node.owner, doctor->user) == 0 || (node.mode & 06) == 06 ||
                      (in_list(doctor->groups, node.group) && (node.mode & 060) == 060);
        doctor->node[doctor->nodes++] = node;
    }
}

static void simulated_nodes(struct wick__doctor *doctor) {
    char path[PATH_MAX], line[LINE], members[LINE] = "";
    snprintf(path, sizeof path, "%s/nodes", root());
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) simulated_line(doctor, line, members);
    if (file) fclose(file);
}

const struct wick__node *wick__doctor_node(const struct wick__doctor *doctor, const char *path, int i) {
    for (int n = 0; n < doctor->nodes; n++)
        if (strncmp(doctor->node[n].path, path, strlen(path)) == 0 && i-- == 0) return &doctor->node[n];
    return NULL;
}

/* ---- hardware and its kernel modules ---- */

/* The numbers of AMD's and NVIDIA's displays and accelerators; both vendors also make other things. */
struct hardware {
    int amd, nvidia;
};

static bool count_one(void *context, const char *folder) {
    struct hardware *hardware = context;
    char path[PATH_MAX], vendor[LINE], class[LINE];
    const char *device = folder + strlen(root());
    if (snprintf(path, sizeof path, "%s/vendor", device) >= (int)sizeof path) return false;
    if (!wick__doctor_line(path, vendor, sizeof vendor)) return false;
    int *count = strcmp(vendor, "0x1002") == 0   ? &hardware->amd
                 : strcmp(vendor, "0x10de") == 0 ? &hardware->nvidia
                                                 : NULL;
    if (!count || snprintf(path, sizeof path, "%s/class", device) >= (int)sizeof path) return false;
    if (!wick__doctor_line(path, class, sizeof class)) return false;
    if (strncmp(class, "0x03", 4) == 0 || strncmp(class, "0x12", 4) == 0) ++*count;
    return false;
}

static void kernel_modules(struct wick__doctor *doctor) {
    struct wick__family_facts *rocm = &doctor->family[WICK__DOCTOR_ROCM], *cuda = &doctor->family[WICK__DOCTOR_CUDA];
    struct hardware hardware = {0, 0};
    char pattern[PATH_MAX];
    int length = snprintf(pattern, sizeof pattern, "%s/sys/bus/pci/devices/*", root());
    if (length > 0 && (size_t)length < sizeof pattern) wick__folder_match(pattern, false, count_one, &hardware);
    rocm->hardware = hardware.amd;
    cuda->hardware = hardware.nvidia;
    rocm->module = exists("/sys/module/amdgpu");
    cuda->module = exists("/sys/module/nvidia");
    if (!wick__doctor_line("/sys/module/amdgpu/version", rocm->driver, sizeof rocm->driver)) rocm->driver[0] = 0;
    if (!wick__doctor_line("/sys/module/nvidia/version", cuda->driver, sizeof cuda->driver)) cuda->driver[0] = 0;
}

/* ---- the rest ---- */

static void system_facts(struct wick__doctor *doctor) {
    char line[LINE];
    if (!setting("/etc/os-release", "PRETTY_NAME", doctor->system, sizeof doctor->system))
        snprintf(doctor->system, sizeof doctor->system, "an unknown system");
    if (!setting("/etc/os-release", "ID", doctor->distribution, sizeof doctor->distribution))
        doctor->distribution[0] = 0;
    bool named = wick__doctor_line("/proc/1/cgroup", line, sizeof line) &&
                 (strstr(line, "docker") || strstr(line, "lxc") || strstr(line, "kubepods"));
    doctor->container = named || exists("/.dockerenv") || exists("/run/.containerenv") ||
                        (!*root() && wick__doctor_variable("container"));
    doctor->wsl = exists("/dev/dxg") || exists("/usr/lib/wsl/lib");
}

const char *wick__doctor_variable(const char *name) {
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

static void variables(struct wick__doctor *doctor) {
    static const char *const names[] = {"HSA_OVERRIDE_GFX_VERSION",
                                        "HSA_OVERRIDE_GFX_VERSION_0",
                                        "HSA_OVERRIDE_GFX_VERSION_1",
                                        "HSA_ENABLE_SDMA",
                                        "HSA_XNACK",
                                        "HIP_VISIBLE_DEVICES",
                                        "ROCR_VISIBLE_DEVICES",
                                        "GPU_DEVICE_ORDINAL",
                                        "CUDA_VISIBLE_DEVICES",
                                        "NVIDIA_VISIBLE_DEVICES",
                                        "NVIDIA_DRIVER_CAPABILITIES",
                                        "NVIDIA_TF32_OVERRIDE",
                                        "AMD_SERIALIZE_KERNEL",
                                        "HIP_LAUNCH_BLOCKING",
                                        "CUDA_LAUNCH_BLOCKING",
                                        "ROCBLAS_TENSILE_LIBPATH",
                                        "ROCM_PATH",
                                        "HIP_PATH",
                                        "CUDA_PATH",
                                        "CUDA_HOME",
                                        "LD_LIBRARY_PATH",
                                        "LD_PRELOAD",
                                        "VIRTUAL_ENV",
                                        "CONDA_PREFIX",
                                        "WICK_HIP_PATH",
                                        "WICK_HIPRTC_PATH",
                                        "WICK_ROCBLAS_PATH",
                                        "WICK_HIPBLASLT_PATH",
                                        "WICK_MIOPEN_PATH",
                                        "WICK_CUDA_PATH",
                                        "WICK_NVRTC_PATH",
                                        "WICK_CUBLAS_PATH",
                                        "WICK_CUBLASLT_PATH",
                                        "WICK_CUDNN_PATH",
                                        "WICK_KERNEL_PACK",
                                        "WICK_CACHE_DIR",
                                        "WICK_COMPILE",
                                        "WICK_BLAS",
                                        "WICK_DNN",
                                        "WICK_TUNE",
                                        "WICK_THREADS",
                                        "WICK_ISA"};
    for (size_t i = 0; i < sizeof names / sizeof *names && doctor->variables < WICK__DOCTOR_VARIABLES; i++)
        if (wick__doctor_variable(names[i])) doctor->variable[doctor->variables++] = names[i];
}

void wick__doctor_host(struct wick__doctor *doctor) {
    system_facts(doctor);
    if (*root()) {
        simulated_nodes(doctor);
    } else {
        real_user(doctor);
        real_nodes(doctor);
    }
    kernel_modules(doctor);
    variables(doctor);
}
