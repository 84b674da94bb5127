/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a simulated process: generated ones become measurements, and overwritten ones are reported. */
#include "mhsim/collect/collect.h"

#include "config.h"
#include "hpcprof/hpcprof.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder, *out_dir;

/* ---- a file ---------------------------------------------------------------------------------------------------------- */

static struct left { /* after them */
    struct raw_head head;
    struct mhsim_row rows[4]; /* row 0 collects the overflow */
    struct mhsim_pair pairs[3];
    struct raw_object objects[9];
    struct raw_module modules[2];
} left;

static void set_object(unsigned i, unsigned kind, uint32_t module, uint64_t address, uint64_t bytes, uint64_t count,
                       const char *name)
{
    left.objects[i] = (struct raw_object){kind, module, address, bytes, count, ""};
    snprintf(left.objects[i].name, sizeof left.objects[i].name, "%s", name);
}

static void set_level(unsigned i, const char *name, bool tlb, unsigned latency)
{
    struct machine_level *l = &left.head.orders.machine.levels[i];
    *l = (struct machine_level){
        .size = tlb ? 64 * 4096 : 32768u << 2 * i, .line = tlb ? 4096 : 64, .ways = 8, .latency = latency, .tlb = tlb};
    l->next = i == 0 ? 1 : MACHINE_NO_LEVEL;
    snprintf(l->name, sizeof l->name, "%s", name);
}

static void make_file(void)
{
    memset(&left, 0, sizeof left);
    left.head = (struct raw_head){.magic = RAW_MAGIC,
                                  .size = RAW_SIZES,
                                  .pid = 7,
                                  .parent_pid = 6,
                                  .ended = 1,
                                  .start_ns = 10,
                                  .end_ns = 20,
                                  .counts = {4, 3, 9, 2, 0},
                                  .command = "/x/app 5"};
    snprintf(left.head.orders.machine.name, 64, "toy");
    left.head.orders.machine.level_count = 3;
    left.head.orders.machine.memory_latency = 100;
    set_level(0, "L1", false, 4);
    set_level(1, "L2", false, 10);
    set_level(2, "TLB", true, 0);
    left.modules[0] = (struct raw_module){0x1000, 0x2000, 0xc00, "/x/app", "ab"};
    left.modules[1] = (struct raw_module){0x1800, 0x3000, 0x1000, "/x/lib.so", ""};
    set_object(0, RAW_OTHER, 0, 0, 0, 0, "");
    set_object(1, RAW_STATIC, 0, 0x1500, 80, 1, "table.12");
    set_object(2, RAW_HEAP, 0, 0x1010, 640, 3, "");
    set_object(3, RAW_HEAP, 0, 0x9000, 64, 1, "");
    set_object(4, RAW_STACK, 0, 0, 0, 0, "");
    set_object(5, RAW_STACK, 0, 1, 24, 1, "local");
    set_object(6, RAW_MODULE_DATA, 1, 0, 0, 0, "");
    set_object(7, RAW_STATIC, 1, 0x2000, 8, 1, "__grid_MOD_flux");
    set_object(8, RAW_STATIC, 1, 0x2008, 8, 1, "wave_");
    left.rows[1] = (struct mhsim_row){.code = 0x1010, .object = 1, .core = 0};
    left.rows[2] = (struct mhsim_row){.code = 0x1810, .object = 2, .core = 1};
    left.rows[3] = (struct mhsim_row){.code = 0x3000, .object = 4, .core = 0};
    left.rows[1].levels[0] = (struct mhsim_counts){100, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 11, 12};
    left.rows[1].levels[1] = (struct mhsim_counts){.accesses = 10, .misses = 3};
    left.rows[1].levels[2] = (struct mhsim_counts){.accesses = 100, .misses = 1};
    left.rows[2].levels[0] = (struct mhsim_counts){.accesses = 20, .misses = 20};
    left.rows[3].levels[1] = (struct mhsim_counts){.write_backs = 1};
    set_level(3, "none", false, 0); /* it does not exist: the level is not counted */
    left.rows[1].levels[3] = (struct mhsim_counts){.accesses = 77, .misses = 7};
    left.pairs[1] = (struct mhsim_pair){1, 2, 0, 0, 4, 1};
    left.pairs[2] = (struct mhsim_pair){2, 1, 1, 0, 2, 0};
}

