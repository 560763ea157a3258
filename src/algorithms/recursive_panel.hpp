#pragma once
#include "graph/flow.hpp"
#include "kernels/tiles/lu_operations.hpp"

namespace trencadis {

/// How panels are cut up for several cores.
struct PanelCut {
    Index columns = 0; ///< of a leaf, which one core factors; 0: panels are not cut up
    Index rows = 512;  ///< of the blocks that updates go by
    Index beside =
        0; ///< columns right of a panel beyond which others have enough to do while one core factors it; not of the first one
    Flops worth = 5e7; ///< operations of a panel from which it is cut up
};

/// A_k..,k <- its L U factors with partial pivoting, as task::getrf_panel; where `cut` says so, by a task that submits the
/// recursion by halves of the columns: one core factors a few columns, the columns right of them are exchanged and solved each by
/// a task, and updated by blocks of rows. There is nothing but dependences between the cores, so that one which is held up holds
/// back what it has in hand. The same pivots up to rounding, the same the flow's outcome. Toledo 1997; Dongarra, Faverge, Ltaief,
/// Luszczek 2014.
template <Scalar T> void shared_panel(Flow& flow, TileMatrix<T> A, Index k, task::Pivots pivots, PanelCut cut);

} // namespace trencadis
