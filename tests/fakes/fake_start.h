/* Put in front of what main_test is made of: what the recorder's beginning and end ask of the system is asked of the test. */
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
