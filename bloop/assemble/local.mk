# SPDX-License-Identifier: BSD-3-Clause
ASSEMBLE_SOURCES = %D%/assemble.h %D%/assemble_int.h %D%/names.c %D%/places.c %D%/control.c %D%/copies.c %D%/assemble.c
bloop_libbloop_a_SOURCES += $(ASSEMBLE_SOURCES)

check_PROGRAMS += %D%/assemble_test
TESTS += %D%/assemble_test
%C%_assemble_test_SOURCES = %D%/assemble_test.c tests/fakes/fake_debug.h tests/fixtures/code_image.h tests/guarded.h $(ASSEMBLE_SOURCES)
%C%_assemble_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_debug.h
%C%_assemble_test_LDADD = $(BLOOP_LDADD)
EXTRA_DIST += %D%/made.trees
