! planted: ArrayCopies|Copying|Allocation; at: main; set: a; before: -O2; after: -O2 -DAFTER -cpp. A row of a matrix is passed to an explicit-shape argument: it is packed for each call.
subroutine smooth(n, x)
  implicit none
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n)
  x(1) = x(2) + 1
end subroutine
program main
  implicit none
  integer, parameter :: n = 2000
  real(8) :: a(n, n)
  integer :: i, r
  a = 1
  do r = 1, 10
     do i = 1, n
#ifdef AFTER
        call smooth(n, a(:, i))
#else
        call smooth(n, a(i, :))
#endif
     end do
  end do
  print *, a(3, 5)
end program
! SPDX-License-Identifier: BSD-3-Clause
