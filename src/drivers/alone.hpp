#pragma once
#include "algorithms/signatures.hpp"
#include "kernels/providers/provider.hpp"

/// Routines on the calling thread alone, with given kernels and no crew: for problems that are over before workers could help,
/// and where there can be none. Arguments have been checked; errors are the kernels'. LAPACK's return its info.
namespace trencadis::alone {

#define TRC_DEFINE(routine, ...)                                                                                                 \
    template <Scalar T> void routine(const KernelProvider& kernels, TRC_ARGUMENTS_##routine(TRC_TYPED))                          \
    {                                                                                                                            \
        kernels.routine(TRC_ARGUMENTS_##routine(TRC_GIVE));                                                                      \
    }
TRC_REAL_PRODUCT_ROUTINES(TRC_DEFINE)
TRC_HERMITIAN_BLAS_ROUTINES(TRC_DEFINE)
#undef TRC_DEFINE
/// A whole call's, which may go by halves (blas/level3/by_halves.hpp), unlike that of a part.
#define TRC_DECLARE(routine, ...)                                                                                                \
    template <Scalar T> void routine(const KernelProvider& kernels, TRC_ARGUMENTS_##routine(TRC_TYPED));
TRC_TRIANGULAR_ROUTINES(TRC_DECLARE)
#undef TRC_DECLARE

#define TRC_DECLARE(routine, ...)                                                                                                \
    template <Scalar T> Index routine(const KernelProvider& kernels, TRC_ARGUMENTS_##routine(TRC_TYPED));
TRC_TASK_ROUTINES(TRC_DECLARE)
TRC_SCALING_ROUTINES(TRC_DECLARE)
#undef TRC_DECLARE
/// `work`: what LAPACK's first array of work is, or null, and it comes from the heap.
#define TRC_DECLARE(routine, ...)                                                                                                \
    template <Scalar T> Index routine(const KernelProvider& kernels, TRC_ARGUMENTS_##routine(TRC_TYPED), T* work = nullptr);
TRC_CONDITION_ROUTINES(TRC_DECLARE)
TRC_EXPERT_ROUTINES(TRC_DECLARE)
#undef TRC_DECLARE
#define TRC_DECLARE(function, ...)                                                                                               \
    template <Scalar T> Real<T> function(TRC_ARGUMENTS_##function(TRC_TYPED), Real<T>* work = nullptr);
TRC_NORM_ROUTINES(TRC_DECLARE)
#undef TRC_DECLARE

/// Batches, as those of linear_algebra.hpp; nrhs = 0: they are only factored.
template <Scalar T>
void gesv_batch(const KernelProvider& kernels, Index n, Index nrhs, T* A, Index lda, Index stride_a, Index* ipiv, T* B, Index ldb,
                Index stride_b, Index count, Index* info);
template <Scalar T>
void posv_batch(const KernelProvider& kernels, Uplo uplo, Index n, Index nrhs, T* A, Index lda, Index stride_a, T* B, Index ldb,
                Index stride_b, Index count, Index* info);

} // namespace trencadis::alone
