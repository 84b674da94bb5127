#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Hardware counters that overflow, in guests that have some (guest.sh). COUNTERS=all: everything, on each processor, which takes minutes;
# else only tests that take seconds.
. "$top_srcdir/tests/lib.sh"
. "$top_srcdir/tests/counters/guest.sh"
. "$top_srcdir/tests/counters/host.sh"
[ -x "$hpcview" ] || skip_all "hpcview is not built"
need qemu-aarch64
guest_prepare || skip_all "$guest_lacks"
if ! guest_build; then
    not_ok "what records is cross-built" "$(tail -n 20 "$arm64/make.log")"
    done_testing
fi

# A guest that does not boot is detected, and the last console lines give the reason; so is one that hangs.
mkdir "$scratch/no-boot" "$scratch/hangs"
if guest_run "$scratch/no-boot" "neoverse-n1" 'true' "rdinit=/nowhere"; then
    not_ok "a guest that cannot boot is noticed"
else
    check_match "a guest that cannot boot is noticed, with the console's last lines" "$guest_lacks" "Kernel panic"
fi
if [ "${COUNTERS-}" = all ]; then
    GUEST_SECONDS=20
    if guest_run "$scratch/hangs" "neoverse-n1" 'sleep 100000'; then
        not_ok "a guest that hangs is ended"
    else
        check_match "a guest that hangs is ended" "$guest_lacks" "the guest did not "
    fi
    unset GUEST_SECONDS
fi

# Missing tools are named, and the test is skipped.
run env ARM_CC=no-such-compiler sh "$top_srcdir/tests/counters/counters.sh"
check_match "a compiler that is missing: skipped, with the reason" "$out" "1..0 # SKIP no no-such-compiler here"
echo 'Dir::Etc::sourcelist "/dev/null"; Dir::Etc::sourceparts "/dev/null";' >"$scratch/apt.conf"
run env APT_CONFIG="$scratch/apt.conf" HPCVIEW_GUEST="$scratch/no-packages" sh "$top_srcdir/tests/counters/counters.sh"
check_match "packages that cannot be downloaded: skipped, with the reason" "$out" "1..0 # SKIP Debian's arm64 packages cannot be downloaded: "

short='n1 exact ring,papi short neoverse-n1 -icount shift=1
a57 exact papi short cortex-a57 -icount shift=1'
all='n1 exact ring,papi exact,record,names,contend,metrics neoverse-n1 -icount shift=1
a57 exact ring,papi exact,record,names,contend,metrics cortex-a57 -icount shift=1
n1-again exact ring,papi exact neoverse-n1 -icount shift=1
a57-again exact ring,papi exact cortex-a57 -icount shift=1
n1-two - ring,papi names,record,contend neoverse-n1 -smp 2
a57-two - ring,papi names,record,contend cortex-a57 -smp 2
n1-fast exact ring,papi wrap neoverse-n1 -icount shift=5
a57-fast exact ring,papi wrap cortex-a57 -icount shift=5
n1-runs exact ring errors neoverse-n1 -icount shift=1
n1-heat exact ring heat neoverse-n1 -icount shift=1
max exact ring names,record,paths max -icount shift=1
max-papi exact papi names max -icount shift=1
n1-installed exact ring installed neoverse-n1 -icount shift=1
a76 exact ring,papi names cortex-a76 -icount shift=1'

if [ "${COUNTERS-}" = all ]; then
    # (if it cannot be cross-compiled, the guest's test reports it)
    guest_make heat >"$arm64/heat.log" 2>&1
    installed_in "$scratch/n1-installed"
    in_guests "$all"
    for one in n1:neoverse-n1 a57:cortex-a57; do
        COUNTED_CPU=${one#*:} one=${one%:*}
        export COUNTED_CPU
        check_exact $one "$scratch/$one/measured" ring papi
        check_paths $one "$scratch/$one/measured" ring papi
        check_metrics $one "$scratch/$one/measured" ring papi
        # Two runs are identical: the recording depends only on the program.
        while read -r program _; do
            for sampler in ring papi; do
                for time in $one $one-again; do
                    "$hpcview" print -f csv --by instruction "$scratch/$time/measured/$program.$sampler" >"$scratch/$time.csv" 2>/dev/null
                done
                check_same "$one-again, $sampler, exact: $program: two runs are the same to the byte" "$scratch/$one-again.csv" "$scratch/$one.csv"
            done
        done <"$top_srcdir/tests/counters/programs.list"
    done
    COUNTED_CPU=neoverse-n1
    check_paths max "$scratch/max/measured" ring
    check_errors n1-runs "$scratch/n1-runs/measured"
    check_heat n1-heat "$scratch/n1-heat/measured"
    print_table "$all"
else
    in_guests "$short"
    if count_executed callers 500; then
        for sampler in ring papi; do
            compare_shares "n1, $sampler, short: callers" "$scratch/n1/measured/callers.$sampler" 200003 line
        done
    else
        not_counted
    fi
fi
done_testing
