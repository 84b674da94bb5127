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
info=$("$hpcview" info "$PWD/measured/cpi.$SAMPLER")
within "@cpi: the cycles counted are twice the instructions" "$(figure PAPI_TOT_CYC counted)" $((2 * $(figure PAPI_TOT_INS counted))) 1000000
done_testing
