#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Wrong use and bad luck: one sentence with the fault and the correct usage, before anything is started; and a program that continues when
# its measurement fails.
. "$top_srcdir/tests/lib.sh"
need_recording
programs=$top_srcdir/tests/record/programs
: "${CC:=cc}"
$CC -O1 -I"$programs" -o "$scratch/exits" "$programs/exits.c" || skip_all "no C compiler here"

# refused CASE STATUS PATTERN OPTIONS... : nothing is run, and the message matches the pattern
refused() {
    refused_name=$1 refused_status=$2 refused_pattern=$3
    shift 3
    rm -rf "$scratch/ran" "$scratch/r"
    run "$hpcview" record -o "$scratch/r" "$@"
    if [ "$status" = "$refused_status" ] && [ ! -e "$scratch/ran" ] && [ "$(printf '%s\n' "$err" | wc -l)" = 1 ]; then
        check_match "$refused_name" "$err" "$refused_pattern"
    else
        not_ok "$refused_name" "status $status (wanted $refused_status), $(test -e "$scratch/ran" && echo "the program ran,") stderr: $err"
    fi
}
touch_ran="touch $scratch/ran"

refused "no program" 2 "usage: hpcview record"
refused "a program that is not there" 1 "program not found" -- "$scratch/none"
refused "nor in PATH" 1 "not found in PATH" -- there-is-no-such-program-here
refused "a directory" 1 "a folder, not a program" -- "$scratch"
printf 'text' >"$scratch/text"
refused "a file that may not be executed" 1 "not executable" -- "$scratch/text"
chmod +x "$scratch/text"
refused "neither ELF nor script" 1 "neither an ELF program nor a script" -- "$scratch/text"
printf '#!%s\n' "$scratch/none" >"$scratch/script"
chmod +x "$scratch/script"
refused "a script whose interpreter is not there" 1 "program not found" -- "$scratch/script"
printf '#!%s\n' "$scratch/loop" >"$scratch/loop"
chmod +x "$scratch/loop"
refused "a script that is its own interpreter" 1 "more than four scripts" -- "$scratch/loop"
printf '\177ELF' >"$scratch/cut"
chmod +x "$scratch/cut"
refused "an ELF file cut short" 1 "truncated" -- "$scratch/cut"
head -c 64 "$scratch/exits" >"$scratch/cut"
refused "an ELF file without its program headers" 1 "damaged" -- "$scratch/cut"
{ head -c 18 "$scratch/cut" && printf '\267' && tail -c +20 "$scratch/cut"; } >"$scratch/arm"
chmod +x "$scratch/arm"
refused "a program for another machine" 1 "is for AArch64" -- "$scratch/arm"
if [ "$(id -u)" = 0 ]; then
    cp "$scratch/exits" "$scratch/changes" && chown 1 "$scratch/changes" && chmod 4755 "$scratch/changes"
    refused "a setuid program" 1 "is setuid" -- "$scratch/changes"
else
    skip "a setuid program" "not root"
fi

refused "an unknown event, with the nearest" 2 "did you mean 'perf::TASK-CLOCK'" -e perf::TASK-CLOK -- $touch_ran
refused "period 0" 2 "above 0" -e CPUTIME@0 -- $touch_ran
refused "a negative period" 2 "integer" -e CPUTIME@-4 -- $touch_ran
refused "a period that is no number" 2 "integer" -e CPUTIME@often -- $touch_ran
refused "a period beyond 64 bits" 2 "integer" -e CPUTIME@99999999999999999999 -- $touch_ran
refused "frequency 0" 2 "above 0" -e CPUTIME@f0 -- $touch_ran
refused "no event before the @" 2 "no metric block '400'" -e @400 -- $touch_ran
refused "an event twice" 2 "twice" -e CPUTIME -e CPUTIME@5000 -- $touch_ran
refused "an unknown sampler" 2 "available: papi, ring" --sampler magic -- $touch_ran
refused "two ways at once" 2 "exclude each other" --multiplex --repeat -- $touch_ran

