#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The cost of record --phases: a barrier passage of two threads or ranks, bare, recorded and with its barriers, for each
# runtime; three programs in the manner of SPLASH-2 bare, recorded, and with everything watched (a line for each episode,
# into a file). Two ratios: to the bare program, and to the one that is only sampled. The target for the programs is
# 1.005: they run for a second, because starting and ending the recorder takes 10 ms. ROUNDS (default 5) pairs each.
. "$top_srcdir/tests/bench/lib.sh"
rounds=${ROUNDS:-5}
: "${CC:=cc}"
programs=$top_srcdir/tests/phases/programs
for p in radix lu water; do
    # shellcheck disable=SC2086
    $CC -O2 -g -o "$scratch/$p" "$programs/$p.c" -lpthread -lm || exit 0
done

# runtime NAME COMPILER OPTIONS: time of its barriers, if it is installed
runtime() {
    runtime_out=$scratch/$1
    shift
    command -v "$1" >/dev/null 2>&1 && "$@" -O2 -g -I"$top_srcdir/hpcprof/recorder/include" -o "$runtime_out" "$programs/passages.c" -lpthread 2>/dev/null || rm -f "$runtime_out"
}
runtime pthreads $CC
runtime hpcview.h $CC -DOWN
runtime libgomp gcc -fopenmp -DOMP
runtime libomp clang -fopenmp -L/usr/lib/llvm-14/lib -DOMP
runtime mpich mpicc.mpich -DMPI
runtime openmpi mpicc.openmpi -DMPI

watched() { echo "rm -rf '$scratch/m'; exec $3 '$hpcview' record $1 -o '$scratch/m' -- $2"; }
row "a passage, 2 threads (ns)" bare recorded watched ratio
for p in pthreads hpcview.h libgomp libomp mpich openmpi; do
    [ -x "$scratch/$p" ] || {
        echo "  (without $p: not here)"
        continue
    }
    launcher=
    case $p in mpich | openmpi) launcher="mpirun.$p -n 2" ;; esac
    rm -f "$scratch/ns"
    i=0
    while [ $i -lt "$rounds" ]; do
        bare=$($launcher "$scratch/$p" 2>/dev/null)
        recorded=$(sh -c "$(watched '' "$scratch/$p" "$launcher")" 2>/dev/null)
        seen=$(sh -c "$(watched --phases "$scratch/$p" "$launcher")" 2>/dev/null)
        echo "$bare $recorded $seen" >>"$scratch/ns"
        i=$((i + 1))
    done
    ratio=$(awk '$1 > 0 { print $3 / $1 }' "$scratch/ns" | median)
    row "$p" "$(field "$scratch/ns" 1)" "$(field "$scratch/ns" 2)" "$(field "$scratch/ns" 3)" "$(number %.2f "$ratio")"
done

all="--phases --watch all --watch-file '$scratch/told'"
row "programs, 2 threads (wall and CPU)" bare "wall/bare" "CPU/bare" "wall/recorded" "CPU/recorded"
for p in "radix 2 32000000" "lu 2 1536 contiguous" "lu 2 1536 rows" "water 2 4000 12"; do
    compare "$rounds" "sh -c '$scratch/$p >/dev/null'" "sh -c \"$(watched "$all" "$scratch/$p") >/dev/null\"" || continue
    first=$ratio first_cpu=$cpu_ratio bare=$wall_1
    compare "$rounds" "sh -c \"$(watched '' "$scratch/$p") >/dev/null\"" "sh -c \"$(watched "$all" "$scratch/$p") >/dev/null\"" || continue
    row "$p" "$(number %.2f "$bare") s" "$(number %.4f "$first")" "$(number %.4f "$first_cpu")" "$(number %.4f "$ratio")" "$(number %.4f "$cpu_ratio")"
done
