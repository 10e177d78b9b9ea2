/* What HIP says of a device: name, attributes, and the properties in both layouts. */
#include "gfxsim/driver/hip.h"

#include <string.h>

enum { REGISTERS = 65536, BLOCK_THREADS = 1024, GRID_X = 0x7fffffff, GRID_YZ = 65535, CONSTANTS = 0x7fffffff };
enum { BUS = 0xc1 }; /* the first device's */

API int hipDeviceGetName(char *text, int size, int ordinal) {
    ENTER(hipDeviceGetName);
    if (!hip_device(ordinal)) RETURN(DRIVER_DEVICE);
    if (!text || size <= 0) RETURN(DRIVER_VALUE);
    snprintf(text, (size_t)size, "%s", hip_device(ordinal)->name);
    RETURN(DRIVER_OK);
}
API int hipDeviceGetPCIBusId(char *text, int size, int ordinal) {
    ENTER(hipDeviceGetPCIBusId);
    if (!hip_device(ordinal)) RETURN(DRIVER_DEVICE);
    if (!text || size <= 0) RETURN(DRIVER_VALUE);
    snprintf(text, (size_t)size, "0000:%02x:00.0", BUS + ordinal);
    RETURN(DRIVER_OK);
}
API int hipDeviceTotalMem(size_t *size, int ordinal) {
    ENTER(hipDeviceTotalMem);
    if (!hip_device(ordinal)) RETURN(DRIVER_DEVICE);
    *size = hip_device(ordinal)->memory;
    RETURN(DRIVER_OK);
}

/* hipDeviceAttribute_t, whose numbers are the same since HIP 5: what such a card has not, and does not do. */
static bool is_lacking(int which) {
    switch (which) {
    case 0:  /* ECC */
    case 6:  /* compute mode */
    case 7:  /* preemption */
    case 9:  /* managed memory, by the processor at once */
    case 11: /* cooperative launches over several devices */
    case 13:
    case 14: /* L1 of globals */
    case 17: /* several on a board */
    case 18: /* a time limit */
    case 20:
    case 24: /* managed memory */
    case 62:
    case 65: /* pageable memory */
    case 66:
    case 68:
    case 69: /* PCI device, domain */
    case 73:
    case 78: /* stream priorities */
    case 80:
    case 89: /* virtual memory */
    case 90: /* registering host memory */
    case 10011:
    case 10012:
    case 10013: /* waiting for a value */
    case 10014:
    case 10016: return true;
    default: return false;
    }
}
/* The others; false for one that is not known. */
static bool attribute(int which, const struct driver_device *device, int *value) {
    if (is_lacking(which)) {
        *value = 0;
        return true;
    }
    switch (which) {
    case 2: *value = 8; return true;  /* copy engines */
    case 10: *value = 1; return true; /* cooperative launches */
    case 3:                           /* can map host memory */
    case 4:
    case 8:  /* concurrent kernels */
    case 85: /* unified addressing */
    case 88: /* memory pools */ *value = 1; return true;
    case 5: *value = device->clock; return true;
    case 12: *value = 1; return true;
    case 16: *value = device->integrated; return true;
    case 19: *value = device->l2; return true;
    case 23: *value = device->major; return true;
    case 25: *value = device->unit_threads / device->wave; return true;
    case 26:
    case 27:
    case 28:
    case 55:
    case 56: *value = BLOCK_THREADS; return true;
    case 29: *value = GRID_X; return true;
    case 30:
    case 31: *value = GRID_YZ; return true;
    case 57: *value = device->unit_threads; return true;
    case 58: *value = 0x7fffffff; return true; /* pitch */
    case 59: *value = device->memory_bus; return true;
    case 60: *value = device->memory_clock; return true;
    case 61: *value = device->minor; return true;
    case 63: *value = device->units; return true;
    case 67: *value = BUS + device->ordinal; return true;
    case 71:
    case 72: *value = REGISTERS; return true;
    case 74:
    case 75:
    case 76:
    case 10002: *value = (int)device->shared; return true;
    case 81:
    case 82: *value = 256; return true; /* alignment of textures */
    case 83: *value = CONSTANTS; return true;
    case 84: *value = (int)device->memory; return true;
    case 87: *value = device->wave; return true;
    case 10015: *value = device->major >= 10 ? 2 * device->units : device->units; return true; /* compute units */
    case 10000:
    case 10017: *value = 100000; return true; /* kHz of the counters */
    default: return false;
    }
}
API int hipDeviceGetAttribute(int *value, int which, int ordinal) {
    ENTER(hipDeviceGetAttribute);
    if (!value) RETURN(DRIVER_VALUE);
    if (!hip_device(ordinal)) RETURN(DRIVER_DEVICE);
    RETURN(attribute(which, hip_device(ordinal), value) ? DRIVER_OK : DRIVER_VALUE);
}
API int hipDeviceComputeCapability(int *major, int *minor, int ordinal) {
    ENTER(hipDeviceComputeCapability);
    if (!hip_device(ordinal)) RETURN(DRIVER_DEVICE);
    *major = hip_device(ordinal)->major;
    *minor = hip_device(ordinal)->minor;
    RETURN(DRIVER_OK);
}

