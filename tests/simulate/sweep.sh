#!/bin/sh
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
done_testing
