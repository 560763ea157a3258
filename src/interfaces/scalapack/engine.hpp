#pragma once
#include "algorithms/arguments.hpp"
#include "drivers/distributed.hpp"
#include "interfaces/scalapack/aligned.hpp"
#include "interfaces/scalapack/sessions.hpp"

/// The routines by tasks over all processes of a grid. Matrices in square blocks of a size that tiles may have, from one of them
/// on, are computed on where they are; others on a copy. LU is not here: with partial pivoting a panel comes together on one
/// process, and ScaLAPACK's, which stays where it is, is faster.
namespace trencadis::scalapack::engine {

/// sub(A), which begins with a block, as the engine sees it: blocks are tiles.
template <Scalar T> HeldTiles<T> tiles_of(const Operand<T>& A, int m, int n)
{
    const Grid grid = Grid::of(A.desc.context);
    const Side1D down = A.down(grid), across = A.across(grid);
    TileOwners owners;
    owners.grid_rows = std::int16_t(grid.rows);
    owners.grid_cols = std::int16_t(grid.cols);
    owners.first_row = std::int16_t(down.owner(A.ia - 1));
    owners.first_col = std::int16_t(across.owner(A.ja - 1));
    T* const first = A.data + down.before(A.ia - 1, grid.row) + Index(across.before(A.ja - 1, grid.col)) * A.desc.lld;
    return block_cyclic<T>(m, n, A.desc.mb, A.desc.nb, owners, first, A.desc.lld);
}

/// Where the engine computes on A.
template <Scalar T> Wanted wanted(const Operand<T>& A)
{
    const bool suits = A.on_blocks() && A.square_blocks() && suits_engine(A.desc.nb);
    return {suits, {engine_block(A.desc.n)}};
}
/// And on right-hand sides, whose rows are cut as those of A, and columns as they are.
template <Scalar T> Wanted wanted(const Operand<T>& B, const Operand<T>& A)
{
    return {B.on_blocks() && B.lies_as(A), {A.desc.nb, A.down(Grid::of(A.desc.context)).owner(A.ia - 1)}};
}

template <Scalar T> int potrf(Session& session, char uplo, int n, const Operand<T>& A)
{
    Aligned<T> at(A, n, n, wanted(A), triangle(uplo));
    const Index info = distributed::potrf<T>(session, Letter<Uplo>(uplo), tiles_of(at.operand(), n, n));
    at.write_back();
    return int(info);
}

template <Scalar T> int potrs(Session& session, char uplo, int n, int nrhs, const Operand<T>& A, const Operand<T>& B)
{
    const Aligned<T> factors(A, n, n, wanted(A), triangle(uplo));
    Aligned<T> right(B, n, nrhs, wanted(B, factors.operand()));
    distributed::potrs<T>(session, Letter<Uplo>(uplo), tiles_of(factors.operand(), n, n), tiles_of(right.operand(), n, nrhs));
    right.write_back();
    return 0;
}

} // namespace trencadis::scalapack::engine
