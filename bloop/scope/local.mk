# SPDX-License-Identifier: BSD-3-Clause
bloop_libbloop_a_SOURCES += \
	%D%/scope_int.h %D%/tree.c %D%/build.c %D%/check.c %D%/xml.c %D%/hpcstruct.c %D%/outline.c

check_PROGRAMS += %D%/scope_test %D%/drawn_test
TESTS += %D%/scope_test %D%/drawn_test
%C%_drawn_test_SOURCES = %D%/drawn_test.c tests/chance.h tests/tap.h
%C%_drawn_test_LDADD = $(BLOOP_LDADD)
%C%_scope_test_SOURCES = %D%/scope_test.c
%C%_scope_test_LDADD = $(BLOOP_LDADD)

check_PROGRAMS += %D%/scope_fuzz
FUZZERS += %D%/scope_fuzz
%C%_scope_fuzz_SOURCES = %D%/scope_fuzz.c
%C%_scope_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_scope_fuzz_LDADD = $(LIBFUZZER) $(BLOOP_LDADD)
EXTRA_DIST += tests/corpus/scope
