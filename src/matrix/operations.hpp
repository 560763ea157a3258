#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

/// What the routines cost, the only place that says so: multiplications (and divisions) and additions of the real algorithms, as
/// LAPACK Working Note 41, appendix C, counts them. A routine on tiles does the same operations in another order, so that the
/// counts of its tile operations add up to its own.
namespace trencadis {

struct Operations {
    double multiplications = 0, additions = 0;

    /// A complex multiplication is 6 real operations, a complex addition 2.
    Flops flops(bool complex) const { return complex ? 6 * multiplications + 2 * additions : multiplications + additions; }
    template <Scalar T> Flops flops() const { return flops(is_complex<T>); }
};
constexpr Operations operator+(Operations a, Operations b)
{
    return {a.multiplications + b.multiplications, a.additions + b.additions};
}

namespace operations {

/// C m x n, k deep. A symmetric or Hermitian operand changes nothing.
constexpr Operations gemm(double m, double n, double k) { return {m * n * k, m * n * k}; }
/// A triangle of order n, k deep: syrk, herk.
constexpr Operations rank_k(double n, double k) { return {k * n * (n + 1) / 2, k * n * (n + 1) / 2}; }
/// syr2k, her2k.
constexpr Operations rank_2k(double n, double k) { return {k * n * n, k * n * n + n}; }
/// A triangle of order n, multiplied or solved with, for so many columns or rows: trmm, trsm.
constexpr Operations triangular(double n, double others) { return {others * n * (n + 1) / 2, others * n * (n - 1) / 2}; }
constexpr Operations potrf(double n) { return {n * n * n / 6 + n * n / 2 + n / 3, n * n * n / 6 - n / 6}; }
constexpr Operations potrs(double n, double nrhs) { return {nrhs * n * (n + 1), nrhs * n * (n - 1)}; }
constexpr Operations posv(double n, double nrhs) { return potrf(n) + potrs(n, nrhs); }
/// Inverse of a triangle; its product with its conjugate transpose; both, the inverse from a Cholesky factor.
constexpr Operations trtri(double n) { return {n * n * n / 6 + n * n / 2 + n / 3, n * n * n / 6 - n * n / 2 + n / 3}; }
constexpr Operations lauum(double n) { return {n * n * n / 6 + n * n / 2 + n / 3, n * n * n / 6 - n / 6}; }
constexpr Operations potri(double n) { return trtri(n) + lauum(n); }

// Leading terms: their kernels' counts (kernels/tiles/factor_flops.hpp) are no more.
constexpr Operations getrf(double m, double n)
{
    const double k = m < n ? m : n, each = m * n * k - (m + n) * k * k / 2 + k * k * k / 3;
    return {each, each};
}
constexpr Operations getrf(double n) { return getrf(n, n); }
/// With a unit triangle and another one.
constexpr Operations getrs(double n, double nrhs) { return {nrhs * n * n, nrhs * n * (n - 1)}; }
constexpr Operations gesv(double n, double nrhs) { return getrf(n) + getrs(n, nrhs); }
/// From its factors.
constexpr Operations getri(double n) { return {n * n * n * 2 / 3, n * n * n * 2 / 3}; }
/// And gelqf.
constexpr Operations geqrf(double m, double n)
{
    const double k = m < n ? m : n, others = m < n ? n : m, each = k * k * (others - k / 3);
    return {each, each};
}
constexpr Operations geqrf(double n) { return geqrf(n, n); }
/// n columns or rows of the product of k reflectors of length m: orgqr, orglq.
constexpr Operations orgqr(double m, double n, double k)
{
    const double each = 2 * m * n * k - (m + n) * k * k + k * k * k * 2 / 3;
    return {each, each};
}
/// k reflectors of length m, applied to n columns or rows: ormqr, ormlq.
constexpr Operations ormqr(double m, double n, double k)
{
    const double each = n * k * (2 * m - k);
    return {each, each};
}
/// Of m x n, with its triangle and the reflectors applied to nrhs columns.
constexpr Operations gels(double m, double n, double nrhs)
{
    const double k = m < n ? m : n, others = m < n ? n : m;
    return geqrf(m, n) + ormqr(others, nrhs, k) + triangular(k, nrhs);
}

} // namespace operations
} // namespace trencadis
