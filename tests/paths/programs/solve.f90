! A Fortran main program, module procedures and an internal one; C knows the names.
module solvers
  use iso_c_binding
  interface
    subroutine known_enter(name) bind(c)
      import c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine known_leave() bind(c)
    end subroutine
    subroutine work(ms) bind(c)
      import c_int
      integer(c_int), value :: ms
    end subroutine
    subroutine known_report() bind(c)
    end subroutine
  end interface
contains
  recursive subroutine inner(n)
    integer, intent(in) :: n
    call known_enter('__solvers_MOD_inner'//c_null_char)
    if (n > 0) then
      call inner(n - 1)
    else
      call work(10)
    end if
    call known_leave()
  end subroutine
  subroutine outer(n)
    integer, intent(in) :: n
    call known_enter('__solvers_MOD_outer'//c_null_char)
    call inner(n)
    call known_leave()
  end subroutine
end module

program solve
  use solvers
  integer :: i
  call known_enter('MAIN__'//c_null_char)
  do i = 1, 30
    call outer(mod(i, 4))
  end do
  call known_leave()
  call known_report()
end program
! SPDX-License-Identifier: BSD-3-Clause
