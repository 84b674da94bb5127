#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every situation a recorded program may get into (programs/): its output and exit status stay the same, and the measurement accounts for
# the time it used: totals cover the CPU time burned, and samples agree with them.
. "$top_srcdir/tests/lib.sh"
need_recording
programs=$top_srcdir/tests/record/programs
: "${CC:=cc}"
command -v $CC >/dev/null 2>&1 || skip_all "no C compiler here"
event=perf::TASK-CLOCK@1000000 # a thousand samples a second: three hundred in the shortest program

build() { # NAME [FLAGS]
    build_name=$1
    shift
    $CC -O1 -g -I"$programs" -I"$top_srcdir/hpcprof/recorder/include" -o "$scratch/$build_name" "$programs/$build_name.c" -pthread "$@" \
        2>"$scratch/cc.err" || {
        not_ok "$build_name compiles" "$(cat "$scratch/cc.err")"
        return 1
    }
}

# number_after WORD: of the last info
number_after() { awk -v w="$1" '$1 == w && $2 ~ /^[0-9]+$/ { n += $2 } END { printf "%d", n }' "$scratch/info"; }

# record_both NAME ARGS: without and with recording. The measurement is $scratch/m, the output of info $scratch/info;
# $record_options are added.
record_both() {
    both_name=$1
    shift
    bare_status=0
    (cd "$scratch" && timeout 60 "./$both_name" "$@") >"$scratch/bare.out" 2>"$scratch/bare.err" </dev/null || bare_status=$?
    rm -rf "$scratch/m"
    status=0
    stolen=$(stolen_ms)
    # shellcheck disable=SC2086
    (cd "$scratch" && timeout 60 "$hpcview" record -o "$scratch/m" -e "$event" ${record_options-} -- "./$both_name" "$@") \
        >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    stolen=$(($(stolen_ms) - stolen))
    read_info
    [ -z "${processes-}" ] || until_ended "$processes"
}
# until_ended N: waits until this many processes have ended, even without a parent that waits; ten seconds at most.
until_ended() {
    for turn in $(seq 50); do
        [ "$(grep -c '^process ' "$scratch/info")" -lt "$1" ] || grep -q 'or still running' "$scratch/info" || return 0
        sleep 0.2
        read_info
    done
}
read_info() {
    info_status=0
    "$hpcview" info --threads "$scratch/m" >"$scratch/info" 2>"$scratch/info.err" || info_status=$?
    burned=$(sed -n 's/^burned //p' "$scratch/out")
    counted=$(awk '$1 == "counted" { n += $2 } END { printf "%d", n / 1e6 }' "$scratch/info")
    sampled=$(awk '$1 == "sampled" { n += $2 } END { printf "%d", n / 1e6 }' "$scratch/info")
}
unchanged() { [ "$status" = "$bare_status" ] && cmp -s "$scratch/bare.out" "$scratch/out"; }
# what_was_burned [LEAST-PERCENT]: the measurement is sound and accounts for the burned time; stolen time is counted but
# not sampled.
what_was_burned() {
    [ "$info_status" = 0 ] && [ "${counted:-0}" -ge $((burned * 97 / 100)) ] && [ "$sampled" -le $((counted * 110 / 100)) ] &&
        [ "${sampled:-0}" -ge $(((counted > burned + stolen ? counted - stolen : burned) * ${1:-70} / 100)) ]
}
# A thread's PAPI counters are readable only by itself, and one that ends by the system call gives no notice: only its
# samples exist.
samples_alone() {
    [ "$info_status" = 0 ] && [ "${sampled:-0}" -ge $((burned * 70 / 100)) ] && [ "$sampled" -le $((burned * 130 / 100)) ]
}
# CPUTIME is in microseconds and comes at the kernel's ticks.
cpu_time() {
    sed -i 's/^\(  counted *[0-9]*\) us/\1000 ns/; s/^\(  sampled *[0-9]*\) us/\1000 ns/' "$scratch/info"
    counted=$(awk '$1 == "counted" { n += $2 } END { printf "%d", n / 1e6 }' "$scratch/info")
    sampled=$(awk '$1 == "sampled" { n += $2 } END { printf "%d", n / 1e6 }' "$scratch/info")
    what_was_burned 60
}

