#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A hang, while it lasts: the barrier, the missing thread, and where that one was last seen are reported. One thread works for ever; the
# others wait at a barrier of pthreads, of both OpenMPs, of both MPIs.
. "$top_srcdir/tests/lib.sh"
need_recording
. "$top_srcdir/tests/phases/lib.sh"

# hangs NAME LABEL KIND THREADS COMMAND: two of them come, or three; the last is missing. "thread 2" is rank 2's only one, with MPI
hangs() {
    hangs_name=$1 hangs_place="hangs.c:$(line_of hangs.c "$2")" hangs_kind=$3 hangs_come=$(($4 - 1))
    shift 4
    rm -rf m
    "$@" >said 2>err &
    hangs_pid=$!
    out=
    hangs_turn=0
    while [ $hangs_turn -lt 60 ]; do
        sleep 0.5
        [ ! -d m ] || run timeout 60 "$hpcview" phases --follow --times 1 m
        case $out in *": $hangs_come arrived, 1 missing"*"last seen at hangs.c"*) break ;; esac
        hangs_turn=$((hangs_turn + 1))
    done
    check_match "$hangs_name hangs: where" "$out" "s at $hangs_place in meet ($hangs_kind): $hangs_come arrived, 1 missing"
    check_match "$hangs_name hangs: who is missing, and what it does" "$out" \
        "missing: *, running, last seen at hangs.c:1[0-9] in work_for_ever"
}

gcc -g -O1 -o hangs "$programs/hangs.c" -lpthread || skip_all "no compiler"
hangs "a barrier of pthreads" PTHREAD pthread_barrier_wait 4 "$hpcview" record --phases -o m -- ./hangs
run "$hpcview" phases --follow --every 0.1 --times 2 m
check_equal "--times: it looks twice" "$(printf '%s\n' "$out" | grep -c '1 missing')" 2
file=$(find m -name '*.hpcprof')
head -c $(($(wc -c <"$file") - 7)) "$file" >cut.hpcprof
run "$hpcview" phases cut.hpcprof
check_match "a file that is cut says what it still has" "$out" "hangs.c"
for process in $(pgrep -P "$hangs_pid"); do kill -KILL "$process"; done
wait "$hangs_pid"
run "$hpcview" print --by barrier --format csv m
check_match "killed, the file keeps what was" "$out" "pthread_barrier_wait,,1,3,12,4"

export OMP_WAIT_POLICY=passive
for cc in gcc "clang" "clang -L/usr/lib/llvm-14/lib"; do
    $cc -g -O1 -fopenmp -DOMP -o "hangs-${cc%% *}" "$programs/hangs.c" 2>err
done
for cc in gcc clang; do
    if [ ! -x hangs-$cc ]; then
        skip "a barrier of OpenMP, $cc" "it has none here"
        continue
    fi
    hangs "a barrier of OpenMP, $cc," OMP "omp barrier" 4 "$hpcview" record --phases -o m -- ./hangs-$cc
    for process in $(pgrep -P "$hangs_pid"); do kill -KILL "$process"; done
    wait "$hangs_pid"
    run "$hpcview" print --table barriers --format csv m
    check_match "$cc: killed, every episode is counted" "$out" "omp barrier,,*,3,12,4,"
done

for mpi in mpich openmpi; do
    if ! command -v mpirun.$mpi >/dev/null || ! mpicc.$mpi -g -O1 -DMPI -o hangs-$mpi "$programs/hangs.c" 2>err; then
        skip "a barrier of MPI, $mpi" "not here"
        continue
    fi
    hangs "a barrier of MPI, $mpi," MPI MPI_Barrier 3 mpirun.$mpi -n 3 "$hpcview" record --phases -o m -- ./hangs-$mpi
    check_match "$mpi: the missing one by its rank" "$out" "missing: rank 2 thread 0"
    kill "$hangs_pid"
    wait "$hangs_pid"
done
done_testing
