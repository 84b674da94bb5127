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

# A guest that does not boot is noticed, and the console's last lines say why.
mkdir "$scratch/no-boot"
if guest_run "$scratch/no-boot" "neoverse-n1" 'true' "rdinit=/nowhere"; then
    not_ok "a guest that cannot boot is noticed"
else
    check_match "a guest that cannot boot is noticed, with the console's last lines" "$guest_lacks" "Kernel panic"
fi

if [ "${COUNTERS-}" = all ]; then
    in_guest n1 "neoverse-n1 -icount shift=1" 1 "ring papi" names record contend exact
    check_exact neoverse-n1 "$scratch/n1/measured" ring papi
    check_paths neoverse-n1 "$scratch/n1/measured" ring papi
    check_stall "$scratch/n1/measured"
    if guest_make heat >"$arm64/heat.log" 2>&1; then
        in_guest heat "neoverse-n1 -icount shift=1" 1 "ring papi" heat
        check_heat "$scratch/heat/measured"
    else
        skip "heat" "it cannot be cross-built: $(tail -n 1 "$arm64/heat.log")"
    fi
    in_guest a57 "cortex-a57 -icount shift=1" 1 "ring papi" names record contend exact
    COUNTED_CPU=cortex-a57 check_exact cortex-a57 "$scratch/a57/measured" ring papi
    check_paths cortex-a57 "$scratch/a57/measured" ring papi
    in_guest n1-two "neoverse-n1 -smp 2" '' "ring papi" names record contend
    in_guest a57-two "cortex-a57 -smp 2" '' "ring papi" names record contend
    in_guest max "max -icount shift=1" 1 ring names record paths
    check_paths "max, signed return addresses" "$scratch/max/measured" ring
    in_guest max-papi "max -icount shift=1" 1 papi names
    in_guest a76 "cortex-a76 -icount shift=1" 1 "ring papi" names
    # The same twice: what is recorded depends on nothing but the program.
    in_guest n1-again "neoverse-n1 -icount shift=1" 1 "ring papi" exact
    while read -r program _; do
        for sampler in ring papi; do
            for time in n1 n1-again; do
                "$hpcview" print -f csv --by instruction "$scratch/$time/measured/$program.$sampler" >"$scratch/$time.csv" 2>/dev/null
            done
            check_same "$program, $sampler: two runs are the same to the byte" "$scratch/n1-again.csv" "$scratch/n1.csv"
        done
    done <"$top_srcdir/tests/counters/programs.list"
else
    in_guest n1 "neoverse-n1 -icount shift=1" 1 "ring papi" short
    in_guest a57 "cortex-a57 -icount shift=1" 1 papi short
    in_guest n1-two "neoverse-n1 -smp 2" '' ring short
    if count_executed callers 500; then
        for sampler in ring papi; do
            compare_shares "$sampler, callers" "$scratch/n1/measured/callers.$sampler" 200003 line
        done
    else
        not_counted
    fi
fi
done_testing
