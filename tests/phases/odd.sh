#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Unusual barriers: reinitialized at one address, with threads that die inside or are cancelled, in a program that forks, with more
# threads than planned, in teams that are nested or cancelled. The program is not disturbed, and counts are right.
. "$top_srcdir/tests/lib.sh"
need_recording
. "$top_srcdir/tests/phases/lib.sh"
gcc -g -O1 -I"$top_srcdir/hpcprof/recorder/include" -o odd "$programs/odd.c" -lpthread || skip_all "no compiler"

# counts HOW [COMMAND]: kind, episodes, passages, broken, line first
counts() {
    record timeout 60 "$@"
    barriers kind episodes passages broken
}

check_equal "made anew at one address, for other numbers of threads" "$(counts ./odd anew)" "$(line_of odd.c MEET) pthread_barrier_wait 60 180 0"
check_match "a thread that dies inside: the others' barriers are counted" "$(counts ./odd die)" "$(line_of odd.c MEET) pthread_barrier_wait 20 40 0"
check_match "and so are its own, but for the one it never left" "$(barriers kind episodes passages broken)" "$(line_of odd.c OWN) hpcview.h 3 7 1"
check_equal "a thread that is cancelled while it waits" "$(counts ./odd cancel)" "$(line_of odd.c MEET) pthread_barrier_wait 20 60 0"
check_equal "fork while a thread stands at a barrier: the parent's and the child's own" "$(counts ./odd fork)" "$(line_of odd.c MEET) pthread_barrier_wait 28 56 0"
check "and the child goes on" test "$status" = 0
check_equal "each has a file" "$(for f in m/*.hpcprof; do "$hpcview" print --table barriers --format csv "$f" 2>/dev/null | csv_rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 { print $at["episodes"] }'; done | sort | tr '\n' ' ')" "21 7 "
counts ./odd more >more
# A thread that leaves late may be counted in the next pair: one episode too many, with a passage too few.
check "more threads than planned: each pair, whole or said to be broken" awk '{ n = $3 + $5 } END { exit !(n >= 600 && n <= 612) }' more
check "most of them whole" test "$(awk '{ print $3 }' more)" -gt 300
check "passages are two an episode" awk '{ n = 2 * $3 - $4 } END { exit !(n >= 0 && n <= 24) }' more

if gcc -g -O1 -fopenmp -o odd-openmp "$programs/odd_openmp.c" 2>err; then
    counts ./odd-openmp nested >nested
    check_match "nested teams: the inner ones" "$(cat nested)" "$(line_of odd_openmp.c INNER) omp barrier 10 20 0"
    check_match "and the outer ones" "$(cat nested)" "$(line_of odd_openmp.c OUTER) omp barrier 5 10 0"
    OMP_CANCELLATION=true
    export OMP_CANCELLATION
    counts ./odd-openmp cancel >cancelled
    check_match "cancelled teams: their barrier is broken" "$(cat cancelled)" "$(line_of odd_openmp.c CANCELLED) omp barrier 0 0 5"
    check_match "the next team's is not" "$(cat cancelled)" "$(line_of odd_openmp.c AFTER) omp barrier 5 15 0"
else
    skip "teams" "gcc has no OpenMP here"
fi

if clang -g -O1 -fopenmp -o odd-llvm "$programs/odd_openmp.c" 2>err || clang -g -O1 -fopenmp -L/usr/lib/llvm-14/lib -o odd-llvm "$programs/odd_openmp.c" 2>err; then
    counts ./odd-llvm nested >nested
    check_match "libomp, nested teams: the inner ones" "$(cat nested)" "$(line_of odd_openmp.c INNER) omp barrier 10 20 0"
    check_match "libomp: and the outer ones" "$(cat nested)" "$(line_of odd_openmp.c OUTER) omp barrier 5 10 0"
    counts ./odd-llvm cancel >cancelled
    check_match "libomp, cancelled teams: the next team's barrier" "$(cat cancelled)" "$(line_of odd_openmp.c AFTER) omp barrier 5 15 0"
else
    skip "libomp: teams" "clang has no OpenMP here"
fi

if gcc -g -O1 -static -I"$top_srcdir/hpcprof/recorder/include" -o odd-static "$programs/odd.c" -lpthread 2>err; then
    run "$hpcview" record --phases -o static -- ./odd-static anew
    check_match "a static program is said to be one" "$err" "statically linked"
else
    skip "a static program" "no static C library"
fi

# a follower of a file that is cut, at each of many places
record ./odd anew
file=$(find m -name '*.hpcprof')
bytes=$(wc -c <"$file")
wrong=
for part in 1 3 5 7 9; do
    head -c $((bytes * part / 10)) "$file" >cut.hpcprof
    run timeout 20 "$hpcview" phases --follow --times 1 cut.hpcprof
    [ "$status" -le 1 ] && { [ "$status" = 0 ] || [ -n "$err" ]; } || wrong="$wrong $part:$status"
done
check_equal "a follower of a file that is cut" "$wrong" ""
done_testing
