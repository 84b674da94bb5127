! planted: none; false: Reduction; set: b; before: -O2; after: -O2 -ffast-math. Every sixteenth element of a large array is summed.
program main
  implicit none
  integer, parameter :: n = 40000000
  real(8), allocatable :: a(:)
  real(8) :: s
  integer :: i, r
  allocate (a(n))
  do i = 1, n
     a(i) = i
  end do
  s = 0
  do r = 1, 16
     do i = r, n, 16
        s = s + a(i)
     end do
  end do
  print *, s
end program
! SPDX-License-Identifier: BSD-3-Clause