judge_same() {
    if unchanged; then
        ok "$case_name: output and exit status ($status) are the same"
    else
        not_ok "$case_name: output and exit status are the same" "status $bare_status, recorded $status
$(diff "$scratch/bare.out" "$scratch/out" | head -5)
$(head -5 "$scratch/err")"
    fi
}
judge_accounts() { # PREDICATE
    if "$@"; then
        ok "$case_name: $sampled ms sampled, $counted counted, $burned burned"
    elif grep -q 'not enough locked memory' "$scratch/info"; then
        skip "$case_name: the measurement accounts for all" "others of this user hold what rings may lock, and it says so"
    else
        not_ok "$case_name: the measurement accounts for all" "burned '$burned', counted '$counted', sampled '$sampled', stolen '$stolen', info status $info_status
$(cat "$scratch/info.err") $(head -40 "$scratch/info")"
    fi
}
# same NAME ARGS: the program's behaviour is unchanged.
same() { record_both "$@" && judge_same; }
# same_and PREDICATE NAME ARGS: and the predicate holds for the measurement, which a busy machine can spoil.
same_and() {
    predicate=$1
    shift
    for try in 1 2 3; do
        record_both "$@"
        unchanged && ! $predicate || break
    done
    judge_same
    judge_accounts "$predicate"
}

has() { # WHAT PATTERN: in the info
    if grep -q -e "$2" "$scratch/info"; then
        ok "$case_name: $1"
    else
        not_ok "$case_name: $1" "'$2' is not in: $(cat "$scratch/info")"
    fi
}

situation() { # CASE PROGRAM [ARGS]
    case_name=$1
    shift
    same_and what_was_burned "$@"
}

for name in threads main_leaves_first many_threads forks execs spawns daemon signals own_timer closes moves exits killed generated waits; do
    build "$name" || continue
done

situation "threads of all kinds" threads
check "threads of all kinds: each has its row" test "$(grep -c '^thread' "$scratch/info")" -ge 5
situation "the main thread leaves first" main_leaves_first
has "the end was seen" "ended  *with exit status 0"

case_name="10,000 short threads"
same many_threads
has "all are there" "threads  *10001"
check "10,000 short threads: the file is below 1 MiB" test "$(cat "$scratch"/m/*.hpcprof | wc -c)" -lt 1048576

situation "fork" forks
check "fork: a file for each process" test "$(ls "$scratch/m" | wc -l)" = 3
has "the child's own exit status" "exit status 4"
situation "exec" execs
check "exec: a file for each program" test "$(ls "$scratch/m" | wc -l)" = 5
has "what became another program" "executed another program"
situation "posix_spawn, vfork, system, popen" spawns
processes=2
situation "a daemon" daemon "$scratch/done"
processes=
situation "signals blocked, handled, ignored" signals
situation "a profiling timer of its own" own_timer
situation "every descriptor closed" closes
mkdir "$scratch/jail" && chmod 755 "$scratch" "$scratch/jail"
situation "other directory, root and user" moves "$scratch/jail"
situation "code without a file" generated

for how in return exit _exit quick_exit abort segv term; do
    situation "ends by $how" exits $how
    case $how in
    abort) has "the signal" "by signal 6" ;;
    segv) has "the signal" "by signal 11" ;;
    term) has "the signal" "by signal 15" ;;
    *) has "the status" "with exit status 1" ;;
    esac
done
case_name="stack overflow"
same exits overflow
case_name="ends by SIGKILL"
same_and what_was_burned exits kill
has "the signal, which the launcher saw" "ended  *by signal 9, before"
has "and when" "finished  *2"
situation "a child and what the program became end by SIGKILL" killed
has "nobody saw how the child ended" "ended  *unknown: killed"
has "what the program was before" "ended  *executed another program"
check "$case_name: one has the signal" test "$(grep -c 'ended  *by signal 9, before' "$scratch/info")" = 1

# ---- ends by the system call itself: the kernel ends a process with its last thread, and that is not the recorder's -------
build raw_ends
for how in alone strict others-first first last then-exit then-exec clone; do
    case_name="raw ends: $how"
    # (a clone without notice is found after a tenth of a second)
    if [ $how = clone ]; then same raw_ends $how; else same_and what_was_burned raw_ends $how; fi
    has "the end was seen" "ended  *with exit status $bare_status"
done
case_name="every descriptor closed by the system call"
same closes raw
check "$case_name: samples go on" test "$(awk '$1 == "sampled" { printf "%d", $2 / 1e6 }' "$scratch/info")" -gt 800
"$hpcview" print --by module --format csv "$scratch/m" >"$scratch/print" 2>&1
check "$case_name: and have a place" test "$(awk -F, '/unknown/ { print $NF }' "$scratch/print" | grep -c '[1-9]')" = 0
has "what is missing" "missing .*closed descriptors of the recorder"

