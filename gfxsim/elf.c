/* ELF files of AMD GPUs: segments into device memory, relocations, symbols. */
#include "code.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MACHINE_AMDGPU = 224,
    OSABI_AMDGPU_HSA = 64,
    NOTE_METADATA = 32,
    /* relocations; S: the symbol's address, A: the addend, P: the place's address, B: where the ELF's 0 is */
    RELOCATE_ABS32_LO = 1, /* S + A */
    RELOCATE_ABS32_HI = 2,
    RELOCATE_ABS64 = 3,
    RELOCATE_REL32 = 4, /* S + A - P */
    RELOCATE_REL64 = 5,
    RELOCATE_ABS32 = 6,
    RELOCATE_REL32_LO = 10,
    RELOCATE_REL32_HI = 11,
    RELOCATE_RELATIVE64 = 13 /* B + A */
};
/* No code object is that large, or takes that much memory; so what a damaged one asks for is refused soon. */
static const u64 LARGEST = (u64)1 << 30;

static bool wrong(char why[256], const char *what) {
    snprintf(why, 256, "%s", what);
    return false;
}

/* Headers are copied out: a file's alignment is its own. */
static Elf64_Ehdr file_header(const u8 *elf) {
    Elf64_Ehdr header;
    memcpy(&header, elf, sizeof header);
    return header;
}
static Elf64_Phdr segment_header(const u8 *elf, unsigned i) {
    Elf64_Ehdr header = file_header(elf);
    Elf64_Phdr segment;
    memcpy(&segment, elf + header.e_phoff + (u64)i * sizeof segment, sizeof segment);
    return segment;
}
static Elf64_Shdr section_header(const u8 *elf, unsigned i) {
    Elf64_Ehdr header = file_header(elf);
    Elf64_Shdr section;
    memcpy(&section, elf + header.e_shoff + (u64)i * sizeof section, sizeof section);
    return section;
}

size_t sim_elf_bytes(const u8 *image, size_t nbytes, char why[256]) {
    if (nbytes < sizeof(Elf64_Ehdr) || memcmp(image, ELFMAG, SELFMAG)) return wrong(why, "not an ELF file");
    Elf64_Ehdr header = file_header(image);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != MACHINE_AMDGPU || header.e_ident[EI_OSABI] != OSABI_AMDGPU_HSA) {
        return wrong(why, "not an ELF file for AMD GPUs");
    }
    if (header.e_type != ET_DYN) return wrong(why, "not a linked code object");
    if (header.e_ident[EI_ABIVERSION] < 2 || header.e_ident[EI_ABIVERSION] > 4) {
        return wrong(why, "a code object of a version that is not 4, 5 or 6");
    }
    u64 limit = nbytes < LARGEST ? nbytes : LARGEST;
    u64 end = sizeof header;
    if (header.e_phentsize != sizeof(Elf64_Phdr) || (header.e_shnum && header.e_shentsize != sizeof(Elf64_Shdr)) ||
        !sim_inside(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), limit) ||
        !sim_inside(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), limit)) {
        return wrong(why, "the ELF file is cut off or damaged");
    }
    if (header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr) > end)
        end = header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr);
    if (header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr) > end)
        end = header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment = segment_header(image, i);
        if (!sim_inside(segment.p_offset, segment.p_filesz, limit))
            return wrong(why, "the ELF file is cut off or damaged");
        if (segment.p_offset + segment.p_filesz > end) end = segment.p_offset + segment.p_filesz;
    }
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section = section_header(image, i);
        if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
        if (!sim_inside(section.sh_offset, section.sh_size, limit))
            return wrong(why, "the ELF file is cut off or damaged");
        if (section.sh_offset + section.sh_size > end) end = section.sh_offset + section.sh_size;
    }
    return end;
}

bool sim_elf_target(const u8 *elf, enum sim_target target, char cpu[16], char why[256]) {
    static const struct {
        u8 machine; /* low byte of e_flags */
        enum sim_target target;
        const char *cpu;
    } machines[] = {
        {0x3f, SIM_GFX90A, "gfx90a"},           {0x4c, SIM_GFX942, "gfx942"},   {0x36, SIM_GFX1030, "gfx1030"},
        {0x53, SIM_GFX1030, "gfx10-3-generic"}, {0x41, SIM_GFX1100, "gfx1100"}, {0x4a, SIM_GFX1100, "gfx1151"},
        {0x54, SIM_GFX1100, "gfx11-generic"},   {0x4e, SIM_GFX1201, "gfx1201"}, {0x59, SIM_GFX1201, "gfx12-generic"},
    };
    u32 flags = file_header(elf).e_flags;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (machines[i].machine == (flags & 0xff) && machines[i].target == target) {
            snprintf(cpu, 16, "%s", machines[i].cpu);
            return true;
        }
    }
    snprintf(why, 256, "the code object is for another GPU (machine 0x%x), not for %s", (unsigned)(flags & 0xff),
             sim_target_name(target));
    return false;
}

