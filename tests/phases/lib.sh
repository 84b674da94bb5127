# SPDX-License-Identifier: BSD-3-Clause
# Shared by tests of phases: programs with planned arrivals print the times at their barriers by their own clocks (programs/planned.h); the recorded ones are the
# same. Life: . tests/lib.sh; . tests/phases/lib.sh; planned WHAT SOURCE COMMAND <<END ... END
programs=$top_srcdir/tests/phases/programs
cd "$scratch" || exit 99

line_of() { grep -n -e "/\* $2 \*/" -e "! $2\$" "$programs/$1" | cut -d : -f 1; }

# barriers COLUMNS...: of the measurement, the line first
barriers() {
    "$hpcview" print --table "${table-barriers}" --format csv m 2>/dev/null | csv_rows | awk -F '\t' -v want="place.line $*" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, w, " "); next }
        { out = ""; for (i = 1; i <= n; i++) out = out (i > 1 ? " " : "") $at[w[i]]; print out }'
}

# record COMMAND: into m; the program's own output goes to said. $launcher (mpirun ...) starts the recorder.
record() {
    rm -rf m
    # shellcheck disable=SC2086
    run ${launcher-} "$hpcview" record --phases -o m -- "$@"
    printf '%s\n' "$out" >said
    barriers kind episodes threads barrier idle phase >seen
    "$hpcview" print --table arrivals --format csv m >arrivals 2>/dev/null
}

# agree NAME LINE KIND (no line: any): 0: within 1 ms or 1% of the program's own times; counts must be equal
agree() {
    awk -v name="$1" -v line="$2" -v kind="$3" '
        function close_to(a, b,   d) { d = a > b ? a - b : b - a; return d <= 1 || d <= b / 100 }
        FNR == NR { if ($1 == name) { episodes = $2; threads = $3; barrier = $4; idle = $5; phase = $6 } next }
        { n = NF; k = $2; for (i = 3; i <= n - 5; i++) k = k " " $i }
        (line == "" || $1 == line) && k == kind && $(n - 4) == episodes && $(n - 3) == threads { found = 1
            exit !(close_to($(n - 2) / 1e6, barrier) && close_to($(n - 1) / 1e6, idle * 1) && (phase == 0 || close_to($n / 1e6, phase))) }
        END { if (!found) exit 2 }' said seen
}

# ordered NAME LINE: the order of arrival in all kept episodes: each of the program's threads corresponds to one
# recorded thread, always the same, and arrives in its turn. If two arrived within 0.2 ms, their order is not checked.
ordered() {
    awk -F '[ ,]' -v name="$1" -v line="$2" '
        FNR == NR { if ($1 == "order" && $2 == name) for (i = 4; i <= NF; i++) { split($i, a, "@"); who[$3, i - 3] = a[1]; at[$3, i - 3] = a[2] } next }
        index($1, ":" line) && $1 ~ (":" line "$") {
            for (i = 1; i <= NF; i++) if ($i ~ /^#[0-9]+$/) { episode = substr($i, 2); break }
            thread = ""; for (i++; i <= NF - 3; i++) thread = thread " " $i
            k = $(NF - 2); p = who[episode, k]
            if (p == "") exit bad = 1
            if ((k > 1 && at[episode, k] - at[episode, k - 1] < 0.2) || (((episode, k + 1) in at) && at[episode, k + 1] - at[episode, k] < 0.2)) next
            if ((p in is) && is[p] != thread) exit bad = 1
            is[p] = thread; seen++ }
        END { exit bad || !seen }' said arrivals
}

# planned WHAT PROGRAM-SOURCE COMMAND: each line on input: NAME LABEL KIND. A disturbance between the program's clock
# reading and the barrier is not an error: those lines are retried. Counts must be right each time.
planned() {
    planned_what=$1 planned_source=$2
    shift 2
    cat >plan
    for attempt in 1 2 3 4 5 6; do
        record "$@"
        : >again
        miscounted=
        while read -r name label kind; do
            line=$(line_of "$planned_source" "$label")
            result=0
            agree "$name" "$line" "$kind" || result=$?
            [ "$result" != 0 ] || [ -z "$line" ] || ordered "$name" "$line" || result=1
            [ "$result" = 0 ] || echo "$name $label $kind" >>again
            [ "$result" != 2 ] || miscounted="$miscounted $name"
        done <plan
        [ -z "$miscounted" ] || break
        mv again plan
        [ -s plan ] || break
    done
    if [ -n "$miscounted" ]; then
        not_ok "$planned_what: every episode is counted" "not so:$miscounted; said: $(cat said) seen: $(cat seen) $err"
    elif [ -s plan ]; then
        skip "$planned_what: the program's own times and order" "the machine is too busy; episodes were counted right six times"
    else
        ok "$planned_what: the program's own times and order, every episode counted"
    fi
}

# Open MPI requires explicit permission to run as root and to oversubscribe (version 4's variables, version 5's
# variables).
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_rmaps_default_mapping_policy

# mpi_planned MPI RANKS: collectives with planned arrivals, C, Fortran by the modules mpi and mpi_f08
mpi_planned() {
    launcher="timeout 120 mpirun.$1 -n $2"
    [ ! -x "c-$1" ] || planned "$1, C, $2 ranks" mpi.c "./c-$1" "${EPISODES-3}" "${STEP-2}" <<END
barrier BARRIER MPI_Barrier
allreduce ALLREDUCE MPI_Allreduce
allgather ALLGATHER MPI_Allgather
allgatherv ALLGATHERV MPI_Allgather
alltoall ALLTOALL MPI_Alltoall
alltoallv ALLTOALLV MPI_Alltoall
alltoallw ALLTOALLW MPI_Alltoall
scatter SCATTER MPI_Reduce_scatter
block BLOCK MPI_Reduce_scatter
duplicate DUPLICATE MPI_Barrier
END
    for module in mpi f08; do
        [ ! -x "$module-$1" ] || planned "$1, Fortran, $module, $2 ranks" mpi.f90 "./$module-$1" <<END
barrier BARRIER MPI_Barrier
allreduce ALLREDUCE MPI_Allreduce
allgather ALLGATHER MPI_Allgather
alltoall ALLTOALL MPI_Alltoall
block BLOCK MPI_Reduce_scatter
END
    done
    launcher=
}

# mpi_programs MPI: those that can be built here; false: it is not installed, or cannot run programs
mpi_programs() {
    command -v "mpirun.$1" >/dev/null && command -v "mpicc.$1" >/dev/null && mpicc."$1" -g -O1 -o "c-$1" "$programs/mpi.c" 2>err &&
        timeout 60 mpirun."$1" -n 2 "./c-$1" 1 0 >out 2>err || return 1
    command -v "mpif90.$1" >/dev/null || return 0
    mpif90."$1" -cpp -g -O1 -o "mpi-$1" "$programs/mpi.f90" 2>err
    mpif90."$1" -cpp -DF08 -g -O1 -o "f08-$1" "$programs/mpi.f90" 2>err
    return 0
}
