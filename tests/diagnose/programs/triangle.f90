! planted: LoadImbalance; also: RuntimeLibrary|Barriers|Chains|NarrowVectors|Reduction; by: record; flags: -O2 -fopenmp. Each row is longer than the one before.
program triangle
  implicit none
  integer, parameter :: n = 6000
  real(8) :: x(n), y(n)
  integer :: i, j, k
  x = 1
  y = 0
  do k = 1, 60
    !$omp parallel do private(j) num_threads(4) schedule(static)
    do i = 1, n ! HERE
      do j = 1, i
        y(i) = y(i) + x(j)*0.999d0
      end do
    end do
  end do
  print *, y(17)
end program
! SPDX-License-Identifier: BSD-3-Clause
