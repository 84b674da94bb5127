! planted: SerialPart|SerialPhase; set: b; by: record; before: -O2 -fopenmp; after: -O2 -fopenmp -DAFTER -cpp. The set-up of each step is done by one thread.
program main
  implicit none
  integer, parameter :: n = 400000
  real(8) :: a(n), b(n)
  integer :: i, r
  a = 1
  b = 0
  do r = 1, 60
#ifdef AFTER
     !$omp parallel do
#endif
     do i = 1, n
        a(i) = sqrt(a(i) + i) + sqrt(b(i) + r)
     end do
     !$omp parallel do
     do i = 1, n
        b(i) = sqrt(b(i) + a(i)) + sqrt(a(i) + r)
     end do
  end do
  print *, b(5)
end program
! SPDX-License-Identifier: BSD-3-Clause
