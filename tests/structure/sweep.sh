#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every ELF file under the folders given (default: /usr/bin and /usr/lib) through `hpcview structure`: no crash, no hang (SECONDS, default
# 10, and one more for each 8 MB), no disorder. Prints one line for each that fails, and the sums of --stats for the rest.
#
#   sweep.sh [-n FILES] [-t SECONDS] [FOLDER...]     -n: at most that many, evenly picked
top_builddir=${top_builddir:-.}
hpcview=$top_builddir/driver/hpcview
most=0
seconds=10
while getopts n:t: opt; do
    case $opt in
    n) most=$OPTARG ;;
    t) seconds=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
ulimit -v $((8 << 20)) # the largest take 2 GB; one that runs away must not take the machine along
[ $# -gt 0 ] || set -- /usr/bin /usr/lib
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Regular files that begin with the ELF magic, once each.
find "$@" -type f \( -perm -u+x -o -name '*.so*' -o -name '*.o' -o -name '*.a' \) 2>/dev/null | LC_ALL=C sort -u | while IFS= read -r file; do
    [ "$(head -c 4 "$file" 2>/dev/null | tr -d '\0')" = $'\x7fELF' ] && printf '%s\n' "$file"
done >"$work/files"
total=$(wc -l <"$work/files")
if [ "$most" -gt 0 ] && [ "$total" -gt "$most" ]; then
    awk -v n="$total" -v m="$most" 'int(NR * m / n) != int((NR - 1) * m / n)' "$work/files" >"$work/picked"
    mv "$work/picked" "$work/files"
fi
files=0 bad=0 refused=0
: >"$work/sums"
while IFS= read -r file; do
    files=$((files + 1))
    # The largest (a browser: 240 MB of code) take 14 seconds of a processor, and others may be at work.
    limit=$((seconds + $(stat -c %s "$file") / 8000000))
    timeout "$limit" "$hpcview" structure --no-cache --stats -o "$work/out.xml" "$file" 2>"$work/err"
    status=$?
    if [ $status -eq 1 ] && [ "$(grep -c '^hpcview: ' "$work/err")" -ge 1 ]; then
        refused=$((refused + 1)) # not for a processor we know, for instance: one sentence
        echo "refused $file: $(grep '^hpcview: ' "$work/err" | tail -1)"
    elif [ $status -ne 0 ]; then
        bad=$((bad + 1))
        echo "FAILED $file: status $status$([ $status -eq 124 ] && echo " (more than $limit s)")"
    elif ! "$hpcview" structure -o "$work/again.xml" "$work/out.xml" 2>"$work/again"; then
        bad=$((bad + 1))
        echo "FAILED $file: its own reader refuses the result: $(head -1 "$work/again")"
    else
        sed -n 's/^\([a-z][a-z ]*[a-z]\)  *\([0-9][0-9]*\)$/\1\t\2/p' "$work/err" >>"$work/sums"
    fi
done <"$work/files"
awk -F '\t' '!($1 in sum) { names[++n] = $1 } { sum[$1] += $2 } END { for (i = 1; i <= n; i++) printf "%-18s %d\n", names[i], sum[names[i]] }' "$work/sums"
echo "files $files refused $refused failed $bad"
[ $bad -eq 0 ]
