#pragma once
#include "graph/flow.hpp"
#include "matrix/tile_matrix.hpp"

#include <span>

/// Tasks of the QR of a tall matrix by blocks of rows; each function submits one. Between them the blocks' triangles are joined
/// by ttqrt, and Q comes back by ttmqr (kernels/tiles/qr_operations.hpp). A block is looked at through its Gram matrix first,
/// which is one product: where its columns are as good as independent, that has its R, and A R^-1 is orthonormal. Where they are
/// not, the block is factored by reflectors in place.
namespace trencadis::task {

/// What stands beside a block of rows, A_b = Q_b R_b: Q_b = A_b K, or Q_b = I - V K V^H and V in A_b. All are n x n.
template <Scalar T> struct TallBlock {
    enum class State : Index { gram, reflectors, no_number };

    Tile<T> A, R, K;
    Tile<T> C;    ///< Q's rows are Q_b times its; in the end what multiplies A_b
    State* state; ///< how A_b is factored
};

/// What the first rows of Q tell: U of their LU factorization, and what takes their place in A.
template <Scalar T> struct TallHead {
    Tile<T> U, head;
    T* tau;
};

/// R, K and the state from the Gram matrix of A_b, unless that is not good enough: then R = 0, and whether A_b has something that
/// is no finite number.
template <Scalar T> void gram_qr(Flow& flow, TallBlock<T> block);
/// `unfit` <- has any of the blocks something that is no finite number, or do more than `most` of them need reflectors? Such a
/// matrix is left as it is
/// by the tasks below.
template <Scalar T> void judge_blocks(Flow& flow, std::span<const TallBlock<T>> blocks, Index most, Index* unfit);
/// A block whose Gram matrix was not good enough is factored in place.
template <Scalar T> void reflect_block(Flow& flow, TallBlock<T> block, const Index* unfit);
/// C <- the identity, or zero.
template <Scalar T> void begin_q(Flow& flow, Tile<T> C, bool identity);
/// The first rows of Q less a diagonal of signs are L U without interchanges, and all of Q less these signs is V U: each sign is
/// the other one than that of what it is taken from, so that no pivot is below 1. U, tau, and L below R for the first rows of A.
template <Scalar T> void reconstruct_head(Flow& flow, TallBlock<T> first, TallHead<T> to, const Index* unfit);
/// A_b <- the rows of V = (Q - S) U^-1, in the first block below its head, which goes to its place.
template <Scalar T> void reconstruct_block(Flow& flow, TallBlock<T> block, TallHead<T> from, bool is_first, const Index* unfit);

} // namespace trencadis::task
