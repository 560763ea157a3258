#pragma once
#include "algorithms/packed_slots.hpp"
#include "graph/flow.hpp"
#include "kernels/tiles/column_operations.hpp"
#include "matrix/tile_matrix.hpp"
#include "matrix/work_memory.hpp"

#include <vector>

namespace trencadis {

/// The row interchanges of each panel, where devices leave them and find them. Must outlive the flow's tasks.
class PanelInterchanges {
public:
    /// Of a matrix with so many rows and columns, in block columns of nb.
    PanelInterchanges(Index m, Index n, Index nb, const ImagePlace& place = {});

    std::span<const task::Interchanges> all() const { return all_; }

private:
    std::size_t bytes_;
    WorkMemory memory_;
    std::vector<task::Interchanges> all_;
};

/// LU with partial pivoting of whole block columns, A = P L U in place; A m x n, its tiles as high as it is. `pivots` receives
/// min(m, n) rows of A, from 1, as LAPACK's ipiv, and the flow's outcome the first pivot that is exactly zero; the factorization
/// is completed all the same. Returns once the tasks are submitted. 2/3 n^3 flops when square (4 times that complex).
///
/// Every task but the last ones of a few numbers runs on a device that factors LU, and whatever a task needs is in three data: so
/// nothing goes to the cores between two steps. A panel is submitted as soon as the columns before it allow, in front of the
/// other updates of that step (look-ahead: Strazdins 1998).
///
/// `together`: block columns that one task updates at most, those of a panel that comes next excepted; as one matrix where they
/// lie together.
template <Scalar T>
void getrf_columns(Flow& flow, TileMatrix<T> A, const PanelInterchanges& by, Index* pivots, Index together = 1);

/// The same, and B <- A^-1 B in the same flow, A n x n, tiles of B as high as it is. As LAPACK's gesv, B is not touched when a
/// pivot is zero.
template <Scalar T>
void gesv_columns(Flow& flow, TileMatrix<T> A, const PanelInterchanges& by, Index* pivots, TileMatrix<T> B, Index together = 1);

} // namespace trencadis
