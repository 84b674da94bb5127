/* SPDX-License-Identifier: BSD-3-Clause */
/* The program to start: where it is, and whether the recorder can live in it. */
#include "hpcprof/launch/program.h"

#include "hpcprof/recorder/protocol.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

char *hpcprof_find_program(const char *name, struct err *err)
{
    char *file = path_program(getenv("PATH"), name, err);
    struct stat st;
    if (file && stat(file, &st) < 0) {
        err_set(err, ERR_SYSTEM, "%s: program not found (%s)", name, strerror(errno));
        mem_free(file);
        file = NULL;
    }
    return file;
}

/* The dynamic linker ignores preloads in programs that gain rights (ld.so(8), secure-execution mode). */
static int check_rights(const char *path, const struct stat *st, struct err *err)
{
    if ((st->st_mode & S_ISUID && st->st_uid != getuid()) || (st->st_mode & S_ISGID && st->st_gid != getgid()))
        return err_set(
            err, ERR_UNSUPPORTED,
            "%s: the program is set%s, so the system allows no recorder in it; record it as the user it changes to",
            path, st->st_mode & S_ISUID ? "uid" : "gid");
    if (getxattr(path, "security.capability", NULL, 0) > 0 && geteuid() != 0)
        return err_set(err, ERR_UNSUPPORTED,
                       "%s: the program has file capabilities, so the system allows no recorder in it", path);
    return 0;
}

static const char *machine_name(unsigned machine)
{
    switch (machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_386:
        return "32-bit x86";
    case EM_AARCH64:
        return "AArch64";
    case EM_ARM:
        return "ARM";
    case EM_RISCV:
        return "RISC-V";
    case EM_PPC64:
        return "POWER";
    default:
        return "another machine";
    }
}

#if defined __x86_64__
enum { OUR_MACHINE = EM_X86_64 };
#elif defined __aarch64__
enum { OUR_MACHINE = EM_AARCH64 };
#else
#error "recording supports x86-64 and AArch64"
#endif

/* Whether notes at [offset, +size) hold the recorder's: then the program was linked with libhpcview-record.a. */
static bool notes_hold_recorder(const struct filemap *map, uint64_t offset, uint64_t size)
{
    if (offset > map->len || size > map->len - offset)
        return false;
    struct cursor c = cursor_make(map->bytes + offset, size);
    while (cursor_left(&c) >= 12) {
        uint32_t name_size = cursor_u32(&c), desc_size = cursor_u32(&c), type = cursor_u32(&c);
        const uint8_t *name = cursor_bytes(&c, ((uint64_t)name_size + 3) & ~3ull);
        cursor_bytes(&c, ((uint64_t)desc_size + 3) & ~3ull);
        if (c.bad)
            return false;
        if (type == RECORD_NOTE_TYPE && name_size == sizeof RECORD_NOTE_OWNER &&
            memcmp(name, RECORD_NOTE_OWNER, name_size) == 0)
            return true;
    }
    return false;
}

/* Whether the dynamic section at [offset, +size) has a name for a library: of those one is a program, the dynamic loader itself. */
static bool is_library(const struct filemap *map, uint64_t offset, uint64_t size)
{
    if (offset > map->len || size > map->len - offset)
        return false;
    Elf64_Dyn d;
    for (uint64_t at = 0; at + sizeof d <= size; at += sizeof d) {
        memcpy(&d, map->bytes + offset + at, sizeof d);
        if (d.d_tag == DT_SONAME)
            return true;
    }
    return false;
}

/* Whether a program header says that the recorder can be preloaded, or is there. */
static bool takes_recorder(const struct filemap *map, const Elf64_Phdr *p)
{
    return p->p_type == PT_INTERP || (p->p_type == PT_DYNAMIC && is_library(map, p->p_offset, p->p_filesz)) ||
           (p->p_type == PT_NOTE && notes_hold_recorder(map, p->p_offset, p->p_filesz));
}

static int check_elf(const char *path, const struct filemap *map, struct err *err)
{
    const uint8_t *b = map->bytes;
    Elf64_Ehdr e;
    if (map->len < sizeof e)
        return err_set(err, ERR_FORMAT, "%s: truncated ELF file", path);
    memcpy(&e, b, sizeof e);
    if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_ident[EI_DATA] != ELFDATA2LSB || e.e_machine != OUR_MACHINE)
        return err_set(err, ERR_UNSUPPORTED, "%s: the program is for %s%s; this hpcview records %s programs", path,
                       machine_name(e.e_machine), e.e_ident[EI_DATA] == ELFDATA2MSB ? " (big endian)" : "",
                       machine_name(OUR_MACHINE));
    if (e.e_type != ET_EXEC && e.e_type != ET_DYN)
        return err_set(err, ERR_UNSUPPORTED, "%s: this ELF file is not a program but %s", path,
                       e.e_type == ET_REL    ? "an object file"
                       : e.e_type == ET_CORE ? "a core dump"
                                             : "of an unknown type");
    if (e.e_phentsize != sizeof(Elf64_Phdr) || e.e_phoff > map->len ||
        e.e_phnum * sizeof(Elf64_Phdr) > map->len - e.e_phoff)
        return err_set(err, ERR_FORMAT, "%s: the program headers of this ELF file are damaged", path);
    for (size_t i = 0; i < e.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, b + e.e_phoff + i * sizeof p, sizeof p);
        if (takes_recorder(map, &p))
            return 0;
    }
    return err_set(err, ERR_UNSUPPORTED,
                   "%s: the program is statically linked, so the recorder cannot be preloaded; link it with "
                   "libhpcview-record.a (hpcview-record(1), STATIC PROGRAMS)",
                   path);
}

/* "#!/path/to/interpreter argument": the recorder lives in the interpreter. */
static int check_script(const char *path, const struct filemap *map, int depth, struct err *err)
{
    char line[PATH_MAX];
    size_t n = map->len < sizeof line ? map->len : sizeof line - 1;
    memcpy(line, map->bytes, n);
    line[n] = '\0';
    line[strcspn(line, "\n")] = '\0';
    char *word = line + 2 + strspn(line + 2, " \t");
    word[strcspn(word, " \t\r")] = '\0';
    if (depth > 4)
        return err_set(err, ERR_UNSUPPORTED, "%s: more than four scripts as interpreters of scripts", path);
    if (hpcprof_check_program(word, depth + 1, err) < 0)
        return err_in(err, "%s, a script", path);
    return 0;
}

int hpcprof_check_program(const char *path, int depth, struct err *err)
{
    struct stat st;
    struct filemap map;
    if (stat(path, &st) < 0)
        return err_set(err, ERR_SYSTEM, "%s: program not found (%s)", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_SYSTEM, "%s: a folder, not a program", path);
    if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
        return err_set(err, ERR_SYSTEM, "%s: not executable (permission denied)", path);
    if (check_rights(path, &st, err) < 0)
        return -1;
    if (access(path, R_OK) < 0)
        return 0; /* executable but not readable: it may work */
    if (filemap_open(&map, path, err) < 0)
        return -1;
    int status;
    if (map.len >= 4 && memcmp(map.bytes, ELFMAG, SELFMAG) == 0)
        status = check_elf(path, &map, err);
    else if (map.len >= 2 && memcmp(map.bytes, "#!", 2) == 0)
        status = check_script(path, &map, depth, err);
    else
        status = err_set(err, ERR_UNSUPPORTED, "%s: neither an ELF program nor a script that begins with \"#!\"", path);
    filemap_release(&map);
    return status;
}
