#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "blas/level3/helpers.hpp"

/// LU, on one core but where helpers are given, over our own kernels and level 3; as there for threads, buffers and memory
/// (level3.hpp).
namespace trencadis::blas {

/// A = P L U in place, A m x n: L unit lower trapezoidal, U upper trapezoidal. Partial pivoting with LAPACK's contract: pivots[i]
/// is the row, from 1, that was exchanged with row i + 1, the first with the largest |.| (complex: |re| + |im|), or row i + 1
/// itself where its entry is no number; column entries are multiplied by the pivot's inverse, or divided where the pivot is no
/// normal number. Returns 0, or the number of the first pivot that is exactly zero; the factorization is completed all the same.
/// m n^2 - n^3/3 flops for m >= n (4 times that complex). By halves of the columns: Toledo 1997; Gustavson 1997; where others
/// may help, from order 128 on, by panels with look-ahead: Strazdins 1998. The bits are the same with helpers and without.
template <Scalar T> Index getrf(Index m, Index n, T* A, Index lda, Index* pivots, const Helpers& helpers = {});

/// The same in steps of `width` columns, each of which updates all behind it at once: the bits of tiles of that order whose
/// panels are factored by `getrf` (algorithms/getrf.hpp), of real numbers where no tile is narrower than eight.
template <Scalar T> Index getrf_in_steps(Index m, Index n, Index width, T* A, Index lda, Index* pivots);

/// The order that row interchanges are applied in.
enum class Interchanges { forward, backward };

/// Exchanges rows i and pivots[i] - 1 of the n columns of A for i = begin .. end - 1, or from the last to the first.
template <Scalar T>
void laswp(Index n, T* A, Index lda, Index begin, Index end, const Index* pivots, Interchanges order = Interchanges::forward);

} // namespace trencadis::blas
