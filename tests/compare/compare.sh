# SPDX-License-Identifier: BSD-3-Clause
# Comparisons with a known result: -O1 and -O3, gcc and clang, two versions of a source, one thread and two, x86-64 and AArch64. The
# ranking must show it.
. "$top_srcdir/tests/lib.sh"

cd "$scratch" || exit 99
kernels=$top_srcdir/tests/compare/kernels.c
${CC-cc} --version >/dev/null 2>&1 || skip_all "no C compiler here"
"$hpcview" record -o probe -e perf::TASK-CLOCK@1000000 -- /bin/true >probe.log 2>&1 || skip_all "no clock can be sampled here"

# built NAME SOURCE OPTIONS...
built() {
    name=$1 source=$2
    shift 2
    "$@" -g -pthread -o "$name" "$source" 2>"$name.log"
}
# measured NAME [TIMES THREADS]
measured() {
    "$hpcview" record -o "$1.measurements" -e perf::TASK-CLOCK@500000 -- "./$1" "${2-24000}" "${3-1}" >"$1.log" 2>&1
}
# compared LEVEL BASE NEW OPTIONS...: rows of the three functions alone, the worst first
compared() {
    level=$1 base=$2 new=$3
    shift 3
    "$hpcview" print --diff --by "$level" --format csv "$@" "$base" "$new" >table.csv 2>table.err || comment "$(cat table.err)"
}
# value HEAD NAME: of the first row of that name in table.csv
value() {
    awk -F, -v head="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == head) column = i; next }
        $5 == name { print $column; exit }' table.csv
}
ratio() { value perf::TASK-CLOCK.ratio "$1"; }
# ranked: the names in their order
ranked() { awk -F, 'NR > 1 && $5 ~ /^(sum|chain|repeated)$/ { printf "%s ", $5 }' table.csv; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a + 0 < b + 0) }'; }
shown() { comment "$(cut -c1-200 table.csv)"; }

built kernels-O1 "$kernels" ${CC-cc} -O1 && built kernels-O3 "$kernels" ${CC-cc} -O3 || skip_all "the program does not compile"
measured kernels-O1 && measured kernels-O3

compared function kernels-O1.measurements kernels-O3.measurements
check "-O1 and -O3: three functions are compared" test "$(ranked | wc -w)" = 3
check_match "what gained is last" "$(ranked)" '* sum '
check "sum is faster by more than chain" less "$(ratio sum)" "$(ratio chain)"
check "sum is faster" less "$(ratio sum)" 0.9
compared loop kernels-O1.measurements kernels-O3.measurements
check_match "the loop that gained is last" "$(ranked)" '* sum '
shown

# facts DB: the facts of each of its runs
facts() { tr '{' '\n' <"$1/index.html" | grep -o '"facts":.*\]\]'; }
run "$hpcview" build -o optimized.db kernels-O1.measurements kernels-O3.measurements
check "a database says of each run how its program was compiled" test "$(facts optimized.db | grep -c '"built the program"')" = 2
case $(facts optimized.db) in
*GNU*) check_match "with the options" "$(facts optimized.db | tr '\n' ' ')" '* -O1[ "]* -O3[ "]*' ;;
*) skip "with the options" "this compiler does not note them" ;;
esac

if command -v clang >/dev/null; then
    built kernels-clang "$kernels" clang -O3 && measured kernels-clang
    compared loop kernels-O3.measurements kernels-clang.measurements
    for f in sum chain repeated; do
        check "gcc and clang: the loop of $f is one" test "$(grep -c ",$f," table.csv)" = 1
        check "with a time by each" test -n "$(ratio "$f")"
    done
    shown
else
    skip "gcc and clang" "no clang here"
fi

# Two versions, in two folders: all lines have moved, and the division is done twice.
mkdir v1 v2
cp "$kernels" v1/kernels.c
sed -e '1i/* The second version. */\n\n' -e 's|x = 1 / (x + a\[i\]);|x = 1 / (1 / (x + a[i]) + a[i]);|' "$kernels" >v2/kernels.c
built v1/kernels "$PWD/v1/kernels.c" ${CC-cc} -O2 && built v2/kernels "$PWD/v2/kernels.c" ${CC-cc} -O2
measured v1/kernels && measured v2/kernels
compared function v1/kernels.measurements v2/kernels.measurements
check_match "two versions: what became slower is first" "$(ranked)" 'chain *'
check "and is slower by much" less 1.3 "$(ratio chain)"
compared line v1/kernels.measurements v2/kernels.measurements
changed=$(grep -n '1 / (1 / ' v2/kernels.c | cut -d: -f1)
check_match "the line that was changed has a time in both" "$(grep ",$changed,chain" table.csv)" "line,kernels,kernels.c,$changed,chain,[1-9]*,[1-9]*"
check "all lines of the first version are found in the second" test "$(grep -c 'v[12]/kernels.c' table.csv)" = 0
shown

