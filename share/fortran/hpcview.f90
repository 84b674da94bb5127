! hpcview: say in the program what hpcview is to measure. Compile this file with the program; there is nothing to link.
!
!     use hpcview
!     call hpcview_region_begin('solve')
!     ...
!     call hpcview_region_end('solve')
!
! Without `hpcview record` a call is a test of one variable. What each does stands in hpcview.h.
module hpcview
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: hpcview_start, hpcview_stop, hpcview_region_begin, hpcview_region_end

  ! The recorder's table of calls; see struct hpcview_calls in hpcview.h.
  type, bind(c) :: calls_t
     type(c_funptr) :: start, stop, region_begin, region_end
  end type calls_t

  interface
     function dlsym(handle, name) bind(c)
       import :: c_ptr, c_char
       type(c_ptr), value :: handle
       character(kind=c_char), intent(in) :: name(*)
       type(c_ptr) :: dlsym
     end function dlsym
  end interface

  abstract interface
     subroutine plain_call() bind(c)
     end subroutine plain_call
     subroutine named_call(name) bind(c)
       import :: c_char
       character(kind=c_char), intent(in) :: name(*)
     end subroutine named_call
  end interface

  type(calls_t), pointer :: calls => null()
  logical :: looked = .false.

contains

  logical function recorded()
    type(c_ptr) :: found
    if (.not. looked) then
       found = dlsym(c_null_ptr, 'hpcview_calls_1' // c_null_char)
       if (c_associated(found)) call c_f_pointer(found, calls)
       looked = .true.
    end if
    recorded = associated(calls)
  end function recorded

  subroutine hpcview_start()
    procedure(plain_call), pointer :: f
    if (.not. recorded()) return
    call c_f_procpointer(calls%start, f)
    call f()
  end subroutine hpcview_start

  subroutine hpcview_stop()
    procedure(plain_call), pointer :: f
    if (.not. recorded()) return
    call c_f_procpointer(calls%stop, f)
    call f()
  end subroutine hpcview_stop

  subroutine hpcview_region_begin(name)
    character(len=*), intent(in) :: name
    procedure(named_call), pointer :: f
    if (.not. recorded()) return
    call c_f_procpointer(calls%region_begin, f)
    call f(trim(name) // c_null_char)
  end subroutine hpcview_region_begin

  subroutine hpcview_region_end(name)
    character(len=*), intent(in) :: name
    procedure(named_call), pointer :: f
    if (.not. recorded()) return
    call c_f_procpointer(calls%region_end, f)
    call f(trim(name) // c_null_char)
  end subroutine hpcview_region_end

end module hpcview
