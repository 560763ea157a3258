#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trencadis::estimates {

/// An estimate of |B|_1 of an n x n matrix that is only multiplied with: `multiply(x, adjoint)` overwrites x with B x or B^H x
/// and returns false where a product is beyond the numbers; then the answer is infinity. Never too large but for rounding, and
/// seldom below a third of it, from 4 or 5, at most 11, products. Real signs that repeat end the search. LAPACK's lacn2; Hager
/// 1984; Higham 1988 (ACM TOMS 14:4, algorithm 674).
template <Scalar T, class Multiply> class NormSearch {
public:
    using R = Real<T>;
    /// Vectors of memory; complex signs are not compared.
    static constexpr Index vectors = is_complex<T> ? 1 : 2;

    /// `attained`, where it is not null, receives the last product that mattered: n numbers.
    NormSearch(Index n, const Multiply& multiply, T* room, T* attained)
        : multiply_(multiply), attained_(attained), n_(n), x_(room), signs_(room + (vectors - 1) * n)
    {
    }

    R estimate()
    {
        std::fill_n(x_, n_, T(1) / T(R(n_)));
        if (!multiply_(x_, false)) return beyond;
        norm_ = sum();
        if (n_ == 1) return keep(), norm_;
        return climb() && try_alternating() ? norm_ : beyond;
    }

private:
    static constexpr R beyond = std::numeric_limits<R>::infinity();

    /// To a local maximum of |B x|_1 over the corners of the unit ball.
    bool climb()
    {
        constexpr int most_steps = 5;
        if constexpr (!is_complex<T>) std::fill_n(signs_, n_, T(0));
        take_signs();
        if (!gradient()) return false;
        for (int step = 2;; ++step) {
            const Index place = largest();
            std::fill_n(x_, n_, T(0));
            x_[place] = T(1);
            if (!multiply_(x_, false)) return false;
            keep();
            const R before = norm_;
            norm_ = sum();
            if (!take_signs() || norm_ <= before) return true;
            if (!gradient()) return false;
            if (at_last(x_[place]) == std::abs(x_[largest()]) || step == most_steps) return true;
        }
    }
    /// x <- its signs. Whether they are others than the last ones, which is only looked at where they are real.
    bool take_signs()
    {
        bool changed = is_complex<T>;
        for (Index i = 0; i < n_; ++i) {
            x_[i] = sign(x_[i]);
            if constexpr (!is_complex<T>) {
                changed |= x_[i] != signs_[i];
                signs_[i] = x_[i];
            }
        }
        return changed;
    }
    static T sign(T value)
    {
        if constexpr (is_complex<T>) {
            const R size = std::abs(value);
            return size > std::numeric_limits<R>::min() ? T(value.real() / size, value.imag() / size) : T(1);
        } else return value >= 0 ? T(1) : T(-1);
    }
    static R at_last(T value) ///< LAPACK takes a real one with its sign
    {
        if constexpr (is_complex<T>) return std::abs(value);
        else return value;
    }
    bool gradient() { return multiply_(x_, true); }
    /// A vector of another kind, against matrices made to mislead the search.
    bool try_alternating()
    {
        const R n = R(n_);
        for (Index i = 0; i < n_; ++i) x_[i] = T(R(i % 2 == 0 ? 1 : -1) * (1 + R(i) / (n - 1)));
        if (!multiply_(x_, false)) return false;
        const R other = 2 * (sum() / (3 * n));
        if (other > norm_) keep(), norm_ = other;
        return true;
    }
    void keep()
    {
        if (attained_) std::copy_n(x_, n_, attained_);
    }
    R sum() const
    {
        R total = 0;
        for (Index i = 0; i < n_; ++i) total += std::abs(x_[i]);
        return total;
    }
    Index largest() const
    {
        Index place = 0;
        for (Index i = 1; i < n_; ++i)
            if (std::abs(x_[i]) > std::abs(x_[place])) place = i;
        return place;
    }

    const Multiply& multiply_;
    T* const attained_;
    const Index n_;
    T *const x_, *const signs_;
    R norm_ = 0;
};

/// `room`: two vectors, of complex numbers one.
template <Scalar T, class Multiply> Real<T> norm1_by_products(Index n, const Multiply& multiply, T* room, T* attained = nullptr)
{
    return NormSearch<T, Multiply>(n, multiply, room, attained).estimate();
}

} // namespace trencadis::estimates
