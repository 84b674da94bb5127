#!/bin/sh
# Folders of sources: permitted includes, absence of call cycles, prefixes of global symbols, sizes.
#
# A folder may use only those in its row, and of these only the header named like the folder. A folder without a row
# belongs to its parent. Tests and fuzz targets may include any header.
. "$top_srcdir/tests/lib.sh"

cat >"$scratch/folders" <<'END'
support
machines         support
hpcprof          support
hpcprof/format   support support/sort.h hpcprof
hpcprof/recorder
hpcprof/recorder/base      hpcprof/recorder hpcprof/recorder/protocol.h hpcprof/format
hpcprof/recorder/unwind    hpcprof/recorder/base hpcprof/format
hpcprof/recorder/output    hpcprof/recorder/base hpcprof/recorder/base/state.h hpcprof/recorder/base/syscalls.h hpcprof/recorder/unwind hpcprof/recorder/unwind/objects.h hpcprof/format
hpcprof/recorder/sampling  hpcprof/recorder/base hpcprof/recorder/base/state.h hpcprof/recorder/base/syscalls.h hpcprof/recorder/base/interpose.h hpcprof/recorder/output hpcprof/recorder/output/paths.h
hpcprof/recorder/process   hpcprof/recorder/protocol.h hpcprof/recorder/base hpcprof/recorder/base/state.h hpcprof/recorder/base/syscalls.h hpcprof/recorder/base/interpose.h hpcprof/recorder/output hpcprof/recorder/output/paths.h hpcprof/recorder/sampling hpcprof/format
hpcprof/recorder/barriers  hpcprof/recorder/base/state.h hpcprof/recorder/base/interpose.h hpcprof/recorder/output hpcprof/recorder/sampling hpcprof/recorder/process hpcprof/format phases/tables.h
hpcprof/launch   support hpcprof hpcprof/format/writer.h hpcprof/recorder/protocol.h
bloop/arch       support bloop/bloop.h
bloop/image      support support/sort.h bloop/bloop.h bloop/arch
bloop/debug      support support/demangle.h bloop/bloop.h bloop/image bloop/image/elf.h
bloop/functions  support support/sort.h bloop/bloop.h bloop/arch bloop/image bloop/debug
bloop/code       support bloop/bloop.h bloop/arch bloop/arch/ops.h bloop/arch/facts.h bloop/image bloop/functions
bloop/assemble   support bloop/bloop.h bloop/arch bloop/arch/facts.h bloop/image bloop/debug bloop/functions bloop/code
bloop/scope      support bloop/bloop.h
bloop            support bloop/arch bloop/image bloop/debug bloop/functions bloop/code bloop/assemble bloop/scope
quality/body     support support/sort.h machines machines/core.h bloop bloop/arch bloop/arch/facts.h bloop/arch/ops.h bloop/code quality/quality.h
quality          support machines machines/core.h bloop bloop/arch bloop/arch/facts.h bloop/arch/ops.h bloop/code quality/body
mhsim            support machines
mhsim/engine     mhsim
mhsim/runtime    mhsim mhsim/shared_layout.h mhsim/engine mhsim/engine/mmap_store.h
mhsim/instrument mhsim/shared_layout.h mhsim/runtime mhsim/engine/mmap_store.h
mhsim/collect    support support/demangle.h machines hpcprof mhsim mhsim/shared_layout.h
mhsim/launch     support hpcprof mhsim mhsim/shared_layout.h mhsim/collect
phases           support support/table.h hpcprof
filters/base     support support/demangle.h support/table.h hpcprof filters/filters.h
filters/perf     support hpcprof filters/filters.h filters/base filters/base/image.h filters/base/interner.h
filters/callgrind support hpcprof filters/filters.h filters/base filters/base/call_edges.h filters/base/interner.h
filters/hpctoolkit support hpcprof filters/filters.h filters/base filters/base/builder.h
filters          support support/profile_proto.h hpcprof filters/base filters/base/builder.h filters/base/call_edges.h filters/base/image.h filters/perf filters/callgrind filters/hpctoolkit
metrics/formula  support metrics/metrics.h
metrics/config   support metrics/metrics.h metrics/formula quality
metrics/model    support metrics/metrics.h metrics/formula
metrics/ingest   support support/sort.h hpcprof filters metrics/metrics.h metrics/formula metrics/config metrics/model
metrics/code     support hpcprof bloop bloop/code filters quality metrics/metrics.h metrics/ingest
metrics/align    support metrics/metrics.h metrics/ingest
metrics/join     support support/sort.h hpcprof bloop mhsim phases filters metrics/metrics.h metrics/config metrics/ingest metrics/code metrics/align
metrics/report   support metrics/metrics.h metrics/formula metrics/model
metrics          support hpcprof bloop metrics/formula metrics/config metrics/model metrics/ingest metrics/code metrics/align metrics/join metrics/report
diagnose/read     support metrics diagnose/diagnose.h
diagnose/evaluate support metrics diagnose/diagnose.h diagnose/read
diagnose/search   support metrics diagnose/diagnose.h diagnose/read diagnose/evaluate
diagnose/report   support metrics diagnose/diagnose.h diagnose/evaluate
diagnose         support metrics diagnose/read diagnose/evaluate diagnose/search diagnose/report
campaign         support hpcprof mhsim metrics diagnose
compare          support metrics
export           support support/profile_proto.h metrics
htmlgen/format   support metrics
htmlgen/write    support metrics diagnose htmlgen/htmlgen.h htmlgen/format
htmlgen/read     support metrics metrics/model htmlgen/htmlgen.h htmlgen/format
htmlgen          support metrics diagnose htmlgen/write htmlgen/read
driver           support campaign compare machines hpcprof bloop quality mhsim phases filters metrics diagnose export htmlgen
END

