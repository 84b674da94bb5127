#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A few of the failures of torture.sh for each command and kind; the script alone tries them all.
. "$top_srcdir/tests/lib.sh"
need bash timeout
need_recording
export top_builddir top_srcdir
run bash "$top_srcdir/tests/torture/torture.sh" -n 2 -k "memory open write map rename"
[ "$status" != 77 ] || skip_all "$out"
comment "$out"
check "failures tried" test "$(printf '%s\n' "$out" | sed -n 's/^tried \([0-9]*\),.*/\1/p')" -gt 80
check "no crash, no hang, no half results, always words" test "$status" = 0
done_testing
