#pragma once
#include "array.hpp"
#include "matrix/ops.hpp"
#include "session/session.hpp"

namespace trencadis::python {

/// max_j sum_i |a_ij|, any strides. NaN where an element is NaN. On the session's workers when the matrix is large.
template <Scalar T> Real<T> norm1(Session& session, const Strided& A);
/// The same of a Hermitian or symmetric matrix, of which one triangle is read. On the calling thread.
template <Scalar T> Real<T> norm1_of_triangle(const Strided& A, Uplo uplo);

/// 1 / (|A|_1 |A^-1|_1) as LAPACK's gecon answers it: 0 where that is not finite, except that a NaN of the norm is passed on.
template <class R> R reciprocal_condition(R norm, R inverse_norm);

} // namespace trencadis::python
