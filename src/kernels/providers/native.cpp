#include "base/lasting.hpp"
#include "blas/factorizations/lu.hpp"
#include "blas/level3/level3.hpp"
#include "blas/micro/micro_kernel.hpp"
#include "kernels/providers/provider.hpp"

#include <dlfcn.h>

namespace trencadis {
namespace {

/// Ours: plain calls, nothing to open and nothing to verify.
template <Scalar T> class NativeRoutines final : public Routines<T> {
    using R = Real<T>;

public:
    void gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const override
    {
        blas::gemm(op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    void symm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const override
    {
        blas::symm(side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    void hemm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const override
    {
        blas::hemm(side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    void syrk(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc) const override
    {
        blas::syrk(uplo, op, n, k, alpha, A, lda, beta, C, ldc);
    }
    void herk(Uplo uplo, Op op, Index n, Index k, R alpha, const T* A, Index lda, R beta, T* C, Index ldc) const override
    {
        blas::herk(uplo, op, n, k, alpha, A, lda, beta, C, ldc);
    }
    void syr2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
               Index ldc) const override
    {
        blas::syr2k(uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    void her2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, R beta, T* C,
               Index ldc) const override
    {
        blas::her2k(uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    void trmm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
              Index ldb) const override
    {
        blas::trmm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
    }
    void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
              Index ldb) const override
    {
        blas::trsm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
    }
    Index potrf(Uplo uplo, Index n, T* A, Index lda) const override { return blas::potrf(uplo, n, A, lda); }
    Index getrf(Index m, Index n, T* A, Index lda, Index* pivots) const override { return blas::getrf(m, n, A, lda, pivots); }
};

/// "avx512 24x8": the instruction set and the block of C, in doubles, that the micro-kernel keeps in registers.
std::string version()
{
    const blas::InstructionSet& set = blas::instruction_set();
    return std::string(set.name) + " " + std::to_string(set.d.mr) + "x" + std::to_string(set.d.nr);
}

/// The file this code was loaded from.
std::string own_path()
{
    Dl_info self{};
    return dladdr(reinterpret_cast<void*>(&own_path), &self) && self.dli_fname ? self.dli_fname : "";
}

const KernelProvider& load()
{
    static constinit Lasting<const KernelProvider> provider;
    return provider.get([] {
        return new KernelProvider({"native", version(), own_path(), true}, routine_set<NativeRoutines>());
    });
}

} // namespace

extern const KernelProviderEntry kernel_provider_native{
    {"native", "our own level 3, Cholesky and LU, for the instruction set of this processor", "trencadis"}, load};

} // namespace trencadis
