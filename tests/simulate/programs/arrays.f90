module grid
  real(8) :: flux(1000)
end module grid

program arrays
  use grid
  common /area/ w(1000), v(500)
  real(8) :: w, v
  real(8), allocatable :: own(:)
  integer :: i
  allocate (own(1000))
  do i = 1, 1000
    flux(i) = i
    w(i) = flux(i) * 2
    own(i) = w(i) + 1
    if (i > 500) v(i - 500) = own(i)
  end do
  print *, sum(own) + v(7)
end program arrays
! SPDX-License-Identifier: BSD-3-Clause
