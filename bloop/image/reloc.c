/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Relocations of a .o file, applied as a linker would that puts its sections where elf.c laid
 * them out: to debug sections, so that DWARF reads right, and to code and data, so that calls and
 * jump tables have targets.  x86-64 psABI 4.4; ELF for the Arm 64-bit Architecture, chapter 5.7.
 */
#include "bloop/image/elf.h"

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static unsigned x86_64_width(uint32_t type)
{
    switch (type) {
    case R_X86_64_64:
    case R_X86_64_PC64:
        return 8;
    case R_X86_64_32:
    case R_X86_64_32S:
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        return 4;
    case R_X86_64_16:
    case R_X86_64_PC16:
        return 2;
    case R_X86_64_8:
    case R_X86_64_PC8:
        return 1;
    default: /* GOT and thread-local ones: no address we could name */
        return 0;
    }
}

static bool apply_x86_64(uint8_t *at, uint64_t left, uint32_t type, uint64_t value, vaddr place)
{
    unsigned width = x86_64_width(type);
    if (width == 0)
        return true;
    if (width > left)
        return false;
    bool relative = type == R_X86_64_PC64 || type == R_X86_64_PC32 || type == R_X86_64_PLT32 || type == R_X86_64_PC16 ||
                    type == R_X86_64_PC8;
    put(at, relative ? value - place : value, width);
    return true;
}

/* Replace `count` bits of the instruction word from bit `low` on. */
static void put_bits(uint8_t *at, unsigned low, unsigned count, uint64_t value)
{
    uint32_t word, mask = ((1u << count) - 1) << low;
    memcpy(&word, at, 4);
    word = (word & ~mask) | ((uint32_t)(value << low) & mask);
    memcpy(at, &word, 4);
}

static void put_adr(uint8_t *at, uint64_t value)
{
    put_bits(at, 29, 2, value & 3);
    put_bits(at, 5, 19, value >> 2);
}

static bool apply_aarch64(uint8_t *at, uint64_t left, uint32_t type, uint64_t value, vaddr place)
{
    unsigned width = type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64   ? 8
                     : type == R_AARCH64_ABS16 || type == R_AARCH64_PREL16 ? 2
                                                                           : 4;
    if (width > left)
        return false;
    uint64_t relative = value - place, pages = (value & ~0xfffull) - (place & ~0xfffull);
    switch (type) {
    case R_AARCH64_ABS64:
    case R_AARCH64_ABS32:
    case R_AARCH64_ABS16:
        put(at, value, width);
        break;
    case R_AARCH64_PREL64:
    case R_AARCH64_PREL32:
    case R_AARCH64_PREL16:
        put(at, relative, width);
        break;
    case R_AARCH64_ADR_PREL_LO21:
        put_adr(at, relative);
        break;
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_PREL_PG_HI21_NC:
        put_adr(at, pages >> 12);
        break;
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
        put_bits(at, 10, 12, value & 0xfff);
        break;
    case R_AARCH64_LDST16_ABS_LO12_NC:
        put_bits(at, 10, 12, (value & 0xfff) >> 1);
        break;
    case R_AARCH64_LDST32_ABS_LO12_NC:
        put_bits(at, 10, 12, (value & 0xfff) >> 2);
        break;
    case R_AARCH64_LDST64_ABS_LO12_NC:
        put_bits(at, 10, 12, (value & 0xfff) >> 3);
        break;
    case R_AARCH64_LDST128_ABS_LO12_NC:
        put_bits(at, 10, 12, (value & 0xfff) >> 4);
        break;
    case R_AARCH64_LD_PREL_LO19:
    case R_AARCH64_CONDBR19:
        put_bits(at, 5, 19, relative >> 2);
        break;
    case R_AARCH64_TSTBR14:
        put_bits(at, 5, 14, relative >> 2);
        break;
    case R_AARCH64_JUMP26:
    case R_AARCH64_CALL26:
        put_bits(at, 0, 26, relative >> 2);
        break;
    default:
        break;
    }
    return true;
}

static void apply_table(struct elf_file *f, const struct elf_section *table, const struct elf_section *target,
                        uint8_t *bytes, uint64_t size, struct warnings *w)
{
    const struct elf_section *symtab = table->link < f->section_count ? &f->sections[table->link] : NULL;
    struct elf_symbols syms = elf_symbols_of(f, symtab, w);
    uint64_t outside = 0;
    for (uint64_t i = 0; i + 1 <= table->size / sizeof(Elf64_Rela); i++) {
        Elf64_Rela r;
        memcpy(&r, table->raw + i * sizeof r, sizeof r);
        uint64_t index = ELF64_R_SYM(r.r_info);
        if (index >= syms.count || r.r_offset >= size) {
            outside++;
            continue;
        }
        Elf64_Sym sym = elf_symbol_get(&syms, index);
        vaddr s = sym.st_value; /* of absolute ones, which have no address */
        elf_symbol_address(f, &sym, index, &s);
        uint64_t value = s + (uint64_t)r.r_addend;
        bool ok = f->header.e_machine == EM_X86_64
                      ? apply_x86_64(bytes + r.r_offset, size - r.r_offset, (uint32_t)ELF64_R_TYPE(r.r_info), value,
                                     target->addr + r.r_offset)
                      : apply_aarch64(bytes + r.r_offset, size - r.r_offset, (uint32_t)ELF64_R_TYPE(r.r_info), value,
                                      target->addr + r.r_offset);
        outside += !ok;
    }
    if (outside)
        warnings_add(w, "%s: %llu relocations in %s point outside the section or the symbol table; they are ignored",
                     f->path, (unsigned long long)outside, table->name);
}

void elf_relocate(struct elf_file *f, size_t target, uint8_t *bytes, uint64_t size, struct warnings *w)
{
    for (size_t i = 1; i < f->section_count; i++) {
        const struct elf_section *table = &f->sections[i];
        if (table->type == SHT_RELA && table->info == target && table->raw)
            apply_table(f, table, &f->sections[target], bytes, size, w);
    }
}