static void put_at(int fd, const void *bytes, size_t n, uint64_t at)
{
    if (pwrite(fd, bytes, n, (off_t)at) != (ssize_t)n)
        CHECK(false);
}

/* Data after the counted rows of a table that would be invalid inside it. */
static uint8_t behind[sizeof left.modules + sizeof left.objects];

/* The sparse file, of length `len` unless that is 0. */
static void write_raw(uint64_t len)
{
    char *path = mem_printf("%s/7" RAW_SUFFIX, folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    put_at(fd, &left.head, sizeof left.head, 0);
    put_at(fd, left.modules, sizeof left.modules, RAW_TABLE_AT(RAW_MODULES));
    put_at(fd, left.objects, sizeof left.objects, RAW_TABLE_AT(RAW_OBJECTS));
    put_at(fd, left.pairs, sizeof left.pairs, RAW_TABLE_AT(RAW_PAIRS));
    put_at(fd, left.rows, sizeof left.rows, RAW_TABLE_AT(RAW_ROWS));
    put_at(fd, behind, sizeof *left.modules, RAW_TABLE_AT(RAW_MODULES) + sizeof left.modules);
    put_at(fd, behind, sizeof *left.objects, RAW_TABLE_AT(RAW_OBJECTS) + sizeof left.objects);
    put_at(fd, behind, sizeof *left.pairs, RAW_TABLE_AT(RAW_PAIRS) + sizeof left.pairs);
    CHECK(len == 0 || ftruncate(fd, (off_t)len) == 0);
    close(fd);
    mem_free(path);
}

/* ---- result ------------------------------------------------------------------------------------------------------ */

static void put_context(struct buf *b, const struct hpcprof *p, uint32_t row)
{
    if (row == TABLE_NONE)
        buf_str(b, "-");
    else
        buf_printf(b, "%s+%llx", path_base(strtab_get(p->strings, p->modules[p->contexts[row].module].path)),
                   (unsigned long long)p->contexts[row].address);
}

/* One row a line: strings, numbers ("." if missing), contexts, and the first string of rows in other tables. */
static void put_table(struct buf *b, const struct hpcprof *p, const char *name)
{
    const struct table *t = table_list_find(&p->tables, name);
    for (size_t i = 0; t && i < table_row_count(t); i++) {
        const struct table_decl *d = table_declared(t);
        const union table_cell *cells = table_row(t, i);
        for (size_t k = 0; k < d->column_count; k++) {
            const struct table_column *c = &d->columns[k];
            buf_str(b, k ? " " : "");
            if (c->type == TABLE_TEXT)
                buf_str(b, strtab_get(p->strings, cells[k].text));
            else if (c->type == TABLE_REF && strcmp(c->refers, "context") == 0)
                put_context(b, p, cells[k].row);
            else if (c->type == TABLE_REF)
                buf_str(
                    b, strtab_get(p->strings, table_row(table_list_find(&p->tables, c->refers), cells[k].row)[0].text));
            else if (table_cell_missing(c, cells[k]))
                buf_str(b, ".");
            else
                buf_printf(b, "%llu", (unsigned long long)cells[k].count);
        }
        buf_str(b, "\n");
    }
}

static void put_counts(struct buf *b, const struct hpcprof *p)
{
    for (size_t i = 0; i < p->count_count; i++) {
        const struct hpcprof_count *c = &p->counts[i];
        buf_printf(b, "%u ", p->threads[c->thread].number);
        put_context(b, p, c->context);
        buf_printf(b, " %s %llu%s\n", strtab_get(p->strings, p->events[c->event].name), (unsigned long long)c->value,
                   p->events[c->event].flags & HPCPROF_ESTIMATED ? " estimated" : "");
    }
}

static void put_process(struct buf *b, const struct hpcprof *p)
{
    for (size_t i = 0; i < p->process_count; i++) {
        const struct hpcprof_process *q = &p->processes[i];
        buf_printf(b, "%u of %u, %s by %s on %s, %llu to %llu, status %d%s\n", q->pid, q->parent_pid,
                   strtab_get(p->strings, q->command), strtab_get(p->strings, q->sampler),
                   strtab_get(p->strings, q->machine), (unsigned long long)q->start_ns, (unsigned long long)q->end_ns,
                   q->exit_status, q->complete ? "" : ", not complete");
    }
}

static void put_notes(struct buf *b, const struct hpcprof *p)
{
    for (size_t i = 0; i < p->note_count; i++)
        if (strcmp(strtab_get(p->strings, p->notes[i].name), "simulated") != 0)
            buf_printf(b, "%s: %s\n", strtab_get(p->strings, p->notes[i].name),
                       strtab_get(p->strings, p->notes[i].value));
}

static struct hpcprof *collected(uint32_t pid, int status)
{
    struct err err = {0};
    struct hpcprof *p = NULL;
    struct warnings *w = warnings_create();
    char *command = mem_printf("rm -rf '%s' && mkdir '%s'", out_dir, out_dir);
    CHECK_INT(system(command), 0);
    write_raw(0);
    CHECK_INT(mhsim_collect(folder, out_dir, pid, status, w, &err), 1);
    if (!CHECK_INT(hpcprof_read(out_dir, &p, NULL, &err), 0))
        printf("# %s\n", err.msg);
    warnings_free(w);
    mem_free(command);
    return p;
}

static void check_part(struct hpcprof *p, const char *part, const char *want)
{
    struct buf b = {0};
    buf_str(&b, "");
    if (strcmp(part, "counts") == 0)
        put_counts(&b, p);
    else if (strcmp(part, "process") == 0)
        put_process(&b, p);
    else if (strcmp(part, "notes") == 0)
        put_notes(&b, p);
    else
        put_table(&b, p, part);
    tap_str(b.bytes, want, part, __FILE__, __LINE__);
    buf_release(&b);
}

static void test_whole(void)
{
    make_file();
    struct hpcprof *p = collected(7, 256);
    if (!p)
        return;
    check_part(p, "process", "7 of 6, /x/app 5 by simulation (compiled in) on toy, 10 to 20, status 256\n");
    check_part(p, "levels", "L1 64 0\nL2 64 1\nTLB 4096 2\n");
    check_part(p, "objects",
               "COMMON /wave/ static - 8 1\n"
               "data of lib.so module data - . .\n"
               "grid::flux static - 8 1\n"
               "heap 1 heap app+410 640 3\n"
               "heap 2 heap [unknown]+9000 64 1\n"
               "local stack - 24 1\n"
               "other memory other - . .\n"
               "stack stack - . .\n"
               "table static - 80 1\n");
    check_part(p, "references",
               "app+410 table L1 100 10 9 8 . 6 5 4 3 12 11\n"
               "app+410 table L2 10 3 0 0 . 0 0 0 0 0 0\n"
               "app+410 table TLB 100 1 0 0 . 0 0 0 0 0 0\n"
               "lib.so+810 heap 1 L1 20 20 0 0 . 0 0 0 0 0 0\n"
               "[unknown]+3000 stack L2 0 0 0 0 . 0 0 0 1 0 0\n");
    check_part(p, "arrays",
               "heap 1 app+410 L1 20 20 0 0 . 0 0 0 0 0 0\n"
               "stack - L2 0 0 0 0 . 0 0 0 1 0 0\n"
               "table - L1 100 10 9 8 . 6 5 4 3 12 11\n"
               "table - L2 10 3 0 0 . 0 0 0 0 0 0\n"
               "table - TLB 100 1 0 0 . 0 0 0 0 0 0\n");
    check_part(p, "evictors",
               "app+410 table lib.so+810 heap 1 L1 4 1\n"
               "lib.so+810 heap 1 app+410 table L2 2 0\n");
    check_part(p, "array_evictors",
               "heap 1 table L2 2 0\n"
               "table heap 1 L1 4 1\n");
    check_part(p, "counts",
               "0 app+410 L1 misses 10\n"
               "0 app+410 L1 accesses 100\n"
               "0 app+410 L2 misses 3\n"
               "0 app+410 L2 accesses 10\n"
               "0 app+410 TLB misses 1\n"
               "0 app+410 TLB accesses 100\n"
               "0 app+410 modelled cycles 730\n"
               "1 lib.so+810 L1 misses 20\n"
               "1 lib.so+810 L1 accesses 20\n");
    check_part(p, "notes", "");
    CHECK_INT(p->thread_count, 2);
    CHECK_INT(p->module_count, 3);
    hpcprof_free(p);
}

/* Changes one input and prints the affected part of the measurement. */
static void test_changes(void)
{
    static const struct {
        size_t at, bytes;
        uint64_t value;
        const char *part, *want;
    } cases[] = {
#define AT(member) offsetof(struct left, member), sizeof left.member
        {AT(head.orders.options.classify), 1, "evictors",
         "app+410 table lib.so+810 heap 1 L1 4 1\nlib.so+810 heap 1 app+410 table L2 2 0\n"},
        {AT(head.ended), 0, "process",
         "7 of 6, /x/app 5 by simulation (compiled in) on toy, 10 to 20, status -1, not complete\n"},
        {AT(head.pid), 8, "process", "8 of 6, /x/app 5 by simulation (compiled in) on toy, 10 to 20, status 9\n"},
        {AT(head.way), RAW_QEMU, "process", "7 of 6, /x/app 5 by simulation (QEMU) on toy, 10 to 20, status 0\n"},
        {AT(head.lost), 3, "notes",
         "missing: 3 accesses in signal handlers are not in the result, because they interrupted the simulator\n"},
        {AT(head.unreported), 3, "notes",
         "missing: QEMU does not report the accesses of 3 of 0 instructions that read or write memory\n"},
        {AT(head.execs[0]), 'x', "notes", "missing: the program executed x, whose accesses are not in the result\n"},
        {AT(rows[0].levels[0].accesses), 1, "notes",
         "missing: more than 1048576 references: the rest is combined in [unknown]\n"},
        {AT(rows[0].levels[0].accesses), 1, "counts",
         "0 app+410 L1 misses 10\n0 app+410 L1 accesses 100\n0 app+410 L2 misses 3\n0 app+410 L2 accesses 10\n"
         "0 app+410 TLB misses 1\n0 app+410 TLB accesses 100\n0 app+410 modelled cycles 730\n"
         "0 [unknown]+0 L1 accesses 1\n0 [unknown]+0 modelled cycles 4\n1 lib.so+810 L1 misses 20\n"
         "1 lib.so+810 L1 accesses 20\n"},
        {AT(pairs[0].count), 5, "notes", "missing: too many pairs of evictors: 5 evictions are not distinguished\n"},
        {AT(pairs[1].count), 0, "array_evictors", "heap 1 table L2 2 0\n"},
        {AT(pairs[1].level), 3, "array_evictors", "heap 1 table L2 2 0\n"},
        {AT(head.counts[RAW_PAIRS]), 0, "evictors", ""},
        {AT(head.counts[RAW_PAIRS]), 2, "array_evictors", "table heap 1 L1 4 1\n"},
        {AT(head.counts[RAW_OBJECTS]), 5, "objects",
         "heap 1 heap app+410 640 3\nheap 2 heap [unknown]+9000 64 1\nother memory other - . .\nstack stack - . .\n"
         "table static - 80 1\n"},
        {AT(head.counts[RAW_ROWS]), 1ull << 40, "array_evictors", "heap 1 table L2 2 0\ntable heap 1 L1 4 1\n"},
        {AT(head.orders.machine.level_count), 1, "array_evictors", "table heap 1 L1 4 1\n"},
        {AT(modules[1].lo), 0x1811, "evictors",
         "app+410 table app+c10 heap 1 L1 4 1\napp+c10 heap 1 app+410 table L2 2 0\n"},
        {AT(modules[1].lo), 0x1810, "array_evictors", "heap 1 table L2 2 0\ntable heap 1 L1 4 1\n"},
        {AT(modules[1].lo), 0x1810, "evictors",
         "app+410 table lib.so+810 heap 1 L1 4 1\nlib.so+810 heap 1 app+410 table L2 2 0\n"},
        {AT(modules[0].hi), 0x1010, "evictors",
         "[unknown]+1010 table lib.so+810 heap 1 L1 4 1\nlib.so+810 heap 1 [unknown]+1010 table L2 2 0\n"},
        {AT(modules[0].hi), 0x1011, "evictors",
         "app+410 table lib.so+810 heap 1 L1 4 1\nlib.so+810 heap 1 app+410 table L2 2 0\n"},
        {AT(rows[2].core), 0, "arrays",
         "heap 1 app+410 L1 20 20 0 0 . 0 0 0 0 0 0\nstack - L2 0 0 0 0 . 0 0 0 1 0 0\n"
         "table - L1 100 10 9 8 . 6 5 4 3 12 11\ntable - L2 10 3 0 0 . 0 0 0 0 0 0\n"
         "table - TLB 100 1 0 0 . 0 0 0 0 0 0\n"},
        {AT(rows[1].object), 2, "array_evictors", "heap 1 heap 1 L1 4 1\nheap 1 heap 1 L2 2 0\n"},
#define ESTIMATE "counts are multiplied by 4; misses may be off by, at L1 36.5%, L2 115.5%, TLB 200.0%\n"
        {AT(head.orders.options.sample_sets), 4, "notes", "estimate: one cache line in 4 was simulated; " ESTIMATE},
        {AT(head.orders.options.sample_sets), 1, "notes", ""},
        {AT(head.orders.options.sample_sets), 2, "notes",
         "estimate: one cache line in 2 was simulated; counts are multiplied by 2; misses may be off by, at L1 36.5%, "
         "L2 115.5%, TLB 200.0%\n"},
        {AT(head.orders.options.sample_sets), 4, "evictors",
         "app+410 table lib.so+810 heap 1 L1 16 4\nlib.so+810 heap 1 app+410 table L2 8 0\n"},
        {AT(head.orders.options.sample_sets), 4, "counts",
         "0 app+410 L1 misses 40 estimated\n0 app+410 L1 accesses 400 estimated\n0 app+410 L2 misses 12 estimated\n"
         "0 app+410 L2 accesses 40 estimated\n0 app+410 TLB misses 4 estimated\n0 app+410 TLB accesses 400 estimated\n"
         "0 app+410 modelled cycles 2920 estimated\n1 lib.so+810 L1 misses 80 estimated\n"
         "1 lib.so+810 L1 accesses 80 estimated\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_file();
        for (size_t k = 0; k < cases[i].bytes; k++)
            ((uint8_t *)&left)[cases[i].at + k] = (uint8_t)(cases[i].value >> 8 * k);
        struct hpcprof *p = collected(8, 9);
        if (p)
            check_part(p, cases[i].part, cases[i].want);
        hpcprof_free(p);
    }
    make_file();
    left.head.orders.options.classify = true;
    left.head.orders.machine.memory_latency = 0;
    left.head.orders.burst = 10;
    left.head.orders.period = 49;
    left.head.orders.warm_up = 5;
    left.head.orders.options.sample_sets = 1;
    left.rows[1].levels[1] = left.rows[1].levels[2] = left.rows[3].levels[1] = (struct mhsim_counts){0};
    struct hpcprof *p = collected(8, 9);
    if (p) {
        check_part(
            p, "references",
            "app+410 table L1 400 40 36 32 28 24 20 16 12 48 44\nlib.so+810 heap 1 L1 80 80 0 0 0 0 0 0 0 0 0\n");
        check_part(p, "counts",
                   "0 app+410 L1 misses 40 estimated\n0 app+410 L1 accesses 400 estimated\n"
                   "1 lib.so+810 L1 misses 80 estimated\n1 lib.so+810 L1 accesses 80 estimated\n");
        check_part(
            p, "notes",
            "estimate: 10 of every 49 accesses were simulated, after 5 for warming up; counts are multiplied by 4; "
            "misses may be off by, at L1 36.5%, L2 100.0%, TLB 100.0%\n");
    }
    hpcprof_free(p);
    static const struct mhsim_counts alone[] = {
        {.accesses = 1}, {.evictions = 1}, {.write_backs = 1}, {.prefetches = 1}, {.misses = 1}};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) { /* also the one that is counted separately */
        make_file();
        memset(left.rows[1].levels, 0, sizeof left.rows[1].levels);
        left.rows[1].levels[0] = alone[i];
        p = collected(8, 9);
        const struct table *t = p ? table_list_find(&p->tables, "arrays") : NULL;
        CHECK_INT(t ? table_row_count(t) : 0, i < 4 ? 3 : 2);
        hpcprof_free(p);
    }
    make_file();
    left.head.orders.machine.levels[1].latency = 0; /* no model then */
    p = collected(8, 9);
    struct buf events = {0};
    for (size_t i = 0; p && i < p->event_count; i++)
        buf_printf(&events, "%s, ", strtab_get(p->strings, p->events[i].name));
    CHECK_STR(events.bytes ? events.bytes : "",
              "L1 misses, L1 accesses, L2 misses, L2 accesses, TLB misses, TLB accesses, ");
    buf_release(&events);
    hpcprof_free(p);
}

/* Names as compilers make them. */
static void test_names(void)
{
    static const struct {
        const char *symbol, *want;
    } cases[] = {
        {"a", "a"},
        {"a.12", "a"},
        {"a.b.3", "a.b"},
        {"a.b", "a.b"},
        {"a.", "a."},
        {".12", ".12"},
        {"a.1x", "a.1x"},
#ifdef HAVE_IBERTY
        {"_ZN1a1bE", "a::b"},
        {"_ZN1a1bE.7", "a::b"},
#endif
        {"wave_", "COMMON /wave/"},
        {"_wave_", "_wave_"},
        {"_", "_"},
        {"x_", "COMMON /x/"},
        {"__grid_MOD_u", "grid::u"},
        {"__MOD_u", "__MOD_u"},
        {"grid_MOD_u", "grid_MOD_u"},
        {"COMMON /w/ x", "COMMON /w/ x"},
        {"__grid_MOD_", "grid::"},
        {"___MOD_u", "___MOD_u"},
        {"__g_MOD_u", "g::u"},
        {"__a__MOD_u", "a_::u"},
        {"__a_MOD_b_MOD_c", "a::b_MOD_c"},
        {"__grid_MOD_u.12", "grid::u.12"},
        {"__grid_MOD_u_", "grid::u_"},
        {"1_", "1_"},
        {"a_.3", "a_"},
        {".", "."},
        {"..1", "."},
        {"a.0123456789", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_file();
        left.head.counts[RAW_OBJECTS] = 1;
        left.head.counts[RAW_ROWS] = 1;
        left.head.counts[RAW_PAIRS] = 0;
        set_object(0, RAW_STATIC, 0, 0, 0, 0, cases[i].symbol);
        struct hpcprof *p = collected(8, 9);
        char *want = mem_printf("%s static - . .\n", cases[i].want);
        if (p)
            check_part(p, "objects", want);
        mem_free(want);
        hpcprof_free(p);
    }
}

/* The process may have overwritten any of it. `fill`: number of bytes of 'x', otherwise the value. */
static void test_overwritten(void)
{
    static const struct {
        size_t at, bytes;
        uint64_t value;
        bool fill;
    } cases[] = {
        {AT(head.magic), 1, false},
        {AT(head.size), 1, false},
        {AT(head.execs), 0, true},
        {AT(head.command), 0, true},
        {AT(head.counts[RAW_ROWS]), 0, false},
        {AT(head.counts[RAW_OBJECTS]), 0, false},
        {AT(head.orders.machine.name), 0, true},
        {AT(head.orders.machine.level_count), 0, false},
        {AT(head.orders.machine.level_count), MACHINE_LEVELS + 1, false},
        {AT(head.orders.machine.levels[2].name), 0, true},
        {AT(head.orders.machine.levels[0].line), 0, false},
        {AT(modules[1].path), 0, true},
        {AT(modules[0].build_id), 0, true},
        {AT(objects[8].name), 0, true},
        {AT(objects[0].kind), RAW_MODULE_DATA + 1, false},
        {AT(objects[1].module), 2, false},
        {AT(objects[6].module), 2, false},
        {AT(rows[3].object), 9, false},
        {AT(rows[0].core), MHSIM_CORES, false},
        {AT(pairs[2].victim), 4, false},
        {AT(pairs[0].evictor), 4, false},
        {AT(pairs[1].level), MACHINE_LEVELS, false},
    };
    static const uint64_t lengths[] = {0, 100, RAW_HEAD_BYTES - 1, 1ull << 29,
                                       (1ull << 29) + sizeof(struct mhsim_row) - 1};
    static const char words[] =
        "the counts of process 7.raw were overwritten, or its simulator is from another version of hpcview";
    size_t n = sizeof cases / sizeof *cases;
    for (size_t i = 0; i < n + sizeof lengths / sizeof *lengths; i++) {
        struct err err = {0};
        make_file();
        for (size_t k = 0; i < n && k < cases[i].bytes; k++)
            ((uint8_t *)&left)[cases[i].at + k] = cases[i].fill ? 'x' : k < 8 ? (uint8_t)(cases[i].value >> 8 * k) : 0;
        write_raw(i < n || lengths[i - n] == 0 ? 0 : lengths[i - n]);
        if (i == n) { /* an empty one */
            char *path = mem_printf("%s/7" RAW_SUFFIX, folder);
            CHECK_INT(truncate(path, 0), 0);
            mem_free(path);
        }
        CHECK_INT(mhsim_collect(folder, out_dir, 7, 0, NULL, &err), -1);
        CHECK_STR(err.msg, words);
    }
}

static bool is_written(const char *program, unsigned pid, const char *again)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    char *path = mem_printf("%s/%s.%s.%u%s" HPCPROF_SUFFIX, out_dir, program, host, pid, again);
    bool is = access(path, F_OK) == 0;
    mem_free(path);
    return is;
}

/* A second one of the same name does not take the first one's place. */
static void test_again(void)
{
    make_file();
    struct hpcprof *p = collected(8, 9), *both = NULL;
    CHECK_INT(mhsim_collect(folder, out_dir, 8, 9, NULL, NULL), 1);
    CHECK_INT(hpcprof_read(out_dir, &both, NULL, NULL), 0);
    CHECK_INT(both ? both->process_count : 0, 2);
    hpcprof_free(p);
    hpcprof_free(both);
    CHECK(is_written("app", 7, ""));
    CHECK(is_written("app", 7, "-2"));
    CHECK(!is_written("app", 7, "-3"));
    CHECK_INT(mhsim_collect(folder, out_dir, 8, 9, NULL, NULL), 1);
    CHECK(is_written("app", 7, "-3"));
    left.head.pid = 12;
    *left.head.command = '\0';
    write_raw(0);
    CHECK_INT(mhsim_collect(folder, out_dir, 8, 9, NULL, NULL), 1);
    CHECK(is_written("program", 12, ""));
    strcpy(left.head.command, "/x/y z/w");
    write_raw(0);
    CHECK_INT(mhsim_collect(folder, out_dir, 8, 9, NULL, NULL), 1);
    CHECK(is_written("y", 12, ""));
}

static void check_refused(const char *from, const char *to, const char *beginning, const char *words, const char *name)
{
    struct err err = {0};
    CHECK_INT(mhsim_collect(from, to, 7, 0, NULL, &err), -1);
    if (!CHECK_NAMED(str_starts(err.msg, beginning) && strstr(err.msg, words), name))
        printf("# %s\n", err.msg);
}

/* Several files are all read, up to the first that cannot be. */
static void test_files(void)
{
    char *second = mem_printf("%s/8" RAW_SUFFIX, folder), *first = mem_printf("%s/7" RAW_SUFFIX, folder),
         *nowhere = path_join(folder, "nowhere"), *in_nowhere = path_join(nowhere, "app.");
    make_file();
    left.head.pid = 31;
    write_raw(0);
    CHECK_INT(rename(first, second), 0);
    left.head.pid = 30;
    write_raw(0);
    CHECK_INT(mhsim_collect(folder, out_dir, 7, 0, NULL, NULL), 2);
    CHECK(is_written("app", 30, "") && is_written("app", 31, ""));
    check_refused(folder, nowhere, in_nowhere, "No such file or directory", "no folder to write to");
    CHECK_INT(unlink(second), 0);
    CHECK_INT(symlink("not there", second), 0);
    check_refused(folder, out_dir, second, "No such file or directory", "a file that cannot be opened");
    CHECK(is_written("app", 30, "-2"));
    CHECK_INT(unlink(second) + unlink(first), 0);
    CHECK_INT(mhsim_collect(folder, out_dir, 8, 9, NULL, NULL), 0);
    check_refused(nowhere, out_dir, nowhere, "No such file or directory", "no folder to read");
    mem_free(first);
    mem_free(second);
    mem_free(nowhere);
    mem_free(in_nowhere);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    folder = mem_printf("%s/hpcview-collect.XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(folder));
    out_dir = path_join(folder, "out");
    memset(behind, 'x', sizeof behind);
    RUN(test_whole);
    RUN(test_changes);
    RUN(test_names);
    RUN(test_overwritten);
    RUN(test_again);
    RUN(test_files);
    char *command = mem_printf("rm -rf '%s'", folder);
    CHECK_INT(system(command), 0);
    mem_free(command);
    mem_free(out_dir);
    mem_free(folder);
    return tap_done();
}
