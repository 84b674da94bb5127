/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's public interface: all of a binary and parts of it give the same tree, for any number of threads; a
 * request returns what was requested; counts of parts add up to those of the whole.
 */
#include "bloop/binary_test.h"
#include "bloop/code/code.h"
#include "tests/chance.h"
#include "tests/guarded.h"
#include "tests/tap.h"

#include <dirent.h>
#include <fnmatch.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>

static struct guarded_room lent; /* addresses to query */

/* ---- a program of many functions ------------------------------------------------------------------------- */

enum { FUNCTIONS = 300 };

static void write_program(void)
{
    struct buf b = {0};
    buf_str(&b,
            "#include <stdlib.h>\n#include <stdio.h>\n"
            "#ifdef __x86_64__\n#define ONE \"add $1, %%eax\"\n#define CLOBBERED \"eax\"\n"
            "#else\n#define ONE \"add w0, w0, #1\"\n#define CLOBBERED \"x0\"\n#endif\n"
            "#define MUCH __asm__ volatile(\".rept 300\\n\" ONE \"\\n.endr\" : : : CLOBBERED, \"cc\") "
            "/* enough code for threads, compiled soon */\n"
            "__attribute__((noinline)) static void die(int x) { printf(\"%d\", x); exit(x); }\n"
            "__attribute__((noinline)) static void die_later(int x) { if (x) puts(\"later\"); die(x + 1); }\n"
            "__attribute__((noinline)) int checked(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) { if "
            "(a[i] < 0) die_later(i); s += a[i]; } return s; }\n"
            "__attribute__((noinline)) int choose(int k, int n) { switch (k) { case 0: return n + 7; case 1: return "
            "n * 3; case 2: return n / 5; case 3: return n ^ 9; case 4: return n << 2; case 5: return n - 11; case "
            "6: return n | 64; default: return k; } }\n");
    for (int i = 0; i < FUNCTIONS; i++)
        buf_printf(
            &b,
            "__attribute__((noinline)) int work_%d(int *a, int n) { int s = choose(n %% %d, n); MUCH; for (int i = 0; "
            "i < n; i++) { s += a[i] * %d; for (int k = %d; k < n; k++) if (a[k] > %d) s ^= a[k] / %d; } "
            "while (s > %d) s = s / 2 - checked(a, n); return s; }\n",
            i, i % 7 + 1, i + 3, i % 3, i, i + 2, i * 100);
    buf_str(&b, "int main(int n, char **v) { int a[9] = {n}; (void)v;\n");
    for (int i = 0; i < FUNCTIONS; i++)
        buf_printf(&b, "a[%d] += work_%d(a, 9);\n", i % 9, i);
    buf_str(&b, "return a[3]; }\n");
    write_file("many.c", b.bytes, b.len);
    buf_release(&b);
}

static const char few_source[] =
    "#include <stdlib.h>\n"
    "static volatile int kept;\n"
    "__attribute__((noinline)) static int first(int n) { int s = 0; for (int i = 0; i < n; i++) s += kept; return s; "
    "}\n"
    "__attribute__((noinline)) static int second(int n) { while (n > 3) n -= kept; return n; }\n"
    "int main(int n, char **v) { (void)v; return first(n) + second(n); }\n";

/* ---- trees as text ----------------------------------------------------------------------------------------- */

/* One procedure a line, with its scopes, their kinds and ranges. */
static void put_scope(struct buf *b, const struct scope_tree *t, scope_ix i)
{
    const struct scope *s = &t->scopes[i];
    buf_printf(b, " %u%s%s(%s %s@%u %u-%u %u/%u", s->kind, s->irreducible ? "i" : "", s->outlined ? "o" : "",
               strtab_get(t->strings, s->name), strtab_get(t->strings, s->file), s->call_line, s->line_first,
               s->line_last, s->instance, s->instances);
    for (uint32_t k = 0; k < s->range_count; k++)
        buf_printf(b, " %llx-%llx", (unsigned long long)t->ranges[s->range_first + k].begin,
                   (unsigned long long)t->ranges[s->range_first + k].end);
    buf_str(b, ")");
}

static char *procedure_text(const struct scope_tree *t, scope_ix proc)
{
    struct buf b = {0};
    put_scope(&b, t, proc);
    for (scope_ix i = proc + 1; i < t->scope_count && t->scopes[i].kind > SCOPE_PROC; i++) {
        buf_printf(&b, " <%u", t->scopes[i].parent - proc);
        put_scope(&b, t, i);
    }
    return b.bytes;
}

static scope_ix procedure_at(const struct scope_tree *t, vaddr entry)
{
    for (scope_ix i = 0; i < t->scope_count; i++)
        if (t->scopes[i].kind == SCOPE_PROC && t->scopes[i].entry == entry)
            return i;
    return SCOPE_NONE;
}

static size_t count_kind(const struct scope_tree *t, enum scope_kind kind)
{
    size_t n = 0;
    for (scope_ix i = 0; i < t->scope_count; i++)
        n += t->scopes[i].kind == kind;
    return n;
}

static bool same_trees(const struct scope_tree *a, const struct scope_tree *b)
{
    if (a->scope_count != b->scope_count)
        return false;
    bool same = true;
    for (scope_ix i = 0; i < a->scope_count && same; i++) {
        struct buf x = {0}, y = {0};
        put_scope(&x, a, i);
        put_scope(&y, b, i);
        same = a->scopes[i].parent == b->scopes[i].parent && strcmp(x.bytes, y.bytes) == 0;
        buf_release(&x);
        buf_release(&y);
    }
    return same;
}

static struct bloop_binary *open_binary(const char *path, struct bloop_options o)
{
    struct bloop_binary *b;
    struct err err = {0};
    if (bloop_open(path, &o, &b, NULL, &err) != 0)
        exit(99);
    return b;
}

static struct scope_tree *whole(struct bloop_binary *b)
{
    struct scope_tree *t;
    struct err err = {0};
    if (bloop_scopes_all(b, &t, NULL, &err) != 0 || scope_tree_check(t, &err) < 0)
        exit(99);
    return t;
}

