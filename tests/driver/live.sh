#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# diagnose -- PROGRAM: messages and files of its experiments, to the letter if they do not depend on the machine.
. "$top_srcdir/tests/lib.sh"
need_recording
cd "$scratch" || exit 99

run "$hpcview" diagnose --experiments 1 -- /bin/true
check_equal "its status is the search's" "$status" 0
check_equal "one experiment" "$err" "hpcview: experiment 1: where the time goes
hpcview: the measurements are in hpcview-true.experiments
hpcview: open hpcview-true.experiments.db/index.html in a browser, or: hpcview open hpcview-true.experiments.db
hpcview: warning: hpcview-true.experiments/experiment-1: contains no samples; did the program run long enough?"
check_match "and what was found" "$out" "No finding costs 1% of the run or more."
mkdir hpcview-true-2.experiments
run "$hpcview" diagnose --experiments 1 -- /bin/true
check_equal "a folder that is there stays as it is" "$(echo hpcview-true*)" \
    "hpcview-true-2.experiments hpcview-true-3.experiments hpcview-true-3.experiments.db hpcview-true.experiments hpcview-true.experiments.db"
run "$hpcview" diagnose --experiments 1 --keep kept --database other.html -- sh -c 'echo said; exit 3'
check_equal "it ended with another status than 0" "$(printf '%s\n' "$err" | grep -v samples)" "hpcview: experiment 1: where the time goes
said
hpcview: the measurements are in kept
hpcview: open other.html in a browser, or: hpcview open other.html
hpcview: warning: experiment 1: sh ended with status 3"
check_equal "what it prints does not stand among the findings" "$(printf '%s\n' "$out" | grep -c said)" 0
check_equal "the database is where it was wanted" "$([ -f other.html ] && [ ! -e kept.db ] && echo there)" there
check_equal "the measurements too" "$(ls kept)" experiment-1
run "$hpcview" diagnose --experiments 1 --keep killed -- sh -c 'kill -9 $$'
check_match "or by a signal" "$err" "hpcview: warning: experiment 1: sh was killed by signal 9; its counts until then are used"
rm -rf kept
run "$hpcview" diagnose --keep kept -- /nowhere/program
check_equal "a program that is not there" "$status $err" "1 hpcview: experiment 1: where the time goes
hpcview: /nowhere/program: program not found (No such file or directory)"
check_equal "leaves nothing" "$(ls -d kept* 2>&1 | grep -c '^kept')" 0
mkdir kept && echo mine >kept/mine
run "$hpcview" diagnose --keep kept -- /nowhere/program
check_equal "of its own" "$status $(cat kept/mine)" "1 mine"
run "$hpcview" diagnose --experiments 1 --keep half --database /nowhere/there/x.html -- /bin/true
check_equal "a database that cannot be written" "$status $(printf '%s\n' "$err" | grep -c '/nowhere/there')" "1 1"

# events not yet measured by the first experiment are measured by the second
cat >busy.c <<'END'
#include <stdio.h>
#include <time.h>
__attribute__((noinline)) static double work(void)
{
    volatile double x = 1;
    for (long i = 0; i < 100000; i++)
        x = x * 1.0000001 + 1e-9;
    return x;
}
int main(void)
{
    double x = 0;
    while (clock() < CLOCKS_PER_SEC / 4)
        x += work();
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL); /* it waits, whatever else the machine does */
    puts("said");
    return x < 0;
}
END
if ! ${CC-cc} -g -O1 -o busy busy.c 2>/dev/null; then
    skip "two experiments" "the program does not compile"
    done_testing
fi
run "$hpcview" diagnose --experiments 2 --keep twice -- ./busy
check_equal "two experiments, in a row" "$(printf '%s\n' "$err" | sed -n 's/^hpcview: \(experiment [0-9]*\):.*/\1/p; /^said/p' | tr '\n' ' ')" \
    "experiment 1 said experiment 2 said "
second=$(printf '%s\n' "$err" | sed -n 's/^hpcview: experiment 2: //p')
check_match "the second for unknown yet" ", $second," ", perf::PAGE-FAULTS (for PageFaults),"
check_match "of several properties" ", $second" ", REALTIME (for WaitingPlace), perf::MAJOR-FAULTS (for MajorFaults), "
check_equal "of no event that was measured" "$(printf '%s\n' "$second" | grep -c 'TASK-CLOCK')" 0
run "$hpcview" info twice/experiment-2
check_match "which are in it" "$out" "event perf::PAGE-FAULTS "
run "$hpcview" print --table search --format csv twice.db
check_equal "since which each property could be tested" "$(printf '%s\n' "$out" | awk -F, '/^(NotOptimized|PageFaults),/ { print $1, $(NF - 2) }' | sort | tr '\n' ' ')" \
    "NotOptimized 1 PageFaults 2 "
if command -v qemu-x86_64 >/dev/null && [ -f "$top_builddir/libhpcview-simulate-qemu.so" ]; then
    run "$hpcview" diagnose --keep all -- ./busy
    check_equal "then its memory is simulated, of what has the time alone" "$(printf '%s\n' "$err" | sed -n 's/^hpcview: experiment 3: //p')" \
        "simulated memory (for MemoryBound) of work"
    fourth=$(printf '%s\n' "$err" | sed -n 's/^hpcview: experiment 4: //p')
    [ -z "$fourth" ] || check_equal "where too few samples left something unknown there are more" "$fourth" \
        "perf::TASK-CLOCK, 2000 samples per second (too few samples left something unknown)"
else
    skip "simulated memory" "no qemu-x86_64 here, or no plugin for it"
fi
run "$hpcview" diagnose --seconds 0.01 --keep short -- ./busy
check_equal "no experiment is begun after so long" "$(ls short)" experiment-1
run "$hpcview" diagnose --experiments 1 --duration 0.02 --keep brief -- ./busy
run "$hpcview" info brief/experiment-1
check_match "measured for that long only" "$(printf '%s\n' "$out" | sed -n 's/^  samples  *//p' | head -n 1)." "[0-9]."
done_testing
