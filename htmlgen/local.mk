# SPDX-License-Identifier: BSD-3-Clause
noinst_LIBRARIES += %D%/libhtmlgen.a
htmlgen_libhtmlgen_a_SOURCES = %D%/htmlgen.h
nodist_htmlgen_libhtmlgen_a_SOURCES = %D%/bundle.c
CLEANFILES += %D%/bundle.c
EXTRA_DIST += %D%/embed.sh

# The page's three texts as C arrays. GNU make and automake's VPATH find the bundle in the build folder (made from a git checkout) or in the
# source folder (shipped in a tarball).
%D%/bundle.c: templates/index.html templates/dist/hpcview.js templates/dist/hpcview.css $(top_srcdir)/%D%/embed.sh
	$(AM_V_GEN)$(MKDIR_P) %D% && page='$(filter %.html,$^)' script='$(filter %.js,$^)' style='$(filter %.css,$^)' && \
	$(SHELL) $(top_srcdir)/%D%/embed.sh htmlgen_page "$$page" htmlgen_script "$$script" htmlgen_style "$$style" >$@.new && mv $@.new $@

HTMLGEN_TEST_LIBS = %D%/libhtmlgen.a metrics/libmetrics.a support/libsupport.a $(XML2_LIBS) $(ZLIB_LIBS) -lm

include htmlgen/format/local.mk
include htmlgen/write/local.mk
include htmlgen/read/local.mk