static struct scope_tree *part(struct bloop_binary *b, const vaddr *addrs, size_t count)
{
    struct scope_tree *t;
    struct err err = {0};
    if (bloop_scopes_at(b, guarded_copy(&lent, addrs, count * sizeof *addrs), count, &t, NULL, &err) != 0 ||
        scope_tree_check(t, &err) < 0)
        exit(99);
    return t;
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

struct seen {
    uint64_t functions, blocks, instructions, loops, reports;
    vaddr last;
    bool in_order, counted;
};

static void see(void *ctx, const struct bloop_code *code)
{
    struct seen *s = ctx;
    vaddr begin = code->functions->functions[code->function].begin;
    s->in_order &= s->functions == 0 || begin > s->last;
    s->last = begin;
    s->functions++;
    s->blocks += code->cfg->block_count;
    s->instructions += code->cfg->instructions;
    s->loops += code->forest->loop_count;
}

/* ---- threads, parts --------------------------------------------------------------------------------------------- */

static struct scope_tree *all;
static struct bloop_stats all_stats;

static int by_address(const void *a, const void *b)
{
    const struct addr_range *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Pieces of work reported as progress, each once; with several threads in any order. */
struct told {
    uint64_t sum, count, total;
};
static void add_told(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    struct told *t = ctx;
    if (strcmp(what, "structure") != 0 || t->total > total)
        return;
    if (t->total < total)
        *t = (struct told){.total = total};
    __atomic_fetch_add(&t->sum, done, __ATOMIC_RELAXED);
    __atomic_fetch_add(&t->count, 1, __ATOMIC_RELAXED);
}

/* Progress is reported in pieces of 32 KiB of code, plus 64 bytes for each function. */
static uint64_t pieces_of(const struct scope_tree *t)
{
    struct VEC(struct addr_range) functions = {0};
    uint64_t n = 0, bytes = 0;
    for (scope_ix i = 0; i < t->scope_count; i++)
        if (t->scopes[i].kind == SCOPE_PROC)
            *vec_push(&functions) = t->ranges[t->scopes[i].range_first];
    vec_sort(&functions, by_address);
    for (size_t i = 0; i < functions.count; i++) {
        bytes += functions.items[i].end - functions.items[i].begin + 64;
        if (bytes >= 1 << 15 || i + 1 == functions.count)
            n++, bytes = 0;
    }
    vec_release(&functions);
    return n;
}

static void test_threads(const char *path)
{
    for (unsigned threads = 1; threads < 6; threads += 2) {
        struct told told = {0};
        const struct progress p = {.report = add_told, .ctx = &told};
        struct bloop_binary *b =
            open_binary(path, (struct bloop_options){.threads = threads, .progress = threads == 1 ? &p : NULL});
        struct scope_tree *t = whole(b);
        struct bloop_stats s = bloop_stats(b);
        if (!all) {
            all = t;
            all_stats = s;
        } else {
            CHECK(same_trees(all, t));
            CHECK(memcmp(&s, &all_stats, sizeof s) == 0);
            scope_tree_free(t);
        }
        if (threads == 1) {
            CHECK_INT(told.total, pieces_of(all));
            CHECK(told.total > 4 && told.count == told.total && told.sum == told.total * (told.total + 1) / 2);
        }
        t = whole(b); /* requested again */
        s = bloop_stats(b);
        CHECK(same_trees(all, t));
        CHECK(memcmp(&s, &all_stats, sizeof s) == 0);
        scope_tree_free(t);
        bloop_close(b);
    }
    CHECK(count_kind(all, SCOPE_PROC) > FUNCTIONS + 4);
    CHECK(count_kind(all, SCOPE_LOOP) > 3 * FUNCTIONS);
    CHECK(all_stats.text_bytes > 1 << 18); /* enough for threads */
}

static bool is_same_procedure(const struct scope_tree *t, scope_ix mine, vaddr entry)
{
    scope_ix there = procedure_at(all, entry);
    if (there == SCOPE_NONE || mine == SCOPE_NONE)
        return false;
    char *x = procedure_text(t, mine), *y = procedure_text(all, there);
    bool same = strcmp(x, y) == 0;
    if (!same)
        printf("# part  %s\n# whole %s\n", x, y);
    mem_free(x);
    mem_free(y);
    return same;
}

/* Each of some by itself, by an address inside of it; then all together, in any order and twice. */
static void test_parts(const char *path)
{
    struct VEC(vaddr) entries = {0}, mixed = {0};
    size_t different = 0, alone = 0;
    for (scope_ix i = 0; i < all->scope_count; i++)
        if (all->scopes[i].kind == SCOPE_PROC)
            *vec_push(&entries) = all->scopes[i].entry;
    for (size_t i = 0; i < entries.count; i += 1 + entries.count / 30) {
        scope_ix whole_one = procedure_at(all, entries.items[i]);
        const struct addr_range *last = &all->ranges[all->scopes[whole_one].range_first];
        vaddr inside = last->begin + (last->end - last->begin) / 2;
        struct bloop_binary *b = open_binary(path, (struct bloop_options){.threads = 2});
        struct scope_tree *t = part(b, &inside, 1);
        alone += count_kind(t, SCOPE_PROC) != 1 || bloop_stats(b).functions != 1;
        different += !is_same_procedure(t, procedure_at(t, entries.items[i]), entries.items[i]);
        scope_tree_free(t);
        bloop_close(b);
    }
    CHECK_INT(alone, 0);
    CHECK_INT(different, 0);
    for (size_t i = 0; i < 2 * entries.count; i++)
        *vec_push(&mixed) = entries.items[i * 7919 % entries.count];
    struct bloop_binary *b = open_binary(path, (struct bloop_options){0});
    struct scope_tree *t = part(b, mixed.items, mixed.count);
    CHECK(same_trees(all, t));
    struct bloop_stats s = bloop_stats(b), w = all_stats;
    CHECK(w.padding_bytes >= s.padding_bytes); /* the whole also counts padding between functions */
    s.padding_bytes = w.padding_bytes;
    CHECK(memcmp(&s, &w, sizeof s) == 0);
    CHECK(w.code_bytes + w.padding_bytes + w.table_bytes + w.undecodable_bytes <= w.text_bytes);
    CHECK_INT(w.functions, entries.count);
    CHECK_INT(w.undecodable_bytes, 0);
    CHECK(w.loops >= 3 * FUNCTIONS && w.instructions > w.blocks && w.blocks > w.functions);
    scope_tree_free(t);
    vaddr nowhere[] = {0, 16, UINT64_MAX};
    t = part(b, nowhere, 3);
    CHECK_INT(count_kind(t, SCOPE_PROC), 0);
    CHECK_INT(bloop_stats(b).functions, 0);
    scope_tree_free(t);
    t = part(b, NULL, 0);
    CHECK_INT(t->scope_count, 1);
    scope_tree_free(t);
    bloop_close(b);
    vec_release(&entries);
    vec_release(&mixed);
}

/* Classifies each byte as code of a function or padding. The rest is neither. */
static void test_bytes(void)
{
    printf("# text %llu code %llu padding %llu tables %llu\n", (unsigned long long)all_stats.text_bytes,
           (unsigned long long)all_stats.code_bytes, (unsigned long long)all_stats.padding_bytes,
           (unsigned long long)all_stats.table_bytes);
    uint64_t known = all_stats.code_bytes + all_stats.padding_bytes + all_stats.table_bytes;
    CHECK_NAMED(known * 1000 >= all_stats.text_bytes * 999, "code and padding are all there is");
}

#ifdef __x86_64__
/* Between functions: code with symbols; the rest is padding. */
static const char gaps_source[] =
    ".text\n.globl _start\n"
    ".type _start,@function\n_start: mov $60,%eax\nxor %edi,%edi\nsyscall\n"
    "1: jmp 1b\n.size _start,.-_start\n" /* 11 bytes */
    "nop\nnop\n.byte 0x66,0x90\n"        /* 4 of padding */
    ".zero 1\n"
    ".type two,@function\ntwo: lea 1(%rdi),%eax\nret\n.size two,.-two\n" /* 4 */
    "int3\nint3\n"
    ".byte 0x06,0x06,0x06\n" /* invalid instructions */
    "nopw 0(%rax,%rax,1)\n"  /* 5 */
    ".type three,@function\nthree: ret\n.size three,.-three\n"
    ".section .text.more,\"ax\"\n"
    "nop\n.type four,@function\nfour: call two\nret\n.size four,.-four\nnop\n"
    /* a loop with two entries, and unresolvable jumps */
    ".type five,@function\nfive: test %edi,%edi\nje 2f\n1: sub $1,%esi\n2: sub $1,%edi\n"
    "jne 1b\nret\n.size five,.-five\n" /* 13 */
    ".type six,@function\nsix: push %rbx\njmp *%rdi\n.size six,.-six\n"
    ".type seven,@function\nseven: push %rbx\ntest %edi,%edi\nje 1f\njmp *%rsi\n1: jmp *%rdx\n"
    ".size seven,.-seven\n" /* 9 */
    /* not code, or not loaded */
    ".data\nnop\nnop\n.section .odd,\"x\"\nnop\nnop\n";

/* Functions known only by calls, inside a label without a size; one calls the next. */
static const char called_source[] =
    ".text\n.globl _start\n.type _start,@function\n_start: call two\ncall .La1\ncall two\ncall .La2\ncall .La3\n"
    "1: jmp 1b\n.size _start,.-_start\n"
    ".type two,@function\ntwo: ret\n.size two,.-two\n"
    ".globl a\na: lea 1(%rdi),%eax\nret\n.La1: lea 2(%rdi),%eax\nret\n.La2: call .La4\nret\n.La3: lea 3(%rdi),%eax\n"
    "ret\n.La4: sub $1,%edi\njne .La4\ncall .La5\nret\n.La5: lea 4(%rdi),%eax\nret\n"
    ".section .rodata\n.globl table\ntable: .quad _start,two,a,.La1,.La2,.La3,.La4,.La5\n";

static void test_called(void)
{
    char *path =
        compile(tool("CC", "cc"), "-nostdlib -static -Wl,--build-id=none", "called.s", called_source, "called");
    struct image *im = NULL;
    if (!path || image_open(path, NULL, &im, NULL, NULL) < 0) {
        SKIP("called", "no assembler");
        mem_free(path);
        return;
    }
    struct warnings *w = warnings_create();
    struct bloop_binary *b = open_binary(path, (struct bloop_options){0});
    struct scope_tree *t = NULL;
    size_t avail, missing = 0;
    CHECK(bloop_scopes_all(b, &t, w, NULL) == 0);
    const uint8_t *table = image_bytes(im, symbol_named(im, "table")->addr, &avail);
    for (size_t i = 0; i < 8; i++) {
        vaddr entry;
        memcpy(&entry, table + 8 * i, 8);
        missing += procedure_at(t, entry) == SCOPE_NONE;
    }
    CHECK_INT(missing, 0);
    CHECK_INT(count_kind(t, SCOPE_PROC), 8);
    CHECK_INT(bloop_stats(b).functions, 8); /* including those rebuilt after they became shorter */
    CHECK_INT(bloop_stats(b).loops, 2);
    CHECK_INT(count_kind(t, SCOPE_LOOP), 2);
    CHECK_INT(warnings_count(w), 0);
    char *kept = bloop_cache_path(b, scratch_folder, "1");
    CHECK(kept == NULL); /* no build id */
    warnings_free(w);
    scope_tree_free(t);
    bloop_close(b);
    image_close(im);
    mem_free(path);
}

/* ---- random programs ----
 *
 * Functions with several pieces of code each, with known counts; their symbols have a size or not, or they are in gaps,
 * where only calls reveal them. Each function alone gives the planned counts. All or some of them, in any order and
 * repeatedly, also for a binary that was queried before, give the sum of those.
 */

enum { DRAWN = 24, DRAWN_PROGRAMS = 5, DRAWN_DIE = 3, DRAWN_STEPS = 14 };

struct drawn {
    struct bloop_stats want;
    uint64_t dead; /* unreachable bytes */
    vaddr begin;
    char *text; /* of its tree, alone */
    bool hidden;
};

/* Expected counts of a piece: bytes, instructions, loops. */
static void add_drawn(struct buf *b, struct drawn *f, const char *code, unsigned bytes, unsigned instructions,
                      unsigned loops)
{
    buf_str(b, code);
    f->want.code_bytes += bytes;
    f->want.instructions += instructions;
    f->want.loops += loops;
}

static void draw_piece(struct buf *b, struct drawn *f, unsigned number)
{
    switch (below(f->hidden ? 5 : 8)) { /* (in a gap, code after padding may be another function) */
    case 0:
        add_drawn(b, f, "1: sub $1,%edi\njne 1b\n", 5, 2, 1);
        break;
    case 1:
        add_drawn(b, f, "je 2f\n1: sub $1,%esi\n2: sub $1,%edi\njne 1b\n", 10, 4, 1);
        f->want.irreducible_loops++;
        break;
    case 2:
        add_drawn(b, f, "1: lea 1(%rdi),%eax\n2: sub $1,%edi\njne 2b\nsub $1,%esi\njne 1b\n", 13, 5, 2);
        break;
    case 3:
        if (number + 1 == DRAWN)
            break;
        buf_printf(b, "call .Lf%u\n", number + 1 + below(DRAWN - 1 - number)); /* not in a circle */
        add_drawn(b, f, "", 5, 1, 0);
        break;
    case 4: /* no loop, as it does not come back */
        buf_printf(b, "je 1f\n2: call die%u\njmp 2b\n1: ", below(DRAWN_DIE));
        add_drawn(b, f, "", 7, 2, 0);
        f->dead += 2;
        break;
    case 5:
        add_drawn(b, f, "je 1f\nnop\n1: ", 3, 2, 0);
        break;
    default:
        add_drawn(b, f, "lea 1(%rdi),%eax\n", 3, 1, 0);
    }
}

/* A jump through a table that follows it. */
static void draw_table(struct buf *b, struct drawn *f)
{
    add_drawn(b, f, "cmp $2,%edi\nja 1f\nmov %edi,%edi\njmp *2f(,%rdi,8)\n2: .quad 3f,4f,1f\n3: nop\n4: nop\n1: ", 16,
              6, 0);
    f->want.indirect_jumps++;
    f->want.table_bytes += 24;
}

static void draw_function(struct buf *b, struct drawn *f, unsigned number, struct drawn *others)
{
    bool sized = below(2);
    f->hidden = !sized && below(2);
    f->want.functions = 1;
    buf_str(b, below(5) ? ".text\n" : ".section .text.more,\"ax\"\n");
    if (f->hidden) { /* in a gap, after the end of the control flow */
        buf_printf(b, ".type e%u,@function\ne%u: ret\n.size e%u,.-e%u\n", number, number, number, number);
        others->want.functions++;
        add_drawn(b, others, "", 1, 1, 0);
    } else {
        buf_printf(b, ".globl s%u\n.type s%u,@function\ns%u: ", number, number, number);
    }
    buf_printf(b, ".Lf%u: ", number);
    if (!f->hidden && below(4) == 0)
        draw_table(b, f);
    for (unsigned n = 1 + below(6); n; n--)
        draw_piece(b, f, number);
    if (f->hidden || below(3)) {
        add_drawn(b, f, "ret\n", 1, 1, 0);
    } else {
        add_drawn(b, f, "push %rbx\njmp *%rdi\n", 3, 2, 0);
        f->want.indirect_jumps++;
        f->want.unresolved_jumps++;
    }
    if (sized)
        buf_printf(b, ".size s%u,.-s%u\n", number, number);
    for (unsigned n = f->hidden ? 0 : below(4); n; n--) {
        buf_str(b, "nop\n");
        others->want.padding_bytes++;
    }
    if (sized && below(3) == 0) {
        buf_str(b, ".byte 0x06\n");
        others->dead++;
    }
}

static void draw_program(struct buf *b, struct drawn *functions, struct drawn *others)
{
    buf_str(b, ".text\n.type die0,@function\ndie0: ud2\n.size die0,.-die0\n");
    add_drawn(b, others, "", 2, 1, 0);
    for (unsigned i = 1; i < DRAWN_DIE; i++) {
        buf_printf(b, ".type die%u,@function\ndie%u: lea 1(%%rdi),%%eax\ncall die%u\n.size die%u,.-die%u\n", i, i,
                   i - 1, i, i);
        add_drawn(b, others, "", 8, 2, 0);
    }
    for (unsigned i = 0; i < DRAWN; i++)
        draw_function(b, &functions[i], i, others);
    buf_str(b, ".text\n.globl _start\n.type _start,@function\n_start: ");
    for (unsigned i = 0; i < DRAWN; i++)
        if (functions[i].hidden) {
            buf_printf(b, "call .Lf%u\n", i);
            add_drawn(b, others, "", 5, 1, 0);
        }
    add_drawn(b, others, "1: jmp 1b\n.size _start,.-_start\n", 2, 1, 1);
    others->want.functions += DRAWN_DIE + 1;
    buf_str(b, ".section .rodata\n.globl table\ntable: ");
    for (unsigned i = 0; i < DRAWN; i++)
        buf_printf(b, ".quad .Lf%u\n", i);
}

/* Blocks, and the padding of functions, are not planned. */
static bool is_as_planned(const struct bloop_stats *want, const struct bloop_stats *got)
{
    struct bloop_stats w = *want;
    w.text_bytes = got->text_bytes;
    w.padding_bytes = got->padding_bytes;
    w.blocks = got->blocks;
    if (memcmp(&w, got, sizeof w) == 0)
        return true;
    for (size_t i = 0; i < sizeof w / sizeof(uint64_t); i++)
        printf("# number %zu is %llu, wanted %llu\n", i, (unsigned long long)((const uint64_t *)got)[i],
               (unsigned long long)((const uint64_t *)&w)[i]);
    return false;
}

static void add_stats(struct bloop_stats *sum, const struct bloop_stats *one)
{
    uint64_t *to = (uint64_t *)sum;
    for (size_t i = 0; i < sizeof *one / sizeof *to; i++)
        to[i] += ((const uint64_t *)one)[i];
}

/* How many of the functions are not in the tree as they are alone. */
static size_t unlike_alone(const struct scope_tree *t, const struct drawn *functions, const bool *asked)
{
    size_t unlike = 0;
    for (unsigned i = 0; i < DRAWN; i++) {
        scope_ix proc = procedure_at(t, functions[i].begin);
        char *text = proc != SCOPE_NONE ? procedure_text(t, proc) : NULL;
        if (asked[i] && (!text || strcmp(text, functions[i].text) != 0)) {
            printf("# f%u is  %s\n# alone %s\n", i, text ? text : "nowhere", functions[i].text);
            unlike++;
        }
        mem_free(text);
    }
    return unlike;
}

/* Queries some of the functions, in any order, by any of their bytes; returns the combined result. */
static size_t ask_some(struct bloop_binary *b, const struct drawn *functions, bool all_known, bool code)
{
    enum { MOST_ASKED = 6 };
    vaddr addrs[MOST_ASKED];
    bool asked[DRAWN] = {false};
    struct bloop_stats sum = {0};
    size_t n = 1 + below(MOST_ASKED), wrong = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned f = below(DRAWN);
        while (functions[f].hidden && !all_known)
            f = (f + 1) % DRAWN;
        addrs[i] = functions[f].begin + below((uint32_t)functions[f].want.code_bytes);
        if (functions[f].want.table_bytes)
            addrs[i] = functions[f].begin;
        if (!asked[f])
            add_stats(&sum, &functions[f].want);
        asked[f] = true;
    }
    if (code) {
        struct seen seen = {.in_order = true};
        bloop_code_at(b, guarded_copy(&lent, addrs, n * sizeof *addrs), n, see, &seen, NULL);
        return !seen.in_order || seen.functions != sum.functions || seen.blocks != sum.blocks ||
               seen.instructions != sum.instructions || seen.loops != sum.loops;
    }
    struct scope_tree *t = part(b, addrs, n);
    const struct bloop_stats got = bloop_stats(b);
    wrong += !is_as_planned(&sum, &got) || got.blocks != sum.blocks;
    wrong += unlike_alone(t, functions, asked) + (count_kind(t, SCOPE_PROC) != sum.functions);
    scope_tree_free(t);
    return wrong;
}

static size_t ask_all(struct bloop_binary *b, const struct drawn *functions, const struct drawn *others)
{
    bool asked[DRAWN];
    struct bloop_stats sum = others->want;
    uint64_t dead = others->dead;
    struct scope_tree *t = whole(b);
    const struct bloop_stats got = bloop_stats(b);
    memset(asked, true, sizeof asked);
    for (unsigned i = 0; i < DRAWN; i++) {
        add_stats(&sum, &functions[i].want);
        dead += functions[i].dead;
    }
    size_t wrong = !is_as_planned(&sum, &got);
    wrong += got.padding_bytes != others->want.padding_bytes;
    wrong += got.text_bytes != got.code_bytes + got.padding_bytes + got.table_bytes + got.undecodable_bytes + dead;
    if (wrong)
        printf("# padding %llu, %llu wanted; text %llu, dead %llu\n", (unsigned long long)got.padding_bytes,
               (unsigned long long)others->want.padding_bytes, (unsigned long long)got.text_bytes,
               (unsigned long long)dead);
    wrong += unlike_alone(t, functions, asked) + (count_kind(t, SCOPE_PROC) != sum.functions);
    scope_tree_free(t);
    return wrong;
}

static bool look_alone(const char *path, struct drawn *f)
{
    struct bloop_binary *b = open_binary(path, (struct bloop_options){0});
    if (f->hidden) /* found only by reading everything */
        scope_tree_free(whole(b));
    struct scope_tree *t = part(b, &f->begin, 1);
    const struct bloop_stats got = bloop_stats(b);
    bool right = is_as_planned(&f->want, &got) && procedure_at(t, f->begin) != SCOPE_NONE;
    f->want.blocks = got.blocks;
    f->text = right ? procedure_text(t, procedure_at(t, f->begin)) : mem_strdup("");
    scope_tree_free(t);
    bloop_close(b);
    return right;
}

static void test_drawn(void)
{
    size_t planned = 0, wrong = 0;
    for (unsigned program = 0; program < DRAWN_PROGRAMS; program++) {
        struct drawn functions[DRAWN] = {0}, others = {0};
        struct buf source = {0};
        struct image *im = NULL;
        draw_program(&source, functions, &others);
        buf_char(&source, '\0');
        char *path = compile(tool("CC", "cc"), "-nostdlib -static -no-pie -Wl,--build-id=none", "drawn.s", source.bytes,
                             "drawn");
        buf_release(&source);
        if (!path || image_open(path, NULL, &im, NULL, NULL) < 0) {
            SKIP("programs drawn", "no assembler");
            mem_free(path);
            return;
        }
        size_t avail;
        const uint8_t *table = image_bytes(im, symbol_named(im, "table")->addr, &avail);
        for (unsigned i = 0; i < DRAWN; i++) {
            memcpy(&functions[i].begin, table + 8 * i, 8);
            planned += look_alone(path, &functions[i]);
        }
        struct bloop_binary *b = open_binary(path, (struct bloop_options){.threads = 1 + program % 2});
        bool all_known = false;
        for (unsigned step = 0; step < DRAWN_STEPS; step++) {
            bool every = below(5) == 0;
            wrong += every ? ask_all(b, functions, &others) : ask_some(b, functions, all_known, below(3) == 0);
            all_known |= every;
        }
        wrong += ask_all(b, functions, &others);
        bloop_close(b);
        for (unsigned i = 0; i < DRAWN; i++)
            mem_free(functions[i].text);
        image_close(im);
        mem_free(path);
    }
    CHECK_INT(planned, DRAWN * DRAWN_PROGRAMS);
    CHECK_INT(wrong, 0);
}

/* Functions known only through calls are built in separate rounds: finished ones are not rebuilt. */
static void test_rounds(void)
{
    static const char source[] =
        ".text\n.macro big name\n.type \\name,@function\n\\name: .rept 12000\nlea 1(%rdi),%eax\n.endr\nret\n"
        ".size \\name,.-\\name\n.endm\nbig big1\nbig big2\n"
        ".globl _start\n.type _start,@function\n_start: call .La\n1: jmp 1b\n.size _start,.-_start\n"
        ".La: call .Lb\nret\nbig big3\n.Lb: call .Lc\nret\nbig big4\n.Lc: ret\n";
    char *path =
        compile(tool("CC", "cc"), "-nostdlib -static -no-pie -Wl,--build-id=none", "rounds.s", source, "rounds");
    if (!path) {
        SKIP("rounds", "no assembler");
        return;
    }
    struct told told = {0};
    const struct progress p = {.report = add_told, .ctx = &told};
    struct bloop_binary *b = open_binary(path, (struct bloop_options){.threads = 1, .progress = &p});
    struct scope_tree *t = whole(b);
    CHECK_INT(count_kind(t, SCOPE_PROC), 4 + 1 + 3);
    CHECK_INT(bloop_stats(b).functions, 4 + 1 + 3);
    CHECK_INT(told.total, 5);
    CHECK_INT(told.count, 5);
    scope_tree_free(t);
    bloop_close(b);
    mem_free(path);
}

/* The counts of all functions add up. */
static void check_sums(const char *path, const struct scope_tree *t, struct bloop_stats s)
{
    struct bloop_stats sum = {0};
    uint64_t *to = (uint64_t *)&sum;
    for (scope_ix i = 0; i < t->scope_count; i++)
        if (t->scopes[i].kind == SCOPE_PROC) {
            struct bloop_binary *b = open_binary(path, (struct bloop_options){0});
            scope_tree_free(part(b, &t->scopes[i].entry, 1));
            struct bloop_stats one = bloop_stats(b);
            for (size_t k = 0; k < sizeof one / sizeof *to; k++)
                to[k] += ((const uint64_t *)&one)[k];
            bloop_close(b);
        }
    sum.text_bytes = s.text_bytes;
    s.padding_bytes = sum.padding_bytes; /* padding between functions belongs to no function */
    CHECK(memcmp(&sum, &s, sizeof s) == 0);
}

static void test_gaps(const char *flags)
{
    char *path = compile(tool("CC", "cc"), flags, "gaps.s", gaps_source, "gaps");
    if (!path) {
        SKIP("gaps", "no assembler");
        return;
    }
    struct bloop_binary *b = open_binary(path, (struct bloop_options){0});
    struct scope_tree *t = whole(b);
    const struct bloop_stats s = bloop_stats(b);
    CHECK_INT(s.functions, 7);
    CHECK_INT(s.code_bytes, 11 + 4 + 1 + 6 + 13 + 3 + 9);
    CHECK_INT(s.text_bytes, 11 + 4 + 1 + 4 + 2 + 3 + 5 + 1 + 1 + 6 + 1 + 13 + 3 + 9);
    CHECK_INT(s.padding_bytes, 4 + 1 + 2 + 5 + 1 + 1);
    CHECK_INT(s.loops, 2);
    CHECK_INT(s.irreducible_loops, 1);
    CHECK_INT(s.indirect_jumps, 3);
    CHECK_INT(s.unresolved_jumps, 3);
    check_sums(path, t, s);
    scope_tree_free(t);
    bloop_close(b);
    mem_free(path);
}

/* A function known only from its code is found if the code is searched, and is not if that is not requested. */
static void test_gap_alone(void)
{
    static const char source[] = ".text\n.globl _start\n.type _start,@function\n_start: mov $60,%eax\n1: jmp 1b\n"
                                 ".size _start,.-_start\n.p2align 6\npush %rbx\nlea 1(%rdi),%eax\npop %rbx\nret\n";
    char *path = compile(tool("CC", "cc"), "-nostdlib -static -no-pie -Wl,--build-id=none -Wl,-Ttext=0x401000",
                         "alone.s", source, "alone");
    if (!path) {
        SKIP("a gap", "no assembler");
        return;
    }
    for (int only = 0; only < 2; only++) {
        struct bloop_binary *b = open_binary(path, (struct bloop_options){.procedures_only = only});
        struct scope_tree *t = part(b, &(vaddr){0x401041}, 1);
        CHECK_INT(count_kind(t, SCOPE_PROC), !only);
        CHECK((procedure_at(t, 0x401040) == SCOPE_NONE) == only);
        scope_tree_free(t);
        bloop_close(b);
    }
    mem_free(path);
}

/* The sections of an object file, in any order, that are loaded, executable and not empty. */
static void test_text_bytes(void)
{
    static const char source[] = ".text\nnop\nnop\n.section .n0,\"aw\",@nobits\n.zero 64\n"
                                 ".section .c1,\"ax\"\nnop\nnop\nnop\n.section .n1,\"aw\",@nobits\n.zero 64\n"
                                 ".section .c2,\"ax\"\n.zero 8,0x90\n.section .x1,\"x\"\n.zero 64\n"
                                 ".section .c3,\"ax\"\n.zero 16,0x90\n.section .d1,\"a\"\n.zero 64\n"
                                 ".section .c4,\"ax\"\n.zero 32,0x90\n";
    char *path = compile(tool("CC", "cc"), "-c", "sections.s", source, "sections.o");
    if (!path) {
        SKIP("sections", "no assembler");
        return;
    }
    struct bloop_binary *b = open_binary(path, (struct bloop_options){0});
    scope_tree_free(whole(b));
    CHECK_INT(bloop_stats(b).text_bytes, 2 + 3 + 8 + 16 + 32);
    bloop_close(b);
    mem_free(path);
}
#else
static void test_gap_alone(void)
{
    SKIP("a gap", "the source is for x86-64");
}

static void test_text_bytes(void)
{
    SKIP("sections", "the source is for x86-64");
}

static void test_gaps(const char *flags)
{
    (void)flags;
    SKIP("gaps", "the source is for x86-64");
}

static void test_drawn(void)
{
    SKIP("programs drawn", "the source is for x86-64");
}

static void test_rounds(void)
{
    SKIP("rounds", "the source is for x86-64");
}

static void test_called(void)
{
    SKIP("called", "the source is for x86-64");
}
#endif

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void test_globs(const char *path)
{
    static const char *const functions[] = {"work_1*", "*_later", "nobody*", "main", NULL};
    static const char *const sources[] = {NULL, "many.c", "*/many.c", "few.c"};
    for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
        for (size_t k = 0; k < ARRAY_SIZE(sources); k++) {
            struct warnings *w = warnings_create();
            struct err err = {0};
            struct scope_tree *t;
            struct bloop_binary *b = open_binary(
                path, (struct bloop_options){.function_glob = functions[i], .source_glob = sources[k], .threads = 2});
            if (bloop_scopes_all(b, &t, w, &err) < 0)
                exit(99);
            size_t wanted = 0, missing = 0;
            for (scope_ix s = 0; s < all->scope_count; s++) {
                const struct scope *p = &all->scopes[s];
                const char *file = strtab_get(all->strings, p->file);
                if (p->kind != SCOPE_PROC ||
                    (functions[i] && fnmatch(functions[i], strtab_get(all->strings, p->name), 0) != 0) ||
                    (sources[k] &&
                     (!*file || (fnmatch(sources[k], file, 0) != 0 && fnmatch(sources[k], path_base(file), 0) != 0))))
                    continue;
                wanted++;
                missing += !is_same_procedure(t, procedure_at(t, p->entry), p->entry);
            }
            CHECK_INT(count_kind(t, SCOPE_PROC), wanted);
            CHECK_INT(missing, 0);
            CHECK_INT(warnings_count(w), wanted == 0);
            if (wanted == 0)
                CHECK(warned(w, functions[i] ? "no procedure name matches"
                                : sources[k] ? "no procedure is from a source file that matches 'few.c'"
                                             : "?") &&
                      (!functions[i] || !sources[k] || warned(w, "in a source file that matches")));
            scope_tree_free(t);
            bloop_close(b);
            warnings_free(w);
        }
    struct bloop_binary *b = open_binary(path, (struct bloop_options){.procedures_only = true});
    struct scope_tree *t = whole(b);
    size_t named = 0;
    for (scope_ix s = 0; s < t->scope_count; s++) {
        scope_ix there = t->scopes[s].kind == SCOPE_PROC ? procedure_at(all, t->scopes[s].entry) : SCOPE_NONE;
        named += there != SCOPE_NONE && strcmp(strtab_get(t->strings, t->scopes[s].name),
                                               strtab_get(all->strings, all->scopes[there].name)) == 0;
    }
    CHECK(named > FUNCTIONS);
    CHECK_INT(count_kind(t, SCOPE_LOOP), 0);
    struct VEC(vaddr) entries = {0};
    for (scope_ix s = 0; s < t->scope_count; s++)
        if (t->scopes[s].kind == SCOPE_PROC)
            *vec_push(&entries) = t->scopes[s].entry + 1;
    struct bloop_binary *asked = open_binary(path, (struct bloop_options){.procedures_only = true});
    struct scope_tree *parts = part(asked, entries.items, entries.count);
    CHECK(same_trees(parts, t));
    scope_tree_free(parts);
    bloop_close(asked);
    vec_release(&entries);
    scope_tree_free(t);
    bloop_close(b);
}

static void count_reports(void *ctx, const char *what, uint64_t done, uint64_t total)
{
    struct seen *s = ctx;
    s->reports++;
    s->counted &= strcmp(what, "instructions") == 0 && done == s->reports && done <= total && done == s->functions;
}

static void test_code(const char *path)
{
    struct seen s = {.in_order = true, .counted = true};
    struct progress p = {.report = count_reports, .ctx = &s};
    struct bloop_binary *b = open_binary(path, (struct bloop_options){.progress = &p});
    struct VEC(vaddr) entries = {0};
    for (scope_ix i = all->scope_count; i-- > 0;)
        if (all->scopes[i].kind == SCOPE_PROC)
            *vec_push(&entries) = all->scopes[i].entry;
    bloop_code_at(b, entries.items, entries.count, see, &s, NULL);
    CHECK(s.in_order);
    CHECK(s.counted && s.reports == entries.count);
    CHECK_INT(s.functions, all_stats.functions);
    CHECK_INT(s.blocks, all_stats.blocks);
    CHECK_INT(s.instructions, all_stats.instructions);
    CHECK_INT(s.loops, all_stats.loops);
    uint16_t language = 77;
    char *producer = bloop_producer(b, entries.items[0], &language, NULL);
    printf("# %s, language %u\n", producer, language);
    mem_free(producer);
    producer = bloop_producer(b, 16, &language, NULL);
    CHECK_STR(producer, "");
    CHECK_INT(language, 0);
    mem_free(producer);
    vec_release(&entries);
    bloop_close(b);
}

/* ---- names that only the debug information has ------------------------------------------------------------------- */

static vaddr entry_of(const struct scope_tree *t, const char *name)
{
    for (scope_ix i = 0; i < t->scope_count; i++)
        if (t->scopes[i].kind == SCOPE_PROC && strcmp(strtab_get(t->strings, t->scopes[i].short_name), name) == 0)
            return t->scopes[i].entry;
    return 0;
}

static void test_without_symbols(void)
{
    char *path = compile(tool("CC", "cc"), "-O1 -g -fno-asynchronous-unwind-tables", "few.c", few_source, "few");
    if (!path || !shell("objcopy --strip-all --keep-section='.debug_*' few bare")) {
        SKIP("names of the debug information", "no compiler or objcopy that does it");
        mem_free(path);
        return;
    }
    char *bare = scratch("bare");
    struct bloop_binary *b = open_binary(path, (struct bloop_options){0});
    struct scope_tree *t = whole(b);
    static const char *const names[] = {"first", "second", "main"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        vaddr entry = entry_of(t, names[i]);
        uint16_t language = 0;
        CHECK(entry != 0);
        char *producer = bloop_producer(b, entry, &language, NULL);
        CHECK(strstr(producer, "GNU C") || strstr(producer, "clang"));
        CHECK(language == 0xc || language == 0x1d || language == 0x2c || language == 2); /* C99, C11, C17, C */
        struct bloop_binary *stripped = open_binary(bare, (struct bloop_options){0});
        struct scope_tree *one = part(stripped, &entry, 1);
        char *said = bloop_producer(stripped, entry, &language, NULL);
        CHECK_INT(entry_of(one, names[i]), entry);
        CHECK_INT(count_kind(one, SCOPE_LOOP), i < 2);
        CHECK_STR(said, producer);
        mem_free(producer);
        mem_free(said);
        scope_tree_free(one);
        bloop_close(stripped);
    }
    vaddr entries[] = {entry_of(t, "second"), entry_of(t, "first") + 1, entry_of(t, "main") + 2, entry_of(t, "first")};
    struct bloop_binary *some = open_binary(bare, (struct bloop_options){0});
    struct scope_tree *three = part(some, entries, 4);
    CHECK_INT(count_kind(three, SCOPE_PROC), 3);
    scope_tree_free(three);
    bloop_close(some);
    if (shell("objcopy --strip-all few bare2")) { /* and if nothing else is known: by the code alone */
        char *nameless = scratch("bare2");
        some = open_binary(nameless, (struct bloop_options){0});
        three = part(some, entries, 4);
        struct bloop_binary *other = open_binary(nameless, (struct bloop_options){0});
        struct scope_tree *everything = whole(other);
        size_t unlike = 0;
        for (size_t i = 0; i < 4; i++) {
            scope_ix mine = scope_tree_find(three, entries[i]), there = scope_tree_find(everything, entries[i]);
            while (mine != SCOPE_NONE && three->scopes[mine].kind != SCOPE_PROC)
                mine = three->scopes[mine].parent;
            while (there != SCOPE_NONE && everything->scopes[there].kind != SCOPE_PROC)
                there = everything->scopes[there].parent;
            char *x = mine == SCOPE_NONE ? NULL : procedure_text(three, mine);
            char *y = there == SCOPE_NONE ? NULL : procedure_text(everything, there);
            unlike += !x || !y || strcmp(x, y) != 0;
            mem_free(x);
            mem_free(y);
        }
        CHECK_INT(unlike, 0);
        CHECK_INT(bloop_stats(some).functions, count_kind(three, SCOPE_PROC));
        scope_tree_free(three);
        scope_tree_free(everything);
        bloop_close(some);
        bloop_close(other);
        mem_free(nameless);
    }
    if (shell("objcopy --strip-symbol=second few less")) { /* the others have symbols, and code is not searched */
        char *less = scratch("less");
        const struct bloop_options names_alone = {.procedures_only = true};
        vaddr inside = entry_of(t, "second") + 1;
        struct bloop_binary *one = open_binary(less, names_alone), *every = open_binary(less, names_alone);
        struct scope_tree *found = part(one, &inside, 1), *found_too = whole(every);
        CHECK_INT(count_kind(found, SCOPE_PROC), 1);
        CHECK_INT(entry_of(found, "second"), inside - 1);
        CHECK_INT(entry_of(found_too, "second"), inside - 1);
        CHECK_INT(entry_of(found_too, "first"), entry_of(t, "first"));
        scope_tree_free(found);
        scope_tree_free(found_too);
        bloop_close(one);
        bloop_close(every);
        mem_free(less);
    }
    struct bloop_binary *stripped = open_binary(bare, (struct bloop_options){0});
    struct scope_tree *again = whole(stripped);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        CHECK_INT(entry_of(again, names[i]), entry_of(t, names[i]));
    scope_tree_free(again);
    bloop_close(stripped);
    scope_tree_free(t);
    bloop_close(b);
    mem_free(path);
    mem_free(bare);
}

/* ---- variables, cold parts --------------------------------------------------------------------------------------- */

static const char cold_source[] =
    "#include <stdio.h>\n"
    "__attribute__((cold, noinline)) static void rare(int n) { printf(\"%d\", n); }\n"
    "__attribute__((noinline)) int common(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) { "
    "if (__builtin_expect(a[i] == 77, 0)) { rare(i); rare(s); s ^= i; for (int k = 0; k < s; k++) rare(k); } s += a[i] "
    "* 3; } "
    "return s; }\n"
    "int main(int n, char **v) { int work[40]; (void)v; for (int i = 0; i < 40; i++) work[i] = n * i; "
    "return common(work, n + 30); }\n";

/* Any address in a cold part selects the whole function. */
static void test_cold_parts(void)
{
    char *path = compile(tool("CC", "cc"), "-O2 -g", "cold.c", cold_source, "cold");
    struct image *im = NULL;
    if (!path || image_open(path, NULL, &im, NULL, NULL) < 0 || !symbol_named(im, "common.cold")) {
        SKIP("cold parts", "the compiler makes none");
    } else {
        const struct image_symbol *cold = symbol_named(im, "common.cold"), *hot = symbol_named(im, "common");
        struct bloop_binary *b = open_binary(path, (struct bloop_options){0});
        struct scope_tree *t = whole(b);
        const vaddr in_cold[] = {cold->addr + 1, cold->addr + cold->size - 1, hot->addr};
        for (size_t i = 0; i < ARRAY_SIZE(in_cold); i++) {
            struct bloop_binary *asked = open_binary(path, (struct bloop_options){0});
            struct scope_tree *one = part(asked, &in_cold[i], 1);
            struct seen seen = {.in_order = true};
            uint16_t language = 0, other = 0;
            char *x = procedure_text(one, procedure_at(one, hot->addr));
            char *y = procedure_text(t, procedure_at(t, hot->addr));
            char *producer = bloop_producer(asked, in_cold[i], &language, NULL);
            char *wanted = bloop_producer(b, hot->addr, &other, NULL);
            CHECK_STR(x, y);
            CHECK_INT(count_kind(one, SCOPE_PROC), 1);
            CHECK_STR(producer, wanted);
            CHECK(strlen(wanted) > 4 && language == other && language != 0);
            bloop_code_at(asked, &in_cold[i], 1, see, &seen, NULL);
            CHECK_INT(seen.functions, 1);
            CHECK_INT(seen.last, hot->addr);
            CHECK_INT(seen.instructions, bloop_stats(asked).instructions);
            mem_free(x);
            mem_free(y);
            mem_free(producer);
            mem_free(wanted);
            scope_tree_free(one);
            bloop_close(asked);
        }
        scope_tree_free(t);
        bloop_close(b);
    }
    image_close(im);
    mem_free(path);
}

static void test_variables(void)
{
    char *path = compile(tool("CC", "cc"), "-O0 -g", "cold.c", cold_source, "frames");
    if (!path || !shell("strip -s -o bare frames")) {
        SKIP("variables", "no compiler or strip");
        mem_free(path);
        return;
    }
    char *bare = scratch("bare");
    struct bloop_binary *b = open_binary(path, (struct bloop_options){0});
    struct scope_tree *t = whole(b);
    for (int again = 0; again < 2; again++) {
        struct bloop_variables list = {0};
        size_t found = 0;
        bloop_variables(b, &list, NULL);
        for (size_t i = 0; i < list.count; i++)
            found += strcmp(list.items[i].name, "main::work") == 0 && list.items[i].in_frame &&
                     list.items[i].bytes == 40 * sizeof(int) && list.items[i].procedure.begin == entry_of(t, "main");
        CHECK_INT(found, 1);
        bloop_variables_release(&list);
    }
    scope_tree_free(t);
    bloop_close(b);
    b = open_binary(bare, (struct bloop_options){0});
    struct bloop_variables none = {0};
    bloop_variables(b, &none, NULL);
    CHECK_INT(none.count, 0);
    uint16_t language = 5;
    char *producer = bloop_producer(b, 0, &language, NULL);
    CHECK_STR(producer, "");
    static const unsigned char machines[] = {62, 183};
    for (size_t i = 0; i < ARRAY_SIZE(machines); i++) { /* as stated in its header, whatever the code is */
        char *command = mem_printf("printf '\\%o' | dd of=bare bs=1 seek=18 conv=notrunc", machines[i]);
        CHECK(shell(command));
        struct bloop_binary *other = open_binary(bare, (struct bloop_options){.procedures_only = true});
        CHECK_INT(bloop_is_aarch64(other), machines[i] == 183);
        bloop_close(other);
        mem_free(command);
    }
    mem_free(producer);
    bloop_close(b);
    mem_free(bare);
    mem_free(path);
}

/* ---- code without symbols ---------------------------------------------------------------------------------------- */

/* Noreturn calls, two levels deep, which is the limit: only by following them is it known that the loop does not
   continue after them. */
static const char deep_source[] =
    "#include <stdlib.h>\nstatic volatile int kept;\n"
    "static void die(int x) { kept = x; __builtin_trap(); }\n"
    "static void die_later(int x) { if (x) kept++; die(x + 1); }\n"
    "static int inner(int n) { int s = 0; for (int i = 0; i < n; i++) { if (kept < 0) die_later(i); s += kept; } "
    "return s; }\n"
    "static int returns(int n) { while (n-- > 0) { if (kept == 5) abort(); kept += n; } return n + 1; }\n"
    "static int outer(int n) { int s = 0; while (n-- > 0) { if (kept == n) returns(n); s += inner(n); if (s < 0) "
    "die(3); } return s; }\n"
    "int main(int n, char **v) { (void)v; return outer(n) + inner(n); }\n";

static scope_ix procedure_holding(const struct scope_tree *tree, vaddr addr)
{
    struct scope_tree copy = *tree; /* (its index is built on first use) */
    scope_ix i = scope_tree_find(&copy, addr);
    ((struct scope_tree *)tree)->lookup = copy.lookup;
    while (i != SCOPE_NONE && tree->scopes[i].kind != SCOPE_PROC)
        i = tree->scopes[i].parent;
    return i;
}

/* Each of some functions alone, in a file without function starts: the same as in the whole. */
static void test_code_alone(void)
{
    static const char *const names[] = {"die", "die_later", "inner", "returns", "outer", "main"};
    char *path = compile(tool("CC", "cc"), "-O0 -fno-asynchronous-unwind-tables -fno-unwind-tables", "deep.c",
                         deep_source, "deep");
    if (!path || !shell("objcopy --strip-all -R .eh_frame -R .eh_frame_hdr deep bare")) {
        SKIP("nothing but code", "no compiler or objcopy that does it");
        mem_free(path);
        return;
    }
    char *bare = scratch("bare");
    struct bloop_binary *with = open_binary(path, (struct bloop_options){0}),
                        *without = open_binary(bare, (struct bloop_options){0});
    struct scope_tree *known = whole(with), *everything = whole(without);
    struct bloop_binary *shared = open_binary(bare, (struct bloop_options){0});
    size_t unlike = 0, unknown = 0, stopping = 0;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        vaddr entry = entry_of(known, names[i]);
        struct bloop_binary *b = open_binary(bare, (struct bloop_options){0});
        struct scope_tree *one = part(b, &entry, 1);
        char *x = procedure_text(one, procedure_holding(one, entry));
        char *y = procedure_text(everything, procedure_holding(everything, entry));
        unknown += procedure_at(everything, entry) == SCOPE_NONE || procedure_at(one, entry) == SCOPE_NONE;
        unlike += strcmp(x, y) != 0;
        stopping += count_kind(one, SCOPE_PROC) == 1 && bloop_stats(b).functions == 1;
        if (strcmp(x, y) != 0)
            printf("# alone %s\n# whole %s\n", x, y);
        scope_tree_free(one);
        bloop_close(b);
        one = part(shared, &entry, 1); /* earlier results about other functions have no effect */
        mem_free(x);
        x = procedure_text(one, procedure_holding(one, entry));
        unlike += strcmp(x, y) != 0;
        mem_free(x);
        mem_free(y);
        scope_tree_free(one);
    }
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) { /* again, with all preparation done */
        vaddr entry = entry_of(known, names[i]);
        struct scope_tree *one = part(shared, &entry, 1);
        char *x = procedure_text(one, procedure_holding(one, entry));
        char *y = procedure_text(everything, procedure_holding(everything, entry));
        unlike += strcmp(x, y) != 0;
        mem_free(x);
        mem_free(y);
        scope_tree_free(one);
    }
    bloop_close(shared);
    CHECK_INT(unknown, 0);
    CHECK_INT(unlike, 0);
    CHECK_INT(stopping, ARRAY_SIZE(names));
    scope_tree_free(known);
    scope_tree_free(everything);
    bloop_close(with);
    bloop_close(without);
    mem_free(path);
    mem_free(bare);
}

