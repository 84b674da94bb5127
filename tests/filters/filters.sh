#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every filter, with its example: recognised by its content, converted, and its table golden; import and direct use agree.
# (filters/files_test tests that no other format matches, and messages about unknown files.)
. "$top_srcdir/tests/lib.sh"

cd "$scratch" || exit 99
formats="perf perf-script callgrind cachegrind profile pprof gperftools folded speedscope gprof gcov lcov llvm-cov caliper likwid papi hpctoolkit"
examples=$top_srcdir/tests/filters
for format in $formats; do
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
    case $format in
    folded | gprof | gperftools) ;; # may end anywhere between two lines or records
    perf-script)       # samples before the cut are sound
        head -c $(($(wc -c <input) * 2 / 3)) input >cut
        run "$hpcview" import "$format" -o x.hpcprof cut
        check_match "$format: cut at two thirds" "$err" '*the last line has no end; is the file truncated?*'
        check "what came before is kept" test -e x.hpcprof
        ;;
    *)
        head -c $(($(wc -c <input) * 2 / 3)) input >cut
        rm -f x.hpcprof
        run "$hpcview" import "$format" -o x.hpcprof cut
        check "$format: cut at two thirds: status 1" test "$status" = 1
        check "and nothing written" test ! -e x.hpcprof
        ;;
    esac
done

# HPCToolkit's database, written by an independent script from the published description, gives the same result as its
# experiment.xml
cp -r "$examples/hpctoolkit-database" database && chmod -R u+w database
run "$hpcview" import hpctoolkit -o m.hpcprof database
check "a database of HPCToolkit's: imported" test "$status" = 0
"$hpcview" print --by line --format csv --title t m.hpcprof >imported
"$hpcview" print --by line --format csv --title t database >direct
check_same "recognised without its name, and the same" direct imported
check_same "what it says" imported "$examples/hpctoolkit.out"
"$hpcview" import -o again.hpcprof database/profile.db 2>/dev/null
"$hpcview" print --by line --format csv --title t again.hpcprof >direct
check_same "by another of its files, the same" direct imported
"$hpcview" import -o again.hpcprof database 2>/dev/null
check "imported again, the same bytes" cmp m.hpcprof again.hpcprof
run "$hpcview" info --threads m.hpcprof
check_match "its ranks are processes, its threads threads" "$out" "thread 0.1"
run "$hpcview" import perf -o x.hpcprof database
check_match "it is no perf.data" "$err" "not in format perf"
head -c 700 database/meta.db >cut && mv cut database/meta.db
run "$hpcview" print database
check "cut short: status 1" test "$status" = 1
check_match "and where" "$err" "meta.db, byte "
cp "$examples/hpctoolkit-database/meta.db" database/ && rm -f database/profile.db
run "$hpcview" print database
check_match "a file of it that is missing is named" "$err" "database/profile.db"
if command -v python3 >/dev/null 2>&1 && mkdir written && python3 "$examples/hpctoolkit.py" written; then
    check "the script writes this example" cmp written/profile.db "$examples/hpctoolkit-database/profile.db"
else
    skip "the script writes this example" "no python3 here"
fi

# The types of a table's columns are as declared
cp "$examples/table.example" input
table() { run "$hpcview" import table -o t.hpcprof --separator ";" --skip 1 --units cycles "$@" input; }
table --columns procedure,file,line,CYC,MISS,thread
check "table: imported" test "$status" = 0
"$hpcview" print --by line --format csv --title t t.hpcprof >table.csv 2>/dev/null
check_same "table: what it says" table.csv "$examples/table.out"
table --columns CYC,file,line
check "table: a column that is no number: status 1" test "$status" = 1
check_match "and its line" "$err" "input:2: not a number >= 0: 'main'"
table --columns procedure,file,line,A,B,C,D
check_match "table: too few columns" "$err" "input:2: this row has fewer columns"
table --columns procedure,file
check "table: no metric: status 2" test "$status" = 2
run "$hpcview" import table -o x.hpcprof input
check_match "table: without columns" "$err" "a table needs --columns"
table --columns a --separator xy
check "table: a separator of two characters: status 2" test "$status" = 2
printf 'f a.c 1 18446744073709551615\n' >input
rm -f t.hpcprof
run "$hpcview" import table -o t.hpcprof --columns procedure,file,line,A input
check_match "table: the greatest number there is" "$("$hpcview" print --by line --format csv t.hpcprof 2>/dev/null)" "f,1.8446744073709552e+19"
for number in 18446744073709551616 1e20 inf; do
    echo "f a.c 1 $number" >input
    run "$hpcview" import table -o t.hpcprof --columns procedure,file,line,A input
    check_match "table: $number is too large" "$err" "input:1: exceeds 64 bits: '$number'"
