! SPDX-License-Identifier: BSD-3-Clause
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
  public :: hpcview_barrier_arrive, hpcview_barrier_loop_arrive, hpcview_barrier_leave

  ! The recorder's table of calls; see struct hpcview_calls in hpcview.h.
  type, bind(c) :: calls_t
     type(c_funptr) :: start, stop, region_begin, region_end
  end type calls_t

  ! struct hpcview_barrier_calls
  type, bind(c) :: barrier_calls_t
     type(c_funptr) :: arrive, leave
  end type barrier_calls_t

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
     subroutine arrive_call(name, loop) bind(c)
       import :: c_char, c_int
       character(kind=c_char), intent(in) :: name(*)
       integer(c_int), value :: loop
     end subroutine arrive_call
  end interface

  type(calls_t), pointer :: calls => null()
  logical :: looked = .false.
  type(barrier_calls_t), pointer :: barriers => null()
  logical :: barriers_looked = .false.

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

  logical function barriers_recorded()
    type(c_ptr) :: found
    if (.not. barriers_looked) then
       found = dlsym(c_null_ptr, 'hpcview_barrier_calls_1' // c_null_char)
       if (c_associated(found)) call c_f_pointer(found, barriers)
       barriers_looked = .true.
    end if
    barriers_recorded = associated(barriers)
  end function barriers_recorded

  subroutine arrive_at(name, loop)
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: loop
    procedure(arrive_call), pointer :: f
    if (.not. barriers_recorded()) return
    call c_f_procpointer(barriers%arrive, f)
    call f(trim(name) // c_null_char, loop)
  end subroutine arrive_at

  ! Barriers have names here: the line would be this module's.
  subroutine hpcview_barrier_arrive(name)
    character(len=*), intent(in) :: name
    call arrive_at(name, 0_c_int)
  end subroutine hpcview_barrier_arrive

  subroutine hpcview_barrier_loop_arrive(name)
    character(len=*), intent(in) :: name
    call arrive_at(name, 1_c_int)
  end subroutine hpcview_barrier_loop_arrive

  subroutine hpcview_barrier_leave(name)
    character(len=*), intent(in) :: name
    procedure(named_call), pointer :: f
    if (.not. barriers_recorded()) return
    call c_f_procpointer(barriers%leave, f)
    call f(trim(name) // c_null_char)
  end subroutine hpcview_barrier_leave

end module hpcview