# Prefixes of a folder's global symbols. A symbol belongs to the folder with the longest matching prefix; no two folders
# share a prefix, except for those marked '*', which are in separate programs: these also define functions of other
# libraries, which they wrap.
cat >"$scratch/words" <<'END'
campaign         campaign_
compare          compare_ comparison_
support          arena_ buf_ child_ crc32_ csv_ cursor_ demangle_ dir_ err_ filemap_ hash_ hashmap_ json_ mem_ order_ outdir_ outfile_ outputs_ parallel_ path_ progress_ ranks_ row_index_ sort_ str_ strtab_ table_ text_list_ time_ utf8_ vec_ warnings_ xml_ xmlout_
machines         machine_ processor_
hpcprof          hpcprof_ events_ exit_status_
hpcprof/recorder* hpcrec hpcview_ phases_ unwind_
bloop            bloop_ aarch64_ arch_ assemble_ assembler_ bit_ cfg_ debug_ die_ dwarf_ ehframe_ elf_ function_ functions_ gaps_ go_ image_ insn_ jump_ jumptable_ kept_ language_ line_table_ loop_ noreturn_ ranges_ regular_ scope_ section_ unit_ x86_64_
quality          quality_ body_ bounds_ check_ checks_ cost_ finder_ models_ step_ trips_ waits_
mhsim            mhsim_ cache_ fully_assoc_ line_engine_ map_ mmap_store_ pages_ state_ worker_
mhsim/instrument* decode_ hpcview_ qemu_
mhsim/runtime*   hpcview_ modules_ runtime_ variables_
phases           phases_
filters          filter_ filters_ builder_ cachegrind_ caliper_ call_edges_ callgrind_ chain_cache_ folded_ gcov_ gmon_ gperftools_ hpctoolkit_ input_ interner_ jumps_ lcov_ likwid_ llvm_cov_ names_ papi_ perf_ pprof_ profile_ speedscope_ table_convert table_sniff
metrics          metrics_ align_ attribution_ blocks_ code_open columns_ compilers_ config_ correlate_ correlation_ environment_ experiment_ expr_ formulas_ ideal_cycles_ ingest_ instructions_ loop_properties_ loops_ mathml_ measured_ measurement_ print_ source_ sources_ statistic_ statistics_ structures_ tables_ thread_ trip_counts_ values_
diagnose         diagnose diagnosis_ asl_ domain_ evaluator_ properties_ property_ resolved_ token_ tokens_
export           export_
htmlgen          htmlgen_ database_ experiment_is_database experiment_read_
driver           driver_ build_ command_ findings_ options_ override_ overrides_ record_ session_ string_list_ structure_
END


