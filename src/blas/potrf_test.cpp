#include "blas/level3.hpp"

#include "blas/testing/reference.hpp"

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class Potrf : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Potrf, Scalars);

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
                magnitude += std::abs(Wide<T>(factor(i, p))) * std::abs(Wide<T>(factor(j, p)));
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

TYPED_TEST(Potrf, FactorsEitherTriangle)
{
    using T = TypeParam;
    Random random(10);
    for_all_setups([&](const std::string& where) {
        for (const Index n : {0, 1, 2, 7, 8, 9, 23, 24, 25, 48, 61, 100, 131, 270}) {
            if (n == 270 && where.find(" 256") == std::string::npos) continue;
            for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
                auto A = positive_definite<T>(random, uplo, n);
                const auto before = A;
                const std::string what = where + " n " + std::to_string(n) + " " + char(uplo);
                ASSERT_EQ(potrf(uplo, n, A.data.data(), A.ld), 0) << what;
                expect_factor(before, A, uplo, n, what);
                expect_rest_untouched(before, A, uplo, what);
                if (this->HasFatalFailure()) return;
            }
        }
    });
}

TYPED_TEST(Potrf, ReportsTheFirstPivotThatIsNotPositive)
{
    using T = TypeParam;
    Random random(11);
    for_all_setups([&](const std::string& where) {
        for (const Index n : {1, 10, 60, 270}) {
            if (n == 270 && where.find(" 256") == std::string::npos) continue;
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const Real<T> bad : {Real<T>(-1), Real<T>(0), std::numeric_limits<Real<T>>::quiet_NaN()}) {
                    auto A = positive_definite<T>(random, uplo, n);
                    const Index first = random.below(n), second = first + random.below(n - first);
                    A(first, first) = A(second, second) = T(bad);
                    const auto before = A;
                    const std::string what = where + " n " + std::to_string(n) + " first " + std::to_string(first);
                    ASSERT_EQ(potrf(uplo, n, A.data.data(), A.ld), first + 1) << what;
                    expect_factor(before, A, uplo, first, what);
                    expect_rest_untouched(before, A, uplo, what);
                    if (this->HasFatalFailure()) return;
                }
        }
    });
}

} // namespace
} // namespace trencadis::blas
