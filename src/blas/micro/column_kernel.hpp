#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

namespace trencadis::blas {

/// Loops over columns of a matrix with vectors beside it, for one instruction set and one scalar: what each costs is one read of
/// the matrix. A is m x k. Complex numbers have a modulus, |z|, which is found without overflow, and a size, |re z| + |im z|.
/// Reentrant; nothing is allocated.
template <Scalar T> struct ColumnKernel {
    using R = Real<T>;

    /// y <- y - A s.
    void (*subtract)(Index m, Index k, const T* A, Index lda, const T* s, T* y);
    /// r <- A^T x, or A^H x.
    void (*dots)(Index m, Index k, const T* A, Index lda, const T* x, bool conjugated, T* r);
    /// y <- y + |A| s and r <- |A|^T x with the sizes of A's elements.
    void (*add_sizes)(Index m, Index k, const T* A, Index lda, const R* s, R* y);
    void (*size_dots)(Index m, Index k, const T* A, Index lda, const R* x, R* r);

    /// The sum of the moduli of a column; where `add` is not null they are added to it one by one, too.
    R (*sum)(Index m, const T* a, R* add);
    /// The largest modulus of a column; a NaN where there is one.
    R (*largest)(Index m, const T* a);
    /// The sum of (scale a_i)^2 of real numbers: overflow is the caller's business.
    R (*squares)(Index count, const R* a, R scale);

    /// Norms of columns that lose a row, of which `row` has the elements: norms_j <- sqrt(norms_j^2 - |row_j|^2). Where too few
    /// digits of found_j, the norm when it was last found from a column, would be left, found_j <- -1 instead, and the result is
    /// true (Drmac, Bujanovic 2008).
    bool (*shorten)(Index count, const T* row, R* norms, R* found);
};

} // namespace trencadis::blas
