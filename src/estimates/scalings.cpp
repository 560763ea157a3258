#include "estimates/scalings.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace trencadis::estimates {
namespace {

template <Scalar T> Real<T> size_of(T value)
{
    if constexpr (is_complex<T>) return std::abs(value.real()) + std::abs(value.imag());
    else return std::abs(value);
}

/// Sizes of rows or columns, which become factors.
template <class R> struct Sizes {
    static constexpr R least = std::numeric_limits<R>::min(), most = 1 / least;
    Index count;
    R* size;

    /// To the power of two that is nearest towards one, as LAPACK's logarithms have it.
    static R power(R value)
    {
        if (!(value > 0) || !std::isfinite(value)) return value;
        int exponent = 0;
        const R fraction = std::frexp(value, &exponent); // in [1/2, 1)
        if (exponent > 0 || fraction == R(0.5)) --exponent;
        return std::ldexp(R(1), exponent);
    }
    void make_powers() const { std::transform(size, size + count, size, power); }
    R largest() const { return *std::max_element(size, size + count); }
    /// The number of the first zero, from 1; or 0, and the sizes have become factors, `condition` the ratio of the extremes.
    Index invert(R* condition) const
    {
        R smallest = most, greatest = 0;
        for (Index i = 0; i < count; ++i) smallest = std::min(smallest, size[i]), greatest = std::max(greatest, size[i]);
        if (smallest == 0) return std::find(size, size + count, R(0)) - size + 1;
        for (Index i = 0; i < count; ++i) size[i] = 1 / std::min(std::max(size[i], least), most);
        *condition = greatest > 0 ? std::max(smallest, least) / std::min(greatest, most) : std::numeric_limits<R>::quiet_NaN();
        return 0;
    }
};

/// The sizes of rows and columns pass over NaNs as LAPACK's mostly do; but what has nothing else is not zero. `size`, unless it
/// is zero and one of `count` elements is a NaN. Others may be there, where scaled they were too small: such a size stays zero.
template <Scalar T> Real<T> zero_or_nan(Real<T> size, const T* a, Index count, Index stride)
{
    for (Index i = 0; size == 0 && i < count; ++i)
        if (const Real<T> other = size_of(a[i * stride]); std::isnan(other)) return other;
    return size;
}

} // namespace

template <Scalar T>
Index geequ(Factors factors, Index m, Index n, const T* A, Index lda, Real<T>* r, Real<T>* c, Real<T>* rowcnd, Real<T>* colcnd,
            Real<T>* amax)
{
    using R = Real<T>;
    if (m == 0 || n == 0) return *rowcnd = *colcnd = 1, *amax = 0, 0;
    const Sizes<R> rows{m, r}, columns{n, c};
    std::fill_n(r, m, R(0));
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) r[i] = std::max(r[i], size_of(A[i + j * lda]));
    for (Index i = 0; i < m; ++i) r[i] = zero_or_nan(r[i], A + i, n, lda);
    if (factors == Factors::powers) rows.make_powers();
    *amax = rows.largest();
    if (const Index zero = rows.invert(rowcnd)) return zero;
    for (Index j = 0; j < n; ++j) {
        R size = 0;
        for (Index i = 0; i < m; ++i) size = std::max(size, size_of(A[i + j * lda]) * r[i]);
        c[j] = zero_or_nan(size, A + j * lda, m, 1);
    }
    if (factors == Factors::powers) columns.make_powers();
    const Index zero = columns.invert(colcnd);
    return zero ? m + zero : 0;
}

template <Scalar T> Index poequ(Factors factors, Index n, const T* A, Index lda, Real<T>* s, Real<T>* scond, Real<T>* amax)
{
    using R = Real<T>;
    if (n == 0) return *scond = 1, *amax = 0, 0;
    for (Index i = 0; i < n; ++i) s[i] = std::real(A[i + i * lda]);
    const R smallest = *std::min_element(s, s + n);
    *amax = *std::max_element(s, s + n);
    for (Index i = 0; i < n; ++i)
        if (s[i] <= 0) return i + 1;
    for (Index i = 0; i < n; ++i)
        s[i] =
            factors == Factors::exact || !std::isfinite(s[i]) ? 1 / std::sqrt(s[i]) : std::ldexp(R(1), int(-std::log2(s[i]) / 2));
    *scond = std::sqrt(smallest) / std::sqrt(*amax);
    return 0;
}

namespace {

/// Are factors with that ratio of the smallest to the largest worth the while?
template <class R> bool uneven(R ratio) { return !(ratio >= R(0.1)); }
template <class R> bool extreme(R amax)
{
    constexpr R least = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
    return !(amax >= least && amax <= 1 / least);
}

} // namespace

template <Scalar T>
char scale(Index m, Index n, T* A, Index lda, const Real<T>* r, const Real<T>* c, Real<T> rowcnd, Real<T> colcnd, Real<T> amax)
{
    if (m <= 0 || n <= 0) return 'N';
    const bool rows = uneven(rowcnd) || extreme(amax), columns = uneven(colcnd);
    if (!rows && !columns) return 'N';
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) A[i + j * lda] *= (columns ? c[j] : 1) * (rows ? r[i] : 1);
    return rows && columns ? 'B' : rows ? 'R' : 'C';
}

template <Scalar T> char scale(Uplo uplo, Index n, T* A, Index lda, const Real<T>* s, Real<T> scond, Real<T> amax)
{
    if (n <= 0 || !(uneven(scond) || extreme(amax))) return 'N';
    for (Index j = 0; j < n; ++j) {
        const bool lower = uplo == Uplo::lower;
        for (Index i = lower ? j : 0; i < (lower ? n : j + 1); ++i) A[i + j * lda] *= s[j] * s[i];
        A[j + j * lda] = std::real(A[j + j * lda]);
    }
    return 'Y';
}

template <Scalar T> void scale_rows(Index m, Index n, T* A, Index lda, const Real<T>* r)
{
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) A[i + j * lda] *= r[i];
}

template <class R> R ratio_of(Index n, const R* factors)
{
    if (n == 0) return 1;
    const auto [smallest, largest] = std::minmax_element(factors, factors + n);
    return std::max(*smallest, Sizes<R>::least) / std::min(*largest, Sizes<R>::most);
}
template float ratio_of(Index, const float*);
template double ratio_of(Index, const double*);

#define TRC_INSTANTIATE(T)                                                                                                       \
    template char scale(Index, Index, T*, Index, const Real<T>*, const Real<T>*, Real<T>, Real<T>, Real<T>);                     \
    template char scale(Uplo, Index, T*, Index, const Real<T>*, Real<T>, Real<T>);                                               \
    template void scale_rows(Index, Index, T*, Index, const Real<T>*);                                                           \
    template Index geequ(Factors, Index, Index, const T*, Index, Real<T>*, Real<T>*, Real<T>*, Real<T>*, Real<T>*);              \
    template Index poequ(Factors, Index, const T*, Index, Real<T>*, Real<T>*, Real<T>*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::estimates
