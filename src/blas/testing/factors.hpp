#pragma once
#include "base/testing/moduli.hpp"
#include "blas/factorizations/lu.hpp"
#include "blas/testing/reference.hpp"
#include "blas/testing/unblocked_lu.hpp"

/// What the tests of factorizations compare with.
namespace trencadis::blas::testing {

using trencadis::testing::unblocked_getrf;

/// |P A - L U| <= c k eps |L| |U| (Higham 2002, theorem 9.3: gamma_k with k terms in each sum; three more for the inverse of the
/// pivot and the products with it), |l| at most 1 up to rounding (complex: |l| <= sqrt 2, as pivots are compared by |re| + |im|),
/// and padding untouched.
template <Scalar T>
void expect_factors(Stored<T> before, const Stored<T>& after, const std::vector<Index>& pivots, const std::string& what)
{
    const Index steps = std::min(after.rows, after.cols);
    laswp(before.cols, before.data.data(), before.ld, 0, steps, pivots.data());
    for (Index j = 0; j < after.cols; ++j)
        for (Index i = 0; i < after.rows; ++i) {
            Wide<T> sum = 0;
            long double magnitude = 0;
            for (Index p = 0; p <= std::min({i, j, steps - 1}); ++p) {
                const T l = p == i ? T(1) : after(i, p), u = after(p, j);
                sum += times(Wide<T>(l), Wide<T>(u));
                magnitude += trencadis::testing::moduli(l, u);
            }
            const Index terms = std::min({i, j, steps}) + 4;
            ASSERT_LE(std::abs(sum - Wide<T>(before(i, j))), rounding<T> * terms * eps<T> * magnitude)
                << what << ": at " << i << ", " << j;
            const long double most = i <= j || j >= steps ? std::numeric_limits<Real<T>>::max() : is_complex<T> ? 1.415 : 1;
            ASSERT_LE(std::abs(after(i, j)), most * (1 + 8 * eps<T>)) << what << ": at " << i << ", " << j;
        }
    for (Index j = 0; j < after.cols; ++j)
        for (Index i = after.rows; i < after.ld; ++i)
            ASSERT_EQ(std::memcmp(&after(i, j), &before(i, j), sizeof(T)), 0) << what << ": touched " << i << ", " << j;
}

/// Random with a diagonal that makes it positive definite; NaN in the other triangle.
template <Scalar T> Stored<T> positive_definite(Random& random, Uplo uplo, Index n)
{
    auto A = random_triangle<T>(random, uplo, n);
    for (Index j = 0; j < n; ++j) A(j, j) = T(Real<T>(2 * n) + std::real(A(j, j)));
    return A;
}

/// |A - L L^H| <= c n eps |L| |L^H| in the leading `order` rows and columns (Higham 2002, theorem 10.3: gamma_{n+1}, one
/// more for the reciprocal of the pivot).
template <Scalar T>
void expect_factor(const Stored<T>& before, const Stored<T>& after, Uplo uplo, Index order, const std::string& what)
{
    for (Index j = 0; j < order; ++j)
        for (Index i = j; i < order; ++i) {
            const auto factor = [&](Index r, Index c) { return uplo == Uplo::lower ? after(r, c) : conjugate(after(c, r)); };
            Wide<T> sum = 0;
            long double magnitude = 0;
            for (Index p = 0; p <= j; ++p) {
                sum += times(Wide<T>(factor(i, p)), Wide<T>(conjugate(factor(j, p))));
                magnitude += trencadis::testing::moduli(factor(i, p), factor(j, p));
            }
            const Wide<T> exact(uplo == Uplo::lower ? before(i, j) : conjugate(before(j, i)));
            ASSERT_LE(std::abs(sum - exact), rounding<T> * (j + 4) * eps<T> * magnitude) << what << ": at " << i << ", " << j;
        }
}
template <Scalar T>
void expect_rest_untouched(const Stored<T>& before, const Stored<T>& after, Uplo uplo, const std::string& what)
{
    for (Index j = 0; j < before.cols; ++j)
        for (Index i = 0; i < before.ld; ++i) {
            if (i < before.rows && in_part(uplo, i, j)) continue;
            ASSERT_EQ(std::memcmp(&after(i, j), &before(i, j), sizeof(T)), 0) << what << ": touched " << i << ", " << j;
        }
}

} // namespace trencadis::blas::testing
