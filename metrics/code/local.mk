# SPDX-License-Identifier: BSD-3-Clause
metrics_libmetrics_a_SOURCES += \
	%D%/code.h %D%/compilers.c %D%/functions.c %D%/ideal_cycles.c %D%/instructions.c %D%/loops.c %D%/structure.c %D%/trip_counts.c

check_PROGRAMS += %D%/compilers_test %D%/loops_test %D%/functions_test
TESTS += %D%/compilers_test %D%/loops_test %D%/functions_test
%C%_compilers_test_SOURCES = %D%/compilers_test.c %D%/compilers.c tests/tap.h
%C%_compilers_test_CPPFLAGS = $(AM_CPPFLAGS) -Dinstructions_choose=fake_choose -Dbloop_producer=fake_producer
%C%_compilers_test_LDADD = $(METRICS_LDADD)
%C%_loops_test_SOURCES = %D%/loops_test.c %D%/loops.c tests/fixtures/experiment_outline.h tests/chance.h tests/tap.h
%C%_loops_test_CPPFLAGS = $(AM_CPPFLAGS) -Dbloop_is_aarch64=fake_is_aarch64 -Dmachine_core_read=fake_machine_read \
	-Dmachine_core_here=fake_machine_here -Dmachine_core_free=fake_machine_free -Dcorrelate_trips=fake_trips \
	-Dquality_analyze=fake_analyze
%C%_loops_test_LDADD = $(METRICS_LDADD)
%C%_functions_test_SOURCES = %D%/functions_test.c %D%/functions.c tests/fixtures/experiment_outline.h tests/chance.h tests/tap.h
%C%_functions_test_CPPFLAGS = $(AM_CPPFLAGS) -Dbloop_open=fake_open -Dbloop_close=fake_close -Dbloop_build_id=fake_build_id \
	-Dbloop_scopes_at=fake_scopes_at -Dstructures_add_kept=fake_add_kept
%C%_functions_test_LDADD = $(METRICS_LDADD)
check_PROGRAMS += %D%/trip_counts_test
TESTS += %D%/trip_counts_test
%C%_trip_counts_test_SOURCES = %D%/trip_counts_test.c %D%/trip_counts.c tests/chance.h tests/tap.h
%C%_trip_counts_test_CPPFLAGS = $(AM_CPPFLAGS) -Dcode_open=fake_open -Dbloop_code_at=fake_code_at -Dbloop_close=fake_close
%C%_trip_counts_test_LDADD = $(METRICS_LDADD)
