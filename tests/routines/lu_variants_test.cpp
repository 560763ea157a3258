#include "drivers/incremental_lu.hpp"
#include "kernels/testing/lu.hpp"
#include "session/session.hpp"
#include "session/testing/sessions.hpp"

#include <gmock/gmock.h>
#include <thread>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// Those that leave factors and pivots of LAPACK's form.
constexpr const char* forms[] = {"packed", "panel", "kastors", "kastors-cw", "nopiv", "tournament"};

template <class T> class LuForms : public ::testing::Test {
};
TYPED_TEST_SUITE(LuForms, Scalars);

/// One that needs no pivots for the form that has none.
template <Scalar T> Dense<T> matrix_for(const std::string& form, Index m, Index n)
{
    Dense<T> A = random_matrix<T>(m, n);
    if (form == "nopiv")
        for (Index i = 0; i < std::min(m, n); ++i) A(i, i) += Real<T>(2 * std::max(m, n));
    return A;
}
template <Scalar T>
Index solve(Session& session, Dense<T>& F, std::vector<Index>& pivots, Dense<T>& X, const RoutineOptions& options)
{
    return gesv(session, F.rows, X.cols, F.data.data(), F.ld, pivots.data(), X.data.data(), X.ld, options);
}

TYPED_TEST(LuForms, FactorAndSolveByOneOption)
{
    using T = TypeParam;
    for (const char* engine : engines)
        for (const char* form : forms)
            for (const Index nb : {0, 7, 16, 200})
                for (const Index n : {0, 1, 16, 49})
                    for (const Index nrhs : {0, 5}) {
                        const std::string where =
                            std::string(engine) + " " + form + " n " + std::to_string(n) + " nb " + std::to_string(nb);
                        const Dense<T> A = matrix_for<T>(form, n, n), B = random_matrix<T>(n, nrhs);
                        Dense<T> F = A, X = B;
                        std::vector<Index> pivots(static_cast<std::size_t>(n));
                        ASSERT_EQ(solve(session_on(engine), F, pivots, X, {.nb = nb, .variant = form}), 0) << where;
                        if (nrhs == 0) expect_lu_product(A, F, pivots, where);
                        expect_lu_solution(Op::none, A, F, pivots, X, B, where);
                        if (this->HasFatalFailure()) return;
                    }
}
TYPED_TEST(LuForms, FactorTallAndWideMatricesForGetrs)
{
    using T = TypeParam;
    for (const char* form : forms)
        for (const auto& [m, n] : {std::pair<Index, Index>{150, 37}, {37, 150}, {150, 10}, {61, 60}}) {
            const Dense<T> A = matrix_for<T>(form, m, n);
            Dense<T> F = A;
            std::vector<Index> pivots(static_cast<std::size_t>(std::min(m, n)));
            ASSERT_EQ(getrf(session_on("native"), m, n, F.data.data(), F.ld, pivots.data(), {.nb = 12, .variant = form}), 0);
            expect_lu_product(A, F, pivots, form);
        }
    for (const char* form : forms)
        for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
            const Dense<T> A = matrix_for<T>(form, 70, 70), B = random_matrix<T>(70, 3);
            Dense<T> F = A, X = B;
            std::vector<Index> pivots(70);
            ASSERT_EQ(getrf(session_on("native"), 70, 70, F.data.data(), F.ld, pivots.data(), {.nb = 12, .variant = form}), 0);
            getrs(session_on("native"), op, 70, 3, F.data.data(), F.ld, pivots.data(), X.data.data(), X.ld);
            expect_lu_solution(op, A, F, pivots, X, B, form);
        }
}
/// Whatever the timing: nothing of it chooses a pivot.
TYPED_TEST(LuForms, GiveTheBitsOfTheSequentialEngine)
{
    using T = TypeParam;
    for (const char* form : {"packed", "panel", "kastors", "kastors-cw", "nopiv", "tournament", "incremental"}) {
        const Dense<T> A = matrix_for<T>(form, 150, 150), B = random_matrix<T>(150, 2);
        Dense<T> expected = A, solution = B;
        std::vector<Index> wanted(150);
        ASSERT_EQ(solve(session_on("sequential"), expected, wanted, solution, {.nb = 16, .variant = form}), 0);
        for (int repetition = 0; repetition < 5; ++repetition) {
            Dense<T> F = A, X = B;
            std::vector<Index> pivots(150);
            ASSERT_EQ(solve(session_on("native"), F, pivots, X, {.nb = 16, .variant = form}), 0);
            EXPECT_EQ(pivots, wanted) << form;
            expect_same_bits(F, expected);
            expect_same_bits(X, solution);
        }
    }
}
TYPED_TEST(LuForms, CompleteSingularMatricesAndLeaveTheRightHandSides)
{
    using T = TypeParam;
    constexpr Index n = 60, nb = 8;
    for (const char* engine : engines)
        for (const char* form : {"packed", "panel", "kastors", "kastors-cw", "nopiv", "tournament", "incremental"})
            for (const Index zero : {Index(1), nb, nb + 1, n}) {
                Dense<T> A = matrix_for<T>(form, n, n);
                const Dense<T> B = random_matrix<T>(n, 5);
                for (Index i = 0; i < n; ++i) A(i, zero - 1) = A(i, n - 1) = T(0);
                Dense<T> F = A, X = B;
                std::vector<Index> pivots(n);
                EXPECT_EQ(solve(session_on(engine), F, pivots, X, {.nb = nb, .variant = form}), zero) << form;
                if (form != std::string("incremental")) expect_lu_product(A, F, pivots, form);
                expect_same_bits(X, B);
            }
}
/// In every place of a small matrix. The call comes back, and does not hide what it was given.
TYPED_TEST(LuForms, CarryInfinitiesAndNoNumbersOn)
{
    using T = TypeParam;
    constexpr Index n = 9;
    using Limits = std::numeric_limits<Real<T>>;
    for (const char* form : {"packed", "panel", "kastors", "kastors-cw", "nopiv", "tournament", "incremental"})
        for (const Real<T> bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()})
            for (Index place = 0; place < n * n; ++place) {
                Dense<T> F = matrix_for<T>(form, n, n), X = random_matrix<T>(n, 1);
                F(place % n, place / n) = T(bad);
                std::vector<Index> pivots(n);
                const Index info = solve(session_on("native"), F, pivots, X, {.nb = 2, .variant = form});
                bool finite = true;
                for (Index i = 0; i < n; ++i) finite = finite && std::isfinite(std::abs(X(i, 0)));
                if (std::isnan(bad)) {
                    EXPECT_TRUE(info > 0 || !finite) << form << " place " << place;
                }
                for (const Index pivot : pivots) EXPECT_LE(pivot, n);
            }
}