/* ---- symbols ---- */

struct symbols {
    const u8 *at;
    u64 n;
    const char *names;
    u64 names_bytes;
};

/* The table in section i and its strings. */
static bool symbol_table(const u8 *elf, unsigned i, struct symbols *table) {
    Elf64_Ehdr header = file_header(elf);
    Elf64_Shdr section = section_header(elf, i);
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= header.e_shnum) return false;
    Elf64_Shdr strings = section_header(elf, section.sh_link);
    if (strings.sh_type != SHT_STRTAB || !strings.sh_size || elf[strings.sh_offset + strings.sh_size - 1]) return false;
    *table = (struct symbols){elf + section.sh_offset, section.sh_size / sizeof(Elf64_Sym),
                              (const char *)elf + strings.sh_offset, strings.sh_size};
    return true;
}

static Elf64_Sym symbol_at(const struct symbols *table, u64 i) {
    Elf64_Sym symbol;
    memcpy(&symbol, table->at + i * sizeof symbol, sizeof symbol);
    return symbol;
}
static const char *symbol_name(const struct symbols *table, Elf64_Sym symbol) {
    return symbol.st_name < table->names_bytes ? table->names + symbol.st_name : "";
}
static bool inside_segments(const struct sim_loaded *l, u64 address, u64 n) {
    return address >= l->first && sim_inside(address - l->first, n, l->last - l->first);
}

void *sim_elf_symbol(const struct sim_loaded *l, const char *name, size_t *nbytes) {
    const u8 *elf = l->code.elf;
    struct symbols table;
    for (unsigned s = 0; s < file_header(elf).e_shnum; s++) {
        if (!symbol_table(elf, s, &table)) continue;
        for (u64 i = 0; i < table.n; i++) {
            Elf64_Sym symbol = symbol_at(&table, i);
            if (symbol.st_shndx == SHN_UNDEF || strcmp(symbol_name(&table, symbol), name)) continue;
            if (!inside_segments(l, symbol.st_value, symbol.st_size)) return NULL;
            *nbytes = symbol.st_size;
            return l->code.memory + (symbol.st_value - l->first);
        }
    }
    return NULL;
}

static bool list_globals(struct sim_loaded *l, char why[256]) {
    const u8 *elf = l->code.elf;
    struct symbols table;
    for (unsigned s = 0; s < file_header(elf).e_shnum; s++) {
        if (!symbol_table(elf, s, &table)) continue;
        for (u64 i = 0; i < table.n; i++) {
            Elf64_Sym symbol = symbol_at(&table, i);
            if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) continue;
            const char *name = symbol_name(&table, symbol);
            size_t length = strlen(name);
            if (length > 3 && !strcmp(name + length - 3, ".kd")) continue; /* a kernel's descriptor */
            if (!inside_segments(l, symbol.st_value, symbol.st_size)) continue;
            struct sim_symbol *global = malloc(sizeof *global);
            if (!global) return wrong(why, "out of memory");
            *global = (struct sim_symbol){l->code.globals, name, l->code.memory + (symbol.st_value - l->first),
                                          symbol.st_size};
            l->code.globals = global;
        }
    }
    return true;
}

/* ---- segments ---- */

static bool load_segments(struct sim_loaded *l, char why[256]) {
    const u8 *elf = l->code.elf;
    unsigned n = file_header(elf).e_phnum;
    u64 text = 0, text_end = 0;
    l->first = LARGEST;
    for (unsigned i = 0; i < n; i++) {
        Elf64_Phdr segment = segment_header(elf, i);
        if (segment.p_type != PT_LOAD || !segment.p_memsz) continue;
        if (segment.p_filesz > segment.p_memsz || !sim_inside(segment.p_vaddr, segment.p_memsz, LARGEST)) {
            return wrong(why, "a segment of the code object is damaged");
        }
        if (segment.p_vaddr < l->first) l->first = segment.p_vaddr & -(u64)SIM_ALIGN;
        if (segment.p_vaddr + segment.p_memsz > l->last) l->last = segment.p_vaddr + segment.p_memsz;
        if (!(segment.p_flags & PF_X)) continue;
        if (text_end) return wrong(why, "the code object has two segments of code");
        text = segment.p_vaddr;
        text_end = segment.p_vaddr + segment.p_filesz;
    }
    if (!text_end) return wrong(why, "the code object has no code");
    l->code.nbytes = l->last - l->first;
    l->code.memory = sim_memory_new(l->code.nbytes, SIM_OUTSIDE); /* what is between the segments stays so */
    if (!l->code.memory) return wrong(why, "no device memory for the code object");
    for (unsigned i = 0; i < n; i++) {
        Elf64_Phdr segment = segment_header(elf, i);
        if (segment.p_type != PT_LOAD || !segment.p_memsz) continue;
        char *to = l->code.memory + (segment.p_vaddr - l->first);
        memcpy(to, elf + segment.p_offset, segment.p_filesz);
        memset(to + segment.p_filesz, 0, segment.p_memsz - segment.p_filesz);
        sim_memory_mark(to, segment.p_memsz, segment.p_flags & PF_W ? SIM_DEFINED : SIM_READ_ONLY);
    }
    l->code.text = (u64)(uintptr_t)l->code.memory + (text - l->first);
    l->code.text_bytes = text_end - text;
    return true;
}

