#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "blas/level3/helpers.hpp"
#include "matrix/ops.hpp"

/// QR and LQ in LAPACK's layout on one core, over our own kernels and level 3; as there for threads, buffers and memory
/// (level3.hpp). Beyond those a thread keeps a panel of 64 columns as long as the matrix (as many as there are where the caller
/// asks for T of all) with T, and 2^17 numbers for what it is applied to.
///
/// A reflector is H = I - tau v v^H with v_1 = 1; k of them make Q = H_1 H_2 .. H_k = I - V T V^H with T upper triangular, the
/// compact WY form (Schreiber, Van Loan 1989). NaN and infinity go where LAPACK's sums let them.
namespace trencadis::blas {

/// H = I - tau v v^H, v = (1, x), with H^H (alpha, x) = (beta, 0) and beta real: alpha <- beta, x <- v's rest. Returns tau: 0,
/// and H = I, where x is zero already (complex: and alpha real). Squares neither overflow nor lose digits, and numbers near the
/// least are rescaled before they are divided by.
template <Scalar T> T larfg(Index n, T& alpha, T* x, Index incx);

/// The Euclidean norm: squares neither overflow nor lose digits. NaN where there is one.
template <Scalar T> Real<T> column_norm(Index n, const T* x);

/// A = Q R in place, A m x n: R in the upper triangle, the reflectors' v below it, tau of k = min(m, n) numbers. `factor` (k x k,
/// upper triangle, the rest not referenced) receives T of all k reflectors, unless it is null. 2 m n^2 - 2/3 n^3 flops for m >= n
/// (4 times that complex); with `factor` k^2 (m - k/3) more. By panels with look-ahead (Strazdins 1998), in which others may
/// help; each by halves of its columns: Elmroth, Gustavson 2000. The bits are the same with helpers and without.
template <Scalar T> void geqrf(Index m, Index n, T* A, Index lda, T* tau, T* factor, Index ldt, const Helpers& helpers = {});
/// A = L Q in place: what geqrf does to A^H, so that rows hold v^H and Q = H_k^H .. H_1^H.
template <Scalar T> void gelqf(Index m, Index n, T* A, Index lda, T* tau);

/// LAPACK's direct and storev: H_1 H_2 .. H_k, where v_i begins with i - 1 zeros and a one, or H_k .. H_2 H_1, where it ends with
/// a one and k - i zeros; V is n x k with v_i as columns, or k x n with v_i^H as rows. Ones and zeros are not referenced.
using trencadis::Direction;
using trencadis::Storage;

/// T of k reflectors of order n: an upper triangle forward, a lower one backward; the rest of `factor` is not referenced.
template <Scalar T>
void larft(Direction direction, Storage storage, Index n, Index k, const T* V, Index ldv, const T* tau, T* factor, Index ldt);

/// C <- op(Q) C or C op(Q), C m x n, Q = I - V T V^H; any op but none is the conjugate transpose. 4 m n k flops.
template <Scalar T>
void larfb(Side side, Op op, Direction direction, Storage storage, Index m, Index n, Index k, const T* V, Index ldv,
           const T* factor, Index ldt, T* C, Index ldc);

/// A (m x n) <- the first n columns of Q of the k reflectors that geqrf left in A's columns; m >= n >= k. 4 m n k - 2 (m + n) k^2
/// + 4/3 k^3 flops.
template <Scalar T> void orgqr(Index m, Index n, Index k, T* A, Index lda, const T* tau);
/// A (m x n) <- the first m rows of Q of the k reflectors that gelqf left in A's rows; n >= m >= k.
template <Scalar T> void orglq(Index m, Index n, Index k, T* A, Index lda, const T* tau);

/// C <- op(Q) C or C op(Q), C m x n, with the k reflectors that geqrf left in the columns of A; of few columns of C, from the
/// left, one by one.
inline constexpr Index few_columns = 4;
template <Scalar T> void ormqr(Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc);
/// The same with those that gelqf left in the rows of A.
template <Scalar T> void ormlq(Side side, Op op, Index m, Index n, Index k, const T* A, Index lda, const T* tau, T* C, Index ldc);

} // namespace trencadis::blas
