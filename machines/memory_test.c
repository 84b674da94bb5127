/* SPDX-License-Identifier: BSD-3-Clause */
/* Machine files: accepted ones, and the message for each inconsistency. */
#include "config.h"
#include "machines/machines.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FILE_OF(levels) "<machine><memory>" levels "</memory></machine>"

static const struct {
    const char *text, *want; /* want: the message, or the sentence of a good one */
    bool good;
} cases[] = {
    {FILE_OF("<cache name='L1' size='32K' ways='8'/>"), "L1: 32 kB, 8 ways of 64-byte lines, LRU, write-back, private",
     true},
    {FILE_OF("<cache name='L1' size='48K' ways='12' policy='random' write='through' allocate='no' prefetch='stride'/>"),
     "L1: 48 kB, 12 ways of 64-byte lines, random, write-through, no allocation by stores, stride prefetcher, private",
     true},
    {FILE_OF("<cache name='L1' size='4K' ways='8' policy='plru'/><tlb name='T' entries='64'/><cache name='L2' "
             "size='64K' ways='2' line='128' inclusive='yes' shared='yes'/>"),
     "L1: 4 kB, 8 ways of 64-byte lines, tree PLRU, write-back, private; T: 64 pages of 4 kB, 64 ways, LRU, private; "
     "L2: 64 kB, 2 ways of 128-byte lines, LRU, write-back, inclusive, shared",
     true},
    {"<cache/>", "m.xml:1: this is <cache>, not a <machine>", false},
    {"<machine/>", "m.xml: expected a <machine> with <memory> of 1 to 8 levels", false},
    {"<machine>\n<cores/></machine>", "m.xml:2: <cores> has no place in <machine>; <memory> and <core> have", false},
    {FILE_OF("") "", "m.xml: expected a <machine> with <memory> of 1 to 8 levels", false},
    {FILE_OF("\n<cache size='1K' ways='1'/>"), "m.xml:2: <cache> needs a name of 1 to 15 letters", false},
    {FILE_OF("<cache name='a b' size='1K' ways='1'/>"),
     "m.xml:1: <cache name=\"a b\">: use letters, digits, '-' and '_': the name becomes part of metric names", false},
    {FILE_OF("<tlb name='T'/>"), "m.xml:1: <tlb> needs entries=\"...\"", false},
    {FILE_OF("<cache name='L1' ways='1'/>"), "m.xml:1: <cache> needs size=\"...\"", false},
    {FILE_OF("<cache name='L1' size='32X' ways='1'/>"),
     "m.xml:1: <cache size=\"32X\">: expected an integer above 0, optionally followed by K, M or G", false},
    {FILE_OF("<cache name='L1' size='-1' ways='1'/>"),
     "m.xml:1: <cache size=\"-1\">: expected an integer above 0, optionally followed by K, M or G", false},
    {FILE_OF("<cache name='L1' size='99999999999G' ways='1'/>"),
     "m.xml:1: <cache size=\"99999999999G\">: expected an integer above 0, optionally followed by K, M or G", false},
    {FILE_OF("<cache name='L1' size='18014398509481984K' ways='1'/>"),
     "m.xml:1: <cache size=\"18014398509481984K\">: expected an integer above 0, optionally followed by K, M or G",
     false},
    {FILE_OF("<tlb name='T' entries='4096'/><cache name='L1' size='32K' ways='8'/>"),
     "T: 4096 pages of 4 kB, 4096 ways, LRU, private; L1: 32 kB, 8 ways of 64-byte lines, LRU, write-back, private",
     true},
    {FILE_OF("<cache name='L1' size='0' ways='1'/>"),
     "m.xml:1: <cache size=\"0\">: expected an integer above 0, optionally followed by K, M or G", false},
    {FILE_OF("<cache name='L1' size='32K' ways='4097'/>"),
     "m.xml:1: <cache ways=\"4097\">: expected an integer above 0, optionally followed by K, M or G", false},
    {FILE_OF("<cache name='L1' size='32K' way='8'/>"), "m.xml:1: <cache> has no attribute 'way'; did you mean 'ways'?",
     false},
    {FILE_OF("<cache name='L1' size='32K' ways='8' policy='fifo'/>"),
     "m.xml:1: <cache policy=\"fifo\">: lru or plru or random is required", false},
    {FILE_OF("<cache name='L1' size='32K' ways='8' line='48'/>"),
     "m.xml:1: L1: a line of 48 bytes; it must be a power of two", false},
    {FILE_OF("<cache name='L1' size='32K' ways='7'/>"),
     "m.xml:1: L1: 32768 bytes are not a multiple of 7 ways of 64 bytes", false},
    {FILE_OF("<cache name='L1' size='36K' ways='12' policy='plru'/>"),
     "m.xml:1: L1: plru uses a tree, so the number of ways must be a power of two, not 12", false},
    {FILE_OF("<cache name='L1' size='32K' ways='8'/><cache name='L1' size='64K' ways='8'/>"),
     "m.xml: two levels are named L1", false},
    {FILE_OF("<cache name='L1' size='32K' ways='8'/><cache name='L2' size='64K' ways='8' line='32'/>"),
     "m.xml: L1 has lines of 64 bytes, and L2 after it smaller ones of 32", false},
    {FILE_OF("<cache name='L1' size='32K' ways='8' shared='yes'/><cache name='L2' size='64K' ways='8'/>"),
     "m.xml: L1 is shared, and L2 after it is private; private levels come first", false},
    {FILE_OF("<cache name='L1' size='32K' ways='8'/><cache name='L2' size='16K' ways='8' inclusive='yes'/>"),
     "m.xml: L2 includes L1 and is smaller", false},
    {FILE_OF("<tlb name='T' entries='64'/>"), "m.xml: no <cache>: only TLBs to simulate", false},
    {FILE_OF("<tlb name='T' entries='64' page='5000'/>"), "m.xml:1: T: a page of 5000 bytes; it must be a power of two",
     false},
    {FILE_OF("<tlb name='T' entries='100000'/>"), "m.xml:1: T: the number of ways must be 1 to 4096", false},
    {FILE_OF("<cache name='L1' size='4G' line='1' ways='1'/>"), "m.xml:1: L1: more than 268435456 cache lines", false},
    /* at each limit, and one beyond it */
    {FILE_OF("<cache name='L1-of_15letters' size='1k' ways='16'/>"),
     "L1-of_15letters: 1 kB, 16 ways of 64-byte lines, LRU, write-back, private", true},
    {FILE_OF("<cache name='L1-of_16-letters' size='1k' ways='16'/>"),
     "m.xml:1: <cache> needs a name of 1 to 15 letters", false},
    {FILE_OF("<cache name='L1' size='256K' ways='4096'/>"),
     "L1: 256 kB, 4096 ways of 64-byte lines, LRU, write-back, private", true},
    {FILE_OF("<cache name='L1' size='256K'/>"), "L1: 256 kB, 4096 ways of 64-byte lines, LRU, write-back, private",
     true},
    {FILE_OF("<cache name='L1' size='262208'/>"), "m.xml:1: L1: the number of ways must be 1 to 4096", false},
    {FILE_OF("<cache name='L1' size='4G' line='64K' ways='1' latency='1000000'/>"),
     "L1: 4096 MB, 1 way of 65536-byte lines, LRU, write-back, private", true},
    {FILE_OF("<cache name='L1' size='4294967297' ways='1'/>"),
     "m.xml:1: <cache size=\"4294967297\">: expected an integer above 0, optionally followed by K, M or G", false},
    {FILE_OF("<cache name='L1' size='4G' line='128K' ways='1'/>"),
     "m.xml:1: <cache line=\"128K\">: expected an integer above 0, optionally followed by K, M or G", false},
    {FILE_OF("<cache name='L1' size='1K' ways='1' latency='1000001'/>"),
     "m.xml:1: <cache latency=\"1000001\">: expected an integer above 0, optionally followed by K, M or G", false},
    {FILE_OF("<cache name='L1' size='4G' line='16' ways='1'/>"),
     "L1: 4096 MB, 1 way of 16-byte lines, LRU, write-back, private", true},
    {FILE_OF("<cache name='L1' size='18014398509481984K' ways='1'/>"),
     "m.xml:1: <cache size=\"18014398509481984K\">: expected an integer above 0, optionally followed by K, M or G",
     false},
    {FILE_OF("<cache name='L1' size='1K' ways='1'/><tlb name='T' entries='4096' page='1G'/>"),
     "L1: 1 kB, 1 way of 64-byte lines, LRU, write-back, private; T: 4096 pages of 1024 MB, 4096 ways, LRU, private",
     true},
    {FILE_OF("<cache name='L1' size='1K' ways='1'/><tlb name='T' entries='4097'/>"),
     "m.xml:1: T: the number of ways must be 1 to 4096", false},
    {FILE_OF("<cache name='L1' size='1K' ways='1'/><tlb name='T' entries='1M' ways='4K'/>"),
     "L1: 1 kB, 1 way of 64-byte lines, LRU, write-back, private; T: 1048576 pages of 4 kB, 4096 ways, LRU, private",
     true},
    {FILE_OF("<cache name='L1' size='1K' ways='1'/><tlb name='T' entries='1048577' ways='1'/>"),
     "m.xml:1: <tlb entries=\"1048577\">: expected an integer above 0, optionally followed by K, M or G", false},
    {FILE_OF("<cache name='L1' size='1K' ways='1'/><tlb name='T' entries='4' page='2G'/>"),
     "m.xml:1: <tlb page=\"2G\">: expected an integer above 0, optionally followed by K, M or G", false},
    {FILE_OF("<cache name='L1' size='32K' ways='8'/><cache name='L2' size='32K' ways='8' inclusive='yes'/>"),
     "L1: 32 kB, 8 ways of 64-byte lines, LRU, write-back, private; L2: 32 kB, 8 ways of 64-byte lines, LRU, "
     "write-back, inclusive, private",
     true},
    {FILE_OF("<cache name='L1' size='1K' ways='1' shared='yes'/><cache name='L2' size='1K' ways='1' shared='yes'/>"),
     "L1: 1 kB, 1 way of 64-byte lines, LRU, write-back, shared; L2: 1 kB, 1 way of 64-byte lines, LRU, write-back, "
     "shared",
     true},
    {FILE_OF("<cache name='L1' size='1K' ways='1' inclusive='yes' write='through' allocate='no'/>"),
     "m.xml:1: L1: a level that does not allocate stores cannot be inclusive", false},
    {FILE_OF("<cache name='L1' size='1K' ways='1' inclusive='yes' write='through' allocate='yes' shared='no'/>"),
     "L1: 1 kB, 1 way of 64-byte lines, LRU, write-through, inclusive, private", true},
    {FILE_OF("<cache name='1' size='1K'/><cache name='2' size='1K'/><cache name='3' size='1K'/><cache name='4' "
             "size='1K'/><cache name='5' size='1K'/><tlb name='6' entries='4'/><tlb name='7' entries='4'/><tlb "
             "name='8' entries='4'/>"),
     "1: 1 kB, 16 ways of 64-byte lines, LRU, write-back, private; 2: 1 kB, 16 ways of 64-byte lines, LRU, write-back, "
     "private; 3: 1 kB, 16 ways of 64-byte lines, LRU, write-back, private; 4: 1 kB, 16 ways of 64-byte lines, LRU, "
     "write-back, private; 5: 1 kB, 16 ways of 64-byte lines, LRU, write-back, private; 6: 4 pages of 4 kB, 4 ways, "
     "LRU, private; 7: 4 pages of 4 kB, 4 ways, LRU, private; 8: 4 pages of 4 kB, 4 ways, LRU, private",
     true},
    {FILE_OF("<cache name='1' size='1K'/><cache name='2' size='1K'/><cache name='3' size='1K'/><cache name='4' "
             "size='1K'/><cache name='5' size='1K'/><tlb name='6' entries='4'/><tlb name='7' entries='4'/><tlb "
             "name='8' entries='4'/>\n<cache name='9' size='1K'/>"),
     "m.xml:2: more than 8 levels", false},
    {FILE_OF("<cache name='1' size='1K'/><tlb name='2' entries='4'/><cache name='2' size='1K'/>"),
     "m.xml: two levels are named 2", false},
    {FILE_OF("<cache name='1' size='1K'/>\n<core/>"),
     "m.xml:2: <core> is not allowed in <memory>; use <cache> and <tlb>", false},
    {"<machine name='a'><core><port><memory/></port></core><memory latency='1000000'><cache name='L1' "
     "size='1K'/></memory></machine>",
     "L1: 1 kB, 16 ways of 64-byte lines, LRU, write-back, private", true},
    {"<machine><memory latency='1000001'/></machine>",
     "m.xml:1: <memory latency=\"1000001\">: expected an integer above 0, optionally followed by K, M or G", false},
    {"<machine><memory/>\n<memory/></machine>", "m.xml:2: second <memory>; a machine has only one", false},
    {"<machine><memory size='3'/></machine>", "m.xml:1: <memory> has no attribute 'size'", false},
    {"<machine size='3'/>", "m.xml:1: <machine> has no attribute 'size'", false},
    {FILE_OF("<cache name='L1' size='1K' ways='1' shared='maybe'/>"),
     "m.xml:1: <cache shared=\"maybe\">: no or yes is required", false},
    {FILE_OF("<tlb name='L1' entries='1K' line='1'/>"), "m.xml:1: <tlb> has no attribute 'line'", false},
};

