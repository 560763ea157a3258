#include "algorithms/getrf.hpp"
#include "drivers/linear_algebra.hpp"
#include "kernels/testing/lu.hpp"
#include "session/session.hpp"
#include "session/testing/sessions.hpp"

#include <gmock/gmock.h>

namespace trencadis {
namespace {

using namespace testing;
using ::testing::HasSubstr;

template <class T> class LuRoutines : public ::testing::Test {
};
TYPED_TEST_SUITE(LuRoutines, Scalars);

template <Scalar T> std::vector<Index> pivots_for(const Dense<T>& A)
{
    return std::vector<Index>(static_cast<std::size_t>(std::min(A.rows, A.cols)));
}
template <Scalar T> Index factor(Session& session, Dense<T>& A, std::vector<Index>& pivots, const RoutineOptions& options = {})
{
    return getrf(session, A.rows, A.cols, A.data.data(), A.ld, pivots.data(), options);
}

TYPED_TEST(LuRoutines, GiveLapacksPivotsAndFactorsInEveryVariantAndShape)
{
    using T = TypeParam;
    for (const char* engine : engines)
        for (const char* variant : {"packed", "panel"})
            for (const Index nb : {5, 16, 24, 200})
                for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {9, 9}, {49, 49}, {100, 37}, {37, 100}, {64, 64}}) {
                    const Dense<T> A = random_matrix<T>(m, n);
                    Dense<T> F = A, by_columns = A;
                    auto pivots = pivots_for(A), wanted = pivots;
                    const std::string where = std::string(engine) + " " + variant + " nb " + std::to_string(nb) + ": " +
                                              std::to_string(m) + " x " + std::to_string(n);
                    ASSERT_EQ(factor(session_on(engine), F, pivots, {.nb = nb, .variant = variant}),
                              unblocked_getrf(by_columns, wanted));
                    ASSERT_EQ(pivots, wanted) << where;
                    expect_lu(A, F, pivots, where);
                    if (this->HasFatalFailure()) return;
                }
}

/// Those that run without tasks, and those that are cut up by themselves.
TYPED_TEST(LuRoutines, AreRightAtSizesThatTheyCutByThemselves)
{
    using T = TypeParam;
    for (const Index n : {Index(0), Index(1), Index(40), Index(is_complex<T> ? 200 : 330)}) // the last ones by tasks
        for (const Index nrhs : {Index(0), Index(1), Index(20)}) {
            Session& session = session_on("native");
            const Dense<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, nrhs);
            Dense<T> F = A, X = B;
            auto pivots = pivots_for(A);
            ASSERT_EQ(gesv(session, n, nrhs, F.data.data(), F.ld, pivots.data(), X.data.data(), X.ld), 0);
            expect_lu_solution(Op::none, A, F, pivots, X, B, "n = " + std::to_string(n));
            for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
                X = B;
                getrs(session, op, n, nrhs, F.data.data(), F.ld, pivots.data(), X.data.data(), X.ld);
                expect_lu_solution(op, A, F, pivots, X, B, "n = " + std::to_string(n));
            }
        }
}

TYPED_TEST(LuRoutines, CompleteSingularMatricesAndLeaveTheRightHandSides)
{
    using T = TypeParam;
    constexpr Index n = 60, nb = 16;
    for (const char* engine : engines)
        for (const RoutineOptions& options :
             {RoutineOptions{}, RoutineOptions{.nb = nb, .variant = "packed"}, RoutineOptions{.nb = nb, .variant = "panel"}})
            for (const Index zero : {Index(1), nb, nb + 1, n}) {
                Dense<T> A = random_matrix<T>(n, n);
                const Dense<T> B = random_matrix<T>(n, 5);
                for (Index i = 0; i < n; ++i) A(i, zero - 1) = A(i, n - 1) = T(0);
                Dense<T> F = A, X = B;
                auto pivots = pivots_for(A);
                EXPECT_EQ(gesv(session_on(engine), n, 5, F.data.data(), F.ld, pivots.data(), X.data.data(), X.ld, options), zero);
                expect_lu(A, F, pivots, engine);
                expect_same_bits(X, B);
            }
}

/// The same choice of pivots, so that nothing of it is up to the timing.
TYPED_TEST(LuRoutines, GiveTheBitsOfTheSequentialEngine)
{
    using T = TypeParam;
    const Dense<T> A = random_matrix<T>(150, 130);
    for (const char* variant : {"packed", "panel"}) {
        Dense<T> F1 = A, F2 = A;
        auto p1 = pivots_for(A), p2 = p1;
        ASSERT_EQ(factor(session_on("sequential"), F1, p1, {.nb = 24, .variant = variant}), 0);
        ASSERT_EQ(factor(session_on("native"), F2, p2, {.nb = 24, .variant = variant}), 0);
        EXPECT_EQ(p1, p2);
        expect_same_bits(F1, F2);
    }
}

