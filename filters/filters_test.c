/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rule of each format, a few lines of text for each: the resulting measurement, as lines of text too. */
#include "config.h"

#include "filters/callgrind/callgrind.h"
#include "filters/formats.h"
#include "filters/perf/perf.h"
#include "tests/fixtures/import_dump.h"

#ifdef HAVE_IBERTY
#define HEAT_STEP "heat::step(double)"
#else
#define HEAT_STEP "_ZN4heat4stepEd"
#endif

#include <elf.h>
#include <unistd.h>

/* ---- the rules --------------------------------------------------------------------------------------- */

struct rule {
    const char *name, *format, *text, *want; /* want: the dump, or the error */
};

#define CG   "callgrind", "# callgrind format\nevents: Ir Dr\n"
#define MAIN "ob=heat\nfl=a.c\nfn=main\n"

static const struct rule rules[] = {
    {"absolute lines", CG MAIN "16 400 20\n", "heat main a.c:16 Dr 20\nheat main a.c:16 Ir 400\n"},
    {"+N is after the last line", CG MAIN "16 400\n+3 1\n", "heat main a.c:16 Ir 400\nheat main a.c:19 Ir 1\n"},
    {"-N is before it", CG MAIN "16 400\n-3 1\n", "heat main a.c:13 Ir 1\nheat main a.c:16 Ir 400\n"},
    {"* is the same", CG MAIN "16 400\n* 1\n", "heat main a.c:16 Ir 401\n"},
    {"a call's line counts for the next", CG MAIN "16 4\ncalls=1 50\n+2 900\n+1 1\n",
     "heat main a.c:16 Ir 4\nheat main a.c:19 Ir 1\n"},
    {"hex lines and costs", CG MAIN "0x10 0x20\n", "heat main a.c:16 Ir 32\n"},
    {"numbers of every length",
     CG MAIN "1 7\n2 67\n3 567\n4 4567\n5 34567\n6 234567\n7 1234567\n8 91234567\n9 891234567 1\n10 8\t2\n"
             "11 123456789012345678\n12 0xfffffff\n13 9",
     "heat main a.c:1 Ir 7\nheat main a.c:10 Dr 2\nheat main a.c:10 Ir 8\nheat main a.c:11 Ir 123456789012345678\n"
     "heat main a.c:12 Ir 268435455\nheat main a.c:13 Ir 9\nheat main a.c:2 Ir 67\nheat main a.c:3 Ir 567\n"
     "heat main a.c:4 Ir 4567\nheat main a.c:5 Ir 34567\nheat main a.c:6 Ir 234567\nheat main a.c:7 Ir 1234567\n"
     "heat main a.c:8 Ir 91234567\nheat main a.c:9 Dr 1\nheat main a.c:9 Ir 891234567\n"},
    {"a number with something behind it", CG MAIN "16 4:5 6789012\n", "input:6: a cost must be an integer"},
    {"no octal", CG MAIN "010 011\n", "heat main a.c:10 Ir 11\n"},
    {"zero is no cost", CG MAIN "16 0 2\n", "heat main a.c:16 Dr 2\n"},
    {"the number of a name", CG "ob=(1) heat\nfl=(1) a.c\nfn=(7) main\n1 1\nfn=(8) f\n2 2\nfn=(7)\n3 3\n",
     "heat f a.c:2 Ir 2\nheat main a.c:1 Ir 1\nheat main a.c:3 Ir 3\n"},
    {"callers' and callees' names share numbers",
     CG "ob=(1) heat\nfl=(1) a.c\nfn=(1) main\ncfn=(2) f\ncfi=(2) b.c\n"
        "cob=(2) lib\ncalls=1 1\n5 9\nob=(2)\nfl=(2)\nfn=(2)\n3 3\n",
     "lib f b.c:3 Ir 3\n"},
    {"a callee's file ends with the call", CG MAIN "cfi=b.c\ncfn=f\ncalls=1 1\n5 9\n6 1\n", "heat main a.c:6 Ir 1\n"},
    {"fi and fe change the file, not the function", CG MAIN "1 1\nfi=v.h\n2 2\nfe=a.c\n3 3\n",
     "heat main a.c:1 Ir 1\nheat main a.c:3 Ir 3\nheat main@a.c v.h:2 Ir 2\n"},
    {"nor whose file it is", CG "ob=heat\nfl=a.c\nfn=main\n1 1\nfi=v.h\n2 2\nfl=b.c\nfn=f\n3 3\nfe=v.h\nfn=g\n4 4\n",
     "heat f b.c:3 Ir 3\nheat g v.h:4 Ir 4\nheat main a.c:1 Ir 1\nheat main@a.c v.h:2 Ir 2\n"},
    {"unknown names", CG "ob=heat\nfl=???\nfn=???\n0 5\n", "heat - -:0 Ir 5\n"},
    {"no object", CG "fl=a.c\nfn=main\n1 5\n", "[unknown] main a.c:1 Ir 5\n"},
    {"jumps cost nothing", CG MAIN "jump=3 24\n22\njcnd=1/2 30\n23\n24 5\n", "heat main a.c:24 Ir 5\n"},
    {"lines by address and line", "callgrind", "positions: instr line\nevents: Ir\n" MAIN "0x1000 16 4\n+4 +1 5\n",
     "heat main a.c:16 Ir 4\nheat main a.c:17 Ir 5\n"},
    {"threads", CG "thread: 1\n" MAIN "1 1\nthread: 2\n" MAIN "1 2\n",
     "heat main a.c:1 Ir 1\nheat main a.c:1 Ir 2 thread 0.1 \n"},
    {"parts add up", CG "part: 1\n" MAIN "1 1\npart: 2\nevents: Ir Dr\n" MAIN "1 2\n", "heat main a.c:1 Ir 3\n"},
    {"other events in another part", CG MAIN "1 1 2\nevents: Dr\n1 3\n",
     "heat main a.c:1 Dr 5\nheat main a.c:1 Ir 1\n"},
    {"more costs than events", CG MAIN "1 1 2 3\n", "input:6: more costs than events"},
    {"a cost that is none", CG MAIN "1 x\n", "input:6: a cost must be an integer"},
    {"a line that is none", CG MAIN "!\n", "input:6: is not a line of a callgrind file"},
    {"a name's number too large", CG "fn=(99999999999) f\n", "input:3: the number of a name is not '(N)' or too large"},
    {"no costs", CG, "input: contains no costs"},

    {"callgrind: mangled names", CG "ob=heat\nfl=a.c\nfn=(1) _ZN4heat4stepEd\n5 1\nfn=(2) main\n7 2\nfn=(1)\n6 1\n",
     "heat " HEAT_STEP " a.c:5 Ir 1\nheat " HEAT_STEP " a.c:6 Ir 1\nheat main a.c:7 Ir 2\n"},
    {"names of jumps share numbers",
     CG "ob=heat\nfl=(1) a.c\nfn=(1) main\njfi=(2) v.h\njfn=(2) f\njump=3 24\n22\nfl=(2)\nfn=(2)\n5 1\n",
     "heat f v.h:5 Ir 1\n"},
    {"a jump never taken", CG MAIN "jcnd=0/2 30\n23\n24 5\n", "heat main a.c:24 Ir 5\n"},
    {"carriage returns", CG "ob=heat\r\nfl=a.c\r\nfn=main\r\n16 4\r\n", "heat main a.c:16 Ir 4\n"},

    {"the header of valgrind 3.13", "callgrind",
     "version: 1\ncreator: callgrind-3.13.0\npid: 7\ncmd:  ./heat 5\npart: 1\n\n\ndesc: I1 cache: \ndesc: Timerange: "
     "Basic block "
     "0 - 9\ndesc: Trigger: Program termination\n\npositions: line\nevents: Ir\nsummary: 5\n\n\nob=(1) heat\nfl=(1) "
     "a.c\n"
     "fn=(1) main\n3 5\n\ntotals: 5\n",
     "heat main a.c:3 Ir 5\n"},

#define CC "cachegrind", "desc: I1 cache: 32768 B\ncmd: /no/heat 5 5\nevents: Ir I1mr\n"
    {"cachegrind: the program is the object", CC "fl=/a/a.c\nfn=main\n12 7 1\n0 3\nsummary: 10 1\n",
     "heat main /a/a.c:0 Ir 3\nheat main /a/a.c:12 I1mr 1\nheat main /a/a.c:12 Ir 7\n"},
    {"cachegrind: without simulated caches, as from 3.21", "cachegrind",
     "desc: Command: ./heat\ncmd: /no/heat\nevents: Ir\nfl=a.c\nfn=main\n12 7\nsummary: 7\n",
     "heat main a.c:12 Ir 7\n"},
    {"cachegrind: cut short", CC "fl=a.c\nfn=f\n12 7 1\n", "input:6: has no line of totals; is the file truncated?"},
    {"callgrind: cut short", "callgrind", "creator: callgrind-3.19.0\nevents: Ir\nob=heat\nfl=a.c\nfn=f\n12 7\n",
     "input:6: has no line of totals; is the file truncated?"},
    {"cachegrind: a dot is no value", CC "fl=a.c\nfn=f(int, char)\n12 . 1\nsummary: 0 1\n",
     "heat f(int, char) a.c:12 I1mr 1\n"},

#define PS "perf-script"
#define BY_FUNCTION(percent)                                                                                           \
    "! input: " percent "% of the samples are by function only, because the file has no mappings for them; use "       \
    "'perf script --show-mmap-events -F comm,pid,tid,time,event,period,ip,sym,symoff,dso'\n"
#define NO_PERIODS                                                                                                     \
    "! input: samples have no periods, so that they are counted, and ratios of events cannot be computed; "            \
    "'perf script -F +period' writes them\n"
#define LAST_LINE(number) "! input:" number ": the last line has no end; is the file truncated?\n"
#define NOT_HERE(percent)                                                                                              \
    "! input: " percent "% of the samples are by function only, because their binaries are not on this "               \
    "machine\n"
    {"the event and its period", PS, "a 5/5 1.5:  7 cycles:u:  40 f+0x2 (/no/heat)\n",
     "heat f -:0 cycles:u 7 x1\n" BY_FUNCTION("100.0")},
    {"no period: samples", PS, "a 5/5 1.5: cycles:  40 f (/no/heat)\n",
     "heat f -:0 samples of cycles 1 x1\n" NO_PERIODS BY_FUNCTION("100.0")},
    {"a period for some", PS, "a 5/5 1.5: cycles:  40 f (/no/heat)\na 5/5 1.6: 900 cycles:  40 f (/no/heat)\n",
     "heat f -:0 cycles 900 x1\nheat f -:0 samples of cycles 1 x1\n" NO_PERIODS BY_FUNCTION("100.0")},
    {"bytes of instructions are no event", PS,
     "i 100     1.000000:    2000000 cpu-clock: \n\t            117d outer+0x2d (/no/i)\n insn: f2 0f 59 c1\n\n",
     "i outer -:0 cpu-clock 2000000 x1\n" BY_FUNCTION("100.0")},
    {"no time, and no indentation", PS,
     "main 100 cycles:\n1000 hot (/no/main)\n2000 main (/no/main)\n\n"
     "main 100 cycles:\n1000 hot (/no/main)\n2000 main (/no/main)\n\n",
     "main hot -:0 samples of cycles 2 x2 < main main -:0\n" NO_PERIODS BY_FUNCTION("100.0")},
    {"mangled names", PS, "a 5/5 1.5: 7 cycles:  40 _ZN4heat4stepEd (/no/heat)\n",
     "heat " HEAT_STEP " -:0 cycles 7 x1\n" BY_FUNCTION("100.0")},
    {"two events", PS, "a 5/5 1.5: 7 x: 40 f (/no/heat)\na 5/5 1.5: 9 y: 40 f (/no/heat)\n",
     "heat f -:0 x 7 x1\nheat f -:0 y 9 x1\n" BY_FUNCTION("100.0")},
    {"a name with blanks, a processor", PS, "my prog 1 5/5 [003] 1.5: 7 x: 40 f (/no/heat)\n",
     "heat f -:0 x 7 x1\n" BY_FUNCTION("100.0")},
    {"a tid alone", PS, "a 5 1.5: 7 x: 40 f (/no/heat)\n", "heat f -:0 x 7 x1\n" BY_FUNCTION("100.0")},
    {"threads of a process, processes", PS,
     "a 5/5 1.5: 7 x: 40 f (/no/heat)\nb 5/6 1.5: 8 x: 40 f (/no/heat)\nc 7/7 1.5: 9 x: 40 f (/no/heat)\n",
     "heat f -:0 x 7 x1\nheat f -:0 x 8 x1 thread 0.1 b\nheat f -:0 x 9 x1 thread 1.0 c\n" BY_FUNCTION("100.0")},
    {"threads of a process where no time is said", PS,
     "               a       5/5             7f0000000040 f (/no/heat)\n"
     "               b       5/6             7f0000000040 f (/no/heat)\n"
     "               b       5/6             7f0000000040 f (/no/heat)\n",
     "heat f -:0 samples 1 x1\nheat f -:0 samples 2 x2 thread 0.1 b\n" BY_FUNCTION("100.0")},
    {"what the kernel maps is nobody's", PS,
     "a 0/0 1.0: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1000) @ 0xffffffff81000000]: x [kernel.kallsyms]_text\n"
     "a 5/5 1.5: 7 x: ffffffff81000010 do_it+0x1 ([kernel.kallsyms])\n",
     "[kernel] do_it -:0 x 7 x1\n"},
    {"a chain: the first frame, then its callers", PS,
     "a 5/5 1.5: 7 x:\n\t40 f+0x1 (/no/heat)\n\t50 g+0x2 (/no/heat)\n\n",
     "heat f -:0 x 7 x1 < heat g -:0\n" BY_FUNCTION("100.0")},
    {"an inlined frame without its function is the function", PS,
     "a 5/5 1.5: 7 x:\n\t40 step (inlined)\n\t50 g (/no/heat)\n\na 5/5 1.6: 1 x:\n\t60 last (inlined)\n\n",
     "[unknown] last -:0 x 1 x1\n[unknown] step -:0 x 7 x1 < heat g -:0\n"},
    {"inlined frames are no object", PS,
     "a 5/5 1.5: 7 x:\n\t40 step (inlined)\n\t40 f+0x1 (/no/heat)\n\t50 g (/no/heat)\n\n",
     "heat f -:0 x 7 x1 < heat g -:0\n" BY_FUNCTION("100.0")},
    {"a symbol with brackets and blanks", PS, "a 5/5 1.5: 7 x: 40 ns::f(int, char (*)(int))+0x3 (/no/heat)\n",
     "heat ns::f(int, char (*)(int)) -:0 x 7 x1\n" BY_FUNCTION("100.0")},
    {"the kernel", PS, "a 5/5 1.5: 7 x: ffffffff81000000 do_it+0x1 ([kernel.kallsyms])\n",
     "[kernel] do_it -:0 x 7 x1\n"},
    {"nothing known", PS, "a 5/5 1.5: 7 x: 40 [unknown] ([unknown])\n", "[unknown] - -:0 x 7 x1\n"},
    {"a chain without frames", PS, "a 5/5 1.5: 7 x:\n\na 5/5 1.5: 7 x:\n", "[unknown] - -:0 x 14 x2\n"},
    {"mappings, the later one on top", PS,
     "a 5/5 1.0: PERF_RECORD_MMAP2 5/5: [0x1000(0x3000) @ 0 fe:00 1 2]: r-xp /no/old\n"
     "a 5/5 1.0: PERF_RECORD_MMAP2 5/5: [0x2000(0x1000) @ 0 fe:00 1 2]: r-xp /no/new\n"
     "a 5/5 1.5: 1 x: 1fff f (/no/old)\na 5/5 1.5: 2 x: 2000 f (/no/x)\na 5/5 1.5: 4 x: 2fff f (/no/x)\n"
     "a 5/5 1.5: 8 x: 3000 f (/no/x)\n",
     "new f -:0 x 6 x2\nold f -:0 x 9 x2\n" NOT_HERE("100.0")},
    {"mappings, what is left of those below", PS,
     "a 5/5 1.0: PERF_RECORD_MMAP2 5/5: [0x1000(0x3000) @ 0 fe:00 1 2]: r-xp /no/old\n"
     "a 5/5 1.0: PERF_RECORD_MMAP2 5/5: [0x5000(0x1000) @ 0 fe:00 1 2]: r-xp /no/third\n"
     "a 5/5 1.0: PERF_RECORD_MMAP2 5/5: [0x2000(0x1000) @ 0 fe:00 1 2]: r-xp /no/new\n"
     "a 5/5 1.0: PERF_RECORD_MMAP2 5/5: [0x1800(0x1000) @ 0 fe:00 1 2]: r-xp /no/more\n"
     "a 5/5 1.5: 1 x: 17ff f (/no/x)\na 5/5 1.5: 2 x: 1800 f (/no/x)\na 5/5 1.5: 4 x: 27ff f (/no/x)\n"
     "a 5/5 1.5: 8 x: 2800 f (/no/x)\na 5/5 1.5: 16 x: 2fff f (/no/x)\na 5/5 1.5: 32 x: 3000 f (/no/x)\n"
     "a 5/5 1.5: 64 x: 5000 f (/no/x)\na 5/5 1.5: 128 x: 4000 f (/no/x)\n",
     "more f -:0 x 6 x2\nnew f -:0 x 24 x2\nold f -:0 x 33 x2\nthird f -:0 x 64 x1\nx f -:0 x 128 x1\n" BY_FUNCTION(
         "12.5") NOT_HERE("87.5")},
    {"what is left behind keeps its offset", PS,
     "a 5/5 1.0: PERF_RECORD_MMAP2 5/5: [0x7000(0x4000) @ 0x100 00:00 0 0]: r-xp [vdso]\n"
     "a 5/5 1.0: PERF_RECORD_MMAP2 5/5: [0x8000(0x1000) @ 0 fe:00 1 2]: r-xp /no/new\n"
     "a 5/5 1.5: 1 x: 7010 f ([vdso])\na 5/5 1.5: 2 x: 9010 f ([vdso])\n",
     "[vdso] 110 x 1 x1\n[vdso] 2110 x 2 x1\n"},
    {"addresses of the vDSO", PS,
     "a 5/5 1.0: PERF_RECORD_MMAP2 5/5: [0x7000(0x2000) @ 0x100 00:00 0 0]: r-xp [vdso]\n"
     "a 5/5 1.5: 1 x: 7010 f ([vdso])\n",
     "[vdso] 110 x 1 x1\n"},
    {"fields left out: a name and an address", PS, "              ex     5557e224715f leaf\n",
     "[unknown] leaf -:0 samples 1 x1\n"},
    {"fields left out: an address, its line", PS, "     5557e224715f f (/no/heat)\n  ex.c:3\n",
     "heat f ex.c:3 samples 1 x1\n" BY_FUNCTION("100.0")},
    {"fields left out: a period and an event", PS, "              ex     500000 cpu-clock:u:      5557e224715f f\n",
     "[unknown] f -:0 cpu-clock:u 500000 x1\n"},
    {"fields left out: an event alone", PS, "cpu-clock:u: \n\t    5557e224715f f (/no/heat)\n\n",
     "heat f -:0 samples of cpu-clock:u 1 x1\n" NO_PERIODS BY_FUNCTION("100.0")},
    {"fields left out: a thread and an event", PS, "              ex 12445 cpu-clock:u:      5557e224715f f\n",
     "[unknown] f -:0 samples of cpu-clock:u 1 x1\n" NO_PERIODS},
    {"fields left out: chains of frames alone", PS,
     "\n\t    5557e224715f f (/no/heat)\n  ex.c:3\n\t    5557e224800f g (/no/heat)\n"
     "\n\n\t    5557e224715f f (/no/heat)\n\n",
     "heat f -:0 samples 1 x1\nheat f ex.c:3 samples 1 x1 < heat g -:0\n" BY_FUNCTION("100.0")},
    {"fields left out: chains with a thread", PS,
     "my ex 12445 \n\t    5557e224715f f (/no/heat)\n\nmy ex 12446 \n\t    5557e224715f f (/no/heat)\n\n",
     "heat f -:0 samples 1 x1\nheat f -:0 samples 1 x1 thread 1.0 my ex\n" BY_FUNCTION("100.0")},
    {"no samples", PS, "# nothing\n",
     "input: contains no samples of perf script; 'perf script --show-mmap-events -F "
     "comm,pid,tid,time,event,period,ip,sym,symoff,dso' writes the required text"},

#define FO "folded"
    {"a stack and its callers", FO, "a;b;c 7\n", "[unknown] c -:0 samples 7 < [unknown] b -:0 < [unknown] a -:0\n"},
    {"stacks add up", FO, "a;b 7\na;b 1\n", "[unknown] b -:0 samples 8 < [unknown] a -:0\n"},
    {"names with blanks", FO, "a b;c d 7\n", "[unknown] c d -:0 samples 7 < [unknown] a b -:0\n"},
    {"comments, and lines that are no stacks", FO, "# of a tool\nmain;a 5\nmain;b 3\nnot a stack\n",
     "[unknown] a -:0 samples 5 < [unknown] main -:0\n[unknown] b -:0 samples 3 < [unknown] main -:0\n"
     "! input: 1 of 4 lines are no stacks, which end in a blank and a number; they are ignored\n"},
    {"fractions", FO, "a;b 0.25\na;c 0.5\na;b 1.9\n",
     "[unknown] b -:0 samples 215 < [unknown] a -:0\n[unknown] c -:0 samples 50 < [unknown] a -:0\n"},
    {"fractions beside what leaves no room for them", FO, "a;b 0.25\na;c 1844674407370955161\n",
     "[unknown] b -:0 samples 2 < [unknown] a -:0\n"
     "[unknown] c -:0 samples 18446744073709551610 < [unknown] a -:0\n"},
    {"mangled frames", FO, "main;_ZN4heat4stepEd 3\nmain;__zones_MOD_relax 5\n",
     "[unknown] " HEAT_STEP " -:0 samples 3 < [unknown] main -:0\n"
     "[unknown] zones::relax -:0 samples 5 < [unknown] main -:0\n"},
    {"the kernel's frames", FO, "a;b_[k] 7\n", "[kernel] b -:0 samples 7 < [unknown] a -:0\n"},
    {"millionths at most", FO, "a;b 7.12345678\n", "[unknown] b -:0 samples 7123456 < [unknown] a -:0\n"},
    {"a number that is no count", FO, "a;b 7\na;b 18446744073709551616\n", "input:2: the number exceeds 64 bits"},
    {"a stack without a number", FO, "a;b\n", "input: has no stacks; a stack must end in a blank and a number"},
#define LC "lcov"
    {"lines of functions", LC, "TN:\nSF:a.c\nFN:3,f\nFN:9,g\nDA:2,1\nDA:3,2\nDA:8,4\nDA:9,8\nend_of_record\n",
     "[unknown] - a.c:2 executions 1\n[unknown] f a.c:3 executions 2\n[unknown] f a.c:8 executions 4\n"
     "[unknown] g a.c:9 executions 8\n"},
    {"functions after the lines, with their ends", LC, "SF:a.c\nDA:4,2\nFN:3,7,f\nend_of_record\n",
     "[unknown] f a.c:4 executions 2\n"},
    {"lcov 2.2: functions by number", LC,
     "TN:suite\nSF:a.c\nFNL:0,3,9\nFNA:0,5,step\nFNA:0,5,alias\nFNL:1,12,20\nFNA:1,0,unused\nFNF:2\nFNH:1\n"
     "DA:4,5\nDA:5,500\nDA:13,2\nLF:3\nLH:2\nend_of_record\nSF:b.c\nFNA:0,1,f\nDA:4,1\nend_of_record\n",
     "[unknown] - b.c:4 executions 1\n[unknown] step a.c:4 executions 5\n[unknown] step a.c:5 executions 500\n"
     "[unknown] unused a.c:13 executions 2\n"},
    {"another file", LC, "SF:a.c\nFN:1,f\nDA:4,2\nend_of_record\nSF:b.c\nDA:4,3\nend_of_record\n",
     "[unknown] - b.c:4 executions 3\n[unknown] f a.c:4 executions 2\n"},
    {"checksums, and lines never executed", LC, "SF:a.c\nDA:4,2,xyz\nDA:5,0\nend_of_record\n",
     "[unknown] - a.c:4 executions 2\n"},
    {"a line without a count", LC, "SF:a.c\nDA:4\n", "input:2: DA: must have a line number and a count"},
    {"no file", LC, "TN:x\n", "input: names no source file (SF:)"},
#define GC "gcov"
    {"gcov: demangled names, zero is none", GC,
     "{\"gcc_version\": \"12\", \"files\": [{\"file\": \"a.cc\", \"functions\": [{\"name\": \"_Z1fv\", "
     "\"demangled_name\": "
     "\"f()\"}], \"lines\": [{\"line_number\": 3, \"count\": 5, \"function_name\": \"_Z1fv\"}, {\"line_number\": 4, "
     "\"count\": "
     "0, \"function_name\": \"_Z1fv\"}, {\"line_number\": 9, \"count\": 1}]}]}",
     "[unknown] - a.cc:9 executions 1\n[unknown] f() a.cc:3 executions 5\n"},
    {"gcov: no files", GC, "{\"gcc_version\": \"12\"}",
     "input:1: has no list of files as written by gcov --json-format"},
#define LL(segments)                                                                                                   \
    "llvm-cov", "{\"data\":[{\"files\":[{\"filename\":\"a.c\",\"segments\":[" segments                                 \
                "]}]}],\"type\":\"llvm.coverage.json.export\",\"version\":\"2.0.1\"}"
    {"llvm: what holds goes on over lines", LL("[2,1,5,true,true,false],[4,3,0,false,false,false]"),
     "[unknown] - a.c:2 executions 5\n[unknown] - a.c:3 executions 5\n[unknown] - a.c:4 executions 5\n"},
    {"llvm: the most of a line",
     LL("[2,1,5,true,true,false],[2,9,50,true,true,false],[2,12,5,true,false,false],[3,2,0,false,false,false]"),
     "[unknown] - a.c:2 executions 50\n[unknown] - a.c:3 executions 5\n"},
    {"llvm: gaps begin no region",
     LL("[2,1,5,true,true,false],[2,9,50,true,true,true],[2,12,5,true,false,false],[2,20,0,false,false,false]"),
     "[unknown] - a.c:2 executions 5\n"},
#define SP(profile)                                                                                                    \
    "speedscope", "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":["       \
                  "{\"name\":\"f\"},{\"name\":\"g\",\"file\":\"g.c\",\"line\":3}]},\"profiles\":[" profile "]}"
    {"samples and weights",
     SP("{\"type\":\"sampled\",\"name\":\"t\",\"unit\":\"none\",\"samples\":[[0,1],[0]],\"weights\":[5,2]}"),
     "[unknown] f -:0 t 2\n[unknown] g g.c:3 t 5 < [unknown] f -:0\n"},
    {"times in whole nanoseconds",
     SP("{\"type\":\"sampled\",\"name\":\"t\",\"unit\":\"seconds\",\"samples\":[[0],[1]],\"weights\":[0.25,1e-9]}"),
     "[unknown] f -:0 t 250000000\n[unknown] g g.c:3 t 1\n"},
    {"what is no count",
     SP("{\"type\":\"sampled\",\"name\":\"t\",\"samples\":[[0],[0],[0],[1]],\"weights\":[-5,1e999,1e20,2]}"),
     "[unknown] g g.c:3 t 2\n! input: omitted 3 of its numbers: not counts (negative, "
     "infinite, or above 64 bits)\n"},
    {"opened and closed",
     SP("{\"type\":\"evented\",\"name\":\"t\",\"startValue\":1,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1},"
        "{\"type\":\"O\",\"frame\":1,\"at\":3},{\"type\":\"C\",\"frame\":1,\"at\":8},{\"type\":\"C\",\"frame\":0,"
        "\"at\":9}]}"),
     "[unknown] f -:0 t 3\n[unknown] g g.c:3 t 5 < [unknown] f -:0\n"},
    {"a frame that is not there", SP("{\"type\":\"sampled\",\"name\":\"t\",\"samples\":[[2]],\"weights\":[5]}"),
     "input:1: no frame has this number"},
    {"fewer weights", SP("{\"type\":\"sampled\",\"name\":\"t\",\"samples\":[[0],[0]],\"weights\":[5]}"),
     "input:1: fewer weights than samples"},
    {"closed before it is open",
     SP("{\"type\":\"evented\",\"name\":\"t\",\"events\":[{\"type\":\"C\",\"frame\":0,\"at\":1}]}"),
     "input:1: a frame is closed that was not open"},

#define CJ(rows, nodes)                                                                                                \
    "caliper",                                                                                                         \
        "{\"data\":[" rows "],\"columns\":[\"count\",\"time.duration\",\"path\",\"sourceloc#cali.sampler.pc\"],"       \
        "\"column_metadata\":[{\"is_value\":true},{\"is_value\":true},{\"is_value\":false},{\"is_value\":false}],"     \
        "\"nodes\":[" nodes "]}"
    {"caliper: a path of regions", CJ("[2,1.5,1,null]", "{\"label\":\"a\"},{\"label\":\"b\",\"parent\":0}"),
     "[unknown] b -:0 count 2 in b < [unknown] a -:0\n[unknown] b -:0 time.duration 1500 in b < [unknown] a -:0\n"},
    {"caliper: a sample's line", CJ("[2,null,0,1]", "{\"label\":\"a\"},{\"label\":\"/x/a.c:7\"}"),
     "[unknown] a /x/a.c:7 count 2 in a\n"},
    {"caliper: outside of all regions", CJ("[2,null,null,null]", ""), "[unknown] - -:0 count 2\n"},
    {"caliper: no such node", CJ("[2,1,7,null]", "{\"label\":\"a\"}"), "input:1: no node has this number"},
    {"caliper: a parent behind its child", CJ("", "{\"label\":\"a\",\"parent\":0}"),
     "input:1: a node's parent must precede it"},
    {"caliper: a row with more values", CJ("[1,2,null,null,5]", ""),
     "input:1: more values than columns, or too many columns (LIMIT_EVENTS)"},
    {"caliper: records, ranks, quoted numbers", "caliper",
     "[\n{\"path\":\"a/b\",\"mpi.rank\":1,\"count\":3},\n{\"path\":\"a\",\"mpi.rank\":0,\"count\":\"4\"}\n]\n",
     "[unknown] a -:0 count 4 in a\n[unknown] b -:0 count 3 thread 1.0  in b < [unknown] a -:0\n"},
    {"caliper: nothing that adds up", "caliper", "[{\"path\":\"a\",\"min#x\":3,\"inclusive#sum#x\":4}]",
     "input:1: has no column of additive values, such as sum(...) or count() of exclusive values"},
#define LK "likwid", "TABLE,Region r,Group 1 Raw,L2,1\nRegion Info,HWThread 3,HWThread 1\n"
    {"likwid: threads by their numbers",
     LK "call count,7,8\nEvent,Counter,HWThread 3,HWThread 1\nINS,FIXC0,5,1.5e+3,,\n",
     "[unknown] r -:0 INS 1500 in r\n[unknown] r -:0 INS 5 thread 0.3  in r\n"
     "[unknown] r -:0 calls 7 thread 0.3  in r\n[unknown] r -:0 calls 8 in r\n"},
    {"likwid: seconds are kept in ns", LK "RDTSC Runtime [s],0.000123,nan\nEvent,Counter,HWThread 3\nINS,FIXC0,0\n",
     "[unknown] r -:0 runtime 123000 thread 0.3  in r\n"},
    {"likwid: groups are counted at other times",
     LK
     "Event,Counter,HWThread 1\nINS,FIXC0,5\nTABLE,Region r,Group 2 Raw,L3,1\nEvent,Counter,HWThread 1\nINS,FIXC0,6\n",
     "[unknown] r -:0 INS (L2) 5 in r\n[unknown] r -:0 INS (L3) 6 in r\n"},
    {"likwid: without regions, LIKWID 4, statistics and metrics", "likwid",
     "TABLE,Group 1 Raw,L2,1\nEvent,Counter,Core 0\nRuntime (RDTSC) [s],TSC,2e-6\nINS,FIXC0,5\nTABLE,Group 1 Raw "
     "STAT,L2,1\n"
     "Event,Counter,Sum\nINS STAT,FIXC0,9\nTABLE,Group 1 Metric,L2,1\nMetric,Core 0\nCPI,2\n",
     "[unknown] - -:0 INS 5\n[unknown] - -:0 runtime 2000\n"},
    {"likwid: rows of the last table are missing", LK "call count,7,8\nEvent,Counter,HWThread 3,HWThread 1\n",
     "input:4: ends in the middle of a table; is the file truncated?"},
    {"likwid: rows of statistics are missing", "likwid",
     "TABLE,Group 1 Raw,L2,1\nEvent,Counter,HWThread 0\nINS,FIXC0,5\nTABLE,Group 1 Metric,L2,2\nMetric,Core 0\nCPI,2\n",
     "input:6: ends in the middle of a table; is the file truncated?"},
    {"likwid: the last number is cut", LK "call count,7,8\nEvent,Counter,HWThread 3,HWThread 1\nINS,FIXC0,5,15",
     "input:5: ends in the middle of a table; is the file truncated?"},
    {"llvm-cov: cut short", "llvm-cov", "{\"data\":[{\"files\":[{\"filename\":\"a.c\",\"segments\":[[1,",
     "input:1: the text ends where a value is expected"},
    {"lcov: cut short", "lcov", "TN:\nSF:/a/a.c\nFN:1,main\nDA:2,7\n",
     "input:4: has no end_of_record; is the file truncated?"},
    {"perf script: cut in a line", "perf-script", "a 5/5 1.5:  7 cycles:u:  40 f+0x2 (/no/heat)\na 5/5 1.6:  7 cyc",
     "heat f -:0 cycles:u 7 x1\n" LAST_LINE("2") BY_FUNCTION("100.0")},
    {"perf script: cut in a frame", "perf-script", "a 5/5 1.5:  7 cycles:u:\n\t 40 f (/no/heat)\n\t 50 g (/no/he",
     "heat f -:0 cycles:u 7 x1\n" LAST_LINE("3") BY_FUNCTION("100.0")},
    {"perf script: cut before the first frame ends", "perf-script",
     "a 5/5 1.5:  7 cycles:u:\n\t 40 f (/no/heat)\n\na 5/5 1.5:  9 cycles:u:\n\t 50 g (/no/he",
     "heat f -:0 cycles:u 7 x1\n" LAST_LINE("5") BY_FUNCTION("100.0")},
    {"perf script: the last line without its end", "perf-script",
     "main 100 1.0: 250000 cycles: \n\t 1000 hot (/no/main)\n\t 2000 main (/no/main)",
     "main hot -:0 cycles 250000 x1 < main main -:0\n" LAST_LINE("3") BY_FUNCTION("100.0")},
    {"callgrind: cut in the totals", "callgrind",
     "creator: callgrind-3.19.0\nevents: Ir\nob=heat\nfl=a.c\nfn=f\n12 755\ntotals: 75",
     "input:7: has no line of totals; is the file truncated?"},
    {"likwid: no number", LK "call count,7,x\n", "input:3: not a number >= 0: 'x'"},
    {"likwid: threads that are not named", "likwid", "TABLE,Region r,Group 1 Raw,L2,2\nINS,FIXC0,5\n",
     "input:2: the threads of this table were not named before 'INS'"},
#define PA(regions)                                                                                                    \
    "papi", "{\"papi_version\":\"7.0.0.0\",\"event_definitions\":{\"T\":{\"type\":\"instant\"}},\"threads\":{\"0\":{"  \
            "\"regions\":{" regions "}}}}"
    {"papi: a region's own",
     PA("\"0\":{\"name\":\"a\",\"parent_region_id\":\"-1\",\"N\":\"9\"},"
        "\"1\":{\"name\":\"b\",\"parent_region_id\":\"0\",\"N\":{\"region_value\":\"4\",\"read_1\":\"3\"}}"),
     "[unknown] a -:0 N 5 in a\n[unknown] b -:0 N 4 in b < [unknown] a -:0\n"},
    {"papi: instantaneous values are no sums",
     PA("\"0\":{\"name\":\"a\",\"parent_region_id\":\"-1\",\"T\":\"9\",\"N\":\"1\"}"),
     "[unknown] a -:0 N 1 in a\n! input: instantaneous values are not sums and are omitted\n"},
    {"papi: less than what is inside",
     PA("\"0\":{\"name\":\"a\",\"parent_region_id\":\"-1\",\"N\":\"3\"},"
        "\"1\":{\"name\":\"b\",\"parent_region_id\":\"0\",\"N\":\"4\"}"),
     "[unknown] b -:0 N 4 in b < [unknown] a -:0\n! input: some regions have less than their nested regions; the "
     "nested values are used\n"},
    {"papi: a parent that is not there", PA("\"0\":{\"name\":\"a\",\"parent_region_id\":\"5\",\"N\":\"3\"}"),
     "input:1: no earlier region has this number"},
    {"papi: who is in whom is not said", PA("\"0\":{\"a\":{\"N\":\"3\"}}"),
     "input:1: a region must have a name and a parent_region_id, as written by PAPI 6.0.1 and later"},
    {"papi: none of them", PA("\"0\":{\"name\":\"a\",\"parent_region_id\":\"-1\",\"N\":\"1\"}"),
     "[unknown] a -:0 N 1 in a\n"},
    {"papi: no threads", "papi", "{\"papi_version\":\"7.0.0.0\"}", "input:1: has no threads"},

#define PX(tree)                                                                                                       \
    "profile",                                                                                                         \
        "<PROFILE version=\"3.0\"><PROFILEPARAMS><TARGET name=\"t\"/><METRICS>"                                        \
        "<METRIC shortName=\"0\" nativeName=\"CYC\" period=\"10\"/><METRIC shortName=\"1\" nativeName=\"INS\"/>"       \
        "</METRICS></PROFILEPARAMS><PROFILESCOPETREE><PGM n=\"t\">" tree "</PGM></PROFILESCOPETREE></PROFILE>"
    {"values at lines", PX("<F n='a.f'><P n='p'><S b='3' e='4'><M n='0' v='30'/></S></P></F>"),
     "t p a.f:3 CYC 30 x3\n"},
    {"the second metric", PX("<F n='a.f'><P n='p'><S b='3'><M n='1' v='30'/></S></P></F>"), "t p a.f:3 INS 30\n"},
    {"a loop's own line", PX("<F n='a.f'><P n='p'><L b='2' e='9'><M n='1' v='3'/></L></P></F>"), "t p a.f:2 INS 3\n"},
    {"a procedure has no line", PX("<F n='a.f'><P n='p' b='7'><M n='1' v='3'/></P></F>"), "t p a.f:0 INS 3\n"},
    {"a file has no procedure", PX("<F n='a.f'><M n='1' v='3'/></F>"), "t - a.f:0 INS 3\n"},
    {"a scope ends", PX("<F n='a.f'><P n='p'><S b='3'><M n='1' v='1'/></S><M n='1' v='2'/></P><M n='1' v='4'/></F>"),
     "t - a.f:0 INS 4\nt p a.f:0 INS 2\nt p a.f:3 INS 1\n"},
    {"a file in a procedure", PX("<P n='p'><F n='b.f'><M n='1' v='3'/></F></P>"), "t - b.f:0 INS 3\n"},
    {"a module", PX("<LM n='/x/lib'><F n='a.f'><M n='1' v='3'/></F></LM><F n='b.f'><M n='1' v='4'/></F>"),
     "lib - a.f:0 INS 3\nt - b.f:0 INS 4\n"},
    {"values are rounded", PX("<F n='a.f'><M n='1' v='2.5e0'/></F>"), "t - a.f:0 INS 3\n"},
    {"a value below zero", PX("<F n='a.f'><M n='1' v='-1'/></F>"),
     "input:1: the value '-1' is not a number, 0 or more"},
    {"a metric of no name", PX("<F n='a.f'><M n='2' v='1'/></F>"),
     "input:1: M names the metric '2', which is not in METRICS"},
};

static void test_rules(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        struct warnings *warnings = warnings_create();
        char *got = converted_with(rules[i].format, rules[i].text, strlen(rules[i].text), NULL, warnings);
        tap_str(got, rules[i].want, rules[i].name, __FILE__, __LINE__);
        warnings_free(warnings);
        mem_free(got);
    }
}

/* ---- units and periods ----------------------------------------------------------------------------------- */

static void test_periods(void)
{
    static const char text[] =
        "a 5/5 1.5: 10 cpu-clock:u: 40 f (/no/heat)\na 5/5 1.5: 10 cpu-clock:u: 40 f (/no/heat)\n"
        "a 5/5 1.5: 10 cycles: 40 f (/no/heat)\na 5/5 1.5: 21 cycles: 40 f (/no/heat)\n";
    static const struct filter_options none;
    struct filter_input in = {
        .bytes = text, .len = strlen(text), .name = "dir/input", .options = &none, .open = filters_open};
    struct hpcprof *p = hpcprof_create();
    CHECK_INT(perf_script_convert(&in, p, NULL, NULL), 0);
    CHECK_INT(p->event_count, 2);
    CHECK_STR(strtab_get(p->strings, p->events[0].unit), "ns");
    CHECK_INT(p->events[0].period, 10);
    CHECK_INT(p->events[0].flags, 0);
    CHECK_STR(strtab_get(p->strings, p->events[1].unit), "cycles");
    CHECK_INT(p->events[1].period, 15);
    CHECK_INT(p->events[1].flags, HPCPROF_FREQUENCY);
    CHECK_INT(p->processes[0].pid, 5);
    CHECK_STR(strtab_get(p->strings, p->processes[0].source_file), "input");
    hpcprof_free(p);
}

/* ---- folded stacks that are cut, as those that only begin a file are ------------------------------------------- */

static void test_folded_sniff(void)
{
    static const struct {
        const char *text;
        bool is;
    } cases[] = {
        {"a;b 7\n", true},   {"a;b 7", true},         {"a;b 7\nc;d", true},       {"a;b\n", false},
        {"a;b", false},      {"a 7\n", false},        {"a 7\na;b 8\n", true},     {" a;b 7\n", false},
        {"{a;b 7\n", false}, {"a;b 7\nc;d\n", false}, {"a;b 7\n\na;c 8\n", true}, {"", false},
        {"a;b 7x\n", false}, {"a;b 7.5\n", true},     {" 7\n;", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        CHECK_NAMED(folded_sniff(cases[i].text, strlen(cases[i].text)) == cases[i].is, "folded stacks or not");
}

/* ---- pprof ----------------------------------------------------------------------------------------------------- */

static void put_number(struct buf *b, unsigned field, uint64_t value)
{
    buf_uleb(b, field << 3);
    buf_uleb(b, value);
}

static void put_bytes(struct buf *b, unsigned field, const char *bytes, size_t n)
{
    buf_uleb(b, field << 3 | 2);
    buf_uleb(b, n);
    buf_add(b, bytes, n);
}

static void put_message(struct buf *b, unsigned field, struct buf *message)
{
    put_bytes(b, field, message->len ? message->bytes : "", message->len);
    buf_release(message);
}

/* A location with two lines: `inner` inlined into `outer`; unknown fields of every kind in between. */
static void put_pprof(struct buf *b, bool packed)
{
    static const char *const strings[] = {"",      "samples", "count", "cpu", "nanoseconds",
                                          "inner", "outer",   "a.c",   "b.c", "/no/app"};
    struct buf m = {0}, line = {0}, list = {0};
    for (uint64_t i = 1; i < 5; i += 2) {
        put_number(&m, 1, i);
        put_number(&m, 2, i + 1);
        put_message(b, 1, &m);
    }
    buf_uleb(b, 90 << 3 | 1);
    buf_add(b, "\1\2\3\4\5\6\7\10", 8);
    buf_uleb(b, 91 << 3 | 5);
    buf_add(b, "\1\2\3\4", 4);
    put_number(&m, 1, 7);
    if (packed) {
        buf_release(&m);
        buf_uleb(&list, 7);
        put_message(&m, 1, &list);
        buf_uleb(&list, 3);
        buf_uleb(&list, 30000);
        put_message(&m, 2, &list);
    } else {
        put_number(&m, 2, 3);
        put_number(&m, 2, 30000);
    }
    put_message(b, 2, &m);
    put_number(&m, 1, 4);
    put_number(&m, 5, 9);
    put_message(b, 3, &m);
    put_number(&m, 1, 7);
    put_number(&m, 2, 4);
    put_number(&m, 3, 0x1234);
    for (uint64_t i = 1; i < 3; i++) {
        put_number(&line, 1, i);
        put_number(&line, 2, 10 * i);
        put_message(&m, 4, &line);
    }
    put_message(b, 4, &m);
    for (uint64_t i = 1; i < 3; i++) {
        put_number(&m, 1, i);
        put_number(&m, i == 1 ? 2 : 3, 4 + i);
        put_number(&m, 4, 6 + i);
        put_message(b, 5, &m);
    }
    for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
        put_bytes(b, 6, strings[i], strlen(strings[i]));
    put_number(b, 12, 10000);
}

static void test_pprof(void)
{
    for (int packed = 0; packed < 2; packed++) {
        struct buf b = {0};
        put_pprof(&b, packed);
        char *got = converted("pprof", b.bytes, b.len, NULL);
        CHECK_STR(got, "app inner a.c:10 cpu 30000 < app outer b.c:20\n"
                       "app inner a.c:10 samples 3 < app outer b.c:20\n");
        mem_free(got);
        buf_release(&b);
    }
}

/* Go writes the time first; fields may come in any order. */
static void test_pprof_sniff(void)
{
    static const char profile[] = "\x48\xdc\x16\x0a\x04\x08\x01\x10\x02\x50\x01\x60\x01";
    CHECK(pprof_sniff(profile, sizeof profile - 1));
    CHECK(pprof_sniff(profile + 3, sizeof profile - 4));
    CHECK(!pprof_sniff("\x48\x01\x50\x01\x60\x01", 6));         /* no type of a value */
    CHECK(!pprof_sniff("\x0a\x02\x18\x01\x50\x01\x60\x01", 8)); /* not a value type */
}

/* Truncated anywhere before the end of its last string, it is an error; only the period follows that. */
static void test_pprof_cut(void)
{
    struct buf b = {0};
    bool words = true;
    put_pprof(&b, true);
    for (size_t n = 0; n < b.len - 3; n++) {
        char *got = converted("pprof", b.bytes, n, NULL);
        words = words && str_starts(got, "input, byte ");
        mem_free(got);
    }
    CHECK(words);
    char *got = converted("pprof", b.bytes, b.len - 3 - (2 + strlen("/no/app")), NULL);
    CHECK(strstr(got, ": lacks a string that its samples refer to; is the file truncated?"));
    mem_free(got);
    buf_release(&b);
}

/* ---- tables ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
    struct filter_options options;
    const char *want;
} tables[] = {
    {"blanks, any number of them",
     "  a.c 12\tmain   7 \n",
     {.columns = "file,line,procedure,CYC"},
     "[unknown] main a.c:12 CYC 7\n"},
    {"several metrics; a column that is nothing; the program",
     "a.c 1 x 2 3\n",
     {.columns = "file,line,,CYC,INS", .program = "/bin/app"},
     "app - a.c:1 CYC 2\napp - a.c:1 INS 3\n"},
    {"a separator, and fields that are empty",
     "a.c;1;;f\n;2;5;\n",
     {.columns = "file,line,CYC,procedure", .separator = ';'},
     "[unknown] - -:2 CYC 5\n"},
    {"quotes hold separators, doubled ones one of theirs",
     "\"a,b\".c,1,\"f \"\"g\"\"\",5\n",
     {.columns = "file,line,procedure,CYC", .separator = ','},
     "[unknown] f \"g\" a,b.c:1 CYC 5\n"},
    {"modules and threads",
     "m1 t1 1\nm2 t2 2\nm1 t1 4\n",
     {.columns = "module,thread,CYC"},
     "m1 - -:0 CYC 5\nm2 - -:0 CYC 2 thread 0.1 t2\n"},
    {"numbers as people write them",
     "a 1,234,567\nb 2.5\nc 1e3\nd -\ne 18446744073709551615\nf 0.4\ng 0.5\n",
     {.columns = "procedure,CYC"},
     "[unknown] a -:0 CYC 1234567\n[unknown] b -:0 CYC 3\n[unknown] c -:0 CYC 1000\n"
     "[unknown] e -:0 CYC 18446744073709551615\n[unknown] g -:0 CYC 1\n"},
    {"blanks around a number", "a; 12 \n", {.columns = "procedure,CYC", .separator = ';'}, "[unknown] a -:0 CYC 12\n"},
    {"a head, comments and empty lines",
     "head 1\nline 2\n# a 3\n\n  \nb 4\n",
     {.columns = "procedure,CYC", .skip = 2},
     "[unknown] b -:0 CYC 4\n"},
    {"the last line of the head",
     "head 1\nline 2\n",
     {.columns = "procedure,CYC", .skip = 1},
     "[unknown] line -:0 CYC 2\n"},
    {"below 0", "a -1\n", {.columns = "procedure,CYC"}, "input:1: not a number >= 0: '-1'"},
    {"not a number", "a 1\nb nan\n", {.columns = "procedure,CYC"}, "input:2: not a number >= 0: 'nan'"},
    {"a number and more", "a 1x\n", {.columns = "procedure,CYC"}, "input:1: not a number >= 0: '1x'"},
    {"too much",
     "a 18446744073709551616\n",
     {.columns = "procedure,CYC"},
     "input:1: exceeds 64 bits: '18446744073709551616'"},
    {"too much, with a point",
     "a 18446744073709551616.0\n",
     {.columns = "procedure,CYC"},
     "input:1: exceeds 64 bits: '18446744073709551616.0'"},
    {"a line that is none", "a x 1\n", {.columns = "procedure,line,CYC"}, "input:1: not a number >= 0: 'x'"},
    {"a short row",
     "a 1\nb\n",
     {.columns = "procedure,CYC"},
     "input:2: this row has fewer columns than --columns names: ''"},
    {"a short row, with a separator",
     "a;1\nb\n",
     {.columns = "procedure,CYC", .separator = ';'},
     "input:2: this row has fewer columns than --columns names: ''"},
    {"no metric", "a 1\n", {.columns = "procedure,line"}, "--columns names no metric, as in file,line,CYCLES"},
    {"no columns", "a 1\n", {0}, "input: a table needs --columns"},
};

/* ---- gperftools ---------------------------------------------------------------------------------------------- */

static void put_words(struct buf *b, unsigned size, bool big, const uint64_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < size; k++)
            buf_add(b, &(char){(char)(words[i] >> 8 * (big ? size - 1 - k : k))}, 1);
}

/* Three samples and one, of words of each size and order. Cut anywhere before the mappings it is refused. */
static void test_gperftools(void)
{
    static const uint64_t words[] = {0, 3, 0, 10000, 0, 3, 2, 0x1010, 0x1020, 1, 1, 0x1020, 0, 1, 0};
    static const char mapping[] = "1000-2000 r-xp 00000000 fe:00 1   /no/heat\n";
    for (unsigned kind = 0; kind < 4; kind++) {
        struct buf b = {0};
        put_words(&b, kind < 2 ? 8 : 4, kind % 2, words, ARRAY_SIZE(words));
        size_t head = b.len;
        buf_str(&b, mapping);
        CHECK(gperftools_sniff(b.bytes, b.len));
        char *got = converted("gperftools", b.bytes, b.len, NULL);
        CHECK_STR(got, "heat - -:0 cpu 10000 x1\nheat - -:0 cpu 30000 x3 < heat - -:0\n");
        mem_free(got);
        for (size_t n = head / 3 + 1; n < head; n++) {
            got = converted("gperftools", b.bytes, n, NULL);
            CHECK_NAMED(str_starts(got, "input, byte ") && str_ends(got, "was it copied whole?"),
                        "a profile that is cut");
            mem_free(got);
        }
        buf_release(&b);
    }
    CHECK(!gperftools_sniff("", 0) && !gperftools_sniff(mapping, sizeof mapping));
}

static void test_tables(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        char *got = converted("table", tables[i].text, strlen(tables[i].text), &tables[i].options);
        bool error = tables[i].want[strlen(tables[i].want) - 1] != '\n';
        if (!CHECK_NAMED(error ? str_starts(got, tables[i].want) : strcmp(got, tables[i].want) == 0, tables[i].name))
            printf("# got %s\n", got);
        mem_free(got);
    }
    static const struct filter_options units = {.columns = "CYC,procedure,NS,X", .units = "cycles,ns"};
    struct filter_input in = {.bytes = "1 f 2 3\n", .len = 8, .name = "input", .options = &units, .open = filters_open};
    struct hpcprof *p = hpcprof_create();
    CHECK_INT(filter_named("table", NULL)->convert(&in, p, NULL, NULL), 0);
    CHECK_INT(p->event_count, 3);
    CHECK_STR(strtab_get(p->strings, p->events[0].unit), "cycles");
    CHECK_STR(strtab_get(p->strings, p->events[1].unit), "ns");
    CHECK_STR(strtab_get(p->strings, p->events[2].unit), "");
    hpcprof_free(p);
}

/* ---- gprof ------------------------------------------------------------------------------------------------------ */

static void put_gmon_head(struct buf *b)
{
    buf_str(b, "gmon");
    buf_u32(b, 1);
    buf_add(b, "\0\0\0\0\0\0\0\0\0\0\0", 12);
}

static void put_histogram(struct buf *b, uint64_t low, uint64_t high, uint32_t rate, const uint16_t *counts, uint32_t n)
{
    buf_u8(b, 0);
    buf_u64(b, low);
    buf_u64(b, high);
    buf_u32(b, n);
    buf_u32(b, rate);
    buf_add(b, "seconds\0\0\0\0\0\0\0\0s", 16);
    for (uint32_t i = 0; i < n; i++)
        buf_u16(b, counts[i]);
}

static void put_arc(struct buf *b, uint64_t from, uint64_t to, uint32_t count)
{
    buf_u8(b, 1);
    buf_u64(b, from);
    buf_u64(b, to);
    buf_u32(b, count);
}

static void test_gmon(void)
{
    static const uint16_t counts[] = {0, 3, 0, 5, 1}, more[] = {7};
    struct buf b = {0};
    put_gmon_head(&b);
    put_histogram(&b, 0x1000, 0x1028, 100, counts, 5);
    buf_u8(&b, 2); /* two basic block counts, which are ignored */
    buf_u32(&b, 2);
    for (int i = 0; i < 4; i++)
        buf_u64(&b, 0xffff);
    put_arc(&b, 0x1005, 0x1020, 4);
    put_arc(&b, 0x1009, 0x1020, 0);
    put_arc(&b, 0, 0x1000, 1);
    put_histogram(&b, 0x2000, 0x2001, 3000000, more, 1); /* more often than once in a microsecond: that */
    char *got = converted("gprof", b.bytes, b.len, NULL);
    CHECK_STR(got, "a.out 1000 calls 1\na.out 1008 time 30000 x3\na.out 1018 time 50000 x5\na.out 1020 calls 4\n"
                   "a.out 1020 time 10000 x1\na.out 2000 time 7 x7\n");
    mem_free(got);
    /* truncated anywhere but between records, it is an error */
    size_t whole = 0;
    for (size_t n = 20; n < b.len; n++) {
        got = converted("gprof", b.bytes, n, NULL);
        whole += !str_starts(got, "input, byte ");
        mem_free(got);
    }
    CHECK_INT(whole, 6);
    buf_release(&b);
}

/* Invalid data after the header, and the messages. */
static void test_gmon_wrong(void)
{
    static const uint16_t counts[] = {1, 1};
    static const char no_sense[] = "a histogram is truncated or inconsistent";
    for (int i = 0; i < 5; i++) {
        struct buf b = {0};
        put_gmon_head(&b);
        switch (i) {
        case 0:
            put_histogram(&b, 0x1000, 0x1000, 100, counts, 2);
            break;
        case 1:
            put_histogram(&b, 0x1000, 0x2000, 0, counts, 2);
            break;
        case 2:
            put_histogram(&b, 0x1000, 0x2000, 100, counts, 0);
            break;
        case 3:
            buf_u8(&b, 3);
            break;
        default:
            b.bytes[4] = 2; /* version */
        }
        char *got = converted("gprof", b.bytes, b.len, NULL);
        CHECK(strstr(got, i < 3 ? no_sense : i == 3 ? "is not a record of a gmon.out file" : "not a gmon.out"));
        mem_free(got);
        buf_release(&b);
    }
}

/* A program with one segment at 0x1000 that contains `code`. */
static char *write_program(const uint8_t *code, size_t n)
{
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_machine = EM_X86_64,
                       .e_phoff = sizeof head,
                       .e_phentsize = sizeof(Elf64_Phdr),
                       .e_phnum = 2};
    Elf64_Phdr segments[] = {
        {.p_type = PT_NOTE, .p_vaddr = 0x1000, .p_filesz = 0x1000},
        {.p_type = PT_LOAD, .p_offset = sizeof head + 2 * sizeof(Elf64_Phdr), .p_vaddr = 0x1000, .p_filesz = n}};
    const char *tmp = getenv("TMPDIR");
    char *path = mem_printf("%s/hpcview-gmon.XXXXXX", tmp ? tmp : "/tmp");
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    CHECK(f && fwrite(&head, sizeof head, 1, f) == 1 && fwrite(segments, sizeof segments, 1, f) == 1 &&
          fwrite(code, 1, n, f) == n && fclose(f) == 0);
    return path;
}

