#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Metric blocks: the same metric by PAPI's names and perf's, the blocks proposed for a measurement, the events requested for a block.
. "$top_srcdir/tests/lib.sh"
cd "$scratch" || exit 99

# NAME COLUMNS ROW: a measurement of one line
table() {
    printf '%s\n' "$3" >"$1.txt"
    "$hpcview" import table -c "file,line,procedure,$2" -o "$1.hpcprof" "$1.txt" || exit 99
}
value() { # METRIC INPUT...
    metric=$1
    shift
    "$hpcview" print --by program --format csv "$@" 2>/dev/null | awk -F , -v m="$metric" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == m) at = i }
        NR == 2 { if (!at) print "none"; else printf "%.6g\n", $at }'
}

table papi PAPI_TOT_CYC,PAPI_TOT_INS,PAPI_L1_DCM,PAPI_LST_INS,PAPI_BR_CN,PAPI_BR_MSP 'a.c 1 f 3000 2000 50 1000 200 10'
table perf cycles:u,instructions:u,L1-dcache-load-misses:u,L1-dcache-loads:u 'a.c 1 f 3000 2000 50 1000'
for input in papi perf; do
    check_equal "$input: CPI" "$(value CPI --metrics cpi $input.hpcprof)" 1.5
    check_equal "$input: L1_MISS_RATE" "$(value L1_MISS_RATE --metrics cache $input.hpcprof)" 0.05
    check_equal "$input: L1_MPKI" "$(value L1_MPKI --metrics cache $input.hpcprof)" 25
done
table valgrind Ir,Dr,Dw,D1mr,D1mw,DLmr,DLmw 'a.c 1 f 2000 700 300 40 10 4 1'
check_equal "valgrind: reads and writes together" "$(for m in L1_MISS_RATE L1_MPKI L3_MISS_RATE L3_MPKI; do value $m --metrics cache valgrind.hpcprof; done | xargs)" "0.05 25 0.1 2.5"
check_equal "papi: BRANCH_MISS_RATE" "$(value BRANCH_MISS_RATE --metrics branch papi.hpcprof)" 0.05
check_equal "no block, no metric" "$(value CPI papi.hpcprof)" none
check_equal "runs of both kinds stand side by side" \
    "$(value papi.CPI --metrics cpi papi.hpcprof perf.hpcprof) $(value perf.CPI --metrics cpi papi.hpcprof perf.hpcprof)" "1.5 1.5"
# Equal metrics with different names are compared; if nothing is common, a message explains that.
check_equal "a difference of cycles by both names" "$(value PAPI_TOT_CYC.difference --diff papi.hpcprof perf.hpcprof) $(value PAPI_L1_DCM.ratio --diff papi.hpcprof perf.hpcprof)" "0 1"
check_equal "and of none that mean something else" "$(value PAPI_BR_CN.difference --diff papi.hpcprof perf.hpcprof)" none
table other OTHER 'a.c 1 f 7'
run "$hpcview" print --diff papi.hpcprof other.hpcprof
check_match "runs without a common event" "$err" "BASE and NEW have no event in common*"
run "$hpcview" print --metrics branch perf.hpcprof
check_match "what cannot be computed is said" "$err" "no metric of the block 'branch' can be computed"
run "$hpcview" print --metrics cpj perf.hpcprof
check_match "an unknown block: the nearest" "$err" "no metric block 'cpj'; did you mean 'cpi'?"

# ---- top-down: the parts of all slots are all of them
table skx 'CPU_CLK_UNHALTED.THREAD,IDQ_UOPS_NOT_DELIVERED.CORE,UOPS_ISSUED.ANY,UOPS_RETIRED.RETIRE_SLOTS,INT_MISC.RECOVERY_CYCLES' \
    'a.c 1 f 1000 400 2200 2000 25'
check_equal "Skylake: front end" "$(value TD_FRONTEND --metrics topdown skx.hpcprof)" 0.1
check_equal "Skylake: retiring" "$(value TD_RETIRING --metrics topdown skx.hpcprof)" 0.5
check_equal "Skylake: bad speculation" "$(value TD_BAD_SPECULATION --metrics topdown skx.hpcprof)" 0.075
check_equal "Skylake: back end" "$(value TD_BACKEND --metrics topdown skx.hpcprof)" 0.325
table spr 'slots,topdown-fe-bound,topdown-bad-spec,topdown-retiring,topdown-be-bound,INT_MISC.UOP_DROPPING,topdown-mem-bound' \
    'a.c 1 f 1000 100 50 250 600 0 450'
