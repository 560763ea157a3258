#pragma once
#include "algorithms/arguments.hpp"
#include "base/scalar.hpp"

/// dsgesv, zcgesv, dsposv and zcposv behind their symbols, column-major, T in double precision. The number of the first bad
/// argument, counted as the reference does, and then nothing has been done; or 0, LAPACK's info, and in `steps` its ITER.
namespace trencadis::face {

template <Scalar T>
int gesv_in_mixed_precision(const char* name, Index n, Index nrhs, T* A, Index lda, argument::Integers<Index> ipiv, const T* B,
                            Index ldb, T* X, Index ldx, int& steps, Index& info);
template <Scalar T>
int posv_in_mixed_precision(const char* name, Letter<Uplo> uplo, Index n, Index nrhs, T* A, Index lda, const T* B, Index ldb,
                            T* X, Index ldx, int& steps, Index& info);

} // namespace trencadis::face
