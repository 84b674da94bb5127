# SPDX-License-Identifier: BSD-3-Clause
htmlgen_libhtmlgen_a_SOURCES += %D%/read.h %D%/read.c %D%/tables.c

check_PROGRAMS += %D%/read_test
TESTS += %D%/read_test
%C%_read_test_SOURCES = %D%/read_test.c tests/fixtures/sample_experiments.c tests/fixtures/sample_experiments.h tests/cases.h tests/tap.h
%C%_read_test_LDADD = $(HTMLGEN_LDADD)
check_PROGRAMS += %D%/database_fuzz
FUZZERS += %D%/database_fuzz
%C%_database_fuzz_SOURCES = %D%/database_fuzz.c
%C%_database_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_database_fuzz_LDADD = $(LIBFUZZER) $(HTMLGEN_LDADD)
EXTRA_DIST += tests/print/damage.cases
EXTRA_DIST += tests/corpus/database/nothing-of-no-values tests/corpus/database/version-1.html tests/corpus/database/version-2.html tests/corpus/database/version-2-paths.html tests/corpus/database/version-3.html
