# SPDX-License-Identifier: BSD-3-Clause
# hpcview compare with real programs: one that does twice as much, the same one twice, one that fails. Differences are far more
# than any load of the machine; tests/compare/trials.py tries small differences.
. "$top_srcdir/tests/lib.sh"

cd "$scratch" || exit 99
${CC-cc} --version >/dev/null 2>&1 || skip_all "no C compiler here"
"$hpcview" record -o probe -e perf::TASK-CLOCK@1000000 -- /bin/true >probe.log 2>&1 || skip_all "no clock can be sampled here"
${CC-cc} -O1 -g -o base "$top_srcdir/tests/compare/ten.c" && ${CC-cc} -O1 -g -DSLOWER=100 -o slow "$top_srcdir/tests/compare/ten.c" ||
    skip_all "the program does not compile"
compare() { run "$hpcview" compare -e perf::TASK-CLOCK@200000 --warm-up 0 "$@"; }

third=$(grep -n 'LOOP(third)' "$top_srcdir/tests/compare/ten.c" | cut -d: -f1)
compare --threshold 20 --pairs 8 --keep kept -f json --report report.json -o db -- ./base 60 -- ./slow 60
check "twice as much work: status 3" test "$status" = 3
check_match "the page is announced" "$err" '*db/index.html*'
check "it is there" test -f db/index.html
check "the measurements are kept" test -d kept/base/4 -a -d kept/new/4
check "the base's runs and the new one's are compared" "$hpcview" print --diff --by function kept/base kept/new
if command -v python3 >/dev/null; then
    check_equal "JSON: the verdict, and the loop that changed" "$(python3 - <<'END'
import json
r = json.load(open('report.json'))
print(r['verdict'], r['pairs'][0]['new_cpu'] > r['pairs'][0]['base_cpu'],
      *sorted(s['scope'] for s in r['scopes'] if s['changed'] and s['difference']['mean'] > 0.3 * r['scopes'][0]['base']))
END
)" "worse True loop ten.c:$third in third third at ten.c:$third"
else
    skip "JSON" "no python3 here"
fi

compare --threshold 60 -f junit --base './base 60' -- ./base 60
check "the same program: status 0" test "$status" = 0
check_match "JUnit: no failure" "$out" '*<testsuite*failures="0" skipped="0"*'
compare --threshold 20 --pairs 4 -f sarif -- ./base 60 -- ./slow 60
check_match "SARIF: at its line" "$out" "*\"uri\":\"*ten.c\"*\"startLine\":$third*"
compare --threshold 20 --pairs 4 -f markdown -- ./base 60 -- ./slow 60
check_match "Markdown" "$out" '\*\*Worse by more than 20%: CPU time +*| wall time |*'

compare --pairs 4 -- ./base 5 -- ./base 5 fails
check "a program that fails: status 1" test "$status" = 1
check_match "as is said" "$err" '*failed*--failures*'
compare --pairs 4 -- ./base 5 -- ./nowhere
check "a program that is not there: status 1" test "$status" = 1
compare -- ./base 5
check "one program alone: status 2" test "$status" = 2
compare --threshold much -- ./base -- ./slow
check "a threshold that is none: status 2" test "$status" = 2
compare --keep kept -- ./base 5 -- ./base 5
check_match "a folder that is there" "$err" '*kept*'
done_testing
