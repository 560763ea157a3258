#include "blas/level3/level3.hpp"

#include "blas/testing/factors.hpp"

#include <cfenv>

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class Potrf : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Potrf, Scalars);

TYPED_TEST(Potrf, FactorsEitherTriangle)
{
    using T = TypeParam;
    Random random(10);
    for_all_setups([&](const std::string& where) {
        for (const Index n : {0, 1, 2, 7, 8, 9, 16, 17, 23, 24, 25, 32, 48, 61, 64, 65, 100, 131, 270}) {
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

TYPED_TEST(Potrf, GoesInSteps)
{
    using T = TypeParam;
    Random random(12);
    for_all_setups([&](const std::string& where) {
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Index n : {24, 61, 100})
                for (const Index minor : {Index(0), Index(1), n / 2, n}) {
                    auto A = positive_definite<T>(random, uplo, n);
                    if (minor) A(minor - 1, minor - 1) = T(-1);
                    const auto before = A;
                    const std::string what = where + " n " + std::to_string(n) + " minor " + std::to_string(minor);
                    ASSERT_EQ(potrf_in_steps(uplo, n, 24, A.data.data(), A.ld), minor) << what;
                    expect_factor(before, A, uplo, minor ? minor - 1 : n, what);
                    expect_rest_untouched(before, A, uplo, what);
                    if (this->HasFatalFailure()) return;
                }
    });
}

/// Too large a triangle for one block.
TYPED_TEST(Potrf, HasTheSameFactorByAnySteps)
{
    using T = TypeParam;
    Random random(13);
    constexpr Index n = 530;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Index minor : {Index(0), Index(400)}) {
            auto A = positive_definite<T>(random, uplo, n);
            if (minor) A(minor - 1, minor - 1) = T(-1);
            auto steps = A;
            const auto before = A;
            ASSERT_EQ(potrf(uplo, n, A.data.data(), A.ld), minor);
            ASSERT_EQ(potrf_in_steps(uplo, n, 60, steps.data.data(), steps.ld), minor);
            expect_rest_untouched(before, A, uplo, "potrf");
            for (Index j = 0; j < (minor ? minor - 1 : n); ++j)
                for (Index i = j; i < (minor ? minor - 1 : n); ++i) {
                    const T one = uplo == Uplo::lower ? A(i, j) : A(j, i),
                            other = uplo == Uplo::lower ? steps(i, j) : steps(j, i);
                    ASSERT_LE(std::abs(one - other), 100 * eps<T> * std::sqrt(Real<T>(n))) << i << ", " << j;
                }
        }
}

/// Neither what is beside a small triangle nor what lies in the work area behind it makes itself felt.
TYPED_TEST(Potrf, RaisesNoExceptionsOfNumbersThatAreNotItsOwn)
{
    using T = TypeParam;
    Random random(12);
    for_all_setups([&](const std::string& where) {
        for (const Index n : {1, 5, 10, 17, 31, 50, 64})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
                auto large = random_matrix<T>(random, std::min<Index>(64, n + 30), std::min<Index>(64, n + 30));
                auto A = positive_definite<T>(random, uplo, n);
                std::fill(large.data.begin(), large.data.end(), T(std::numeric_limits<Real<T>>::infinity()));
                large(0, 0) = T(-1);
                potrf(uplo, large.cols, large.data.data(), large.ld); // leaves infinities in the work area
                std::feclearexcept(FE_ALL_EXCEPT);
                ASSERT_EQ(potrf(uplo, n, A.data.data(), A.ld), 0);
                EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT), 0) << where << " n " << n << " " << char(uplo);
            }
    });
}

} // namespace
} // namespace trencadis::blas
