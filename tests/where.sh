#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and tests this tree on other Debians and Ubuntus, each in a folder of its own (debootstrap, chroot; needs root), and prints a
# table.
#
#   where.sh [-d FOLDER] [-q] [-t 'TESTS...'] [-c 'COMPILERS...'] [-a] [-u] [SUITE...]
#       -d: where the systems are kept for the next time (/var/tmp/hpcview-where)
#       -q: the C tests alone;  -t: these tests alone
#       -c: other compilers, gcc-15 clang-21 say (all: gcc 12 to 16, clang 14 to 21), each in the first system that has it: everything is
#           compiled with warnings as errors, and the C tests of support, bloop, filters and metrics are run
#       -a: AArch64, by a cross compiler with Debian's libraries; the C tests run in qemu-user
#       -u: systems whose keys are not here are taken without asking who signed them (Ubuntu's: package ubuntu-archive-keyring)
#       SUITE: bookworm trixie sid noble (all four)
#
# Tests that take samples need a kernel that permits them; it is this machine's everywhere. doc/design/portability.md has the last table.
here=$(cd "$(dirname "$0")/.." && pwd)
folder=/var/tmp/hpcview-where what=all unsigned='' compilers='' aarch64=
while getopts d:qt:c:au opt; do
    case $opt in
    d) folder=$OPTARG ;;
    q) what=unit ;;
    t) what=$OPTARG ;;
    c) compilers=$OPTARG ;;
    a) aarch64=1 ;;
    u) unsigned=--no-check-gpg ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ "$compilers" != all ] || compilers=$(printf 'gcc-%s ' 12 13 14 15 16; printf 'clang-%s ' 14 15 16 17 18 19 20 21)
[ $# -gt 0 ] || if [ -n "$compilers" ]; then set -- noble trixie sid; else set -- bookworm trixie sid noble; fi
[ "$(id -u)" = 0 ] || { echo "where.sh: root is needed for chroot" >&2 && exit 1; }
command -v debootstrap >/dev/null 2>&1 || { echo "where.sh: debootstrap is not there (apt-get install debootstrap)" >&2 && exit 1; }
mkdir -p "$folder" || exit 1
status=0

# ---- systems ---------------------------------------------------------------------------------------------------

mirror_of() { case $1 in noble | jammy) echo http://archive.ubuntu.com/ubuntu ;; *) echo http://deb.debian.org/debian ;; esac; }

# make_system SUITE: the smallest one that can install packages
make_system() {
    root=$folder/$1
    [ -f "$root/.whole" ] && return
    rm -rf "$root"
    # (Debian's debootstrap lacks scripts for new Ubuntu releases; all of them are built the same way)
    script='' options=''
    case $1 in noble | jammy) script=gutsy options="${unsigned:---keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg} --components=main,universe" ;; esac
    # shellcheck disable=SC2086
    debootstrap --variant=buildd --include=ca-certificates $options "$1" "$root" "$(mirror_of "$1")" $script >"$folder/$1.log" 2>&1 || return 1
    touch "$root/.whole"
}

# set_up_system: applies possible changes since it was created
set_up_system() {
    case $1 in
    noble | jammy) printf "deb $(mirror_of "$1") %s main universe\n" "$1" "$1-updates" >"$root/etc/apt/sources.list" ;;
    esac
    # (a mirror that is not fresh is good enough)
    echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/90where"
    cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
    # for machines behind a proxy with its own certificate
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt" 2>/dev/null
    for at in dev proc sys; do mountpoint -q "$root/$at" || mount --bind "/$at" "$root/$at"; done
    trap 'unmount "$root"' EXIT
    rm -rf "$root/hpcview" && mkdir "$root/hpcview"
    (cd "$here" && git archive HEAD) | tar -x -C "$root/hpcview"
}

unmount() { for at in dev proc sys; do mountpoint -q "$1/$at" && umount -l "$1/$at"; done; }

version() { chroot "$root" dpkg-query -W -f '${Version}' "$1" 2>/dev/null | sed 's/^[0-9]*://; s/[-+~].*//'; }

# c_tests FOLDERS...: names of the tests next to the code
c_tests() { (cd "$here" && git ls-files "${@/%/\/*_test.c}") | sed 's/\.c$//'; }

