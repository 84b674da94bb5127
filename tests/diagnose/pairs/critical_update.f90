! planted: Locks|RuntimeLibrary|TimedWaits|LockContention; at: main; set: b; by: record --phases; before: -O2 -fopenmp; after: -O2 -fopenmp -DAFTER -cpp. A critical section for each update; a reduction needs none.
program main
  implicit none
  real(8) :: total, v
  integer :: i
  total = 0
#ifdef AFTER
  !$omp parallel do private(v) reduction(+:total)
#else
  !$omp parallel do private(v)
#endif
  do i = 1, 10000000
     v = 1d0 / i
#ifndef AFTER
     !$omp critical
#endif
     total = total + v
#ifndef AFTER
     !$omp end critical
#endif
  end do
  print *, total
end program
! SPDX-License-Identifier: BSD-3-Clause
