noinst_LIBRARIES += %D%/libhtmlgen.a
%C%_libhtmlgen_a_SOURCES = %D%/htmlgen.h %D%/htmlgen_int.h %D%/write.c %D%/encode.c %D%/sources.c %D%/sha256.c
nodist_%C%_libhtmlgen_a_SOURCES = %D%/bundle.c
CLEANFILES += %D%/bundle.c
EXTRA_DIST += %D%/embed.sh

# The page's three texts as C arrays. GNU make and automake's VPATH find the bundle in the build folder (made from a git checkout) or in the
# source folder (shipped in a tarball).
%D%/bundle.c: templates/index.html templates/dist/hpcview.js templates/dist/hpcview.css $(top_srcdir)/%D%/embed.sh
	$(AM_V_GEN)$(MKDIR_P) %D% && page='$(filter %.html,$^)' script='$(filter %.js,$^)' style='$(filter %.css,$^)' && \
	$(SHELL) $(top_srcdir)/%D%/embed.sh htmlgen_page "$$page" htmlgen_script "$$script" htmlgen_style "$$style" >$@.new && mv $@.new $@

HTMLGEN_TEST_LIBS = %D%/libhtmlgen.a metrics/libmetrics.a support/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS) -lm

check_PROGRAMS += %D%/htmlgen_test %D%/make_database
TESTS += %D%/htmlgen_test
%C%_htmlgen_test_SOURCES = %D%/htmlgen_test.c %D%/sample.c %D%/sample.h tests/chance.h tests/tap.h
%C%_htmlgen_test_LDADD = $(HTMLGEN_TEST_LIBS)
# Writes databases of hand-made and of large experiments, for the tests of the page.
%C%_make_database_SOURCES = %D%/make_database.c %D%/sample.c %D%/sample.h
%C%_make_database_LDADD = $(HTMLGEN_TEST_LIBS)