done

run "$hpcview" import perf-scrip -o x input
check "a misspelt format: status 2" test "$status" = 2
check_match "and the near one" "$err" "did you mean 'perf-script'"
run "$hpcview" import callgrind
check "no file: status 2" test "$status" = 2
echo nothing >nothing
run "$hpcview" import -o x nothing
check "a file of nobody: status 1" test "$status" = 1
check_match "and why" "$err" "nothing: unknown format"
echo '{"gcc_version": "12", "files": [], "type": "llvm.coverage.json.export", "data": []}' >two
run "$hpcview" import -o x two
check "a file that may be two things: status 1" test "$status" = 1
check_match "and which" "$err" "could be gcov or llvm-cov; convert it with 'hpcview import gcov' or"
# More than is unpacked in memory
awk 'BEGIN { for (i = 0; i < 400000; i++) print "main;a function with a long name;another one, called by it 1" }' >long
gzip -1 <long >long.gz
run "$hpcview" print --by program --format csv long.gz
check_match "a packed file that is unpacked into a temporary one" "$out" ",400000"
head -c $(($(wc -c <long.gz) - 100)) long.gz >cut.gz
run "$hpcview" import -o x cut.gz
check_match "and one cut short there" "$err" "cut.gz: its gzip data are truncated"
: >empty
run "$hpcview" import -o x empty
check_match "an empty file" "$err" "empty: is empty"
run "$hpcview" print empty
check_match "an empty measurement" "$err" "empty: not a measurement file (it is empty)"
head -c 40 input.gz >cut.gz
run "$hpcview" import -o x cut.gz
check_match "a packed file cut short" "$err" "cut.gz: its gzip data are truncated"
run "$hpcview" import callgrind nowhere
check "a file that is not there: status 1" test "$status" = 1

# Every column's sum is valgrind's own
if command -v valgrind >/dev/null 2>&1 && valgrind --tool=callgrind --cache-sim=yes --branch-sim=yes --callgrind-out-file=cg.out true >/dev/null 2>&1; then
    totals=$(sed -n 's/^totals: *//p' cg.out | tr ' ' ',')
    run "$hpcview" print --by program --format csv cg.out
    check_match "callgrind's own totals" "$out" ",$totals"
    valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file=instr.out true >/dev/null 2>&1
    totals=$(sed -n 's/^totals: *//p' instr.out)
    run "$hpcview" print --by program --format csv instr.out
    check_match "by instruction too" "$out" ",$totals,"
    check_match "loops come out of it" "$out" "loop iterations,loop entries"
    valgrind --tool=cachegrind --cachegrind-out-file=cache.out true >/dev/null 2>&1
    totals=$(sed -n 's/^summary: *//p' cache.out | sed 's/ *$//' | tr ' ' ',')
    run "$hpcview" print --by program --format csv cache.out
    check_match "cachegrind's own totals" "$out" ",$totals"
else
    skip "valgrind's own totals" "no valgrind here"
fi

# Each line's count is gcov's own
if command -v "${CC%% *}" >/dev/null 2>&1 && command -v gcov >/dev/null 2>&1 && mkdir cov && cp "$top_srcdir/tests/filters/covered.c" cov/covered.c &&
    (cd cov && gcc -O0 --coverage covered.c -o covered && ./covered && gcov --json-format -t covered*.gcda >covered.json && gcov -t covered*.gcda >covered.gcov) >/dev/null 2>&1; then
    sed -n 's/^ *\([0-9]*\)\**: *\([0-9]*\):.*/\2 \1/p' cov/covered.gcov | sort >gcov.own
    "$hpcview" print --by line --format csv cov/covered.json 2>/dev/null | awk -F, 'NR > 1 { print $4, $6 }' | sort >gcov.ours
    check_same "gcov's own counts" gcov.ours gcov.own
