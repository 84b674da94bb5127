/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * support - code that every folder needs and no folder is about.
 *
 * Knows:    errors, warnings, arenas, interned strings, growing arrays, bounded
 *           reading and writing of bytes, atomic file output, XML and JSON text,
 *           threads, progress, tables of typed columns (table.h).
 * Does not: profiling, ELF, pages; print; exit; read the environment.
 *
 * Memory:   allocation never returns NULL.  When memory runs out, the handler set
 *           with mem_set_handler is called and must not return (the driver prints one
 *           sentence and exits 1).  Every size that comes from input is checked
 *           against support/limits.h before memory is asked for.
 * Errors:   functions that can fail return -1 and fill *err; 0 or 1 are answers.
 * Threads:  no global state but the memory handler and the table of mapped files; an object belongs to one thread
 *           at a time unless its comment says otherwise.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/limits.h"
#include "support/table.h"

#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define ARRAY_SIZE(a)          (sizeof(a) / sizeof((a)[0]))

/* ---- errors ------------------------------------------------------------------- */

enum err_kind { ERR_NONE, ERR_SYSTEM, ERR_FORMAT, ERR_LIMIT, ERR_UNSUPPORTED, ERR_USAGE };

struct err {
    enum err_kind kind;
    char msg[1024];          /* one whole sentence, ready for the user, without a newline */
    struct warnings *others; /* the caller's; if input may have several errors, those before this one. NULL: the
                                first error ends the reading */
};

/* Fill *e (may be NULL) and return -1, so that `return err_set(...)` reads as one thought. */
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Put where we were in front of an error that comes from below ("reading x: ..."); returns -1. */
int err_in(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "path: what: strerror(errno)", kind ERR_SYSTEM; returns -1. */
int err_errno(struct err *e, const char *path, const char *what);

/* Sentences about what a result lacks, in the order they came; a repeated sentence is kept once.
   Adding is safe from several threads. */
struct warnings;
struct warnings *warnings_create(void);
void warnings_free(struct warnings *);
/* `w` may be NULL: then the warning is dropped. At most LIMIT_WARNINGS are kept, the rest counted. */
void warnings_add(struct warnings *w, const char *fmt, ...) PRINTF_LIKE(2, 3);
size_t warnings_count(const struct warnings *);
const char *warnings_get(const struct warnings *, size_t i); /* lent until warnings_free */

/* All errors of one input: code that finds one calls err_gather to learn whether to look for the next.
   Zero-initialise. */
struct err_gathered {
    size_t count;
    char last[1024];
    enum err_kind kind;
};
/* Takes the error out of *e; false: the caller accepts only one, which stays, or it is a limit. */
bool err_gather(struct err_gathered *, struct err *e);
/* At the end of that input: -1 with the last one in *e and those before it in e->others; 0: there was none. */
int err_gathered(const struct err_gathered *, struct err *e);

/* ---- memory ------------------------------------------------------------------- */

void mem_set_handler(void (*out_of_memory)(size_t wanted));
void *mem_alloc(size_t n);                   /* not cleared */
void *mem_calloc(size_t count, size_t size); /* cleared; overflow of the product counts as out of memory */
void *mem_realloc(void *p, size_t count, size_t size);
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);
char *mem_printf(const char *fmt, ...) PRINTF_LIKE(1, 2);
char *mem_vprintf(const char *fmt, va_list) PRINTF_LIKE(1, 0);
void mem_free(void *p);

/* One arena per document: all that was learned from one binary or profile dies with it. */
struct arena;
struct arena *arena_create(void);
void arena_free(struct arena *);
void *arena_alloc(struct arena *, size_t n); /* cleared, aligned to 16 */
char *arena_strdup(struct arena *, const char *s);
char *arena_strndup(struct arena *, const char *s, size_t n);
char *arena_printf(struct arena *, const char *fmt, ...) PRINTF_LIKE(2, 3);
size_t arena_bytes(const struct arena *); /* taken from the system so far */

