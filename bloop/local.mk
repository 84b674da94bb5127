noinst_LIBRARIES += %D%/libbloop.a
%C%_libbloop_a_SOURCES = %D%/bloop.h %D%/bloop_int.h
