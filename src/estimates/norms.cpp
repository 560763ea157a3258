#include "estimates/norms.hpp"

#include "base/float_modes.hpp"
#include "blas/level3/control_tree.hpp"
#include "estimates/room.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace trencadis::estimates {
namespace {

/// The larger one; a NaN where one of them is.
template <class R> R larger(R a, R b) { return a < b || std::isnan(b) ? b : a; }
template <class R> R largest(const R* values, Index count)
{
    R most = 0;
    for (Index i = 0; i < count; ++i) most = larger(most, values[i]);
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
             [&](R size, Index j) { most = larger(most, by_parts(size, j)); });
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
            [&](R size, Index j) { sum += double(by_parts(size, j) * scale) * double(by_parts(size, j) * scale); });
        return sum;
    }

private:
    /// |a_jj|, or a NaN where one of its parts is: the modulus is infinite where the other one is.
    R by_parts(R size, Index j) const
    {
        if (A.diagonal != Measured<T>::Diagonal::stored) return size;
        const T value = A.A[j + j * A.lda];
        return value != value ? std::numeric_limits<R>::quiet_NaN() : size;
    }

    static constexpr Index planes = blas::planes<T>;
    static const R* parts(const T* a) { return reinterpret_cast<const R*>(a); }
};

/// All columns at once, with sums of rows in `work`.
template <Scalar T> class Whole {
public:
    using R = Real<T>;
    Whole(const Measured<T>& A, R* work) : A_(A), work_(work) {}

    template <class Find> R largest(const Find& find) const { return find(all()); }
    template <class Find> double sum(const Find& find) const { return find(all()); }
    template <class Use> R with_row_sums(const Use& use) const
    {
        Room<R> sums(work_, A_.m);
        std::fill_n(sums.data(), A_.m, R(0));
        all().add_rows(sums.data());
        return use(sums.data());
    }

private:
    Columns<T> all() const { return {A_, 0, A_.columns()}; }

    const Measured<T>& A_;
    R* const work_;
};

/// The columns dealt out in pieces of about the same number of elements, and what each of them has found.
template <Scalar T> class Shared {
public:
    using R = Real<T>;
    Shared(const Measured<T>& A, Index count, const Parts& parts)
        : A_(A), count_(std::clamp<Index>(count, 1, std::max<Index>(1, A.columns()))), parts_(parts)
    {
    }

    template <class Find> R largest(const Find& find) const { return estimates::largest(from_each<R>(find).data(), count_); }
    template <class Find> double sum(const Find& find) const
    {
        const std::vector<double> found = from_each<double>(find);
        return std::accumulate(found.begin(), found.end(), 0.0);
    }
    template <class Use> R with_row_sums(const Use& use) const
    {
        std::vector<std::vector<R>> all = from_each<std::vector<R>>([&](const Columns<T>& columns) {
            std::vector<R> sums(std::size_t(A_.m), 0);
            columns.add_rows(sums.data());
            return sums;
        });
        std::vector<R>& sums = all.front();
        for (std::size_t part = 1; part < all.size(); ++part)
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += all[part][i];
        return use(sums.data());
    }

private:
    template <class V, class Find> std::vector<V> from_each(const Find& find) const
    {
        std::vector<V> found(static_cast<std::size_t>(count_));
        parts_(count_, [&](Index i) { found[std::size_t(i)] = find(columns(i)); });
        return found;
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

template <Scalar T, class Pieces> Real<T> largest_row_sum(const Measured<T>& A, const Pieces& pieces)
{
    return pieces.with_row_sums([&](Real<T>* sums) {
        // Rows of a unit upper trapezoid below its columns: LAPACK counts the ones of an identity of m rows.
        if (A.shape == Measured<T>::Shape::upper && A.diagonal == Measured<T>::Diagonal::unit)
            for (Index i = A.n; i < A.m; ++i) sums[i] += 1;
        return largest(sums, A.m);
    });
}

template <Scalar T, class Pieces> Real<T> root_of_squares(const Measured<T>& A, const Pieces& pieces)
{
    using R = Real<T>;
    using limits = std::numeric_limits<R>;
    constexpr double least = limits::min() / limits::epsilon(), most = limits::max();
    const auto squares = [&](R scale) { return pieces.sum([&](const Columns<T>& columns) { return columns.squares(scale); }); };
    const double plain = squares(1);
    // Each square may have lost as much as the smallest number.
    if (plain >= least * double(A.m) * double(A.n) && plain <= most) return R(std::sqrt(plain));
    const R size = pieces.largest([](const Columns<T>& columns) { return columns.largest_part(); });
    if (size == 0 || !std::isfinite(size)) return size;
    const int exponent = std::clamp(std::ilogb(size), limits::min_exponent + 2, limits::max_exponent - 2);
    return std::ldexp(R(std::sqrt(squares(std::ldexp(R(1), -exponent)))), exponent);
}

template <Scalar T, class Pieces> Real<T> norm_of(Norm norm, const Measured<T>& A, const Pieces& pieces)
{
    const FloatScope nothing_traps(FloatModes::current()); // squares are tried before it is known whether they are numbers
    if (norm == Norm::max) return pieces.largest([](const Columns<T>& columns) { return columns.largest(); });
    if (norm == Norm::frobenius) return root_of_squares(A, pieces);
    if (norm == Norm::inf || A.mirrored) return largest_row_sum(A, pieces);
    return pieces.largest([](const Columns<T>& columns) { return columns.largest_column_sum(); });
}

} // namespace

template <Scalar T> Real<T> norm(Norm norm, const Measured<T>& A, Real<T>* work)
{
    return A.empty() ? 0 : norm_of(norm, A, Whole<T>(A, work));
}

template <Scalar T> Real<T> norm(Norm norm, const Measured<T>& A, Index count, const Parts& parts)
{
    return A.empty() ? 0 : norm_of(norm, A, Shared<T>(A, count, parts));
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Real<T> norm(Norm, const Measured<T>&, Real<T>*);                                                                   \
    template Real<T> norm(Norm, const Measured<T>&, Index, const Parts&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::estimates