/* hipDeviceProp_t up to HIP 5. */
struct old_properties {
    char name[256];
    size_t memory, shared;
    int registers, wave, block_threads, block[3], grid[3], clock, memory_clock, memory_bus;
    size_t constants;
    int major, minor, units, l2, unit_threads, compute_mode, counter_clock;
    unsigned arch;
    int concurrent, pci_domain, pci_bus, pci_device;
    size_t unit_shared;
    int board, map_host, gcn;
    char target[256];
    int integrated;
    char rest[792 - 656];
};
_Static_assert(sizeof(struct old_properties) == 792 && offsetof(struct old_properties, target) == 396, "HIP 5");

/* hipDeviceProp_tR0600. */
struct new_properties {
    char name[256], uuid[16], luid[8];
    unsigned luid_mask;
    size_t memory, shared;
    int registers, wave;
    size_t pitch;
    int block_threads, block[3], grid[3], clock;
    size_t constants;
    int major, minor;
    size_t texture_alignment, texture_pitch;
    int overlap, units, time_limit, integrated, map_host, compute_mode;
    int textures[40];
    size_t surface_alignment;
    int concurrent, ecc, pci_bus, pci_device, pci_domain;
    int tcc, engines, unified, memory_clock, memory_bus, l2, persisting, unit_threads;
    int priorities, global_l1, local_l1;
    size_t block_shared;
    int unit_registers, managed, board, board_group, host_atomics, ratio, pageable, managed_at_once, preemption;
    int registered_same, cooperative, cooperative_multi;
    size_t shared_optin;
    int pageable_tables, managed_direct, unit_blocks, access_window;
    size_t reserved_shared;
    int registering, sparse, registering_read_only, timeline, pools;
    char more[1160 - 748];
    char target[256];
    size_t unit_shared;
    int counter_clock;
    unsigned arch;
    void *flush[2];
    int unmatched[4], large_bar, revision;
};
_Static_assert(offsetof(struct new_properties, unit_threads) == 624, "HIP 6");
_Static_assert(offsetof(struct new_properties, pools) == 744, "HIP 6");
_Static_assert(sizeof(struct new_properties) == 1472 && offsetof(struct new_properties, target) == 1160, "HIP 6");

/* Bits of hipDeviceArch_t: all but warp votes' successors, surfaces, dynamic parallelism. */
enum { ARCH = 0x3ffff & ~(1 << 15 | 1 << 17) };

#define FILL(p, device)                                                                                                \
    do {                                                                                                               \
        memset(p, 0, sizeof *(p));                                                                                     \
        snprintf((p)->name, sizeof(p)->name, "%s", (device)->name);                                                    \
        (p)->memory = (device)->memory;                                                                                \
        (p)->shared = (p)->unit_shared = (device)->shared;                                                             \
        (p)->registers = REGISTERS;                                                                                    \
        (p)->wave = (device)->wave;                                                                                    \
        (p)->block_threads = (p)->block[0] = (p)->block[1] = (p)->block[2] = BLOCK_THREADS;                            \
        (p)->grid[0] = GRID_X;                                                                                         \
        (p)->grid[1] = (p)->grid[2] = GRID_YZ;                                                                         \
        (p)->clock = (device)->clock;                                                                                  \
        (p)->memory_clock = (device)->memory_clock;                                                                    \
        (p)->memory_bus = (device)->memory_bus;                                                                        \
        (p)->constants = CONSTANTS;                                                                                    \
        (p)->major = (device)->major;                                                                                  \
        (p)->minor = (device)->minor;                                                                                  \
        (p)->units = (device)->units;                                                                                  \
        (p)->l2 = (device)->l2;                                                                                        \
        (p)->unit_threads = (device)->unit_threads;                                                                    \
        (p)->counter_clock = 100000;                                                                                   \
        (p)->arch = ARCH;                                                                                              \
        (p)->concurrent = (p)->map_host = 1;                                                                           \
        (p)->integrated = (device)->integrated;                                                                        \
        (p)->pci_bus = BUS + (device)->ordinal;                                                                        \
        snprintf((p)->target, sizeof(p)->target, "%s", (device)->target);                                              \
    } while (0)

API int hipGetDeviceProperties(struct old_properties *p, int ordinal) {
    ENTER(hipGetDeviceProperties);
    const struct driver_device *device = hip_device(ordinal);
    if (!device) RETURN(DRIVER_DEVICE);
    FILL(p, device);
    RETURN(DRIVER_OK);
}
#if HIP_GENERATION >= 6
API int hipGetDevicePropertiesR0000(struct old_properties *p, int ordinal) {
    ENTER(hipGetDevicePropertiesR0000);
    const struct driver_device *device = hip_device(ordinal);
    if (!device) RETURN(DRIVER_DEVICE);
    FILL(p, device);
    RETURN(DRIVER_OK);
}
API int hipGetDevicePropertiesR0600(struct new_properties *p, int ordinal) {
    ENTER(hipGetDevicePropertiesR0600);
    const struct driver_device *device = hip_device(ordinal);
    if (!device) RETURN(DRIVER_DEVICE);
    FILL(p, device);
    p->pitch = 0x7fffffff;
    p->texture_alignment = p->texture_pitch = p->surface_alignment = 256;
    p->overlap = p->unified = p->pools = 1;
    p->engines = 8;
    p->block_shared = p->shared_optin = device->shared;
    p->unit_registers = REGISTERS;
    p->registered_same = 1;
    p->unit_blocks = device->unit_threads / device->wave;
    RETURN(DRIVER_OK);
}
#endif
