#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcview quality's bounds compared with cycles measured here (14 kernels in four builds, data in the L1 cache), next to
# llvm-mca's estimates of the same loops; then its speed. A bound should be close to the measured value but not above it.
# Other load on the same core increases the measured values: run it on an idle machine.
. "$top_srcdir/tests/bench/lib.sh"
here=$top_srcdir/tests/bench
HPCVIEW_MACHINES=$top_srcdir/share/machines
export HPCVIEW_MACHINES
mca=$(command -v llvm-mca-19 || command -v llvm-mca)

# mca_cycles PROGRAM BEGIN BYTES MODEL: cycles of an iteration in the steady state; empty on failure.
mca_cycles() {
    objdump -d --no-show-raw-insn --start-address="$2" --stop-address=$(($2 + $3)) "$1" | sed -n 's/^ *[0-9a-f]*:\t//p' |
        sed 's/ *<.*//; s/#.*//; s/^\(j[a-z]*\) .*/\1 0/; s/^bnd //' >"$scratch/loop.s"
    for mca_n in 100 200; do
        timeout 20 "$mca" -mcpu="$4" -iterations=$mca_n -resource-pressure=0 -instruction-info=0 "$scratch/loop.s" 2>/dev/null |
            sed -n 's/^Total Cycles: *//p'
    done | awk '{ c[NR] = $1 } END { if (NR == 2) print (c[2] - c[1]) / 100 }'
}

bound() { # PROGRAM KERNEL: header bytes numbers cycles name, of the loop that treats most numbers at a time
    "$hpcview" quality --no-llvm-mca -f csv --function "k_$2" "$1" 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["elements"] > most { most = $at["elements"]; line = $at["header"] " " $at["bytes"] " " most " " $at["bound"] " " $at["bound_by"] }
        END { print line }'
}

: >"$scratch/all"
echo "cycles a number: measured, our bound, llvm-mca (icelake-server, skylake-avx512)"
build() { # NAME COMPILER FLAGS...
    build_name=$1
    shift
    "$@" -c "$here/quality_kernels.c" -o "$scratch/kernels.o" 2>/dev/null &&
        ${CC:-cc} -O2 "$here/quality_measure.c" "$scratch/kernels.o" -lm -o "$scratch/kernels" || { echo "  $build_name: not built"; return; }
    "$scratch/kernels" | while read -r kernel measured; do
        bound "$scratch/kernels" "$kernel" | while read -r header bytes numbers cycles by; do
            icl= skx=
            if [ -n "$mca" ] && [ "$(uname -m)" = x86_64 ]; then
                icl=$(mca_cycles "$scratch/kernels" "$header" "$bytes" icelake-server)
                skx=$(mca_cycles "$scratch/kernels" "$header" "$bytes" skylake-avx512)
            fi
            echo "$build_name $kernel $measured $numbers $cycles ${icl:-x} ${skx:-x} $by" | tee -a "$scratch/all" |
                awk '{ printf "  %-10s %-11s %7.3f  %7.3f  %7.3f %7.3f  %s %s %s\n", $1, $2, $3, $5 / $4, $6 / $4, $7 / $4, $8, $9, $10 }'
        done
    done
}
boundaries=-Wa,-mbranches-within-32B-boundaries # else a jump's place decides, on processors of 2015 to 2019
[ "$(uname -m)" = x86_64 ] || boundaries=
build gcc-O2 gcc -O2 $boundaries
build gcc-O3 gcc -O3 $boundaries
build gcc-fast gcc -O3 -march=native -ffast-math $boundaries
build clang-fast clang -O3 -march=native -ffast-math ${boundaries:+-mbranches-within-32B-boundaries -mprefer-vector-width=512}
awk 'function error(x) { return x < 0 ? -x : x }
    { n++; m = $3; ours = error($5 / $4 / m - 1); sum += ours; above += $5 / $4 > 1.1 * m; list[n] = ours
      if ($6 != "x") { icl += error($6 / $4 / m - 1); skx += error($7 / $4 / m - 1); k++ } }
    END { for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (list[j] < list[i]) { t = list[i]; list[i] = list[j]; list[j] = t }
      printf "mean error over %d loops: ours %.1f%% (median %.1f%%), more than a tenth above what is measured: %d", n, 100 * sum / n, 100 * list[int((n + 1) / 2)], above
      if (k) printf "; llvm-mca icelake-server %.1f%%, skylake-avx512 %.1f%% of %d", 100 * icl / k, 100 * skx / k, k
      print "" }' "$scratch/all"

# Speed: a large library of loops, if one is installed.
for library in /usr/lib/*/libopenblas.so.0 /usr/lib/*/openblas*/libopenblas*.so.0; do
    [ -f "$library" ] || continue
    once 1 "taskset -c 0 $hpcview quality --no-llvm-mca -f csv -o $scratch/loops.csv $library" && echo "$library: $(wc -l <"$scratch/loops.csv") innermost loops in $cpu s on one core"
    once 1 "taskset -c 0 $hpcview structure --no-cache -o $scratch/structure.xml $library" && echo "  (hpcview structure alone: $cpu s)"
    [ -z "$mca" ] || for llvm in "" --no-llvm-mca; do
        once 3 "taskset -c 0 $hpcview quality $llvm -f csv --function 'dgemv*' -o $scratch/loops.csv $library" || continue
        echo "${llvm:-with llvm-mca} $cpu $(wc -l <"$scratch/loops.csv")"
    done | awk '{ cpu[NR] = $(NF - 1); loops = $NF - 1 } END { if (NR == 2) printf "  llvm-mca: %.1f ms a loop of %d\n", 1000 * (cpu[1] - cpu[2]) / loops, loops }'
    break
done