else
    skip "gcov's own counts" "no gcov of gcc's here"
fi

# PAPI's high level: the outermost regions' own numbers, in all threads
cat >hl.c <<'END'
#include <papi.h>
#include <stdlib.h>
int main(void)
{
    volatile char *p = NULL;
    PAPI_hl_region_begin("outer");
    for (int k = 0; k < 3; k++) {
        PAPI_hl_region_begin("inner");
        p = malloc(9 << 20);
        for (int i = 0; i < 9 << 20; i += 4096)
            p[i] = 1;
        PAPI_hl_region_end("inner");
    }
    return PAPI_hl_region_end("outer");
}
END
if gcc -O1 hl.c -o hl -lpapi >/dev/null 2>&1 && PAPI_EVENTS="perf::PAGE-FAULTS" PAPI_OUTPUT_DIRECTORY=$PWD ./hl >/dev/null 2>&1 && ls papi_hl_output/*.json >/dev/null 2>&1; then
    total=$(sed -n '/"name":"outer"/,/}/s/.*"perf::PAGE-FAULTS":"\([0-9]*\)".*/\1/p' papi_hl_output/*.json)
    run "$hpcview" print --by program --format csv papi_hl_output/*.json
    check_match "PAPI's own total" "$out" ",$total"
    run "$hpcview" print --by procedure --format csv papi_hl_output/*.json
    check_match "and what is in a region is not its own" "$out" ",,,inner,"
else
    skip "PAPI's own total" "PAPI's high level cannot count page faults here"
fi

# All of perf's samples are read, and its file and its text give the same result. (Kernel symbols are only in the text.)
recorded() { # NAME OPTIONS...: into NAME.data and NAME.txt
    name=$1
    shift
    perf record -q -o "$name.data" "$@" sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; ls / >ls.out & wait' >/dev/null 2>&1 &&
        perf script -i "$name.data" --show-mmap-events -F comm,pid,tid,time,event,period,ip,sym,symoff,dso >"$name.txt" 2>/dev/null &&
        grep -q ' cpu-clock' "$name.txt"
}
without_kernel() { awk -F, '$2 == "[kernel]" { kernel += $6; next } { print } END { print kernel }'; }
if command -v perf >/dev/null 2>&1 && recorded plain -e cpu-clock -F 500; then
    total=$(awk '/ cpu-clock/ { for (i = 2; i <= NF; i++) if ($i ~ /^cpu-clock/) sum += $(i - 1) } END { printf "%d", sum }' plain.txt)
    run "$hpcview" print --by program --format csv plain.txt
    check_match "perf's own total" "$out" ",$total"
    recorded chains -e cpu-clock -F 500 -g
    recorded packed -e cpu-clock -F 500 -g -z || { cp chains.data packed.data && cp chains.txt packed.txt; }
    for name in plain chains packed; do
        "$hpcview" print --by line --format csv --title t "$name.data" 2>/dev/null | without_kernel >data.csv
        "$hpcview" print --by line --format csv --title t "$name.txt" 2>/dev/null | without_kernel >text.csv
        check_same "$name: perf.data and perf script say the same" data.csv text.csv
    done
    # With any choice of fields, all samples are read
    for fields in ip ip,sym ip,sym,dso comm,ip,sym comm,tid,ip,sym event,ip,sym comm,period,event,ip,sym pid,tid,time,ip,srcline comm,pid,ip,sym,dso,srcline; do
        for flat in "" -G; do
            # shellcheck disable=SC2086
            perf script -i chains.data $flat -F "$fields" >fields.txt 2>/dev/null
            case $fields in
            *period*) samples=$(perf script -i chains.data -G -F period,event,ip 2>/dev/null | awk '{ sum += $1 } END { printf "%d", sum }') ;;
            *) samples=$(perf script -i chains.data -G -F event,ip 2>/dev/null | wc -l) ;;
            esac
            check_equal "perf script -F $fields $flat: all samples" "$("$hpcview" print --by program --format csv fields.txt 2>/dev/null | sed -n '2s/.*,//p')" "$samples"
        done
    done
else
    skip "perf's own total" "perf cannot record here"
fi
done_testing