static void check_file(const char *text, const char *want, bool good)
{
    struct machine_memory m;
    struct err err = {0};
    struct buf b = {0};
    int status = machine_memory_parse(text, strlen(text), "m.xml", &m, &err);
    if (status == 0)
        machine_memory_print(&m, &b);
    CHECK_INT(status, good ? 0 : -1);
    CHECK_STR(status == 0 ? b.bytes : err.msg, want);
    buf_release(&b);
}

static void check_here(void)
{
    struct machine_memory m;
    struct err err = {0};
    CHECK_INT(machine_memory_here("/nowhere", &m, &err), 0);
    CHECK_STR(m.name, "usual");
    CHECK_INT(m.level_count, 5);
    CHECK(machine_memory_here("/sys", &m, &err) >= 0);
    CHECK_STR(m.levels[0].name, "L1");
    CHECK_INT(m.levels[m.level_count - 1].next, MACHINE_NO_LEVEL);
}

/* Cache files of a kernel, and the resulting machine description. */
static void put_value(const char *sys, unsigned index, const char *key, const char *value)
{
    static const char *const parts[] = {"devices", "system", "cpu", "cpu0", "cache"};
    struct buf path = {0};
    buf_str(&path, sys);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        buf_printf(&path, "/%s", parts[i]);
        mkdir(path.bytes, 0777);
    }
    buf_printf(&path, "/index%u", index);
    mkdir(path.bytes, 0777);
    buf_printf(&path, "/%s", key);
    FILE *f = fopen(path.bytes, "w");
    if (f) {
        fprintf(f, "%s\n", value);
        fclose(f);
    }
    buf_release(&path);
}

