/* SPDX-License-Identifier: BSD-3-Clause */
/* What procedures and inlined callees are called. */
#include "bloop/assemble/assemble_int.h"

#include <ctype.h>

/* Languages whose compilers change a procedure's name on the way to the symbol (an underscore, a module in front):
   there the name in the debug information is the programmer's. DWARF 5, section 7.12. */
enum {
    LANG_FORTRAN77 = 0x07,
    LANG_FORTRAN90 = 0x08,
    LANG_FORTRAN95 = 0x0e,
    LANG_FORTRAN03 = 0x22,
    LANG_FORTRAN08 = 0x23,
    LANG_FORTRAN18 = 0x2d
};

bool assemble_is_fortran(const struct assembler *a)
{
    uint16_t language = a->debug ? a->debug->language : 0;
    return language == LANG_FORTRAN77 || language == LANG_FORTRAN90 || language == LANG_FORTRAN95 ||
           language == LANG_FORTRAN03 || language == LANG_FORTRAN08 || language == LANG_FORTRAN18;
}

/* A symbol taken apart: "heat_solve._omp_fn.3.constprop.0" is the base "heat_solve", OpenMP region 3, clone
 * ".constprop.0". */
struct symbol_parts {
    size_t base_len;
    const char *clone; /* the suffix that says so, "" where there is none */
    bool outlined;
    const char *region; /* its number, "" unnumbered */
    size_t region_len;
};

static size_t digits(const char *s)
{
    size_t n = 0;
    while (isdigit((unsigned char)s[n]))
        n++;
    return n;
}

/* gcc: f._omp_fn.N (the target regions too); clang since 17: f.omp_outlined[.N], before: .omp_outlined.[.N] without the
 * origin. */
static void find_region(const char *symbol, struct symbol_parts *parts)
{
    static const char *const marks[] = {"._omp_fn.", "._omp_cpyfn.", ".omp_outlined_debug__", ".omp_outlined._debug__",
                                        ".omp_outlined"};
    for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
        const char *at = strstr(symbol, marks[i]);
        if (!at)
            continue;
        parts->base_len = (size_t)(at - symbol);
        parts->outlined = true;
        parts->region = at + strlen(marks[i]);
        parts->region += strspn(parts->region, ".");
        parts->region_len = digits(parts->region);
        parts->clone = parts->region + parts->region_len;
        return;
    }
}

/* gcc's clones (.constprop.0, .isra.0, .part.0, .lto_priv.0), multi-versioned functions (.avx2, .arch_haswell,
   .default.1, .resolver), clang's
   (.llvm.123): everything behind the first dot that is not the first character, for names that are not C++'s (there
   libiberty does it). Rust's and Go's names hold dots of their own, but not with these words. */
static void find_clone(const char *symbol, struct symbol_parts *parts)
{
    static const char *const words[] = {".constprop.", ".isra.",      ".part.",      ".cold",    ".lto_priv.",
                                        ".llvm.",      ".avx",        ".sse",        ".arch_",   ".default",
                                        ".resolver",   ".simdclone.", ".localalias", ".nonvirt", ".clone."};
    size_t first = parts->base_len;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        const char *at = *symbol ? strstr(symbol + 1, words[i]) : NULL;
        if (at && (size_t)(at - symbol) < first)
            first = (size_t)(at - symbol);
    }
    if (first < parts->base_len) {
        parts->clone = symbol + first;
        parts->base_len = first;
    }
}

static struct symbol_parts take_apart(const char *symbol)
{
    struct symbol_parts parts = {strlen(symbol), symbol + strlen(symbol), false, "", 0};
    const char *version = strchr(symbol, '@'); /* foo@@GLIBC_2.2.5 */
    if (version && version > symbol && strcmp(version, "@plt") != 0)
        parts.base_len = (size_t)(version - symbol);
    find_region(symbol, &parts);
    if (!parts.outlined)
        find_clone(symbol, &parts);
    return parts;
}

