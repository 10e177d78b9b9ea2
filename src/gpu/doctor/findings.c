/* What wick_doctor concludes: the rules that make findings of facts, each with what to do. */
#include "gpu/doctor/doctor.h"

#include <stdio.h>
#include <string.h>

const char *wick__severity_name(enum wick__severity severity) {
    static const char *const names[] = {"note", "warning", "fault"};
    return (unsigned)severity < sizeof names / sizeof *names ? names[severity] : "unknown";
}

/* A finding; its text and what to do follow with add_text and add_fix. */
static struct wick__finding *add(struct wick__doctor *d, enum wick__severity severity, const char *code) {
    static _Thread_local struct wick__finding spare;
    struct wick__finding *finding = d->findings < WICK__DOCTOR_FINDINGS ? &d->finding[d->findings++] : &spare;
    *finding = (struct wick__finding){.severity = severity, .code = code};
    return finding;
}
__attribute__((format(printf, 2, 3))) static void text(struct wick__finding *finding, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(finding->text, sizeof finding->text, format, args);
    va_end(args);
}
__attribute__((format(printf, 2, 3))) static void fix(struct wick__finding *finding, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(finding->fix, sizeof finding->fix, format, args);
    va_end(args);
}

static void mode_text(unsigned mode, char out[10]) {
    static const char letters[] = "rwxrwxrwx";
    for (int i = 0; i < 9; i++) out[i] = mode >> (8 - i) & 1 ? letters[i] : '-';
    out[9] = 0;
}

/* ---- what both vendors share ---- */

/* A node that is there and can't be opened. Joining the group root would be a bad cure. */
static void permission(struct wick__doctor *d, const char *code, const struct wick__node *node) {
    struct wick__finding *f = add(d, WICK__FAULT, code);
    const bool grouped = (node->mode & 060) == 060, root = strcmp(node->group, "root") == 0;
    char mode[10];
    mode_text(node->mode, mode);
    text(f, "%s (%s %s:%s) can't be opened by user %s%s%s", node->path, mode, node->owner, node->group, d->user,
         grouped ? ", who is not in group " : "", grouped ? node->group : "");
    if (root && strncmp(node->path, "/dev/nvidia", 11) == 0)
        fix(f, "sudo chmod a+rw /dev/nvidia*   (for good: NVreg_DeviceFileMode=0666 for the module nvidia)");
    else if (root)
        fix(f, "sudo chgrp render %s && sudo chmod g+rw %s   (for good: a udev rule)", node->path, node->path);
    else if (!grouped)
        fix(f, "sudo chmod g+rw %s   (for good: a udev rule)", node->path);
    else if (d->container)
        fix(f, "start the container with: --group-add %u", node->gid);
    else if (node->member)
        fix(f, "log out and in again (or run: newgrp %s): the group was joined after this login", node->group);
    else
        fix(f, "sudo usermod -aG %s %s   then log out and in again", node->group, d->user);
}

/* Whether a GPU of the family works, whatever its nodes look like. */
static bool works(const struct wick__doctor *d, const struct wick__family_facts *family) {
    for (int i = 0; i < d->gpus; i++)
        if (d->gpu[i].healthy && strncmp(d->gpu[i].name, family->vendor->family, 4) == 0) return true;
    return false;
}

/* The first of several variables that is set. */
static const char *first_set(const char *const *names) {
    for (; *names; names++)
        if (wick__doctor_variable(*names)) return *names;
    return NULL;
}

static bool is_debian(const struct wick__doctor *d) {
    return strcmp(d->distribution, "debian") == 0 || strcmp(d->distribution, "ubuntu") == 0;
}

/* The driver library was not found, or will not do. */
static void no_library(struct wick__doctor *d, const struct wick__family_facts *family, const char *code,
                       const char *variable, const char *install) {
    struct wick__finding *f = add(d, WICK__FAULT, code);
    const struct wick__library *library = &family->libraries[WICK__DRIVER];
    text(f, "%s can't be used: %.400s", library->name, library->fault ? library->fault : "not found");
    if (wick__doctor_variable(variable))
        fix(f, "unset %s   or let it name the library's file", variable);
    else
        fix(f, "%s", install);
}

