#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

/// Row and column factors that give a matrix elements of about 1, as LAPACK finds them; complex numbers by |re| + |im|. Arguments have been checked.
/// They return LAPACK's info: the number of a row that is zero, m and the number of such a column, or of a diagonal element that is not positive.
namespace trencadis::estimates {

/// Exact ones, or powers of two, which do not round what is multiplied with them.
enum class Factors { exact, powers };

template <Scalar T>
Index geequ(Factors factors, Index m, Index n, const T* A, Index lda, Real<T>* r, Real<T>* c, Real<T>* rowcnd, Real<T>* colcnd,
            Real<T>* amax);
template <Scalar T> Index poequ(Factors factors, Index n, const T* A, Index lda, Real<T>* s, Real<T>* scond, Real<T>* amax);

} // namespace trencadis::estimates
