# SPDX-License-Identifier: BSD-3-Clause
# The page: TypeScript, bundled into one classic script. A tarball ships the bundle (dist/), so it needs neither node nor a network.
PAGE_SCRIPTS_IN = \
	%D%/model/browser.d.ts %D%/model/data.ts %D%/model/decode.ts %D%/model/head.ts %D%/model/jobs.ts %D%/model/keys.ts %D%/model/load.ts \
	%D%/logic/axis.ts %D%/logic/brackets.ts %D%/logic/calls.ts %D%/logic/cells.ts %D%/logic/columns.ts %D%/logic/compare.ts \
	%D%/logic/csv.ts %D%/logic/diagnosis.ts %D%/logic/distribution.ts %D%/logic/find.ts %D%/logic/flat.ts %D%/logic/format.ts %D%/logic/formula.ts %D%/logic/hotspots.ts %D%/logic/sticky_headers.ts \
	%D%/logic/hot_places.ts %D%/logic/icicle.ts %D%/logic/inlined.ts %D%/logic/instructions.ts %D%/logic/labels.ts %D%/logic/lines.ts %D%/logic/memo.ts %D%/logic/memory.ts \
	%D%/logic/phases.ts %D%/logic/rows.ts %D%/logic/scatter.ts %D%/logic/search.ts %D%/logic/self.ts %D%/logic/sort.ts %D%/logic/summary.ts \
	%D%/logic/syntax.ts %D%/logic/tables.ts %D%/logic/tree.ts \
	%D%/state/actions.ts %D%/state/reduce.ts %D%/state/state.ts %D%/state/store.ts %D%/state/url.ts \
	%D%/views/about.ts %D%/views/app.ts %D%/views/barriers.ts %D%/views/calls.ts %D%/views/card.ts %D%/views/chart.ts %D%/views/code.ts \
	%D%/views/columns.ts %D%/views/copies.ts %D%/views/distribution.ts %D%/views/dom.ts %D%/views/facts.ts %D%/views/files.ts %D%/views/find.ts %D%/views/finding.ts %D%/views/line_costs.ts %D%/views/glossary.ts %D%/views/headline.ts %D%/views/help.ts \
	%D%/views/icicle.ts %D%/views/instructions.ts %D%/views/keys.ts %D%/views/main.ts %D%/views/marks.ts %D%/views/memory.ts %D%/views/nosource.ts %D%/views/expanded_inlines.ts %D%/views/panes.ts \
	%D%/views/registry.ts %D%/views/report.ts %D%/views/rows.ts %D%/views/scatter.ts %D%/views/search.ts \
	%D%/views/source.ts %D%/views/run_summary.ts %D%/views/summary.ts %D%/views/table.ts %D%/views/tables.ts %D%/views/timeline.ts %D%/views/toolbar.ts \
	%D%/views/trees.ts %D%/views/workspace.ts
PAGE_STYLE_IN = %D%/style.css
PAGE_TESTS_IN = %D%/test/tap.ts %D%/test/blocks.ts %D%/test/corners.ts %D%/test/damage.ts %D%/test/drawn.ts %D%/test/jobs.ts %D%/test/retained.ts %D%/test/made.ts %D%/test/naive.ts %D%/test/outline.ts %D%/test/shown.ts %D%/test/states.ts %D%/test/text.d.ts %D%/test/all.test.ts

EXTRA_DIST += $(PAGE_SCRIPTS_IN) $(PAGE_STYLE_IN) $(PAGE_TESTS_IN) %D%/README.md %D%/index.html %D%/package.json %D%/package-lock.json \
	%D%/tsconfig.json %D%/node-packages.sh %D%/properties.mjs %D%/test/unit.sh %D%/test/types.sh \
	%D%/dist/hpcview.js %D%/dist/hpcview.css

ESBUILD_FLAGS = --log-level=warning --target=es2022,chrome91,firefox113,safari16.4 --charset=ascii --minify --legal-comments=none

if HAVE_NPM
# The packages are asked for in the recipe, not as a prerequisite: a finished bundle, as in a tarball, must not need them.
PAGE_PACKAGES = $(SHELL) $(top_srcdir)/%D%/node-packages.sh '$(abs_top_srcdir)/%D%' '$(abs_top_builddir)/%D%'

# Properties that only the page itself has, and that no text names, get short names in the bundle.
%D%/dist/hpcview.js: $(PAGE_SCRIPTS_IN) %D%/properties.mjs %D%/package-lock.json
	$(AM_V_GEN)$(PAGE_PACKAGES) && $(MKDIR_P) %D%/dist && \
	  properties=`cd %D% && node '$(abs_top_srcdir)/%D%/properties.mjs' '$(abs_top_srcdir)/%D%/model/browser.d.ts' '$(abs_top_srcdir)/%D%/views/main.ts'` && \
	  %D%/node_modules/.bin/esbuild $(top_srcdir)/%D%/views/main.ts --bundle \
	  --format=iife $(ESBUILD_FLAGS) --mangle-props="^($$properties)\$$" --outfile=$@

%D%/dist/hpcview.css: $(PAGE_STYLE_IN) %D%/package-lock.json
	$(AM_V_GEN)$(PAGE_PACKAGES) && $(MKDIR_P) %D%/dist && %D%/node_modules/.bin/esbuild $(top_srcdir)/%D%/style.css $(ESBUILD_FLAGS) \
	  --outfile=$@
else
%D%/dist/hpcview.js %D%/dist/hpcview.css:
	@echo 'hpcview: the page has to be bundled in a git checkout, and npm was not found; install nodejs and npm and run configure again,' >&2; \
	echo '  or build from a tarball (make dist), which holds the finished page' >&2; exit 1
endif

# The page's tests. page.sh needs the programs of htmlgen/.
TESTS += %D%/test/unit.sh %D%/test/types.sh tests/page/page.sh tests/page/firefox.sh tests/page/webkit.sh tests/page/agree.sh tests/page/open.sh
tests/page/page.log: driver/hpcview$(EXEEXT)
tests/page/page.log tests/page/firefox.log tests/page/webkit.log: tests/fixtures/make_database$(EXEEXT)
EXTRA_DIST += tests/page/page.sh tests/page/page.mjs tests/page/version1.mjs tests/page/firefox.sh tests/page/firefox.mjs tests/page/webkit.sh tests/page/webkit.mjs tests/page/agree.sh tests/page/agree.mjs tests/page/open.sh tests/page/heads tests/page/screenshots.sh tests/page/screenshots.mjs \
	tests/page/programs/deep.cpp tests/page/programs/ranks.c tests/page/programs/triangle.c tests/page/programs/words.py

# Pictures of every view of databases that are measured here: to be looked at.
.PHONY: screenshots
screenshots: driver/hpcview$(EXEEXT) tests/fixtures/make_database$(EXEEXT) %D%/dist/hpcview.js %D%/dist/hpcview.css
	top_srcdir='$(top_srcdir)' top_builddir='$(top_builddir)' $(SHELL) $(top_srcdir)/tests/page/screenshots.sh

clean-local: page-clean
page-clean:
	rm -rf %D%/test/all.test.cjs %D%/types.log tests/page/db-* tests/page/text tests/page/firefox tests/page/webkit tests/page/agree tests/page/screenshots tests/page/*.png tests/page/*.pdf

distclean-local: page-distclean
page-distclean:
	rm -rf %D%/node_modules
	test '$(abs_top_srcdir)' = '$(abs_top_builddir)' || rm -rf %D%/package.json %D%/package-lock.json %D%/dist
