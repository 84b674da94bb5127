! Regions from Fortran. cpu_time is the process's, recorder's thread and all: what is burned goes by the thread's clock.
program regions
  use hpcview
  implicit none
  real(8) :: x, t0
  integer :: i
  call hpcview_region_begin('fortran part')
  t0 = thread_seconds()
  x = 1
  do while (thread_seconds() - t0 < 0.2d0)
     do i = 1, 100000
        x = x * 1.0000001d0 + 0.5d0
     end do
  end do
  call hpcview_region_end('fortran part')
  if (x < 0) print *, x
  print '(a)', 'burned 200'
contains
  real(8) function thread_seconds()
    use, intrinsic :: iso_c_binding
    integer(c_int), parameter :: CLOCK_THREAD_CPUTIME_ID = 3
    integer(c_long) :: t(2)
    integer(c_int) :: status
    interface
       integer(c_int) function clock_gettime(clock, time) bind(c)
         import
         integer(c_int), value :: clock
         integer(c_long) :: time(2)
       end function clock_gettime
    end interface
    status = clock_gettime(CLOCK_THREAD_CPUTIME_ID, t)
    thread_seconds = real(t(1), 8) + 1d-9 * real(t(2) + 0 * status, 8)
  end function thread_seconds
end program regions
! SPDX-License-Identifier: BSD-3-Clause
