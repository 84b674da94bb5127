#!/bin/sh
# Small files of other tools that are easily mistaken, and the right values.
. "$top_srcdir/tests/lib.sh"
cases=$top_srcdir/tests/filters/cases

# values FILE [OPTIONS]: "procedure value" of each procedure
values() {
    "$hpcview" print --by procedure --format csv "$@" 2>"$scratch/said" | awk -F, 'NR > 1 && $6 != "" { print $5, $6 }' | sort | tr '\n' ';'
}
unit_of() { "$hpcview" print "$1" 2>/dev/null | sed -n 2p; }

check_equal "comments and other lines in folded stacks" "$(values "$cases/folded-comment.txt")" "a 5;b 3;"
check_match "are counted" "$(cat "$scratch/said")" "*1 of 4 lines are no stacks*"
check_equal "fractions are kept" "$(values "$cases/folded-fractions.txt")" "a 25;b 50;c 190;"
check_match "in their unit" "$(unit_of "$cases/folded-fractions.txt")" "samples: 265 hundredths in all*"
if [ "$(values "$cases/folded-mangled.txt" | grep -c _ZN4)" = 0 ]; then
    check_equal "mangled names" "$(values "$cases/folded-mangled.txt")" "gridmod::relax 5;heat::solver<3>::step(double) 30;mycrate::foo 10;"
fi
run "$hpcview" print "$cases/gprof-text.txt"
check_match "gprof's report is refused" "$err" "*is gprof's report as text; give its gmon.out*"
check_equal "instruction bytes are no event" "$(values "$cases/insn.perf.txt")" "outer 4000000;"
check_equal "no last newline" "$(values "$cases/no-last-newline.perf.txt")" "hot 250000;"
check_equal "no time and no indentation" "$(values "$cases/no-time-no-indent.perf.txt")" "hot 2;"
check_equal "without periods" "$(values "$cases/no-period.perf.txt")" "cool 1;hot 2;"
check_match "samples are counted" "$(unit_of "$cases/no-period.perf.txt")" "samples of cpu-clock: 3 samples in all*"
check_match "with a word on why" "$(cat "$scratch/said")" "*samples have no periods*"
run "$hpcview" print --metrics cpi "$cases/no-period-cpi.perf.txt"
check "no ratio of them" test "$(printf '%s\n' "$out" | grep -c CPI)" = 0
check_equal "lcov 2.2" "$(values "$cases/lcov22.info")" "heat_step 505;"
done_testing