TYPED_TEST(LuForms, IncrementalSolveSeveralTimesAndFromSeveralThreads)
{
    using T = TypeParam;
    constexpr Index n = 90;
    Session& session = session_on("native");
    const Dense<T> A = random_matrix<T>(n, n);
    Dense<T> F = A;
    const IncrementalLu<T> factors(session, n, F.data.data(), F.ld, {.nb = 16});
    ASSERT_EQ(factors.info(), 0);
    const auto solved = [&](Dense<T> X) {
        factors.solve(X.cols, X.data.data(), X.ld);
        return X;
    };
    const Dense<T> B = random_matrix<T>(n, 4), X = solved(B);
    for (Index c = 0; c < 4; ++c)
        for (Index i = 0; i < n; ++i) {
            Sum<T> sum;
            for (Index k = 0; k < n; ++k) sum.add(A(i, k), X(k, c));
            ASSERT_LE(std::abs(sum.value - Wide<T>(B(i, c))), 100 * double(n) * rounding<T> * eps<T> * sum.magnitude);
        }
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) threads.emplace_back([&] { expect_same_bits(solved(B), X); });
    for (std::thread& thread : threads) thread.join();
}

TEST(LuFormsArguments, SayWhatAVariantCannotDo)
{
    Session& session = session_on("sequential");
    std::vector<double> a(9, 1), b(9, 1);
    std::vector<Index> p(3);
    const auto lu = [&](const char* variant) { getrf(session, 3, 3, a.data(), 3, p.data(), {.variant = variant}); };
    EXPECT_THAT(refusal(0, [&] { lu("incremental"); }), HasSubstr("IncrementalLu"));
    EXPECT_THAT(refusal(0, [&] { lu("tournment"); }), HasSubstr("tournament"));
    EXPECT_THAT(refusal(0, [&] { IncrementalLu<double>(session, 3, a.data(), 3, {.variant = "nopiv"}); }), HasSubstr("'nopiv'"));
    EXPECT_THAT(refusal(1, [&] { IncrementalLu<double>(session, -1, a.data(), 3); }), HasSubstr("n is -1"));
    EXPECT_THAT(refusal(3, [&] { IncrementalLu<double>(session, 3, a.data(), 2); }), HasSubstr("lda is 2"));
    EXPECT_EQ(a, std::vector<double>(9, 1));
    const IncrementalLu<double> factors(session, 3, a.data(), 3);
    EXPECT_THAT(refusal(1, [&] { factors.solve(-1, b.data(), 3); }), HasSubstr("nrhs is -1"));
    EXPECT_THAT(refusal(3, [&] { factors.solve(1, b.data(), 2); }), HasSubstr("ldb is 2"));
    EXPECT_THAT(refusal(2, [&] { factors.solve(1, a.data(), 3); }), HasSubstr("overlaps"));
    EXPECT_EQ(b, std::vector<double>(9, 1));
}
/// Where the factors are no LAPACK's, getrs must not take them for such.
TEST(LuFormsArguments, LeaveNoPivotsWhereThereAreNone)
{
    Session& session = session_on("sequential");
    Dense<double> F = random_matrix<double>(9, 9), X = random_matrix<double>(9, 1);
    std::vector<Index> p(9, 1);
    ASSERT_EQ(solve(session, F, p, X, {.nb = 4, .variant = "incremental"}), 0);
    EXPECT_THAT(refusal(6, [&] { getrs(session, Op::none, 9, 1, F.data.data(), F.ld, p.data(), X.data.data(), X.ld); }),
                HasSubstr("ipiv(1) is 0"));
}

} // namespace
} // namespace trencadis
