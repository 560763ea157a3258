#pragma once
#include "base/registry.hpp"
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "blas/factorizations/lu.hpp"
#include "graph/codelet.hpp"
#include "kernels/providers/routines.hpp"
#include "matrix/ops.hpp"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

namespace trencadis {

/// The sequential level 3 BLAS, Cholesky and LU factorizations in s, d, c, z that tile operations are made of: ours, or those of
/// a library that is found when the program runs (nothing is linked against a vendor), or each routine from another. Matrices are
/// column-major. Every call computes on the calling thread alone, which loading has verified, and may be made from several
/// threads at once. Sizes beyond a library's integers throw Error{environment}.
class KernelProvider final : public Kernels {
public:
    /// What a provider says of itself.
    struct About {
        std::string name;    ///< the registry's word: "native", "openblas", ...; of a mixture its text
        std::string version; ///< our instruction set and block sizes, or what the library says of itself
        std::string path;    ///< the file the code is in
        bool native = false; ///< our own level 3
    };
    /// One routine of a mixture and who computes it.
    struct Choice {
        KernelRoutine routine;
        const KernelProvider* provider;
    };

    KernelProvider(About about, RoutineSet routines);
    /// `base` but for the routines in `choices`; all of them outlive this object. In real numbers hemm, herk and her2k are symm,
    /// syrk and syr2k, and go with these unless they are chosen themselves.
    KernelProvider(std::string name, const KernelProvider& base, std::span<const Choice> choices);
    KernelProvider(const KernelProvider&) = delete;
    KernelProvider& operator=(const KernelProvider&) = delete;

    const std::string& name() const { return about_.name; }
    const std::string& version() const { return about_.version; }
    const std::string& path() const { return about_.path; }
    /// The routine is that of src/blas in all precisions, so that what replaces it on packed tiles is what was asked for.
    bool native(KernelRoutine routine) const { return native_[static_cast<std::size_t>(routine)]; }
    /// gemm, syrk, herk and trsm are, of which nearly all of the work is made.
    bool native() const;

