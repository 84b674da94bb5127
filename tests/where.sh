#!/bin/bash
# Builds and tests this tree on other Debians and Ubuntus, each in a folder of its own (debootstrap, chroot; wants root), and prints a table.
#
#   where.sh [-d FOLDER] [-q] [-t 'TESTS...'] [-u] [SUITE...]
#       -d: where the systems are kept for the next time (/var/tmp/hpcview-where)
#       -q: the C tests alone;  -t: these tests alone
#       -u: systems whose keys are not here are taken without asking who signed them (Ubuntu's: package ubuntu-archive-keyring)
#       SUITE: bookworm trixie sid noble (all four)
#
# Tests that take samples need a kernel that permits them; it is this machine's everywhere. doc/where.md has the last table.
here=$(cd "$(dirname "$0")/.." && pwd)
folder=/var/tmp/hpcview-where what=all unsigned=
while getopts d:qt:u opt; do
    case $opt in
    d) folder=$OPTARG ;;
    q) what=unit ;;
    t) what=$OPTARG ;;
    u) unsigned=--no-check-gpg ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- bookworm trixie sid noble
[ "$(id -u)" = 0 ] || { echo "where.sh: root is needed for chroot" >&2 && exit 1; }
command -v debootstrap >/dev/null 2>&1 || { echo "where.sh: debootstrap is not there (apt-get install debootstrap)" >&2 && exit 1; }
mkdir -p "$folder" || exit 1

mirror_of() { case $1 in noble | jammy) echo http://archive.ubuntu.com/ubuntu ;; *) echo http://deb.debian.org/debian ;; esac; }

unmount() { for at in dev proc sys; do mountpoint -q "$1/$at" && umount -l "$1/$at"; done; }

# make_system SUITE: the smallest one that can install packages
make_system() {
    root=$folder/$1
    [ -f "$root/.whole" ] && return
    rm -rf "$root"
    # (Debian's debootstrap has no script for new Ubuntus; all of them are made alike)
    script='' options=''
    case $1 in noble | jammy) script=gutsy options="${unsigned:---keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg} --components=main,universe" ;; esac
    # shellcheck disable=SC2086
    debootstrap --variant=buildd --include=ca-certificates $options "$1" "$root" "$(mirror_of "$1")" $script >"$folder/$1.log" 2>&1 || return 1
    case $1 in noble) echo "deb $(mirror_of "$1") $1 main universe" >"$root/etc/apt/sources.list" ;; esac
    touch "$root/.whole"
}

# What runs inside: the result is one line, "PASSED FAILED SKIPPED" or why there is none.
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
version() { chroot "$root" dpkg-query -W -f '${Version}' "$1" 2>/dev/null | sed 's/^[0-9]*://; s/[-+~].*//'; }

printf '| system | gcc | C library | libdwarf | capstone | passed | failed | skipped |\n|---|---|---|---|---|---|---|---|\n'
status=0
suites=$*
for suite in $suites; do
    if ! make_system "$suite"; then
        printf '| %s | could not be made: %s | | | | | | |\n' "$suite" "$(tail -n 1 "$folder/$suite.log")"
        status=1
        continue
    fi
    root=$folder/$suite
    for at in dev proc sys; do mountpoint -q "$root/$at" || mount --bind "/$at" "$root/$at"; done
    trap 'unmount "$root"' EXIT
    cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
    # whoever is behind a proxy with a certificate of its own
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt" 2>/dev/null
    rm -rf "$root/hpcview" && mkdir "$root/hpcview"
    (cd "$here" && git archive HEAD) | tar -x -C "$root/hpcview"
    result=$(chroot "$root" env LC_ALL=C NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt sh -c "$inside" sh "$what" 2>&1 | tail -n 1)
    # shellcheck disable=SC2086
    set -- $result
    case $result in
    [0-9]*' '[0-9]*' '[0-9]*) [ "$2" = 0 ] || status=1 ;;
    *) status=1 && set -- - "$result" - ;;
    esac
    printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$suite" "$(chroot "$root" gcc -dumpfullversion 2>/dev/null)" "$(version libc6)" \
        "$(version libdwarf-dev)" "$(version libcapstone-dev)" "$1" "$2" "$3"
    unmount "$root"
    trap - EXIT
done
exit $status
