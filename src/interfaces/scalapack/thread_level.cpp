// MPI's beginning, which BLACS programs ask for without threads. The engine's own threads speak to MPI while the program may do
// so, too, so that a program that has this library before its MPI gets the level that allows it. Whoever began MPI before us
// keeps what is there; then the calls are passed on.
#include <algorithm>
#include <mpi.h>

extern "C" {

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided)
{
    return PMPI_Init_thread(argc, argv, std::max(required, int(MPI_THREAD_MULTIPLE)), provided);
}

int MPI_Init(int* argc, char*** argv)
{
    int provided = 0;
    return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

// Fortran's call the C library by its profiling names, past those above.
void mpi_init_(int* failure) { *failure = MPI_Init(nullptr, nullptr); }
void mpi_init_thread_(const int* required, int* provided, int* failure)
{
    *failure = MPI_Init_thread(nullptr, nullptr, *required, provided);
}
}