# Complaints of a program's sanitizer or of valgrind. (record's warning about time without samples, on a busy machine,
# does not count.)
no_complaints() {
    grep -Ev '^hpcview: (warning: .* of the counts were sampled|next: |[0-9]+ samples? in )' "$scratch/err" >"$scratch/complaints"
    check "$case_name: no complaints" cmp "${1-/dev/null}" "$scratch/complaints"
    [ ! -s "$scratch/complaints" ] || comment "$(head -n 20 "$scratch/complaints")"
}

# ---- under sanitizers ----------------------------------------------------------------------------------------------
for sanitizer in address thread; do
    case_name="built with -fsanitize=$sanitizer"
    if build workers -fsanitize=$sanitizer >/dev/null && { "$scratch/workers" >/dev/null 2>&1 || [ $? = 4 ]; }; then
        situation "$case_name" workers
        no_complaints
    else
        skip "$case_name" "the compiler or the system cannot"
    fi
done

# ---- under valgrind: the recorder is in valgrind, and, by valgrind's preloads, in the program memcheck looks at -----------
printf '#!/bin/sh\nexec valgrind -q --error-exitcode=99 --trace-children=yes "$@"\n' >"$scratch/memcheck"
chmod +x "$scratch/memcheck"
# (valgrind requires the C library's symbols, and may not support this machine's newest instructions)
# A quarter of the rate: valgrind runs one thread at a time, so that ours may not be able to empty a ring before the
# end.
# (And without call paths: with a copy of the stack in each sample the ring would be full long before.)
if "$scratch/memcheck" true >/dev/null 2>&1; then
    event=perf::TASK-CLOCK@4000000
    record_options=--no-call-paths
    for name in threads forks signals closes; do
        situation "under valgrind: $name" memcheck ./$name without-timer
        no_complaints "$scratch/bare.err"
        check "under valgrind: $name: the program is recorded" test -n "$(ls "$scratch/m" | grep "^$name")"
    done
    event=perf::TASK-CLOCK@1000000
    record_options=
else
    skip "under valgrind" "no valgrind here, or it does not work"
fi

# ---- the other samplers -------------------------------------------------------------------------------------
record_options="--sampler papi"
if "$hpcview" record -o "$scratch/papi" --sampler papi -- true 2>"$scratch/err"; then
    situation "papi: threads" threads without-timer
    for name in forks execs signals own_timer; do
        situation "papi: $name" $name
    done
    situation "papi: closes" closes papi
    situation "papi: ends by _exit" exits _exit
    case_name="papi: raw ends"
    same_and samples_alone raw_ends alone
else
    skip "papi's sampler in the same situations" "$(head -n 1 "$scratch/err")"
fi
record_options=
event=CPUTIME@4000
case_name="CPUTIME: threads"
same_and cpu_time threads without-timer
for name in forks signals own_timer raw_ends; do
    case_name="CPUTIME: $name"
    same_and cpu_time $name
done
event=REALTIME@4000
case_name="REALTIME: system calls go on"
same waits

# ---- libraries ------------------------------------------------------------------------------------------------
event=perf::TASK-CLOCK@1000000
build_library() { $CC -O1 -g -shared -fPIC -DNAME="$1" -o "$scratch/lib$1.so" "$programs/library.c"; }
if build reload -ldl && build_library first && build_library second; then
    situation "libraries unloaded, addresses used again" reload "$scratch/libfirst.so" "$scratch/libsecond.so"
    "$hpcview" print --by module --format csv "$scratch/m" >"$scratch/print" 2>&1
    first=$(awk -F, '/libfirst/ { print $NF }' "$scratch/print" | head -n 1)
    second=$(awk -F, '/libsecond/ { print $NF }' "$scratch/print" | head -n 1)
    comment "$(grep 'where the one before' "$scratch/err"); first $first, second $second"
    # 300 ms against 100
    check "libraries unloaded: addresses were used again" grep -q '^[1-9][0-9]* of 11 times' "$scratch/err"
    check "libraries unloaded: each has its own counts" awk "BEGIN { exit !($first+0 > 1.8 * ($second+0) && $second+0 > 50000000) }"
    build namespaces -ldl && situation "dlmopen" namespaces "$scratch/libfirst.so"