/// So tall that all of it is one panel, shared by the workers.
TYPED_TEST(LuRoutines, FactorTallMatricesInOnePanel)
{
    using T = TypeParam;
    const Dense<T> A = random_matrix<T>(is_complex<T> ? 3500 : 12000, 70);
    for (const char* variant : {"", "panel"}) {
        Dense<T> F = A, by_columns = A;
        auto pivots = pivots_for(A), wanted = pivots;
        ASSERT_EQ(factor(session_on("native"), F, pivots, {.variant = variant}), unblocked_getrf(by_columns, wanted));
        if (sizeof(Real<T>) == 8) {
            EXPECT_EQ(pivots, wanted);
        }
        expect_lu(A, F, pivots, variant);
    }
}

/// Panels cut up into leaves of a few columns, all of them, by tasks inside tasks.
TYPED_TEST(LuRoutines, GiveTheBitsOfTheSequentialEngineWithPanelsThatAreShared)
{
    using T = TypeParam;
    constexpr Index n = 90, nb = 30;
    const PanelCut cut{.columns = 7, .rows = 16, .beside = n, .worth = 0};
    const Dense<T> A = random_matrix<T>(140, n);
    const auto factored = [&](const char* engine, Dense<T>& F, std::vector<Index>& pivots) {
        const TileMatrix<T> tiles(F.view(), nb, nb);
        const LuImages<T> images(F.rows, F.cols, nb);
        return session_on(engine).run([&](Flow& flow) { getrf_packed(flow, tiles, images, pivots.data(), cut); });
    };
    Dense<T> expected = A;
    auto wanted = pivots_for(A);
    ASSERT_EQ(factored("sequential", expected, wanted), 0);
    expect_lu(A, expected, wanted, "sequential");
    for (int repetition = 0; repetition < 10; ++repetition) {
        Dense<T> F = A;
        auto pivots = pivots_for(A);
        ASSERT_EQ(factored("native", F, pivots), 0);
        EXPECT_EQ(pivots, wanted);
        expect_same_bits(F, expected);
    }
}

/// |X A - I| <= c n eps |X| P^T |L| |U| (Higham 2002, section 14.3.3, method B), with c = 4: n eps for each of the factorization,
/// the inverse of U, the solve with L and what is multiplied out here.
template <Scalar T>
void expect_inverse(const Dense<T>& A, const Dense<T>& F, const std::vector<Index>& pivots, const Dense<T>& X,
                    const std::string& where)
{
    const Index n = A.rows;
    const std::vector<Index> order = order_of(n, pivots);
    std::vector<long double> row(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) { // row i of |X| P^T |L| |U|
        std::fill(row.begin(), row.end(), 0.0L);
        for (Index k = 0; k < n; ++k) {
            long double left = 0;
            for (Index r = k; r < n; ++r)
                left += std::abs(X(i, order[std::size_t(r)])) * (r == k ? 1 : (long double)(std::abs(F(r, k))));
            for (Index j = k; j < n; ++j) row[std::size_t(j)] += left * (long double)(std::abs(F(k, j)));
        }
        for (Index j = 0; j < n; ++j) {
            Sum<T> sum;
            for (Index k = 0; k < n; ++k) sum.add(X(i, k), A(k, j));
            const long double bound = double(4 * n + 8) * rounding<T> * eps<T> * row[std::size_t(j)];
            ASSERT_LE(std::abs(sum.value - Wide<T>(i == j)), bound) << where << ": at " << i << ", " << j;
        }
    }
    expect_untouched(A, X, [](Index, Index) { return true; });
}

TYPED_TEST(LuRoutines, InvertFromTheFactors)
{
    using T = TypeParam;
    for (const char* engine : engines)
        for (const Index n : {Index(0), Index(1), Index(16), Index(17), Index(50), Index(75)})
            for (const Index nb : {Index(0), Index(5), Index(16), Index(25), Index(200)}) {
                const Dense<T> A = random_matrix<T>(n, n);
                Dense<T> F = A;
                auto pivots = pivots_for(A);
                ASSERT_EQ(factor(session_on(engine), F, pivots), 0);
                Dense<T> X = F;
                ASSERT_EQ(getri(session_on(engine), n, X.data.data(), X.ld, pivots.data(), {.nb = nb}), 0);
                expect_inverse(A, F, pivots, X, std::string(engine) + " n " + std::to_string(n) + " nb " + std::to_string(nb));
            }
}
TYPED_TEST(LuRoutines, InvertNothingWhereADiagonalOfUIsZero)
{
    using T = TypeParam;
    Dense<T> U = random_matrix<T>(40, 40);
    U(12, 12) = U(30, 30) = T(0);
    std::vector<Index> pivots(40);
    for (Index i = 0; i < 40; ++i) pivots[std::size_t(i)] = i + 1;
    const Dense<T> before = U;
    EXPECT_EQ(getri(session_on("native"), 40, U.data.data(), U.ld, pivots.data()), 13);
    expect_same_bits(U, before);
}