check_equal "ready-made: memory" "$(value TD_MEMORY --metrics topdown2 spr.hpcprof)" 0.45
check_equal "ready-made: core" "$(value TD_CORE --metrics topdown2 spr.hpcprof)" 0.15
table neoverse 'CPU_CYCLES,STALL_SLOT,STALL_SLOT_FRONTEND,STALL_SLOT_BACKEND,OP_RETIRED,OP_SPEC' 'a.c 1 f 1000 4000 1000 3000 900 1000'
check_equal "Neoverse: retiring" "$(value TD_RETIRING --metrics topdown-arm neoverse.hpcprof)" 0.45
check_equal "Neoverse: back end" "$(value TD_BACKEND --metrics topdown-arm neoverse.hpcprof)" 0.375

# ---- init proposes metrics for the available events, and build uses the same ones
run "$hpcview" init papi.hpcprof
check_match "init: the block" "$(cat hpcview.xml)" '<metrics block="cpi"/>'
check_match "init: what is in it" "$(cat hpcview.xml)" 'CPI = PAPI_TOT_CYC / PAPI_TOT_INS: cycles per instruction'
check "init: no block of other events" sh -c '! grep -q "block=\"faults\"" hpcview.xml'
"$hpcview" build -o with hpcview.xml 2>/dev/null
"$hpcview" build -o without papi.hpcprof 2>/dev/null
check "a build without a configuration is as with that" diff -r with without
"$hpcview" build -o own papi.hpcprof -m 'CPI = 1' 2>/dev/null
check_match "a metric of one's own keeps its name" "$(cat own/index.html)" '"name":"CPI","display_name":"CPI","unit":"","description":"","formula":"1"'
cat >c.xml <<'END'
<hpcview version="1">
  <run measurements="papi.hpcprof"/>
  <measured event="PAPI_TOT_CYC"/>
  <metrics block="cpi"/>
  <computed name="WASTE" formula="CPI - 0.25"/>
  <metrics block="caches"/>
</hpcview>
END
run "$hpcview" print c.xml
check_match "a block that is not there: the file's line" "$err" "c.xml:6: no metric block 'caches'; did you mean 'cache'?"
sed -i '/caches/d' c.xml
check_equal "formulas use a block's metrics" "$(value WASTE c.xml)" 1.25

# ---- invalid blocks
mkdir -p share/metrics
for bad in '<metrics><block name="b"><computed name="X" formula="Y"/></block></metrics>' '<metrics><what/></metrics>' \
    '<metrics><quantity name="a"/></metrics>' '<metrics><block name="b"><computed name="X" formula="1 +"/></block></metrics>'; do
    printf '%s' "$bad" >share/metrics/bad.xml
    run env HPCVIEW_SHARE=share "$hpcview" print --metrics b papi.hpcprof
    check "$bad: one sentence, status 1" test "$status" = 1 -a "$(printf '%s\n' "$err" | grep -c .)" = 1
done

# ---- recording
run "$hpcview" events --metrics
check_match "events --metrics lists blocks" "$out" "cpi            Cycles per instruction"
run "$hpcview" record -e @cpj -o x -- /bin/true
check "record of an unknown block: status 2" test "$status" = 2
if "$hpcview" record -e @faults -o faults.m -- /bin/true >/dev/null 2>&1; then
    run "$hpcview" info faults.m
    check_match "record asks for what a block wants" "$out" "perf::PAGE-FAULTS"
    run env HPCVIEW_COUNTERS=1 "$hpcview" record -e @faults -o groups.m -- /bin/true
    times=$(find groups.m -name '*.hpcprof' | wc -l | tr -d ' ')
    check "a block's events that do not fit: the program is run for each group" test "$times" -gt 1
    check_match "which is said" "$err" "running the program $times times"
    run env HPCVIEW_COUNTERS=1 "$hpcview" record -e perf::PAGE-FAULTS -e perf::TASK-CLOCK -o single.m -- /bin/true
    check_match "events of one's own that do not fit are an error" "$err" "--repeat runs the program once for each group"
else
    skip "record asks for what a block wants" "no page faults can be sampled here"
fi
done_testing
