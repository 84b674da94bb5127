noinst_LIBRARIES += %D%/libmetrics.a
%C%_libmetrics_a_SOURCES = %D%/metrics.h