/* A growing array: struct VEC(int) v = {0}; *vec_push(&v) = 3; v.items[i]; v.count; vec_release(&v). */
#define VEC(type)                                                                                                      \
    {                                                                                                                  \
        type *items;                                                                                                   \
        size_t count;                                                                                                  \
        size_t capacity;                                                                                               \
    }
void *vec_grow_(void *items, size_t *capacity, size_t wanted, size_t item_size);
#define vec_reserve(v, n)                                                                                              \
    ((v)->capacity >= (size_t)(n)                                                                                      \
         ? (void)0                                                                                                     \
         : (void)((v)->items = vec_grow_((v)->items, &(v)->capacity, (size_t)(n), sizeof *(v)->items)))
#define vec_push(v) (vec_reserve((v), (v)->count + 1), &(v)->items[(v)->count++]) /* not cleared */
/* qsort, which must not be given NULL, not even with a count of 0 */
#define vec_sort(v, compare) ((v)->count ? qsort((v)->items, (v)->count, sizeof *(v)->items, (compare)) : (void)0)
/* Sorts, and keeps one of equal elements. */
#define vec_sort_unique(v, compare)                                                                                    \
    do {                                                                                                               \
        size_t kept_ = 0;                                                                                              \
        vec_sort(v, compare);                                                                                          \
        for (size_t i_ = 0; i_ < (v)->count; i_++)                                                                     \
            if (kept_ == 0 || compare(&(v)->items[kept_ - 1], &(v)->items[i_]) != 0)                                   \
                (v)->items[kept_++] = (v)->items[i_];                                                                  \
        (v)->count = kept_;                                                                                            \
    } while (0)
#define vec_release(v) (mem_free((v)->items), (v)->items = NULL, (v)->count = (v)->capacity = 0)

/* For comparing functions; with several keys: return order_of(x->begin, y->begin) ?: order_of(x->end, y->end). */
#define order_of(a, b) (((a) > (b)) - ((a) < (b)))
int order_u32(const void *, const void *); /* those of numbers themselves */
int order_u64(const void *, const void *);
int order_largest(double, double); /* the largest first, NaN last */

/* Texts that are the list's own (mem_strdup and the like), or NULL. */
struct text_list VEC(char *);
void text_list_release(struct text_list *);

/* In a table sorted so that `holds`, a condition on the index `i`, is true up to some item and false from there on: how
   many items it is true of. So sorted_front(n, i, t[i].addr <= addr) - 1 is the last item at or before addr, if it is
   not 0. */
#define sorted_front(n, i, holds)                                                                                      \
    ({                                                                                                                 \
        size_t low_ = 0, high_ = (n);                                                                                  \
        while (low_ < high_) {                                                                                         \
            size_t i = low_ + (high_ - low_) / 2;                                                                      \
            if (holds)                                                                                                 \
                low_ = i + 1;                                                                                          \
            else                                                                                                       \
                high_ = i;                                                                                             \
        }                                                                                                              \
        low_;                                                                                                          \
    })

/* ---- strings ------------------------------------------------------------------ */

/* Interned strings: equal text, equal id. Id 0 is the empty string. Ids count up in the order
   of first adding, so the order of adding decides them. Not safe for writing from several threads. */
typedef uint32_t str_id;
struct strtab;
struct strtab *strtab_create(void);
void strtab_free(struct strtab *);
str_id strtab_add(struct strtab *, const char *s);            /* NULL counts as "" */
str_id strtab_addn(struct strtab *, const char *s, size_t n); /* s may be NULL where n is 0 */
str_id strtab_printf(struct strtab *, const char *fmt, ...) PRINTF_LIKE(2, 3);
const char *strtab_get(const struct strtab *, str_id); /* lent until strtab_free */
size_t strtab_count(const struct strtab *);            /* ids are below this */

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
char *str_trimmed(const char *s); /* without the white space around it; the caller's to mem_free */
/* "1.5", "2s", "10ms", "100us" in seconds, 0 to 1e9; -1 if it is none. */
double str_seconds(const char *text);
/* The name in `names` (NULL-terminated) nearest to `word` by edit distance, or NULL if none is near. */
const char *str_nearest(const char *word, const char *const *names);
/* The index of `word` among the n others; n if it is none of them. */
size_t str_index(const char *word, const char *const *words, size_t n);
/* Splits a command into words like a shell in which only blanks, quotes and '\\' are special. The array ends in NULL.
   `where`: for messages. */