/* gfortran's debug information has a region inside its procedure: "m::s::__m_MOD_s" is m::s. */
static const char *enclosing_procedure(struct assembler *a, const char *name)
{
    const char *last = NULL, *at = name;
    while ((at = strstr(at, "::")) != NULL) {
        last = at;
        at += 2;
    }
    return last ? arena_strndup(a->names, name, (size_t)(last - name)) : name;
}

/* The programmer's name for the symbol without its suffixes: demangled, or what the debug information says. */
static const char *base_name(struct assembler *a, const char *symbol, size_t len, bool outlined)
{
    const struct debug_function *debug = a->debug;
    const char *base = arena_strndup(a->names, symbol, len);
    if (outlined && !len)
        return base; /* clang's ".omp_outlined." is not a name */
    const char *full = demangle_full(a->names, base);
    if (strcmp(full, base) != 0)
        return full;
    if (debug && debug->name[0]) {
        /* gcc gives an outlined region its symbol's name, "solve._omp_fn.0", below the module. */
        struct symbol_parts parts = take_apart(debug->name);
        const char *name = arena_strndup(a->names, debug->name, outlined ? parts.base_len : strlen(debug->name));
        if (assemble_is_fortran(a) && outlined)
            return enclosing_procedure(a, name);
        if (assemble_is_fortran(a) || !len || !*base)
            return name;
        /* C: the same as the symbol, or the symbol was chosen by the programmer (asm("..."), an alias): the name is
         * what the source shows. */
        if (!outlined)
            return name;
    }
    return base;
}

/* gfortran's module procedure without debug information: __heat_MOD_solve. */
static const char *undo_module(struct assembler *a, const char *name)
{
    const char *mod = str_starts(name, "__") ? strstr(name, "_MOD_") : NULL;
    if (!mod || mod == name + 2 || !mod[5])
        return name;
    return arena_printf(a->names, "%.*s::%s", (int)(mod - name - 2), name + 2, mod + 5);
}

bool assemble_is_orphan_region(const struct function *f)
{
    struct symbol_parts parts = take_apart(f->link_name);
    return parts.outlined && parts.base_len == 0;
}

/* The base name of the procedure that an orphan region is from, "" where it was not found. */
static const char *name_of_origin(struct assembler *a)
{
    uint32_t origin = a->in->outlined_from;
    const struct debug_function *own = a->debug;
    if (origin == FUNCTION_NONE)
        return "";
    const char *symbol = a->in->functions->functions[origin].link_name;
    struct symbol_parts parts = take_apart(symbol);
    a->debug = a->in->outlined_from_debug;
    const char *name = undo_module(a, base_name(a, symbol, parts.base_len, parts.outlined));
    a->debug = own;
    return name;
}

/* Of a small function: does it wait for other threads? In a large one that may be the least of what it does. */
static bool waits(const struct assembler *a)
{
    enum { MOST_BLOCKS = 96 };
    const struct cfg *cfg = a->in->cfg;
    bool found = false;
    for (uint32_t b = 0; b < cfg->block_count && cfg->block_count <= MOST_BLOCKS && !found; b++) {
        size_t avail, size = (size_t)(cfg->blocks[b].end - cfg->blocks[b].begin);
        const uint8_t *bytes = image_bytes(a->in->image, cfg->blocks[b].begin, &avail);
        found = bytes && arch_waits(a->in->image->arch, bytes, avail < size ? avail : size);
    }
    return found;
}

/* What has no name anywhere: "function at 0x1f780", or what it does, "waiting in libgomp (function at 0x1f780)". */
static str_id nameless(struct assembler *a, vaddr at)
{
    struct strtab *strings = a->out->strings;
    if (!waits(a))
        return strtab_printf(strings, "function at 0x%llx", (unsigned long long)at);
    const char *module = path_base(a->in->image->path), *end = strstr(module, ".so");
    return strtab_printf(strings, "waiting in %.*s (function at 0x%llx)",
                         (int)(end ? (size_t)(end - module) : strlen(module)), module, (unsigned long long)at);
}

