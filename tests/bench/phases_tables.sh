#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tables and figures of SBT (2002) of its three programs: radix sort (tables 2 and 3: phases and barriers in ms, and the third barrier's part by
# the number of keys), blocked LU contiguous or in rows (figures 3 to 5), water (figures 6 and 7): columns phase 1, barrier 1, phase 2, ...
# in ms and as parts of the whole, by data set. THREADS (2); SIZE (1) multiplies the data: radix has the paper's 16M keys at 100, LU its 4096 at 8.
. "$top_srcdir/tests/bench/lib.sh"
threads=${THREADS:-2}
size=${SIZE:-1}
: "${CC:=cc}"
programs=$top_srcdir/tests/phases/programs
for p in radix lu water; do
    # shellcheck disable=SC2086
    $CC -O2 -g -o "$scratch/$p" "$programs/$p.c" -lpthread -lm || exit 0
done

# columns NAME COMMAND: a row of ms and one of parts, and the share of all barriers
columns() {
    rm -rf "$scratch/m"
    columns_name=$1
    shift
    "$hpcview" record --phases -o "$scratch/m" -- "$@" >/dev/null 2>&1
    "$hpcview" print --table barriers --format json "$scratch/m" 2>/dev/null | tr '{' '\n' | sed -n 's/.*"number":\([0-9]*\),.*"phase":\([0-9]*\),"barrier":\([0-9]*\),.*/\1 \2 \3/p' | sort -n |
        awk -v name="$columns_name" '
            { phase[NR] = ($2 - $3) / 1e6; barrier[NR] = $3 / 1e6; all += $2 / 1e6; wait += $3 / 1e6 }
            END {
                printf "%-28s", name " (ms)"; for (i = 1; i <= NR; i++) printf " %9.2f %8.2f", phase[i], barrier[i]; printf "  barriers %.0f%%\n", all ? wait / all * 100 : 0
                printf "%-28s", "  of the whole (%)"; for (i = 1; i <= NR; i++) printf " %9.1f %8.1f", phase[i] / all * 100, barrier[i] / all * 100; printf "\n" }'
}

heads() {
    printf '%-28s' "$1"
    for i in $2; do printf ' %9s %8s' "phase $i" "barr. $i"; done
    printf '\n'
}

heads "radix sort, $threads threads" "1 2 3 4"
for k in 160000 320000 640000; do columns "$((k * size)) keys" "$scratch/radix" "$threads" $((k * size)); done
heads "LU, $threads threads" "1 2 3"
for n in 128 256 512; do
    for kind in contiguous rows; do columns "$((n * size))x$((n * size)) $kind" "$scratch/lu" "$threads" $((n * size)) $kind; done
done
heads "water, $threads threads" "1 2 3 4 5"
for n in 512 1000 2000; do columns "$((n * size)) molecules" "$scratch/water" "$threads" $((n * size)) 2; done
