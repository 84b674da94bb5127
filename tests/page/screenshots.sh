#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make screenshots: twelve databases and more, measured here, and pictures of all their views (light, dark, 360 pixels) in the build
# folder's tests/page/screenshots. A database that needs something this machine lacks is skipped. CODES=folder: with checkouts of HPCCG,
# LULESH, CloverLeaf_Serial and STREAM, as far as they are there, in place of programs of the tree. DATABASES="mpi openmp": only these.
src=$(cd "$top_srcdir" && pwd)
out=$top_builddir/tests/page/screenshots
for browser in "${CHROMIUM-}" chromium chromium-browser google-chrome; do
    [ -n "$browser" ] && browser=$(command -v "$browser") && break
done
[ -n "$browser" ] || { echo "screenshots: no chromium is installed" >&2; exit 1; }
sh "$src/templates/node-packages.sh" "$src/templates" "$top_builddir/templates" || exit 1

mkdir -p "$out"
out=$(cd "$out" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
hpcview=$top_builddir/driver/hpcview
playwright=$top_builddir/templates/node_modules/playwright-core/index.mjs
cd "$out" || exit 1
rm -rf examples programs codes measurements before after text counted db-* *.png
cp -R "$src/share/examples" examples
cp -R "$src/tests/page/programs" programs
mkdir measurements codes
for code in HPCCG LULESH CloverLeaf_Serial STREAM; do
    [ -d "${CODES-}/$code" ] && cp -R "$CODES/$code" codes
done
chmod -R u+w examples programs codes
OMP_NUM_THREADS=${OMP_NUM_THREADS-2} OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMP_NUM_THREADS OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

# build NAME INPUT...: of measurements, a foreign file or a configuration
build() {
    name=$1
    shift
    "$hpcview" build -I examples -I examples/particles -I programs -I codes -o "db-$name" "$@"
}
record() { "$hpcview" record "$@"; }
has() { command -v "$1" >/dev/null || { echo "$1 is not installed"; return 1; }; }
ranks() { mpirun --oversubscribe -n 4 "$hpcview" record --phases "$@"; }

mpi() {
    has mpicxx || return
    if [ -d codes/HPCCG ]; then
        mpicxx -O2 -g -DUSING_MPI -o hpccg codes/HPCCG/*.cpp && ranks -o measurements/mpi -- ./hpccg 40 40 40
    else
        mpicc -O2 -g -o ranks programs/ranks.c && ranks -o measurements/mpi -- ./ranks 200
    fi && build mpi measurements/mpi
}
openmp() {
    if [ -d codes/LULESH ]; then
        g++ -O3 -g -fopenmp -DUSE_MPI=0 -o lulesh codes/LULESH/*.cc && record --phases -o measurements/openmp -- ./lulesh -s 30 -i 60
    else
        gcc -O2 -g -fopenmp -o triangle programs/triangle.c && record --phases -o measurements/openmp -- ./triangle 100
    fi && build openmp measurements/openmp
}
fortran() {
    if [ -d codes/CloverLeaf_Serial ]; then
        make -C codes/CloverLeaf_Serial COMPILER=GNU OPTIONS=-g C_OPTIONS=-g && (
            cd codes/CloverLeaf_Serial && sed -i 's/_cells=960/_cells=240/' clover.in && record -o ../../measurements/fortran -- ./clover_leaf)
    else
        make -C examples/heat && record -o measurements/fortran -- examples/heat/heat 300
    fi && build fortran measurements/fortran
}
cpp() { g++ -O2 -g -o deep programs/deep.cpp && record -o measurements/cpp -- ./deep 300000 && build cpp measurements/cpp; }
python() { has python3 && record -o measurements/python -- python3 programs/words.py && build python measurements/python; }
stripped() { g++ -O2 -s -o stripped programs/deep.cpp && record -o measurements/stripped -- ./stripped 200000 && build stripped measurements/stripped; }
perf_data() { has perf && g++ -O2 -g -o deep programs/deep.cpp && perf record -q -g -o perf.data ./deep 200000 && build perf_data perf.data; }
callgrind() {
    has valgrind && make -C examples/heat &&
        valgrind --tool=callgrind --dump-instr=yes --callgrind-out-file=callgrind.out examples/heat/heat 40 && build callgrind callgrind.out
}
# comparison TITLE RUN...: a configuration over the measurements of these names
comparison() {
    printf '<hpcview version="1">\n<title>%s</title>\n' "$1"
    shift
    for run; do printf '<run name="%s" measurements="measurements/%s"/>\n' "$run" "$run"; done
    for run; do printf '<measured name="%s.TIME" event="perf::TASK-CLOCK" run="%s" unit="ns"/>\n' "$run" "$run"; done
    printf '</hpcview>\n'
}
compilers() {
    has clang++ && g++ -O3 -g -o particles.gcc examples/particles/particles.cpp && clang++ -O3 -g -o particles.clang examples/particles/particles.cpp &&
        record -o measurements/gcc -- ./particles.gcc && record -o measurements/clang -- ./particles.clang &&
        comparison 'particles: gcc and clang' gcc clang >compilers.xml && build compilers compilers.xml
}
# a change that takes the root of every distance, also of those beyond reach
versions() {
    mkdir before after && cp examples/particles/* before && cp examples/particles/* after &&
        sed -i 's/if (r2 >= Law::reach .*/if (real r = std::sqrt(r2); r >= Law::reach || r == 0)/' after/particles.cpp &&
        for version in before after; do
            g++ -std=c++17 -O2 -g -o $version/particles $version/particles.cpp && record -o measurements/$version -- $version/particles || return
        done && comparison 'particles: before and after' before after >versions.xml && build versions versions.xml
}
sizes() {
    make -C examples/heat && for n in 200 300 400; do record -o "measurements/n$n" -- examples/heat/heat $n || return; done &&
        comparison 'heat: three sizes' n200 n300 n400 >sizes.xml && build sizes sizes.xml
}
memory() {
    if [ -d codes/STREAM ]; then
        gcc -O2 -g -DSTREAM_ARRAY_SIZE=100000 -DNTIMES=3 -o stream codes/STREAM/stream.c && "$hpcview" simulate -o measurements/memory -- ./stream
    else
        make -C examples/sweep && "$hpcview" simulate -o measurements/memory -- examples/sweep/sweep
    fi && build memory measurements/memory
}
million() { mkdir text && ../../fixtures/make_database large text db-million 1000000 4; }
# with hardware counters of an emulated processor (doc/counters.md)
counted() {
    has qemu-system-aarch64 && (
        . "$src/tests/counters/guest.sh"
        guest_prepare && guest_build && guest_make heat && mkdir -p "$out/counted" && guest_run "$out/counted" "neoverse-n1 -icount shift=1" "
            echo -1 >/proc/sys/kernel/perf_event_paranoid
            $arm64/driver/hpcview record -e PAPI_TOT_CYC@400009 -e PAPI_TOT_INS@12000017 -o heat-arm64 -- $arm64/programs/heat 150 3"
    ) && build counted -m 'CPI = run(heat-arm64).PAPI_TOT_CYC / run(heat-arm64).PAPI_TOT_INS' counted/heat-arm64
}

: >log
for name in ${DATABASES-mpi openmp fortran cpp python stripped perf_data callgrind compilers versions sizes memory million counted}; do
    echo "== $name" >>log
    $name >>log 2>&1 || echo "screenshots: db-$name was not made (see $out/log)" >&2
done

PLAYWRIGHT=$playwright CHROMIUM=$browser node "$src/tests/page/screenshots.mjs" "$out" db-*
