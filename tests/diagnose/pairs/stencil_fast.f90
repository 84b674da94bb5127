! planted: none; false: Reduction|Chains|NarrowVectors; set: a; before: -O3; after: -O3 -ffast-math. A five-point stencil over 64 MiB: memory is the bound.
program main
  implicit none
  integer, parameter :: n = 2000
  real(8), allocatable :: a(:, :), b(:, :)
  integer :: i, j, r
  allocate (a(n, n), b(n, n))
  a = 1
  b = 0
  do r = 1, 60
     do j = 2, n - 1
        do i = 2, n - 1
           b(i, j) = 0.25d0 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
        end do
     end do
     a(2:n - 1, 2:n - 1) = b(2:n - 1, 2:n - 1)
  end do
  print *, a(3, 5)
end program
! SPDX-License-Identifier: BSD-3-Clause
