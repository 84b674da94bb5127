#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcview quality: its results for the loops of corpus/ (C, C++, Fortran), whose objects are kept as files, against counts by hand in the
# source, and all of it against the expected results in the same folder (GOLDEN=write makes these anew).
. "$top_srcdir/tests/lib.sh"
HPCVIEW_MACHINES=$top_srcdir/share/machines
export HPCVIEW_MACHINES
corpus=$top_srcdir/tests/quality/corpus

machine_of() {
    case $1 in
    *sve*) echo neoverse-v1 ;;
    aarch64*) echo neoverse-n1 ;;
    *avx512*) echo sapphire-rapids ;;
    *) echo skylake-server ;;
    esac
}

# columns FILE NAME...: these columns of a CSV, separated by a blank; a note is last and may contain blanks.
columns() {
    columns_file=$1
    shift
    awk -F, -v wanted="$*" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(wanted, w, " ") }
        { line = ""; for (i = 1; i <= n; i++) line = line (i > 1 ? " " : "") ($(at[w[i]]) == "" ? "-" : $(at[w[i]])); print line }' "$columns_file"
}

for object in "$corpus"/*.obj; do
    name=$(basename "$object" .obj)
    run "$hpcview" quality --no-llvm-mca --machine "$(machine_of "$name")" --format csv "$object"
    cp "$scratch/out" "$scratch/$name.csv"
    check "$name: read" test "$status" = 0
    columns "$scratch/$name.csv" procedure role unroll elements step instructions paths flops fma vector_ratio loaded stored stack spills calls \
        stride_none stride_one stride_more indirect stride_unknown line header bytes uops vector_load vector_store vector_add vector_multiply \
        vector_other efficiency intensity address_share bound bound_short ahead bound_by front_end ports memory divider chain store_chain \
        if_vectorized if_clean if_no_chain if_next checks >"$scratch/$name.seen"
    if [ "${GOLDEN-}" = write ]; then cp "$scratch/$name.seen" "$corpus/$name.expected"; fi
    check "$name: as expected" cmp -s "$scratch/$name.seen" "$corpus/$name.expected"
    cmp -s "$scratch/$name.seen" "$corpus/$name.expected" || comment "$(diff "$corpus/$name.expected" "$scratch/$name.seen" | head -10)"
done

# In words, and as JSON: some of C, all of the others.
for name in x86-gcc-O2 x86-gxx-O3 x86-gfortran-O3 aarch64-gcc-O3; do
    case $name in *-gcc-*) some='c*' ;; *) some='*' ;; esac
    for format in text json; do
        run "$hpcview" quality --no-llvm-mca --machine "$(machine_of "$name")" --function "$some" --format $format "$corpus/$name.obj"
        awk '{ gsub(/,\{"/, ",\n {\""); print }' "$scratch/out" >"$scratch/seen"
        if [ "${GOLDEN-}" = write ]; then cp "$scratch/seen" "$corpus/$name.$format"; fi
        check_same "$name: $format" "$scratch/seen" "$corpus/$name.$format"
    done
done

# Counted by hand in the source and the width of the vectors: object, procedure, then numbers an iteration, flops, share of vector
# instructions, bytes loaded and stored, references of stride one, of a larger one, indirect ones.
while read -r name procedure wanted; do
    [ -n "$procedure" ] || continue
    seen=$(columns "$scratch/$name.csv" procedure elements flops vector_ratio loaded stored stride_one stride_more indirect |
        sed -n "s/^$procedure //p" | head -n 1)
    check "$name: $procedure by hand" test "$seen" = "$wanted"
    [ "$seen" = "$wanted" ] || comment "seen $seen, by hand $wanted"
done <<'END'
x86-gcc-O2 scale 1 1 0 8 8 2 0 0
x86-gcc-O2 triad 1 2 0 16 8 3 0 0
x86-gcc-O2 triad_float 1 2 0 8 4 3 0 0
x86-gcc-O2 sum 1 1 0 8 0 1 0 0
x86-gcc-O2 dot 1 2 0 16 0 2 0 0
x86-gcc-O2 gather 1 2 0 20 0 2 0 1
x86-gcc-O2 scatter 1 0 0 12 8 2 0 1
x86-gcc-O2 strided 1 0 0 8 8 1 1 0
x86-gcc-O2 column 1 0 0 8 8 1 1 0
x86-gcc-O2 recurrence 1 2 0 8 8 2 0 0
x86-gcc-O2 recurrence_memory 1 2 0 16 8 3 0 0
x86-gcc-O2 divide 1 1 0 16 8 3 0 0
x86-gcc-O2 convert_int 1 0 0 4 8 2 0 0
x86-gcc-O2 histogram 1 0 0 5 4 1 0 1
x86-gcc-O2 fused_missed 1 2 0 24 8 4 0 0
x86-gcc-O3-fast-avx512 triad 4 8 1 64 32 3 0 0
x86-gcc-O3-fast-avx512 triad_float 8 16 1 64 32 3 0 0
x86-gcc-O3-fast-avx512 sum 4 4 1 32 0 1 0 0
x86-gcc-O3-fast-avx512 dot 4 8 1 64 0 2 0 0
x86-gcc-O3-fast-avx512 recurrence 1 2 0 8 8 2 0 0
x86-gcc-O3-fast-avx512 gather 8 16 1 160 0 3 0 2
aarch64-gcc-O3 triad 2 4 1 32 16 3 0 0
aarch64-gcc-O3 triad_float 4 8 1 32 16 3 0 0
aarch64-gcc-O3 sum 1 1 0 8 0 1 0 0
aarch64-gcc-O3 gather 1 2 0 20 0 2 0 1
aarch64-gcc-O3 recurrence 1 2 0 8 8 2 0 0
x86-gxx-O2 accumulated 1 1 0 8 0 1 0 0
x86-gxx-O2 field 0 1 0 8 0 0 1 0
x86-gxx-O2 checked 1 1 0 8 0 1 0 0
x86-gxx-O2 grid::grow 1 1 0 16 8 2 0 0
x86-gxx-O2 squared 1 1 0 8 8 2 0 0
x86-gxx-O2 halved 1 1 0 4 4 2 0 0
x86-gxx-O2 nested 0 1 0 16 0 0 1 1
x86-gxx-O3 squared 2 2 1 16 16 2 0 0
x86-gxx-O3 halved 4 4 1 16 16 2 0 0
x86-gfortran-O2 loops::triad 1 2 0 16 8 3 0 0
x86-gfortran-O2 loops::rows 1 0 0 8 8 1 1 0
x86-gfortran-O2 loops::shaped 0 1 0 8 8 0 2 0
x86-gfortran-O2 loops::contiguous_shape 1 1 0 8 8 2 0 0
x86-gfortran-O2 loops::gather 1 0 0 12 8 2 0 1
x86-gfortran-O2 loops::expression 1 2 0 4 4 2 0 0
x86-gfortran-O2 loops::relax 1 2 0 8 8 2 0 0
x86-gfortran-O2 loops::product_of 1 2 0 16 0 2 0 0
x86-gfortran-O3 loops::triad 2 4 1 32 16 3 0 0
x86-gfortran-O3 loops::contiguous_shape 2 2 1 16 16 2 0 0
x86-gfortran-O3 loops::expression 4 8 1 16 16 2 0 0
x86-gfortran-O3 loops::product_of 2 4 0.6 32 0 2 0 0
END

# For each language: object, procedure, and a word of the expected check (with a -, of one that must be absent).
while read -r name procedure word; do
    seen=$(columns "$scratch/$name.csv" procedure checks | sed -n "s/^$procedure //p" | head -n 1)
    has=no
    case "+$seen+" in *"+${word#-}+"*) has=yes ;; esac
    case $word in -*) wanted=no ;; *) wanted=yes ;; esac
    check "$name: $procedure, $word" test $has = $wanted
done <<'END'
x86-gxx-O2 accumulated reduction
x86-gxx-O2 field stride
x86-gxx-O2 checked bounds-check
x86-gxx-O2 accumulated -bounds-check
x86-gxx-O2 virtual_calls call
x86-gxx-O2 grid::grow invariant-load
x86-gxx-O2 squared -invariant-load
x86-gxx-O2 halved division
x86-gxx-O2 nested indirect
x86-gfortran-O2 loops::rows stride
x86-gfortran-O2 loops::shaped stride
x86-gfortran-O2 loops::contiguous_shape -stride
x86-gfortran-O2 loops::relax chain
x86-gfortran-O2 loops::gather indirect
x86-gfortran-O3 loops::product_of reduction
x86-gfortran-O3 loops::expression -partly-vectorized
END

# Every check is found somewhere, and nowhere in all of it.
for word in scalar reduction partly-vectorized narrow-vectors gather scatter stride indirect conversion float-double division square-root int-division \
    address-multiply fma-missed chain chain-through-memory list-walk spill invariant-load call address-work tiny remainder branches bounds-check versions \
    split-lines 4k-aliasing mixed-encodings x87 locked small-loads no-prefetch; do
    hit=$(cat "$scratch"/*.seen | awk -v w="$word" '("+" $NF "+") ~ ("[+]" w "[+]")' | wc -l)
    check "$word: found, and not everywhere" test "$hit" -gt 0 -a "$hit" -lt 200
done

# Chains: latencies of the machine's file, counted by hand.
bound() { columns "$scratch/$1.csv" procedure bound bound_by | sed -n "s/^$2 //p" | head -n 1; }
check "a sum waits for its addition" test "$(bound x86-gcc-O2 sum)" = "4 chain"
check "a recurrence for both" test "$(bound x86-gcc-O2 recurrence)" = "8 chain"
check "four iterations later: a quarter, with the way through memory" test "$(bound x86-gcc-O2 recurrence_memory)" = "3.25 chain through memory"
check "a list waits for its loads" test "$(bound x86-gcc-O2 list)" = "5 chain"
check "divisions wait for the divider" test "$(bound x86-gcc-O2 divide)" = "4 divider"
check "a chain is sure of long entries only: of short ones what the rest takes, 224 uops ahead at six an iteration" \
    test "$(columns "$scratch/x86-gcc-O2.csv" procedure uops bound_short ahead | sed -n 's/^gather //p')" = "6 1.5 37.333"
check "sums of Golden Cove take two cycles" test "$(columns "$scratch/x86-gcc-O3-fast-avx512.csv" procedure bound | sed -n 's/^sum //p')" = 2

run "$hpcview" quality --machine skylake-server --function gather "$corpus/x86-gcc-O2.obj"
check_match "a gather loop in words" "$out" \
    'scalar, 1 of 3 references indirect; bound by latency: loop-carried dependency, at least 4 cycles for 1 element; 1.5 if the loop ends within 38 iterations, because its next entry overlaps with this one'

run "$hpcview" quality --machine skylake-server --function gather --format json "$corpus/x86-gcc-O2.obj"
check_match "sums side by side gain what the chain takes: 4 to 1.5 cycles" "$out" '"check":"reduction-by-hand","line":56,*"gain":62.5,'

# llvm-mca's estimates: with stand-ins, and with the real one if it is installed.
mkdir "$scratch/bin"
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1" && chmod +x "$scratch/bin/$1"; }
with_stand_ins() { run env PATH="$scratch/bin:/usr/bin:/bin" "$hpcview" quality --machine skylake-server --function 'sum' --format csv "$corpus/x86-gcc-O2.obj"; }
estimate() { columns "$scratch/out" procedure llvm_mca llvm_model note | sed -n 's/^sum //p'; }
mark="movabsq \$$((0x48504356 << 32)), %rax" # in front of the first loop
listing="cat >/dev/null
printf '\\t.text\\n\\t%s\\n\\taddsd (%%rdi), %%xmm0\\n\\taddq \$8, %%rdi\\n\\tcmpq %%rax, %%rdi\\n\\tjne -16\\n' '$mark'"
stand_in llvm-mc "$listing"
stand_in llvm-mca 'cat >/dev/null; case "$*" in *iterations=60*) division=1900 loop=101 ;; *) division=900 loop=65 ;; esac
echo "{\"CodeRegions\":[{\"Name\":\"divider\",\"SummaryView\":{\"TotalCycles\":$division}},{\"Name\":\"0\",\"SummaryView\":{\"TotalCycles\":$loop}}]}"'
with_stand_ins
check "the steady state: what some iterations more take" test "$(estimate)" = "1 skylake-avx512 -"
[ "$(estimate)" = "1 skylake-avx512 -" ] || comment "$(estimate) $err"
run env PATH="$scratch/bin:/usr/bin:/bin" "$hpcview" quality --no-llvm-mca --machine skylake-server --function 'sum' --format csv "$corpus/x86-gcc-O2.obj"
check "not asked for" test "$(estimate)" = "- - -"
stand_in llvm-mca 'cat >/dev/null; echo "{\"CodeRegions\":[{\"Name\":\"divider\",\"SummaryView\":{\"TotalCycles\":30}},{\"Name\":\"0\",\"SummaryView\":{\"TotalCycles\":125}}]}"'
with_stand_ins
check_match "a model whose division takes no time is not trusted" "$err" 'has no model of Intel Skylake-X with latencies of divisions'
check "and gives no estimate" test "$(estimate)" = "- - -"
stand_in llvm-mca 'cat >/dev/null; echo "error: no such thing" >&2; exit 3'
with_stand_ins
check_match "one that fails, in its words" "$err" 'llvm-mca ended with status 3: no such thing'
stand_in llvm-mca 'cat >/dev/null; echo "hello"'
with_stand_ins
check_match "one that says something else" "$err" "llvm-mca's output"
stand_in llvm-mca 'echo "{}"'
with_stand_ins
check_match "one that says nothing" "$err" "llvm-mca's output has no cycles"
stand_in llvm-mc 'cat >/dev/null; echo hello'
with_stand_ins
check_match "an llvm-mc that says something else" "$err" "llvm-mc's output differs from its input"
check "and the rest is there" test "$status" = 0
if command -v llvm-mca >/dev/null && command -v llvm-mc >/dev/null; then
    run "$hpcview" quality --machine skylake-server --format csv "$corpus/x86-gcc-O2.obj"
    seen=$(columns "$scratch/out" procedure llvm_mca | awk '$2 != "-"' | wc -l)
    check "the real one knows most loops" test "$seen" -ge 30
    check "a sum takes four cycles there too" test "$(columns "$scratch/out" procedure llvm_mca | sed -n 's/^sum //p')" = 4
    check_match "a loop with a call has a word instead" "$(columns "$scratch/out" procedure note | sed -n 's/^call_math //p')" "no llvm-mca estimate: it has calls"
fi

# Loops of a few instructions, each paired with one that differs in the relevant detail.
if [ "$(uname -m)" = x86_64 ]; then
    loop() { printf '.globl %s\n.type %s,@function\n%s:\n1: %s\n add $8, %%rax\n cmp %%rax, %%rcx\n jne 1b\n ret\n.size %s, .-%s\n' "$1" "$1" "$1" "$2" "$1" "$1"; }
    {
        loop padded '.byte 0x2e, 0x2e
 vaddpd (%rsi,%rax), %ymm1, %ymm0
 vmovupd %ymm0, (%rdi,%rax)'
        loop old_and_new 'addpd (%rsi,%rax), %xmm1
 vmovupd %ymm0, (%rdi,%rax)'
        loop a_page_off 'movss (%rdi,%rax), %xmm0
 movss %xmm0, 4096(%rdi,%rax)'
        loop a_page_and_more 'movss (%rdi,%rax), %xmm0
 movss %xmm0, 4112(%rdi,%rax)'
        loop indexed 'imul $24, %rax, %rdx
 movsd (%rdi,%rdx), %xmm0
 movsd %xmm0, (%rsi,%rax)'
        loop every_twentieth 'imul $0x4ccccccd, %eax, %edx
 cmp $214748364, %edx
 ja 2f
 movsd (%rdi,%rax), %xmm0
 movsd %xmm0, (%rsi,%rax)
2:'
        loop gathered 'vpcmpeqd %ymm3, %ymm3, %ymm3
 vgatherqpd %ymm3, (%rsi,%ymm2,8), %ymm0
 vmovupd %ymm0, (%rdi,%rax)'
        loop from_memory 'pxor %xmm0, %xmm0
 cvtsi2sdl (%rsi,%rax), %xmm0
 movsd %xmm0, (%rdi,%rax)'
    } >"$scratch/small.s"
    run ${CC:-cc} -c -o "$scratch/small.o" "$scratch/small.s"
    check "small loops: assembled" test "$status" = 0
    run "$hpcview" quality --no-llvm-mca --machine skylake-server --format csv "$scratch/small.o"
    cp "$scratch/out" "$scratch/small.csv"
    while read -r name word; do
        seen=$(columns "$scratch/small.csv" procedure checks | sed -n "s/^$name //p")
        has=no
        case "+$seen+" in *"+${word#-}+"*) has=yes ;; esac
        case $word in -*) wanted=no ;; *) wanted=yes ;; esac
        check "$name, $word" test $has = $wanted
        [ $has = $wanted ] || comment "$name has $seen"
    done <<'END'
padded -mixed-encodings
old_and_new mixed-encodings
a_page_off 4k-aliasing
a_page_and_more -4k-aliasing
indexed address-multiply
every_twentieth -address-multiply
gathered gather
gathered -chain
END
    check "a conversion from memory needs no shuffle: five uops, four a cycle" test "$(columns "$scratch/small.csv" procedure bound bound_by | sed -n 's/^from_memory //p')" = "1.25 front end"
    check "a calculation with an indexed load is two uops in AVX's encoding" test "$(columns "$scratch/small.csv" procedure uops | sed -n 's/^padded //p')" = 5
fi

# Other formats, and errors.
run "$hpcview" quality --machine zen4 --function 'triad*' --format json "$corpus/x86-clang-O3.obj"
check_match "JSON" "$out" '"machine":"zen4"*"procedure":"triad"'
run "$hpcview" quality --machine zen4 --function gather "$corpus/x86-gcc-O2.obj"
check_match "the text says which core" "$out" 'Cycles are those of AMD Zen 4, as requested'
check_match "and what the references are" "$out" '2 of stride one, 1 indirect'
run "$hpcview" quality "$corpus/aarch64-gcc-O3.obj"
check_match "the core is named, or the processor that no file describes" "$(head -n 1 "$scratch/out")$err" '*this machine*'
run "$hpcview" quality --machine nothing "$corpus/x86-gcc-O2.obj"
check_match "a machine that is not there" "$err" "'nothing' is not a machine file of *; available: a64fx, "
check "fails" test "$status" = 2
run "$hpcview" quality --machine year-2001 "$corpus/x86-gcc-O2.obj"
check_match "a machine without a core" "$err" 'year-2001.xml: has no <core>'

wrong() { # NAME XML MESSAGE
    printf '%s\n' '<machine>' "$2" '</machine>' >"$scratch/wrong.xml"
    run "$hpcview" quality --no-llvm-mca --machine "$scratch/wrong.xml" "$corpus/x86-gcc-O2.obj"
    check_match "$1" "$err" "$3"
}
head='<core arch="x86-64" issue="4" vector="32">'
wrong "an unknown kind" "$head<op kind=\"fp-ad\" latency=\"4\"/></core>" "wrong.xml:2: *did you mean 'fp-add'"
wrong "ports that are none" "$head<op kind=\"int\" uops=\"0x\"/></core>" 'wrong.xml:2: *expected ports'
wrong "a number that is none" "$head<op kind=\"int\" latency=\"many\"/></core>" 'wrong.xml:2: *a number from 0 to 1000'
wrong "no width of its front end" '<core arch="x86-64" vector="32"></core>' 'wrong.xml:2: *<core> needs issue'
wrong "no width of vectors" '<core arch="x86-64" issue="4"></core>' 'wrong.xml:2: *<core> needs issue'
wrong "two cores" "$head</core>$head</core>" 'wrong.xml:2: *'
wrong "an unknown processor" '<core arch="mips" issue="4" vector="32"></core>' 'wrong.xml:2: *expected x86-64 or aarch64'
wrong "nothing of loads" "$head<op kind=\"int\"/></core>" 'has no <op kind="branch">'
wrong "a kind twice" "$head<op kind=\"int\"/><op kind=\"int\"/></core>" 'wrong.xml:2: *defined above'
wrong "an element that is none" "$head<port/></core>" 'wrong.xml:2: <port> is not allowed in <core>'

# Code compiled without optimization is reported as such, and nothing else; only gcc records its options.
cat >"$scratch/sum.c" <<'END'
double sum(const double *a, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}
END
if cc --version 2>/dev/null | grep -q 'Free Software Foundation'; then
    for level in '' -O0 -Og -O2; do
        # shellcheck disable=SC2086
        cc $level -g -c -o "$scratch/sum.o" "$scratch/sum.c"
        run "$hpcview" quality --machine skylake-server --format csv "$scratch/sum.o"
        seen=$(columns "$scratch/out" checks | sed 1d)
        case $level in
        '' | -O0) check_equal "cc $level: not optimized, and nothing else" "$seen" not-optimized ;;
        *) check "cc $level: it is optimized" test "$status" = 0 -a "$seen" = "${seen#*not-optimized}" ;;
        esac
    done
else
    skip "what was not optimized" "cc is not gcc here"
fi

# All files of share/machines with a core are readable and match the schema.
for file in "$HPCVIEW_MACHINES"/*.xml; do
    grep -q '<core' "$file" || continue
    object=$corpus/x86-gcc-O2.obj
    grep -q 'arch="aarch64"' "$file" && object=$corpus/aarch64-gcc-O3.obj
    run "$hpcview" quality --no-llvm-mca --machine "$file" --format csv "$object"
    check "${file##*/} is read" test "$status" = 0 -a "$(wc -l <"$scratch/out")" -gt 40
    if command -v xmllint >/dev/null; then
        check "${file##*/} fits the schema" xmllint --noout --relaxng "$top_srcdir/share/schemas/machine.rng" "$file" 2>/dev/null
    fi
done
done_testing
