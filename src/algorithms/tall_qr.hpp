#pragma once
#include "algorithms/packed_slots.hpp"
#include "graph/flow.hpp"
#include "kernels/tiles/tall_qr_operations.hpp"
#include "matrix/tile_matrix.hpp"
#include "matrix/work_memory.hpp"

#include <algorithm>
#include <vector>

namespace trencadis {

/// What becomes of a matrix of which many blocks of rows have columns that are nearly dependent.
enum class IllConditioned {
    factored, ///< by reflectors
    left      ///< as it is, where that is faster otherwise: more than a few blocks, unless passes over the matrix are what costs
};

/// QR of a tall matrix in place, m x n with m much larger than n, in LAPACK's layout: R in the upper triangle, V below it, and
/// tau. Blocks of rows are factored apart and their triangles joined along a binary tree; Q's blocks come back the same way, and
/// V and tau are found from them. So the matrix is read twice and written once, whatever n. A block is factored through its Gram
/// matrix where its columns are as good as orthogonal, else by reflectors (kernels/tiles/tall_qr_operations.hpp), which reads and
/// writes it once more. About 3 m n^2 to 4 m n^2 flops (4 times that complex). Demmel, Grigori, Hoemmen, Langou 2012; Ballard,
/// Demmel, Grigori, Jacquelin, Nguyen, Solomonik 2014.
///
/// A matrix with an infinity or NaN is left as it is. The object must outlive the flow's tasks, A and tau too.
template <Scalar T> class TallQr {
public:
    /// Are there rows enough for several blocks, in each of which a triangle is little, and is the matrix larger than what one
    /// core factors in its own caches while others are being told?
    static bool suits(Index m, Index n) { return n > 0 && m / n >= 2 * least_rows && m / 8 >= small_block / n; }

    /// As many blocks of rows, each of n rows at least; 0: as suits.
    TallQr(Index m, Index n, T* A, Index lda, T* tau, Index blocks = 0, IllConditioned ill = IllConditioned::factored,
           const ImagePlace& place = {});

    /// Rows of a block where nobody says otherwise.
    static Index usual_rows(Index n) { return std::max(least_rows * n, small_block / n); }
    /// The rows from which a matrix of n columns may suit.
    static Index least_tall(Index n) { return 2 * least_rows * n; }

    /// Returns once the tasks are submitted.
    void submit(Flow& flow);
    /// After the tasks: is A factored? Otherwise it is as it was.
    bool done() const { return !*unfit_; }

private:
    static constexpr Index least_rows = 32;     ///< of a block, times n: a triangle is joined at the cost of about so many
    static constexpr Index small_block = 65536; ///< numbers; a smaller one is not worth its tasks
    static constexpr Index most_blocks = 128;

    static bool is_bound_by_memory(Index m, Index n) { return n <= 32 && m >= (Index(1) << 23) / n; }
    static Index suitable(Index m, Index n) { return std::clamp<Index>(m / usual_rows(n), 2, most_blocks); }
    Tile<T> square(Index place) const;
    std::size_t squares_bytes() const;
    Index begin(Index b) const { return b * (m_ / count_) + std::min(b, m_ % count_); }

    Index m_, n_, count_, inner_, most_reflected_;
    WorkMemory memory_;
    T* begin_;                                   ///< of the squares
    typename task::TallBlock<T>::State* states_; ///< behind the squares
    std::vector<task::TallBlock<T>> blocks_;
    task::TallHead<T> head_;
    Index* unfit_; ///< behind the states
};

} // namespace trencadis
