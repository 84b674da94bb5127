# SPDX-License-Identifier: BSD-3-Clause
filters_libfilters_a_SOURCES += %D%/hpctoolkit.h %D%/hpctoolkit_int.h %D%/hpctoolkit.c %D%/v4.c

check_PROGRAMS += %D%/hpctoolkit_test %D%/hpctoolkit_fuzz
TESTS += %D%/hpctoolkit_test
%C%_hpctoolkit_test_SOURCES = %D%/hpctoolkit_test.c tests/fixtures/import_dump.h tests/guarded.h tests/tap.h
%C%_hpctoolkit_test_LDADD = $(FILTERS_LDADD)
FUZZERS += %D%/hpctoolkit_fuzz
%C%_hpctoolkit_fuzz_SOURCES = %D%/hpctoolkit_fuzz.c
%C%_hpctoolkit_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_hpctoolkit_fuzz_LDADD = $(LIBFUZZER) $(FILTERS_LDADD)
EXTRA_DIST += \
	tests/filters/hpctoolkit.example tests/filters/hpctoolkit.out tests/filters/hpctoolkit.py tests/corpus/hpctoolkit/heat \
	tests/filters/hpctoolkit-database/meta.db tests/filters/hpctoolkit-database/profile.db tests/filters/hpctoolkit-database/damaged
