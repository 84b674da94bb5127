# SPDX-License-Identifier: BSD-3-Clause
# Runs tests in the guest: sh list.sh EXACT "SAMPLER..." TEST...
exact=$1 samplers=$2
shift 2
for test; do
    for sampler in $samplers; do
        SAMPLER=$sampler EXACT=$exact top_srcdir=$top_srcdir top_builddir=$top_builddir sh "$top_srcdir/tests/counters/inside/$test.sh" >"$test.$sampler.tap" 2>&1
        echo "status $?" >>"$test.$sampler.tap"
        sync
    done
done
