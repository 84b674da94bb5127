# Runs tests in the guest, each with both samplers: sh list.sh EXACT TEST...
exact=$1
shift
for test; do
    for sampler in ring papi; do
        SAMPLER=$sampler EXACT=$exact top_srcdir=$top_srcdir top_builddir=$top_builddir sh "$top_srcdir/tests/counters/inside/$test.sh" >"$test.$sampler.tap" 2>&1
        echo "status $?" >>"$test.$sampler.tap"
    done
done
