#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <map>
#include <memory>
#include <string>

namespace trencadis {
namespace {

using namespace testing;

/// Diagonal tiles of 160 are cut into 128 + 32, the last one of 132 into 128 + 4.
constexpr Index nb = 160, n = 2 * nb + 132;

Session& session_on(const char* engine, const char* scheduler)
{
    static std::map<std::string, std::unique_ptr<Session>> sessions;
    std::unique_ptr<Session>& session = sessions[std::string(engine) + scheduler];
    if (!session) {
        SessionOptions options;
        options.engine = engine;
        options.scheduler = scheduler;
        session = std::make_unique<Session>(options);
    }
    return *session;
}

template <class T> class TwoLevelCholesky : public ::testing::Test {
protected:
    /// Calls `check(session, triangle)` for each engine and triangle.
    template <class Check> static void everywhere(Check&& check)
    {
        for (const auto& [engine, scheduler] :
             {std::pair("sequential", ""), {"native", "mosaic"}, {"native", "eager"}, {"native", "ws"}})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
                SCOPED_TRACE(std::string(engine) + " " + scheduler + " " + char(uplo));
                check(session_on(engine, scheduler), uplo);
            }
    }
    static Index factor(Session& session, Uplo uplo, Dense<T>& A)
    {
        return potrf(session, uplo, A.rows, A.data.data(), A.ld, {.nb = nb, .variant = "two-level"});
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(TwoLevelCholesky, Scalars);

/// Both factors are within n^2 eps of the exact one: A is dominated by its diagonal, 2 n + 2 in a matrix of entries below
/// sqrt(2), hence well conditioned (Higham, theorem 10.8, whose |L| |L^H| is at most twice |A| here).
TYPED_TEST(TwoLevelCholesky, GivesLapacksFactorOnEveryEngine)
{
    using T = TypeParam;
    this->everywhere([&](Session& session, Uplo uplo) {
        const Dense<T> A = random_triangle<T>(uplo, n, Real<T>(2 * n + 2));
        Dense<T> ours = A, lapack = A;
        ASSERT_EQ(this->factor(session, uplo, ours), 0);
        ASSERT_EQ(session.kernels().potrf(uplo, n, lapack.data.data(), lapack.ld), 0);
        const Real<T> bound = Real<T>(n) * Real<T>(rounding<T>) * eps<T> * std::sqrt(Real<T>(2 * n + 2));
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) {
                if (in_triangle(uplo, i, j)) {
                    ASSERT_LE(std::abs(ours(i, j) - lapack(i, j)), bound) << i << ", " << j;
                }
            }
        expect_untouched(A, ours, [&](Index i, Index j) { return in_triangle(uplo, i, j); });
    });
}

TYPED_TEST(TwoLevelCholesky, ReportsLapacksInfoAndTheSmallestOfSeveral)
{
    using T = TypeParam;
    this->everywhere([&](Session& session, Uplo uplo) {
        // first of a tile, last of an inner tile, first of the next one, in the middle and in the last tile
        for (const Index bad : {Index(1), Index(128), Index(129), nb, nb + 140, n}) {
            Dense<T> A = random_triangle<T>(uplo, n, Real<T>(2 * n + 2));
            A(bad - 1, bad - 1) = T(-1);
            for (const Index later : {bad + 3, bad + 130, n})
                if (later > bad && later <= n) A(later - 1, later - 1) = T(-7);
            Dense<T> ours = A, lapack = A;
            EXPECT_EQ(this->factor(session, uplo, ours), bad);
            EXPECT_EQ(session.kernels().potrf(uplo, n, lapack.data.data(), lapack.ld), bad);
        }
    });
}

} // namespace
} // namespace trencadis
