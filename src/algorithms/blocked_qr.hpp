#pragma once
#include "algorithms/packed_slots.hpp"
#include "graph/flow.hpp"
#include "kernels/tiles/reflector_operations.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// QR and LQ in LAPACK's layout, in place, by panels of nb columns (LQ: rows). One core factors a panel in memory of its own,
/// where the reflectors keep their ones and zeros; they are packed once, and a tile column is updated by one task, which several
/// cores share by its columns. Right-looking: that the next panel comes first is left to priorities. 4/3 n^3 flops when square (4
/// times that complex), and n^2 nb for T. Schreiber, Van Loan 1989; Elmroth, Gustavson 2000. Each returns once the tasks are
/// submitted.

/// Blocks of reflectors of the three steps that may be in work at a time: 9 n nb + 9 nb^2 numbers beyond the matrix for vectors
/// of n. Must outlive the flow's tasks.
template <Scalar T> class ReflectorSlots {
public:
    ReflectorSlots(Index order, Index nb, const ImagePlace& place = {});
    /// Of a step: `count` vectors of `order`.
    task::ReflectorBlock<T> operator()(Index step, Index order, Index count) const;

private:
    static constexpr Index steps_kept = 3;
    Index room_, factor_, images_; ///< bytes of one slot
    bool in_memory_;
    WorkMemory memory_;
    char* begin_;
};

/// Where the triangles of every `width` reflectors are wanted: side by side in t, as geqrt leaves them.
template <Scalar T> struct KeptFactors {
    T* t = nullptr;
    Index ld = 0, width = 0;
};

/// A = Q R (rows: L Q), with tau. What is kept has widths that divide nb.
template <Scalar T>
void factor_blocked(Flow& flow, Storage storage, MatrixView<T> A, Index nb, T* tau, const ReflectorSlots<T>& slots,
                    const KeptFactors<T>& kept = {});

/// C <- op(Q) C or C op(Q) with the k reflectors of length C.rows (right: C.cols) in A's columns (rows), tiles of C nc columns
/// (rows) wide.
template <Scalar T>
void apply_blocked(Flow& flow, Storage storage, task::Application how, Index k, MatrixView<T> A, Index nb, const T* tau,
                   MatrixView<T> C, Index nc, const ReflectorSlots<T>& slots);

/// A <- the first columns (rows) of Q of the k reflectors in it.
template <Scalar T>
void form_blocked(Flow& flow, Storage storage, Index k, MatrixView<T> A, Index nb, const T* tau, const ReflectorSlots<T>& slots);

} // namespace trencadis