/* ---- regions without a name -------------------------------------------------------------------------------------- */

static bool matches(const char *glob, const struct scope_tree *t, str_id name)
{
    const char *text = strtab_get(t->strings, name);
    return *text && fnmatch(glob, text, 0) == 0;
}

/* By each name of a procedure, and by a source's path and base name: all that match. */
static void test_names_matched(const char *path, const struct scope_tree *t)
{
    static const struct {
        const char *function, *source;
    } globs[] = {{"linked_p*", NULL}, {"p*", NULL},  {".omp_*", "b.c"}, {"*OpenMP region*", "*/a.c"},
                 {"linked_*", "?.c"}, {NULL, "b.c"}, {"", NULL},        {NULL, "*b.c"}};
    for (size_t i = 0; i < ARRAY_SIZE(globs); i++) {
        const char *function = globs[i].function, *source = globs[i].source;
        size_t wanted = 0;
        for (scope_ix k = 0; k < t->scope_count; k++) {
            const struct scope *s = &t->scopes[k];
            const char *base = path_base(strtab_get(t->strings, s->file));
            wanted += s->kind == SCOPE_PROC &&
                      (!function || matches(function, t, s->name) || matches(function, t, s->short_name) ||
                       matches(function, t, s->link_name)) &&
                      (!source || matches(source, t, s->file) || (*base && fnmatch(source, base, 0) == 0));
        }
        struct bloop_binary *b =
            open_binary(path, (struct bloop_options){.function_glob = function, .source_glob = source});
        struct scope_tree *found = whole(b);
        CHECK_INT(count_kind(found, SCOPE_PROC), wanted);
        CHECK(function && !*function ? wanted == 0 : wanted > 4);
        scope_tree_free(found);
        bloop_close(b);
    }
}

