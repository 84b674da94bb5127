#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Metric blocks: the events of each that exist here, for the host to compute with.
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1
mkdir -p "$PWD/measured"
for block in cpi cache branch topdown-arm; do
    record "$block" -e "@$block" -- "$programs/vector" 20000
    if [ "$status" = 0 ]; then
        ok "@$block is recorded"
        cp -r "$scratch/$block" "$PWD/measured/$block.$SAMPLER"
    else
        check_match "@$block: what it lacks is named" "$err" "$block"
    fi
done
record zero -e PAPI_TOT_CYC@200003 -e L1D_CACHE_REFILL@1009 -- "$programs/vector" 1000
cp -r "$scratch/zero" "$PWD/measured/zero.$SAMPLER"
# The ring's events are opened one after the other, a few instructions apart. With PAPI, cycles lead the group, so that their overflow stops both
# until its handler ends; that of instructions stops these alone, and PAPI's handler and ours take 30,000 cycles a sample.
info=$("$hpcview" info "$PWD/measured/cpi.$SAMPLER")
uncounted=100
[ "$SAMPLER" = ring ] || uncounted=$((100 + 40000 * $(figure PAPI_TOT_INS samples)))
within "@cpi: the cycles counted are twice the instructions" "$(figure PAPI_TOT_CYC counted)" $((2 * $(figure PAPI_TOT_INS counted))) $uncounted
done_testing
