#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

/// Row and column factors that give a matrix elements of about 1, as LAPACK finds them; complex numbers by |re| + |im|. Arguments
/// have been checked. They return LAPACK's info: the number of a row that is zero, m and the number of such a column, or of a
/// diagonal element that is not positive.
namespace trencadis::estimates {

/// Exact ones, or powers of two, which do not round what is multiplied with them.
enum class Factors { exact, powers };

template <Scalar T>
Index geequ(Factors factors, Index m, Index n, const T* A, Index lda, Real<T>* r, Real<T>* c, Real<T>* rowcnd, Real<T>* colcnd,
            Real<T>* amax);
template <Scalar T> Index poequ(Factors factors, Index n, const T* A, Index lda, Real<T>* s, Real<T>* scond, Real<T>* amax);

/// A <- diag(r) A diag(c) with what geequ has found, or only one of the two, where that makes it much better: 'N' (left as it
/// is), 'R', 'C', 'B' as LAPACK's laqge.
template <Scalar T>
char scale(Index m, Index n, T* A, Index lda, const Real<T>* r, const Real<T>* c, Real<T> rowcnd, Real<T> colcnd, Real<T> amax);
/// A <- diag(s) A diag(s), A Hermitian in one triangle, with what poequ has found: 'N' or 'Y', laqhe.
template <Scalar T> char scale(Uplo uplo, Index n, T* A, Index lda, const Real<T>* s, Real<T> scond, Real<T> amax);
/// A <- diag(r) A.
template <Scalar T> void scale_rows(Index m, Index n, T* A, Index lda, const Real<T>* r);
/// The smallest over the largest, of normal numbers.
template <class R> R ratio_of(Index n, const R* factors);

} // namespace trencadis::estimates