/* glibc records callers in blocks of 16 bytes: the call is the instruction in the block that targets the callee. */
static void test_gmon_calls(void)
{
    static const struct {
        unsigned call; /* where the five bytes of it end, from the block's beginning */
        int off;       /* how far before the place after mcount's call it leads */
        bool found;
    } cases[] = {{0, 9, true},  {7, 9, true},   {15, 0, true}, {16, 9, false},
                 {3, 64, true}, {3, 65, false}, {3, -1, false}};
    enum { BLOCK = 0x1020, TO = 0x1080 };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint8_t code[0x100] = {0};
        uint32_t distance = (uint32_t)(TO - cases[i].off - (int)(BLOCK + cases[i].call));
        uint8_t *call = code + (BLOCK - 0x1000) + cases[i].call - 5;
        *call = 0xe8;
        for (int k = 0; k < 4; k++)
            call[1 + k] = (uint8_t)(distance >> 8 * k);
        char *path = write_program(code, sizeof code);
        struct filter_options options = {.program = path};
        struct buf b = {0};
        put_gmon_head(&b);
        put_arc(&b, BLOCK, TO, 1);
        struct filter_input in = {
            .bytes = b.bytes, .len = b.len, .name = "input", .options = &options, .open = filters_open};
        struct hpcprof *p = hpcprof_create();
        CHECK_INT(filter_named("gprof", NULL)->convert(&in, p, NULL, NULL), 0);
        const struct table *t = table_list_find(&p->tables, "call_edges");
        if (CHECK(t && table_row_count(t) == 1))
            CHECK_INT(p->contexts[table_row(t, 0)[0].row].address, cases[i].found ? BLOCK + cases[i].call - 1 : BLOCK);
        hpcprof_free(p);
        buf_release(&b);
        unlink(path);
        mem_free(path);
    }
}