/* The library works, and shows none of the GPUs there are. */
static void none_shown(struct wick__doctor *d, const struct wick__family_facts *family, const char *code,
                       const char *const *variables, const char *otherwise) {
    struct wick__finding *f = add(d, WICK__FAULT, code);
    const char *name = first_set(variables);
    if (name) {
        text(f, "%s=%s hides every GPU", name, wick__doctor_variable(name));
        fix(f, "unset %s", name);
    } else {
        text(f, "%s shows no GPU, though the driver is there", family->libraries[WICK__DRIVER].name);
        fix(f, "%s", otherwise);
    }
}

static void some_hidden(struct wick__doctor *d, const struct wick__family_facts *family, const char *code,
                        const char *const *variables) {
    const char *name = first_set(variables);
    if (!name || family->count >= family->hardware) return;
    struct wick__finding *f = add(d, WICK__NOTE, code);
    text(f, "%d of %d GPUs are shown; %s=%s is set", family->count, family->hardware, name,
         wick__doctor_variable(name));
    fix(f, "unset %s   to use the others", name);
}

static void copies(struct wick__doctor *d, const struct wick__family_facts *family, const char *code) {
    if (family->copies < 2) return;
    struct wick__finding *f = add(d, WICK__WARNING, code);
    const struct wick__library *library = &family->libraries[WICK__DRIVER];
    text(f, "%d copies of %s are in this process; streams of one are not valid in another. In use: %.300s",
         family->copies, library->name, library->path ? library->path : "none");
    fix(f, "load one runtime only: import the framework whose streams are shared before Wick opens a device");
}

/* ---- AMD ---- */

static const char *install_hip(const struct wick__doctor *d) {
    if (is_debian(d)) return "sudo apt install libamdhip64-dev";
    if (strcmp(d->distribution, "fedora") == 0) return "sudo dnf install rocm-hip";
    if (strcmp(d->distribution, "arch") == 0) return "sudo pacman -S hip-runtime-amd";
    return "install AMD's HIP runtime, 5.2 to 7 (https://rocm.docs.amd.com), or set WICK_HIP_PATH to its file";
}

static void rocm_nodes(struct wick__doctor *d, const struct wick__family_facts *family) {
    const struct wick__node *kfd = wick__doctor_node(d, "/dev/kfd", 0);
    const struct wick__node *render = wick__doctor_node(d, "/dev/dri/renderD", 0);
    struct wick__finding *f;
    if (!kfd && !family->module) {
        f = add(d, WICK__FAULT, "rocm-module");
        text(f, "the machine has an AMD GPU, but the kernel module amdgpu is not loaded");
        fix(f, "sudo modprobe amdgpu   (if it stays away: sudo dmesg | grep amdgpu)");
        return;
    }
    if (!kfd && d->container) {
        f = add(d, WICK__FAULT, "rocm-container");
        text(f, "/dev/kfd is not in this container");
        fix(f, "start the container with: --device=/dev/kfd --device=/dev/dri --group-add render");
        return;
    }
    if (!kfd) {
        f = add(d, WICK__FAULT, "rocm-kfd");
        text(
            f,
            "amdgpu is loaded, but there is no /dev/kfd: the kernel has no HSA_AMD, or refused the GPU (PCIe atomics)");
        fix(f, "sudo dmesg | grep -iE 'kfd|atomic'   says which; another slot or a newer kernel may help");
        return;
    }
    if (!kfd->usable) permission(d, "rocm-permission", kfd);
    if (!render) {
        f = add(d, WICK__FAULT, "rocm-render");
        text(f, "/dev/kfd is there, but no /dev/dri/renderD*");
        fix(f, d->container ? "start the container with: --device=/dev/dri"
                            : "sudo modprobe -r amdgpu; sudo modprobe amdgpu");
        return;
    }
    for (int i = 0; (render = wick__doctor_node(d, "/dev/dri/renderD", i)); i++)
        if (render->usable) return;
    render = wick__doctor_node(d, "/dev/dri/renderD", 0);
    if (kfd->usable || strcmp(kfd->group, render->group) != 0) permission(d, "rocm-render-permission", render);
}

