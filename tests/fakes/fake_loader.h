/* Included first in the sources of objects_test, maps_test and counts_test: loaded objects, file contents, and memory
   are provided by the test. */
#ifndef TESTS_FAKE_LOADER_H
#define TESTS_FAKE_LOADER_H

#define syscall         fake_syscall
#define dl_iterate_phdr fake_dl_iterate_phdr

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
