/*
 * What the files of bloop/ share.  The steps, in order; each file knows only the ones before it:
 *
 *     image.c      bytes of an ELF file by address, symbols, relocations, separate debug files
 *     functions.c  the table of functions: where they begin, what they cover, what they are called
 *     arch/        one instruction at a time, one file per architecture
 *     cfg.c        basic blocks and edges of one function; jumptable.c: targets of indirect jumps
 *     loops.c      dominators and the loop nesting forest of one graph
 *     debug.c      DWARF through libdwarf: line map, inlined calls, procedures
 *     assemble.c   joins loops, lines and inlined calls of one function into scopes
 *     scope_*.c    the scope tree: look-up, checks, text forms
 *     bloop.c      the public calls: which functions, on how many threads, in which order
 *
 * Errors are for the whole binary only; within a function damage is recorded and work goes on.
 */
#ifndef BLOOP_INT_H
#define BLOOP_INT_H

#include "bloop/bloop.h"

/* ---- image.c -------------------------------------------------------------------------- */

enum arch_kind { ARCH_X86_64, ARCH_AARCH64 };

struct image_section { /* validated: bytes..bytes+size lies in the file or in a decompressed copy */
    const char *name;
    vaddr addr; /* link-time address; in a relocatable file, an address image.c gave it (sections laid out one after the
                   other) */
    uint64_t size;
    const uint8_t *bytes; /* NULL: none in the file (SHT_NOBITS, outside, damaged), or compressed (debug sections:
                             debug.c's to unpack) */
    bool alloc, exec, writable;
};

enum image_symbol_kind { SYM_FUNC, SYM_IFUNC, SYM_OBJECT, SYM_NOTYPE };
/* Defined symbols of .symtab (the separate debug file's where the binary has none) and .dynsym; no section or file
   symbols. A relocatable file's undefined symbols are there too, with addresses in a section "[external]" without
   bytes, so that a call of abort has a name. */
struct image_symbol {
    vaddr addr;
    uint64_t size;
    const char *name; /* lent */
    uint8_t kind;     /* enum image_symbol_kind */
    bool global, weak;
    bool dynamic;    /* known from .dynsym only */
    uint32_t source; /* equal for the local symbols of one source file; 0 for others */
};

struct image {
    enum arch_kind arch;
    bool relocatable, position_independent;
    vaddr entry;                 /* 0: none */
    const char *path, *build_id; /* lower-case hex, "" if none */
    struct image_section *sections;
    struct image_symbol *symbols; /* sorted by addr, then global before weak before local, then name */
    size_t section_count, symbol_count;
    struct image_private *priv; /* libelf's handles, mappings, separate debug file */
};

int image_open(const char *path, const char *const *debug_dirs, struct image **, struct warnings *, struct err *);
void image_close(struct image *);
const struct image_section *image_section_at(const struct image *, vaddr); /* an allocated one, or NULL */
const struct image_section *image_section_named(const struct image *, const char *name);
/* Bytes that the file has at `addr`, with *avail of them up to the section's end; NULL and 0 where there are none. */
const uint8_t *image_bytes(const struct image *, vaddr addr, size_t *avail);
/* The link-time pointer stored at addr (relocations applied: R_*_RELATIVE, R_*_64 and their like); false: none there.
 */
bool image_pointer(const struct image *, vaddr addr, vaddr *value);
/* The symbol whose address the loader writes at addr (a GOT slot: `call *foo@GOTPCREL(%rip)` and PLT stubs go through
 * it), or NULL. */
const char *image_slot_name(const struct image *, vaddr addr);

/* ---- functions.c ----------------------------------------------------------------------- */

enum function_origin {
    FROM_SYMTAB = 1,
    FROM_DYNSYM = 2,
    FROM_EH_FRAME = 4,
    FROM_DEBUG = 8,
    FROM_CALL = 16,
    FROM_ENTRY = 32,
    FROM_PLT = 64,
    FROM_GAP = 128 /* nobody names it; it looks like one */
};

struct function {
    vaddr begin, end;      /* [begin,end): the wall for fall-through. Functions of a table do not overlap. */
    const char *link_name; /* best symbol, version and clone suffix included; "" where none. Lent */
    uint32_t aliases_first, alias_count; /* other names at begin: into function_table.aliases */
    uint32_t part_of;                    /* index of the function this is a cold part of; FUNCTION_NONE: a whole one */
    uint8_t origin;                      /* enum function_origin bits */
    bool plt, ifunc; /* plt: also what a relocatable file calls outside of itself (no bytes, named without "@plt") */
    bool sized;      /* its end is told by symbol or FDE; else it is where the next thing begins */
};
#define FUNCTION_NONE UINT32_MAX

struct function_table {
    struct function *functions; /* sorted by begin */
    const char **aliases;
    size_t count, alias_count;
    struct arena *arena;       /* names made here ("puts@plt") */
    const struct image *image; /* lent: must outlive the table */
};
/* Everything known without decoding: symbols, .eh_frame(_hdr), entry, .init_array, PLT, DWARF low pcs where there is no
 * symbol. Then functions in what these leave uncovered, by decoding that. */