int str_words(const char *text, struct text_list *words, const char *where, struct err *);
/* Length of the valid UTF-8 sequence at s (at most n bytes), or 0 if it is not valid UTF-8. */
size_t utf8_length(const char *s, size_t n);

/* A map from 64-bit keys to 32-bit values. Zero-initialise; hashmap_release when done. */
struct hashmap {
    struct hashmap_slot {
        uint64_t key;
        uint32_t value, used;
    } * slots;
    size_t count, capacity;
};
#define HASHMAP_NONE UINT32_MAX
uint32_t hashmap_get(const struct hashmap *, uint64_t key); /* HASHMAP_NONE: not there */
/* The slot of `key`; when it was not there, it is made with HASHMAP_NONE. Valid until the next put. */
uint32_t *hashmap_put(struct hashmap *, uint64_t key);
void hashmap_release(struct hashmap *);

/* Which row of a table is equal to a given one: hashes and numbers of rows alone, the rows are compared where they lie.
   Zero-initialise; row_index_release when done. */
struct row_index {
    struct row_slot {
        uint32_t hash, row;
    } * slots;
    size_t count, capacity;
};
#define ROW_NONE UINT32_MAX
static inline size_t row_index_next(const struct row_index *x, size_t slot)
{
    return (slot + 1) & (x->capacity - 1);
}
/* The row with that hash for which same() is true; ROW_NONE: none. Here so that compilers put same() into it. */
static inline uint32_t row_index_find(const struct row_index *x, uint64_t hash,
                                      bool (*same)(const void *ctx, uint32_t row), const void *ctx)
{
    if (x->capacity == 0)
        return ROW_NONE;
    for (size_t i = (uint32_t)hash & (x->capacity - 1); x->slots[i].row != ROW_NONE; i = row_index_next(x, i))
        if (x->slots[i].hash == (uint32_t)hash && same(ctx, x->slots[i].row))
            return x->slots[i].row;
    return ROW_NONE;
}
void row_index_add(struct row_index *, uint64_t hash, uint32_t row);
void row_index_release(struct row_index *);

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t hash_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ x >> 31;
}
uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed); /* same on every machine */
/* Of two numbers, as addresses or lines: near ones have near hashes, so that consecutive rows of a row_index are
   near in it. The cost of a look-up there is the memory it touches. */
static inline uint64_t hash_near(uint64_t a, uint64_t b, uint64_t seed)
{
    return hash_mix(hash_mix(seed ^ a >> 4) ^ b >> 3) + (a >> 1 & 7) + (b & 7);
}
uint32_t crc32_bytes(uint32_t crc, const void *bytes, size_t n); /* CRC-32 (IEEE, reflected); start with 0 */

/* ---- bytes in ----------------------------------------------------------------- */

/* Reads little-endian values (big-endian ones where `big` was set) and never passes the end. After the first read beyond
   it, `bad` is set and every read gives 0 or "": check once, after a group of reads. */