fi

# ---- regions ------------------------------------------------------------------------------------------------------
# The burned time is accounted for, and each region has about the time that the program spends there.
region() { sed -n "s/^region $1: .* //p" "$scratch/info" | awk '{ printf "%d", $1 / 1e6 }'; }
spent() { [ "$1" -ge $(($2 * 65 / 100)) ] && [ "$1" -le $(($2 * 120 / 100)) ]; }
in_c() { what_was_burned && spent "$(region outer)" 200 && spent "$(region inner)" 100; }
in_cxx() { what_was_burned && spent "$(region outer)" 200; }
in_fortran() { what_was_burned && spent "$(region 'fortran part')" 200; }
regions() { # CASE PREDICATE
    case_name=$1
    same_and "$2" regions
    comment "$(grep '^region' "$scratch/info")"
}
build regions -ldl && regions "regions" in_c
if $CC -O1 -no-pie -fno-pie -I"$programs" -I"$top_srcdir/hpcprof/recorder/include" -o "$scratch/regions" "$programs/regions.c" -ldl 2>/dev/null; then
    regions "regions, not position-independent" in_c
fi
# shellcheck disable=SC2086
if ${CXX:-c++} -O1 -I"$programs" -I"$top_srcdir/hpcprof/recorder/include" -o "$scratch/regions" "$programs/regions.cpp" -ldl 2>"$scratch/cc.err"; then
    regions "regions in C++" in_cxx
else
    skip "regions in C++" "no C++ compiler: $(head -n 1 "$scratch/cc.err")"
fi
# shellcheck disable=SC2086
if (cd "$scratch" && ${FC:-gfortran} -O1 -o regions "$top_srcdir/share/fortran/hpcview.f90" "$programs/regions.f90" -ldl) 2>"$scratch/cc.err"; then
    regions "regions in Fortran" in_fortran
else
    skip "regions in Fortran" "no Fortran compiler: $(head -n 1 "$scratch/cc.err")"
fi

# ---- OpenMP, MPI, static -------------------------------------------------------------------------------------------
if build openmp -fopenmp; then
    situation "OpenMP" openmp
    has "four threads" "threads  *4"
fi
mpicc=mpicc mpirun=mpirun # where there are two of them, the one that runs as root, too
if command -v mpicc.mpich >/dev/null 2>&1; then mpicc=mpicc.mpich mpirun=mpirun.mpich; fi
if command -v $mpicc >/dev/null 2>&1 && command -v $mpirun >/dev/null 2>&1 &&
    $mpicc -O1 -I"$programs" -o "$scratch/ranks" "$programs/ranks.c" 2>/dev/null &&
    $mpirun -n 2 "$scratch/ranks" >/dev/null 2>&1; then
    rm -rf "$scratch/m"
    case_name="two MPI ranks"
    stolen=$(stolen_ms)
    run $mpirun -n 2 "$hpcview" record -o "$scratch/m" -e "$event" -- "$scratch/ranks"
    stolen=$(($(stolen_ms) - stolen))
    check "two MPI ranks: the program's status and output" test "$status/$out" = "0/burned 450"
    read_info
    judge_accounts what_was_burned 60
    check "two MPI ranks: a file each, with the rank in its name" test "$(ls "$scratch"/m/*.0.hpcprof "$scratch"/m/*.1.hpcprof | wc -l)" = 2
    has "rank 1" "rank  *1"
else
    skip "two MPI ranks" "no mpicc and mpirun, or they start nothing here"
fi
if [ -f "$top_builddir/libhpcview-record.a" ] && $CC -static -O1 -g -o "$scratch/plain" "$programs/exits.c" 2>/dev/null; then
    run "$hpcview" record -o "$scratch/n" -- "$scratch/plain"
    check "a static program without recorder is refused" test "$status" = 1
    check_match "and the sentence tells what to do" "$err" "libhpcview-record.a"
    for name in exits threads forks; do
        $CC -static -O1 -g -DHPCVIEW_STATIC -I"$programs" -o "$scratch/$name" "$programs/$name.c" -pthread -L"$top_builddir" \
            "@$top_srcdir/share/static-flags" 2>"$scratch/cc.err" || not_ok "static $name links" "$(cat "$scratch/cc.err")"
    done
    situation "static" exits
    situation "static, ends by _exit" exits _exit
    situation "static, with threads" threads
    situation "static, fork" forks
else
    skip "static programs" "no static C library"
fi
done_testing
