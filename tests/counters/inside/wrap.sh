#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Counters of 32 bits that wrap. Each instruction takes 32 cycles here (-icount shift=5), so that a program reaches 2^32 of them in a second. The first
# event of cycles has the counter of 64 bits, the second one of 32.
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1
cycles=5120000000 # of 160 million instructions
record short -e PAPI_TOT_CYC@200000003 -e CPU_CYCLES@300000007 -- "$programs/shares" 10000
for event in PAPI_TOT_CYC CPU_CYCLES; do
    within "$event: 2^32 are not the end" "$(figure $event counted)" $cycles 16000000
    # (if PAPI maps both names to one event, they share a counter and a period)
    [ "$SAMPLER" = papi ] || is_whole "$event, beyond 2^32" $event 1
done
check_match "periods of hundreds of millions: whole call paths" "$info" "100.00% complete"
record long -e PAPI_TOT_CYC@200000003 -e CPU_CYCLES@4600000007 -- "$programs/shares" 10000
if [ "$SAMPLER" = papi ]; then
    check_match "a period above 2^31: PAPI's limit" "$err" "CPU_CYCLES@4600000007: PAPI supports periods up to 2147483647"
else
    check_equal "a period above 2^32: its sample" "$(figure CPU_CYCLES samples)" 1
    within "a period above 2^32: its total" "$(figure CPU_CYCLES counted)" $cycles 16000000
fi
done_testing
