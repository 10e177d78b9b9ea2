/* The metadata notes of code objects: maps in MessagePack, of which the kernels and their arguments are read. */
#include "code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- MessagePack ---- */

struct pack {
    const u8 *at, *end;
    char *strings; /* where the next string goes */
    bool bad;
};

static u64 big_endian(struct pack *p, unsigned nbytes) {
    u64 value = 0;
    if ((size_t)(p->end - p->at) < nbytes) return p->bad = true, 0;
    for (unsigned i = 0; i < nbytes; i++) value = value << 8 | *p->at++;
    return value;
}

static u8 head(struct pack *p) {
    if (p->bad || p->at == p->end) return p->bad = true, 0xc1; /* a byte that begins nothing */
    return *p->at++;
}

/* Elements of an array, or pairs of a map. What is there is `bad` when it is something else. */
static u64 array_length(struct pack *p) {
    u8 h = head(p);
    if (h >> 4 == 9) return h & 15;
    if (h == 0xdc || h == 0xdd) return big_endian(p, h == 0xdc ? 2 : 4);
    return p->bad = true, 0;
}
static u64 map_length(struct pack *p) {
    u8 h = head(p);
    if (h >> 4 == 8) return h & 15;
    if (h == 0xde || h == 0xdf) return big_endian(p, h == 0xde ? 2 : 4);
    return p->bad = true, 0;
}

static const char *string(struct pack *p) {
    u8 h = head(p);
    u64 n = 0;
    if (h >> 5 == 5) {
        n = h & 31;
    } else if (h >= 0xd9 && h <= 0xdb) {
        n = big_endian(p, 1u << (h - 0xd9));
    } else {
        p->bad = true;
    }
    if (p->bad || n > (u64)(p->end - p->at)) return p->bad = true, "";
    char *text = p->strings; /* one byte more than n, as in the note: its head */
    memcpy(text, p->at, n);
    text[n] = 0;
    p->strings += n + 1;
    p->at += n;
    return text;
}

static u64 number(struct pack *p) {
    u8 h = head(p);
    if (h < 0x80 || h == 0xc2 || h == 0xc3) return h < 0x80 ? h : h == 0xc3;
    if (h >= 0xcc && h <= 0xcf) return big_endian(p, 1u << (h - 0xcc));
    return p->bad = true, 0;
}
static u32 number32(struct pack *p) {
    u64 n = number(p);
    if (n > UINT32_MAX) p->bad = true;
    return (u32)n;
}

static void skip_bytes(struct pack *p, u64 n) {
    if (p->bad || n > (u64)(p->end - p->at)) {
        p->bad = true;
    } else {
        p->at += n;
    }
}

static void skip(struct pack *p, unsigned depth) {
    u8 h = head(p);
    u64 elements = 0;
    if (p->bad || h == 0xc1 || depth > 32) {
        p->bad = true;
    } else if (h < 0x80 || h >= 0xe0 || h == 0xc0 || h == 0xc2 || h == 0xc3) {
        return;
    } else if (h < 0xa0) {
        elements = h < 0x90 ? 2 * (h & 15) : h & 15;
    } else if (h < 0xc0) {
        skip_bytes(p, h & 31);
    } else if (h <= 0xc6) {
        skip_bytes(p, big_endian(p, 1u << (h - 0xc4)));
    } else if (h <= 0xc9) {
        u64 n = big_endian(p, 1u << (h - 0xc7));
        skip_bytes(p, n + 1);
    } else if (h <= 0xcb) {
        skip_bytes(p, h == 0xca ? 4 : 8);
    } else if (h <= 0xd3) {
        skip_bytes(p, 1u << ((h - 0xcc) & 3));
    } else if (h <= 0xd8) {
        skip_bytes(p, 1 + (1u << (h - 0xd4)));
    } else if (h <= 0xdb) {
        skip_bytes(p, big_endian(p, 1u << (h - 0xd9)));
    } else {
        elements = big_endian(p, h & 1 ? 4 : 2) * (h >= 0xde ? 2 : 1);
    }
    for (u64 i = 0; i < elements && !p->bad; i++) skip(p, depth + 1);
}

/* ---- kernels ---- */

static const char *const hidden_kinds[] = {
    [SIM_HIDDEN_NONE] = "none",
    [SIM_BLOCK_COUNT_X] = "block_count_x",
    [SIM_BLOCK_COUNT_Y] = "block_count_y",
    [SIM_BLOCK_COUNT_Z] = "block_count_z",
    [SIM_GROUP_SIZE_X] = "group_size_x",
    [SIM_GROUP_SIZE_Y] = "group_size_y",
    [SIM_GROUP_SIZE_Z] = "group_size_z",
    [SIM_REMAINDER_X] = "remainder_x",
    [SIM_REMAINDER_Y] = "remainder_y",
    [SIM_REMAINDER_Z] = "remainder_z",
    [SIM_GLOBAL_OFFSET_X] = "global_offset_x",
    [SIM_GLOBAL_OFFSET_Y] = "global_offset_y",
    [SIM_GLOBAL_OFFSET_Z] = "global_offset_z",
    [SIM_GRID_DIMS] = "grid_dims",
    [SIM_HIDDEN_PRIVATE_BASE] = "private_base",
    [SIM_HIDDEN_SHARED_BASE] = "shared_base",
    [SIM_DYNAMIC_LDS] = "dynamic_lds_size",
};

