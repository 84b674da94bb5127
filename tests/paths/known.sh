#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that know their own call paths (programs/): every recorded path is one of theirs, and reaches the first function.
# shellcheck disable=SC2086 # "ccache gcc" is a compiler too
. "$top_srcdir/tests/lib.sh"
need_recording
programs=$top_srcdir/tests/paths/programs
: "${CC:=cc}" "${CXX:=c++}" "${FC:=gfortran}"
command -v ${CC%% *} >/dev/null 2>&1 || skip_all "no C compiler here"

# build NAME COMMAND...: optimized, without frame pointers
build() {
    build_name=$1
    shift
    "$@" -O2 -g -fomit-frame-pointer -I"$programs" -o "$scratch/$build_name" -pthread  2>"$scratch/cc.err"
}

# path_case NAME PROGRAM [ARGS]: with each sampler
path_case() {
    case_name=$1
    program=$2
    shift 2
    for way in ${ways-ring papi timer}; do
        case $way in
        ring) set_event="--sampler ring -e perf::TASK-CLOCK@2000000" ;;
        papi) set_event="--sampler papi -e perf::TASK-CLOCK@2000000" ;;
        timer) set_event="-e CPUTIME@4000" ;;
        esac
        rm -rf "$scratch/m"
        # shellcheck disable=SC2086
        run timeout 100 "$hpcview" record $set_event -o "$scratch/m" -- "$scratch/$program" "$@"
        if [ "$status" != 0 ]; then
            case $err in
            *PAPI*) skip "$case_name, $way" "PAPI cannot sample here" ;;
            *) not_ok "$case_name, $way" "status $status: $err" ;;
            esac
            continue
        fi
        grep '^[0-9]' "$scratch/out" >"$scratch/told"
        for module in "$scratch/$program" "$scratch"/*.so; do
            [ ! -f "$module" ] || nm -n --defined-only -C "$module" | sed "s|^|$(basename "$module") |"
        done >"$scratch/names"
        "$top_builddir/tests/paths/dump" "$scratch/m" >"$scratch/paths"
        if awk -v shares="$([ "$way" = timer ] || echo 1)" -f "$top_srcdir/tests/paths/known.awk" "$scratch/names" "$scratch/told" "$scratch/paths" >"$scratch/verdict"; then
            ok "$case_name, $way: $(tail -n 1 "$scratch/verdict" | sed 's/^# //')"
        else
            not_ok "$case_name, $way" "$(cat "$scratch/verdict")"
        fi
    done
}

# astray CASE WAYS CUT: an invalid stack. The program completes, its samples are present, and CUT states whether their
# paths must be cut (yes, or maybe).
astray() {
    for way in $2; do
        rm -rf "$scratch/m"
        run timeout 100 "$hpcview" record --sampler "$way" -e perf::TASK-CLOCK@2000000 -o "$scratch/m" -- "$scratch/astray" "$1"
        case $err in *PAPI*)
            skip "astray: $1, $way" "PAPI cannot sample here"
            continue
            ;;
        esac
        "$hpcview" info "$scratch/m" >"$scratch/info" 2>/dev/null
        if [ "$status/$out" = "0/came through" ] && awk -v must="$3" '$1 == "samples" { n += $2 } $1 == "paths" && $2 ~ /%$/ { whole = $2 + 0; seen = 1 }
            END { exit !(n >= 20 && seen && (must != "yes" || whole <= 10)) }' "$scratch/info"; then
            ok "astray: $1, $way: $(sed -n 's/^  *\(.*\[path cut.*\)/\1/p' "$scratch/info" | tr '\n' ' ')"
        else
            not_ok "astray: $1, $way" "status $status: $out $err $(cat "$scratch/info")"
        fi
    done
}

# cut_case NAME PROGRAM ARG REASON: the ring's copy does not contain the whole path: it is cut, and info gives the
# reason
cut_case() {
    rm -rf "$scratch/m"
    run timeout 100 "$hpcview" record --sampler ring -e perf::TASK-CLOCK@2000000 -o "$scratch/m" -- "$scratch/$2" "$3"
    "$hpcview" info "$scratch/m" >"$scratch/info" 2>/dev/null
    if [ "$status" = 0 ] && awk -v reason="$4" '$1 == "samples" { n += $2 } index($0, "[path cut: " reason "]") { p = $1 + 0 } END { exit !(n >= 50 && p >= 80) }' "$scratch/info"; then
        ok "$1, ring: cut, $4"
    else
        not_ok "$1, ring: cut, $4" "status $status: $err $(grep -A4 '^  samples' "$scratch/info")"
    fi
}

if build calls $CC "$programs/calls.c" "$programs/known.c"; then
    ways="ring papi"
    for name in mutual sorting signals longjumps tail variable realigned threads coroutine; do
        path_case "$name" calls "$name"
    done
    ways="papi timer" # the whole stack, and the stack that a signal's handler left, are there for handlers alone
    for name in deep other_stack; do
        path_case "$name" calls "$name"
    done
    ways="timer"
    path_case coroutine calls coroutine
    cut_case deep calls deep "a stack larger than the copy"
    cut_case other_stack calls other_stack "on a stack that was not copied"
    ways="timer"
    path_case "mutual" calls mutual
else
    not_ok "calls.c compiles" "$(cat "$scratch/cc.err")"
fi
if build calls $CC -fno-asynchronous-unwind-tables -fno-unwind-tables "$programs/calls.c" "$programs/known.c"; then
    path_case "with .debug_frame alone" calls mutual
fi
if [ -f "$top_builddir/libhpcview-record.a" ] &&
    build calls $CC -static "$programs/calls.c" "$programs/known.c" "-L$top_builddir" "@$top_srcdir/share/static-flags"; then
    path_case "static" calls mutual
else
    skip "static" "no static C library here"
fi
ways="ring papi"
$CC -O2 -g -I"$programs" -c -o "$scratch/known.o" "$programs/known.c"
if build callscc $CXX "$programs/calls.cc" "$scratch/known.o"; then
    for name in virtuals exceptions templates; do
        path_case "$name" callscc "$name"
    done
else
    skip "C++" "no C++ compiler here"
fi
if build resumed $CXX -std=c++20 "$programs/resumed.cc" "$scratch/known.o"; then
    path_case "coroutines of C++" resumed
else
    skip "coroutines of C++" "the compiler has none"
fi
if build tasks $CC -fopenmp "$programs/tasks.c" "$programs/known.c"; then
    path_case "OpenMP tasks" tasks
else
    skip "OpenMP tasks" "no OpenMP here"
fi
if build libplug.so $CC -shared -fPIC "$programs/plug.c" &&
    cp "$scratch/libplug.so" "$scratch/libopened.so" &&
    build plugs $CC "$programs/plugs.c" "$programs/known.c" -rdynamic "-L$scratch" -lplug "-Wl,-rpath,$scratch" -Wl,-z,lazy -ldl; then
    path_case "stubs" plugs
    path_case "libraries opened and closed" plugs "$scratch/libopened.so"
else
    not_ok "plugs.c compiles" "$(cat "$scratch/cc.err")"
fi
if command -v ${FC%% *} >/dev/null 2>&1 && $CC -O2 -g -I"$programs" -c -o "$scratch/names.o" "$programs/names.c" &&
    (cd "$scratch" && build solve $FC -fno-inline "$programs/solve.f90" "$scratch/known.o" "$scratch/names.o"); then
    path_case "Fortran" solve
else
    skip "Fortran" "no Fortran compiler here"
fi
if build astray $CC "$programs/astray.c"; then
    astray nowhere ring yes # where a signal would be the program's end, recorded or not
    astray circles "ring papi" yes
    astray random "ring papi" maybe
    astray gone "ring papi" yes
else
    not_ok "astray.c compiles" "$(cat "$scratch/cc.err")"
fi
if build astray $CC -fsplit-stack "$programs/astray.c" && "$scratch/astray" pieces >/dev/null; then
    astray pieces "ring papi" maybe
else
    skip "split stacks" "the compiler has none"
fi
done_testing