/* ---- calls and parts of callgrind ---------------------------------------------------------------------------- */

static struct hpcprof *read_callgrind(const char *text)
{
    static const struct filter_options none;
    struct filter_input in = {
        .bytes = text, .len = strlen(text), .name = "input", .options = &none, .open = filters_open};
    struct hpcprof *p = hpcprof_create();
    CHECK_INT(callgrind_convert(&in, p, NULL, NULL), 0);
    hpcprof_finish(p);
    return p;
}

static void test_call_edges(void)
{
    static const char text[] = "# callgrind format\nevents: Ir Dr\npart: 1\nob=heat\nfl=(1) a.c\nfn=(1) main\n5 1\n"
                               "cfi=(2) b.c\ncfn=(2) f\ncalls=3 7\n+1 900 2\nfl=(2)\nfn=(2)\n7 900\n"
                               "part: 2\nevents: Ir Dr\nfl=(1)\nfn=(1)\n6 1\ncfi=(2)\ncfn=(2)\ncalls=4 7\n6 100\n";
    struct hpcprof *p = read_callgrind(text);
    const struct table *t = table_list_find(&p->tables, "call_edges");
    CHECK(t && table_row_count(t) == 1);
    const union table_cell *row = table_row(t, 0);
    const struct hpcprof_context *caller = &p->contexts[row[0].row], *callee = &p->contexts[row[1].row];
    CHECK_INT(caller->line, 6);
    CHECK_STR(strtab_get(p->strings, caller->procedure), "main");
    CHECK_STR(strtab_get(p->strings, callee->procedure), "f");
    CHECK_STR(strtab_get(p->strings, callee->file), "b.c");
    CHECK_INT(callee->line, 7);
    CHECK_INT(row[2].count, 7);
    CHECK_INT(row[3].count, 1000);
    hpcprof_free(p);
}