static void rocm(struct wick__doctor *d) {
    static const char *const hiding[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
                                         "CUDA_VISIBLE_DEVICES", NULL};
    static const char *const overrides[] = {"HSA_OVERRIDE_GFX_VERSION", "HSA_OVERRIDE_GFX_VERSION_0",
                                            "HSA_OVERRIDE_GFX_VERSION_1", NULL};
    const struct wick__family_facts *family = &d->family[WICK__DOCTOR_ROCM];
    struct wick__finding *f;
    int before = d->findings;
    if (family->hardware == 0 && !wick__doctor_node(d, "/dev/kfd", 0) && family->count == 0 &&
        !wick__doctor_variable("WICK_HIP_PATH"))
        return;
    const bool expected = family->hardware > 0 || wick__doctor_node(d, "/dev/kfd", 0);
    if (expected && !works(d, family)) rocm_nodes(d, family);
    bool nodes_fine = d->findings == before;
    if (!family->libraries[WICK__DRIVER].path) {
        /* Without /dev/kfd it was not looked for, and the findings above say why that is missing. */
        if (nodes_fine || wick__doctor_node(d, "/dev/kfd", 0) || wick__doctor_variable("WICK_HIP_PATH"))
            no_library(d, family, "rocm-library", "WICK_HIP_PATH", install_hip(d));
    } else if (!family->loaded) {
        f = add(d, WICK__FAULT, "rocm-init");
        text(f, "%.500s", family->fault);
        fix(f, nodes_fine ? "sudo dmesg | grep -iE 'kfd|amdgpu'   then reload the module or reboot"
                          : "mend the findings above first");
    } else if (family->count == 0 && expected && nodes_fine) {
        none_shown(d, family, "rocm-hidden", hiding,
                   "install a HIP runtime that knows this GPU; a newer one than is in use, most likely");
    } else if (family->count > 0) {
        some_hidden(d, family, "rocm-some-hidden", hiding);
    }
    copies(d, family, "rocm-copies");
    const char *override = first_set(overrides);
    if (override) {
        f = add(d, WICK__WARNING, "rocm-override");
        text(f, "%s=%s makes the runtime take the GPU for another; code for that one may crash or give wrong results",
             override, wick__doctor_variable(override));
        fix(f, "unset %s   (Wick has or compiles kernels for the real GPU and needs no override)", override);
    }
}

/* ---- NVIDIA ---- */

static void cuda_nodes(struct wick__doctor *d, const struct wick__family_facts *family) {
    const struct wick__node *control = wick__doctor_node(d, "/dev/nvidiactl", 0);
    const struct wick__node *memory = wick__doctor_node(d, "/dev/nvidia-uvm", 0);
    struct wick__finding *f;
    if (!control && !family->module) {
        f = add(d, WICK__FAULT, "cuda-module");
        text(f, "the machine has an NVIDIA GPU, but the kernel module nvidia is not loaded");
        fix(f, "sudo modprobe nvidia   (if there is none: %s)",
            is_debian(d) ? "sudo apt install nvidia-driver" : "install NVIDIA's driver");
    } else if (!control && d->container) {
        f = add(d, WICK__FAULT, "cuda-container");
        text(f, "/dev/nvidiactl is not in this container");
        fix(f, "start the container with: --gpus all   (needs nvidia-container-toolkit)");
    } else if (!control) {
        f = add(d, WICK__FAULT, "cuda-node");
        text(f, "the module nvidia is loaded, but there is no /dev/nvidiactl");
        fix(f, "sudo nvidia-modprobe -c 0 -u");
    } else if (!control->usable) {
        permission(d, "cuda-permission", control);
    } else if (!memory) {
        f = add(d, WICK__FAULT, "cuda-uvm");
        text(f, "there is no /dev/nvidia-uvm, without which CUDA does not start");
        fix(f, d->container ? "start the container with: --device=/dev/nvidia-uvm" : "sudo nvidia-modprobe -u -c 0");
    } else if (!memory->usable) {
        permission(d, "cuda-uvm-permission", memory);
    }
}

