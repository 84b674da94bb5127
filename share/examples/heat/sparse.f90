! Sparse matrices in compressed rows, with the pattern of a triangle mesh.
module sparse
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: matrix, matrix_create, matrix_add, matrix_scale_add, multiply

  type :: matrix
    integer :: rows = 0
    integer, allocatable :: first(:)        ! row i is first(i) .. first(i+1)-1
    integer, allocatable :: col(:)
    real(real64), allocatable :: val(:)
  end type matrix

contains

  ! An empty matrix with room for every pair of corners that share a triangle.
  subroutine matrix_create(a, rows, corners)
    type(matrix), intent(out) :: a
    integer, intent(in) :: rows, corners(:, :)
    integer, allocatable :: room(:), row_end(:), sorted(:)
    integer :: t, p, q, i, k, n

    ! Every triangle brings at most 3 entries to each of its corners; repeated ones are dropped below.
    allocate (room(rows + 1), source=0)
    do t = 1, size(corners, 2)
      do p = 1, 3
        room(corners(p, t) + 1) = room(corners(p, t) + 1) + 3
      end do
    end do
    room(1) = 1
    do i = 2, rows + 1
      room(i) = room(i) + room(i - 1)
    end do

    allocate (sorted(room(rows + 1) - 1))
    row_end = room(1:rows)
    do t = 1, size(corners, 2)
      do p = 1, 3
        do q = 1, 3
          call insert(sorted, room(corners(p, t)), row_end(corners(p, t)), corners(q, t))
        end do
      end do
    end do

    a%rows = rows
    allocate (a%first(rows + 1))
    a%first(1) = 1
    do i = 1, rows
      a%first(i + 1) = a%first(i) + row_end(i) - room(i)
    end do
    n = a%first(rows + 1) - 1
    allocate (a%col(n))
    allocate (a%val(n), source=0.0_real64)
    do i = 1, rows
      do k = 0, row_end(i) - room(i) - 1
        a%col(a%first(i) + k) = sorted(room(i) + k)
      end do
    end do
  end subroutine matrix_create

  ! Put column `c` into the ascending list from `begin` to before `past`, unless it is there.
  subroutine insert(list, begin, past, c)
    integer, intent(inout) :: list(:), past
    integer, intent(in) :: begin, c
    integer :: k

    do k = begin, past - 1
      if (list(k) == c) return
    end do
    k = past
    do while (k > begin)
      if (list(k - 1) < c) exit
      list(k) = list(k - 1)
      k = k - 1
    end do
    list(k) = c
    past = past + 1
  end subroutine insert

  subroutine matrix_add(a, i, j, amount)
    type(matrix), intent(inout) :: a
    integer, intent(in) :: i, j
    real(real64), intent(in) :: amount
    integer :: k

    do k = a%first(i), a%first(i + 1) - 1
      if (a%col(k) == j) then
        a%val(k) = a%val(k) + amount
        return
      end if
    end do
    error stop 'matrix_add: no such entry'
  end subroutine matrix_add

  ! c = a + factor b, all with the same pattern.
  subroutine matrix_scale_add(a, factor, b, c)
    type(matrix), intent(in) :: a, b
    real(real64), intent(in) :: factor
    type(matrix), intent(out) :: c

    c = a
    c%val = a%val + factor*b%val
  end subroutine matrix_scale_add

  ! y = a x.  The index array makes x arrive in the order of the mesh's numbering: here is where the time goes.
  ! Rows have about seven entries, so that unrolling by four is as far as it pays.
  subroutine multiply(a, x, y)
    type(matrix), intent(in) :: a
    real(real64), intent(in), contiguous :: x(:)
    real(real64), intent(out), contiguous :: y(:)
    real(real64) :: total
    integer :: i, k

    do i = 1, a%rows
      total = 0
      !GCC$ unroll 4
      do k = a%first(i), a%first(i + 1) - 1
        total = total + a%val(k)*x(a%col(k))
      end do
      y(i) = total
    end do
  end subroutine multiply

end module sparse
! SPDX-License-Identifier: BSD-3-Clause
