#pragma once
#include "drivers/linear_algebra.hpp"

namespace trencadis {

/// geqrf of a matrix that is tall enough for blocks of rows, if that is what the options ask for or leave open (algorithms/tall_qr.hpp). Returns
/// whether it has been done; otherwise nothing has been touched.
template <Scalar T> bool geqrf_by_rows(Crew& crew, Index m, Index n, T* A, Index lda, T* tau, const RoutineOptions& options);

/// Throws Error{bad_argument} for the variants that leave no V and tau of LAPACK's layout.
void require_lapack_layout(const RoutineOptions& options);

} // namespace trencadis
