#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Parallel runs: wrappers and launchers are not ranks, all ranks use one folder, two starts are kept separate, a missing
# rank is named, and messages common to all ranks are printed once.
. "$top_srcdir/tests/lib.sh"
cd "$scratch" || exit 99

kinds=
for kind in .mpich .openmpi; do
    command -v "mpicc$kind" >/dev/null && command -v "mpirun$kind" >/dev/null && kinds="$kinds $kind"
done
if [ -z "$kinds" ]; then
    need mpicc mpirun
    kinds=/
fi
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_btl

cat >work.c <<'END'
#include <mpi.h>
#include <time.h>
int main(int n, char **v)
{
    volatile double x = 1;
    struct timespec t;
    MPI_Init(&n, &v);
    do { /* 60 ms of CPU time: 15 samples */
        for (int i = 0; i < 10000; i++)
            x = x * 0.999 + 0.1;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while (t.tv_sec == 0 && t.tv_nsec < 60000000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END

for kind in $kinds; do
    kind=${kind%/} name=${kind#.}
    rm -rf ./*.measurements* ./*.db* work m chosen sampled
    "mpicc$kind" -g -o work work.c 2>compiled || { not_ok "a program compiles with ${name:-MPI}" "$(cat compiled)"; continue; }
    mpirun=mpirun$kind

    # a shell, env and nice before the program, which the recorder sees all
    run timeout 100 "$mpirun" -n 2 "$hpcview" record -o m -- sh -c 'env A=1 nice -n 1 ./work; true'
    check "$name: wrapped ranks are recorded" test "$status" = 0
    "$hpcview" print --by program --statistics ranks --format csv m 2>warnings | csv_rows >rows
    check_equal "$name: two ranks, not their shells" \
        "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^count/) at = i } NR == 2 { print $at, $5 }' rows)" "2 work"
    check_equal "$name: nobody is missing" "$(grep -c missing warnings)" 0

    # a second start of the program
    run timeout 100 "$mpirun" -n 2 "$hpcview" record -o m -- ./work
    check "$name: another start does not write to the same folder" test "$status" != 0
    check "$name: and it is said why" grep -q 'm: the folder contains ranks of an earlier start' err
    # without -o: one folder for all ranks, and another one for the next start
    for time in 1 2; do
        run timeout 100 "$mpirun" -n 2 "$hpcview" record -- ./work
        check_equal "$name: start $time says once where it is" "$(grep -c 'next: hpcview print hpcview-work' err)" 1
    done
    check_equal "$name: a folder for each start, with two ranks" \
        "$(for d in hpcview-work.measurements hpcview-work-2.measurements; do find $d -name '*.hpcprof' | wc -l; done | tr '\n' ' ')" "2 2 "
    cp hpcview-work-2.measurements/*.hpcprof hpcview-work.measurements
    run "$hpcview" print hpcview-work.measurements
    check "$name: two starts are not added up" grep -q 'contains the ranks of two starts' err
    run timeout 100 "$mpirun" -n 3 "$hpcview" record -o chosen --ranks 0,2-9 -- ./work
    check_equal "$name: only chosen ranks leave a file" "$status $(ls chosen | sed 's/.*[.]\([0-9]*\)[.]hpcprof/\1/' | sort | tr '\n' ' ')" "0 0 2 "
    run "$hpcview" print chosen
    check_equal "$name: the others are not missing" "$status $(grep -c missing err)" "0 0"
    run timeout 100 "$mpirun" -n 4 "$hpcview" record -o sampled --sample-ranks 2 -- ./work
    check_equal "$name: a sample of two ranks" "$status $(ls sampled | wc -l) $(ls sampled/*.0.hpcprof | wc -l)" "0 2 1"
    rm hpcview-work-2.measurements/*.1.hpcprof
    "$hpcview" print hpcview-work-2.measurements >/dev/null 2>err
    check "$name: a missing rank is named" grep -q '1 of the 2 ranks are missing: 1$' err

    # run, and build without MPI
    rm -r hpcview-work*
    run timeout 100 "$mpirun" -n 2 "$hpcview" run -- ./work
    check_equal "$name: run builds once" "$status $(ls -d hpcview-work*.db) $(grep -c 'open hpcview' err)" "0 hpcview-work.db 1"
    check_equal "$name: and takes its marks away" "$(find hpcview-work.measurements -name '.done*' | wc -l)" 0
    if ! grep -q 'define HAVE_MPI' "$top_builddir/config.h"; then
        run timeout 100 "$mpirun" -n 3 "$hpcview" build -o again.db m
        check_equal "$name: build without MPI builds once and says so once" "$status $(grep -c 'built without MPI' err) $(grep -c 'open again' err)" "0 1 1"
    fi
done
done_testing
