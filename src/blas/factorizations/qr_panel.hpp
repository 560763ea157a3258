#pragma once
#include "blas/factorizations/qr.hpp"

namespace trencadis::blas {

/// Reflectors laid out as products want them: n x k with their ones and zeros, in memory of its own, whose columns do not share
/// sets of a cache; zeros behind the last row and column up to whole vectors.
template <Scalar T> struct WholeReflectors {
    T* V;
    Index ldv;
};
template <Scalar T> Index whole_reflectors_ld(Index n);
/// Numbers for k reflectors of order n, and for R beside them.
template <Scalar T> Index whole_reflectors_size(Index n, Index k);

/// A = Q R in place for a panel of columns, m >= n, or of rows, where A (n x m) stands for its conjugate transpose; as geqrf and
/// gelqf. `factor` (n x n) receives T with zeros below its diagonal (not with_factor: anything), `room` (whole_reflectors_size,
/// aligned to 64 bytes) the reflectors.
template <Scalar T>
WholeReflectors<T> factor_panel(Storage storage, Index m, Index n, T* A, Index lda, T* tau, T* factor, Index ldt, T* room,
                                bool with_factor = true);

/// The reflectors that geqrf (rows: gelqf) left in k columns of order n, and their factor as above.
template <Scalar T>
WholeReflectors<T> load_reflectors(Storage storage, Index n, Index k, const T* A, Index lda, const T* tau, T* factor, Index ldt,
                                   T* room);

/// Columns (rows) of the identity: `count` of them, `length` long, with their ones from element `one` on.
template <Scalar T> void set_identity(Storage storage, Index length, Index count, Index one, T* A, Index lda);

/// C <- op(Q) C or C op(Q), C m x n, with k reflectors and their factor T as above.
template <Scalar T>
void apply_whole(Side side, Op op, const WholeReflectors<T>& v, Index m, Index n, Index k, const T* factor, Index ldt, T* C,
                 Index ldc);

} // namespace trencadis::blas
