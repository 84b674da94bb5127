/* Put in front of what objects_test, maps_test and counts_test are made of: what is loaded, what files hold, and memory are of the
   test's making. */
#ifndef TESTS_FAKE_LOADER_H
#define TESTS_FAKE_LOADER_H

#define syscall         fake_syscall
#define dl_iterate_phdr fake_dl_iterate_phdr

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
