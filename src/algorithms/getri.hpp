#pragma once
#include "algorithms/packed_slots.hpp"
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/tile_matrix.hpp"
#include "matrix/work_memory.hpp"

#include <memory>
#include <optional>

namespace trencadis {

/// Two tile columns of n rows, what getri needs beside the matrix: as wide as there is memory for, at most `wanted`. Narrower
/// ones are slower, but LAPACK needs n numbers only. Throws Error{out_of_memory}.
template <Scalar T> class TwoColumns {
public:
    TwoColumns(Index n, Index wanted, const ImagePlace& place = {});

    Index nb() const { return nb_; }
    TileMatrix<T> tiles() const { return {{data_, n_, 2 * nb_, n_}, nb_, nb_}; }

private:
    std::size_t bytes() const { return std::size_t(2 * n_ * nb_) * sizeof(T); }
    bool fits(int node); ///< takes the memory, if there is any

    Index n_, nb_;
    std::optional<WorkMemory> memory_;
    std::unique_ptr<T[]> last_; ///< where there are no more pages: from what the program's own heap has left
    T* data_;
};

/// A <- A^-1 from the factors and pivots that getrf left, n x n in place in a column-major matrix, square tiles; U has no zero on
/// its diagonal. W is memory for two tile columns, 2 nb columns of n rows. inv(U) first, then X L = inv(U) from the last tile
/// column to the first, whose part of L waits in W, and the columns are exchanged. Returns once the tasks are submitted. 4/3 n^3
/// flops (4 times that complex). As LAPACK's getri; Du Croz, Higham 1992, method B.
template <Scalar T> void getri(Flow& flow, TileMatrix<T> A, const Index* pivots, TileMatrix<T> W);

} // namespace trencadis
