#pragma once
#include "array.hpp"
#include "matrix/ops.hpp"
#include "session/session.hpp"

#include <functional>

namespace trencadis::python {

/// max_j sum_i |a_ij|, any strides. NaN where an element is NaN. On the session's workers when the matrix is large.
template <Scalar T> Real<T> norm1(Session& session, const Strided& A);
/// The same of a Hermitian or symmetric matrix, of which one triangle is read. On the calling thread.
template <Scalar T> Real<T> norm1_of_triangle(const Strided& A, Uplo uplo);

/// The same of a triangle alone. On the calling thread.
template <Scalar T> Real<T> triangle_norm1(const Strided& A, Uplo uplo);

/// An estimate of |A^-1|_1 that is never too large and seldom below a third of it, from 4 or 5, at most 11, systems with one
/// right side: `solve` overwrites its argument with A^-1 x, or with A^-H x where `adjoint`. Infinity where a solution overflows.
/// LAPACK's lacn2; Hager 1984, Higham 1988 (ACM TOMS 14:4, algorithm 674).
template <Scalar T> Real<T> inverse_norm1(Index n, const std::function<void(T* x, bool adjoint)>& solve);

/// 1 / (|A|_1 |A^-1|_1) as LAPACK's gecon answers it: 0 where that is not finite, except that a NaN of the norm is passed on.
template <class R> R reciprocal_condition(R norm, R inverse_norm);

} // namespace trencadis::python
