noinst_LIBRARIES += %D%/libhpcprof.a
%C%_libhpcprof_a_SOURCES = %D%/hpcprof.h
