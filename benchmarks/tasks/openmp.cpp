// The peer for `trencadis compare tasks` on an OpenMP runtime: empty tasks on the tile Cholesky graph. One source for libgomp
// and libomp; which one it runs on is decided by compiler and linker, and reported from the library that was loaded.
#include "protocol.h"

#include <omp.h>

namespace {

using Tile = char;

/// Right-looking, like our own: potrf(k) rw kk; trsm(i,k) r kk, rw ik; gemm(i,j) r ik, r jk, rw ij; syrk(i) r ik, rw ii.
void submit([[maybe_unused]] Tile* A, int n) // compilers do not count the depend clause as a use
{
    const auto at = [n](int i, int j) { return i * n + j; };
    for (int k = 0; k < n; ++k) {
        const int kk = at(k, k);
#pragma omp task depend(inout : A[kk])
        trc_nothing();
        for (int i = k + 1; i < n; ++i) {
            const int ik = at(i, k);
#pragma omp task depend(in : A[kk]) depend(inout : A[ik])
            trc_nothing();
        }
        for (int i = k + 1; i < n; ++i) {
            const int ik = at(i, k), ii = at(i, i);
            for (int j = k + 1; j < i; ++j) {
                const int jk = at(j, k), ij = at(i, j);
#pragma omp task depend(in : A[ik], A[jk]) depend(inout : A[ij])
                trc_nothing();
            }
#pragma omp task depend(in : A[ik]) depend(inout : A[ii])
            trc_nothing();
        }
    }
}

void run(Tile* A, int n, int threads)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    submit(A, n);
}

int threads_given(int threads)
{
    int given = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    given = omp_get_num_threads();
    return given;
}

} // namespace

int main(int argc, char** argv)
{
    const TrcPeerArguments arguments = trc_peer_arguments(argc, argv);
    Tile* A = static_cast<Tile*>(calloc(size_t(arguments.tiles) * size_t(arguments.tiles), 1));
    if (!A) trc_peer_fail("no memory for the tiles");
    const int given = threads_given(arguments.threads);
    if (given != arguments.threads) trc_peer_fail("the runtime gave %d threads instead of %d", given, arguments.threads);
    char version[1200];
    trc_peer_library(reinterpret_cast<void*>(omp_get_num_threads), version, sizeof version);
    run(A, arguments.tiles, arguments.threads);
    trc_peer_introduce(TRC_PEER_NAME, version, arguments);
    while (trc_peer_request()) {
        const double begin = trc_peer_seconds();
        run(A, arguments.tiles, arguments.threads);
        trc_peer_answer(trc_peer_seconds() - begin);
    }
    free(A);
    return 0;
}