# Each line: file, header; from every include of a header by its folder.
list_includes() {
    (cd "$1" && find . -name build\* -prune -o \( -name '*.c' -o -name '*.h' \) -print | sed 's,^\./,,' | sort |
        grep -Ev '^tests/|_(test|fuzz)\.[ch]$' |
        while read -r file; do
            sed -n "s,^# *include \"\\([^\"]*/[^\"]*\\)\".*,$file \\1,p" "$file"
        done)
}

cat >"$scratch/check.awk" <<'END'
function folder_of(path,   n) { # the longest row that the path begins with
    while (match(path, /\/[^\/]*$/)) {
        path = substr(path, 1, RSTART - 1)
        if (path in known)
            return path
    }
    return ""
}
function public(folder,   parts, n) {
    n = split(folder, parts, "/")
    return folder "/" parts[n] ".h"
}
FNR == NR {
    for (i = 2; i <= NF; i++) {
        if ($i !~ /\.h$/ && !($i in known))
            print "the table: " $1 " is above " $i
        may[$1, $i ~ /\.h$/ ? $i : public($i)] = 1
    }
    known[$1] = 1
    next
}
{
    from = folder_of($1)
    if (from == "")
        print $1 " is in no folder of the table in tests/folders.sh"
    else if (folder_of($2) != from && !((from, $2) in may))
        print $1 " includes " $2 ": the table in tests/folders.sh does not let " from " know that"
}
END

violations() {
    list_includes "$1" >"$scratch/includes"
    awk -f "$scratch/check.awk" "$scratch/folders" "$scratch/includes"
}

violations "$top_srcdir" >"$scratch/found"
check "there are includes to look at" test "$(wc -l <"$scratch/includes")" -gt 100
check "includes point one way" test ! -s "$scratch/found"
[ ! -s "$scratch/found" ] || comment "$(cat "$scratch/found")"

# Self-test: violations that must be detected.
mkdir -p "$scratch/bad/bloop/code" "$scratch/bad/metrics" "$scratch/bad/attic" "$scratch/bad/hpcprof/recorder/unwind"
echo '#include "bloop/assemble/assemble.h"' >"$scratch/bad/bloop/code/up.c"
echo '#include "bloop/code/code.h"' >"$scratch/bad/metrics/private.c"
echo '#include "support/support.h"' >"$scratch/bad/attic/unknown.h"
echo '#include "hpcprof/format/format.h"' >"$scratch/bad/hpcprof/recorder/unwind/fine.c"
echo '#include "driver/driver.h"' >"$scratch/bad/metrics/metrics_test.c"
found=$(violations "$scratch/bad")
check_match "a folder above" "$found" 'bloop/code/up.c includes bloop/assemble/assemble.h'
check_match "a header that is not the folder's own" "$found" 'metrics/private.c includes bloop/code/code.h'
check_match "a folder that has no row" "$found" 'attic/unknown.h is in no folder'
check "and nothing else" test "$(printf '%s\n' "$found" | wc -l)" = 3

# ---- calls, from the object files --------------------------------------------------------------
# Each line: D or U, source, symbol; of objects whose source exists and is part of the product.
list_symbols() {
    (cd "$1" && find . -name '*.o' | sed 's,^\./,,' | grep -Ev '^(tests|share|templates)/|(_test|_fuzz)(-|\.o)' | sort |
        while read -r object; do
            source=$(printf '%s' "$object" | sed 's,/[^/]*-\([^/]*\)$,/\1,; s,\.o$,.c,')
            [ -f "$2/$source" ] || continue
            nm "$object" 2>/dev/null | awk -v source="$source" '
                NF == 3 && $2 ~ /^[TDBRCVW]$/ { print "D", source, $3 }
                NF == 2 && $1 == "U" { print "U", source, $2 }'
        done)
}