int functions_find(const struct image *, struct function_table **, struct warnings *, struct err *);
/* Add functions found as call targets by cfg work (sorted, distinct); splits the gap they fall into, or the function if
   its end was a guess. A function that symbol or FDE delimit is not split: what looks like a call into its middle is
   another entry of it at most. Indices change. */
void functions_add(struct function_table *, const vaddr *entries, size_t count);
uint32_t functions_at(const struct function_table *, vaddr); /* FUNCTION_NONE: in none */
void functions_free(struct function_table *);

struct vaddr_list VEC(vaddr);

/* Calls of the function (or cold part) at `begin` that go on at a landing pad when they throw (.gcc_except_table
   through its FDE's LSDA), appended in the table's order; entries without a pad are left out. From where a pad is
   reached must be known: were it an entry from nowhere, every loop with a `try` in it would look irreducible. */
struct call_site {
    vaddr begin, end; /* [begin,end): the calls */
    vaddr pad;
};
struct call_site_list VEC(struct call_site);
void functions_call_sites(const struct image *, vaddr begin, struct call_site_list *);

/* Demangled C++ and Rust names (libiberty), into `a`; the symbol itself where it is not mangled. One Fortran underscore
   stripped only where DWARF says Fortran (that is assemble.c's to know). */
const char *demangle_full(struct arena *a, const char *link_name);
const char *demangle_short(struct arena *a,
                           const char *full_name); /* without parameter list, template arguments kept */

/* ---- arch/ ------------------------------------------------------------------------------ */

enum insn_kind {
    INSN_PLAIN,
    INSN_BRANCH,        /* conditional, target known */
    INSN_JUMP,          /* unconditional, target known */
    INSN_JUMP_INDIRECT, /* through a register or memory */
    INSN_CALL,          /* target known */
    INSN_CALL_INDIRECT,
    INSN_RETURN,
    INSN_STOP,    /* ud2, hlt, brk, udf: nothing follows */
    INSN_PADDING, /* nop of any length, int3 */
    INSN_BAD      /* undecodable; length is the best guess where the next one starts, at least 1 */
};
struct insn {
    vaddr addr, target; /* target: of BRANCH, JUMP, CALL */
    uint8_t length;
    uint8_t kind; /* enum insn_kind */
};
struct arch {
    enum arch_kind kind;
    unsigned min_length;
    /* Decode one instruction at p (n bytes there, n > 0). Never fails: INSN_BAD says it. Thread-safe. */
    void (*decode)(const uint8_t *p, size_t n, vaddr addr, struct insn *);
    /* Jump table recovery looks closer; private to jumptable.c and the arch file (see arch/arch.h). */
    const struct arch_detail *detail;
};
const struct arch *arch_get(enum arch_kind);

/* ---- cfg.c ------------------------------------------------------------------------------- */

struct cfg_block { /* sorted by begin; no overlap, but for code that really overlaps */
    vaddr begin, end;
    uint32_t succ_first,
        succ_count;     /* into cfg.succs. Of a BRANCH first the fall-through (where there is one), then the target */
    uint16_t pad_count; /* that many of the last successors are landing pads of calls in it; the others are jumps */
    uint8_t last_kind;  /* enum insn_kind of its last instruction; a call ends a block only if it never returns */
    bool bad_end;       /* ended by bytes that cannot be decoded */
};
struct cfg {
    struct cfg_block *blocks;
    uint32_t *succs; /* block indices */
    uint32_t
        *entries; /* blocks where control comes in: the function's begin, further entries, pads no call is known for */
    size_t block_count, succ_count, entry_count;
    uint64_t instructions, bad_bytes, padding_bytes, table_bytes;
    uint32_t indirect_jumps, unresolved_jumps; /* tail calls through registers are not among them */
    struct cfg_work *work;                     /* cfg.c's own, kept from one function to the next */
};
struct cfg_input {
    const struct image *image;
    const struct function_table *functions;
    const struct arch *arch;
    const struct function_table *all; /* to tell tail calls from jumps */
    const uint8_t *noreturn;          /* one byte per function of the table: does it never return (may be NULL) */
    uint32_t function;                /* whose graph; its cold parts are taken in */
    struct vaddr_list *calls;         /* targets of direct calls met, appended (may be NULL) */
};
/* Zero-initialise a cfg; it is cleared and reused from one function to the next, so that memory is asked for once. */
void cfg_build(const struct cfg_input *, struct cfg *);
void cfg_release(struct cfg *);
/* Which functions never return: known names and PLT entries, then the closure over callers. One byte each, caller frees
   with mem_free. On demand (whole == false) only names are used, and noreturn_follow adds what it learns from what the
   functions asked for call, three calls deep. */
uint8_t *noreturn_find(const struct image *, const struct function_table *, bool whole, unsigned threads);
void noreturn_follow(const struct image *, const struct function_table *, uint8_t *noreturn, const uint32_t *wanted,
                     size_t count);

