# SPDX-License-Identifier: BSD-3-Clause
bloop_libbloop_a_SOURCES += \
	%D%/code.h %D%/cfg_int.h %D%/cfg_work.c %D%/jump_int.h %D%/jump_ways.c %D%/jump_values.c %D%/jump_tables.c %D%/jump_frames.c \
	%D%/jumptable.c %D%/cfg.c %D%/noreturn.c %D%/loops.c

check_PROGRAMS += %D%/loops_test %D%/cfg_test %D%/drawn_test %D%/jump_drawn_test %D%/jumptable_test %D%/code_fuzz
TESTS += %D%/loops_test %D%/cfg_test %D%/drawn_test %D%/jump_drawn_test %D%/jumptable_test
FUZZERS += %D%/code_fuzz
%C%_loops_test_SOURCES = %D%/loops_test.c
%C%_loops_test_LDADD = $(BLOOP_LDADD)
%C%_cfg_test_SOURCES = %D%/cfg_test.c tests/fixtures/code_image.h
%C%_cfg_test_LDADD = $(BLOOP_LDADD)
%C%_drawn_test_SOURCES = %D%/drawn_test.c tests/fixtures/code_image.h tests/chance.h tests/guarded.h tests/tap.h
%C%_drawn_test_LDADD = $(BLOOP_LDADD)
%C%_jump_drawn_test_SOURCES = %D%/jump_drawn_test.c tests/fixtures/code_image.h tests/chance.h tests/guarded.h tests/tap.h
%C%_jump_drawn_test_LDADD = $(BLOOP_LDADD)
%C%_jumptable_test_SOURCES = %D%/jumptable_test.c
%C%_jumptable_test_LDADD = $(BLOOP_LDADD)
%C%_code_fuzz_SOURCES = %D%/code_fuzz.c tests/fixtures/code_image.h
%C%_code_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_code_fuzz_LDADD = $(LIBFUZZER) $(BLOOP_LDADD)
EXTRA_DIST += tests/corpus/code
