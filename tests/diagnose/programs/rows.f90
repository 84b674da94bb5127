! planted: Strides; by: record; flags: -O2. The inner loop goes along rows, and Fortran's columns are what lies together.
program rows
  implicit none
  integer, parameter :: n = 2000
  real(8), allocatable :: a(:, :), b(:, :)
  integer :: i, j, k
  allocate (a(n, n), b(n, n))
  a = 1
  b = 2
  do k = 1, 12
    do i = 1, n
      do j = 1, n ! HERE
        a(i, j) = a(i, j) + 0.5d0*b(i, j)
      end do
    end do
    if (a(k, k) < 0) print *, k
  end do
  print *, a(17, 3)
end program
! SPDX-License-Identifier: BSD-3-Clause