/* ---- loops.c ----------------------------------------------------------------------------- */

struct loop {
    uint32_t header; /* block; of an irreducible loop the entry with the lowest address */
    uint32_t parent; /* index of the loop around it (below the own index), or LOOP_NONE */
    uint32_t depth;  /* 1: outermost */
    bool irreducible;
};
#define LOOP_NONE UINT32_MAX
struct loop_forest {
    struct loop *loops;     /* a loop, then all within it, then its next sibling; siblings by header address */
    uint32_t *block_loop;   /* innermost loop of each block, or LOOP_NONE; unreachable blocks too: none */
    uint32_t *idom;         /* immediate dominator of each block; own index where there is none (entries and what several of them reach);
                               UINT32_MAX unreachable */
    size_t loop_count;
    void *memory; /* loops.c's own: all of the above and its working memory, kept from one graph to the next */
    size_t memory_size;
};
/* Near linear in blocks + edges; no recursion. Zero-initialise a forest; it may be reused. */
void loops_find(const struct cfg *, struct loop_forest *);
void loop_forest_release(struct loop_forest *);

/* ---- debug.c ----------------------------------------------------------------------------- */

struct line_row { /* one row of the line map, valid up to the next row's addr */
    vaddr addr;
    uint32_t file; /* index into debug_function.files, or DEBUG_NO_FILE where the map has a hole */
    uint32_t line; /* 0: compiler made */
    uint16_t column;
    uint16_t discriminator;
    bool is_stmt, prologue_end;
};
#define DEBUG_NO_FILE UINT32_MAX

struct inline_call {               /* DW_TAG_inlined_subroutine; parents before children */
    uint32_t parent;               /* index, or INLINE_NONE for the procedure itself */
    const char *name, *link_name;  /* callee; "" unknown */
    uint32_t decl_file, decl_line; /* callee's declaration */
    uint32_t call_file, call_line, call_column;
    uint32_t range_first, range_count; /* into debug_function.ranges, sorted */
};
#define INLINE_NONE UINT32_MAX

struct debug_function { /* what DWARF says of one procedure; lives in the arena given */
    const char *name,
        *link_name; /* full name with enclosing namespaces, classes, modules ("heat::solve"), "" unknown */
    const char *comp_dir;
    const char *const *files; /* paths as in the line map, joined with its folders and comp_dir */
    uint32_t file_count;
    uint32_t decl_file, decl_line;
    uint16_t language;     /* DW_LANG_* */
    struct line_row *rows; /* sorted by addr; of all the function's ranges */
    size_t row_count;
    struct inline_call *inlines;
    size_t inline_count;
    struct addr_range *ranges; /* pool for inlines; the procedure's own are ranges[0 .. own_range_count) */
    size_t range_count, own_range_count;
    vaddr abstract_id; /* equal for copies and clones of one source procedure; 0 unknown */
};

struct debug; /* one per thread: libdwarf's handles are not shareable */
/* 1: there is debug information, 0: none (fine), -1: it is there but damaged beyond use. */
int debug_open(const struct image *, struct debug **, struct warnings *, struct err *);
void debug_close(struct debug *);
/* 1: filled; 0: nothing known of this address. `part_ranges` (the function and its cold parts) says which rows are
 * wanted. */
int debug_function_at(struct debug *, vaddr entry, const struct addr_range *parts, size_t part_count, struct arena *,
                      struct debug_function *);
/* Entry addresses of all procedures that DWARF knows and the symbols may not. */
void debug_entries(struct debug *, struct vaddr_list *);

/* ---- assemble.c ---------------------------------------------------------------------------- */

/* The scopes of some functions, self-contained so that threads make them side by side: each begins with its PROC
   (parent SCOPE_NONE), other parents are indices into `scopes`. bloop.c joins them, in order, into a scope_tree.
   Zero-initialise. */
struct function_scopes {
    struct strtab *strings; /* made at the first use */
    struct VEC(struct scope) scopes;
    struct VEC(struct addr_range) ranges;
};
void function_scopes_release(struct function_scopes *);

struct assemble_input {
    const struct image *image;
    const struct function_table *functions;
    uint32_t function;
    const struct addr_range *parts; /* the function and its cold parts, sorted */
    size_t part_count;
    const struct cfg *cfg;
    const struct loop_forest *forest;
    const struct debug_function *debug; /* NULL: none */
    /* Of an outlined region whose symbol does not name the procedure it is from (clang before 17): that one, else FUNCTION_NONE. */
    uint32_t outlined_from;
    const struct debug_function *outlined_from_debug;
};
/* Working memory, kept from one function to the next; one per thread. */
struct assembler;
struct assembler *assembler_create(void);
void assembler_free(struct assembler *);
/* Is it a region cut out of a procedure that its symbol does not name? */
bool assemble_is_orphan_region(const struct function *);
/* Appends the function's scopes. */
void assemble_function(struct assembler *, const struct assemble_input *, struct function_scopes *);

#endif
