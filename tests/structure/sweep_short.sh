#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A few of the machine's own binaries through `hpcview structure`; tests/structure/sweep.sh without -n takes them all.
. "$top_srcdir/tests/lib.sh"
command -v bash >/dev/null || skip_all "no bash here"
run bash "$top_srcdir/tests/structure/sweep.sh" -n 20 -t 60 /usr/bin
comment "$out"
check "no binary fails" test "$status" = 0
check_match "there were some" "$out" "files "
done_testing
