/* Machine files: what is accepted, and the sentence for each thing that makes no sense. */
#include "config.h"
#include "mhsim/mhsim.h"
#include "tests/tap.h"

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
    {"<machine/>", "m.xml: a <machine> with <memory> of 1 to 8 levels is wanted", false},
    {"<machine>\n<cores/></machine>", "m.xml:2: <cores> has no place in <machine>; <memory> has", false},
    {FILE_OF("") "", "m.xml: a <machine> with <memory> of 1 to 8 levels is wanted", false},
    {FILE_OF("\n<cache size='1K' ways='1'/>"), "m.xml:2: <cache> needs a name of 1 to 15 letters", false},
    {FILE_OF("<cache name='a b' size='1K' ways='1'/>"),
     "m.xml:1: <cache name=\"a b\">: letters, digits, '-' and '_' are wanted: it becomes part of metrics' names",
     false},
    {FILE_OF("<cache name='L1' ways='1'/>"), "m.xml:1: <cache> needs size=\"...\"", false},
    {FILE_OF("<cache name='L1' size='32X' ways='1'/>"),
     "m.xml:1: <cache size=\"32X\">: a whole number above 0 is wanted, with K, M or G behind it if you like", false},
    {FILE_OF("<cache name='L1' size='-1' ways='1'/>"),
     "m.xml:1: <cache size=\"-1\">: a whole number above 0 is wanted, with K, M or G behind it if you like", false},
    {FILE_OF("<cache name='L1' size='99999999999G' ways='1'/>"),
     "m.xml:1: <cache size=\"99999999999G\">: a whole number above 0 is wanted, with K, M or G behind it if you like",
     false},
    {FILE_OF("<cache name='L1' size='32K' way='8'/>"), "m.xml:1: <cache> has no attribute 'way'; did you mean 'ways'?",
     false},
    {FILE_OF("<cache name='L1' size='32K' ways='8' policy='fifo'/>"),
     "m.xml:1: <cache policy=\"fifo\">: lru or plru or random is wanted", false},
    {FILE_OF("<cache name='L1' size='32K' ways='8' line='48'/>"),
     "m.xml:1: L1: a line of 48 bytes; a power of two is wanted", false},
    {FILE_OF("<cache name='L1' size='32K' ways='7'/>"),
     "m.xml:1: L1: 32768 bytes are not a number of sets of 7 ways of 64 bytes", false},
    {FILE_OF("<cache name='L1' size='36K' ways='12' policy='plru'/>"),
     "m.xml:1: L1: plru chooses in a tree: its ways must be a power of two, not 12", false},
    {FILE_OF("<cache name='L1' size='32K' ways='8'/><cache name='L1' size='64K' ways='8'/>"),
     "m.xml: two levels are called L1", false},
    {FILE_OF("<cache name='L1' size='32K' ways='8'/><cache name='L2' size='64K' ways='8' line='32'/>"),
     "m.xml: L1 has blocks of 64 bytes, and L2 behind it smaller ones of 32", false},
    {FILE_OF("<cache name='L1' size='32K' ways='8' shared='yes'/><cache name='L2' size='64K' ways='8'/>"),
     "m.xml: L1 is shared, and L2 behind it is private; a private level comes first", false},
    {FILE_OF("<cache name='L1' size='32K' ways='8'/><cache name='L2' size='16K' ways='8' inclusive='yes'/>"),
     "m.xml: L2 includes L1 and is smaller", false},
    {FILE_OF("<tlb name='T' entries='64'/>"), "m.xml: no <cache>: there is nothing to simulate but TLBs", false},
    {FILE_OF("<tlb name='T' entries='64' page='5000'/>"), "m.xml:1: T: a page of 5000 bytes; a power of two is wanted",
     false},
    {FILE_OF("<tlb name='T' entries='100000'/>"), "m.xml:1: T: how many ways? 1 to 4096", false},
    {FILE_OF("<cache name='L1' size='4G' line='1' ways='1'/>"), "m.xml:1: L1: more than 268435456 blocks", false},
};

static void check_file(const char *text, const char *want, bool good)
{
    struct mhsim_machine m;
    struct err err = {0};
    struct buf b = {0};
    int status = mhsim_machine_parse(text, strlen(text), "m.xml", &m, &err);
    if (status == 0)
        mhsim_machine_print(&m, &b);
    CHECK_INT(status, good ? 0 : -1);
    CHECK_STR(status == 0 ? b.bytes : err.msg, want);
    buf_release(&b);
}

static void check_here(void)
{
    struct mhsim_machine m;
    struct err err = {0};
    CHECK_INT(mhsim_machine_here("/nowhere", &m, &err), 0);
    CHECK_STR(m.name, "usual");
    CHECK_INT(m.level_count, 5);
    CHECK(mhsim_machine_here("/sys", &m, &err) >= 0);
    CHECK_STR(m.levels[0].name, "L1");
    CHECK_INT(m.levels[m.level_count - 1].next, MHSIM_NO_LEVEL);
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        check_file(cases[i].text, cases[i].want, cases[i].good);
    check_here();
    return tap_done();
}
