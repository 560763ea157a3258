#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

namespace trencadis::testing {

/// a b as Fortran multiplies, without std::complex's search for infinities.
template <Scalar T> T fortran_product(T a, T b)
{
    if constexpr (is_complex<T>) return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    else return a * b;
}
template <Scalar T> T long_quotient(T a, T b)
{
    if constexpr (is_complex<T>) {
        const std::complex<long double> quotient = std::complex<long double>(a) / std::complex<long double>(b);
        return {Real<T>(quotient.real()), Real<T>(quotient.imag())};
    } else return a / b;
}

/// A = P L U column by column, as LAPACK's unblocked xGETF2 with the reference BLAS's search for the pivot; its info. A matrix
/// has rows, cols and A(i, j).
template <class Matrix> Index unblocked_getrf(Matrix& A, std::vector<Index>& pivots)
{
    const auto size = [](auto x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); };
    Index info = 0;
    for (Index j = 0; j < std::min(A.rows, A.cols); ++j) {
        Index p = j;
        for (Index i = j + 1; i < A.rows; ++i)
            if (size(A(i, j)) > size(A(p, j))) p = i;
        pivots[std::size_t(j)] = p + 1;
        for (Index c = 0; c < A.cols; ++c) std::swap(A(j, c), A(p, c));
        if (size(A(j, j)) == 0) info = info ? info : j + 1;
        else
            for (Index i = j + 1; i < A.rows; ++i) A(i, j) = long_quotient(A(i, j), A(j, j));
        for (Index c = j + 1; c < A.cols; ++c)
            for (Index i = j + 1; i < A.rows; ++i) A(i, c) -= fortran_product(A(i, j), A(j, c));
    }
    return info;
}

} // namespace trencadis::testing
