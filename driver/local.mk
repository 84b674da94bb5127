# SPDX-License-Identifier: BSD-3-Clause
bin_PROGRAMS += %D%/hpcview
driver_alone = %D%/driver.h %D%/main.c %D%/options.c %D%/operands.c %D%/paths.c %D%/overrides.h %D%/overrides.c %D%/findings.h %D%/findings.c \
	%D%/record.h %D%/cmd_record.c %D%/build.h %D%/cmd_build.c %D%/cmd_compare.c %D%/cmd_run.c %D%/cmd_diagnose.c %D%/cmd_doctor.c %D%/cmd_export.c %D%/cmd_import.c \
	%D%/cmd_info.c %D%/cmd_init.c %D%/cmd_merge.c %D%/cmd_events.c %D%/cmd_open.c %D%/cmd_phases.c %D%/cmd_print.c %D%/cmd_quality.c \
	%D%/cmd_simulate.c %D%/cmd_structure.c
%C%_hpcview_SOURCES = $(driver_alone) %D%/ranks.c
%C%_hpcview_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS) -DPREFIX='"$(prefix)"' -DBINDIR='"$(bindir)"' -DPKGDATADIR='"$(pkgdatadir)"' -DPKGLIBDIR='"$(pkglibdir)"'
%C%_hpcview_LDADD = $(ALL_LDADD) $(MPI_LIBS)

check_PROGRAMS += %D%/phases_test
TESTS += %D%/phases_test
%C%_phases_test_SOURCES = %D%/phases_test.c tests/chance.h tests/tap.h %D%/cmd_phases.c %D%/options.c
%C%_phases_test_CPPFLAGS = $(AM_CPPFLAGS) -Dclock_gettime=fake_clock -Dusleep=fake_sleep
%C%_phases_test_LDADD = phases/libphases.a hpcprof/libhpcprof.a $(BLOOP_LDADD)

check_PROGRAMS += %D%/commands_test
TESTS += %D%/commands_test
%C%_commands_test_SOURCES = %D%/commands_test.c tests/cases.h tests/tap.h $(driver_alone) $(CAMPAIGN_SOURCES) bloop/symbolizer.c
%C%_commands_test_CPPFLAGS = $(%C%_hpcview_CPPFLAGS) -Dmain=command_main -Dhpcprof_list_events=fake_list_events -Dhpcprof_record=fake_record \
	-Dmeasurement_keep_functions=fake_keep_functions -Dmachine_memory_here=fake_machine_here -Dmhsim_run=fake_simulate \
	-Dmachine_core_here=fake_quality_here -Dbloop_variables=fake_variables -Dgethostname=fake_gethostname -Dexeclp=fake_execlp \
	-Disatty=fake_isatty -Dclock_gettime=fake_clock -Dexperiment_build=fake_build -Dhtmlgen_write=fake_write \
	-Dbloop_open=fake_open -Dbloop_close=fake_close -Dbloop_scopes_all=fake_scopes_all -Dbloop_build_id=fake_build_id \
	-Dbloop_is_aarch64=fake_is_aarch64 -Dbloop_cache_path=fake_cache_path -Dbloop_stats=fake_stats -Dquality_analyze=fake_analyze \
	-Dquality_free=fake_quality_free -Dquality_write=fake_quality_write -Dfilemap_check=fake_filemap_check
%C%_commands_test_LDADD = $(%C%_hpcview_LDADD)
EXTRA_DIST += tests/driver/commands.cases