/* What helps against what cuInit says. */
static const char *init_fix(const char *fault) {
    static const struct {
        const char *code, *fix;
    } known[] = {{"(34)", "this libcuda is the toolkit's stub: take its folder out of LD_LIBRARY_PATH"},
                 {"(802)", "sudo systemctl start nvidia-fabricmanager"},
                 {"(803)", "reboot: the kernel module and libcuda are of different versions"},
                 {"(804)", "take the cuda-compat folder out of LD_LIBRARY_PATH: this GPU's driver can't use it"},
                 {"(999)", "sudo modprobe -r nvidia_uvm; sudo modprobe nvidia_uvm"},
                 {"(46)", "another process holds the GPU in exclusive mode: nvidia-smi -c DEFAULT"},
                 {"(3)", "this process was forked after CUDA started: open devices in the child only"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(fault, known[i].code)) return known[i].fix;
    return "nvidia-smi   says more; sudo dmesg | grep -i nvrm   says why";
}

static void cuda(struct wick__doctor *d) {
    static const char *const hiding[] = {"CUDA_VISIBLE_DEVICES", NULL};
    const struct wick__family_facts *family = &d->family[WICK__DOCTOR_CUDA];
    int before = d->findings;
    if (family->hardware == 0 && !wick__doctor_node(d, "/dev/nvidia", 0) && family->count == 0 &&
        !wick__doctor_variable("WICK_CUDA_PATH"))
        return;
    const bool expected = family->hardware > 0 || wick__doctor_node(d, "/dev/nvidia", 0);
    if (expected && !works(d, family)) cuda_nodes(d, family);
    bool nodes_fine = d->findings == before;
    if (!family->libraries[WICK__DRIVER].path) {
        no_library(d, family, "cuda-library", "WICK_CUDA_PATH",
                   d->container   ? "start the container with: -e NVIDIA_DRIVER_CAPABILITIES=compute,utility"
                   : is_debian(d) ? "sudo apt install libcuda1"
                                  : "install the user-space part of NVIDIA's driver, of the kernel module's version");
    } else if (!family->loaded) {
        struct wick__finding *f = add(d, WICK__FAULT, "cuda-init");
        text(f, "%.500s", family->fault);
        fix(f, "%s", nodes_fine ? init_fix(family->fault) : "mend the findings above first");
    } else if (family->count == 0 && expected && nodes_fine) {
        none_shown(d, family, "cuda-hidden", hiding, "nvidia-smi   says what is wrong with them");
    } else if (family->count > 0) {
        some_hidden(d, family, "cuda-some-hidden", hiding);
    }
    copies(d, family, "cuda-copies");
}

/* ---- GPUs ---- */

static bool is_rocm(const struct wick__gpu_facts *gpu) { return strncmp(gpu->name, "rocm", 4) == 0; }

/* Neither the pack nor the cache has its kernels, and they can't be compiled. */
static void no_kernels(struct wick__doctor *d, const struct wick__gpu_facts *gpu) {
    struct wick__finding *f = add(d, WICK__FAULT, "gpu-kernels");
    const char *compile = wick__doctor_variable("WICK_COMPILE");
    const struct wick__library *compiler =
        &d->family[is_rocm(gpu) ? WICK__DOCTOR_ROCM : WICK__DOCTOR_CUDA].libraries[WICK__COMPILER];
    text(f, "%s: %.480s", gpu->name, gpu->fault);
    if (compile && strcmp(compile, "never") == 0)
        fix(f, "unset WICK_COMPILE   or let WICK_KERNEL_PACK name the folder of a pack with %s",
            gpu->properties.target);
    else if (is_rocm(gpu))
        fix(f, "install %s of the runtime's version (in use: %.300s)", compiler->name,
            compiler->path ? compiler->path : compiler->fault);
    else
        fix(f,
            "install the CUDA toolkit, or in the active Python environment: pip install nvidia-cuda-nvrtc   (in use: "
            "%.280s)",
            compiler->path ? compiler->path : compiler->fault);
}

/* It works, but not with every op. */
static void some_kernels(struct wick__doctor *d, const struct wick__gpu_facts *gpu) {
    struct wick__finding *f = add(d, WICK__WARNING, "gpu-some-kernels");
    text(f, "%s: some kernels are missing for %s, and there is no compiler to make them", gpu->name,
         gpu->properties.target);
    fix(f, "wick kernels   lists them; install a pack of this version or the run-time compiler");
}

static void sick(struct wick__doctor *d, const struct wick__gpu_facts *gpu) {
    struct wick__finding *f = add(d, WICK__FAULT, "gpu-sick");
    const char *ordinal = gpu->name + 5;
    text(f, "%.500s", gpu->fault);
    if (strstr(gpu->fault, "out of memory") || strstr(gpu->fault, "OUT_OF_MEMORY"))
        fix(f, "end what holds its memory; %s   lists it", is_rocm(gpu) ? "rocm-smi --showpids" : "nvidia-smi");
    else if (gpu->properties.integrated)
        fix(f, "%s=%s   leaves this integrated GPU out", is_rocm(gpu) ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES",
            strcmp(ordinal, "0") == 0 ? "1" : "0");
    else if (is_rocm(gpu))
        fix(f, "sudo rocm-smi --gpureset -d %s   (sudo dmesg | tail   says more)", ordinal);
    else
        fix(f, "sudo nvidia-smi --gpu-reset -i %s   (sudo dmesg | tail   says more)", ordinal);
}

static void blas(struct wick__doctor *d, const struct wick__gpu_facts *gpu) {
    struct wick__finding *f;
    if (*gpu->blas_wrong) {
        f = add(d, WICK__WARNING, "gpu-blas-wrong");
        text(f, "%s: the vendor's matrix products of %s are wrong; own kernels are used for them", gpu->name,
             gpu->blas_wrong);
        fix(f, "nothing must be done; another version of %s may be right", is_rocm(gpu) ? "rocBLAS" : "cuBLAS");
    } else if (!gpu->blas_usable && !wick__doctor_variable("WICK_BLAS")) {
        f = add(d, WICK__NOTE, "gpu-blas");
        text(f, "%s: matrix products run on %.480s", gpu->name, gpu->blas);
        fix(f, "%s",
            is_rocm(gpu) ? "nothing must be done; rocBLAS with files for this GPU may be faster"
                         : "nothing must be done; the CUDA toolkit's cuBLAS may be faster");
    }
}

static void gpus(struct wick__doctor *d) {
    unsigned routes = 0;
    for (int i = 0; i < d->gpus; i++) {
        const struct wick__gpu_facts *gpu = &d->gpu[i];
        routes |= gpu->routes;
        if (!gpu->healthy && strncmp(gpu->fault, "no code of kernel", 17) == 0)
            no_kernels(d, gpu);
        else if (!gpu->healthy)
            sick(d, gpu);
        else if (gpu->routes >> WICK__ROUTE_NONE & 1)
            some_kernels(d, gpu);
        if (gpu->healthy) blas(d, gpu);
    }
    if (*d->cache_fault && routes >> WICK__ROUTE_COMPILE & 1) {
        struct wick__finding *f = add(d, WICK__WARNING, "cache");
        text(f, "compiled kernels can't be kept, each process compiles them again: %.400s", d->cache_fault);
        fix(f, "export WICK_CACHE_DIR=FOLDER   with a folder that can be written");
    }
}

void wick__doctor_find(struct wick__doctor *d) {
    cuda(d);
    rocm(d);
    gpus(d);
}
