! planted: none; false: WaitingPlace; set: b; by: record -e REALTIME; before: -O2; after: -O2. Only computes; recorded by the wall clock.
program main
  implicit none
  real(8) :: x
  integer :: i, r
  x = 1
  do r = 1, 60
     do i = 1, 1000000
        x = sqrt(x + i)
     end do
  end do
  print *, x
end program
! SPDX-License-Identifier: BSD-3-Clause
