! Loops of Fortran for tests/quality/quality.sh, as in loops.c: arrays that know their bounds and never overlap, array
! expressions, strides that arrive in descriptors.
module loops
  use, intrinsic :: iso_fortran_env, only: real32, real64
  implicit none
contains
  subroutine triad(n, a, b, c, s)
    integer, intent(in) :: n
    real(real64), intent(out) :: a(n)
    real(real64), intent(in) :: b(n), c(n), s
    integer :: i
    do i = 1, n
      a(i) = b(i) + s*c(i)
    end do
  end subroutine triad

  ! the first subscript is next to each other, the second is not
  subroutine rows(n, a, b, j)
    integer, intent(in) :: n, j
    real(real64), intent(out) :: a(n)
    real(real64), intent(in) :: b(8, n)
    integer :: i
    do i = 1, n
      a(i) = b(j, i)
    end do
  end subroutine rows

  ! an assumed shape brings its stride along
  subroutine shaped(a, s)
    real(real64), intent(inout) :: a(:)
    real(real64), intent(in) :: s
    integer :: i
    do i = 1, size(a)
      a(i) = s*a(i)
    end do
  end subroutine shaped

  ! and here it cannot
  subroutine contiguous_shape(a, s)
    real(real64), intent(inout), contiguous :: a(:)
    real(real64), intent(in) :: s
    integer :: i
    do i = 1, size(a)
      a(i) = s*a(i)
    end do
  end subroutine contiguous_shape

  subroutine gather(n, a, b, ix)
    integer, intent(in) :: n, ix(n)
    real(real64), intent(out) :: a(n)
    real(real64), intent(in) :: b(*)
    integer :: i
    do i = 1, n
      a(i) = b(ix(i))
    end do
  end subroutine gather

  subroutine expression(n, a, b)
    integer, intent(in) :: n
    real(real32), intent(out) :: a(n)
    real(real32), intent(in) :: b(n)
    a = 2*b + 1
  end subroutine expression

  subroutine relax(n, a)
    integer, intent(in) :: n
    real(real64), intent(inout) :: a(n)
    integer :: i
    do i = 2, n
      a(i) = a(i) + 0.5_real64*a(i - 1)
    end do
  end subroutine relax

  real(real64) function product_of(n, a, b)
    integer, intent(in) :: n
    real(real64), intent(in) :: a(n), b(n)
    product_of = dot_product(a, b)
  end function product_of
end module loops
! SPDX-License-Identifier: BSD-3-Clause
