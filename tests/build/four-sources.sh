#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One program, four sources on one tree: our samples, perf's, callgrind's instructions and gcov's executions, and a formula over two of them.
. "$top_srcdir/tests/lib.sh"

need gcc gcov valgrind perf
need_recording
cd "$scratch" || exit 99
cat >four.c <<'END'
#include <stdio.h>
double a[4096];
__attribute__((noinline, noclone)) double sum(int rounds)
{
    double s = 0;
    for (int k = 0; k < rounds; k++)
        for (int i = 0; i < 4096; i++)
            s += a[i] * k;
    return s;
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 4096; i++)
        a[i] = i;
    printf("%g\n", sum(3000 * argc));
    return argv[0] == 0;
}
END
cat >four.xml <<'END'
<hpcview version="1">
  <title>Four sources</title>
  <run name="samples" measurements="samples.m"/>
  <run name="perf" measurements="perf.data"/>
  <run name="callgrind" measurements="callgrind.out"/>
  <run name="gcov" measurements="gcov.hpcprof"/>
  <measured name="TIME" event="REALTIME" run="samples"/>
  <measured name="CLOCK" event="cpu-clock:u" run="perf"/>
  <measured name="INS" event="Ir" run="callgrind"/>
  <measured name="EXEC" event="executions" run="gcov"/>
  <computed name="INS_EACH" formula="INS / EXEC"/>
</hpcview>
END
{
    gcc -O1 -g --coverage four.c -o four &&
        valgrind --tool=callgrind --dump-instr=yes --callgrind-out-file=callgrind.out ./four && rm -f ./*.gcda &&
        perf record -q -e cpu-clock:u -c 1000000 -o perf.data ./four && rm -f ./*.gcda &&
        "$hpcview" record -o samples.m -e REALTIME@1000 -- ./four && rm -f ./*.gcda &&
        ./four && gcov --json-format -t four*.gcda >four.json
} >made 2>&1 || skip_all "not all four can be had here: $(tail -n 1 made)"
run "$hpcview" import -o gcov.hpcprof --program "$PWD/four" four.json
check "gcov's counts of that program" test "$status" = 0
run "$hpcview" build -o four.db four.xml
check "a database of four sources" test "$status" = 0
"$hpcview" export csv four.db >four.csv 2>/dev/null
check "the hot loop has all four, and the formula" awk -F, '$3 == "loop" && $6 == 7 && $8 > 0 && $10 > 0 && $12 > 0 && $14 > 0 && $16 > 0 { found = 1 } END { exit !found }' four.csv
# at least 3 instructions per round, in two lines that gcov counts; everything else is negligible
check "and the formula is a few instructions a line" awk -F, '$3 == "program" { exit !($16 > 1 && $16 < 8) }' four.csv
done_testing
