noinst_LIBRARIES += %D%/libexport.a
%C%_libexport_a_SOURCES = %D%/export.h %D%/export_int.h %D%/export.c %D%/hatchet.c %D%/tables.c %D%/stacks.c %D%/pprof.c %D%/callgrind.c \
	%D%/profile.c %D%/database.c %D%/database_int.h %D%/database_tables.c

check_PROGRAMS += %D%/database_fuzz %D%/database_test
TESTS += %D%/database_test
%C%_database_test_SOURCES = %D%/database_test.c htmlgen/sample.c htmlgen/sample.h tests/tap.h
%C%_database_test_LDADD = $(ROOM_LDADD)
FUZZERS += %D%/database_fuzz
%C%_database_fuzz_SOURCES = %D%/database_fuzz.c
%C%_database_fuzz_LDFLAGS = $(FUZZER_FLAGS)
%C%_database_fuzz_LDADD = $(LIBFUZZER) $(ROOM_LDADD)
EXTRA_DIST += tests/corpus/database/nothing-of-no-values tests/corpus/database/version-1.html tests/corpus/database/version-2.html tests/corpus/database/version-2-paths.html

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
