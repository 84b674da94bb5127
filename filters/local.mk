noinst_LIBRARIES += %D%/libfilters.a
%C%_libfilters_a_SOURCES = %D%/filters.h %D%/filters.c
