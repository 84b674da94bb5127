#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcview run: from a program to its database, the program's own output and status untouched.
. "$top_srcdir/tests/lib.sh"
need cc

cd "$scratch" || exit 99
cat >spin.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile double x = 1;
    for (long i = 0; i < 100000000; i++)
        x = x * 0.999999 + 1e-9;
    printf("said %s\n", argc > 1 ? argv[1] : "nothing");
    fprintf(stderr, "and complained\n");
    return argc > 2 ? atoi(argv[2]) : 0;
}
END
cc -O1 -g -o spin spin.c || skip_all "cc cannot make a program here"
if ! "$hpcview" record -o probe ./spin >/dev/null 2>probe.err; then
    skip_all "nothing can be sampled here: $(tail -n 1 probe.err)"
fi

run "$hpcview" run -- ./spin word 7
check "the program's status" test "$status" = 7
check "its output, untouched" test "$out" = "said word"
check_match "its complaints" "$err" "and complained"
check_match "where to open the database" "$err" "hpcview-spin.db/index.html"
check "the database" test -f hpcview-spin.db/index.html
check "the measurement beside it" test -d hpcview-spin.measurements

run "$hpcview" run ./spin
check "again: status 0" test "$status" = 0
check "again: nothing is lost" test -f hpcview-spin.db/index.html -a -f hpcview-spin-2.db/index.html

run "$hpcview" run -o x.db ./spin
check "with a name" test -f x.db/index.html -a -d x.measurements
run "$hpcview" run -o x.db ./spin
check "with the same name: replaced" test "$status" = 0
run "$hpcview" print --by line --format csv x.measurements
check_match "the loop leads" "$(printf '%s\n' "$out" | sed -n 2p)" "line,spin,spin.c,7,main,"

# An anonymous database: it contains nothing of this machine, its folders, its users or the program's arguments.
mkdir -p home/jane && cp spin spin.c home/jane/ && (cd home/jane && cc -O1 -g -o spin "$PWD/spin.c")
run "$hpcview" run --anonymize -o public.db -- "$scratch/home/jane/spin" word 0
check "--anonymize: status" test "$status" = 0
head=$(cat public.db/index.html)
for secret in "\"$(uname -n)\"" jane word "$scratch" '[0-9][.]hpcprof'; do
    check "--anonymize: no $secret" test -z "$(printf '%s' "$head" | sed -n '/hpcview-database/p' | grep -o "$secret" | head -n 1)"
done
check_match "--anonymize: the program's name stays" "$head" '"command":"spin"'
run "$hpcview" build -o open.db public.measurements
check "the same database without it has them" grep -q "$(uname -n)" open.db/index.html

run "$hpcview" run -m 'X = (' -o bad.db ./spin
check "a wrong formula: status 2" test "$status" = 2
check "a wrong formula costs no run" test -z "$out" -a ! -e bad.measurements
echo precious >x.measurements/notes.txt
run "$hpcview" run -o x.db ./spin
check "a folder with other things in it is left alone" test "$status" = 1 -a -f x.measurements/notes.txt
run "$hpcview" run
check "no program: status 2" test "$status" = 2
run "$hpcview" run -- ./nowhere
check "a program that is not there: status 1" test "$status" = 1
done_testing
