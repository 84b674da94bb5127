#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The commands of doc/design/diagnosis.md, and its claims about their output: a boundary update with a bad stride, found by experiments
# (Periscope's crystal growth); a time step of 90 loops of which 8 matter, searched by functions and with loops (Paradyn's OM3); the
# properties of loops by line (MAQAO).
. "$top_srcdir/tests/lib.sh"
need cc
need_recording
cp -r "$top_srcdir/share/examples/papers" "$scratch/papers" && chmod -R u+w "$scratch/papers"
cd "$scratch/papers" || exit 99
keep() {
    case $1 in
    *property-first*) printf "%s\n" "$out" >boundary.out && printf "%s\n" "$err" >boundary.err ;;
    *boundary.x.db) printf "%s\n" "$out" >boundary.db.out ;;
    *functions*) printf "%s\n" "$out" >functions.out ;;
    esac
}
run_document "$top_srcdir/doc/design/diagnosis.md" keep
check "the document has its commands" test "$(wc -l <commands)" -ge 10

if "$hpcview" simulate -o true.m -- true >simulated 2>&1; then
    check "the third experiment is simulated" grep -q "simulated memory .* of bound$" boundary.err
    chain=$(sed -n '/The search/,$p' boundary.out | grep ' true ' | grep -E 'CPUBound: the program|HotLoop: .*in bound|(FirstLevelMisses|LowSpatialUse): .*in bound')
    comment "$chain"
    check_equal "from the program to its hot loop to its misses to how they use what they bring" \
        "$(printf '%s\n' "$chain" | sed 's/ *\([0-9]\)  true .*% \([A-Za-z]*\):.*/\1 \2/' | tr '\n' ' ')" "1 CPUBound 1 HotLoop 3 FirstLevelMisses 3 LowSpatialUse "
    check "to the array" grep -q "Poor spatial locality: UN" boundary.out
    check "the database beside the measurements has the findings" grep -q "Poor spatial locality: UN" boundary.db.out
else
    skip "a boundary update by experiments" "nothing can be simulated here: $(tail -n 1 simulated)"
fi
check "the page is there" test -f boundary.x.db/index.html

# tests, true ones, leaves (true ones without true refinements)
count() { # STRATEGY
    "$hpcview" diagnose -p . --strategy "$1" --format graph timestep.m 2>/dev/null >"$1.dot"
    awk '/label="Bottleneck/ { match($0, /s[0-9]+/); id = substr($0, RSTART, RLENGTH); n++; if (/\\ntrue/) { t[id] = 1; m++ } }
         / -> / { sub(/;/, ""); if ($3 in t) inner[$1] = 1 }
         END { for (i in t) if (!inner[i]) leaves++; print n + 0, m + 0, leaves + 0 }' "$1.dot"
}
functions=$(count functions)
loops=$(count loop-aware)
comment "time step of 90 loops: strategy, tested, bottlenecks, leaves"
comment "functions   $functions"
comment "loop-aware  $loops"
check "by functions, the search ends at time_step" test "$(grep -c 'Bottleneck\\n.*time_step\\ntrue' functions.dot)" = 1
leaves=${loops##* }
check "with loops, it ends at the eight that matter" test "$leaves" -ge 8 -a "$leaves" -le 10
twelfth=$(grep -n 'LOOP 12 ' timestep.c | cut -d : -f 1)
check "the twelfth among them" grep -q "loop at timestep.c:$twelfth\\\\ntrue" loop-aware.dot
check "what is false prunes what is in it" grep -q "places in it  (from" functions.out
run "$hpcview" diagnose -p . --strategy loop-aware --experiments 2 timestep.m
check_match "a limit on rounds: what was open is said" "$out" "not reached"

"$hpcview" print --table loop_checks --format csv kernels.m 2>/dev/null | csv_rows |
    awk -F '\t' 'NR > 1 { of[$4] = of[$4] " " $6 } END { for (line in of) print line of[line] }' | sort -n >table
comment "properties by loop and line:"
comment "$(cat table)"
for word in division indirect chain; do
    line=$(grep -n "/\* $word \*/" kernels.c | cut -d : -f 1)
    check "$word is said of the loop at line $line" grep -q "^$line .*$word" table
done
done_testing
