#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Structure of whole binaries: hpcview structure against other readers of the same file, and cost against size.
. "$top_srcdir/tests/bench/lib.sh"

rounds=${ROUNDS-3}
decode=$top_builddir/tests/bench/decode
lib=/usr/lib/x86_64-linux-gnu

# text_bytes FILE: the size of .text
text_bytes() {
    readelf -SW "$1" 2>/dev/null | sed -n 's/^ *\[ *[0-9]*\] \.text  *PROGBITS  *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p' | head -n 1 |
        { read -r hex && printf '%d\n' "0x$hex"; }
}

# against NAME BINARY WHAT COMMAND: one row, hpcview's time over the other's
against() {
    if compare "$rounds" "$4" "'$hpcview' structure --no-cache -j 1 -o '$scratch/x.xml' '$2'"; then
        row "$1, $3" "$(number %.3f "$wall_1")" "$(number %.3f "$wall_2")" "$(number %.3f "$ratio")" "$(number %.3f "$rss_2 / $rss_1")"
    fi
}

echo "hpcview structure -j 1 against others on the same file (median of $rounds pairs; below 1: hpcview is quicker or smaller)"
row "binary, other tool" "other s" "hpcview s" "time ratio" "memory ratio"
for binary in "$examples/heat/heat" "$examples/particles/particles" "$hpcview" "$lib/libopenblas.so.0" "$(command -v node)" \
    "$lib/libLLVM-14.so.1"; do
    [ -f "$binary" ] || continue
    real=$(readlink -f "$binary")
    name=$(basename "$binary")
    bytes=$(wc -c <"$real")
    if [ -x "$decode" ]; then against "$name" "$real" "bare Zydis decode" "'$decode' '$real'"; fi
    # for a large stripped library, objdump takes minutes, and line readers have nothing to read
    if [ "$bytes" -lt "${OBJDUMP_LIMIT-40000000}" ]; then
        have objdump && against "$name" "$real" "objdump -d -l" "objdump -d -l '$real'"
        if readelf -SW "$real" | grep -q '\.debug_line'; then
            # lines only, for every 16th byte of .text
            readelf -SW "$real" | awk '$2 == ".text" || $3 == ".text" { for (i = 1; i <= NF; i++) if ($i == "PROGBITS") { print $(i+1), $(i+3) } }' |
                head -n 1 >"$scratch/text"
            read -r start size <"$scratch/text"
            perl -e 'for (my $a = hex $ARGV[0]; $a < hex($ARGV[0]) + hex($ARGV[1]); $a += 16) { printf "0x%x\n", $a }' "$start" "$size" \
                >"$scratch/addresses"
            for tool in addr2line llvm-symbolizer; do
                option=-e
                [ "$tool" = addr2line ] || option=--obj
                have "$tool" && against "$name" "$real" "$tool of every 16th byte" \
                    "$tool -i $option '$real' <'$scratch/addresses'"
            done
        fi
    fi
done

echo
echo "cost against size (one thread; MB are 10^6 bytes)"
row "binary" "file MB" ".text MB" "seconds" "s/MB .text" "peak MiB" "peak/.text"
for binary in /usr/bin/env /usr/bin/bash "$examples/particles/particles" "$hpcview" $lib/libstdc++.so.6 $lib/libcrypto.so.3 /usr/bin/perf \
    "$lib/libopenblas.so.0" "$(command -v node)" "$lib/libLLVM-14.so.1"; do
    [ -f "$binary" ] || continue
    real=$(readlink -f "$binary")
    text=$(text_bytes "$real")
    [ -n "$text" ] || continue
    if once 1 "'$hpcview' structure --no-cache -j 1 -o '$scratch/x.xml' '$real'"; then
        row "$(basename "$binary")" "$(number %.1f "$(wc -c <"$real") / 1e6")" "$(number %.2f "$text / 1e6")" "$(number %.2f "$wall")" \
            "$(number %.2f "$wall / ($text / 1e6)")" "$(number %.0f "$rss / 1024")" "$(number %.1f "$rss * 1024 / $text")"
    fi
done

# A database of a few samples requests only the functions that contain them.
browser=/usr/lib/chromium/chromium
if [ -f "$browser" ]; then
    echo
    echo "53 addresses of a stripped browser (one thread)"
    row "binary" ".text MB" "CPU s" "peak MiB"
    set -- $(readelf -SW "$browser" | sed -n 's/^ *\[ *[0-9]*\] \.text  *PROGBITS  *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\) .*/0x\1 0x\2/p')
    if once 3 "'$top_builddir/tests/bench/scopes_at' '$browser' $1 $2 53"; then
        row "$(basename "$browser")" "$(number %.0f "$(text_bytes "$browser") / 1e6")" "$(number %.2f "$cpu")" "$(number %.0f "$rss / 1024")"
    fi
fi

# A large program with debug information: DWARF_MB copies of a unit with a megabyte of it, each under another name.
if [ "${DWARF_MB-1000}" -gt 0 ] && have objcopy; then
    echo
    echo "53 addresses of a program with ${DWARF_MB-1000} MB of debug information (one thread)"
    row "binary" "file MB" "CPU s" "peak MiB"
    perl -e '
        my $n = 1000;
        for my $i (0 .. $n - 1) {
            print "struct s$i { int a, b; double c[", $i % 50 + 1, "]; struct s$i *next; union { long l; char text[8]; } u; };\n",
                "static inline int sum$i(struct s$i *p, int k) { int t = 0; for (int i = 0; i < k; i++) t += p->a * i + p->b; return t; }\n",
                "__attribute__((noinline)) static int work$i(struct s$i *p, int n)\n{\n    int r = 0;\n    for (int j = 0; j < n; j++) {\n",
                "        int u = sum$i(p, j), v = sum$i(p->next, n);\n        r += u ^ v;\n    }\n    return r + p->b;\n}\n";
        }
        print "int part(void *p, int n)\n{\n    int r = 0;\n", (map { "    r += work$_(p, n);\n" } 0 .. $n - 1), "    return r;\n}\n"' >"$scratch/part.c"
    echo 'int main(void) { return 0; }' >"$scratch/main.c"
    (cd "$scratch" && gcc -O1 -g -c part.c && gcc -c main.c && mkdir parts &&
        for k in $(seq "${DWARF_MB-1000}"); do objcopy --redefine-sym "part=part$k" part.o "parts/$k.o"; done &&
        gcc -no-pie -o big main.o parts/*.o && rm -r parts) &&
        set -- $(readelf -SW "$scratch/big" | sed -n 's/^ *\[ *[0-9]*\] \.text  *PROGBITS  *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\) .*/0x\1 0x\2/p') &&
        once 3 "'$top_builddir/tests/bench/scopes_at' '$scratch/big' $1 $2 53" &&
        row "big" "$(number %.0f "$(wc -c <"$scratch/big") / 1e6")" "$(number %.2f "$cpu")" "$(number %.0f "$rss / 1024")"
fi

echo
echo "more threads (-j N over -j 1)"
for binary in "$(command -v node)" "$lib/libLLVM-14.so.1"; do
    [ -f "$binary" ] || continue
    if compare "$rounds" "'$hpcview' structure --no-cache -j 1 -o '$scratch/x.xml' '$binary'" \
        "'$hpcview' structure --no-cache -j $(nproc) -o '$scratch/x.xml' '$binary'"; then
        row "$(basename "$binary") -j $(nproc)" "$(number %.3f "$wall_1")" "$(number %.3f "$wall_2")" "$(number %.3f "$ratio")"
    fi
done
