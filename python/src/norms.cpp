#include "norms.hpp"

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

template <Scalar T> Real<T> sum_of_abs(const std::vector<T>& x)
{
    Real<T> sum = 0;
    for (const T& value : x) sum += std::abs(value);
    return sum;
}

template <Scalar T> std::size_t place_of_largest(const std::vector<T>& x)
{
    return static_cast<std::size_t>(
        std::max_element(x.begin(), x.end(), [](const T& a, const T& b) { return std::abs(a) < std::abs(b); }) - x.begin());
}

template <Scalar T> T sign(T value)
{
    if constexpr (is_complex<T>) {
        const Real<T> size = std::abs(value);
        return size > std::numeric_limits<Real<T>>::min() ? value / size : T(1);
    } else {
        return std::signbit(value) ? T(-1) : T(1);
    }
}

/// Hager's search for the column of A^-1 with the largest sum: a local maximum of |A^-1 x|_1 over the corners of the unit ball.
template <Scalar T> class InverseNorm {
public:
    InverseNorm(Index n, const std::function<void(T*, bool)>& solve)
        : solve_(solve), x_(static_cast<std::size_t>(n)), signs_(static_cast<std::size_t>(n))
    {
    }
    Real<T> estimate()
    {
        std::fill(x_.begin(), x_.end(), T(1) / T(Real<T>(x_.size())));
        solve_(x_.data(), false);
        norm_ = sum_of_abs(x_);
        if (x_.size() > 1 && climb()) try_alternating();
        return std::isfinite(norm_) ? norm_ : std::numeric_limits<Real<T>>::infinity();
    }

private:
    /// False where a solution overflowed.
    bool climb()
    {
        constexpr int most_steps = 5;
        take_signs();
        std::size_t place = gradient();
        for (int step = 1; step < most_steps && std::isfinite(norm_); ++step) {
            std::fill(x_.begin(), x_.end(), T(0));
            x_[place] = T(1);
            solve_(x_.data(), false);
            const Real<T> sum = sum_of_abs(x_);
            const bool higher = !(sum <= norm_); // what is not finite ends the search, as an infinite norm
            norm_ = higher ? sum : norm_;
            if (!take_signs() || !higher || !std::isfinite(norm_)) break;
            const std::size_t next = gradient();
            if (std::abs(x_[next]) == std::abs(x_[place])) break;
            place = next;
        }
        return std::isfinite(norm_);
    }
    /// Whether the signs of x are others than the last ones. Complex signs hardly ever repeat.
    bool take_signs()
    {
        bool changed = false;
        for (std::size_t i = 0; i < x_.size(); ++i) {
            const T now = sign(x_[i]);
            changed |= now != signs_[i];
            signs_[i] = now;
        }
        return changed;
    }
    std::size_t gradient()
    {
        std::copy(signs_.begin(), signs_.end(), x_.begin());
        solve_(x_.data(), true);
        return place_of_largest(x_);
    }
    /// A vector of another kind, against matrices made to mislead the search.
    void try_alternating()
    {
        const auto n = static_cast<Real<T>>(x_.size());
        for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = T((i % 2 == 0 ? 1 : -1) * (1 + static_cast<Real<T>>(i) / (n - 1)));
        solve_(x_.data(), false);
        const Real<T> other = 2 * sum_of_abs(x_) / (3 * n);
        if (!(other <= norm_)) norm_ = other;
    }

    const std::function<void(T*, bool)>& solve_;
    std::vector<T> x_, signs_;
    Real<T> norm_ = 0;
};

} // namespace

template <Scalar T> Real<T> norm1(Session& session, const Strided& A)
{
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

template <Scalar T> Real<T> triangle_norm1(const Strided& A, Uplo uplo)
{
    const bool upper = uplo == Uplo::upper;
    std::vector<Real<T>> sums(static_cast<std::size_t>(A.cols));
    const bool by_rows = std::abs(A.col_stride) < std::abs(A.row_stride);
    const Strided m = by_rows ? A.transposed() : A; // along the memory
    for (Index j = 0; j < m.cols; ++j)
        for (Index i = upper == by_rows ? j : 0; i < (upper == by_rows ? m.rows : j + 1); ++i)
            sums[static_cast<std::size_t>(by_rows ? i : j)] += std::abs(element<T>(m, i, j));
    return largest(sums);
}

template <Scalar T> Real<T> inverse_norm1(Index n, const std::function<void(T*, bool)>& solve)
{
    return InverseNorm<T>(n, solve).estimate();
}

template <class R> R reciprocal_condition(R norm, R inverse_norm)
{
    if (std::isnan(norm)) return norm;
    const R reciprocal = 1 / inverse_norm / norm;
    return std::isfinite(reciprocal) ? reciprocal : R(0);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Real<T> norm1<T>(Session&, const Strided&);                                                                         \
    template Real<T> norm1_of_triangle<T>(const Strided&, Uplo);                                                                 \
    template Real<T> triangle_norm1<T>(const Strided&, Uplo);                                                                    \
    template Real<T> inverse_norm1<T>(Index, const std::function<void(T*, bool)>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE
template float reciprocal_condition<float>(float, float);
template double reciprocal_condition<double>(double, double);

} // namespace trencadis::python
