# SPDX-License-Identifier: BSD-3-Clause
bloop_libbloop_a_SOURCES += \
	%D%/functions.h %D%/functions_int.h %D%/table.c %D%/noreturn_names.c %D%/gaps.c %D%/functions.c

check_PROGRAMS += %D%/functions_test
TESTS += %D%/functions_test
%C%_functions_test_SOURCES = %D%/functions_test.c bloop/binary_test.h
%C%_functions_test_LDADD = $(BLOOP_LDADD)

check_PROGRAMS += %D%/drawn_test
TESTS += %D%/drawn_test
%C%_drawn_test_SOURCES = %D%/drawn_test.c tests/chance.h
%C%_drawn_test_LDADD = $(BLOOP_LDADD)

check_PROGRAMS += %D%/gaps_test
TESTS += %D%/gaps_test
%C%_gaps_test_SOURCES = %D%/gaps_test.c tests/chance.h tests/guarded.h
%C%_gaps_test_LDADD = $(BLOOP_LDADD)
