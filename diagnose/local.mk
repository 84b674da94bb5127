noinst_LIBRARIES += %D%/libdiagnose.a
%C%_libdiagnose_a_SOURCES = %D%/diagnose.h %D%/diagnose_int.h %D%/read_int.h %D%/tokens.c %D%/read.c %D%/read_clauses.c %D%/read_templates.c %D%/texts.c %D%/library.c %D%/bind.c \
	%D%/evaluate.c %D%/unite.c %D%/search.c %D%/tables.c %D%/print.c %D%/formats.c %D%/wishes.c

check_PROGRAMS += %D%/read_test %D%/library_test %D%/findings_test %D%/asl_fuzz
TESTS += %D%/read_test %D%/library_test %D%/findings_test
FUZZERS += %D%/asl_fuzz
%C%_read_test_SOURCES = %D%/read_test.c tests/cases.h tests/tap.h
%C%_read_test_LDADD = $(ROOM_LDADD)
%C%_library_test_SOURCES = %D%/library_test.c %D%/drawing.c %D%/drawing.h tests/tap.h
%C%_library_test_LDADD = $(ROOM_LDADD)
%C%_findings_test_SOURCES = %D%/findings_test.c %D%/drawing.c %D%/drawing.h tests/cases.h tests/tap.h
%C%_findings_test_LDADD = $(ROOM_LDADD)
%C%_asl_fuzz_SOURCES = %D%/asl_fuzz.c
%C%_asl_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_asl_fuzz_LDADD = $(LIBFUZZER) $(ROOM_LDADD)
EXTRA_DIST += tests/corpus/asl/template.asl tests/corpus/asl/circle.asl tests/corpus/asl/cut.asl tests/corpus/asl/rows.asl tests/corpus/asl/open-text.asl tests/corpus/asl/empty-template.asl
EXTRA_DIST += tests/diagnose/library.cases tests/diagnose/findings.cases tests/diagnose/reading.cases
