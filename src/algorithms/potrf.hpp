#pragma once
#include "algorithms/packed_slots.hpp"
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/tiles/packed_operations.hpp"
#include "matrix/tile_matrix.hpp"

namespace trencadis {

/// Tile Cholesky, A = L L^H, in place in the lower triangle of A (n x n); the rest is neither read nor written. For
/// A = U^H U in the upper triangle give herm(A). Returns once the tasks are submitted; the flow's outcome receives the order of
/// the smallest leading minor that is not positive definite, and the factor of the minor before it is left as LAPACK leaves it,
/// whatever the timing. n^3/3 flops (4 times that complex). Right-looking; Buttari, Langou, Kurzak, Dongarra 2009.
template <Scalar T> void potrf(Flow& flow, TileMatrix<T> A);

/// As potrf, left-looking: a tile column takes the updates by all columns left of it when its turn comes, and what is right of it
/// is as it was given. The tasks and their results are those of potrf, to the last bit; their order differs, and with it what is
/// in work where few tasks are in flight: one tile column and those that are finished, which are only read. Kurzak, Ltaief,
/// Dongarra, Badia 2010.
template <Scalar T> void potrf_left_looking(Flow& flow, TileMatrix<T> A);

/// As potrf, on two levels: a diagonal tile larger than `inner` (at least 1) is factored by a task that submits a tile Cholesky
/// of it, tiles inner x inner. Tiles then can be as large as a GPU wants them, while cores share the part that a GPU is slow at.
/// Same flops, same result up to rounding, same the flow's outcome. Lima, Gautier et al. 2013.
template <Scalar T> void potrf_two_level(Flow& flow, TileMatrix<T> A, Index inner);

/// The packed images of one factorization, of the three steps that may be in work at a time: 6 n nb numbers (complex ones: 12)
/// beyond the matrix, half of that where images of left operands serve as right ones. Must outlive the flow's tasks.
template <Scalar T> class CholeskyImages {
public:
    CholeskyImages(Index n, Index nb, const ImagePlace& place = {});

    task::Image<T> left(Index i, Index k, Index rows, Index cols) const;  ///< of A_ik
    task::Image<T> right(Index i, Index k, Index rows, Index cols) const; ///< of A_ik^H
    task::ImageMemory<T> triangle(Index k) const;                         ///< of L_kk^H

private:
    const bool both_; ///< sides read the image of the left
    PackedSlots<T> left_, right_, triangle_;
};

/// As potrf with our own gemm, herk and trsm, and the potrf of `kernels` for the tiles on the diagonal: a tile below the diagonal
/// is packed once, by the task that solves for it, and all updates with it use its images. Same flops, same the flow's outcome.
template <Scalar T> void potrf_packed(Flow& flow, TileMatrix<T> A, const CholeskyImages<T>& images);

/// B <- A^-1 B with the factor in the lower triangle of A. 2 n^2 nrhs flops.
template <Scalar T> void potrs(Flow& flow, TileMatrix<T> A, TileMatrix<T> B);

/// potrf, then potrs as one flow. As LAPACK's, B is not touched when A is not positive definite: the substitutions begin
/// when the last pivot is known. With `images` the factorization is potrf_packed.
template <Scalar T> void posv(Flow& flow, TileMatrix<T> A, TileMatrix<T> B, const CholeskyImages<T>* images = nullptr);
/// The same with potrf_two_level.
template <Scalar T> void posv_two_level(Flow& flow, TileMatrix<T> A, TileMatrix<T> B, Index inner);

} // namespace trencadis
