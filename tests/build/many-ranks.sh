#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Many ranks are one thing in `info`: a summary, in which damaged files are counted and ranks are named. Folders of nodes become one.
. "$top_srcdir/tests/lib.sh"
need_recording
cd "$scratch" || exit 99

# As a launcher starts them, of twelve; the last two are missing.
record_ranks() {
    for rank in 0 1 2 3 4 5 6 7 8 9; do
        PMI_RANK=$rank PMI_SIZE=12 "$hpcview" record -o "$1" -- sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; exit $1' x $((rank / 8)) 2>>log
    done
}
record_ranks m
cp -r m original
run "$hpcview" info m
check_match "all files are intact" "$out" "  intact       10 files"
check_match "ranks, not processes" "$out" "10 ranks, 10 threads"
check_match "how they ended, with ranks" "$out" "with exit status 1 (2 processes, ranks 8, 9)"
check "the spread of times over ranks" grep -q '^  CPU time, s  least .* (rank [0-9]), mean .*, most .* (rank [0-9])$' out
check "and of counts" grep -q '^  counted      least .* (rank [0-9])' out
check_match "missing ranks" "$err" "m: 2 of the 12 ranks are missing: 10, 11"
check "short" test "$(wc -l <out)" -lt 40
run "$hpcview" info --all m
check_equal "--all: every process" "$(grep -c '^process ' out)" 10
run "$hpcview" info --rank 3 --rank 9 m
check_equal "--rank: these" "$(grep '^  rank ' out | tr -d ' ' | tr '\n' ' ')" "rank3 rank9 "
run "$hpcview" info --rank 11 m
check_equal "a rank that is not there" "$status $err" "2 hpcview: info: m has no file of rank 11"
run "$hpcview" info --rank x m
check_equal "not a rank" "$status $err" "2 hpcview: info: --rank needs a number, not 'x'"
cp -r original huge
PMI_RANK=2000000000 PMI_SIZE=12 "$hpcview" record -o huge -- /bin/true 2>>log
run "$hpcview" info huge
check_equal "a rank that no program has: shown as the others" "$status $(grep -c '^11 ranks' out)" "0 1"

# half of them damaged, in two ways
for rank in 0 1 2 3; do truncate -s -20 m/*."$rank".hpcprof; done
printf 'hpcprof\001\377\377\377\377' >m/other.x.1.hpcprof
run "$hpcview" info m
check_equal "damaged files: status 1" "$status" 1
check_match "cut files are counted" "$out" "  cut          4 files"
check_match "unusable ones too" "$out" "  unusable     1 files: other.x.1.hpcprof"
check_equal "one warning of each kind" "$(grep -c 'and 3 more files alike' err) $(wc -l <err)" "2 4"
run "$hpcview" print --by program m
check_equal "in other commands too" "$status $(grep -c 'and 3 more files alike' err)" "0 2"

# folders of two nodes
mkdir a b
cp original/*.[0-4].hpcprof a
cp original/*.[5-9].hpcprof b
run "$hpcview" merge a b -o both
check_equal "two folders become one" "$status $(diff -r original both && echo same)" "0 same"
check_match "what is missing in all" "$err" "both: 2 of the 12 ranks are missing: 10, 11"
run "$hpcview" merge a b a -o twice
check_match "a folder twice is refused" "$status $err" "2 hpcview: a/*rank 0 is in a too"
check "and leaves nothing" test ! -e twice
cp original/*.4.hpcprof b
run "$hpcview" merge a b -o twice
check_match "a rank twice too" "$status $err" "rank 4 is in a too; give each folder"
rm b/*.4.hpcprof
mkdir other
PMIX_NAMESPACE=first PMI_RANK=10 PMI_SIZE=12 "$hpcview" record -o other -- /bin/true 2>>log
mkdir third
PMIX_NAMESPACE=second PMI_RANK=11 PMI_SIZE=12 "$hpcview" record -o third -- /bin/true 2>>log
run "$hpcview" merge other third -o two
check_match "and two starts" "$status $err" "1 hpcview: two: contains the ranks of two starts of a program (jobs first and second)"
echo nonsense >a/x.y.3.hpcprof
truncate -s -20 a/*.0.hpcprof
run "$hpcview" merge a b -o rest
check_equal "damaged files: what can be read is copied" "$status $(ls rest | wc -l) $(grep -c 'a/x.y.3.hpcprof: not a measurement' err)" "0 10 1"
run "$hpcview" merge a b -o rest
check_match "another folder's files are left alone" "$status $err" "1 hpcview: rest: exists already"
run "$hpcview" merge a nowhere -o none
check_match "a folder that is not there" "$status $err" "hpcview: nowhere: "
run "$hpcview" merge a
check_equal "no output" "$status" 2
done_testing
