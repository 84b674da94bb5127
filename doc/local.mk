EXTRA_DIST += %D%/ARCHITECTURE.md %D%/HACKING.md
# one line each: everybody adds their own
dist_man_MANS += %D%/man/hpcview.1
EXTRA_DIST += %D%/formats/database.md
EXTRA_DIST += %D%/formats/configuration.md
dist_man_MANS += %D%/man/hpcview-open.1
dist_man_MANS += %D%/man/hpcview-run.1
dist_man_MANS += %D%/man/hpcview-import.1
dist_man_MANS += %D%/man/hpcview-init.1
dist_man_MANS += %D%/man/hpcview-build.1
dist_man_MANS += %D%/man/hpcview-print.1
dist_man_MANS += %D%/man/hpcview-structure.1 %D%/man/bloop.1
EXTRA_DIST += %D%/formats/structure.md
dist_man_MANS += %D%/man/hpcview-record.1
dist_man_MANS += %D%/man/hpcview-events.1
dist_man_MANS += %D%/man/hpcview-info.1
EXTRA_DIST += %D%/formats/measurement.md %D%/events-and-periods.md
EXTRA_DIST += %D%/loops.md
