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
