filters_libfilters_a_SOURCES += \
	%D%/callgrind.h %D%/callgrind.c %D%/cost_positions.h %D%/cost_positions.c %D%/instr_loops.h %D%/instr_loops.c

check_PROGRAMS += %D%/cost_positions_test
TESTS += %D%/cost_positions_test
%C%_cost_positions_test_SOURCES = %D%/cost_positions_test.c tests/tap.h
%C%_cost_positions_test_LDADD = $(FILTERS_LDADD)