cat >"$scratch/calls.awk" <<'END'
function folder_of(path) {
    sub(/\/[^\/]*$/, "", path)
    return path
}
function word_of(symbol,   n) { # the longest word it begins with
    for (n = length(symbol); n > 0; n--)
        if (substr(symbol, 1, n) in owners)
            return substr(symbol, 1, n)
    return ""
}
function is_in(folder, top) { return folder == top || index(folder, top "/") == 1 }
function apart_of(folder,   top) { # the folder of a program of its own, or ""
    for (top in apart)
        if (is_in(folder, top))
            return top
    return ""
}
FILENAME ~ /words$/ {
    top = $1
    if (sub(/\*$/, "", top))
        apart[top] = 1
    for (i = 2; i <= NF; i++) {
        if (!(top in apart) && ($i in common))
            print "the word " $i " is of " common[$i] " and " top
        if (!(top in apart))
            common[$i] = top
        owners[$i] = owners[$i] " " top
    }
    next
}
$1 == "D" {
    symbols++
    defined[$3] = defined[$3] " " folder_of($2)
    word = word_of($3)
    own = 0
    n = split(owners[word], list, " ")
    for (i = 1; i <= n; i++)
        own = own || is_in(folder_of($2), list[i])
    if (!own && (word != "" || apart_of(folder_of($2)) == "") && $3 != "main")
        print $2 " defines " $3 ": no word of its folder"
    next
}
{ used[++uses] = $2 " " $3 }
END {
    for (u = 1; u <= uses; u++) {
        split(used[u], at, " ")
        from = folder_of(at[1])
        n = split(defined[at[2]], list, " ")
        best = ""
        for (i = 1; i <= n; i++) {
            if (list[i] == from) { best = ""; break }
            if (word_of(at[2]) != "" && apart_of(list[i]) == apart_of(from) || apart_of(list[i]) == "")
                best = list[i]
        }
        if (best == "" || (from, best) in arrow)
            continue
        arrow[from, best] = used[u]
        arrows++
        out[from]++
        into[best] = into[best] " " from
        folder[from] = folder[best] = 1
    }
    for (more = 1; more;) { # folders that call nobody are taken away, until none is left
        more = 0
        for (f in folder)
            if (folder[f] && !out[f]) {
                folder[f] = 0
                more = 1
                n = split(into[f], list, " ")
                for (i = 1; i <= n; i++)
                    out[list[i]]--
            }
    }
    for (key in arrow) {
        split(key, ends, SUBSEP)
        if (folder[ends[1]] && folder[ends[2]])
            print "a circle of calls: " ends[1] " uses " ends[2] " (" arrow[key] ")"
    }
    print symbols + 0, arrows + 0 >counts
}
END

calls() { # BUILD SOURCES
    list_symbols "$1" "$2" >"$scratch/symbols"
    awk -v counts="$scratch/counts" -f "$scratch/calls.awk" "$scratch/words" "$scratch/symbols" | sort
}

found=$(calls "$top_builddir" "$top_srcdir")
comment "symbols and arrows between folders: $(cat "$scratch/counts")"
check "there are symbols to look at" test "$(cut -d ' ' -f 1 "$scratch/counts")" -gt 1000
check_equal "calls between folders run in no circle, symbols begin with a word of their folder" "$found" ""

# Self-test: violations that must be detected.
mkdir -p "$scratch/calls/support" "$scratch/calls/metrics/model" "$scratch/calls/metrics/join"
printf 'int metrics_up(void);\nint experiment_down(void) { return metrics_up(); }\n' >"$scratch/calls/metrics/model/down.c"
printf 'int experiment_down(void);\nint metrics_up(void) { return experiment_down(); }\n' >"$scratch/calls/metrics/join/up.c"
printf 'int nobodys(void) { return 0; }\nint experiment_ours(void) { return 1; }\n' >"$scratch/calls/support/loner.c"
for source in metrics/model/down metrics/join/up support/loner; do
    $CC -c -o "$scratch/calls/$source.o" "$scratch/calls/$source.c"
done
found=$(calls "$scratch/calls" "$scratch/calls")
check_match "a circle of calls" "$found" "metrics/join uses metrics/model"
check_match "a symbol without a word" "$found" "support/loner.c defines nobodys"
check_match "a symbol with another folder's word" "$found" "support/loner.c defines experiment_ours"

