#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The machine code of sampled loops: tables loop_quality and loop_checks of a measurement.
. "$top_srcdir/tests/lib.sh"
need "${CC%% *}"
HPCVIEW_MACHINES=$top_srcdir/share/machines
export HPCVIEW_MACHINES

cat >"$scratch/loops.c" <<'END'
#include <stdlib.h>
double gather(int n, const int *ix, const double *x);
__attribute__((noinline)) double gather(int n, const int *ix, const double *x)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[ix[i]];
    return s;
}
int main(void)
{
    enum { N = 2000 };
    static int ix[N];
    static double x[N];
    double s = 0;
    for (int k = 0; k < 150000; k++) {
        __asm__ volatile("" : : : "memory"); /* else once would do */
        s += gather(N, ix, x);
    }
    return s == 1;
}
END
run ${CC:-cc} -O2 -g -o "$scratch/loops" "$scratch/loops.c"
check "compiled" test "$status" = 0
run "$hpcview" record -e perf::TASK-CLOCK -o "$scratch/m" -- "$scratch/loops"
[ "$status" = 0 ] || skip_all "nothing can be sampled here"

machine=skylake-server
[ "$(uname -m)" != aarch64 ] || machine=neoverse-n1
run "$hpcview" print --machine $machine --format csv --table loop_quality "$scratch/m"
check_match "the loop, its line and procedure" "$out" 'loop,loops,loops.c,6,gather,'
check_match "in words" "$out" ' references indirect; bound by latency'
check_match "and whose cycles these are" "$out" ', as requested'
run "$hpcview" print --machine $machine --llvm-mca --format csv --table loop_quality "$scratch/m"
if command -v llvm-mca >/dev/null && command -v llvm-mc >/dev/null && [ $machine = skylake-server ]; then
    check_match "llvm-mca's estimate beside it, and of which model" "$out" ',[1-9]*,skylake-avx512,'
else
    check "without llvm-mca: the same, and no error" test "$status" = 0
fi
run "$hpcview" print --machine $machine --format csv --table loop_checks "$scratch/m"
check_match "what there is to be said" "$out" 'gather,indirect,0.9,,'
check_match "and what to do" "$out" 'sort the indices so that'
run "$hpcview" print --no-quality --table loop_quality "$scratch/m"
check "not asked for: no table" test "$status" != 0
run "$hpcview" print --machine nothing "$scratch/m"
check_match "a machine that is not there is a warning" "$err" 'the machine code of loops is not analysed'
check "and the rest is there" test "$status" = 0

# The same as columns: the table's value at the loop, a mean of shares around it, blank if there is none.
run "$hpcview" print --machine $machine --by loop --format csv -m 'VEC = loop_vectorized' -m 'AT_LEAST = loop_bound' "$scratch/m"
seen=$(sed -n 's/^loop,loops,loops.c,6,gather,[^,]*,[^,]*,\([^,]*\),[^,]*,\([^,]*\),.*/\1 \2/p' "$scratch/out")
check_match "columns of loops: no vectors, some cycles" "$seen" '0 [1-9]'
run "$hpcview" print --machine $machine --by procedure --format csv -m 'VEC = loop_vectorized' -m 'AT_LEAST = loop_bound' "$scratch/m"
check "around it a mean, or nothing" test "$(sed -n 's/^procedure,loops,loops.c,3,gather,[^,]*,\([^,]*\),\([^,]*\)$/\1 \2/p' "$scratch/out")" = "0 "
run "$hpcview" print --machine $machine --by loop --format csv --metrics loops "$scratch/m"
check_match "all of them" "$out" ',loop_vectorized,'
check_match "with the multiply-adds" "$out" ',loop_fma,'

# The instructions themselves.
run "$hpcview" print --machine $machine --by instruction --scope gather "$scratch/m"
check_match "instructions: their procedure and its share" "$out" 'gather at loops.c:3 in loops: [0-9.]*% of '
check_match "the line between them" "$out" 'loops.c:7  s += x\[ix\[i\]\];'
check_match "the loop is a bracket that a jump closes" "$out" '[\\] *\^ '
if [ "$(uname -m)" = x86_64 ]; then
    check_match "what one costs; the chain" "$out" '[*] *addsd * 1  01 23 '
fi
check "only the procedure asked for" test "$(printf '%s\n' "$out" | grep -c ' in loops: ')" = 1
run "$hpcview" print --machine $machine --by instruction --format csv "$scratch/m"
cp "$scratch/out" "$scratch/instructions.csv"
run "$hpcview" print --by procedure --format csv --scope gather "$scratch/m"
by_procedure=$(sed -n 's/^procedure,loops,.*,gather,\([0-9]*\)$/\1/p' "$scratch/out")
by_instruction=$(awk -F, '/^instruction,loops,[^,]*,[0-9]*,gather,/ { sum += $NF } END { printf "%.0f\n", sum }' "$scratch/instructions.csv")
check "samples of the instructions are those of the procedure" test "$by_procedure" = "$by_instruction"
[ "$by_procedure" = "$by_instruction" ] || comment "procedure $by_procedure, instructions $by_instruction"
run "$hpcview" print --by instruction --format json --scope gather "$scratch/m"
check_match "JSON too" "$out" '"by":"instruction"'
run "$hpcview" print --no-quality --by instruction --scope gather "$scratch/m"
check_match "without a core: no cost, the rest is there" "$out" 'loops.c:7 '
cp "$scratch/loops" "$scratch/kept"
rm "$scratch/loops"
run "$hpcview" print --by instruction "$scratch/m"
# (If the loader, a library or the unoptimized recorder was sampled too, their instructions are present.)
check "without the binary: none of its instructions" test "$(printf '%s\n' "$out" | grep -c '^gather at ')" = 0
case $err in
*'no instructions to show'*) ok "and a sentence" ;;
*) check_match "and a sentence" "$err" 'loops: cannot be opened' ;;
esac
cp "$scratch/kept" "$scratch/loops"

run "$hpcview" build --machine $machine -o "$scratch/db" "$scratch/m"
check "a database holds them" test "$status" = 0
run "$hpcview" print --format csv --table loop_quality --machine $machine "$scratch/m"
cp "$scratch/out" "$scratch/first"
run "$hpcview" print --format csv --table loop_quality --machine $machine -j 1 "$scratch/m"
check "the same every time" cmp -s "$scratch/out" "$scratch/first"
done_testing
