dist_check_SCRIPTS += \
	%D%/headers.sh %D%/run-golden.sh %D%/corpus.sh
EXTRA_DIST += %D%/lib.sh %D%/README.md

check_LIBRARIES += %D%/libreplay.a
%C%_libreplay_a_SOURCES = %D%/replay.c

# ---- make bench -------------------------------------------------------------------
EXTRA_PROGRAMS += %D%/bench/measure
BENCH_TOOLS += %D%/bench/measure
%C%_bench_measure_SOURCES = %D%/bench/measure.c
EXTRA_DIST += %D%/bench/lib.sh %D%/bench/structure.sh %D%/bench/build.sh
