#pragma once
#include "drivers/linear_algebra.hpp"
#include "matrix/tile_owners.hpp"

#include <functional>

/// Routines on matrices whose tiles several processes hold. All processes of the session make the same call, with the same
/// extents, owners and options and each with its own tiles; a process that holds nothing takes part too. What must be equal is
/// compared before anything is touched, and where it is not all of them throw Error{bad_argument}. An error of one process is
/// thrown by all, and names it. The outcome (LAPACK's info) is the same for all.
///
/// A session that has processes is one with the engine 'starpu-mpi' (SessionOptions::engine, ::communicator). One call at a time.
///
///     trencadis::SessionOptions options{.engine = "starpu-mpi"};
///     options.communicator = &comm;              // an MPI_Comm of 4 processes, in a grid 2 x 2 row by row
///     trencadis::Session session(options);
///     const auto A = trencadis::block_cyclic(n, n, nb, nb, {2, 2}, local, lld);
///     const trencadis::Index info = trencadis::distributed::potrf(session, trencadis::Uplo::lower, A);
namespace trencadis {

class Processes; // inside

/// A tile of this process's.
template <Scalar T> struct LocalTile {
    T* data;
    Index ld;
};

/// A matrix whose tiles processes hold, as one of them sees it: in tiles mb x nb, ragged at the end.
template <Scalar T> struct HeldTiles {
    Index rows = 0, cols = 0;
    Index mb = 1, nb = 1;
    TileOwners owners;
    std::function<LocalTile<T>(Index i, Index j)> at; ///< of tiles that this process holds; others are not asked for

    Index row_tiles() const { return (rows + mb - 1) / mb; }
    Index col_tiles() const { return (cols + nb - 1) / nb; }
};

/// The tiles that lie in this process's column-major array as ScaLAPACK has them: (i, j), in the grid's rows and columns counted
/// from where (0, 0) is, at row i / P * mb and column j / Q * nb. They are computed on in place.
template <Scalar T> HeldTiles<T> block_cyclic(Index rows, Index cols, Index mb, Index nb, TileOwners owners, T* local, Index lld)
{
    const auto at = [=](Index i, Index j) {
        return LocalTile<T>{local + i / owners.grid_rows * mb + j / owners.grid_cols * nb * lld, lld};
    };
    return {rows, cols, mb, nb, owners, at};
}

namespace distributed {

// inside >>>
/// The processes of a session. Throws Error{bad_argument} where its engine has none.
Processes& processes(Crew& crew);
// <<<

// As the routines of the same names in drivers/linear_algebra.hpp. Tiles of A are square, those of B and C fit: B has A's rows of
// tiles, columns of any width. Throw Error{bad_argument} with the argument's number here, or for owners that are not among the
// processes; RoutineOptions::nb is not looked at, the tiles are the matrices'.

/// A = L L^H or U^H U, in the `uplo` triangle.
template <Scalar T> Index potrf(Crew& crew, Uplo uplo, const HeldTiles<T>& A, const RoutineOptions& options = {});
/// B <- A^-1 B with these factors.
template <Scalar T>
void potrs(Crew& crew, Uplo uplo, const HeldTiles<T>& A, const HeldTiles<T>& B, const RoutineOptions& options = {});
template <Scalar T>
Index posv(Crew& crew, Uplo uplo, const HeldTiles<T>& A, const HeldTiles<T>& B, const RoutineOptions& options = {});

/// A = P L U. `pivots`: min(m, n), on every process all of them, numbered from 1 in the whole matrix. Forms: `tournament` (the
/// first), `nopiv`, and those with LAPACK's pivots, `panel`, `kastors` and `kastors-cw`, whose panels come together on one
/// process.
template <Scalar T> Index getrf(Crew& crew, const HeldTiles<T>& A, Index* pivots, const RoutineOptions& options = {});
/// B <- op(A)^-1 B with these factors and pivots.
template <Scalar T>
void getrs(Crew& crew, Op op, const HeldTiles<T>& A, const Index* pivots, const HeldTiles<T>& B,
           const RoutineOptions& options = {});
/// Also `incremental`, whose factors are nobody's: the pivots are 0 then.
template <Scalar T>
Index gesv(Crew& crew, const HeldTiles<T>& A, Index* pivots, const HeldTiles<T>& B, const RoutineOptions& options = {});

/// Tile QR, in the forms `flat`, `plasma`, `binary`, `greedy` and `fibonacci`: R in the upper triangle, the reflectors below it
/// as TileQr has them (drivers/tile_qr.hpp).
template <Scalar T> void geqrf(Crew& crew, const HeldTiles<T>& A, const RoutineOptions& options = {});

/// C <- alpha op(A) op(B) + beta C.
template <Scalar T>
void gemm(Crew& crew, Op op_a, Op op_b, T alpha, const HeldTiles<T>& A, const HeldTiles<T>& B, T beta, const HeldTiles<T>& C,
          const RoutineOptions& options = {});
/// B <- alpha op(A)^-1 B or alpha B op(A)^-1.
template <Scalar T>
void trsm(Crew& crew, Side side, Uplo uplo, Op op, Diag diag, T alpha, const HeldTiles<T>& A, const HeldTiles<T>& B,
          const RoutineOptions& options = {});

/// The rows x cols elements of `to` from (to_row, to_col) on <- those of `from` from (from_row, from_col) on. Tiles of any sizes,
/// any owners: for submatrices that begin inside tiles, and for distributions that do not suit.
template <Scalar T>
void copy(Crew& crew, const HeldTiles<T>& from, Index from_row, Index from_col, const HeldTiles<T>& to, Index to_row,
          Index to_col, Index rows, Index cols, const RoutineOptions& options = {});

} // namespace distributed
} // namespace trencadis
