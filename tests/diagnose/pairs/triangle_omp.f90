! planted: LoadImbalance|BarrierImbalance|BarrierShare; set: b; by: record --phases; before: -O2 -fopenmp; after: -O2 -fopenmp -DAFTER -cpp. Columns of a triangle, in equal numbers for each thread.
program main
  implicit none
  integer, parameter :: n = 1400
  real(8), allocatable :: a(:, :)
  integer :: i, j, r
  allocate (a(n, n))
  a = 1
  do r = 1, 100
#ifdef AFTER
     !$omp parallel do schedule(dynamic, 8) private(i)
#else
     !$omp parallel do private(i)
#endif
     do j = 1, n
        do i = 1, j
           a(i, j) = a(i, j) * 0.999d0 + sqrt(a(i, j))
        end do
     end do
  end do
  print *, a(3, 5)
end program
! SPDX-License-Identifier: BSD-3-Clause
