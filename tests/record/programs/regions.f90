! Regions from Fortran.
program regions
  use hpcview
  implicit none
  real(8) :: x, t0, t1
  integer :: i
  call hpcview_region_begin('fortran part')
  call cpu_time(t0)
  x = 1
  do
     do i = 1, 100000
        x = x * 1.0000001d0 + 0.5d0
     end do
     call cpu_time(t1)
     if (t1 - t0 > 0.2d0) exit
  end do
  call hpcview_region_end('fortran part')
  if (x < 0) print *, x
  print '(a)', 'burned 200'
end program regions
