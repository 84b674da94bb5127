#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Comparison with `perf record --call-graph dwarf`: each function's inclusive share, on real optimized programs, as a table:
# functions as they were compiled, and then those inlined into others with them (CPython's _PyEval_Vector has half of a program by itself, and
# nearly all of it with the one that PyEval_EvalCode has inlined, at the bottom of every stack; perf report calls that one "(inlined)" and
# gives it a row of its own). By hand, for it takes minutes: `make check-long`, or PROGRAMS="python3 sqlite3" for some. Fails where
# functions are beyond what chance explains. A share is of samples whose path has the function, once each.
. "$top_srcdir/tests/lib.sh"
need_recording
command -v perf >/dev/null 2>&1 || skip_all "no perf here"
: "${CC:=cc}" "${CXX:=c++}" "${FC:=gfortran}" "${RATE:=997}" "${PROGRAMS:=python3 git sqlite3 cc1 templates openmp}"
perf record -q -e cpu-clock -o "$scratch/try" true >/dev/null 2>&1 || skip_all "perf cannot record here"

cat >"$scratch/templates.cc" <<'END'
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>
template <int N> struct deep {
    template <class F> [[gnu::noinline]] static double go(F f, double x) { return deep<N - 1>::go([=](double y) { return f(y) * 1.0001 + N; }, x) + 1; }
};
template <> struct deep<0> {
    template <class F> [[gnu::noinline]] static double go(F f, double x) { double s = 0; for (int i = 0; i < 300; i++) s += f(x + i); return s; }
};
int main()
{
    std::map<std::string, double> words;
    double s = 0;
    for (int i = 0; i < 60000; i++) {
        words["word " + std::to_string(i % 3000)] += deep<12>::go([](double y) { return y + 1; }, i);
        if (i % 100 == 0) {
            std::vector<std::pair<double, std::string>> all;
            for (auto &w : words) all.emplace_back(w.second, w.first);
            std::sort(all.begin(), all.end(), std::greater<>());
            s += std::accumulate(all.begin(), all.end(), 0.0, [](double a, auto &b) { return a + b.first; });
        }
    }
    return s < 0;
}
END
cat >"$scratch/openmp.f90" <<'END'
module m
contains
  recursive real(8) function walk(a, i, d) result(s)
    real(8), intent(in) :: a(:)
    integer, intent(in) :: i, d
    s = sum(a(i:)) * 1d-6
    if (d > 0) s = s + walk(a, i + 1, d - 1)
  end function
end module
program p
  use m
  real(8) :: a(4000), t
  integer :: k
  a = 1
  t = 0
  !$omp parallel do reduction(+:t) schedule(dynamic) num_threads(2)
  do k = 1, 12000
    t = t + walk(a, 1 + mod(k, 100), 20)
  end do
  if (t < 0) stop 1
end program
END
cat >"$scratch/work.py" <<'END'
import json
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
f(27)
for i in range(40): json.loads(json.dumps([{"a": i, "b": [1, 2, 3] * 50}] * 300, indent=1))
class A:
    def __init__(self, x): self.x = x
    def __lt__(self, other): return self.x < other.x
for i in range(6): sorted([A(i * 7919 % 20011) for i in range(20000)])
END
awk 'BEGIN { for (n = 1; n <= 400; n++) printf "double f%d(double *a, int k) { double s = %d; for (int i = 0; i < k; i++) { if (a[i] > %d) s += a[i] * i; else s -= a[k - i - 1] / (i + %d); } return s; }\n", n, n, n, n }' >"$scratch/big.c"

