#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every allocation, open, read, write, mapping, rename and thread that fails, in turn, over the whole way: record (in hpcview, and
# inside the program), simulate, structure, quality, import, info, init, print, build, diagnose, export; and the process killed (SIGKILL) at every
# one that makes, writes or names a file. No crash, no hang, one sentence and status 1, or the result as it is without the failure (perhaps
# with a warning); nothing half done left behind, and what was there before stays. Killed: the result is whole or absent, and the next try is
# not hindered.
#
#   torture.sh [-n CASES] [-k KINDS] [-c COMMANDS]     -n: for each command and kind at most that many, evenly picked (all)
#
# top_builddir and top_srcdir say where; a table of what was tried and what failed is printed, and the status is 1 where something did.
top_builddir=$(cd "${top_builddir:-.}" && pwd) top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
hpcview=$top_builddir/driver/hpcview
most=1000000 kinds="memory open read write map rename thread" commands="structure quality import info init print build diagnose export record recorder simulate"
while getopts n:k:c: opt; do
    case $opt in
    n) most=$OPTARG ;;
    k) kinds=$OPTARG ;;
    c) commands=$OPTARG ;;
    *) exit 2 ;;
    esac
done
LC_ALL=C
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ulimit -c 0
cd "$work" || exit 1
export LC_ALL XDG_CACHE_HOME=$work/cache
${CC:-cc} -O1 -shared -fPIC -o fail.so "$top_srcdir/tests/torture/fail.c" 2>cc.err || {
    echo "fail.so cannot be made: $(head -n 1 cc.err)"
    exit 77
}

# ---- input files ------------------------------------------------------------------------------------------
program=$work/burns
printf 'volatile double x;\n__attribute__((noinline)) static void spin(long n)\n{\n  for (long i = 0; i < n; i++)\n    x = x * 1.000001 + 1;\n}\nint main(void)\n{\n  spin(3000000);\n  return 7;\n}\n' >burns.c
${CC:-cc} -O1 -g -o burns burns.c || exit 1
"$hpcview" record -o m -e CPUTIME@1000 -- ./burns 2>/dev/null
# the same for the simulation: a few thousand accesses, preceded by hooks
sed 's/3000000/3000/' burns.c >refers.c
commands=" $commands "
if ! "$top_builddir/mhsim/hpcview-cc" -O1 -g -o refers refers.c 2>cc.err; then
    echo "simulate is left out: $(head -n 1 cc.err)"
    commands=${commands/ simulate / }
fi
mkdir -p given && mv m given/m && cp "$top_srcdir/tests/filters/callgrind.example" given/ || exit 1

# command NAME: the command to run, in an empty folder; its results are the files in it
command_of() {
    case $1 in
    structure) echo "$hpcview structure -o out.xml $program" ;;
    import) echo "$hpcview import callgrind $work/given/callgrind.example -o out.hpcprof" ;;
    info) echo "$hpcview info --threads $work/given/m" ;;
    init) echo "$hpcview init -o out.xml $work/given/m" ;;
    print) echo "$hpcview print --by line -o out.txt $work/given/m" ;;
    build) echo "$hpcview build -o out.db $work/given/m" ;;
    record) echo "$hpcview record -o out -e CPUTIME@1000 -- $program" ;;
    recorder) echo "$hpcview record -o out -e CPUTIME@1000 -- $program" ;;
    quality) echo "$hpcview quality --no-llvm-mca -o out.txt $program" ;;
    diagnose) echo "$hpcview diagnose -o out.txt $work/given/m" ;;
    export) echo "$hpcview export -o out.pprof pprof $work/given/m" ;;
    simulate) echo "$hpcview simulate -m year-2001 -o out -- $work/refers" ;;
    esac
}

# run_with TORTURE NAME: status, out, err and the files left
run_with() {
    rm -rf "$work/place" && mkdir "$work/place" && cd "$work/place" || exit 1
    [ "$2" = recorder ] && in=burns || in=hpcview
    # shellcheck disable=SC2046
    { timeout 60 env LD_PRELOAD="$work/fail.so" TORTURE="$1" TORTURE_IN=$in TORTURE_LOG="$work/log" $(command_of "$2") \
        >"$work/out" 2>"$work/err" </dev/null; } 2>/dev/null # "Killed"
    status=$?
    cd "$work" || exit 1
    files=$(cd place && find . -mindepth 1 | sort | sed -E 's/(burns|refers)\.[^/]*/PROGRAM/g' | tr '\n' ' ')
}

