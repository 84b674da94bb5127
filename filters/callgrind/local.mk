# SPDX-License-Identifier: BSD-3-Clause
filters_libfilters_a_SOURCES += \
	%D%/callgrind.h %D%/callgrind.c %D%/costs.c %D%/cost_positions.h %D%/cost_positions.c %D%/jumps.h %D%/jumps.c \
	%D%/reader.h %D%/tokens.c

check_PROGRAMS += %D%/cost_positions_test
TESTS += %D%/cost_positions_test
%C%_cost_positions_test_SOURCES = %D%/cost_positions_test.c tests/tap.h
%C%_cost_positions_test_LDADD = $(FILTERS_LDADD)
check_PROGRAMS += %D%/jumps_test
TESTS += %D%/jumps_test
%C%_jumps_test_SOURCES = %D%/jumps_test.c tests/chance.h tests/tap.h
%C%_jumps_test_LDADD = $(FILTERS_LDADD)
