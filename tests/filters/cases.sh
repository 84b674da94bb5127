#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
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
check_match "in their unit" "$(unit_of "$cases/folded-fractions.txt")" "samples: 265 hundredths in total*"
if [ "$(values "$cases/folded-mangled.txt" | grep -c _ZN4)" = 0 ]; then
    check_equal "mangled names" "$(values "$cases/folded-mangled.txt")" "gridmod::relax 5;heat::solver<3>::step(double) 30;mycrate::foo 10;"
fi
run "$hpcview" print "$cases/gprof-text.txt"
check_match "gprof's report is refused" "$err" "*is gprof's report as text; give its gmon.out*"
check_equal "instruction bytes are no event" "$(values "$cases/insn.perf.txt")" "outer 4000000;"
check_equal "no last newline" "$(values "$cases/no-last-newline.perf.txt")" "hot 250000;"
check_equal "no time and no indentation" "$(values "$cases/no-time-no-indent.perf.txt")" "hot 2;"
check_equal "without periods" "$(values "$cases/no-period.perf.txt")" "cool 1;hot 2;"
check_match "samples are counted" "$(unit_of "$cases/no-period.perf.txt")" "samples of cpu-clock: 3 samples in total*"
check_match "with a word on why" "$(cat "$scratch/said")" "*samples have no periods*"
run "$hpcview" print --metrics cpi "$cases/no-period-cpi.perf.txt"
check "no ratio of them" test "$(printf '%s\n' "$out" | grep -c CPI)" = 0
check_equal "lcov 2.2" "$(values "$cases/lcov22.info")" "heat_step 505;"

# Names in a text file are evidence; a file at that path on this machine is not.
check_equal "a binary of this machine does not overrule the text" "$(values "$cases/local-binary-wins.perf.txt")" "cksum 1000;"
check_match "nor names what has no symbol there" "$("$hpcview" print --by procedure --format csv "$cases/unknown-local.perf.txt" 2>/dev/null)" "*dd,,,(no symbol),1000*"
if command -v "${CC%% *}" >/dev/null 2>&1 && command -v nm >/dev/null 2>&1; then
    printf 'int alpha(int n)\n{\n    return n * 3 + 1;\n}\nint main(void)\n{\n    return alpha(1);\n}\n' >"$scratch/prog.c"
    $CC -O1 -g -fno-inline "$scratch/prog.c" -o "$scratch/prog" && at=$(nm "$scratch/prog" | sed -n 's/^0*\([0-9a-f]*\) T alpha$/\1/p')
    # text SYMBOL: a sample one byte into alpha, mapped at 0x10000000, in the format of another perf version
    text() {
        printf 'prog 7/7 1.0: PERF_RECORD_MMAP2 7/7: [0x10000000(0x100000) @ 0 fe:00 11 20]: r-xp %s\nprog 7/7 1.1:  1000 cycles:\n\t%x %s (%s)\n\n' \
            "$scratch/prog" "$((0x10000000 + 0x$at + 1))" "$1" "$scratch/prog" >"$scratch/text"
        "$hpcview" print --by line --format csv "$scratch/text" 2>"$scratch/said" | sed -n '2p'
    }
    check_match "names that agree have lines" "$(text alpha+0x1)" "line,prog,*prog.c,*,alpha,1000"
    check_match "and without an offset" "$(text alpha)" "line,prog,*prog.c,*,alpha,1000"
    check_match "another name has none" "$(text beta+0x1)" "line,prog,,,beta,1000"
    check_match "with a word on why" "$(cat "$scratch/said")" "*100.0% of the samples*have other symbols there*"
    check_match "nor the same name elsewhere in it" "$(text alpha+0x9)" "line,prog,,,alpha,1000"
fi
done_testing
