! A region that was cut out of its procedure takes the common blocks' line along: that of the procedure.
subroutine shares_common_blocks
  implicit none
  integer :: i, j, k, nx, ny, nz
  double precision :: u(100, 100, 100), v(100, 100, 100), c1, c2, r1, t1
  common /fields/ u, v
  common /constants/ c1, c2, nx, ny, nz
  !$omp parallel do default(shared) private(i, j, k, r1, t1) ! LOOP depth=1 near=1
  do k = 1, nz
    do j = 1, ny ! LOOP depth=2
      do i = 1, nx ! LOOP depth=3
        r1 = u(i, j, k)
        t1 = c2/v(i, j, k)*(r1 - c1)
        u(i, j, k) = r1 - t1
      end do
    end do
  end do
end subroutine

! The question is on the line of the region; the loop's is where some threads step aside.
subroutine statement_first(u, v, n)
  implicit none
  integer :: n, i, j
  double precision :: u(5, n, n), v(5, n, n), part(2), t
  !$omp parallel default(shared) private(i, j, t, part)
  part(1) = 0
  part(2) = 0

  !$omp do ! LOOP depth=1 near=2
  do j = 1, n
    t = dble(j)*v(1, 1, 1)
    do i = 1, n ! LOOP depth=2
      call solution(t, part)
      u(1, i, j) = v(1, i, j)*t
    end do
  end do
  !$omp end do nowait
  v(1, 1, 1) = part(1)
  !$omp end parallel
end subroutine
! SPDX-License-Identifier: BSD-3-Clause
