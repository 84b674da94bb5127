! Vectorized, a do of few statements has nothing on its line but what counts its rounds in front.
subroutine product_of(n, a, b, c)
  implicit none
  integer, intent(in) :: n
  double precision :: a(n), b(n), c(n)
  integer :: i
  do i = 1, n ! LOOP depth=1
    a(i) = b(i) * c(i)
  end do
end subroutine
subroutine distance(n, x, z, e)
  implicit none
  integer, intent(in) :: n
  double precision :: x(2*n), z(2*n), e
  integer :: i
  e = 0
  do i = 1, 2*n - 1, 2 ! LOOP depth=1
    e = e + (z(i) - x(i))**2 &
          + (z(i+1) - x(i+1))**2
  end do
end subroutine
subroutine continued(n, x, y, e)
  implicit none
  integer, intent(in) :: n
  double precision :: x(n), y(n), e
  integer :: i
  do i = 1, n ! LOOP depth=1
    e = e + x(i) * &
        y(i)
  end do
end subroutine
subroutine conditional(n, a, b, x)
  implicit none
  integer, intent(in) :: n
  double precision :: a, b(n), x(64)
  if (a > 3) then
    x = x * a ! LOOP depth=1
  end if
  if (n > 3) then
    b = b + a ! LOOP depth=1
  end if
end subroutine
! SPDX-License-Identifier: BSD-3-Clause
