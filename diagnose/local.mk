# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libdiagnose.a
%C%_libdiagnose_a_SOURCES = %D%/diagnose.h \
	%D%/read/read.h %D%/read/reader.h %D%/read/tokens.h %D%/read/tokens.c %D%/read/read.c %D%/read/clauses.c %D%/read/templates.c %D%/read/texts.c \
	%D%/read/properties.c %D%/read/library.c \
	%D%/evaluate/evaluate.h %D%/evaluate/resolve.c %D%/evaluate/paths.c %D%/evaluate/evaluate.c %D%/evaluate/texts.c \
	%D%/search/search.h %D%/search/search.c %D%/search/merge.c %D%/search/callers.c %D%/search/next_measurements.c \
	%D%/report/report.h %D%/report/print.c %D%/report/formats.c %D%/report/tables.c

check_PROGRAMS += %D%/read/read_test %D%/library_test %D%/search/findings_test %D%/read/asl_fuzz
TESTS += %D%/read/read_test %D%/library_test %D%/search/findings_test
FUZZERS += %D%/read/asl_fuzz
%C%_read_read_test_SOURCES = %D%/read/read_test.c tests/cases.h tests/tap.h
%C%_read_read_test_LDADD = $(DIAGNOSE_LDADD)
%C%_library_test_SOURCES = %D%/library_test.c $(OUTLINE) tests/tap.h
%C%_library_test_LDADD = $(DIAGNOSE_LDADD)
%C%_search_findings_test_SOURCES = %D%/search/findings_test.c $(OUTLINE) tests/cases.h tests/tap.h
%C%_search_findings_test_LDADD = $(DIAGNOSE_LDADD)
%C%_read_asl_fuzz_SOURCES = %D%/read/asl_fuzz.c
%C%_read_asl_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_read_asl_fuzz_LDADD = $(LIBFUZZER) $(DIAGNOSE_LDADD)
EXTRA_DIST += tests/corpus/asl/template.asl tests/corpus/asl/circle.asl tests/corpus/asl/cut.asl tests/corpus/asl/rows.asl tests/corpus/asl/open-text.asl tests/corpus/asl/empty-template.asl
EXTRA_DIST += tests/diagnose/library.cases tests/diagnose/findings.cases tests/diagnose/reading.cases
