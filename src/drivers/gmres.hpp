#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

namespace trencadis {

/// B x = b for a matrix that is only multiplied with: `multiply(v, w)` has w <- B v. Generalized minimal residuals without
/// restart, each direction made orthogonal to the others twice, so that it stays so (Saad, Schultz 1986; Giraud and others 2005).
/// `most` + 1 vectors of memory.
template <Scalar T> class Gmres {
public:
    Gmres(Index n, Index most)
        : n_(n), most_(most), basis_(size(n * (most + 1))), R_(size(most * (most + 1) + 1)), g_(size(most + 1)), c_(size(most)),
          s_(size(most))
    {
    }

    /// x <- where |b - B x|_2 is at most `enough` times |b|_2, or least after all directions. False where that is no number.
    template <class Multiply> bool solve(const T* b, T* x, double enough, const Multiply& multiply)
    {
        const double unit = nearest_power(b);
        std::transform(b, b + n_, direction(0), [&](T value) { return value / unit; });
        const double size = norm(direction(0));
        if (!std::isfinite(size)) return false;
        std::fill_n(x, n_, T(0));
        if (size == 0) return true;
        std::transform(direction(0), direction(1), direction(0), [&](T value) { return value / size; });
        g_[0] = T(size);
        Index used = 0;
        while (used < most_) {
            multiply(direction(used), direction(used + 1));
            const double left = make_orthogonal(used);
            if (!std::isfinite(left)) return false;
            rotate(used, left);
            ++used;
            if (std::abs(g_[at(used)]) <= enough * size || left == 0) break;
        }
        if (!combine(used, x)) return false;
        std::transform(x, x + n_, x, [&](T value) { return value * unit; });
        return std::isfinite(largest(x));
    }

private:
    static std::size_t size(Index count) { return static_cast<std::size_t>(count); }
    static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
    T* direction(Index k) { return basis_.data() + k * n_; }
    T& R(Index i, Index k) { return R_[at(i + k * (most_ + 1))]; }

    /// The largest part of v, or a NaN.
    double largest(const T* v) const
    {
        double most = 0;
        for (Index i = 0; i < n_; ++i)
            for (const double part : {std::abs(std::real(v[i])), std::abs(std::imag(v[i]))})
                if (!(part <= most)) most = part;
        return most;
    }
    /// The power of two that takes b near one: the squares of small residuals are none.
    double nearest_power(const T* b) const
    {
        const double most = largest(b);
        return most > 0 && std::isfinite(most) ? std::ldexp(1.0, std::max(std::ilogb(most), -1000)) : 1;
    }
    double norm(const T* v) const
    {
        double sum = 0;
        for (Index i = 0; i < n_; ++i) sum += std::norm(v[i]);
        return std::sqrt(sum);
    }
    static T conjugated(T value)
    {
        if constexpr (is_complex<T>) return std::conj(value);
        else return value;
    }
    /// The next direction without what lies in the others, which goes to column k of R; its norm, by which it has been divided.
    double make_orthogonal(Index k)
    {
        T* const w = direction(k + 1);
        for (Index i = 0; i <= k; ++i) R(i, k) = T(0);
        for (int pass = 0; pass < 2; ++pass)
            for (Index i = 0; i <= k; ++i) {
                const T* const v = direction(i);
                T part = T(0);
                for (Index l = 0; l < n_; ++l) part += conjugated(v[l]) * w[l];
                for (Index l = 0; l < n_; ++l) w[l] -= part * v[l];
                R(i, k) += part;
            }
        const double left = norm(w);
        if (left > 0) std::transform(w, w + n_, w, [&](T value) { return value / left; });
        return left;
    }
    /// Makes column k of R, with `left` below it, a triangle's by one more Givens rotation.
    void rotate(Index k, double left)
    {
        for (Index i = 0; i < k; ++i) {
            const T above = R(i, k), below = R(i + 1, k);
            R(i, k) = c_[at(i)] * above + s_[at(i)] * below;
            R(i + 1, k) = c_[at(i)] * below - conjugated(s_[at(i)]) * above;
        }
        const T pivot = R(k, k);
        const double modulus = std::abs(pivot), whole = std::hypot(modulus, left);
        c_[at(k)] = whole > 0 ? modulus / whole : 1;
        s_[at(k)] = whole > 0 ? (modulus > 0 ? pivot / modulus : T(1)) * (left / whole) : T(0);
        R(k, k) = c_[at(k)] * pivot + s_[at(k)] * left;
        g_[at(k + 1)] = -conjugated(s_[at(k)]) * g_[at(k)];
        g_[at(k)] *= c_[at(k)];
    }
    bool combine(Index used, T* x)
    {
        for (Index k = used; k-- > 0;) {
            for (Index l = k + 1; l < used; ++l) g_[at(k)] -= R(k, l) * g_[at(l)];
            if (R(k, k) == T(0)) return false;
            g_[at(k)] /= R(k, k);
            for (Index i = 0; i < n_; ++i) x[i] += g_[at(k)] * direction(k)[i];
        }
        return std::isfinite(norm(x));
    }

    const Index n_, most_;
    std::vector<T> basis_, R_, g_;
    std::vector<double> c_;
    std::vector<T> s_;
};

} // namespace trencadis
