#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The sweep example: one array leads the misses at every level, its evictors say why (it throws itself out), and the change they suggest
# takes away more than half of the misses.
. "$top_srcdir/tests/lib.sh"

source=$top_srcdir/share/examples/sweep/sweep.c
cd "$scratch" || exit 99
"$top_builddir/mhsim/hpcview-cc" -O2 -o sweep "$source" 2>/dev/null || skip_all "$CC has no -fsanitize=kernel-address here"
"$top_builddir/mhsim/hpcview-cc" -O2 -DCELLS_FIRST -o cells "$source"

# levels TABLE COLUMNS...: rows of caches, tabs between
rows() {
    "$hpcview" print --table "$1" --format csv "$2" 2>/dev/null | csv_rows | awk -F '\t' -v want="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, w, " "); next }
        { out = ""; for (i = 1; i <= n; i++) out = out (i > 1 ? "\t" : "") $at[w[i]]; print out }'
}
for program in sweep cells; do
    run "$hpcview" simulate -o "m.$program" -m "$top_srcdir/share/machines/skylake-server.xml" -- "./$program"
    check "$program is simulated" test "$status" = 0
    rows arrays "m.$program" "level object misses" >"arrays.$program"
done
for level in L1 L2 L3 TLB; do
    check_equal "$level: flux leads the misses" "$(awk -F '\t' -v l="$level" '$1 == l && $3 > m { m = $3; o = $2 } END { print o }' arrays.sweep)" flux
done
for level in L1 L2; do
    rows array_evictors m.sweep "level victim evictor blocks" >evictors
    check "$level: flux throws itself out" test "$(awk -F '\t' -v l="$level" '$1 == l && $2 == "flux" { all += $4; if ($3 == "flux") own += $4 } END { print (own > all * 0.8) }' evictors)" = 1
    before=$(awk -F '\t' -v l="$level" '$1 == l { n += $3 } END { print n }' arrays.sweep)
    after=$(awk -F '\t' -v l="$level" '$1 == l { n += $3 } END { print n }' arrays.cells)
    comment "$level misses: $before, and $after with the cells first"
    check "$level: the change takes away more than half of the misses" test "$((after * 2))" -lt "$before"
done

# by LEVEL COLUMNS... : print --by LEVEL as CSV, tabs between
by() {
    "$hpcview" print --by "$1" --format csv $2 m.sweep 2>/dev/null | csv_rows | awk -F '\t' -v want="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, w, " "); next }
        { out = ""; for (i = 1; i <= n; i++) out = out (i > 1 ? "\t" : "") $at[w[i]]; print out }'
}
reads=$(grep -n '/\* READ \*/' "$source" | cut -d : -f 1)
check_equal "--by reference: caches before TLBs" "$(by reference "--top 1" level | tr '\n' ' ')" "L1 L2 L3 TLB TLB2 "
check_equal "... the worst reference of each first" \
    "$(by reference "--top 1" "level array reference.line" | sed -n 2,3p)" "$(printf 'L%s\tflux\t'"$reads"'\n' 2 3)"
check_equal "... shares of a level's misses make a whole" \
    "$(by reference "" "level share" | awk -F '\t' '{ n[$1] += $2; lost[$1] += 0.005 } END { for (l in n) if (n[l] > 100 + lost[l] || n[l] < 100 - lost[l]) print l, n[l] }')" ""
check_equal "--by array: miss ratio, spatial use as the counts say" \
    "$(by array "--top 1" "miss_ratio spatial" | head -n 1)" \
    "$(rows arrays m.sweep "level object accesses misses used evictions" | awk -F '\t' '$1 == "L1" && $2 == "flux" { printf "%.4g\t%.4g\n", int($4 / $3 * 1e4 + 0.5) / 100, int($5 / ($6 * 64) * 1e4 + 0.5) / 100 }')"
check_equal "--by evictor: who threw out a reference's blocks, all of them" \
    "$(by evictor "" "level victim.line array share" | awk -F '\t' '{ k = $1 " " $2 " " $3; n[k] += $4; c[k]++ } END { for (k in n) if (n[k] > 100 + c[k] * 0.005 || n[k] < 100 - c[k] * 0.005) print k, n[k] }')" ""
check_equal "... another column sorts within the level" \
    "$(by reference "--sort accesses" "level accesses" | awk -F '\t' '$1 == level && $2 > last { print } { level = $1; last = $2 }')" ""
run "$hpcview" print --by evictor --top 2 m.sweep
check_match "... as text" "$out" "victim's array  by                   on array   blocks  share of its evictions (%)"
run "$hpcview" print --by array "$top_srcdir/tests/filters/cachegrind.example"
check_match "a measurement without: says so" "$err" "no table 'arrays': references, arrays and evictors exist only in measurements of hpcview simulate"
check_equal "... status 2" "$status" 2
done_testing
