! Loops of every form that Fortran has. Array expressions are loops too: one per dimension, on the line of the statement.
module forms
   implicit none
   interface
      integer function work(i)
         integer, intent(in) :: i
      end function work
   end interface
contains

   subroutine do_plain(a, n)
      integer, intent(in) :: n
      integer, intent(inout) :: a(n)
      integer :: i
      do i = 1, n                            ! LOOP depth=1
         a(i) = work(i)
      end do
   end subroutine do_plain

   subroutine daxpy(n, f, x, y)
      integer, intent(in) :: n
      double precision, intent(in) :: f, x(n)
      double precision, intent(inout) :: y(n)
      integer :: i
      do i = 1, n                            ! LOOP depth=1
         y(i) = y(i) + f * x(i)
      end do
   end subroutine daxpy

   subroutine matvec(n, rows, cols, a, x, y)
      integer, intent(in) :: n, rows(n + 1), cols(*)
      double precision, intent(in) :: a(*), x(*)
      double precision, intent(out) :: y(n)
      integer :: i, k
      double precision :: s
      do i = 1, n                            ! LOOP depth=1
         s = 0
         do k = rows(i), rows(i + 1) - 1     ! LOOP depth=2
            s = s + a(k) * x(cols(k))
         end do
         y(i) = s
      end do
   end subroutine matvec

   subroutine nest(a, n, m, l)
      integer, intent(in) :: n, m, l
      integer, intent(inout) :: a(n, m, l)
      integer :: i, j, k
      do k = 1, l                            ! LOOP depth=1
         do j = 1, m                         ! LOOP depth=2
            do i = 1, n                      ! LOOP depth=3
               a(i, j, k) = work(i + j + k)
            end do
         end do
      end do
   end subroutine nest

   integer function do_while(start)
      integer, intent(in) :: start
      integer :: n
      n = start
      do_while = 0
      do while (n /= 1)                      ! LOOP depth=1
         if (mod(n, 2) == 0) then
            n = n / 2
         else
            n = 3 * n + 1
         end if
         do_while = do_while + 1
      end do
   end function do_while

   integer function do_exit(start)
      integer, intent(in) :: start
      integer :: r
      do_exit = start
      do                                     ! LOOP depth=1 near=1
         r = work(do_exit)
         if (r == 0) exit
         do_exit = do_exit + r
      end do
   end function do_exit

   integer function named(a, n, m)
      integer, intent(in) :: n, m, a(n, m)
      integer :: i, j
      named = 0
      outer: do j = 1, m                     ! LOOP depth=1
         inner: do i = 1, n                  ! LOOP depth=2
            if (a(i, j) == 0) cycle outer
            if (a(i, j) < 0) exit outer
            named = named + work(a(i, j))
         end do inner
      end do outer
   end function named

   subroutine strided(a, n)
      integer, intent(in) :: n
      integer, intent(inout) :: a(n)
      integer :: i
      do i = n, 1, -2                        ! LOOP depth=1
         a(i) = work(i)
      end do
   end subroutine strided

   integer function chosen(kind, n)
      integer, intent(in) :: kind, n
      integer :: i
      chosen = 0
      do i = 1, n                            ! LOOP depth=1
         select case (work(i + kind))
         case (1)
            chosen = chosen + 1
         case (2)
            chosen = chosen * work(2)
         case (3:5)
            chosen = chosen - 1
         case (6)
            cycle
         case default
            chosen = work(chosen)
         end select
      end do
   end function chosen

   subroutine with_internal(a, n)
      integer, intent(in) :: n
      integer, intent(inout) :: a(n)
      integer :: i
      do i = 1, n                            ! LOOP depth=1
         call inside(i)
      end do
   contains
      subroutine inside(at)
         integer, intent(in) :: at
         integer :: j
         do j = 1, at                        ! LOOP depth=1
            a(at) = a(at) + work(j)
         end do
      end subroutine inside
   end subroutine with_internal

end module forms
! SPDX-License-Identifier: BSD-3-Clause
