# SPDX-License-Identifier: BSD-3-Clause
# The library is one; each folder below adds its files to it.

noinst_LIBRARIES += %D%/libfilters.a
filters_libfilters_a_SOURCES = \
	%D%/filters.h %D%/filters.c %D%/formats.h %D%/caliper.c %D%/coverage.c %D%/folded.c %D%/gmon.c %D%/likwid.c %D%/papi.c \
	%D%/pprof.c %D%/profile.c %D%/speedscope.c %D%/table.c

include filters/base/local.mk
include filters/perf/local.mk
include filters/callgrind/local.mk
include filters/hpctoolkit/local.mk

check_PROGRAMS += %D%/filter_fuzz %D%/filters_test %D%/contents_test %D%/random_test %D%/files_test
TESTS += %D%/filters_test %D%/contents_test %D%/random_test %D%/files_test
%C%_files_test_SOURCES = %D%/files_test.c tests/fixtures/import_dump.h tests/tap.h
%C%_files_test_LDADD = $(FILTERS_LDADD)
%C%_contents_test_SOURCES = %D%/contents_test.c tests/fixtures/import_dump.h tests/cases.h tests/guarded.h tests/tap.h
%C%_contents_test_LDADD = $(FILTERS_LDADD)
EXTRA_DIST += tests/filters/contents.cases
%C%_random_test_SOURCES = %D%/random_test.c tests/fixtures/import_dump.h tests/chance.h tests/tap.h
%C%_random_test_LDADD = $(FILTERS_LDADD)
%C%_filters_test_SOURCES = %D%/filters_test.c tests/fixtures/import_dump.h tests/tap.h
%C%_filters_test_LDADD = $(FILTERS_LDADD)
FUZZERS += %D%/filter_fuzz
%C%_filter_fuzz_SOURCES = %D%/filter_fuzz.c
%C%_filter_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_filter_fuzz_LDADD = $(LIBFUZZER) $(FILTERS_LDADD)
EXTRA_DIST += tests/corpus/filter
EXTRA_DIST += \
	tests/filters/folded.example tests/filters/folded.out \
	tests/filters/gcov.example tests/filters/gcov.out \
	tests/filters/gperftools.example tests/filters/gperftools.out \
	tests/filters/gprof.example tests/filters/gprof.out \
	tests/filters/lcov.example tests/filters/lcov.out \
	tests/filters/llvm-cov.example tests/filters/llvm-cov.out \
	tests/filters/pprof.example tests/filters/pprof.out \
	tests/filters/speedscope.example tests/filters/speedscope.out \
	tests/filters/table.example tests/filters/table.out \
	tests/filters/perf.example tests/filters/perf.out tests/filters/perf-script.example tests/filters/perf-script.out \
	tests/filters/callgrind.example tests/filters/callgrind.out tests/filters/cachegrind.example tests/filters/cachegrind.out \
	tests/filters/profile.example tests/filters/profile.out tests/filters/covered.c
EXTRA_DIST += \
	tests/filters/caliper.example tests/filters/caliper.out \
	tests/filters/likwid.example tests/filters/likwid.out \
	tests/filters/papi.example tests/filters/papi.out
EXTRA_DIST += tests/bench/import.sh
dist_check_SCRIPTS += tests/build/four-sources.sh tests/filters/tools.sh tests/filters/trip_counts.sh tests/filters/cases.sh
EXTRA_DIST += \
	tests/filters/cases/folded-comment.txt tests/filters/cases/folded-fractions.txt tests/filters/cases/folded-mangled.txt \
	tests/filters/cases/gprof-text.txt tests/filters/cases/insn.perf.txt tests/filters/cases/lcov22.info \
	tests/filters/cases/local-binary-wins.perf.txt tests/filters/cases/no-last-newline.perf.txt tests/filters/cases/no-period.perf.txt \
	tests/filters/cases/no-period-cpi.perf.txt tests/filters/cases/no-time-no-indent.perf.txt tests/filters/cases/unknown-local.perf.txt
