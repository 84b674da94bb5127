#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fifty runs of one program, with another period each, for the host to see how far their samples are from the truth.
. "$top_srcdir/tests/counters/inside/inside.sh"
paranoid -1
mkdir -p "$PWD/measured/runs"
run=0
while [ $run -lt 50 ]; do
    record run -e "PAPI_TOT_CYC@$((100003 + 734 * run))" -- "$programs/branches" 3000
    [ "$status" = 0 ] && cp -r "$scratch/run" "$PWD/measured/runs/$run"
    run=$((run + 1))
done
check_equal "50 runs are recorded" "$(ls "$PWD/measured/runs" | wc -l)" 50
done_testing
