#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tutorial's commands, and its claims about their output.
. "$top_srcdir/tests/lib.sh"
need valgrind "${FC:-gfortran}" make
need_recording
tutorial=$top_srcdir/doc/tutorial.md
cd "$scratch" || exit 99
"$hpcview" record -e perf::TASK-CLOCK -o probe -- /bin/true >/dev/null 2>&1 || skip_all "the task clock cannot be sampled here"
cp -r "$top_srcdir/share/examples/heat" heat && chmod -R u+w heat
sed -n '/^```xml$/,/^```$/p' "$tutorial" | sed '/^```/d' >heat.xml
keep() {
    case $1 in
    *--by\ loop*) cp out loops ;;
    esac
}
run_document "$tutorial" keep
check_equal "the tutorial has its commands" "$(wc -l <commands)" 12
check_match "the product's loop is in the table" "$(cat loops)" "sparse::multiply"
run "$hpcview" print --by loop --format csv heat.xml
printf '%s\n' "$out" | csv_rows >rows
# both runs have data at the product's loop, and STALL there equals its formula
check "time and instructions meet at the loops" awk -F '\t' '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["NS"] != "" && $at["ICYCLES"] != "" {
        d = $at["NS"] - 0.4 * $at["ICYCLES"] - $at["STALL"]
        if (d > 1 || d < -1) bad = 1
        if ($at["name"] ~ /multiply/ || $0 ~ /sparse\.f90/) met++
    }
    END { exit bad || !met }' rows
check "ideal cycles: some at every loop, and no more than two an instruction" awk -F '\t' '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["INS"] > 1000 && !($at["ICYCLES"] > 0 && $at["ICYCLES"] < 2 * $at["INS"]) { bad = 1 }
    END { exit bad || NR < 3 }' rows
check "nothing of the model is lost" awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { exit !($at["MISS"] > 0 && $at["MISS"] < 1) }' rows
# Rows of the matrix have seven numbers: entries of the loop of four overlap, so its chain of sums is not the bound.
if [ "$(uname -m)" = x86_64 ]; then
    run "$hpcview" print --machine skylake-server --format csv --table loop_quality heat.xml
    check_match "the product: what is said of a loop that goes round a few times" "$(printf '%s\n' "$out" | grep sparse::multiply)" \
        'scalar, [1-9] of [1-9]* references indirect; for long entries bound by latency: loop-carried dependency, 16 cycles; as measured bound by *: at a trip count of 1[.][0-9]*, entries overlap'
    run "$hpcview" print --machine skylake-server --format csv --table loop_checks heat.xml
    check "and no gain is promised by a sum in another order" test "$(printf '%s\n' "$out" | grep -c 'sparse::multiply,reduction')" = 0
fi
check "the page" test -f heat.db/index.html
done_testing
