#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Errors are one sentence, with status 1 (2 for wrong usage); incomplete results come with a warning.
. "$top_srcdir/tests/lib.sh"

cd "$scratch" || exit 99

# refuses NAME STATUS PATTERN COMMAND...: one line on standard error that contains the pattern, nothing on standard
# output
refuses() {
    refuses_name=$1 refuses_status=$2 refuses_pattern=$3
    shift 3
    run timeout 20 "$@"
    if [ "$status" != "$refuses_status" ]; then
        not_ok "$refuses_name" "status $status instead of $refuses_status; it said: $err"
    elif [ "$(wc -l <err)" != 1 ] || [ -n "$out" ]; then
        not_ok "$refuses_name" "not one sentence: $err$out"
    else
        check_match "$refuses_name" "$err" "$refuses_pattern"
    fi
}

# ---- a pipe without a writer: waited for while the rest is tested (see the end) ----------------
mkfifo silent late
{ timeout 40 "$hpcview" print silent >silent.out 2>silent.err; echo $? >silent.status; } &
silent=$!
{ timeout 40 "$hpcview" info late >late.out 2>late.err; echo $? >late.status; } &
late=$!

# ---- programs that cannot be recorded -----------------------------------------------------
echo "echo hello" >script.sh
printf '#!/bin/sh\necho hello\n' >executable.sh
chmod +x executable.sh
# as root, a setuid program of another user; otherwise one of root's
cp /bin/true setuid
if chown 65534 setuid 2>/dev/null; then
    chmod u+s setuid
else
    rm setuid && ln -s "$(command -v su || command -v passwd)" setuid
fi
head -c 64 /bin/true >short
chmod +x short
mkdir folder
# a program for another machine: the header of ours says AArch64 (e_machine, at 18, is 183)
cp /bin/true other
printf '\267\000' | dd of=other bs=1 seek=18 conv=notrunc 2>/dev/null
cat >static.c <<'END'
int main(void) { return 0; }
END
$CC -static -o static static.c 2>/dev/null

for command in record run; do
    refuses "$command: no program" 2 "usage: hpcview" "$hpcview" $command
    refuses "$command: a program that does not exist" 1 "nowhere" "$hpcview" $command -o r -- ./nowhere
    refuses "$command: a program not in PATH" 1 "no-such-program" "$hpcview" $command -o r -- no-such-program
    refuses "$command: a file that cannot be executed" 1 "script.sh" "$hpcview" $command -o r -- ./script.sh
    refuses "$command: a folder" 1 "folder" "$hpcview" $command -o r -- ./folder
    refuses "$command: a truncated ELF file" 1 "short" "$hpcview" $command -o r -- ./short
    refuses "$command: a program for another machine" 1 "other" "$hpcview" $command -o r -- ./other
    refuses "$command: a setuid program" 1 "setuid" "$hpcview" $command -o r -- ./setuid
    if [ -x static ]; then
        refuses "$command: a static program" 1 "static" "$hpcview" $command -o r -- ./static
    else
        skip "$command: a static program" "$CC cannot link one here"
    fi
    check "$command: nothing is left behind" test ! -e r
done
refuses "record: an event that does not exist" 2 "PAPI_TOT_CYK" "$hpcview" record -o r -e PAPI_TOT_CYK -- /bin/true
refuses "record: a period of 0" 2 "0" "$hpcview" record -o r -e perf::TASK-CLOCK@0 -- /bin/true
refuses "record: an unknown option" 2 "--nonsense" "$hpcview" record --nonsense -- /bin/true

# ---- binaries ------------------------------------------------------------------------------
refuses "structure: no file" 1 "nowhere" "$hpcview" structure nowhere
refuses "structure: not ELF" 1 "script.sh" "$hpcview" structure script.sh
refuses "structure: an empty file" 1 "empty" sh -c ': >empty; exec "$0" structure empty' "$hpcview"
refuses "structure: a folder" 1 "folder" "$hpcview" structure folder
refuses "structure: no operand" 2 "expected one binary" "$hpcview" structure
cp "$hpcview" cut
size=$(wc -c <cut)
for part in 52 64 1000 $((size / 4)) $((size / 2)) $((size - 1)); do
    head -c "$part" "$hpcview" >cut
    run timeout 20 "$hpcview" structure --no-cache -o cut.xml cut
    case $status in
    0) check "structure of the first $part bytes: a result" test -s cut.xml ;;
    1) check "structure of the first $part bytes: words" test -n "$err" ;;
    *) not_ok "structure of the first $part bytes" "status $status: $err" ;;
    esac
done

