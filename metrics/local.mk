# SPDX-License-Identifier: BSD-3-Clause
# The library is one; each folder below adds its files to it, in the order in which they may know each other.
noinst_LIBRARIES += %D%/libmetrics.a
metrics_libmetrics_a_SOURCES = %D%/metrics.h

include metrics/formula/local.mk
include metrics/config/local.mk
include metrics/model/local.mk
include metrics/ingest/local.mk
include metrics/code/local.mk
include metrics/align/local.mk
include metrics/join/local.mk
include metrics/report/local.mk
