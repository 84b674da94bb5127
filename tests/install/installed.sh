#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An installed tree works without the build folder: every program, at the configured place and moved elsewhere as a whole.
. "$top_srcdir/tests/lib.sh"
unset HPCVIEW_SHARE HPCVIEW_LIB HPCVIEW_MACHINES MAKEFLAGS MFLAGS MAKELEVEL

variable() { sed -n "s,^$1 = ,,p" "$top_builddir/Makefile" | sed "s,\${prefix},$prefix,; s,\${exec_prefix},$prefix,; s,\${datarootdir},$prefix/share," | head -n 1; }
prefix=$(sed -n 's,^prefix = ,,p' "$top_builddir/Makefile")
bindir=$(variable bindir) libdir=$(variable libdir) mandir=$(variable mandir)
includedir=$(variable includedir)
stage=$scratch/stage
cd "$scratch" || exit 99

# (in a build that has been made, this copies)
run make -C "$top_builddir" install DESTDIR="$stage"
check "make install DESTDIR=..." test "$status" = 0
[ "$status" = 0 ] || { done_testing; exit 1; }

# ---- installed files ------------------------------------------------------------------------
check_equal "no libtool files" "$(find "$stage" -name '*.la')" ""
(cd "$stage" && find . -type f -exec grep -lIE '@[A-Za-z_]+@|\$\((prefix|bindir|libdir|pkglibdir|pkgdatadir|includedir)\)' {} + |
    grep -v '/examples/\|\.html$\|\.js$') >unexpanded
check_equal "nothing is left to be replaced in any text file" "$(cat unexpanded)" ""
(cd "$stage" && grep -rlIF -e "$stage" -e "$top_builddir" .) >places
check_equal "no file names the folder where hpcview was built" "$(cat places)" ""

# User programs: they cannot access the build folder and the sources. `env -i`: nor the tester's environment.
cat >loop.c <<'END_OF_PROGRAM'
#include <hpcview.h>
#include <stdio.h>
#include <stdlib.h>
static double a[20000];
int main(int argc, char **argv)
{
    double s = 0;
    int times = argc > 1 ? atoi(argv[1]) : 1;
    hpcview_region_begin("loop");
    for (int k = 0; k < times; k++)
        for (int i = 1; i < 20000; i++)
            s += a[i] = a[i - 1] * 0.5 + i;
    hpcview_region_end("loop");
    return printf("%g %x\n", s, HPCVIEW_VERSION) < 0;
}
END_OF_PROGRAM
clean() { env -i PATH="$root$bindir:$PATH" HOME="$scratch" TMPDIR="$scratch" XDG_CACHE_HOME="$scratch/cache" LC_ALL=C ${HPCVIEW_COUNTERS:+HPCVIEW_COUNTERS=$HPCVIEW_COUNTERS} "$@"; }
installed() { run clean "$@"; }
recorded() { rm -rf m; installed hpcview record -o m -- ./loop 20000; [ "$status" = 0 ]; }

