! Conjugate gradients with the diagonal as preconditioner.
module solver
  use, intrinsic :: iso_fortran_env, only: real64
  use sparse, only: matrix, multiply
  implicit none
  private
  public :: diagonal, conjugate_gradient

contains

  function diagonal(a) result(d)
    type(matrix), intent(in) :: a
    real(real64) :: d(a%rows)
    integer :: i, k

    d = 0
    do i = 1, a%rows
      do k = a%first(i), a%first(i + 1) - 1
        if (a%col(k) == i) d(i) = a%val(k)
      end do
    end do
  end function diagonal

  ! Solve a x = b from the guess in x until the residual has fallen to `tolerance` times that of x = 0.
  subroutine conjugate_gradient(a, d, b, x, tolerance, iterations, residual)
    type(matrix), intent(in) :: a
    real(real64), intent(in) :: d(:), b(:), tolerance
    real(real64), intent(inout) :: x(:)
    integer, intent(out) :: iterations
    real(real64), intent(out) :: residual
    real(real64), allocatable :: r(:), z(:), p(:), q(:)
    real(real64) :: rho, rho_before, alpha, goal

    allocate (r(a%rows), z(a%rows), p(a%rows), q(a%rows))
    call multiply(a, x, q)
    r = b - q
    z = r/d
    p = z
    rho = dot_product(r, z)
    goal = tolerance*norm2(b)
    iterations = 0
    residual = norm2(r)
    do while (residual > goal .and. iterations < a%rows)
      call multiply(a, p, q)
      alpha = rho/dot_product(p, q)
      x = x + alpha*p
      r = r - alpha*q
      z = r/d
      rho_before = rho
      rho = dot_product(r, z)
      p = z + (rho/rho_before)*p
      residual = norm2(r)
      iterations = iterations + 1
    end do
    residual = residual/norm2(b)
  end subroutine conjugate_gradient

end module solver
! SPDX-License-Identifier: BSD-3-Clause
