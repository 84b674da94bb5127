#!/bin/sh
# What record --phases costs: a passage of a barrier by two threads, bare and watched; three programs in the manner of SPLASH-2, bare, recorded, and
# recorded with their barriers. ROUNDS (default 5) pairs each.
. "$top_srcdir/tests/bench/lib.sh"
rounds=${ROUNDS:-5}
: "${CC:=cc}"
programs=$top_srcdir/tests/phases/programs
for p in radix lu water; do
    # shellcheck disable=SC2086
    $CC -O2 -g -o "$scratch/$p" "$programs/$p.c" -lpthread -lm || exit 0
done
$CC -O2 -g -o "$scratch/passages" "$programs/passages.c" -lpthread || exit 0
$CC -O2 -g -fopenmp -DOMP -o "$scratch/passages-omp" "$programs/passages.c" -lpthread 2>/dev/null || rm -f "$scratch/passages-omp"

watched() { echo "rm -rf '$scratch/m'; exec '$hpcview' record $1 -o '$scratch/m' -- $2"; }
row "a passage, 2 threads (ns)" bare recorded watched ratio
for p in passages passages-omp; do
    [ -x "$scratch/$p" ] || continue
    rm -f "$scratch/ns"
    i=0
    while [ $i -lt "$rounds" ]; do
        bare=$("$scratch/$p")
        recorded=$(sh -c "$(watched '' "$scratch/$p")")
        seen=$(sh -c "$(watched --phases "$scratch/$p")")
        echo "$bare $recorded $seen" >>"$scratch/ns"
        i=$((i + 1))
    done
    ratio=$(awk '{ print $3 / $1 }' "$scratch/ns" | median)
    row "$p" "$(field "$scratch/ns" 1)" "$(field "$scratch/ns" 2)" "$(field "$scratch/ns" 3)" "$(number %.2f "$ratio")"
done
row "programs, 2 threads (wall)" bare "--phases/bare" "--phases/recorded"
for p in "radix 2 8000000" "lu 2 768 contiguous" "lu 2 768 rows" "water 2 4000 3"; do
    compare "$rounds" "sh -c '$scratch/$p >/dev/null'" "sh -c \"$(watched --phases "$scratch/$p") >/dev/null\"" || continue
    first=$ratio bare=$wall_1
    compare "$rounds" "sh -c \"$(watched '' "$scratch/$p") >/dev/null\"" "sh -c \"$(watched --phases "$scratch/$p") >/dev/null\"" || continue
    row "$p" "$(number %.2f "$bare") s" "$(number %.4f "$first")" "$(number %.4f "$ratio")"
done
