#pragma once
#include "algorithms/forms/form.hpp"
#include "drivers/linear_algebra.hpp"

namespace trencadis {

/// geqrf of a matrix that is tall enough for blocks of rows, if that is the form that the options ask for or leave open (null)
/// (algorithms/tall_qr.hpp), by the crew or by the calling thread alone (`here`). Returns whether it has been done; otherwise
/// nothing has been touched.
template <Scalar T>
bool geqrf_by_rows(Crew& crew, Index m, Index n, T* A, Index lda, T* tau, const Form* form, const RoutineOptions& options,
                   bool here);

} // namespace trencadis
