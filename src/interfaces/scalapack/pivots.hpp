#pragma once
#include "interfaces/scalapack/descriptor.hpp"

#include <vector>

namespace trencadis::scalapack {

/// The part of ipiv that belongs to rows ia, ia + 1, ...: each process has those of the rows of A that lie in its row of the
/// grid, as numbers of rows of A. `all` are the same as LAPACK counts them, from 1 for the first row of sub(A), on every process.
struct Pivots {
    Grid grid;
    int ia;
    Side1D rows;
    int* ipiv;

    template <Scalar T> static Pivots of(const Operand<T>& A, int* ipiv)
    {
        const Grid grid = Grid::of(A.desc.context);
        return {grid, A.ia, A.down(grid), ipiv};
    }
    std::vector<int> all(int count) const; ///< called by all processes
    void put(const std::vector<int>& all) const;

private:
    template <class Visit> void each_here(int count, Visit visit) const
    {
        for (int k = 0; k < count; ++k)
            if (rows.owner(ia - 1 + k) == grid.row) visit(k, ipiv[rows.before(ia - 1 + k, grid.row)]);
    }
};

} // namespace trencadis::scalapack