/* "part: from -> to times" of each row, or "-> to": reached without a jump. */
static void check_jumps(const char *text, const char *want)
{
    struct hpcprof *p = read_callgrind(text);
    const struct table *t = table_list_find(&p->tables, "jumps");
    struct buf b = {0};
    buf_str(&b, "");
    for (size_t i = 0; t && i < table_row_count(t); i++) {
        const union table_cell *row = table_row(t, i);
        buf_printf(&b, "%llu:", (unsigned long long)row[0].count);
        if (row[2].row != TABLE_NONE)
            buf_printf(&b, " %llx", (unsigned long long)p->contexts[row[2].row].address);
        buf_printf(&b, " -> %llx %llu\n", (unsigned long long)p->contexts[row[3].row].address,
                   (unsigned long long)row[4].count);
    }
    CHECK_STR(b.bytes, want);
    buf_release(&b);
    hpcprof_free(p);
}

static void test_jumps(void)
{
#define HEAD "# callgrind format\npositions: instr line\nevents: Ir\n"
#define HERE "ob=/proc/self/exe\nfl=a.c\nfn=main\n"
    check_jumps(HEAD HERE "0x10 1 1\n0x14 2 10\n0x18 2 10\njcnd=9/10 0x14 2\n* *\n0x1c 3 1\n",
                "0: 18 -> 14 9\n0: -> 14 1\n");
    /* of several lines, and named again after other events */
    check_jumps(HEAD HERE "0x10 1 1\n0x14 2 3\n0x14 3 1\n0x18 2 4\njcnd=3/4 0x14 2\n* *\nevents: Ir Dr\n"
                          "0x14 2 6 1\n0x18 2 6\njcnd=6/6 0x14 2\n* *\n",
                "0: 18 -> 14 9\n0: -> 14 1\n");
    /* between functions, and to code that was not executed */
    check_jumps(HEAD HERE "0x10 1 2\njump=2 0x30 9\n* *\nfn=other\n0x30 9 5\njump=1 0x99 9\n* *\n",
                "0: 10 -> 30 2\n0: 30 -> 99 1\n0: -> 30 3\n");
    /* for a missing object only lines are known */
    check_jumps(HEAD "ob=heat\nfl=a.c\nfn=main\n0x14 2 10\n0x18 2 10\njcnd=9/10 0x14 2\n* *\n", "");
    check_jumps(HEAD "part: 1\n" HERE "0x10 1 1\n0x14 2 10\n0x18 2 10\njcnd=9/10 0x14 2\n* *\n0x1c 3 1\n"
                     "part: 2\n" HERE "0x10 1 2\n0x14 2 8\n0x18 2 8\njcnd=6/8 0x14 2\n* *\n0x1c 3 2\n"
                     "part: 3\n" HERE "0x14 2 3\n0x18 2 3\njcnd=3/3 0x14 2\n* *\n",
                "1: 18 -> 14 9\n1: -> 14 1\n2: 18 -> 14 6\n2: -> 14 2\n3: 18 -> 14 3\n");
}

/* ---- the door ------------------------------------------------------------------------------------------------ */

static void test_recognised(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        for (const struct filter *f = filter_table; f->name; f++) {
            size_t len = strlen(rules[i].text);
            bool own = strcmp(f->name, rules[i].format) == 0;
            if (!own && f->sniff(rules[i].text, len))
                printf("# %s taken for %s\n", rules[i].name, f->name), CHECK(false);
        }
    CHECK(!filter_table[0].sniff("", 0));
}

int main(void)
{
    test_rules();
    test_periods();
    test_folded_sniff();
    test_pprof();
    test_pprof_sniff();
    test_pprof_cut();
    test_gperftools();
    test_tables();
    test_gmon();
    test_gmon_wrong();
    test_gmon_calls();
    test_call_edges();
    test_jumps();
    test_recognised();
    return tap_done();
}