void assemble_name_procedure(struct assembler *a, struct scope *s)
{
    const struct function *f = &a->in->functions->functions[a->in->function];
    struct strtab *strings = a->out->strings;
    const char *symbol = f->link_name;
    if (!*symbol && a->debug)
        symbol = a->debug->link_name[0] ? a->debug->link_name : a->debug->name;
    if (!*symbol) {
        s->name = s->short_name = nameless(a, f->begin);
        return;
    }
    struct symbol_parts parts = take_apart(symbol);
    const char *base = undo_module(a, base_name(a, symbol, parts.base_len, parts.outlined));
    if (parts.outlined && !*base)
        base = name_of_origin(a);
    const char *brief = demangle_short(a->names, base);
    s->link_name = strtab_add(strings, symbol);
    s->outlined = parts.outlined;
    if (parts.outlined) {
        const char *number = arena_strndup(a->names, parts.region, parts.region_len);
        const char *blank = *number ? " " : "", *gap = *base ? " " : "";
        s->name = strtab_printf(strings, "%s%s[OpenMP region%s%s]", base, gap, blank, number);
        s->short_name = strtab_printf(strings, "%s%s[OpenMP region%s%s]", brief, gap, blank, number);
        s->origin = strtab_add(strings, base);
    } else if (*parts.clone) {
        s->name = strtab_printf(strings, "%s [clone %s]", base, parts.clone);
        s->short_name = strtab_printf(strings, "%s [clone %s]", brief, parts.clone);
        s->origin = strtab_add(strings, base);
    } else {
        s->name = strtab_add(strings, base);
        s->short_name = strtab_add(strings, brief);
    }
}

static void name_callee(struct assembler *a, const struct inline_call *call, struct scope *s)
{
    struct strtab *strings = a->out->strings;
    const char *name = call->name;
    if (call->link_name[0]) {
        const char *full = demangle_full(a->names, call->link_name);
        if (strcmp(full, call->link_name) != 0)
            name = full;
    }
    if (str_starts(name, ".omp_outlined")) /* clang's region is a frame around the region proper */
        name = "[OpenMP region]";
    if (!*name)
        name = call->link_name[0] ? call->link_name : "(unnamed)";
    s->name = strtab_add(strings, name);
    s->short_name = strtab_add(strings, demangle_short(a->names, name));
}

struct scope assemble_inlined_names(struct assembler *a, uint32_t inlined)
{
    uint32_t *known = &a->inline_names.items[inlined];
    if (*known == UINT32_MAX) {
        const struct inline_call *call = &a->debug->inlines[inlined];
        str_id link_name = strtab_add(a->out->strings, call->link_name);
        /* C has no link names, so the name is part of the key. */
        uint64_t key = (uint64_t)link_name << 32 | strtab_add(a->out->strings, call->name);
        uint32_t *slot = hashmap_put(&a->name_by_link, key);
        if (*slot == HASHMAP_NONE) {
            *slot = (uint32_t)a->callee_names.count;
            struct scope *s = vec_push(&a->callee_names);
            *s = (struct scope){.link_name = link_name};
            name_callee(a, call, s);
        }
        *known = *slot;
    }
    return a->callee_names.items[*known];
}

/* ---- files ---- */

str_id assemble_file(struct assembler *a, uint32_t file)
{
    if (!a->debug || file >= a->debug->file_count)
        return 0;
    while (a->file_stamps.count <= file) {
        *vec_push(&a->file_stamps) = 0;
        *vec_push(&a->file_ids) = 0;
    }
    if (a->file_stamps.items[file] != a->stamp) {
        a->file_stamps.items[file] = a->stamp;
        a->file_ids.items[file] = strtab_add(a->out->strings, a->debug->files[file]);
    }
    return a->file_ids.items[file];
}
