#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The cost of call paths compared with recording without them: run time and CPU time, for both samplers and the timer,
# next to the cost of perf record --call-graph dwarf compared with perf record; sizes of the files. Pairs are run
# alternately, figures are medians of the pairs' quotients; then all of it compared with the bare run. The cost of a path
# exceeds the noise only at the highest rate. ROUNDS (default 5) pairs each; RATES; PROGRAM (a command) and DEPTH (its
# frames) instead of the example.
. "$top_srcdir/tests/bench/lib.sh"
rounds=${ROUNDS:-5}
depth=${DEPTH:-30}
: "${CC:=cc}"

# Work at the end of a chain of calls, of different functions, each with a frame; it goes up and down all the time.
{
    echo '#include <stdlib.h>'
    echo 'static volatile double sink;'
    echo '__attribute__((noinline)) static int f0(int n) { double x = 1; for (int i = 0; i < 2000; i++) x = x * 1.0000001 + 0.5; sink = x; return n; }'
    i=1
    while [ "$i" -le "$depth" ]; do
        echo "__attribute__((noinline)) static int f$i(int n) { volatile char room[100]; room[n & 63] = 1; return f$((i - 1))(n + 1) + room[n & 63]; }"
        i=$((i + 1))
    done
    echo "int main(int argc, char **argv) { int s = 0; for (long i = argc > 1 ? atol(argv[1]) : 0; i > 0; i--) s += f$depth((int)i & 7); return s < 0; }"
} >"$scratch/deep.c"
$CC -O2 -fomit-frame-pointer -o "$scratch/deep" "$scratch/deep.c" || exit 0
bare=${PROGRAM:-"$scratch/deep 200000"}

percent() { number %+.2f%% "($1 - 1) * 100"; }
# CPU time added by one sample's path, in microseconds: RATE
per_path() { number %.1f "($cpu_2 - $cpu_1) * 1000000 / ($1 * $bare_cpu)"; }
per_frame() { number %.2f "($cpu_2 - $cpu_1) * 1000000 / ($1 * $bare_cpu) / $depth"; }

once 1 "$bare" || exit 0
bare_cpu=$cpu
echo "$bare: $(number %.2f "$wall") s, about $depth frames, medians of $rounds pairs; above the same without paths"
echo
row "" "wall" "CPU" "us/path" "us/frame" "file"
for rate in ${RATES:-250 1000 4000}; do
    period=$((1000000000 / rate))
    for way in ring papi timer; do
        case $way in
        timer) options="-e CPUTIME@$((period / 1000))" ;;
        *) options="--sampler $way -e perf::TASK-CLOCK@$period" ;;
        esac
        compare "$rounds" "$hpcview record --no-call-paths -o $scratch/a\$\$ $options -- $bare" \
            "$hpcview record -o $scratch/b\$\$ $options -- $bare" || continue
        size=$(($(cat "$scratch"/b*/*.hpcprof | wc -c) / rounds))
        row "hpcview, $way, $rate/s" "$(percent "$ratio")" "$(percent "$cpu_ratio")" "$(per_path "$rate")" "$(per_frame "$rate")" "$size"
        rm -rf "$scratch"/[ab][0-9]*
    done
    if have perf; then
        perf="perf record -q -BN -e cpu-clock -F $rate"
        compare "$rounds" "$perf -o $scratch/perf.data $bare" "$perf --call-graph dwarf -o $scratch/dwarf.data $bare" &&
            row "perf --call-graph dwarf, $rate/s" "$(percent "$ratio")" "$(percent "$cpu_ratio")" "$(per_path "$rate")" \
                "(unwinds later)" "$(wc -c <"$scratch/dwarf.data")"
        rm -f "$scratch"/*.data*
    fi
done

# All that recording with paths takes, start and end in it: at 4000/s, from which the share at the default rate follows.
echo
row "above the bare run, at 4000/s" "us/sample" "at 250/s" "at 1000/s"
above() { # NAME COMMAND
    compare "$rounds" "$bare" "$2" || return 0
    each=$(number %.9f "($cpu_2 - $cpu_1) / (4000 * $cpu_1)")
    row "$1" "$(number %.1f "$each * 1000000")" "$(number %+.2f%% "$each * 250 * 100")" "$(number %+.2f%% "$each * 1000 * 100")"
    rm -rf "$scratch"/b[0-9]* "$scratch"/*.data*
}
for way in ring papi; do
    above "hpcview, $way" "$hpcview record --no-call-paths -o $scratch/b\$\$ --sampler $way -e perf::TASK-CLOCK@250000 -- $bare"
    above "hpcview, $way, call paths" "$hpcview record -o $scratch/b\$\$ --sampler $way -e perf::TASK-CLOCK@250000 -- $bare"
done
if have perf; then
    above "perf record" "perf record -q -BN -e cpu-clock -F 4000 -o $scratch/perf.data $bare"
    above "perf record --call-graph dwarf" "perf record -q -BN -e cpu-clock -F 4000 --call-graph dwarf -o $scratch/dwarf.data $bare"
fi
