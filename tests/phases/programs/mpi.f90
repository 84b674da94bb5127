! Barriers of MPI from Fortran, by the names its bindings have.
program collectives
  implicit none
  include 'mpif.h'
  integer :: error, rank, i, before, after
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  do i = 1, 4
     before = rank
     call mpi_barrier(mpi_comm_world, error) ! BARRIER
     call mpi_allreduce(before, after, 1, mpi_integer, mpi_sum, mpi_comm_world, error) ! ALLREDUCE
  end do
  if (rank == 0) print *, after
  call mpi_finalize(error)
end program collectives
