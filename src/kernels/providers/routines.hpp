#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

namespace trencadis {

/// What a kernel provider computes.
enum class KernelRoutine : std::size_t { gemm, symm, hemm, syrk, herk, syr2k, her2k, trmm, trsm, potrf, getrf };
inline constexpr std::array<std::string_view, 11> kernel_routine_names{"gemm",  "symm", "hemm", "syrk",  "herk", "syr2k",
                                                                       "her2k", "trmm", "trsm", "potrf", "getrf"};

/// The routines in one precision, as one implementation computes them; KernelProvider says what each does. Every call computes on
/// the calling thread alone and may be made from several threads at once.
template <Scalar T> class Routines {
public:
    virtual ~Routines() = default;
    virtual void gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta,
                      T* C, Index ldc) const = 0;
    virtual void symm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
                      Index ldc) const = 0;
    virtual void hemm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
                      Index ldc) const = 0;
    virtual void syrk(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc) const = 0;
    virtual void herk(Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C,
                      Index ldc) const = 0;
    virtual void syr2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
                       Index ldc) const = 0;
    virtual void her2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, Real<T> beta,
                       T* C, Index ldc) const = 0;
    virtual void trmm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
                      Index ldb) const = 0;
    virtual void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
                      Index ldb) const = 0;
    virtual Index potrf(Uplo uplo, Index n, T* A, Index lda) const = 0;
    virtual Index getrf(Index m, Index n, T* A, Index lda, Index* pivots) const = 0;
};

/// One implementation in the four precisions.
struct RoutineSet {
    std::unique_ptr<const Routines<float>> s;
    std::unique_ptr<const Routines<double>> d;
    std::unique_ptr<const Routines<std::complex<float>>> c;
    std::unique_ptr<const Routines<std::complex<double>>> z;
};

/// `Implementation<T>` for the four scalars, each made from `arguments`.
template <template <class> class Implementation, class... Arguments> RoutineSet routine_set(const Arguments&... arguments)
{
    return {std::make_unique<const Implementation<float>>(arguments...),
            std::make_unique<const Implementation<double>>(arguments...),
            std::make_unique<const Implementation<std::complex<float>>>(arguments...),
            std::make_unique<const Implementation<std::complex<double>>>(arguments...)};
}

} // namespace trencadis
