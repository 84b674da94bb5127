#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A thousand properties over a million places; the lower bound is the time of the same conditions as metric formulas, by
# one thread.
. "$top_srcdir/tests/bench/lib.sh"
speed=$top_builddir/tests/bench/diagnose_speed
places=${PLACES-1000000}
properties=${PROPERTIES-1000}
for round in 1 2 3; do "$speed" "$places" "$properties"; done >"$scratch/times" || exit 1
echo "$properties properties over $places places: the conditions as metrics $(field "$scratch/times" 1) s; diagnosed by one thread" \
    "$(field "$scratch/times" 2) s, by all $(field "$scratch/times" 3) s; $(field "$scratch/times" 4) findings"
row "diagnosis over its formulas, one thread" \
    "$(awk '{ print $2 / $1 }' "$scratch/times" | median)" "$(field "$scratch/times" 2)"