# perf_shares SCRIPT own|all: of perf's stacks: FUNCTION SHARE SAMPLES, those of at least 2%
perf_shares() {
    awk -v inlined="$2" '
        function end(  f) { if (n) { total++; for (f in here) count[f]++ } split("", here); n = 0 }
        NF == 0 { end(); next }
        { n++; $1 = ""; sub(/^ /, ""); sub(/\+0x[0-9a-f]+$/, "") }
        / \(inlined\)$/ { if (inlined != "all") next; sub(/ \(inlined\)$/, "") }
        { sub(/\(.*/, ""); if ($0 != "[unknown]" && $0 != "[") here[$0] = 1 }
        END { end(); for (f in count) if (count[f] >= total / 50) printf "%s\t%.5f\t%d\n", f, count[f] / total, total }' "$1"
}

# our_shares FILE own|all: FUNCTION SHARE, from each procedure's calls, and from stacks
our_shares() {
    if [ "$2" = own ]; then
        "$hpcview" print --by calls --format csv "$1" 2>/dev/null | awk -F, '
            NR == 1 { next }
            $1 == 0 { f = $6; for (i = 7; i <= NF - 4; i++) f = f "," $i; gsub(/"/, "", f); sub(/ \[clone.*/, "", f); sub(/\(.*/, "", f)
              value[f] += $(NF - 1); if ($(NF - 1) > total) total = $(NF - 1) }
            END { for (f in value) if (value[f] >= total / 100) printf "%s\t%.5f\n", f, value[f] / total }'
    else
        "$hpcview" export folded --no-loops "$1" 2>/dev/null | awk '
            { v = $NF; total += v; sub(/ [0-9]+$/, ""); n = split($0, frame, ";"); split("", here)
              for (i = 2; i <= n; i++) { f = frame[i]; sub(/ \[clone.*/, "", f); sub(/\(.*/, "", f); if (!(f in here)) { here[f] = 1; value[f] += v } } }
            END { for (f in value) if (value[f] >= total / 100) printf "%s\t%.5f\n", f, value[f] / total }'
    fi
}

# compare NAME own|all WORDS
compare() {
    perf_shares "$scratch/script" "$2" | sort >"$scratch/theirs"
    our_shares "$scratch/m" "$2" | sort >"$scratch/ours"
    if join -t "$(printf '\t')" "$scratch/ours" "$scratch/theirs" | sort -t "$(printf '\t')" -k2,2rn | awk -F '\t' -v n="$samples" '
        { p = ($2 * n + $3 * $4) / (n + $4); limit = 4 * sqrt(p * (1 - p) * (1 / n + 1 / $4)) + 0.02; d = $2 - $3; a = d < 0 ? -d : d; rows++
          printf "# %6.1f%% %6.1f%%  %s%s\n", 100 * $2, 100 * $3, $1, (a > limit ? "   <- differs" : ""); if (a > limit) bad++ ; if (a > most) most = a }
        END { printf "# %s functions, at most %.1f points apart, %d beyond chance\n", rows, 100 * most, bad; exit !(rows >= 3 && bad <= rows / 20) }' >"$scratch/table"; then
        ok "$1, $3: $(tail -n 1 "$scratch/table" | sed 's/^# //')"
    else
        not_ok "$1, $3"
    fi
    cat "$scratch/table"
}

# against NAME COMMAND...
against() {
    name=$1
    shift
    case " $PROGRAMS " in *" $name "*) ;; *) return ;; esac
    command -v "$1" >/dev/null 2>&1 || {
        skip "$name" "no $1 here"
        return
    }
    rm -rf "$scratch/m" "$scratch/perf.data"
    "$hpcview" record -e "perf::TASK-CLOCK@$((1000000000 / RATE))" -o "$scratch/m" -- "$@" >/dev/null 2>&1
    perf record -q -e cpu-clock:u -F "$RATE" --call-graph dwarf,65528 -o "$scratch/perf.data" "$@" >/dev/null 2>&1
    samples=$("$hpcview" info "$scratch/m" 2>/dev/null | awk '$1 == "samples" { n += $2 } END { print n + 0 }')
    comment "$name: $samples samples; files: $(cat "$scratch"/m/* | wc -c) bytes, perf's $(wc -c <"$scratch/perf.data"); ours, perf's, function"
    perf script --no-inline -i "$scratch/perf.data" -F ip,sym >"$scratch/script" 2>/dev/null
    compare "$name" own "as compiled"
    if timeout 60 perf script -i "$scratch/perf.data" -F ip,sym >"$scratch/script" 2>/dev/null; then
        compare "$name" all "with what was inlined"
    else
        skip "$name, with what was inlined" "perf waits for addr2line, which does not answer of binaries without lines"
    fi
}

against python3 python3 "$scratch/work.py"
against git git -C "$top_srcdir" log -p --stat -M -400
against sqlite3 sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 1200000) select count(*), max(hex(x)) from c group by x % 100 order by 2;'
# shellcheck disable=SC2086 # "ccache gcc" is a compiler too
{
    against cc1 "$($CC -print-prog-name=cc1)" -O2 -quiet -o /dev/null "$scratch/big.c"
    ! $CXX -O2 -std=c++17 -fomit-frame-pointer -g -o "$scratch/templates" "$scratch/templates.cc" || against templates "$scratch/templates"
    ! $FC -O2 -fopenmp -g -J "$scratch" -o "$scratch/openmp" "$scratch/openmp.f90" || against openmp "$scratch/openmp"
}
done_testing
