#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# record --phases: programs with planned arrivals time their barriers with their own clocks; the recorded times agree.
. "$top_srcdir/tests/lib.sh"
need_recording
. "$top_srcdir/tests/phases/lib.sh"

built=
for cc in gcc clang; do
    command -v "$cc" >/dev/null 2>&1 || continue
    if $cc -g -O1 -o "pthreads-$cc" "$programs/pthreads.c" -lpthread 2>err; then
        built=./pthreads-$cc
        planned "$cc, pthreads, 4 threads" pthreads.c "./pthreads-$cc" 4 5 2 <<END2
first FIRST pthread_barrier_wait
second SECOND pthread_barrier_wait
END2
    fi
done
[ -n "$built" ] || skip_all "no compiler"
planned "pthreads, 2 threads" pthreads.c "$built" 2 20 2 <<END2
first FIRST pthread_barrier_wait
second SECOND pthread_barrier_wait
END2
table=waits
check_match "the join of the threads is a wait" "$(barriers kind)" "$(line_of pthreads.c JOIN) join"
unset table
run "$hpcview" print --table barrier_threads --format csv m
check_equal "thread by thread" "$(printf '%s\n' "$out" | grep -c '^pthreads.c:[0-9]* pthread_barrier_wait')" 4
run "$hpcview" print --table phases m
check_match "a barrier is called by its line" "$out" "pthreads.c:$(line_of pthreads.c FIRST) pthread_barrier_wait"
planned "pthreads, 64 threads" pthreads.c "$built" 64 3 1 <<END2
first FIRST pthread_barrier_wait
second SECOND pthread_barrier_wait
END2
run "$hpcview" print --table arrivals --format csv m
check_equal "each arrival of the episodes that are kept" "$(printf '%s\n' "$out" | tail -n +2 | wc -l)" $((64 * 6))

# samples of a phase are its loops'
if gcc -g -O1 -o water "$programs/water.c" -lpthread -lm; then
    "$hpcview" record --phases -e perf::TASK-CLOCK@f1000 -o w2 -- ./water 2 2000 2 >/dev/null 2>&1
    run "$hpcview" print --by phase w2
    check_match "--by phase: the phases" "$out" "water.c:$(line_of water.c FORCES) pthread_barrier_wait  water.c:$(line_of water.c PREDICTED) pthread"
    run "$hpcview" print --table phase_loops --format csv w2
    phases_of() { printf '%s\n' "$out" | grep ",$1," | cut -d , -f 1 | sort -u | tr '\n' ' '; }
    check_equal "and the loops that ran in them" "$(phases_of forces) $(phases_of pairs)" \
        "water.c:$(line_of water.c PREDICTED) pthread_barrier_wait  water.c:$(line_of water.c CORRECTED) pthread_barrier_wait "
    run "$hpcview" print --table phase_samples --format csv w2
    check_equal "of both threads" "$(printf '%s\n' "$out" | grep "^water.c:$(line_of water.c PREDICTED) .*water.c:$(line_of water.c FORCES) " | cut -d , -f 3 | sort | tr '\n' ' ')" "#1 water #2 water "
    "$hpcview" record --phases -o w3 -- ./water 3 2000 2 >/dev/null 2>&1
    run "$hpcview" print --table barriers_compared --format csv --diff w2 w3
    check_equal "two runs: the same barriers side by side" "$(printf '%s\n' "$out" | grep -c 'pthread_barrier_wait,,BASE,NEW,2,3,')" 5
fi

if echo 'int main(void) { return 0; }' | gcc -fopenmp -xc -o openmp-there - 2>/dev/null && gcc -g -O2 -fopenmp -o openmp "$programs/openmp.c"; then
    for threads in 2 4; do
        planned "libgomp, $threads threads" openmp.c ./openmp $threads 3 2 <<END2
barrier BARRIER omp barrier
dynamic DYNAMIC omp barrier
single SINGLE omp barrier
join - omp parallel end
END2
    done
    check_match "the end of sections, too" "$(barriers kind episodes | grep sections)" "omp sections end 3"
else
    skip "libgomp" "gcc has no OpenMP here"
fi

# LLVM's: by its tools interface
if clang -g -O1 -fopenmp -o openmp-llvm "$programs/openmp.c" 2>err || clang -g -O1 -fopenmp -L/usr/lib/llvm-14/lib -o openmp-llvm "$programs/openmp.c" 2>err; then
    planned "libomp, 4 threads" openmp.c ./openmp-llvm 4 3 2 <<END2
barrier BARRIER omp barrier
for FOR omp for end
dynamic DYNAMIC omp barrier
single SINGLE omp barrier
join - omp parallel end
END2
else
    skip "libomp" "clang has no OpenMP here"
fi

# barriers of the program's own
if gcc -g -O1 -I"$top_srcdir/hpcprof/recorder/include" -o own "$programs/own.c" -lpthread; then
    planned "hpcview.h, 3 threads" own.c ./own 3 5 2 <<END2
named NAMED hpcview.h
anonymous ANONYMOUS hpcview.h loop
END2
    check_match "a barrier has its name" "$(barriers name)" "exchange"
    run ./own 2 1 1
    check "and without a recorder it is none" test "$status" = 0
fi

run "$hpcview" phases /dev/null
check "no measurement: status 1" test "$status" = 1

# reported while it runs
if [ -x own ]; then
    run "$hpcview" record --phases --watch exchange --warn 1 -o told -- ./own 3 4 5
    check_equal "--watch: a line an episode, of the named barrier alone" "$(printf '%s\n' "$err" | grep -c '^hpcview: exchange at own.c.*threads: phase')" 4
    check_match "--warn: of the others too, with who came last" "$err" "warning: own.c:$(line_of own.c ANONYMOUS)*was last"
    check_match "and the program's output is its own" "$(printf '%s' "$out" | head -n 1)" "named 4 3"
    check_equal "no pipe is left" "$(find told -name '.notices*')" ""
    run "$hpcview" record --phases --watch all --warn 0 --watch-file words -o told2 -- ./own 2 2 1
    check "--watch-file" grep -q "exchange" words
fi

# ranks meet where measurements are read
for mpi in openmpi mpich; do
    if ! mpi_programs $mpi; then
        skip "$mpi" "not here, or it runs nothing: $(head -n 1 err)"
        continue
    fi
    mpi_planned $mpi 2
    run timeout 60 mpirun.$mpi -n 2 "$hpcview" record --phases --watch "mpi.c:$(line_of mpi.c BLOCK)" -o told3 -- "./c-$mpi" 3 1
    check_equal "$mpi: --watch: a line a rank and episode" "$(printf '%s\n' "$err" | grep -c "^hpcview: mpi.c:$(line_of mpi.c BLOCK) .* of 2 ranks: rank [01] thread 0 worked .* ms, waited")" 6
    rm -rf told3
    run "$hpcview" print --table waits --format csv m
    check_match "$mpi: other collectives are waits" "$out" "mpi.f90,$(line_of mpi.f90 GATHER)*MPI collective"
done
done_testing
