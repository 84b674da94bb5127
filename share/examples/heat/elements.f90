! Linear triangles: their mass and stiffness, put together for the whole mesh.
module elements
  use, intrinsic :: iso_fortran_env, only: real64
  use sparse, only: matrix, matrix_add
  implicit none
  private
  public :: assemble, fix_boundary

contains

  subroutine assemble(corners, xy, mass, stiffness)
    integer, intent(in) :: corners(:, :)
    real(real64), intent(in) :: xy(:, :)
    type(matrix), intent(inout) :: mass, stiffness
    real(real64) :: m(3, 3), s(3, 3)
    integer :: t, p, q

    do t = 1, size(corners, 2)
      call triangle(xy(:, corners(1, t)), xy(:, corners(2, t)), xy(:, corners(3, t)), m, s)
      do q = 1, 3
        do p = 1, 3
          call matrix_add(mass, corners(p, t), corners(q, t), m(p, q))
          call matrix_add(stiffness, corners(p, t), corners(q, t), s(p, q))
        end do
      end do
    end do
  end subroutine assemble

  ! The integrals of the products of the three hat functions (mass) and of their gradients (stiffness).
  pure subroutine triangle(a, b, c, mass, stiffness)
    real(real64), intent(in) :: a(2), b(2), c(2)
    real(real64), intent(out) :: mass(3, 3), stiffness(3, 3)
    real(real64) :: area, edge(2, 3)
    integer :: p, q

    edge(:, 1) = c - b
    edge(:, 2) = a - c
    edge(:, 3) = b - a
    area = abs(edge(1, 1)*edge(2, 2) - edge(2, 1)*edge(1, 2))/2
    do q = 1, 3
      do p = 1, 3
        mass(p, q) = merge(area/6, area/12, p == q)
        stiffness(p, q) = dot_product(edge(:, p), edge(:, q))/(4*area)
      end do
    end do
  end subroutine triangle

  ! Keep the nodes of the boundary at temperature 0: their rows and columns become those of the identity.
  subroutine fix_boundary(a, boundary)
    type(matrix), intent(inout) :: a
    logical, intent(in) :: boundary(:)
    integer :: i, k

    do i = 1, a%rows
      do k = a%first(i), a%first(i + 1) - 1
        if (boundary(i) .or. boundary(a%col(k))) a%val(k) = merge(1, 0, i == a%col(k))
      end do
    end do
  end subroutine fix_boundary

end module elements
! SPDX-License-Identifier: BSD-3-Clause
