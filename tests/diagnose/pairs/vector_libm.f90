! planted: ElementaryFunctions; set: a; before: -O3 -ffast-math -march=native; after: -O3 -ffast-math -march=native -DAFTER -cpp. exp of a vector library for values that never change.
program main
  implicit none
  integer, parameter :: n = 4096, rounds = 50000
  real(8) :: x(n), y(n), e(n)
  integer :: r
  x = [(0.001d0 * r, r = 1, n)]
  y = 0
  e = exp(-x)
  do r = 1, rounds
     call add(r)
  end do
  print *, y(n / 2)
contains
  subroutine add(r)
    integer, intent(in) :: r
    integer :: i
#ifdef AFTER
    do i = 1, n
       y(i) = y(i) + e(i) * r
    end do
#else
    do i = 1, n
       y(i) = y(i) + exp(-x(i)) * r
    end do
#endif
  end subroutine
end program
! SPDX-License-Identifier: BSD-3-Clause