# Runs the given tests in a build folder, by $runner: "PASSED FAILED SKIPPED"; failed ones are listed in the file
# `failed`.
count_them='
for test; do
    top_srcdir=.. top_builddir=. timeout 1200 $runner ./$test 2>&1 </dev/null | sed "s|^|$test: |"
    [ "${PIPESTATUS[0]}" = 0 ] || echo "$test: status ${PIPESTATUS[0]}"
done >units.log
grep -E ": not ok|: status|: Bail out" units.log >failed
awk "/: ok .*# SKIP/ { s++; next } /: 1..0 .*SKIP/ { s++ } /: ok/ { p++ } /: not ok|: Bail out/ { f++ } END { print p + 0, f + 0, s + 0 }" units.log
'

# row CELLS... "PASSED FAILED SKIPPED": or the reason why there is no result
row() {
    local -a last
    read -r -a last <<<"${*: -1}"
    case ${*: -1} in
    [0-9]*' 0 '[0-9]*) ;;
    [0-9]*' '[0-9]*' '[0-9]*) status=1 ;;
    *) status=1 last=(- "${*: -1}" -) ;;
    esac
    printf '| %s ' "${@:1:$#-1}" "${last[@]}"
    echo '|'
}

# ---- other systems ------------------------------------------------------------------------------------------------

# Runs inside: the result is one line, "PASSED FAILED SKIPPED" or the reason why there is none.
inside='
cd /hpcview || exit 1
case $1 in
all) ./quickstart check >check.log 2>&1; logs=check.log; grep -E "failed|FAILED" check.log | tail -n 3 ;;
*)
    ./quickstart >quickstart.log 2>&1 || { tail -n 3 quickstart.log; exit 1; }
    cd build && { [ "$1" = unit ] && make -k check-unit || make -k check TESTS="$1"; } >check.log 2>&1
    ;;
esac
cat /hpcview/check.log /hpcview/build/check.log 2>/dev/null | awk "/^# PASS:/ { p += \$3 } /^# FAIL:|^# ERROR:/ { f += \$3 } /^# SKIP:/ { s += \$3 } END { print p + 0, f + 0, s + 0 }"
'

systems() {
    printf '| system | gcc | C library | libdwarf | capstone | passed | failed | skipped |\n|---|---|---|---|---|---|---|---|\n'
    for suite; do
        make_system "$suite" || { row "$suite" '' '' '' '' "could not be made: $(tail -n 1 "$folder/$suite.log")" && continue; }
        set_up_system "$suite"
        result=$(chroot "$root" env LC_ALL=C NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt sh -c "$inside" sh "$what" 2>&1 | tail -n 1)
        row "$suite" "$(chroot "$root" gcc -dumpfullversion 2>/dev/null)" "$(version libc6)" "$(version libdwarf-dev)" "$(version libcapstone-dev)" "$result"
        unmount "$root"
        trap - EXIT
    done
}

# ---- other compilers ------------------------------------------------------------------------------------------------

# (gcc's warnings want its optimizer)
inside_compiler='
compiler=$1 optimize=-O0
shift
case $compiler in gcc*) optimize=-O1 ;; esac
cd /hpcview || exit 1
DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $compiler autoconf automake pkg-config make libxml2-dev zlib1g-dev \
    libelf-dev libdwarf-dev libzydis-dev libpapi-dev libcapstone-dev libzstd-dev libiberty-dev >install.log 2>&1 || { tail -n 1 install.log; exit 1; }
