/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bloop - the loop structure of an optimized binary, in the terms of its source.
 *
 * Knows:    ELF, DWARF, instructions, control flow graphs, dominators, loops, and the
 *           scope tree that comes of them, with its text forms.
 * Does not: samples, metrics, pages; print; read the environment.
 *
 * Usual life:
 *     bloop_open -> bloop_scopes_at (some addresses) or bloop_scopes_all -> bloop_close
 *     scope_tree_find / scope_tree_write ... -> scope_tree_free
 *
 * Memory:   a scope tree owns all it hands out and outlives the binary it came from.
 * Errors:   -1 with a message only if there is no result at all; missing or damaged parts are a warning and the
 *           rest is returned.
 * Threads:  a bloop_binary belongs to one thread at a time (it uses several itself); a
 *           finished scope tree is read-only and may be shared.
 * Order:    all output is ordered by address and name; never by time, hash or thread.
 */
#ifndef BLOOP_H
#define BLOOP_H

#include "support/support.h"

typedef uint64_t vaddr;    /* link-time virtual address in one load module (run-time address - load bias) */
typedef uint32_t scope_ix; /* index into scope_tree.scopes */
#define SCOPE_NONE UINT32_MAX

/* ---- the scope tree ------------------------------------------------------------ */

/*
 *   MODULE > FILE > PROC > (INLINE | LOOP | STMT)*,  INLINE and LOOP > (INLINE | LOOP | STMT)*
 *
 *   MODULE a.out
 *     FILE src/heat.f90
 *       PROC heat_solve            40-71
 *         LOOP                     52-60   natural
 *           INLINE dot             called at heat.f90:54
 *             LOOP                 12-14   natural, vector, instance 1 of 2
 *               STMT               13      [0x1180-0x11a4)
 */
enum scope_kind { SCOPE_MODULE, SCOPE_FILE, SCOPE_PROC, SCOPE_INLINE, SCOPE_LOOP, SCOPE_STMT };

/* What each of several loops in the binary is of one source loop, if it can be proved. */
enum loop_role { LOOP_PLAIN, LOOP_VECTOR, LOOP_REMAINDER, LOOP_UNROLLED };

struct scope {        /* plain values; unused fields are 0 */
    uint8_t kind;     /* enum scope_kind */
    uint8_t role;     /* LOOP: enum loop_role */
    bool irreducible; /* LOOP: entered at more than one place */
    bool outlined;    /* PROC: a region (OpenMP) cut out of the procedure `origin` */
    scope_ix parent;  /* always below the own index; SCOPE_NONE for a MODULE */
    str_id name; /* MODULE, FILE: path as known from the binary ("" = no source known); PROC, INLINE: full demangled
                    name */
    str_id short_name; /* PROC, INLINE: the name without parameters; equals name if there are none */
    str_id link_name;  /* PROC: symbol; INLINE: linkage name or "" */
    str_id origin;     /* PROC: full name of the procedure it is a clone, cold part or outlined region of, or "".
                          MODULE: the folder of all the sources it was made of, ending in '/', or "" */
    str_id file;       /* PROC, INLINE, LOOP, STMT: file of its own lines (may differ from the FILE above) */
    str_id call_file;  /* INLINE: where the call stands */
    uint32_t call_line;
    uint32_t line_first, line_last; /* 0: unknown. LOOP: line_first is the loop's own line as the programmer wrote it */
    uint32_t on_line; /* LOOP: if several siblings begin on its line, its number among them, counted from the left;
                         0: there are no others, or they cannot be distinguished */
    vaddr entry;      /* PROC: entry; LOOP: address of the header */
    uint32_t range_first,
        range_count; /* into scope_tree.ranges. STMT: exactly its instructions. LOOP: its blocks. PROC: all its parts */
    uint32_t instance, instances; /* LOOP: this is instance k of n of one source loop in its PROC (1 of 1 when alone) */
};

struct addr_range {
    vaddr begin, end; /* half open */
};

struct scope_tree {
    struct strtab *strings;
    struct scope *scopes; /* parents before children, siblings in the order of address (FILE: of name) */
    size_t scope_count;
    struct addr_range *ranges;
    size_t range_count;
    /* Private: the look-up of scope_tree_find. */
    struct scope_lookup *lookup;
};

struct scope_tree *scope_tree_create(void);
void scope_tree_free(struct scope_tree *);
/* The deepest scope that contains `addr`: usually a STMT; a PROC or LOOP if the instruction has no line; SCOPE_NONE
   if no procedure is known. O(log n). The first call builds the index: make it before sharing. */
scope_ix scope_tree_find(struct scope_tree *, vaddr addr);
scope_ix scope_tree_enclosing(const struct scope_tree *, scope_ix, enum scope_kind); /* itself, or SCOPE_NONE */
/* Verify indices, order, kinds and that the STMT ranges of a tree do not overlap; for tests and after reading. */
int scope_tree_check(const struct scope_tree *, struct err *);

