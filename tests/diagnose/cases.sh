#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A boundary update with a bad stride, simulated; formats; experiments on a program; errors. The papers' cases are in papers.sh.
. "$top_srcdir/tests/lib.sh"
need cc
need_recording
cd "$scratch" || exit 99

mkdir own
cp "$top_srcdir/share/examples/papers/bottleneck.asl" own
cp "$top_srcdir/share/examples/papers/kernels.c" .
cc -O2 -g -o kernels kernels.c
run "$hpcview" record -o kernels.m -- ./kernels

# ---- a boundary update with a bad stride: procedure, loop, misses, array ------------------------------------------------------
cat >boundary.c <<'END'
#include <stdio.h>
static double UN[400][32], V[400][32];
__attribute__((noinline)) static void interior(void)
{
    for (int i = 1; i < 399; i++)
        for (int j = 1; j < 31; j++)
            V[i][j] = V[i][j] * 0.5;
}
__attribute__((noinline)) static void bound(void)
{
    for (int k = 0; k < 500; k++)
        for (int i = 0; i < 400; i++) /* BAD */
            UN[i][k % 32] = 1;
}
int main(void)
{
    interior();
    bound();
    printf("%g\n", UN[3][3] + V[5][5]);
    return 0;
}
END
if "$top_builddir/mhsim/hpcview-cc" -O1 -g -o boundary boundary.c 2>err &&
    "$hpcview" simulate -o boundary.m -m "$top_srcdir/share/machines/skylake-server.xml" -- ./boundary >/dev/null 2>err; then
    run "$hpcview" diagnose --format csv boundary.m
    first=$(sed -n 2p out)
    check_match "the boundary's stride is the first finding" "$first" "LowSpatialUse"
    check_match "at its line, on its array" "$first" "boundary.c,$(($(grep -n BAD boundary.c | cut -d : -f 1) + 1))"
    check_match "the array has its name" "$first" "Poor spatial locality: UN"
else
    skip "a boundary update" "nothing can be simulated here: $(head -n 1 err)"
fi

# ---- formats ---------------------------------------------------------------------------------------------------------------------
cat >io.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(void)
{
    char c;
    int fd = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < 1500000; i++)
        if (read(fd, &c, 1) != 1)
            return 1;
    return 0;
}
END
cc -O1 -g -o io io.c
run "$hpcview" record -o io.m -- ./io
run "$hpcview" diagnose --untested io.m
check_match "text: the finding" "$out" "System calls for input and output"
check_match "text: the first finding is a sentence, at the line of the program" "$out" "System calls for input and output: io.c:"
check_match "text: what was not tested, and what it needs" "$out" "needs perf::PAGE-FAULTS"
run "$hpcview" diagnose --fail-if 5 io.m
check "--fail-if: status 3" test "$status" = 3
run "$hpcview" diagnose --fail-if 99 kernels.m
check "--fail-if, not reached: status 0" test "$status" = 0
run "$hpcview" diagnose --threshold 100 kernels.m
check_match "a threshold above all" "$out" "No finding costs"
"$hpcview" diagnose -f json -o io.json io.m && "$hpcview" diagnose -f sarif -o io.sarif io.m && "$hpcview" diagnose -f periscope -o io.psc io.m
if [ -n "$NODE" ] && command -v "$NODE" >/dev/null 2>&1; then
    run "$NODE" "$top_srcdir/tests/diagnose/sarif.mjs" io.json io.sarif
    check "JSON has findings and search, SARIF keeps its schema's rules" test "$status" = 0
else
    skip "JSON and SARIF" "no node here"
fi
check "Periscope's XML is XML" grep -q '<Experiment xmlns="http://www.lrr.in.tum.de/Periscope">' io.psc
! command -v xmllint >/dev/null 2>&1 || check "and well-formed" xmllint --noout io.psc
run "$hpcview" build -o io.db io.m
run "$hpcview" export csv io.db
check "a database opens with its findings" test "$status" = 0
"$hpcview" diagnose io.m >of.m 2>/dev/null
"$hpcview" diagnose io.db >of.db 2>/dev/null
check "diagnose says of a database what it says of its measurement" cmp of.m of.db
run "$hpcview" diagnose --threshold 40 io.db
check_match "with a higher threshold, those above it" "$out" "1 finding (>= 40% of the run)"
sed 's/HYPOTHESIS Bottleneck/PROPERTY Mine/' own/bottleneck.asl >mine.asl
mkdir mine && mv mine.asl mine
run "$hpcview" diagnose -p mine --format csv io.db
check_match "with properties of one's own, these too" "$out" "Mine,"
run "$hpcview" print --table findings io.m
check "they are found, not measured" test "$status" != 0

