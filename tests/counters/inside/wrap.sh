#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Counters of 32 bits that wrap. Each instruction takes 32 cycles here (-icount shift=5), so that a program reaches 2^32 of them in a second. The first
# event of cycles has the counter of 64 bits, the second one of 32.
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1
cycles=5120000000 # of 160 million instructions
other=CPU_CYCLES
record short -e PAPI_TOT_CYC@200000003 -e $other@300000007 -- "$programs/shares" 10000
if [ "$status" = 1 ]; then
    check_match "one counter for two names: PAPI's are not sampled together" "$err" "$other does not fit with them"
    other=perf::CYCLES
    record short -e PAPI_TOT_CYC@200000003 -e $other@300000007 -- "$programs/shares" 10000
fi
# allowance SAMPLES: the start, 7,000 instructions by the ring and 14,000 by PAPI, and with PAPI 17,000 in its handler and ours for each sample of the other
# event: the kernel stops only the counter that overflowed.
allowance() { [ "$SAMPLER" = ring ] && echo 400000 || echo $((600000 + 600000 * ${1:-0})); }
within "PAPI_TOT_CYC: 2^32 are not the end" "$(figure PAPI_TOT_CYC counted)" $cycles "$(allowance "$(figure $other samples)")"
within "$other: 2^32 are not the end" "$(figure $other counted)" $cycles "$(allowance "$(figure PAPI_TOT_CYC samples)")"
for event in PAPI_TOT_CYC $other; do
    is_whole "$event, beyond 2^32" $event 1
done
check_match "periods of hundreds of millions: whole call paths" "$info" "100.00% complete"
record long -e PAPI_TOT_CYC@200000003 -e CPU_CYCLES@4600000007 -- "$programs/shares" 10000
if [ "$SAMPLER" = papi ]; then
    check_match "a period above 2^31: PAPI's limit" "$err" "CPU_CYCLES@4600000007: PAPI supports periods up to 2147483647"
else
    check_equal "a period above 2^32: its sample" "$(figure CPU_CYCLES samples)" 1
    within "a period above 2^32: its total" "$(figure CPU_CYCLES counted)" $cycles 400000
fi
done_testing
