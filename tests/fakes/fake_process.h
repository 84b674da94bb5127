/* Included first in the sources of threads_test: the process examined by the recorder is a fake. */
#ifndef TESTS_FAKE_PROCESS_H
#define TESTS_FAKE_PROCESS_H

#define syscall             fake_syscall
#define uname               fake_uname
#define pthread_key_create  fake_pthread_key_create
#define pthread_setspecific fake_pthread_setspecific

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