# ---- errors ----------------------------------------------------------------------------------------------------------
mkdir bad
cat >bad/a.asl <<'END'
PROPERTY A { REFINES B; CONDITION: T > 1; SEVERITY: 3; }
PROPERTY B { REFINES A; CONDITION: T > ; SEVERITY: 3; }
END
run "$hpcview" diagnose -p bad io.m
check "mistakes in properties: status 1" test "$status" = 1
check_match "each with its place" "$err" "bad/a.asl:2:"
check_match "all of them" "$err" "bad/a.asl:1:"
cat >bad/a.asl <<'END'
PROPERTY A { CONDITION: NOBODY_MEASURED > 1; SEVERITY: 3; }
PROPERTY B { FOR PROGRAM; CONDITION: share(time) > 0; SEVERITY: share(time) / 0; }
END
run "$hpcview" diagnose --untested -p bad io.m
check_match "a metric that is not there" "$out" "needs NOBODY_MEASURED"
check_match "a severity without value" "$out" "B: holds in 1 place without a value for its severity"
for words in '--strategy best' '--format yaml' '--threshold 101' '--fail-if much' '-p nowhere'; do
    # shellcheck disable=SC2086
    run "$hpcview" diagnose $words io.m
    check "diagnose $words: an error" test "$status" != 0 -a "$status" != 3
    check "diagnose $words: a sentence" test -n "$err"
done

# ---- experiments on a program --------------------------------------------------------------------------------------------------
cat >faults.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv)
{
    for (int k = 0; k < 30; k++) {
        size_t n = 40 << 20;
        volatile char *block = malloc(n);
        for (size_t i = 0; i < n; i += 4096)
            block[i] = (char)k;
        free((void *)block);
    }
    (void)argv;
    return argc - 1;
}
END
cc -O1 -g -o faults faults.c
faults_are_found() {
    rm -rf faults.x
    run "$hpcview" diagnose --keep faults.x --experiments 2 -- ./faults
    case $out in *"Page faults in"*) ;; *) return 1 ;; esac
}
undisturbed faults_are_found
check "experiments: status 0" test "$status" = 0
check_match "the first asks where the time goes" "$err" "experiment 1: where the time goes"
check_match "the second for what open properties need" "$err" "perf::PAGE-FAULTS (for PageFaults)"
check_match "and finds it" "$out" "Page faults in"
check "the limit holds" test ! -e faults.x/experiment-3
check "its page has them" test -f faults.x.db/index.html
check_match "and the search" "$("$hpcview" diagnose --format json faults.x.db)" '"PageFaults"'
# signals and the ring in one thread: each has its own previous path
run "$hpcview" record -e REALTIME -e perf::PAGE-FAULTS -o both.m -- ./faults
check_equal "paths of events that come by signals and by the ring are whole" "$("$hpcview" info both.m 2>&1 | grep 'is not used')" ""
run "$hpcview" diagnose --database kernels.html kernels.m
check "--database, of measurements: one file" test "$status" = 0 -a -f kernels.html
run "$hpcview" diagnose --database other.db faults.x.db
check "--database, of a database: an error with a sentence" test "$status" = 2 -a -n "$err"
cat >third.c <<'END'
#include <stdio.h>
int main(void)
{
    FILE *log = fopen("third.log", "a");
    fputs("run\n", log);
    int failed = ftell(log) > 8;
    double x = 1;
    for (int i = 0; i < 20000000; i++)
        x = x * 0.999 + 1;
    return failed ? 3 : x < 0;
}
END
cc -O1 -g -o third third.c
run "$hpcview" diagnose --keep third.x --experiments 3 -- ./third
check_match "a program that fails in the third experiment: said" "$err" "experiment 3: third ended with status 3"
check_match "earlier findings are kept" "$out" "Loop-carried dependency limits the loop"
cat >gone.sh <<'END'
#!/bin/sh
[ ! -e once ] || rm -f gone
touch once
exec ./faults
END
chmod +x gone.sh
cp gone.sh gone
run "$hpcview" diagnose --keep gone.x --experiments 3 -- ./gone
check "a program that is gone at the third: status 1" test "$status" = 1
check_match "with a sentence" "$err" "experiment 3: .*earlier findings are kept"
check_match "and what was found" "$out" "properties checked"
run "$hpcview" diagnose --keep nowhere.x -- ./nowhere
check "a program that is not there: status 1" test "$status" = 1
check "and no folders for it" test ! -e nowhere.x

