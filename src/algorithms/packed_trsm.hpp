#pragma once
#include "algorithms/packed_slots.hpp"
#include "kernels/tiles/packed_operations.hpp"

#include <algorithm>

namespace trencadis {

/// X op(A) = alpha B (right) or op(A) X = alpha B (left) on our own kernels, X in place of B (m x n), A triangular. On the left
/// the transposed system is solved in the same memory.
template <Scalar T> struct PackedSystem {
    Side side;
    Uplo uplo; ///< the triangle of A in memory
    Op op;
    Diag diag;
    Index m, n;
    T alpha;
    const T* A;
    Index lda;
    MatrixView<T> B;

    Index order() const { return side == Side::left ? m : n; }
    Index others() const { return side == Side::left ? n : m; }
};

/// Rows of a tile of the unknowns as the algorithm sees them (columns of B on the left side), and the order of a diagonal tile.
struct SystemTiling {
    Index rows, depth;
};
template <Scalar T> SystemTiling system_tiling(const PackedSystem<T>& system, int workers);
/// With tiles of this edge, as far as the matrices go.
template <Scalar T> SystemTiling square_tiling(const PackedSystem<T>& system, Index nb)
{
    return {std::clamp<Index>(system.others(), 1, nb), std::clamp<Index>(system.order(), 1, nb)};
}

/// The packed images of one system, of two steps at a time: at most 4 depth (m + n) numbers. Must outlive the flow's tasks.
template <Scalar T> class SystemImages {
public:
    SystemImages(const PackedSystem<T>& system, const SystemTiling& tiling, const ImagePlace& place = {});

    /// On the left side: are the solutions' left images the right operands of updates too?
    bool serve_both() const { return serve_both_; }
    task::ImageMemory<T> solved_left(Index row, Index step) const { return solved_left_(row, step); }
    task::ImageMemory<T> solved_right(Index row, Index step) const { return solved_right_(row, step); }
    task::ImageMemory<T> factor(Index col, Index step) const { return factor_(col, step); }
    task::ImageMemory<T> triangle(Index step) const { return triangle_(0, step); }

private:
    bool serve_both_;
    PackedSlots<T> solved_left_, solved_right_, factor_, triangle_;
};

/// Submits the solve: a block of unknowns is solved for and packed by one task, its products with the rest of A update the
/// unknowns to come. order^2 others flops (4 times that complex).
template <Scalar T>
void packed_trsm(Flow& flow, const PackedSystem<T>& system, const SystemTiling& tiling, const SystemImages<T>& images);

} // namespace trencadis
