#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Simulated memory: times slower than the bare program, for our two ways (three levels, two TLBs, temporal, spatial, evictors), one burst in a
# hundred of a run that takes at least half a second, QEMU by itself, cachegrind (two levels) and callgrind --cacheuse; then what the sweep example's
# change is worth. Of ours, seconds that pass and, behind a slash, processor seconds: a second thread helps. The others have one.
# SIMULATED="triad heat" limits the programs.
. "$top_srcdir/tests/bench/lib.sh"

rounds=${ROUNDS-3}
machine=$top_srcdir/share/machines/skylake-server.xml
cc=$top_builddir/mhsim/hpcview-cc
cd "$scratch" || exit 1
sed 's/ policy="plru"//' "$machine" >machine.xml

# cpu COMMAND: median CPU seconds, or nothing
cpu() { once "$rounds" "$1" >/dev/null && printf '%s' "$cpu"; }

# both COMMAND: median seconds, and processor seconds
both() { once "$rounds" "$1" >/dev/null && printf '%s %s' "$wall" "$cpu"; }

# slower SECONDS BARE; slower_both "SECONDS PROCESSOR-SECONDS" BARE
slower() { number %.1f "${1:-x} / $2"; }
slower_both() { printf '%s/%s' "$(slower "${1% *}" "$2")" "$(slower "${1#* }" "$2")"; }

# compare_ways NAME BARE COMPILED-IN ARGUMENTS LONG: the arguments, and those of the long run
compare_ways() {
    bare=$(cpu "$2 $4")
    long=$(cpu "$2 $5")
    hooked=$(both "'$hpcview' simulate -o m.\$\$ -m machine.xml -- $3 $4")
    burst=$(both "'$hpcview' simulate -o m.\$\$ -m machine.xml --burst 1M/100M -- $3 $5")
    under=$(both "'$hpcview' simulate -o m.\$\$ -m machine.xml -- $2 $4")
    alone=$(cpu "qemu-$(uname -m) $2 $4")
    cachegrind=$(cpu "valgrind -q --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null $2 $4")
    callgrind=$(cpu "valgrind -q --tool=callgrind --cache-sim=yes --cacheuse=yes --callgrind-out-file=/dev/null $2 $4")
    row "$1" "$(number %.2f "$bare")" "$(slower_both "$hooked" "$bare")" "$(slower_both "$burst" "$long")" "$(slower_both "$under" "$bare")" "$(slower "$alone" "$bare")" \
        "$(slower "$cachegrind" "$bare")" "$(slower "$callgrind" "$bare")"
    rm -rf m.*
}

have "qemu-$(uname -m)"
have valgrind
gcc -O2 -fno-tree-vectorize -g -o bare "$top_srcdir/tests/bench/memory.c" || exit 0
"$cc" -O2 -o hooked "$top_srcdir/tests/bench/memory.c" || exit 0
row "program" "bare s" "compiled in" "bursts" "QEMU" "QEMU alone" "cachegrind" "callgrind"
for program in ${SIMULATED-matmul triad chase sort heat}; do
    case $program in
    matmul) times=10 ;;
    triad) times=50 ;;
    sort) times=3 ;;
    *) times=1 ;;
    esac
    [ "$program" = heat ] || compare_ways "$program" ./bare ./hooked "$program" "$program $times"
done
# 150 by 150 nodes once; in bursts, its own 400 by 400 three times
case " ${SIMULATED-heat} " in
*' heat '*)
    mkdir heat && cp "$top_srcdir"/share/examples/heat/* heat/
    env -u MAKEFLAGS make -s -C heat CC="$cc" FC="${cc%cc}fc" >/dev/null 2>&1 && [ -x "$examples/heat/heat" ] &&
        compare_ways heat "$examples/heat/heat" heat/heat "150 1" ""
    ;;
esac

echo
for way in "" -DCELLS_FIRST; do
    gcc -O2 -g $way -o "sweep$way" "$top_srcdir/share/examples/sweep/sweep.c"
done
if compare "$rounds" "./sweep 30" "./sweep-DCELLS_FIRST 30"; then
    row "sweep, changed as its evictors suggest" "$(number %.2f "$cpu_1")" "$(number %.2f "$cpu_2")" "ratio $(number %.2f "$cpu_ratio")"
fi
