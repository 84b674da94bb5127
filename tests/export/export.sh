#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Exports: each format from measurements and from databases alike, with the totals that other tools read from it.
. "$top_srcdir/tests/lib.sh"

cd "$scratch" || exit 99
corpus=$top_srcdir/tests/corpus/database
golden=$top_srcdir/tests/export
formats="csv json hatchet folded speedscope pprof callgrind profile"

cp "$top_srcdir/tests/filters/profile.example" heat
"$hpcview" build --title heat -o folder.db heat >build.out 2>&1
"$hpcview" build --title heat --single-file -o page.html heat >build.out 2>&1
for format in $formats; do
    run "$hpcview" export "$format" --title heat -o "of.$format" heat
    check "$format: written" test "$status" = 0
    for from in folder.db page.html; do
        run "$hpcview" export "$format" -o from "$from"
        check_same "$format: the same from ${from##*/}" from "of.$format"
    done
    # these are older than some computed metrics
    "$hpcview" export "$format" --title heat -v PAPI_TOT_CYC -v PAPI_TOT_INS -v STALL -o "measured.$format" heat
    for from in "$corpus/version-1.html" "$corpus/version-2.html" "$corpus/version-3.html"; do
        run "$hpcview" export "$format" -v PAPI_TOT_CYC -v PAPI_TOT_INS -v STALL -o from "$from"
        check_same "$format: the same from ${from##*/}" from "measured.$format"
    done
done
for format in csv folded callgrind; do
    sed 's/^creator: .*/creator: hpcview/' "of.$format" >got
    check_same "$format: what it says" got "$golden/$format.out"
done

# Fixed pages: the output of each format for scopes and for call paths, byte by byte
for page in version-2 version-2-paths; do
    for format in json speedscope profile pprof; do
        run "$hpcview" export "$format" -o out "$corpus/$page.html"
        case $format in
        pprof) gzip -dc out | od -An -c ;;
        *) cat out ;;
        esac | sed 's/hpcview-[0-9.]*[0-9]/hpcview/' >got
        [ "${GOLDEN-}" = write ] && cp got "$golden/$page.$format.out"
        check_same "$format of $page: what it says" got "$golden/$page.$format.out"
    done
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

# Checked against the published descriptions, field by field; and nothing is lost
if command -v python3 >/dev/null 2>&1; then
    for format in pprof speedscope; do
        run python3 "$golden/formats.py" "$format" "of.$format"
        check_equal "$format: as its schema says, with the totals" "$out$err" "PAPI_TOT_CYC=9000,PAPI_TOT_INS=3000,STALL=7"
        "$hpcview" export "$format" -o "paths.$format" "$corpus/version-2-paths.html"
        run python3 "$golden/formats.py" "$format" "paths.$format"
        check_equal "$format: of call paths too" "$out$err" "cpu-clock=7000,cycles:u=2000"
        "$hpcview" import -o again.hpcprof "of.$format" 2>/dev/null
        check_equal "$format: read again, equal totals" "$(totals again.hpcprof)" "$(totals heat)"
    done
else
    skip "pprof, speedscope: as their schemas say" "no python3 here"
fi

# Call paths, if available
run "$hpcview" export folded "$corpus/version-2-paths.html"
check_match "stacks are call paths" "$out" "libc.so.6;__libc_start_main;main 1000"
run "$hpcview" export folded --tree scopes "$corpus/version-2-paths.html"
check_match "or scopes" "$out" "heat;main 4000"
run "$hpcview" export folded --value cycles:u "$corpus/version-2-paths.html"
check_equal "of the metric that is asked for" "$out" "other.so;operator() (int) 2000"

# Loops are frames, or are not
cat >loop.c <<'END'
double a[1000];
int main(int argc, char **argv)
{
    double s = 0;
    for (int i = 0; i < 1000; i++)
        s += a[i] * argc;
    return s > 3 && argv[0];
}
END
if gcc -O1 -g loop.c -o loop 2>/dev/null && valgrind --tool=callgrind --dump-instr=yes --callgrind-out-file=loop.cg ./loop >/dev/null 2>&1; then
    "$hpcview" export folded loop.cg >with.folded 2>/dev/null
    "$hpcview" export folded --no-loops loop.cg >without.folded 2>/dev/null
    check "loops are frames" grep -q "^loop;main;loop at loop.c:5 " with.folded
    check "or are not" sh -c 'grep -q "^loop;main " without.folded && ! grep -q "loop at" without.folded'
    check_equal "with the same sum" "$(awk '{ s += $NF } END { print s }' without.folded)" "$(awk '{ s += $NF } END { print s }' with.folded)"
    "$hpcview" export speedscope loop.cg >with.json 2>/dev/null
    run "$hpcview" export speedscope --no-loops loop.cg
    check "in speedscope too" test "$(grep -c "loop at" with.json)$(printf '%s' "$out" | grep -c "loop at")" = 10
else
    skip "loops are frames" "no gcc or valgrind here"
fi

# Structure by this word too
"$hpcview" structure --format hpcstruct -o by-structure "$hpcview" >/dev/null 2>&1
run "$hpcview" export hpcstruct -o by-export "$hpcview"
check "hpcstruct is what structure writes" cmp by-export by-structure

# Hatchet's literal: nodes in each other, and the root's value
if command -v python3 >/dev/null 2>&1; then
    check_equal "hatchet: the root's value, and as many nodes as in csv" "$(python3 -c '
import json
def count(node): return 1 + sum(count(c) for c in node["children"])
roots = json.load(open("of.hatchet"))
print(len(roots), roots[0]["metrics"]["PAPI_TOT_CYC (inc)"], sum(count(r) for r in roots))')" "1 9000 $(($(wc -l <of.csv) - 1))"
else
    skip "hatchet: the root's value" "no python3 here"
fi

# Calls: callgrind's counts are exported unchanged; call paths are exported as calls with their inclusive cost
cat >calls.callgrind <<'END'
# callgrind format
events: Ir
ob=heat
fl=heat.c
fn=main
10 5
cfn=step
calls=3 20
11 900
fn=step
20 100
21 800
totals: 905
END
run "$hpcview" export callgrind calls.callgrind
check_match "callgrind: calls and their inclusive cost" "$(printf '%s' "$out" | tr '\n' ' ')" "cfn=step calls=3 20 11 900"
run "$hpcview" export callgrind "$corpus/version-2-paths.html"
check_match "callgrind: calls of call paths" "$(printf '%s' "$out" | tr '\n' ' ')" "cfn=main calls=1 "
if command -v callgrind_annotate >/dev/null 2>&1; then
    "$hpcview" export callgrind -o calls.out calls.callgrind 2>/dev/null
    run callgrind_annotate --inclusive=yes --threshold=100 calls.out
    check_match "callgrind_annotate adds calls up" "$out" "905 (100.0%)  heat.c:main"
else
    skip "callgrind_annotate adds calls up" "no callgrind_annotate here"
fi

# Errors
run "$hpcview" export foldet heat
check "a misspelt format: status 2" test "$status" = 2
check_match "and the near one" "$err" "did you mean 'folded'"
run "$hpcview" export csv --value PAPI_TOT_CYK heat
check_match "a metric that is not there, and the near one" "$err" "did you mean 'PAPI_TOT_CYC'"
run "$hpcview" export folded -m 'CPI = PAPI_TOT_CYC / PAPI_TOT_INS' --value CPI heat
check_match "a ratio has no sum" "$err" "cannot be added up"
run "$hpcview" export csv --tree dominators heat
check_match "a tree that is not there" "$err" "unknown tree 'dominators'"
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
