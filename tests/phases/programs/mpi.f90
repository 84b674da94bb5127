! Barriers of MPI from Fortran, ranks with planned arrivals: mpi. By the names of the module mpi, with -DF08 of the module mpi_f08. Rank 0 says what all
! saw, in the words of planned.h.
program collectives
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  use iso_c_binding
  implicit none
  type, bind(c) :: timespec
     integer(c_long) :: seconds, nanoseconds
  end type timespec
  interface
     integer(c_int) function usleep(us) bind(c)
       import :: c_int
       integer(c_int), value :: us
     end function usleep
     integer(c_int) function clock_gettime(clock, time) bind(c)
       import :: c_int, timespec
       integer(c_int), value :: clock
       type(timespec) :: time
     end function clock_gettime
  end interface
  integer, parameter :: episodes = 3, kinds = 5, most = 16
  character(len=9), parameter :: names(kinds) = (/ 'barrier  ', 'allreduce', 'allgather', 'alltoall ', 'block    ' /)
  double precision :: at(most, episodes, kinds), all(most)
  integer :: error, rank, ranks, i, k, ignored, before(most), after(most)
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  before = rank
  do i = 1, episodes
     call arrive(1, rank)
     call mpi_barrier(mpi_comm_world, error) ! BARRIER
     call arrive(2, ranks - 1 - rank)
     call mpi_allreduce(before, after, 1, mpi_integer, mpi_sum, mpi_comm_world, error) ! ALLREDUCE
     call arrive(3, rank)
     call mpi_allgather(before, 1, mpi_integer, after, 1, mpi_integer, mpi_comm_world, error) ! ALLGATHER
     call arrive(4, ranks - 1 - rank)
     call mpi_alltoall(before, 1, mpi_integer, after, 1, mpi_integer, mpi_comm_world, error) ! ALLTOALL
     call arrive(5, rank)
     call mpi_reduce_scatter_block(before, after, 1, mpi_integer, mpi_sum, mpi_comm_world, error) ! BLOCK
  end do
  do k = 1, kinds
     do i = 1, episodes
        call mpi_gather(at(rank + 1, i, k), 1, mpi_double_precision, all, 1, mpi_double_precision, 0, mpi_comm_world, error) ! GATHER
        if (rank == 0) at(:, i, k) = all
     end do
     if (rank == 0) call say(k)
  end do
  call mpi_finalize(error)
contains
  subroutine arrive(kind, place)
    integer, intent(in) :: kind, place
    type(timespec) :: now
    ignored = usleep(1000 + 2000 * place)
    ignored = clock_gettime(1, now) ! the monotonic one, of all ranks; mpi_wtime may be each one's own
    at(rank + 1, i, kind) = now%seconds * 1d3 + now%nanoseconds / 1d6
  end subroutine arrive
  subroutine say(kind)
    integer, intent(in) :: kind
    double precision :: barrier, idle, last
    integer :: e
    barrier = 0
    idle = 0
    do e = 1, episodes
       last = maxval(at(1:ranks, e, kind))
       barrier = barrier + last - minval(at(1:ranks, e, kind))
       idle = idle + sum(last - at(1:ranks, e, kind))
    end do
    print '(a, 1x, i0, 1x, i0, 2(1x, f0.3), a)', trim(names(kind)), episodes, ranks, barrier, idle, ' 0 0'
    do e = 1, episodes
       print '(a, 1x, a, 1x, i0, *(1x, i0, a, f0.3))', 'order', trim(names(kind)), e, &
            (order(e, kind, i) - 1, '@', at(order(e, kind, i), e, kind), i = 1, ranks)
    end do
  end subroutine say
  ! Who came as the n-th.
  integer function order(e, kind, n)
    integer, intent(in) :: e, kind, n
    integer :: j
    order = 1
    do j = 1, ranks
       if (count(at(1:ranks, e, kind) < at(j, e, kind)) == n - 1) order = j
    end do
  end function order
end program collectives
! SPDX-License-Identifier: BSD-3-Clause
