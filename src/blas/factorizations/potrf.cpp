#include "blas/level3/control_tree.hpp"
#include "blas/level3/helpers.hpp"
#include "blas/level3/level3.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

template <Scalar T> Index factor_small(Uplo uplo, Index n, T* A, Index lda)
{
    constexpr Index line = 64 / Index(sizeof(T));
    Real<T>* const work = scratch<Real<T>>(Buffer::factor, planes<T> * (n * ((n + line - 1) / line * line) + line));
    return micro_kernel<T>().factor_triangle({n, A, lda, uplo == Uplo::lower, work});
}

/// A triangle seen as a lower one.
template <Scalar T> struct Seen {
    Uplo uplo;
    Index lda;
    bool lower() const { return uplo == Uplo::lower; }
    T* at(T* A, Index i, Index j) const { return lower() ? A + i + j * lda : A + j + i * lda; }

    /// A21 <- A21 L11^-H, m x k.
    void solve(Index m, Index k, const T* L11, T* A21) const
    {
        if (lower()) trsm(Side::right, uplo, herm_op<T>, Diag::non_unit, m, k, T(1), L11, lda, A21, lda);
        else trsm(Side::left, uplo, herm_op<T>, Diag::non_unit, k, m, T(1), L11, lda, A21, lda);
    }
    /// Rows [first, first + count) of A22 <- A22 - A21 A21^H.
    void update(Index first, Index count, Index k, T* A21, T* A22) const
    {
        const T* const own = at(A21, first, 0);
        if (lower()) {
            gemm(Op::none, herm_op<T>, count, first, k, T(-1), own, lda, A21, lda, T(1), at(A22, first, 0), lda);
            herk(uplo, Op::none, count, k, Real<T>(-1), own, lda, Real<T>(1), at(A22, first, first), lda);
        } else {
            gemm(herm_op<T>, Op::none, first, count, k, T(-1), A21, lda, own, lda, T(1), at(A22, first, 0), lda);
            herk(uplo, herm_op<T>, count, k, Real<T>(-1), own, lda, Real<T>(1), at(A22, first, first), lda);
        }
    }
};

/// Orders that are factored in steps of about so many columns, each of which updates all that is behind it at once. Larger ones,
/// which have tasks otherwise, go by halves down to these, so that what is behind is not read and written as often.
constexpr Index least_stepped = 513, largest_stepped = 2048, step = 240;

template <Scalar T> class Cholesky {
public:
    /// `helpers` outlive it.
    Cholesky(Uplo uplo, Index lda, const Helpers& helpers) : seen_{uplo, lda}, uplo_(uplo), lda_(lda), helpers_(helpers) {}

    /// By halves, or in steps, down to small triangles.
    Index factor(Index n, T* A) const
    {
        if (n <= most_in_triangle) return factor_small(uplo_, n, A, lda_);
        if (n >= least_stepped && n <= largest_stepped) return factor_in_steps(n, width_of_steps(n), A);
        const Index unit = n > 3 * most_in_triangle ? 64 : 8, n1 = (n / 2 + unit - 1) / unit * unit;
        if (const Index info = factor_first(n, n1, A)) return info;
        const Index info = factor(n - n1, A + n1 * (lda_ + 1));
        return info ? info + n1 : 0;
    }

    Index factor_in_steps(Index n, Index width, T* A) const
    {
        for (Index k = 0; k < n; k += width)
            if (const Index info = factor_first(n - k, std::min(width, n - k), A + k * (lda_ + 1))) return info + k;
        return 0;
    }

private:
    static Index width_of_steps(Index n)
    {
        constexpr Index unit = 24;
        const Index steps = (n + step - 1) / step;
        return ((n + steps - 1) / steps + unit - 1) / unit * unit;
    }

    /// The first n1 columns of n, and the rest as it is without them.
    Index factor_first(Index n, Index n1, T* A) const
    {
        if (const Index info = factor(n1, A)) return info;
        const Index n2 = n - n1;
        if (n2 == 0) return 0;
        T *const A21 = seen_.at(A, n1, 0), *const A22 = A + n1 * (lda_ + 1);
        const Flops flops = (is_complex<T> ? 4.0 : 1.0) * double(n1) * double(n1) * double(n2);
        const Bytes element = sizeof(T), panel = element * double(n1 * n2);
        in_slices(helpers_, {n2, flops, element * double(n1 * n1) / 2, panel},
                  [&](Index first, Index count) { seen_.solve(count, n1, A, seen_.at(A21, first, 0)); });
        in_slices(helpers_, {n2, flops * double(n2) / double(n1), panel, element * double(n2 * n2) / 2},
                  [&](Index first, Index count) { seen_.update(first, count, n1, A21, A22); });
        return 0;
    }

    const Seen<T> seen_;
    const Uplo uplo_;
    const Index lda_;
    const Helpers& helpers_;
};

} // namespace

template <Scalar T> Index potrf(Uplo uplo, Index n, T* A, Index lda, const Helpers& helpers)
{
    return n <= 0 ? 0 : Cholesky<T>(uplo, lda, helpers).factor(n, A);
}
template <Scalar T> Index potrf_in_steps(Uplo uplo, Index n, Index width, T* A, Index lda)
{
    return Cholesky<T>(uplo, lda, {}).factor_in_steps(n, width, A);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index potrf(Uplo, Index, T*, Index, const Helpers&);                                                                \
    template Index potrf_in_steps(Uplo, Index, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
