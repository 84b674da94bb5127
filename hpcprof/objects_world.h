/* Put in front of what objects_test, maps_test and counts_test are made of: what is loaded, what files hold, and memory are of the
   test's making. */
#ifndef HPCPROF_OBJECTS_WORLD_H
#define HPCPROF_OBJECTS_WORLD_H

#define syscall         world_syscall
#define dl_iterate_phdr world_dl_iterate_phdr

#endif