run "$hpcview" record -o "$scratch/small" -e perf::TASK-CLOCK@10 -- true
check "an absurdly small period is raised" test "$status" = 0
check_match "with a warning" "$err" "using a period of"

mkdir "$scratch/home" && touch "$scratch/home/letter"
run "$hpcview" record -o "$scratch/home" -- true
check "a directory with other things in it is refused" test "$status" = 2
check_match "which names one" "$err" "letter"
run "$hpcview" record -o "$scratch/small" -- true
check_match "a directory with a measurement is refused" "$err" "earlier measurement"
run "$hpcview" record -o "$scratch/text/x" -- true
check "a directory that cannot be made" test "$status" = 1
run sh -c "cd '$scratch' && '$hpcview' record -- true && '$hpcview' record -- true"
check "without -o there is a new directory each time" test -d "$scratch/hpcview-true.measurements" -a -d "$scratch/hpcview-true-2.measurements"

run "$hpcview" record -o "$scratch/outer" -- "$hpcview" record -o "$scratch/inner" -- sh -c 'exit 5'
check "hpcview record inside hpcview record" test "$status" = 5
check "each has its own: the inner one the program" test -n "$(ls "$scratch/inner" | grep -v hpcview)" -a -n "$(ls "$scratch/outer" | grep hpcview)"
mkdir "$scratch/a b:c"
cp "$top_builddir/libhpcview-record.so" "$scratch/a b:c/libhpcview-record.so" 2>/dev/null &&
    run env HPCVIEW_RECORDER="$scratch/a b:c/libhpcview-record.so" "$hpcview" record -o "$scratch/a b:c/m" -- true &&
    check "a recorder in a path with blanks and colons" test -n "$(ls "$scratch/a b:c/m" 2>/dev/null)"
run env HPCVIEW_RECORDER="$scratch/none.so" "$hpcview" record -o "$scratch/m0" -- true
check_match "a recorder that is not there" "$err" "recorder library"

# ---- two at the same time ----------------------------------------------------------------------------------------
"$hpcview" record -o "$scratch/both" -- sh -c "until [ -e '$scratch/go' ]; do sleep 0.1; done" 2>/dev/null &
first=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
    [ -n "$(ls "$scratch/both" 2>/dev/null)" ] || sleep 0.3
