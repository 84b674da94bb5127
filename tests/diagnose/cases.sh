#!/bin/sh
# The papers' cases: a time step of 90 loops of which 8 matter, searched by functions and with loops (Paradyn's OM3); a boundary update
# with a bad stride, simulated (Periscope's crystal growth); formats; experiments on a program; what goes wrong.
. "$top_srcdir/tests/lib.sh"
need cc
need_recording
cd "$scratch" || exit 99

# ---- a time step with 90 loops: the 12th a third of it, seven more about 8% each -------------------------------------------
awk 'BEGIN {
    print "#include <stdio.h>\nstatic double a[64];\nint steps = 220;\n__attribute__((noinline)) static void time_step(void)\n{"
    for (i = 1; i <= 90; i++) {
        n = i == 12 ? 330 : i % 11 == 4 && i < 80 ? 90 : 1
        printf "    for (int i = 0; i < %d * 100; i++) /* LOOP %d */\n        a[%d] = a[%d] * 0.999 + %d;\n", n, i, i % 64, i % 64, i
    }
    print "}\n__attribute__((noinline)) static void output(void)\n{\n    for (int i = 0; i < 12000; i++)\n        a[0] = a[0] * 0.5 + 1;\n}"
    print "int main(void)\n{\n    for (int s = 0; s < steps * 10; s++) {\n        time_step();\n        output();\n    }\n    printf(\"%g\\n\", a[12]);\n    return 0;\n}" }' >om3.c
