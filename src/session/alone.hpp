#pragma once
#include "kernels/provider.hpp"

/// LAPACK's routines on the calling thread alone, with given kernels and no session: for problems that are over before workers could help,
/// and where there can be none. Arguments have been checked; errors are the kernels'.
namespace trencadis::alone {

template <Scalar T> Index potrf(const KernelProvider& kernels, Uplo uplo, Index n, T* A, Index lda);
template <Scalar T>
void potrs(const KernelProvider& kernels, Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb);
template <Scalar T> Index posv(const KernelProvider& kernels, Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb);

} // namespace trencadis::alone
