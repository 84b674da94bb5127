# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libcampaign.a
CAMPAIGN_SOURCES = %D%/campaign.h %D%/runs.c %D%/experiments.c
%C%_libcampaign_a_SOURCES = $(CAMPAIGN_SOURCES)

# the test has fakes of the functions that start programs or read their measurements
check_PROGRAMS += %D%/experiments_test
TESTS += %D%/experiments_test
%C%_experiments_test_SOURCES = %D%/experiments_test.c $(OUTLINE) tests/chance.h tests/tap.h %D%/experiments.c
%C%_experiments_test_CPPFLAGS = $(AM_CPPFLAGS) -Dhpcprof_list_events=fake_list_events -Dhpcprof_record=fake_record -Dmachine_memory_here=fake_machine_here \
	-Dmhsim_run=fake_simulate -Dexperiment_build=fake_build -Ddiagnose=fake_diagnose -Ddiagnosis_next_measurements=fake_wishes \
	-Dexperiment_code_of=fake_code_of -Dproperties_statistics=fake_statistics -Dclock_gettime=fake_clock
%C%_experiments_test_LDADD = $(CAMPAIGN_LDADD)
