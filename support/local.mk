# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libsupport.a
%C%_libsupport_a_CPPFLAGS = $(AM_CPPFLAGS) $(XML2_CFLAGS)
# -fPIC: parts of it are linked into the recorder's shared library
%C%_libsupport_a_CFLAGS = $(AM_CFLAGS) -fPIC
%C%_libsupport_a_SOURCES = \
	%D%/support.h %D%/limits.h %D%/table.h %D%/sort.h %D%/demangle.h %D%/profile_proto.h \
	%D%/err.c %D%/memory.c %D%/strings.c %D%/hash.c %D%/cursor.c %D%/buf.c \
	%D%/files.c %D%/folders.c %D%/paths.c %D%/text/xml.c %D%/text/csv.c %D%/text/json.c %D%/text/json_read.c %D%/table.c %D%/sort.c %D%/parallel.c %D%/child.c %D%/ranks.c %D%/demangle.c

check_PROGRAMS += %D%/support_test
TESTS += %D%/support_test
%C%_support_test_SOURCES = %D%/support_test.c tests/tap.h
%C%_support_test_LDADD = %D%/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)

check_PROGRAMS += %D%/sort_test
TESTS += %D%/sort_test
%C%_sort_test_SOURCES = %D%/sort_test.c tests/tap.h
%C%_sort_test_LDADD = %D%/libsupport.a

check_PROGRAMS += %D%/table_test
TESTS += %D%/table_test
%C%_table_test_SOURCES = %D%/table_test.c tests/chance.h tests/guarded.h tests/tap.h
%C%_table_test_LDADD = %D%/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS) -lm
check_PROGRAMS += %D%/ranks_test
TESTS += %D%/ranks_test
%C%_ranks_test_SOURCES = %D%/ranks_test.c tests/tap.h tests/ranks.h
%C%_ranks_test_LDADD = %D%/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS) -lm
check_PROGRAMS += %D%/shrink_test
TESTS += %D%/shrink_test
%C%_shrink_test_SOURCES = %D%/shrink_test.c tests/tap.h
%C%_shrink_test_LDADD = %D%/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)
check_PROGRAMS += %D%/text/json_test
TESTS += %D%/text/json_test
%C%_text_json_test_SOURCES = %D%/text/json_test.c tests/chance.h tests/guarded.h tests/tap.h
%C%_text_json_test_LDADD = %D%/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)

check_PROGRAMS += %D%/edges_test
TESTS += %D%/edges_test
%C%_edges_test_SOURCES = %D%/edges_test.c tests/tap.h
%C%_edges_test_LDADD = %D%/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS) -lm

check_PROGRAMS += %D%/files_test %D%/text/xml_test
TESTS += %D%/files_test %D%/text/xml_test
%C%_files_test_SOURCES = %D%/files_test.c tests/tap.h
%C%_files_test_LDADD = %D%/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)
%C%_text_xml_test_SOURCES = %D%/text/xml_test.c tests/chance.h tests/guarded.h tests/tap.h
%C%_text_xml_test_LDADD = %D%/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS) -lm

check_PROGRAMS += %D%/drawn_test
TESTS += %D%/drawn_test
%C%_drawn_test_SOURCES = %D%/drawn_test.c tests/guarded.h tests/tap.h
%C%_drawn_test_LDADD = %D%/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS) $(IBERTY_LIBS) -lm

# With a fake system that fails.
check_PROGRAMS += %D%/calls_test
TESTS += %D%/calls_test
%C%_calls_test_SOURCES = %D%/calls_test.c tests/fakes/fake_calls.h tests/tap.h %D%/files.c %D%/child.c
%C%_calls_test_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/tests/fakes/fake_calls.h
%C%_calls_test_LDADD = %D%/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS)
