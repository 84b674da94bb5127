#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Real programs, optimized, without frame pointers, as they are installed: nearly every path reaches the first function, and the flat
# profile is the one that a recording without call paths gives.
. "$top_srcdir/tests/lib.sh"
need_recording

# nearly_all: at least 99.5% of the samples in "$scratch/info"; one in two hundred may be cut if there are fewer
nearly_all() {
    awk '$1 == "samples" { n += $2 } $1 == "paths" && $2 ~ /%$/ { p = $2 + 0; seen = 1 } END { exit !(n >= 20 && seen && (100 - p) * n / 100 <= n / 200 + 1) }' "$scratch/info"
}

# reaches NAME COMMAND...: in one of two recordings; cc1 goes deeper than the stack that is copied now and then, by chance too often in
# one recording of thirty
reaches() {
    name=$1
    shift
    command -v "$1" >/dev/null 2>&1 || {
        skip "$name" "no $1 here"
        return
    }
    for try in first second; do
        rm -rf "$scratch/m"
        run timeout 100 "$hpcview" record -e perf::TASK-CLOCK@1000000 -o "$scratch/m" -- "$@"
        "$hpcview" info "$scratch/m" >"$scratch/info" 2>/dev/null
        nearly_all && break
    done
    if nearly_all; then
        ok "$name: $(awk '$1 == "samples" || ($1 == "paths" && $2 ~ /%$/) { printf "%s %s, ", $1, $2 }' "$scratch/info")$try time"
    elif awk '$1 == "samples" { n += $2 } END { exit n >= 20 }' "$scratch/info"; then
        skip "$name" "too few samples"
    else
        not_ok "$name" "$(grep -A3 samples "$scratch/info") $err"
    fi
}

: "${CC:=cc}"
cat >"$scratch/big.c" <<'END'
#define F(n) double f##n(double *a, int k) { double s = n; for (int i = 0; i < k; i++) { if (a[i] > n) s += a[i] * i; else s -= a[k - i - 1] / (i + n + 1); } switch (k % 7) { case 1: return s; case 2: return s * a[0]; case 3: return s + k; default: return f0(a, k - 1) + s; } }
double f0(double *, int);
#define G(n) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
G(1) G(2) G(3) G(4) G(5) G(6) G(7) G(8) G(9) G(10) G(11) G(12)
END
# shellcheck disable=SC2086 # "ccache gcc" is a compiler too
cc1=$($CC -print-prog-name=cc1 2>/dev/null) || cc1=
case $cc1 in
/*) reaches "a compiler" "$cc1" -O2 -quiet -o /dev/null "$scratch/big.c" ;;
*) skip "a compiler" "no gcc here" ;;
esac
reaches "python3" python3 -c '
import json
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
f(24)
for i in range(10): json.loads(json.dumps([{"a": i, "b": [1, 2, 3] * 50}] * 300, indent=1))'
reaches "sqlite3" sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000) select count(*), max(hex(x)) from c group by x % 100 order by 2;'
reaches "perl" perl -e 'sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) } f(20);
for my $i (1 .. 100000) { $h{"k" . ($i % 5000)} .= "x$i"; if ($i % 20000 == 0) { my @a = sort { $h{$a} cmp $h{$b} } keys %h; s/(\d+)x/$1y/g for @h{@a[0 .. 200]} } }'
reaches "xz, two threads" xz -T2 -6 --block-size=400000 -c "$top_srcdir"/bloop/*/*.c
reaches "git" git -C "$top_srcdir" log -p --stat -M -60

# shellcheck disable=SC2086
$CC -O1 -g -I"$top_srcdir/tests/record/programs" -o "$scratch/shares" "$top_srcdir/tests/record/programs/shares.c" || {
    skip "the flat profile" "no C compiler here"
    done_testing
}
for paths in "" --no-call-paths; do
    # shellcheck disable=SC2086
    run "$hpcview" record $paths -e perf::TASK-CLOCK@1000000 -o "$scratch/flat$paths" -- "$scratch/shares"
    "$hpcview" print --by procedure --format csv "$scratch/flat$paths" 2>/dev/null |
        awk -F, '$5 ~ /^(one|two|three|four|burn)$/ { print ($5 == "one" ? "burn" : $5), $6 / 1000000 }' |
        awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort >"$scratch/flat$paths.sum"
done
# The same samples: the exclusive cost of lines over all paths equals that in the flat profile, exactly.
"$hpcview" print --by line --format csv "$scratch/flat" 2>/dev/null | awk -F, '$1 == "line" && $NF != "" { n[$2 "," $3 "," $4] += $NF } END { for (l in n) print l, n[l] }' | sort >"$scratch/lines"
"$hpcview" print --by path --format csv "$scratch/flat" 2>/dev/null | awk -F, '$2 == "line" && $NF != "" { n[$3 "," $4 "," $5] += $NF } END { for (l in n) print l, n[l] }' | sort >"$scratch/leaves"
check_same "the leaves of paths are the flat profile" "$scratch/lines" "$scratch/leaves"
check "and not empty" test -s "$scratch/leaves"
if join "$scratch/flat.sum" "$scratch/flat--no-call-paths.sum" | awk '{ a[NR] = $2; b[NR] = $3; n += $2; m += $3 }
    END { for (i = 1; i <= NR; i++) { p = a[i] / n; q = b[i] / m; e = (a[i] + b[i]) / (n + m); limit = 6 * sqrt(e * (1 - e) * (1 / n + 1 / m)) + 0.04
        if (p - q > limit || q - p > limit) bad = 1 } exit bad || NR != 4 }'; then
    ok "the flat profile is the same with call paths and without"
else
    not_ok "the flat profile is the same with call paths and without" "$(join "$scratch/flat.sum" "$scratch/flat--no-call-paths.sum")"
fi

# Recorded without asking; left out by an option or by a configuration, over which the option has the last word.
with_paths() { "$hpcview" info "$1" 2>/dev/null | grep -c '^  paths  *[0-9.]*%'; }
check "paths are recorded without asking" test "$(with_paths "$scratch/flat")" = 1
check "--no-call-paths leaves them out" test "$(with_paths "$scratch/flat--no-call-paths")" = 0
cat >"$scratch/none.xml" <<END
<hpcview version="1"><run name="none" measurements="none.m" command="$scratch/shares" events="perf::TASK-CLOCK" call-paths="no"/></hpcview>
END
run "$hpcview" run -o "$scratch/none.db" "$scratch/none.xml"
check "a configuration says no" test "$status/$(with_paths "$scratch/none.m")" = 0/0
run "$hpcview" run --call-paths --again -o "$scratch/none.db" "$scratch/none.xml"
check "and the command line yes" test "$status/$(with_paths "$scratch/none.m")" = 0/1
run "$hpcview" record --call-paths --no-call-paths -o "$scratch/both" -- "$scratch/shares"
check_match "both are a mistake" "$status $err" "2 *--call-paths and --no-call-paths exclude each other*"
done_testing
