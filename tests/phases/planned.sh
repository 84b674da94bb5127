#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make check-long: planned arrivals for every runtime, both compilers, 2 to 64 threads, 2 to 8 ranks: times within 1 ms or 1% of the
# programs' own, orders right, every episode counted. THREADS="2 8" chooses.
. "$top_srcdir/tests/lib.sh"
need_recording
. "$top_srcdir/tests/phases/lib.sh"
threads=${THREADS:-2 4 8 16 32 64}

for cc in gcc clang; do
    command -v "$cc" >/dev/null 2>&1 || continue
    $cc -g -O2 -o "pthreads-$cc" "$programs/pthreads.c" -lpthread
    $cc -g -O2 -I"$top_srcdir/hpcprof/recorder/include" -o "own-$cc" "$programs/own.c" -lpthread
    $cc -g -O2 -fopenmp -o "openmp-$cc" "$programs/openmp.c" 2>/dev/null ||
        $cc -g -O2 -fopenmp -L/usr/lib/llvm-14/lib -o "openmp-$cc" "$programs/openmp.c" 2>/dev/null
    for n in $threads; do
        step=2
        [ "$n" -le 16 ] || step=1
        [ ! -x "pthreads-$cc" ] || planned "$cc, pthreads, $n threads" pthreads.c "./pthreads-$cc" "$n" 3 $step <<END
first FIRST pthread_barrier_wait
second SECOND pthread_barrier_wait
END
        [ ! -x "own-$cc" ] || planned "$cc, hpcview.h, $n threads" own.c "./own-$cc" "$n" 3 $step <<END
named NAMED hpcview.h
anonymous ANONYMOUS hpcview.h loop
END
        [ ! -x "openmp-$cc" ] || planned "$cc, OpenMP, $n threads" openmp.c "./openmp-$cc" "$n" 3 $step <<END
barrier BARRIER omp barrier
dynamic DYNAMIC omp barrier
single SINGLE omp barrier
join - omp parallel end
END
    done
done

for mpi in mpich openmpi; do
    if ! mpi_programs $mpi; then
        skip "$mpi" "not here, or it runs nothing: $(head -n 1 err)"
        continue
    fi
    for n in 2 4 8; do mpi_planned $mpi $n; done
done
done_testing
