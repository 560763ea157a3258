#pragma once
#include "base/registry.hpp"
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trencadis {

struct VendorLibrary; // kernels/vendor_library.hpp

/// A sequential BLAS and LAPACK in s, d, c, z, found when the program runs: nothing is linked against a vendor.
/// Matrices are column-major. Every call computes on the calling thread alone, which loading has verified, and may be made
/// from several threads at once. Sizes beyond the library's integers throw Error{environment}.
class KernelProvider {
public:
    explicit KernelProvider(std::unique_ptr<VendorLibrary> library);
    ~KernelProvider();
    KernelProvider(const KernelProvider&) = delete;
    KernelProvider& operator=(const KernelProvider&) = delete;

    const std::string& name() const;    ///< the registry's word: "openblas", ...
    const std::string& version() const; ///< what the library says of itself
    const std::string& path() const;    ///< the file it was opened from

    /// C <- alpha op(A) op(B) + beta C, C m x n. 2 m n k flops (8 complex).
    template <Scalar T>
    void gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const;
    /// C <- alpha op(A) op(A)^T + beta C in one triangle of C, n x n; op is none or trans.
    template <Scalar T>
    void syrk(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc) const;
    /// C <- alpha op(A) op(A)^H + beta C in one triangle of C, n x n; op is none or conj_trans (real: or trans).
    template <Scalar T>
    void herk(Uplo uplo, Op op, Index n, Index k, Real<T> alpha, const T* A, Index lda, Real<T> beta, T* C, Index ldc) const;
    /// B <- alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), B m x n, A triangular.
    template <Scalar T>
    void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B, Index ldb) const;
    /// A <- its Cholesky factor in one triangle. Returns LAPACK's info (0, or the order of the leading minor that is
    /// not positive definite).
    template <Scalar T> Index potrf(Uplo uplo, Index n, T* A, Index lda) const;
    /// B <- A^-1 B with the factor that potrf left in A; B n x nrhs.
    template <Scalar T> void potrs(Uplo uplo, Index n, Index nrhs, const T* A, Index lda, T* B, Index ldb) const;

private:
    std::unique_ptr<VendorLibrary> library_;
};

/// A provider on the build list (cmake: one word, one file `kernels/<word>.cpp` that defines `kernel_provider_<word>`).
struct KernelProviderEntry : Entry {
    /// Finds, opens and checks the library at the first call, from any thread; later calls return the same object. Throws
    /// Error{missing_backend} that names the paths tried, or says why the library cannot be used.
    const KernelProvider& (*load)();
};

/// All providers of this build; generated from the build list.
std::span<const KernelProviderEntry* const> kernel_provider_entries();

/// The provider called `name`, loaded. Throws Error{bad_argument} for an unknown name, else as its `load`.
const KernelProvider& load_kernels(std::string_view name);

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