# The bytes of a measurement differ between runs; all other files must be identical.
digest() { (cd place && find . -type f ! -name '*.hpcprof' -print0 | sort -z | xargs -0 -r cat) | cksum; }

tried=0 wrong=0
complain() { # NAME CASE WHY
    wrong=$((wrong + 1))
    echo "$1, $2 fails: $3: $(head -c 300 err | tr '\n' '|')"
}

# judge NAME CASE: the run at hand
judge() {
    words=$(grep -vc '^hpcview: warning: ' err)
    # it shows the valid files, and the reason for each invalid one
    [ "$1" = info ] && grep -q 'cannot be used: ' out && words=1
    case $1/$status in
    record/7 | recorder/7 | simulate/7)
        # the program ran, so its measurement is valid, or a message gives the reason
        [ "$1" = record ] || [ "$1" = simulate ] || [ -s out ] || [ -z "$(ls place/out 2>/dev/null)" ] || "$hpcview" info place/out >info.out 2>&1 ||
            { [ $? -le 1 ] && grep -q . info.out; } || complain "$1" "$2" "info ends with $?"
        ;;
    */0)
        if [ "$files" != "$want_files" ] || [ "$(digest)" != "$want_digest" ]; then
            grep -q 'warning: ' err || complain "$1" "$2" "status 0 with another result and no word ($files)"
        fi
        ;;
    */1)
        [ "$words" = 1 ] || complain "$1" "$2" "status 1 with $words sentences"
        case $1 in
        # (after the program's end: its measurement exists, and the message concerns something else)
        record | simulate) [ -z "$(ls place/out 2>/dev/null)" ] || "$hpcview" info place/out >info.out 2>&1 || complain "$1" "$2" "info ends with $?" ;;
        *) [ -z "$files" ] || complain "$1" "$2" "left behind: $files" ;;
        esac
        ;;
    *) complain "$1" "$2" "status $status" ;;
    esac
}

# judge_killed NAME CASE: the current run. Partial files have other names than the result.
judge_killed() {
    case $1 in
    record | recorder | simulate)
        # the program continues, or continued, unrecorded
        [ -z "$(ls place/out 2>/dev/null)" ] || "$hpcview" info place/out >info.out 2>&1 || { [ $? = 1 ] && grep -q . info.out; } || complain "$1" "$2" "info ends with $?"
        return
        ;;
    esac
    [ "$status" = 137 ] || judge "$1" "$2" # it was done before it came there
    result=${want_files%% *}
    find place -mindepth 1 -maxdepth 1 ! -name "${result#./}" -exec rm -rf {} +
    files=$(cd place && find . -mindepth 1 | sort | tr '\n' ' ')
    [ -z "$files" ] || { [ "$files" = "$want_files" ] && [ "$(digest)" = "$want_digest" ]; } || complain "$1" "$2" "half of it is there: $files"
}

printf '%-10s' command
for kind in $kinds; do printf ' %12s' "$kind"; done
echo
for name in $commands; do
    row=$(printf '%-10s' "$name")
    for kind in $kinds; do
        run_with "$kind:0" "$name" && : # twice, so that caches are warm
        run_with "$kind:0" "$name"
        want_files=$files want_digest=$(digest) total=$(cat log 2>/dev/null || echo 0)
        [ -f log ] || complain "$name" "$kind, of which nothing" "it ended with $status before anything was tried"
        rm -f log
        [ "$total" -gt 0 ] || { row="$row $(printf '%12s' -)" && continue; }
        step=$(((total + most - 1) / most)) before=$wrong cases=0
        for ((n = 1; n <= total; n += step)); do
            for how in "" + !; do
                case $kind$how in memory! | read! | thread!) continue ;; esac
                rm -rf "$XDG_CACHE_HOME"
                run_with "$kind:$n$how" "$name"
                [ "$how" = ! ] && judge=judge_killed || judge=judge
                $judge "$name" "$kind $n$how of $total"
                cases=$((cases + 1))
            done
        done
        tried=$((tried + cases))
        row="$row $(printf '%12s' "$cases/$((wrong - before))")"
    done
    echo "$row"
done
echo "tried $tried, wrong $wrong"
[ $wrong = 0 ]