struct cursor {
    const uint8_t *p, *end;
    bool bad, big;
};
struct cursor cursor_make(const void *bytes, size_t len);
static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->p);
}
/* NULL where n bytes are not left. */
static inline const uint8_t *cursor_bytes(struct cursor *c, size_t n)
{
    const uint8_t *at = c->p;
    if (c->bad || cursor_left(c) < n) {
        c->bad = true;
        return NULL;
    }
    if (n)
        c->p += n;
    return at;
}
/* n: 1 to 8 */
static inline uint64_t cursor_number(struct cursor *c, size_t n)
{
    const bool here_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    const uint8_t *p = cursor_bytes(c, n);
    uint64_t v = 0;
    if (!p)
        return 0;
    memcpy(&v, p, n);
    if (here_big)
        v >>= 64 - 8 * n;
    return c->big == here_big ? v : __builtin_bswap64(v) >> (64 - 8 * n);
}
static inline uint8_t cursor_u8(struct cursor *c)
{
    return (uint8_t)cursor_number(c, 1);
}
static inline uint16_t cursor_u16(struct cursor *c)
{
    return (uint16_t)cursor_number(c, 2);
}
static inline uint32_t cursor_u32(struct cursor *c)
{
    return (uint32_t)cursor_number(c, 4);
}
static inline uint64_t cursor_u64(struct cursor *c)
{
    return cursor_number(c, 8);
}
uint64_t cursor_uleb(struct cursor *);
int64_t cursor_sleb(struct cursor *);
const char *cursor_cstr(struct cursor *); /* NUL-terminated, inside the input */
/* A text written by buf_text: its bytes, inside the input, and their number; NULL, and 0, beyond the end. */
const char *cursor_text(struct cursor *, size_t *len);

/* A whole file, mapped read-only (or read, for pipes, up to LIMIT_STREAM_BYTES). No devices. */
struct filemap {
    const uint8_t *bytes; /* of an empty file, too, not NULL */
    size_t len;
    bool mapped;
    size_t passed;
};
int filemap_open(struct filemap *, const char *path, struct err *);
/* Releases the memory of parts already read; it is read again on access. For large files that are mostly read once. */
void filemap_forget(const struct filemap *);
/* For reading from the beginning to the end: memory before `at` is released now and then. map may be NULL. */
void filemap_pass_(struct filemap *, const void *at);
static inline void filemap_pass(struct filemap *map, const void *at)
{
    if (map && (size_t)((const uint8_t *)at - map->bytes) - map->passed >= (8u << 20))
        filemap_pass_(map, at);
}
void filemap_release(struct filemap *);
/* A description as XML: the file DIR/NAME.xml if `word` is a NAME, or the file `word` if it is a path (has a '/' or
   ends in .xml) or `dir` is NULL. At most LIMIT_CONFIG_BYTES; `what` is its kind in the error ("a machine file").
   *path: the file's, the caller's to mem_free also after an error. */
int filemap_open_named(struct filemap *, const char *word, const char *dir, const char *what, char **path,
                       struct err *);
/* -1: some file became shorter while it was mapped. From then on its end reads as zeros, no outfile and no outdir is
   committed, and results are meaningless: check before printing them. (For this SIGBUS has a handler.) */
int filemap_check(struct err *);

/* ---- bytes out ---------------------------------------------------------------- */

