#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcview structure: both XML forms are valid and read back, globs, threads, the cache, and messages about bad input.
. "$top_srcdir/tests/lib.sh"
src=$top_srcdir/tests/exactness/src
schema=$top_srcdir/share/schemas/structure.rng
command -v gcc >/dev/null || skip_all "no gcc here"
(cd "$src" && gcc -g -O2 -fPIC -shared -nostdlib -Wl,--build-id=0x0123456789abcdef -o "$scratch/inline.so" inline.c loops.c) || skip_all "gcc makes no shared object"
cp "$scratch/inline.so" "$scratch/stripped.so" && strip "$scratch/stripped.so"
cd "$scratch" || exit 1

# both binaries of ours and one the system has
for binary in inline.so stripped.so /bin/ls "$hpcview"; do
    name=$(basename "$binary")
    run "$hpcview" structure --no-cache -o "$name.xml" "$binary"
    check "$name: structure works" test "$status" = 0
    if command -v xmllint >/dev/null; then
        check "$name: XML is valid by structure.rng" xmllint --noout --huge --relaxng "$schema" "$name.xml" 2>"$scratch/err"
    else
        skip "$name: XML is valid by structure.rng" "no xmllint"
    fi
    if command -v jing >/dev/null; then
        check "$name: jing says so too" sh -c 'exec jing "$1" "$2" >/dev/null' - "$schema" "$name.xml"
    else
        skip "$name: jing says so too" "no jing"
    fi
    run "$hpcview" structure -o again.xml "$name.xml"
    check_same "$name: read and written again, the same XML" again.xml "$name.xml"
    run "$hpcview" structure -f hpcstruct -o "$name.hpcstruct" "$name.xml"
    check "$name: to hpcstruct" test "$status" = 0
    if command -v xmllint >/dev/null; then
        check "$name: hpcstruct is valid by its DTD" xmllint --noout --huge --valid "$name.hpcstruct" 2>"$scratch/err"
    else
        skip "$name: hpcstruct is valid by its DTD" "no xmllint"
    fi
    run "$hpcview" structure -f hpcstruct -o again.hpcstruct "$name.hpcstruct"
    check_same "$name: read and written again, the same hpcstruct" again.hpcstruct "$name.hpcstruct"
    for jobs in 1 3; do
        run "$hpcview" structure --no-cache -j "$jobs" -o jobs.xml "$binary"
        check_same "$name: the same with $jobs threads" jobs.xml "$name.xml"
    done
done

