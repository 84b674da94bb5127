#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcview doctor: a line for each kind of measurement, with a remedy for each that fails, and correct results.
. "$top_srcdir/tests/lib.sh"
: "${CC:=cc}"

# state NAME: yes or no in the last output
state() { printf '%s\n' "$out" | awk -v name="$1" '{ what = substr($0, 6, 18); sub(/ *$/, "", what) } what == name && $1 != "->" { print $1 }'; }

run "$hpcview" doctor
check_equal "it examines all" "$status $err" "0 "
check "each line is yes or no, each no has a cure, no yes has one" awk '
    /^(yes|no) / { if (no) exit bad = 1; no = $1 == "no"; next }
    /^ *-> [^ ]/ { if (!no) exit bad = 1; no = 0; next }
    { exit bad = 1 }
    END { exit bad || no }' "$scratch/out"
events=$("$hpcview" events | sed -n 's/^\(perf::TASK-CLOCK\|PAPI_TOT_CYC\) .*/\1/p')
case $events in *TASK-CLOCK*) expected=yes ;; *) expected=no ;; esac
check_equal "time, as events lists it" "$(state time)" "$expected"
case $events in *PAPI_TOT_CYC*) expected=yes ;; *) expected=no ;; esac
check_equal "counters, as events lists them" "$(state 'hardware counters')" "$expected"
check_equal "the recorder" "$(state recorder)" yes
run env HPCVIEW_LIB=/nowhere "$hpcview" doctor
check_equal "no recorder" "$(state recorder)" no
run env PATH="$scratch" "$hpcview" doctor
check_equal "no compiler, no QEMU" "$(state 'C compiler') $(state 'hpcview simulate')" "no no"
printf 'int main(void) { return 0; }\n' >"$scratch/app.c"
if $CC -g -o "$scratch/app" "$scratch/app.c" && $CC -s -o "$scratch/stripped" "$scratch/app.c"; then
    run "$hpcview" doctor "$scratch/app"
    check_equal "a program with lines" "$(state lines)" yes
    run "$hpcview" doctor "$scratch/stripped"
    check_equal "a program without" "$(state lines)" no
else
    skip "lines of programs" "no C compiler here"
fi
done_testing
