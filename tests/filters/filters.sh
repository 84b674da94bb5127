#!/bin/sh
# Every filter, from its example: recognised by its content, converted, and the table of it golden; import and direct use agree.
. "$top_srcdir/tests/lib.sh"

cd "$scratch" || exit 99
examples=$top_srcdir/tests/filters
for format in perf-script callgrind profile; do
    cp "$examples/$format.example" input
    run "$hpcview" import "$format" -o m.hpcprof input
    check "$format: imported" test "$status" = 0
    "$hpcview" print --by line --format csv --title t m.hpcprof >imported 2>imported.err
    "$hpcview" print --by line --format csv --title t input >direct 2>direct.err
    check_same "$format: recognised without its name, and the same" direct imported
    check_same "$format: what it says" imported "$examples/$format.out"
    "$hpcview" import -o again.hpcprof input 2>/dev/null
    check "$format: imported again, unnamed, the same bytes" cmp m.hpcprof again.hpcprof
    gzip -cn input >input.gz
    "$hpcview" print --by line --format csv --title t input.gz >packed 2>packed.err
    check_same "$format: packed, the same" packed direct
    for other in perf-script callgrind profile; do
        [ "$other" = "$format" ] && continue
        run "$hpcview" import "$other" -o x.hpcprof input
        check "$format is not $other" test "$status" = 1
    done
done

run "$hpcview" import perf-scrip -o x input
check "a misspelt format: status 2" test "$status" = 2
check_match "and the near one" "$err" "did you mean 'perf-script'"
run "$hpcview" import callgrind
check "no file: status 2" test "$status" = 2
echo nothing >nothing
run "$hpcview" import -o x nothing
check "a file of nobody: status 1" test "$status" = 1
check_match "and why" "$err" "nothing: is of no format that is known here"
head -c 40 input.gz >cut.gz
run "$hpcview" import -o x cut.gz
check_match "a packed file cut short" "$err" "cut.gz: its gzip data end too early"
run "$hpcview" import callgrind nowhere
check "a file that is not there: status 1" test "$status" = 1

# The sum is callgrind's own
if command -v valgrind >/dev/null 2>&1 && valgrind --tool=callgrind --callgrind-out-file=cg.out true >/dev/null 2>&1; then
    totals=$(sed -n 's/^totals: *\([0-9]*\).*/\1/p' cg.out)
    run "$hpcview" print --by program --format csv cg.out
    check_match "callgrind's own total" "$out" ",$totals"
else
    skip "callgrind's own total" "no callgrind here"
fi

# perf's samples are all there
if command -v perf >/dev/null 2>&1 && perf record -o perf.data -e cpu-clock -F 500 sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done' >/dev/null 2>&1; then
    perf script -i perf.data --show-mmap-events -F comm,pid,tid,time,event,period,ip,sym,symoff,dso >perf.txt 2>/dev/null
    total=$(awk '/ cpu-clock/ { for (i = 2; i <= NF; i++) if ($i ~ /^cpu-clock/) sum += $(i - 1) } END { printf "%d", sum }' perf.txt)
    run "$hpcview" print --by program --format csv perf.txt
    check_match "perf's own total" "$out" ",$total"
else
    skip "perf's own total" "perf cannot record here"
fi
done_testing
