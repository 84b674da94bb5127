noinst_LIBRARIES += %D%/libhtmlgen.a
%C%_libhtmlgen_a_SOURCES = %D%/htmlgen.h
