# SPDX-License-Identifier: BSD-3-Clause
bloop_libbloop_a_SOURCES += \
	%D%/arch.h %D%/ops.h %D%/facts.h %D%/x86_64.h %D%/x86_64.c %D%/x86_64_facts.c %D%/aarch64.h %D%/aarch64.c \
	%D%/aarch64_facts.c %D%/packed.c %D%/text.c %D%/waits.c

check_PROGRAMS += %D%/arch_test %D%/facts_test %D%/run_test
TESTS += %D%/arch_test %D%/facts_test %D%/run_test
%C%_run_test_SOURCES = %D%/run_test.c tests/chance.h tests/tap.h
%C%_run_test_LDADD = $(BLOOP_LDADD)
%C%_facts_test_SOURCES = %D%/facts_test.c
EXTRA_DIST += %D%/aarch64.words
%C%_facts_test_LDADD = $(BLOOP_LDADD)
%C%_arch_test_SOURCES = %D%/arch_test.c tests/guarded.h tests/tap.h
%C%_arch_test_LDADD = $(BLOOP_LDADD)