# ---- measurements --------------------------------------------------------------------------
refuses "print: no measurement" 1 "nowhere" "$hpcview" print nowhere
refuses "print: a folder without measurements" 1 "folder" "$hpcview" print folder
refuses "print: not a measurement" 1 "script.sh" "$hpcview" print script.sh
refuses "build: no operand" 2 "no input: give a measurement" "$hpcview" build
refuses "build: no such configuration" 1 "nowhere.xml" "$hpcview" build nowhere.xml
(
    # endless input must not be read to its end
    [ -n "${CHECK_CFLAGS-}" ] || ulimit -v 2000000 # a sanitizer maps terabytes
    exec >>endless 2>&1
    for what in "print" "info" "import perf-script" "structure --no-cache" "init -o endless.xml"; do
        timeout 300 "$hpcview" $what /dev/zero
        echo "status $?"
    done
    echo '<hpcview version="1"><run measurements="/dev/zero"/><structure file="/dev/zero"/></hpcview>' >devices.xml
    timeout 300 "$hpcview" print devices.xml
    echo "status $?"
    printf '\177ELF' | cat - /dev/zero | timeout 300 "$hpcview" info /dev/stdin
    echo "status $?"
)
check_equal "input without end: refused" "$(grep -c 'status 1$' endless)" 7
check_equal "input without end: in words" "$(grep -c 'is a device\|LIMIT_STREAM_BYTES\|out of memory' endless)" 7
printf '<?xml version="1.0" encoding="utf-8"?>\n<hpcview version="1" x="\377"/>' >latin.xml
refuses "build: text that is not what it says it is" 1 "latin.xml" "$hpcview" build latin.xml
printf '<hpcview>\n <metrics>\n' >torn.xml
refuses "build: a configuration that ends early" 1 "torn.xml:" "$hpcview" build -o torn.db torn.xml
check "build: nothing is left behind" test ! -e torn.db

cat >spin.c <<'END'
#include <stdlib.h>
volatile double x;
__attribute__((noinline)) static void spin(long n) { for (long i = 0; i < n; i++) x = x * 1.000001 + 1; }
int main(int argc, char **argv) { (void)argc; spin(atol(argv[1])); return 0; }
END
$CC -O2 -g -o spin spin.c && $CC -O2 -s -o stripped spin.c && $CC -O2 -o undebugged spin.c || exit 99
run "$hpcview" record -o m -- ./spin 100000000
if [ "$status" != 0 ]; then
    skip "damaged measurements" "nothing can be recorded here: $(head -n 1 err)"
else
    file=$(echo m/*.hpcprof)
    run "$hpcview" print --by program --format csv m
    whole=$(sed -n 2p out | cut -d , -f 6)
    check "a measurement that is whole" test "${whole:-0}" -gt 0
    size=$(wc -c <"$file")
    mkdir damaged
    words=0 results=0
    for part in 1 2 3 4 5 6 7 8 9; do
        head -c $((size * part / 10)) "$file" >damaged/cut.hpcprof
        run timeout 20 "$hpcview" print --by program --format csv damaged
        if [ "$status" = 1 ] && [ -n "$err" ]; then
            words=$((words + 1))
        elif [ "$status" = 0 ] && awk -F , -v whole="$whole" 'NR == 2 && $6 > whole { exit 1 }' out && [ -n "$err" ]; then
            results=$((results + 1))
        else
            not_ok "a measurement cut at $part/10" "status $status: $out $err"
        fi
    done
    check "a measurement cut short: words or a part, and a warning ($results results)" test $((words + results)) = 9
    words=0 results=0
    for part in 1 2 3 4 5 6 7 8 9; do
        cp "$file" damaged/cut.hpcprof
        printf '\252\125\252' | dd of=damaged/cut.hpcprof bs=1 seek=$((size * part / 10)) conv=notrunc 2>/dev/null
        run timeout 20 "$hpcview" print --by program --format csv damaged
        if [ "$status" -le 1 ] && [ -n "$err" ]; then
            words=$((words + 1))
        else
            not_ok "a measurement with flipped bytes at $part/10" "status $status: $out $err"
        fi
    done
    check "a measurement with flipped bytes: words every time" test $words = 9

    # ---- incomplete results --------------------------------------------------------------------
    rm -rf m
    run "$hpcview" record -o m -- ./undebugged 100000000
    run "$hpcview" print --by procedure --format csv m
    check_match "no debug information: by function" "$out" "spin"
    check_match "no debug information: a warning says so" "$err" "undebugged"
    rm -rf m
    run "$hpcview" record -o m -- ./stripped 100000000
    run "$hpcview" print --by module --format csv m
    check_match "no symbols: the module is shown" "$out" "stripped"
    check_match "no symbols: a warning says so" "$err" "stripped"
    run "$hpcview" build -o stripped.db m
    check "no symbols: a database all the same" test -f stripped.db/index.html
fi

# ---- the pipes ---------------------------------------------------------------------------------
timeout 5 sh -c "cat script.sh >late" # (nobody may be reading any more)
wait $silent $late
check_equal "a pipe into which nobody writes: status" "$(cat silent.status)" 1
check_match "a pipe into which nobody writes: words" "$(cat silent.err)" "without a writer"
check_match "a pipe into which somebody writes later, or too late" "$(cat late.out late.err)" "late"
done_testing