/* A growing byte buffer; always NUL-terminated after the last byte once anything was added. */
struct buf {
    char *bytes;
    size_t len, capacity;
};
void buf_add(struct buf *, const void *bytes, size_t n);
void buf_str(struct buf *, const char *s);
void buf_char(struct buf *, char c);
void buf_printf(struct buf *, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_u8(struct buf *, uint8_t);
void buf_u16(struct buf *, uint16_t); /* little endian, like the rest */
void buf_u32(struct buf *, uint32_t);
void buf_u64(struct buf *, uint64_t);
void buf_uleb(struct buf *, uint64_t);
void buf_text(struct buf *, const char *s, size_t n); /* n as uleb, then the bytes: cursor_text reads it */
void buf_sleb(struct buf *, int64_t);
/* The same into a buffer of LEB_MOST bytes: returns its end. */
enum { LEB_MOST = 10 };
static inline uint8_t *uleb_put(uint8_t *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (uint8_t)(v | 0x80);
    *to++ = (uint8_t)v;
    return to;
}
static inline uint8_t *sleb_put(uint8_t *to, int64_t v)
{
    for (; v < -64 || v > 63; v >>= 7)
        *to++ = (uint8_t)(v | 0x80);
    *to++ = v & 0x7f;
    return to;
}
/* For many small items at once: the space for the next n bytes, and how much of it was used. */
void buf_grow_(struct buf *, size_t n);
static inline uint8_t *buf_room(struct buf *b, size_t n)
{
    if (b->capacity - b->len <= n)
        buf_grow_(b, n);
    return (uint8_t *)b->bytes + b->len;
}
static inline void buf_used(struct buf *b, const uint8_t *end)
{
    b->len = (size_t)(end - (uint8_t *)b->bytes);
    b->bytes[b->len] = '\0';
}
void buf_base64(struct buf *, const void *bytes, size_t n);
/* s as a terminal can be given it: characters that would move the cursor, ring the bell or change the direction, and
   invalid UTF-8, become '?'. */
void buf_safe(struct buf *, const char *s);
void buf_release(struct buf *);

/* A file that appears under its name only when committed: written next to it and renamed. Write errors are
   remembered and reported by outfile_commit. path "-" is standard output; a device or a pipe is written to as it is; a
   symbolic link stays one. */
struct outfile;
int outfile_create(const char *path, struct outfile **, struct err *);
struct outfile *outfile_into(struct buf *); /* written data are appended to it, until the commit */
void outfile_write(struct outfile *, const void *bytes, size_t n);
void outfile_take(struct outfile *, struct buf *); /* writes it, and releases it */
void outfile_printf(struct outfile *, const char *fmt, ...) PRINTF_LIKE(2, 3);
int outfile_commit(struct outfile *, struct err *); /* frees it in either case */
void outfile_abandon(struct outfile *);             /* removes what was written; NULL is fine */

/* A folder that appears under its name only when committed. An existing one is replaced, but only if it holds the
   file `marker` (so that no home folder is replaced by a database) or is empty. */
struct outdir;
int outdir_create(const char *path, const char *marker, struct outdir **, struct err *);
const char *outdir_path(const struct outdir *); /* where to write meanwhile */
int outdir_commit(struct outdir *, struct err *);
void outdir_abandon(struct outdir *);

/* Removes all incomplete output: before an unplanned end. Needs no memory, and may be called in a handler of a
   signal. */
void outputs_abandon(void);

int dir_make(const char *path, struct err *); /* with parents; existing is fine */
int dir_remove_tree(const char *path, struct err *);
/* The paths of the files in `dir` with that suffix that are not hidden, in the order of their bytes in any locale,
   so that copies of a folder are read alike. `doing`: the action, for the error. Release in either case. */
int dir_list(const char *dir, const char *ending, const char *doing, struct text_list *, struct err *);
/* The default name of a program's results: hpcview-NAME.WHAT in the current folder, or hpcview-NAME-2.WHAT if that or a
   database of that name exists, and so on. `shared` (NULL: none is): may an existing result be used? Caller frees. */
char *dir_unused(const char *program, const char *what, bool (*shared)(const char *path));
/* As a shell finds a program: `name` in the first of the folders (as PATH has them; NULL: the system's) in which it can be
   run, an empty one being the current; a name with a slash is taken as it is. NULL: in none. Caller frees with mem_free. */
char *path_search(const char *folders, const char *name);
/* The same of a program that a user named; NULL with an error if it is in none. */
char *path_program(const char *folders, const char *name, struct err *);

/* ---- paths (text only, no file system) ---------------------------------------- */

const char *path_base(const char *path);            /* after the last '/', lent */
char *path_join(const char *dir, const char *name); /* name if absolute; "" as dir: name */
char *path_normal(const char *path);                /* no "//", "/./", "a/.."; caller frees with mem_free */
bool path_is_of_system(const char *path);           /* below /usr, /lib, ...: not the user's sources */
/* The length of the folder that both lie in, its '/' included, no longer than a's first n; 1: only the root. */
size_t path_common_folder(const char *a, const char *b, size_t n);

/* ---- XML (libxml2 lives behind this) ------------------------------------------ */

/* Writes UTF-8 XML with one-blank indentation. Text that is not valid in XML (bytes that are not UTF-8, control
   characters) is replaced by U+FFFD, so output is well-formed for any symbol name. */
struct xmlout;
struct xmlout *xmlout_create(struct outfile *, const char *doctype /* may be NULL: text after "<?xml ...?>\n" */);
void xmlout_begin(struct xmlout *, const char *element);
void xmlout_attr(struct xmlout *, const char *name, const char *value);
void xmlout_attr_u64(struct xmlout *, const char *name, uint64_t value);
void xmlout_attr_printf(struct xmlout *, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
void xmlout_text(struct xmlout *, const char *text);
void xmlout_end(struct xmlout *);
void xmlout_finish(
    struct xmlout *); /* closes what is open and frees it; the outfile, and its errors, stay the caller's */

/* Reads XML as a stream: no network, no external entities, no entity expansion beyond the five standard ones
   and characters; depth bounded by LIMIT_XML_DEPTH. Events in document order; strings lent during the call. */
struct xml_attr {
    const char *name, *value;
};
struct xml_event {
    const char *element;
    const struct xml_attr *attrs; /* count of them: attr_count; NULL at an end tag */
    size_t attr_count;
    uint64_t line;    /* in the file, from 1 */
    const char *text; /* at an end tag of an element without children: its text, else "" */
};
struct xml_handler {
    int (*begin)(void *ctx, const struct xml_event *, struct err *); /* -1 stops the reading */
    int (*end)(void *ctx, const struct xml_event *, struct err *);
    void *ctx;
};
/* `name` is the file as shown in errors ("name:line: ..."). */
int xml_read(const void *bytes, size_t len, const char *name, const struct xml_handler *, struct err *);
const char *xml_attr_get(const struct xml_event *, const char *name); /* NULL: not given */
/* -1 and a sentence where the element has an attribute that is not among `known` (NULL-terminated). */
int xml_attrs_known(const struct xml_event *, const char *name, const char *const *known, struct err *);
/* -1 and a sentence: the attribute's value, and what would be right. */
int xml_attr_wrong(const struct xml_event *, const char *name, const char *attr, const char *value, const char *right,
                   struct err *);

/* ---- CSV ---------------------------------------------------------------------- */

/* Writes lines of fields: RFC 4180 but for the line ends, which are the system's. Text is quoted if necessary;
   missing values are empty fields. */
struct csvout {
    struct buf *out;
    bool need_comma;
};
void csv_empty(struct csvout *);
void csv_text(struct csvout *, const char *s);
void csv_u64(struct csvout *, uint64_t);
void csv_nonzero(struct csvout *, uint64_t); /* 0 is missing */
void csv_double(struct csvout *, double);    /* NaN is missing */
void csv_end_line(struct csvout *);

/* ---- JSON --------------------------------------------------------------------- */

/* Writes compact JSON to a buffer; commas and escaping are its business. "<" and U+2028/9
   are escaped, so the text may stand in a script. NaN and infinities become null. It does not check that begin and end
   match. */
struct jsonout {
    struct buf *out;
    bool need_comma;
};
void json_begin_object(struct jsonout *);
void json_end_object(struct jsonout *);
void json_begin_array(struct jsonout *);
void json_end_array(struct jsonout *);
void json_key(struct jsonout *, const char *key);
void json_string(struct jsonout *, const char *s);
void json_u64(struct jsonout *, uint64_t);
void json_i64(struct jsonout *, int64_t);
void json_double(struct jsonout *, double); /* shortest text that reads back the same */
void json_bool(struct jsonout *, bool);
void json_null(struct jsonout *);
/* A member of an object: its key and its value. */
void json_put_string(struct jsonout *, const char *key, const char *s);
void json_put_u64(struct jsonout *, const char *key, uint64_t);
void json_put_i64(struct jsonout *, const char *key, int64_t);
void json_put_double(struct jsonout *, const char *key, double);
void json_put_bool(struct jsonout *, const char *key, bool);
void json_put_array(struct jsonout *, const char *key); /* begins it */
void json_put_object(struct jsonout *, const char *key);
/* The shortest decimal text of v that reads back the same; whole numbers below 2^53 without exponent or point. */
void buf_double(struct buf *, double v);

/* Reads JSON: every value is a row, the first one the whole, children behind their parent. A missing value, or one
   of another type, reads as JSON_NONE, "" or 0, so that a path of look-ups needs one check at its end. Texts live as
   long as it. */
struct json;
typedef uint32_t json_ix;
#define JSON_NONE UINT32_MAX
enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };
/* `name` is the file as shown in errors ("name:line: ..."). */
int json_read(const void *bytes, size_t len, const char *name, struct json **, struct err *);
void json_free(struct json *);
enum json_type json_type_of(const struct json *, json_ix);
json_ix json_get(const struct json *, json_ix object, const char *key); /* looks at one member after the other */
json_ix json_first(const struct json *, json_ix array_or_object);
json_ix json_next(const struct json *, json_ix);
const char *json_key_of(const struct json *, json_ix member);
const char *json_string_of(const struct json *, json_ix);
double json_number(const struct json *, json_ix);  /* true is 1 */
uint64_t json_count(const struct json *, json_ix); /* exact where the text is a whole number; below 0: 0 */
uint32_t json_line(const struct json *, json_ix);

/* ---- other programs --------------------------------------------------------------- */

/* Runs argv[0], a path, to its end, with `in` on its standard input and no environment but LC_ALL=C, and adds what it writes on its
   standard output and error to `out` and `messages` (of more than LIMIT_CHILD_BYTES it sees the end). Its exit status; -1: it
   could not be started, was ended by a signal, or took longer than that and was killed. */
int child_run(const char *const *argv, const struct buf *in, double seconds, struct buf *out, struct buf *messages,
              struct err *);

/* ---- time ---------------------------------------------------------------------- */

/* (Inline, so that tests can replace the clock of one file.) */
static inline double time_seconds(void) /* monotonic */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline uint64_t time_wall_ns(void) /* since 1970 */
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- threads and progress ------------------------------------------------------ */

/* Call work(ctx, i) for every i below n on at most `threads` threads (0: one per processor we may use), the caller's
   among them. Items are handed out in order, one at a time; results belong in slots by i so that order never depends
   on timing. */
void parallel_for(size_t n, unsigned threads, void (*work)(void *ctx, size_t i), void *ctx);
unsigned parallel_default(void); /* processors this process may use */

/* Progress of long work. report may be called from several threads and often; the driver decides what to show. NULL
   progress or NULL report: no reports. */
struct progress {
    void (*report)(void *ctx, const char *what, uint64_t done, uint64_t total);
    void *ctx;
};
void progress_report(const struct progress *, const char *what, uint64_t done, uint64_t total);

/* ---- ranks: processes that do one task together -------------------------------- */

/* The transport between ranks is filled in by its owner (driver/ranks.c: MPI). If a pointer to it is NULL, there is
   one rank. */
struct ranks {
    unsigned me, count;
    void *ctx;
    int (*send)(void *ctx, unsigned to, const void *bytes, size_t len, struct err *);
    int (*receive)(void *ctx, unsigned from, struct buf *into, struct err *);
};
/* Which of n things are this rank's: [*from, *to). The ranks' parts follow each other; with NULL ranks all are. */
void ranks_share(const struct ranks *, size_t n, size_t *from, size_t *to);
struct ranks_work {
    void *ctx;
    void (*pack)(void *ctx, struct buf *out);                            /* all that this rank has so far */
    int (*add)(void *ctx, const void *bytes, size_t len, struct err *);  /* the data of the ranks behind it */
    int (*take)(void *ctx, const void *bytes, size_t len, struct err *); /* the data of all, instead of its own */
};
/* The data of all ranks are combined in the order of ranks, up a binary tree, at the first one; with `take`, not
   NULL, the result goes back to all of them, the first one too. Whether neighbours are added first or last must not
   matter. */
int ranks_unite(const struct ranks *, const struct ranks_work *, struct err *);

#endif
