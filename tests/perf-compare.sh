#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Does hpcview see the same lines as perf? Both sample the same program; the shares of samples per source line are compared.
# In make check it runs on the heat example. By hand, on any program (build folder first):
#
#     top_srcdir=.. top_builddir=$PWD sh ../tests/perf-compare.sh ./program args
#
# Lines count as equal if their shares differ by no more than four standard deviations of two samplings of that size (the two are
# different runs), plus half a percentage point for differences between the runs themselves (pages, caches, other programs).
. "$top_srcdir/tests/lib.sh"

need perf
need_recording
[ $# != 0 ] || set -- "$examples/heat/heat" 300 6
[ -x "$1" ] || skip_all "$1 is not built"
rate=1000

# line, share by perf, share by hpcview, allowed difference, verdict; lines that have 1% in either
shares() {
    awk -v total="$total" -v rate=$rate '
        FNR == NR { perf[$2] = $1; perf_total += $1; next }
        { mine[$2] = $1 }
        END {
            mine_samples = total / 1e9 * rate
            for (l in perf) all[l]
            for (l in mine) all[l]
            for (l in all) {
                if (l !~ /:[1-9]/ || l ~ /^\?/) continue
                p = perf[l] / perf_total
                q = mine[l] / total
                if (p < 0.01 && q < 0.01) continue
                m = (perf[l] + q * mine_samples) / (perf_total + mine_samples)
                allowed = 4 * sqrt(m * (1 - m) * (1 / perf_total + 1 / mine_samples)) + 0.005
                d = p > q ? p - q : q - p
                printf "%-24s %6.2f%% %6.2f%%  within %5.2f  %s\n", l, 100 * p, 100 * q, 100 * allowed, d <= allowed ? "yes" : "no"
            }
        }' "$scratch/perf" "$scratch/hpcview" | sort -k 2 -rn >"$scratch/table"
}

# One comparison, its lines in $scratch/table. The same clock for both, user code only: PAPI counts user code by default.
compare() {
    rm -rf "$scratch/m"
    run perf record -q -e cpu-clock:u -F $rate -o "$scratch/perf.data" "$@"
    [ "$status" = 0 ] || skip_all "perf cannot record here: $(printf '%s' "$err" | head -n 1)"
    # Both as "samples file:line", the file without folders.
    perf report -i "$scratch/perf.data" --stdio --sort srcline -n -t '|' 2>/dev/null |
        awk -F '|' '/^ *[0-9.]+% *\|/ { gsub(/^ +| +$/, "", $3); sub(/ .*/, "", $3); n[$3] += $2 } END { for (l in n) print n[l], l }' >"$scratch/perf"
    [ -s "$scratch/perf" ] || skip_all "perf takes no samples here"
    "$hpcview" record -o "$scratch/m" -e perf::TASK-CLOCK@f$rate -- "$@" >/dev/null 2>"$scratch/err" || return 1
    "$hpcview" print --by line --format csv "$scratch/m" 2>/dev/null |
        csv_rows | awk -F '\t' '$1 == "line" && $6 != "" { f = $3; sub(/.*\//, "", f); n[f ":" $4] += $6 } END { for (l in n) print n[l], l }' >"$scratch/hpcview"
    # its values are nanoseconds: in samples
    total=$("$hpcview" print --by program --format csv "$scratch/m" 2>/dev/null | csv_rows | awk -F '\t' '$1 == "program" { print $6 }')
    shares
    ! grep -q ' no$' "$scratch/table"
}

undisturbed compare "$@"
check "there is a total" test -n "$total"
comment "line                        perf  hpcview"
comment "$(cat "$scratch/table")"
check "there are lines to compare" test -s "$scratch/table"
while read -r line p q _ allowed verdict; do
    if [ "$verdict" = yes ]; then ok "$line: $p and $q"; else not_ok "$line: $p and $q" "more than $allowed points apart"; fi
done <"$scratch/table"
done_testing
