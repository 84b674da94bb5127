! planted: none; false: Reduction; set: b; before: -O2; after: -O2 -ffast-math. Many sums of nineteen terms, one for each row.
program main
  implicit none
  integer, parameter :: rows = 3000, width = 19, rounds = 6000
  real(8) :: a(width, rows), x(rows + width), y(rows), t
  integer :: i, k, r
  a = 0.5d0
  x = 1
  do r = 1, rounds
     do i = 1, rows
        t = 0
        do k = 1, width
           t = t + a(k, i) * x(i + k)
        end do
        y(i) = t
     end do
     x(1) = y(rows) * 1d-3
  end do
  print *, y(5)
end program
! SPDX-License-Identifier: BSD-3-Clause
