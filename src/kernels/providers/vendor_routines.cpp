#include "base/error.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/providers/vendor_library.hpp"
#include "kernels/tiles/recursive_getrf.hpp"
#include "kernels/tiles/recursive_potrf.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace trencadis {
namespace {

/// The calling thread's vendor thread count is 1 while this lives; costs nothing for libraries set up once.
class OneThread {
public:
    explicit OneThread(const VendorLibrary& library) : swap_(library.swap_local_threads), previous_(swap_ ? swap_(1) : 0) {}
    ~OneThread()
    {
        if (swap_) swap_(previous_);
    }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

private:
    int (*swap_)(int);
    int previous_;
};

/// A size in the library's integers.
template <class Int> struct Narrow {
    Int value;
    explicit Narrow(Index size) : value(Int(size))
    {
        if (size > Index(std::numeric_limits<Int>::max()))
            throw Error(ErrorCode::environment,
                        "a size of " + std::to_string(size) + " is beyond the 32-bit integers of this kernel library");
    }
    operator const Int*() const { return &value; }
};

/// Calls `function` with Fortran's convention: flags and scalars by address, sizes as the library's integers.
template <class Int, class... Arguments> void call_as(void* function, const Arguments&... arguments)
{
    const auto pass = []<class A>(const A& argument) {
        if constexpr (std::same_as<A, Index>) return Narrow<Int>(argument);
        else if constexpr (std::is_enum_v<A>) return reinterpret_cast<const char*>(&argument);
        else return argument;
    };
    const auto invoke = [function](const auto&... passed) {
        const auto decay = []<class P>(const P& p) {
            if constexpr (std::same_as<P, Narrow<Int>>) return static_cast<const Int*>(p);
            else return p;
        };
        reinterpret_cast<void (*)(decltype(decay(passed))...)>(function)(decay(passed)...);
    };
    invoke(pass(arguments)...);
}

template <class... Arguments> void call(const VendorLibrary& library, void* function, const Arguments&... arguments)
{
    const OneThread guard(library);
    if (library.wide) call_as<std::int64_t>(function, arguments...);
    else call_as<std::int32_t>(function, arguments...);
}

/// The letter a real routine takes for this operation: it knows no conjugation.
template <Scalar T> Op real_op(Op op) { return is_complex<T> || op == Op::none ? op : Op::trans; }

template <class Int>
Index potrf_as(const VendorLibrary& library, void* function, Uplo uplo, const Narrow<Int>& n, void* A, const Narrow<Int>& lda)
{
    const OneThread guard(library);
    Int info = 0;
    reinterpret_cast<void (*)(const char*, const Int*, void*, const Int*, Int*)>(function)(reinterpret_cast<const char*>(&uplo),
                                                                                           n, A, lda, &info);
    return info;
}

/// The library's integers are written into the front of `pivots` and widened from the last to the first.
template <class Int>
Index getrf_as(const VendorLibrary& library, void* function, const Narrow<Int>& m, const Narrow<Int>& n, void* A,
               const Narrow<Int>& lda, Index* pivots)
{
    const OneThread guard(library);
    Int info = 0;
    reinterpret_cast<void (*)(const Int*, const Int*, void*, const Int*, Int*, Int*)>(function)(
        m, n, A, lda, reinterpret_cast<Int*>(pivots), &info);
    for (Index i = std::min<Index>(m.value, n.value); i-- > 0;) {
        Int pivot = 0;
        std::memcpy(&pivot, reinterpret_cast<const char*>(pivots) + std::size_t(i) * sizeof(Int), sizeof(Int));
        pivots[i] = pivot;
    }
    return info;
}

/// Position from 1 of the first diagonal entry that is not a number, 0 if none: some libraries let NaN pass as a pivot.
template <Scalar T> Index first_nan_pivot(Index n, const T* A, Index lda)
{
    for (Index j = 0; j < n; ++j)
        if (std::isnan(std::real(A[j + j * lda]))) return j + 1;
    return 0;
}

/// A vendor's routines behind ours.
template <Scalar T> class VendorRoutines final : public Routines<T> {
    using R = Real<T>;
    static constexpr int p = precision<T>;

public:
    explicit VendorRoutines(const std::shared_ptr<const VendorLibrary>& library) : library_(library) {}

    void gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const override
    {
        call(*library_, library_->gemm[p], op_a, op_b, m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
    }
    void symm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const override
    {
        if (alpha == T(0)) return scale(m, n, beta, C, ldc);
        call(*library_, library_->symm[p], side, uplo, m, n, &alpha, A, lda, B, ldb, &beta, C, ldc);
    }
    void hemm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
              Index ldc) const override
    {
        if (alpha == T(0)) return scale(m, n, beta, C, ldc);
        call(*library_, library_->hemm[p], side, uplo, m, n, &alpha, A, lda, B, ldb, &beta, C, ldc);
    }
    void syrk(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, T beta, T* C, Index ldc) const override
    {
        call(*library_, library_->syrk[p], uplo, op, n, k, &alpha, A, lda, &beta, C, ldc);
    }
    void herk(Uplo uplo, Op op, Index n, Index k, R alpha, const T* A, Index lda, R beta, T* C, Index ldc) const override
    {
        call(*library_, library_->herk[p], uplo, real_op<T>(op), n, k, &alpha, A, lda, &beta, C, ldc);
    }
    void syr2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, T beta, T* C,
               Index ldc) const override
    {
        call(*library_, library_->syr2k[p], uplo, op, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
    }
    void her2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* A, Index lda, const T* B, Index ldb, R beta, T* C,
               Index ldc) const override
    {
        call(*library_, library_->her2k[p], uplo, real_op<T>(op), n, k, &alpha, A, lda, B, ldb, &beta, C, ldc);
    }
    void trmm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
              Index ldb) const override
    {
        call(*library_, library_->trmm[p], side, uplo, op, diag, m, n, &alpha, A, lda, B, ldb);
    }
    void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* A, Index lda, T* B,
              Index ldb) const override
    {
        call(*library_, library_->trsm[p], side, uplo, op, diag, m, n, &alpha, A, lda, B, ldb);
    }
    Index potrf(Uplo uplo, Index n, T* A, Index lda) const override
    {
        void* const function = library_->potrf[p];
        Index info = 0;
        if (!function) info = recursive_potrf(*this, uplo, n, A, lda);
        else if (library_->wide)
            info = potrf_as<std::int64_t>(*library_, function, uplo, Narrow<std::int64_t>(n), A, Narrow<std::int64_t>(lda));
        else info = potrf_as<std::int32_t>(*library_, function, uplo, Narrow<std::int32_t>(n), A, Narrow<std::int32_t>(lda));
        const Index leading = info ? info - 1 : n;
        const Index nan = first_nan_pivot(leading, A, lda);
        return nan ? nan : info;
    }
    Index getrf(Index m, Index n, T* A, Index lda, Index* pivots) const override
    {
        void* const function = library_->getrf[p];
        if (!function) return recursive_getrf(*this, m, n, A, lda, pivots);
        return library_->wide ? factor<std::int64_t>(function, m, n, A, lda, pivots)
                              : factor<std::int32_t>(function, m, n, A, lda, pivots);
    }

private:
    template <class Int> Index factor(void* function, Index m, Index n, T* A, Index lda, Index* pivots) const
    {
        return getrf_as<Int>(*library_, function, Narrow<Int>(m), Narrow<Int>(n), A, Narrow<Int>(lda), pivots);
    }
    /// C <- beta C as a product without depth. For alpha = 0, where MKL 2026.2's symm reads A and B and lets their NaN through.
    void scale(Index m, Index n, T beta, T* C, Index ldc) const
    {
        gemm(Op::none, Op::none, m, n, 0, T(0), C, ldc, C, ldc, beta, C, ldc);
    }
    std::shared_ptr<const VendorLibrary> library_;
};

} // namespace

const KernelProvider& lasting_provider(std::unique_ptr<VendorLibrary> library)
{
    const std::shared_ptr<const VendorLibrary> shared = std::move(library);
    return *new KernelProvider({shared->name, shared->version, shared->path, false}, routine_set<VendorRoutines>(shared));
}

} // namespace trencadis
