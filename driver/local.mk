bin_PROGRAMS += %D%/hpcview
%C%_hpcview_SOURCES = %D%/driver.h %D%/main.c %D%/options.c %D%/cmd_structure.c
%C%_hpcview_SOURCES += %D%/cmd_open.c
%C%_hpcview_LDADD = $(ROOM_LDADD)
