! What optimized Fortran does to loops. (MARK depth: see README.md.)
subroutine jacobi(u, v, f, n, h)
  integer, intent(in) :: n
  double precision, intent(in) :: u(n), f(n), h
  double precision, intent(out) :: v(n)
  integer :: i
  do i = 2, n - 1 ! LOOP depth=1
    v(i) = 0.5d0 * ( &
           u(i - 1) &
         + u(i + 1) &
         - h * h &
         * f(i))
  end do
end subroutine

! A common block is on the line of its procedure.
subroutine shares_a_block(a, n)
  double precision :: a(n), c1, c2
  integer :: n, i, j
  common /constants/ c1, c2
  do j = 1, n ! LOOP depth=1
    do i = 1, n ! LOOP depth=2
      a(i) = a(i) * c1 + c2 * j
    end do
  end do
end subroutine

! The inner loop is unrolled; the `do` around it is found only behind its vector body.
subroutine dissipation(r, u, n, d)
  integer, intent(in) :: n
  double precision, intent(in) :: u(5, n, n), d
  double precision, intent(inout) :: r(5, n, n)
  integer :: i, j, m
  do j = 1, n - 2 ! LOOP depth=1
    do i = 3, n - 4 ! LOOP depth=2
      do m = 1, 5 ! LOOP depth=3
        r(m, i, j) = r(m, i, j) - d * &
          (u(m, i - 2, j) - 4 * u(m, i - 1, j) + 6 * u(m, i, j) - 4 * u(m, i + 1, j) + u(m, i + 2, j))
      end do
    end do
  end do
end subroutine

! Array statements that follow each other: each is a loop of its own line.
subroutine descend(a, x, r, p, q, steps)
  double precision, intent(in) :: a(:, :)
  double precision, intent(inout) :: x(:), r(:), p(:), q(:)
  integer, intent(in) :: steps
  integer :: n
  double precision :: alpha, rho, before
  rho = dot_product(r, r) ! LOOP depth=1
  do n = 1, steps ! LOOP depth=1
    q = a(:, 1)*p ! LOOP depth=2
    alpha = rho/dot_product(p, q) ! LOOP depth=2
    x = x + alpha*p ! LOOP depth=2
    r = r - alpha*q ! LOOP depth=2
    before = rho
    rho = dot_product(r, r) ! LOOP depth=2
    p = r + (rho/before)*p ! LOOP depth=2
  end do
end subroutine

! The same of known size: nothing asks whether anything is left over, and another statement is right in front.
subroutine known_size(a, x, r, p, steps)
  integer, intent(in) :: steps
  double precision, intent(inout) :: x(64), r(64), p(64), a
  double precision :: alpha, rho
  integer :: k
  rho = r(1)
  do k = 1, steps ! LOOP depth=1
    alpha = rho/a
    x = x + alpha*p ! LOOP depth=2
    if (a > 10) a = a - 10
    r = r - alpha*x ! LOOP depth=2
    rho = rho*0.5d0
    if (rho > 3) then
      p = p + rho*r ! LOOP depth=2
    else
      p = p - rho*r ! LOOP depth=2
    end if
  end do
end subroutine
! SPDX-License-Identifier: BSD-3-Clause
