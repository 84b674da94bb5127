noinst_LIBRARIES += %D%/libfilters.a
%C%_libfilters_a_SOURCES = %D%/filters.h %D%/filters_int.h %D%/filters.c %D%/perf_script.c %D%/callgrind.c %D%/profile.c