enum scope_format { SCOPE_XML, SCOPE_HPCSTRUCT, SCOPE_OUTLINE };
void scope_tree_write(struct scope_tree *, enum scope_format, struct outfile *);
/* Reads SCOPE_XML and SCOPE_HPCSTRUCT (recognized by the root element). A file may hold several modules. */
int scope_tree_read(const char *path, struct scope_tree **, struct warnings *, struct err *);

/* ---- making it from a binary ---------------------------------------------------- */

struct bloop_options {
    const char *const
        *debug_dirs;  /* folders searched for separate debug files, in addition to /usr/lib/debug; NULL-terminated,
                         or NULL */
    unsigned threads; /* 0: all processors */
    const char *function_glob; /* only procedures whose name matches; NULL: all */
    const char *source_glob;   /* only procedures from matching files; NULL: all */
    bool procedures_only; /* for names only: neither code nor separate debug files are read, so there are no loops and
                            lines */
    const struct progress *progress;
};

struct bloop_binary;

/* Opens an ELF executable, shared object, relocatable file or a vDSO image. `path` "[vdso]" means this process's own.
   Costs little: sections are mapped, nothing is decoded yet. opts may be NULL; it is copied, its strings are not. */
int bloop_open(const char *path, const struct bloop_options *opts, struct bloop_binary **, struct warnings *,
               struct err *);
void bloop_close(struct bloop_binary *);

const char *bloop_build_id(const struct bloop_binary *); /* lower-case hex, "" if there is none */
bool bloop_is_aarch64(const struct bloop_binary *);      /* else x86-64 */

/* The scopes of the functions that contain the given addresses (any order, repetitions allowed), and nothing else:
   costs only these functions. Addresses in no function give no scope. */
int bloop_scopes_at(struct bloop_binary *, const vaddr *addrs, size_t count, struct scope_tree **, struct warnings *,
                    struct err *);
/* The scopes of every function of the binary. */
int bloop_scopes_all(struct bloop_binary *, struct scope_tree **, struct warnings *, struct err *);

/* The code of the functions that contain the given addresses, passed to `visit` one after the other in the order of
   addresses, in the caller's thread: blocks, edges and loops, for folders that look at instructions
   (bloop/code/code.h). The data live until `visit` returns. */
struct bloop_code;
typedef void bloop_code_visit(void *ctx, const struct bloop_code *);
void bloop_code_at(struct bloop_binary *, const vaddr *addrs, size_t count, bloop_code_visit *, void *ctx,
                   struct warnings *);
/* The compiler of the function that contains the address, as in its debug information ("GNU C17 12.2.0 -O3 ..."),
   and its language (DW_LANG_*); "" and 0 if unknown. Caller frees. */
char *bloop_producer(struct bloop_binary *, vaddr addr, uint16_t *language, struct warnings *);

/* Variables without a symbol of their own: members of COMMON blocks, and the variables that procedures keep in their
   frames, if the debug information has their place and size. In the order of the debug information. */
struct bloop_variable {
    char *name; /* "COMMON /area/ flux", "solve::work" */
    bool in_frame;
    int64_t at; /* address; in a frame, from its canonical address (where the stack stood before the call) */
    uint64_t bytes;
    struct addr_range procedure, code; /* in a frame: of which procedure; which of its code knows it */
};
struct bloop_variables VEC(struct bloop_variable);
void bloop_variables(struct bloop_binary *, struct bloop_variables *, struct warnings *);
void bloop_variables_release(struct bloop_variables *);

/* Names of single addresses: "radix.c:33 in sort"; if the binary has no line, the procedure, or the module and the
   address. The name is lent by the symbolizer. */
struct bloop_symbolizer;
struct bloop_symbolizer *bloop_symbolizer_create(void);
const char *bloop_symbolize(struct bloop_symbolizer *, const char *module, uint64_t address);
void bloop_symbolizer_free(struct bloop_symbolizer *);

/* Whole-binary structure kept in a folder, keyed by build id and version of hpcview. */
/* The cache entry of a binary, or NULL if it has no build id; caller frees. */
char *bloop_cache_path(const struct bloop_binary *, const char *folder, const char *version);
/* 1: *tree is the cached one (its module is called `module` now); 0: no usable entry. */
int bloop_cache_get(const char *path, const char *module, struct scope_tree **tree);
int bloop_cache_put(const char *path, struct scope_tree *, struct err *);

/* Statistics of the last bloop_scopes_*, for sweeps and benchmarks. */
struct bloop_stats {
    uint64_t text_bytes, code_bytes, padding_bytes, table_bytes; /* text_bytes: all executable sections */
    uint64_t functions, blocks, instructions, loops, irreducible_loops;
    uint64_t undecodable_bytes, indirect_jumps, unresolved_jumps;
};
struct bloop_stats bloop_stats(const struct bloop_binary *);

#endif
