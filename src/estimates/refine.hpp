#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

/// Refinement of solutions in the precision they are in, with bounds for their errors, on the calling thread: LAPACK's gerfs and
/// porfs. Each right side is refined while its componentwise backward error berr is above half an eps and at least halves, at
/// most five times (Arioli, Demmel, Duff
/// 1989); ferr bounds the error of the largest component, from an estimate of |inv(op(A))| (|r| + (n + 1) eps (|op(A)| |x| +
/// |b|)) (Higham 1988). 4 n^2 flops and a few triangular systems more for each. `work`: work_of<T>(n) numbers, or null and they
/// are taken from the heap. Arguments have been checked.
namespace trencadis::estimates {

template <Scalar T>
void gerfs(Op op, Index n, Index nrhs, const T* A, Index lda, const T* AF, Index ldaf, const Index* ipiv, const T* B, Index ldb,
           T* X, Index ldx, Real<T>* ferr, Real<T>* berr, T* work = nullptr);
template <Scalar T>
void porfs(Uplo uplo, Index n, Index nrhs, const T* A, Index lda, const T* AF, Index ldaf, const T* B, Index ldb, T* X, Index ldx,
           Real<T>* ferr, Real<T>* berr, T* work = nullptr);

} // namespace trencadis::estimates
