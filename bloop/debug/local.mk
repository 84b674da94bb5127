# SPDX-License-Identifier: BSD-3-Clause
bloop_libbloop_a_SOURCES += %D%/debug.h %D%/debug_int.h %D%/units.h %D%/debug.c %D%/die.c %D%/dwarf_file.c %D%/ranges.c %D%/go_lines.c %D%/lines.c \
	%D%/unit_index.c %D%/unit_names.c %D%/unit_split.c %D%/units.c %D%/variables.c

check_PROGRAMS += %D%/debug_test
TESTS += %D%/debug_test
%C%_debug_test_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CFLAGS)
%C%_debug_test_SOURCES = %D%/debug_test.c bloop/binary_test.h
%C%_debug_test_LDADD = $(BLOOP_LDADD)

check_PROGRAMS += %D%/made_test
TESTS += %D%/made_test
%C%_made_test_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CFLAGS)
%C%_made_test_SOURCES = %D%/made_test.c bloop/binary_test.h
%C%_made_test_LDADD = $(BLOOP_LDADD)

check_PROGRAMS += %D%/go_lines_test
TESTS += %D%/go_lines_test
%C%_go_lines_test_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CFLAGS)
%C%_go_lines_test_SOURCES = %D%/go_lines_test.c bloop/binary_test.h
%C%_go_lines_test_LDADD = $(BLOOP_LDADD)

check_PROGRAMS += %D%/lines_test
TESTS += %D%/lines_test
%C%_lines_test_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CFLAGS)
%C%_lines_test_SOURCES = %D%/lines_test.c tests/chance.h tests/guarded.h
%C%_lines_test_LDADD = $(BLOOP_LDADD)

check_PROGRAMS += %D%/go_drawn_test
TESTS += %D%/go_drawn_test
%C%_go_drawn_test_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CFLAGS)
%C%_go_drawn_test_SOURCES = %D%/go_drawn_test.c tests/chance.h tests/guarded.h
%C%_go_drawn_test_LDADD = $(BLOOP_LDADD)

check_PROGRAMS += %D%/entries_test
TESTS += %D%/entries_test
%C%_entries_test_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CFLAGS)
%C%_entries_test_SOURCES = %D%/entries_test.c tests/chance.h tests/guarded.h
%C%_entries_test_LDADD = $(BLOOP_LDADD)