# ---- contents of folders -----------------------------------------------------------------------
product() { # FOLDER: its sources, without tests and what the build made
    (cd "$1" && find bloop campaign compare diagnose driver export filters hpcprof htmlgen machines metrics mhsim phases quality support -name '*.[ch]' 2>/dev/null | sort |
        grep -Ev '_(test|fuzz)\.c$')
}
crowded() { product "$1" | sed -n 's,/[^/]*\.c$,,p' | sort | uniq -c | awk '$1 > 16 && $2 != "driver" { print $2, $1 }'; }
doubles() { product "$1" | grep -E '(^|/)(fake|made|test|sample)_|_(world|told|fake|drawing)\.[ch]$'; }
unlicensed() {
    (cd "$1" && find . -name build\* -prune -o -name node_modules -prune -o -path ./tests/corpus -prune -o -path ./autom4te.cache -prune -o -path ./build-aux -prune \
        -o -path ./templates/dist -prune -o \( -name '*.[ch]' -o -name '*.ts' -o -name '*.sh' -o -name '*.py' -o -name local.mk -o -name Makefile.am \) -print |
        while read -r file; do grep -q 'SPDX-License-Identifier: BSD-3-Clause' "$file" || echo "$file"; done | grep -Ev '^\./(config\.h|htmlgen/bundle\.c|hpcview-[0-9.]*/)' | sort)
}
twice() { # structures of a header that another folder defines too; the recorder and the simulator's inner half are in programs of their own
    product "$1" | grep -Ev '^(hpcprof/recorder|mhsim/(engine|runtime|instrument))/' | (cd "$1" && xargs grep -HE '^struct [a-z_0-9]+( \{| VEC|$)' /dev/null) |
        sed 's,^\(.*\)/[^/:]*\.\([ch]\):struct \([a-z_0-9]*\).*,\3 \1 \2,' | sort -u |
        awk '{ if (!(($1, $2) in seen)) { n[$1]++; where[$1] = where[$1] " " $2 } seen[$1, $2] = 1; header[$1] += $3 == "h" }
            END { for (name in n) if (n[name] > 1 && header[name]) print name ":" where[name] }' | sort
}
check_equal "no folder but driver/ has more than 16 sources" "$(crowded "$top_srcdir")" ""
check_equal "no test doubles among the product's files" "$(doubles "$top_srcdir")" ""
check_equal "every source names its license" "$(unlicensed "$top_srcdir")" ""
check_equal "no structure of a header has a name that another folder uses" "$(twice "$top_srcdir")" ""

mkdir -p "$scratch/bad/quality" "$scratch/bad/metrics/model"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do : >"$scratch/bad/quality/c$i.c"; done
echo 'struct same {' >"$scratch/bad/quality/fake_clock.h"
echo 'struct same {' >"$scratch/bad/metrics/model/same.c"
echo 'struct private {' >"$scratch/bad/quality/c1.c"
echo 'struct private {' >"$scratch/bad/metrics/model/private.c"
check_equal "a folder that is too large" "$(crowded "$scratch/bad")" "quality 17"
check_match "a test double" "$(doubles "$scratch/bad")" quality/fake_clock.h
check_match "a source without a license" "$(unlicensed "$scratch/bad")" ./quality/c17.c
check_equal "a structure of a header and of another folder's file" "$(twice "$scratch/bad")" "same: metrics/model quality"

# Only driver/, the code in the measured program, and the code that starts programs may print, exit or read the
# environment.
outspoken() {
    (cd "$1" && find bloop campaign compare diagnose export filters hpcprof htmlgen machines metrics mhsim phases quality support -name '*.c' 2>/dev/null | sort |
        grep -Ev '_(test|fuzz)\.c$|^hpcprof/recorder/|^mhsim/(runtime|instrument)/' |
        while read -r file; do
            sed 's,"[^"]*","",g; s,//.*,,; s,/[*].*[*]/,,' "$file" |
                grep -oE '(^|[^a-zA-Z0-9_])(printf|puts|putchar|perror|exit|getenv|secure_getenv)\(' | sed "s,^[^a-z],,; s,^,$file ," | sort -u
        done) | grep -vE '^(campaign/runs|hpcprof/launch/(program|record)|mhsim/launch/run)\.c getenv'
}
found=$(outspoken "$top_srcdir")
check_equal "nothing below driver/ prints, exits or asks the environment" "$found" ""
printf 'int f(void)\n{\n    puts("getenv()");\n    exit(!getenv("HOME"));\n}\n' >"$scratch/bad/metrics/loud.c"
rm -rf "$scratch/bad/quality"
found=$(outspoken "$scratch/bad" | tr '\n' ' ')
check_equal "what it must see" "$found" "metrics/loud.c exit( metrics/loud.c getenv( metrics/loud.c puts( "

done_testing
