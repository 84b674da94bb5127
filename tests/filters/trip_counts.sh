#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How often loops go round, by callgrind's jumps on our loops: a nest, a loop with two ways in, and parts of the profile.
. "$top_srcdir/tests/lib.sh"

need gcc valgrind
cd "$scratch" || exit 99
cat >trips.c <<'END'
#include <stdio.h>
int a[100];
__attribute__((noinline, noclone)) int nest(int n, int m)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            s += a[k] ^ i;
    return s;
}
__attribute__((noinline, noclone)) int two_ways_in(int n, int second)
{
    int s = 0;
    if (second)
        goto b;
a:
    s += a[s & 7];
b:
    s ^= n;
    if (--n)
        goto a;
    return s;
}
int main(int argc, char **argv)
{
    int s = argv[0] == 0;
    for (int i = 0; i < 10; i++)
        s += nest(4, 25 * argc);
    for (int i = 0; i < 6; i++)
        s += two_ways_in(4 + argc, i & 1);
    printf("%d\n", s);
    return 0;
}
END
count() { valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --callgrind-out-file="$@" ./trips; }
{ gcc -O1 -g trips.c -o trips && count whole && count parts --dump-before=two_ways_in --combine-dumps=yes; } >made 2>&1 ||
    skip_all "callgrind does not run here: $(tail -n 1 made)"

# trips FILE PROCEDURE: of its loops without those inside them, the outermost first
trips() {
    "$hpcview" print --by loop --format csv -m 'T = "loop iterations" / "loop entries"' "$1" 2>/dev/null |
        awk -F, -v procedure="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "T (E)") at = i; next } index($0, "," procedure ",") || index($0, "," procedure "\"") { print $at }' | sort -n | tr '\n' ' '
}
check_equal "a nest" "$(trips whole nest)" "4 25 "
check_equal "two ways in" "$(trips whole two_ways_in)" "5 "
check_equal "of parts, in all" "$(trips parts nest)" "4 25 "
"$hpcview" print --table trip_counts --format csv parts >table.csv 2>/dev/null
check_match "how parts differ" "$(cat table.csv)" "*two_ways_in*,6,5,5,5,0*"
"$hpcview" import -o whole.hpcprof whole
check_equal "a measurement carries them" "$(trips whole.hpcprof nest)" "4 25 "
check "and the jumps are no table of what is shown" test -z "$("$hpcview" print --table jumps whole.hpcprof 2>/dev/null)"
done_testing
