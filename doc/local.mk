# SPDX-License-Identifier: BSD-3-Clause
# The man pages refer to these, so that they are installed.
dist_doc_DATA = %D%/README.md %D%/ARCHITECTURE.md %D%/tutorial.md %D%/situations.md %D%/coming-from.md
dist_doc_DATA += %D%/events-and-periods.md %D%/glossary.md %D%/counters.md
designdir = $(docdir)/design
dist_design_DATA = %D%/design/diagnosis.md %D%/design/loops.md %D%/design/phases.md %D%/design/portability.md
dist_design_DATA += %D%/design/ranks.md %D%/design/robustness.md
formatsdir = $(docdir)/formats
dist_formats_DATA = %D%/formats/configuration.md %D%/formats/database.md %D%/formats/exports.md %D%/formats/imports.md
dist_formats_DATA += %D%/formats/machine.md %D%/formats/measurement.md %D%/formats/metrics.md %D%/formats/properties.md
dist_formats_DATA += %D%/formats/structure.md
EXTRA_DIST += %D%/images/make.sh %D%/images/summary.png
# one line each, so that additions do not conflict
dist_man_MANS += %D%/man/hpcview.1
dist_man_MANS += %D%/man/hpcview-build.1
dist_man_MANS += %D%/man/hpcview-cc.1
dist_man_MANS += %D%/man/hpcview-diagnose.1
dist_man_MANS += %D%/man/hpcview-doctor.1
dist_man_MANS += %D%/man/hpcview-events.1
dist_man_MANS += %D%/man/hpcview-export.1
dist_man_MANS += %D%/man/hpcview-import.1
dist_man_MANS += %D%/man/hpcview-info.1
dist_man_MANS += %D%/man/hpcview-init.1
dist_man_MANS += %D%/man/hpcview-merge.1
dist_man_MANS += %D%/man/hpcview-open.1
dist_man_MANS += %D%/man/hpcview-compare.1
dist_man_MANS += %D%/man/hpcview-phases.1
dist_man_MANS += %D%/man/hpcview-print.1
dist_man_MANS += %D%/man/hpcview-quality.1
dist_man_MANS += %D%/man/hpcview-record.1
dist_man_MANS += %D%/man/hpcview-run.1
dist_man_MANS += %D%/man/hpcview-simulate.1
dist_man_MANS += %D%/man/hpcview-structure.1 %D%/man/bloop.1
