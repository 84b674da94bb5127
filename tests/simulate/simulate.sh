#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcview simulate: results are exact, by both ways to get references; programs with threads, signals, fork and exec; unsupported programs
# are reported.
. "$top_srcdir/tests/lib.sh"

[ -x "$hpcview" ] || skip_all "hpcview is not built"
programs=$top_srcdir/tests/simulate/programs
machines=$top_srcdir/share/machines
hooks=$top_builddir/mhsim/hpcview-cc
small=$scratch/small.xml
cd "$scratch" || exit 99
cat >"$small" <<'END'
<machine name="small">
  <memory latency="100">
    <cache name="L1" size="8K" line="64" ways="2" latency="2"/>
    <cache name="L2" size="256K" line="64" ways="8" shared="yes" latency="10"/>
    <tlb name="TLB" entries="16" page="4K"/>
  </memory>
</machine>
END

line_of() { grep -n "/\* $2 \*/" "$programs/$1" | cut -d : -f 1; }

# simulate PROGRAM ARGS...: into $scratch/m, on the small machine
simulate() {
    rm -rf m ./*.rows
    run "$hpcview" simulate -o m -m "$small" $options -- "$@"
}
options=

# table NAME COLUMNS...: of the last measurement, tabs between, no head. columns by name.
table() {
    table_name=$1
    shift
    [ -f "$table_name.rows" ] || "$hpcview" print --table "$table_name" --format csv m 2>/dev/null | csv_rows >"$table_name.rows"
    awk -F '\t' -v want="$*" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, w, " "); next }
        { out = ""; for (i = 1; i <= n; i++) out = out (i > 1 ? "\t" : "") $at[w[i]]; print out }' "$table_name.rows"
}

# sum_of COLUMN PROGRAM LINE LEVEL: over a line's references
sum_of() {
    table references reference.line level "$1" reference.file |
        awk -F '\t' -v line="$3" -v level="$4" -v file="$2" '$1 == line && $2 == level && index($4, file) { n += $3 } END { print n + 0 }'
}

# ---- compiled in ---------------------------------------------------------------------------
have_hooks=
if "$hooks" -O1 -o multiply "$programs/multiply.c" 2>"$scratch/hooks.err"; then
    have_hooks=1
    ./multiply >bare.out
    simulate ./multiply
    check "compiled in: the program's own exit status" test "$status" = 3
    check_equal "compiled in: the program's own output" "$out" "$(cat bare.out)"
    inner=$(line_of multiply.c INNER)
    check_equal "each reference of the inner loop is counted" "$(sum_of accesses multiply.c "$inner" L1)" 2000000
    check_equal "and each store" "$(sum_of accesses multiply.c "$(line_of multiply.c STORE)" L1)" 10000
    check_equal "both arrays have their names" "$(table arrays object level accesses | awk -F '\t' '$2 == "L1" && $3 > 1000000 { print $1, $3 }')" \
        "a 1010000
b 1010000"
    check_equal "the heap block is named by who allocated it" "$(table arrays object level accesses where.line | awk -F '\t' '$2 == "L1" && $1 ~ /heap/ && $3 >= 10000 { print $1, $4 }')" "heap 1 $(grep -n malloc "$programs/multiply.c" | cut -d : -f 1)"

    # everything adds up
    check_equal "what left is what was thrown out by somebody" "$(table references level evictions | awk -F '\t' '{ n[$1] += $2 } END { for (l in n) if (n[l]) print l, n[l] }' | sort)" \
        "$(table evictors level blocks | awk -F '\t' '{ n[$1] += $2 } END { for (l in n) if (n[l]) print l, n[l] }' | sort)"
    check_equal "the same by arrays" "$(table arrays level evictions | awk -F '\t' '{ n[$1] += $2 } END { for (l in n) if (n[l]) print l, n[l] }' | sort)" \
        "$(table array_evictors level blocks | awk -F '\t' '{ n[$1] += $2 } END { for (l in n) if (n[l]) print l, n[l] }' | sort)"
    check_equal "misses of one level are accesses of the next" "$(table references level misses | awk -F '\t' '$1 == "L1" { n += $2 } END { print n }')" \
        "$(table references level accesses | awk -F '\t' '$1 == "L2" { n += $2 } END { print n }')"
    all=$(table references level accesses | awk -F '\t' '$1 == "L1" { n += $2 } END { print n }')
    run "$hpcview" print --by program --format csv m
    check_match "lines, loops and procedures get the same counts" "$out" "$(table references level misses | awk -F '\t' '$1 == "L1" { n += $2 } END { print n }')"

    options="--function main --window 1000"
    simulate ./multiply
    check_equal "--window ends after so many accesses" "$(table references level accesses | awk -F '\t' '$1 == "L1" { n += $2 } END { print n }')" 1000
    options="--delay $((all - 7))"
    simulate ./multiply
    check_equal "--delay: each access before it is numbered" "$(table references level accesses | awk -F '\t' '$1 == "L1" { n += $2 } END { print n }')" 7
    if $CC --version | grep -q clang; then
        skip "numbers without calls" "the macros are for GCC's assembler"
    else
        check_match "... by the program itself" "$(nm multiply)" "U hpcview_simulate_thread"
    fi
    options="--function nowhere"
    simulate ./multiply
    check_match "--function: one that is not there" "$err" "has no function 'nowhere'"
    options="--sets 1/16"
    simulate ./multiply
    some=$(sum_of accesses multiply.c "$inner" L1)
    check "--sets: an estimate near the count" test "$some" -gt 1700000 -a "$some" -lt 2300000
    run "$hpcview" info m
    check_match "and the measurement says how near" "$out" "one cache line in 16 was simulated"
    options="--burst 10K/100K+10K"
    simulate ./multiply
    some=$(sum_of accesses multiply.c "$inner" L1)
    check "--burst: an estimate near the count" test "$some" -gt 1700000 -a "$some" -lt 2300000
    options=

    # events in programs
    "$hooks" -O1 -pthread -o trouble "$programs/trouble.c"
    work=$(line_of trouble.c WORK)
    for what in crash abort kill; do
        simulate ./trouble "$what"
        case $what in crash) want=139 ;; abort) want=134 ;; kill) want=137 ;; esac
        check_equal "$what: the status" "$status" "$want"
        # up to 512 accesses may be pending when a fault ends the program
        check "$what: what was counted until then is there" test "$(sum_of accesses trouble.c "$work" L1)" -ge "$([ "$what" = crash ] && echo 7680 || echo 8192)"
    done
    simulate ./trouble fork
    check_equal "fork: a file for each process" "$(find m -name '*.hpcprof' | wc -l)" 2
    check "fork: the child counts for itself" test "$(sum_of accesses trouble.c "$work" L1)" -ge $(((2 + 5 + 1 + 3) * 4096))
    simulate ./trouble exec ./multiply
    check_equal "exec: of a program that was compiled so: goes on there" "$status" 3
    check_equal "exec: its references are there" "$(sum_of accesses multiply.c "$inner" L1)" 2000000
    check_equal "exec: those before it are all there" "$(sum_of accesses trouble.c "$work" L1)" 8192
    simulate ./trouble signals
    check_equal "signals: the program ends as it should" "$status" 0
    simulate ./trouble close
    check_equal "a program that closes all descriptors" "$status" 0
    check "... is simulated to its end" test "$(sum_of accesses trouble.c "$work" L1)" -ge $((3 * 4096))
    simulate ./trouble threads
    check_equal "threads by the hundred" "$status" 0
    check "... are all counted" test "$(sum_of accesses trouble.c "$work" L1)" -ge $((603 * 4096))

    # the same with a running thread of the simulator, if there are two processors
    for what in abort kill exec fork threads; do
        simulate ./trouble "late-$what" ./multiply
        case $what in abort | kill | exec) rounds=100 ;; fork) rounds=$((100 + 5 + 1 + 3)) ;; threads) rounds=$((100 + 600 + 1)) ;; esac
        check_equal "$what, late: each access is counted once" "$(sum_of accesses trouble.c "$work" L1)" $((rounds * 4096))
    done
    simulate ./trouble late-crash
    check_equal "crash, late: the status" "$status" 139
    check "crash, late: what was counted until then is there" test "$(sum_of accesses trouble.c "$work" L1)" -ge $((100 * 4096 - 33 * 512))
    simulate ./trouble late-signals
    check_equal "signals, late: the program ends as it should" "$status" 0

    "$hooks" -O1 -pthread -o sharing "$programs/sharing.c"
    simulate ./sharing
    one=$(line_of sharing.c ONE) other=$(line_of sharing.c OTHER)
    taken=$(table evictors victim.line evictor.line level invalidated | awk -F '\t' -v a="$one" -v b="$other" '$3 == "L1" && $1 == a && $2 == b { n += $4 } END { print n + 0 }')
    check "false sharing: the other thread's store is named as what took the block" test "$taken" -ge 150
    # the program's limit, not ours: a sanitizer in hpcview itself needs more address space
    simulate ./trouble limit ./multiply
    check_equal "in 3 GB of address space: the program's own exit status" "$status" 3
    check_equal "in 3 GB of address space: each reference of the inner loop" "$(sum_of accesses multiply.c "$inner" L1)" 2000000
    if [ "$(uname -m)" = x86_64 ]; then
        "$hooks" -O2 -o frames "$programs/frames.c"
        simulate ./frames
        added() { table references reference.line object level accesses | awk -F '\t' -v line="$(line_of frames.c ADD)" '$1 == line && $3 == "L1" { print $2, $4 }' | sort | tr '\n' ','; }
        check_equal "arrays in frames are told by name, in those that they are handed to as well" "$(added)" \
            "down::own 500,first::red 500,second::blue 300,"
        # the same as a library's: frames of both, and the program's array that the library is handed
        "$hooks" -O2 -DLIBRARY -shared -fPIC -o libframes.so "$programs/frames.c"
        mkdir -p lib && mv libframes.so lib
        "$hooks" -O2 -DPROGRAM -o framed "$programs/frames.c" -Llib -lframes -Wl,-rpath,'$ORIGIN/lib'
        simulate ./framed
        check_equal "arrays in frames of a shared library, and those that it is handed" "$(added)" \
            "down::own 500,first::red 500,main::green 40,second::blue 300,"
        "$hooks" -O2 -DPROGRAM -o unframed "$programs/frames.c" -Llib -lframes
        LD_LIBRARY_PATH=$PWD/lib && export LD_LIBRARY_PATH
        simulate ./unframed
        unset LD_LIBRARY_PATH
        check_equal "found by LD_LIBRARY_PATH as well" "$(added)" "down::own 500,first::red 500,main::green 40,second::blue 300,"
    else
        skip "arrays in frames" "their frames are only known on x86-64"
        skip "arrays in frames of a shared library" "the same"
        skip "found by LD_LIBRARY_PATH" "the same"
    fi
    cp multiply stripped && strip stripped
    simulate ./stripped
    check_equal "no debug information, no symbols: simulated all the same" "$status" 3
    check_equal "... with all references" "$(table references level accesses | awk -F '\t' '$1 == "L1" { n += $2 } END { print (n >= 2010000) }')" 1
else
    skip "programs compiled by hpcview-cc" "$CC has no -fsanitize=kernel-address here"
fi
if [ -n "$have_hooks" ] && [ "$FC" != no ] && HPCVIEW_FC=$FC "$top_builddir/mhsim/hpcview-fc" -O1 -o arrays "$programs/arrays.f90" 2>/dev/null; then
    simulate ./arrays
    check_equal "Fortran: module variables, COMMON blocks and allocatable arrays" \
        "$(table arrays object level accesses | awk -F '\t' '$2 == "L1" && $3 >= 1000 { print $1 }' | sort -u | tr '\n' ',')" "COMMON /area/ w,grid::flux,heap 1,"
    check_equal "Fortran: the other member of the block" "$(table arrays object level accesses | awk -F '\t' '$2 == "L1" && $1 == "COMMON /area/ v" { print $3 }')" 500
else
    skip "Fortran's arrays" "no Fortran compiler that takes the hooks"
fi
if [ -n "$have_hooks" ] && grep -q "define HAVE_IBERTY 1" "$top_builddir/config.h" && "$top_builddir/mhsim/hpcview-c++" -O1 -o words "$programs/words.cc" 2>/dev/null; then
    simulate ./words
    check_equal "C++: names of arrays in words" "$(table arrays object level accesses | awk -F '\t' '$2 == "L1" && $3 >= 200 { print $1 }' | grep -v -e stack -e heap | sort | tr '\n' ',')" \
        "main::kept,ns::C::table,ns::T<3>::buffer,ns::grid,"
else
    skip "C++'s arrays" "no C++ compiler that takes the hooks, or no libiberty"
fi
if [ -n "$have_hooks" ] && command -v clang >/dev/null && HPCVIEW_CC=clang "$hooks" -O1 -fno-vectorize -o clanged "$programs/multiply.c" 2>/dev/null; then
    simulate ./clanged
    check_equal "clang: the inner loop" "$(sum_of accesses multiply.c "$inner" L1)" 2000000
else
    skip "clang's hooks" "no clang that takes them"
fi

# ---- under QEMU -------------------------------------------------------------------------------
machine=$(uname -m)
if command -v "qemu-$machine" >/dev/null && [ "$machine" = x86_64 -o "$machine" = aarch64 ]; then
    inner=$(line_of multiply.c INNER)
    $CC -g -O1 -o plain "$programs/multiply.c"
    simulate ./plain
    check_equal "QEMU: the program's own exit status" "$status" 3
    check_match "QEMU: its output" "$out" "$(./plain)"
    check_equal "QEMU: each reference of the inner loop" "$(sum_of accesses multiply.c "$inner" L1)" 2000000
    check_equal "QEMU: the heap block's allocation" "$(table arrays object level accesses where.line | awk -F '\t' '$2 == "L1" && $1 ~ /heap/ && $4 != "" && $3 >= 10000 { print $4 }' | head -n 1)" "$(grep -n malloc "$programs/multiply.c" | cut -d : -f 1)"
    if [ "$machine" = x86_64 ] && $CC -g -O3 -mavx2 -o wide "$programs/multiply.c" 2>/dev/null; then
        simulate ./wide
        # 10000 elements; not every compiler vectorizes the inner loop, whose sum is ordered
        wide=$(sum_of accesses multiply.c "$(line_of multiply.c FILL)" L1)
        check "QEMU: a vector access is one access" test "$wide" -gt 0 -a "$wide" -lt 5000
    fi
    $CC -g -O1 -o table "$programs/table.c"
    simulate ./table
    check_equal "QEMU: a table of functions, and what lies beside it" \
        "$(table arrays object level accesses | awk -F '\t' '$2 == "L1" && ($1 == "numbers" || $1 == "table") { print $1, ($3 >= 1000) }' | sort | tr '\n' ',')" "numbers 1,table 1,"
    $CC -g -O1 -pthread -o trouble-plain "$programs/trouble.c"
    simulate ./trouble-plain crash
    check_equal "QEMU: a crash is a crash" "$status" 139
    check "QEMU: what was counted until then is there" test "$(sum_of accesses trouble.c "$(line_of trouble.c WORK)" L1)" -ge 7680
    simulate ./trouble-plain exec /bin/true
    check_match "QEMU: exec is said" "$err" "the program executed /bin/true"
    simulate ./trouble-plain fork
    check_equal "QEMU: fork: a file for each process" "$(find m -name '*.hpcprof' | wc -l)" 2
    if [ "$machine" = x86_64 ] && $CC -mavx512f -o avx512 "$programs/avx512.c" 2>/dev/null; then
        simulate ./avx512
        check_match "QEMU: AVX-512 is refused with what to do" "$err" "such as AVX-512"
    fi

    # the same binary in cachegrind, the first level of the same geometry: misses of each line to the digit
    if [ "$machine" = x86_64 ] && command -v valgrind >/dev/null; then
        valgrind -q --tool=cachegrind --cache-sim=yes --D1=8192,2,64 --LL=262144,8,64 --I1=8192,2,64 --cachegrind-out-file=cg.out ./plain >/dev/null 2>&1
        simulate ./plain
        awk '/^fl=/ { f = $0 } /^events:/ { for (i = 2; i <= NF; i++) at[$i] = i } /^[0-9]/ && f ~ /multiply\.c/ {
            a[$1] += $at["Dr"] + $at["Dw"]; m[$1] += $at["D1mr"] + $at["D1mw"] } END { for (l in a) if (a[l] > 5000) print l, a[l], m[l] }' cg.out | sort -n >cachegrind.lines
        table references reference.line reference.file level accesses misses | awk -F '\t' '$3 == "L1" && $2 ~ /multiply\.c/ { a[$1] += $4; m[$1] += $5 }
            END { for (l in a) if (a[l] > 5000) print l, a[l], m[l] }' | sort -n >our.lines
        check "cachegrind saw lines" test -s cachegrind.lines
        # the arrays have other addresses relative to stack and heap there: only lines with static arrays are compared
        near=$(paste -d ' ' our.lines cachegrind.lines | awk '{ d = $3 - $6; if (d < 0) d = -d; if ($1 != $4 || $2 != $5 || d > $6 / 100 + 50) bad++ } END { print bad + 0 }')
        comment "line, accesses, misses: $(paste -d ' ' our.lines cachegrind.lines | tr '\n' ';')"
        check_equal "cachegrind counts the same accesses and misses for each line" "$near" 0
    else
        skip "against cachegrind" "no valgrind here"
    fi
else
    skip "programs under QEMU" "no qemu-$machine here"
fi
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null && [ "$machine" = x86_64 ]; then
    aarch64-linux-gnu-gcc -static -g -O1 -o arm "$programs/multiply.c"
    simulate ./arm
    check_equal "an AArch64 program: its status" "$status" 3
    check_equal "an AArch64 program: each reference of the inner loop" "$(sum_of accesses multiply.c "$(line_of multiply.c INNER)" L1)" 2000000
    aarch64-linux-gnu-gcc -static -g -O3 -o arm-wide "$programs/multiply.c"
    simulate ./arm-wide
    wide=$(sum_of accesses multiply.c "$(line_of multiply.c INNER)" L1)
    check "an AArch64 program: a vector access is one access" test "$wide" -gt 0 -a "$wide" -lt 1600000
else
    skip "AArch64 programs" "no aarch64-linux-gnu-gcc or qemu-aarch64 here"
fi

# ---- invalid input -------------------------------------------------------------------------------
for file in "$machines"/*.xml; do
    run "$hpcview" simulate --show-machine -m "$file"
    check "${file##*/} can be simulated" test "$status" = 0
    ! command -v xmllint >/dev/null || check "${file##*/} follows the schema" xmllint --noout --relaxng "$top_srcdir/share/schemas/machine.rng" "$file"
