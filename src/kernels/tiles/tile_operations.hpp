#pragma once
#include "graph/flow.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/tiles/guard.hpp"
#include "matrix/tile_matrix.hpp"

/// Tile operations: each function submits one task. Triangles are named as the algorithm sees them, transposed
/// storage is turned into kernel flags here. The level 3 operations are malleable by
/// blocks of columns or rows.
/// Tiles named by one flow must either be the same or not overlap.
namespace trencadis::task {

/// C <- alpha A B + beta C. beta = 0 overwrites C without reading it.
template <Scalar T> void gemm(Flow& flow, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C, Guard guard = {});

/// As gemm; the task is ordered by the accesses `also` too, without touching what they name.
template <Scalar T> void gemm(Flow& flow, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C, std::initializer_list<Access> also);

/// Lower triangle of C <- alpha A A^T + beta C; the rest of C is not touched. n (n + 1) k flops (4 times that complex).
template <Scalar T> void syrk(Flow& flow, T alpha, Tile<T> A, T beta, Tile<T> C, Guard guard = {});

/// Lower triangle of C <- alpha A A^H + beta C; the rest of C is not touched.
template <Scalar T> void herk(Flow& flow, Real<T> alpha, Tile<T> A, Real<T> beta, Tile<T> C, Guard guard = {});

/// C <- alpha A B + beta C, A symmetric with its lower triangle stored; B and C stored alike. beta = 0 overwrites C.
template <Scalar T> void symm(Flow& flow, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C);
/// The same for a Hermitian A, whose diagonal counts as real.
template <Scalar T> void hemm(Flow& flow, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C);

/// Lower triangle of C <- alpha A B^T + alpha B A^T + beta C, A and B stored alike; the rest of C is not touched.
/// 2 n (n + 1) k flops (4 times that complex).
template <Scalar T> void syr2k(Flow& flow, T alpha, Tile<T> A, Tile<T> B, T beta, Tile<T> C);
/// Lower triangle of C <- alpha A B^H + conj(alpha) B A^H + beta C; the rest of C is not touched, its diagonal becomes real.
template <Scalar T> void her2k(Flow& flow, T alpha, Tile<T> A, Tile<T> B, Real<T> beta, Tile<T> C);

/// B <- alpha A B (left) or alpha B A (right), A triangular; its other triangle is not read.
template <Scalar T> void trmm(Flow& flow, Side side, Uplo uplo, Diag diag, T alpha, Tile<T> A, Tile<T> B, Guard guard = {});

/// B <- alpha A^-1 B (left) or alpha B A^-1 (right), A triangular; its other triangle is not read.
template <Scalar T> void trsm(Flow& flow, Side side, Uplo uplo, Diag diag, T alpha, Tile<T> A, Tile<T> B, Guard guard = {});
/// The same with the bits of the kernels' trsm: where one core has all of it, a large triangle goes by halves there.
template <Scalar T> void trsm_apart(Flow& flow, Side side, Uplo uplo, Diag diag, T alpha, Tile<T> A, Tile<T> B);
/// The same with all of A as one task, both matrices in place: for a few columns, on the left.
template <Scalar T> void trsm(Flow& flow, Uplo uplo, Diag diag, T alpha, TileMatrix<T> A, TileMatrix<T> B, Guard guard = {});

/// Lower triangle of A <- its Cholesky factor; a bad pivot in row r of the tile is reported as `first_row` + r. Does
/// nothing once one is known before this tile.
template <Scalar T> void potrf(Flow& flow, Tile<T> A, Index first_row);

/// A <- alpha A; alpha = 0 overwrites A without reading it.
template <Scalar T> void scale(Flow& flow, T alpha, Tile<T> A);

/// Lower triangle of A <- alpha A; the imaginary part of the diagonal is set to zero where `hermitian`.
template <Scalar T> void scale_lower(Flow& flow, T alpha, Tile<T> A, bool hermitian);

/// B <- A.
template <Scalar T> void copy(Flow& flow, Tile<T> A, Tile<T> B);
/// Lower triangle of B <- that of A; the rest of B is not touched.
template <Scalar T> void copy_lower(Flow& flow, Tile<T> A, Tile<T> B);

/// What is submitted next on B waits for what was submitted on A; does nothing itself.
template <Scalar T> void after(Flow& flow, Tile<T> A, Tile<T> B);

} // namespace trencadis::task
