! planted: Division; set: b; before: -O2; after: -O2 -ffast-math. Each element is divided by one of two values that do not change in the loop.
program main
  implicit none
  integer, parameter :: n = 2000
  real(8) :: a(n), b(n), h
  integer :: i, r
  a = 3
  b = 1
  h = 1.7d0
  do r = 1, 250000
     call step(n, a, b, h)
  end do
  print *, b(7)
contains
  subroutine step(n, a, b, h)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n), h
    real(8), intent(inout) :: b(n)
    integer :: i
    do i = 1, n
       b(i) = (a(i) + b(i)) / h
    end do
  end subroutine
end program
! SPDX-License-Identifier: BSD-3-Clause
