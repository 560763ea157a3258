#include "norms.hpp"

#include "drivers/linear_algebra.hpp"
#include "passes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace trencadis::python {
namespace {

template <Scalar T> const T& element(const Strided& m, Index i, Index j)
{
    return static_cast<const T*>(m.data)[i * m.row_stride + j * m.col_stride];
}

/// |z| without hypot's care, which takes ten times as long; who adds many of them up looks whether that did harm.
template <Scalar T> Real<T> quick_abs(T z)
{
    if constexpr (is_complex<T>) return std::sqrt(z.real() * z.real() + z.imag() * z.imag());
    else return std::abs(z);
}

template <Scalar T, class Abs> Real<T> column_sum(const Strided& A, Index j, Abs abs)
{
    Real<T> sum = 0;
    for (Index i = 0; i < A.rows; ++i) sum += abs(element<T>(A, i, j));
    return sum;
}

template <Scalar T> Real<T> column_norm(const Strided& A, Index j)
{
    const Real<T> sum = column_sum<T>(A, j, quick_abs<T>);
    if constexpr (!is_complex<T>) return sum;
    // Squares overflow, and vanish below the root of the least number.
    const bool harmless = sum > std::sqrt(std::numeric_limits<Real<T>>::min()) && std::isfinite(sum);
    return harmless ? sum : column_sum<T>(A, j, [](T z) { return std::abs(z); });
}

/// The largest; a NaN where there is one.
template <class R> R largest(const std::vector<R>& values)
{
    R most = 0;
    for (const R value : values) {
        if (std::isnan(value)) return value;
        most = std::max(most, value);
    }
    return most;
}

} // namespace

template <Scalar T> Real<T> norm1(Session& session, const Strided& A)
{
    if (A.column_major()) return lange(session, Norm::one, A.rows, A.cols, static_cast<const T*>(A.data), A.leading());
    if (A.row_major()) return lange(session, Norm::inf, A.cols, A.rows, static_cast<const T*>(A.data), A.transposed().leading());
    std::vector<Real<T>> sums(static_cast<std::size_t>(A.cols));
    over_columns(session, "norm", A.rows, A.cols, [&](Index first, Index last) {
        for (Index j = first; j < last; ++j) sums[static_cast<std::size_t>(j)] = column_norm<T>(A, j);
    });
    return largest(sums);
}

template <Scalar T> Real<T> norm1_of_triangle(const Strided& A, Uplo uplo)
{
    const Strided upper = uplo == Uplo::upper ? A : A.transposed(); // of the same norm
    std::vector<Real<T>> sums(static_cast<std::size_t>(A.cols));
    for (Index j = 0; j < upper.cols; ++j)
        for (Index i = 0; i <= j; ++i) {
            const Real<T> size = std::abs(element<T>(upper, i, j));
            sums[static_cast<std::size_t>(j)] += size;
            if (i != j) sums[static_cast<std::size_t>(i)] += size;
        }
    return largest(sums);
}

template <class R> R reciprocal_condition(R norm, R inverse_norm)
{
    if (std::isnan(norm)) return norm;
    const R reciprocal = 1 / inverse_norm / norm;
    return std::isfinite(reciprocal) ? reciprocal : R(0);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Real<T> norm1<T>(Session&, const Strided&);                                                                         \
    template Real<T> norm1_of_triangle<T>(const Strided&, Uplo);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE
template float reciprocal_condition<float>(float, float);
template double reciprocal_condition<double>(double, double);

} // namespace trencadis::python