/* ---- relocations ---- */

static bool relocate(struct sim_loaded *l, const struct symbols *table, Elf64_Rela entry, char why[256]) {
    u64 number = ELF64_R_SYM(entry.r_info), zero = (u64)(uintptr_t)l->code.memory - l->first, value = 0;
    unsigned kind = ELF64_R_TYPE(entry.r_info);
    unsigned nbytes = kind == RELOCATE_ABS64 || kind == RELOCATE_REL64 || kind == RELOCATE_RELATIVE64 ? 8 : 4;
    if (!inside_segments(l, entry.r_offset, nbytes)) return wrong(why, "a relocation is outside the segments");
    if (kind != RELOCATE_RELATIVE64) {
        if (number >= table->n) return wrong(why, "a relocation's symbol is none");
        Elf64_Sym symbol = symbol_at(table, number);
        if (symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) != STB_WEAK) {
            snprintf(why, 256, "the code object needs the symbol %.200s", symbol_name(table, symbol));
            return false;
        }
        value = symbol.st_shndx == SHN_UNDEF ? 0 : zero + symbol.st_value;
    }
    value += (u64)entry.r_addend;
    char *place = l->code.memory + (entry.r_offset - l->first);
    switch (kind) {
    case RELOCATE_RELATIVE64: value += zero; break;
    case RELOCATE_ABS32_LO:
    case RELOCATE_ABS32:
    case RELOCATE_ABS64: break;
    case RELOCATE_ABS32_HI: value >>= 32; break;
    case RELOCATE_REL32:
    case RELOCATE_REL32_LO:
    case RELOCATE_REL64: value -= (u64)(uintptr_t)place; break;
    case RELOCATE_REL32_HI: value = (value - (u64)(uintptr_t)place) >> 32; break;
    default: snprintf(why, 256, "the code object has a relocation of unknown kind %u", kind); return false;
    }
    memcpy(place, &value, nbytes); /* little-endian, as the host */
    return true;
}

static bool relocate_all(struct sim_loaded *l, char why[256]) {
    const u8 *elf = l->code.elf;
    unsigned n = file_header(elf).e_shnum;
    for (unsigned s = 0; s < n; s++) {
        Elf64_Shdr section = section_header(elf, s);
        struct symbols table = {0};
        if (!(section.sh_flags & SHF_ALLOC)) continue;
        if (section.sh_type == SHT_REL || section.sh_type == SHT_RELR)
            return wrong(why, "relocations of an unknown form");
        if (section.sh_type != SHT_RELA) continue;
        if (section.sh_link < n) symbol_table(elf, section.sh_link, &table);
        for (u64 i = 0; i < section.sh_size / sizeof(Elf64_Rela); i++) {
            Elf64_Rela entry;
            memcpy(&entry, elf + section.sh_offset + i * sizeof entry, sizeof entry);
            if (!relocate(l, &table, entry, why)) return false;
        }
    }
    return true;
}

bool sim_elf_load(struct sim_loaded *l, char why[256]) {
    return load_segments(l, why) && relocate_all(l, why) && list_globals(l, why);
}

/* ---- notes ---- */

const u8 *sim_elf_metadata(const struct sim_loaded *l, struct sim_note *place, size_t *nbytes) {
    const u8 *elf = l->code.elf;
    for (; place->segment < file_header(elf).e_phnum; place->segment++, place->offset = 0) {
        Elf64_Phdr segment = segment_header(elf, place->segment);
        if (segment.p_type != PT_NOTE) continue;
        const u8 *bytes = elf + segment.p_offset;
        Elf64_Nhdr note;
        while (sim_inside(place->offset, sizeof note, segment.p_filesz)) {
            memcpy(&note, bytes + place->offset, sizeof note);
            u64 at = place->offset + sizeof note;
            u64 name = ((u64)note.n_namesz + 3) & ~(u64)3, all = name + (((u64)note.n_descsz + 3) & ~(u64)3);
            if (!sim_inside(at, name + note.n_descsz, segment.p_filesz)) break;
            place->offset = at + all;
            if (note.n_type != NOTE_METADATA || note.n_namesz != 7 || memcmp(bytes + at, "AMDGPU", 7)) continue;
            *nbytes = note.n_descsz;
            return bytes + at + name;
        }
    }
    return NULL;
}