    /// C <- alpha op(A) op(B) + beta C, C m x n. 2 m n k flops (8 complex).
    template <Scalar T>
    void gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const
    {
        from<T>(KernelRoutine::gemm).gemm(op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    /// C <- alpha A B + beta C (left) or alpha B A + beta C (right), A symmetric with the triangle `uplo` stored, C m x n.
    template <Scalar T>
    void symm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const
    {
        from<T>(KernelRoutine::symm).symm(side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    /// The same for a Hermitian A.
    template <Scalar T>
    void hemm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const
    {
        from<T>(KernelRoutine::hemm).hemm(side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    /// C <- alpha op(A) op(A)^T + beta C in one triangle of C, n x n; op is none or trans.
    template <Scalar T>
    void syrk(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc) const
    {
        from<T>(KernelRoutine::syrk).syrk(uplo, op, n, k, alpha, A, lda, beta, C, ldc);
    }
    /// C <- alpha op(A) op(A)^H + beta C in one triangle of C, n x n; op is none or conj_trans (real: or trans).
    template <Scalar T>
    void herk(Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C, Index ldc) const
    {
        from<T>(KernelRoutine::herk).herk(uplo, op, n, k, alpha, A, lda, beta, C, ldc);
    }
    /// C <- alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C in one triangle of C, n x n; op is none or trans.
    template <Scalar T>
    void syr2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
               Index ldc) const
    {
        from<T>(KernelRoutine::syr2k).syr2k(uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    /// C <- alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C in one triangle; op is none or conj_trans (real: or trans).
    template <Scalar T>
    void her2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, Real<T> beta, T* C,
               Index ldc) const
    {
        from<T>(KernelRoutine::her2k).her2k(uplo, op, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    }
    /// B <- alpha op(A) B (left) or alpha B op(A) (right), B m x n, A triangular.
    template <Scalar T>
    void trmm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb) const
    {
        from<T>(KernelRoutine::trmm).trmm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
    }
    /// B <- alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), B m x n, A triangular.
    template <Scalar T>
    void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb) const
    {
        from<T>(KernelRoutine::trsm).trsm(side, uplo, op, diag, m, n, alpha, A, lda, B, ldb);
    }
    /// A <- its Cholesky factor in one triangle. Returns LAPACK's info (0, or the order of the leading minor that is
    /// not positive definite).
    template <Scalar T> Index potrf(Uplo uplo, Index n, T* A, Index lda) const
    {
        return from<T>(KernelRoutine::potrf).potrf(uplo, n, A, lda);
    }
    /// B <- A^-1 B with the factor that potrf left in A; B n x nrhs.
    template <Scalar T> void potrs(Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb) const
    {
        const bool lower = uplo == Uplo::lower;
        trsm(Side::left, uplo, lower ? Op::none : herm_op<T>, Diag::non_unit, n, nrhs, T(1), A, lda, B, ldb);
        trsm(Side::left, uplo, lower ? herm_op<T> : Op::none, Diag::non_unit, n, nrhs, T(1), A, lda, B, ldb);
    }
    /// A = P L U in place, A m x n, with partial pivoting; pivots as LAPACK's ipiv. Returns LAPACK's info (0, or the number of
    /// the first pivot that is exactly zero; the factorization is complete). Row interchanges beside it are always ours
    /// (blas::laswp).
    template <Scalar T> Index getrf(Index m, Index n, T* A, Index lda, Index* pivots) const
    {
        return from<T>(KernelRoutine::getrf).getrf(m, n, A, lda, pivots);
    }
    /// B <- op(A)^-1 B with the factors that getrf left in A and `pivots`; B n x nrhs.
    template <Scalar T> void getrs(Op op, Index n, Index nrhs, const T* A, Index lda, const Index* pivots, T* B, Index ldb) const
    {
        const auto solve = [&](Uplo uplo, Diag diag) { trsm(Side::left, uplo, op, diag, n, nrhs, T(1), A, lda, B, ldb); };
        if (op == Op::none) {
            blas::laswp(nrhs, B, ldb, 0, n, pivots);
            solve(Uplo::lower, Diag::unit);
            return solve(Uplo::upper, Diag::non_unit);
        }
        solve(Uplo::upper, Diag::non_unit);
        solve(Uplo::lower, Diag::unit);
        blas::laswp(nrhs, B, ldb, 0, n, pivots, blas::Interchanges::backward);
    }

private:
    /// Who computes each routine.
    template <Scalar T> using Table = std::array<const Routines<T>*, kernel_routine_names.size()>;

    template <Scalar T> const Routines<T>& from(KernelRoutine routine) const
    {
        return *std::get<Table<T>>(tables_)[static_cast<std::size_t>(routine)];
    }

    void take(KernelRoutine routine, const KernelProvider& from);
    void take_real(KernelRoutine routine, const KernelProvider& from);

    About about_;
    RoutineSet own_; ///< none of a mixture
    std::array<bool, kernel_routine_names.size()> native_{};
    std::tuple<Table<float>, Table<double>, Table<std::complex<float>>, Table<std::complex<double>>> tables_{};
};

/// A provider on the build list (cmake: one word, one file `kernels/<word>.cpp` that defines `kernel_provider_<word>`).
struct KernelProviderEntry : Entry {
    /// Finds, opens and checks a library at the first call, from any thread; later calls return the same object. Throws
    /// Error{missing_backend} that names the paths tried, or says why the library cannot be used.
    const KernelProvider& (*load)();
};

/// All providers of this build; generated from the build list.
std::span<const KernelProviderEntry* const> kernel_provider_entries();

/// The kernels that `text` names, loaded: a provider such as "native", or one and others for single routines, as
/// "native,potrf=mkl,trsm=openblas". The same text gives the same object; it lives as long as the process. Throws
/// Error{bad_argument} for an unknown name, with the nearest, or a text of another form; else as a provider's `load`.
const KernelProvider& load_kernels(std::string_view text);

/// What `trencadis list kernels` shows: can it be used here, and which file and version, or why not.
struct KernelStatus {
    bool available;
    std::string version; ///< empty when not available
    std::string path;    ///< empty when not available
    std::string reason;  ///< empty when available
};
KernelStatus kernel_status(const KernelProviderEntry& entry);

/// A folder to look in first for vendor libraries, before the places a provider knows by itself. The Python package
/// gives its environment's folders. Only libraries loaded afterwards are affected.
void add_kernel_library_folder(const std::string& folder);

} // namespace trencadis
