/* Put in front of what main_test is made of: what the recorder's beginning and end ask of the system is asked of the test. */
#ifndef TESTS_FAKE_START_H
#define TESTS_FAKE_START_H

#define syscall         world_syscall
#define on_exit         world_on_exit
#define at_quick_exit   world_at_quick_exit
#define pthread_atfork  world_pthread_atfork
#define pthread_sigmask world_pthread_sigmask
#define exit            world_exit
#define readlink        world_readlink

#endif
