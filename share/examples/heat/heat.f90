! What the C driver calls: temperatures of a plate whose rim is kept at 0, by implicit Euler steps.
module heat
  use, intrinsic :: iso_c_binding, only: c_int, c_double
  use sparse, only: matrix, matrix_create, matrix_scale_add, multiply
  use elements, only: assemble, fix_boundary
  use solver, only: diagonal, conjugate_gradient
  implicit none
  private

contains

  ! corners count from 1; `temperature` holds the initial state and becomes the final one.
  subroutine heat_run(nodes, triangles, corners, xy, on_rim, steps, dt, temperature, iterations, residual) bind(c)
    integer(c_int), intent(in), value :: nodes, triangles, steps
    integer(c_int), intent(in) :: corners(3, triangles), on_rim(nodes)
    real(c_double), intent(in) :: xy(2, nodes)
    real(c_double), intent(in), value :: dt
    real(c_double), intent(inout) :: temperature(nodes)
    integer(c_int), intent(out) :: iterations
    real(c_double), intent(out) :: residual
    type(matrix) :: mass, stiffness, system
    real(c_double), allocatable :: right(:), d(:)
    integer :: step, used

    call matrix_create(mass, nodes, corners)
    stiffness = mass
    call assemble(corners, xy, mass, stiffness)
    call matrix_scale_add(mass, dt, stiffness, system)
    call fix_boundary(system, on_rim /= 0)
    d = diagonal(system)

    allocate (right(nodes))
    iterations = 0
    do step = 1, steps
      call multiply(mass, temperature, right)
      where (on_rim /= 0) right = 0
      call conjugate_gradient(system, d, right, temperature, 1e-10_c_double, used, residual)
      iterations = iterations + used
    end do
  end subroutine heat_run

end module heat
! SPDX-License-Identifier: BSD-3-Clause