static void argument(struct pack *p, struct sim_kernel *kernel) {
    u32 offset = 0, size = 0;
    const char *kind = "";
    u64 n = map_length(p);
    for (u64 i = 0; i < n && !p->bad; i++) {
        const char *key = string(p);
        if (!strcmp(key, ".offset")) {
            offset = number32(p);
        } else if (!strcmp(key, ".size")) {
            size = number32(p);
        } else if (!strcmp(key, ".value_kind")) {
            kind = string(p);
        } else {
            skip(p, 0);
        }
    }
    if (strncmp(kind, "hidden_", 7)) {
        kernel->args[kernel->n_args++] = (struct sim_argument){offset, size};
        if ((u64)offset + size > UINT32_MAX) p->bad = true;
        if (offset + size > kernel->explicit_args) kernel->explicit_args = offset + size;
        return;
    }
    u8 code = SIM_HIDDEN_OTHER;
    for (u8 k = 0; k < sizeof hidden_kinds / sizeof *hidden_kinds; k++) {
        if (!strcmp(kind + 7, hidden_kinds[k])) code = k;
    }
    if (kernel->n_hidden == sizeof kernel->hidden / sizeof *kernel->hidden || offset > UINT16_MAX || size > 8) {
        p->bad = true;
        return;
    }
    kernel->hidden[kernel->n_hidden++] = (struct sim_hidden){code, (u16)offset, (u16)size};
}

static void arguments(struct pack *p, struct sim_kernel *kernel) {
    u64 n = array_length(p);
    if (kernel->args || n > (u64)(p->end - p->at)) { /* each takes a byte at least */
        p->bad = true;
        return;
    }
    kernel->args = calloc(n + 1, sizeof *kernel->args);
    if (!kernel->args) p->bad = true;
    for (u64 i = 0; i < n && !p->bad; i++) argument(p, kernel);
}

static void one_kernel(struct pack *p, struct sim_kernel *kernel, const char **symbol) {
    u64 n = map_length(p);
    for (u64 i = 0; i < n && !p->bad; i++) {
        const char *key = string(p);
        if (!strcmp(key, ".name")) {
            kernel->name = string(p);
        } else if (!strcmp(key, ".symbol")) {
            *symbol = string(p);
        } else if (!strcmp(key, ".args")) {
            arguments(p, kernel);
        } else if (!strcmp(key, ".kernarg_segment_size")) {
            kernel->kernarg = number32(p);
        } else if (!strcmp(key, ".group_segment_fixed_size")) {
            kernel->lds = number32(p);
        } else if (!strcmp(key, ".private_segment_fixed_size")) {
            kernel->scratch = number32(p);
        } else if (!strcmp(key, ".wavefront_size")) {
            kernel->wave = number32(p);
        } else if (!strcmp(key, ".max_flat_workgroup_size")) {
            kernel->max_threads = number32(p);
        } else if (!strcmp(key, ".uses_dynamic_stack")) {
            kernel->dynamic_stack = number(p);
        } else if (!strcmp(key, ".uniform_work_group_size")) {
            kernel->uniform = number(p);
        } else {
            skip(p, 0);
        }
    }
}

bool sim_metadata_read(struct sim_loaded *loaded, const u8 *metadata, size_t nbytes,
                       bool (*found)(struct sim_code *code, struct sim_kernel *kernel, const char *symbol,
                                     char why[256]),
                       char why[256]) {
    struct sim_code *code = &loaded->code;
    struct pack p = {.at = metadata, .end = metadata + nbytes, .strings = loaded->strings};
    u64 n = map_length(&p);
    for (u64 i = 0; i < n && !p.bad; i++) {
        if (strcmp(string(&p), "amdhsa.kernels")) {
            skip(&p, 0);
            continue;
        }
        u64 kernels = array_length(&p);
        for (u64 k = 0; k < kernels && !p.bad; k++) {
            struct sim_kernel *kernel = calloc(1, sizeof *kernel);
            const char *symbol = "";
            if (!kernel) {
                snprintf(why, 256, "out of memory");
                return false;
            }
            kernel->code = code;
            kernel->next = code->kernels;
            code->kernels = kernel;
            kernel->name = "";
            kernel->max_threads = 1024;
            one_kernel(&p, kernel, &symbol);
            if (!p.bad && !found(code, kernel, symbol, why)) return false;
        }
    }
    loaded->strings = p.strings;
    if (p.bad) snprintf(why, 256, "the code object's metadata is damaged");
    return !p.bad;
}
