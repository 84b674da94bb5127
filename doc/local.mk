EXTRA_DIST += %D%/ARCHITECTURE.md %D%/HACKING.md
# one line each: everybody adds their own
dist_man_MANS += %D%/man/hpcview.1
