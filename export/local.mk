# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libexport.a
%C%_libexport_a_SOURCES = %D%/export.h %D%/export_int.h %D%/export.c %D%/hatchet.c %D%/tables.c %D%/stacks.c %D%/pprof.c %D%/callgrind.c \
	%D%/profile.c

check_PROGRAMS += %D%/export_test
TESTS += %D%/export_test
%C%_export_test_SOURCES = %D%/export_test.c $(OUTLINE) tests/cases.h tests/tap.h
%C%_export_test_LDADD = $(EXPORT_LDADD)
EXTRA_DIST += tests/export/formats.cases

dist_check_SCRIPTS += tests/export/export.sh
EXTRA_DIST += tests/export/formats.py tests/export/folded.out tests/export/callgrind.out tests/export/csv.out
EXTRA_DIST += \
	tests/export/version-2.json.out \
	tests/export/version-2.speedscope.out \
	tests/export/version-2.profile.out \
	tests/export/version-2.pprof.out \
	tests/export/version-2-paths.json.out \
	tests/export/version-2-paths.speedscope.out \
	tests/export/version-2-paths.profile.out \
	tests/export/version-2-paths.pprof.out
