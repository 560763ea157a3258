#include "estimates/safe_solve.hpp"

#include "blas/level3/control_tree.hpp"
#include "blas/level3/division.hpp"
#include "blas/level3/vector_solve.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trencadis::estimates {
namespace {

enum class Outcome { solved, singular, no_numbers };

/// x 2^exponent. Substitution keeps the elements of x below 2^`most`, so that neither products with elements of the triangle nor
/// sums of them overflow.
template <Scalar T> class Scaled {
public:
    using R = Real<T>;
    Scaled(Index n, T* x) : n_(n), x_(x) {}

    Outcome solve(const Triangle<T>& triangle)
    {
        const Op op = triangle.op;
        const bool lower = triangle.uplo == Uplo::lower, forward = lower == (op == Op::none);
        make_room_for_all();
        for (Index step = 0; step < n_; ++step) {
            const Index j = forward ? step : n_ - 1 - step, first = lower ? j + 1 : 0, rows = lower ? n_ - j - 1 : j;
            const T* const beside = triangle.A + first + j * triangle.lda;
            if (op != Op::none && !subtract_dot(rows, beside, first, j, op)) return Outcome::no_numbers;
            if (triangle.diag == Diag::non_unit) {
                const T pivot = seen_through(op, triangle.A[j + j * triangle.lda]);
                if (pivot == T(0)) return Outcome::singular;
                if (!divide(j, pivot)) return Outcome::no_numbers;
            }
            if (op == Op::none && !subtract_column(rows, beside, first, j)) return Outcome::no_numbers;
        }
        return Outcome::solved;
    }
    /// Takes the power of two back; false where an inverse would be no normal number.
    bool put_back()
    {
        const R size = largest(n_, x_);
        if (size > 0 && size_of(size) + exponent_ > 2 - limits::min_exponent) return false;
        scale(exponent_);
        return true;
    }

private:
    using limits = std::numeric_limits<R>;
    static constexpr Index most = limits::max_exponent / 2 - 32; ///< so far that 2^32 products still have a sum

    static R largest(Index rows, const T* a) { return blas::setup<T>().kernel.columns.largest(rows, a); }
    static Index size_of(R value) { return std::ilogb(value) + 1; } ///< value < 2^size
    void scale(Index by)
    {
        for (Index i = 0; i < n_; ++i) scale(x_[i], by);
    }
    static void scale(T& value, Index by)
    {
        const int power = int(std::clamp<Index>(by, -4 * limits::max_exponent, 4 * limits::max_exponent));
        if constexpr (is_complex<T>) value = {std::ldexp(value.real(), power), std::ldexp(value.imag(), power)};
        else value = std::ldexp(value, power);
    }
    /// Makes x smaller, so that what is as large as 2^size becomes as large as 2^most.
    void make_room(Index size)
    {
        if (size <= most) return;
        scale(most - size);
        exponent_ += size - most;
    }

    bool subtract_column(Index rows, const T* a, Index first, Index j)
    {
        const R size = largest(rows, a), with = std::abs(x_[j]);
        if (!std::isfinite(size) || !std::isfinite(with)) return false;
        if (size == 0 || with == 0) return true;
        make_room(size_of(size) + size_of(with));
        blas::setup<T>().kernel.columns.subtract(rows, 1, a, rows, x_ + j, x_ + first);
        make_room_for_all();
        return true;
    }
    bool subtract_dot(Index rows, const T* a, Index first, Index j, Op op)
    {
        const R size = largest(rows, a), with = largest(rows, x_ + first);
        if (!std::isfinite(size) || !std::isfinite(with)) return false;
        if (size == 0 || with == 0) return true;
        make_room(size_of(size) + size_of(with));
        T sum;
        blas::setup<T>().kernel.columns.dots(rows, 1, a, rows, x_ + first, op == Op::conj_trans, &sum);
        x_[j] -= sum;
        make_room_for_all();
        return true;
    }
    bool divide(Index j, T pivot)
    {
        const R size = std::abs(pivot), with = std::abs(x_[j]);
        if (!std::isfinite(size) || !std::isfinite(with)) return false;
        if (with == 0) return true;
        make_room(size_of(with) - size_of(size) + 2);
        const Index power = size_of(size); // about 1 first, so that the smallest pivots are numbers to be divided by
        scale(pivot, -power);
        x_[j] = blas::divided(x_[j], pivot);
        scale(x_[j], -power);
        return true;
    }
    void make_room_for_all()
    {
        if (const R size = largest(n_, x_); size > 0 && std::isfinite(size)) make_room(size_of(size));
    }

    const Index n_;
    T* const x_;
    Index exponent_ = 0;
};

} // namespace

template <Scalar T> bool SafeSolve<T>::operator()(T* x, std::initializer_list<Triangle<T>> triangles)
{
    std::copy_n(x, n_, kept_);
    for (const Triangle<T>& t : triangles) blas::solve_vector(t.uplo, t.op, t.diag, n_, t.A, t.lda, x);
    if (std::isfinite(blas::setup<T>().kernel.columns.sum(n_, x, nullptr))) return true;
    Scaled<T> scaled(n_, kept_);
    for (const Triangle<T>& t : triangles) {
        const Outcome outcome = scaled.solve(t);
        if (outcome == Outcome::no_numbers) return true; // x has it
        if (outcome == Outcome::singular) return false;
    }
    if (!scaled.put_back()) return false;
    std::copy_n(kept_, n_, x);
    return true;
}

template class SafeSolve<float>;
template class SafeSolve<double>;
template class SafeSolve<std::complex<float>>;
template class SafeSolve<std::complex<double>>;

} // namespace trencadis::estimates