# ---- experiments on one iteration of a region ----------------------------------------------------------------------------------
cat >steps.c <<'END'
#include <hpcview.h>
static volatile double x = 1;
#define WORK(name)                                                                                                     \
    __attribute__((noinline)) static void name(void)                                                                   \
    {                                                                                                                  \
        for (int i = 0; i < 40000000; i++)                                                                             \
            x = x * 0.999;                                                                                             \
    }
WORK(first_step)
WORK(second_step)
WORK(outside)
int main(void)
{
    outside();
    for (int i = 0; i < 3; i++) {
        hpcview_region_begin("step");
        if (i == 1)
            second_step();
        else
            first_step();
        hpcview_region_end("step");
        outside();
    }
    return 0;
}
END
cc -O1 -g -I"$top_srcdir/hpcprof/recorder/include" -o steps steps.c -ldl
seen() { # MEASUREMENT: the procedures that have samples
    "$hpcview" print --format csv "$1" 2>/dev/null | csv_rows | awk -F '\t' '$5 ~ /_step|outside/ { print $5 }' | sort | tr '\n' ' '
}
run "$hpcview" record -o step.m --region step -- ./steps
check_equal "--region: nothing else is measured" "$(seen step.m)" "first_step second_step "
run "$hpcview" diagnose --keep step.x --experiments 1 --region step@2 -- ./steps
check_equal "an experiment is one iteration" "$(seen step.x/experiment-1)" "second_step "
check "diagnose --region: status 0" test "$status" = 0
cat >passes.c <<'END'
#include <hpcview.h>
static volatile double a[4096][16], b[4096][16];
__attribute__((noinline)) static void down(volatile double (*x)[16])
{
    for (int i = 0; i < 4096; i++)
        x[i][0] = i;
}
int main(void)
{
    for (int i = 0; i < 3; i++) {
        down(b);
        hpcview_region_begin("pass");
        down(a);
        hpcview_region_end("pass");
    }
    return 0;
}
END
cc -O1 -g -I"$top_srcdir/hpcprof/recorder/include" -o passes passes.c -ldl
counted() { # REGION...: references to each array that were counted
    rm -rf passes.m
    "$hpcview" simulate -o passes.m -m "$top_srcdir/share/machines/skylake-server.xml" "$@" -f down -- ./passes >/dev/null 2>err &&
        "$hpcview" print --table references --format csv passes.m 2>/dev/null | csv_rows |
        awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["level"] ~ /^L1/ { n[$at["object"]] += $at["accesses"] }
             END { printf "%d %d", n["a"], n["b"] }'
}
if "$hpcview" simulate -o probe.m -- ./passes >/dev/null 2>err; then
    check_equal "simulate: everywhere" "$(counted)" "12288 12288"
    check_equal "simulate --region: nothing else is counted" "$(counted --region pass)" "12288 0"
    check_equal "simulate --region NAME@N: one time" "$(counted --region pass@2)" "4096 0"
    run "$hpcview" simulate --region pass@0 -- ./passes
    check "simulate --region pass@0: an error" test "$status" = 2 -a -n "$err"
else
    skip "simulate --region" "nothing can be simulated here: $(head -n 1 err)"
fi
for words in 'record --region step@0 -- ./steps' 'record --region step --delay 1s -- ./steps' 'diagnose --region step io.m'; do
    # shellcheck disable=SC2086
    run "$hpcview" $words
    check "$words: an error" test "$status" != 0 -a -n "$err"
done
done_testing
