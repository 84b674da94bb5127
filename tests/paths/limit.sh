#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# More paths than the limit (here some hundred contexts): the least visited ones are cut, even if they came first; no
# sample is lost, and cuts are counted.
# shellcheck disable=SC2086 # "ccache gcc" is a compiler too
. "$top_srcdir/tests/lib.sh"
need_recording
programs=$top_srcdir/tests/paths/programs
: "${CC:=cc}"
command -v ${CC%% *} >/dev/null 2>&1 || skip_all "no C compiler here"
$CC -O2 -g -fomit-frame-pointer -I"$programs" -o "$scratch/many" -pthread "$programs/many.c" "$programs/known.c" 2>"$scratch/err" || {
    not_ok "many.c compiles" "$(cat "$scratch/err")"
    done_testing
    exit
}

# limited NAME MOST EVENT: the recorder alone, with the given limit
limited() {
    rm -rf "$scratch/m"
    mkdir "$scratch/m"
    LD_PRELOAD=$top_builddir/libhpcview-record.so HPCVIEW_RECORD="dir=$scratch/m
$3
paths=1
paths_max=$2" "$scratch/many" >"$scratch/told"
    "$hpcview" info "$scratch/m" >"$scratch/info" 2>&1
    "$hpcview" print --by path --format csv "$scratch/m" >"$scratch/paths.csv" 2>"$scratch/err"
    # in hundredths of the total: below main, below outer, cut; time in outer as printed by the program
    awk -F, 'NR == FNR { ms = $0 + 0; split($0, w, " "); told += ms; if ($0 ~ / outer /) outer += ms; next }
        $2 == "program" { all = $(NF - 1) } $2 == "procedure" && $6 == "main" { main += $(NF - 1) } $2 == "procedure" && $6 == "outer" { below += $(NF - 1) } /,"?\[path cut: more paths than are kept/ { cut += $(NF - 1) }
        END { if (all) printf "%d %d %d %d\n", 100 * main / all, 100 * below / all, 100 * cut / all, 100 * outer / told }' "$scratch/told" "$scratch/paths.csv" >"$scratch/shares"
    read -r main below cut told <"$scratch/shares" || {
        not_ok "$1" "$(cat "$scratch/info" "$scratch/err")"
        return
    }
    contexts=$("$top_builddir/tests/paths/dump" "$scratch/m" | wc -l)
    comment "$1: main $main%, outer $below% of its $told%, cut $cut%, $contexts paths; $(grep -c . "$scratch/paths.csv") rows"
    check "$1: what stays keeps all it called" test "$main" -ge 60
    check "$1: a path that came late, and is gone often, is whole" test "$below" -ge $((told * 3 / 4))
    check "$1: what is cut is counted" test "$cut" -gt 5
    check_match "$1: info and the measurement say so" "$(cat "$scratch/info")" "*more call paths than are kept*[0-9]%*path cut: more paths than are kept*"
    check "$1: there are no more than that" test "$contexts" -le "$2"
    awk -F, '$2 == "line" && $NF != "" { n[$3 "," $4 "," $5] += $NF } END { for (l in n) print l, n[l] }' "$scratch/paths.csv" | sort >"$scratch/leaves"
    "$hpcview" print --by line --format csv "$scratch/m" 2>/dev/null | awk -F, '$1 == "line" && $NF != "" { n[$2 "," $3 "," $4] += $NF } END { for (l in n) print l, n[l] }' | sort >"$scratch/lines"
    check_same "$1: the leaves of paths are the flat profile" "$scratch/leaves" "$scratch/lines"
    "$hpcview" export folded "$scratch/m" 2>/dev/null >"$scratch/folded"
    check_equal "$1: stacks for other tools say it too, and are the same in all" \
        "$(awk '{ n += $NF } END { print n }' "$scratch/lines") $(grep -c '^many;.*main;.*;\[path cut: more paths than are kept\];' "$scratch/folded" | sed 's/^[1-9].*/some/')" "$(awk '{ n += $NF } END { print n }' "$scratch/folded") some"
    check "$1: no sample is lost" sh -c "! grep -q ' lost' '$scratch/info'"
}

limited timer 500 "event=CPUTIME;CPU time;us;2000;0;2;0;0;0;0;0"
if "$hpcview" record --sampler ring -e perf::TASK-CLOCK -o "$scratch/try" -- true >/dev/null 2>&1; then
    limited ring 1000 "event=perf::TASK-CLOCK;time;ns;2000000;0;0;1;1;0;0;0"
else
    skip "ring" "no perf events here"
fi
done_testing