TEST(LuArguments, AreNumberedAsInLapack)
{
    Session& session = session_on("sequential");
    std::vector<double> a(9, 1), b(9, 1);
    std::vector<Index> p{1, 2, 3};
    double* const none = nullptr;
    Index* const nowhere = nullptr;
    EXPECT_THAT(refusal(1, [&] { getrf(session, -1, 3, a.data(), 3, p.data()); }), HasSubstr("m is -1"));
    EXPECT_THAT(refusal(2, [&] { getrf(session, 3, -2, a.data(), 3, p.data()); }), HasSubstr("n is -2"));
    EXPECT_THAT(refusal(3, [&] { getrf(session, 3, 3, none, 3, p.data()); }), HasSubstr("a is null"));
    EXPECT_THAT(refusal(4, [&] { getrf(session, 3, 3, a.data(), 2, p.data()); }), HasSubstr("lda is 2"));
    EXPECT_THAT(refusal(5, [&] { getrf(session, 3, 3, a.data(), 3, nowhere); }), HasSubstr("ipiv is null"));
    EXPECT_THAT(refusal(2, [&] { getrs(session, Op::none, -1, 1, a.data(), 3, p.data(), b.data(), 3); }), HasSubstr("n is -1"));
    EXPECT_THAT(refusal(3, [&] { getrs(session, Op::none, 3, -1, a.data(), 3, p.data(), b.data(), 3); }), HasSubstr("nrhs"));
    EXPECT_THAT(refusal(6, [&] { getrs(session, Op::none, 3, 1, a.data(), 3, nowhere, b.data(), 3); }), HasSubstr("ipiv"));
    EXPECT_THAT(refusal(8, [&] { getrs(session, Op::none, 3, 1, a.data(), 3, p.data(), b.data(), 2); }), HasSubstr("ldb"));
    EXPECT_THAT(refusal(7, [&] { getrs(session, Op::none, 3, 1, a.data(), 3, p.data(), a.data(), 3); }), HasSubstr("overlaps"));
    EXPECT_THAT(refusal(1, [&] { gesv(session, -1, 1, a.data(), 3, p.data(), b.data(), 3); }), HasSubstr("n is -1"));
    EXPECT_THAT(refusal(7, [&] { gesv(session, 3, 1, a.data(), 3, p.data(), b.data(), 2); }), HasSubstr("ldb is 2"));
    EXPECT_THAT(refusal(1, [&] { getri(session, -1, a.data(), 3, p.data()); }), HasSubstr("n is -1"));
    EXPECT_THAT(refusal(3, [&] { getri(session, 3, a.data(), 2, p.data()); }), HasSubstr("lda is 2"));
    EXPECT_THAT(refusal(4, [&] { getri(session, 3, a.data(), 3, nowhere); }), HasSubstr("ipiv is null"));
    EXPECT_EQ(a, std::vector<double>(9, 1));
    EXPECT_EQ(b, std::vector<double>(9, 1));
}

TEST(LuArguments, NameThePivotThatIsNoRow)
{
    Session& session = session_on("sequential");
    std::vector<double> a(9, 1), b(9, 1);
    for (const Index bad : {Index(0), Index(-5), Index(4), Index(1) << 62}) {
        std::vector<Index> p{1, bad, 3};
        EXPECT_THAT(refusal(6, [&] { getrs(session, Op::none, 3, 1, a.data(), 3, p.data(), b.data(), 3); }),
                    HasSubstr("ipiv(2) is " + std::to_string(bad)));
        EXPECT_THAT(refusal(7, [&] { laswp(3, 3, b.data(), 3, 0, 3, p.data()); }), HasSubstr("1 to 3"));
    }
    EXPECT_EQ(b, std::vector<double>(9, 1));
}

TEST(RowInterchanges, GoForwardAndBack)
{
    Dense<double> A = random_matrix<double>(6, 5);
    const Dense<double> before = A;
    const std::vector<Index> p{3, 6, 3, 5};
    laswp(6, 5, A.data.data(), A.ld, 0, 4, p.data());
    const std::vector<Index> order = order_of(6, p);
    for (Index j = 0; j < 5; ++j)
        for (Index i = 0; i < 6; ++i) EXPECT_EQ(A(i, j), before(order[std::size_t(i)], j));
    laswp(6, 5, A.data.data(), A.ld, 0, 4, p.data(), true);
    expect_same_bits(A, before);
}

} // namespace
} // namespace trencadis
