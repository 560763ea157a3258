#pragma once
#include "blas/factorizations/qr.hpp"
#include "blas/testing/reference.hpp"

#include <cmath>

/// What the tests of QR compare with: reflectors one after the other in wide precision.
namespace trencadis::blas::testing {

template <Scalar T> Wide<T> wide_conjugate(const Wide<T>& x)
{
    if constexpr (is_complex<T>) return std::conj(x);
    else return x;
}

/// The vectors v of k reflectors as the columns of an n x k matrix, ones and zeros included.
template <Scalar T> Exact<T> vectors_of(Direction direction, Storage storage, Index n, Index k, const T* V, Index ldv)
{
    Exact<T> all(n, k);
    for (Index j = 0; j < k; ++j) {
        const Index one = direction == Direction::forward ? j : n - k + j;
        all(one, j) = 1;
        const Index begin = direction == Direction::forward ? j + 1 : 0, end = direction == Direction::forward ? n : one;
        for (Index i = begin; i < end; ++i)
            all(i, j) = storage == Storage::columns ? Wide<T>(V[i + j * ldv]) : wide_conjugate<T>(Wide<T>(V[j + i * ldv]));
    }
    return all;
}

/// C <- (I - tau v v^H) C, with the conjugate of tau: its conjugate transpose.
template <Scalar T> void reflect(const Exact<T>& V, Index j, Wide<T> tau, Exact<T>& C)
{
    for (Index c = 0; c < C.cols; ++c) {
        Wide<T> sum = 0;
        for (Index i = 0; i < C.rows; ++i) sum += times(wide_conjugate<T>(V(i, j)), C(i, c));
        for (Index i = 0; i < C.rows; ++i) C(i, c) -= times(V(i, j), times(tau, sum));
    }
}

/// C <- Q C or Q^H C.
template <Scalar T> void apply_exactly(Op op, Direction direction, const Exact<T>& V, const T* tau, Exact<T>& C)
{
    const bool last_first = (op == Op::none) == (direction == Direction::forward);
    for (Index s = 0; s < V.cols; ++s) {
        const Index j = last_first ? V.cols - 1 - s : s;
        const Wide<T> factor(tau[j]);
        reflect<T>(V, j, op == Op::none ? factor : wide_conjugate<T>(factor), C);
    }
}

/// The Frobenius norm of all of a matrix.
template <Scalar T> long double frobenius(const Exact<T>& A)
{
    long double sum = 0;
    for (const auto& x : A.data) sum += std::norm(std::complex<long double>(x));
    return std::sqrt(sum);
}
template <Scalar T> long double distance(const Exact<T>& A, const Exact<T>& B)
{
    Exact<T> difference = A;
    for (std::size_t i = 0; i < A.data.size(); ++i) difference.data[i] -= B.data[i];
    return frobenius<T>(difference);
}
template <Scalar T> Exact<T> identity(Index rows, Index cols)
{
    Exact<T> I(rows, cols);
    for (Index i = 0; i < std::min(rows, cols); ++i) I(i, i) = 1;
    return I;
}
template <Scalar T> Exact<T> exact(const Stored<T>& A) { return expand(A, Structure::general); }
template <Scalar T> Exact<T> adjoint(const Exact<T>& A) { return transformed<T>(Op::conj_trans, A); }
template <Scalar T> Stored<T> adjoint(const Stored<T>& A)
{
    Stored<T> B(A.cols, A.rows, 2);
    for (Index j = 0; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i) B(j, i) = conjugate(A(i, j));
    return B;
}

/// Every H is unitary to a few rounding errors: 2 re(tau) = |tau|^2 |v|^2, each sum of n terms.
template <Scalar T> void expect_unitary(const Exact<T>& V, const std::vector<T>& tau, const std::string& what)
{
    for (Index j = 0; j < V.cols; ++j) {
        long double squares = 0;
        for (Index i = 0; i < V.rows; ++i) squares += std::norm(std::complex<long double>(V(i, j)));
        const std::complex<long double> t(tau[std::size_t(j)]);
        ASSERT_LE(std::abs(2 * t.real() - std::norm(t) * squares), rounding<T> * (V.rows + 20) * eps<T>)
            << what << ": reflector " << j;
        ASSERT_TRUE(t.real() == 0 || (t.real() >= 1 - 4 * eps<T> && t.real() <= 2 + 4 * eps<T>)) << what << ": reflector " << j;
    }
}

/// A = Q R columnwise: the computed factors are exact ones of A + E with |E| <= c m k eps |A| in norm (Higham 2002, theorem 19.4:
/// gamma_{c m} for each of k reflectors in the worst case; errors of many reflectors add up as their root, which leaves room for
/// the constant), R's diagonal is real, and padding is untouched.
template <Scalar T>
void expect_qr(const Stored<T>& before, const Stored<T>& after, const std::vector<T>& tau, const std::string& what)
{
    const Index m = before.rows, n = before.cols, k = std::min(m, n);
    const Exact<T> V = vectors_of(Direction::forward, Storage::columns, m, k, after.data.data(), after.ld);
    expect_unitary<T>(V, tau, what);
    if (::testing::Test::HasFatalFailure()) return;
    Exact<T> R(m, n);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i <= std::min(j, m - 1); ++i) R(i, j) = Wide<T>(after(i, j));
    for (Index i = 0; i < k; ++i) ASSERT_EQ(std::imag(after(i, i)), 0) << what;
    apply_exactly(Op::none, Direction::forward, V, tau.data(), R);
    const Exact<T> A = exact(before);
    for (Index j = 0; j < n; ++j) {
        Exact<T> a(m, 1), b(m, 1);
        for (Index i = 0; i < m; ++i) a(i, 0) = A(i, j), b(i, 0) = R(i, j);
        ASSERT_LE(distance<T>(a, b), rounding<T> * 2 * (m + 10) * eps<T> * frobenius<T>(a)) << what << ": column " << j;
    }
    for (Index j = 0; j < n; ++j)
        for (Index i = m; i < after.ld; ++i)
            ASSERT_EQ(std::memcmp(&after(i, j), &before(i, j), sizeof(T)), 0) << what << ": touched " << i << ", " << j;
}

} // namespace trencadis::blas::testing