done
run "$hpcview" simulate --show-machine
check_match "this machine, in a sentence" "$out" "L1: "
printf '<machine><memory>\n<cache name="L1" size="32K" ways="7"/></memory></machine>' >bad.xml
run "$hpcview" simulate -m bad.xml -- /bin/true
check_match "a machine that makes no sense: file, line and why" "$err" "bad.xml:2: L1: 32768 bytes are not a multiple"
check_equal "... status 1" "$status" 1
printf '#!/bin/sh\n' >script && chmod 755 script
run "$hpcview" simulate -- ./script
check_match "a script" "$err" "is a script: simulate the program that it starts"
run "$hpcview" simulate -- ./nothing
check_match "no such program" "$err" "nothing"
run "$hpcview" simulate --burst 5M/1M -- /bin/true
check_equal "a burst longer than its period: wrong usage" "$status" 2
cp /bin/true someprogram
run env PATH=/nowhere "$hpcview" simulate -- "$scratch/someprogram"
check_match "no QEMU: how to install it" "$err" "apt-get install qemu-user"
printf '#!/bin/sh\necho no such option >&2\nexit 1\n' >qemu-old && chmod 755 qemu-old
run "$hpcview" simulate -o m4 --qemu "$scratch/qemu-old" -- "$scratch/someprogram"
check_match "a QEMU that takes no plugin" "$err" "did not load the plugin"
check "nothing is left behind" test -z "$(find m4 -mindepth 1)"
done_testing
