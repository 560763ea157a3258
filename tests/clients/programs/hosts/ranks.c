/* Ranks of MPI on fewer cores than there are ranks: each multiplies, all add up, and nobody waits for ever. */
#include "guest.h"
#include <mpi.h>

int main(int count, char** words)
{
    int rank, ranks, given;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int right = 0, all = 0;
    for (int turn = 0; turn < 10; ++turn) {
        right += right_product(100 + 60 * turn);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) puts(all == 10 * ranks ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