enum { REGIONS_MOST = 90, REGION_REACH = 32 };

/* clang's OpenMP regions follow their procedure, under an unrelated name: they belong to the closest preceding one,
   within a limit, that contains their line. */
static void test_regions(void)
{
    struct piece {
        bool region;
        unsigned file, first, middle, last;
        bool cold; /* a part of `owner`, which has its lines too */
        unsigned owner, reach;
    } pieces[REGIONS_MOST];
    static const struct { /* one at the limit, the other one beyond it */
        unsigned piece, first;
        bool region;
    } limits[] = {
        {88 - REGION_REACH, 500, false}, {88, 501, true}, {88 - REGION_REACH - 3, 600, false}, {86, 601, true}};
    size_t colds = 0;
    struct buf source = {0};
    buf_str(&source, "static volatile int kept;\n");
    for (unsigned i = 0; i < REGIONS_MOST; i++) {
        struct piece *p = &pieces[i];
        *p = (struct piece){i > 0 && below(3) > 0, below(4) == 0, 1 + below(i < 40 ? 60 : 100), 0, 0, 0, 0, 0};
        for (size_t k = 0; k < ARRAY_SIZE(limits); k++)
            if (limits[k].piece == i)
                *p = (struct piece){.region = limits[k].region, .first = limits[k].first};
        p->middle = below(5) || p->first >= 500 ? p->first + 1 + below(30) : 1 + below(p->first);
        p->last = below(5) || p->first >= 500 ? p->first + 1 + below(30) : 1 + below(p->first);
        p->reach = p->middle > p->last ? p->middle : p->last;
        unsigned next = below(3) || p->first >= 500 ? p->first + 1 : 1, least = next > p->first ? next : p->first;
        p->reach = least > p->reach ? least : p->reach; /* its first line may be its last */
        p->owner = below(i + 1);
        p->cold = !p->region && p->first < 500 && p->owner < i && !pieces[p->owner].region && !pieces[p->owner].cold;
        for (unsigned k = 0; k < i; k++)
            p->cold &= !pieces[k].cold || pieces[k].owner != p->owner;
        struct piece *owner = &pieces[p->owner];
        if (p->cold && p->file == owner->file && p->reach > owner->reach)
            owner->reach = p->reach;
        colds += p->cold;
        char *name = mem_printf(p->region ? "r%u" : "p%u", i);
        char *of = p->cold ? mem_printf("linked_p%u.cold", p->owner)
                           : mem_printf(p->region ? ".omp_outlined.%u" : "linked_p%u", i);
        buf_printf(&source, "#line %u \"%s\"\nstatic int %s(int n) __asm__(\"%s\");\n", p->first,
                   p->file ? "b.c" : "a.c", name, of);
        buf_printf(
            &source,
            "#line %u\n__attribute__((used)) static int %s(int n) {\n#line %u\nkept += n;\n#line %u\nkept ^= n;\n#line "
            "%u\nreturn n * %u; }\n",
            p->first, name, next, p->middle, p->last, i);
        mem_free(name);
        mem_free(of);
    }
    buf_str(&source, "int main(void) { return kept; }\n");
    char *path = compile(tool("CC", "cc"), "-O0 -g -fno-toplevel-reorder", "regions.c", source.bytes, "regions");
    buf_release(&source);
    if (!path) {
        SKIP("regions", "no compiler, or not such names");
        return;
    }
    struct bloop_binary *b = open_binary(path, (struct bloop_options){.threads = 2});
    struct scope_tree *t = whole(b);
    size_t right = 0, regions = 0, found = 0;
    for (unsigned i = 0; i < REGIONS_MOST; i++) {
        char *name = mem_printf(pieces[i].region ? ".omp_outlined.%u" : "linked_p%u", i), *wanted = mem_strdup("");
        for (unsigned k = i; pieces[i].region && k-- > 0 && i - k <= REGION_REACH && !*wanted;)
            if (!pieces[k].region && !pieces[k].cold && pieces[k].file == pieces[i].file &&
                pieces[k].first <= pieces[i].first && pieces[i].first <= pieces[k].reach) {
                mem_free(wanted);
                wanted = mem_printf("p%u", k);
            }
        for (scope_ix s = 0; s < t->scope_count; s++)
            if (t->scopes[s].kind == SCOPE_PROC && strcmp(strtab_get(t->strings, t->scopes[s].link_name), name) == 0) {
                const char *origin = strtab_get(t->strings, t->scopes[s].origin);
                regions++;
                found += *wanted != '\0';
                if (t->scopes[s].outlined == pieces[i].region && strcmp(origin, wanted) == 0)
                    right++;
                else
                    printf("# %s is of '%s', wanted '%s'\n", name, origin, wanted);
            }
        mem_free(wanted);
        mem_free(name);
    }
    CHECK(colds > 3);
    CHECK_INT(regions, REGIONS_MOST - colds);
    CHECK_INT(right, REGIONS_MOST - colds);
    CHECK(found > 20 && found < REGIONS_MOST / 3 * 2);
    bloop_close(b);
    test_names_matched(path, t);
    scope_tree_free(t);
    mem_free(path);
}

