/* Put in front of what threads_test is made of: the process that the recorder looks at is one of the test's making. */
#ifndef TESTS_FAKE_PROCESS_H
#define TESTS_FAKE_PROCESS_H

#define syscall             fake_syscall
#define uname               fake_uname
#define pthread_key_create  fake_pthread_key_create
#define pthread_setspecific fake_pthread_setspecific

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
