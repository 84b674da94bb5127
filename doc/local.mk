# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += %D%/README.md %D%/ARCHITECTURE.md %D%/tutorial.md %D%/situations.md %D%/coming-from.md
EXTRA_DIST += %D%/events-and-periods.md %D%/glossary.md
EXTRA_DIST += %D%/design/diagnosis.md %D%/design/loops.md %D%/design/phases.md %D%/design/portability.md
EXTRA_DIST += %D%/design/ranks.md %D%/design/robustness.md
EXTRA_DIST += %D%/images/make.sh %D%/images/summary.png
EXTRA_DIST += %D%/formats/configuration.md %D%/formats/database.md %D%/formats/exports.md %D%/formats/imports.md
EXTRA_DIST += %D%/formats/machine.md %D%/formats/measurement.md %D%/formats/metrics.md %D%/formats/properties.md
EXTRA_DIST += %D%/formats/structure.md %D%/counters.md
# one line each, so that additions do not conflict
dist_man_MANS += %D%/man/hpcview.1
dist_man_MANS += %D%/man/hpcview-build.1
dist_man_MANS += %D%/man/hpcview-cc.1
dist_man_MANS += %D%/man/hpcview-diagnose.1
dist_man_MANS += %D%/man/hpcview-events.1
dist_man_MANS += %D%/man/hpcview-export.1
dist_man_MANS += %D%/man/hpcview-import.1
dist_man_MANS += %D%/man/hpcview-info.1
dist_man_MANS += %D%/man/hpcview-init.1
dist_man_MANS += %D%/man/hpcview-open.1
dist_man_MANS += %D%/man/hpcview-compare.1
dist_man_MANS += %D%/man/hpcview-phases.1
dist_man_MANS += %D%/man/hpcview-print.1
dist_man_MANS += %D%/man/hpcview-quality.1
dist_man_MANS += %D%/man/hpcview-record.1
dist_man_MANS += %D%/man/hpcview-run.1
dist_man_MANS += %D%/man/hpcview-simulate.1
dist_man_MANS += %D%/man/hpcview-structure.1 %D%/man/bloop.1