cc -O1 -g -fno-inline -o om3 om3.c
mkdir own
cat >own/bottleneck.asl <<'END'
HYPOTHESIS Bottleneck { FOR PROGRAM, PROCEDURE, LOOP; CONDITION: share(time) > 0.03; SEVERITY: 100 * share(time); }
END
run "$hpcview" record -o om3.m -- ./om3
# search STRATEGY: tests, true ones, leaves (true, with nothing true that comes from them), rounds
search() {
    "$hpcview" diagnose -p own --strategy "$1" --format graph om3.m 2>/dev/null >"$1.dot"
    awk '/label="Bottleneck/ { match($0, /s[0-9]+/); id = substr($0, RSTART, RLENGTH); all[id] = 1; n++; if (/\\ntrue/) { t[id] = 1; m++ } }
         / -> / { sub(/;/, ""); if ($3 in t) inner[$1] = 1 }
         END { for (i in t) if (!inner[i]) leaves++; print n + 0, m + 0, leaves + 0 }' "$1.dot"
}
functions=$(search functions)
loops=$(search loop-aware)
comment "time step of 90 loops: strategy, tests, bottlenecks, leaves"
comment "functions   $functions"
comment "loop-aware  $loops"
main=$(grep -c 'Bottleneck\\n.*time_step\\ntrue' functions.dot)
check "by functions, the search ends at time_step" test "$main" = 1
leaves=${loops##* }
check "with loops, it ends at the eight that matter" test "$leaves" -ge 8 -a "$leaves" -le 10
twelfth=$(grep -n 'LOOP 12 ' om3.c | cut -d : -f 1)
check "the twelfth among them" grep -q "loop at om3.c:$twelfth\\\\ntrue" loop-aware.dot
check_match "what is false prunes what is in it" "$("$hpcview" diagnose -p own --strategy functions om3.m 2>/dev/null)" "places in it  (from"
run "$hpcview" diagnose -p own --strategy loop-aware --experiments 2 om3.m
check_match "a limit on rounds: what was open is said" "$out" "not reached"

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
    check_match "the array has its name" "$first" "UN is used badly"
else
    skip "a boundary update" "nothing can be simulated here: $(head -n 1 err)"
fi

# ---- the same, by experiments: program, procedure, loop, misses, array -----------------------------------------------------------
sed 's/\[400\]\[32\]/[20000][64]/g; s/k < 500/k < 150/; s/i < 400/i < 20000/; s/k % 32/k % 64/' boundary.c >larger.c
cc -O1 -g -o larger larger.c
run "$hpcview" diagnose --strategy property-first --experiments 3 --keep larger.x -- ./larger
chain=$(printf '%s\n' "$out" | sed -n '/The search/,$p' | grep ' true ' | grep -E 'CPUBound: the program|HotLoop: .*in bound|(FirstLevelMisses|LowSpatialUse): .*in bound')
if printf '%s\n' "$err" | grep -q "simulated memory .* of bound$"; then
    comment "$chain"
    check_equal "from the program to its hot loop to its misses to how they use what they bring" \
        "$(printf '%s\n' "$chain" | sed 's/ *\([0-9]\)  true .*% \([A-Za-z]*\):.*/\1 \2/' | tr '\n' ' ')" "1 CPUBound 1 HotLoop 3 FirstLevelMisses 3 LowSpatialUse "
    check_match "to the array" "$out" "UN is used badly"
else
    skip "a boundary update by experiments" "nothing can be simulated here: $(printf '%s\n' "$err" | tail -n 1)"
fi

# ---- MAQAO's table: properties by loop and line -----------------------------------------------------------------------------------
cat >kernels.c <<'END'
#include <stdio.h>
static double a[4096], b[4096], c[4096];
static int at[4096];
int main(void)
{
    for (int i = 0; i < 4096; i++)
        at[i] = i * 403 & 4095, b[i] = i, c[i] = i + 1;
    for (int k = 0; k < 5000; k++) {
        for (int i = 0; i < 4096; i++) /* division */
            a[i] = b[i] / c[i];
        for (int i = 0; i < 4096; i++) /* indirect */
            a[i] = b[at[i]] + 1;
        for (int i = 1; i < 4096; i++) /* chain */
            c[i] = c[i - 1] * 0.5 + 1;
    }
    printf("%g\n", a[1] + b[2] + c[3]);
    return 0;
}
END
cc -O2 -g -o kernels kernels.c
run "$hpcview" record -o kernels.m -- ./kernels
"$hpcview" print --table loop_checks --format csv kernels.m 2>/dev/null | csv_rows |
    awk -F '\t' 'NR > 1 { of[$4] = of[$4] " " $6 } END { for (line in of) print line of[line] }' | sort -n >table
comment "properties by loop and line:"
comment "$(cat table)"
for word in division indirect chain; do
    line=$(grep -n "/\* $word \*/" kernels.c | cut -d : -f 1)
    check "$word is said of the loop at line $line" grep -q "^$line .*$word" table
done

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
run "$hpcview" diagnose io.m
check_match "text: the finding" "$out" "Time goes into system calls for input and output"
check_match "text: what was not tested, and what it needs" "$out" "needs perf::PAGE-FAULTS"
run "$hpcview" diagnose --fail-if 5 io.m
check "--fail-if: status 3" test "$status" = 3
run "$hpcview" diagnose --fail-if 99 om3.m
check "--fail-if, not reached: status 0" test "$status" = 0
run "$hpcview" diagnose --threshold 100 om3.m
check_match "a threshold above all" "$out" "Nothing was found"
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
run "$hpcview" diagnose --threshold 60 io.db
check_match "with a higher threshold, those above it" "$out" "1 finding of 60% of the run"
sed 's/HYPOTHESIS Bottleneck/PROPERTY Mine/' own/bottleneck.asl >mine.asl
mkdir mine && mv mine.asl mine
run "$hpcview" diagnose -p mine --format csv io.db
check_match "with properties of one's own, these too" "$out" "Mine,"
run "$hpcview" print --table findings io.m
check "they are found, not measured" test "$status" != 0

# ---- what goes wrong -----------------------------------------------------------------------------------------------------------
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
run "$hpcview" diagnose -p bad io.m
check_match "a metric that is not there" "$out" "needs NOBODY_MEASURED"
check_match "a severity without value" "$out" "B: holds in 1 place where its severity has no value"
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
check_match "what was found before stays" "$out" "Each iteration waits for the one before"
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
check_match "with a sentence" "$err" "experiment 3: .*what was found before stays"
check_match "and what was found" "$out" "properties were looked for"
run "$hpcview" diagnose --keep nowhere.x -- ./nowhere
check "a program that is not there: status 1" test "$status" = 1

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
cc -O1 -g -I"$top_srcdir/hpcprof/include" -o steps steps.c -ldl
seen() { # MEASUREMENT: the procedures that have samples
    "$hpcview" print --format csv "$1" 2>/dev/null | csv_rows | awk -F '\t' '$5 ~ /_step|outside/ { print $5 }' | sort | tr '\n' ' '
}
run "$hpcview" record -o step.m --region step -- ./steps
check_equal "--region: nothing else is measured" "$(seen step.m)" "first_step second_step "
run "$hpcview" diagnose --keep step.x --experiments 1 --region step@2 -- ./steps
check_equal "an experiment is one iteration" "$(seen step.x/experiment-1)" "second_step "
check "diagnose --region: status 0" test "$status" = 0
for words in 'record --region step@0 -- ./steps' 'record --region step --delay 1s -- ./steps' 'diagnose --region step io.m'; do
    # shellcheck disable=SC2086
    run "$hpcview" $words
    check "$words: an error" test "$status" != 0 -a -n "$err"
done
done_testing
