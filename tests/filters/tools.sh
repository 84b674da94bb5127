#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Other tools' reports of their own files, and hpcview's of the same files: equal to the last digit. (valgrind, gcov, PAPI and perf:
# filters.sh.)
. "$top_srcdir/tests/lib.sh"

cd "$scratch" || exit 99
csv() { "$hpcview" print --by "$1" --format csv "$2" 2>/dev/null; }

# gprof: seconds and calls of each function
cat >timed.c <<'END'
static volatile double x = 1;
__attribute__((noinline, noclone)) static void light(int n)
{
    for (int i = 0; i < n; i++)
        x = x * 1.0000001;
}
__attribute__((noinline, noclone)) static void heavy(int n)
{
    for (int i = 0; i < 3 * n; i++)
        x = x * 1.0000001;
    light(n);
}
int main(void)
{
    for (int k = 0; k < 40; k++) {
        heavy(500000);
        light(500000);
    }
    return x < 0;
}
END
if command -v gprof >/dev/null 2>&1 && gcc -O1 -g -pg timed.c -o timed 2>/dev/null && ./timed && gprof -b -p timed gmon.out >flat 2>/dev/null; then
    awk '$1 ~ /^[0-9.]+$/ && NF >= 4 { printf "%s %d\n", $NF, $3 * 1000000 + .5 }' flat | sort >gprof.own
    "$hpcview" import -o gprof.hpcprof --program "$PWD/timed" gmon.out 2>/dev/null
    "$hpcview" export csv --no-loops gprof.hpcprof 2>/dev/null | awk -F, '$3 == "procedure" && $10 > 0 { print $4, $10 }' | sort >gprof.ours
    check_same "gprof's own seconds" gprof.ours gprof.own
    awk '$1 ~ /^[0-9.]+$/ && NF >= 7 { print $NF, $4 }' flat | sort >calls.own
    csv procedure gprof.hpcprof | awk -F, 'NR > 1 && $6 > 0 { print $5, $6 }' | sort >calls.ours
    check_same "gprof's own calls" calls.ours calls.own
    # In its call graph, the callers of a function are above it, its callees below
    gprof -b -q timed gmon.out 2>/dev/null | awk '/^-----/ { n = 0 } /^\[/ { for (i = 0; i < n; i++) print from[i], $(NF - 1), times[i]; n = -99 }
        NF > 2 && n >= 0 && $(NF - 2) ~ /^[0-9]+\/[0-9]+$/ { from[n] = $(NF - 1); times[n++] = $(NF - 2) + 0 }' | sort >edges.own
    "$hpcview" print --table call_edges --format csv gprof.hpcprof 2>/dev/null >edges.csv
    awk -F, 'NR > 1 { print $5, $10, $11 }' edges.csv | sort >edges.ours
    check_same "gprof's own call graph" edges.ours edges.own
    if [ "$(uname -m)" = x86_64 ]; then
        grep -n 'heavy(5\|light(5\|light(n)' timed.c | sed 's/:.*//' >places.own
        awk -F, 'NR > 1 { print $4 }' edges.csv | sort -n >places.ours
        check_same "each call at its line" places.ours places.own
    fi
else
    skip "gprof's own seconds" "no gprof here, or no time passed"
fi

# lcov: the lines that its summary counts, with the counts that gcov gives them
cp "$top_srcdir/tests/filters/covered.c" covered.c
if command -v lcov >/dev/null 2>&1 && gcc -O0 --coverage covered.c -o covered 2>/dev/null && ./covered && lcov -q -c -d . -o covered.info >/dev/null 2>&1; then
    gcov -t covered*.gcda 2>/dev/null | sed -n 's/^ *\([0-9]*\)\**: *\([0-9]*\):.*/\2 \1/p' | sort >lcov.own
    csv line covered.info | awk -F, 'NR > 1 { print $4, $6 }' | sort >lcov.ours
    check_same "lcov's own counts" lcov.ours lcov.own
    check_match "and as many lines as its summary says" "$(lcov --summary covered.info 2>&1)" "($(wc -l <lcov.ours) of "
else
    skip "lcov's own counts" "no lcov here"
fi

# llvm-cov: its JSON agrees with its lcov file about lines
llvm() { command -v "$1" || ls /usr/bin/"$1"-[0-9]* 2>/dev/null | head -n 1; }
if clang -O0 -fprofile-instr-generate -fcoverage-mapping covered.c -o clanged >/dev/null 2>&1 && LLVM_PROFILE_FILE=raw ./clanged &&
    "$(llvm llvm-profdata)" merge raw -o merged 2>/dev/null && "$(llvm llvm-cov)" export clanged -instr-profile=merged >clanged.json 2>/dev/null; then
    "$(llvm llvm-cov)" export -format=lcov clanged -instr-profile=merged | sed -n 's/^DA:\([0-9]*\),\([1-9][0-9]*\)$/\1 \2/p' | sort >llvm.own
    csv line clanged.json | awk -F, 'NR > 1 { print $4, $6 }' | sort >llvm.ours
    check_same "llvm-cov's own counts" llvm.ours llvm.own
else
    skip "llvm-cov's own counts" "no clang with its profile runtime, llvm-profdata and llvm-cov here"
fi

# perf report's own samples of each source line, and perf mem where the processor can
if command -v perf >/dev/null 2>&1 && gcc -O1 -g timed.c -o sampled 2>/dev/null && perf record -q -e cpu-clock:u -c 1000000 -o lines.data ./sampled >/dev/null 2>&1; then
    perf report -i lines.data --stdio -q -F sample,srcline 2>/dev/null | awk '$2 ~ /^timed/ { print $2, $1 * 1000000 }' | sort >lines.own
    csv line lines.data | awk -F, '$3 == "timed.c" { print $3 ":" $4, $6 }' | sort >lines.ours
    check "perf report knows source lines" test -s lines.own
    check_same "perf report's own samples of each source line" lines.ours lines.own
else
    skip "perf report's own samples of each source line" "perf cannot record here"
fi
if command -v perf >/dev/null 2>&1 && perf mem record -o mem.data ./sampled >/dev/null 2>&1 && [ -n "$(perf script -i mem.data -F event 2>/dev/null)" ]; then
    weight=$(perf script -i mem.data -F weight 2>/dev/null | awk '{ sum += $1 } END { printf "%d", sum }')
    csv program mem.data >mem.csv
    check_match "perf mem's own weight" "$(cat mem.csv)" "$weight"
    check_match "and where the data came from" "$(cat mem.csv)" "L1 hit"
else
    skip "perf mem's own weight" "this processor, or the machine it is lent by, samples no memory accesses"
fi
done_testing
