#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The whole way on the bundled examples: run -> database, and the same in separate steps.
. "$top_srcdir/tests/lib.sh"

heat=$examples/heat/heat
[ -x "$heat" ] || skip_all "the Fortran example is not built"
need_recording
cd "$scratch" || exit 99

# ---- one command -------------------------------------------------------------------------
"$heat" 300 3 >plain
run "$hpcview" run -o run.db -- "$heat" 300 3
check "run: status 0" test "$status" = 0
check_equal "run: the program's output passes untouched" "$out" "$(cat plain)"
check "run: the database is there" test -f run.db/index.html

# ---- separate steps ----------------------------------------------------------------------
run "$hpcview" record -o m -- "$heat" 300 3
check "record: status 0" test "$status" = 0
check_equal "record: the program's output passes untouched" "$out" "$(cat plain)"
check "record: one process, one file" test "$(find m -name '*.hpcprof' | wc -l)" = 1
run "$hpcview" build -o first.db m
check "build: status 0" test "$status" = 0
run "$hpcview" build -o second.db m
check "build again: the same bytes" diff -r first.db second.db
run "$hpcview" structure -o heat.xml "$heat"
check "structure: status 0" test "$status" = 0
check "structure: XML" grep -q '^<?xml' heat.xml

# ---- output ------------------------------------------------------------------------------
# columns of the CSV: kind,module,file,line,name, then the metrics
run "$hpcview" print --by line --format csv m
check "print: status 0" test "$status" = 0
cp out lines.csv
hottest=$(csv_rows <lines.csv | awk -F '\t' '$1 == "line" { print $3 ":" $4; exit }')
gather=$(grep -n 'x(a%col(' "$top_srcdir/share/examples/heat/sparse.f90" | cut -d : -f 1)
check_match "the gather is the hottest line" "$hottest" "sparse.f90:$gather"
run "$hpcview" print --by loop --format csv m
loop=$(csv_rows <out | awk -F '\t' '$1 == "loop" { print $3 ":" $4; exit }')
comment "hottest loop: $loop; hottest line: $hottest"
outer=$(awk -v to="$gather" 'NR <= to && /do i = / { n = NR } END { print n }' "$top_srcdir/share/examples/heat/sparse.f90")
check_match "a loop around it is the hottest loop" "sparse.f90:$gather sparse.f90:$outer" "${loop##*/}"

run "$hpcview" print --by program --format csv m
root=$(csv_rows <out | awk -F '\t' '$1 == "program" { print $6 }')
run "$hpcview" info m
comment "$out"
sampled=$("$top_builddir/tests/e2e/sampled" m)
check_equal "the root is the sum of samples times period, to the last digit" "$root" "$sampled"
for level in module file procedure; do
    run "$hpcview" print --by $level --format csv m
    sum=$(csv_rows <out | awk -F '\t' -v kind=$level '$1 == kind { n += $6 } END { printf "%.0f", n }')
    check_equal "the $level rows sum up to the root" "$sum" "$root"
done

# ---- the database ------------------------------------------------------------------------
files=$(find first.db -type f | wc -l)
check "tens of files at the most ($files)" test "$files" -lt 100
check "no path of this machine" sh -c '! grep -rlF -e "$1" -e "$2" first.db' - "$scratch" "$top_builddir"
done_testing
