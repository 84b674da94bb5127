/* Included first in the sources of main_test: system calls at the recorder's start and end go to the test. */
#ifndef TESTS_FAKE_START_H
#define TESTS_FAKE_START_H

#define syscall         fake_syscall
#define on_exit         fake_on_exit
#define at_quick_exit   fake_at_quick_exit
#define pthread_atfork  fake_pthread_atfork
#define pthread_sigmask fake_pthread_sigmask
#define exit            fake_exit
#define readlink        fake_readlink

#endif
/* SPDX-License-Identifier: BSD-3-Clause */
