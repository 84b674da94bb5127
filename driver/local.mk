bin_PROGRAMS += %D%/hpcview
driver_alone = %D%/driver.h %D%/main.c %D%/options.c %D%/cmd_structure.c %D%/cmd_open.c
driver_alone += %D%/wanted.h %D%/wanted.c %D%/cmd_build.c %D%/cmd_print.c %D%/cmd_init.c %D%/campaign.h %D%/campaign.c %D%/cmd_run.c %D%/cmd_import.c
driver_alone += %D%/record_options.h %D%/cmd_record.c %D%/cmd_simulate.c %D%/cmd_events.c %D%/cmd_info.c
driver_alone += %D%/cmd_export.c %D%/cmd_quality.c
driver_alone += %D%/findings.h %D%/findings.c %D%/live.h %D%/live.c %D%/cmd_diagnose.c
driver_alone += %D%/lines.h %D%/lines.c %D%/told.h %D%/told.c %D%/cmd_phases.c
%C%_hpcview_SOURCES = $(driver_alone) %D%/ranks.c
%C%_hpcview_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_hpcview_LDADD = $(ROOM_LDADD) $(MPI_LIBS)

check_PROGRAMS += %D%/told_test
TESTS += %D%/told_test
%C%_told_test_SOURCES = %D%/told_test.c %D%/told.c %D%/lines.c
%C%_told_test_CPPFLAGS = $(AM_CPPFLAGS) -Dbloop_open=fake_open -Dbloop_scopes_at=fake_scopes_at -Dbloop_close=fake_close
%C%_told_test_LDADD = $(ROOM_LDADD)

check_PROGRAMS += %D%/phases_test
TESTS += %D%/phases_test
%C%_phases_test_SOURCES = %D%/phases_test.c tests/chance.h tests/tap.h %D%/cmd_phases.c %D%/lines.c %D%/options.c
%C%_phases_test_CPPFLAGS = $(AM_CPPFLAGS) -Dclock_gettime=fake_clock -Dusleep=fake_sleep
%C%_phases_test_LDADD = $(ROOM_LDADD)

# what would start programs, or look at what they measured, is the test's own
check_PROGRAMS += %D%/live_test
TESTS += %D%/live_test
%C%_live_test_SOURCES = %D%/live_test.c $(OUTLINE) tests/chance.h tests/tap.h %D%/live.c %D%/options.c
%C%_live_test_CPPFLAGS = $(AM_CPPFLAGS) -Dhpcprof_list_events=fake_list_events -Dhpcprof_record=fake_record -Dmhsim_machine_here=fake_machine_here \
	-Dmhsim_run=fake_simulate -Dexperiment_build=fake_build -Ddiagnose=fake_diagnose -Ddiagnosis_next_measurements=fake_wishes \
	-Dproperties_statistics=fake_statistics -Dclock_gettime=fake_clock
%C%_live_test_LDADD = $(ROOM_LDADD)

check_PROGRAMS += %D%/commands_test
TESTS += %D%/commands_test
%C%_commands_test_SOURCES = %D%/commands_test.c tests/cases.h tests/tap.h $(driver_alone)
%C%_commands_test_CPPFLAGS = $(%C%_hpcview_CPPFLAGS) -Dmain=command_main -Dhpcprof_list_events=fake_list_events -Dhpcprof_record=fake_record \
	-Dmeasurement_keep_functions=fake_keep_functions -Dmhsim_machine_here=fake_machine_here -Dmhsim_run=fake_simulate \
	-Dquality_machine_here=fake_quality_here -Dbloop_variables=fake_variables -Dgethostname=fake_gethostname -Dexeclp=fake_execlp \
	-Disatty=fake_isatty -Dclock_gettime=fake_clock -Dexperiment_build=fake_build -Dhtmlgen_write=fake_write \
	-Dbloop_open=fake_open -Dbloop_close=fake_close -Dbloop_scopes_all=fake_scopes_all -Dbloop_build_id=fake_build_id \
	-Dbloop_is_aarch64=fake_is_aarch64 -Dbloop_cache_path=fake_cache_path -Dbloop_stats=fake_stats -Dquality_analyze=fake_analyze \
	-Dquality_free=fake_quality_free -Dquality_write=fake_quality_write -Dfilemap_check=fake_filemap_check
%C%_commands_test_LDADD = $(%C%_hpcview_LDADD)
EXTRA_DIST += tests/driver/commands.cases
