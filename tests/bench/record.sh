#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The cost of recording: run time under `hpcview record` relative to the bare run, for both samplers at three rates, next
# to perf record and gprofng at the same rate; start and end; file size; memory. Without call paths, like those
# (paths.sh measures these), except for one row. Pairs are run alternately, figures are medians of the pairs' quotients.
# ROUNDS (default 5) pairs each; PROGRAM (a command) instead of the example.
. "$top_srcdir/tests/bench/lib.sh"
rounds=${ROUNDS:-5}
: "${CC:=cc}"

# A program that only computes, on one thread, for about a second: the measured cost is that of the recorder.
cat >"$scratch/spin.c" <<'C'
#include <stdlib.h>
int main(int argc, char **argv)
{
    static volatile double sink;
    double x = 1;
    for (long i = argc > 1 ? atol(argv[1]) : 0; i > 0; i--)
        x = x * 1.0000001 + 0.5;
    sink = x;
    return sink < 0;
}
C
$CC -O1 -o "$scratch/spin" "$scratch/spin.c" || exit 0
bare=${PROGRAM:-"$scratch/spin 400000000"}

percent() { number %+.2f%% "($1 - 1) * 100"; }
# cost of a sample: added CPU time, minus that of start and end, divided by the number of samples in that CPU time
per_sample() { number %.1f "($cpu_2 - $cpu_1 - $1) * 1000000 / ($2 * $cpu_1)"; }

once 1 "$bare" || exit 0
echo "$bare: $(number %.2f "$wall") s, medians of $rounds pairs; CPU counts all threads and children"

echo
row "start and end: an empty program" "wall" "CPU"
compare 11 "$scratch/spin 1" "$hpcview record -o $scratch/m\$\$ -- $scratch/spin 1" || exit 0
row "hpcview record" "+$(number %.1f "($wall_2 - $wall_1) * 1000") ms" "+$(number %.1f "($cpu_2 - $cpu_1) * 1000") ms"
start=$(number %.6f "$cpu_2 - $cpu_1")
rm -rf "$scratch"/m[0-9]*
perf="perf record -q -BN -e cpu-clock"
perf_start=0
if have perf; then
    compare 3 "$scratch/spin 1" "$perf -o $scratch/perf.data $scratch/spin 1" &&
        row "perf record" "+$(number %.1f "($wall_2 - $wall_1) * 1000") ms" "+$(number %.1f "($cpu_2 - $cpu_1) * 1000") ms"
    perf_start=$(number %.6f "$cpu_2 - $cpu_1")
fi

# Work at the end, the functions that contain samples: for a small program, and for clang, whose libraries have 200,000
# functions.
ended() { # NAME COMMAND: from the command's end to record's, the median of 5
    for _ in 1 2 3 4 5; do
        rm -rf "$scratch/ended.m"
        "$hpcview" record -o "$scratch/ended.m" -- sh -c "$2; date +%s%N >'$scratch/ended'" >/dev/null 2>&1
        echo $((($(date +%s%N) - $(cat "$scratch/ended")) / 100000))
    done | median | { read -r tenths && row "$1" "$(number %.1f "$tenths / 10") ms" "$(cat "$scratch"/ended.m/*.hpcprof | wc -c) bytes"; }
}
echo
row "from a program's end to that of record" "wall" "measurement"
ended "nothing sampled" "$scratch/spin 1"
ended "one function" "$scratch/spin 100000000"
printf '#include <regex>\nbool f(const char *s) { return std::regex_match(s, std::regex("a*b")); }\n' >"$scratch/re.cc"
! have clang++ || ended "clang++ -O2" "clang++ -O2 -c -o $scratch/re.o $scratch/re.cc"

echo
row "" "wall" "CPU" "us/sample"
for rate in 250 1000 5000; do
    period=$((1000000000 / rate))
    for sampler in ring papi; do
        compare "$rounds" "$bare" "$hpcview record --no-call-paths -o $scratch/m\$\$ --sampler $sampler -e perf::TASK-CLOCK@$period -- $bare" || continue
        row "hpcview record --sampler $sampler, $rate/s" "$(percent "$ratio")" "$(percent "$cpu_ratio")" "$(per_sample "$start" "$rate")"
        [ $sampler = papi ] || added=$((rss_2 - rss_1))
        size=$(cat "$scratch"/m*/*.hpcprof | wc -c)
        rm -rf "$scratch"/m[0-9]*
    done
    if have perf; then
        compare "$rounds" "$bare" "$perf -F $rate -o $scratch/perf.data $bare" &&
            row "perf record, $rate/s" "$(percent "$ratio")" "$(percent "$cpu_ratio")" "$(per_sample "$perf_start" "$rate")"
        rm -f "$scratch"/perf.data*
    fi
done
if have gprofng; then
    compare "$rounds" "$bare" "gprofng collect app -O $scratch/gprofng.er $bare" &&
        row "gprofng collect app (100/s)" "$(percent "$ratio")" "$(percent "$cpu_ratio")"
    rm -rf "$scratch"/gprofng.er*
fi

echo
row "memory added (ring, 5000/s)" "${added:-?} KiB"
row "files of $rounds runs (5000/s)" "${size:-?} bytes"