done
rm "$scratch"/both/* # as empty as it was when the first one looked
run "$hpcview" record -o "$scratch/both" -- touch "$scratch/second"
check_match "a directory into which another one is writing" "$err" "another 'hpcview record'"
check "a directory into which another one is writing: the program did not run" test ! -e "$scratch/second"
touch "$scratch/go"
wait $first

# ---- problems with the file do not affect the program ---------------------------------------------------------
# The limit applies to the program alone: in coverage builds (gcov), the launcher writes files of its own.
run "$hpcview" record -o "$scratch/limited" -e perf::TASK-CLOCK@100000 -- sh -c "ulimit -f 1; exec '$scratch/exits'"
check "a file size limit: the program goes on" test "$status/$out" = "10/burned 300"
printf '#!/bin/sh\n"%s" exits\nrm -rf "%s"\n"%s" _exit\nexit 6\n' "$scratch/exits" "$scratch/gone" "$scratch/exits" >"$scratch/remover"
chmod +x "$scratch/remover"
run "$hpcview" record -o "$scratch/gone" -- "$scratch/remover"
check "the directory is removed meanwhile: the program goes on" test "$status" = 6
if [ "$(id -u)" = 0 ] && mkdir "$scratch/disk" && mount -t tmpfs -o size=8k tmpfs "$scratch/disk" 2>/dev/null; then
    mkdir "$scratch/disk/m"
    run sh -c "'$hpcview' record -o '$scratch/disk/m' -e perf::TASK-CLOCK@100000 -- sh -c '$scratch/exits; $scratch/exits; $scratch/exits; dd if=/dev/zero of=$scratch/disk/full 2>/dev/null; $scratch/exits; exit 6'"
    check "a full disk: the program goes on" test "$status" = 6
    check_equal "a full disk: said once" "$(printf '%s\n' "$err" | grep -c "the disk is full")" 1
    check "a full disk: no empty files" test -z "$(find "$scratch/disk/m" -size 0)"
    run "$hpcview" info "$scratch/disk/m"
    check_match "what was written before is sound" "$out" "all intact"
    rm -rf "$scratch"/disk/m/*
    dd if=/dev/zero of="$scratch/disk/full" 2>/dev/null
    run "$hpcview" record -o "$scratch/disk/m" -e perf::TASK-CLOCK@100000 -- "$scratch/exits"
    check "a disk that was full before: the program's output and status" test "$status/$out" = "10/burned 300"
    check_match "a disk that was full before: why nothing was recorded" "$err" "nothing was recorded: the disk is full"
    check "a disk that was full before: nothing is left" test -z "$(ls -A "$scratch/disk/m")"
    umount "$scratch/disk"
else
    skip "a full disk" "no file system can be mounted"
fi

# ---- choices ----------------------------------------------------------------------------------------------------------
counted() { awk '$1 == "counted" { n += $2 } END { printf "%d", n / 1e6 }' "$scratch/out"; }
run "$hpcview" record -o "$scratch/only" --only 'exit*' -- sh -c "$scratch/exits; true; sleep 0"
check "--only: one file" test "$(ls "$scratch/only")" != "" -a "$(ls "$scratch/only" | grep -vc '^exits')" = 0
run "$hpcview" record -o "$scratch/none" --only nobody -- true
check_match "--only nobody: said" "$err" "no program of that name"
run "$hpcview" record -o "$scratch/alone" --no-children -- sh -c "$scratch/exits; env"
check "--no-children: one file" test "$(ls "$scratch/alone" | wc -l)" = 1
check "--no-children: nothing of ours in the children's environment" test -z "$(printf '%s\n' "$out" | grep -i hpcview-record)"
# Wall time, on a possibly busy machine: the bounds are the program's own readings of its CPU clock (programs/paced.c),
# plus some CPU time before the first and after the last reading, plus stolen time, which the event counts.
$CC -O1 -I"$programs" -o "$scratch/paced" "$programs/paced.c" || not_ok "paced.c compiles"
paced() { # OPTION: $early, $late and $all of a run with it, in ms, what was $counted, and what is $aside
    aside=$(stolen_ms)
    run "$hpcview" record -o "$scratch/paced$1" "$1" 0.6 -- "$scratch/paced" 0.6
    aside=$(($(stolen_ms) - aside + 30))
    early=$(sed -n 's/^early //p' "$scratch/out") late=$(sed -n 's/^late //p' "$scratch/out") all=$(sed -n 's/^all //p' "$scratch/out")
    run "$hpcview" info "$scratch/paced$1"
    counted=$(counted)
}
delayed() {
    rm -rf "$scratch/paced--delay"
    paced --delay
    [ "$counted" -le $((all - early + aside)) ] && [ "$counted" -ge $((all - late - aside)) ]
}
lasted() {
    rm -rf "$scratch/paced--duration"
    paced --duration
    [ "$counted" -ge $((early - aside)) ] && [ "$counted" -le $((late + aside)) ]
}
delayed=no lasted=no
undisturbed delayed && delayed=yes
if [ "$early" -gt $((2 * aside)) ]; then
    check "--delay: $counted ms counted of $all, none of the first $early, all of the last $((all - late))" test $delayed = yes
else
    skip "--delay: what comes before is not counted" "the machine is too busy: the program got $early ms"
fi
undisturbed lasted && lasted=yes
check "--duration: $counted ms counted of $all, the first $early among them, none of the last $((all - late))" test $lasted = yes
run env COLOUR=green "$hpcview" record -o "$scratch/env" --env COLOUR -- true
run "$hpcview" info "$scratch/env"
check_match "--env notes a variable" "$out" "env:COLOUR"
check "and no other" test "$(printf '%s\n' "$out" | grep -c env:)" = 1
run "$hpcview" record -o "$scratch/two" -e perf::TASK-CLOCK -e perf::PAGE-FAULTS -e CPUTIME -- "$scratch/exits"
run "$hpcview" info "$scratch/two"
check "several events at once" test "$(printf '%s\n' "$out" | grep -c '^event')" -ge 3
run "$hpcview" record -o "$scratch/repeat" --repeat -e perf::TASK-CLOCK -e perf::PAGE-FAULTS -- true
check "--repeat" test "$status" = 0

# ---- time in the kernel: sampled if permitted, otherwise reported as missing -----------------------------------
$CC -O1 -I"$programs" -o "$scratch/reads" "$programs/reads.c" || not_ok "reads.c compiles"
mkdir "$scratch/anyone" && chmod 755 "$scratch" && chmod 777 "$scratch/anyone"
# No message, or one that a busy machine left some time without samples: far less than a hidden kernel would. (In
# coverage builds, gcov reports that another user cannot write its counters.)
says_nothing() {
    [ -z "$err" ] || printf '%s\n' "$err" | awk '!/: only [4-7][0-9]% of the counts were sampled; the rest is not attributed to any procedure$/ && !/^profiling:/ && !/^hpcview: ([0-9]+ samples? in|next:) / { other = 1 } END { exit other }'
}
unprivileged=
[ "$(id -u)" != 0 ] || unprivileged="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] &&
    $unprivileged "$hpcview" record -o "$scratch/anyone/try" -e perf::TASK-CLOCK -- "$scratch/exits" exit >/dev/null 2>"$scratch/err"; [ $? = 11 ]; then
    for sampler in ring papi; do
        run $unprivileged "$hpcview" record -o "$scratch/anyone/$sampler" --sampler $sampler -e perf::TASK-CLOCK -- "$scratch/reads"
        [ "$status" = 0 ] || { skip "$sampler, without permission" "$(printf '%s' "$err" | head -n 1)" && continue; }
        check_match "$sampler, without permission: record says what is missing" "$err" "of the counts were sampled"
        run "$hpcview" info "$scratch/anyone/$sampler"
        check_match "$sampler, without permission: info says so" "$err" "of the counts were sampled"
        check_match "$sampler, without permission: and why" "$out" "perf_event_paranoid"
    done
    silent() {
        rm -rf "$scratch/anyone/user"
        run $unprivileged "$hpcview" record -o "$scratch/anyone/user" -e perf::TASK-CLOCK -- "$scratch/exits"
        says_nothing
    }
    check "without permission, a program that stays out of the kernel: nothing is said" undisturbed silent
else
    skip "without permission" "perf_event_paranoid permits all, or nothing, or another user cannot come here: $(head -n 1 "$scratch/err")"
fi
if [ "$(id -u)" = 0 ]; then
    permitted() {
        rm -rf "$scratch/permitted"
        run "$hpcview" record -o "$scratch/permitted" -e perf::TASK-CLOCK -- "$scratch/reads"
        says_nothing
    }
    check "with permission: nothing is said" undisturbed permitted
else
    skip "with permission" "not root"
fi

# ---- damaged and foreign measurements --------------------------------------------------------------------------------------
file=$(echo "$scratch"/two/*.hpcprof)
# In the middle of the first block, however short this machine's names are: no block is complete.
head -c 40 "$file" >"$scratch/short.hpcprof"
run "$hpcview" info "$scratch/short.hpcprof"
check "info: a file cut short has status 1" test "$status" = 1
check_match "and says where" "$out" "cannot be used"
{ head -c 8 "$file" && printf '\011\0\0\0\225\0\0\0'; } >"$scratch/other.hpcprof"
run "$hpcview" info "$scratch/other.hpcprof"
check "info: a header that is wrong has status 1" test "$status" = 1
run "$hpcview" events --all PAPI_L1
check_match "events --all gives reasons" "$out" "PAPI_L1_DCM"
run "$hpcview" events 'perf::*CLOCK'
check "events with a pattern" test "$(printf '%s\n' "$out" | grep -c CLOCK)" = 2
run "$hpcview" events nothing-like-it
check "events: nothing found is status 1" test "$status" = 1
done_testing
