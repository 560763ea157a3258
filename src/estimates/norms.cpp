#include "estimates/norms.hpp"

#include "base/float_modes.hpp"
#include "blas/control_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace trencadis::estimates {
namespace {

/// The larger one; a NaN where one of them is.
template <class R> R larger(R a, R b) { return a < b || std::isnan(b) ? b : a; }
template <class R> R largest(const std::vector<R>& values)
{
    R most = 0;
    for (const R value : values) most = larger(most, value);
    return most;
}

/// Some columns of a matrix.
template <Scalar T> struct Columns {
    using R = Real<T>;
    const Measured<T>& A;
    Index begin, end;
    const blas::ColumnKernel<T>& kernel = blas::setup<T>().kernel.columns;

    R on_diagonal(Index j) const
    {
        if (A.diagonal == Measured<T>::Diagonal::unit) return 1;
        const T value = A.A[j + j * A.lda];
        return A.diagonal == Measured<T>::Diagonal::real ? std::abs(std::real(value)) : std::abs(value);
    }
    /// visit(column, rows, first row, j) without the diagonal, and diagonal(|a_jj|, j).
    template <class Visit, class Diagonal> void each(const Visit& visit, const Diagonal& diagonal) const
    {
        for (Index j = begin; j < end; ++j) {
            const Index first = A.first(j), rows = A.last(j) - first;
            visit(A.A + first + j * A.lda, rows, first, j);
            if (A.has_diagonal(j)) diagonal(on_diagonal(j), j);
        }
    }

    R largest() const
    {
        R most = 0;
        each([&](const T* a, Index rows, Index, Index) { most = larger(most, kernel.largest(rows, a)); },
             [&](R size, Index) { most = larger(most, size); });
        return most;
    }
    R largest_column_sum() const
    {
        R most = 0;
        for (Index j = begin; j < end; ++j) {
            const Index first = A.first(j);
            const R sum = kernel.sum(A.last(j) - first, A.A + first + j * A.lda, nullptr);
            most = larger(most, A.has_diagonal(j) ? sum + on_diagonal(j) : sum);
        }
        return most;
    }
    /// sums += the sums of rows.
    void add_rows(R* sums) const
    {
        each(
            [&](const T* a, Index rows, Index first, Index j) {
                const R sum = kernel.sum(rows, a, sums + first);
                if (A.mirrored) sums[j] += sum;
            },
            [&](R size, Index j) { sums[j] += size; });
    }
    /// The largest real or imaginary part but for the diagonal, and on it the largest modulus.
    R largest_part() const
    {
        const blas::ColumnKernel<R>& reals = blas::setup<R>().kernel.columns;
        R most = 0;
        each([&](const T* a, Index rows, Index, Index) { most = larger(most, reals.largest(rows * planes, parts(a))); },
             [&](R size, Index) { most = larger(most, size); });
        return most;
    }
    /// Of elements times `scale`.
    double squares(R scale) const
    {
        constexpr Index piece = 4096; // long sums of single precision numbers lose digits
        const double twice = A.mirrored ? 2 : 1;
        double sum = 0;
        each(
            [&](const T* a, Index rows, Index, Index) {
                for (Index i = 0; i < rows * planes; i += piece)
                    sum += twice * double(kernel.squares(std::min(piece, rows * planes - i), parts(a) + i, scale));
            },
            [&](R size, Index) { sum += double(size * scale) * double(size * scale); });
        return sum;
    }

private:
    static constexpr Index planes = blas::planes<T>;
    static const R* parts(const T* a) { return reinterpret_cast<const R*>(a); }
};

/// The columns dealt out in pieces of about the same number of elements, and what each of them has found.
template <Scalar T> class Shared {
public:
    using R = Real<T>;
    Shared(const Measured<T>& A, Index count, const Parts& parts)
        : A_(A), count_(std::clamp<Index>(count, 1, std::max<Index>(1, A.columns()))), parts_(parts)
    {
    }

    template <class V, class Find> std::vector<V> from_each(const Find& find) const
    {
        std::vector<V> found(static_cast<std::size_t>(count_));
        parts_(count_, [&](Index i) { found[std::size_t(i)] = find(columns(i)); });
        return found;
    }
    R row_sums_largest() const
    {
        const std::vector<std::vector<R>> all = from_each<std::vector<R>>([&](const Columns<T>& columns) {
            std::vector<R> sums(std::size_t(A_.m), 0);
            columns.add_rows(sums.data());
            return sums;
        });
        std::vector<R> sums = all.front();
        for (std::size_t part = 1; part < all.size(); ++part)
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += all[part][i];
        add_ones_beyond(sums);
        return largest(sums);
    }
    R root_of_squares() const
    {
        constexpr double least = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon(),
                         most = std::numeric_limits<R>::max();
        const double plain = squares(1);
        // Each square may have lost as much as the smallest number.
        if (plain >= least * double(A_.m) * double(A_.n) && plain <= most) return R(std::sqrt(plain));
        const R size = largest(from_each<R>([](const Columns<T>& columns) { return columns.largest_part(); }));
        if (size == 0 || !std::isfinite(size)) return size;
        const int exponent = std::clamp(std::ilogb(size), limits::min_exponent + 2, limits::max_exponent - 2);
        return std::ldexp(R(std::sqrt(squares(std::ldexp(R(1), -exponent)))), exponent);
    }

private:
    using limits = std::numeric_limits<R>;
    double squares(R scale) const
    {
        double sum = 0;
        for (const double part : from_each<double>([&](const Columns<T>& columns) { return columns.squares(scale); }))
            sum += part;
        return sum;
    }
    /// Rows of a unit upper trapezoid below its columns: LAPACK counts the ones of an identity of m rows.
    void add_ones_beyond(std::vector<R>& sums) const
    {
        if (A_.shape == Measured<T>::Shape::upper && A_.diagonal == Measured<T>::Diagonal::unit)
            for (Index i = A_.n; i < A_.m; ++i) sums[std::size_t(i)] += 1;
    }
    Columns<T> columns(Index i) const { return {A_, border(i), border(i + 1)}; }
    Index border(Index i) const
    {
        const double share = double(i) / double(count_), all = double(A_.columns());
        if (A_.shape == Measured<T>::Shape::all) return Index(all * share);
        return Index(all * (A_.shape == Measured<T>::Shape::upper ? std::sqrt(share) : 1 - std::sqrt(1 - share)));
    }

    const Measured<T>& A_;
    const Index count_;
    const Parts& parts_;
};

} // namespace

template <Scalar T> Real<T> norm(Norm norm, const Measured<T>& A, Index count, const Parts& parts)
{
    using R = Real<T>;
    if (A.empty()) return 0;
    const FloatScope nothing_traps(FloatModes::current()); // squares are tried before it is known whether they are numbers
    const Shared<T> shared(A, count, parts);
    if (norm == Norm::max)
        return largest(shared.template from_each<R>([](const Columns<T>& columns) { return columns.largest(); }));
    if (norm == Norm::frobenius) return shared.root_of_squares();
    if (norm == Norm::inf || A.mirrored) return shared.row_sums_largest();
    return largest(shared.template from_each<R>([](const Columns<T>& columns) { return columns.largest_column_sum(); }));
}

#define TRC_INSTANTIATE(T) template Real<T> norm(Norm, const Measured<T>&, Index, const Parts&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::estimates