# the reader's rules of hpcstruct: ids count up from 2, entries of procedures differ, one byte for L and P, no overlap of S
awk -F'"' '/<(LM|F|P|A|L|S) i=/ { if ($2 != ++n + 1) { print NR ": id " $2; exit 1 } }' inline.so.hpcstruct
check "hpcstruct: ids in the order of the document" test $? = 0
check_equal "hpcstruct: no entry address twice" "$(sed -n 's/^ *<P .* v="{\[\(0x[0-9a-f]*\)-.*/\1/p' inline.so.hpcstruct | sort | uniq -d)" ""
check "hpcstruct: the version is where readers look for it" grep -q '^<!-- Version 4.9 -->$' inline.so.hpcstruct
sed -n 's/^ *<S .* v="{\(.*\)}".*/\1/p' inline.so.hpcstruct | tr ' ' '\n' | tr -d '[)' | sed 's/0x//g' | tr '-' ' ' |
    while read -r a b; do printf '%08d %08d\n' "0x$a" "0x$b"; done | sort >ranges
check "hpcstruct: statements do not overlap" awk '$1 < last { exit 1 } { last = $2 }' ranges

run "$hpcview" structure --no-cache --function 'nest_*' inline.so
check_equal "--function" "$(printf '%s\n' "$out" | sed -n 's/.*<P n="\([^"]*\)".*/\1/p' | tr '\n' ' ')" "nest_two nest_three "
run "$hpcview" structure --no-cache --source 'inline.c' inline.so
check_equal "--source" "$(printf '%s\n' "$out" | grep -c '<F ')" 1
run "$hpcview" structure -f outline --no-cache --function 'nosuch*' inline.so
check_match "--function that matches nothing says so" "$err" "inline.so: no procedure name matches 'nosuch*'"
run "$hpcview" structure -f outline --no-cache --source 'nosuch.c' inline.so
check_match "--source that matches nothing says so" "$err" "no procedure is from a source file that matches 'nosuch.c'"
run "$hpcview" structure -f outline --no-cache --function 'nest_two' inline.so
check_match "outline shows the nest" "$out" "      loop  154-156  "
check_match "outline shows the inner loop" "$out" "        loop  155-156  "

run "$hpcview" structure -o cached.xml inline.so
check_same "the result is the same without --no-cache" cached.xml inline.so.xml
entry=$XDG_CACHE_HOME/hpcview/structure
check_equal "one entry, named by the build id" "$(ls "$entry" | sed 's/-[0-9a-f.-]*\.xml$//')" "0123456789abcdef"
mkdir elsewhere && cp inline.so elsewhere/other.so
run "$hpcview" structure -o other.xml elsewhere/other.so
check_equal "from the cache, the module has the name asked for" "$(sed -n 's/.*<LM n="\([^"]*\)".*/\1/p' other.xml)" "elsewhere/other.so"
sed 's/<LM n="[^"]*"/<LM n="inline.so"/' other.xml >renamed.xml
check_same "from the cache, all else is the same" renamed.xml inline.so.xml
echo '<PGM version="4"><LM' >"$entry/$(ls "$entry")"
run "$hpcview" structure -o mended.xml inline.so
check_same "a damaged entry is not used" mended.xml inline.so.xml
cp "$hpcview" rebuilt
touch -d 2001-02-03 rebuilt
run ./rebuilt structure -o rebuilt.xml inline.so
check_equal "what another build of this version found is not used" "$(ls "$entry" | wc -l)" 2
run ./rebuilt structure -o rebuilt.xml inline.so
check_equal "but its own is" "$(ls "$entry" | wc -l)" 2

refuses() { # NAME WORDS FILE
    run "$hpcview" structure --no-cache "$3"
    check "$1: status 1" test "$status" = 1
    check_match "$1: says so" "$err" "$2"
    check_equal "$1: in one line" "$(printf '%s\n' "$err" | wc -l)" 1
}
echo 'no program' >text
: >empty
head -c 40 inline.so >short
refuses "text" "text" text
refuses "an empty file" "empty" empty
refuses "a cut header" "short" short
refuses "no file" "nothing-here" nothing-here
mkfifo pipe
run timeout 20 "$hpcview" structure --no-cache pipe
check "a pipe without a writer: status 1" test "$status" = 1
check_match "a pipe: the message says so" "$err" "pipe: a pipe"

# More in each other than are opened: loops, and calls of which one is inlined into the next.
awk 'BEGIN { print "int work(int);\nvoid nest(int n)\n{"; for (i = 0; i < 210; i++) printf "for (int i%d = 0; i%d < n; i%d++)\n", i, i, i; print "work(n);\n}"
    print "static inline __attribute__((always_inline)) int f0(int x) { return work(x); }"
    for (i = 1; i < 220; i++) printf "static inline __attribute__((always_inline)) int f%d(int x) { return f%d(x + 1) + 1; }\n", i, i - 1
    print "int chain(int x) { return f219(x); }" }' >deep.c
gcc -g -O0 -c deep.c
run "$hpcview" structure --no-cache -f outline deep.o
check_equal "deep nesting: status" "$status" 0
check_match "loops nested too deeply: a warning" "$err" "(nest) has more than 200"
check_match "calls inlined too deeply: a warning" "$err" "(chain) has more than 200"

if command -v dwz >/dev/null; then
    printf '%s\n' 'struct things { int first_of_things, second_of_things; long third_of_things; };' \
        'int add_things(struct things *t, int n) { int s = 0; for (int i = 0; i < n; i++) s += t[i].first_of_things; return s; }' \
        'int main(void) { struct things t = {1, 2, 3}; return add_things(&t, 1); }' >shared.c
    gcc -g -gdwarf-4 -O0 shared.c -o one && cp one two && gcc -g -gdwarf-4 -O0 shared.c -o two && dwz -m shared one two && rm -f shared
    run "$hpcview" structure --no-cache -f outline one
    check_match "without dwz's shared file: the symbol's name" "$out" "    add_things  2 "
    check "without dwz's shared file: nothing of libdwarf's" test "${out#*DW_FORM}" = "$out"
else
    skip "without dwz's shared file: the symbol's name" "no dwz here"
fi
run "$hpcview" structure
check "no operand: status 2" test "$status" = 2
run "$hpcview" structure -f hpcstrukt inline.so
check "no such format: status 2" test "$status" = 2
check_match "no such format: the near one is named" "$err" "did you mean 'hpcstruct'"
ln -s "$hpcview" bloop
run ./bloop --no-cache -o bloop.xml inline.so
check_same "called bloop it is the same" bloop.xml inline.so.xml
done_testing