[ -f configure ] || autoreconf -i >autoreconf.log 2>&1
mkdir -p build-$compiler && cd build-$compiler || exit 1
../configure --enable-developer CC=$compiler FC=no CFLAGS="$optimize -g0" >configure.log 2>&1 || { tail -n 1 configure.log; exit 1; }
make -k -j"${JOBS:-2}" programs >make.log 2>&1
complaints=$(grep -cE "(warning|error): " make.log)
[ $complaints = 0 ] || { echo "$complaints warnings and errors: $PWD/make.log"; exit 1; }
'
compilers() {
    local wanted="$*"
    printf '| compiler | version | system | passed | failed | skipped |\n|---|---|---|---|---|---|\n'
    for suite in $suites; do
        make_system "$suite" || { row '' '' "$suite" "could not be made: $(tail -n 1 "$folder/$suite.log")" && continue; }
        set_up_system "$suite"
        chroot "$root" apt-get -q update >/dev/null 2>&1
        for compiler in $wanted; do
            chroot "$root" apt-cache show "$compiler" >/dev/null 2>&1 || continue
            wanted=$(printf '%s\n' $wanted | grep -vx -- "$compiler")
            # shellcheck disable=SC2046
            result=$(chroot "$root" env LC_ALL=C runner= bash -c "$inside_compiler$count_them" sh "$compiler" \
                $(c_tests support bloop filters metrics) 2>&1 | tail -n 1)
            row "$compiler" "$(version "$compiler")" "$suite" "$result"
        done
        unmount "$root"
        trap - EXIT
    done
    for compiler in $wanted; do row "$compiler" '' '' "in none of $suites"; done
}

# ---- AArch64 ----------------------------------------------------------------------------------------------------------

libraries=libc6-dev,libgcc-12-dev,libstdc++-12-dev,libxml2-dev,zlib1g-dev,libelf-dev,libdwarf-dev,libzydis-dev,libpapi-dev,libcapstone-dev,libzstd-dev,libiberty-dev,libgomp1

# Only an unpacked system: its programs run in qemu-user, which finds their libraries.
make_aarch64_root() {
    root=$folder/bookworm-arm64
    [ -f "$root/.whole" ] && return
    rm -rf "$root"
    debootstrap --foreign --arch=arm64 --variant=minbase --include=$libraries bookworm "$root" "$(mirror_of bookworm)" >"$folder/arm64.log" 2>&1 || return 1
    for package in "$root"/var/cache/apt/archives/*.deb; do dpkg -x "$package" "$root" || return 1; done
    # links from / lead into our own system
    find "$root/usr" "$root/lib" -type l -lname '/*' | while read -r link; do
        to=$root$(readlink "$link")
        [ ! -e "$to" ] || ln -sfn "$(realpath -s --relative-to="$(realpath "$(dirname "$link")")" "$to")" "$link"
    done
    touch "$root/.whole"
}

on_aarch64() {
    printf '| machine | compiler | C library | passed | failed | skipped |\n|---|---|---|---|---|---|\n'
    local cells=("AArch64, in qemu-user $(qemu-aarch64 --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')"
        "gcc $(aarch64-linux-gnu-gcc -dumpfullversion), from x86-64" "2.36")
    command -v qemu-aarch64 >/dev/null && command -v aarch64-linux-gnu-g++ >/dev/null ||
        { row "${cells[@]}" "qemu-aarch64 or aarch64-linux-gnu-g++ is missing" && return; }
    make_aarch64_root || { row "${cells[@]}" "could not be made: $(tail -n 1 "$folder/arm64.log")" && return; }
    local tree=$folder/arm64-hpcview
    mkdir -p "$tree/build" && (cd "$here" && git archive HEAD) | tar -x -C "$tree" && cd "$tree/build" || exit 1
    export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig
    { [ -f ../configure ] || (cd .. && autoreconf -i) && ../configure --host=aarch64-linux-gnu --enable-developer FC=no CFLAGS='-O1 -g0' \
        CC="aarch64-linux-gnu-gcc --sysroot=$root" CXX="aarch64-linux-gnu-g++ --sysroot=$root"; } >configure.log 2>&1 ||
        { row "${cells[@]}" "not configured: $PWD/configure.log" && return; }
    make -k -j"${JOBS:-2}" programs >make.log 2>&1 || { row "${cells[@]}" "not compiled: $PWD/make.log" && return; }
    # shellcheck disable=SC2046
    row "${cells[@]}" "$(runner="qemu-aarch64 -L $root" bash -c "$count_them" sh $(c_tests .))"
}

suites=$*
if [ -n "$aarch64" ]; then
    on_aarch64
elif [ -n "$compilers" ]; then
    # shellcheck disable=SC2086
    compilers $compilers
else
    systems "$@"
fi
exit $status