# every_program WHERE: the tree is at $root
every_program() {
    rm -rf ./*.db m simulated x.xml
    for name in "$root$bindir"/*; do
        case ${name##*/} in
        hpcview-*) continue ;;
        bloop) installed bloop --help ;;
        *) installed "${name##*/}" --version ;;
        esac
        check "$1: ${name##*/} starts" test "$status" = 0
    done
    check_equal "$1: it is the installed one that runs" "$(clean sh -c 'command -v hpcview')" "$root$bindir/hpcview"
    installed hpcview help
    commands=$(printf '%s\n' "$out" | sed -n 's/^  \([a-z]*\)  .*/\1/p')
    check "$1: all commands are listed" test "$(echo "$commands" | wc -l)" -ge 15
    for command in "" $commands; do
        page=$root$mandir/man1/hpcview${command:+-$command}.1
        [ -f "$page" ] || not_ok "$1: the manual page of ${command:-hpcview}" "$page is not there"
    done
    ok "$1: the manual pages were looked for"

    installed ${CC:-cc} -O1 -g -I"$root$includedir" -o loop loop.c -ldl
    check "$1: a program compiles with hpcview.h" test "$status" = 0
    ./loop 1 >plain
    if recorded; then
        check_equal "$1: record leaves the output as it is" "$(head -c 6 out)" "$(./loop 20000 | head -c 6)"
        installed hpcview print --by loop m
        check_match "$1: print shows the loop" "$out" loop.c
        installed hpcview build -o loop.db m
        check "$1: build" test "$status" = 0
        check "$1: build: the page is in it" grep -q '<script' loop.db/index.html
        installed hpcview diagnose m
        check "$1: diagnose finds its properties" test "$status" = 0
        check_match "$1: diagnose: something is known of it" "$out" "%"
        installed hpcview diagnose --region loop --experiments 1 --keep e -- ./loop 20000
        check "$1: diagnose runs the program" test "$status" = 0
        rm -rf e e.db
        installed hpcview record --phases -o m2 -- ./loop 10
        check "$1: record --phases" test "$status" = 0
        rm -rf m2
    else
        skip "$1: record, print, build, diagnose" "nothing can be recorded here: $(head -n 1 err)"
    fi
    installed hpcview structure -o x.xml loop
    check "$1: structure" grep -q loop.c x.xml
    installed bloop -o x2.xml loop
    check "$1: bloop does the same" cmp x.xml x2.xml
    installed hpcview quality --machine zen3 loop
    check_match "$1: quality knows the machine of that name" "$out$err" "cycles"
    installed hpcview events --metrics
    check_match "$1: events: the metric blocks are found" "$out" cpi
    rm -f simulated
    installed hpcview-cc -O1 -o simulated -I"$root$includedir" loop.c
    if [ "$status" = 0 ]; then
        installed hpcview simulate --region loop -o s -- ./simulated 1
        check "$1: simulate, compiled in" test "$status" = 0
        installed hpcview print --table references s
        check_match "$1: simulate: the array is named" "$out" "loop.c"
        rm -rf s
    else
        check_match "$1: hpcview-cc: only the compiler is missing something" "$err" "fsanitize"
    fi
    for wrapper in hpcview-cc hpcview-c++ hpcview-fc; do
        installed env HPCVIEW_FLAGS=print $wrapper x.c
        lib=$(printf '%s\n' "$out" | sed -n 's/.* -L\(.*\) -Wl,-rpath.*/\1/p')
        case $err in
        *"no compiler"*) skip "$1: $wrapper" "no compiler here" ;;
        *) check "$1: $wrapper finds its library ($lib)" test -f "$lib/libhpcview-simulate.so" ;;
        esac
    done
}

root=$stage
every_program "staged"
if command -v pkg-config >/dev/null 2>&1; then
    run env PKG_CONFIG_PATH="$stage$libdir/pkgconfig" pkg-config --modversion hpcview
    check_equal "pkg-config and hpcview.h have one version" \
        "$(printf '%s\n' "$out" | awk -F . '{ printf "%x", $1 * 65536 + $2 * 256 + $3 }')" "$(cut -d ' ' -f 2 plain)"
    for name in pkglibdir pkgdatadir; do
        run env PKG_CONFIG_PATH="$stage$libdir/pkgconfig" pkg-config --variable=$name hpcview
        check "pkg-config: $name is there" test -d "$stage$out"
    done
else
    skip "hpcview.pc" "no pkg-config here"
fi

# ---- moved: only the installed prefix, under another name -------------------------------------
mkdir "moved here"
mv "$stage$prefix" "moved here/$(basename "$prefix")"
new=$scratch/moved\ here/$(basename "$prefix")
bindir=${bindir#"$prefix"} mandir=${mandir#"$prefix"} includedir=${includedir#"$prefix"}
root=$new
every_program "moved"
done_testing