# The same two as finished databases from elsewhere: their contents equal those of the measurements.
"$hpcview" build -o base.db v1/kernels.measurements >build.log 2>&1 && "$hpcview" build --single-file -o new.html v2/kernels.measurements >>build.log 2>&1 ||
    comment "$(cat build.log)"
mkdir sent
mv base.db new.html sent
for level in module function loop line; do
    compared "$level" v1/kernels.measurements v2/kernels.measurements
    mv table.csv measured.csv
    for pair in 'base.db new.html' 'base.db ../v2/kernels.measurements' '../v1/kernels.measurements new.html'; do
        compared "$level" "sent/${pair% *}" "sent/${pair#* }"
        check "by $level: $pair rank as their measurements" cmp measured.csv table.csv
    done
done
# A database prints as itself: including formulas, call paths, instructions and tables, also for several runs.
printed() { { "$hpcview" print --format csv "$@" 2>print.err || comment "$(cat print.err)"; } | sed 's|v[12]/kernels|kernels|g'; } # the page has both
cat >both.xml <<END
<hpcview version="1">
  <run name="v1" measurements="v1/kernels.measurements"/><run name="v2" measurements="v2/kernels.measurements"/>
  <computed name="RATIO" formula="run(v2).&quot;perf::TASK-CLOCK&quot; / run(v1).&quot;perf::TASK-CLOCK&quot;"/>
  <computed name="MORE" formula="run(v2).&quot;perf::TASK-CLOCK&quot; - run(v1).&quot;perf::TASK-CLOCK&quot;"/>
</hpcview>
END
"$hpcview" build -o both-runs.db both.xml >build.log 2>&1 || comment "$(cat build.log)"
for pair in 'v1/kernels.measurements sent/base.db' 'v2/kernels.measurements sent/new.html' 'both.xml both-runs.db'; do
    for what in '--by module' '--by procedure' '--by loop' '--by line' '--by function' '--by path' '--by calls' '--by caller --of chain' \
        '--by path --fold-recursion' '--by instruction' '--table placement'; do
        # shellcheck disable=SC2086
        printed $what "${pair% *}" >measured.csv && printed $what "${pair#* }" >table.csv
        check "$what: ${pair#* } is printed as ${pair% *}" cmp measured.csv table.csv
        [ -s table.csv ] || not_ok "$what: ${pair#* } has rows"
    done
done
compared program v1/kernels.measurements v2/kernels.measurements --statistics threads
mv table.csv measured.csv
compared program sent/base.db sent/new.html --statistics threads
check "what threads spent is as their measurements say" cmp measured.csv table.csv
cat >two.xml <<'END'
<hpcview version="1"><run name="old" measurements="sent/base.db"/><run name="new" measurements="sent/new.html"/>
<computed name="X" formula='"new.perf::TASK-CLOCK" / "old.perf::TASK-CLOCK"'/></hpcview>
END
run "$hpcview" build -o both.db two.xml
check "a configuration has databases as runs" test "$status" = 0
# The program alone: for a library that both ran, each run has the functions sampled in the other.
built_program() { facts "$1" | grep -o '"built the program","[^"]*"'; }
check "which are known to be compiled as they were" test "$(built_program both.db)" = "$(built_program both-runs.db)"
check "both of them" test "$(built_program both.db | wc -l)" = 2
run "$hpcview" print --diff sent/base.db both.db
check "a database of two runs is no run" test "$status" = 1
check_match "as is said" "$err" '*both.db: a database of 2 runs*'
cp -r sent/base.db hpcview-a.db
run "$hpcview" build hpcview-a.db sent/new.html
check "no database is replaced by what is made of it" test "$status" = 2 -a -f hpcview-a.db/index.html
check_match "as is said" "$err" '*hpcview-a.db*-o*'

# Truncated anywhere, it gives an error with its name, or its contents are complete.
"$hpcview" print --diff --format csv sent/base.db sent/new.html >whole.csv 2>/dev/null
# refused_or_whole NAME: was the last run so?
refused_or_whole() {
    case $status:$err in
    [12]:*"$1"*) return 0 ;;
    0:*"$1"*missing*) return 0 ;;
    esac
    test "$status" = 0 && printf '%s\n' "$out" | cmp -s - whole.csv
}
bad= refused=0
for at in $(grep -abo 'id="hpcview-head">\|id="data-[a-z]*[-0-9]*">' sent/new.html | sed 's/:.*//'); do
    head -c $((at + 60)) sent/new.html >cut.html
    run "$hpcview" print --diff --format csv sent/base.db cut.html
    refused_or_whole cut.html || bad="$bad $at: $status $err"
    refused=$((refused + (status != 0)))