/* ---- cached trees ------------------------------------------------------------------------------------------------ */

static size_t files_in(const char *folder)
{
    size_t n = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* If the disk is full, nothing is stored: neither the previous tree nor a partial one remains. */
static void test_cache_that_is_full(const char *kept)
{
    struct rlimit usual, small;
    struct err err = {0};
    struct scope_tree *t = NULL;
    char *folder = scratch("structure");
    size_t files = files_in(folder);
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(bloop_cache_put(kept, all, &err), 0);
    CHECK(getrlimit(RLIMIT_FSIZE, &usual) == 0);
    small = (struct rlimit){1 << 14, usual.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    int status = bloop_cache_put(kept, all, &err);
    setrlimit(RLIMIT_FSIZE, &usual);
    signal(SIGXFSZ, before);
    CHECK_INT(status, -1);
    CHECK_INT(files_in(folder), files);
    CHECK_INT(bloop_cache_get(kept, "x", &t), 1);
    scope_tree_free(t);
    mem_free(folder);
}

/* Build ids have up to 64 bytes; longer ones are invalid and are not used for caching. */
static void test_cache_names(void)
{
    for (size_t digits = 126; digits <= 130; digits += 2) {
        struct buf flags = {0};
        buf_str(&flags, "-Wl,--build-id=0x");
        for (size_t i = 0; i < digits; i++)
            buf_char(&flags, "0123456789abcdef"[i % 15 + 1]);
        buf_str(&flags, "");
        char *path = compile(tool("CC", "cc"), flags.bytes, "named.c", "int main(void) { return 0; }\n", "named");
        buf_release(&flags);
        if (!CHECK(path))
            return;
        struct bloop_binary *b = open_binary(path, (struct bloop_options){0});
        CHECK_INT(strlen(bloop_build_id(b)), digits > 128 ? 0 : digits);
        char *kept = bloop_cache_path(b, "F", "2");
        CHECK_INT(kept ? strlen(kept) : 0, digits > 128 ? 0 : strlen("F/structure/-2.xml") + digits);
        mem_free(kept);
        mem_free(path);
        bloop_close(b);
    }
}

static void test_cache(const char *path)
{
    struct bloop_binary *b = open_binary(path, (struct bloop_options){0});
    struct err err = {0};
    struct scope_tree *t = NULL;
    char *kept = bloop_cache_path(b, scratch_folder, "9.9"), *wanted = NULL;
    CHECK_STR(bloop_build_id(b), "0123456789abcdef");
    wanted = mem_printf("%s/structure/0123456789abcdef-9.9.xml", scratch_folder);
    CHECK_STR(kept, wanted);
    CHECK_INT(bloop_cache_get(kept, "x", &t), 0);
    CHECK_INT(bloop_cache_put(kept, all, &err), 0);
    CHECK_INT(bloop_cache_get(kept, "/another/name", &t), 1);
    if (t) {
        CHECK_STR(strtab_get(t->strings, t->scopes[0].name), "/another/name");
        t->scopes[0].name = strtab_add(t->strings, strtab_get(all->strings, all->scopes[0].name));
        CHECK(same_trees(t, all));
        scope_tree_free(t);
    }
    write_file("structure/0123456789abcdef-9.9.xml", "<HPCStruct", 10);
    CHECK_INT(bloop_cache_get(kept, "x", &t), 0);
    CHECK(t == NULL);
    static const char *const others[] = {
        /* without a load module, damaged, from another tool */
        "<PGM version=\"4\"></PGM>",
        "<PGM version=\"4\"><LM n=\"a\"></LM><LM n=\"b\"><F n=\"\"><P n=\"f\" v=\"20-10\"/></F></LM></PGM>",
        "<HPCToolkitStructure i=\"0\" version=\"4.8\" n=\"\"></HPCToolkitStructure>",
    };
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        write_file("structure/0123456789abcdef-9.9.xml", others[i], strlen(others[i]));
        CHECK_INT(bloop_cache_get(kept, "x", &t), 0);
        CHECK(t == NULL);
    }
    char *below_file = scratch("many.c/kept.xml");
    CHECK_INT(bloop_cache_put(below_file, all, &err), -1);
    mem_free(below_file);
    test_cache_that_is_full(kept);
    test_cache_names();
    mem_free(kept);
    mem_free(wanted);
    bloop_close(b);
    struct bloop_binary *none = (struct bloop_binary *)&err;
    char *missing = scratch("nobody");
    CHECK_INT(bloop_open(missing, NULL, &none, NULL, &err), -1);
    CHECK(none == NULL && strstr(err.msg, "nobody"));
    mem_free(missing);
    CHECK(bloop_build_id(b = open_binary("/proc/self/exe", (struct bloop_options){.procedures_only = true})) != NULL);
    bloop_close(b);
}

int main(void)
{
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0xa5); /* uninitialized memory is not zero */
#endif
    scratch_make();
    write_program();
    const char *cc = tool("CC", "cc");
    char *command = mem_printf("%s -O0 -g1 -Wl,--build-id=0x0123456789abcdef many.c -o many", cc);
    if (!shell(command))
        SKIP("all", "no compiler");
    else {
        char *path = scratch("many");
        test_threads(path);
        test_parts(path);
        test_bytes();
        test_gaps("-nostdlib -static -Wl,--build-id=none -Wl,-n");
        test_gaps("-nostdlib -static -Wl,--build-id=none -Wl,-n -Wl,-Ttext=0"); /* its code begins at address 0 */
        test_gap_alone();
        test_text_bytes();
        test_called();
        test_drawn();
        test_rounds();
        test_globs(path);
        test_code(path);
        test_without_symbols();
        test_code_alone();
        test_cold_parts();
        test_variables();
        test_regions();
        test_cache(path);
        scope_tree_free(all);
        mem_free(path);
    }
    mem_free(command);
    scratch_remove();
    return tap_done();
}
