#!/bin/sh
# What goes out: each format from measurements and from databases alike, and the totals of whoever reads it.
. "$top_srcdir/tests/lib.sh"

cd "$scratch" || exit 99
corpus=$top_srcdir/tests/corpus/database
golden=$top_srcdir/tests/export
formats="csv json folded speedscope pprof callgrind profile"

cp "$top_srcdir/tests/filters/profile.example" heat
"$hpcview" build --title heat -o folder.db heat >build.out 2>&1
"$hpcview" build --title heat --single-file -o page.html heat >build.out 2>&1
for format in $formats; do
    run "$hpcview" export "$format" --title heat -o "of.$format" heat
    check "$format: written" test "$status" = 0
    for from in folder.db page.html "$corpus/version-1.html" "$corpus/version-2.html"; do
        run "$hpcview" export "$format" -o from "$from"
        check_same "$format: the same from ${from##*/}" from "of.$format"
    done
done
for format in csv folded callgrind; do
    sed 's/^creator: .*/creator: hpcview/' "of.$format" >got
    check_same "$format: what it says" got "$golden/$format.out"
done

# There and back again
totals() { "$hpcview" print --by program --format csv "$1" 2>/dev/null | sed -n 's/^program,,,,[^,]*,//p'; }
check_equal "callgrind: read again, equal totals" "$(totals of.callgrind)" "$(totals heat)"
check_equal "profile: read again, equal totals" "$(totals of.profile)" "$(totals heat)"
check_equal "folded: the sum" "$(awk '{ sum += $NF } END { print sum }' of.folded)" "$(totals heat | cut -d, -f1)"
if command -v callgrind_annotate >/dev/null 2>&1; then
    run callgrind_annotate of.callgrind
    check_match "callgrind_annotate reads it" "$out" "9,000 (100.0%) 3,000 (100.0%) 7 (100.0%)  PROGRAM TOTALS"
else
    skip "callgrind_annotate reads it" "no callgrind_annotate here"
fi

# Call paths, where they are known
run "$hpcview" export folded "$corpus/version-2-paths.html"
check_match "stacks are call paths" "$out" "libc.so.6;__libc_start_main;main 1000"
run "$hpcview" export folded --tree scopes "$corpus/version-2-paths.html"
check_match "or scopes" "$out" "heat;main 4000"
run "$hpcview" export folded --value cycles:u "$corpus/version-2-paths.html"
check_equal "of the metric that is asked for" "$out" "other.so;operator() (int) 2000"

# What is wrong
run "$hpcview" export foldet heat
check "a misspelt format: status 2" test "$status" = 2
check_match "and the near one" "$err" "did you mean 'folded'"
run "$hpcview" export csv --value PAPI_TOT_CYK heat
check_match "a metric that is not there, and the near one" "$err" "did you mean 'PAPI_TOT_CYC'"
run "$hpcview" export folded -m 'CPI = PAPI_TOT_CYC / PAPI_TOT_INS' --value CPI heat
check_match "a ratio has no sum" "$err" "cannot be added up"
run "$hpcview" export csv --tree dominators heat
check_match "a tree that is not there" "$err" "no tree 'dominators'"
run "$hpcview" export csv -o none nowhere.db
check "a database that is not there: status 1" test "$status" = 1
check "and nothing is written" test ! -e none
rm folder.db/data/metric-1.js 2>/dev/null || rm folder.db/data/metric-*.js
run "$hpcview" export csv folder.db
check "a block that is missing: the rest is there" test "$status" = 0
check_match "and it is said" "$err" "missing or damaged"
head -c 700 "$corpus/version-2.html" >cut.html
run "$hpcview" export csv cut.html
check "a page cut short: status 1" test "$status" = 1
check_match "and why" "$err" "cut.html"
done_testing
