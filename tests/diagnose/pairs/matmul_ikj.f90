! planted: Strides|LowSpatialUse; set: b; before: -O2; after: -O2 -DAFTER -cpp. A matrix product whose inner loop goes along rows.
program main
  implicit none
  integer, parameter :: n = 700
  real(8), allocatable :: a(:, :), b(:, :), c(:, :)
  integer :: i, j, k
  allocate (a(n, n), b(n, n), c(n, n))
  a = 1
  b = 2
  c = 0
#ifdef AFTER
  do j = 1, n
     do k = 1, n
        do i = 1, n
#else
  do i = 1, n
     do k = 1, n
        do j = 1, n
#endif
           c(i, j) = c(i, j) + a(i, k) * b(k, j)
        end do
     end do
  end do
  print *, c(3, 5)
end program
! SPDX-License-Identifier: BSD-3-Clause