/* Each file of a cache. */
static void put_cache(const char *sys, unsigned index, const char *const *values)
{
    static const char *const keys[] = {"type", "level", "size", "coherency_line_size", "ways_of_associativity"};
    for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
        put_value(sys, index, keys[k], values[k]);
}

static void check_kernels(void)
{
#define TLBS "; TLB: 64 pages of 4 kB, 4 ways, LRU, private; TLB2: 1536 pages of 4 kB, 12 ways, LRU, private"
#define L1                                                                                                             \
    {                                                                                                                  \
        "Data", "1", "48K", "64", "12"                                                                                 \
    }
#define L1_IS "L1: 48 kB, 12 ways of 64-byte lines, LRU, write-back, private"
#define USUAL                                                                                                          \
    "L1: 32 kB, 8 ways of 64-byte lines, LRU, write-back, private; "                                                   \
    "L2: 1 MB, 16 ways of 64-byte lines, LRU, write-back, private; "                                                   \
    "L3: 32 MB, 16 ways of 64-byte lines, LRU, write-back, shared" TLBS
    static const struct {
        const char *name, *values[4][5], *want;
        int status;
    } kernels[] = {
        {"three levels, code passed over",
         {L1,
          {"Instruction", "1", "32K", "64", "8"},
          {"Unified", "2", "2048K", "64", "16"},
          {"Unified", "3", "32768K", "128", "16"}},
         L1_IS "; L2: 2 MB, 16 ways of 64-byte lines, LRU, write-back, private; "
               "L3: 32 MB, 16 ways of 128-byte lines, LRU, write-back, shared" TLBS,
         1},
        {"no such level",
         {L1, {"Unified", "5", "2048K", "64", "16"}, {"Unified", "0", "2048K", "64", "16"}},
         L1_IS TLBS,
         1},
        {"the fourth",
         {L1, {"Unified", "4", "2048K", "64", "16"}},
         L1_IS "; L4: 2 MB, 16 ways of 64-byte lines, LRU, write-back, shared" TLBS,
         1},
        {"a level twice", {L1, {"Data", "1", "32K", "64", "8"}}, L1_IS TLBS, 1},
        {"no size", {L1, {"Unified", "2", "", "64", "16"}}, L1_IS TLBS, 1},
        {"no line", {L1, {"Unified", "2", "2048K", "0", "16"}}, L1_IS TLBS, 1},
        {"a line too long", {L1, {"Unified", "2", "64M", "8192", "16"}}, L1_IS TLBS, 1},
        {"no ways", {L1, {"Unified", "2", "2048K", "64", "0"}}, L1_IS TLBS, 1},
        {"too many ways", {L1, {"Unified", "2", "2048K", "64", "8192"}}, L1_IS TLBS, 1},
        {"as many ways as can be",
         {L1, {"Unified", "2", "2048K", "64", "4096"}},
         L1_IS "; L2: 2 MB, 4096 ways of 64-byte lines, LRU, write-back, private" TLBS,
         1},
        {"as long a line as can be",
         {L1, {"Unified", "2", "64M", "4096", "16"}},
         L1_IS "; L2: 64 MB, 16 ways of 4096-byte lines, LRU, write-back, private" TLBS,
         1},
        {"one way too many", {L1, {"Unified", "2", "2048K", "64", "4097"}}, L1_IS TLBS, 1},
        {"a line a byte too long", {L1, {"Unified", "2", "64M", "4097", "16"}}, L1_IS TLBS, 1},
        {"all of one way too many", {{"Data", "1", "512K", "64", "8192"}}, USUAL, 0},
        {"a size that is no size",
         {L1, {"Unified", "2", "18014398509481984K", "64", "16"}, {"Unified", "3", "x", "64", "16"}},
         L1_IS TLBS,
         1},
        {"what makes no sense", {{"Data", "1", "48K", "64", "11"}}, USUAL, 0},
        {"nothing", {{"", "", "", "", ""}}, USUAL, 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
        char sys[] = "/tmp/machine_test.XXXXXX";
        struct machine_memory m;
        struct err err = {0};
        struct buf b = {0};
        if (!mkdtemp(sys))
            continue;
        for (unsigned index = 0; index < 4; index++)
            if (kernels[i].values[index][0])
                put_cache(sys, index, kernels[i].values[index]);
        CHECK_INT(machine_memory_here(sys, &m, &err), kernels[i].status);
        machine_memory_print(&m, &b);
        tap_str(b.bytes, kernels[i].want, kernels[i].name, __FILE__, __LINE__);
        CHECK_STR(m.name, kernels[i].status ? "this machine" : "usual");
        CHECK_INT(m.memory_latency, 200);
        CHECK_INT(m.levels[0].latency, 4);
        buf_release(&b);
        dir_remove_tree(sys, NULL);
    }
}

/* By a path, by a name in a folder, and invalid ones. */
static void check_read(void)
{
    const char *top = getenv("top_srcdir");
    char *dir = path_join(top ? top : ".", "share/machines"), *path = path_join(dir, "year-2001.xml");
    struct machine_memory m = {.name = ""}, same = {.name = ""};
    struct err err = {0};
    CHECK_INT(machine_memory_read("year-2001", dir, &m, &err), 0);
    CHECK_INT(machine_memory_read(path, "/nowhere", &same, &err), 0);
    CHECK(memcmp(&m, &same, sizeof m) == 0);
    CHECK_STR(m.name, "year-2001");
    CHECK_INT(m.level_count, 3);
    CHECK_INT(machine_memory_read("nothing", dir, &m, &err), -1);
    CHECK(str_starts(err.msg, "'nothing' is not a machine file of ") && strstr(err.msg, ", year-2001, "));
    CHECK_INT(machine_memory_read("/nowhere/nothing.xml", dir, &m, &err), -1);
    CHECK(str_starts(err.msg, "/nowhere/nothing.xml: "));
    mem_free(dir);
    mem_free(path);
}

/* The kernel numbers a processor's caches from 0; the ninth is ignored. */
static void check_many(void)
{
    static const char *const l2[] = {"Unified", "2", "2048K", "64", "16"};
    for (unsigned index = 6; index < 10; index++) {
        char sys[] = "/tmp/machine_test.XXXXXX";
        struct machine_memory m;
        struct err err = {0};
        if (!mkdtemp(sys))
            return;
        put_cache(sys, index, l2);
        CHECK_INT(machine_memory_here(sys, &m, &err), index < 8);
        CHECK_STR(m.levels[0].name, index < 8 ? "L2" : "L1");
        dir_remove_tree(sys, NULL);
    }
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        check_file(cases[i].text, cases[i].want, cases[i].good);
    check_here();
    check_kernels();
    check_many();
    check_read();
    return tap_done();
}