done
check "a page that was cut is refused by name, or says what is missing" test -z "$bad"
check "it is refused without its places or its numbers" test "$refused" -ge 3
[ -z "$bad" ] || comment "$bad"
bad=
for file in sent/base.db/data/*.js; do
    mv "$file" kept && : >"$file"
    run "$hpcview" print --diff --format csv sent/base.db sent/new.html
    mv kept "$file"
    refused_or_whole base.db || bad="$bad $file: $status $err"
done
check "what is missing of a folder is said" test -z "$bad"
[ -z "$bad" ] || comment "$bad"

# Strong scaling: the time in all of two threads, against that of one.
built threads "$kernels" ${CC-cc} -O2
measured threads 24000 1 && mv threads.measurements one && measured threads 24000 2
compared function one threads.measurements --scaling strong
check_match "one thread and two: what does not scale is first" "$(ranked)" 'repeated *'
check "it takes the most of the loss" less "$(value perf::TASK-CLOCK.loss sum)" "$(value perf::TASK-CLOCK.loss repeated)"
check "and loses a good part of the whole" less 0.1 "$(value perf::TASK-CLOCK.loss repeated)"
compared function one threads.measurements --scaling weak
check "were there twice the work, it would be no loss" less "$(value perf::TASK-CLOCK.loss repeated)" 0.1
shown

# AArch64: the binary is analysed here, its profile is from another machine.
if command -v aarch64-linux-gnu-gcc >/dev/null; then
    # profiles with lines only cannot distinguish several inlined copies
    built kernels-x86 "$kernels" ${CC-cc} -O2 -fno-inline && measured kernels-x86
    built kernels-arm "$kernels" aarch64-linux-gnu-gcc -O2 -fno-inline
    line() { grep -n "$1" "$kernels" | cut -d: -f1; }
    cat >arm.txt <<END
kernels.c $(line 'x = 1 / (x') chain 90000000
kernels.c $(line 'to\[i\] = ') sum 700000000
kernels.c $(line 'x = x / i') repeated 50000000
END
    run "$hpcview" structure kernels-arm -o arm.xml
    run "$hpcview" import table --columns file,line,procedure,perf::TASK-CLOCK --units ns --program kernels-arm -o arm.hpcprof arm.txt
    check "the profile is imported" test "$status" = 0
    compared loop kernels-x86.measurements arm.hpcprof -S arm.xml
    check_match "x86-64 and AArch64: the loop that is worst there is first" "$(ranked)" 'sum *'
    for f in sum chain repeated; do
        check "the loop of $f is one" test -n "$(ratio "$f")"
    done
    shown
else
    skip "x86-64 and AArch64" "no compiler for AArch64 here"
fi

# A library sampled in only one run was loaded in the other: its cost there is zero, for databases too.
cat >idle.c <<'X'
#include <math.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile double x = 0.5, s = 0;
    for (long i = 0; i < atol(argv[argc - 1]) * 1000; i++)
        s += argc > 2 ? sin(x + (double)i) : x * (double)i;
    return s == 1;
}
X
if ${CC-cc} -O1 -g -fno-builtin -o idle idle.c -lm 2>idle.log; then
    "$hpcview" record -o idle.m -e perf::TASK-CLOCK@500000 -- ./idle 100000 >idle.log 2>&1
    "$hpcview" record -o busy.m -e perf::TASK-CLOCK@500000 -- ./idle sin 10000 >idle.log 2>&1
    "$hpcview" build -o idle.db idle.m >build.log 2>&1 || comment "$(cat build.log)"
    compared module busy.m idle.m
    check_match "a library without a sample cost nothing" "$(grep libm table.csv)" 'module,libm*,-[1-9]*,[0-9]*' # known, if the loader met a sample in it or not
    mv table.csv measured.csv
    compared module busy.m idle.db
    check "so does the database say" cmp measured.csv table.csv
    sed -e 's|v1/kernels.measurements|busy.m|' -e 's|v2/kernels.measurements|idle.m|' both.xml >busy.xml
    "$hpcview" build -o busy.db busy.xml >build.log 2>&1 || comment "$(cat build.log)"
    printed --by path --fold-recursion busy.xml >measured.csv && printed --by path --fold-recursion busy.db >table.csv
    check_match "nor on a path" "$(grep ',sin\|,__sin' table.csv | head -n 1)" '*,-[1-9]*'
    check "which is computed anew where paths are folded" cmp measured.csv table.csv
else
    skip "a library without a sample cost nothing" "no C compiler here that makes it"
fi
done_testing
