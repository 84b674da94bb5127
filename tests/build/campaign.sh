#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcview run CONFIG.xml: measures the missing runs that it describes; a failing run does not affect the others.
. "$top_srcdir/tests/lib.sh"
need cc
need_recording
mkdir "$scratch/work" && cd "$scratch" || exit 99
cat >spin.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char here[4096];
    volatile double x = 1;
    FILE *log = fopen("log", "a");
    for (long i = 0; i < 20000000; i++)
        x = x * 0.999999 + 1e-9;
    if (log && getcwd(here, sizeof here))
        fprintf(log, "%s %s %s %s\n", argc > 1 ? argv[1] : "-", getenv("OMP_NUM_THREADS") ? getenv("OMP_NUM_THREADS") : "-",
                getenv("COLOUR") ? getenv("COLOUR") : "-", here);
    return argc > 2 ? atoi(argv[2]) : 0;
}
END
cc -O1 -g -o work/spin spin.c || skip_all "cc cannot make a program here"
cat >c.xml <<'END'
<hpcview version="1">
  <title>spin</title>
  <run name="one" measurements="one.m" command="./spin 'a word'" folder="work" threads="1" environment="COLOUR='dark red'" events="CPUTIME@1000"/>
  <run name="bad" measurements="bad.m" command="./spin b 3" folder="work" events="CPUTIME@1000"/>
  <run name="two" measurements="two.m" command="./spin c" folder="work" threads="2" events="CPUTIME@1000"/>
  <run name="far" measurements="far.m" command="./spin d" folder="work" host="no-such-machine-*"/>
</hpcview>
END
cat >part.xml <<'END'
<hpcview version="1">
  <run name="part" measurements="part.m" command="sh -c './spin g; true'" folder="work" only="spin" phases="yes" events="CPUTIME@1000"/>
</hpcview>
END
unset OMP_NUM_THREADS COLOUR
run "$hpcview" run -o db c.xml
check "one fails: status 1" test "$status" = 1
check_equal "each in its folder, with its words and environment" "$(sed "s|$scratch/||" work/log)" "a word 1 dark red work
b - - work
c 2 - work"
check_match "how far it is" "$err" "run 'two' (3 of 3): ./spin c"
check_match "and how long" "$err" "s to go"
check_match "which failed" "$err" "c.xml:4: run 'bad' ended with status 3; its measurement is not kept"
check_match "another machine's is left out" "$err" "c.xml:6: run 'far' is not measured yet: its machine is no-such-machine-*"
check "the others are built" test -f db/index.html
check_match "with their names" "$(cat db/index.html)" '"name":"two.CPUTIME"'
check "nothing of the failed one is left" test ! -e bad.m -a ! -e bad.m.part
sed -i '/name="bad"/d; /name="far"/d' c.xml
run "$hpcview" run -o db c.xml
check "all is there: status 0, nothing is run" test "$status" = 0 -a "$(wc -l <work/log)" = 3
run "$hpcview" run --again -o db c.xml
check "--again: all are run" test "$status" = 0 -a "$(wc -l <work/log)" = 5
run "$hpcview" print --by program --format csv c.xml
check_match "anyone builds from what is there" "$out" "one.CPUTIME,"
cp c.xml more.xml
sed -i 's|</hpcview>|<run name="later" measurements="later.m" command="./spin f" folder="work"/>&|' more.xml
run "$hpcview" print --by program --format csv more.xml
check_match "what nobody measured yet is left out" "$status $out" "0 *one.CPUTIME,*"
check_match "and said" "$err" "*run 'later' is not measured yet and is omitted*"
sed 's/measurements="/&not-/' more.xml >none.xml
run "$hpcview" print none.xml
check "where nothing is there: status 1" test "$status" = 1
check_match "and what to do" "$err" "*no run is measured*hpcview run*"
run "$hpcview" run c.xml -o db
check_match "options stand before the configuration" "$status $err" "2 *c.xml is a configuration*put options before it*"
sed -i -e '/name="one"/d' -e 's/name="two" /&repetitions="2" /' c.xml
run "$hpcview" run --again -o db c.xml
check "repetitions: run as often" test "$status" = 0 -a "$(wc -l <work/log)" = 7 -a -d two.m/1 -a -d two.m/2
run "$hpcview" print --by program --format csv c.xml
check_match "and their spread stands beside the mean" "$out" "CPUTIME,stddev(CPUTIME over repetitions)"
sed -i 's/repetitions="2"/repetitions="none"/' c.xml
run "$hpcview" print c.xml
check_match "how often is a number" "$err" "c.xml:3: repetitions must be a number from 1 to 4096, not 'none'"

# shell-style words; errors are reported by line, and nothing is run
cat >work/args.sh <<'END'
#!/bin/sh
echo "$# $HUE [$SHADE]" >>words
for word; do printf '[%s]\n' "$word" >>words; done
exec ./spin z
END
chmod +x work/args.sh
cat >words.xml <<'END'
<hpcview version="1">
  <run name="w" measurements="w.m" folder="work" environment="HUE=a=b  SHADE='' " events="CPUTIME@1000"
    command="  ./args.sh a&#9;'b &quot;c\ d'  &quot;e 'f' \&quot; \\g&quot; h\ i j''k '' l'm'&quot;n&quot; "/>
</hpcview>
END
SHADE=dark
export SHADE
run "$hpcview" run -o words.db words.xml
check_equal "the words of a command" "$(cat work/words)" '7 a=b []
[a]
[b "c\ d]
[e '"'f'"' " \g]
[h i]
[jk]
[]
[lmn]'
for wrong in "command=\"./spin 'a\"" 'command="./spin &quot;a"' 'command=" "' 'command="./spin" environment="A"' \
    'command="./spin" environment="=a"' "command=\"./spin\" environment=\"A='\"" 'command="./nowhere"' 'command="./spin" folder="work/none"' "command=\"./spin\" events=\"'\""; do
    printf '<hpcview version="1">\n  <run name="x" measurements="x.m" %s/>\n</hpcview>\n' "$wrong" >x.xml
    run "$hpcview" run -o x.db x.xml
    printf '%s\n' "$err" | grep -v '(1 of 1)\|not measured yet\|no run is measured yet' >>wrong
done
check_equal "what is wrong with them" "$(sed -n 's,^hpcview: ,,p' wrong)" "x.xml:2: './spin 'a': unmatched '
x.xml:2: './spin \"a': unmatched \"
x.xml:2: the command is empty
x.xml:2: environment: 'A' is not NAME=VALUE
x.xml:2: environment: '=a' is not NAME=VALUE
x.xml:2: 'A='': unmatched '
./nowhere: program not found (No such file or directory)
x.xml:2: work/none: the run's folder: No such file or directory
x.xml:2: ''': unmatched '"
check "nothing of them is left" test ! -e x.m -a ! -e x.m.part -a ! -e x.db

run "$hpcview" run --again -- /bin/true
check "--again without a configuration: status 2" test "$status" = 2
run "$hpcview" run -o part.db part.xml
check_equal "only: the programs of that name" "$(cd part.m && ls | sed 's/[.].*//')" spin
check "phases: barriers are recorded too" grep -q barrier_threads part.m/*.hpcprof
done_testing
